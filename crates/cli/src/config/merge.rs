//! What was typed and the options of a file, as one command line.

use std::ffi::{OsStr, OsString};

use clap::{ArgMatches, Command as Program, FromArgMatches as _};
use deadheat_compare as compare;
use deadheat_loadtool as load;
use deadheat_shell::data::{DataFormat, FilesArgs};

use super::options::{FromFile, Occurrence};
use crate::args::{Arguments, Command};

/// A command line with options of a file.
pub(super) struct Merged<'f> {
    /// The whole command line, the file's options included.
    pub(super) line: Vec<OsString>,
    /// The options of the file that are in it.
    pub(super) used: Vec<FromFile<'f>>,
    /// Those that do not fit to what was typed, with the reason.
    pub(super) unused: Vec<String>,
}

/// The command line with the file's options directly after the command, so that typed options take precedence. Options
/// that conflict with typed ones are left out. `None`: `typed` does not contain the command.
pub(super) fn merged<'f>(
    program: &Program,
    command: &str,
    typed: &[OsString],
    of_command: &ArgMatches,
    mut used: Vec<FromFile<'f>>,
) -> Option<Merged<'f>> {
    let start = 1 + command_at(program, command, typed)?;
    let known = program.find_subcommand(command)?;
    let mut unused: Vec<String> = Vec::new();
    used.retain(|one| match one.typed(known, of_command) {
        Occurrence::Nothing => true,
        Occurrence::Same => false,
        Occurrence::Excludes(other) => {
            unused.push(format!("{} ({other} is given)", one.option.name));
            false
        }
    });
    loop {
        let (before, after) = typed.split_at(start);
        let words = used.iter().flat_map(|one| &one.words);
        let line: Vec<OsString> = before.iter().chain(words).chain(after).cloned().collect();
        let refused = refused(program, &line);
        let leaves = used.iter().position(|one| {
            let name = one.option.name.as_str();
            let others = || used.iter().filter(|other| other.option.name != name);
            refused.iter().any(|names| {
                // Two options of the file that exclude each other are a mistake in it, which the command reports.
                names.iter().any(|one| one == name)
                    && !others().any(|other| names.contains(&other.option.name))
            })
        });
        let Some(leaves) = leaves else {
            return Some(Merged { line, used, unused });
        };
        let one = used.remove(leaves);
        unused.push(one.option.name.clone());
    }
}

/// Where the command stands among the arguments: the value of an option before it may have the same name.
fn command_at(program: &Program, command: &str, typed: &[OsString]) -> Option<usize> {
    let mut places = (1..typed.len()).filter(|place| typed[*place] == OsStr::new(command));
    places.find(|place| {
        let lenient = program.clone().ignore_errors(true);
        let matches = lenient.try_get_matches_from(&typed[..=*place]);
        matches.is_ok_and(|matches| matches.subcommand_name() == Some(command))
    })
}

/// The option `format`, if a dry run cannot use the requested format.
fn no_plan<F: DataFormat>(dry_run: bool, data: &FilesArgs<F>) -> Option<Vec<String>> {
    (dry_run && data.plan_is_json().is_err()).then(|| vec!["format".to_owned()])
}

/// Options that the command refuses, without dashes: each alone, or several because they are together.
fn refused(program: &Program, line: &[OsString]) -> Vec<Vec<String>> {
    let parsed = program.clone().try_get_matches_from(line);
    let parsed = parsed.and_then(|matches| Arguments::from_arg_matches(&matches));
    match parsed.map(|arguments| arguments.command) {
        Ok(Command::Load(args)) => {
            let plan = no_plan(args.safety.dry_run, &args.output.data);
            load::clash(&args).into_iter().chain(plan).collect()
        }
        Ok(Command::Compare(args)) => {
            let options = compare::meaningless(&args).into_iter();
            let alone = options.map(|option| vec![option.trim_start_matches('-').to_owned()]);
            let plan = no_plan(args.measure.heat.dry_run, &args.verdict.data);
            alone.chain(compare::clash(&args)).chain(plan).collect()
        }
        Ok(Command::Run(args)) => no_plan(args.heat.dry_run, &args.data).into_iter().collect(),
        _ => Vec::new(),
    }
}
