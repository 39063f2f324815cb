//! `deadheat run`, measured in heats.

pub mod options;
mod plan_text;
mod progress;
mod publication;
mod show;
mod steer;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use deadheat_model::{Event, RepeatedTable, TargetId, heats::Plan};
use deadheat_runner::{
    manifest::Catalogue,
    session::{
        self, SessionOptions,
        heats::{self, Resumable},
    },
};
use deadheat_shell::{
    data::{self, Files, Format},
    exit::{Exit, Failure},
    invocation::shown,
    output,
};
use serde::Serialize;

pub use self::show::Rendered;
use self::{progress::Progress, steer::Steer};
use crate::{
    doctor,
    live::Live,
    options::RunArgs,
    other_hosts, plan_text as words,
    profile::Profile,
    setup,
    toolchains::{self, Missing, looking},
};

/// The plan of a session for programs.
#[derive(Serialize)]
struct PlanOfSession<'a> {
    plan: &'a Plan,
    /// Stacks that cannot be measured here.
    unavailable: &'a Missing,
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
) -> Result<Exit, Failure> {
    let mut options = profile.clone().options(args, catalogue)?;
    let mut steer = Steer::new(&options);
    other_hosts::check(&args.other_hosts, &heats::draft(&options, &steer))
        .map_err(Failure::usage)?;
    if args.setup && !args.heat.dry_run {
        let selection = &profile.selection;
        setup::install(catalogue, selection, &args.postgres, interrupted)?;
    }
    let missing = missing(&mut options, interrupted)?;
    if !args.heat.dry_run {
        refuse(&missing, &options, &args.selection.stack)?;
    }
    let nobody_named_stacks = args.selection.stack.is_empty() && !args.selection.all;
    let room = nobody_named_stacks
        .then(|| choose(&mut options, &missing, &steer))
        .flatten();
    let draft = heats::draft(&without(&options, &missing), &steer);
    let unfit = if args.publish {
        let commit = session::commit_of(&options);
        let are_embedded = session::embedded_of(&options).is_some();
        publication::objections(&draft, commit.as_deref(), are_embedded)
    } else {
        Vec::new()
    };
    let more = words::published(&options.published).into_iter();
    let more = room.into_iter().chain(more);
    let plan = plan_text::describe(&draft, more.chain(words::unfit(&unfit)));
    let unavailable = missing.lines();
    if args.heat.dry_run {
        if !args.data.plan_is_json()? {
            let lines = unavailable.iter().map(|line| format!("{line}\n"));
            output::data(&lines.collect::<String>())?;
        }
        return args.data.print_plan(&plan, || PlanOfSession {
            plan: &draft,
            unavailable: &missing,
            unfit: &unfit,
            published: &options.published,
        });
    }
    let files = args.data.open()?;
    for line in unavailable {
        output::warn(&line);
    }
    output::note(&data::as_note(&plan));
    options.findings = doctor::before_a_run(&options);
    let mut listeners = Listeners {
        progress: Progress::new(None).knowing(missing.targets()),
        live: args.live.then(|| Live::new(&options.results)),
    };
    let mut on_event = |event: &Event| listeners.on(event);
    let outcome = heats::run(&options, &mut steer, &mut on_event, interrupted);
    let outcome = listeners.end(outcome).map_err(Failure::nothing)?;
    show::outcome(&outcome.folder, args, files)
}

/// What listens to the events of a session.
struct Listeners {
    progress: Progress,
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

/// Looks which of the stacks cannot be measured here.
fn missing(
    options: &mut SessionOptions,
    interrupted: &Arc<AtomicBool>,
) -> Result<Missing, Failure> {
    let targets: Vec<TargetId> = options
        .targets
        .iter()
        .map(|one| one.target.clone())
        .collect();
    let missing = looking(toolchains::stacks(&targets), |tell| {
        session::survey(options, interrupted, tell)
    });
    if interrupted.load(Ordering::SeqCst) {
        return Err(Failure::interrupted(
            "interrupted before anything was built",
        ));
    }
    Ok(Missing::new(missing))
}

/// A stack that was asked for by its name and cannot be measured ends the run before anything is built: it would take
/// minutes without the one that matters. What only a glob or the usual choice names is left out.
fn refuse(missing: &Missing, options: &SessionOptions, names: &[String]) -> Result<(), Failure> {
    let named = missing.named(names);
    let (which, why) = if missing.targets().len() == options.targets.len() {
        (
            missing,
            "Nothing was built: none of the stacks can be measured here.",
        )
    } else if named.is_empty() {
        return Ok(());
    } else {
        let why = "Nothing was built. To measure the other stacks, run it again without the one that is unavailable.";
        (&named, why)
    };
    Err(Failure::nothing(which.lines().join("\n")).and(why))
}

/// Of stacks that nobody named, keeps those that the budget can decide; what is said about the others.
fn choose(options: &mut SessionOptions, missing: &Missing, steer: &Steer) -> Option<words::Entry> {
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
    Some(plan_text::room(&rest, heats::eight_heats(&able, steer)))
}

/// The session without the stacks that are missing.
fn without(options: &SessionOptions, missing: &Missing) -> SessionOptions {
    let mut options = options.clone();
    options.targets.retain(|one| !missing.has(&one.target));
    options
}

/// Goes on with a session that was interrupted or killed.
pub(crate) fn resume(
    session: Resumable,
    options: &SessionOptions,
    args: &RunArgs,
    interrupted: &Arc<AtomicBool>,
) -> Result<Exit, Failure> {
    let files = args.data.open()?;
    let folder = session.folder().to_owned();
    let recorded = match session.record().complete() {
        1 => "1 heat is recorded".to_owned(),
        many => format!("{many} heats are recorded"),
    };
    output::note(&format!("Resuming {}: {recorded}", shown(&folder)));
    let mut listeners = Listeners {
        progress: Progress::new(Some(session.record())),
        live: args.live.then(|| Live::resuming(&folder)),
    };
    let mut steer = Steer::new(options);
    let mut on_event = |event: &Event| listeners.on(event);
    let outcome = heats::resume(session, options, &mut steer, &mut on_event, interrupted);
    listeners.end(outcome).map_err(Failure::resuming)?;
    show::outcome(&folder, args, files)
}

/// Writes and shows the report of a session that is complete.
pub(crate) fn show_complete(
    folder: &Path,
    args: &RunArgs,
    files: Files<Format>,
) -> Result<Exit, Failure> {
    show::outcome(folder, args, files)
}
