//! `deadheat setup`, and `deadheat run --setup`: installs what the stacks need. And the search for the stacks' toolchains before
//! anything is built: shows that it looks, and says what is missing.

use std::{mem, sync::atomic::AtomicBool};

use deadheat_document::{Section, text::wrap};
use deadheat_model::{TargetId, figure::counted};
use deadheat_runner::{
    manifest::{Catalogue, Reach, Selection, Stack},
    prepare::{
        BuildProgress, Builder, ChosenStack, DEFAULT_COMMAND_LIMIT, DatabaseNeed, Host, SetupPlan,
        SetupProgress, SetupStep, Unavailable, VersionProgress, assess, in_shell, inspect_all,
        run_setup,
    },
    process::TempFolder,
};
use deadheat_shell::{
    data,
    exit::{CommandFailure, Exit},
    invocation, output,
};
use serde::Serialize;

use crate::{
    options::{PostgresArgs, SetupArgs},
    plan_text,
    progress::{Progress, columns},
    select,
};

/// Installs what the stacks require.
pub fn setup(args: &SetupArgs) -> Result<Exit, CommandFailure> {
    // Refuses an unknown source. A setup needs no more than its name.
    select::postgres(&args.postgres.postgres)?;
    let catalogue = select::catalogue(&args.selection.place)?;
    // Without names, everything is set up: a setup is for all sessions to come.
    let workloads = select::workload_names(&catalogue, &args.selection)?;
    let names = [&args.selection.stack, &workloads];
    let reach = if names.iter().all(|names| names.is_empty()) {
        Reach::Everything
    } else if args.selection.all {
        Reach::All
    } else {
        Reach::Defaults
    };
    let mut selection = select::select(&catalogue, &args.selection.stack, &workloads, reach)?;
    if args.selection.stack.is_empty() && !workloads.is_empty() {
        select::keep_answering(&catalogue, &mut selection)?;
    }
    let interrupted = invocation::on_signals().map_err(CommandFailure::no_result)?;
    let mut work = PlannedSetup::new(
        &catalogue,
        &selection,
        &args.postgres,
        &args.package,
        &interrupted,
    )?;
    if args.no_fetch {
        work.plan.fetch.clear();
    }
    if args.dry_run {
        if let Some(why) = without_steps(&work.plan) {
            output::note(why);
        }
        output::data(&work.plan.to_string())?;
        return Ok(Exit::Fine);
    }
    let consent = if args.yes {
        Consent::Given
    } else {
        Consent::Asked
    };
    let failed = work.execute(consent)?;
    Ok(if failed { Exit::Failed } else { Exit::Fine })
}

/// Whether the user agrees to have system packages installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consent {
    /// The command line says so: `setup --yes`, `run --setup`.
    Given,
    /// They are asked in the terminal. Without one the answer is no.
    Asked,
}

/// Installs what a session needs. Reports what cannot be installed; the session then lists it as unavailable.
///
/// # Errors
/// If the user interrupts, or logs cannot be written.
pub(crate) fn install(
    catalogue: &Catalogue,
    selection: &Selection,
    postgres: &PostgresArgs,
    interrupted: &AtomicBool,
) -> Result<(), CommandFailure> {
    PlannedSetup::new(catalogue, selection, postgres, &[], interrupted)?.execute(Consent::Given)?;
    Ok(())
}

/// Refuses to continue after Ctrl-C: a query that was cut short seems to lack its program.
pub(crate) fn check_interrupt(host: &Host<'_>, message: &str) -> Result<(), CommandFailure> {
    if host.interrupted() {
        return Err(CommandFailure::interrupted(message));
    }
    Ok(())
}

/// The message of a setup that ends before its first step.
const NOTHING_DONE: &str = "interrupted before anything was installed";

/// A setup that was planned.
struct PlannedSetup<'a> {
    host: Host<'a>,
    stacks: Vec<&'a Stack>,
    /// The stacks that lack Debian packages.
    without_packages: Vec<String>,
    plan: SetupPlan,
}

