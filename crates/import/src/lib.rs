//! Reads the reports of other load generators, and the data files of public suites.
//!
//! [`import`] finds the reports in files, also between prose, and reads their figures exactly as they are printed. A
//! report that is damaged is an error with its line: no figure of it is used.

mod command;
mod context;
mod counts;
mod report;
mod suites;
mod tables;
mod text;
mod tools;
mod warn;

use std::collections::HashMap;

use deadheat_model::{
    imported::{ImportedReports, LeftOut, Run, RunFigures, SCHEMA, SourceLine, Tool},
    warning::{Warning, doubt},
};

use self::{
    command::Command,
    context::{Names, TextContext},
    report::ToolReport,
    text::{Cursor, Line, MAX_LINES},
};
pub use self::{
    counts::{MANY_ERRORS, RequestCounts, error_share, has_many_errors},
    tables::{DocumentProperties, UNASSIGNED, document, toml},
};
pub use crate::report::ImportError;
use crate::{
    report::{Damage, damage_at},
    tools::json::JsonText,
};

/// Reads all reports in `files`, each a name and what it holds. `command` is the command of the runs, for reports that
/// do not say how the server was loaded. The JSON that was made of an [`ImportedReports`] is read back.
///
/// # Errors
/// If a report is damaged, or a file has none.
pub fn import(
    files: &[(String, Vec<u8>)],
    command: Option<&str>,
) -> Result<ImportedReports, ImportError> {
    let mut runs: Vec<Run> = Vec::new();
    let mut copies = ImportedRuns::default();
    let mut left_out = Vec::new();
    let mut is_moved = false;
    for (file, bytes) in files {
        let (of_file, not_read) = if let Some(before) = read_back(bytes) {
            (before.runs, before.left_out)
        } else if let Some((tool, read)) = suites::read(file, bytes) {
            let runs = read.map_err(|damage| ImportError::Damaged {
                place: SourceLine {
                    file: file.clone(),
                    line: damage.line,
                },
                tool,
                what: damage.what,
            })?;
            (runs, Vec::new())
        } else if suites::is_empty_table(bytes) && files.len() > 1 {
            let place = SourceLine {
                file: file.clone(),
                line: 1,
            };
            let reason = "an empty table: nothing was measured".to_owned();
            (Vec::new(), vec![LeftOut { place, reason }])
        } else {
            let mut reader = Reader::new(file, bytes, command)?;
            reader.read()?;
            (reader.runs, reader.left_out)
        };
        left_out.extend(not_read);
        for run in of_file {
            match copies.find_or_add(&run, runs.len()) {
                // A later table of a suite repeats what was not measured again: it is a figure of that table.
                Some(index) if run.tool.is_suite() && runs[index].place.file != run.place.file => {
                    runs[index].place = run.place;
                    is_moved = true;
                }
                Some(index) => left_out.push(LeftOut {
                    reason: format!(
                        "the same report as {}:{}, counted once",
                        runs[index].place.file, runs[index].place.line
                    ),
                    place: run.place,
                }),
                None => runs.push(run),
            }
        }
    }
    if is_moved {
        runs.sort_by_key(|run| files.iter().position(|(file, _)| *file == run.place.file));
    }
    if let (true, Some((file, _))) = (runs.is_empty(), files.first()) {
        return Err(ImportError::Nothing {
            file: file.clone(),
            hint: " in it or in the other files".to_owned(),
        });
    }
    let warnings = warn::of_all(&runs);
    Ok(ImportedReports {
        import_schema: SCHEMA,
        runs,
        warnings,
        left_out,
    })
}

/// Whether a run is in two imports: neither has a run twice itself.
pub fn have_run_in_common(a: &ImportedReports, b: &ImportedReports) -> bool {
    let mut known = ImportedRuns::default();
    let mut all = a.runs.iter().chain(&b.runs).enumerate();
    all.any(|(index, run)| known.find_or_add(run, index).is_some())
}

/// Whether these bytes have reports, including damaged ones.
pub fn has_reports(bytes: &[u8]) -> bool {
    let found = import(&[(String::new(), bytes.to_owned())], None);
    !matches!(found, Err(ImportError::Nothing { .. }))
}

/// Reads the JSON of an earlier import; `None`: it is something else, or its figures disagree.
fn read_back(bytes: &[u8]) -> Option<ImportedReports> {
    let imported: ImportedReports = serde_json::from_slice(bytes).ok()?;
    let agrees = |run: &Run| report::check(run.tool, &run.load, &run.figures).is_ok();
    let is_right = imported.import_schema == SCHEMA && imported.runs.iter().all(agrees);
    is_right.then_some(imported)
}

/// The runs that were read, to find those that were pasted twice: no two different runs agree in every digit.
#[derive(Default)]
struct ImportedRuns(HashMap<String, SameFigures>);

/// Runs of one tool and target with the same figures: the index of each label's run. No label matches any label.
type SameFigures = HashMap<Option<String>, usize>;

