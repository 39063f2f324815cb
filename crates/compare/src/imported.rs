//! Reports of other load generators in place of sessions: `report FILE` and `compare FILE FILE`.

pub mod document;

use std::path::Path;

use deadheat_document::text::Screen;
use deadheat_import::{ImportError, has_many_errors, have_run_in_common, import};
use deadheat_model::imported::ImportedReports;
use deadheat_runner::files::{self, LONGEST_TEXT};
use deadheat_shell::exit::CommandFailure;
use deadheat_stats::comparison::{
    Bounds,
    tool_runs::{self, RunsComparison},
};

use self::document::{SideNames, comparison, comparison_json, document, json};

/// Reads the reports in these files. `command` is that of the runs, for reports that do not say how a server was
/// loaded.
pub fn read(paths: &[&Path], command: Option<&str>) -> Result<ImportedReports, CommandFailure> {
    let files: Vec<_> = paths
        .iter()
        .map(|path| bytes(path))
        .collect::<Result<_, _>>()?;
    import(&files, command).map_err(CommandFailure::usage)
}

fn bytes(path: &Path) -> Result<(String, Vec<u8>), CommandFailure> {
    let (name, path) = match path.to_str() {
        Some("-") => (
            "standard input".to_owned(),
            Path::new(files::STANDARD_INPUT),
        ),
        _ => (path.display().to_string(), path),
    };
    let read = files::read_typed(path, LONGEST_TEXT);
    let read = read.map_err(|error| {
        CommandFailure::usage(format!("reading {name}: {error}; name a file with reports"))
    })?;
    Ok((name, read))
}

/// What was read, for people.
pub fn as_text(imported: &ImportedReports, screen: Screen) -> String {
    document(imported).text(screen)
}

/// What was read, for programs.
pub fn as_json(imported: &ImportedReports) -> Result<String, CommandFailure> {
    json(imported)
        .map_err(|error| CommandFailure::no_result(format!("writing the imported runs: {error}")))
}

/// The reports in the two files that `compare` was given.
pub(crate) struct Pair {
    a: (String, ImportedReports),
    b: (String, ImportedReports),
}

impl Pair {
    /// Reads both operands of `compare`; `None` if either is not a file with reports.
    pub(crate) fn new(a: &str, b: &str) -> Result<Option<Self>, CommandFailure> {
        let (Some(of_a), Some(of_b)) = (side(a)?, side(b)?) else {
            return Ok(None);
        };
        Ok(Some(Self {
            a: (a.to_owned(), of_a),
            b: (b.to_owned(), of_b),
        }))
    }

    /// B against A, for programs.
    pub(crate) fn as_json(&self, bounds: Bounds) -> Result<String, CommandFailure> {
        comparison_json(self.sides(), &self.compared(bounds)?)
            .map_err(|error| CommandFailure::no_result(format!("writing the comparison: {error}")))
    }

    /// B against A, for people.
    pub(crate) fn as_text(&self, bounds: Bounds, screen: Screen) -> Result<String, CommandFailure> {
        let found = self.compared(bounds)?;
        let document = comparison(self.sides(), &found, [&self.a.1, &self.b.1]);
        Ok(document.text(screen))
    }

    fn sides(&self) -> SideNames<'_> {
        SideNames {
            a: &self.a.0,
            b: &self.b.0,
        }
    }

    fn compared(&self, bounds: Bounds) -> Result<RunsComparison, CommandFailure> {
        for (file, imported) in [&self.a, &self.b] {
            one_server(file, imported)?;
        }
        let ((file_a, a), (file_b, b)) = (&self.a, &self.b);
        if have_run_in_common(a, b) {
            return Err(CommandFailure::usage(format!(
                "{file_a} and {file_b} have a run in common: there is nothing to compare in it"
            )));
        }
        tool_runs::compare(&a.runs, &b.runs, &bounds, has_many_errors)
            .map_err(|error| CommandFailure::usage(error.to_string()))
    }
}

/// The reports in a file; `None`: it is no file, or has none.
fn side(operand: &str) -> Result<Option<ImportedReports>, CommandFailure> {
    let path = Path::new(operand);
    if !path.is_file() {
        return Ok(None);
    }
    match import(&[bytes(path)?], None) {
        Ok(imported) => Ok(Some(imported)),
        Err(ImportError::Nothing { .. }) => Ok(None),
        Err(error) => Err(CommandFailure::usage(error)),
    }
}

/// Runs of several servers are no side of a comparison.
fn one_server(file: &str, imported: &ImportedReports) -> Result<(), CommandFailure> {
    let mut names: Vec<&str> = imported
        .runs
        .iter()
        .filter_map(|run| run.label.as_deref())
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > 1 {
        return Err(CommandFailure::usage(format!(
            "{file} has runs of {} ({}), and a side of a comparison is one server; put the runs of each into a file of \
             their own, or see all with `deadheat report {file}`",
            deadheat_model::figure::counted(names.len(), "server"),
            names.join(", ")
        )));
    }
    Ok(())
}
