//! Redirects that are followed, and cookies that are kept.

use std::time::Duration;

use deadheat_load::{LoadError, Session, Slice};
use deadheat_model::{
    Failure, LoadSpec, Observation, Schedule,
    load::{Arrivals, Body, HttpVersion, Protocol, RequestSpec, Reuse, Stage},
};
use deadheat_testkit::{
    Action, OracleServer, Request, Turn,
    answers::{BODY, hello, send, sized},
};

use crate::support::{count, expecting, lasting, run};

/// A redirect to `to`.
fn to(status: u16, to: &str) -> Vec<u8> {
    sized(status, &format!("Location: {to}\r\n"), b"elsewhere")
}

/// Each path leads to the next, `/0` to `/1`, with these statuses; the last one is answered.
fn chain(statuses: &'static [u16]) -> OracleServer {
    let script = move |turn: &Turn<'_>| {
        let at: usize = turn.request.path[1..].parse().unwrap();
        match statuses.get(at) {
            Some(status) => send(to(*status, &format!("{}#x", at + 1))),
            None => send(hello()),
        }
    };
    OracleServer::start(script).unwrap()
}

fn following(server: &OracleServer, requests: u64, path: &str) -> LoadSpec {
    let mut spec = count(server.address(), 2, requests);
    spec.exchanges = vec![expecting(RequestSpec::get(path), BODY)];
    spec.redirects = 5;
    spec
}

fn causes(seen: &Observation, kind: Failure) -> Vec<&str> {
    let of_it = seen.failures.iter().filter(|group| group.kind == kind);
    of_it.map(|group| group.cause.as_str()).collect()
}

fn line(request: &Request) -> (&str, &str, &[u8]) {
    (&request.method, &request.path, &request.body)
}

#[test]
fn a_request_and_its_redirects_are_one() {
    let server = chain(&[301, 302, 303, 307, 308]);
    let spec = following(&server, 20, "/0");
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 20, "{:?}", seen.examples);
    assert_eq!(seen.statuses, [(200, 20)].into());
    let each = [301, 302, 303, 307, 308].map(|status| (status, 20));
    assert_eq!(seen.followed, each.into());
    assert_eq!(seen.content_checked, 20);
    assert_eq!((seen.connections_opened, seen.resent), (2, 0));
    let server = server.seen_at_rest();
    assert_eq!((server.requests, server.connections), (120, 2));
}

#[test]
fn the_method_and_the_body_go_where_the_rfc_says() {
    for (status, method, body) in [
        (301, "GET", &b""[..]),
        (302, "GET", b""),
        (303, "GET", b""),
        (307, "POST", b"n=0"),
        (308, "POST", b"n=0"),
    ] {
        let server = OracleServer::start(move |turn: &Turn<'_>| match &*turn.request.path {
            "/" => send(to(status, "/there?a=b")),
            _ => send(hello()),
        });
        let server = server.unwrap();
        for chunked in [false, true] {
            let mut spec = following(&server, 1, "/");
            let request = &mut spec.exchanges[0].request;
            request.method = "POST".to_owned();
            // Filled once for a request, however often it is sent.
            request.template = true;
            let body = b"n={{counter}}".to_vec();
            request.body = if chunked {
                Body::Chunked(body.into())
            } else {
                Body::Sized(body.into())
            };
            let of = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
            request.headers = [("Content-Type", "text/plain"), ("X-Own", "{{counter}}")]
                .map(of)
                .to_vec();
            let seen = run(&spec);
            assert_eq!(seen.total.succeeded, 1, "{status}: {:?}", seen.examples);
        }
        let seen = server.seen_at_rest().first;
        assert_eq!(seen.len(), 4);
        for pair in seen.chunks(2) {
            assert_eq!(line(&pair[0]), ("POST", "/", &b"n=0"[..]), "{status}");
            assert_eq!(line(&pair[1]), (method, "/there?a=b", body), "{status}");
            assert_eq!(pair[1].header("x-own"), Some("0"));
            let has_type = pair[1].header("content-type").is_some();
            assert_eq!(has_type, method == "POST", "{status}");
            assert_eq!(
                pair[1].chunks.is_empty(),
                pair[0].chunks.is_empty() || method == "GET"
            );
        }
    }
}

