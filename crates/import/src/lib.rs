//! Reads the reports of other load generators.
//!
//! [`import`] finds the reports in files, also between prose, and reads their figures exactly as they are printed. A
//! report that is damaged is an error with its line: no figure of it is used.

mod check;
mod command;
mod context;
mod error;
mod number;
mod report;
mod tables;
mod text;
mod tools;
mod warn;

use deadheat_model::imported::{Imported, LeftOut, Place, Run, SCHEMA, Tool};
use serde_json::Value;

use self::{
    command::Command,
    error::Damage,
    report::Report,
    text::{Cursor, Line},
};
pub use self::{
    error::ImportError,
    tables::{Published, UNASSIGNED, document, toml},
    warn::ENOUGH_RUNS,
};

/// Reads all reports in `files`, each a name and what it holds. `command` is the command of the runs, for reports that
/// do not say how the server was loaded. The JSON that was made of an [`Imported`] is read back.
///
/// # Errors
/// If a report is damaged, or a file has none.
pub fn import(files: &[(String, Vec<u8>)], command: Option<&str>) -> Result<Imported, ImportError> {
    let mut runs: Vec<Run> = Vec::new();
    let mut left_out = Vec::new();
    for (file, bytes) in files {
        let (of_file, not_read) = if let Some(before) = read_back(bytes) {
            (before.runs, before.left_out)
        } else {
            let mut reader = Reader::new(file, bytes, command)?;
            reader.read()?;
            (reader.runs, reader.left_out)
        };
        left_out.extend(not_read);
        for run in of_file {
            match runs.iter().find(|one| is_copy(one, &run)) {
                Some(one) => left_out.push(LeftOut {
                    reason: format!(
                        "the same report as {}:{}, counted once",
                        one.place.file, one.place.line
                    ),
                    place: run.place,
                }),
                None => runs.push(run),
            }
        }
    }
    let warnings = warn::of_all(&runs);
    Ok(Imported {
        import_schema: SCHEMA,
        runs,
        warnings,
        left_out,
    })
}

/// What an earlier import wrote.
fn read_back(bytes: &[u8]) -> Option<Imported> {
    let imported: Imported = serde_json::from_slice(bytes).ok()?;
    let agrees = |run: &Run| check::check(run.tool, &run.load, &run.figures).is_ok();
    let is_right = imported.import_schema == SCHEMA && imported.runs.iter().all(agrees);
    is_right.then_some(imported)
}

/// Whether two runs are the same one, pasted twice: no two runs agree in every digit.
fn is_copy(one: &Run, other: &Run) -> bool {
    let is_same = one.label.is_none() || other.label.is_none() || one.label == other.label;
    one.tool == other.tool && one.target == other.target && is_same && one.figures == other.figures
}

/// Reads one file.
struct Reader<'a> {
    file: &'a str,
    lines: Vec<Line>,
    given: Option<&'a str>,
    /// The last command in the text.
    command: Option<Command>,
    /// Behind the last report.
    floor: usize,
    runs: Vec<Run>,
    left_out: Vec<LeftOut>,
}

impl<'a> Reader<'a> {
    fn new(file: &'a str, bytes: &[u8], given: Option<&'a str>) -> Result<Self, ImportError> {
        if bytes.contains(&0) {
            return Err(ImportError::Nothing {
                file: file.to_owned(),
                hint: ": it is no UTF-8 text; if PowerShell wrote it, save it as UTF-8".to_owned(),
            });
        }
        Ok(Self {
            file,
            lines: text::lines(&String::from_utf8_lossy(bytes)),
            given,
            command: None,
            floor: 0,
            runs: Vec::new(),
            left_out: Vec::new(),
        })
    }

