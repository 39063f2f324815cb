//! `--stream`: answers that are streams of events.

use clap::{Args, ValueEnum};
use deadheat_model::load::{Stream, StreamEvent};

use super::values::whole;

/// How answers are taken apart into events.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Valid answers")]
pub(crate) struct StreamArgs {
    /// Answers are streams: record the times of their events
    #[arg(long, value_enum, value_name = "EVENTS", hide_short_help = true)]
    pub(crate) stream: Option<StreamArg>,
    /// With --stream: an answer is whole after N events; for streams without an end
    #[arg(long, value_name = "N", value_parser = whole::<1, { u32::MAX }>, hide_short_help = true)]
    pub(crate) stream_events: Option<u32>,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StreamArg {
    /// Server-sent events; comments are none
    Sse,
    /// Lines that are not empty, as in NDJSON
    Lines,
    /// Chunks of the chunked coding
    Chunks,
}

impl StreamArgs {
    /// What the load generator is asked to do.
    pub(crate) fn wanted(&self) -> Option<Stream> {
        let event = match self.stream? {
            StreamArg::Sse => StreamEvent::Sse,
            StreamArg::Lines => StreamEvent::Lines,
            StreamArg::Chunks => StreamEvent::Chunks,
        };
        Some(Stream {
            event,
            enough: self.stream_events.map(u64::from),
        })
    }
}

/// What an answer is taken apart into, in the plan.
pub(super) fn described(stream: &Stream) -> String {
    let (what, means) = match stream.event {
        StreamEvent::Sse => ("server-sent event", ""),
        StreamEvent::Lines => ("line", ""),
        StreamEvent::Chunks => ("chunk", " of the chunked coding"),
    };
    match stream.enough {
        Some(1) => format!("an answer is whole after its first {what}{means}"),
        Some(enough) => format!("an answer is whole after {enough} {what}s{means}"),
        None => format!("answers come in {what}s{means}; each ends by itself"),
    }
}
