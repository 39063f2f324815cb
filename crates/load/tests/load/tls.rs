//! TLS, with a server that counts handshakes.

use std::{
    sync::{Arc, Barrier},
    time::Duration,
};

use deadheat_model::{
    Failure, LoadSpec, Observation,
    failure::FailurePhase,
    load::{Body, HttpVersion, Identity, Protocol, RequestSpec, Reuse, Tls, TlsVersion, Trust},
};
use deadheat_testkit::{
    Action, Authority, CertificateKind, Listen, OracleServer, Seen, TlsFault, TlsServer, Turn,
    answers::{hello, send, sized},
};

use crate::{
    arrivals::open,
    support::{count, expecting, run},
};

const REQUESTS: u64 = 30;
pub const A_CONNECTION_EACH: Protocol = Protocol::Http1 {
    version: HttpVersion::Http11,
    reuse: Reuse::PerRequest,
    pipeline: 1,
};

pub fn localhost(authority: &Authority) -> TlsServer {
    TlsServer::new(authority.server(CertificateKind::Localhost).unwrap()).unwrap()
}

pub fn serving(tls: TlsServer) -> OracleServer {
    let listen = Listen::ipv4().unwrap().over_tls(tls);
    listen.serve(|_: &Turn<'_>| send(hello())).unwrap()
}

pub fn believing(authority: &Authority) -> Tls {
    Tls {
        server_name: "localhost".to_owned(),
        trust: Trust::Authorities {
            pem: authority.pem().to_owned(),
        },
        identity: None,
        resumption: true,
        version: None,
        cipher_suites: Vec::new(),
    }
}

/// Both loops, at this server.
fn loops(server: &OracleServer, tls: &Tls) -> [LoadSpec; 2] {
    let mut open = open(server.address(), 300.0, 3);
    open.stop = deadheat_model::StopRule::Count { requests: REQUESTS };
    [count(server.address(), 3, REQUESTS), open].map(|mut spec| {
        spec.target.tls = Some(tls.clone());
        spec
    })
}

/// Runs both loops, and gives what each saw with what the server had seen by then.
fn each_loop(
    serve: impl Fn() -> OracleServer,
    tls: &Tls,
    change: impl Fn(&mut LoadSpec),
    check: impl Fn(Observation, Seen),
) {
    for which in 0..2 {
        let server = serve();
        let mut spec = loops(&server, tls)[which].clone();
        change(&mut spec);
        let seen = run(&spec);
        assert_eq!(seen.total.issued, REQUESTS);
        check(seen, server.seen_at_rest());
    }
}

/// Every request failed so, before there was a connection to send it on.
#[track_caller]
fn all_failed_in_tls(seen: &Observation, server: &Seen, kind: Failure, what: &str) {
    let examples = &seen.examples;
    assert_eq!(seen.total.failed[kind], REQUESTS, "{what}: {examples:?}");
    let phases = seen.failures.iter().map(|group| group.phase);
    assert_eq!(
        phases.filter(|phase| *phase != FailurePhase::Tls).count(),
        0
    );
    assert_eq!(server.requests, 0);
}

#[test]
fn handshakes_are_counted_as_the_server_counts_them() {
    let authority = Authority::new().unwrap();
    let believing = believing(&authority);
    let server = || localhost(&authority);
    let cases = [
        (server(), true),
        (server().only_1_2().unwrap(), true),
        (server().only_1_3().unwrap(), false),
        (server().only_1_2().unwrap(), false),
    ];
    for (tls, resumption) in cases {
        let asked = Tls {
            resumption,
            ..believing.clone()
        };
        let a_connection_each = |spec: &mut LoadSpec| spec.protocol = A_CONNECTION_EACH;
        each_loop(
            || serving(tls.clone()),
            &asked,
            a_connection_each,
            |seen, server| {
                assert_eq!(seen.total.succeeded, REQUESTS, "{:?}", seen.examples);
                let own = seen.tls.unwrap();
                let (full, resumed) = (server.full_handshakes, server.resumed_handshakes);
                // At the end a connection may have been made for a request that another took: either side may have
                // seen the end of its handshake, or neither. There are three connections.
                assert!(
                    own.full.abs_diff(full) <= 3,
                    "{own:?}, the server {full} and {resumed}"
                );
                assert!(
                    own.resumed.abs_diff(resumed) <= 3,
                    "{own:?}, the server {full} and {resumed}"
                );
                let handshakes = own.full + own.resumed;
                assert_eq!(seen.handshake_time.count(), handshakes);
                assert!(
                    (REQUESTS..=seen.connections_opened).contains(&handshakes),
                    "{own:?}"
                );
                assert!(seen.connections_opened <= REQUESTS + 3);
                if resumption {
                    // The first of each connection has nothing to resume.
                    assert!(resumed >= REQUESTS - 6, "{full} full, {resumed} resumed");
                } else {
                    assert_eq!(resumed, 0);
                }
                let agreed = server.each.iter().find_map(|one| one.tls.clone()).unwrap();
                let version = agreed.version.replace('v', " ").replace('_', ".");
                assert!(
                    own.agreed.starts_with(&version),
                    "{} and {}",
                    own.agreed,
                    agreed.version
                );
                assert_eq!(agreed.name.as_deref(), Some("localhost"));
            },
        );
    }
}

#[test]
fn only_the_version_and_the_suites_that_are_named_are_offered() {
    let authority = Authority::new().unwrap();
    let cases = [
        (Some(TlsVersion::Tls12), "", "TLS 1.2, TLS_ECDHE_"),
        (Some(TlsVersion::Tls13), "", "TLS 1.3, TLS_"),
        (
            None,
            "TLS_CHACHA20_POLY1305_SHA256",
            "TLS 1.3, TLS_CHACHA20_POLY1305_SHA256",
        ),
        (
            None,
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "TLS 1.2, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        ),
    ];
    for (version, suite, agreed) in cases {
        let tls = Tls {
            version,
            cipher_suites: (!suite.is_empty())
                .then(|| suite.to_owned())
                .into_iter()
                .collect(),
            ..believing(&authority)
        };
        let serve = || serving(localhost(&authority));
        let as_they_are = |_: &mut LoadSpec| {};
        each_loop(serve, &tls, as_they_are, |seen, server| {
            assert_eq!(seen.total.succeeded, REQUESTS, "{:?}", seen.examples);
            let own = seen.tls.unwrap().agreed;
            assert!(own.starts_with(agreed), "{own}, not {agreed}");
            let each = server.each.iter().filter_map(|one| one.tls.as_ref());
            let version = own.split(',').next().unwrap();
            assert!(
                each.map(|one| one.version.replace('v', " ").replace('_', "."))
                    .all(|one| one == version),
                "{own}"
            );
        });
    }
    // The server has nothing that fits.
    let tls = Tls {
        version: Some(TlsVersion::Tls13),
        ..believing(&authority)
    };
    let serve = || serving(localhost(&authority).only_1_2().unwrap());
    each_loop(
        serve,
        &tls,
        |_| {},
        |seen, server| {
            all_failed_in_tls(&seen, &server, Failure::Tls, "1.3 of a server with 1.2");
        },
    );
}

#[test]
fn each_of_many_connections_resumes_a_session() {
    const CONNECTIONS: u32 = 24;
    let authority = Authority::new().unwrap();
    // All connections answer and end at once, so that all of them are made again at once.
    let together = Arc::new(Barrier::new(CONNECTIONS as usize));
    let script = move |_: &Turn<'_>| {
        together.wait();
        send(hello())
    };
    let tls = localhost(&authority).only_1_3().unwrap();
    let server = Listen::ipv4().unwrap().over_tls(tls).serve(script).unwrap();
    let mut spec = count(server.address(), CONNECTIONS, u64::from(CONNECTIONS) * 3);
    spec.target.tls = Some(believing(&authority));
    spec.protocol = A_CONNECTION_EACH;
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, u64::from(CONNECTIONS) * 3);
    let server = server.seen_at_rest();
    // Only the first handshake of each connection has nothing to resume.
    assert_eq!(server.full_handshakes, u64::from(CONNECTIONS));
}

