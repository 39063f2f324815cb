//! The spec, checked and resolved into what the workers need.

use std::{fs, net::SocketAddr, time::Duration};

use deadheat_model::load::{Endpoint, Exchange, LoadSpec, Protocol, Schedule, StopRule, Timeouts};

use crate::{
    LoadError,
    http1::EncodedRequest,
    schedule::Quota,
    sys::{self, DescriptorLimit},
};

/// The narrowest bins.
const LEAST_BIN: Duration = Duration::from_millis(1);
/// Descriptors of a worker besides its connections: its epoll, and room.
const DESCRIPTORS_OF_A_WORKER: u64 = 4;

/// What all workers share.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) exchanges: Vec<&'a Exchange>,
    pub(crate) requests: Vec<EncodedRequest>,
    pub(crate) connections: u32,
    pub(crate) ramp: Duration,
    pub(crate) warm_up: Duration,
    pub(crate) stop: StopRule,
    pub(crate) quota: Quota,
    pub(crate) timeouts: Timeouts,
    pub(crate) content_sample: u32,
    pub(crate) bin: Duration,
    /// The CPU of each worker.
    pub(crate) cpus: Vec<Option<usize>>,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(spec: &'a LoadSpec) -> Result<Self, LoadError> {
        let Schedule::Closed { connections, ramp } = spec.schedule else {
            todo!("open loops")
        };
        let Endpoint::Tcp { address } = spec.target.endpoint else {
            todo!("unix sockets")
        };
        if spec.exchanges.is_empty() {
            return Err(LoadError::NoExchanges);
        }
        if connections == 0 {
            return Err(LoadError::NoConnections);
        }
        if spec.bin < LEAST_BIN {
            let (bin, least) = (spec.bin, LEAST_BIN);
            return Err(LoadError::NarrowBins { bin, least });
        }
        let Timeouts {
            connect, request, ..
        } = spec.timeouts;
        for (which, timeout) in [("connect", connect), ("request", request)] {
            if timeout.is_zero() {
                return Err(LoadError::ZeroTimeout { which });
            }
        }
        let encode = |(index, exchange): (usize, &Exchange)| match spec.protocol {
            Protocol::Http1 { .. } => EncodedRequest::new(&exchange.request, address)
                .map_err(|problem| LoadError::BadRequest { index, problem }),
        };
        let requests = spec.exchanges.iter().enumerate().map(encode);
        let cpus = match spec.cpus.as_slice() {
            [] => vec![None],
            cpus => cpus.iter().copied().map(Some).collect(),
        };
        Ok(Self {
            address,
            exchanges: spec.exchanges.iter().collect(),
            requests: requests.collect::<Result<_, _>>()?,
            connections,
            ramp,
            warm_up: spec.warm_up,
            stop: spec.stop,
            quota: Quota::new(spec.stop),
            timeouts: spec.timeouts,
            content_sample: spec.content_sample,
            bin: spec.bin,
            cpus,
        })
    }

    /// The measurement's length, if it is known.
    pub(crate) fn length(&self) -> Option<Duration> {
        match self.stop {
            StopRule::Duration { length } => Some(length),
            StopRule::Count { .. } | StopRule::Interrupt => None,
        }
    }

    /// Raises the limit of file descriptors where that is needed and possible.
    pub(crate) fn ensure_descriptors(&self) -> Result<(), LoadError> {
        let open = fs::read_dir("/proc/self/fd").map_or(64, |entries| entries.count() as u64);
        let workers = self.cpus.len() as u64 * DESCRIPTORS_OF_A_WORKER;
        let needed = open + workers + u64::from(self.connections);
        let failed = |source| LoadError::Descriptors {
            wanted: needed,
            source,
        };
        let limit = sys::descriptor_limit().map_err(failed)?;
        if must_raise(limit, needed, self.connections)? {
            sys::raise_descriptor_limit(limit).map_err(failed)?;
        }
        Ok(())
    }
}

fn must_raise(limit: DescriptorLimit, needed: u64, connections: u32) -> Result<bool, LoadError> {
    if needed > limit.hard {
        return Err(LoadError::TooFewDescriptors {
            connections,
            needed,
            limit: limit.hard,
        });
    }
    Ok(needed > limit.soft)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::load::{Expectation, RequestSpec, StatusSet, Target};

    fn spec() -> LoadSpec {
        let expect = Expectation {
            status: StatusSet::just(200),
            length: None,
            content: None,
        };
        let schedule = Schedule::Closed {
            connections: 3,
            ramp: Duration::ZERO,
        };
        LoadSpec::new(
            Target::plain("127.0.0.1:1".parse().unwrap()),
            vec![Exchange::new(RequestSpec::get("/"), expect)],
            schedule,
            StopRule::Count { requests: 1 },
        )
    }

    fn refusal(change: impl FnOnce(&mut LoadSpec)) -> LoadError {
        let mut spec = spec();
        change(&mut spec);
        Plan::new(&spec).expect_err("a refusal")
    }

    #[test]
    fn what_cannot_work_is_refused() {
        assert!(Plan::new(&spec()).is_ok());
        assert!(matches!(
            refusal(|spec| spec.exchanges.clear()),
            LoadError::NoExchanges
        ));
        let none = Schedule::Closed {
            connections: 0,
            ramp: Duration::ZERO,
        };
        assert!(matches!(
            refusal(|spec| spec.schedule = none),
            LoadError::NoConnections
        ));
        assert!(matches!(
            refusal(|spec| spec.bin = Duration::from_micros(1)),
            LoadError::NarrowBins { .. }
        ));
        assert!(matches!(
            refusal(|spec| spec.timeouts.request = Duration::ZERO),
            LoadError::ZeroTimeout { which: "request" }
        ));
        let bad = refusal(|spec| spec.exchanges[0].request.path = "/a b".to_owned());
        assert!(
            bad.to_string().starts_with("request 0 cannot be sent: "),
            "{bad}"
        );
    }

    #[test]
    fn no_cpus_means_one_worker_that_is_not_pinned() {
        let mut spec = spec();
        assert_eq!(Plan::new(&spec).unwrap().cpus, [None]);
        spec.cpus = vec![1, 0];
        assert_eq!(Plan::new(&spec).unwrap().cpus, [Some(1), Some(0)]);
    }

    #[test]
    fn the_descriptor_limit_is_raised_only_where_needed() {
        let limit = DescriptorLimit {
            soft: 100,
            hard: 1_000,
        };
        assert!(!must_raise(limit, 100, 90).unwrap());
        assert!(must_raise(limit, 101, 90).unwrap());
        let error = must_raise(limit, 1_001, 990).unwrap_err().to_string();
        assert!(
            error.contains("990 connections") && error.contains("ulimit -n 1001"),
            "{error}"
        );
    }
}
