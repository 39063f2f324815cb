//! `deadheat.toml`: defaults for the options of some commands. They are put before what was typed, so that everything
//! after this reads one command line, and a run on another host needs no file. A file that was found, and not named, may
//! set figures only.

mod effects;
mod options;

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::{ArgMatches, CommandFactory, parser::ValueSource};
use deadheat_runner::{
    manifest::{ManifestErrors, OptionsFile},
    secret::{HIDDEN, without_password},
    trust::{self, Distrust},
};
use deadheat_shell::{exit::CommandFailure, invocation, output};

use self::options::{FileOption, TableOptions};
use crate::args::Arguments;

/// The commands that have a table in the file.
const COMMANDS: [&str; 3] = ["run", "load", "compare"];
/// Options whose values are not shown.
const SECRET: [&str; 5] = ["user", "header", "body", "form", "proxy"];
/// The longest value that is shown.
const LONGEST: usize = 60;

/// What a file adds to a command line.
#[derive(Debug, Default)]
pub(crate) struct Defaults {
    /// The command line with it; `None`: it adds nothing.
    pub(crate) line: Option<Vec<OsString>>,
    /// Which options came from the file, for whoever reads the figures.
    pub(crate) told: Option<String>,
}

/// The command line with the file's defaults in it.
///
/// # Errors
/// The file's mistakes, drawn.
pub(crate) fn with_defaults(
    typed: &[OsString],
    matches: &ArgMatches,
) -> Result<Defaults, CommandFailure> {
    let nothing = Ok(Defaults::default());
    let Some((command, of_command)) = matches.subcommand() else {
        return nothing;
    };
    if !COMMANDS.contains(&command) || is_fixed(of_command) {
        return nothing;
    }
    let (path, is_named) = match file(of_command)? {
        None => return nothing,
        Some(ConfigFile::Distrusted(why)) => {
            output::warn(&format!(
                "warning: not used, because {why}; if you trust whoever can write there, name the file with --config"
            ));
            return nothing;
        }
        Some(ConfigFile::Named(path)) => (path, true),
        Some(ConfigFile::Nearest(path)) => (path, false),
    };
    let drawn =
        |errors: ManifestErrors| CommandFailure::usage(errors.render(output::colour_of_notes()));
    let file = OptionsFile::read(invocation::from_here(&path), &COMMANDS).map_err(drawn)?;
    tracing::info!("defaults of options are from {}", path.display());
    let program = Arguments::command();
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut own = TableOptions::default();
    let mut mistakes = Vec::new();
    // Also those of the other commands: a mistake is found when it is made.
    for table in &file.tables {
        let Some(of_table) = program.find_subcommand(&table.command) else {
            continue;
        };
        match options::arguments(&program, of_table, &file, &table.options, folder, is_named) {
            Ok(found) if table.command == command => own = found,
            Ok(_) => {}
            Err(errors) => mistakes.extend(errors),
        }
    }
    if !mistakes.is_empty() {
        return Err(drawn(ManifestErrors(mistakes)));
    }
    if !own.refused.is_empty() {
        output::warn(&refusal(&path, &own.refused));
    }
    let Some(merged) = options::merged(&program, command, typed, of_command, own.used) else {
        return nothing;
    };
    let used = merged.used.iter().map(|one| shown(one, &file));
    let used = used.collect::<Vec<_>>().join(", ");
    let unused = match merged.unused.as_slice() {
        [] => String::new(),
        unused => format!("not used here: {}", unused.join(", ")),
    };
    let told = [used, unused].into_iter().filter(|text| !text.is_empty());
    let told = told.collect::<Vec<_>>().join("; ");
    Ok(Defaults {
        line: (!merged.used.is_empty()).then_some(merged.line),
        told: (!told.is_empty()).then(|| format!("{}: {told}", invocation::shown(&path))),
    })
}

/// Whether the options are those of an earlier session, which this command resumes.
fn is_fixed(of_run: &ArgMatches) -> bool {
    let is_known = of_run.ids().any(|known| known == "resume");
    is_known && of_run.value_source("resume") == Some(ValueSource::CommandLine)
}

