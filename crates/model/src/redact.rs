//! Decides which parts of a request may be shown and recorded. Anything that a user sends may be a secret, so only
//! parts that are known to be harmless are kept.

use crate::{
    LoadSpec,
    load::{Body, Bytes, HiddenParts, ListSize},
};

/// The text in place of a hidden value.
pub const HIDDEN: &str = "…";

/// Request headers without secrets, in lower case. Any other header may contain a secret, whatever its name.
const HARMLESS_HEADERS: [&str; 22] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-type",
    "expect",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "origin",
    "pragma",
    "range",
    "te",
    "upgrade",
    "user-agent",
];

/// A request header's value as it may be shown and recorded.
pub fn header_value<'a>(name: &str, value: &'a str) -> &'a str {
    if HARMLESS_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
        value
    } else {
        HIDDEN
    }
}

/// A URL, or its path and query, as it may be shown and recorded. It has no fragment, no values in its query, and no
/// values of parameters in its path (`;jsessionid=…`). Placeholders of templates are kept.
pub fn url(text: &str) -> String {
    let end = find(text, &['#']).unwrap_or(text.len());
    let text = &text[..end];
    let (path, query) = match find(text, &['?']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let mut shown = String::with_capacity(text.len());
    let mut rest = path;
    while let Some(at) = find(rest, &[';']) {
        let (before, parameter) = rest.split_at(at + 1);
        let end = find(parameter, &[';', '/']).unwrap_or(parameter.len());
        shown += before;
        // A parameter without a name is a part of the path.
        shown += &match find(&parameter[..end], &['=']) {
            Some(_) => without_value(&parameter[..end]),
            None => parameter[..end].to_owned(),
        };
        rest = &parameter[end..];
    }
    shown += rest;
    if let Some(mut query) = query {
        shown.push('?');
        while let Some(at) = find(query, &['&', ';']) {
            shown += &without_value(&query[..at]);
            shown += &query[at..=at];
            query = &query[at + 1..];
        }
        shown += &without_value(query);
    }
    shown
}

/// `NAME=…`, or `…` for a value without a name.
fn without_value(parameter: &str) -> String {
    match find(parameter, &['=']) {
        Some(at) => format!("{}{}", &parameter[..=at], hidden(&parameter[at + 1..])),
        None => hidden(parameter).to_owned(),
    }
}

/// The visible form of a value. It is hidden, unless it is empty or one placeholder, which is filled in for each
/// request.
fn hidden(value: &str) -> &str {
    let is_placeholder = value
        .strip_prefix("{{")
        .and_then(|rest| rest.strip_suffix("}}"))
        .is_some_and(|inside| !inside.contains("{{") && !inside.contains("}}"));
    if value.is_empty() || is_placeholder {
        value
    } else {
        HIDDEN
    }
}

/// The place of the first of these letters outside placeholders; `None`: there is no such letter.
fn find(text: &str, letters: &[char]) -> Option<usize> {
    let mut from = 0;
    loop {
        let found = from + text[from..].find(letters)?;
        let Some(start) = text[from..found].rfind("{{").map(|at| from + at) else {
            return Some(found);
        };
        match text[start..].find("}}") {
            Some(length) if start + length + 2 > found => from = start + length + 2,
            _ => return Some(found),
        }
    }
}

/// Removes from a load what must not be recorded: values of headers and queries, bodies, lines of lists, the password
/// of a proxy, and the client's private key. Names, counts and lengths are kept. A fingerprint shows whether two loads
/// sent the same.
pub fn hide(load: &mut LoadSpec) {
    if load.hidden.is_none() {
        let size = |lines: &Vec<String>| ListSize {
            lines: lines.len() as u64,
            bytes: lines.iter().map(|line| line.len() as u64).sum(),
        };
        let lists = load.lists.iter();
        load.hidden = Some(HiddenParts {
            body_bytes: load
                .exchanges
                .iter()
                .map(|one| one.request.body.length())
                .collect(),
            lists: lists
                .map(|(name, lines)| (name.clone(), size(lines)))
                .collect(),
            fingerprint: fingerprint(load),
        });
    }
    load.lists.clear();
    for exchange in &mut load.exchanges {
        let request = &mut exchange.request;
        request.path = url(&request.path);
        for (name, value) in &mut request.headers {
            *value = header_value(name, value).to_owned();
        }
        match &mut request.body {
            Body::None => {}
            Body::Sized(bytes) | Body::Chunked(bytes) | Body::Call(bytes) => {
                *bytes = Bytes::new();
            }
        }
    }
    for target in std::iter::once(&mut load.target).chain(&mut load.others) {
        if let Some(login) = target.proxy.as_mut().and_then(|proxy| proxy.login.as_mut()) {
            login.password.clear();
        }
        let tls = target.tls.as_mut();
        if let Some(identity) = tls.and_then(|tls| tls.identity.as_mut()) {
            identity.key.clear();
        }
    }
}

/// Four digits of a checksum (FNV-1a) over everything that is sent. Two loads that send different things have the same
/// digits by chance once in 65,536 times. A longer checksum would confirm a guess at a short secret.
fn fingerprint(load: &LoadSpec) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        // Lengths separate adjacent values.
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in length.iter().chain(bytes) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for exchange in &load.exchanges {
        let request = &exchange.request;
        add(request.method.as_bytes());
        add(request.path.as_bytes());
        for (name, value) in &request.headers {
            add(name.as_bytes());
            add(value.as_bytes());
        }
        match &request.body {
            Body::None => add(b"none"),
            Body::Sized(bytes) => add(bytes),
            Body::Chunked(bytes) => {
                add(b"chunked");
                add(bytes);
            }
            Body::Call(bytes) => {
                add(b"call");
                add(bytes);
            }
        }
        add(&exchange.weight.to_le_bytes());
    }
    for (name, lines) in &load.lists {
        add(name.as_bytes());
        for line in lines {
            add(line.as_bytes());
        }
    }
    let folded = hash ^ (hash >> 32);
    format!("{:04x}", (folded ^ (folded >> 16)) & 0xffff)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        Schedule, StopRule,
        load::{
            Exchange, Expectation, Identity, Login, Proxy, ProxyKind, RequestSpec, StatusSet,
            Target, Tls, Trust,
        },
    };

    fn load(secret: &str) -> LoadSpec {
        let expect = Expectation {
            status: StatusSet::success(),
            length: None,
            content: None,
        };
        let request = RequestSpec {
            headers: vec![
                ("X-Own".to_owned(), secret.to_owned()),
                ("Accept".to_owned(), "text/html".to_owned()),
            ],
            body: Body::Sized(format!("name={secret}").into()),
            template: true,
            ..RequestSpec::get(format!("/a;jsessionid={secret}?code={secret}#{secret}"))
        };
        let mut target = Target::plain("127.0.0.1:443".parse().unwrap());
        target.proxy = Some(Proxy {
            kind: ProxyKind::Http,
            to: "h:443".to_owned(),
            login: Some(Login {
                user: "ann".to_owned(),
                password: secret.to_owned(),
            }),
        });
        target.tls = Some(Tls {
            server_name: "localhost".to_owned(),
            trust: Trust::System,
            identity: Some(Identity {
                certificates: "PEM".to_owned(),
                key: secret.to_owned(),
            }),
            resumption: true,
            version: None,
            cipher_suites: Vec::new(),
        });
        let closed = Schedule::Closed {
            connections: 1,
            ramp: Duration::ZERO,
        };
        let exchanges = vec![Exchange::new(request, expect)];
        let mut load = LoadSpec::new(target, exchanges, closed, StopRule::Interrupt);
        let lines = vec![secret.to_owned(), "b".to_owned()];
        load.lists.insert("tokens.txt".to_owned(), lines);
        load
    }

    #[test]
    fn a_record_has_names_counts_and_lengths_and_no_value() {
        let recorded = |secret: &str| {
            let mut load = load(secret);
            hide(&mut load);
            let once = load.clone();
            hide(&mut load);
            assert_eq!(load, once, "hiding again changes nothing");
            load
        };
        let load = recorded("hunter2");
        let json = serde_json::to_string(&load).unwrap();
        assert!(!json.contains("hunter2"), "{json}");
        // "hunter2" in base64, wherever it begins.
        for part in ["aHVudGVyM", "h1bnRlcj", "odW50ZXIy"] {
            assert!(!json.contains(part), "{json}");
        }
        let hidden = load.hidden.as_ref().unwrap();
        assert_eq!(hidden.body_bytes, [Some(12)]);
        let size = &hidden.lists["tokens.txt"];
        assert_eq!((size.lines, size.bytes), (2, 8));
        let request = &load.exchanges[0].request;
        assert_eq!(request.path, "/a;jsessionid=…?code=…");
        assert_eq!(request.headers[1].1, "text/html");
        assert_eq!(serde_json::from_str::<LoadSpec>(&json).unwrap(), load);
        // Two records of the same load are equal, and those of others are not.
        assert_eq!(recorded("hunter2"), load);
        assert_ne!(recorded("hunter3"), load);
    }

    #[test]
    fn a_url_keeps_its_path_and_the_names_in_its_query() {
        for (text, shown) in [
            ("/users?page=2&limit=50", "/users?page=…&limit=…"),
            ("http://h/?a=b=c", "http://h/?a=…"),
            ("/?abc", "/?…"),
            ("/?a=&b", "/?a=&…"),
            ("/?a=1;b=2", "/?a=…;b=…"),
            ("/a;jsessionid=1/b;c;d=2?e=3", "/a;jsessionid=…/b;c;d=…?e=…"),
            ("/a#token=b", "/a"),
            ("/?", "/?"),
            (
                "/?t={{line tokens.txt}}&c=x{{counter}}",
                "/?t={{line tokens.txt}}&c=…",
            ),
            ("/{{line a?b#c;d=e.txt}}?f=1", "/{{line a?b#c;d=e.txt}}?f=…"),
            ("/{{a?b=c", "/{{a?b=…"),
        ] {
            assert_eq!(url(text), shown, "{text}");
        }
    }

    #[test]
    fn only_headers_that_hold_no_secret_are_shown() {
        for name in ["Accept", "content-type", "HOST"] {
            assert_eq!(header_value(name, "x"), "x", "{name}");
        }
        for name in [
            "Authorization",
            "Cookie",
            "X-Auth-Token",
            "apikey",
            "X",
            "Referer",
        ] {
            assert_eq!(header_value(name, "x"), HIDDEN, "{name}");
        }
    }
}
