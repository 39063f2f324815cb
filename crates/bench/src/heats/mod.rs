//! `deadheat run`, measured in heats: from the options to the report, and how the statistics steer the session.

mod plan_text;
mod progress;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deadheat_document::{
    Document, html::Contents, json::ReportError, markdown::without_homes, text::Screen,
};
use deadheat_model::{
    Event, RepeatedTable, TargetId,
    heats::{EndReason, Plan, PlannedLoad, SessionRecord, Step},
    plan::Pinning,
    session::TargetState,
};
use deadheat_runner::{
    files::write_whole,
    manifest::Catalogue,
    session::{
        self, SessionOptions,
        heats::{self, Resumable, Steering, read_session},
    },
};
use deadheat_shell::{
    data::{self, Files, Format},
    exit::{CommandFailure, Exit},
    invocation::shown,
    output,
    session_folders::HTML_FILE,
};
use deadheat_stats::{
    heats::allocation,
    sequential::usual_looks,
    standings::{Standings, standings},
    steering::{self, looks_for},
};
use serde::Serialize;

use self::progress::HeatProgress;
use crate::{
    doctor,
    document::{self, StandingsView},
    live::Live,
    options::RunArgs,
    other_hosts,
    plan_text::{self as words, of_the_checkout},
    profile::Profile,
    setup::{self, MissingStacks, looking},
};

/// The plan of a session for programs.
#[derive(Serialize)]
struct PlanOfSession<'a> {
    plan: &'a Plan,
    /// Stacks that cannot be measured here.
    unavailable: &'a MissingStacks,
    /// With `--publish`: what makes it unfit to be published.
    unfit: &'a [String],
    published: &'a [RepeatedTable],
}

/// Plans, measures and shows a session.
pub(crate) fn run(
    args: &RunArgs,
    catalogue: &Catalogue,
    profile: &Profile,
    interrupted: &Arc<AtomicBool>,
) -> Result<Exit, CommandFailure> {
    // Before any work, so that nobody waits for a report that has no place.
    let files = (!args.heat.dry_run).then(|| args.data.open()).transpose()?;
    let mut options = profile.clone().options(args, catalogue)?;
    leave_out(&mut options, &args.selection.stack)?;
    let mut steer = RankingSteering::new(&options);
    other_hosts::check(&args.other_hosts, &heats::draft(&options, &steer))?;
    if args.setup && !args.heat.dry_run {
        let mut selection = profile.selection.clone();
        selection.targets.retain(|target| {
            let mut measured = options.targets.iter();
            measured.any(|one| one.target.on_cpus(None) == *target)
        });
        setup::install(catalogue, &selection, &args.postgres, interrupted)?;
    }
    let missing = missing(&mut options, interrupted)?;
    let refusal = Refusal::new(&missing, &options, &args.selection.stack);
    if let Some(refusal) = refusal.as_ref().filter(|_| !args.heat.dry_run) {
        return Err(refusal.of_run());
    }
    let nobody_named_stacks = args.selection.stack.is_empty() && !args.selection.all;
    let room = nobody_named_stacks
        .then(|| choose(&mut options, &missing, &steer))
        .flatten();
    let draft = heats::draft(&without(&options, &missing), &steer);
    let unfit = if args.publish {
        let commit = session::commit_of(&options);
        let are_embedded = session::embedded_of(&options).is_some();
        objections(&draft, commit.as_deref(), are_embedded)
    } else {
        Vec::new()
    };
    let more = words::published(&options.published).into_iter();
    let more = room.into_iter().chain(more);
    let plan = plan_text::describe(&draft, more.chain(words::unfit(&unfit)));
    let unavailable = missing.lines();
    let Some(files) = files else {
        let is_json = args.data.plan_is_json()?;
        if !is_json {
            let lines = unavailable.iter().map(|line| format!("{line}\n"));
            output::data(&lines.collect::<String>())?;
        }
        let is_empty = draft.loads.is_empty();
        if is_json || !is_empty {
            args.data.print_plan(&plan, || PlanOfSession {
                plan: &draft,
                unavailable: &missing,
                unfit: &unfit,
                published: &options.published,
            })?;
        }
        return match refusal {
            Some(_) if args.setup => {
                output::note("--setup installs first: `deadheat setup --dry-run` shows its steps");
                Ok(Exit::Fine)
            }
            Some(refusal) => Err(would_measure_nothing(refusal.why)),
            None if is_empty => Err(would_measure_nothing("no stack has one of these loads")),
            None => Ok(Exit::Fine),
        };
    };
    for line in unavailable {
        output::warn(&line);
    }
    output::note(&data::as_note(&plan));
    options.findings = doctor::before_a_run(&options);
    let mut listeners = Listeners {
        progress: HeatProgress::new(None).knowing(missing.targets()),
        live: args.live.then(|| Live::new(&options.results)),
    };
    let mut on_event = |event: &Event| listeners.on(event);
    let outcome = heats::run(&options, &mut steer, &mut on_event, interrupted);
    let outcome = listeners.end(outcome).map_err(CommandFailure::no_result)?;
    show_outcome(&outcome.folder, args, files)
}

