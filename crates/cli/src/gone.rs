//! Options that there were, and what took their place.

use clap::Args;

/// Options that other ones have taken the place of. Each is an error that names them.
#[derive(Debug, Default, Args)]
pub(crate) struct GoneArgs {
    #[arg(long = "blocks", hide = true, value_name = "N", value_parser = |_: &str| gone("servers are measured in heats; use --heats N"))]
    _blocks: Option<String>,
    #[arg(long = "measure", hide = true, value_name = "TIME", value_parser = |_: &str| gone("servers are loaded in slices; use --slice, --guard and --heat-time"))]
    _measure: Option<String>,
    #[arg(long = "noise-bound", hide = true, value_name = "SHARE", value_parser = |_: &str| gone("disturbed slices \
        are trimmed and nothing is repeated; omit it"))]
    _noise_bound: Option<String>,
}

/// The same of `run` alone.
#[derive(Debug, Default, Args)]
pub(crate) struct GoneOfRunArgs {
    #[arg(long = "profile", hide = true, value_name = "NAME", value_parser = |_: &str| gone("--published repeats published comparisons; without it, workloads are measured at their load points"))]
    _profile: Option<String>,
}

/// The same of `load`.
#[derive(Debug, Default, Args)]
pub(crate) struct GoneOfLoadArgs {
    #[arg(long = "live", hide = true, value_name = "WHAT", value_parser = |_: &str| gone("--progress chooses the \
        display during a load; --live belongs to `deadheat run`"))]
    _live: Option<String>,
}

fn gone(instead: &str) -> Result<String, String> {
    Err(format!("this option is gone: {instead}"))
}
