//! Connections on their way through a proxy.

use deadheat_model::{Failure, failure::FailurePhase};
use rustix::io::Errno;

use super::Worker;
use crate::{
    poller::Watch,
    recorder::{Cause, Fault},
    socket,
    tunnel::Refusal,
};

/// Bytes read at once from a proxy.
const AT_A_TIME: usize = 4096;

/// Why there is no tunnel.
enum Broken {
    Socket(Errno),
    Refused(Refusal),
}

impl From<Errno> for Broken {
    fn from(error: Errno) -> Self {
        Broken::Socket(error)
    }
}

impl Worker<'_> {
    /// Goes on talking with the proxy, as far as that goes without waiting.
    pub(super) fn tunnel(&mut self, slot: usize) {
        match self.try_to_tunnel(slot) {
            Ok(true) => self.established(slot),
            Ok(false) => {
                let connection = &mut self.connections[slot];
                let watched = connection.watch(&self.poller, slot, Watch::ReadingAndWriting);
                if let Err(error) = watched {
                    self.connect_failed(slot, error);
                }
            }
            Err(Broken::Socket(error)) => self.connect_failed(slot, error),
            Err(Broken::Refused(Refusal { why, detail })) => {
                let fault = Fault {
                    kind: Failure::ConnectOther,
                    phase: FailurePhase::Connect,
                    cause: Cause::Why(why),
                };
                self.unmade(slot, fault, || detail.clone());
            }
        }
    }

    /// Whether the connection leads to the server.
    fn try_to_tunnel(&mut self, slot: usize) -> Result<bool, Broken> {
        loop {
            let connection = &mut self.connections[slot];
            let Some(tunnel) = &mut connection.tunnel else {
                return Ok(true);
            };
            let socket = connection.socket.as_ref().ok_or(Errno::NOTCONN)?;
            while !tunnel.unwritten().is_empty() {
                match socket::write(socket, tunnel.unwritten()) {
                    Ok(count) => tunnel.wrote(count),
                    Err(Errno::AGAIN) => return Ok(false),
                    Err(error) => return Err(error.into()),
                }
            }
            let length = match socket::read(socket, &mut self.buffers.plain[..AT_A_TIME]) {
                Ok(0) => {
                    let why = "the proxy closed the connection";
                    return Err(Broken::Refused(Refusal {
                        why,
                        detail: why.to_owned(),
                    }));
                }
                Ok(length) => length,
                Err(Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            if tunnel
                .feed(&self.buffers.plain[..length])
                .map_err(Broken::Refused)?
            {
                connection.tunnel = None;
                return Ok(true);
            }
        }
    }
}
