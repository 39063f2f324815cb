//! HTTP on a connection, from the client's side: requests in flight, bytes to be written, and answers. The worker
//! drives it; it knows no socket, no clock and no counter. In HTTP/1 answers arrive in the order of their requests;
//! HTTP/2 is in [`multiplex`].

mod multiplex;

use deadheat_model::observation::CookiesSeen;

use crate::{
    browser::{Browser, Browsing},
    http1::{AnswerReader, Malformed},
    plan::{Http2, Plan},
    recorder::Examples,
    stream::EventCounter,
    verify::{AnswerSoFar, Contents, Examiner},
};

// Users of an HTTP connection get all that they need of the protocol from here.
pub(crate) use crate::{
    browser::RedirectOutcome,
    http1::{AnswerProgress, Ending, FeedOutcome, Heads, NOT_HTTP},
    http2::Phase,
};
pub(crate) use multiplex::RequestProgress;

use multiplex::Multiplex;

/// A request in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// The intended start; in a closed loop, the actual start.
    pub(crate) intended: u64,
    /// When it was first written.
    pub(crate) started: u64,
    /// The index of its exchange.
    pub(crate) exchange: u32,
    /// Whether it is the last on its connection.
    pub(crate) is_last: bool,
    /// Its number among the requests from templates. If it is sent again, its placeholders keep their values.
    pub(crate) count: u64,
}

/// A queue of the requests in flight, in the order of their answers.
#[derive(Debug)]
struct InFlightQueue {
    ring: Box<[InFlight]>,
    first: usize,
    count: usize,
}

impl InFlightQueue {
    fn new(most: usize) -> Self {
        Self {
            ring: vec![InFlight::default(); most.max(1)].into_boxed_slice(),
            first: 0,
            count: 0,
        }
    }

    #[inline]
    fn len(&self) -> usize {
        self.count
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.count == self.ring.len()
    }

    #[inline]
    fn first(&self) -> Option<InFlight> {
        (self.count > 0).then(|| self.ring[self.first])
    }

    /// Adds one behind the others. There must be room.
    #[inline]
    fn push(&mut self, flight: InFlight) {
        debug_assert!(!self.is_full());
        let mut at = self.first + self.count;
        if at >= self.ring.len() {
            at -= self.ring.len();
        }
        self.ring[at] = flight;
        self.count += 1;
    }

    /// Takes the first one away.
    #[inline]
    fn pop(&mut self) -> Option<InFlight> {
        let first = self.first()?;
        self.count -= 1;
        self.first += 1;
        if self.first == self.ring.len() {
            self.first = 0;
        }
        Some(first)
    }

    /// Sets whether the `nth` request (from 0) is the last on its connection, and returns it.
    fn set_last(&mut self, nth: usize, is_last: bool) -> Option<InFlight> {
        let at = (self.first + nth) % self.ring.len();
        let flight = (nth < self.count).then(|| &mut self.ring[at])?;
        flight.is_last = is_last;
        Some(*flight)
    }

    fn iter(&self) -> impl Iterator<Item = InFlight> {
        (0..self.count).map(|nth| self.ring[(self.first + nth) % self.ring.len()])
    }
}

/// The requests and answers of a connection slot. A reconnect reuses the buffers.
#[derive(Debug)]
pub(crate) struct HttpConnection {
    flights: InFlightQueue,
    reader: AnswerReader,
    /// The state of the current answer.
    pub(crate) answer: AnswerSoFar,
    /// The bytes of requests, if they are composed here; empty if the plan's bytes are sent as they are.
    composed: Vec<u8>,
    /// Number of bytes written so far.
    written: usize,
    /// Whether the rest of the request waits for the server's 100 Continue.
    holding: bool,
    /// Follows redirects and keeps cookies, if the load asks for that.
    browser: Option<Box<Browser>>,
    /// The HTTP/2 requests; `None` in HTTP/1. With HTTP/2, the fields for HTTP/1 are empty.
    multiplex: Option<Box<Multiplex>>,
}

/// The rest of a body that is not checked, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IgnoredBody {
    pub(crate) left: u64,
    /// Whether nothing may follow it.
    pub(crate) is_last: bool,
}

