//! A connection with full control over its bytes. A client library would hide the subjects of the checks: persistence,
//! requests in pieces, pipelining, answers to HTTP/1.0.

use std::{
    borrow::Cow,
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use deadheat_model::load::{Body, HttpVersion, RequestSpec};
use httparse::Status;
use tokio_rustls::rustls::{
    self, ClientConfig, ClientConnection, StreamOwned, pki_types::ServerName,
};

/// The maximum length of an answer in bytes. It is above every answer of the contract, and detects a server that never
/// stops sending.
pub(super) const LONGEST: usize = 16 << 20;
/// The maximum length of a head in bytes, from the status line to the empty line. It is the load generator's limit
/// (`HEAD_LIMIT` in `crates/load/src/http1/head.rs`).
const HEAD_LIMIT: usize = 64 * 1024;
/// The initial capacity for header lines. It grows up to the number that a head can contain.
const HEADERS: usize = 64;
/// The chunk size of request bodies in bytes. A body is sent in several chunks, and the last one is usually shorter.
const CHUNK: usize = 16;

/// The longest wait between two looks at the flag that ends it.
const LOOK: Duration = Duration::from_millis(100);

/// How long a probe waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience<'s> {
    /// The timeout.
    time: Duration,
    /// Ends a wait when set.
    stop: &'s AtomicBool,
}

impl<'s> Patience<'s> {
    pub(super) fn new(time: Duration, stop: &'s AtomicBool) -> Self {
        Self { time, stop }
    }

    /// When a wait that begins now is over.
    pub(super) fn until(self) -> Instant {
        Instant::now() + self.time
    }

    /// The time until the next look.
    pub(super) fn wait(self, until: Instant) -> Result<Duration, NoReply> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(NoReply::Interrupted);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(NoReply::Late(self.time));
        }
        Ok(left.min(LOOK))
    }
}

/// A connection to a server.
#[derive(Debug)]
pub(super) struct ProbeConnection<'s> {
    address: SocketAddr,
    stream: Stream,
    patience: Patience<'s>,
    /// Bytes received after the last answer.
    ahead: Vec<u8>,
}

/// The transport of a connection.
#[derive(Debug)]
enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Tls(tls) => &tls.sock,
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.write_all(bytes),
            Stream::Tls(tls) => tls.write_all(bytes).and_then(|()| tls.flush()),
        }
    }

    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(piece),
            Stream::Tls(tls) => tls.read(piece),
        }
    }
}

/// A complete answer.
#[derive(Debug)]
pub(super) struct WholeAnswer {
    pub(super) status: u16,
    /// Header fields, their names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl WholeAnswer {
    /// The value of the first header field with this name, which is in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The content type; empty without one.
    pub(super) fn content_type(&self) -> &str {
        self.header("content-type").unwrap_or_default()
    }
}

/// An answer, and the state of its connection afterwards.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) answer: WholeAnswer,
    /// Whether the server keeps the connection open.
    pub(super) keeps: bool,
    /// Whether the body came in chunks.
    pub(super) chunked: bool,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoReply {
    /// The connection ended before its first byte.
    #[error("the connection was closed without an answer")]
    Closed,
    /// It did not arrive completely within this time.
    #[error("no whole answer within {} s", .0.as_secs())]
    Late(Duration),
    /// The user asked to stop meanwhile.
    #[error("the wait was interrupted")]
    Interrupted,
    /// It cannot be parsed.
    #[error("{0}")]
    Broken(String),
    /// The server refuses TLS or the protocol, so further requests are useless.
    #[error("{0}")]
    Refused(String),
}

