//! What a `deadheat` that has ended wrote, and its exit status.

use std::{fmt, os::unix::process::ExitStatusExt, process::ExitStatus};

use super::flat;

/// A `deadheat` that has ended.
pub struct Ended {
    pub(super) shown: String,
    pub(super) status: Option<ExitStatus>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Asserts its exit status.
    #[track_caller]
    pub fn exits(self, expected: i32) -> Self {
        assert_eq!(
            self.status_code(),
            Some(expected),
            "the exit status of {self}"
        );
        self.assert_no_panic();
        self
    }

    /// Its exit status; `None` when a signal ended it.
    pub fn status_code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Asserts that its exit status is one of these.
    #[track_caller]
    pub fn exits_one_of(self, expected: &[i32]) -> Self {
        let is_expected = self
            .status_code()
            .is_some_and(|code| expected.contains(&code));
        assert!(
            is_expected,
            "the exit status, one of {expected:?}, of {self}"
        );
        self.assert_no_panic();
        self
    }

    /// Asserts that a signal ended it.
    #[track_caller]
    pub fn was_killed_by(self, signal: i32) -> Self {
        let got = self.status.and_then(|status| status.signal());
        assert_eq!(got, Some(signal), "the signal that ended {self}");
        self
    }

    /// Asserts that standard output has all of these.
    #[track_caller]
    pub fn says(self, fragments: &[&str]) -> Self {
        assert_has(&self.stdout, "standard output", fragments, &self);
        self
    }

    /// Asserts that standard error has all of these.
    #[track_caller]
    pub fn tells(self, fragments: &[&str]) -> Self {
        assert_has(&self.stderr, "standard error", fragments, &self);
        self
    }

    /// Asserts that nothing went to standard output.
    #[track_caller]
    pub fn has_no_data(self) -> Self {
        assert!(
            self.stdout.is_empty(),
            "standard output should be empty: {self}"
        );
        self
    }

    #[track_caller]
    fn assert_no_panic(&self) {
        assert!(!self.stderr.contains("panicked at"), "a panic in {self}");
    }
}

#[track_caller]
fn assert_has(text: &str, name: &str, fragments: &[&str], ended: &Ended) {
    let text = flat(text);
    for fragment in fragments {
        assert!(
            text.contains(&flat(fragment)),
            "{name} lacks {fragment:?}: {ended}"
        );
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shown,
            status,
            stdout,
            stderr,
        } = self;
        write!(
            f,
            "{shown}: {status:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        )
    }
}
