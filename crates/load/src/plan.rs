//! The spec, checked and resolved into what the workers need.

mod checks;

use std::{fs, net::IpAddr, sync::Arc, time::Duration};

use deadheat_model::{
    Wait,
    load::{
        Exchange, HttpVersion, LoadSpec, Protocol, RequestSpec, Reuse, Schedule, Share, StatusSet,
        StopRule, Stream, Target, Timeouts,
    },
};

use crate::{
    LoadError,
    browser::Browsing,
    http1::{EncodedRequest, RequestFormat},
    http2, random,
    routes::{RouteChoice, Routes},
    schedule::{ArrivalQueue, Arrivals, Quota, Thinking, first_send},
    sys,
    template::{Choice, Counter, Lists},
    tunnel,
};

pub(crate) use self::checks::Http2;
use checks::{check_bounds, check_browsing, must_raise};

/// File descriptors of a worker apart from its connections: its epoll, and a reserve.
const DESCRIPTORS_OF_A_WORKER: u64 = 4;
/// The most sockets of a worker that stay open after their last answer.
const MAX_LINGERING: usize = 1_024;
/// The most draining connections of a worker, and the most for each connection of the load. A draining connection takes
/// no new requests but still has open ones.
const MAX_ASIDE: usize = 64;
const ASIDE_FOR_EACH: usize = 4;

/// An exchange, ready to be sent and judged.
#[derive(Debug)]
pub(crate) struct PreparedExchange {
    pub(crate) exchange: Exchange,
    request: EncodedRequest,
    /// The request in the form that is last on its connection; `None` if connections are not limited in requests.
    last_request: Option<EncodedRequest>,
    pub(crate) statuses: StatusMap,
}

/// What all workers share.
#[derive(Debug)]
pub(crate) struct Plan {
    targets: Vec<Target>,
    /// The routes of connections to servers.
    pub(crate) routes: Routes,
    pub(crate) exchanges: Vec<PreparedExchange>,
    /// What HTTP/2 needs; `None` in HTTP/1.
    pub(crate) http2: Option<Http2>,
    /// The most requests on a connection.
    pub(crate) most_per_connection: u64,
    /// Requests on a connection before the first of them is answered.
    pub(crate) pipeline: usize,
    /// Whether a connection composes the bytes of its requests: several are in flight at once, or each differs.
    pub(crate) composes: bool,
    /// Redirects and cookies; `None` if the load asks for neither.
    pub(crate) browsing: Option<Browsing>,
    lists: Lists,
    counter: Counter,
    seed: u64,
    share: Share,
    /// Whether each request has a connection of its own.
    pub(crate) per_request: bool,
    /// Connections of this generator at the start.
    pub(crate) connections: u32,
    /// Connections at the start, over all generators.
    all_connections: u32,
    /// The most connections of this generator.
    pub(crate) most_connections: u32,
    ramp: Duration,
    /// How long connections wait between an answer and their next request, if they do.
    pub(crate) thinking: Option<Thinking>,
    /// The intended starts of an open loop that begins with the spec's warm-up; `None` in a closed loop.
    pub(crate) arrivals: Option<Arrivals>,
    /// The arrivals that workers have taken.
    pub(crate) taking: ArrivalQueue,
    pub(crate) warm_up: Duration,
    pub(crate) stop: StopRule,
    limit: Option<Duration>,
    /// Whether a number of requests ends the load.
    pub(crate) is_counted: bool,
    pub(crate) quota: Quota,
    pub(crate) timeouts: Timeouts,
    pub(crate) content_sample: u32,
    /// How workers wait for answers.
    pub(crate) wait: Wait,
    pub(crate) bin: Duration,
    pub(crate) interval: Option<Duration>,
    /// Whether first bytes are recorded.
    pub(crate) first_byte: bool,
    /// How answers are split into events; `None`: events are not counted.
    pub(crate) stream: Option<Stream>,
    /// The group of each exchange; empty if there are no groups.
    pub(crate) groups: Arc<[Option<u32>]>,
    /// Whether times of requests are recorded that begin in the measurement and end after it.
    pub(crate) to_their_end: bool,
    /// The CPU of each worker.
    pub(crate) cpus: Vec<Option<usize>>,
}

