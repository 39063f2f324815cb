//! Child processes that cannot outlive Deadheat.
//!
//! Each child runs under a supervisor process of its own (the deadheat binary again, with a hidden command). The
//! supervisor holds the read end of a pipe whose write end only Deadheat has: when Deadheat ends, however it ends,
//! the pipe closes and the supervisor ends the child's whole tree. It is a subreaper, so a grandchild that left its
//! process group, its session or its parent still becomes the supervisor's child and is found (prctl(2),
//! `PR_SET_CHILD_SUBREAPER`).

mod cgroup;
pub(crate) mod environment;
mod freeze;
mod group;
mod log;
pub(crate) mod procfs;
mod spawn;
mod supervisor;
mod sys;
mod temp_folder;

pub use cgroup::{CpuGroup, Grouping};
pub use freeze::FreezeError;
pub(crate) use group::own_groups_below;
pub(crate) use log::LOG_END;
pub use log::log_tail;
pub use procfs::{ProcessStat, Snapshot, descendants, listening_sockets, read_stat};
pub use spawn::{OWN_PROGRAM, ProcessError, Spawn, Stopped, Supervised, Supervision, User};
pub(crate) use supervisor::OPEN_FILES;
pub use supervisor::{supervise, supervise_with};
pub use sys::{is_root, pin_current_thread, pin_threads_of, ticks, usable_cpus};
pub use temp_folder::TempFolder;