impl ImportedRuns {
    /// Returns the index of the run that this one is a copy of. If it is not a copy, adds it with its own index.
    fn find_or_add(&mut self, run: &Run, index: usize) -> Option<usize> {
        // In a suite, all tests without an answer have the same figures.
        let test = run.section.as_ref().filter(|_| run.tool.is_suite());
        let key = format!("{:?} {test:?} {:?} {:?}", run.tool, run.target, run.figures);
        let same = self.0.entry(key).or_default();
        let unnamed: Option<String> = None;
        let found = match &run.label {
            Some(_) => same.get(&run.label).or_else(|| same.get(&unnamed)),
            None => same.values().min(),
        };
        let found = found.copied();
        if found.is_none() {
            same.insert(run.label.clone(), index);
        }
        found
    }
}

/// The last command in the text.
struct LastCommand {
    command: Command,
    /// The index of its line.
    at: usize,
    /// Whether it is between a report and its name, so that it belongs to that report alone.
    is_of_one_report: bool,
}

/// Reads one file.
struct Reader<'a> {
    file: &'a str,
    lines: Vec<Line>,
    given: Option<&'a str>,
    last_command: Option<LastCommand>,
    context: TextContext,
    /// The index of the line after the last report.
    floor: usize,
    /// Whether the lines belong to a report of an unsupported tool.
    is_in_foreign: bool,
    strays: usize,
    runs: Vec<Run>,
    left_out: Vec<LeftOut>,
}

/// The most listed lines that look like a part of a report.
const MAX_STRAYS: usize = 20;

impl<'a> Reader<'a> {
    fn new(file: &'a str, bytes: &[u8], given: Option<&'a str>) -> Result<Self, ImportError> {
        if bytes.contains(&0) {
            return Err(ImportError::Nothing {
                file: file.to_owned(),
                hint: ": it is not UTF-8 text; if PowerShell wrote it, save it as UTF-8".to_owned(),
            });
        }
        let lines = text::lines(&String::from_utf8_lossy(bytes));
        let lines = lines.ok_or_else(|| ImportError::TooLong {
            file: file.to_owned(),
            most: MAX_LINES,
        })?;
        Ok(Self {
            file,
            lines,
            given,
            last_command: None,
            context: TextContext::default(),
            floor: 0,
            is_in_foreign: false,
            strays: 0,
            runs: Vec::new(),
            left_out: Vec::new(),
        })
    }

