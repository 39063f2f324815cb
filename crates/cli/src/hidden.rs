//! The hidden commands: what Deadheat starts of itself.

use deadheat_runner::{
    process,
    services::upstream::{ServeOptions, serve},
};

use crate::{
    args::UpstreamArgs,
    exit::{Exit, Failure},
};

pub(crate) fn supervise() -> Result<Exit, Failure> {
    process::supervise().map_err(|error| {
        Failure::usage(format!(
            "supervising a child (this command is for Deadheat itself): {error}"
        ))
    })?;
    Ok(Exit::Fine)
}

pub(crate) fn upstream(args: &UpstreamArgs) -> Result<Exit, Failure> {
    let options =
        ServeOptions::from_args(args.arguments.iter().cloned()).map_err(Failure::usage)?;
    match serve(&options) {
        Ok(never) => match never {},
        Err(error) => Err(Failure::nothing(error)),
    }
}
