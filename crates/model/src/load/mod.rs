//! What to load and how: the input of the load generator. `Schedule`, `StopRule` and `Protocol` are values.

mod exchange;
mod expectation;
mod schedule;
mod target;
pub mod words;

use std::{collections::BTreeMap, num::NonZeroU32, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bytes::Bytes;
pub use exchange::{Body, Exchange, HiddenParts, ListSize, RequestSpec};
pub use expectation::{
    Content, Expectation, REDIRECTS, StatusSet, Stream, StreamEvent, gunzip, member,
};
pub use schedule::{Arrivals, Schedule, Stage, Think};
pub use target::{
    Endpoint, HttpVersion, Identity, Login, Protocol, Proxy, ProxyKind, Reuse, Target, Tls,
    TlsVersion, Trust,
};

/// One load. It is a plain value that can be sent to another thread, process or host, including the client's private
/// key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadSpec {
    /// The server to connect to.
    pub target: Target,
    /// Further targets. Connections are divided among all targets in proportion to the weights of their exchanges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Target>,
    /// The protocol of the requests.
    pub protocol: Protocol,
    /// The maximum number of requests on a connection; the last one announces its end. `None`: as many as the server
    /// allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_per_connection: Option<NonZeroU32>,
    /// Requests with their expected answers, at least one. Each connection sends them in turn, in proportion to their
    /// weights.
    pub exchanges: Vec<Exchange>,
    /// The lists of lines that templates choose from, by name.
    pub lists: BTreeMap<String, Vec<String>>,
    /// What was removed from the requests and lists of a recorded load, which cannot be run; `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<HiddenParts>,
    /// When requests are sent.
    pub schedule: Schedule,
    /// Closed loop: how long a connection waits between an answer and its next request; `None`: it does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// When the load ends.
    pub stop: StopRule,
    /// The maximum length of the measurement, whatever `stop` says; `None`: no maximum.
    #[serde(
        default,
        with = "crate::seconds::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub limit: Option<Duration>,
    /// The length of the load before the measurement, which does not count.
    #[serde(with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub warm_up: Duration,
    /// Limits on waiting.
    pub timeouts: Timeouts,
    /// The content of one answer in this many is compared, for each exchange (1: all answers, 0: no answer). Status and
    /// length are always compared.
    pub content_sample: u32,
    /// The seed of random arrivals and templates.
    pub seed: u64,
    /// The maximum number of redirects in a row for one request, on the same origin; 0: redirects are final answers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redirects: u32,
    /// Whether each connection represents a user that keeps cookies, even if the connection is opened again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cookies: bool,
    /// The part of the load that this generator sends.
    #[serde(default, skip_serializing_if = "Share::is_whole")]
    #[schemars(skip)]
    pub share: Share,
    /// The CPUs of the worker threads, one pinned thread each; empty: `threads` workers that are not pinned.
    pub cpus: Vec<usize>,
    /// The number of worker threads if they are not pinned, at least 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: u32,
    /// How a closed loop's workers wait for answers.
    pub wait: Wait,
    /// The width of the bins of the time series.
    #[serde(with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub bin: Duration,
    /// The length of the intervals that the load reports, with histograms; `None`: it reports no intervals.
    #[serde(default, with = "crate::seconds::option")]
    #[schemars(schema_with = "crate::seconds::option::schema")]
    pub interval: Option<Duration>,
    /// Whether the time to the first byte of answers is recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_byte: bool,
    /// How answers are divided into events; `None`: they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
    /// The user's labels for this load. Reports show them, and nothing depends on them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl LoadSpec {
    /// A load over HTTP/1.1 with keep-alive, without warm-up, intervals and pinning. The content of each answer is
    /// compared.
    pub fn new(
        target: Target,
        exchanges: Vec<Exchange>,
        schedule: Schedule,
        stop: StopRule,
    ) -> Self {
        Self {
            target,
            others: Vec::new(),
            protocol: Protocol::HTTP_1_1,
            most_per_connection: None,
            exchanges,
            lists: BTreeMap::new(),
            hidden: None,
            schedule,
            think: None,
            stop,
            limit: None,
            warm_up: Duration::ZERO,
            timeouts: Timeouts::default(),
            content_sample: 1,
            seed: 0,
            redirects: 0,
            cookies: false,
            share: Share::WHOLE,
            cpus: Vec::new(),
            threads: 1,
            wait: Wait::default(),
            bin: Duration::from_millis(500),
            interval: None,
            first_byte: false,
            stream: None,
            labels: BTreeMap::new(),
        }
    }

    /// The CPU of each worker thread; `None`: the thread is not pinned.
    pub fn workers(&self) -> Vec<Option<usize>> {
        match self.cpus.as_slice() {
            [] => vec![None; self.threads.max(1) as usize],
            cpus => cpus.iter().copied().map(Some).collect(),
        }
    }
}

