//! Options that there were, and what took their place.

use clap::Args;

/// Options that other ones have taken the place of. Each is an error that names them.
#[derive(Debug, Default, Args)]
pub(crate) struct GoneArgs {
    #[arg(long = "blocks", hide = true, value_name = "N", value_parser = |_: &str| gone("servers are measured in heats; use --heats N"))]
    _blocks: Option<String>,
    #[arg(long = "measure", hide = true, value_name = "TIME", value_parser = |_: &str| gone("servers are loaded in slices; use --slice, --guard and --heat-time"))]
    _measure: Option<String>,
    #[arg(long = "noise-bound", hide = true, value_name = "SHARE", value_parser = |_: &str| gone("disturbed slices are trimmed, so that nothing is repeated; leave it out"))]
    _noise_bound: Option<String>,
}

fn gone(instead: &str) -> Result<String, String> {
    Err(format!("this option is gone: {instead}"))
}
