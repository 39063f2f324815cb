//! From the options of a file to arguments, what is wrong with them, and the command line that they make with what was
//! typed. Which options there are, what they take and which exclude each other is what clap knows of the command line.

use std::{
    error::Error as _,
    ffi::{OsStr, OsString},
    path::Path,
};

use clap::{
    Arg, ArgAction, ArgMatches, Command as Program, FromArgMatches as _, ValueHint,
    error::{ContextKind, ContextValue, ErrorKind},
    parser::ValueSource,
};
use deadheat_compare as compare;
use deadheat_loadtool as load;
use deadheat_runner::manifest::{Given, ManifestError, NamedOption, OptionsFile};
use deadheat_shell::{
    data::{FilesArgs, Formats},
    options::Effect,
};

use super::effects;
use crate::args::{Arguments, Command};

/// What a file cannot give. Somebody has to mean these when they run the command.
pub(super) const TYPED_ALONE: [&str; 4] = ["config", "no-config", "resume", "i-may-load-this-host"];
/// Placeholder operands, so that clap can check an option's value without the real ones.
const OPERANDS: [&str; 2] = ["http://127.0.0.1/", "http://127.0.0.1/"];

/// An option of a file, as arguments.
pub(super) struct FileOption<'f> {
    pub(super) option: &'f NamedOption,
    argument: Arg,
    pub(super) words: Vec<OsString>,
}

/// The options of a table.
#[derive(Default)]
pub(super) struct TableOptions<'f> {
    /// Those that count.
    pub(super) used: Vec<FileOption<'f>>,
    /// Those that only a file that was named may set, with the reason.
    pub(super) refused: Vec<(&'f str, &'static str)>,
}

/// The options of `table` as arguments of `command`, a command of `program`. Paths in the file start at its `folder`. If
/// nobody named the file, only figures count.
///
/// # Errors
/// All mistakes.
pub(super) fn arguments<'f>(
    program: &Program,
    command: &Program,
    file: &OptionsFile,
    options: &'f [NamedOption],
    folder: &Path,
    is_named: bool,
) -> Result<TableOptions<'f>, Vec<ManifestError>> {
    let mut found: Vec<FileOption<'f>> = Vec::new();
    let mut refused = Vec::new();
    let mut errors = Vec::new();
    for option in options {
        match argument(command, file, option) {
            Err(error) => errors.push(*error),
            Ok(_) if !is_named && effects::effect(&option.name) != Some(Effect::Figures) => {
                let effect = effects::effect(&option.name).map(Effect::words);
                refused.push((
                    option.name.as_str(),
                    effect.unwrap_or("not known to be harmless"),
                ));
            }
            Ok(argument) => match words(argument, option, folder)
                .and_then(|words| accepted(program, command, &words).map(|()| words))
            {
                Err(why) => errors.push(file.wrong_value(option, &why)),
                Ok(words) => {
                    let one = FileOption {
                        option,
                        argument: argument.clone(),
                        words,
                    };
                    let other = found.iter().find(|other| exclude(command, &one, other));
                    if let Some(other) = other {
                        let why = format!("it excludes `{}`, which is here too", other.option.name);
                        errors.push(file.refused(option, &why));
                    } else {
                        found.push(one);
                    }
                }
            },
        }
    }
    if errors.is_empty() {
        Ok(TableOptions {
            used: found,
            refused,
        })
    } else {
        Err(errors)
    }
}

/// What the command line says of an option of the file.
#[derive(Debug, PartialEq, Eq)]
enum Occurrence {
    /// Nothing.
    Nothing,
    /// The option itself was typed, and takes precedence.
    Same,
    /// This option is on the command line, and excludes the one of the file.
    Excludes(String),
}

impl FileOption<'_> {
    fn typed(&self, command: &Program, matches: &ArgMatches) -> Occurrence {
        let mut typed = command.get_arguments().filter(|argument| {
            let source = matches.value_source(argument.get_id().as_str());
            source == Some(ValueSource::CommandLine)
        });
        let own = self.argument.get_id();
        if matches.value_source(own.as_str()) == Some(ValueSource::CommandLine) {
            return Occurrence::Same;
        }
        let excludes = typed.find(|typed| exclude_each_other(command, typed, &self.argument));
        excludes.map_or(Occurrence::Nothing, |typed| {
            Occurrence::Excludes(shown(typed))
        })
    }
}

fn exclude(command: &Program, one: &FileOption<'_>, other: &FileOption<'_>) -> bool {
    exclude_each_other(command, &one.argument, &other.argument)
}

fn exclude_each_other(command: &Program, one: &Arg, other: &Arg) -> bool {
    let excludes = |one: &Arg, other: &Arg| {
        let mut excluded = command.get_arg_conflicts_with(one).into_iter();
        excluded.any(|excluded| excluded.get_id() == other.get_id())
    };
    excludes(one, other) || excludes(other, one)
}

