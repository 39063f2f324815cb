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
    let mut args = match typed.there.clone() {
        Some(there) => at_home(typed, there),
        None => typed,
    };
    if args.resume.is_none() {
        args.elsewhere.read_file().map_err(Failure::usage)?;
        args.server = args.server.or_else(|| args.elsewhere.server_of_file());
    }
    let other = &mut args.elsewhere;
    let is_alone = other.generator.is_empty() && other.database.is_none();
    if args.there.is_some() && args.server.is_some() && is_alone {
        // The way to this host, and to no other one.
        other.reach = ReachArgs::default();
    }
    if let Some(server) = elsewhere_run::server(&args)? {
        return elsewhere_run::run(&args, &server);
    }
    if let Some(session) = &args.resume {
        return resume::resume(&args, session);
    }
    let catalogue = select::catalogue(&args.selection.place)?;
    let profile = Profile::of(&args, &catalogue)?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    heats::run(&args, &catalogue, &profile, &interrupted)
}

/// What was typed elsewhere, as it is meant on this host.
fn at_home(mut args: RunArgs, there: There) -> RunArgs {
    args.selection.place.root = Some(there.root);
    args.selection.place.more_stacks = there.stacks;
    args.results = there.results;
    // Where the run was asked for, its folder arrives, and these are written.
    args.data.output = Vec::new();
    args.elsewhere.hosts_text = there.hosts;
    args
}
