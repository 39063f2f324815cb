//! `deadheat history`: the sessions of a folder, what changed between them, and a stack's figures over them.

pub mod analysis;
pub mod document;

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat_model::{TargetId, figure::counted, heats::PlannedLoad};
use deadheat_runner::session::heats::read_session;
use deadheat_shell::{
    data::{self, DataArgs, Format, OfDocument},
    exit::{CommandFailure, Exit},
    output,
    session_folders::{SessionFolder, sessions},
};
use globset::{Glob, GlobMatcher};

use self::analysis::History;

/// What `deadheat history` is asked to do.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// The folder of sessions
    #[arg(value_name = "FOLDER", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Show the figures of these stacks, all variants of a name without a colon; repeatable
    #[arg(long, value_name = "GLOB")]
    pub(crate) stack: Vec<String>,
    /// Show figures at these workloads, all load points of a name without a colon; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Vec<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs<OfDocument>,
}

/// Shows a folder's sessions, what changed between them, and figures over time.
pub fn history(args: &HistoryArgs) -> Result<Exit, CommandFailure> {
    let sink = args.data.open()?;
    let wanted = HistoryFilter::new(args)?;
    let mut history = History::default();
    let mut comparisons = 0;
    for SessionFolder { folder, .. } in found(&args.results)? {
        // One broken session does not hide the others.
        match read_session(&folder) {
            // A comparison has its own two sides, and no figures of stacks.
            Ok(record) if record.header.comparison.is_some() => comparisons += 1,
            Ok(record) => history.add(&record, |target, load| wanted.has(target, load)),
            Err(error) => output::warn(&format!("warning: {error}; left out")),
        }
    }
    if comparisons > 0 {
        output::note(&format!(
            "skipped: {}, each with two sides of its own; `deadheat report FOLDER` shows one",
            counted(comparisons, "comparison")
        ));
    }
    if history.sessions.is_empty() {
        return Err(CommandFailure::usage(format!(
            "looking for sessions in {}: none found (`deadheat run` makes them there; for another folder, use \
             `deadheat history FOLDER`)",
            args.results.display()
        )));
    }
    if !wanted.is_empty() && history.series.is_empty() {
        return Err(CommandFailure::usage(format!(
            "looking for {} in the {} sessions of {}: none measured that; `deadheat report SESSION` shows the \
             contents of a session",
            wanted.told(),
            history.sessions.len(),
            args.results.display()
        )));
    }
    let text = match sink.format {
        Format::Json => crate::history::document::json(&history)
            .map_err(|error| CommandFailure::no_result(format!("writing JSON: {error}")))?,
        format => data::rendered(&document::document(&history), format, true, sink.screen())?,
    };
    sink.write(&text)?;
    Ok(Exit::Fine)
}

/// The folders of sessions in `results`, in their order.
fn found(results: &Path) -> Result<Vec<SessionFolder>, CommandFailure> {
    sessions(results).map_err(|error| {
        CommandFailure::usage(format!(
            "reading the folder of sessions {}: {error}; name the one that `deadheat run --results` wrote to",
            results.display()
        ))
    })
}

/// The stacks and loads whose figures are asked for.
struct HistoryFilter {
    stacks: Vec<NameFilter>,
    workloads: Vec<NameFilter>,
}

/// A filter for a stack or a workload: a glob for its name, and one for the part after the colon.
struct NameFilter {
    typed: String,
    name: GlobMatcher,
    part: Option<GlobMatcher>,
    cpus: Option<u32>,
}

impl NameFilter {
    fn parse(typed: &str) -> Result<Self, CommandFailure> {
        let glob = |text: &str| {
            let glob = Glob::new(text).map_err(|error| {
                CommandFailure::usage(format!(
                    "{typed}: {error}; write it like `go-*` or `users:*`"
                ))
            })?;
            Ok(glob.compile_matcher())
        };
        let Ok(target) = typed.parse::<TargetId>();
        Ok(Self {
            typed: typed.to_owned(),
            name: glob(&target.stack)?,
            part: target.variant.as_deref().map(glob).transpose()?,
            cpus: target.cpus,
        })
    }

    /// Without a colon, all that has the name; without `@2`, on any number of CPUs.
    fn matches(&self, name: &str, part: &str, cpus: Option<u32>) -> bool {
        let part_matches = self.part.as_ref().is_none_or(|glob| glob.is_match(part));
        let cpus_match = self.cpus.is_none() || self.cpus == cpus;
        self.name.is_match(name) && part_matches && cpus_match
    }
}

impl HistoryFilter {
    fn new(args: &HistoryArgs) -> Result<Self, CommandFailure> {
        let parse = |names: &[String]| -> Result<Vec<NameFilter>, CommandFailure> {
            names.iter().map(|name| NameFilter::parse(name)).collect()
        };
        Ok(Self {
            stacks: parse(&args.stack)?,
            workloads: parse(&args.workload)?,
        })
    }

    fn is_empty(&self) -> bool {
        self.stacks.is_empty() && self.workloads.is_empty()
    }

    fn has(&self, target: &TargetId, load: &PlannedLoad) -> bool {
        let TargetId {
            stack,
            variant,
            cpus,
        } = target;
        let variant = variant.as_deref().unwrap_or_default();
        let any = |names: &[NameFilter], name: &str, part: &str| {
            names.is_empty() || names.iter().any(|one| one.matches(name, part, *cpus))
        };
        !self.is_empty()
            && any(&self.stacks, stack, variant)
            && any(&self.workloads, &load.workload, &load.point.id)
    }

    fn told(&self) -> String {
        let names = self.stacks.iter().chain(&self.workloads);
        names
            .map(|name| name.typed.as_str())
            .collect::<Vec<_>>()
            .join(" at ")
    }
}
