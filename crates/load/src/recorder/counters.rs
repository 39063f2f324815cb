//! What a recorder keeps in a form of its own until the report: bytes, the measurement in bins, and failures by kind,
//! phase and cause, the first few of each kind kept verbatim.

use std::{io, time::Duration};

use deadheat_model::{
    Failure,
    failure::FailurePhase,
    observation::{Bin, FailureExample, FailureGroup},
};
use rustix::io::Errno;

use crate::schedule::nanos;

/// Bytes over the whole load so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bytes {
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) body: u64,
    /// Bytes in the bodies of verified answers.
    pub(super) valid: u64,
}

impl Bytes {
    /// The difference to the earlier counts `before`.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            received: self.received - before.received,
            body: self.body - before.body,
            valid: self.valid - before.valid,
        }
    }
}

/// The initial capacity of the series, in bins, if the length of the load is unknown.
const BINS_OF_UNKNOWN_LENGTH: usize = 8 * 1024;
/// Room for a day at the narrowest width; a longer series grows.
const MAX_AT_FIRST: usize = 1 << 27;

/// The measurement in bins of one width: the requests that ended in each.
#[derive(Debug)]
pub(super) struct BinSeries {
    width: Duration,
    width_ns: u64,
    /// When the last bin ends.
    end: u64,
    bins: Vec<Bin>,
}

impl BinSeries {
    pub(super) fn new(width: Duration) -> Self {
        Self {
            width,
            width_ns: nanos(width).max(1),
            end: 0,
            bins: Vec::new(),
        }
    }

    /// Makes room for a measurement of this many nanoseconds, if that is known.
    pub(super) fn reserve(&mut self, length: Option<u64>) {
        let room = length.map_or(BINS_OF_UNKNOWN_LENGTH, |length| {
            length.div_ceil(self.width_ns) as usize + 1
        });
        self.bins.reserve_exact(room.min(MAX_AT_FIRST));
    }

    /// The measurement begins.
    pub(super) fn begin(&mut self, from: u64) {
        self.end = from.saturating_add(self.width_ns);
        self.bins.push(Bin::default());
    }

    /// The bin for a request that ends at `end`, which is never earlier than in the last call.
    #[inline]
    pub(super) fn at(&mut self, end: u64) -> &mut Bin {
        while end >= self.end {
            self.bins.push(Bin::default());
            self.end = self.end.saturating_add(self.width_ns);
        }
        let last = self.bins.len() - 1;
        &mut self.bins[last]
    }

    /// The width of a bin, and the bins of a measurement that took `window`.
    pub(super) fn into_bins(mut self, window: Duration) -> (Duration, Vec<Bin>) {
        let used = |bin: &Bin| *bin != Bin::default();
        let in_use = self.bins.iter().rposition(used).map_or(0, |last| last + 1);
        let bins = window.as_nanos().div_ceil(u128::from(self.width_ns)) as usize;
        // An end exactly on a bin's edge has opened the bin after the last one.
        self.bins.resize(bins.max(in_use), Bin::default());
        (self.width, self.bins)
    }
}

/// Requests in flight and waiting, at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    /// Requests in flight.
    pub(crate) in_flight: u64,
    /// Open loop: requests that wait for a connection.
    pub(crate) waiting: u64,
}

/// Failures of each kind that a worker keeps verbatim.
const EXAMPLES_OF_A_KIND: u8 = 3;
/// The most groups by cause. Failures of further causes are counted by kind and phase alone.
const GROUPS: usize = 64;

/// The cause of a failure. It is cheap to copy and compare, and formatted at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The operating system's error.
    System(Errno),
    /// The parser's or the generator's reason.
    Why(&'static str),
    /// The answer's status.
    Status(u16),
    /// Any cause after the first [`GROUPS`].
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

/// A failure: its kind, the phase of the request, and the cause.
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
        // And one group of other causes for each kind and phase.
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