impl Plan {
    pub(crate) fn new(spec: &LoadSpec) -> Result<Self, LoadError> {
        check_bounds(spec)?;
        // Requests of HTTP/2 keep to the rules of HTTP/1.1's, and to more.
        let (version, reuse, pipeline) = match spec.protocol {
            Protocol::Http1 {
                version,
                reuse,
                pipeline,
            } => (version, reuse, pipeline),
            Protocol::Http2 { .. } => (HttpVersion::Http11, Reuse::KeepAlive, 1),
        };
        let routes = Routes::new(spec)?;
        let targets: Vec<Target> = spec.targets().cloned().collect();
        let lists = Lists::new(&spec.lists);
        // Through a tunnel, requests are what they are without a proxy.
        let authorizations: Vec<Option<Option<String>>> = targets
            .iter()
            .map(|target| {
                let proxy = target.forwarding_proxy()?;
                Some(proxy.login.as_ref().map(tunnel::authorization))
            })
            .collect();
        let prepare = |(index, exchange): (usize, &Exchange)| {
            let format = RequestFormat {
                version,
                reuse,
                // All targets that exchanges go to are there, or there would be no routes.
                authority: &targets[exchange.target].authority,
                proxy: authorizations[exchange.target]
                    .as_ref()
                    .map(Option::as_deref),
            };
            let encoded = |request: &RequestSpec, format| {
                EncodedRequest::new(request, format, &lists)
                    .map_err(|problem| LoadError::BadRequest { index, problem })
            };
            let last_request = spec.most_per_connection.map(|_| {
                let format = RequestFormat {
                    reuse: Reuse::PerRequest,
                    ..format
                };
                encoded(&without_connection(&exchange.request), format)
            });
            Ok(PreparedExchange {
                exchange: exchange.clone(),
                request: encoded(&exchange.request, format)?,
                last_request: last_request.transpose()?,
                statuses: StatusMap::new(&exchange.expect.status),
            })
        };
        let exchanges = spec.exchanges.iter().enumerate().map(prepare);
        let exchanges: Vec<PreparedExchange> = exchanges.collect::<Result<_, LoadError>>()?;
        let http2 = Http2::new(spec, &targets, &lists)?;
        if pipeline > 1
            && exchanges
                .iter()
                .any(|prepared| prepared.request.hold_at.is_some())
        {
            return Err(LoadError::Pipeline {
                problem: "a request that waits for 100 Continue lets nothing follow it".to_owned(),
            });
        }
        let browsing = Browsing::new(spec);
        if browsing.is_some() {
            check_browsing(pipeline, spec, &exchanges)?;
        }
        let (arrivals, ramp) = match &spec.schedule {
            Schedule::Closed { ramp, .. } => (None, *ramp),
            Schedule::Open {
                arrivals, stages, ..
            } => {
                let arrivals =
                    Arrivals::new(*arrivals, spec.seed, spec.share, spec.warm_up, stages)
                        .map_err(|problem| LoadError::BadSchedule { problem })?;
                let arrivals =
                    match spec.stop {
                        StopRule::Count { requests } => arrivals
                            .ending_after(spec.warm_up, requests)
                            .map_err(|problem| LoadError::BadSchedule { problem })?,
                        StopRule::Duration { .. } | StopRule::Interrupt => arrivals,
                    };
                (Some(arrivals), Duration::ZERO)
            }
        };
        let composes = pipeline > 1
            || browsing.is_some()
            || exchanges
                .iter()
                .any(|prepared| prepared.request.fixed().is_none());
        let at_start = match &spec.schedule {
            Schedule::Closed { connections, .. } => *connections,
            // No connection is kept.
            Schedule::Open { .. } if reuse == Reuse::PerRequest => 0,
            Schedule::Open { connections, .. } => *connections,
        };
        let quota = match (spec.stop, &arrivals) {
            (StopRule::Duration { .. } | StopRule::Interrupt, _) => Quota::Unlimited,
            (StopRule::Count { requests }, None) => Quota::new(spec.share.part(requests)),
            (StopRule::Count { .. }, Some(arrivals)) => {
                Quota::new(arrivals.end() - arrivals.due_before(spec.warm_up))
            }
        };
        let own = |connections: u32| spec.share.part(connections.into()) as u32;
        Ok(Self {
            targets,
            routes,
            exchanges,
            http2,
            most_per_connection: spec
                .most_per_connection
                .map_or(u64::MAX, |most| most.get().into()),
            pipeline: pipeline as usize,
            composes,
            browsing,
            lists,
            counter: Counter::default(),
            seed: spec.seed,
            share: spec.share,
            per_request: reuse == Reuse::PerRequest,
            connections: own(at_start),
            all_connections: at_start,
            most_connections: own(spec.schedule.most_connections()),
            ramp,
            thinking: spec.think.map(|think| Thinking::new(think, spec.seed)),
            taking: match arrivals {
                Some(_) => ArrivalQueue::new(spec.workers().len(), own(at_start)),
                None => ArrivalQueue::new(0, 0),
            }
            .map_err(|source| LoadError::Poll { worker: 0, source })?,
            arrivals,
            warm_up: spec.warm_up,
            stop: spec.stop,
            limit: spec.limit,
            is_counted: matches!(spec.stop, StopRule::Count { .. }),
            quota,
            timeouts: spec.timeouts,
            content_sample: spec.content_sample,
            wait: spec.wait,
            bin: spec.bin,
            interval: spec.interval,
            first_byte: spec.first_byte,
            stream: spec.stream,
            groups: groups(&spec.exchanges),
            to_their_end: false,
            cpus: spec.workers(),
        })
    }

