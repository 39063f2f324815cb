//! The command line, as it is typed.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{
    compare::args::CompareArgs,
    elsewhere::ElsewhereArgs,
    gone::GoneArgs,
    import::ImportArgs,
    kubernetes::args::KubernetesArgs,
    load::args::LoadArgs,
    output::ColourArg,
    place::PlaceArgs,
    reach::ReachArgs,
    there::{There, there},
    values::{LatencyArg, PinningArg, duration, margin, time_like_30ms},
};

/// Says which HTTP server stack is faster for a job, what it costs in CPU and memory, and when it is a dead heat.
#[derive(Debug, Parser)]
#[command(name = "deadheat", version, max_term_width = 100, after_help = EXIT_STATUS)]
pub(crate) struct Arguments {
    /// When to use colors
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColourArg::Auto)]
    pub(crate) color: ColourArg,
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
    /// Compare B with A: two sessions, stacks, revisions, URLs or commands; faster, slower, or a dead heat.
    Compare(Box<CompareArgs>),
    /// The sessions of a folder: what changed between them, and a stack's figures over them.
    History(HistoryArgs),
    /// Read reports of ab, wrk, wrk2, hey, oha, h2load, k6 and vegeta, and say what is wrong with them.
    Import(ImportArgs),
    /// Load one HTTP server and report throughput and latency.
    Load(Box<LoadArgs>),
    /// Look for what would spoil a measurement on this machine and others; changes nothing.
    Doctor(DoctorArgs),
    /// Install what the stacks need.
    Setup(SetupArgs),
    /// List, check and create stacks.
    #[command(subcommand)]
    Stacks(StacksCommand),
    /// Print a script for sbatch that runs a session on the nodes of a Slurm job.
    SlurmScript(SlurmScriptArgs),
    /// Print pods of Kubernetes for a session, with the commands that run it in them.
    KubernetesManifest(KubernetesArgs),
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
    /// The stacks, what they need and whether it is here.
    List(ListArgs),
    /// Begin a stack: a folder that passes `stacks check` for plaintext at once, and says what is left.
    New(NewArgs),
    /// Check that stacks answer every workload rightly: every rule, with what was expected and what came.
    Check(CheckArgs),
}

/// Which stacks and workloads.
#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Stacks: `go-*` (default variants), `go-nethttp:2cpu` (one variant), `*:*` (all); repeatable [default: the best
    /// known one of each of eleven languages; for `setup` all]
    #[arg(long, value_name = "GLOB")]
    pub(crate) stack: Vec<String>,
    /// Workloads: `users` (its first load point), `hash:*` (all of them), `proxy:c400` (one); repeatable
    /// [default: plaintext, users; for `setup` also proxy]
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Vec<String>,
    /// Every variant of every stack, every load point of every workload
    #[arg(long)]
    pub(crate) all: bool,
}

/// PostgreSQL as it is found by itself.
pub(crate) const AUTO: &str = "auto";

