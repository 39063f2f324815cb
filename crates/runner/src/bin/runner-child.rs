//! The hidden commands of the deadheat binary, for this crate's own tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let result = match args.next().as_deref() {
        Some("__supervise") => {
            deadheat_runner::process::supervise().map_err(|error| error.to_string())
        }
        other => Err(format!("no such hidden command: {other:?}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}
