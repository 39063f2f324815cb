//! What is said to a proxy until a connection leads to the server behind it: CONNECT (RFC 9110 §9.3.6) and SOCKS 5
//! (RFC 1928, RFC 1929). Bytes in, bytes out; knows no socket. Any split of the bytes gives the same result.

use std::{net::IpAddr, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deadheat_model::load::{Login, Proxy, ProxyKind};

use crate::error::ProxyError;

/// The longest answer to a CONNECT. Its head is all that it may have.
const LONGEST_HEAD: usize = 16 * 1024;
/// The most bytes that a proxy may say altogether, interim answers included.
const LONGEST_TALK: usize = 64 * 1024;
/// SOCKS: no authentication, and by user and password.
const NO_LOGIN: u8 = 0;
const BY_PASSWORD: u8 = 2;

/// The bytes that ask a proxy for a tunnel, shared by all connections.
#[derive(Debug)]
pub(crate) enum ProxyHandshake {
    /// A request, whose answer must be 2xx.
    Connect { request: Vec<u8> },
    /// SOCKS 5: the offered login methods, the user and password if there are any, and the request with the address.
    Socks {
        greeting: Vec<u8>,
        login: Option<Vec<u8>>,
        request: Vec<u8>,
    },
}

/// The value of Proxy-Authorization (RFC 9110 §11.7.2).
pub(crate) fn authorization(login: &Login) -> String {
    let both = format!("{}:{}", login.user, login.password);
    format!("Basic {}", STANDARD.encode(both))
}

impl ProxyHandshake {
    /// The handshake for `proxy`; an error says what it cannot express.
    pub(crate) fn new(proxy: &Proxy) -> Result<Self, ProxyError> {
        let (host, port) = proxy
            .to
            .rsplit_once(':')
            .and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)))
            .ok_or_else(|| ProxyError::NoPort(proxy.to.clone()))?;
        Ok(match proxy.kind {
            ProxyKind::Http => {
                let to = &proxy.to;
                let mut request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
                if let Some(login) = &proxy.login {
                    let value = authorization(login);
                    request.push_str(&format!("Proxy-Authorization: {value}\r\n"));
                }
                request.push_str("\r\n");
                Self::Connect {
                    request: request.into_bytes(),
                }
            }
            ProxyKind::Socks5 => Self::Socks {
                greeting: match proxy.login {
                    None => vec![5, 1, NO_LOGIN],
                    Some(_) => vec![5, 2, NO_LOGIN, BY_PASSWORD],
                },
                login: proxy.login.as_ref().map(login).transpose()?,
                request: [&[5, 1, 0][..], &address(host)?, &port.to_be_bytes()].concat(),
            },
        })
    }

    fn opening(&self) -> &[u8] {
        match self {
            Self::Connect { request } => request,
            Self::Socks { greeting, .. } => greeting,
        }
    }
}

/// RFC 1929 §2.
fn login(login: &Login) -> Result<Vec<u8>, ProxyError> {
    let mut bytes = vec![1];
    for (what, text) in [("user", &login.user), ("password", &login.password)] {
        // The length must not be zero, and it is sent in one byte.
        let length = u8::try_from(text.len()).ok().filter(|length| *length > 0);
        bytes.push(length.ok_or(ProxyError::Login(what))?);
        bytes.extend_from_slice(text.as_bytes());
    }
    Ok(bytes)
}

/// An address with its type (RFC 1928 §5).
fn address(host: &str) -> Result<Vec<u8>, ProxyError> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    Ok(match bare.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => [&[1][..], &address.octets()].concat(),
        Ok(IpAddr::V6(address)) => [&[4][..], &address.octets()].concat(),
        Err(_) => {
            let length = u8::try_from(host.len()).ok();
            let length = length.ok_or(ProxyError::LongName)?;
            [&[3, length][..], host.as_bytes()].concat()
        }
    })
}

/// The part of the handshake that the proxy sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedReply {
    /// The head of the answer to a CONNECT.
    Head,
    /// The method that a SOCKS proxy chooses.
    Method,
    /// Whether user and password are right.
    Login,
    /// Whether the connection is made.
    Reply,
    /// Nothing more.
    Nothing,
}

/// Why a proxy opened no tunnel: `why` groups failures, and `detail` describes this one in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProxyRefusal {
    pub(crate) why: &'static str,
    pub(crate) detail: String,
}

