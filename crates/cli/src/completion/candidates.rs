//! What may be typed for names of stacks, workloads and sessions. Where they cannot be found there is nothing to choose,
//! and nothing is said.

use std::{ffi::OsStr, fs, path::Path};

use clap_complete::{CompletionCandidate, PathCompleter, engine::ValueCompleter as _};
use deadheat_bench::select;
use deadheat_compare::bisect;
use deadheat_runner::{manifest::Catalogue, session::HEADER_FILE};
use deadheat_shell::session_folders::RESULTS;

pub(super) fn stacks(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(catalogue) = catalogue() else {
        return Vec::new();
    };
    let named = catalogue.stacks.iter().map(|stack| {
        let targets = stack.manifest.targets().into_iter();
        let variants = targets.filter_map(|target| target.variant);
        (stack.manifest.id.clone(), variants.collect())
    });
    matching(typed, named)
}

pub(super) fn workloads(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(catalogue) = catalogue() else {
        return Vec::new();
    };
    let named = catalogue.workloads.iter().map(|workload| {
        let points = workload.point.iter().map(|point| point.id.clone());
        (workload.id.clone(), points.collect())
    });
    matching(typed, named)
}

pub(super) fn published(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(catalogue) = catalogue() else {
        return Vec::new();
    };
    let named = catalogue.published.iter().map(|document| {
        let tables = document.table.iter().map(|table| table.id.clone());
        (document.id.clone(), tables.collect())
    });
    matching(typed, named)
}

/// Sessions, the newest first; if none matches, folders.
pub(super) fn sessions(typed: &OsStr) -> Vec<CompletionCandidate> {
    with(HEADER_FILE, typed)
}

/// Records of `deadheat bisect`, the newest first; if none matches, folders.
pub(super) fn searches(typed: &OsStr) -> Vec<CompletionCandidate> {
    with(bisect::RECORD, typed)
}

/// Folders of results that contain `file`.
fn with(file: &str, typed: &OsStr) -> Vec<CompletionCandidate> {
    let entries = fs::read_dir(RESULTS).into_iter().flatten().flatten();
    let mut found: Vec<String> = entries
        .filter(|entry| entry.path().join(file).is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.chars().any(char::is_control))
        .map(|name| Path::new(RESULTS).join(name).display().to_string())
        .collect();
    found.sort();
    found.reverse();
    let found = beginning(typed, found);
    if found.is_empty() {
        return PathCompleter::dir().complete(typed);
    }
    found
}

/// What `compare` compares: stacks, and sessions.
pub(super) fn comparands(typed: &OsStr) -> Vec<CompletionCandidate> {
    let stacks = stacks(typed);
    if stacks.is_empty() || typed.is_empty() {
        return stacks.into_iter().chain(sessions(typed)).collect();
    }
    stacks
}

/// Those of `words` that match.
pub(super) fn words(typed: &OsStr, words: &[&str]) -> Vec<CompletionCandidate> {
    beginning(typed, words.iter().map(|word| (*word).to_owned()).collect())
}

fn catalogue() -> Option<Catalogue> {
    let root = select::root(None).ok()?.folder;
    select::read(&root, &[]).ok()
}

/// Names that match. Once a name is complete, also `NAME:PART` for each of its parts.
fn matching(
    typed: &OsStr,
    named: impl Iterator<Item = (String, Vec<String>)>,
) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    let mut all = Vec::new();
    for (name, parts) in named {
        if text == name || text.starts_with(&format!("{name}:")) {
            all.extend(parts.iter().map(|part| format!("{name}:{part}")));
        }
        all.push(name);
    }
    beginning(typed, all)
}

fn beginning(typed: &OsStr, all: Vec<String>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fits = all.into_iter().filter(|one| one.starts_with(&*typed));
    // The order is the one given: the newest session, the first of a stack's variants.
    let ordered = fits.enumerate();
    ordered
        .map(|(place, one)| CompletionCandidate::new(one).display_order(Some(place)))
        .collect()
}
