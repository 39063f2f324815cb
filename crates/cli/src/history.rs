//! `deadheat history`: the sessions of a folder, what changed between them, and a stack's figures over them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use deadheat_model::{Cell, TargetId};
use deadheat_runner::{
    files,
    session::{self, HEADER_FILE, heats::is_session_of_heats},
};
use deadheat_stats::history::History;
use globset::{Glob, GlobMatcher};

use crate::{
    args::HistoryArgs,
    exit::{Exit, Failure},
    output,
};

pub(crate) fn history(args: &HistoryArgs) -> Result<Exit, Failure> {
    let wanted = Wanted::of(args)?;
    let mut history = History::default();
    for folder in sessions(&args.results)? {
        if is_session_of_heats(&folder) {
            let name = folder.display();
            output::note(&format!(
                "{name}: measured in heats, which history does not read yet; left out (`deadheat report {name}` has it)"
            ));
            continue;
        }
        // One broken session does not hide the others.
        match session::read_session(&folder) {
            Ok(record) => history.add(&record, |cell| wanted.has(cell)),
            Err(error) => output::note(&format!("warning: {error}; left out")),
        }
    }
    if history.sessions.is_empty() {
        return Err(Failure::usage(format!(
            "looking for sessions in {}: there is none (`deadheat run` makes them there; another folder is given as \
             `deadheat history FOLDER`)",
            args.results.display()
        )));
    }
    if !wanted.is_empty() && history.series.is_empty() {
        return Err(Failure::usage(format!(
            "looking for {} in the {} sessions of {}: none measured that; `deadheat report SESSION` shows what a \
             session has",
            wanted.told(),
            history.sessions.len(),
            args.results.display()
        )));
    }
    if args.json {
        let text = deadheat_report::history::json(&history);
        output::data(&text.map_err(|error| Failure::nothing(format!("writing JSON: {error}")))?)?;
    } else {
        output::data(&deadheat_report::history::text(&history, output::width()))?;
    }
    Ok(Exit::Fine)
}

/// The folders of sessions in `results`, in the order in which these started. A folder may have been renamed.
fn sessions(results: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |error| {
        Failure::usage(format!(
            "reading the folder of sessions {}: {error}; give the one that `deadheat run --results` wrote to",
            results.display()
        ))
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(results).map_err(failed)? {
        let folder = entry.map_err(failed)?.path();
        if let Some(started) = started(&folder) {
            found.push((started, folder));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, folder)| folder).collect())
}

/// When the session of `folder` started; `None`: it is no session.
fn started(folder: &Path) -> Option<String> {
    let text = files::read_text(&folder.join(HEADER_FILE)).ok()?;
    // A header that cannot be read is a broken session, which is told of when it is read.
    let header: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    Some(header["started"].as_str().unwrap_or_default().to_owned())
}

/// The cells whose figures are asked for.
struct Wanted {
    stacks: Vec<Name>,
    workloads: Vec<Name>,
}

/// What was typed for a stack or a workload: a glob for its name, and one for what stands after the colon.
struct Name {
    typed: String,
    name: GlobMatcher,
    part: Option<GlobMatcher>,
}

impl Name {
    fn parse(typed: &str) -> Result<Self, Failure> {
        let glob = |text: &str| {
            let glob = Glob::new(text).map_err(|error| {
                Failure::usage(format!(
                    "{typed}: {error}; write it like `go-*` or `users:*`"
                ))
            })?;
            Ok(glob.compile_matcher())
        };
        let (name, part) = match typed.split_once(':') {
            Some((name, part)) => (name, Some(part)),
            None => (typed, None),
        };
        Ok(Self {
            typed: typed.to_owned(),
            name: glob(name)?,
            part: part.map(glob).transpose()?,
        })
    }

    /// Without a colon, all that has the name.
    fn matches(&self, name: &str, part: &str) -> bool {
        let part_matches = self.part.as_ref().is_none_or(|glob| glob.is_match(part));
        self.name.is_match(name) && part_matches
    }
}

impl Wanted {
    fn of(args: &HistoryArgs) -> Result<Self, Failure> {
        let parse = |names: &[String]| -> Result<Vec<Name>, Failure> {
            names.iter().map(|name| Name::parse(name)).collect()
        };
        Ok(Self {
            stacks: parse(&args.stack)?,
            workloads: parse(&args.workload)?,
        })
    }

    fn is_empty(&self) -> bool {
        self.stacks.is_empty() && self.workloads.is_empty()
    }

    fn has(&self, cell: &Cell) -> bool {
        let TargetId { stack, variant } = &cell.target;
        let variant = variant.as_deref().unwrap_or_default();
        let any = |names: &[Name], name: &str, part: &str| {
            names.is_empty() || names.iter().any(|one| one.matches(name, part))
        };
        !self.is_empty()
            && any(&self.stacks, stack, variant)
            && any(&self.workloads, &cell.workload, &cell.point)
    }

    fn told(&self) -> String {
        let names = self.stacks.iter().chain(&self.workloads);
        names
            .map(|name| name.typed.as_str())
            .collect::<Vec<_>>()
            .join(" at ")
    }
}