/// The handshake with a proxy on one connection.
#[derive(Debug)]
pub(crate) struct Tunnel {
    script: Arc<ProxyHandshake>,
    awaited: ExpectedReply,
    /// Bytes of the current message that were written.
    written: usize,
    /// Bytes of the expected reply received so far.
    came: Vec<u8>,
    /// Bytes received in the whole handshake.
    length: usize,
}

impl Tunnel {
    pub(crate) fn new(script: &Arc<ProxyHandshake>) -> Self {
        Self {
            awaited: match **script {
                ProxyHandshake::Connect { .. } => ExpectedReply::Head,
                ProxyHandshake::Socks { .. } => ExpectedReply::Method,
            },
            script: Arc::clone(script),
            written: 0,
            came: Vec::new(),
            length: 0,
        }
    }

    /// What is to be written now.
    pub(crate) fn unwritten(&self) -> &[u8] {
        let all = match (self.awaited, &*self.script) {
            (ExpectedReply::Head | ExpectedReply::Method, script) => script.opening(),
            (ExpectedReply::Login, ProxyHandshake::Socks { login, .. }) => {
                login.as_deref().unwrap_or_default()
            }
            (ExpectedReply::Reply, ProxyHandshake::Socks { request, .. }) => request,
            _ => &[],
        };
        all.get(self.written..).unwrap_or_default()
    }

    /// This many bytes more have been written.
    pub(crate) fn wrote(&mut self, count: usize) {
        self.written += count;
    }

    /// Takes bytes that came; whether the connection leads to the server now.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<bool, ProxyRefusal> {
        self.length += bytes.len();
        if self.length > LONGEST_TALK {
            return Err(refusal(
                "the proxy sends more than 64 KiB and does not connect",
                bytes,
            ));
        }
        for (nth, byte) in bytes.iter().enumerate() {
            self.came.push(*byte);
            if let Some(next) = self.next()? {
                self.came.clear();
                if next != self.awaited {
                    self.written = 0;
                }
                self.awaited = next;
                if next == ExpectedReply::Nothing {
                    return match bytes.len() - nth - 1 {
                        0 => Ok(true),
                        // Neither HTTP nor TLS has a server that speaks first.
                        _ => Err(refusal("the proxy sent more than its answer", bytes)),
                    };
                }
            }
        }
        Ok(false)
    }

    /// What is awaited next, if what was awaited is whole.
    fn next(&self) -> Result<Option<ExpectedReply>, ProxyRefusal> {
        let came = self.came.as_slice();
        match self.awaited {
            ExpectedReply::Nothing => Ok(None),
            ExpectedReply::Head => head(came),
            ExpectedReply::Method => match came {
                [5, NO_LOGIN] => Ok(Some(ExpectedReply::Reply)),
                [5, BY_PASSWORD] if self.has_login() => Ok(Some(ExpectedReply::Login)),
                [5] | [] => Ok(None),
                [5, ..] if self.has_login() => {
                    Err(refusal("the proxy accepts no user and password", came))
                }
                [5, ..] => Err(refusal("the proxy wants a user and a password", came)),
                _ => Err(refusal("the proxy's answer is not SOCKS 5", came)),
            },
            ExpectedReply::Login => match came {
                [_, 0] => Ok(Some(ExpectedReply::Reply)),
                [_, _, ..] => Err(refusal("the proxy does not accept user and password", came)),
                _ => Ok(None),
            },
            ExpectedReply::Reply => reply(came),
        }
    }

    fn has_login(&self) -> bool {
        matches!(&*self.script, ProxyHandshake::Socks { login: Some(_), .. })
    }
}

fn refusal(why: &'static str, came: &[u8]) -> ProxyRefusal {
    let shown = came.escape_ascii().to_string();
    let end = shown
        .char_indices()
        .nth(120)
        .map_or(shown.len(), |(end, _)| end);
    ProxyRefusal {
        why,
        detail: format!("{why}: {}", &shown[..end]),
    }
}

