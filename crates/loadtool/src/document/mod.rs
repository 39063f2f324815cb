//! What `deadheat load` leaves for a person or a program, from the record of one load and its analysis.
//!
//! [`document`], [`brief`] and [`html`] are for people. What programs read ([`json()`], [`csv()`], [`hdr_log()`], [`hgrm()`])
//! is unrounded. What monitoring systems read ([`open_metrics`], [`otlp`]) is made from [`Reading`]s; docs/metrics.md
//! describes it.

mod csv;
mod facts;
mod hdr;
mod headline;
mod layout;
mod metrics;
mod plots;
mod tables;

use deadheat_document::{
    error::ReportError,
    json::{self, Body},
};
use deadheat_model::{
    Interval, LoadRecord, LoadSpec, Observation, Warning,
    load_record::{GeneratorHost, SCHEMA},
    machine::Machine,
};
use schemars::JsonSchema;
use serde::Serialize;

use self::headline::headline;
pub use self::{
    csv::{Row, csv, csv_head, csv_row, failed_column},
    hdr::{RESPONSE_TIME_TAG, SERVICE_TIME_TAG, hdr_log, hgrm, hgrm_of},
    headline::{most_frequent, most_frequent_failure},
    layout::{brief, document, html},
    metrics::{Meter, Reading, Source, open_metrics, otlp, otlp_rejected, otlp_request, readings},
};
use crate::analysis::{LoadAnalysis, LoadFigures, Validity};

/// Everything that is known of a load. Figures are unrounded, and shares are 0 to 1. Unless they say otherwise, they cover
/// the measurement alone, without the warm-up.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    /// Deadheat's version.
    deadheat: &'a str,
    /// When the load started, to the millisecond (RFC 3339, UTC).
    started: &'a str,
    /// What was loaded, as it was typed: a URL, or the file of URLs. Without a password.
    url: &'a str,
    /// Whether it was stopped before its end; the figures are of what was done until then.
    interrupted: bool,
    /// The generator's verdict on itself.
    verdict: Verdict<'a>,
    /// What was found, computed.
    figures: &'a LoadFigures,
    /// Where the generator ran.
    machine: &'a Machine,
    /// What was asked for. Values that may be secret are replaced by `…`: those of all headers but some that never hold
    /// one (such as Accept, Content-Type, Host and User-Agent), those in a URL's query and those after `;NAME=` in its path.
    /// Bodies and the lines of lists are left out, and `hidden` has their sizes. A URL's fragment, a password and a private
    /// key are never written.
    spec: &'a LoadSpec,
    /// What was counted and recorded.
    observation: &'a Observation,
    /// The same over time, the warm-up included; empty if no intervals were asked for. If there are more than 1,200, two
    /// neighbours become one, and again, so that a load of hours has 600 to 1,200 of them. CSV has every one as it was.
    intervals: &'a [Interval],
    /// The hosts that loaded (`--on`), each with its share; absent if this machine did alone.
    #[serde(skip_serializing_if = "<[GeneratorHost]>::is_empty")]
    hosts: &'a [GeneratorHost],
}

impl Body for Report<'_> {
    const FORMAT: &'static str = "deadheat-load";
    const SCHEMA: u32 = SCHEMA;
}

/// The generator's verdict on itself.
#[derive(Serialize, JsonSchema)]
struct Verdict<'a> {
    /// What the figures are worth.
    validity: Validity,
    /// The first line of the report.
    headline: String,
    /// What speaks against the figures or helps to read them, the gravest first.
    warnings: &'a [Warning],
}

/// The whole load as JSON over several lines that end with a newline.
pub fn json(record: &LoadRecord, analysis: &LoadAnalysis) -> Result<String, ReportError> {
    json::json(&Report {
        deadheat: &record.deadheat,
        started: &record.started,
        url: &record.url,
        interrupted: record.interrupted,
        verdict: Verdict {
            validity: analysis.verdict.validity,
            headline: headline(record, analysis),
            warnings: &analysis.verdict.warnings,
        },
        figures: &analysis.figures,
        machine: &record.machine,
        spec: &record.spec,
        observation: &record.observation,
        intervals: &record.intervals,
        hosts: &record.hosts,
    })
}
