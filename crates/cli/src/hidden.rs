//! The hidden commands: what Deadheat starts of itself.

use std::{
    fs,
    io::{IsTerminal as _, stdin},
};

use deadheat_runner::{
    agent, process,
    services::{null, upstream},
};
use deadheat_shell::{
    exit::{CommandFailure, Exit},
    invocation,
};

use crate::args::HiddenArgs;

/// Gives this process its name in lists of processes. Its path, which names no file, gave it another one.
fn take_name() {
    let _ = fs::write("/proc/self/comm", "deadheat");
}

pub(crate) fn supervise() -> Result<Exit, CommandFailure> {
    take_name();
    process::supervise().map_err(|error| {
        CommandFailure::usage(format!(
            "supervising a child (this command is for Deadheat itself): {error}"
        ))
    })?;
    Ok(Exit::Fine)
}

pub(crate) fn agent() -> Result<Exit, CommandFailure> {
    take_name();
    if stdin().is_terminal() {
        return Err(CommandFailure::usage(
            "agent: this command is for Deadheat itself; deadheat load --on HOST starts it there",
        ));
    }
    agent::serve(&invocation::supervision())
        .map_err(|error| CommandFailure::no_result(error.to_string()))?;
    Ok(Exit::Fine)
}

pub(crate) fn upstream(args: &HiddenArgs) -> Result<Exit, CommandFailure> {
    take_name();
    let options = upstream::ServeOptions::from_args(args.arguments.iter().cloned())
        .map_err(CommandFailure::usage)?;
    match upstream::serve(&options) {
        Ok(never) => match never {},
        Err(error) => Err(CommandFailure::no_result(error)),
    }
}

pub(crate) fn null_server(args: &HiddenArgs) -> Result<Exit, CommandFailure> {
    take_name();
    let options = null::ServeOptions::from_args(args.arguments.iter().cloned())
        .map_err(CommandFailure::usage)?;
    match null::serve(&options) {
        Ok(never) => match never {},
        Err(error) => Err(CommandFailure::no_result(error)),
    }
}
