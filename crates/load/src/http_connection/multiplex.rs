//! HTTP/2 on a connection: many requests in flight, answered in any order.

use std::collections::VecDeque;

use deadheat_model::Failure;

use super::{HttpConnection, InFlight};
use crate::{
    http2::{Client, Event, Http2Failure, NOT_A_NUMBER, Phase, Sink, Text, grpc},
    plan::{Http2, Plan},
    recorder::Examples,
    verify::{AnswerSoFar, Contents, Examiner},
};

/// A request in flight, and the state of its answer.
#[derive(Debug)]
struct Slot {
    flight: InFlight,
    is_taken: bool,
    answer: AnswerSoFar,
    /// Its body, if it is from a template.
    body: Vec<u8>,
}

/// The result of feeding bytes to the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestProgress {
    /// No request ended.
    More,
    /// An answer is complete: its request is the HTTP connection's first one.
    Whole,
    /// This request has failed. The connection stays in use.
    Failed {
        flight: InFlight,
        broken: Http2Failure,
        phase: Phase,
    },
}

/// The HTTP/2 requests of a connection slot. They survive a reconnect.
#[derive(Debug)]
pub(crate) struct Multiplex {
    client: Client,
    slots: Box<[Slot]>,
    free: Vec<usize>,
    /// Slots of requests to be sent again, on another connection or when there is room on this one.
    again: VecDeque<usize>,
    /// The slot whose answer has just ended.
    ended: Option<usize>,
    /// Why nothing on the connection can be read any more.
    broken: Option<Http2Failure>,
    /// The fewest streams that a server allowed, if that was fewer than there are slots.
    fewest: Option<u32>,
}

impl Multiplex {
    /// Without requests; the sizes come from the plan.
    pub(super) fn new(plan: &Http2) -> Self {
        let streams = plan.streams;
        let slot = || Slot {
            flight: InFlight::default(),
            is_taken: false,
            answer: AnswerSoFar::new(),
            body: Vec::new(),
        };
        Self {
            client: Client::new(streams, plan.longest_head(), plan.longest_body()),
            slots: (0..streams).map(|_| slot()).collect(),
            free: (0..streams).rev().collect(),
            again: VecDeque::with_capacity(streams),
            ended: None,
            broken: None,
            fewest: None,
        }
    }

    /// Resets the state for a new connection, and marks the requests in flight to be sent again.
    pub(super) fn start_over(&mut self) {
        self.client.begin();
        self.broken = None;
        self.again.clear();
        for index in 0..self.slots.len() {
            if self.slots[index].is_taken {
                self.put_again_in_order(index);
            }
        }
    }

    /// Marks a request to be sent again. The order is that of the first writes, so that no request waits forever behind
    /// newer ones.
    fn put_again_in_order(&mut self, index: usize) {
        let slots = &self.slots;
        let started = slots[index].flight.started;
        let is_earlier = |other: &usize| slots[*other].flight.started <= started;
        let place = self.again.partition_point(is_earlier);
        self.again.insert(place, index);
    }

    #[inline]
    pub(super) fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether the server allows another stream now.
    #[inline]
    fn allows_more(&self) -> bool {
        self.client.is_ready()
            && !self.client.is_draining()
            && self.client.open() < self.client.most_streams() as usize
    }

    /// Whether another request may be sent while earlier connections still have `aside` requests.
    #[inline]
    pub(super) fn has_room(&self, aside: usize) -> bool {
        self.free.len() > aside && self.again.is_empty() && self.allows_more()
    }

    pub(super) fn flights(&self) -> impl Iterator<Item = InFlight> {
        let taken = self.slots.iter().filter(|slot| slot.is_taken);
        taken.map(|slot| slot.flight)
    }

    /// The request whose answer has just ended.
    #[inline]
    pub(super) fn ended(&self) -> Option<InFlight> {
        self.ended.map(|index| self.slots[index].flight)
    }

    /// Removes the request whose answer has just ended, or else any other.
    #[inline]
    pub(super) fn take(&mut self) -> Option<InFlight> {
        let any = || self.slots.iter().position(|slot| slot.is_taken);
        let index = self.ended.take().or_else(any)?;
        Some(self.release(index))
    }

