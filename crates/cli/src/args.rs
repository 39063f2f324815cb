//! The command line, as it is typed.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};
use deadheat_model::workload::OfferedRate;

use crate::{
    bisect::args::BisectArgs,
    compare::args::CompareArgs,
    compat::AsArgs,
    config::args::ConfigArgs,
    data::{DataArgs, DataFormat, FilesArgs, TextOrJson},
    elsewhere::ElsewhereArgs,
    explicit_options::ExplicitOptions,
    heats::args::HeatArgs,
    import::ImportArgs,
    launcher_args::ReachArgs,
    load::{args::LoadArgs, rate::equal_rate_or_none},
    output::ColourArg,
    root_args::PlaceArgs,
    values::{debian_package, duration, margin, precision, price},
    verbosity::VerbosityArgs,
};

/// Says which HTTP server stack is faster for a job, what it costs in CPU and memory, and when it is a dead heat.
#[derive(Debug, Parser)]
#[command(name = "deadheat", version, max_term_width = 100, after_help = EXIT_STATUS)]
pub(crate) struct Arguments {
    /// When to use colors
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColourArg::Auto, hide_short_help = true, help_heading = "Global options")]
    pub(crate) color: ColourArg,
    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_STATUS: &str = "Exit status: 0 success; 1 a check or a stack failed; 2 wrong usage; \
3 nothing could be measured.\nData goes to standard output, everything else to standard error.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build, check, load and compare stacks; write the report.
    Run(Box<RunArgs>),
    /// Write a session's report again, from its records alone.
    Report(ReportArgs),
    /// Compare B with A: stacks, revisions, URLs, commands or sessions.
    Compare(Box<CompareArgs>),
    /// Find the commit that made a stack or a command slower.
    Bisect(Box<BisectArgs>),
    /// Show the sessions of a folder, the changes between them, and their figures over time.
    History(HistoryArgs),
    /// Read reports of ab, wrk, wrk2, hey, oha, h2load, k6 and vegeta, and list their faults.
    Import(ImportArgs),
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

#[derive(Debug, Subcommand)]
pub(crate) enum StacksCommand {
    /// List, check, create and copy stacks.
    List(ListArgs),
    /// Begin a stack: a folder that passes `stacks check` for plaintext at once, with a list of the remaining work.
    New(NewArgs),
    /// Copy a stack into a folder of yours, to change it.
    Eject(EjectArgs),
    /// Check that stacks answer every workload correctly, and show the expected and the actual answer of each broken
    /// rule.
    Check(CheckArgs),
}

/// Which stacks and workloads.
#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Stacks: `go-nethttp`, `go-*`, `go-nethttp:2cpu` (one variant); repeatable
    ///
    /// `go-*` stands for the default variants, `*:*` for all. By default the best known stack of each of eleven languages;
    /// for `setup` all.
    #[arg(long, value_name = "GLOB")]
    pub(crate) stack: Vec<String>,
    /// Workloads: `users` (its first load point), `hash:*` (all), `proxy:c400` (one); repeatable
    ///
    /// By default plaintext and users; for `setup` also proxy. Over HTTP/2 or TLS, name the load point: `json:h2c-10x10`.
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Vec<String>,
    /// Every variant of every stack, every load point of every workload (HTTP/2 and TLS: only if named)
    #[arg(long)]
    pub(crate) all: bool,
}

/// PostgreSQL as it is found by itself.
pub(crate) const AUTO: &str = "auto";

/// Where PostgreSQL comes from.
#[derive(Debug, Args)]
pub(crate) struct PostgresArgs {
    /// PostgreSQL: `auto`, `installed`, `download`, or a URL
    ///
    /// A URL is written `postgres://user:password@host/db`.
    #[arg(long, value_name = "SOURCE", default_value = AUTO)]
    pub(crate) postgres: String,
}

