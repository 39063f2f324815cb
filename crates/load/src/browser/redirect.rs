//! Where a redirect leads to (RFC 9110 §15.4), as a pure function of the request and the answer's `Location`.

use deadheat_model::load::REDIRECTS;
use url::{Position, Url};

use super::{Request, is};

/// What a redirect says of where it leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) value: Vec<u8>,
    /// How many fields said so.
    pub(super) fields: u32,
}

/// Whether an answer with this status leads elsewhere.
pub(super) fn is_redirect(status: u16) -> bool {
    REDIRECTS.contains(&status)
}

/// The request that a redirect leads to from `request`, on the same origin; or why there is none.
pub(super) fn next(
    status: u16,
    request: &[u8],
    location: &Location,
    tls: bool,
) -> Result<Vec<u8>, &'static str> {
    let request = Request::parse(request).ok_or("the request before it cannot be read")?;
    let target = target(&request, location, tls)?;
    let method: &[u8] = match (status, request.method) {
        // RFC 9110 §15.4.4: by retrieving it, which is GET, or HEAD where nothing but the head is wanted.
        (303, method) if method != b"HEAD" => b"GET",
        // RFC 9110 §15.4.2 and §15.4.3, as browsers do it.
        (301 | 302, b"POST") => b"GET",
        (_, method) => method,
    };
    let keeps_content = method == request.method;
    let mut next = Vec::with_capacity(request.fields.len() + target.len() + 64);
    next.extend_from_slice(method);
    next.push(b' ');
    next.extend_from_slice(target.as_bytes());
    next.extend_from_slice(request.version);
    for line in request.fields.split_inclusive(|byte| *byte == b'\n') {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        if keeps_content || !is_of_content(name) {
            next.extend_from_slice(line);
        }
    }
    next.extend_from_slice(b"\r\n");
    if keeps_content {
        next.extend_from_slice(request.content);
    }
    Ok(next)
}

/// Path and query of where it leads to: a reference to be resolved (RFC 3986 §5), without its fragment.
fn target(request: &Request<'_>, location: &Location, tls: bool) -> Result<String, &'static str> {
    let no_url = "its Location is not a URL";
    match location.fields {
        0 => return Err("it has no Location"),
        1 => {}
        _ => return Err("it has more than one Location"),
    }
    let reference = std::str::from_utf8(&location.value).map_err(|_| no_url)?;
    // The origin is what the request says (RFC 9110 §7.1): the server knows no other.
    let host = request.field("host").unwrap_or_default();
    let host = String::from_utf8_lossy(host);
    let scheme = if tls { "https" } else { "http" };
    let base = Url::parse(&format!("{scheme}://{host}{}", request.target))
        .map_err(|_| "the request's Host is not a host, so no origin is the same")?;
    let url = base.join(reference).map_err(|_| no_url)?;
    if url.origin() == base.origin() {
        Ok(url[Position::BeforePath..Position::AfterQuery].to_owned())
    } else {
        Err("it leads to another origin")
    }
}

/// Whether a field says something of the content (RFC 9110 §8, §15.4), and goes where that goes.
fn is_of_content(name: &[u8]) -> bool {
    let prefix = b"content-";
    let starts = name
        .get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    starts
        || ["transfer-encoding", "trailer", "expect"]
            .iter()
            .any(|other| is(name, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(value: &str) -> Location {
        Location {
            value: value.as_bytes().to_vec(),
            fields: 1,
        }
    }

    fn follow(status: u16, request: &str, to: &str) -> Result<String, &'static str> {
        next(status, request.as_bytes(), &location(to), false)
            .map(|next| String::from_utf8(next).unwrap())
    }

    #[test]
    fn methods_follow_rfc_9110() {
        for (status, before, after, keeps) in [
            (301, "POST", "GET", false),
            (302, "POST", "GET", false),
            (303, "POST", "GET", false),
            (307, "POST", "POST", true),
            (308, "POST", "POST", true),
            (301, "PUT", "PUT", true),
            (302, "DELETE", "DELETE", true),
            (303, "PUT", "GET", false),
            (303, "HEAD", "HEAD", true),
            (301, "HEAD", "HEAD", true),
            (308, "GET", "GET", true),
        ] {
            let head = "HTTP/1.1\r\nHost: h:1\r\nContent-Type: text/plain\r\nX: 1\r\nContent-Length: 2\r\n\r\nhi";
            let found = follow(status, &format!("{before} /a {head}"), "/b").unwrap();
            let expected = if keeps {
                format!("{after} /b {head}")
            } else {
                format!("{after} /b HTTP/1.1\r\nHost: h:1\r\nX: 1\r\n\r\n")
            };
            assert_eq!(found, expected, "{status} {before}");
        }
    }

    #[test]
    fn references_are_resolved_as_in_rfc_3986() {
        let request = "GET /b/c/d;p?q HTTP/1.1\r\nHost: h:8080\r\n\r\n";
        // Most are of its §5.4.
        for (to, expected) in [
            ("g", "/b/c/g"),
            ("./g", "/b/c/g"),
            ("g/", "/b/c/g/"),
            ("/g", "/g"),
            ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"),
            ("#s", "/b/c/d;p?q"),
            ("g?y#s", "/b/c/g?y"),
            (";x", "/b/c/;x"),
            ("", "/b/c/d;p?q"),
            ("..", "/b/"),
            ("../../g", "/g"),
            ("../../../g", "/g"),
            ("g;x=1/../y", "/b/c/y"),
            ("g?y/../x", "/b/c/g?y/../x"),
            ("//h:8080/g", "/g"),
            ("HTTP://H:8080/g?h", "/g?h"),
            ("http://h:8080", "/"),
            ("a b?c d", "/b/c/a%20b?c%20d"),
        ] {
            let found = follow(302, request, to).unwrap();
            let expected = format!("GET {expected} HTTP/1.1\r\nHost: h:8080\r\n\r\n");
            assert_eq!(found, expected, "{to}");
        }
    }

    #[test]
    fn what_leads_nowhere_says_why() {
        let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
        for (to, why) in [
            ("//other/", "another origin"),
            ("https://h/", "another origin"),
            ("http://h:81/", "another origin"),
            ("mailto:a@b", "another origin"),
            ("http://[", "not a URL"),
        ] {
            let error = follow(302, request, to).unwrap_err();
            assert!(error.contains(why), "{to}: {error}");
        }
        assert!(follow(302, request, "http://h:80/").is_ok());
        let mut twice = location("/");
        twice.fields = 2;
        let error = next(302, request.as_bytes(), &twice, false).unwrap_err();
        assert!(error.contains("more than one"), "{error}");
        let none = Location::default();
        let error = next(302, request.as_bytes(), &none, false).unwrap_err();
        assert!(error.contains("no Location"), "{error}");
        let bytes = Location {
            value: b"/\xff".to_vec(),
            fields: 1,
        };
        assert!(next(302, request.as_bytes(), &bytes, false).is_err());
        assert!(next(302, request.as_bytes(), &location("https://h/"), true).is_ok());
    }
}
