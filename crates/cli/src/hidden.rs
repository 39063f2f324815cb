//! The hidden commands: what Deadheat starts of itself.

use std::{
    ffi::OsString,
    fs,
    io::{IsTerminal as _, stdin},
};

use deadheat_runner::{
    agent,
    process::{self, Supervision},
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

/// Whether these arguments ask for a supervisor and for nothing else. Every child has a supervisor, and declaring all
/// options of all commands to clap would take most of the CPU time of its start.
pub(crate) fn is_supervisor(mut arguments: impl Iterator<Item = OsString>) -> bool {
    let is_command = |one: OsString| one == Supervision::COMMAND;
    arguments.next().is_some_and(is_command) && arguments.next().is_none()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_supervisor_has_one_argument() {
        let is_supervisor = |line: &str| super::is_supervisor(line.split(' ').map(OsString::from));
        assert!(is_supervisor("__supervise"));
        for line in ["", "__supervise -v", "-v __supervise", "__null", "run"] {
            assert!(!is_supervisor(line), "{line}");
        }
    }
}