impl HttpConnection {
    /// A connection for `most` requests in flight; `browsing`: it follows redirects or keeps cookies.
    pub(crate) fn new(most: usize, browsing: Option<Browsing>) -> Self {
        Self {
            flights: InFlightQueue::new(most),
            browser: browsing.map(Browser::new).map(Box::new),
            reader: AnswerReader::new(),
            answer: AnswerSoFar::new(),
            composed: Vec::new(),
            written: 0,
            holding: false,
            multiplex: None,
        }
    }

    /// An HTTP connection in HTTP/2.
    pub(crate) fn multiplexed(plan: &Http2) -> Self {
        Self {
            multiplex: Some(Box::new(Multiplex::new(plan))),
            ..Self::new(1, None)
        }
    }

    /// Whether answers come in any order.
    #[inline]
    pub(crate) fn is_multiplexed(&self) -> bool {
        self.multiplex.is_some()
    }

    /// Resets the state for a new connection. The requests in flight have to be queued again.
    pub(crate) fn start_over(&mut self) {
        if let Some(multiplex) = &mut self.multiplex {
            return multiplex.start_over();
        }
        self.composed.clear();
        self.written = 0;
        self.holding = false;
    }

    /// Number of requests in flight.
    #[inline]
    pub(crate) fn in_flight(&self) -> usize {
        match &self.multiplex {
            None => self.flights.len(),
            Some(multiplex) => multiplex.in_flight(),
        }
    }

