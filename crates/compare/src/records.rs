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

/// Whether this may be a record of a load, or is a folder with one. A JSON file may be a damaged record.
pub(super) fn is_of_loads(path: &Path) -> bool {
    if path.is_file() {
        return is_json(path);
    }
    in_folder(path).is_ok_and(|records| !records.is_empty())
}

/// Whether this begins as a record of a load does, or is a folder with one. Other JSON files may be reports of other
/// tools.
pub(super) fn begins_as_record(path: &Path) -> bool {
    is_of_loads(path) && (path.is_dir() || says_so(path))
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
        let reason = |one: &Change| {
            let values = [&one.before, &one.after];
            let [before, after] = values.map(|one| one.as_deref().unwrap_or_default());
            let what = &one.what;
            format!("{what}: {before} in A's first run, {after} in another")
        };
        return Err(refused([a, b], "their runs", reasons.iter().map(reason)));
    }
    let (name_a, name_b) = (a.display().to_string(), b.display().to_string());
    Ok(runs::compare((&name_a, &of_a), (&name_b, &of_b), bounds))
}

/// The refusal with all its reasons at once, so that nobody meets them one after the other. They are differences
/// between `these`.
fn refused(
    [a, b]: [&Path; 2],
    these: &str,
    reasons: impl Iterator<Item = String>,
) -> CommandFailure {
    let reason = |one: String| format!("\n  - {}", clean(&one));
    let reasons: String = reasons.map(reason).collect();
    CommandFailure::usage(format!(
        "{} and {} are not compared, because what differs between {these} would be in every figure:{reasons}\n\
         Measure again under the same conditions, or go on with these as warnings: --force",
        a.display(),
        b.display()
    ))
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
    for (index, record) in records.iter().enumerate() {
        if let Some(first) = records[..index].iter().position(|other| other == record) {
            return Err(CommandFailure::usage(format!(
                "{} and {} are the same run, and a copy is not a repetition; delete one of them",
                files[first].display(),
                files[index].display()
            )));
        }
    }
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
        let reason = |one: &Change| {
            let values = [&one.before, &one.after];
            let [before, after] = values.map(|one| one.as_deref().unwrap_or("none"));
            format!("{}: {before} in A, {after} in B", one.name())
        };
        return Err(refused([a, b], "them", reasons.iter().map(reason)));
    }
    let (name_a, name_b) = (a.display().to_string(), b.display().to_string());
    Ok(sessions::compare(
        (&name_a, &of_a),
        (&name_b, &of_b),
        sessions::LETTERS,
        bounds,
    ))
}