impl<'a> PlannedSetup<'a> {
    fn new(
        catalogue: &'a Catalogue,
        selection: &Selection,
        postgres: &PostgresArgs,
        packages: &[String],
        interrupted: &'a AtomicBool,
    ) -> Result<Self, CommandFailure> {
        let host = Host::here(invocation::supervision(), interrupted);
        let mut chosen: Vec<(&Stack, Vec<TargetId>)> = Vec::new();
        for target in &selection.targets {
            let Some(stack) = catalogue.stack(target) else {
                continue;
            };
            let known = chosen
                .iter_mut()
                .find(|(one, _)| one.manifest.id == stack.manifest.id);
            match known {
                Some((_, targets)) => targets.push(target.clone()),
                None => chosen.push((stack, vec![target.clone()])),
            }
        }
        let stacks: Vec<&Stack> = chosen.iter().map(|(stack, _)| *stack).collect();
        let inspections = looking(stacks.len(), |tell| inspect_all(&host, &stacks, tell));
        let wanted = selection
            .workloads
            .iter()
            .any(|one| one.manifest.oracle.needs_database());
        // With any other value, PostgreSQL needs nothing installed.
        let installed = ["auto", "installed"].contains(&postgres.postgres.as_str());
        let database = if wanted && installed {
            DatabaseNeed::Binaries
        } else {
            DatabaseNeed::None
        };
        let chosen: Vec<ChosenStack<'_>> = chosen
            .into_iter()
            .zip(&inspections)
            .map(|((stack, targets), inspection)| ChosenStack {
                stack,
                inspection,
                targets,
            })
            .collect();
        let needs = assess(&host, &chosen, database, packages);
        check_interrupt(&host, NOTHING_DONE)?;
        let without_packages = needs.stacks.iter().filter(|one| !one.packages.is_empty());
        Ok(Self {
            without_packages: without_packages.map(|one| one.stack.clone()).collect(),
            plan: SetupPlan::new(&needs),
            host,
            stacks,
        })
    }

    /// If the user has to install the packages: removes the fetches of stacks that lack some from the plan, because
    /// they would fail. Returns the names of these stacks.
    fn postpone_fetches(&mut self) -> Vec<String> {
        if !self.plan.by_hand {
            return Vec::new();
        }
        let fetches = mem::take(&mut self.plan.fetch).into_iter();
        let (later, now): (Vec<_>, Vec<_>) =
            fetches.partition(|(stack, _)| self.without_packages.contains(stack));
        self.plan.fetch = now;
        let mut stacks: Vec<String> = later.into_iter().map(|(stack, _)| stack).collect();
        stacks.dedup();
        stacks
    }

    /// Carries out the plan. Returns whether something failed.
    ///
    /// # Errors
    /// If the user interrupts, or logs cannot be written.
    fn execute(mut self, consent: Consent) -> Result<bool, CommandFailure> {
        let mut postponed = self.postpone_fetches();
        output::note(&overview(&self.plan));
        if self.plan.is_empty() {
            return Ok(false);
        }
        let packages = &self.plan.packages;
        if !packages.is_empty() && !self.plan.by_hand && consent == Consent::Asked {
            let question = format!(
                "Install {} as root?",
                counted(packages.len(), "Debian package")
            );
            if output::ask(&question) != Some(true) {
                output::note(
                    "Debian packages are not installed; --yes installs them without a question",
                );
                self.plan.by_hand = true;
                postponed = self.postpone_fetches();
            }
            check_interrupt(&self.host, NOTHING_DONE)?;
        }
        let logs = TempFolder::create("deadheat-setup-", &invocation::supervision());
        let logs = logs.map_err(|error| {
            CommandFailure::no_result(format!("making a temporary folder: {error}"))
        })?;
        let builder = Builder {
            host: &self.host,
            logs: logs.path(),
            limit: DEFAULT_COMMAND_LIMIT,
        };
        let mut left = String::new();
        let outcome = run_setup(&builder, &self.plan, &self.stacks, &mut |progress| {
            match progress {
                // Reported at the end, where it is not missed.
                SetupProgress::ToBeDoneByYou(step) => {
                    left += &format!("  {}\n", in_shell(&step.command));
                }
                other => tell(&other),
            }
        });
        let unreachable = match outcome.unreachable {
            0 => String::new(),
            count => format!("{count} unreachable, "),
        };
        output::note(&format!(
            "setup: {unreachable}{} failed, {} left to you",
            outcome.failed,
            outcome.left_to_you + usize::from(!postponed.is_empty())
        ));
        if !postponed.is_empty() {
            left += &format!(
                "then again: deadheat setup, for the dependencies of {}\n",
                postponed.join(", ")
            );
        }
        if !left.is_empty() {
            output::warn(&format!("to be done by you, as root:\n{left}"));
        }
        if outcome.failed + outcome.unreachable > 0 {
            // The messages name the logs, so these have to stay.
            let kept = logs.keep().map_err(CommandFailure::no_result)?;
            output::warn(&format!("logs: {}", kept.display()));
        }
        check_interrupt(
            &self.host,
            "interrupted during the setup; the same command goes on from here",
        )?;
        Ok(outcome.failed > 0)
    }
}