#[derive(Debug, Args)]
#[command(
    after_help = "All options: deadheat run --help.",
    after_long_help = "The method is explained in docs/methodology.md."
)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) explicit: ExplicitOptions,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Repeat published comparisons, with their stacks and loads. DOCUMENT is a document, such as `webstacks-*`, or one
    /// table, such as `go-nim-python:json`; repeatable [without DOCUMENT, all]
    #[arg(
        long,
        value_name = "DOCUMENT",
        num_args = 0..=1,
        default_missing_value = "*",
        conflicts_with_all = ["all", "quick", "publish", "rate"],
        hide_short_help = true
    )]
    pub(crate) published: Vec<String>,
    /// For a first impression: plaintext in three minutes, without stacks that warm up slowly
    #[arg(long)]
    pub(crate) quick: bool,
    /// For figures that you publish: all planned heats
    ///
    /// It has no time limit, and lists the reasons why a session is unfit to publish.
    #[arg(long, conflicts_with = "quick")]
    pub(crate) publish: bool,
    #[command(flatten)]
    pub(crate) heat: HeatArgs,
    /// Measure until ratios to the best are known this well, instead of for a time: `5%` for ±5 %
    ///
    /// The plan shows how long that takes, with eight heats or more. If the machine is noisier than usual, the session goes on
    /// for up to twice that time, and the report has the precision that it reached.
    #[arg(
        long,
        value_name = "PERCENT",
        value_parser = precision,
        conflicts_with_all = ["budget", "heats", "quick", "publish", "whole_budget"]
    )]
    pub(crate) precision: Option<f64>,
    /// Measure each stack with each of these numbers of CPUs, such as 1,2,4, and show how much it gains from more
    ///
    /// The session has a server for each number, so it takes longer. If the machine has no room for the largest number beside
    /// the load generator, both use the same CPUs. That is unfair to larger numbers, and the report warns.
    #[arg(
        long,
        value_name = "N,N,…",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=999),
        conflicts_with = "published"
    )]
    pub(crate) cpus: Vec<u32>,
    /// Measure until the budget ends or all heats are run, even if every ranking is decided before
    #[arg(long, hide_short_help = true)]
    pub(crate) whole_budget: bool,
    /// Start every server anew for each load, in place of one start that serves a heat at each load
    #[arg(long, hide_short_help = true)]
    pub(crate) separate_loads: bool,
    /// Two stacks that are proven to be within this are a dead heat
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = margin)]
    pub(crate) margin: f64,
    /// Equal work: offer this rate to every stack as well, and compare CPU time per request and response times there;
    /// repeatable [default: `common`; with --quick and --published `none`]
    ///
    /// RATE is a number of requests per second (`2000/s`); `common`, the largest of 1, 2, 5, 10 … that three quarters of the
    /// stacks can take at 70 % of their capacity; or `none`.
    #[arg(long, value_name = "RATE", value_parser = equal_rate_or_none)]
    pub(crate) rate: Vec<Option<OfferedRate>>,
    /// The price of a CPU for an hour, in any currency; shows that of a million requests at equal work
    #[arg(long, value_name = "PER-CPU-HOUR", value_parser = price, hide_short_help = true)]
    pub(crate) price: Option<f64>,
    #[command(flatten)]
    pub(crate) postgres: PostgresArgs,
    /// Install missing requirements first, as `deadheat setup --yes` does
    #[arg(long)]
    pub(crate) setup: bool,
    #[command(flatten)]
    pub(crate) data: FilesArgs<Format>,
    /// Write the report so far after each heat, as a page that reloads itself
    ///
    /// It is `report.html` in the session's folder, which the final report replaces.
    #[arg(long)]
    pub(crate) live: bool,
    #[command(flatten)]
    pub(crate) _config: ConfigArgs,
    /// Continue an interrupted or killed session with its original options
    ///
    /// Only --format, --output, --live, --postgres and --root can be changed. It is refused if the machine, a stack or a
    /// workload has changed.
    #[arg(long, value_name = "SESSION")]
    pub(crate) resume: Option<PathBuf>,
    // The heading of these is that of all after them.
    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The session's folder, or a file with reports of other tools [default: the newest session in `results/`]
    pub(crate) session: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataArgs<Format>,
    /// The workload on the card, with a load point if need be (`json:c50`); without, the first with a verdict
    #[arg(long, value_name = "NAME[:POINT]")]
    pub(crate) workload: Option<String>,
    /// In text: show everything, instead of 40 lines
    #[arg(long)]
    pub(crate) details: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// The folder of sessions
    #[arg(value_name = "FOLDER", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Show the figures of these stacks, all variants of a name without a colon; repeatable
    #[arg(long, value_name = "GLOB")]
    pub(crate) stack: Vec<String>,
    /// Show figures at these workloads, all load points of a name without a colon; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Vec<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs<TextOrJson>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for the terminal
    Text,
    /// Tables to be committed or pasted
    Markdown,
    /// A page that opens anywhere
    Html,
    /// For programs (docs/formats.md)
    Json,
    /// For spreadsheets (docs/formats.md)
    Csv,
    /// A picture (PNG, 1200 × 630) of one workload, for where a link is shown
    Card,
}

