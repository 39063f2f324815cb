//! The hidden commands of the deadheat binary, for this crate's own tests.

use std::{io::Write, process::ExitCode};

use deadheat_runner::services::{null, upstream};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let result = match args.next().as_deref() {
        Some("__supervise") => {
            deadheat_runner::process::supervise().map_err(|error| error.to_string())
        }
        Some(upstream::COMMAND) => upstream::ServeOptions::from_args(args)
            .and_then(|options| upstream::serve(&options).map(|never| match never {}))
            .map_err(|error| error.to_string()),
        Some(null::COMMAND) => null::ServeOptions::from_args(args)
            .and_then(|options| null::serve(&options).map(|never| match never {}))
            .map_err(|error| error.to_string()),
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
