//! A root folder, fake stacks, the binary, and what came of it.

mod ended;
mod fake;
pub mod loaded;
pub mod processes;
pub mod recorded;
pub mod root;
pub mod running;
pub mod schema;
pub mod sessions;

use std::{
    thread,
    time::{Duration, Instant},
};

pub use self::{ended::Ended, fake::Fake, recorded::Recorded, root::Root, running::Running};

/// For whatever should take a moment. It only ends a broken test, so it is generous: other programs may have the CPUs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `look` finds something.
#[track_caller]
pub fn eventually<T>(what: &str, patience: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            Instant::now() < until,
            "within {patience:?}, this did not come: {what}"
        );
        thread::sleep(Duration::from_millis(2));
    }
}

/// `text` on one line: terminal tables and messages are broken at their width.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
