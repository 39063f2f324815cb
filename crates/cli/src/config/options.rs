//! From the options of a file to arguments, and what is wrong with them. Which options there are, what they take and
//! which exclude each other is what clap knows of the command line.

use std::{error::Error as _, ffi::OsString, path::Path};

use clap::{
    Arg, ArgAction, ArgMatches, Command, ValueHint,
    error::{ContextKind, ContextValue, ErrorKind},
    parser::ValueSource,
};
use deadheat_runner::manifest::{Given, ManifestError, NamedOption, OptionsFile};

use super::effects::{self, Effect};

/// What a file cannot give. Somebody has to mean these when they run the command.
pub(super) const TYPED_ALONE: [&str; 4] = ["config", "no-config", "resume", "i-may-load-this-host"];
/// Placeholder operands, so that clap can check an option's value without the real ones.
const OPERANDS: [&str; 2] = ["http://127.0.0.1/", "http://127.0.0.1/"];

/// An option of a file, as arguments.
pub(super) struct FromFile<'f> {
    pub(super) option: &'f NamedOption,
    argument: Arg,
    pub(super) words: Vec<OsString>,
}

/// The options of a table.
#[derive(Default)]
pub(super) struct OfTable<'f> {
    /// Those that count.
    pub(super) used: Vec<FromFile<'f>>,
    /// Those that only a file that was named may set, with the reason.
    pub(super) refused: Vec<(&'f str, &'static str)>,
}

/// The options of `table` as arguments of `command`, a command of `program`. Paths in the file start at its `folder`. If
/// nobody named the file, only figures count.
///
/// # Errors
/// All mistakes.
pub(super) fn arguments<'f>(
    program: &Command,
    command: &Command,
    file: &OptionsFile,
    options: &'f [NamedOption],
    folder: &Path,
    is_named: bool,
) -> Result<OfTable<'f>, Vec<ManifestError>> {
    let mut found: Vec<FromFile<'f>> = Vec::new();
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
                    let one = FromFile {
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
        Ok(OfTable {
            used: found,
            refused,
        })
    } else {
        Err(errors)
    }
}

/// What the command line says of an option of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Occurrence {
    /// Nothing.
    Nothing,
    /// The same option, which takes precedence.
    Same,
    /// This option is on the command line, and excludes the one of the file.
    Excludes(String),
}

impl FromFile<'_> {
    pub(super) fn typed(&self, command: &Command, matches: &ArgMatches) -> Occurrence {
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

fn exclude(command: &Command, one: &FromFile<'_>, other: &FromFile<'_>) -> bool {
    exclude_each_other(command, &one.argument, &other.argument)
}

fn exclude_each_other(command: &Command, one: &Arg, other: &Arg) -> bool {
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

/// The argument that an option of the file stands for.
fn argument<'c>(
    command: &'c Command,
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
fn accepted(program: &Command, command: &Command, words: &[OsString]) -> Result<(), String> {
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
