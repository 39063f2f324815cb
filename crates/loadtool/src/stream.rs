//! `--stream`: answers that are streams of events.

use clap::Args;
use deadheat_model::load::{Stream, StreamEvent};
use deadheat_shell::values::one_of;

use super::values::whole;

/// How answers are taken apart into events.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Valid answers")]
pub struct StreamArgs {
    /// Answers are streams: record the times of their events
    #[arg(long, value_name = "EVENTS", value_parser = one_of(&[
        ("sse", StreamEvent::Sse, "Server-sent events; comments are none"),
        ("lines", StreamEvent::Lines, "Lines that are not empty, as in NDJSON"),
        ("chunks", StreamEvent::Chunks, "Chunks of the chunked coding"),
    ]), hide_short_help = true)]
    pub(crate) stream: Option<StreamEvent>,
    /// With --stream: an answer is whole after N events; for streams without an end
    #[arg(long, value_name = "N", value_parser = whole::<1, { u32::MAX }>, hide_short_help = true)]
    pub(crate) stream_events: Option<u32>,
}

impl StreamArgs {
    /// What the load generator is asked to do.
    pub(crate) fn wanted(&self) -> Option<Stream> {
        Some(Stream {
            event: self.stream?,
            enough: self.stream_events.map(u64::from),
        })
    }
}
