//! Completion in shells. `deadheat completions SHELL` prints a script that calls deadheat again whenever somebody
//! presses Tab, so that stacks, workloads and sessions are those that there are.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    path::Path,
};

use clap::{Arg, Command, CommandFactory, ValueEnum};
use clap_complete::{
    ArgValueCompleter, CompletionCandidate, PathCompleter,
    engine::ValueCompleter as _,
    env as shells,
    env::{Elvish, EnvCompleter, Fish, Powershell, Zsh},
};
use deadheat_bench::select;
use deadheat_compare::bisect;
use deadheat_runner::{manifest::Catalogue, session::HEADER_FILE};
use deadheat_shell::{
    exit::{CommandFailure, Exit},
    output::{self, Verbosity},
    session_folders::RESULTS,
};

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
pub(crate) fn script(args: &CompletionsArgs) -> Result<Exit, CommandFailure> {
    let typed = env::args_os().next().unwrap_or_else(|| NAME.into());
    let mut script = Vec::new();
    completer(args.shell)
        .write_registration(VARIABLE, NAME, NAME, &program(&typed), &mut script)
        .map_err(|error| CommandFailure::no_result(format!("writing the script: {error}")))?;
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
        "stack" => stacks,
        "workload" => workloads,
        "published" => published,
        "resume" if is_search => searches,
        "session" => records,
        "resume" => sessions,
        "a" | "b" => comparands,
        "postgres" => |typed| words(typed, &["auto", "installed", "download"]),
        "launcher" => |typed| words(typed, &["ssh", "srun", "kubectl"]),
        _ => return None,
    })
}

