//! The command line of `deadheat compare`, as it is typed.

use clap::{Arg, Args, builder::Resettable};
use deadheat_bench::{
    options::{HeatArgs, RootArgs},
    other_hosts::OtherHostsArgs,
};
use deadheat_loadtool::options::{AnswerArgs, ConnectionArgs, RequestArgs, SteadyArgs, TlsArgs};
use deadheat_model::{comparison::Decide, workload::OfferedRate};
use deadheat_shell::{
    data::{FilesArgs, OfDocument},
    options::{ConfigArgs, Effect, Effects, ExplicitOptions},
    rate::equal_rate,
    values::{margin, one_of, share},
};
use deadheat_stats::comparison::Bounds;

const AFTER_HELP: &str = "\
What A and B may be, tried in this order, and both the same kind:
  results/SESSION          a session's folder (nothing is measured)
  before.txt               reports of ab, wrk, hey or another tool (docs/import.md; nothing is measured)
  a.json, runs/            a record of `deadheat load -o a.json`, or a folder of them (nothing is measured)
  http://HOST:PORT         a server that is running
  cmd:COMMAND              a server to start, which listens at $HOST:$PORT
  STACK[:VARIANT]          a stack, as its sources are now
  STACK[:VARIANT]@REVISION the same at a revision of git; @REVISION: of the other side's stack

The verdict on B: faster or slower (the interval of the ratio excludes 1), dead heat (the whole interval lies within
--margin), or undecided. Between two sessions, a difference must also exceed 1 % (times: 5 %) and that of the null
server, the same program in both.
Throughput decides, or what --decide names. With --rate, each heat also loads both commands or stacks at the same rate
(equal work), and the report has CPU time per request and the p99 response time there. URLs are loaded at that rate
alone, and the median and the p99 response time decide; a side that does not keep up with the rate is slower.
Results are tested only after numbers of heats that are fixed in advance. Together these tests are meant to give at most 5 %
of comparisons a wrong verdict (5 to 6 % in simulations).

For URLs and commands, the options under Load, Request, Connection and TLS, and Valid answers mean what they mean for
`deadheat load`, and hold for both sides.

--fail-if-slower 3%: B fails if it is proven slower by more than 3 %: the whole interval of its throughput lies below 0.97
of A's, or that of a response time above 1.03. --fail-if-costlier 3%: the same of CPU time per request at equal work, above
1.03. Memory is shown and not judged.

The guide is docs/compare.md.
Exit status: 0 compared, whatever the verdict; 1 B failed, or --fail-if-slower, --fail-if-costlier or --require-decision
is not met; 2 wrong usage, or sessions that cannot be compared; 3 nothing could be compared; 130 interrupted before
there was a verdict.";

const AFTER_SHORT_HELP: &str = "\
A and B: two stacks, two revisions of a stack (go-nethttp@HEAD~1 go-nethttp), two URLs, two commands \
(cmd:COMMAND), two sessions, or two records of `deadheat load -o a.json`. Exit status 1: B failed, or \
--fail-if-slower did. All options: deadheat compare --help. The guide is docs/compare.md.";

/// What each option can do in a `deadheat.toml`.
pub const EFFECTS: Effects = &[
    (Effect::Figures, "base change decide"),
    (Effect::Figures, "fail-if-costlier fail-if-slower"),
    (Effect::Figures, "force looks margin require-decision"),
    (Effect::ChangesRequests, "https path"),
];

/// Options of `deadheat load` that the short help of other commands has, too.
const OF_LOAD: [&str; 4] = ["connections", "method", "header", "body"];

/// Leaves the other options of `deadheat load` to the long help.
pub(crate) fn in_long_help(arg: Arg) -> Arg {
    let headings = ["Load", "Request", "Connection and TLS", "Valid answers"];
    let is_of_load = arg
        .get_help_heading()
        .is_some_and(|heading| headings.contains(&heading));
    if is_of_load && !OF_LOAD.contains(&arg.get_id().as_str()) {
        arg.hide_short_help(true)
    } else {
        arg
    }
}

/// What `deadheat compare` is asked to do.
#[derive(Debug, Args)]
#[command(after_help = AFTER_SHORT_HELP, after_long_help = AFTER_HELP, mut_args(in_long_help))]
pub struct CompareArgs {
    /// Explicit options, in their order.
    #[command(flatten)]
    pub explicit: ExplicitOptions,
    /// The baseline: a stack, a URL, cmd:COMMAND, a session, or a record of a load
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The candidate, of the same kind
    #[arg(value_name = "B")]
    pub(crate) b: String,
    /// The rule for verdicts, and the files for the result.
    #[command(flatten)]
    pub verdict: VerdictArgs,
    #[command(flatten)]
    pub(crate) sessions: SessionsArgs,
    /// The way to measure.
    #[command(flatten)]
    pub measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(flatten)]
    pub(crate) stacks: StacksArgs,
    #[command(flatten)]
    pub(crate) _config: ConfigArgs,
}

impl CompareArgs {
    /// The arguments of a comparison whose sides are named in another way, with the default bounds of verdicts.
    pub(crate) fn measuring(
        explicit: ExplicitOptions,
        measure: MeasureArgs,
        server: ServerArgs,
        stacks: StacksArgs,
    ) -> Self {
        Self {
            explicit,
            a: String::new(),
            b: String::new(),
            verdict: VerdictArgs {
                margin: Bounds::default().margin,
                decide: Decide::default(),
                fail_if_slower: None,
                fail_if_costlier: None,
                require_decision: false,
                rate: Vec::new(),
                base: None,
                change: None,
                data: FilesArgs::default(),
                details: false,
            },
            sessions: SessionsArgs { force: false },
            measure,
            server,
            stacks,
            _config: ConfigArgs::default(),
        }
    }
}