/// The file to read: the one that was named, or the nearest.
///
/// # Errors
/// When the environment names a file in a way that means another one in each folder.
fn file(of_command: &ArgMatches) -> Result<Option<ConfigFile>, CommandFailure> {
    if of_command.get_flag("no_config") {
        return Ok(None);
    }
    let Ok(current) = env::current_dir() else {
        return Ok(None);
    };
    if let Some(named) = of_command.get_one::<PathBuf>("config") {
        return Ok(Some(ConfigFile::Named(current.join(named))));
    }
    // An empty variable is how shells unset one.
    let variable = env::var_os(VARIABLE).filter(|value| !value.is_empty());
    match variable.map(PathBuf::from) {
        Some(file) if file.is_absolute() => Ok(Some(ConfigFile::Named(file))),
        Some(file) => Err(CommandFailure::usage(format!(
            "{VARIABLE}={}: write the path from /, or it would name another file in each folder",
            file.display()
        ))),
        None => Ok(ConfigFile::nearest(&current)),
    }
}

/// Which options of a file that nobody named are not used, and what to do.
fn refusal(path: &Path, refused: &[(&str, &str)]) -> String {
    let file = invocation::shown(path);
    let options = refused.iter().map(|(name, why)| format!("{name} ({why})"));
    format!(
        "warning: {file}: not used: {}. A file that you did not name may set figures only. If you trust it: --config \
         {file}, or {VARIABLE}={}",
        options.collect::<Vec<_>>().join(", "),
        path.display()
    )
}

fn shown(one: &FileOption<'_>, file: &OptionsFile) -> String {
    let name = &one.option.name;
    let text = if SECRET.contains(&name.as_str()) {
        HIDDEN.to_owned()
    } else {
        without_password(&file.written(one.option))
    };
    let mut value: String = text.chars().take(LONGEST).collect();
    if value.len() < text.len() {
        value.push('…');
    }
    format!("{name} = {value}")
}

/// The file's name.
const NAME: &str = "deadheat.toml";
/// The environment variable that names another file.
const VARIABLE: &str = "DEADHEAT_CONFIG";

/// A file with defaults.
#[derive(Debug, PartialEq, Eq)]
enum ConfigFile {
    /// The user named it, so that every option of it counts.
    Named(PathBuf),
    /// Nobody named it, so that it may set figures only.
    Nearest(PathBuf),
    /// Nobody named it, and other users can have written it.
    Distrusted(Distrust),
}