impl NoReply {
    /// Converts the error of a TLS handshake.
    pub(super) fn in_tls(error: &io::Error) -> Self {
        use rustls::{AlertDescription as Alert, Error};
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        let Some(error) = inner else {
            return Self::Broken(format!("TLS: {error}"));
        };
        let why = deadheat_load::why_tls_failed(error);
        match error {
            Error::InvalidCertificate(_) => {
                Self::Refused("the server's certificate is not the one in $TLS_CERT".to_owned())
            }
            Error::PeerIncompatible(_)
            | Error::InvalidMessage(_)
            | Error::AlertReceived(
                Alert::HandshakeFailure
                | Alert::ProtocolVersion
                | Alert::InsufficientSecurity
                | Alert::CertificateRequired
                | Alert::NoApplicationProtocol,
            ) => Self::Refused(why.to_owned()),
            _ => Self::Broken(format!("TLS: {why}")),
        }
    }
}

/// Whether the time of a read or a write was over.
fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

impl<'s> ProbeConnection<'s> {
    /// Connects. Each answer may take as long as `patience`.
    pub(super) fn open(address: SocketAddr, patience: Patience<'s>) -> Result<Self, NoReply> {
        let connect = || {
            let stream = TcpStream::connect_timeout(&address, patience.time)?;
            // Pieces of a request must arrive as pieces.
            stream.set_nodelay(true)?;
            stream.set_write_timeout(Some(patience.time))?;
            Ok(stream)
        };
        let stream = connect()
            .map_err(|error: io::Error| NoReply::Broken(format!("connecting: {error}")))?;
        Ok(Self {
            address,
            stream: Stream::Plain(stream),
            patience,
            ahead: Vec::new(),
        })
    }

    /// Connects with TLS and `config`. The server may choose HTTP/1.1 by ALPN, or no protocol.
    pub(super) fn open_tls(
        address: SocketAddr,
        config: Arc<ClientConfig>,
        patience: Patience<'s>,
    ) -> Result<Self, NoReply> {
        let plain = Self::open(address, patience)?;
        let Stream::Plain(mut socket) = plain.stream else {
            return Err(NoReply::Broken("TLS within TLS".to_owned()));
        };
        let in_words = |error: io::Error| NoReply::in_tls(&error);
        let name = ServerName::from(address.ip());
        let tls = ClientConnection::new(config, name).map_err(io::Error::other);
        let mut tls = tls.map_err(in_words)?;
        let until = patience.until();
        while tls.is_handshaking() {
            let limited = socket.set_read_timeout(Some(patience.wait(until)?));
            limited.map_err(in_words)?;
            match tls.complete_io(&mut socket) {
                Err(error) if is_timeout(&error) => {}
                done => {
                    done.map_err(in_words)?;
                }
            }
        }
        match tls.alpn_protocol() {
            None | Some(b"http/1.1") => Ok(Self {
                stream: Stream::Tls(Box::new(StreamOwned::new(tls, socket))),
                ..plain
            }),
            Some(chosen) => Err(NoReply::Refused(format!(
                "the server chose {} by ALPN, which was not offered",
                String::from_utf8_lossy(chosen)
            ))),
        }
    }

    /// Sends a request in one write, and reads its answer.
    pub(super) fn ask(&mut self, request: &RequestSpec) -> Result<Reply, NoReply> {
        self.send(&encode(self.address, request, HttpVersion::Http11).0)?;
        self.reply()
    }

