//! `deadheat run`: the main job.

use deadheat_shell::{
    exit::{Exit, Failure},
    interrupt,
};

use crate::{heats, options::RunArgs, profile::Profile, resume, select};

/// Measures stacks, or resumes a session.
pub fn run(mut args: RunArgs) -> Result<Exit, Failure> {
    if let Some(session) = args.resume.clone() {
        return resume::resume(&args, &session);
    }
    args.other_hosts
        .read_file(&mut args.explicit)
        .map_err(Failure::usage)?;
    let catalogue = select::catalogue(&args.selection.place)?;
    let profile = Profile::new(&args, &catalogue)?;
    let interrupted = interrupt::on_signals().map_err(Failure::nothing)?;
    heats::run(&args, &catalogue, &profile, &interrupted)
}
