//! `deadheat run`: the main job.

use std::{env, path::Path};

use deadheat_runner::{
    manifest::Catalogue,
    process::Supervision,
    secret::without_password,
    session::{SessionOptions, heats::HeatOptions},
};

use crate::{
    args::RunArgs,
    choices,
    exit::{Exit, Failure},
    heats, interrupt,
    profile::Profile,
    resume, select,
};

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    if let Some(session) = &args.resume {
        return resume::resume(args, session);
    }
    let catalogue = select::catalogue(args.selection.root.as_deref())?;
    let profile = Profile::of(args, &catalogue)?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    heats::run(args, &catalogue, &profile, &interrupted)
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
        warm_up: args.warm_up,
        latency: choices::latency(args),
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
