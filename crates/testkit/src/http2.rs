//! A server of HTTP/2 that says on each connection whatever a test has it say, frame by frame, right or wrong. It knows
//! nothing of streams, windows and headers: a test of a client sees to that.

use std::{
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    os::fd::AsFd as _,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::sys;

/// What a client says first (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How long a read or a write takes at most. It only ends a broken test.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kinds of frames (RFC 9113 §6).
pub mod kind {
    #![allow(missing_docs)]
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const PRIORITY: u8 = 2;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
}

/// The flag of the last frame of a stream, and of an acknowledgement.
pub const END_STREAM: u8 = 1;
/// The flag of the last frame of a header block.
pub const END_HEADERS: u8 = 4;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is.
    pub kind: u8,
    /// Its flags.
    pub flags: u8,
    /// Its stream, or 0.
    pub stream: u32,
    /// What is in it.
    pub payload: Vec<u8>,
}

/// The bytes of a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = (payload.len() as u32).to_be_bytes();
    [&length[..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// SETTINGS with one setting.
pub fn setting(name: u16, value: u32) -> Vec<u8> {
    let payload = [&name.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(kind::SETTINGS, 0, 0, &payload)
}

/// A frame whose content is a number.
pub fn number(kind: u8, stream: u32, value: u32) -> Vec<u8> {
    frame(kind, 0, stream, &value.to_be_bytes())
}

/// GOAWAY.
pub fn goaway(last: u32, code: u32) -> Vec<u8> {
    let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
    frame(kind::GOAWAY, 0, 0, &payload)
}

/// The head of an answer with status 200.
pub fn head(stream: u32, flags: u8) -> Vec<u8> {
    frame(kind::HEADERS, flags | END_HEADERS, stream, &[0x88])
}

/// A whole answer with status 200.
pub fn answer(stream: u32, body: &[u8]) -> Vec<u8> {
    [head(stream, 0), frame(kind::DATA, END_STREAM, stream, body)].concat()
}

/// A client, as the server sees it.
pub struct Peer {
    stream: TcpStream,
    /// Which connection it is, from 0.
    pub connection: u64,
    requests: Arc<AtomicU64>,
    resets: bool,
}

impl Peer {
    /// Sends bytes. That nobody takes them is no error: a client may have enough.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// The next frame; `None`: the client has closed the connection.
    pub fn frame(&mut self) -> Option<Frame> {
        let mut header = [0; 9];
        self.stream.read_exact(&mut header).ok()?;
        let [a, b, c, kind, flags, id @ ..] = header;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.stream.read_exact(&mut payload).ok()?;
        if kind == kind::HEADERS {
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
        Some(Frame {
            kind,
            flags,
            stream: u32::from_be_bytes(id),
            payload,
        })
    }

    /// The stream of the next request; what comes before it is dropped.
    pub fn request(&mut self) -> Option<u32> {
        loop {
            let frame = self.frame()?;
            if frame.kind == kind::HEADERS {
                return Some(frame.stream);
            }
        }
    }

    /// Reads until the client closes the connection.
    pub fn until_closed(&mut self) {
        while self.frame().is_some() {}
    }

    /// Resets the connection, whatever has been sent and not been read.
    pub fn reset(&mut self) {
        let _ = sys::reset_on_close(self.stream.as_fd());
        self.resets = true;
    }
}

/// A server that does the same on each connection.
pub struct RawHttp2 {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    connections: Arc<AtomicU64>,
    requests: Arc<AtomicU64>,
    accepting: Option<JoinHandle<()>>,
}

impl RawHttp2 {
    /// Listens on a free loopback port. `script` is called on a connection's own thread when the client's preface has
    /// come; the connection ends with it.
    ///
    /// # Errors
    ///
    /// When there is no port, or no thread.
    pub fn start(script: impl Fn(&mut Peer) + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let stopping = Arc::new(AtomicBool::new(false));
        let connections = Arc::new(AtomicU64::new(0));
        let requests = Arc::new(AtomicU64::new(0));
        let accepting = thread::Builder::new().name("http2".to_owned()).spawn({
            let (stopping, script) = (Arc::clone(&stopping), Arc::new(script));
            let (connections, requests) = (Arc::clone(&connections), Arc::clone(&requests));
            move || {
                for stream in listener.incoming() {
                    if stopping.load(Ordering::Relaxed) {
                        return;
                    }
                    let Ok(stream) = stream else {
                        continue;
                    };
                    let peer = Peer {
                        stream,
                        connection: connections.fetch_add(1, Ordering::Relaxed),
                        requests: Arc::clone(&requests),
                        resets: false,
                    };
                    let script = Arc::clone(&script);
                    // It ends when the client closes the connection.
                    thread::spawn(move || serve(peer, &*script));
                }
            }
        })?;
        Ok(Self {
            address,
            stopping,
            connections,
            requests,
            accepting: Some(accepting),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections so far.
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Heads of requests so far.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

fn serve(mut peer: Peer, script: &dyn Fn(&mut Peer)) {
    let _ = peer.stream.set_nodelay(true);
    let _ = peer.stream.set_read_timeout(Some(PATIENCE));
    let _ = peer.stream.set_write_timeout(Some(PATIENCE));
    let mut preface = [0; PREFACE.len()];
    if peer.stream.read_exact(&mut preface).is_ok() && preface == PREFACE {
        script(&mut peer);
    }
    if !peer.resets {
        let _ = peer.stream.shutdown(Shutdown::Write);
    }
}

impl Drop for RawHttp2 {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}
