//! The client that probes: one request at a time, over a connection that is kept as long as the server keeps it.

use std::{net::SocketAddr, time::Duration};

use deadheat_model::load::RequestSpec;

use super::{
    Fault, PATIENCE,
    wire::{Answer, NoReply, Wire},
};

/// Sends probes to one server.
pub struct Client {
    address: SocketAddr,
    patience: Duration,
    kept: Option<Wire>,
}

impl Client {
    /// A client of the server at `address`.
    pub fn new(address: SocketAddr) -> Self {
        Self::with_timeout(address, PATIENCE)
    }

    /// The same with another bound on each request.
    pub fn with_timeout(address: SocketAddr, patience: Duration) -> Self {
        Self {
            address,
            patience,
            kept: None,
        }
    }

    pub(super) fn send(&mut self, request: &RequestSpec) -> Result<Answer, Fault> {
        self.attempt(request).map_err(|error| {
            Fault::new(
                format!("{} {}", request.method, request.path),
                "there is an answer",
                "an HTTP answer".to_owned(),
                format!("no answer: {error}"),
            )
        })
    }

    fn attempt(&mut self, request: &RequestSpec) -> Result<Answer, NoReply> {
        if let Some(wire) = self.kept.take() {
            match self.ask(wire, request) {
                // A server may close a connection that idles.
                Err(NoReply::Closed) => {}
                answered => return answered,
            }
        }
        let wire = Wire::open(self.address, self.patience)?;
        self.ask(wire, request)
    }

    fn ask(&mut self, mut wire: Wire, request: &RequestSpec) -> Result<Answer, NoReply> {
        let reply = wire.ask(request)?;
        self.kept = reply.keeps.then_some(wire);
        Ok(reply.answer)
    }
}