/// The head of an answer to a CONNECT, if it is whole.
fn head(came: &[u8]) -> Result<Option<ExpectedReply>, ProxyRefusal> {
    let start = b"HTTP/1.";
    let common = start.len().min(came.len());
    if came[..common] != start[..common] {
        return Err(refusal("the proxy's answer is not HTTP", came));
    }
    if came.len() > LONGEST_HEAD {
        return Err(refusal("the proxy's answer is too long", came));
    }
    if !came.ends_with(b"\r\n\r\n") && !came.ends_with(b"\n\n") {
        return Ok(None);
    }
    let line = came.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let status = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let why = match status {
        [b'2', _, _] => return Ok(Some(ExpectedReply::Nothing)),
        // Another one follows (RFC 9110 §15.2).
        [b'1', _, _] => return Ok(Some(ExpectedReply::Head)),
        b"403" => "the proxy refused: 403",
        b"407" => "the proxy wants a user and a password: 407",
        b"502" => "the proxy did not reach the server: 502",
        b"503" => "the proxy did not reach the server: 503",
        b"504" => "the proxy did not reach the server: 504",
        _ => "the proxy refused",
    };
    Err(refusal(why, line))
}

/// A SOCKS proxy's last reply, if it is whole (RFC 1928 §6).
fn reply(came: &[u8]) -> Result<Option<ExpectedReply>, ProxyRefusal> {
    let [version, code, _, kind, rest @ ..] = came else {
        return Ok(None);
    };
    let why = match (version, code) {
        (5, 0) => {
            let length = match (kind, rest) {
                (1, _) => 4,
                (4, _) => 16,
                (3, [length, ..]) => usize::from(*length) + 1,
                (3, []) => return Ok(None),
                _ => return Err(refusal("the proxy's answer is not SOCKS 5", came)),
            };
            return Ok((rest.len() == length + 2).then_some(ExpectedReply::Nothing));
        }
        (5, 2) => "the proxy's rules do not allow the connection",
        (5, 3) => "the proxy did not reach the server: its network is unreachable",
        (5, 4) => {
            "the proxy did not reach the server: its host is unreachable, or its name unknown"
        }
        (5, 5) => "the proxy did not reach the server: the connection was refused",
        (5, 6) => "the proxy did not reach the server in time",
        (5, 8) => "the proxy does not know this kind of address",
        (5, _) => "the proxy refused",
        _ => "the proxy's answer is not SOCKS 5",
    };
    Err(refusal(why, came))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(kind: ProxyKind, to: &str, login: Option<(&str, &str)>) -> Proxy {
        Proxy {
            kind,
            to: to.to_owned(),
            login: login.map(|(user, password)| Login {
                user: user.to_owned(),
                password: password.to_owned(),
            }),
        }
    }

    /// Says what `proxy` answers, in pieces of this many bytes: what was said to it, and what came of it.
    fn talk(
        about: &Proxy,
        answers: &[&[u8]],
        piece: usize,
    ) -> (Vec<u8>, Result<bool, ProxyRefusal>) {
        let mut tunnel = Tunnel::new(&Arc::new(ProxyHandshake::new(about).unwrap()));
        let mut said = Vec::new();
        let mut speak = |tunnel: &mut Tunnel| {
            while !tunnel.unwritten().is_empty() {
                said.push(tunnel.unwritten()[0]);
                tunnel.wrote(1);
            }
        };
        let mut came = Ok(false);
        for answer in answers {
            for part in answer.chunks(piece) {
                speak(&mut tunnel);
                came = tunnel.feed(part);
                if came.is_err() {
                    return (said, came);
                }
            }
        }
        (said, came)
    }

    /// The same for any split of the answers.
    #[track_caller]
    fn always(about: &Proxy, answers: &[&[u8]]) -> (Vec<u8>, Result<bool, ProxyRefusal>) {
        let whole = talk(about, answers, usize::MAX);
        let longest = answers.iter().map(|answer| answer.len()).max().unwrap();
        for piece in 1..longest {
            let (said, came) = talk(about, answers, piece);
            let why = |came: &Result<bool, ProxyRefusal>| {
                let came = came.clone();
                came.map_err(|refusal| refusal.why)
            };
            assert_eq!(
                (said, why(&came)),
                (whole.0.clone(), why(&whole.1)),
                "{piece}"
            );
        }
        whole
    }

    #[test]
    fn a_proxy_that_never_comes_to_its_answer_is_refused() {
        let about = proxy(ProxyKind::Http, "a:1", None);
        let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(LONGEST_TALK / 25);
        let (_, came) = talk(&about, &[&interim], 4_096);
        assert_eq!(came, Ok(false));
        let (_, came) = talk(&about, &[&interim, &interim], 4_096);
        assert!(came.unwrap_err().why.contains("64 KiB"));
    }

    #[test]
    fn a_tunnel_is_asked_for_by_connect() {
        let about = proxy(ProxyKind::Http, "shop.test:443", None);
        let (said, came) = always(
            &about,
            &[b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n"],
        );
        assert_eq!(
            said,
            b"CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n\r\n"
        );
        assert_eq!(came, Ok(true));
        // One head more is no other answer, and nothing to be asked again for.
        let asked = said;
        let (said, came) = always(
            &about,
            &[
                b"HTTP/1.1 103 Early Hints\r\n\r\n",
                b"HTTP/1.1 200 OK\r\n\r\n",
            ],
        );
        assert_eq!((said, came), (asked, Ok(true)));
        let about = proxy(
            ProxyKind::Http,
            "[::1]:443",
            Some(("Aladdin", "open sesame")),
        );
        let (said, came) = always(&about, &[b"HTTP/1.0 200 OK\n\n"]);
        let said = String::from_utf8(said).unwrap();
        assert!(said.ends_with("Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n"));
        assert_eq!(came, Ok(true));
    }

    #[test]
    fn socks_offers_what_there_is_and_sends_names_as_names() {
        let plain = proxy(ProxyKind::Socks5, "shop.test:80", None);
        let bound = &[5, 0, 0, 1, 127, 0, 0, 1, 0, 80][..];
        let (said, came) = always(&plain, &[&[5, 0], bound]);
        let expected = [&[5, 1, 0, 5, 1, 0, 3, 9][..], b"shop.test", &[0, 80]].concat();
        assert_eq!((said, came), (expected, Ok(true)));
        let login = proxy(ProxyKind::Socks5, "127.0.0.1:258", Some(("ann", "pw")));
        let named = &[5, 0, 0, 3, 1, b'x', 0, 80][..];
        let (said, came) = always(&login, &[&[5, 2], &[1, 0], named]);
        let expected = [
            &[5, 2, 0, 2, 1, 3][..],
            b"ann\x02pw",
            &[5, 1, 0, 1, 127, 0, 0, 1, 1, 2],
        ];
        assert_eq!((said, came), (expected.concat(), Ok(true)));
        let six = proxy(ProxyKind::Socks5, "[::1]:80", None);
        let (said, _) = always(&six, &[&[5, 0], &[5]]);
        assert_eq!(said[..7], [5, 1, 0, 5, 1, 0, 4]);
    }

    #[test]
    fn refusals_say_why() {
        let http = proxy(ProxyKind::Http, "h:443", None);
        let socks = proxy(ProxyKind::Socks5, "h:80", None);
        let login = proxy(ProxyKind::Socks5, "h:80", Some(("a", "b")));
        let cases: [(&Proxy, &[&[u8]], &str); 10] = [
            (&http, &[b"HTTP/1.1 403 Forbidden\r\n\r\n"], "refused: 403"),
            (&http, &[b"HTTP/1.1 407 x\r\n\r\n"], "a password: 407"),
            (&http, &[b"SSH-2.0-OpenSSH"], "not HTTP"),
            (
                &http,
                &[b"HTTP/1.1 200 OK\r\n\r\nx"],
                "more than its answer",
            ),
            (&socks, &[&[5, 255]], "wants a user"),
            (&socks, &[b"HTTP/1.1 400"], "not SOCKS 5"),
            (&socks, &[&[5, 0], &[5, 5, 0, 1]], "was refused"),
            (&socks, &[&[5, 2]], "wants a user"),
            (&login, &[&[5, 255]], "accepts no user"),
            (&login, &[&[5, 2], &[1, 1]], "does not accept user"),
        ];
        for (about, answers, expected) in cases {
            let (_, came) = talk(about, answers, usize::MAX);
            let refusal = came.unwrap_err();
            assert!(refusal.detail.contains(expected), "{refusal:?}");
            let (_, bytewise) = talk(about, answers, 1);
            // What follows an answer is seen only with it.
            if expected != "more than its answer" {
                assert_eq!(bytewise.unwrap_err().why, refusal.why);
            }
        }
        let long = [b"HTTP/1.1 200 ".as_slice(), &[b'x'; LONGEST_HEAD]].concat();
        let (_, came) = talk(&http, &[&long], 1000);
        assert!(came.unwrap_err().why.contains("too long"));
        for to in ["h", "h:x", "h:99999"] {
            let about = proxy(ProxyKind::Http, to, None);
            assert!(ProxyHandshake::new(&about).is_err());
        }
        let mut without = login.clone();
        without.login.as_mut().unwrap().password.clear();
        assert!(ProxyHandshake::new(&without).is_err());
    }
}