#[test]
fn tls_changes_no_count() {
    let authority = Authority::new().unwrap();
    each_loop(
        || serving(localhost(&authority)),
        &believing(&authority),
        |_| {},
        |seen, server| {
            assert_eq!(seen.total.succeeded, REQUESTS, "{:?}", seen.examples);
            assert_eq!((server.requests, server.connections), (REQUESTS, 3));
            // Counted before TLS.
            assert_eq!(seen.sent_bytes, server.request_bytes);
            assert_eq!(seen.received_bytes, REQUESTS * hello().len() as u64);
        },
    );
}

#[test]
fn bodies_larger_than_sockets_buffers_arrive_over_tls() {
    let authority = Authority::new().unwrap();
    let body = vec![b'z'; 9_000_000];
    let listen = Listen::ipv4().unwrap().over_tls(localhost(&authority));
    let echo = |turn: &Turn<'_>| send(sized(200, "", &turn.request.body));
    let server = listen.serve(echo).unwrap();
    let mut spec = count(server.address(), 2, 4);
    spec.target.tls = Some(believing(&authority));
    let upload = RequestSpec {
        method: "POST".to_owned(),
        body: Body::Sized(body.clone().into()),
        ..RequestSpec::get("/")
    };
    spec.exchanges = vec![expecting(upload, &body)];
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 4, "{:?}", seen.examples);
    assert_eq!((seen.content_checked, seen.connections_opened), (4, 2));
    let server = server.seen_at_rest();
    assert!(server.first.iter().all(|request| request.body == body));
}

