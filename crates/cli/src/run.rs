//! `deadheat run`: the main job.

use crate::{
    exit::{Exit, Failure},
    heats, interrupt,
    options::RunArgs,
    profile::Profile,
    resume, select,
};

pub(crate) fn run(mut args: RunArgs) -> Result<Exit, Failure> {
    if let Some(session) = args.resume.clone() {
        return resume::resume(&args, &session);
    }
    args.other_hosts
        .read_file(&mut args.explicit)
        .map_err(Failure::usage)?;
    let catalogue = select::catalogue(&args.selection.place)?;
    let profile = Profile::of(&args, &catalogue)?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    heats::run(&args, &catalogue, &profile, &interrupted)
}