    /// The encoded request of exchange `exchange`; `is_last`: nothing follows it on its connection.
    #[inline]
    pub(crate) fn request(&self, exchange: u32, is_last: bool) -> &EncodedRequest {
        let prepared = &self.exchanges[exchange as usize];
        match &prepared.last_request {
            Some(last_request) if is_last => last_request,
            _ => &prepared.request,
        }
    }

    /// The request of an exchange in HTTP/2.
    #[inline]
    pub(crate) fn streamed(&self, exchange: u32) -> &http2::Request {
        match &self.http2 {
            Some(http2) => &http2.requests[exchange as usize],
            None => unreachable!("only dialogues in HTTP/2 ask for it"),
        }
    }

    /// Appends the header block of an exchange's HTTP/2 request to `block`, and a body from a template to `own`.
    /// `count` is the request's own [`Self::next_count`]. Returns the body's length in bytes.
    #[inline]
    pub(crate) fn stream_out(
        &self,
        exchange: u32,
        count: u64,
        block: &mut Vec<u8>,
        own: &mut Vec<u8>,
    ) -> usize {
        let request = self.streamed(exchange);
        request.append(|| self.choice(count), &self.lists, block, own)
    }

    /// The number of the exchange's next request, among those of all generators that are from templates; 0 if the
    /// exchange has no template.
    #[inline]
    pub(crate) fn next_count(&self, exchange: u32) -> u64 {
        if self.exchanges[exchange as usize].exchange.request.template {
            self.share.number(self.counter.next())
        } else {
            0
        }
    }

    /// The values for the request from a template with this number: the same, however often it is sent.
    fn choice(&self, count: u64) -> Choice {
        Choice {
            count,
            seed: self.seed,
        }
    }

    /// The most requests in flight on a connection.
    pub(crate) fn depth(&self) -> usize {
        self.http2
            .as_ref()
            .map_or(self.pipeline, |http2| http2.streams)
    }

    /// Appends the bytes of an HTTP/1 request. `count` is its own [`Self::next_count`].
    #[inline]
    pub(crate) fn compose(
        &self,
        exchange: u32,
        is_last: bool,
        count: u64,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) {
        let request = self.request(exchange, is_last);
        request.append(|| self.choice(count), &self.lists, scratch, out);
    }

    /// The intended starts of an open loop in slice `slice` of a session with the spec's `schedule`. The guard has the
    /// first stage's first rate. Random ones differ from slice to slice, and are the same in each session of the same
    /// seed.
    pub(crate) fn arrivals_of_slice(
        &self,
        schedule: &Schedule,
        slice: u64,
        guard: Duration,
    ) -> Option<Arrivals> {
        let Schedule::Open {
            arrivals, stages, ..
        } = schedule
        else {
            return None;
        };
        let seed = match slice {
            0 => self.seed,
            _ => random::number(self.seed, slice),
        };
        // The stages were accepted when the plan was made.
        Arrivals::new(*arrivals, seed, self.share, guard, stages).ok()
    }

    /// The route of connection `index`.
    pub(crate) fn place(&self, index: u32) -> RouteChoice {
        self.routes.place(self.share.number(index.into()))
    }

