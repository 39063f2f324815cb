//! `deadheat run`: the main job.

use crate::{
    args::RunArgs,
    exit::{Exit, Failure},
    heats, interrupt,
    profile::Profile,
    resume, select,
};

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    if let Some(session) = &args.resume {
        return resume::resume(args, session);
    }
    let catalogue = select::catalogue(&args.selection.place)?;
    let profile = Profile::of(args, &catalogue)?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    heats::run(args, &catalogue, &profile, &interrupted)
}
