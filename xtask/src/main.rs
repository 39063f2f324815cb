//! The one entry for development: `cargo xtask test | lint | …`.

mod conformance;
mod lint;
mod peers;
mod session;
mod steps;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::steps::{Steps, cargo};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything: format, lint, tests, conformance of every stack, one short real session
    Test,
    /// Format and lint alone
    Lint,
    /// Conformance of every stack for every workload alone
    Conformance,
    /// One short real session alone
    Session,
    /// Compares `deadheat load` with the other load generators that are installed: docs/peers.md
    Peers(peers::Options),
}

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    if let Command::Peers(options) = &command {
        return peers::peers(options);
    }
    let mut steps = Steps::default();
    let every = matches!(command, Command::Test);
    if every || matches!(command, Command::Lint) {
        lint::lint(&mut steps);
    }
    if every {
        steps.run("tests", cargo(&["test", "--workspace", "--quiet"]));
    }
    if every || matches!(command, Command::Conformance | Command::Session) {
        steps.run(
            "build",
            cargo(&["build", "--release", "--quiet", "--package", "deadheat"]),
        );
    }
    if every || matches!(command, Command::Conformance) {
        conformance::check(&mut steps);
    }
    if every || matches!(command, Command::Session) {
        session::short_session(&mut steps);
    }
    if every {
        peers::smoke(&mut steps);
    }
    steps.finish()
}
