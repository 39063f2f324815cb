//! The options of `run`, `setup`, `stacks` and `doctor`, and those of heats that `compare` and `bisect` have as well.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use deadheat_model::workload::OfferedRate;
use deadheat_runner::session::{PinningMode, SessionOptions, heats::HeatOptions};
use deadheat_shell::{
    data::{DataArgs, FilesArgs, OfSession, TextOrJson},
    hosts::LauncherArgs,
    invocation,
    options::{ConfigArgs, Effect, Effects, ExplicitOptions},
    rate::equal_rate_or_none,
    values::{debian_package, duration, margin, one_of, precision, price, time_like_30ms},
};

use crate::other_hosts::OtherHostsArgs;

/// What each option can do in a `deadheat.toml`.
pub const EFFECTS: Effects = &[
    (
        Effect::Figures,
        "all budget cpus dry-run guard heat-time heats live margin pack pinning precision price publish published quick \
         rate seed separate-loads slice stack start-timeout warm-up whole-budget workload",
    ),
    // `--postgres download` fetches and runs a server.
    (Effect::RunsPrograms, "postgres root setup slurm stacks"),
    (
        Effect::ChoosesHosts,
        "address database generator generator-cpus hosts on",
    ),
    (Effect::WritesFiles, "results"),
];

/// Which stacks and workloads.
#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    #[command(flatten)]
    pub(crate) place: RootArgs,
    /// Stacks: `go-nethttp`, `go-*`, `go-nethttp:2cpu` (one variant); repeatable
    ///
    /// `go-*` selects the default variants, `*:*` selects all. By default the best known stack of each language, for as
    /// many of eleven languages as the time can decide; for `setup` all, or all that answer the named workloads.
    #[arg(long, value_name = "GLOB")]
    pub(crate) stack: Vec<String>,
    /// Workloads: `users` (its first load point), `hash:*` (all), `proxy:c400` (one); repeatable
    ///
    /// By default plaintext and users; for `setup` also proxy. Over HTTP/2 or TLS, name the load point:
    /// `json:h2c-10x10`.
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Vec<String>,
    /// The workloads of a pack, such as `techempower`, and the stacks that answer them; repeatable
    ///
    /// A pack has the workloads and the rules of another suite. No other option selects them, except by their names.
    #[arg(long, value_name = "NAME")]
    pub(crate) pack: Vec<String>,
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
/// What `deadheat run` is asked to do.
pub struct RunArgs {
    /// Explicit options, in their order.
    #[command(flatten)]
    pub explicit: ExplicitOptions,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Repeat published comparisons, with their stacks and loads. DOCUMENT is a document, such as `webstacks-*`, or one
    /// table, such as `go-nim-python:json`; repeatable [without DOCUMENT, all]
    #[arg(
        long,
        value_name = "DOCUMENT",
        num_args = 0..=1,
        default_missing_value = "*",
        conflicts_with_all = ["all", "pack", "quick", "publish", "rate"],
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
    /// How heats are measured.
    #[command(flatten)]
    pub heat: HeatArgs,
    /// Measure until ratios to the best are known this well, instead of for a time: `5%` for ±5 %
    ///
    /// The plan shows how long that takes, with eight heats or more. If the machine is noisier than usual, the session
    /// takes up to twice that time, and the report has the precision that it reached.
    #[arg(
        long,
        value_name = "PERCENT",
        value_parser = precision,
        conflicts_with_all = ["budget", "heats", "quick", "publish", "whole_budget"]
    )]
    pub(crate) precision: Option<f64>,
    /// Measure each stack with each of these numbers of CPUs, such as 1,2,4, and show how much it gains from more
    ///
    /// Numbers of CPUs, and not which ones; --generator-cpus and `deadheat load --cpus` name CPUs.
    ///
    /// The session has a server for each number, so it takes longer. If the machine has no room for the largest number
    /// and the load generator, both use the same CPUs. That is unfair to larger numbers, and the report warns.
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
    /// Dead heat: no difference proven, any below this
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = margin)]
    pub(crate) margin: f64,
    /// Equal work: offer this rate to every stack as well, and compare CPU time per request and response times there;
    /// repeatable [default: `common`; with --quick and --published `none`]
    ///
    /// RATE is a number of requests per second (`2000/s`); `common`, the largest of 1, 2, 5, 10 … that three quarters
    /// of the stacks can take at 70 % of their capacity; or `none`.
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
    /// Where the report goes.
    #[command(flatten)]
    pub data: FilesArgs<OfSession>,
    /// Write the report so far after each heat, as a page that reloads itself
    ///
    /// It is `report.html` in the session's folder, which the final report replaces.
    #[arg(long)]
    pub(crate) live: bool,
    #[command(flatten)]
    _config: ConfigArgs,
    /// Continue an interrupted or killed session with its original options
    ///
    /// Only --format, --output, --live, --postgres and --root can be changed. It is refused if the machine, a stack or
    /// a workload has changed.
    #[arg(long, value_name = "SESSION")]
    pub(crate) resume: Option<PathBuf>,
    // The heading of these is that of all after them.
    #[command(flatten)]
    pub(crate) other_hosts: OtherHostsArgs,
}

