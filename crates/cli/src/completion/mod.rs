//! Completion in shells. `deadheat completions SHELL` prints a script that calls deadheat again whenever somebody
//! presses Tab, so that stacks, workloads and sessions are those that there are.

mod bash;
mod candidates;

use std::{
    env,
    ffi::{OsStr, OsString},
    path::Path,
};

use clap::{Arg, Command, CommandFactory, ValueEnum};
use clap_complete::{
    ArgValueCompleter, CompletionCandidate,
    env::{Elvish, EnvCompleter, Fish, Powershell, Zsh},
};
use deadheat_shell::{
    exit::{Exit, Failure},
    output::{self, Verbosity},
};

use self::bash::Bash;
use crate::args::{Arguments, CompletionsArgs, ShellArg};

/// The variable with which the script calls; its value is the shell.
const VARIABLE: &str = "_DEADHEAT_COMPLETE";
const NAME: &str = "deadheat";

fn completer(shell: ShellArg) -> &'static dyn EnvCompleter {
    match shell {
        ShellArg::Bash => &Bash,
        ShellArg::Elvish => &Elvish,
        ShellArg::Fish => &Fish,
        ShellArg::Powershell => &Powershell,
        ShellArg::Zsh => &Zsh,
    }
}

/// Prints the script.
pub(crate) fn script(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let typed = env::args_os().next().unwrap_or_else(|| NAME.into());
    let mut script = Vec::new();
    completer(args.shell)
        .write_registration(VARIABLE, NAME, NAME, &program(&typed), &mut script)
        .map_err(|error| Failure::nothing(format!("writing the script: {error}")))?;
    output::bytes(&script)?;
    Ok(Exit::Fine)
}

/// This program as it can be called from any folder: by the name that was typed, or by its path.
fn program(typed: &OsStr) -> String {
    let path = Path::new(typed);
    let is_name = path.components().count() < 2;
    let whole = match env::current_dir() {
        Ok(folder) if !is_name => folder.join(path),
        _ => path.to_owned(),
    };
    whole.display().to_string()
}

/// Whether the completion script called this program. If so, prints the candidates. Errors print nothing, because a
/// message would appear in the line that the user types.
pub(crate) fn answered() -> bool {
    let Some(shell) = env::var_os(VARIABLE) else {
        return false;
    };
    // Whoever types wants names, and nothing else.
    output::set_verbosity(Verbosity::Problems);
    let words: Vec<OsString> = env::args_os().collect();
    let shell = ShellArg::from_str(&shell.to_string_lossy(), true);
    if let (Ok(shell), Some(start)) = (shell, words.iter().position(|word| word == "--")) {
        let words = words[start + 1..].to_vec();
        let mut answer = Vec::new();
        let folder = env::current_dir().ok();
        let found =
            completer(shell).write_complete(&mut command(), words, folder.as_deref(), &mut answer);
        if found.is_ok() {
            let _ = output::bytes(&answer);
        }
    }
    true
}

/// The command line, with what may be typed for names.
fn command() -> Command {
    with_names(Arguments::command())
}

fn with_names(command: Command) -> Command {
    let is_search = command.get_name() == "bisect";
    command
        .mut_args(|argument| match names(&argument, is_search) {
            Some(find) => argument.add(ArgValueCompleter::new(find)),
            None => argument,
        })
        .mut_subcommands(with_names)
}

/// What may be typed for an option, given how it begins.
type Names = fn(&OsStr) -> Vec<CompletionCandidate>;

/// The candidates for an argument, chosen by its id.
fn names(argument: &Arg, is_search: bool) -> Option<Names> {
    Some(match argument.get_id().as_str() {
        "stack" => candidates::stacks,
        "workload" => candidates::workloads,
        "published" => candidates::published,
        "resume" if is_search => candidates::searches,
        "session" | "resume" => candidates::sessions,
        "a" | "b" => candidates::comparands,
        "postgres" => |typed| candidates::words(typed, &["auto", "installed", "download"]),
        "launcher" => |typed| candidates::words(typed, &["ssh", "srun", "kubectl"]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn completed(words: &[&str]) -> Vec<String> {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let words: Vec<OsString> = ["deadheat"].iter().chain(words).map(Into::into).collect();
        let index = words.len() - 1;
        let found =
            clap_complete::engine::complete(&mut command(), words, index, Some(&project)).unwrap();
        let found = found.iter().map(|one| one.get_value().to_string_lossy());
        found.map(|one| one.into_owned()).collect()
    }

    #[test]
    fn commands_options_and_values_are_completed() {
        assert_eq!(completed(&["stacks", "ch"]), ["check"]);
        assert_eq!(completed(&["run", "--budg"]), ["--budget"]);
        assert_eq!(
            completed(&["report", "x", "--format", "mark"]),
            ["markdown"]
        );
        assert_eq!(completed(&["run", "--postgres", "in"]), ["installed"]);
        assert!(!completed(&[""]).contains(&"__null".to_owned()));
    }

    // Unit tests run in this crate's folder, which is below the project's.
    #[test]
    fn names_are_those_of_the_manifests() {
        let stacks = ["go-nethttp", "go-nethttp:1cpu", "go-nethttp:2cpu"];
        for line in [
            &["run", "--stack", "go-neth"][..],
            &["setup", "--stack", "go-neth"],
            &["stacks", "check", "go-neth"],
            &["stacks", "list", "go-neth"],
            &["compare", "go-neth"],
            &["compare", "go-nethttp", "go-neth"],
            &["history", "--stack", "go-neth"],
        ] {
            assert_eq!(completed(line), [stacks[0]], "{line:?}");
        }
        let variants = completed(&["run", "--stack", "go-nethttp:"]);
        assert!(variants.len() > 1, "{variants:?}");
        let prefix = |one: &String| one.starts_with("go-nethttp:");
        assert!(variants.iter().all(prefix), "{variants:?}");
        assert_eq!(completed(&["run", "--workload", "plai"]), ["plaintext"]);
        assert!(completed(&["run", "--workload", "hash:"]).len() > 1);
        assert_eq!(completed(&["run", "--published", "go-nim"]).len(), 1);
    }

    #[test]
    fn every_name_of_an_option_is_one_that_there_is() {
        let mut found = BTreeSet::new();
        fn collect(command: &Command, found: &mut BTreeSet<String>) {
            for argument in command
                .get_arguments()
                .filter(|one| names(one, false).is_some())
            {
                found.insert(argument.get_id().to_string());
            }
            for inner in command.get_subcommands() {
                collect(inner, found);
            }
        }
        collect(&Arguments::command(), &mut found);
        let expected = [
            "a",
            "b",
            "launcher",
            "postgres",
            "published",
            "resume",
            "session",
            "stack",
            "workload",
        ];
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn scripts_call_the_program_by_its_name_or_whole_path() {
        assert_eq!(program("deadheat".as_ref()), "deadheat");
        assert_eq!(program("/usr/bin/deadheat".as_ref()), "/usr/bin/deadheat");
        assert!(program("target/x/deadheat".as_ref()).starts_with('/'));
        for shell in ShellArg::value_variants() {
            let mut script = Vec::new();
            let written =
                completer(*shell).write_registration(VARIABLE, NAME, NAME, NAME, &mut script);
            written.unwrap();
            assert!(String::from_utf8(script).unwrap().contains(VARIABLE));
        }
    }
}