impl DataFormat for Format {
    const TEXT: Self = Self::Text;
    const JSON: Self = Self::Json;

    fn endings(&self) -> &'static [&'static str] {
        match self {
            Self::Text => &["txt"],
            Self::Markdown => &["md"],
            Self::Html => &["html", "htm"],
            Self::Json => &["json"],
            Self::Csv => &["csv"],
            Self::Card => &["png"],
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    #[command(flatten)]
    pub(crate) postgres: PostgresArgs,
    /// Also install this Debian package; repeatable
    #[arg(long, value_name = "NAME", value_parser = debian_package)]
    pub(crate) package: Vec<String>,
    /// Install Debian packages without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print the commands and exit
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs<TextOrJson>,
    /// The folder of sessions, whose file system is examined
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// How long to watch other processes [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) watch: Option<Duration>,
    /// Also examine this host, its clock, and how long messages take to it; repeatable
    #[arg(long, value_name = "HOST", help_heading = "Several hosts")]
    pub(crate) on: Vec<String>,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Stacks with all their variants (`go-*`), or some of these (`go-nethttp:2cpu`) [default: all]
    #[arg(id = "stack", value_name = "GLOB")]
    pub(crate) stacks: Vec<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs<TextOrJson>,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The stack's name: LANGUAGE-FRAMEWORK, such as `python-aiohttp`
    pub(crate) name: String,
    /// The language of the skeleton [default: that of the name]
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EjectArgs {
    /// The stack, such as `go-nethttp`
    pub(crate) name: String,
    /// The folder that the stack's folder is made in; other commands find it with `--stacks DIR`
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Give the copy another name, to compare it with the original
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) rename: Option<String>,
    /// The folder with `stacks/` and `workloads/` [default: as for `stacks list`]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Stacks with all their variants (`go-*`), or some of these (`go-nethttp:2cpu`) [default: all]
    #[arg(id = "stack", value_name = "GLOB")]
    pub(crate) stacks: Vec<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Workloads [default: all of them]; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Vec<String>,
    #[command(flatten)]
    pub(crate) postgres: PostgresArgs,
    /// A stack that is unavailable here is a failure
    #[arg(long)]
    pub(crate) strict: bool,
    /// Except these, which may be unavailable, or lack packages from their registry; repeatable
    #[arg(long, value_name = "GLOB", requires = "strict")]
    pub(crate) may_lack: Vec<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs<TextOrJson>,
    /// How long a server may take to its first correct answer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub(crate) start_timeout: Duration,
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
    use clap::{Command, CommandFactory};

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
            "load",
            "doctor",
            "stacks list",
            "stacks check",
        ];
        assert_eq!(names, expected);
    }
}