#[test]
fn certificates_that_are_not_believed_fail_every_request() {
    let authority = Authority::new().unwrap();
    let stranger = Authority::new().unwrap();
    let cases = [
        (
            authority.server(CertificateKind::Elsewhere).unwrap(),
            "localhost",
        ),
        (
            authority.server(CertificateKind::Past).unwrap(),
            "localhost",
        ),
        (
            stranger.server(CertificateKind::Localhost).unwrap(),
            "localhost",
        ),
        (
            authority.server(CertificateKind::Localhost).unwrap(),
            "elsewhere.test",
        ),
    ];
    for (identity, server_name) in cases {
        let serve = || serving(TlsServer::new(identity.clone()).unwrap());
        let mut tls = Tls {
            server_name: server_name.to_owned(),
            ..believing(&authority)
        };
        each_loop(
            serve,
            &tls,
            |_| {},
            |seen, server| {
                all_failed_in_tls(&seen, &server, Failure::Tls, server_name);
            },
        );
        tls.trust = Trust::Anything;
        each_loop(
            serve,
            &tls,
            |_| {},
            |seen, server| {
                assert_eq!(seen.total.succeeded, REQUESTS, "{:?}", seen.examples);
                assert_eq!(server.requests, REQUESTS);
            },
        );
    }
}

#[test]
fn an_address_is_a_name_too() {
    let authority = Authority::new().unwrap();
    let tls = Tls {
        server_name: "127.0.0.1".to_owned(),
        ..believing(&authority)
    };
    each_loop(
        || serving(localhost(&authority)),
        &tls,
        |_| {},
        |seen, server| {
            assert_eq!(seen.total.succeeded, REQUESTS, "{:?}", seen.examples);
            // RFC 6066 § 3: an address is not sent as a name.
            // The last connection may be given up before TLS is agreed on.
            let agreed = server.each.iter().filter_map(|one| one.tls.as_ref());
            let names: Vec<_> = agreed.map(|tls| tls.name.clone()).collect();
            assert!(!names.is_empty() && names.iter().all(Option::is_none));
        },
    );
}

