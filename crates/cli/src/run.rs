//! `deadheat run`: the main job.

use crate::{
    args::RunArgs,
    elsewhere_run,
    exit::{Exit, Failure},
    heats, interrupt,
    profile::Profile,
    reach::ReachArgs,
    resume, select,
    there::There,
};

pub(crate) fn run(typed: RunArgs) -> Result<Exit, Failure> {
    let args = &match typed.there.clone() {
        Some(there) => at_home(typed, there),
        None => typed,
    };
    if let Some(server) = elsewhere_run::server(args)? {
        return elsewhere_run::run(args, &server);
    }
    if let Some(session) = &args.resume {
        return resume::resume(args, session);
    }
    let catalogue = select::catalogue(&args.selection.place)?;
    let profile = Profile::of(args, &catalogue)?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    heats::run(args, &catalogue, &profile, &interrupted)
}

/// What was typed elsewhere, as it is meant on this host.
fn at_home(mut args: RunArgs, there: There) -> RunArgs {
    args.selection.place.root = Some(there.root);
    args.selection.place.more_stacks = there.stacks;
    args.results = there.results;
    let other = &mut args.elsewhere;
    if args.server.is_some() && other.generator.is_empty() && other.database.is_none() {
        // The way to this host, and to no other one.
        other.reach = ReachArgs::default();
    }
    args
}
