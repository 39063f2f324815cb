//! The one entry for development: `cargo xtask test | lint | …`.
#![allow(clippy::print_stderr)]

mod book;
mod browser;
mod cluster;
mod conformance;
mod evidence;
mod fuzz;
mod interrupt;
mod lint;
mod peers;
mod power;
mod project;
mod session;
mod setup;
mod slices;
mod steps;
mod sys;
mod tests;
mod workflows;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::steps::{Steps, Strictness};

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
    /// Set up this machine, then test everything: lint, tests, pages in a browser, every stack, short real sessions
    ///
    /// Installs Debian packages (as root or with sudo) and the languages' own packages first. What this machine cannot
    /// have is listed at the end as not tested.
    Test {
        /// Also fuzz the parsers and run the steps of the workflows, which takes minutes
        #[arg(long)]
        long: bool,
        #[command(flatten)]
        strictness: Strictness,
    },
    /// Check format and lint
    Lint {
        /// Check only the words of documents and messages, and the links of documents
        #[arg(long)]
        words: bool,
        /// Write how many lines each folder has into xtask/lines.txt, as the ceilings that are checked
        #[arg(long)]
        set_ceilings: bool,
    },
    /// Build the documentation site with mdBook, in target/book/html
    Book,
    /// Run the shell steps of .github/workflows as they are written, such as the build of a release
    Workflows(Strictness),
    /// Test the report's pages in a real browser
    Browser(browser::Options),
    /// Check every stack against every rule
    Conformance(Strictness),
    /// Load from several hosts: network namespaces of this machine, with an sshd in each. Needs root
    Cluster,
    /// Fuzz the parsers
    Fuzz {
        /// How long for each parser
        #[arg(long, default_value_t = FUZZ_SECONDS)]
        seconds: u32,
        /// Add what was found to fuzz/corpus
        #[arg(long)]
        keep: bool,
    },
    /// Compare `deadheat load` with the other load generators that are installed: docs/peers.md
    Peers(peers::Options),
    /// How often a difference is found, by its size and the number of heats: the tables of docs/statistics.md
    Power(power::Options),
    /// What slices, freezing and polling change in the figures of a server: docs/methodology.md
    Slices(slices::Options),
    /// Run the experiments behind the claims of docs/methodology.md, keep their records, and write docs/evidence/README.md
    Evidence(evidence::Options),
    /// The least that a load costs: what `peers` starts as one of its tools
    #[command(hide = true)]
    Bare(peers::bare::Options),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Test { long, strictness } => {
            finish(&strictness, true, |steps| tests::everything(steps, long))
        }
        Command::Lint {
            words,
            set_ceilings,
        } => alone(&Strictness::full(), |steps| {
            if set_ceilings {
                steps.check("ceilings", lint::set_ceilings);
            } else if words {
                lint::words(steps);
            } else {
                lint::lint(steps);
            }
        }),
        Command::Book => alone(&Strictness::full(), book::book),
        Command::Workflows(strictness) => alone(&strictness, workflows::workflows),
        Command::Browser(options) => alone(&Strictness::full(), |steps| {
            browser::browser(steps, &options)
        }),
        Command::Conformance(strictness) => alone(&strictness, |steps| {
            if tests::build(steps) {
                let checks = conformance::Checks::new(steps);
                checks.work_twice();
                checks.again();
            }
        }),
        Command::Cluster => alone(&Strictness::full(), |steps| {
            let failed = cluster::cluster(steps);
            cluster::cluster_again(steps, &failed);
        }),
        Command::Fuzz { seconds, keep } => alone(&Strictness::full(), |steps| {
            fuzz::fuzz(steps, seconds, keep)
        }),
        Command::Peers(options) => peers::peers(&options),
        Command::Power(options) => {
            power::power(&options);
            ExitCode::SUCCESS
        }
        Command::Slices(options) => slices::slices(&options),
        Command::Evidence(options) => evidence::evidence(&options),
        Command::Bare(options) => peers::bare(&options),
    }
}

/// Runs one part, whose commands write to the terminal as they go.
fn alone(strictness: &Strictness, part: impl FnOnce(&Steps)) -> ExitCode {
    finish(strictness, false, part)
}

/// Runs steps until they are done or a signal arrives, prints their table, and leaves no process behind.
fn finish(strictness: &Strictness, collects: bool, part: impl FnOnce(&Steps)) -> ExitCode {
    if let Err(error) = interrupt::end_children_on_signals() {
        eprintln!("handling signals: {error}");
        return ExitCode::FAILURE;
    }
    let steps = Steps::new(strictness, collects);
    part(&steps);
    interrupt::end_children();
    let status = steps.finish();
    interrupt::exit_status().map_or(status, ExitCode::from)
}
