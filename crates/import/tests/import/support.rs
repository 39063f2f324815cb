//! Reports, and what is read in them.

use std::{fs, path::PathBuf};

use deadheat_import::{ImportError, import};
use deadheat_model::{
    Warning,
    imported::{ImportedReports, Run},
};

/// A file of this folder.
pub fn file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/import")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The report of a tool.
pub fn report(name: &str) -> String {
    file(&format!("reports/{name}"))
}

/// The names of all reports.
pub fn reports() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/import/reports");
    let entries = fs::read_dir(folder).expect("listing the reports");
    let names = entries.map(|entry| {
        entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned()
    });
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".md")).collect();
    names.sort();
    assert!(names.len() > 20, "{names:?}");
    names
}

/// Reads a text.
pub fn read(text: &str) -> Result<ImportedReports, ImportError> {
    import(&[("file".to_owned(), text.as_bytes().to_vec())], None)
}

/// The runs of a text that is in order.
pub fn runs(text: &str) -> Vec<Run> {
    read(text).unwrap_or_else(|error| panic!("{error}")).runs
}

/// The only run of a report.
pub fn run(name: &str) -> Run {
    let [run] = runs(&report(name))
        .try_into()
        .unwrap_or_else(|runs| panic!("{name}: {runs:?}"));
    run
}

/// Warnings as one text.
pub fn joined(warnings: &[Warning]) -> String {
    let sentences: Vec<String> = warnings.iter().map(Warning::in_full).collect();
    sentences.join("\n")
}

/// The line and the text of the damage in a report.
pub fn damage(text: &str) -> (usize, String) {
    match read(text) {
        Err(ImportError::Damaged { place, what, .. }) => (place.line, what),
        other => panic!("no damage was found: {other:?}"),
    }
}
