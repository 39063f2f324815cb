//! What the commands share: what they print, how they end, and the options that they have in common.

pub mod config_options;
pub mod data;
pub mod exit;
pub mod explicit_options;
pub mod global_options;
pub mod hints;
pub mod interrupt;
pub mod invocation;
pub mod launcher_args;
pub mod output;
pub mod rate;
pub mod session_folders;
pub mod target_safety;
pub mod values;
