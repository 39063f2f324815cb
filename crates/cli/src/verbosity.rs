//! `-v` and `-q`: how much is told on standard error.

use clap::{ArgAction, Args};

use crate::output::Told;

/// How much is told.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct VerbosityArgs {
    /// Show each step, and the commands that Deadheat runs; -vv shows more
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    verbose: u8,
    /// Show only warnings and errors, and no progress
    #[arg(short, long, global = true)]
    quiet: bool,
}

impl VerbosityArgs {
    /// What is asked for.
    pub(crate) fn told(self) -> Told {
        match (self.quiet, self.verbose) {
            (true, _) => Told::Problems,
            (false, 0) => Told::Usual,
            (false, 1) => Told::Steps,
            (false, _) => Told::Everything,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::Arguments;

    #[test]
    fn the_options_stand_before_and_after_the_command() {
        let told = |line: &str| {
            let parsed = Arguments::try_parse_from(line.split(' '));
            parsed.map(|arguments| arguments.verbosity.told()).ok()
        };
        assert_eq!(told("deadheat run"), Some(Told::Usual));
        assert_eq!(told("deadheat run -v"), Some(Told::Steps));
        assert_eq!(told("deadheat -vv stacks list"), Some(Told::Everything));
        assert_eq!(told("deadheat load http://h/ -q"), Some(Told::Problems));
        assert_eq!(told("deadheat run -q -v"), None);
    }
}