/// What listens to the events of a session.
struct Listeners {
    progress: HeatProgress,
    live: Option<Live>,
}

impl Listeners {
    fn on(&mut self, event: &Event) {
        self.progress.on(event);
        let line = self.live.as_mut().and_then(|live| live.on(event));
        if let Some(line) = line {
            self.progress.line(&line);
        }
    }

    /// Ends what is shown during the session, whose outcome this is.
    fn end<T, E>(mut self, outcome: Result<T, E>) -> Result<T, E> {
        self.progress.finish();
        if let (Err(_), Some(live)) = (&outcome, &self.live) {
            live.give_up();
        }
        outcome
    }
}

/// Leaves out the stacks that offer none of the loads, and says so. Nothing is wrong with them.
///
/// # Errors
/// If one of them is among these `names`, or if no other stack would be left.
fn leave_out(options: &mut SessionOptions, names: &[String]) -> Result<(), CommandFailure> {
    let without = MissingStacks::new(session::without_loads(options));
    if without.is_empty() {
        return Ok(());
    }
    let targets = without.targets();
    let refused = if targets.len() == options.targets.len() {
        without.clone()
    } else {
        without.named(names)
    };
    if !refused.is_empty() {
        return Err(CommandFailure::usage(refused.reasons().join("\n")));
    }
    options.targets.retain(|one| !without.has(&one.target));
    let left_out: Vec<String> = targets.iter().map(ToString::to_string).collect();
    output::note(&format!(
        "skipped (not made for these loads): {}",
        left_out.join(", ")
    ));
    Ok(())
}

/// Looks which of the stacks cannot be measured here.
fn missing(
    options: &mut SessionOptions,
    interrupted: &Arc<AtomicBool>,
) -> Result<MissingStacks, CommandFailure> {
    let targets: Vec<TargetId> = options
        .targets
        .iter()
        .map(|one| one.target.clone())
        .collect();
    let missing = looking(setup::count_stacks(&targets), |tell| {
        session::survey(options, interrupted, tell)
    });
    if interrupted.load(Ordering::SeqCst) {
        return Err(CommandFailure::interrupted(
            "interrupted before anything was built",
        ));
    }
    Ok(MissingStacks::new(missing))
}

/// Why a run ends before anything is built: a stack that was asked for by its name cannot be measured, or none can.
/// Without the one that matters it would take minutes. Stacks that only a glob or the default choice names are left
/// out.
struct Refusal {
    missing: MissingStacks,
    why: &'static str,
}

