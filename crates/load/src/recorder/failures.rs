//! Failures: counted by kind, phase and cause, the first few of each kind kept verbatim.

use std::io;

use deadheat_model::{
    Failure,
    failure::FailurePhase,
    observation::{FailureExample, FailureGroup},
};
use rustix::io::Errno;

/// Failures of each kind that a worker keeps verbatim.
const EXAMPLES_OF_A_KIND: u8 = 3;
/// Groups that are told apart; what comes after them is counted by kind and phase alone.
const GROUPS: usize = 64;

/// What made a request fail: cheap to copy and compare, formatted at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The operating system's error.
    System(Errno),
    /// The parser's or the generator's reason.
    Why(&'static str),
    /// The answer's status.
    Status(u16),
    /// One of too many to tell apart.
    Other,
}

impl Cause {
    fn describe(self) -> String {
        match self {
            Cause::System(errno) => io::Error::from(errno).to_string(),
            Cause::Why(why) => why.to_owned(),
            Cause::Status(status) => format!("status {status}"),
            Cause::Other => "other causes".to_owned(),
        }
    }
}

/// What failed, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Failure,
    pub(crate) phase: FailurePhase,
    pub(crate) cause: Cause,
}

/// The first few failures of each kind. Only they are ever formatted.
#[derive(Debug, Default)]
pub(crate) struct Examples {
    kept: Vec<FailureExample>,
    seen: [u8; Failure::ALL.len()],
}

impl Examples {
    /// Whether another example of `kind` would be kept.
    #[inline]
    pub(crate) fn wants(&self, kind: Failure) -> bool {
        self.seen[kind as usize] < EXAMPLES_OF_A_KIND
    }

    /// Keeps an example, if one of its kind is wanted.
    pub(crate) fn keep(&mut self, kind: Failure, detail: impl FnOnce() -> String) {
        if self.wants(kind) {
            self.seen[kind as usize] += 1;
            let detail = detail();
            self.kept.push(FailureExample { kind, detail });
        }
    }

    pub(crate) fn into_kept(self) -> Vec<FailureExample> {
        self.kept
    }
}

/// Failures by kind, phase and cause.
#[derive(Debug)]
pub(crate) struct FailureGroups(Vec<Group>);

#[derive(Debug)]
struct Group {
    fault: Fault,
    measured: u64,
    total: u64,
}

impl FailureGroups {
    pub(crate) fn new() -> Self {
        // And one for each kind in each phase, for what is not told apart.
        Self(Vec::with_capacity(GROUPS + 32))
    }

    /// Counts a failure. Looks through the groups: failures are few, or alike.
    pub(crate) fn count(&mut self, fault: Fault, measured: bool) {
        let index = match self.find(fault) {
            Some(index) => index,
            None if self.0.len() < GROUPS => self.add(fault),
            None => {
                let rest = Fault {
                    cause: Cause::Other,
                    ..fault
                };
                self.find(rest).unwrap_or_else(|| self.add(rest))
            }
        };
        self.0[index].total += 1;
        self.0[index].measured += u64::from(measured);
    }

    fn find(&self, fault: Fault) -> Option<usize> {
        self.0.iter().position(|group| group.fault == fault)
    }

    fn add(&mut self, fault: Fault) -> usize {
        self.0.push(Group {
            fault,
            measured: 0,
            total: 0,
        });
        self.0.len() - 1
    }

    pub(crate) fn describe(&self) -> Vec<FailureGroup> {
        let group = |group: &Group| FailureGroup {
            kind: group.fault.kind,
            phase: group.fault.phase,
            cause: group.fault.cause.describe(),
            measured: group.measured,
            total: group.total,
        };
        self.0.iter().map(group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_examples_are_formatted() {
        let mut examples = Examples::default();
        for _ in 0..3 {
            examples.keep(Failure::Reset, || "first".to_owned());
        }
        examples.keep(Failure::Reset, || unreachable!("a fourth is not kept"));
        examples.keep(Failure::Timeout, || "another kind".to_owned());
        assert_eq!(examples.into_kept().len(), 4);
    }

    #[test]
    fn alike_failures_are_one_group_and_too_many_groups_are_joined() {
        let fault = |status| Fault {
            kind: Failure::WrongStatus,
            phase: FailurePhase::Body,
            cause: Cause::Status(status),
        };
        let mut groups = FailureGroups::new();
        for status in 500..600 {
            groups.count(fault(status), status % 2 == 0);
            groups.count(fault(status), false);
        }
        let described = groups.describe();
        assert_eq!(described.len(), GROUPS + 1);
        assert_eq!((described[0].total, described[0].measured), (2, 1));
        assert_eq!(described[0].cause, "status 500");
        assert_eq!(described.iter().map(|group| group.total).sum::<u64>(), 200);
        assert_eq!(described[GROUPS].cause, "other causes");
    }
}
