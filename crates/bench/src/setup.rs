//! `deadheat setup`, and `deadheat run --setup`: installs what the stacks need.

use std::sync::atomic::{AtomicBool, Ordering};

use deadheat_document::Section;
use deadheat_model::{TargetId, figure::counted};
use deadheat_runner::{
    manifest::{Catalogue, Reach, Selection, Stack},
    prepare::{
        BuildProgress, Builder, ChosenStack, DEFAULT_COMMAND_LIMIT, DatabaseNeed, Host, SetupPlan,
        SetupProgress, SetupStep, assess, in_shell, inspect_all, run_setup,
    },
    process::TempFolder,
};
use deadheat_shell::{
    data,
    exit::{Exit, Failure},
    invocation, output,
};

use crate::{
    options::{PostgresArgs, SetupArgs},
    plan_text, select,
    toolchains::looking,
};

/// Installs what the stacks require.
pub fn setup(args: &SetupArgs) -> Result<Exit, Failure> {
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
    let selection = select::select(&catalogue, &args.selection.stack, &workloads, reach)?;
    let interrupted = invocation::on_signals().map_err(Failure::no_result)?;
    let work = Work::new(
        &catalogue,
        &selection,
        &args.postgres,
        &args.package,
        &interrupted,
    )?;
    if args.dry_run {
        if work.plan.is_empty() {
            output::note("setup: nothing to do");
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
) -> Result<(), Failure> {
    Work::new(catalogue, selection, postgres, &[], interrupted)?.execute(Consent::Given)?;
    if interrupted.load(Ordering::Relaxed) {
        return Err(Failure::interrupted(
            "interrupted during the setup; the same command goes on from here",
        ));
    }
    Ok(())
}

/// A setup that was planned.
struct Work<'a> {
    host: Host<'a>,
    stacks: Vec<&'a Stack>,
    plan: SetupPlan,
}

impl<'a> Work<'a> {
    fn new(
        catalogue: &'a Catalogue,
        selection: &Selection,
        postgres: &PostgresArgs,
        packages: &[String],
        interrupted: &'a AtomicBool,
    ) -> Result<Self, Failure> {
        let host = Host::here(invocation::supervision()?, interrupted);
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
        let plan = SetupPlan::new(&assess(&host, &chosen, database, packages));
        Ok(Self { host, stacks, plan })
    }

    /// Carries out the plan. Returns whether something failed.
    fn execute(mut self, consent: Consent) -> Result<bool, Failure> {
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
            }
        }
        let logs = TempFolder::create("deadheat-setup-", &invocation::supervision()?)
            .map_err(|error| Failure::no_result(format!("making a temporary folder: {error}")))?;
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
            outcome.failed, outcome.left_to_you
        ));
        if !left.is_empty() {
            output::warn(&format!("to be done by you, as root:\n{left}"));
        }
        if outcome.failed + outcome.unreachable > 0 {
            // The messages name the logs, so these have to stay.
            let kept = logs.keep().map_err(Failure::no_result)?;
            output::warn(&format!("logs: {}", kept.display()));
        }
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

/// What a setup is going to do, in a few lines. `--dry-run` has the commands.
fn overview(plan: &SetupPlan) -> String {
    let headline = match (plan.is_empty(), plan.notes.is_empty()) {
        (true, true) => "setup: nothing to do",
        (true, false) => "setup: nothing that it could do",
        (false, _) => "Setup",
    };
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