impl Refusal {
    /// `None` if the run can begin.
    fn new(missing: &MissingStacks, options: &SessionOptions, names: &[String]) -> Option<Self> {
        let named = missing.named(names);
        if missing.targets().len() == options.targets.len() {
            Some(Self {
                missing: missing.clone(),
                why: "none of the stacks can be measured here",
            })
        } else if named.is_empty() {
            None
        } else {
            Some(Self {
                missing: named,
                why: "a named stack is unavailable; omit it to measure the others",
            })
        }
    }

    /// The failure of the run.
    fn of_run(&self) -> CommandFailure {
        let lines = self.missing.lines().join("\n");
        CommandFailure::no_result(lines).and(&format!("Nothing was built: {}.", self.why))
    }
}

/// The failure of a dry run whose plan cannot be carried out. It has the status of the run; the plan has the stacks.
fn would_measure_nothing(why: &str) -> CommandFailure {
    CommandFailure::no_result(format!("this run would measure nothing: {why}"))
}

/// Of stacks that nobody named, keeps those for which the budget has room. Returns the line of the plan about the
/// others.
fn choose(
    options: &mut SessionOptions,
    missing: &MissingStacks,
    steer: &RankingSteering,
) -> Option<words::Entry> {
    if !options.published.is_empty() {
        return None;
    }
    let able = without(options, missing);
    let (_, rest) = heats::with_room(&able, steer);
    if rest.is_empty() {
        return None;
    }
    options.targets.retain(|one| !rest.contains(&one.target));
    options.heats.left_out.splice(0..0, rest.iter().cloned());
    Some(plan_text::budget_for_rest(
        &rest,
        heats::eight_heats(&able, steer),
    ))
}

/// The session without the stacks that are missing.
fn without(options: &SessionOptions, missing: &MissingStacks) -> SessionOptions {
    let mut options = options.clone();
    options.targets.retain(|one| !missing.has(&one.target));
    options
}

/// Continues a session that was interrupted or killed.
pub(crate) fn resume(
    session: Resumable,
    mut options: SessionOptions,
    args: &RunArgs,
    interrupted: &Arc<AtomicBool>,
) -> Result<Exit, CommandFailure> {
    let files = args.data.open()?;
    let folder = session.folder().to_owned();
    let recorded = match session.record().complete() {
        1 => "1 heat is recorded".to_owned(),
        many => format!("{many} heats are recorded"),
    };
    output::note(&format!("Resuming {}: {recorded}", shown(&folder)));
    // As before a session begins. Its file system is that of its folder.
    options.results.clone_from(&folder);
    options.findings = doctor::before_a_run(&options);
    let mut listeners = Listeners {
        progress: HeatProgress::new(Some(session.record())),
        live: args.live.then(|| Live::resuming(&folder)),
    };
    let mut steer = RankingSteering::new(&options);
    let mut on_event = |event: &Event| listeners.on(event);
    let outcome = heats::resume(session, &options, &mut steer, &mut on_event, interrupted);
    listeners.end(outcome).map_err(CommandFailure::resuming)?;
    show_outcome(&folder, args, files)
}

/// The number of balanced sets of orders for a heat; after them, the first comes again.
const SETS: usize = 4;

/// Decides by the heats so far what is measured next.
struct RankingSteering {
    /// Whether there are looks before the last heat, so that a decided ranking can end early.
    until_decided: bool,
    /// The precision that was asked for.
    precision: Option<f64>,
    /// The error level of a ranking.
    alpha: f64,
}

impl RankingSteering {
    /// The steering of a session with these options.
    fn new(options: &SessionOptions) -> Self {
        Self {
            until_decided: options.heats.until_decided,
            precision: options.heats.precision,
            alpha: options.heats.alpha,
        }
    }
}

impl Steering for RankingSteering {
    fn next(&mut self, record: &SessionRecord, spent: Duration) -> Step {
        steering::next(record, spent)
    }

    fn orders(&mut self, members: usize, seed: u64) -> Vec<Vec<usize>> {
        let rounds = allocation::rounds(members, seed);
        rounds.take(SETS * 2 * members.max(1)).collect()
    }

