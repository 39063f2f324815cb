//! How sessions are measured in heats: options of `run`, `compare` and `bisect`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use deadheat_runner::session::{PinningMode, SessionOptions, heats::HeatOptions};
use deadheat_shell::{
    invocation,
    values::{duration, one_of, time_like_30ms},
};

/// The options of heats. Where a command has another default, its help says so.
#[derive(Debug, Args)]
pub struct HeatArgs {
    /// The time that measuring may take [default: 10m]
    ///
    /// With `--quick` 3m, with `--publish` no limit, with `--published` 30m.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// The maximum number of heats of each load [default: as many as fit the budget]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
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
    /// A fixed warm-up time of each server in each heat [default: until it is steady]
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