fn tell(progress: &SetupProgress<'_>) {
    let failed = matches!(
        progress,
        SetupProgress::Failed { .. }
            | SetupProgress::NoSuchPackage(_)
            | SetupProgress::NotFetched { .. }
            | SetupProgress::FetchFailed { .. }
    );
    let text = match progress {
        SetupProgress::ToBeDoneByYou(_) => return,
        SetupProgress::Running(step) => command_line(step),
        SetupProgress::NoSuchPackage(package) => {
            format!(
                "FAILED {package}: apt knows no package of exactly this name, so it is not installed"
            )
        }
        SetupProgress::Failed {
            step,
            error,
            log_tail,
        } => {
            format!("FAILED {}: {error}{}", step.why, output::quoted(log_tail))
        }
        SetupProgress::NotFetched { stack, reason } => format!("{stack}: not fetched: {reason}"),
        SetupProgress::Fetching { stack, progress } => match progress {
            BuildProgress::Waiting { lock } => {
                format!(
                    "{stack}: waiting for another deadheat, which uses {}",
                    lock.display()
                )
            }
            BuildProgress::AlreadyFetched => return,
            BuildProgress::Running { command, .. } => format!("{stack}: {command}"),
        },
        SetupProgress::FetchFailed { stack, failure } => {
            format!(
                "FAILED {stack}: {}{}",
                failure.reason,
                output::quoted(&failure.log_tail)
            )
        }
    };
    if failed {
        output::warn(&text);
    } else {
        output::note(&text);
    }
}

/// What a plan without steps means; `None` for a plan with steps.
fn without_steps(plan: &SetupPlan) -> Option<&'static str> {
    let why = if plan.notes.is_empty() {
        "setup: nothing to do"
    } else {
        "setup: nothing that it can do here; install the following yourself"
    };
    plan.is_empty().then_some(why)
}

/// What a setup is going to do, in a few lines. `--dry-run` has the commands.
fn overview(plan: &SetupPlan) -> String {
    let headline = without_steps(plan).unwrap_or("Setup");
    let mut entries = Vec::new();
    if !plan.packages.is_empty() {
        let count = counted(plan.packages.len(), "Debian package");
        let packages = format!("{count}, as root: {}", plan.packages.join(", "));
        entries.push(("system", packages));
    }
    let mut stacks: Vec<&str> = plan.fetch.iter().map(|(stack, _)| stack.as_str()).collect();
    stacks.dedup();
    if !stacks.is_empty() {
        entries.push(("fetch", format!("dependencies of {}", stacks.join(", "))));
    }
    let document = plan_text::plan(headline.to_owned(), entries);
    // Not wrapped: they hold commands and addresses to copy.
    let notes = Section::new("Not installed by setup:").log(&plan.notes);
    data::as_note(&document.section(notes))
}

/// The step's command in one line, cut to the width. The plan has already listed the packages.
fn command_line(step: &SetupStep) -> String {
    const COLUMNS: usize = 80;
    let command = format!("$ {}", in_shell(&step.command));
    if command.chars().count() <= COLUMNS {
        return command;
    }
    let kept: String = command.chars().take(COLUMNS - 1).collect();
    format!("{kept}…")
}

/// Before all lines about a cause but the first.
const INDENT: &str = "    ";

/// Stacks that a session cannot measure.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MissingStacks(Vec<MissingStack>);

#[derive(Clone, Debug, Serialize)]
struct MissingStack {
    target: TargetId,
    #[serde(flatten)]
    why: Unavailable,
}

impl MissingStacks {
    /// Stacks, each with what it lacks.
    pub fn new(missing: Vec<(TargetId, Unavailable)>) -> Self {
        let missing = missing.into_iter();
        Self(
            missing
                .map(|(target, why)| MissingStack { target, why })
                .collect(),
        )
    }

    /// Whether none is missing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `target` is among them.
    pub(crate) fn has(&self, target: &TargetId) -> bool {
        self.0.iter().any(|one| one.target == *target)
    }

    pub(crate) fn targets(&self) -> Vec<TargetId> {
        self.0.iter().map(|one| one.target.clone()).collect()
    }

    /// Those that one of `names` names: not by a glob, but as they are called.
    pub(crate) fn named(&self, names: &[String]) -> Self {
        let is_named = |target: &TargetId| {
            let full = target.on_cpus(None).to_string();
            names
                .iter()
                .any(|name| *name == target.stack || *name == full)
        };
        let named = self.0.iter().filter(|one| is_named(&one.target));
        Self(named.cloned().collect())
    }

