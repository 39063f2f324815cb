//! `deadheat run`: the main job.

use deadheat_runner::agent::Sources;

use crate::{
    args::RunArgs,
    elsewhere_run::{self, Asked, Came, Server},
    exit::{Exit, Failure},
    heats, interrupt,
    profile::Profile,
    resume, select,
};

pub(crate) fn run(mut args: RunArgs) -> Result<Exit, Failure> {
    if let Some(session) = args.resume.clone() {
        return match args.host.server {
            None => resume::resume(&args, &session),
            Some(_) => Err(Failure::usage(
                "--server and --resume: a session goes on where it began; run `deadheat run --resume` on the servers' \
                 host, with the session's folder there",
            )),
        };
    }
    if let Some(there) = &args.host.there {
        there.take_place(&mut args.selection.place);
        args.results.clone_from(&there.results);
        // Where the run was asked for, its folder arrives, and these are written.
        args.data.output = Vec::new();
    }
    if let Some(server) = elsewhere_run::settle(&mut args.host, &mut args.elsewhere)? {
        return run_on(&server, &args);
    }
    let catalogue = select::catalogue(&args.selection.place)?;
    let profile = Profile::of(&args, &catalogue)?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    heats::run(&args, &catalogue, &profile, &interrupted)
}

/// Runs the session on another host, and shows its report here.
fn run_on(server: &Server, args: &RunArgs) -> Result<Exit, Failure> {
    if args.live.is_some() {
        return Err(Failure::usage(
            "--server and --live: the page is served on the servers' host, where no browser reaches it; leave --live out",
        ));
    }
    let files = args.data.open()?;
    let place = &args.selection.place;
    let root = select::root(place.root.as_deref())?.folder;
    // So that what is wrong is shown where it can be changed.
    select::read(&root, &place.more_stacks)?;
    let asked = Asked {
        sources: Sources {
            root: Some(root),
            more: place.more_stacks.clone(),
            revisions: Vec::new(),
        },
        sides: None,
        results: &args.results,
        plans_only: args.dry_run,
    };
    let interrupts = interrupt::counted().map_err(Failure::nothing)?;
    match elsewhere_run::run(server, asked, &interrupts)? {
        Came::Session(folder) => heats::show_complete(&folder, args, files),
        Came::Status(exit) => Ok(exit),
    }
}
