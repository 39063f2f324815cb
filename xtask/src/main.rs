//! The one entry for development: `cargo xtask test | lint | …`.

mod browser;
mod conformance;
mod fuzz;
mod lint;
mod peers;
mod power;
mod session;
mod steps;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::{
    browser::MayLackBrowser,
    conformance::MayLack,
    steps::{Steps, cargo},
};

/// How long each parser is fuzzed.
const FUZZ_SECONDS: u32 = 60;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything: format, lint, tests, pages in a browser, conformance of every stack, one short real session
    Test {
        /// Also what takes minutes: fuzzing
        #[arg(long)]
        long: bool,
        #[command(flatten)]
        may_lack: MayLack,
        #[command(flatten)]
        may_lack_browser: MayLackBrowser,
    },
    /// Format and lint alone
    Lint,
    /// The report's pages in a real browser alone
    Browser(browser::Options),
    /// Conformance of every stack for every workload alone
    Conformance(MayLack),
    /// One short real session alone
    Session,
    /// Fuzzing of the parsers alone
    Fuzz {
        /// How long for each parser
        #[arg(long, default_value_t = FUZZ_SECONDS)]
        seconds: u32,
        /// Adds what was found to fuzz/corpus
        #[arg(long)]
        keep: bool,
    },
    /// Compares `deadheat load` with the other load generators that are installed: docs/peers.md
    Peers(peers::Options),
    /// How often a difference is found, by its size, the noise and the blocks: the tables of docs/methodology.md
    Power(power::Options),
    /// The least that a load costs: what `peers` starts as one of its tools
    #[command(hide = true)]
    Bare(peers::bare::Options),
}

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    if let Command::Peers(options) = &command {
        return peers::peers(options);
    }
    if let Command::Bare(options) = &command {
        return peers::bare(options);
    }
    if let Command::Power(options) = &command {
        power::power(options);
        return ExitCode::SUCCESS;
    }
    let mut steps = Steps::default();
    let every = matches!(command, Command::Test { .. });
    if every || matches!(command, Command::Lint) {
        lint::lint(&mut steps);
    }
    if every {
        steps.run(
            "tests",
            cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"]),
        );
    }
    match &command {
        Command::Test {
            may_lack_browser, ..
        } => browser::test(&mut steps, may_lack_browser),
        Command::Browser(options) => browser::browser(&mut steps, options),
        _ => {}
    }
    if every || matches!(command, Command::Conformance(_) | Command::Session) {
        steps.run(
            "build",
            cargo(&["build", "--release", "--quiet", "--package", "deadheat"]),
        );
    }
    if let Command::Conformance(may_lack) | Command::Test { may_lack, .. } = &command {
        conformance::check(&mut steps, may_lack);
    }
    if every || matches!(command, Command::Session) {
        session::short_session(&mut steps);
    }
    if every {
        peers::smoke(&mut steps);
    }
    match command {
        Command::Fuzz { seconds, keep } => fuzz::fuzz(&mut steps, seconds, keep),
        Command::Test { long: true, .. } => fuzz::fuzz(&mut steps, FUZZ_SECONDS, false),
        _ => {}
    }
    steps.finish()
}
