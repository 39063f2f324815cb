//! The command line of `deadheat compare`, as it is typed.
//!
//! What belongs to one kind of comparison alone is an `Option` or a list, so that "not given" can be told from "given":
//! an option without a meaning for what is compared is refused, never ignored.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use deadheat_model::plan::NoiseBound;

use crate::{
    args::{PinningArg, duration},
    choices::{NoiseArg, noise_bound},
};

const AFTER_HELP: &str = "\
What A and B may be, tried in this order, and both the same kind:
  results/SESSION          a session's folder (nothing is measured)
  http://HOST:PORT         a server that is running
  cmd:COMMAND              a server to be started, which listens at $HOST:$PORT
  STACK[:VARIANT]          a stack, as its sources are now
  STACK[:VARIANT]@REVISION the same at a revision of git; @REVISION: of the other side's stack

The verdict on B: faster or slower (the interval of the ratio excludes 1, and the ratio is farther from 1 than 1 %
and than the A/A floor), dead heat (the whole interval lies within --margin), or not enough data.
What is measured is looked at after the declared numbers of blocks alone, and 5 % of error are spent over these looks.

--fail-if-slower 3%: exit status 1 when a cell of B has the verdict slower and its throughput is less than 0.97 of A's.
When the interval only reaches below 0.97 the status is 0, and the output says that it was not excluded. Latency, CPU and
memory are shown and not judged. Where B failed, the status is 1 with or without this option.

The guide is docs/compare.md.
Exit status: 0 fine; 1 B failed, or was slower than --fail-if-slower; 2 wrong usage, or sessions that cannot be compared;
3 nothing could be compared.";

/// What `deadheat compare` is asked to do.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CompareArgs {
    /// What B is compared with: a session's folder, a URL, cmd:COMMAND, or STACK[:VARIANT][@REVISION]
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// What is compared, of the same kind
    #[arg(value_name = "B")]
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    #[command(flatten)]
    pub(crate) sessions: SessionsArgs,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    #[command(flatten)]
    pub(crate) stacks: StacksArgs,
}

/// What is said of B, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Verdict")]
pub(crate) struct VerdictArgs {
    /// A dead heat when the whole interval is within this much of 1: 3%
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = margin)]
    pub(crate) margin: f64,
    /// Exit with 1 when B is slower, and by more than this: 3%
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    pub(crate) fail_if_slower: Option<f64>,
    /// The format
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub(crate) format: CompareFormat,
}

/// How the comparison is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// A table for the terminal
    Text,
    /// Markdown for a pull request
    Markdown,
    /// For programs (docs/compare.md)
    Json,
}

/// Of two sessions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Two sessions")]
pub(crate) struct SessionsArgs {
    /// Compare sessions of different machines or settings all the same, with a warning for each difference
    #[arg(long)]
    pub(crate) force: bool,
}

/// How both sides are measured.
#[derive(Debug, Args)]
#[command(next_help_heading = "Measuring (not of sessions)")]
pub(crate) struct MeasureArgs {
    /// The time that measuring may take [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) budget: Option<Duration>,
    /// So many blocks and one look after them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000), conflicts_with_all = ["looks", "budget"])]
    pub(crate) blocks: Option<u32>,
    /// Look after these numbers of blocks [default: 5,7,10,14,20,28,40… as far as the budget reaches]
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) looks: Vec<u32>,
    /// The measurement of each trial [default: 3s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) measure: Option<Duration>,
    /// The warm-up of each trial [default: 1s; 2s for runtimes that compile while they run]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) warm_up: Option<Duration>,
    /// The seed of the order and of random requests [default: a random one, recorded]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Whether server and generator have CPUs of their own [default: apart]
    #[arg(long, value_enum)]
    pub(crate) pinning: Option<PinningArg>,
    /// A trial is void when others use more than this share of the CPU time, or `off` [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = noise_bound)]
    pub(crate) noise_bound: Option<NoiseArg>,
    /// The folder of sessions [default: results]
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
    /// How long a server may take to its first correct answer [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) start_timeout: Option<Duration>,
    /// Print the plan, with its looks, and end
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl MeasureArgs {
    /// How much a trial may be disturbed before it is void.
    pub(crate) fn noise_bound(&self) -> Option<NoiseBound> {
        match self.noise_bound {
            Some(NoiseArg(bound)) => bound,
            None => Some(NoiseBound::default()),
        }
    }
}

/// Of URLs and commands.
#[derive(Debug, Args)]
#[command(next_help_heading = "URLs and commands")]
pub(crate) struct ServerArgs {
    /// Connections [default: 50]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) connections: Option<u32>,
    /// What is asked for, of commands [default: /]; of URLs in place of their own path
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Load a host that is neither this machine nor in a private network
    #[arg(long)]
    pub(crate) i_may_load_this_host: bool,
}

/// Of stacks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Stacks")]
pub(crate) struct StacksArgs {
    /// Workloads: `users` (its first load point), `hash:*` (all of them), `proxy:c400` (one); repeatable
    /// [default: plaintext]
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Vec<String>,
    /// The folder with `stacks/` and `workloads/` [default: $DEADHEAT_ROOT, or the nearest one above this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// PostgreSQL: `auto`, `installed`, `download`, or a URL [default: auto]
    #[arg(long, value_name = "SOURCE")]
    pub(crate) postgres: Option<String>,
}

/// "3%" or "3 %", as 0.03; above 0 and below 100 %.
fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').map(str::trim);
    let number = number.ok_or("write it in percent, like 3%")?;
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        Ok(_) => Err("it must be above 0% and below 100%".to_owned()),
        Err(_) => Err("write it in percent, like 3%".to_owned()),
    }
}

/// A margin of a dead heat: not below the 1 % that a difference must have to count.
fn margin(text: &str) -> Result<f64, String> {
    let share = share(text)?;
    if (0.01..=0.5).contains(&share) {
        return Ok(share);
    }
    Err("it must be from 1% (below that a difference counts as none) to 50%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percent() {
        assert_eq!(share("3%"), Ok(0.03));
        assert_eq!(share("2.5 %"), Ok(0.025));
        for wrong in ["3", "", "%", "0%", "-1%", "100%", "NaN%", "inf%", "three%"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_margin_is_no_smaller_than_a_difference_that_counts() {
        assert_eq!(margin("1%"), Ok(0.01));
        assert!(margin("0.5%").is_err() && margin("51%").is_err());
    }
}