    /// Sends bytes. A closed connection is not an error yet, because an answer may explain it.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), NoReply> {
        match self.stream.write_all(bytes) {
            Ok(()) => Ok(()),
            Err(error) => match error.kind() {
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Ok(()),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    Err(NoReply::Late(self.patience.time))
                }
                _ => Err(NoReply::Broken(format!("sending: {error}"))),
            },
        }
    }

    /// Reads one answer. Interim answers (1xx) are skipped.
    pub(super) fn reply(&mut self) -> Result<Reply, NoReply> {
        let until = self.patience.until();
        let head = loop {
            let head = self.head(until)?;
            if head.status >= 200 {
                break head;
            }
        };
        let body = match head.framing {
            Framing::Nothing => Vec::new(),
            Framing::Sized(length) => self.take(length, until)?,
            Framing::Chunked => self.chunks(until)?,
            Framing::UntilClose => {
                while self.more(until)? {}
                std::mem::take(&mut self.ahead)
            }
        };
        Ok(Reply {
            answer: WholeAnswer {
                status: head.status,
                headers: head.headers,
                body,
            },
            keeps: head.keeps && head.framing != Framing::UntilClose,
            chunked: head.framing == Framing::Chunked,
        })
    }

    /// Whether the server closes the connection within `patience`, without another byte.
    pub(super) fn ends_within(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        self.ahead.is_empty() && matches!(self.more(until), Ok(false))
    }

    fn head(&mut self, until: Instant) -> Result<Head, NoReply> {
        loop {
            if let Some((head, length)) = Head::parse(&self.ahead)? {
                self.ahead.drain(..length);
                return Ok(head);
            }
            let silent = self.ahead.is_empty();
            if !self.more(until)? {
                return Err(if silent {
                    NoReply::Closed
                } else {
                    NoReply::Broken("the connection was closed in a head".to_owned())
                });
            }
        }
    }

    fn take(&mut self, length: usize, until: Instant) -> Result<Vec<u8>, NoReply> {
        while self.ahead.len() < length {
            if !self.more(until)? {
                let came = self.ahead.len();
                return Err(NoReply::Broken(format!(
                    "the connection was closed after {came} of {length} bytes of a body"
                )));
            }
        }
        let rest = self.ahead.split_off(length);
        Ok(std::mem::replace(&mut self.ahead, rest))
    }

    fn chunks(&mut self, until: Instant) -> Result<Vec<u8>, NoReply> {
        let mut body = Vec::new();
        loop {
            let line = self.line(until)?;
            let size = match httparse::parse_chunk_size(&line) {
                Ok(Status::Complete((_, size))) => size as usize,
                _ => return Err(NoReply::Broken("a chunk has no size".to_owned())),
            };
            if size == 0 {
                while self.line(until)? != b"\r\n" {}
                return Ok(body);
            }
            if body.len().saturating_add(size) > LONGEST {
                return Err(endless());
            }
            body.extend(self.take(size, until)?);
            if self.take(2, until)? != b"\r\n" {
                return Err(NoReply::Broken(
                    "a chunk is longer than its size".to_owned(),
                ));
            }
        }
    }

    /// A line with its end.
    fn line(&mut self, until: Instant) -> Result<Vec<u8>, NoReply> {
        loop {
            if let Some(end) = self.ahead.iter().position(|byte| *byte == b'\n') {
                return Ok(self.ahead.drain(..=end).collect());
            }
            if !self.more(until)? {
                return Err(NoReply::Broken(
                    "the connection was closed between chunks".to_owned(),
                ));
            }
        }
    }

    /// Waits for bytes and reads them. Returns `false` at the end of the connection.
    fn more(&mut self, until: Instant) -> Result<bool, NoReply> {
        if self.ahead.len() > LONGEST {
            return Err(endless());
        }
        let broken = |error: io::Error| NoReply::Broken(format!("reading: {error}"));
        let mut piece = [0; 65_536];
        loop {
            let wait = self.patience.wait(until)?;
            let socket = self.stream.socket();
            socket.set_read_timeout(Some(wait)).map_err(broken)?;
            match self.stream.read(&mut piece) {
                Ok(0) => return Ok(false),
                Ok(length) => {
                    self.ahead.extend_from_slice(&piece[..length]);
                    return Ok(true);
                }
                Err(error) if is_timeout(&error) => {}
                Err(error) => match error.kind() {
                    // Many servers close TLS connections without a close_notify.
                    io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof => {
                        return Ok(false);
                    }
                    io::ErrorKind::Interrupted => return Ok(true),
                    _ => return Err(broken(error)),
                },
            }
        }
    }
}

fn endless() -> NoReply {
    NoReply::Broken(format!("more than {LONGEST} bytes came"))
}

/// How the end of a body is determined (RFC 9112, section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Nothing,
    Sized(usize),
    Chunked,
    UntilClose,
}

struct Head {
    status: u16,
    headers: Vec<(String, String)>,
    keeps: bool,
    framing: Framing,
}