#[test]
fn a_head_stays_one() {
    let server = OracleServer::start(|turn: &Turn<'_>| {
        let head = match &*turn.request.path {
            "/" => "HTTP/1.1 303 Status\r\nLocation: /b\r\nContent-Length: 9\r\n\r\n",
            _ => "HTTP/1.1 200 Status\r\nContent-Length: 13\r\n\r\n",
        };
        send(head)
    });
    let server = server.unwrap();
    let mut spec = following(&server, 4, "/");
    spec.exchanges = vec![expecting(RequestSpec::get("/"), b"")];
    spec.exchanges[0].request.method = "HEAD".to_owned();
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 4, "{:?}", seen.examples);
    let seen = server.seen_at_rest().first;
    assert!(seen.iter().all(|request| request.method == "HEAD"));
}

#[test]
fn what_leads_nowhere_fails_the_request_and_says_why() {
    for (answer, why) in [
        (to(302, "/"), "more redirects in a row"),
        (to(302, "http://other.example/"), "another origin"),
        (to(307, "//127.0.0.1:1/x?token=secret"), "another origin"),
        (to(301, "http://["), "not a URL"),
        (
            sized(303, "Location: /a\r\nLocation: /b\r\n", b""),
            "more than one Location",
        ),
    ] {
        let server = OracleServer::start(move |_: &Turn<'_>| send(answer.clone())).unwrap();
        let seen = run(&following(&server, 6, "/"));
        assert_eq!(seen.total.failed[Failure::BadRedirect], 6, "{why}");
        assert!(seen.statuses.is_empty(), "{why}: not one final answer");
        let causes = causes(&seen, Failure::BadRedirect);
        assert!(causes.len() == 1 && causes[0].contains(why), "{causes:?}");
        assert!(!seen.examples.is_empty());
        assert!(
            seen.examples
                .iter()
                .all(|one| !one.detail.contains("secret"))
        );
        let followed: u64 = seen.followed.values().sum();
        assert_eq!(server.seen_at_rest().requests, 6 + followed, "{why}");
        assert_eq!(followed, if why.contains("in a row") { 30 } else { 0 });
    }
}

#[test]
fn others_than_redirects_are_final() {
    for status in [300, 304, 305] {
        let server = OracleServer::start(move |_: &Turn<'_>| send(to(status, "/b"))).unwrap();
        let seen = run(&following(&server, 3, "/"));
        assert_eq!(seen.total.failed[Failure::WrongStatus], 3, "{status}");
    }
    // Neither is one that says nowhere to go.
    let server = OracleServer::start(|_: &Turn<'_>| send(sized(308, "", BODY))).unwrap();
    let mut spec = following(&server, 3, "/");
    assert_eq!(run(&spec).total.failed[Failure::WrongStatus], 3);
    spec.exchanges[0].expect.status = "308".parse().unwrap();
    let seen = run(&spec);
    assert_eq!((seen.total.succeeded, seen.statuses[&308]), (3, 3));
}

#[test]
fn a_redirect_may_end_its_connection() {
    let closing = |to: &str| {
        let headers = format!("Location: {to}\r\nConnection: close\r\n");
        vec![Action::Send(sized(302, &headers, b"x")), Action::Fin]
    };
    let until_close = |to: &str| {
        let head = format!("HTTP/1.1 302 Status\r\nLocation: {to}\r\n\r\nuntil the end");
        vec![Action::Send(head.into_bytes()), Action::Fin]
    };
    let server = OracleServer::start(move |turn: &Turn<'_>| match &*turn.request.path {
        "/" => closing("/b"),
        "/b" => until_close("/c"),
        _ => send(hello()),
    });
    let server = server.unwrap();
    let seen = run(&following(&server, 10, "/"));
    assert_eq!(seen.total.succeeded, 10, "{:?}", seen.examples);
    assert_eq!((seen.followed[&302], seen.resent), (20, 0));
    assert_eq!(server.seen_at_rest().requests, 30);
}

#[test]
fn each_of_them_may_have_a_connection_of_its_own() {
    let server = chain(&[302, 302]);
    let mut spec = following(&server, 6, "/0");
    spec.protocol = Protocol::Http1 {
        version: HttpVersion::Http11,
        reuse: Reuse::PerRequest,
        pipeline: 1,
    };
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 6, "{:?}", seen.examples);
    assert_eq!(server.seen_at_rest().connections, 18);
    // From the start of the first of them.
    let whole = seen.service_time_with_connect.unwrap();
    assert!(whole.mean() > seen.service_time.mean());
}

#[test]
fn an_open_loop_follows_them_too() {
    let server = chain(&[303, 307]);
    let mut spec = following(&server, 40, "/0");
    spec.schedule = Schedule::Open {
        arrivals: Arrivals::Uniform,
        stages: vec![Stage::constant(400.0)],
        connections: 2,
        most_connections: 4,
    };
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 40, "{:?}", seen.examples);
    assert_eq!(seen.followed, [(303, 40), (307, 40)].into());
    assert_eq!(server.seen_at_rest().requests, 120);
}