    /// Whether later connections on `route` resume TLS sessions of earlier ones.
    pub(crate) fn resumes(&self, route: u32) -> bool {
        let tls = self.target_of(route).tls.as_ref();
        tls.is_some_and(|tls| tls.resumption)
    }

    fn target_of(&self, route: u32) -> &Target {
        &self.targets[self.routes.all()[route as usize].target]
    }

    /// The number of connection `index` among those of all generators.
    #[inline]
    pub(crate) fn number_of(&self, index: u32) -> u64 {
        self.share.number(index.into())
    }

    /// When connection `index` sends its first request, in nanoseconds since the load's start.
    pub(crate) fn first_send(&self, index: u32) -> u64 {
        first_send(self.number_of(index), self.all_connections, self.ramp)
    }

    /// The source address of the connection with this route, if one is given.
    pub(crate) fn source(&self, place: RouteChoice) -> Option<IpAddr> {
        match self.target_of(place.route).sources.as_slice() {
            [] => None,
            // Sources take turns, so that each address is reached from each source.
            sources => {
                let turn = place.nth / self.routes.width(place.route);
                Some(sources[(turn % sources.len() as u64) as usize])
            }
        }
    }

    /// The longest duration of the measurement; `None` if it is not bounded.
    pub(crate) fn length(&self) -> Option<Duration> {
        let own = match self.stop {
            StopRule::Duration { length } => Some(length),
            StopRule::Count { .. } | StopRule::Interrupt => None,
        };
        own.into_iter().chain(self.limit).min()
    }

    /// Raises the limit of file descriptors if needed.
    pub(crate) fn ensure_descriptors(&self) -> Result<(), LoadError> {
        let needed = self.descriptors();
        let limit = sys::descriptor_limit();
        // In HTTP/2 a connection that takes no more requests may still be there when the next one is made.
        let more = self.most_aside(self.most_connections as usize) * self.cpus.len();
        let is_tight = needed + more as u64 > limit.soft;
        if must_raise(limit, needed, self.most_connections)? || is_tight {
            sys::raise_descriptor_limit(limit).map_err(|source| LoadError::Descriptors {
                wanted: needed,
                source,
            })?;
        }
        Ok(())
    }

    /// The most draining connections of a worker with this many slots.
    pub(crate) fn most_aside(&self, slots: usize) -> usize {
        match self.http2 {
            Some(_) => MAX_ASIDE.min(ASIDE_FOR_EACH * slots),
            None => 0,
        }
    }

    /// Descriptors that the process needs.
    fn descriptors(&self) -> u64 {
        let open = fs::read_dir("/proc/self/fd").map_or(64, |entries| entries.count() as u64);
        let workers = self.cpus.len() as u64 * DESCRIPTORS_OF_A_WORKER;
        open + workers + u64::from(self.most_connections)
    }

    /// The most sockets that each worker keeps open after their last answer: half of the file descriptors that are left
    /// for it.
    pub(crate) fn lingering(&self) -> usize {
        let left = sys::descriptor_limit()
            .soft
            .saturating_sub(self.descriptors());
        let own = left / 2 / self.cpus.len().max(1) as u64;
        usize::try_from(own).map_or(MAX_LINGERING, |own| own.min(MAX_LINGERING))
    }
}

/// A request without its `Connection` headers.
fn without_connection(request: &RequestSpec) -> RequestSpec {
    let mut request = request.clone();
    let says = |name: &str| name.eq_ignore_ascii_case("connection");
    request.headers.retain(|(name, _)| !says(name));
    request
}

/// A set of status codes, looked up by one bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatusMap(Arc<[u64; 16]>);

impl StatusMap {
    pub(crate) fn new(set: &StatusSet) -> Self {
        let mut bits = [0u64; 16];
        for status in (100..1000u16).filter(|status| set.contains(*status)) {
            bits[usize::from(status / 64)] |= 1 << (status % 64);
        }
        Self(Arc::new(bits))
    }

    #[inline]
    pub(crate) fn contains(&self, status: u16) -> bool {
        let bits = self.0.get(usize::from(status / 64)).copied();
        bits.unwrap_or(0) >> (status % 64) & 1 == 1
    }
}

/// The group of each exchange; empty if there are no groups.
fn groups(exchanges: &[Exchange]) -> Arc<[Option<u32>]> {
    if exchanges.iter().all(|one| one.group.is_none()) {
        return Arc::default();
    }
    exchanges.iter().map(|one| one.group).collect()
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
