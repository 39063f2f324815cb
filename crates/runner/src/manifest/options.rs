//! A file with defaults for options of the command line: a table for each command, a key for each option.

use std::{ops::Range, path::Path};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    decode::malformed,
    error::{ManifestError, ManifestErrors, Source, did_you_mean, enumerate},
};
use crate::files;

/// A file of options that reads. Which options there are, and what they take, is for the command line to say.
#[derive(Clone, Debug)]
pub struct OptionsFile {
    /// A table for each command, in the order of the file.
    pub tables: Vec<OptionsTable>,
    source: Source,
}

/// The options of a command.
#[derive(Clone, Debug)]
pub struct OptionsTable {
    /// The command.
    pub command: String,
    /// Its options, in the order of the file.
    pub options: Vec<NamedOption>,
}

/// An option with its value.
#[derive(Clone, Debug)]
pub struct NamedOption {
    /// The option, without dashes.
    pub name: String,
    /// What it is given.
    pub given: Given,
    key: Range<usize>,
    value: Range<usize>,
}

/// The values of an option in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// `true` or `false`.
    Flag(bool),
    /// A string or a number, or several of them.
    Values(Vec<String>),
}

impl OptionsFile {
    /// Reads the file at `path`, whose tables may be those of `commands`.
    ///
    /// # Errors
    /// All its mistakes: unknown tables, keys outside of tables, values that are no text, number, boolean or a list of
    /// these; or that it cannot be read.
    pub fn read(path: &Path, commands: &[&str]) -> Result<Self, ManifestErrors> {
        let text = files::read_typed_text(path).map_err(|error| {
            let title = format!("reading this file of options: {error}");
            ManifestErrors(vec![ManifestError::of_file(path, title)])
        })?;
        let source = Source {
            path: path.to_owned(),
            text: text.into(),
        };
        Self::new(source, commands)
    }

    fn new(source: Source, commands: &[&str]) -> Result<Self, ManifestErrors> {
        let table = DeTable::parse(&source.text)
            .map_err(|error| ManifestErrors(vec![malformed(&source, &error)]))?;
        let mut errors = Vec::new();
        let mut tables = Vec::new();
        for (key, value) in in_order(table.get_ref()) {
            let command = key.get_ref().as_ref();
            match value.get_ref() {
                DeValue::Table(table) if commands.contains(&command) => tables.push(OptionsTable {
                    command: command.to_owned(),
                    options: options(&source, table, &mut errors),
                }),
                DeValue::Table(_) => {
                    let title = format!("unknown table `{command}`");
                    let error = ManifestError::at(&source, key.span(), title);
                    errors.push(suggesting(error, command, commands));
                }
                _ => {
                    let title = format!("`{command}` is in no table");
                    let error = ManifestError::at(&source, key.span(), title);
                    let tables: Vec<String> =
                        commands.iter().map(|name| format!("[{name}]")).collect();
                    errors.push(error.help(format!(
                        "options are in the table of their command: {}",
                        tables.join(", ")
                    )));
                }
            }
        }
        drop(table);
        if errors.is_empty() {
            Ok(Self { tables, source })
        } else {
            Err(ManifestErrors(errors))
        }
    }

    /// The error for an option with a wrong value; `why` says what is wrong.
    pub fn wrong_value(&self, option: &NamedOption, why: &str) -> ManifestError {
        let title = format!("`{}` has a wrong value", option.name);
        ManifestError::at(&self.source, option.value.clone(), title).label(why)
    }

    /// The error for an option that this command does not accept.
    pub fn refused(&self, option: &NamedOption, why: &str) -> ManifestError {
        let title = format!("`{}` cannot be used here", option.name);
        ManifestError::at(&self.source, option.key.clone(), title).label(why)
    }

    /// The error for an option that the command does not have. It suggests the nearest of the `known` ones.
    pub fn unknown(&self, option: &NamedOption, command: &str, known: &[&str]) -> ManifestError {
        let name = option.name.as_str();
        let title = format!("unknown key `{name}` in [{command}]");
        let error = ManifestError::at(&self.source, option.key.clone(), title);
        match did_you_mean(name, known.iter().copied()) {
            Some(suggestion) => error.label(suggestion),
            None => error.help(format!(
                "the keys are the options of `deadheat {command} --help`"
            )),
        }
    }

    /// The value of an option as the file has it, in one line.
    pub fn written(&self, option: &NamedOption) -> String {
        let text = self.source.text.get(option.value.clone());
        let words = text.unwrap_or_default().split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    }
}

