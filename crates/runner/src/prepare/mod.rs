//! What must be done before a stack can be started: find its toolchain, fetch what it depends on, build it.
//!
//! [`Host`] is the machine as preparation sees it. [`inspect`] asks a stack's toolchain and lock files for versions and
//! says whether it can run here, [`Builder`] fetches and builds it, and [`SetupPlan`] installs what is missing. Every
//! command is bounded in time, ends when the session is interrupted, and leaves no process behind.

mod advice;
mod apt;
mod build;
mod command;
mod inspect;
pub mod locked;
mod network_errors;
mod setup;
mod setup_run;
mod stamp;
mod toolchain;
mod version;

pub use apt::{Privilege, is_package_name};
pub use build::{BuildProgress, Builder, DEFAULT_COMMAND_LIMIT, NotPrepared, artefact_bytes};
pub use command::{CommandError, Host, in_shell, run_line, search_path};
pub use inspect::{Inspection, Unavailable, inspect, inspect_all};
pub use setup::{ChosenStack, DatabaseNeed, SetupNeeds, SetupPlan, SetupStep, StackNeed, assess};
pub use setup_run::{SetupOutcome, SetupProgress, run_setup};
pub use stamp::is_built;
pub use toolchain::{FoundProgram, Program, UnfitProgram, VersionProgress, check_program};
