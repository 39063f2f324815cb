//! What a server does, as values.

use std::{sync::Arc, time::Duration};

use crate::Request;

/// One thing that a server does on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sends these bytes, at once and in a segment of their own.
    Send(Vec<u8>),
    /// Sends the same bytes so many times, out of one buffer: bodies that no memory holds.
    Repeat(Arc<[u8]>, u64),
    /// Waits.
    Pause(Duration),
    /// Waits until so long after the server's start: [`Turn::arrived`] and some time, for an answer after a known
    /// time however busy the machine is.
    Until(Duration),
    /// Says that nothing follows (with TLS close_notify, then FIN), and goes on reading without an answer.
    Fin,
    /// FIN without TLS's close_notify: the end that anybody could have sent. Without TLS the same as `Fin`.
    Cut,
    /// Sends these bytes and FIN in one segment, so that the peer learns of both at once. For small bytes.
    SendFin(Vec<u8>),
    /// Resets the connection (RST).
    Reset,
    /// Answers nothing any more, and goes on reading.
    Silence,
}

/// A request's place among the others.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// Which connection, from 0.
    pub connection: u64,
    /// Which request on this connection, from 0.
    pub nth: u64,
    /// Which request of all, from 0.
    pub index: u64,
    /// When its last byte arrived, since the server's start.
    pub arrived: Duration,
    /// The request.
    pub request: &'a Request,
}

/// What a server does when.
pub trait Script: Send + Sync + 'static {
    /// When a connection is accepted, before anything is read from it.
    fn greet(&self, _connection: u64) -> Vec<Step> {
        Vec::new()
    }

    /// When a request has arrived. The connection goes on unless a step ends it.
    fn answer(&self, turn: &Turn<'_>) -> Vec<Step>;
}

impl<F: Fn(&Turn<'_>) -> Vec<Step> + Send + Sync + 'static> Script for F {
    fn answer(&self, turn: &Turn<'_>) -> Vec<Step> {
        self(turn)
    }
}

/// Does `right` for the first `count` requests and `then` for all others.
pub fn right_then(count: u64, right: Vec<Step>, then: Vec<Step>) -> impl Script {
    move |turn: &Turn<'_>| {
        if turn.index < count {
            right.clone()
        } else {
            then.clone()
        }
    }
}

/// Does `usual` for the first requests of a connection and `last` for its `count`th: a server that ends its
/// connections after so many.
pub fn for_the_last_of(count: u64, usual: Vec<Step>, last: Vec<Step>) -> impl Script {
    move |turn: &Turn<'_>| {
        if turn.nth + 1 < count {
            usual.clone()
        } else {
            last.clone()
        }
    }
}
