//! The options about `deadheat.toml`.

use std::path::PathBuf;

use clap::Args;

/// Where defaults of options come from.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConfigArgs {
    /// Take defaults of options from this file [default: deadheat.toml in this folder, or the nearest one above]
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Configuration"
    )]
    pub(crate) config: Option<PathBuf>,
    /// Read no deadheat.toml
    #[arg(
        long,
        conflicts_with = "config",
        hide_short_help = true,
        help_heading = "Configuration"
    )]
    pub(crate) no_config: bool,
}