    /// Whether no request is in flight.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        match &self.multiplex {
            None => self.flights.is_empty(),
            Some(multiplex) => multiplex.in_flight() == 0,
        }
    }

    /// Whether another request may be sent. In HTTP/2, `aside` requests of earlier connections count among its streams.
    #[inline]
    pub(crate) fn has_room(&self, aside: usize) -> bool {
        match &self.multiplex {
            None => !self.flights.is_full(),
            Some(multiplex) => multiplex.has_room(aside),
        }
    }

    /// Whether to send more requests now. In HTTP/1, when half of the requests that may be in flight are answered:
    /// whole batches would let the connection run dry, and single requests would cost a system call each. In HTTP/2,
    /// whenever there is room: all answers of a read make a batch.
    #[inline]
    pub(crate) fn wants_more(&self, aside: usize) -> bool {
        match &self.multiplex {
            None => self.flights.is_empty() || self.flights.len() <= self.flights.ring.len() / 2,
            Some(multiplex) => multiplex.has_room(aside),
        }
    }

    /// The request whose answer is next; in HTTP/2, the request whose answer has just ended.
    #[inline]
    pub(crate) fn first(&self) -> Option<InFlight> {
        match &self.multiplex {
            None => self.flights.first(),
            Some(multiplex) => multiplex.ended(),
        }
    }

    /// Removes the request whose answer has ended. HTTP/2 removes any other request if no answer has.
    #[inline]
    pub(crate) fn take_first(&mut self) -> Option<InFlight> {
        match &mut self.multiplex {
            None => self.flights.pop(),
            Some(multiplex) => multiplex.take(),
        }
    }

    /// All requests in flight.
    pub(crate) fn flights(&self) -> impl Iterator<Item = InFlight> {
        let multiplexed = self.multiplex.iter().flat_map(|one| one.flights());
        self.flights.iter().chain(multiplexed)
    }

    /// The request that has been in flight for longest.
    pub(crate) fn oldest(&self) -> Option<InFlight> {
        match &self.multiplex {
            None => self.flights.first(),
            Some(multiplex) => multiplex.flights().min_by_key(|flight| flight.started),
        }
    }

    /// Queues a request to be written. There must be room.
    #[inline]
    pub(crate) fn put(&mut self, flight: InFlight, plan: &Plan, scratch: &mut Vec<u8>) {
        if let Some(multiplex) = &mut self.multiplex {
            return multiplex.put(flight, plan);
        }
        self.flights.push(flight);
        if plan.composes {
            self.compose(flight, plan, scratch);
        } else {
            self.written = 0;
            self.holding = plan
                .request(flight.exchange, flight.is_last)
                .hold_at
                .is_some();
        }
    }

    /// Queues all requests in flight for a new connection; returns how many.
    pub(crate) fn put_again(&mut self, plan: &Plan, scratch: &mut Vec<u8>) -> u64 {
        if let Some(multiplex) = &mut self.multiplex {
            return multiplex.put_again(plan);
        }
        if let Some(browser) = self.browser.as_deref_mut() {
            // A redirected request counts as a new one.
            browser.write(&mut self.composed);
            return 0;
        }
        for nth in 0..self.flights.len() {
            // Another connection may end after another request.
            let is_last = nth as u64 + 1 == plan.most_per_connection;
            if let Some(flight) = self.flights.set_last(nth, is_last) {
                self.compose(flight, plan, scratch);
            }
        }
        self.flights.len() as u64
    }

    fn compose(&mut self, flight: InFlight, plan: &Plan, scratch: &mut Vec<u8>) {
        if self.written == self.composed.len() {
            self.composed.clear();
            self.written = 0;
        }
        let InFlight {
            exchange,
            is_last,
            count,
            ..
        } = flight;
        match self.browser.as_deref_mut() {
            None => plan.compose(exchange, is_last, count, scratch, &mut self.composed),
            Some(browser) => {
                browser.ask(|out| plan.compose(exchange, is_last, count, scratch, out));
                browser.write(&mut self.composed);
            }
        }
    }

    /// Whether the current answer is a redirect, and whether it is followed.
    #[inline]
    pub(crate) fn redirect_outcome(&self) -> RedirectOutcome {
        match &self.browser {
            None => RedirectOutcome::Final,
            Some(browser) => browser.redirect_outcome(),
        }
    }

    /// The location of the redirect, without secrets; empty without a browser.
    pub(crate) fn location(&self) -> String {
        self.browser
            .as_ref()
            .map_or_else(String::new, |one| one.location())
    }

    /// The cookie counts since the last call; `None` if no cookies are kept.
    pub(crate) fn take_cookies(&mut self) -> Option<CookiesSeen> {
        self.browser.as_deref_mut()?.take_seen()
    }

    /// The dial time of the connection that carried the first request in flight, or `dialled`.
    #[inline]
    pub(crate) fn first_dialled(&self, dialled: u64) -> u64 {
        let first = self.browser.as_ref().and_then(|one| one.dialled());
        first.unwrap_or(dialled)
    }

    /// Replaces the answered request by the redirected one. Unsent bytes of the old one are dropped. `dialled` is the
    /// dial time of this connection. If `stays` is false, the next connection sends the request.
    pub(crate) fn go_on(&mut self, dialled: u64, stays: bool) {
        if let Some(browser) = self.browser.as_deref_mut() {
            browser.go_on(dialled);
            self.composed.clear();
            self.written = 0;
            if stays {
                browser.write(&mut self.composed);
            }
        }
    }

    /// The bytes to be written now.
    #[inline]
    pub(crate) fn unwritten<'a>(&'a self, plan: &'a Plan) -> &'a [u8] {
        if let Some(multiplex) = &self.multiplex {
            return multiplex.unwritten();
        }
        let all = self.bytes(plan);
        let until = match self.first() {
            Some(first) if self.holding => {
                let request = plan.request(first.exchange, first.is_last);
                request.hold_at.unwrap_or(all.len())
            }
            _ => all.len(),
        };
        all.get(self.written..until).unwrap_or_default()
    }

    /// Notes that this many more bytes were written.
    #[inline]
    pub(crate) fn wrote(&mut self, count: usize) {
        match &mut self.multiplex {
            None => self.written += count,
            Some(multiplex) => multiplex.wrote(count),
        }
    }

    /// Whether all queued bytes were written.
    #[inline]
    pub(crate) fn has_written(&self, plan: &Plan) -> bool {
        match &self.multiplex {
            None => self.written >= self.bytes(plan).len(),
            Some(multiplex) => multiplex.has_written(),
        }
    }

    #[inline]
    fn bytes<'a>(&'a self, plan: &'a Plan) -> &'a [u8] {
        if plan.composes {
            return &self.composed;
        }
        let first = self.first();
        let fixed = first.and_then(|one| plan.request(one.exchange, one.is_last).fixed());
        fixed.unwrap_or_default()
    }

    /// Whether a body is held back until the server asks for it.
    #[inline]
    pub(crate) fn is_holding(&self) -> bool {
        self.holding
    }

    /// Whether a body is held back and the server has asked for it.
    #[inline]
    pub(crate) fn may_go_on(&self) -> bool {
        self.holding && self.answer.may_continue
    }

    /// Stops holding back the body.
    pub(crate) fn release(&mut self) {
        self.holding = false;
    }

    /// Prepares for the next answer, and returns its request; in HTTP/2, returns the oldest request.
    #[inline]
    pub(crate) fn begin_answer(&mut self, plan: &Plan) -> Option<InFlight> {
        let first = self.oldest()?;
        if self.is_multiplexed() {
            return Some(first);
        }
        self.answer.begin(plan.stream.map(EventCounter::new));
        if let Some(browser) = self.browser.as_deref_mut() {
            browser.begin_answer();
        }
        let request = plan.request(first.exchange, first.is_last);
        self.reader.begin(request.is_head);
        Some(first)
    }

    /// Reads the next bytes from the connection, which answer the request `first`. Returns the outcome, and the number
    /// of body bytes.
    #[inline]
    pub(crate) fn feed(
        &mut self,
        first: InFlight,
        bytes: &[u8],
        plan: &Plan,
        heads: &mut Heads,
        contents: &mut Contents,
        examples: &Examples,
    ) -> (Result<FeedOutcome, Malformed>, u64) {
        let prepared = &plan.exchanges[first.exchange as usize];
        let mut examiner = Examiner {
            answer: &mut self.answer,
            browser: self.browser.as_deref_mut(),
            exchange: first.exchange as usize,
            expect: &prepared.exchange.expect,
            statuses: &prepared.statuses,
            contents,
            examples,
            received: 0,
        };
        let step = self.reader.feed(bytes, heads, &mut examiner);
        let received = examiner.received;
        if let (Some(events), Ok(FeedOutcome::Whole { .. })) = (&mut self.answer.events, &step) {
            events.end();
        }
        (step, received)
    }

    /// The rest of the current body, if its length is known and it is not checked.
    #[inline]
    pub(crate) fn ignored(&self) -> Option<IgnoredBody> {
        let left = self.reader.body_left()?;
        self.answer.ignores_body().then(|| IgnoredBody {
            left,
            is_last: self.flights.len() == 1 || !self.reader.keeps_alive(),
        })
    }

    /// Counts bytes of such a body that were received and dropped.
    #[inline]
    pub(crate) fn dropped(&mut self, bytes: u64) -> FeedOutcome {
        self.answer.dropped(bytes);
        self.reader.skip(bytes)
    }

    /// How much of the answer has arrived.
    #[inline]
    pub(crate) fn progress(&self) -> AnswerProgress {
        match &self.multiplex {
            None => self.reader.progress(),
            Some(multiplex) if multiplex.has_begun() => AnswerProgress::Body,
            Some(_) => AnswerProgress::Nothing,
        }
    }

    /// What the end of the connection means for the answer.
    pub(crate) fn end(&self) -> Ending {
        self.reader.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flights_come_back_in_order() {
        let mut flights = InFlightQueue::new(3);
        let flight = |exchange| InFlight {
            exchange,
            ..InFlight::default()
        };
        assert_eq!((flights.first(), flights.pop()), (None, None));
        let mut expected = 0;
        for exchange in 0..20 {
            if flights.is_full() {
                assert_eq!(flights.pop(), Some(flight(expected)));
                expected += 1;
            }
            flights.push(flight(exchange));
            let all: Vec<u32> = flights.iter().map(|flight| flight.exchange).collect();
            assert_eq!(all, (expected..=exchange).collect::<Vec<u32>>());
        }
        assert_eq!(flights.len(), 3);
        assert_eq!(flights.first(), Some(flight(17)));
    }
}
