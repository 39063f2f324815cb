//! The hidden subcommands of the deadheat binary for this crate's own tests, and a substitute for a Deadheat that is
//! killed while its children are frozen.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
    thread,
    time::Duration,
};

use deadheat_runner::{
    process::{Grouping, Spawn, Supervised, Supervision, supervise_with},
    services::{null, upstream},
};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let result = match args.next().as_deref() {
        Some("__supervise") => {
            // What a machine can freeze by is chosen with a second word.
            let grouping = match args.next().as_deref() {
                Some("v1") => Grouping::V1,
                Some("off") => Grouping::Off,
                _ => Grouping::Best,
            };
            supervise_with(grouping).map_err(|error| error.to_string())
        }
        Some(upstream::COMMAND) => upstream::ServeOptions::from_args(args)
            .and_then(|options| upstream::serve(&options).map(|never| match never {}))
            .map_err(|error| error.to_string()),
        Some(null::COMMAND) => null::ServeOptions::from_args(args)
            .and_then(|options| null::serve(&options).map(|never| match never {}))
            .map_err(|error| error.to_string()),
        Some("freeze") => {
            let supervision = Supervision {
                program: std::env::current_exe().unwrap_or_default(),
                args: [Supervision::COMMAND.to_owned()]
                    .into_iter()
                    .chain(args)
                    .collect(),
            };
            freeze(&supervision).map_err(|error| error.to_string())
        }
        other => Err(format!("no such hidden command: {other:?}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Into the log of whoever started it.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(2)
        }
    }
}

/// Starts what standard input says in JSON, waits for a file `ready` in its folder, freezes it, leaves a file `frozen`,
/// and waits for its own end.
fn freeze(supervision: &Supervision) -> io::Result<()> {
    let spec: Spawn = serde_json::from_reader(io::stdin())?;
    let mut child = Supervised::spawn(supervision, &spec).map_err(io::Error::other)?;
    let there = |name: &str| Path::new(&spec.cwd).join(name);
    while !there("ready").exists() {
        thread::sleep(Duration::from_millis(2));
    }
    child.freeze().map_err(io::Error::other)?;
    std::fs::write(there("frozen"), child.supervisor_pid().to_string())?;
    loop {
        thread::park();
    }
}