#[test]
fn times_are_of_the_whole_chain() {
    let pause = Duration::from_millis(40);
    let slow = move |turn: &Turn<'_>| {
        let answer = match turn.nth % 3 {
            0 | 1 => to(302, "/"),
            _ => hello(),
        };
        vec![Action::Until(turn.arrived + pause), Action::Send(answer)]
    };
    let server = OracleServer::start(slow).unwrap();
    let mut spec = following(&server, 2, "/");
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 2, "{:?}", seen.examples);
    assert!(seen.service_time.mean() > Some(3 * pause - Duration::from_millis(1)));
    // None of the answers takes so long.
    spec.timeouts.request = 2 * pause;
    let seen = run(&spec);
    assert_eq!(
        seen.total.failed[Failure::Timeout],
        2,
        "{:?}",
        seen.examples
    );
}

#[test]
fn a_session_follows_them_in_each_slice() {
    let server = chain(&[302]);
    let mut spec = following(&server, 0, "/0");
    spec.stop = lasting(server.address(), 2, 0, 1000).stop;
    spec.timeouts.drain = Duration::from_secs(20);
    let mut session = Session::open(spec, Default::default()).unwrap();
    for _ in 0..2 {
        let slice = Slice {
            guard: Duration::ZERO,
            length: Duration::from_millis(50),
        };
        let seen = session.slice(slice, &mut |_| {}).unwrap();
        let found = seen.observation;
        assert_eq!(found.total.failed.total(), 0, "{:?}", found.examples);
        assert!(found.followed.get(&302) > Some(&0));
    }
    session.close();
    let server = server.seen_at_rest();
    assert_eq!(server.connections, 2);
}

/// The cookies of a request, in order.
fn cookies(request: &Request) -> &str {
    request.header("cookie").unwrap_or("")
}

#[test]
fn cookies_are_a_users_own_and_outlive_connections() {
    // Each user gets a name with its first answer, and each third answer ends its connection.
    let server = OracleServer::start(|turn: &Turn<'_>| {
        let name = match cookies(turn.request) {
            "" => format!("Set-Cookie: user={}; Path=/\r\n", turn.index),
            _ => String::new(),
        };
        match turn.nth {
            2 => vec![
                Action::Send(sized(200, &format!("{name}Connection: close\r\n"), BODY)),
                Action::Fin,
            ],
            _ => send(sized(200, &name, BODY)),
        }
    });
    let server = server.unwrap();
    let mut spec = count(server.address(), 3, 60);
    spec.cookies = true;
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 60, "{:?}", seen.examples);
    let server = server.seen_at_rest();
    assert!(server.connections > 10, "{}", server.connections);
    let mut users: Vec<&str> = server.first.iter().map(cookies).collect();
    let nobody = users.iter().filter(|user| user.is_empty()).count();
    users.sort_unstable();
    users.dedup();
    // None that was there before comes again without its name.
    assert_eq!((nobody, users.len()), (3, 4), "{users:?}");
    let found = seen.cookies.unwrap();
    assert_eq!((found.set, found.sent, found.refused), (3, 57, 0));
}