/// Where PostgreSQL comes from.
#[derive(Debug, Args)]
pub(crate) struct PostgresArgs {
    /// PostgreSQL: `auto`, `installed`, `download`, or a URL (`postgres://user:password@host/db`)
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
    pub(crate) selection: SelectionArgs,
    /// What is measured
    #[arg(long, value_enum, default_value_t = ProfileArg::Standard, hide_short_help = true)]
    pub(crate) profile: ProfileArg,
    /// With `--profile seeds`: published documents, such as `webstacks-*`, or one table, such as
    /// `go-nim-python:json`; repeatable [default: all]
    #[arg(long, value_name = "DOCUMENT", hide_short_help = true)]
    pub(crate) published: Vec<String>,
    /// A first look: plaintext in three minutes, without stacks that take long to warm up
    #[arg(long)]
    pub(crate) quick: bool,
    /// For figures that you publish: run all planned heats, whatever the time, measure response times too, and list what
    /// makes the session unfit to publish
    #[arg(long, conflicts_with = "quick")]
    pub(crate) publish: bool,
    /// The time that measuring may take [default: 10m; with `--quick` 3m, with `--publish` no limit, with `--profile
    /// seeds` 30m]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) budget: Option<Duration>,
    /// Measure until the budget ends or all heats are run, even if every ranking is decided before
    #[arg(long, hide_short_help = true)]
    pub(crate) whole_budget: bool,
    /// Two stacks within this of each other are a dead heat, if that is proven
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = margin)]
    pub(crate) margin: f64,
    /// The most heats of each load [default: what fits the budget]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) heats: Option<u32>,
    /// How long the rounds of a heat last [default: 10s to 60s, by what starting its servers takes]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub(crate) heat_time: Option<Duration>,
    /// The counted part of a slice; longer where answers are slow
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = duration, hide_short_help = true)]
    pub(crate) slice: Duration,
    /// The part of a slice before it that does not count
    #[arg(long, value_name = "TIME", default_value = "30ms", value_parser = time_like_30ms, hide_short_help = true)]
    pub(crate) guard: Duration,
    /// A fixed warm-up time [default: until the server is steady]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub(crate) warm_up: Option<Duration>,
    /// Response times at rates below capacity: open loops at shares of each stack's own, and at a rate common to all
    /// [default: auto; with `--quick` off, with `--publish` on]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) latency: Option<LatencyArg>,
    /// The seed of the order and of random requests [default: a random one, recorded]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) seed: Option<u64>,
    /// Whether server and generator have CPUs of their own
    #[arg(long, value_enum, default_value_t = PinningArg::Apart, hide_short_help = true)]
    pub(crate) pinning: PinningArg,
    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereArgs,
    /// Run the session on this host, with the servers; the project's files go there, and the session's folder comes back.
    /// Other hosts are named as that host knows them
    #[arg(
        long,
        value_name = "HOST",
        hide_short_help = true,
        conflicts_with = "slurm",
        help_heading = "Several hosts"
    )]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) postgres: PostgresArgs,
    /// The folder of sessions
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Install what is missing first, Debian packages included, as `deadheat setup --yes` does
    #[arg(long)]
    pub(crate) setup: bool,
    /// How long a server may take to its first correct answer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, hide_short_help = true)]
    pub(crate) start_timeout: Duration,
    /// Print the plan and exit without measuring
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the report, or the plan with --dry-run, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Serve the report so far on 127.0.0.1 while the session runs, for a browser on this machine; it is drawn anew
    /// after each heat; on this port [default: a free one]
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true)]
    pub(crate) live: Option<Option<u16>>,
    #[command(flatten)]
    pub(crate) _gone: GoneArgs,
    /// For Deadheat itself
    #[arg(long, hide = true, value_name = "JSON", value_parser = there)]
    pub(crate) there: Option<There>,
    /// Continue an interrupted or killed session with its original options. Only --json, --live, --postgres
    /// and --root can be changed. Refused if the machine, a stack or a workload has changed
    #[arg(long, value_name = "SESSION")]
    pub(crate) resume: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    /// The workloads at their load points
    Standard,
    /// Published comparisons: their stacks and loads, with requests sent in the same way
    Seeds,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The session's folder, below `results/`, or a file with reports of other tools
    pub(crate) session: PathBuf,
    /// The format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// The file to write, instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The workload on the card, with a load point if need be (`json:c50`); without, the first with a verdict
    #[arg(long, value_name = "NAME[:POINT]")]
    pub(crate) workload: Option<String>,
    /// In text: everything, not only what fits 40 lines
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
    /// For programs (docs/formats.md)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for the terminal
    Text,
    /// Tables to be committed or pasted
    Markdown,
    /// A page that opens anywhere
    Html,
    /// For programs (docs/report-json.md)
    Json,
    /// For spreadsheets (docs/formats.md)
    Csv,
    /// A picture (PNG, 1200 × 630) of one workload, for where a link is shown
    Card,
}

#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    #[command(flatten)]
    pub(crate) postgres: PostgresArgs,
    /// Also install this Debian package; repeatable
    #[arg(long, value_name = "NAME")]
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
    /// For programs (docs/doctor.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// How long to watch what others do [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) watch: Option<Duration>,
    /// Also examine this host, and the network between it and this machine; repeatable
    #[arg(long, value_name = "HOST", help_heading = "Several hosts")]
    pub(crate) on: Vec<String>,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// This machine's address that the hosts reach [default: the one that leads to each]
    #[arg(
        long,
        value_name = "IP",
        hide_short_help = true,
        help_heading = "Several hosts"
    )]
    pub(crate) address: Option<IpAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Stacks with all their variants (`go-*`), or some of these (`go-nethttp:2cpu`) [default: all]
    #[arg(value_name = "GLOB")]
    pub(crate) stacks: Vec<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// For programs (docs/formats.md)
    #[arg(long)]
    pub(crate) json: bool,
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
pub(crate) struct CheckArgs {
    /// Stacks with all their variants (`go-*`), or some of these (`go-nethttp:2cpu`) [default: all]
    #[arg(value_name = "GLOB")]
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
    /// Except these, which may be unavailable, or lack what they fetch from their registry; repeatable
    #[arg(long, value_name = "GLOB", requires = "strict")]
    pub(crate) may_lack: Vec<String>,
    /// For programs (docs/formats.md)
    #[arg(long)]
    pub(crate) json: bool,
    /// How long a server may take to its first correct answer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub(crate) start_timeout: Duration,
}

/// What `deadheat slurm-script` is asked to do.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: deadheat slurm-script --nodes 3 -- --stack 'rust-*' --workload users | sbatch"
)]
pub(crate) struct SlurmScriptArgs {
    /// Nodes of the job: one for the servers, the others for load and database
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) nodes: u32,
    /// The time limit of the job, as sbatch takes it
    #[arg(long, value_name = "TIME", default_value = "01:00:00")]
    pub(crate) time: String,
    /// The partition [default: the cluster's default]
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Option<String>,
    /// The options of `deadheat run`
    #[arg(last = true, value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HiddenArgs {
    /// As the runner gives them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