    fn read(&mut self) -> Result<(), ImportError> {
        let lines = std::mem::take(&mut self.lines);
        let mut json = JsonText::new(&lines);
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            if let Some(command) = command::of_line(&line.text) {
                self.last_command = Some(LastCommand {
                    command,
                    at,
                    is_of_one_report: false,
                });
                self.is_in_foreign = false;
            }
            if let Some((tool, read)) = tools::beginning(&lines[at..]) {
                let mut cursor = Cursor::new(&lines, at);
                let report = read(&mut cursor);
                let end = cursor.at().max(at + 1);
                self.take(&lines, at, tool, report)?;
                at = end;
                self.floor = at;
            } else if line.text.starts_with('{')
                && let Some(length) = self.json(&lines, &mut json, at)?
            {
                at += length;
                self.floor = at;
            } else {
                self.line_of_no_report(line);
                at += 1;
            }
        }
        if self.strays > MAX_STRAYS
            && let Some(last) = self.left_out.last()
        {
            let more = self.strays - MAX_STRAYS;
            let place = last.place.clone();
            let reason = format!("{more} more lines resemble a part of a report");
            self.left_out.push(LeftOut { place, reason });
        }
        if self.runs.is_empty() {
            return Err(self.nothing());
        }
        Ok(())
    }

    /// Handles the result of reading a report at the line with this index: a report, an unsupported one, or damage.
    fn take(
        &mut self,
        lines: &[Line],
        first: usize,
        tool: Tool,
        report: Result<ToolReport, Damage>,
    ) -> Result<(), ImportError> {
        self.is_in_foreign = false;
        match report {
            Ok(report) => self.add(lines, first, report),
            Err(damage) if damage.is_foreign => {
                self.is_in_foreign = true;
                self.leave_out(lines[first].number, damage.what);
                Ok(())
            }
            Err(damage) => Err(self.damaged(tool, damage)),
        }
    }

    /// Handles a line outside of reports, which may look like a part of one.
    fn line_of_no_report(&mut self, line: &Line) {
        if line.is_fence() || context::is_heading(line) {
            self.is_in_foreign = false;
        }
        if let Some(tool) = tools::foreign_tool(line) {
            self.is_in_foreign = true;
            self.leave_out(
                line.number,
                format!("a report of {tool}, which is not read"),
            );
        } else if !self.is_in_foreign && tools::is_stray(line) {
            self.strays += 1;
            if self.strays <= MAX_STRAYS {
                let reason = "resembles a line of a report, but no report begins above it";
                self.leave_out(line.number, reason.to_owned());
            }
        }
    }

    fn leave_out(&mut self, line: usize, reason: String) {
        let place = self.place(line);
        self.left_out.push(LeftOut { place, reason });
    }

    /// Reads the JSON that begins at a line. Returns its number of lines; `None`: it is no report.
    fn json(
        &mut self,
        lines: &[Line],
        json: &mut JsonText<'_>,
        at: usize,
    ) -> Result<Option<usize>, ImportError> {
        let number = lines[at].number;
        match json.value(at) {
            Ok(None) => Ok(None),
            Ok(Some((value, length))) => {
                let Some((tool, report)) = tools::json::read(&value) else {
                    return Ok(Some(length));
                };
                let report = report.map_err(|what| self.damaged(tool, damage_at(number, what)))?;
                self.add(lines, at, report)?;
                Ok(Some(length))
            }
            Err(failed) => {
                let Some(tool) = json.marked(at) else {
                    return Ok(None);
                };
                let line = lines.get(failed.line).map_or(number, |line| line.number);
                let what = format!("the JSON is not complete: {}", failed.why);
                Err(self.damaged(tool, damage_at(line, what)))
            }
        }
    }

    /// The command that printed a report, if known, and a warning if a nearby command contradicts the report.
    fn command(
        &mut self,
        names: &Names,
        report: &ToolReport,
    ) -> (Option<Command>, Option<Warning>) {
        let given = self.given.and_then(command::of_line);
        let is_given = given.is_some();
        let mut is_own = is_given;
        let command = given.or_else(|| {
            let last = self.last_command.as_mut()?;
            let is_below_name = names.label_at.is_none_or(|label| label < last.at);
            if last.at >= self.floor && is_below_name {
                last.is_of_one_report = true;
                is_own = true;
            }
            // If the next report has another name, it belongs to another run.
            let is_of_another =
                last.is_of_one_report && last.at < self.floor && names.label.is_some();
            (!is_of_another).then(|| last.command.clone())
        });
        let Some(command) = command.filter(|command| command.prints(report.tool)) else {
            return (None, None);
        };
        match command.contradiction(report) {
            None => (Some(command), None),
            Some(why) => {
                let which = if is_given {
                    "The given command"
                } else {
                    "The command above"
                };
                let text = format!(
                    "{which} is of another run, so how this one was loaded is not known: {why}."
                );
                let warning = doubt("other-command", text);
                (None, Some(warning).filter(|_| is_own))
            }
        }
    }

    /// Adds the report that begins at the line with this index.
    fn add(
        &mut self,
        lines: &[Line],
        first: usize,
        mut report: ToolReport,
    ) -> Result<(), ImportError> {
        report.drop_unmeasured();
        let line = lines[first].number;
        self.context.advance(lines, first);
        let names = context::names(lines, first, self.floor, &self.context);
        let (command, not_it) = self.command(&names, &report);
        let mut run = Run {
            tool: report.tool,
            place: self.place(line),
            label: names.label,
            section: names.section,
            command: command.as_ref().map(|command| command.text.clone()),
            target: report.target.clone(),
            load: report.load.clone(),
            figures: without_zero_times(&report.figures),
            warnings: Vec::new(),
        };
        if let Some(command) = command {
            let url = command.complete(&mut run.load);
            run.target = run.target.or(url);
        }
        if run.load.rate.is_some() && run.tool == Tool::Wrk {
            run.tool = Tool::Wrk2;
        }
        run.load.is_open |= run.tool == Tool::Wrk2;
        // Several runs in a row have one name.
        if let (None, Some(before)) = (&run.label, self.runs.last())
            && before.target == run.target
            && before.tool == run.tool
        {
            run.label.clone_from(&before.label);
            run.section.clone_from(&before.section);
        }
        report::check(run.tool, &run.load, &run.figures)
            .map_err(|what| self.damaged(run.tool, damage_at(line, what)))?;
        run.warnings = warn::of_run(&run, &report);
        run.warnings.extend(not_it);
        self.runs.push(run);
        Ok(())
    }

    fn place(&self, line: usize) -> SourceLine {
        SourceLine {
            file: self.file.to_owned(),
            line,
        }
    }

    fn damaged(&self, tool: Tool, damage: Damage) -> ImportError {
        ImportError::Damaged {
            place: self.place(damage.line),
            tool,
            what: damage.what,
        }
    }

    /// The error for a file without a report, with a hint if a line looked like a part of one.
    fn nothing(&self) -> ImportError {
        let hint = self.left_out.first().map_or_else(String::new, |left| {
            let (line, reason) = (left.place.line, &left.reason);
            if reason.starts_with("a report of") {
                format!("; line {line} begins {reason}")
            } else {
                format!("; line {line} {reason}. Paste the whole report")
            }
        });
        ImportError::Nothing {
            file: self.file.to_owned(),
            hint,
        }
    }
}

/// The figures without times of 0, which a tool prints for a time that is too short for its digits.
fn without_zero_times(figures: &RunFigures) -> RunFigures {
    let known = |time: Option<f64>| time.filter(|time| *time > 0.0);
    RunFigures {
        mean_ms: known(figures.mean_ms),
        p50_ms: known(figures.p50_ms),
        p99_ms: known(figures.p99_ms),
        max_ms: known(figures.max_ms),
        ..figures.clone()
    }
}
