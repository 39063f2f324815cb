//! Where stacks and workloads are: options that commands have in common.

use std::path::PathBuf;

use clap::Args;

/// Where stacks and workloads are.
#[derive(Clone, Debug, Default, Args)]
pub struct RootArgs {
    /// The folder with `stacks/` and `workloads/` [default: $DEADHEAT_ROOT, or the nearest one above this folder, or those
    /// that are part of deadheat]
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) root: Option<PathBuf>,
    /// A folder with more stacks, one in each of its folders; they come before others of the same name; repeatable. Stacks
    /// are programs that run as you
    #[arg(
        id = "stacks",
        long = "stacks",
        value_name = "DIR",
        hide_short_help = true
    )]
    pub(crate) more_stacks: Vec<PathBuf>,
}