    fn looks(&self, load: &PlannedLoad, most: u32) -> Vec<u32> {
        match self.precision {
            Some(precision) => looks_for(load, precision, self.alpha),
            None if self.until_decided => usual_looks(most),
            None => vec![most],
        }
    }
}

/// Fewer heats than these leave an interval to chance.
const MIN_HEATS: u32 = 7;

/// What makes the figures of this session unfit to be published. `commit` is that of the stacks' sources.
fn objections(plan: &Plan, commit: Option<&str>, are_embedded: bool) -> Vec<String> {
    let mut objections = Vec::new();
    if matches!(plan.pinning, Pinning::Off { .. }) {
        objections.push(
            "server and generator are not kept apart, and take CPU time from each other".to_owned(),
        );
    }
    objections.extend(of_the_checkout(commit, are_embedded));
    let fewest = plan.leading().map(PlannedLoad::most_heats).min();
    if let Some(fewest) = fewest.filter(|heats| *heats < MIN_HEATS) {
        objections.push(format!(
            "{fewest} heats of a load, where the minimum is {MIN_HEATS}"
        ));
    }
    objections
}

/// Writes the report of a session that has ended into its folder, and shows it.
pub(crate) fn show_outcome(
    folder: &Path,
    args: &RunArgs,
    files: Files,
) -> Result<Exit, CommandFailure> {
    let record = read_session(folder).map_err(CommandFailure::no_result)?;
    let rendered = ReportTexts::new(&record, folder, output::screen())?;
    rendered.write_beside(folder)?;
    let format = args.data.format();
    let printed = match format {
        Format::Card => ReportTexts::card(&record, None),
        _ => rendered.in_format(format, false).map(String::into_bytes),
    };
    let printed = printed.and_then(|shown| data::print(format, &shown));
    let written = write_files(&record, folder, files);
    place(folder);
    printed
        .and(written)
        .map(|()| exit(&record, &rendered.standings))
}

/// Writes the files that were asked for with `--output`.
fn write_files(record: &SessionRecord, folder: &Path, files: Files) -> Result<(), CommandFailure> {
    files.write(|format| match format {
        Format::Card => ReportTexts::card(record, None),
        format => {
            let rendered = ReportTexts::new(record, folder, data::page())?;
            Ok(rendered.in_format(format, false)?.into_bytes())
        }
    })
}

/// Says where the report of a session is.
pub(crate) fn place(folder: &Path) {
    output::note(&format!("report: {}", shown(&folder.join(HTML_FILE))));
    output::note(&format!(
        "all of it here: deadheat report {} --details",
        shown(folder)
    ));
}

/// A folder as the user would type it.
pub fn typed(folder: &Path) -> String {
    let shown = shown(folder);
    shlex::try_quote(&shown).map_or_else(|_| shown.clone(), Into::into)
}

/// The exit status: 3 if nothing was measured, or 130 if it was interrupted before; 1 if a stack failed, before or
/// under load. An unavailable stack is reported, and is no failure.
fn exit(record: &SessionRecord, standings: &Standings) -> Exit {
    let rows = || {
        let tables = standings.loads.iter().flat_map(|load| &load.tables);
        tables.flat_map(|table| &table.rows)
    };
    if rows().next().is_none() {
        return match record.end {
            Some(EndReason::Interrupted) => Exit::Interrupted,
            _ => Exit::NoResult,
        };
    }
    let failed = record.header.targets.iter().any(|target| {
        matches!(target.state, TargetState::Failed(_)) || !target.failed_workloads.is_empty()
    });
    let lacking = standings.loads.iter().any(|load| {
        let mut lacking = load.lacking.iter();
        lacking.any(|one| one.is == deadheat_stats::standings::AbsentBecause::Failed)
    });
    if failed || lacking || rows().any(|row| !row.failures.is_empty()) {
        Exit::Failed
    } else {
        Exit::Fine
    }
}

