//! The agent's side of an examination: its own machine, and its end of the network.

use std::{
    env, io,
    io::Write as _,
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use super::{
    message::{Answer, Probed},
    traffic::{self, PATIENCE, Purpose, Seen, Token},
};
use crate::doctor::{Examination, Interface};

/// Looks at this machine.
pub(super) fn examined(watch: Duration, connections: u32) -> Answer {
    // Nothing but temporary files is written here.
    let found = Examination::here(watch, &env::temp_dir(), connections);
    Answer::Examined(Box::new(found.of_several()))
}

/// Takes part in the coordinator's measurement of the network.
pub(super) fn probed(coordinator: SocketAddr, token: &Token) -> Answer {
    match probe(coordinator, token) {
        Ok(probed) => Answer::Probed(Box::new(probed)),
        Err(why) => Answer::refused(why),
    }
}

fn probe(coordinator: SocketAddr, token: &Token) -> Result<Probed, String> {
    let mut seen = Seen::default();
    let mut interface = None;
    for purpose in Purpose::ALL {
        let mut stream = connect(coordinator, token, purpose)
            .map_err(|error| format!("connecting to {coordinator} from there: {error}"))?;
        let address = stream.local_addr().ok();
        interface = address.and_then(|address| Interface::of(address.ip()));
        let measured = match purpose {
            Purpose::Messages => traffic::reply(&mut stream).map(|resent| {
                seen.resent_small = resent;
            }),
            Purpose::ToHost => traffic::drain(&mut stream).map(|flow| seen.received = flow),
            Purpose::FromHost => traffic::pour(&mut stream).map(|resent| {
                seen.resent_large = resent;
            }),
        };
        measured.map_err(|error| {
            format!(
                "exchanging data with {coordinator}: {}",
                traffic::told(&error)
            )
        })?;
    }
    Ok(Probed { seen, interface })
}

fn connect(coordinator: SocketAddr, token: &Token, purpose: Purpose) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&coordinator, PATIENCE)?;
    traffic::prepare(&stream)?;
    let mut head = token.to_vec();
    head.push(purpose.byte());
    stream.write_all(&head)?;
    Ok(stream)
}
