//! The coordinator's end of the network to a host: a listener that lives as long as it is measured, and takes only
//! connections that begin with a token which the agent alone was told.

use std::{
    io::{self, Read as _},
    net::{IpAddr, TcpListener, TcpStream},
    time::{Duration, Instant},
};

use super::{
    agents::{Agents, TICK},
    message::{Answer, Order, Probed},
    traffic::{self, PATIENCE, Purpose, Seen, Token},
};
use crate::{
    doctor::{Interface, Link, Resent, Trips},
    session::listen,
};

/// How long a stranger may take to say something.
const STRANGER: Duration = Duration::from_millis(500);
/// How long the agent may take to its answer once this side is ready.
const LAST_ANSWER: Duration = Duration::from_secs(15);

/// Measures the network between the one host and this machine's `address`.
pub(super) fn measure(agents: &mut Agents, address: IpAddr) -> Result<Link, String> {
    let listener = listen(address)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .map_err(|error| format!("listening on {address}: {error}"))?;
    let coordinator = listener
        .local_addr()
        .map_err(|error| format!("listening on {address}: {error}"))?;
    let token: Token = rand::random();
    let order = Order::Probe { coordinator, token };
    agents.say(0, &order).map_err(|error| error.problem)?;
    let mut seen = Seen::default();
    let mut trips = Vec::new();
    for purpose in Purpose::ALL {
        let mut stream = accept(&listener, &token, purpose, agents)?;
        let measured = match purpose {
            Purpose::Messages => traffic::ask(&mut stream).map(|(all, resent)| {
                trips = all;
                seen.resent_small = resent;
            }),
            Purpose::ToHost => traffic::pour(&mut stream).map(|resent| {
                seen.resent_large = resent;
            }),
            Purpose::FromHost => traffic::drain(&mut stream).map(|flow| seen.received = flow),
        };
        measured
            .map_err(|error| format!("exchanging data with the host: {}", traffic::told(&error)))?;
    }
    drop(listener);
    let there = answer(agents)?;
    let trips = Trips::of(trips).ok_or("no message came back in time")?;
    Ok(Link {
        trips,
        to_host: there.seen.received,
        from_host: seen.received,
        resent_small: both(seen.resent_small, there.seen.resent_small),
        resent_large: both(seen.resent_large, there.seen.resent_large),
        here: Interface::of(address),
        there: there.interface,
    })
}

fn both(one: Option<Resent>, other: Option<Resent>) -> Option<Resent> {
    Some(one?.and(other?))
}

/// The agent's next connection.
fn accept(
    listener: &TcpListener,
    token: &Token,
    purpose: Purpose,
    agents: &mut Agents,
) -> Result<TcpStream, String> {
    // The agent gives up before.
    let end = Instant::now() + 2 * PATIENCE;
    while Instant::now() < end {
        match listener.accept() {
            Ok((stream, _)) => {
                if let Ok(stream) = expected(stream, token, purpose) {
                    return Ok(stream);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // Waits, and hears why none comes.
                let heard = agents.next_within(TICK);
                if let Some((index, _, other)) = heard.map_err(|error| error.problem)? {
                    return Err(agents.agents[index].unexpected(&other).problem);
                }
            }
            Err(error) => return Err(format!("accepting the host's connection: {error}")),
        }
    }
    Err("the host did not connect".to_owned())
}

/// The connection, if it begins as one of the agent's.
fn expected(mut stream: TcpStream, token: &Token, purpose: Purpose) -> io::Result<TcpStream> {
    traffic::prepare(&stream)?;
    stream.set_read_timeout(Some(STRANGER))?;
    let mut head = [0; size_of::<Token>() + 1];
    stream.read_exact(&mut head)?;
    let (begins, kind) = head.split_at(token.len());
    if begins != token || kind != [purpose.byte()] {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn answer(agents: &mut Agents) -> Result<Probed, String> {
    let end = Instant::now() + LAST_ANSWER;
    while Instant::now() < end {
        match agents.next_within(TICK).map_err(|error| error.problem)? {
            Some((_, _, Answer::Probed(probed))) => return Ok(*probed),
            Some((index, _, other)) => return Err(agents.agents[index].unexpected(&other).problem),
            None => {}
        }
    }
    Err(format!(
        "the host did not report its observation within {LAST_ANSWER:?}"
    ))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_connection_without_the_token_is_not_taken() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let token: Token = rand::random();
        let with = |head: &[u8]| {
            let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            near.write_all(head).unwrap();
            drop(near);
            let (stream, _) = listener.accept().unwrap();
            expected(stream, &token, Purpose::ToHost).is_ok()
        };
        let mut right = token.to_vec();
        right.push(Purpose::ToHost.byte());
        assert!(with(&right));
        let mut wrong = right.clone();
        wrong[7] ^= 1;
        assert!(!with(&wrong), "another token");
        assert!(!with(&right[..20]), "a part of it");
        assert!(!with(b"GET / HTTP/1.1\r\nHost: somebody.example\r\n\r\n"));
        let mut early = token.to_vec();
        early.push(Purpose::Messages.byte());
        assert!(!with(&early), "another purpose");
    }
}