/// A session's report in every format that is text.
pub struct ReportTexts {
    standings: Standings,
    screen: Screen,
    document: Document,
    text: String,
    html: String,
    json: String,
    csv: String,
}

impl ReportTexts {
    /// Analyses and renders the session in `folder`.
    pub fn new(
        record: &SessionRecord,
        folder: &Path,
        screen: Screen,
    ) -> Result<Self, CommandFailure> {
        let standings = standings(record);
        let view = StandingsView::new(record, &standings).in_folder(&typed(folder));
        let failed = |error: ReportError| {
            let id = &record.header.id;
            CommandFailure::no_result(format!("writing the report of {id}: {error}"))
        };
        let json = document::json(record, &standings).map_err(failed)?;
        let csv = document::csv(&view);
        let contents = Contents {
            json: &json,
            csv: &csv,
        };
        Ok(Self {
            screen,
            document: document::document(&view),
            text: document::text(&view, screen),
            html: document::html(&view, Some(&contents)).map_err(failed)?,
            json,
            csv,
            standings,
        })
    }

    /// One of the formats; the text instead of a picture. Without `details` the text has what decides.
    ///
    /// # Errors
    /// When a session has no report in this format.
    pub fn in_format(&self, format: Format, details: bool) -> Result<String, CommandFailure> {
        match format {
            Format::Text if details => Ok(self.document.text(self.screen)),
            Format::Text | Format::Card => Ok(self.text.clone()),
            Format::Html => Ok(self.html.clone()),
            Format::Json => Ok(self.json.clone()),
            Format::Csv => Ok(self.csv.clone()),
            format => {
                let text = data::rendered(&self.document, format, true, self.screen)?;
                Ok(without_homes(&text))
            }
        }
    }

    /// A picture of a load, of the first one that has an answer unless it is named.
    pub fn card(record: &SessionRecord, workload: Option<&str>) -> Result<Vec<u8>, CommandFailure> {
        let view = StandingsView::new(record, &standings(record));
        document::card(&view, workload).map_err(|error| match error {
            ReportError::NoSuchWorkload { .. } => CommandFailure::usage(error),
            error => CommandFailure::no_result(format!("{}: {error}", record.header.id)),
        })
    }

    /// Writes `report.html`, `report.md`, `report.json` and `report.csv` into the session's folder.
    fn write_beside(&self, folder: &Path) -> Result<(), CommandFailure> {
        let files = [
            (HTML_FILE, Format::Html),
            ("report.md", Format::Markdown),
            ("report.json", Format::Json),
            ("report.csv", Format::Csv),
        ];
        for (name, format) in files {
            let text = self.in_format(format, true)?;
            let path = folder.join(name);
            write_whole(&path, text.as_bytes()).map_err(|error| {
                CommandFailure::no_result(format!(
                    "writing {}: {error}; the heats are safe, `deadheat report {}` prints the report",
                    path.display(),
                    folder.display()
                ))
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::heats::{EndReason, Step};
    use deadheat_simulation::Recorded;

    use super::*;

    #[test]
    fn what_a_reader_would_hold_against_it_is_said() {
        let plan = Recorded::measured(&[1.0, 2.0]);
        let record = plan.run(1, &mut |_, _| Step::End(EndReason::Nothing));
        let mut plan = record.header.plan;
        let of_checkout = objections(&plan, Some("abc"), false).len();
        // Whoever has this version of Deadheat has the stacks that are part of it.
        let embedded = objections(&plan, None, true).len();
        assert_eq!(embedded, of_checkout);
        assert_eq!(objections(&plan, None, false).len(), of_checkout + 1);
        plan.loads[0].looks = vec![5];
        plan.pinning = Pinning::Off { cpus: vec![0] };
        let found = objections(&plan, Some("abc-dirty"), true);
        assert_eq!(found.len(), of_checkout + 3, "{found:?}");
    }
}