    /// Removes the first request that matches. Returns it with the phase of its answer; the phase is `None` if the
    /// request was not fully sent.
    fn take_where(
        &mut self,
        is: impl Fn(&Self, usize) -> bool,
    ) -> Option<(InFlight, Option<Phase>)> {
        let mut all = 0..self.slots.len();
        let index = all.find(|index| self.slots[*index].is_taken && is(self, *index))?;
        let is_sending = self.client.is_sending(index);
        let phase = self.client.phase(index).filter(|_| !is_sending);
        self.client.cancel(index);
        self.again.retain(|other| *other != index);
        Some((self.release(index), phase))
    }

    /// Removes a request that was lost with the connection.
    pub(super) fn take_lost(&mut self) -> Option<(InFlight, Option<Phase>)> {
        self.take_where(|this, index| this.client.phase(index).is_some())
    }

    /// Removes a request that was first written at this time or before. If it was open on the connection, nothing new
    /// is sent there.
    pub(super) fn take_late(&mut self, until: u64) -> Option<(InFlight, Option<Phase>)> {
        let open = self.client.open();
        let late = self.take_where(|this, index| this.slots[index].flight.started <= until);
        if self.client.open() < open {
            self.client.drain();
        }
        late
    }

    /// Removes a request that waits to be sent again.
    pub(super) fn take_unsent(&mut self) -> Option<InFlight> {
        let index = self.again.pop_front()?;
        Some(self.release(index))
    }

    #[inline]
    fn release(&mut self, index: usize) -> InFlight {
        let slot = &mut self.slots[index];
        slot.is_taken = false;
        self.free.push(index);
        slot.flight
    }

    /// Sends a request. There must be room.
    #[inline]
    pub(super) fn put(&mut self, flight: InFlight, plan: &Plan) {
        let Some(index) = self.free.pop() else {
            return;
        };
        let slot = &mut self.slots[index];
        slot.flight = flight;
        slot.is_taken = true;
        self.send(index, plan);
    }

    #[inline]
    fn send(&mut self, index: usize, plan: &Plan) {
        let slot = &mut self.slots[index];
        slot.answer.begin(None);
        let InFlight {
            exchange, count, ..
        } = slot.flight;
        let request = plan.streamed(exchange);
        let to_head = request.is_head;
        slot.answer.call = request.is_call.then(grpc::Call::default);
        let body = &mut slot.body;
        self.client.send(index, to_head, |out| {
            plan.stream_out(exchange, count, out, body)
        });
    }

    /// Resends waiting requests that the server accepts now; returns how many.
    pub(super) fn put_again(&mut self, plan: &Plan) -> u64 {
        let mut count = 0;
        while self.allows_more()
            && let Some(index) = self.again.pop_front()
        {
            self.send(index, plan);
            count += 1;
        }
        count
    }

    /// Whether a waiting request could be resent now.
    #[inline]
    pub(super) fn can_put_again(&self) -> bool {
        !self.again.is_empty() && self.allows_more()
    }

    /// Takes over an unsent request of another connection, to be sent again. There must be room.
    pub(super) fn put_unsent(&mut self, flight: InFlight) {
        let Some(index) = self.free.pop() else {
            return;
        };
        let slot = &mut self.slots[index];
        slot.flight = flight;
        slot.is_taken = true;
        self.put_again_in_order(index);
    }

    /// Whether the connection is draining: it takes no new requests, and some are still open.
    #[inline]
    pub(super) fn is_leaving(&self) -> bool {
        self.client.is_draining() && self.client.open() > 0
    }

