//! What is answered to which request. Only pages of this server, and who types its address, get anything.

use std::sync::Arc;

use http_body_util::{Either, Full};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::Bytes,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue, ORIGIN},
    http::uri::Authority,
};

use super::hub::{Events, Hub};

/// An answer: all at once, or as long as somebody watches.
pub(super) type Answer = Response<Either<Full<Bytes>, Events>>;

/// A page is not kept: the address is the same, and the report another.
const ANEW: &str = "no-store";
const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// The report.
    Front,
    /// To be told, with this version on the screen.
    Events { seen: Option<u64> },
}

/// Answers a request.
pub(super) async fn answer<B>(hub: &Arc<Hub>, request: &Request<B>) -> Answer {
    match asked(request) {
        Err((status, why)) => refusal(status, why),
        Ok(Asked::Front) => whole(StatusCode::OK, HTML, ANEW, hub.front()),
        Ok(Asked::Events { seen }) => match hub.watch(seen) {
            None => refusal(
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many pages follow this session; close one.",
            ),
            Some(events) => answered(
                StatusCode::OK,
                "text/event-stream",
                ANEW,
                Either::Right(events),
            ),
        },
    }
}

fn asked<B>(request: &Request<B>) -> Result<Asked, (StatusCode, &'static str)> {
    if !is_loopback(request) {
        // Another name for 127.0.0.1 is how a page from elsewhere would read this one (DNS rebinding).
        let why = "This page is served to this machine: ask for it as 127.0.0.1 or localhost.";
        return Err((StatusCode::MISDIRECTED_REQUEST, why));
    }
    if comes_from_elsewhere(request.headers()) {
        let why = "Another site's page asked for this.";
        return Err((StatusCode::FORBIDDEN, why));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let why = "Only GET and HEAD are answered.";
        return Err((StatusCode::METHOD_NOT_ALLOWED, why));
    }
    let uri = request.uri();
    match uri.path() {
        "/" => Ok(Asked::Front),
        "/events" => Ok(Asked::Events {
            seen: uri
                .query()
                .and_then(|query| query.strip_prefix("seen=")?.parse().ok()),
        }),
        _ => Err((StatusCode::NOT_FOUND, "There is nothing here but /.")),
    }
}

/// Whether it was asked of this machine, by whichever port: a tunnel has one of its own.
fn is_loopback<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let host: Option<Authority> = host.to_str().ok().and_then(|host| host.parse().ok());
    host.is_some_and(|host| {
        !host.as_str().contains('@') && matches!(host.host(), "127.0.0.1" | "localhost" | "[::1]")
    })
}

/// Whether a page of another origin asks (Fetch Metadata). One that links here does no harm.
fn comes_from_elsewhere(headers: &HeaderMap) -> bool {
    let is = |name: &str, values: &[&str]| {
        let value = headers.get(name);
        value.map(|value| values.iter().any(|one| value == one))
    };
    let foreign = is("sec-fetch-site", &["same-origin", "none"]) == Some(false);
    let link = is("sec-fetch-mode", &["navigate"]) == Some(true)
        && is("sec-fetch-dest", &["document"]) == Some(true);
    let origin = headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
    let own = headers.get(HOST).and_then(|host| host.to_str().ok());
    let foreign_origin = origin.is_some_and(|origin| origin.strip_prefix("http://") != own);
    (foreign && !link) || foreign_origin
}

fn refusal(status: StatusCode, why: &'static str) -> Answer {
    let mut answer = whole(status, TEXT, ANEW, Bytes::from(format!("{why}\n")));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let methods = HeaderValue::from_static("GET, HEAD");
        answer.headers_mut().insert(ALLOW, methods);
    }
    answer
}

fn whole(status: StatusCode, kind: &'static str, kept: &'static str, body: Bytes) -> Answer {
    answered(status, kind, kept, Either::Left(Full::new(body)))
}

fn answered(
    status: StatusCode,
    kind: &'static str,
    kept: &'static str,
    body: Either<Full<Bytes>, Events>,
) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "no-referrer"),
        ("content-security-policy", "frame-ancestors 'none'"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap()
    }

    fn status(method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
        match asked(&request(method, path, headers)) {
            Ok(_) => 200,
            Err((status, _)) => status.as_u16(),
        }
    }

    #[test]
    fn only_the_names_of_this_machine_are_answered() {
        for host in ["127.0.0.1:4000", "localhost:8080", "localhost", "[::1]:80"] {
            assert_eq!(status("GET", "/", &[("host", host)]), 200, "{host}");
        }
        let rebound = [
            "evil.example",
            "evil.example:4000",
            "127.0.0.1.evil.example",
            "localhost.evil.example:80",
            "localhost@evil.example",
            "evil@127.0.0.1",
            "192.168.0.1:4000",
            "0.0.0.0:4000",
            "",
        ];
        for host in rebound {
            assert_eq!(status("GET", "/", &[("host", host)]), 421, "{host}");
        }
        assert_eq!(status("GET", "/", &[]), 421);
        let twice = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(status("GET", "/", &twice), 421);
    }

    #[test]
    fn pages_of_other_origins_get_nothing_and_their_links_do() {
        let of = |headers: &[(&str, &str)]| {
            let host = [("host", "127.0.0.1:4000")];
            status("GET", "/events", &[&host, headers].concat())
        };
        assert_eq!(of(&[("sec-fetch-site", "same-origin")]), 200);
        assert_eq!(of(&[("sec-fetch-site", "none")]), 200);
        assert_eq!(of(&[("sec-fetch-site", "cross-site")]), 403);
        // Another port of this machine is another origin of the same site.
        assert_eq!(of(&[("sec-fetch-site", "same-site")]), 403);
        assert_eq!(of(&[("origin", "http://127.0.0.1:4000")]), 200);
        assert_eq!(of(&[("origin", "http://127.0.0.1:4001")]), 403);
        assert_eq!(of(&[("origin", "null")]), 403);
        let navigates = ("sec-fetch-mode", "navigate");
        let cross = ("sec-fetch-site", "cross-site");
        assert_eq!(of(&[cross, navigates, ("sec-fetch-dest", "document")]), 200);
        assert_eq!(of(&[cross, navigates, ("sec-fetch-dest", "iframe")]), 403);
    }

    #[test]
    fn there_is_the_page_its_script_and_its_events() {
        let of = |path: &str| asked(&request("GET", path, &[("host", "localhost")])).ok();
        assert_eq!(of("/"), Some(Asked::Front));
        assert_eq!(of("/events"), Some(Asked::Events { seen: None }));
        assert_eq!(of("/events?seen=x"), Some(Asked::Events { seen: None }));
        assert_eq!(of("/events?seen=7"), Some(Asked::Events { seen: Some(7) }));
        assert_eq!(of("/session.json"), None);
        assert_eq!(of("//"), None);
        assert_eq!(status("POST", "/", &[("host", "localhost")]), 405);
    }
}