#[test]
fn a_clients_certificate_is_shown_and_a_wrong_one_refused() {
    let authority = Authority::new().unwrap();
    let stranger = Authority::new().unwrap();
    let shown = |authority: &Authority| {
        let own = authority.client().unwrap();
        Some(Identity {
            certificates: own.certificate,
            key: own.key,
        })
    };
    let cases = [
        (shown(&authority), true),
        (shown(&stranger), false),
        (None, false),
    ];
    for (identity, may) in cases {
        for only_1_2 in [false, true] {
            let serve = || {
                let tls = localhost(&authority).only_clients_of(&authority).unwrap();
                serving(if only_1_2 {
                    tls.only_1_2().unwrap()
                } else {
                    tls
                })
            };
            let tls = Tls {
                identity: identity.clone(),
                ..believing(&authority)
            };
            each_loop(
                serve,
                &tls,
                |_| {},
                |seen, server| {
                    if may {
                        assert_eq!(seen.total.succeeded, REQUESTS, "{:?}", seen.examples);
                        // A connection that was not needed any more may have ended before it agreed.
                        let agreed = server.each.iter().filter_map(|one| one.tls.as_ref());
                        let shown: Vec<_> = agreed.map(|tls| tls.client_certificates).collect();
                        assert!(!shown.is_empty() && shown.iter().all(|shown| *shown == 1));
                    } else {
                        assert_eq!(
                            seen.total.failed[Failure::Tls],
                            REQUESTS,
                            "{:?}",
                            seen.examples
                        );
                        assert_eq!(server.requests, 0);
                    }
                },
            );
        }
    }
}

#[test]
fn handshakes_that_fail_are_failures_of_their_kind() {
    let authority = Authority::new().unwrap();
    for (fault, kind) in [
        (TlsFault::Alert, Failure::Tls),
        (TlsFault::Garbage, Failure::Tls),
        (TlsFault::Close, Failure::Tls),
        (TlsFault::Reset, Failure::Tls),
        (TlsFault::Silence, Failure::Tls),
        (TlsFault::Goodbye, Failure::Tls),
    ] {
        let serve = || serving(localhost(&authority).failing(fault));
        // The others are over before: it is what they are that counts, however late.
        let soon = |spec: &mut LoadSpec| {
            if fault == TlsFault::Silence {
                spec.timeouts.connect = Duration::from_millis(250);
            }
        };
        each_loop(serve, &believing(&authority), soon, |seen, server| {
            all_failed_in_tls(&seen, &server, kind, &format!("{fault:?}"));
            assert_eq!(seen.service_time.count(), 0);
        });
    }
}

#[test]
fn a_body_that_ends_without_close_notify_may_have_been_cut_by_anybody() {
    let authority = Authority::new().unwrap();
    let until_close = b"HTTP/1.1 200 OK\r\n\r\nHello, World!".to_vec();
    // Where the length is known, how TLS ends matters to nobody.
    let sized = hello();
    let cases = [
        (
            until_close.clone(),
            Action::Cut,
            Err(Failure::TruncatedBody),
        ),
        (until_close, Action::Fin, Ok(())),
        (sized.clone(), Action::Cut, Ok(())),
        (
            sized[..sized.len() - 3].to_vec(),
            Action::Cut,
            Err(Failure::TruncatedBody),
        ),
        (
            sized[..sized.len() - 3].to_vec(),
            Action::Fin,
            Err(Failure::TruncatedBody),
        ),
        (
            sized[..20].to_vec(),
            Action::Cut,
            Err(Failure::TruncatedHead),
        ),
        (Vec::new(), Action::Cut, Err(Failure::ClosedEarly)),
    ];
    for (bytes, end, outcome) in cases {
        let serve = || {
            let listen = Listen::ipv4().unwrap().over_tls(localhost(&authority));
            let steps = vec![Action::Send(bytes.clone()), end.clone()];
            listen.serve(move |_: &Turn<'_>| steps.clone()).unwrap()
        };
        // Whether a FIN or the next request is first would be a race.
        let once = |spec: &mut LoadSpec| spec.protocol = A_CONNECTION_EACH;
        each_loop(serve, &believing(&authority), once, |seen, server| {
            let case = format!(
                "{} bytes, {end:?}: {:?} {:?}",
                bytes.len(),
                seen.examples,
                server.failed_handshakes
            );
            assert_eq!(server.requests, REQUESTS, "{case}");
            match outcome {
                Ok(()) => assert_eq!(seen.total.succeeded, REQUESTS, "{case}"),
                Err(kind) => assert_eq!(seen.total.failed[kind], REQUESTS, "{case}"),
            }
        });
    }
}