/// What `deadheat setup` is asked to do.
#[derive(Debug, Args)]
pub struct SetupArgs {
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
    /// Install packages only: stacks fetch their dependencies when they are built
    #[arg(long)]
    pub(crate) no_fetch: bool,
    /// Print the commands and exit
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What `deadheat doctor` is asked to do.
#[derive(Debug, Args)]
pub struct DoctorArgs {
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
    pub(crate) reach: LauncherArgs,
}

/// List, check, create and copy stacks.
#[derive(Debug, Subcommand)]
pub enum StacksCommand {
    /// List the stacks, and the toolchains that each lacks here.
    List(ListArgs),
    /// Begin a stack: a folder that passes `stacks check` for plaintext at once, with a list of the remaining work.
    New(NewArgs),
    /// Copy a stack into a folder of yours, to change it.
    Eject(EjectArgs),
    /// Check that stacks answer every workload correctly, and show the expected and the actual answer of each broken
    /// rule.
    Check(CheckArgs),
}

/// What `deadheat stacks list` is asked to do.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Stacks with all their variants (`go-*`), or some of these (`go-nethttp:2cpu`) [default: all]
    #[arg(id = "stack", value_name = "GLOB")]
    pub(crate) stacks: Vec<String>,
    #[command(flatten)]
    pub(crate) place: RootArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs<TextOrJson>,
}

/// What `deadheat stacks new` is asked to do.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// The stack's name: LANGUAGE-FRAMEWORK, such as `python-aiohttp`
    pub(crate) name: String,
    /// The language of the skeleton [default: that of the name]
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) from: Option<String>,
    #[command(flatten)]
    pub(crate) place: RootArgs,
}

/// What `deadheat stacks eject` is asked to do.
#[derive(Debug, Args)]
pub struct EjectArgs {
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

/// What `deadheat stacks check` is asked to do.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Stacks with all their variants (`go-*`), or some of these (`go-nethttp:2cpu`) [default: all]
    #[arg(id = "stack", value_name = "GLOB")]
    pub(crate) stacks: Vec<String>,
    #[command(flatten)]
    pub(crate) place: RootArgs,
    /// Workloads [default: all of them]; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Vec<String>,
    #[command(flatten)]
    pub(crate) postgres: PostgresArgs,
    /// A stack that is unavailable here is a failure
    #[arg(long)]
    pub(crate) strict: bool,
    /// With --strict: these stacks may be unavailable, or lack packages from their registry; repeatable
    #[arg(long, value_name = "GLOB", requires = "strict")]
    pub(crate) may_lack: Vec<String>,
    #[command(flatten)]
    pub(crate) data: DataArgs<TextOrJson>,
    /// How long a server may take to its first correct answer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub(crate) start_timeout: Duration,
}

fn heats(text: &str) -> Result<u32, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| (2..=1000).contains(number));
    number.ok_or_else(|| {
        "write a number from 2 to 1,000: how far heats are apart is how sure a figure is".to_owned()
    })
}

/// The options of heats. Where a command has another default, its help says so.
#[derive(Debug, Args)]
pub struct HeatArgs {
    /// The time that measuring may take [default: 10m]
    ///
    /// With `--quick` 3m, with `--publish` no limit, with `--published` 30m.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// The maximum number of heats of each stack at each load [default: as many as fit the budget]
    ///
    /// If a heat has no room for all stacks, that is an average: who is in every heat has more.
    #[arg(long, value_name = "N", value_parser = heats)]
    pub heats: Option<u32>,
    /// How long the rounds of a heat last [default: 10s to 60s, longer if its servers start slowly]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub heat_time: Option<Duration>,
    /// The counted part of a slice; longer where answers are slow
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = duration, hide_short_help = true)]
    pub slice: Duration,
    /// The part of a slice before it that does not count; longer where answers are slow
    #[arg(long, value_name = "TIME", default_value = "30ms", value_parser = time_like_30ms, hide_short_help = true)]
    pub guard: Duration,
    /// A fixed warm-up time of each server in each heat, pauses included [default: until it is steady]
    #[arg(long, value_name = "TIME", value_parser = duration, hide_short_help = true)]
    pub(crate) warm_up: Option<Duration>,
    /// The seed of the order and of random requests [default: a random one, recorded]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) seed: Option<u64>,
    /// Whether server and generator have CPUs of their own
    #[arg(long, default_value = "apart", value_parser = one_of(&[
        ("apart", PinningMode::Apart, "Each on CPUs of its own"),
        ("off", PinningMode::Off, "The operating system decides"),
    ]), hide_short_help = true)]
    pub(crate) pinning: PinningMode,
    /// How long a server may take to its first correct answer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, hide_short_help = true)]
    pub(crate) start_timeout: Duration,
    /// The folder of sessions
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
    /// Print the plan and exit without measuring
    #[arg(long)]
    pub dry_run: bool,
}

impl HeatArgs {
    /// The seed that was given, or a random one.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(invocation::random_seed)
    }

    /// The options of a session with these.
    pub fn session(&self, base: SessionOptions) -> SessionOptions {
        SessionOptions {
            results: self.results.clone(),
            heats: HeatOptions {
                heats: self.heats,
                time: self.heat_time,
                slice: self.slice,
                guard: self.guard,
                ..base.heats
            },
            warm_up: self.warm_up,
            pinning: self.pinning,
            start_timeout: self.start_timeout,
            arguments: invocation::arguments(),
            ..base
        }
    }
}

/// Where stacks and workloads are.
#[derive(Clone, Debug, Default, Args)]
pub struct RootArgs {
    /// The folder with `stacks/` and `workloads/` [default: $DEADHEAT_ROOT, or the nearest one above this folder, or
    /// those that are part of deadheat]
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) root: Option<PathBuf>,
    /// A folder with more stacks, one in each of its folders; they come before others of the same name; repeatable.
    /// Stacks are programs that run as you
    #[arg(
        id = "stacks",
        long = "stacks",
        value_name = "DIR",
        hide_short_help = true
    )]
    pub(crate) more_stacks: Vec<PathBuf>,
}