#[test]
fn cookies_go_along_with_redirects_and_only_where_they_belong() {
    let server = OracleServer::start(|turn: &Turn<'_>| match &*turn.request.path {
        "/login" => send(sized(
            303,
            "Location: /home?x=1\r\nSet-Cookie: a=1; Path=/home\r\nSet-Cookie: b=2; Path=/other\r\n\
             Set-Cookie: c=3; Secure\r\nSet-Cookie: d=4; Domain=example.com\r\n",
            b"",
        )),
        _ => send(sized(
            200,
            "set-cookie: a=; Max-Age=0; path=/home\r\n",
            BODY,
        )),
    });
    let server = server.unwrap();
    let mut spec = following(&server, 2, "/login");
    spec.exchanges[0].request.method = "POST".to_owned();
    spec.exchanges[0].request.body = Body::Sized(b"me".to_vec().into());
    spec.cookies = true;
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 2, "{:?}", seen.examples);
    for pair in server.seen_at_rest().first.chunks(2) {
        let lines: Vec<_> = pair.iter().map(|one| (line(one), cookies(one))).collect();
        let expected = [
            (("POST", "/login", &b"me"[..]), ""),
            (("GET", "/home?x=1", b""), "a=1"),
        ];
        assert_eq!(lines.len(), 2);
        assert!(
            lines.iter().all(|line| expected.contains(line)),
            "{lines:?}"
        );
    }
    let counts = |seen: Observation| {
        let found = seen.cookies.unwrap();
        (found.set, found.removed, found.refused, found.sent)
    };
    assert_eq!(counts(seen), (4, 2, 4, 2));
    // Each request counts once, also where it goes out on another connection than the one before.
    spec.protocol = Protocol::Http1 {
        version: HttpVersion::Http11,
        reuse: Reuse::PerRequest,
        pipeline: 1,
    };
    assert_eq!(counts(run(&spec)), (4, 2, 4, 2));
}

#[test]
fn no_cookie_is_recorded() {
    let wrong = |_: &Turn<'_>| send(sized(500, "X: 1\r\nSet-Cookie: a=secret\r\n", b""));
    let server = OracleServer::start(wrong).unwrap();
    let mut spec = count(server.address(), 1, 3);
    spec.cookies = true;
    let seen = run(&spec);
    let details = seen.examples.iter().map(|one| one.detail.as_str());
    let details: String = details.collect();
    assert!(
        details.contains("Set-Cookie: …") && details.contains("X: 1"),
        "{details}"
    );
    assert!(!details.contains("secret"), "{details}");
}

#[test]
fn what_cannot_follow_is_refused() {
    let server = chain(&[]);
    let mut spec = following(&server, 1, "/0");
    spec.protocol = Protocol::Http1 {
        version: HttpVersion::Http11,
        reuse: Reuse::KeepAlive,
        pipeline: 2,
    };
    let refused = deadheat_load::check(&spec);
    assert!(
        matches!(refused, Err(LoadError::Browsing { .. })),
        "{refused:?}"
    );
    let mut spec = following(&server, 1, "/0");
    let request = &mut spec.exchanges[0].request;
    request.body = Body::Sized(b"x".to_vec().into());
    let expect = ("Expect".to_owned(), "100-continue".to_owned());
    request.headers.push(expect);
    let refused = deadheat_load::check(&spec);
    assert!(
        matches!(refused, Err(LoadError::Browsing { .. })),
        "{refused:?}"
    );
}
