//! `deadheat run`: the main job.

use std::{env, path::Path};

use deadheat_model::{SessionRecord, session::TargetState};
use deadheat_runner::{
    manifest::Catalogue,
    process::Supervision,
    secret::without_password,
    session::{self, SessionOptions, SessionOutcome, heats::HeatOptions},
};

use deadheat_stats::{Analysis, CellAnalysis, verdict::CellVerdict};
use serde_json::json;

use crate::{
    args::RunArgs,
    budget, choices, doctor,
    exit::{Exit, Failure},
    heats, interrupt,
    live::Live,
    output, plan_text,
    profile::{Profile, in_heats},
    progress::Progress,
    report, resume, select, setup,
};

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    if let Some(session) = &args.resume {
        return resume::resume(args, session);
    }
    let catalogue = select::catalogue(args.selection.root.as_deref())?;
    let profile = Profile::of(args, &catalogue)?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    if in_heats(args) {
        return heats::run(args, &catalogue, &profile, &interrupted);
    }
    refuse_heats(args)?;
    let mut options = options(args, &catalogue, &profile)?;
    // Before anything that takes its time, so that a port that is taken is told at once.
    let mut live = match args.live {
        Some(port) if !args.dry_run => Some(Live::start(port, &options.results, &interrupted)?),
        _ => None,
    };
    let draft = session::draft(&options);
    let draft = match args.budget {
        Some(_) => budget::fitting(draft, &options, args.setup, &interrupted)?,
        None => draft,
    };
    let unfit = plan_text::objections(&draft, session::commit_of(&options).as_deref());
    if args.dry_run && args.json {
        let plan = json!({ "plan": draft, "unfit": unfit });
        output::data(&format!("{plan:#}\n"))?;
        return Ok(Exit::Fine);
    }
    let parts = [plan_text::describe(&draft), plan_text::told(&unfit)];
    let plan = parts.into_iter().filter(|part| !part.is_empty());
    let plan = plan.collect::<Vec<_>>().join("\n");
    if args.dry_run {
        output::data(&(plan + "\n"))?;
        return Ok(Exit::Fine);
    }
    output::note(&plan);
    if let Some(live) = &live {
        output::note(&live.address());
    }
    if args.setup {
        let selection = &profile.selection;
        setup::install(&catalogue, selection, &args.postgres, &interrupted)?;
    }
    options.findings = doctor::before_a_run(&options);
    let mut progress = Progress::new(Some(draft));
    let outcome = session::run(
        &options,
        &mut |event| {
            progress.on(event);
            if let Some(live) = &mut live {
                live.on(event);
            }
        },
        &interrupted,
    );
    drop(live);
    progress.finish();
    show(&outcome.map_err(Failure::nothing)?, args)
}

/// Options of heats beside options of blocks: one of them would do nothing.
fn refuse_heats(args: &RunArgs) -> Result<(), Failure> {
    let given = [
        (args.heats.is_some(), "--heats"),
        (args.heat_time.is_some(), "--heat-time"),
        (args.whole_budget, "--whole-budget"),
    ];
    match given.iter().find(|(given, _)| *given) {
        None => Ok(()),
        Some((_, option)) => Err(Failure::usage(format!(
            "{option} is for heats, and --blocks, --measure and --noise-bound measure in blocks of trials; leave one of them out"
        ))),
    }
}

/// What a session is asked to do.
pub(crate) fn options(
    args: &RunArgs,
    catalogue: &Catalogue,
    profile: &Profile,
) -> Result<SessionOptions, Failure> {
    let Profile {
        selection,
        left_out,
        cells,
        published,
        purpose,
        budget,
    } = profile.clone();
    Ok(SessionOptions {
        targets: select::targets(catalogue, &selection),
        workloads: selection.workloads.clone(),
        cells,
        published,
        plaintext: catalogue.workload("plaintext").cloned(),
        results: args.results.clone(),
        seed: args.seed.unwrap_or_else(random_seed),
        budget,
        purpose,
        heats: HeatOptions {
            heats: args.heats,
            time: args.heat_time,
            slice: args.slice,
            guard: args.guard,
            margin: args.margin,
            until_decided: !args.whole_budget && !args.publish,
            left_out,
            ..HeatOptions::default()
        },
        blocks: args.blocks,
        measure: args.measure,
        warm_up: args.warm_up,
        latency: choices::latency(args),
        noise_bound: choices::bound(args),
        pinning: args.pinning.mode(),
        postgres: select::postgres(&args.postgres.postgres)?,
        supervision: supervision()?,
        start_timeout: args.start_timeout,
        findings: Vec::new(),
        live: args.live.is_some(),
        arguments: arguments(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Writes and shows the report of a session that has ended.
pub(crate) fn show(outcome: &SessionOutcome, args: &RunArgs) -> Result<Exit, Failure> {
    let record = session::read_session(&outcome.folder).map_err(Failure::nothing)?;
    let rendered = report::Rendered::of(&record, args.page.assets)?;
    rendered.write_beside(&outcome.folder)?;
    let shown = output::data(if args.json {
        &rendered.json
    } else {
        &rendered.text
    });
    output::note(&format!(
        "report: {}",
        self::shown(&outcome.folder.join(report::HTML_FILE))
    ));
    shown.map(|()| verdict(&record, &rendered.analysis))
}

/// Nothing measured is 3; a stack that failed, before or under load, is 1; one that is unavailable is told of, but is no
/// failure.
fn verdict(record: &SessionRecord, analysis: &Analysis) -> Exit {
    let cells = || analysis.groups.iter().flat_map(|group| &group.cells);
    let failed = |cell: &&CellAnalysis| matches!(cell.verdict, CellVerdict::Failed { .. });
    let measured = |cell: &CellAnalysis| {
        !matches!(
            cell.verdict,
            CellVerdict::Failed { .. } | CellVerdict::Void { .. } | CellVerdict::NotMeasured
        )
    };
    if !cells().any(measured) {
        return Exit::Nothing;
    }
    let failed_target = record.header.targets.iter().any(|target| {
        matches!(target.state, TargetState::Failed(_)) || !target.failed_workloads.is_empty()
    });
    if failed_target || cells().any(|cell| failed(&cell)) {
        Exit::Failed
    } else {
        Exit::Fine
    }
}

/// Deadheat's own arguments, as they may be recorded.
pub(crate) fn arguments() -> Vec<String> {
    env::args_os()
        .skip(1)
        .map(|argument| without_password(&argument.to_string_lossy()))
        .collect()
}

/// How children are supervised: by this very binary.
pub(crate) fn supervision() -> Result<Supervision, Failure> {
    let program = env::current_exe().map_err(|error| {
        Failure::nothing(format!("finding the deadheat binary itself: {error}"))
    })?;
    Ok(Supervision::by(program))
}

/// A seed from the standard library's own randomness; it is recorded, so that the order can be repeated.
pub(crate) fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    // Short enough to be typed again.
    RandomState::new().hash_one(std::process::id()) % 1_000_000_000
}

/// A path as the user would type it from here.
pub(crate) fn shown(path: &Path) -> String {
    let current = env::current_dir().unwrap_or_default();
    path.strip_prefix(&current)
        .unwrap_or(path)
        .display()
        .to_string()
}
