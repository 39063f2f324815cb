//! Unix sockets, IPv6, and addresses to connect from.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use deadheat_model::{
    Failure, LoadSpec, StopRule,
    failure::FailurePhase,
    load::{Endpoint, HttpVersion, Protocol, Reuse},
};
use deadheat_testkit::{
    Listen, OracleServer, Turn,
    answers::{hello, send},
};

use crate::{
    arrivals::open,
    support::{count, run},
};

const REQUESTS: u64 = 40;

fn serving(listen: Listen) -> OracleServer {
    listen.serve(|_: &Turn<'_>| send(hello())).unwrap()
}

/// Both loops on four connections.
fn loops(address: SocketAddr) -> [LoadSpec; 2] {
    let mut open = open(address, 1_000.0, 4);
    open.stop = StopRule::Count { requests: REQUESTS };
    [count(address, 4, REQUESTS), open]
}

const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

fn at(server: &OracleServer) -> Endpoint {
    Endpoint::Unix {
        path: server.path().to_owned(),
    }
}

#[test]
fn a_unix_socket_is_loaded_like_a_port() {
    for mut spec in loops(NOWHERE) {
        for reuse in [Reuse::KeepAlive, Reuse::PerRequest] {
            let server = serving(Listen::unix().unwrap());
            spec.target.endpoint = at(&server);
            spec.target.authority = "somewhere".to_owned();
            spec.protocol = Protocol::Http1 {
                version: HttpVersion::Http11,
                reuse,
                pipeline: 1,
            };
            let seen = run(&spec);
            assert_eq!(seen.total.succeeded, REQUESTS, "{:?}", seen.examples);
            let server = server.seen_at_rest();
            assert_eq!(
                (server.requests, &server.malformed),
                (REQUESTS, &Vec::new())
            );
            assert_eq!(server.connections, seen.connections_opened);
            match reuse {
                Reuse::KeepAlive => assert_eq!(server.connections, 4),
                Reuse::PerRequest => assert!(server.connections >= REQUESTS),
            }
            assert_eq!(server.first[0].header("host"), Some("somewhere"));
        }
    }
}

#[test]
fn a_unix_socket_that_nobody_listens_on_refuses() {
    for mut spec in loops(NOWHERE) {
        let folder = serving(Listen::unix().unwrap());
        let path = folder.path().with_extension("other");
        // A file that no process listens on any more, and one that is not there.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        for (path, kind) in [
            (path.clone(), Failure::ConnectRefused),
            (path.with_extension("none"), Failure::ConnectOther),
        ] {
            spec.target.endpoint = Endpoint::Unix { path };
            let seen = run(&spec);
            assert_eq!(seen.total.failed[kind], REQUESTS, "{:?}", seen.examples);
            assert!(
                seen.failures
                    .iter()
                    .all(|group| group.phase == FailurePhase::Connect)
            );
        }
    }
}

#[test]
fn ipv6_is_loaded() {
    for which in 0..2 {
        let server = serving(Listen::ipv6().unwrap());
        let seen = run(&loops(server.address())[which]);
        assert_eq!(seen.total.succeeded, REQUESTS, "{:?}", seen.examples);
        let server = server.seen_at_rest();
        assert_eq!(server.requests, REQUESTS);
        assert!(
            server.first[0]
                .header("host")
                .unwrap()
                .starts_with("[::1]:")
        );
        assert!(server.each.iter().all(|one| one.peer.unwrap().is_ipv6()));
    }
}

#[test]
fn connections_are_made_from_the_given_addresses_in_turn() {
    for which in 0..2 {
        let server = serving(Listen::ipv4().unwrap());
        let mut spec = loops(server.address())[which].clone();
        let sources = [2, 3].map(|last| IpAddr::from([127, 0, 0, last]));
        spec.target.sources = sources.to_vec();
        let seen = run(&spec);
        assert_eq!(seen.total.succeeded, REQUESTS, "{:?}", seen.examples);
        let mut from: BTreeMap<IpAddr, u64> = BTreeMap::new();
        for one in server.seen_at_rest().each {
            *from.entry(one.peer.unwrap().ip()).or_default() += 1;
        }
        assert_eq!(from, sources.map(|source| (source, 2)).into());
    }
}

#[test]
fn an_address_that_is_not_this_machines_is_no_source() {
    let server = serving(Listen::ipv4().unwrap());
    let mut spec = count(server.address(), 2, 6);
    // TEST-NET-1, which nobody has (RFC 5737).
    spec.target.sources = vec![IpAddr::from([192, 0, 2, 1])];
    let mut ignored = |_| {};
    let result = deadheat_load::run(
        &spec,
        &mut ignored,
        &std::sync::atomic::AtomicBool::new(false),
    );
    // It may be found at the start, or by every connection.
    if let Ok(seen) = result {
        assert_eq!((seen.total.succeeded, seen.total.failed.total()), (0, 6));
    }
    assert_eq!(server.seen().connections, 0);
}