    /// Whether nothing more will happen on this connection.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.client.is_draining() && self.client.open() == 0
    }

    /// Appends pieces of request bodies to the unwritten bytes.
    #[inline]
    pub(super) fn fill(&mut self, plan: &Plan) {
        let slots = &self.slots;
        self.client.fill(|index| {
            let slot = &slots[index];
            let fixed = plan.streamed(slot.flight.exchange).fixed_body();
            fixed.unwrap_or(&slot.body)
        });
    }

    #[inline]
    pub(super) fn unwritten(&self) -> &[u8] {
        self.client.unwritten()
    }

    #[inline]
    pub(super) fn wrote(&mut self, count: usize) {
        self.client.wrote(count);
    }

    #[inline]
    pub(super) fn has_written(&self) -> bool {
        self.client.has_written()
    }

    /// Whether the server has sent its settings and allows at least one stream.
    pub(super) fn is_ready(&self) -> bool {
        self.client.is_ready()
    }

    /// Whether the server has sent its settings.
    pub(super) fn has_greeted(&self) -> bool {
        self.client.is_greeted()
    }

    /// Whether the head of any answer has arrived.
    pub(super) fn has_begun(&self) -> bool {
        let phases = (0..self.slots.len()).map(|index| self.client.phase(index));
        phases.flatten().any(|phase| phase == Phase::Body)
    }

    /// The reason in the server's GOAWAY, if it sent one.
    pub(super) fn goaway_reason(&self) -> Option<&'static str> {
        self.client.goaway_reason()
    }

    /// Whether `is` accepts all bytes received so far (used to detect another protocol).
    pub(super) fn has_only(&self, is: impl Fn(&[u8]) -> bool) -> bool {
        self.client.has_only(is)
    }

    /// The fewest streams that a server allowed on the connection at once, if that is fewer than were asked for.
    pub(super) fn take_fewest(&mut self) -> Option<u32> {
        self.fewest.take()
    }

    /// Reads the next bytes from the connection. Returns the number of bytes read, the outcome, and the number of body
    /// bytes. An answer that has ended is swapped for `answer`.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        plan: &Plan,
        contents: &mut Contents,
        examples: &Examples,
        answer: &mut AnswerSoFar,
    ) -> (Result<(usize, RequestProgress), Http2Failure>, u64) {
        let mut at = 0;
        let mut sink = AnswerSink {
            slots: &mut self.slots,
            plan,
            contents,
            examples,
            received: 0,
        };
        let fed = loop {
            match self.client.feed(&bytes[at..], &mut sink) {
                Err(broken) => break Err(broken),
                Ok((used, Event::More)) => break Ok((at + used, RequestProgress::More)),
                Ok((used, Event::Greeted)) => at += used,
                Ok((used, Event::Whole { slot })) => {
                    std::mem::swap(answer, &mut sink.slots[slot].answer);
                    self.ended = Some(slot);
                    break Ok((at + used, RequestProgress::Whole));
                }
                Ok((used, Event::Unprocessed { slot })) => {
                    at += used;
                    self.again.push_back(slot);
                }
                Ok((
                    used,
                    Event::Failed {
                        slot,
                        broken,
                        phase,
                    },
                )) => {
                    let flight = sink.slots[slot].flight;
                    sink.slots[slot].is_taken = false;
                    self.free.push(slot);
                    let came = RequestProgress::Failed {
                        flight,
                        broken,
                        phase,
                    };
                    break Ok((at + used, came));
                }
            }
        };
        let received = sink.received;
        self.broken = fed.err();
        let allowed = self.client.most_streams();
        if self.client.is_ready() && (allowed as usize) < self.slots.len() {
            self.fewest = Some(self.fewest.map_or(allowed, |before| before.min(allowed)));
        }
        (fed, received)
    }
}

/// Checks the parts of all answers as they arrive.
struct AnswerSink<'a> {
    slots: &'a mut [Slot],
    plan: &'a Plan,
    contents: &'a mut Contents,
    examples: &'a Examples,
    /// Bytes of bodies that came.
    received: u64,
}

impl AnswerSink<'_> {
    #[inline]
    fn examiner(&mut self, slot: usize) -> Examiner<'_> {
        let slot = &mut self.slots[slot];
        let exchange = slot.flight.exchange as usize;
        let prepared = &self.plan.exchanges[exchange];
        Examiner {
            answer: &mut slot.answer,
            browser: None,
            exchange,
            expect: &prepared.exchange.expect,
            statuses: &prepared.statuses,
            contents: self.contents,
            examples: self.examples,
            received: 0,
        }
    }
}

impl Sink for AnswerSink<'_> {
    #[inline]
    fn head(&mut self, slot: usize, status: u16) {
        self.examiner(slot).see_head(status, b"");
    }

    #[inline]
    fn body(&mut self, slot: usize, data: &[u8]) {
        self.received += data.len() as u64;
        let call = &mut self.slots[slot].answer.call;
        let data = call.as_mut().map_or(data, |call| call.feed(data));
        self.examiner(slot).see_body(data);
    }

    fn call_ended(&mut self, slot: usize, status: u32, message: Option<Text<'_>>) {
        let answer = &mut self.slots[slot].answer;
        let Some(call) = &mut answer.call else {
            return;
        };
        call.end(status);
        if status != 0 && self.examples.wants(Failure::Grpc) {
            let message = message.and_then(grpc::message);
            let message = message.map(|text| format!(", grpc-message {text:?}"));
            answer.note = Some(match status {
                NOT_A_NUMBER => "grpc-status is not a number".to_owned(),
                status => format!("grpc-status {status}{}", message.unwrap_or_default()),
            });
        }
    }
}

