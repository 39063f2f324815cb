//! What is said on a connection, from the client's side: requests put on their way, bytes to be written, the answers that
//! come. The worker asks it; it knows no socket, no clock and no counter. In HTTP/1 answers come in the order of their
//! requests; HTTP/2 is in [`multiplex`].

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

// What an HTTP connection says, and what it keeps for all connections of a worker. Its users know nothing else of the
// protocol.
pub(crate) use crate::{
    browser::Leads,
    http1::{Ending, FeedOutcome, Heads, NOT_HTTP, Progress},
    http2::Phase,
};
pub(crate) use multiplex::RequestProgress;

use multiplex::Multiplex;

/// A request on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// When it should have been sent; in a closed loop when it was.
    pub(crate) intended: u64,
    /// When it was first written.
    pub(crate) started: u64,
    /// Which exchange it is.
    pub(crate) exchange: u32,
    /// Whether it is the last on its connection.
    pub(crate) is_last: bool,
}

/// The requests on their way, in the order of their answers.
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

    /// Says of the one that is behind `nth` others whether it is the last on its connection, and returns it.
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

/// Requests and answers on one connection after the other: its buffers are used again.
#[derive(Debug)]
pub(crate) struct HttpConnection {
    flights: InFlightQueue,
    reader: AnswerReader,
    /// What is known of the answer that comes.
    pub(crate) answer: AnswerSoFar,
    /// Requests put together here, where they are not the plan's own bytes.
    composed: Vec<u8>,
    /// How much of what is to be written has been.
    written: usize,
    /// Whether the rest of the request waits for the server's 100 Continue.
    holding: bool,
    /// Follows redirects and keeps cookies, if the load asks for that.
    browser: Option<Box<Browser>>,
    /// HTTP/2, if that is spoken. What HTTP/1 needs has nothing in it then.
    multiplex: Option<Box<Multiplex>>,
}

/// A body that nobody looks at, as far as it is still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ignored {
    pub(crate) left: u64,
    /// Whether nothing may follow it.
    pub(crate) is_last: bool,
}

impl HttpConnection {
    /// For this many requests on their way at once, and perhaps as a browser.
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

    /// On another connection: nothing has been written. What is on its way has to be put again.
    pub(crate) fn start_over(&mut self) {
        if let Some(multiplex) = &mut self.multiplex {
            return multiplex.start_over();
        }
        self.composed.clear();
        self.written = 0;
        self.holding = false;
    }

    /// Requests on their way.
    #[inline]
    pub(crate) fn in_flight(&self) -> usize {
        match &self.multiplex {
            None => self.flights.len(),
            Some(multiplex) => multiplex.in_flight(),
        }
    }

    /// Whether no request is on its way.
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

    /// Whether more requests are to be sent now. In HTTP/1, when half of what may be on its way at once has been answered:
    /// whole batches would let the connection run dry, single requests would cost a system call each. In HTTP/2, whenever
    /// there is room: all answers of a read make a batch.
    #[inline]
    pub(crate) fn wants_more(&self, aside: usize) -> bool {
        match &self.multiplex {
            None => self.flights.is_empty() || self.flights.len() <= self.flights.ring.len() / 2,
            Some(multiplex) => multiplex.has_room(aside),
        }
    }

    /// The request whose answer comes next; in HTTP/2, whose answer has just ended.
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

    /// All requests on their way.
    pub(crate) fn flights(&self) -> impl Iterator<Item = InFlight> {
        let multiplexed = self.multiplex.iter().flat_map(|one| one.flights());
        self.flights.iter().chain(multiplexed)
    }

    /// The request that has been on its way for longest.
    pub(crate) fn oldest(&self) -> Option<InFlight> {
        match &self.multiplex {
            None => self.flights.first(),
            Some(multiplex) => multiplex.flights().min_by_key(|flight| flight.started),
        }
    }

    /// Puts a request on its way; it is still to be written. There must be room.
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

    /// Puts what is on its way again, on another connection: how many requests that are.
    pub(crate) fn put_again(&mut self, plan: &Plan, scratch: &mut Vec<u8>) -> u64 {
        if let Some(multiplex) = &mut self.multiplex {
            return multiplex.put_again(plan);
        }
        if let Some(browser) = self.browser.as_deref_mut() {
            // What a redirect led to is another request than the one before.
            browser.write(&mut self.composed);
            return 0;
        }
        for nth in 0..self.flights.len() {
            // Which one is the last is another question on each connection.
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
            exchange, is_last, ..
        } = flight;
        match self.browser.as_deref_mut() {
            None => plan.compose(exchange, is_last, scratch, &mut self.composed),
            Some(browser) => {
                browser.ask(|out| plan.compose(exchange, is_last, scratch, out));
                browser.write(&mut self.composed);
            }
        }
    }

    /// What the answer that has come leads to.
    #[inline]
    pub(crate) fn leads(&self) -> Leads {
        match &self.browser {
            None => Leads::Nowhere,
            Some(browser) => browser.leads(),
        }
    }

    /// Where that redirect leads to.
    pub(crate) fn location(&self) -> String {
        self.browser
            .as_ref()
            .map_or_else(String::new, |one| one.location())
    }

    /// What was seen of cookies since this was last asked, if any are kept.
    pub(crate) fn take_cookies(&mut self) -> Option<CookiesSeen> {
        self.browser.as_deref_mut()?.take_seen()
    }

    /// When the connection was begun that the first request on its way went out on, if that was another one than
    /// `dialled`.
    #[inline]
    pub(crate) fn first_dialled(&self, dialled: u64) -> u64 {
        let first = self.browser.as_ref().and_then(|one| one.dialled());
        first.unwrap_or(dialled)
    }

    /// Puts the request on its way that the answer leads to, for the one that was answered; it is still to be written.
    /// What was left of that one is not. The connection was begun at `dialled`; where it does not stay, the request is put
    /// again on the next one.
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

    /// What is to be written now.
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

    /// This many bytes more have been written.
    #[inline]
    pub(crate) fn wrote(&mut self, count: usize) {
        match &mut self.multiplex {
            None => self.written += count,
            Some(multiplex) => multiplex.wrote(count),
        }
    }

    /// Whether all that is on its way has been written.
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

    /// Holds nothing back any more.
    pub(crate) fn release(&mut self) {
        self.holding = false;
    }

    /// Gets ready for the answer to the first request on its way, or in HTTP/2 for all of them: the oldest one.
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

    /// Takes the next bytes from the connection, while `first` is the first request on its way: what they led to, and
    /// how many of them were a body's.
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

    /// The rest of a body of known length, if nobody looks at it.
    #[inline]
    pub(crate) fn ignored(&self) -> Option<Ignored> {
        let left = self.reader.body_left()?;
        self.answer.ignores_body().then(|| Ignored {
            left,
            is_last: self.flights.len() == 1 || !self.reader.keeps_alive(),
        })
    }

    /// This many bytes of such a body have come and were dropped.
    #[inline]
    pub(crate) fn dropped(&mut self, bytes: u64) -> FeedOutcome {
        self.answer.dropped(bytes);
        self.reader.skip(bytes)
    }

    /// How much of the answer has come.
    #[inline]
    pub(crate) fn progress(&self) -> Progress {
        match &self.multiplex {
            None => self.reader.progress(),
            Some(multiplex) if multiplex.has_begun() => Progress::Body,
            Some(_) => Progress::Nothing,
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
