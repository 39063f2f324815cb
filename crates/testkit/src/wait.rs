//! Waiting for what other threads and processes bring about.

use std::{
    thread,
    time::{Duration, Instant},
};

/// For whatever should take a moment. It only ends a broken test, so it is generous: other programs may have the CPUs.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until `look` finds something.
///
/// # Panics
///
/// When it finds nothing within [`PATIENCE`].
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            Instant::now() < until,
            "within {PATIENCE:?}, this did not come: {what}"
        );
        thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until a condition holds.
///
/// # Panics
///
/// When it does not within [`PATIENCE`].
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    eventually(what, || holds().then_some(()));
}
