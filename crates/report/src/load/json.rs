//! The load for programs: everything that is known of it, unrounded. docs/load-json.md describes each field.

use deadheat_model::{Interval, LoadRecord, LoadSpec, Observation, machine::Machine};
use deadheat_stats::load::{Judged, LoadAnalysis, LoadFigures, LoadSettings, Standing};
use serde::Serialize;

use super::view::LoadView;
use crate::ReportError;

/// The version of the format. A field that goes, or changes its meaning, raises it; a new one does not.
pub const SCHEMA: u32 = 1;

/// Request headers whose values are secrets. They are not written.
const SECRET_HEADERS: [&str; 4] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
];
/// What stands in the place of a secret.
const NOT_WRITTEN: &str = "(not written)";

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
    spec: LoadSpec,
    observation: &'a Observation,
    intervals: &'a [Interval],
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
    let view = LoadView::new(record, analysis);
    let sentences = view.doubts.into_iter().chain(view.notes);
    let signs = analysis.verdict.signs.iter().zip(sentences);
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
            headline: view.headline,
            signs: signs.collect(),
        },
        figures: &analysis.figures,
        settings: &analysis.settings,
        machine: &record.machine,
        spec: without_secrets(&record.spec),
        observation: &record.observation,
        intervals: &record.intervals,
    };
    let mut text = serde_json::to_string_pretty(&report)?;
    text.push('\n');
    Ok(text)
}

/// The spec as others may see it: reports are passed on.
fn without_secrets(spec: &LoadSpec) -> LoadSpec {
    let mut spec = spec.clone();
    let exchanges = spec.exchanges.iter_mut();
    for (name, value) in exchanges.flat_map(|exchange| &mut exchange.request.headers) {
        if SECRET_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            *value = NOT_WRITTEN.to_owned();
        }
    }
    spec
}
