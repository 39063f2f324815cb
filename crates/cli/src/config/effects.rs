//! What the options of a file can do, from the tables of the crates that declare them.

use deadheat_bench as bench;
use deadheat_compare as compare;
use deadheat_loadtool as load;
use deadheat_shell::options::{self as shell, Effect, Effects};

/// An option that is in none of them is taken from a named file only.
const TABLES: [Effects; 4] = [
    shell::EFFECTS,
    load::options::EFFECTS,
    bench::options::EFFECTS,
    compare::options::EFFECTS,
];

/// What the option with this long name can do; `None` if no table has it.
pub(super) fn effect(option: &str) -> Option<Effect> {
    let mut classified = classified();
    let found = classified.find(|(name, _)| *name == option);
    found.map(|(_, effect)| effect)
}

fn classified() -> impl Iterator<Item = (&'static str, Effect)> {
    let rows = TABLES.into_iter().flatten();
    rows.flat_map(|(effect, names)| names.split_whitespace().map(|name| (name, *effect)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Arg, CommandFactory as _};

    use super::*;
    use crate::{
        args::Arguments,
        config::{COMMANDS, options::TYPED_ALONE},
    };

    #[test]
    fn every_option_that_a_file_can_have_is_classified_and_in_one_way() {
        let program = Arguments::command();
        let commands = COMMANDS.map(|name| program.find_subcommand(name).unwrap());
        let options = commands
            .iter()
            .flat_map(|command| command.get_arguments())
            .filter(|option| !option.is_hide_set())
            .filter_map(Arg::get_long)
            .filter(|name| !TYPED_ALONE.contains(name));
        let options: BTreeSet<&str> = options.collect();
        let distinct: BTreeSet<&str> = classified().map(|(name, _)| name).collect();
        assert_eq!(distinct, options, "say in EFFECTS what a new option can do");
        for (name, classified) in classified() {
            assert_eq!(effect(name), Some(classified), "{name} is there twice");
        }
    }

    #[test]
    fn what_takes_a_path_or_a_url_sets_no_figures() {
        let program = Arguments::command();
        for name in COMMANDS {
            let options = program.find_subcommand(name).unwrap().get_arguments();
            for option in options.filter(|option| !option.is_hide_set()) {
                let values = option.get_value_names().unwrap_or_default();
                let mut values = values.iter().map(|value| value.as_str());
                let is_outside = values.any(|value| {
                    ["FILE", "DIR", "PATH", "URL", "HOST", "IP", "ADDRESS"]
                        .iter()
                        .any(|word| value.contains(word))
                });
                let long = option.get_long().unwrap_or_default();
                if is_outside && !TYPED_ALONE.contains(&long) {
                    assert_ne!(effect(long), Some(Effect::Figures), "{name} --{long}");
                }
            }
        }
    }
}
