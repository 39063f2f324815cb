//! The command line, as it is typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use deadheat_bench::options::{DoctorArgs, RunArgs, SetupArgs, StacksCommand};
use deadheat_compare::{
    audit::AuditArgs, bisect::BisectArgs, history::HistoryArgs, options::CompareArgs,
    site::SiteArgs,
};
use deadheat_loadtool::{look_alikes::AsArgs, options::LoadArgs};
use deadheat_shell::{
    data::{DataArgs, Format, Formats, OF_DOCUMENT, OF_LOAD_ALONE},
    options::GlobalArgs,
};

use crate::import::ImportArgs;

/// Says which HTTP server stack is faster for a job, what it costs in CPU and memory, and when it is a dead heat.
#[derive(Debug, Parser)]
#[command(name = "deadheat", version, max_term_width = 100, after_help = EXIT_STATUS)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_STATUS: &str = "Exit status: 0 success; 1 a check or a stack failed; 2 wrong usage; \
3 nothing could be measured; 130 interrupted without a result.\nData goes to standard output, everything else to standard error.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build, check, load and compare stacks; write the report.
    Run(Box<RunArgs>),
    /// Write the report of a session, a load or a search again, from its records alone.
    Report(ReportArgs),
    /// Compare B with A: stacks, revisions, URLs, commands or sessions.
    Compare(Box<CompareArgs>),
    /// Find the commit that made a stack or a command slower.
    Bisect(Box<BisectArgs>),
    /// Show the sessions of a folder, the changes between them, and their figures over time.
    History(HistoryArgs),
    /// Write a folder of static pages that show, compare and track sessions.
    Site(SiteArgs),
    /// Read reports of ab, wrk, wrk2, hey, oha, h2load, k6 and vegeta, and list their faults.
    Import(ImportArgs),
    /// Say how much of somebody's results is proven: reports of other tools, HttpArena, web-frameworks.
    Audit(AuditArgs),
    /// Load one HTTP server and report throughput and latency.
    Load(Box<LoadArgs>),
    /// Load as ab, wrk, hey or oha would: with their options, and their report.
    As(AsArgs),
    /// Check this machine, and others, for anything that would disturb a measurement.
    Doctor(DoctorArgs),
    /// Install the requirements of the stacks.
    Setup(SetupArgs),
    /// List, check and create stacks.
    #[command(subcommand)]
    Stacks(StacksCommand),
    /// Print a script that completes commands, options and names in your shell.
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command.
    Man(ManArgs),
    /// Loads for a coordinator on another host, on standard input and output.
    #[command(hide = true)]
    Agent,
    /// Runs a child and ends its tree with Deadheat.
    #[command(name = "__supervise", hide = true)]
    Supervise,
    /// The slow upstream of the proxy workload.
    #[command(name = "__upstream", hide = true)]
    Upstream(HiddenArgs),
    /// The server that only answers, which is the ceiling.
    #[command(name = "__null", hide = true)]
    NullServer(HiddenArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The folder of a session or a search, the JSON of a load or a search (`-` is standard input), or a file with reports
    /// of other tools [default: the newest session in `results/`]
    pub(crate) session: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataArgs<OfReport>,
    /// The workload on the card, with a load point if need be (`json:c50`); without, the first with a verdict
    #[arg(long, value_name = "NAME[:POINT]")]
    pub(crate) workload: Option<String>,
    /// In text: show everything, instead of 40 lines
    #[arg(long)]
    pub(crate) details: bool,
}

/// The formats of all records; each kind of record has some of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfReport;

impl Formats for OfReport {
    const LISTS: &'static [&'static [Format]] =
        &[OF_DOCUMENT, &[Format::Csv, Format::Card], OF_LOAD_ALONE];
}

const COMPLETIONS_HELP: &str = "\
bash: add to ~/.bashrc:                  source <(deadheat completions bash)
zsh:  add to ~/.zshrc, after compinit:   source <(deadheat completions zsh)
fish: add to ~/.config/fish/config.fish: deadheat completions fish | source";

