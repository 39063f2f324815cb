//! The options about `deadheat.toml`.

use std::path::PathBuf;

use clap::Args;

/// Where defaults of options come from.
#[derive(Clone, Debug, Default, Args)]
pub struct ConfigArgs {
    /// Take defaults of options from this file [default: $DEADHEAT_CONFIG, or the figures in the nearest deadheat.toml]
    ///
    /// A deadheat.toml that is found in this folder or above sets figures only. One that you name may also choose
    /// programs, hosts, files and requests.
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
