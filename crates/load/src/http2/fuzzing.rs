//! What holds for any bytes that a server of HTTP/2 may send. Fuzzing looks for bytes for which it does not (`fuzz/`), and
//! tests ask the same of conversations that are put together at random.

use super::{
    Http2Failure,
    client::{Client, Event, Sink},
    frame::{HEADER, MAX_PAYLOAD, SETTINGS, write},
    grpc,
    hpack::Text,
    stream::Phase,
};

/// The longest input that is judged.
const LONGEST: usize = 64 * 1024;
/// Bytes of each request's body.
const BODY: [u8; 100] = [b'b'; 100];

/// What became of the answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// What happened, in order: heads and ends.
    pub(super) events: Vec<String>,
    /// The bodies in each slot, one behind the other.
    pub(super) bodies: Vec<Vec<u8>>,
    pub(super) broken: Option<Http2Failure>,
    /// What was to be written.
    pub(super) out: Vec<u8>,
}

impl Sink for Reading {
    fn head(&mut self, slot: usize, status: u16) {
        assert!((200..=999).contains(&status), "{status}");
        self.events.push(format!("{slot}: {status}"));
    }

    fn body(&mut self, slot: usize, data: &[u8]) {
        assert!(!data.is_empty(), "an empty piece of a body");
        self.bodies[slot].extend_from_slice(data);
    }

    fn call_ended(&mut self, slot: usize, status: u32, message: Option<Text<'_>>) {
        let message = message.and_then(grpc::message);
        self.events
            .push(format!("{slot}: grpc {status} {message:?}"));
    }
}

/// Reads what a server sends to a client that has this many requests on its way. A request that ends is followed by another
/// one as long as the server allows that.
pub(super) fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, streams: usize) -> Reading {
    let mut client = Client::new(streams, 1, BODY.len());
    let mut reading = Reading {
        events: Vec::new(),
        bodies: vec![Vec::new(); streams],
        broken: None,
        out: Vec::new(),
    };
    client.begin();
    let mut idle: Vec<usize> = (0..streams).rev().collect();
    'pieces: for piece in pieces {
        let mut rest = piece;
        loop {
            match client.feed(rest, &mut reading) {
                Ok((used, event)) => {
                    rest = &rest[used..];
                    let slot = match event {
                        Event::More | Event::Greeted => None,
                        Event::Whole { slot } => {
                            reading.events.push(format!("{slot}: whole"));
                            Some(slot)
                        }
                        Event::Failed {
                            slot,
                            broken,
                            phase,
                        } => {
                            let why = broken.why;
                            reading.events.push(format!("{slot}: {phase:?} {why}"));
                            Some(slot)
                        }
                        Event::Unprocessed { slot } => {
                            reading.events.push(format!("{slot}: unprocessed"));
                            Some(slot)
                        }
                    };
                    if let Some(slot) = slot {
                        assert_eq!(client.phase(slot), None, "the stream is still open");
                        assert!(!idle.contains(&slot), "nothing was on its way there");
                        idle.push(slot);
                    }
                    assert_eq!(client.open() + idle.len(), streams);
                    if event == Event::More {
                        assert!(rest.is_empty(), "more was there");
                        break;
                    }
                    // At the same byte, however they are cut.
                    send(&mut client, &mut idle);
                }
                Err(broken) => {
                    reading.broken = Some(broken);
                    break 'pieces;
                }
            }
        }
        assert!(client.held() <= HEADER + MAX_PAYLOAD + LONGEST);
    }
    client.fill(|_| &BODY);
    reading.out.extend_from_slice(client.unwritten());
    reading
}

/// Puts as many requests on their way as the server allows.
fn send(client: &mut Client, idle: &mut Vec<usize>) {
    while client.is_ready()
        && !client.is_draining()
        && client.open() < client.most_streams() as usize
        && let Some(slot) = idle.pop()
    {
        let has_body = slot % 3 == 1;
        client.send(slot, slot % 5 == 4, |out| {
            out.push(0x82);
            if has_body { BODY.len() } else { 0 }
        });
        assert_eq!(client.phase(slot), Some(Phase::Head));
    }
}

/// Cuts bytes into pieces, which a seed decides: single bytes for each eighth.
pub(super) fn pieces(bytes: &[u8], seed: u8) -> impl Iterator<Item = &[u8]> {
    let mut state = u32::from(seed).wrapping_mul(2_654_435_761) | 1;
    let mut rest = bytes;
    std::iter::from_fn(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let wanted = match seed % 8 {
            0 => 1,
            _ => 1 + (state >> 16) as usize % (4 << (seed % 8)),
        };
        let (piece, after) = rest.split_at(wanted.min(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Conversations: whether they are read alike however they are cut. The first byte says how many requests are on their way
/// and whether the server begins with its settings, the second one how the bytes are cut.
pub fn conversation(input: &[u8]) {
    let [manner, cuts, bytes @ ..] = input else {
        return;
    };
    if bytes.len() > LONGEST {
        return;
    }
    let streams = 1 + usize::from(manner & 0x7);
    let mut all = Vec::new();
    if manner & 0x80 == 0 {
        write(SETTINGS, 0, 0, &[], &mut all);
    }
    all.extend_from_slice(bytes);
    let whole = read([&all[..]], streams);
    let cut = read(pieces(&all, *cuts), streams);
    assert_eq!(whole, cut, "cut by {cuts}");
}
