//! `deadheat run`, measured in heats.

mod plan_text;
mod progress;
mod publication;
mod show;
mod steer;

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

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
    let draft = heats::draft(&options, &steer);
    elsewhere::check(&args.elsewhere, &draft).map_err(Failure::usage)?;
    let unfit = if args.publish {
        let commit = session::commit_of(&options);
        let are_embedded = session::embedded_of(&options).is_some();
        publication::objections(&draft, commit.as_deref(), are_embedded)
    } else {
        Vec::new()
    };
    if args.dry_run && args.data.plan_is_json()? {
        let plan = json!({ "plan": draft, "unfit": unfit, "published": options.published });
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
    if args.dry_run {
        output::data(&(plan + "\n"))?;
        return Ok(Exit::Fine);
    }
    let files = args.data.open()?;
    output::note(&plan);
    if let Some(live) = &live {
        output::note(&live.address());
    }
    if args.setup {
        let selection = &profile.selection;
        setup::install(catalogue, selection, &args.postgres, interrupted)?;
    }
    options.findings = doctor::before_a_run(&options);
    let mut progress = Progress::new(None);
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