fn shown(argument: &Arg) -> String {
    match argument.get_long() {
        Some(long) => format!("--{long}"),
        None => argument.get_id().to_string(),
    }
}

/// The argument for an option of the file.
fn argument<'c>(
    command: &'c Program,
    file: &OptionsFile,
    option: &NamedOption,
) -> Result<&'c Arg, Box<ManifestError>> {
    let known = || {
        let shown = command.get_arguments().filter(|one| !one.is_hide_set());
        shown.filter(|one| !TYPED_ALONE.contains(&one.get_long().unwrap_or_default()))
    };
    if TYPED_ALONE.contains(&option.name.as_str()) {
        let why = "give it on the command line";
        return Err(Box::new(file.refused(option, why)));
    }
    let named = known().find(|one| one.get_long() == Some(option.name.as_str()));
    named.ok_or_else(|| {
        let names: Vec<&str> = known().filter_map(Arg::get_long).collect();
        Box::new(file.unknown(option, command.get_name(), &names))
    })
}

/// The option as it is typed.
fn words(argument: &Arg, option: &NamedOption, folder: &Path) -> Result<Vec<OsString>, String> {
    let name = &option.name;
    let is_flag = matches!(argument.get_action(), ArgAction::SetTrue);
    let needs_value = argument
        .get_num_args()
        .is_none_or(|count| count.min_values() > 0);
    match &option.given {
        Given::Flag(_) if !is_flag && needs_value => Err("expected a value".to_owned()),
        Given::Flag(false) => Ok(Vec::new()),
        Given::Flag(true) => Ok(vec![format!("--{name}").into()]),
        Given::Values(_) if is_flag => Err("expected true or false".to_owned()),
        Given::Values(values) => {
            let is_list = matches!(argument.get_action(), ArgAction::Append);
            if values.len() != 1 && !is_list {
                return Err("expected one value".to_owned());
            }
            let is_path = matches!(
                argument.get_value_hint(),
                ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath
            );
            let word = |value: &String| {
                let mut word = OsString::from(format!("--{name}="));
                if is_path && value != "-" {
                    word.push(folder.join(value));
                } else {
                    word.push(value);
                }
                word
            };
            Ok(values.iter().map(word).collect())
        }
    }
}

/// Checks the option's value alone: missing operands and conflicts with other options are ignored.
fn accepted(program: &Program, command: &Program, words: &[OsString]) -> Result<(), String> {
    let start = [program.get_name(), command.get_name()].map(OsString::from);
    let operands = OPERANDS.map(OsString::from);
    let operands = &operands[..command.get_positionals().count().min(OPERANDS.len())];
    let line = [&start[..], words, operands].concat();
    let Err(error) = program.clone().try_get_matches_from(line) else {
        return Ok(());
    };
    match error.kind() {
        // Another option may be there as well.
        ErrorKind::MissingRequiredArgument | ErrorKind::ArgumentConflict => Ok(()),
        ErrorKind::InvalidValue => match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(values)) if !values.is_empty() => {
                Err(format!("it is one of {}", values.join(", ")))
            }
            _ => Err("it is no value".to_owned()),
        },
        _ => {
            let why = error.source().map(ToString::to_string);
            let whole = || {
                let text = error.to_string();
                let line = text.lines().next().unwrap_or_default();
                line.trim_start_matches("error: ").to_owned()
            };
            Err(why.unwrap_or_else(whole))
        }
    }
}

/// A command line with options of a file.
pub(super) struct MergedLine<'f> {
    /// The whole command line, the file's options included.
    pub(super) line: Vec<OsString>,
    /// The options of the file that are in it.
    pub(super) used: Vec<FileOption<'f>>,
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
    mut used: Vec<FileOption<'f>>,
) -> Option<MergedLine<'f>> {
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
            return Some(MergedLine { line, used, unused });
        };
        let one = used.remove(leaves);
        unused.push(one.option.name.clone());
    }
}

/// The position of the command among the arguments: the value of an option before it may have the same name.
fn command_at(program: &Program, command: &str, typed: &[OsString]) -> Option<usize> {
    let mut places = (1..typed.len()).filter(|place| typed[*place] == OsStr::new(command));
    places.find(|place| {
        let lenient = program.clone().ignore_errors(true);
        let matches = lenient.try_get_matches_from(&typed[..=*place]);
        matches.is_ok_and(|matches| matches.subcommand_name() == Some(command))
    })
}

/// The option `format`, if a dry run cannot use the requested format.
fn no_plan<F: Formats>(dry_run: bool, data: &FilesArgs<F>) -> Option<Vec<String>> {
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
