//! What the commands share: what they print, how they end, and the options that they have in common.

pub mod data;
pub mod exit;
pub mod file_errors;
pub mod hints;
pub mod hosts;
pub mod invocation;
pub mod options;
pub mod output;
pub mod rate;
pub mod record_file;
pub mod session_folders;
pub mod values;