impl ConfigFile {
    /// The file in `current`, or in the nearest folder above that has one.
    fn nearest(current: &Path) -> Option<Self> {
        let mut files = current.ancestors().map(|folder| folder.join(NAME));
        let file = files.find(|file| file.is_file())?;
        Some(match trust::check(&file) {
            Ok(()) => Self::Nearest(file),
            Err(why) => Self::Distrusted(why),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        ffi::OsStr,
        fs::{self, Permissions},
        os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    };

    use super::*;

    /// The command line with the defaults of a file that says `text`; `FOLDER` is replaced by the file's folder.
    fn with(text: &str, typed: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deadheat.toml");
        fs::write(&path, text).unwrap();
        let config = format!("--config={}", path.display());
        let mut line: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
        line.push(config.clone().into());
        let matches = Arguments::command().try_get_matches_from(&line);
        let matches = matches.map_err(|error| error.to_string())?;
        let found = with_defaults(&line, &matches).map_err(|error| error.to_string())?;
        let found = found.line.unwrap_or(line);
        Arguments::command()
            .try_get_matches_from(&found)
            .map_err(|error| error.to_string())?;
        let words: Vec<String> = found
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .filter(|word| *word != config)
            .collect();
        let place = folder.path().display().to_string();
        Ok(words.join(" ").replace(&place, "FOLDER"))
    }

    #[test]
    fn a_file_is_read_whatever_its_folder_is_called_and_its_secrets_are_not_shown() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(OsStr::from_bytes(b"gr\xf6\xdfe"));
        fs::create_dir(&folder).unwrap();
        let path = folder.join(NAME);
        let text = "[load]\nform = \"pin=1234\"\nproxy = \"me:word@h:1\"\nconnections = 3\n";
        fs::write(&path, text).unwrap();
        let mut config = OsString::from("--config=");
        config.push(&path);
        let line = ["x", "load", "http://h/"].map(OsString::from);
        let line = [&line[..], &[config]].concat();
        let matches = Arguments::command().try_get_matches_from(&line).unwrap();
        let told = with_defaults(&line, &matches).unwrap().told.unwrap();
        let expected = format!(": form = {HIDDEN}, proxy = {HIDDEN}, connections = 3");
        assert!(told.ends_with(&expected), "{told}");
    }

    #[test]
    fn options_of_the_file_come_before_those_that_are_typed() {
        let text = "[run]\nstack = [\"go-*\", \"a\"]\nmargin = \"2%\"\nheats = 5\nwhole-budget = true\nquick = false\n\
                [load]\nconnections = 7\n[compare]\nmargin = \"4%\"\n";
        let cases = [
            (
                "x run --json",
                "x run --stack=go-* --stack=a --margin=2% --heats=5 --whole-budget --json",
            ),
            // A list that is typed takes the place of the file's.
            (
                "x run --stack b --heats 3",
                "x run --margin=2% --whole-budget --stack b --heats 3",
            ),
            (
                "x --color never load http://h/",
                "x --color never load --connections=7 http://h/",
            ),
            ("x load http://h/ -c 3", "x load http://h/ -c 3"),
            ("x compare a b", "x compare --margin=4% a b"),
            ("x run --resume s", "x run --resume s"),
        ];
        for (typed, expected) in cases {
            assert_eq!(with(text, typed).as_deref(), Ok(expected), "{typed}");
        }
    }

    #[test]
    fn an_option_of_the_file_gives_way_to_one_that_is_typed_and_excludes_it() {
        let cases = [
            // As clap knows it.
            ("[run]\npublish = true", "x run --quick", "x run --quick"),
            ("[run]\nquick = true", "x run --publish", "x run --publish"),
            (
                "[run]\nrate = \"common\"",
                "x run --published",
                "x run --published",
            ),
            (
                "[compare]\nheats = 5",
                "x compare a b --budget 1m",
                "x compare a b --budget 1m",
            ),
            // As the commands know it.
            (
                "[load]\nduration = \"30s\"",
                "x load http://h/ -n 100",
                "x load http://h/ -n 100",
            ),
            (
                "[load]\narrivals = \"poisson\"\ninsecure = true\nwarm-up = \"2s\"",
                "x load http://h/",
                "x load --warm-up=2s http://h/",
            ),
            (
                "[load]\narrivals = \"poisson\"\ninsecure = true",
                "x load https://h/ --rate 5/s",
                "x load --arrivals=poisson --insecure https://h/ --rate 5/s",
            ),
            (
                "[compare]\nworkload = \"users\"\nconnections = 9",
                "x compare http://h/ http://i/",
                "x compare --connections=9 http://h/ http://i/",
            ),
            (
                "[compare]\nworkload = \"users\"\nconnections = 9",
                "x compare a b",
                "x compare --workload=users a b",
            ),
        ];
        for (text, typed, expected) in cases {
            assert_eq!(with(text, typed).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn the_example_of_the_documents_reads() {
        let document = include_str!("../../../../docs/configuration.md");
        let (_, example) = document.split_once("```toml\n").unwrap();
        let (example, _) = example.split_once("```").unwrap();
        let expected = "x run --stack=go-* --stack=rust-axum --margin=2% --heats=10";
        assert_eq!(with(example, "x run").as_deref(), Ok(expected));
        assert_eq!(
            with(example, "x compare a b").as_deref(),
            Ok("x compare --fail-if-slower=3% a b")
        );
    }

    #[test]
    fn paths_start_at_the_folder_of_the_file() {
        let text =
            "[run]\nresults = \"out\"\nstacks = [\"more\", \"/abs\"]\nagent = \"bin/deadheat\"\n";
        let expected =
            "x run --results=FOLDER/out --stacks=FOLDER/more --stacks=/abs --agent=bin/deadheat";
        assert_eq!(with(text, "x run").as_deref(), Ok(expected));
        let text = "[load]\nbody-file = \"-\"\n";
        let line = with(text, "x load http://h/");
        assert_eq!(line.as_deref(), Ok("x load --body-file=- http://h/"));
    }

    #[test]
    fn mistakes_are_drawn_with_their_line() {
        let cases = [
            ("[run]\nmargn = \"2%\"", "2:1", "did you mean `margin`?"),
            ("[run]\nmargin = \"0.1%\"", "2:10", "from 1%"),
            ("[run]\nmargin = true", "2:10", "expected a value"),
            ("[run]\nquick = 1", "2:9", "true or false"),
            ("[run]\nheats = [2, 3]", "2:9", "one value"),
            ("[run]\npinning = \"of\"", "2:11", "apart, off"),
            ("[run]\nheats = 1", "2:9", "from 2 to 1,000"),
            ("[run]\nresume = \"x\"", "2:1", "on the command line"),
            (
                "[run]\nquick = true\npublish = true",
                "3:1",
                "excludes `quick`",
            ),
            ("[run]\nblocks = 3", "2:1", "unknown key `blocks`"),
            // Of another command, too.
            ("[load]\nconnections = 0", "2:15", "1"),
            (
                "[load]\ni-may-load-this-host = true",
                "2:1",
                "on the command line",
            ),
            ("margin = 1", "1:1", "in no table"),
        ];
        for (text, place, said) in cases {
            let error = with(text, "x run").unwrap_err();
            let place = format!("deadheat.toml:{place}");
            assert!(
                error.contains(&place) && error.contains(said),
                "{text}: {error}"
            );
        }
        // Two of the file that exclude each other are refused as if they had been typed.
        let text = "[load]\nduration = \"3s\"\nrequests = 10\n";
        let line = with(text, "x load http://h/").unwrap();
        assert_eq!(line, "x load --duration=3s --requests=10 http://h/");
    }

    #[test]
    fn every_option_can_be_given_in_the_file() {
        let program = Arguments::command();
        for command in COMMANDS {
            let options = program.find_subcommand(command).unwrap().get_arguments();
            let flags = options.filter(|one| {
                let is_flag = matches!(one.get_action(), clap::ArgAction::SetTrue);
                is_flag && !one.is_hide_set()
            });
            for flag in flags.filter_map(clap::Arg::get_long) {
                if ["no-config", "i-may-load-this-host"].contains(&flag) {
                    continue;
                }
                let operands = match command {
                    "compare" => " a b",
                    "load" => " http://h/",
                    _ => "",
                };
                let text = format!("[{command}]\n\"{flag}\" = true\n");
                let line = with(&text, &format!("x {command}{operands}"));
                assert!(line.is_ok(), "{command} {flag}: {line:?}");
            }
        }
    }

    #[test]
    fn the_nearest_file_upwards_is_found() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let upper = root.path().join(NAME);
        fs::write(&upper, "").unwrap();
        let nearest = |folder: &Path| ConfigFile::nearest(folder);
        assert_eq!(nearest(&inner), Some(ConfigFile::Nearest(upper.clone())));
        let lower = root.path().join("a").join(NAME);
        fs::write(&lower, "").unwrap();
        assert_eq!(nearest(&inner), Some(ConfigFile::Nearest(lower.clone())));
        assert_eq!(nearest(root.path()), Some(ConfigFile::Nearest(upper)));
        // It is not passed over for one above: that would set other figures without a word.
        fs::set_permissions(&lower, Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(nearest(&inner), Some(ConfigFile::Distrusted(_))));
    }
}
