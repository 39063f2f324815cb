//! The options of all commands: colours, and how much is written to standard error.

use clap::{ArgAction, Args};

use crate::output::{ColourArg, Verbosity};

/// The options of all commands.
#[derive(Clone, Copy, Debug, Args)]
pub struct GlobalArgs {
    /// When to use colors
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColourArg::Auto, hide_short_help = true, help_heading = "Global options")]
    pub color: ColourArg,
    /// How much is written to standard error.
    #[command(flatten)]
    pub verbosity: VerbosityArgs,
}

/// How much is written to standard error.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct VerbosityArgs {
    /// Show each step, and the commands that Deadheat runs; -vv shows more
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    verbose: u8,
    /// Show only warnings and errors, and no progress
    #[arg(short, long, global = true)]
    quiet: bool,
}

impl VerbosityArgs {
    /// What is asked for.
    pub fn verbosity(self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Problems,
            (false, 0) => Verbosity::Usual,
            (false, 1) => Verbosity::Steps,
            (false, _) => Verbosity::Everything,
        }
    }
}
