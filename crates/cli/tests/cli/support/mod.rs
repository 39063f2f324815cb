//! A root folder, fake stacks, the binary, and what came of it.

mod ended;
mod fake;
pub mod loaded;
pub mod network;
pub mod processes;
pub mod recorded;
pub mod root;
pub mod running;
pub mod schema;
pub mod sessions;

pub use deadheat_testkit::{PATIENCE, eventually};

pub use self::{ended::Ended, fake::Fake, recorded::Recorded, root::Root, running::Running};

/// `text` on one line: terminal tables and messages are broken at their width.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