    /// A line for each stack: why it cannot be measured, and what would change that.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let each = self.0.iter().map(|one| {
            let Unavailable { reason, remedy } = &one.why;
            format!("{reason}; to change that: {remedy}")
        });
        each.collect()
    }

    /// Two lines for each cause: which stacks are unavailable and why, and what would change that.
    pub fn lines(&self) -> Vec<String> {
        let mut causes: Vec<(&Unavailable, Vec<String>)> = Vec::new();
        for MissingStack { target, why } in &self.0 {
            let name = target.to_string();
            match causes.iter_mut().find(|(cause, _)| *cause == why) {
                Some((_, names)) => names.push(name),
                None => causes.push((why, vec![name])),
            }
        }
        let columns = columns().saturating_sub(INDENT.len());
        let lines = causes.into_iter().map(|(why, names)| {
            let Unavailable { reason, remedy } = why;
            let what = format!("{}: UNAVAILABLE: {reason}", names.join(", "));
            let mut lines = wrap(&what, columns, "", false);
            // A command is there to be copied: it stays in one line.
            lines.push(format!("to change that: {remedy}"));
            lines.join(&format!("\n{INDENT}"))
        });
        lines.collect()
    }
}

/// Runs `work`, which asks the programs of `stacks` stacks for their versions. A message says at once that it looks,
/// and names the programs that it waits for as soon as one is slow.
pub fn looking<T>(
    stacks: usize,
    work: impl FnOnce(&mut dyn FnMut(&VersionProgress<'_>)) -> T,
) -> T {
    let what = format!("Looking for the toolchains of {}", counted(stacks, "stack"));
    let mut progress = Progress::spinning(&what);
    if !output::draws_progress() {
        output::note(&what);
    }
    let mut told: Vec<String> = Vec::new();
    let found = work(&mut |asking| {
        let waiting_for = asking.waiting_for.join(", ");
        let done = format!("{what}: {} of {}", asking.answered, asking.all);
        let mut parts = vec![done];
        let names = asking.waiting_for.iter();
        parts.extend(
            names
                .clone()
                .take(1)
                .map(|name| format!("waiting for {name}")),
        );
        parts.extend(names.skip(1).map(ToString::to_string));
        progress.say_parts(&parts);
        if asking.is_slow && !output::draws_progress() && !told.contains(&waiting_for) {
            output::note(&format!("  waiting for {waiting_for}"));
            told.push(waiting_for);
        }
    });
    progress.finish();
    found
}

/// How many stacks `targets` are variants of.
pub(crate) fn count_stacks(targets: &[TargetId]) -> usize {
    let mut names: Vec<&str> = targets.iter().map(|one| one.stack.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn step(command: &[&str]) -> SetupStep {
        SetupStep {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            dir: PathBuf::from("/"),
            why: "x".to_owned(),
        }
    }

    #[test]
    fn an_overview_names_packages_stacks_and_what_cannot_be_had() {
        let mut plan = SetupPlan {
            packages: vec!["nim".to_owned(), "php-fpm".to_owned()],
            install: Some(step(&["apt-get", "install", "nim", "php-fpm"])),
            ..SetupPlan::default()
        };
        for _ in 0..2 {
            plan.fetch.push(("java-vertx".to_owned(), step(&["mvn"])));
        }
        plan.notes.push("elixir-phoenix: no Hex".to_owned());
        assert_eq!(
            overview(&plan),
            "Setup\n  system  2 Debian packages, as root: nim, php-fpm\n  fetch   dependencies of java-vertx\n\n\
             Not installed by setup:\n    elixir-phoenix: no Hex"
        );
        assert_eq!(overview(&SetupPlan::default()), "setup: nothing to do");
        plan.packages.clear();
        plan.install = None;
        plan.fetch.clear();
        assert_eq!(
            overview(&plan),
            "setup: nothing that it can do here; install the following yourself\n\n\
             Not installed by setup:\n    elixir-phoenix: no Hex"
        );
    }

    #[test]
    fn a_long_command_takes_one_line() {
        let packages = vec!["package"; 40];
        let shown = command_line(&step(&packages));
        assert_eq!(shown.chars().count(), 80);
        assert!(shown.starts_with("$ package ") && shown.ends_with('…'));
        assert_eq!(
            command_line(&step(&["apt-get", "update"])),
            "$ apt-get update"
        );
    }
}
