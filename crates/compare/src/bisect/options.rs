//! The command line of `deadheat bisect`, as it is typed.

use std::path::PathBuf;

use clap::{Arg, Args};
use deadheat_shell::{data::FilesArgs, options::ExplicitOptions};

use crate::options::{CompareFormat, MEASURING, MeasureArgs, ServerArgs, StacksArgs, in_long_help};

const AFTER_HELP: &str = "Example: deadheat bisect v1.4 HEAD --build 'make server' -- ./server --port '$PORT'

A \
                          first comparison has to show that BAD is slower than GOOD. Each step then measures the \
                          middle commit together with GOOD
and BAD, and asks which of them it is nearer to. Each \
                          comparison lasts until it is decided, or --budget is used up. In
the end, the commit is \
                          compared with the one before it. A search names a wrong commit in at most 5 % of \
                          cases.

Commits are those of the first parents of BAD: a merge represents all that it \
                          merged. A commit that does not build or start
is skipped.

The guide is \
                          docs/bisect.md.
Exit status: 0 the commit was found; 1 BAD is not slower; 2 wrong usage; 3 \
                          undecided, or nothing could be measured; 130
interrupted.";

/// Options of `compare` have headings that say what else it compares.
fn under_own_heading(arg: Arg) -> Arg {
    match arg.get_help_heading() {
        Some(MEASURING) => arg.help_heading("Measuring"),
        Some("URLs and commands") => arg.help_heading("Commands"),
        _ => in_long_help(arg),
    }
}

/// What `deadheat bisect` is asked to do.
#[derive(Debug, Args)]
#[command(
    after_help = "The guide is docs/bisect.md. All options: deadheat bisect --help.",
    after_long_help = AFTER_HELP,
    override_usage = "deadheat bisect GOOD BAD [OPTIONS] STACK[:VARIANT]\n       \
                      deadheat bisect GOOD BAD [OPTIONS] -- COMMAND…\n       \
                      deadheat bisect --resume FOLDER",
    mut_args(under_own_heading),
    mut_arg("i_may_load_this_host", |arg| arg.hide(true)),
    mut_arg("workload", |arg| arg.help("The workload: `json` (its first load point) or `json:c50` [default: plaintext]")),
    mut_arg("budget", |arg| arg.help("The time that each comparison may take [default: 5m]")),
    mut_arg("heat_time", |arg| arg.help("How long each heat loads its servers in turn [default: 10s]")),
    mut_arg("heats", |arg| arg.help("Number of heats of each comparison, with one checkpoint after them")),
    mut_arg("results", |arg| arg.help("The folder in which the search has its own [default: results]")),
    mut_arg("arrivals", |arg| arg.hide(true)),
    mut_arg("max_connections", |arg| arg.hide(true)),
    mut_arg("stacks", |arg| arg.hide(true)),
    mut_arg("dry_run", |arg| arg.help("Print the plan, with the number of commits and steps, and exit")),
)]
pub struct BisectArgs {
    /// Explicit options, in their order.
    #[command(flatten)]
    pub explicit: ExplicitOptions,
    /// A revision of git that is fast
    #[arg(value_name = "GOOD", required_unless_present = "resume")]
    pub(crate) good: Option<String>,
    /// A later one that is slow
    #[arg(value_name = "BAD", required_unless_present = "resume")]
    pub(crate) bad: Option<String>,
    /// The stack to measure. Commits that change nothing in its folder are skipped
    #[arg(value_name = "STACK[:VARIANT]")]
    pub(crate) stack: Option<String>,
    /// The command that starts the server, in a copy of the repository at each commit. It listens at $HOST:$PORT
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Run this in each copy first, in a shell
    #[arg(long, value_name = "COMMAND")]
    pub(crate) build: Option<String>,
    /// Go on with a search that was interrupted, killed or undecided. Only --budget can be changed; --format and --output are those of this call
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["good", "bad", "stack", "command"])]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: FilesArgs<CompareFormat>,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(flatten)]
    pub(crate) stacks: StacksArgs,
}