    fn read(&mut self) -> Result<(), ImportError> {
        let lines = std::mem::take(&mut self.lines);
        let json = Json::of(&lines);
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            if let Some(command) = command::of_line(&line.text) {
                self.command = Some(command);
            }
            if let Some((tool, read)) = tools::beginning(&lines[at..]) {
                let mut cursor = Cursor::new(&lines, at);
                let report = read(&mut cursor).map_err(|damage| self.damaged(tool, damage))?;
                self.add(&lines, at, report)?;
                at = cursor.at().max(at + 1);
                self.floor = at;
            } else if line.text.starts_with('{')
                && let Some(length) = self.json(&lines, &json, at)?
            {
                at += length;
                self.floor = at;
            } else {
                if tools::is_stray(line) {
                    let reason =
                        "looks like a line of a report, but no report begins above it".to_owned();
                    let place = self.place(line.number);
                    self.left_out.push(LeftOut { place, reason });
                }
                at += 1;
            }
        }
        if self.runs.is_empty() {
            return Err(self.nothing());
        }
        Ok(())
    }

    /// Reads the JSON that begins at a line, and says how many lines it has; `None`: it is of no interest.
    fn json(
        &mut self,
        lines: &[Line],
        json: &Json,
        at: usize,
    ) -> Result<Option<usize>, ImportError> {
        let number = lines[at].number;
        match json.value(at) {
            Ok((value, length)) => {
                let Some((tool, report)) = tools::json::read(&value) else {
                    return Ok(Some(length));
                };
                let report =
                    report.map_err(|what| self.damaged(tool, Damage { line: number, what }))?;
                self.add(lines, at, report)?;
                Ok(Some(length))
            }
            Err(error) => {
                let Some(tool) = json.marked(at) else {
                    return Ok(None);
                };
                let line = number + error.line().saturating_sub(1);
                let what = format!("the JSON is not complete: {error}");
                Err(self.damaged(tool, Damage { line, what }))
            }
        }
    }

    /// Adds the report that begins at the line with this index.
    fn add(&mut self, lines: &[Line], first: usize, report: Report) -> Result<(), ImportError> {
        let line = lines[first].number;
        let names = context::names(lines, first, self.floor);
        let given = self.given.and_then(command::of_line);
        let command = given
            .or(self.command.clone())
            .filter(|command| command.prints(report.tool));
        let mut run = Run {
            tool: report.tool,
            place: self.place(line),
            label: names.label,
            section: names.section,
            command: command.as_ref().map(|command| command.text.clone()),
            target: report.target.clone(),
            load: report.load.clone(),
            figures: report.figures.clone(),
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
        check::check(run.tool, &run.load, &run.figures)
            .map_err(|what| self.damaged(run.tool, Damage { line, what }))?;
        run.warnings = warn::of_run(&run, &report);
        self.runs.push(run);
        Ok(())
    }

    fn place(&self, line: usize) -> Place {
        Place {
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

    /// There is no report; a line may have looked like a part of one.
    fn nothing(&self) -> ImportError {
        let hint = self.left_out.first().map_or_else(String::new, |stray| {
            format!(
                "; line {} {}. Paste the whole report",
                stray.place.line, stray.reason
            )
        });
        ImportError::Nothing {
            file: self.file.to_owned(),
            hint,
        }
    }
}

/// The text as one, for JSON that has many lines.
struct Json {
    text: String,
    /// Where each line begins in it.
    begins: Vec<usize>,
    is_marked: bool,
}

impl Json {
    fn of(lines: &[Line]) -> Self {
        let (mut text, mut begins) = (String::new(), Vec::new());
        for line in lines {
            begins.push(text.len());
            text += &line.text;
            text.push('\n');
        }
        let is_marked = tools::json::MARKS
            .iter()
            .any(|(mark, _)| text.contains(mark));
        Self {
            text,
            begins,
            is_marked,
        }
    }

    /// The value that begins at a line, and how many lines it has.
    fn value(&self, at: usize) -> Result<(Value, usize), serde_json::Error> {
        let rest = &self.text[self.begins[at]..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let value = values.next().unwrap_or(Ok(Value::Null))?;
        let length = rest[..values.byte_offset()].matches('\n').count() + 1;
        Ok((value, length))
    }

    /// Whose JSON a damaged value seems to be.
    fn marked(&self, at: usize) -> Option<Tool> {
        let rest = &self.text[self.begins[at]..];
        let rest = rest.split("\n```").next().unwrap_or(rest);
        let marks = tools::json::MARKS.iter().filter(|_| self.is_marked);
        marks
            .into_iter()
            .find_map(|(mark, tool)| rest.contains(mark).then_some(*tool))
    }
}