impl Head {
    /// Parses a head at the start of `bytes`. Returns it with its length; `None` if it is incomplete.
    fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, NoReply> {
        Self::parse_with(bytes, HEADERS)
    }

    /// `parse` with capacity for `room` header lines, or for more if there are more.
    fn parse_with(bytes: &[u8], room: usize) -> Result<Option<(Self, usize)>, NoReply> {
        let bytes = &bytes[..bytes.len().min(HEAD_LIMIT)];
        let mut headers = vec![httparse::EMPTY_HEADER; room];
        let mut parsed = httparse::Response::new(&mut headers);
        let length = match parsed.parse(bytes) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) if bytes.len() == HEAD_LIMIT => {
                let most = HEAD_LIMIT / 1024;
                return Err(NoReply::Broken(format!(
                    "the head of an answer is larger than {most} KiB"
                )));
            }
            Ok(Status::Partial) => return Ok(None),
            // A line has three bytes at least ("a:\n"), and a head is bounded, so this ends.
            Err(httparse::Error::TooManyHeaders) => return Self::parse_with(bytes, 4 * room),
            Err(error) => {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
                let start = start.escape_debug();
                return Err(NoReply::Broken(format!(
                    "no answer of HTTP but `{start}` ({error})"
                )));
            }
        };
        let status = parsed.code.unwrap_or_default();
        let mut head = Self {
            status,
            headers: Vec::new(),
            keeps: parsed.version == Some(1),
            framing: match status {
                100..=199 | 204 | 304 => Framing::Nothing,
                _ => Framing::UntilClose,
            },
        };
        for header in parsed.headers {
            head.note(header.name, &String::from_utf8_lossy(header.value))?;
        }
        Ok(Some((head, length)))
    }

    fn note(&mut self, name: &str, value: &str) -> Result<(), NoReply> {
        let value = value.trim();
        let name = name.to_ascii_lowercase();
        self.headers.push((name.clone(), value.to_owned()));
        if name == "connection" {
            for option in value.split(',').map(str::trim) {
                if option.eq_ignore_ascii_case("close") {
                    self.keeps = false;
                } else if option.eq_ignore_ascii_case("keep-alive") {
                    self.keeps = true;
                }
            }
        } else if self.framing == Framing::Nothing {
            // There is no body, whatever this header says.
        } else if name == "transfer-encoding" {
            // It takes precedence over a content-length.
            self.framing = Framing::Chunked;
        } else if name == "content-length" && self.framing != Framing::Chunked {
            let length = value.parse().ok().filter(|length| *length <= LONGEST);
            self.framing = Framing::Sized(
                length
                    .ok_or_else(|| NoReply::Broken(format!("the content-length is `{value}`")))?,
            );
        }
        Ok(())
    }
}

/// Encodes a request. Returns its bytes and the position of its body.
pub(super) fn encode(
    address: SocketAddr,
    request: &RequestSpec,
    version: HttpVersion,
) -> (Vec<u8>, usize) {
    let mut head = format!(
        "{} {} HTTP/{version}\r\nHost: {address}\r\nUser-Agent: deadheat\r\n",
        request.method, request.path
    );
    for (name, value) in &request.headers {
        head += &format!("{name}: {value}\r\n");
    }
    let body = match &request.body {
        Body::None => Cow::default(),
        Body::Sized(bytes) | Body::Call(bytes) => {
            head += &format!("Content-Length: {}\r\n", bytes.len());
            Cow::Borrowed(&**bytes)
        }
        Body::Chunked(bytes) => {
            head += "Transfer-Encoding: chunked\r\n";
            Cow::Owned(in_chunks(bytes))
        }
    };
    head += "\r\n";
    let begin = head.len();
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&body);
    (bytes, begin)
}

fn in_chunks(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for chunk in bytes.chunks(CHUNK) {
        text.extend(format!("{:x}\r\n", chunk.len()).bytes());
        text.extend_from_slice(chunk);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"0\r\n\r\n");
    text
}

#[cfg(test)]
mod tests;