fn suggesting(error: ManifestError, word: &str, known: &[&str]) -> ManifestError {
    let names = known.iter().copied();
    match did_you_mean(word, names.clone()) {
        Some(suggestion) => error.label(suggestion),
        None => error.help(format!("the tables here are {}", enumerate(names))),
    }
}

type Entry<'t, 'i> = (
    &'t Spanned<toml::de::DeString<'i>>,
    &'t Spanned<DeValue<'i>>,
);

/// The entries of a table in the order of the file.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let mut entries: Vec<Entry<'t, 'i>> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn options(
    source: &Source,
    table: &DeTable<'_>,
    errors: &mut Vec<ManifestError>,
) -> Vec<NamedOption> {
    let mut options = Vec::new();
    for (key, value) in in_order(table) {
        let name = key.get_ref().to_string();
        match given(source, value) {
            Ok(given) => options.push(NamedOption {
                name,
                given,
                key: key.span(),
                value: value.span(),
            }),
            Err(place) => {
                let title = format!("`{name}` has a wrong value");
                let error = ManifestError::at(source, place, title);
                errors.push(error.label("expected text, a number, true, false, or a list"));
            }
        }
    }
    options
}

/// Converts a TOML value to option values. The error is the span of a value that no option accepts.
fn given(source: &Source, value: &Spanned<DeValue<'_>>) -> Result<Given, Range<usize>> {
    match value.get_ref() {
        DeValue::Boolean(flag) => Ok(Given::Flag(*flag)),
        DeValue::Array(array) => {
            let values = array.iter().map(|value| word(source, value));
            values.collect::<Result<_, _>>().map(Given::Values)
        }
        _ => word(source, value).map(|word| Given::Values(vec![word])),
    }
}

fn word(source: &Source, value: &Spanned<DeValue<'_>>) -> Result<String, Range<usize>> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(_) | DeValue::Float(_) => {
            let written = source.text.get(value.span()).unwrap_or_default();
            Ok(written.replace('_', ""))
        }
        _ => Err(value.span()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<OptionsFile, ManifestErrors> {
        let source = Source {
            path: "deadheat.toml".into(),
            text: text.into(),
        };
        OptionsFile::new(source, &["run", "load"])
    }

    #[test]
    fn each_command_has_its_options_in_the_order_of_the_file() {
        let text = "[run]\nstack = [\"go-*\", \"a\"]\nmargin = \"2%\"\nquick = true\n[load]\nconnections = 1_000\n";
        let file = read(text).unwrap();
        let found: Vec<(&str, &str, &Given)> = file
            .tables
            .iter()
            .flat_map(|table| {
                let options = table.options.iter();
                options.map(|one| (table.command.as_str(), one.name.as_str(), &one.given))
            })
            .collect();
        let values =
            |words: &[&str]| Given::Values(words.iter().map(ToString::to_string).collect());
        assert_eq!(
            found,
            [
                ("run", "stack", &values(&["go-*", "a"])),
                ("run", "margin", &values(&["2%"])),
                ("run", "quick", &Given::Flag(true)),
                ("load", "connections", &values(&["1000"])),
            ]
        );
        let stack = &file.tables[0].options[0];
        assert_eq!(file.written(stack), "[\"go-*\", \"a\"]");
    }

    #[test]
    fn mistakes_are_drawn_with_their_line() {
        let cases = [
            ("margin = \"2%\"", "deadheat.toml:1:1", "[run], [load]"),
            ("[runn]", "deadheat.toml:1:2", "did you mean `run`?"),
            ("[bisect]", "deadheat.toml:1:2", "`run`, `load`"),
            ("[run]\na = {}", "deadheat.toml:2:5", "expected text"),
            ("[run]\na = [1, [2]]", "deadheat.toml:2:9", "expected text"),
            ("[run]\na = ", "deadheat.toml:2:", "this is not TOML"),
        ];
        for (text, place, said) in cases {
            let errors = read(text).unwrap_err();
            let drawn = errors.render(false);
            assert!(errors.to_string().starts_with(place), "{text}: {errors}");
            assert!(drawn.contains(said), "{text}: {drawn}");
        }
        let file = read("[run]\nmargn = 1\n").unwrap();
        let option = &file.tables[0].options[0];
        let error = file.unknown(option, "run", &["margin", "heats"]);
        let drawn = error.render(false);
        assert!(drawn.contains("did you mean `margin`?") && drawn.contains("deadheat.toml:2:1"));
        let error = file.wrong_value(option, "too small").to_string();
        assert!(
            error.contains("2:9") && error.contains("too small"),
            "{error}"
        );
    }
}
