//! What was measured before: sessions of `deadheat run`, and records of `deadheat load -o FILE.json`, of which a file
//! is a run and a folder has several.

use std::{
    fmt::Display,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use deadheat_document::view::clean;
use deadheat_model::{
    LoadRecord,
    change::Change,
    record::{FORMAT, SCHEMA},
};
use deadheat_runner::{files, session::heats::read_session};
use deadheat_shell::{
    exit::CommandFailure,
    record_file::{RecordFile, RecordFileError},
};
use deadheat_stats::comparison::{
    Bounds, ComparisonAnalysis,
    sessions::{self, refusals},
};

use crate::analysis as runs;

/// A record has the name of its format in its first bytes.
const BEGINNING: u64 = 256;

/// Whether this is a record of a load, or a folder with one.
pub(super) fn is_of_loads(path: &Path) -> bool {
    if path.is_file() {
        return is_json(path);
    }
    in_folder(path).is_ok_and(|records| !records.is_empty())
}

/// Compares the runs of `b` with those of `a`; if machine or settings differ, only if `force`.
pub(super) fn compare(
    a: &Path,
    b: &Path,
    bounds: Bounds,
    force: bool,
) -> Result<ComparisonAnalysis, CommandFailure> {
    let (of_a, of_b) = (read(a)?, read(b)?);
    let same = |run: &LoadRecord| of_b.iter().any(|other| other == run);
    if of_a.iter().any(same) {
        return Err(CommandFailure::usage(format!(
            "{} and {} have a run in common: there is nothing to compare in it",
            a.display(),
            b.display()
        )));
    }
    let reasons = runs::biasing_differences(&of_a, &of_b);
    if !reasons.is_empty() && !force {
        return Err(CommandFailure::usage(refused(a, b, &reasons)));
    }
    let (name_a, name_b) = (a.display().to_string(), b.display().to_string());
    Ok(runs::compare((&name_a, &of_a), (&name_b, &of_b), bounds))
}

/// All the reasons at once, so that nobody meets them one after the other.
fn refused(a: &Path, b: &Path, reasons: &[Change]) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_default();
    let reasons = reasons.iter().map(|reason| {
        let (before, after) = (value(&reason.before), value(&reason.after));
        clean(&format!(
            "{}: {before} in A's first run, {after} in another",
            reason.what
        ))
    });
    let reasons: String = reasons.map(|reason| format!("\n  - {reason}")).collect();
    format!(
        "{} and {} are not compared, because what differs between their runs would be in every figure:{reasons}\n\
         Measure again under the same conditions, or go on with these as warnings: --force",
        a.display(),
        b.display()
    )
}

/// The runs of a side.
fn read(path: &Path) -> Result<Vec<LoadRecord>, CommandFailure> {
    let failed = |error: &dyn Display| {
        CommandFailure::usage(format!(
            "reading {}: {error}; give a file of `deadheat load -o FILE.json`, or a folder of them",
            path.display()
        ))
    };
    if path.is_file() {
        return Ok(vec![read_record(path).map_err(|error| failed(&error))?]);
    }
    let files = in_folder(path).map_err(|error| failed(&error))?;
    let records = files.iter().map(|file| {
        read_record(file).map_err(|error| failed(&format!("{}: {error}", file.display())))
    });
    let mut records = records.collect::<Result<Vec<_>, _>>()?;
    records.sort_by(|one, other| one.started.cmp(&other.started));
    Ok(records)
}

fn read_record(path: &Path) -> Result<LoadRecord, RecordFileError> {
    match RecordFile::read(path)? {
        Some(file) if file.format() == FORMAT => file.record(SCHEMA),
        _ => Err(RecordFileError::Other {
            expected: "a record of a load",
        }),
    }
}

/// The records in a folder.
fn in_folder(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut records = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if is_json(&path) && says_so(&path) {
            records.push(path);
        }
    }
    records.sort();
    Ok(records)
}

fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
        && path.is_file()
}

/// Whether it begins as a record does: other files may be there, too.
fn says_so(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = files::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning));
    read.is_ok() && String::from_utf8_lossy(&beginning).contains(FORMAT)
}

/// Compares session `b` with session `a`; if machine or settings differ, only if `force`.
pub(super) fn compare_sessions(
    a: &Path,
    b: &Path,
    bounds: Bounds,
    force: bool,
) -> Result<ComparisonAnalysis, CommandFailure> {
    let read = |folder| read_session(folder).map_err(CommandFailure::usage);
    let (of_a, of_b) = (read(a)?, read(b)?);
    if of_a.header.id == of_b.header.id && of_a.header.started == of_b.header.started {
        return Err(CommandFailure::usage(format!(
            "{} and {} are the same session, {}: there is nothing to compare",
            a.display(),
            b.display(),
            of_a.header.id
        )));
    }
    for (folder, record) in [(a, &of_a), (b, &of_b)] {
        if record.header.comparison.is_some() {
            return Err(CommandFailure::usage(format!(
                "{0} holds a comparison of two sides, and no session of `deadheat run`; `deadheat report {0}` shows it",
                folder.display()
            )));
        }
    }
    let reasons = refusals(&of_a, &of_b);
    if !reasons.is_empty() && !force {
        return Err(CommandFailure::usage(sessions_refused(a, b, &reasons)));
    }
    let (name_a, name_b) = (a.display().to_string(), b.display().to_string());
    Ok(sessions::compare(
        (&name_a, &of_a),
        (&name_b, &of_b),
        bounds,
    ))
}

/// All the reasons at once, so that nobody meets them one after the other.
fn sessions_refused(a: &Path, b: &Path, reasons: &[Change]) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let reasons = reasons.iter().map(|reason| {
        let what = reason.name();
        let (before, after) = (value(&reason.before), value(&reason.after));
        deadheat_document::view::clean(&format!("{what}: {before} in A, {after} in B"))
    });
    let reasons: String = reasons.map(|reason| format!("\n  - {reason}")).collect();
    format!(
        "{} and {} are not compared, because what differs between them would be in every figure:{reasons}\n\
         Measure again under the same conditions, or go on with these as warnings: --force",
        a.display(),
        b.display()
    )
}
