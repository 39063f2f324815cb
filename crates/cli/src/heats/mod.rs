//! `deadheat run`, measured in heats.

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

use deadheat_model::TargetId;
use deadheat_runner::{
    manifest::Catalogue,
    session::{self, SessionOptions, heats, heats::Resumable},
};
use serde_json::json;

pub(crate) use self::show::Rendered;
use self::{progress::Progress, steer::Steer};
use crate::{
    args::{Format, RunArgs},
    data::Files,
    doctor, elsewhere,
    exit::{Exit, Failure},
    invocation::shown,
    live::Live,
    output, plan_text as words,
    profile::Profile,
    setup,
    toolchains::{self, Missing, looking},
};

/// Plans, measures and shows a session.
pub(crate) fn run(
    args: &RunArgs,
    catalogue: &Catalogue,
    profile: &Profile,
    interrupted: &Arc<AtomicBool>,
) -> Result<Exit, Failure> {
    let mut options = profile.clone().options(args, catalogue)?;
    let mut steer = Steer::of(&options);
    // Before anything that takes its time, so that a port that is taken is reported at once.
    let mut live = match args.live {
        Some(port) if !args.dry_run => Some(Live::start(port, &options.results, interrupted)?),
        _ => None,
    };
    elsewhere::check(&args.elsewhere, &heats::draft(&options, &steer)).map_err(Failure::usage)?;
    if args.setup && !args.dry_run {
        let selection = &profile.selection;
        setup::install(catalogue, selection, &args.postgres, interrupted)?;
    }
    let missing = missing(&mut options, interrupted)?;
    if !args.dry_run {
        refuse(&missing, &options, &args.selection.stack)?;
    }
    let draft = heats::draft(&without(&options, &missing), &steer);
    let unfit = if args.publish {
        let commit = session::commit_of(&options);
        let are_embedded = session::embedded_of(&options).is_some();
        publication::objections(&draft, commit.as_deref(), are_embedded)
    } else {
        Vec::new()
    };
    if args.dry_run && args.data.plan_is_json()? {
        let plan = json!({
            "plan": draft,
            "unavailable": missing.as_json(),
            "unfit": unfit,
            "published": options.published,
        });
        output::data(&format!("{plan:#}\n"))?;
        return Ok(Exit::Fine);
    }
    let parts = [
        plan_text::describe(&draft),
        words::published(&options.published),
        words::told(&unfit),
    ];
    let plan = parts.into_iter().filter(|part| !part.is_empty());
    let plan = plan.collect::<Vec<_>>().join("\n");
    let unavailable = missing.lines();
    if args.dry_run {
        let all = unavailable.into_iter().chain([plan]);
        output::data(&(all.collect::<Vec<_>>().join("\n") + "\n"))?;
        return Ok(Exit::Fine);
    }
    let files = args.data.open()?;
    for line in unavailable {
        output::warn(&line);
    }
    output::note(&plan);
    if let Some(live) = &live {
        output::note(&live.address());
    }
    options.findings = doctor::before_a_run(&options);
    let mut progress = Progress::new(None).knowing(missing.targets());
    let outcome = heats::run(
        &options,
        &mut steer,
        &mut |event| {
            progress.on(event);
            if let Some(live) = &mut live {
                live.on(event);
            }
        },
        interrupted,
    );
    drop(live);
    progress.finish();
    let outcome = outcome.map_err(Failure::nothing)?;
    show::outcome(&outcome.folder, args, files)
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
        return Err(Failure::nothing("interrupted before anything was built"));
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
    let heats = session.record().heats.iter();
    let recorded = match heats.filter(|one| one.is_complete()).count() {
        1 => "1 heat is recorded".to_owned(),
        many => format!("{many} heats are recorded"),
    };
    output::note(&format!("Resuming {}: {recorded}", shown(&folder)));
    let live = |port| Live::going_on(port, &folder, interrupted);
    let mut live = args.live.map(live).transpose()?;
    if let Some(live) = &live {
        output::note(&live.address());
    }
    let mut progress = Progress::new(Some(session.record()));
    let mut steer = Steer::of(options);
    let outcome = heats::resume(
        session,
        options,
        &mut steer,
        &mut |event| {
            progress.on(event);
            if let Some(live) = &mut live {
                live.on(event);
            }
        },
        interrupted,
    );
    drop(live);
    progress.finish();
    outcome.map_err(Failure::resuming)?;
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