/// What `deadheat completions` is asked to do.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: ShellArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellArg {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

const MAN_HELP: &str = "\
Example: deadheat man ~/.local/share/man/man1, then: man deadheat-run";

/// What `deadheat man` is asked to do.
#[derive(Debug, Args)]
#[command(after_help = MAN_HELP)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this folder, instead of printing deadheat(1)
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct HiddenArgs {
    /// As the runner sets them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::{Path, PathBuf},
    };

    use clap::{Command, CommandFactory};
    use deadheat_loadtool::options::RequestArgs;
    use deadheat_shell::{
        hints::{self, OF_OTHER_TOOLS},
        options::{self, ExplicitOptions},
        output::Verbosity,
    };
    use deadheat_testkit::documents;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    /// All commands that are shown, with those in them.
    fn commands(of: &mut Command) -> Vec<Command> {
        let mut all = vec![of.clone()];
        for inner in of.get_subcommands_mut().filter(|one| !one.is_hide_set()) {
            all.extend(commands(inner));
        }
        all
    }

    #[test]
    fn short_help_fits_a_screen_and_long_help_has_every_option() {
        const ROWS: usize = 50;
        let mut program = Arguments::command().term_width(100);
        program.build();
        for mut command in commands(&mut program) {
            let name = command.get_bin_name().unwrap_or_default().to_owned();
            let short = command.render_help().to_string();
            let rows = short.lines().count();
            assert!(rows <= ROWS, "{name} -h has {rows} rows:\n{short}");
            let long = command.render_long_help().to_string();
            let options = command.get_arguments().filter(|one| !one.is_hide_set());
            for option in options.filter_map(clap::Arg::get_long) {
                assert!(long.contains(&format!("--{option}")), "{name} --{option}");
            }
        }
    }

    fn hint_of(line: &str) -> Option<String> {
        let error = Arguments::try_parse_from(line.split(' ')).unwrap_err();
        hints::hint(&error)
    }

    #[test]
    fn options_of_other_tools_are_answered_with_ours() {
        let load = |options: &str| hint_of(&format!("deadheat load http://h/ {options}"));
        assert_eq!(load("-z 10s").unwrap(), "Instead of -z, here: -d 10s");
        let of_another = hint_of("deadheat as --help").unwrap();
        assert!(of_another.ends_with("deadheat help as"), "{of_another}");
        assert!(load("--no-tui").unwrap().contains("--progress off"));
        assert_eq!(load("--nonsense"), None);
        assert!(load("-m POST").unwrap().contains("-X POST"));
        assert_eq!(load("-m 0"), None);
        for rate in ["-q 5000", "http://i/"] {
            assert!(load(rate).unwrap().contains("--rate 5000/s"), "{rate}");
        }
        for (option, _) in &OF_OTHER_TOOLS[..13] {
            assert!(
                load(option).is_some(),
                "{option} is an option of ours: no hint is given"
            );
        }
        assert!(hint_of("deadheat compare a b --markdown").is_some());
    }

    #[test]
    fn a_url_without_a_command_is_answered_with_load() {
        let hint = hint_of("deadheat http://127.0.0.1:8080/").unwrap();
        assert!(hint.ends_with("deadheat load http://127.0.0.1:8080/"));
        assert_eq!(hint_of("deadheat lood"), None);
    }

    fn given(line: &str) -> ExplicitOptions {
        let words = line.split_whitespace();
        let typed = Arguments::try_parse_from(["deadheat"].into_iter().chain(words)).unwrap();
        match typed.command {
            super::Command::Load(args) => args.explicit,
            super::Command::Compare(args) => args.explicit,
            super::Command::Run(args) => args.explicit,
            super::Command::Bisect(args) => args.explicit,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_given_is_listed_in_its_order_and_defaults_are_not() {
        let load = given("load http://h/ --rate 5 -4 -H a:b --http1.0 -H c:d --progress auto");
        let expected = [
            "--url",
            "--rate",
            "-4",
            "--header",
            "--http1.0",
            "--progress",
        ];
        assert_eq!(load.names(), expected);
        let request = load.in_group::<RequestArgs>();
        assert_eq!(request.names(), ["--header", "--http1.0"]);
        assert_eq!(given("run --stacks x").names(), ["--stacks"]);
        assert!(given("compare a b --slice 100ms").has("--slice"));
        assert!(given("bisect a b --budget 1m c").has("--budget"));
    }

    #[test]
    fn every_option_is_called_as_it_is_typed() {
        let program = Arguments::command();
        for command in ["load", "compare", "run", "bisect"] {
            let options = program.find_subcommand(command).unwrap().get_arguments();
            for option in options.filter(|option| !option.is_positional()) {
                let typed = match (option.get_long(), option.get_short()) {
                    (Some(long), _) => format!("--{long}"),
                    (None, short) => format!("-{}", short.unwrap_or_default()),
                };
                assert_eq!(options::name(option.get_id().as_str()), typed, "{command}");
            }
        }
    }

    #[test]
    fn the_options_stand_before_and_after_the_command() {
        let told = |line: &str| {
            let parsed = Arguments::try_parse_from(line.split(' '));
            parsed
                .map(|arguments| arguments.global.verbosity.verbosity())
                .ok()
        };
        assert_eq!(told("deadheat run"), Some(Verbosity::Usual));
        assert_eq!(told("deadheat run -v"), Some(Verbosity::Steps));
        assert_eq!(
            told("deadheat -vv stacks list"),
            Some(Verbosity::Everything)
        );
        assert_eq!(
            told("deadheat load http://h/ -q"),
            Some(Verbosity::Problems)
        );
        assert_eq!(told("deadheat run -q -v"), None);
    }

    #[test]
    fn every_command_that_prints_data_has_the_same_options_for_it() {
        let mut program = Arguments::command();
        program.build();
        let names: Vec<String> = commands(&mut program)
            .iter()
            .filter(|command| {
                let has = |id: &str| command.get_arguments().any(|one| one.get_id() == id);
                let own = ["format", "json", "output"].map(has);
                assert!(
                    own == [true; 3] || own == [false; 3],
                    "{:?}: {own:?}",
                    command.get_bin_name()
                );
                own[0]
            })
            .map(|command| {
                command
                    .get_bin_name()
                    .unwrap_or_default()
                    .replace("deadheat ", "")
            })
            .collect();
        let expected = [
            "run",
            "report",
            "compare",
            "bisect",
            "history",
            "import",
            "audit",
            "load",
            "doctor",
            "stacks list",
            "stacks check",
        ];
        assert_eq!(names, expected);
    }

    /// Documents with commands, from the project's folder. Those of a folder are its Markdown files.
    const DOCUMENTS: [&str; 3] = ["README.md", "CONTRIBUTING.md", "docs"];

    fn files(project: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for name in DOCUMENTS {
            let path = project.join(name);
            if path.is_file() {
                files.push(path);
                continue;
            }
            let entries = fs::read_dir(&path)
                .unwrap()
                .map(|entry| entry.unwrap().path());
            files.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "md")));
        }
        files
    }

    #[test]
    fn every_command_in_the_documents_is_understood() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut count = 0;
        let mut wrong = Vec::new();
        for file in files(&project) {
            for command in documents::commands(&fs::read_to_string(&file).unwrap()) {
                count += 1;
                let parsed = documents::words(&command).map(Arguments::try_parse_from);
                match parsed {
                    Some(Ok(_)) => {}
                    // Help, for example.
                    Some(Err(error)) if error.exit_code() == 0 => {}
                    Some(Err(error)) => {
                        wrong.push(format!("{}: {command}\n{error}", file.display()))
                    }
                    None => wrong.push(format!(
                        "{}: {command} has quotes that are not closed",
                        file.display()
                    )),
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(count > 30, "only {count} commands were found");
    }
}