const fn one() -> u32 {
    1
}

/// Whether there is one thread. Serde passes a reference.
fn is_one(threads: &u32) -> bool {
    *threads == 1
}

impl LoadSpec {
    /// All targets, in the order of [`Exchange::target`].
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        std::iter::once(&self.target).chain(&self.others)
    }

    /// All addresses of all targets, each with its target.
    pub fn routes(&self) -> impl Iterator<Item = (&Target, Endpoint)> {
        self.targets()
            .flat_map(|target| target.endpoints().map(move |endpoint| (target, endpoint)))
    }
}

/// Whether a number is 0 and therefore not recorded.
pub(crate) fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// How the workers of a closed loop wait for answers. An open loop sleeps, and wakes shortly before a request is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// The worker sleeps. A server on the same machine pays for waking it.
    #[default]
    Sleep,
    /// The worker polls. It uses its whole CPU while a request is in flight, so it needs a CPU to itself.
    Poll,
}

/// When the load ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "after")]
pub enum StopRule {
    /// When the measurement (after the warm-up) has lasted this long.
    Duration {
        /// The measurement's length.
        #[serde(with = "crate::seconds")]
        #[schemars(schema_with = "crate::seconds::schema")]
        length: Duration,
    },
    /// When exactly this number of requests have been issued after the warm-up and have ended.
    Count {
        /// Requests to issue.
        requests: u64,
    },
    /// When the user stops it.
    Interrupt,
}

/// Limits on waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timeouts {
    /// The maximum time to open a connection.
    #[serde(with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub connect: Duration,
    /// The maximum time from a request's start to the last byte of its answer.
    #[serde(with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub request: Duration,
    /// The drain: the maximum wait at the measurement's end for requests that are in flight, so that the server can
    /// finish its work. Zero: no wait.
    #[serde(with = "crate::seconds", rename = "cool_down")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            request: Duration::from_secs(30),
            drain: Duration::from_secs(5),
        }
    }
}

/// The part of a load that one of several generators sends. Arrivals, connections and requests of templates are
/// numbered from 0. The part has every `of`-th of them from `index` on. All parts together are the whole load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(u32, u32)", into = "(u32, u32)")]
pub struct Share {
    index: u32,
    of: u32,
}

impl Share {
    /// The whole load.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Part `index` of `of`; `None`: there is no such part.
    pub fn new(index: u32, of: u32) -> Option<Self> {
        (index < of).then_some(Self { index, of })
    }

    /// Whether it is the whole load.
    pub fn is_whole(&self) -> bool {
        self.of == 1
    }

    /// The number of generators that share the load.
    pub fn count(self) -> u32 {
        self.of
    }

    /// The number of things in this part, of `total` things in the whole load.
    pub fn part(self, total: u64) -> u64 {
        let (index, of) = (u64::from(self.index), u64::from(self.of));
        total / of + u64::from(index < total % of)
    }

    /// The number, in the whole load, of the thing that has the number `own` in this part.
    #[inline]
    pub fn number(self, own: u64) -> u64 {
        own.wrapping_mul(u64::from(self.of))
            .wrapping_add(u64::from(self.index))
    }
}

impl Default for Share {
    fn default() -> Self {
        Self::WHOLE
    }
}

/// The error for a part that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("part {index} of {of} does not exist")]
pub struct NoSuchPart {
    index: u32,
    of: u32,
}

impl TryFrom<(u32, u32)> for Share {
    type Error = NoSuchPart;

    fn try_from((index, of): (u32, u32)) -> Result<Self, NoSuchPart> {
        Self::new(index, of).ok_or(NoSuchPart { index, of })
    }
}

impl From<Share> for (u32, u32) {
    fn from(share: Share) -> Self {
        (share.index, share.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_whole_and_nothing_is_in_two() {
        for (total, of) in [(0, 1), (1, 3), (10, 3), (12, 4), (2, 5)] {
            let mut numbers = Vec::new();
            for index in 0..of {
                let share = Share::new(index, of).unwrap();
                numbers.extend((0..share.part(total)).map(|own| share.number(own)));
            }
            numbers.sort_unstable();
            assert_eq!(numbers, (0..total).collect::<Vec<u64>>());
        }
        assert_eq!(Share::new(3, 3), None);
        assert!(serde_json::from_str::<Share>("[2,2]").is_err());
        assert!(serde_json::from_str::<Share>("[0,0]").is_err());
    }
}