/// The script for bash, which takes colons and equals signs for words of their own: `go-nethttp:2cpu` is three. The script
/// puts them together again, and cuts off what bash has already. `words` are those that a shell would give
/// to a command; the last one is what is before the cursor.
const SCRIPT: &str = r#"
_complete_NAME() {
    local typed=("${COMP_WORDS[@]:0:COMP_CWORD}") words=() word glued=no
    if [[ -z $2 && ${COMP_WORDS[COMP_CWORD]} == [:=] ]]; then
        typed+=("${COMP_WORDS[COMP_CWORD]}")
    fi
    for word in "${typed[@]}" "$2"; do
        if [[ $glued == yes || $word == [:=]* ]] && (( ${#words[@]} > 1 )); then
            words[${#words[@]}-1]+="$word"
        else
            words+=("$word")
        fi
        [[ $word == *[:=] ]] && glued=yes || glued=no
    done
    local last="${words[${#words[@]}-1]}"
    local before="${last%"$2"}"
    local IFS=$'\013'
    COMPREPLY=( $( \
        _CLAP_IFS="$IFS" \
        _CLAP_COMPLETE_INDEX="$(( ${#words[@]} - 1 ))" \
        VAR="bash" \
        COMPLETER -- "${words[@]}" 2> /dev/null \
    ) )
    if [[ -n $before ]]; then
        COMPREPLY=( "${COMPREPLY[@]#"$before"}" )
    fi
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} != *[=/:] ]]; then
        compopt +o nospace 2> /dev/null
    fi
}
complete -o nospace -o bashdefault -o nosort -F _complete_NAME BIN 2> /dev/null ||
    complete -o nospace -o bashdefault -F _complete_NAME BIN
"#;

struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        shells::Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        shells::Bash.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        program: &str,
        completer: &str,
        into: &mut dyn io::Write,
    ) -> io::Result<()> {
        let completer = shlex::try_quote(completer).map_err(io::Error::other)?;
        let script = SCRIPT
            .replace("NAME", name)
            .replace("BIN", program)
            .replace("VAR", variable)
            // The last one, because a path can contain the other words.
            .replace("COMPLETER", &completer);
        into.write_all(script.trim_start().as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        into: &mut dyn io::Write,
    ) -> io::Result<()> {
        shells::Bash.write_complete(command, words, folder, into)
    }
}

/// Stacks that may be typed. If the manifests cannot be read, this and the next ones are empty and report nothing.
fn stacks(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(catalogue) = catalogue() else {
        return Vec::new();
    };
    let named = catalogue.stacks.iter().map(|stack| {
        let targets = stack.manifest.targets().into_iter();
        let variants = targets.filter_map(|target| target.variant);
        (stack.manifest.id.clone(), variants.collect())
    });
    matching(typed, named)
}

fn workloads(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(catalogue) = catalogue() else {
        return Vec::new();
    };
    let named = catalogue.workloads.iter().map(|workload| {
        let points = workload.point.iter().map(|point| point.id.clone());
        (workload.id.clone(), points.collect())
    });
    matching(typed, named)
}

fn published(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(catalogue) = catalogue() else {
        return Vec::new();
    };
    let named = catalogue.published.iter().map(|document| {
        let tables = document.table.iter().map(|table| table.id.clone());
        (document.id.clone(), tables.collect())
    });
    matching(typed, named)
}

/// Sessions, the newest first; if none matches, folders.
fn sessions(typed: &OsStr) -> Vec<CompletionCandidate> {
    with(HEADER_FILE, typed, PathCompleter::dir)
}

/// What can be read again: sessions as above; if none matches, folders and files, such as the JSON of a load.
fn records(typed: &OsStr) -> Vec<CompletionCandidate> {
    with(HEADER_FILE, typed, PathCompleter::any)
}

/// Records of `deadheat bisect`, the newest first; if none matches, folders.
fn searches(typed: &OsStr) -> Vec<CompletionCandidate> {
    with(bisect::RECORD, typed, PathCompleter::dir)
}

/// Folders of results that contain `file`; if none matches, `others`.
fn with(file: &str, typed: &OsStr, others: fn() -> PathCompleter) -> Vec<CompletionCandidate> {
    let entries = fs::read_dir(RESULTS).into_iter().flatten().flatten();
    let mut found: Vec<String> = entries
        .filter(|entry| entry.path().join(file).is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.chars().any(char::is_control))
        .map(|name| Path::new(RESULTS).join(name).display().to_string())
        .collect();
    found.sort();
    found.reverse();
    let found = beginning(typed, found);
    if found.is_empty() {
        return others().complete(typed);
    }
    found
}

/// What `compare` compares: stacks, sessions, and files.
fn comparands(typed: &OsStr) -> Vec<CompletionCandidate> {
    let stacks = stacks(typed);
    if typed.is_empty() {
        return stacks.into_iter().chain(sessions(typed)).collect();
    }
    if stacks.is_empty() {
        records(typed)
    } else {
        stacks
    }
}

/// Those of `words` that match.
fn words(typed: &OsStr, words: &[&str]) -> Vec<CompletionCandidate> {
    beginning(typed, words.iter().map(|word| (*word).to_owned()).collect())
}

fn catalogue() -> Option<Catalogue> {
    let root = select::root(None).ok()?.folder;
    select::read(&root, &[]).ok()
}

/// Names that match. Once a name is complete, also `NAME:PART` for each of its parts.
fn matching(
    typed: &OsStr,
    named: impl Iterator<Item = (String, Vec<String>)>,
) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    let mut all = Vec::new();
    for (name, parts) in named {
        if text == name || text.starts_with(&format!("{name}:")) {
            all.extend(parts.iter().map(|part| format!("{name}:{part}")));
        }
        all.push(name);
    }
    beginning(typed, all)
}

fn beginning(typed: &OsStr, all: Vec<String>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fits = all.into_iter().filter(|one| one.starts_with(&*typed));
    // The order is the one given: the newest session, the first of a stack's variants.
    let ordered = fits.enumerate();
    ordered
        .map(|(place, one)| CompletionCandidate::new(one).display_order(Some(place)))
        .collect()
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

    #[test]
    fn records_are_files_as_well_and_sessions_are_not() {
        for line in [&["report", "Cargo.t"][..], &["compare", "a", "Cargo.t"]] {
            assert_eq!(completed(line), ["Cargo.toml"], "{line:?}");
        }
        assert!(completed(&["run", "--resume", "Cargo.t"]).is_empty());
    }

    #[test]
    fn the_script_calls_the_program_whatever_its_path_contains() {
        let mut script = Vec::new();
        let path = "/opt/VAR/BIN/deadheat";
        let written = Bash.write_registration(VARIABLE, NAME, NAME, path, &mut script);
        written.unwrap();
        let script = String::from_utf8(script).unwrap();
        assert!(script.contains("/opt/VAR/BIN/deadheat -- "), "{script}");
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
