//! The load for programs: everything that is known of it, unrounded. docs/load-json.md describes each field.

use deadheat_model::{
    Interval, LoadRecord, LoadSpec, Observation, load_record::GeneratorHost, machine::Machine,
};
use deadheat_stats::load::{Judged, LoadAnalysis, LoadFigures, LoadSettings, Standing};
use serde::Serialize;

use super::{headline::headline, signs::signs};
use crate::ReportError;

/// The version of the format. A field that goes, or changes its meaning, raises it; a new one does not.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    format: &'static str,
    deadheat: &'a str,
    started: &'a str,
    url: &'a str,
    interrupted: bool,
    verdict: Verdict<'a>,
    figures: &'a LoadFigures,
    settings: &'a LoadSettings,
    machine: &'a Machine,
    spec: &'a LoadSpec,
    observation: &'a Observation,
    intervals: &'a [Interval],
    #[serde(skip_serializing_if = "<[GeneratorHost]>::is_empty")]
    hosts: &'a [GeneratorHost],
}

#[derive(Serialize)]
struct Verdict<'a> {
    standing: Standing,
    headline: String,
    signs: Vec<SaidSign<'a>>,
}

/// A sign with its sentence.
#[derive(Serialize)]
struct SaidSign<'a> {
    #[serde(flatten)]
    judged: &'a Judged,
    sentence: String,
}

/// The whole load as JSON over several lines that end with a newline.
pub fn json(record: &LoadRecord, analysis: &LoadAnalysis) -> Result<String, ReportError> {
    let signs = analysis.verdict.signs.iter().zip(signs(record, analysis));
    let signs = signs.map(|(judged, said)| SaidSign {
        judged,
        sentence: said.sentence,
    });
    let report = Report {
        schema: SCHEMA,
        format: "deadheat-load",
        deadheat: &record.deadheat,
        started: &record.started,
        url: &record.url,
        interrupted: record.interrupted,
        verdict: Verdict {
            standing: analysis.verdict.standing,
            headline: headline(record, analysis),
            signs: signs.collect(),
        },
        figures: &analysis.figures,
        settings: &analysis.settings,
        machine: &record.machine,
        spec: &record.spec,
        observation: &record.observation,
        intervals: &record.intervals,
        hosts: &record.hosts,
    };
    let mut text = serde_json::to_string_pretty(&report)?;
    text.push('\n');
    Ok(text)
}