/// Operations of HTTP/2 alone. In HTTP/1 they do nothing.
impl HttpConnection {
    /// Reads the next bytes from the connection. Returns the number of bytes read, the outcome, and the number of body
    /// bytes.
    #[inline]
    pub(crate) fn feed_frames(
        &mut self,
        bytes: &[u8],
        plan: &Plan,
        contents: &mut Contents,
        examples: &Examples,
    ) -> (Result<(usize, RequestProgress), Http2Failure>, u64) {
        match &mut self.multiplex {
            None => (Ok((bytes.len(), RequestProgress::More)), 0),
            Some(multiplex) => multiplex.feed(bytes, plan, contents, examples, &mut self.answer),
        }
    }

    /// Appends pieces of request bodies to the unwritten bytes.
    #[inline]
    pub(crate) fn fill(&mut self, plan: &Plan) {
        if let Some(multiplex) = &mut self.multiplex {
            multiplex.fill(plan);
        }
    }

    /// Whether the server has sent its settings and allows at least one stream.
    pub(crate) fn is_ready(&self) -> bool {
        let multiplex = self.multiplex.as_ref();
        multiplex.is_none_or(|one| one.is_ready())
    }

    /// Whether the server has sent its settings.
    pub(crate) fn has_greeted(&self) -> bool {
        let multiplex = self.multiplex.as_ref();
        multiplex.is_some_and(|one| one.has_greeted())
    }

    /// Whether a waiting request could be resent now.
    #[inline]
    pub(crate) fn can_put_again(&self) -> bool {
        let multiplex = self.multiplex.as_ref();
        multiplex.is_some_and(|one| one.can_put_again())
    }

    /// Whether the connection takes no new requests and has no open ones: the server sent GOAWAY, or a request timed
    /// out.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        let multiplex = self.multiplex.as_ref();
        multiplex.is_some_and(|one| one.is_over())
    }

    /// Removes a request that was lost with the connection. Returns it with the phase of its answer.
    pub(crate) fn take_lost(&mut self) -> Option<(InFlight, Option<Phase>)> {
        self.multiplex.as_mut()?.take_lost()
    }

    /// Removes a request that was first written at `until` or before. Nothing new is sent on the connection.
    pub(crate) fn take_late(&mut self, until: u64) -> Option<(InFlight, Option<Phase>)> {
        self.multiplex.as_mut()?.take_late(until)
    }

    /// Removes a request that waits to be sent again.
    pub(crate) fn take_unsent(&mut self) -> Option<InFlight> {
        self.multiplex.as_mut()?.take_unsent()
    }

    /// Takes over an unsent request of another connection, to be sent again. There must be room.
    pub(crate) fn put_unsent(&mut self, flight: InFlight) {
        if let Some(multiplex) = &mut self.multiplex {
            multiplex.put_unsent(flight);
        }
    }

    /// Whether the connection is draining: it takes no new requests, and some are still open.
    #[inline]
    pub(crate) fn is_leaving(&self) -> bool {
        let multiplex = self.multiplex.as_ref();
        multiplex.is_some_and(|one| one.is_leaving())
    }

    /// The reason in the server's GOAWAY, if it sent one.
    pub(crate) fn goaway_reason(&self) -> Option<&'static str> {
        self.multiplex.as_ref()?.goaway_reason()
    }

    /// Why nothing on the connection can be read any more.
    pub(crate) fn broken(&self) -> Option<Http2Failure> {
        self.multiplex.as_ref()?.broken
    }

    /// Whether `is` accepts all bytes received so far (used to detect another protocol).
    pub(crate) fn has_only(&self, is: impl Fn(&[u8]) -> bool) -> bool {
        let multiplex = self.multiplex.as_ref();
        multiplex.is_some_and(|one| one.has_only(is))
    }

    /// The fewest streams that a server allowed since this was last asked, if that is fewer than were asked for.
    pub(crate) fn take_fewest(&mut self) -> Option<u32> {
        self.multiplex.as_mut()?.take_fewest()
    }
}
