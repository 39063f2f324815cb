//! A session as its files have it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use deadheat_model::{
    Observation, SessionRecord, TrialOutcome, TrialRecord,
    session::{TargetRecord, TargetState},
    trial::{Measured, TrialFailure},
};
use deadheat_runner::session::{TRIALS_FILE, read_session};
use serde_json::Value;

use super::{Root, flat, schema};

/// A session as its files have it.
pub struct Recorded {
    pub folder: PathBuf,
    pub record: SessionRecord,
}

impl Recorded {
    /// Reads a session, and asserts what must hold in every one.
    #[track_caller]
    pub fn read(folder: &Path) -> Self {
        let record = read_session(folder).unwrap_or_else(|error| panic!("{error}"));
        for trial in &record.trials {
            let name = format!("{} in block {}", trial.cell, trial.block);
            if let Some(load) = load_of(trial) {
                assert!(
                    load.total.is_conserved(),
                    "{name}: requests were lost: {:?}",
                    load.total
                );
                assert!(
                    load.measured.is_conserved(),
                    "{name}: requests were lost: {:?}",
                    load.measured
                );
            }
            assert!(
                record.header.plan.cells.contains(&trial.cell),
                "{name} was not planned"
            );
        }
        Self {
            folder: folder.to_owned(),
            record,
        }
    }

    pub fn target(&self, name: &str) -> &TargetRecord {
        let mut targets = self.record.header.targets.iter();
        let found = targets.find(|target| target.target.to_string() == name);
        found.unwrap_or_else(|| panic!("{} has no {name}", self.folder.display()))
    }

    pub fn trials_of(&self, target: &str) -> Vec<&TrialRecord> {
        let trials = self.record.trials.iter();
        trials
            .filter(|trial| trial.cell.target.to_string() == target)
            .collect()
    }

    /// Asserts that `target` was measured so many times without a fault.
    #[track_caller]
    pub fn assert_measured(&self, target: &str, times: usize) {
        let state = &self.target(target).state;
        assert!(
            matches!(state, TargetState::Ready { .. }),
            "{target}: {state:?}"
        );
        let trials = self.trials_of(target);
        assert_eq!(trials.len(), times, "trials of {target}");
        for trial in trials {
            assert_clean(trial, measured(trial));
        }
    }

    /// Why `target` could not be measured at all.
    #[track_caller]
    pub fn failure_of(&self, target: &str) -> &TrialFailure {
        match &self.target(target).state {
            TargetState::Failed(failure) => failure,
            other => panic!("{target} should have failed, it is {other:?}"),
        }
    }

    /// Why the only trial of `target` failed.
    #[track_caller]
    pub fn failed_trial_of(&self, target: &str) -> &TrialFailure {
        match self.trials_of(target).as_slice() {
            [trial] => match &trial.outcome {
                TrialOutcome::Failed(failure) => failure,
                other => panic!("the trial of {target} should have failed: {other:?}"),
            },
            trials => panic!("{target} should have one trial: {trials:?}"),
        }
    }

    /// Asserts that the report says all of these in every format, written anew from the records alone.
    #[track_caller]
    pub fn assert_reported(&self, root: &Root, fragments: &[&str]) {
        self.assert_in(&["text", "json", "html", "markdown"], root, fragments);
    }

    #[track_caller]
    fn assert_in(&self, formats: &[&str], root: &Root, fragments: &[&str]) {
        for format in formats {
            let text = self.report(root, format);
            for fragment in fragments {
                let wanted = flat(fragment);
                assert!(
                    text.contains(&wanted),
                    "the report as {format} lacks {fragment:?}:\n{text}"
                );
            }
        }
    }

    /// Asserts that the report says all of these in the formats that people read.
    #[track_caller]
    pub fn assert_shown(&self, root: &Root, fragments: &[&str]) {
        self.assert_in(&["text", "html", "markdown"], root, fragments);
    }

    /// The report as a reader sees it, on one line.
    #[track_caller]
    pub fn report(&self, root: &Root, format: &str) -> String {
        let folder = self.folder.display().to_string();
        let ended = root
            .deadheat(&format!("report {folder} --format {format}"))
            .exits(0);
        let text = ended.stdout;
        match format {
            "json" => {
                let value: Value = serde_json::from_str(&text).expect("the report is JSON");
                schema::assert_satisfied(&value);
                let mut strings = Vec::new();
                collect_strings(&value, &mut strings);
                flat(&strings.join("\n"))
            }
            "html" => flat(&text_of_html(&text)),
            "markdown" => flat(&text.replace('\\', "")),
            _ => flat(&text),
        }
    }
}

/// Whole lines of a journal: trials that are on the disk, and perhaps the end.
pub fn journal_lines(folder: &Path) -> usize {
    let text = fs::read(folder.join(TRIALS_FILE)).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count()
}

fn load_of(trial: &TrialRecord) -> Option<&Observation> {
    match &trial.outcome {
        TrialOutcome::Measured(measured) => Some(&measured.load),
        TrialOutcome::Failed(failure) => failure.load.as_deref(),
    }
}

/// The measurement of a trial.
#[track_caller]
pub fn measured(trial: &TrialRecord) -> &Measured {
    match &trial.outcome {
        TrialOutcome::Measured(measured) => measured,
        TrialOutcome::Failed(failure) => panic!("{} failed: {failure:?}", trial.cell),
    }
}

#[track_caller]
fn assert_clean(trial: &TrialRecord, measured: &Measured) {
    let cell = &trial.cell;
    let load = &measured.load;
    assert_eq!(load.total.failed.total(), 0, "{cell}: {:?}", load.examples);
    assert!(
        load.measured.succeeded > 0,
        "{cell}: no answer was verified"
    );
    assert!(load.content_checked > 0, "{cell}: no content was compared");
    assert!(
        measured.verified_before > 0 && measured.verified_after > 0,
        "{cell}: not verified"
    );
    assert!(
        measured.resources.cpu_seconds > 0.0,
        "{cell}: the server used no CPU time"
    );
    assert!(
        measured.resources.pss_peak_bytes > Some(0),
        "{cell}: the server used no memory"
    );
    assert!(!measured.ready.is_zero(), "{cell}: ready in no time");
    assert!(trial.port > 0, "{cell}: no port");
}

fn collect_strings(value: &Value, strings: &mut Vec<String>) {
    match value {
        Value::String(text) => strings.push(text.clone()),
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect_strings(value, strings)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            strings.push(key.clone());
            collect_strings(value, strings);
        }),
        _ => {}
    }
}

/// What stands between the tags of a page.
fn text_of_html(page: &str) -> String {
    let mut text = String::new();
    for piece in page.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, after)| after));
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&#x2f;", "/"),
    ];
    for (entity, character) in entities {
        text = text.replace(entity, character);
    }
    text.replace("&amp;", "&")
}