/// What is said of B, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Verdict")]
pub struct VerdictArgs {
    /// Dead heat: no difference proven, any below this
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = margin)]
    pub(crate) margin: f64,
    /// The deciding quantity
    ///
    /// The verdict is about it, and measuring ends when that is known. The other figures are shown. Equal work is
    /// measured for `cpu` and `p99`, at --rate or a common one.
    #[arg(long, hide_default_value = true, default_value = "throughput", value_parser = one_of(&[
        ("throughput", Decide::Throughput, "Requests per second of the closed loop (default)"),
        ("cpu", Decide::Cpu, "CPU time per request at equal work"),
        ("p99", Decide::P99, "The p99 response time at equal work"),
    ]))]
    pub(crate) decide: Decide,
    /// Exit with 1 if B is proven slower by more than this, such as 3%
    ///
    /// It measures until that is proven or excluded.
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub(crate) fail_if_slower: Option<f64>,
    /// Exit with 1 if B is proven to need this much more CPU, such as 3%
    ///
    /// CPU time per request, at equal work. Also if B cannot take the rate, and A took it in every heat.
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub(crate) fail_if_costlier: Option<f64>,
    /// Exit with 1 unless it is excluded that B is slower
    ///
    /// With --fail-if-slower or --fail-if-costlier: unless it is excluded that B is beyond that bound.
    #[arg(long)]
    pub(crate) require_decision: bool,
    /// Also load both at this rate (equal work); repeatable; URLs: only at it
    ///
    /// RATE is a number of requests per second (`2000/s`), or `common`, the largest of 1, 2, 5, 10 … that both sides
    /// can take at 70 % of their capacity. Without it, --decide cpu, --decide p99 and --fail-if-costlier take `common`.
    #[arg(long, value_name = "RATE", value_parser = equal_rate, help_heading = MEASURING)]
    pub(crate) rate: Vec<OfferedRate>,
    /// The report's name for A, such as the branch that B is to be merged into
    #[arg(long, value_name = "NAME", requires = "change", hide_short_help = true)]
    pub(crate) base: Option<String>,
    /// The report's name for B, which is A after this change: "this pull request"
    #[arg(long, value_name = "NAME", requires = "base", hide_short_help = true)]
    pub(crate) change: Option<String>,
    /// Where the report goes.
    #[command(flatten)]
    pub data: FilesArgs<OfDocument>,
    /// The whole report, with method, both sides and the machine
    #[arg(long)]
    pub(crate) details: bool,
}

/// Of two sessions, or records of loads.
#[derive(Debug, Args)]
#[command(next_help_heading = "Two sessions, or records of loads")]
pub(crate) struct SessionsArgs {
    /// Compare what was measured on different machines or settings all the same, with a warning for each difference
    #[arg(long, hide_short_help = true)]
    pub(crate) force: bool,
}

/// The heading of the options of what is measured.
pub(crate) const MEASURING: &str = "Measuring (not of sessions and records)";

/// How both sides are measured.
#[derive(Debug, Args)]
#[command(
    next_help_heading = MEASURING,
    mut_arg("budget", |arg| arg.help("The time that measuring may take [default: 5m]").long_help(Resettable::Reset)),
    mut_arg("heats", |arg| arg.help("Number of heats at each load, with one checkpoint after them").conflicts_with("budget")),
    mut_arg("heat_time", |arg| arg.help("How long each heat loads both servers in turn [default: 10s; 2s with --decide p99, or cpu without --fail-if-slower; 12s of URLs at a rate]")),
    mut_arg("results", |arg| arg.hide_short_help(true)),
    mut_arg("dry_run", |arg| arg.help("Print the plan, with its checkpoints, and exit")),
)]
pub struct MeasureArgs {
    /// How heats are measured.
    #[command(flatten)]
    pub heat: HeatArgs,
    /// Checkpoints: judge after these numbers of heats [default: 8,11,16,22,32,44… as far as the budget reaches]
    ///
    /// Checkpoints before the eighth heat may end it earlier, also with a dead heat. The price: of a stack that has one
    /// process in six a third slower, five heats miss this kind in 40 % of comparisons, and eight in 23 %.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=1000), conflicts_with = "heats", hide_short_help = true)]
    pub(crate) looks: Vec<u32>,
    #[command(flatten)]
    pub(crate) other_hosts: OtherHostsArgs,
}

/// Of URLs and commands.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "URLs and commands")]
pub(crate) struct ServerArgs {
    /// Path to request [default: /, or a URL's own path]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Commands speak TLS
    #[arg(long, hide_short_help = true)]
    pub(crate) https: bool,
    /// Load a host that is neither this machine nor in a private network
    #[arg(long, hide_short_help = true)]
    pub(crate) i_may_load_this_host: bool,
    #[command(flatten)]
    pub(crate) steady: SteadyArgs,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// Of stacks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Stacks")]
pub(crate) struct StacksArgs {
    /// Workloads: `users`, `hash:*` (all load points), `proxy:c400`; repeatable
    ///
    /// By default plaintext.
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Vec<String>,
    #[command(flatten)]
    pub(crate) place: RootArgs,
    /// PostgreSQL: `auto`, `installed`, `download`, or a URL [default: auto]
    #[arg(long, value_name = "SOURCE", hide_short_help = true)]
    pub(crate) postgres: Option<String>,
}
