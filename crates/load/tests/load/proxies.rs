//! Loads through proxies, which tell what they were asked for.

use std::{io::Write as _, net::TcpListener, sync::Barrier, thread};

use deadheat_model::{
    Failure, LoadSpec, StopRule,
    load::{Login, Proxy, ProxyKind},
};
use deadheat_testkit::{
    Authority, Listen, OracleServer, ProxyServer, Script, Turn,
    answers::{hello, send},
};

use crate::{
    arrivals::open,
    support::{count, run},
    tls::{believing, localhost, serving},
};

const LOGIN: (&str, &str) = ("ann", "pw");

fn server() -> OracleServer {
    OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap()
}

/// A server's answers, the first ones only once both connections have a request, so that neither connection does all the
/// work before the other one is there.
fn once_both_are_there() -> impl Script {
    let both = Barrier::new(2);
    move |turn: &Turn<'_>| {
        if turn.nth == 0 {
            both.wait();
        }
        send(hello())
    }
}

/// 20 requests on 2 connections to `to`, by way of the proxy at the spec's address.
fn through(
    proxy: &ProxyServer,
    kind: ProxyKind,
    to: &str,
    login: Option<(&str, &str)>,
) -> LoadSpec {
    let mut spec = count(proxy.address(), 2, 20);
    spec.target.authority = to.to_owned();
    spec.target.proxy = Some(Proxy {
        kind,
        to: to.to_owned(),
        login: login.map(|(user, password)| Login {
            user: user.to_owned(),
            password: password.to_owned(),
        }),
    });
    spec
}

#[test]
fn a_tunnel_leads_to_a_server_with_tls() {
    let authority = Authority::new().unwrap();
    for (kind, login, asked) in [
        (ProxyKind::Http, None, "CONNECT localhost:443"),
        (
            ProxyKind::Http,
            Some(LOGIN),
            "CONNECT localhost:443 Basic YW5uOnB3",
        ),
        (ProxyKind::Socks5, None, "SOCKS localhost:443"),
        (ProxyKind::Socks5, Some(LOGIN), "SOCKS localhost:443 ann:pw"),
    ] {
        let listen = Listen::ipv4().unwrap().over_tls(localhost(&authority));
        let server = listen.serve(once_both_are_there()).unwrap();
        let proxy = ProxyServer::start(server.address(), login).unwrap();
        let mut spec = through(&proxy, kind, "localhost:443", login);
        spec.target.tls = Some(believing(&authority));
        let seen = run(&spec);
        assert_eq!(seen.total.succeeded, 20, "{:?}", seen.examples);
        let server = server.seen_at_rest();
        assert_eq!((server.requests, server.connections), (20, 2));
        assert_eq!(proxy.asked(), [asked; 2]);
        let head = &server.first[0];
        assert_eq!(
            (head.path.as_str(), head.header("host")),
            ("/", Some("localhost:443"))
        );
        assert_eq!(head.header("proxy-authorization"), None);
    }
}

#[test]
fn plain_requests_go_to_an_http_proxy_whole_and_through_a_socks_proxy_as_they_are() {
    for is_open in [false, true] {
        // The server takes the place of the proxy: it tells what came.
        let server = server();
        let proxy = ProxyServer::start(server.address(), None).unwrap();
        let mut spec = through(&proxy, ProxyKind::Http, "shop.test", Some(LOGIN));
        let own = open(server.address(), 400.0, 2);
        spec.target.endpoint = own.target.endpoint;
        if is_open {
            spec.schedule = own.schedule;
        }
        let seen = run(&spec);
        assert_eq!(seen.total.succeeded, 20, "{:?}", seen.examples);
        for request in &server.seen_at_rest().first {
            assert_eq!(request.path, "http://shop.test/");
            assert_eq!(request.header("host"), Some("shop.test"));
            assert_eq!(
                request.header("proxy-authorization"),
                Some("Basic YW5uOnB3")
            );
        }
        let server = OracleServer::start(once_both_are_there()).unwrap();
        let proxy = ProxyServer::start(server.address(), None).unwrap();
        let mut spec = through(&proxy, ProxyKind::Socks5, "10.0.0.1:80", None);
        if is_open {
            spec.schedule = open(proxy.address(), 400.0, 2).schedule;
        }
        let seen = run(&spec);
        assert_eq!(seen.total.succeeded, 20, "{:?}", seen.examples);
        let server = server.seen_at_rest();
        assert!(server.first.iter().all(|request| request.path == "/"));
        assert_eq!(proxy.asked(), ["SOCKS 10.0.0.1:80"; 2]);
    }
}

#[test]
fn a_proxy_that_refuses_fails_each_request_with_its_reason() {
    let authority = Authority::new().unwrap();
    let server = serving(localhost(&authority));
    for (kind, why) in [
        (
            ProxyKind::Http,
            "the proxy wants a user and a password: 407",
        ),
        (ProxyKind::Socks5, "the proxy wants a user and a password"),
    ] {
        let proxy = ProxyServer::start(server.address(), Some(LOGIN)).unwrap();
        let mut spec = through(&proxy, kind, "localhost:443", None);
        spec.target.tls = Some(believing(&authority));
        spec.stop = StopRule::Count { requests: 4 };
        let seen = run(&spec);
        assert_eq!(seen.total.failed[Failure::ConnectOther], 4);
        assert_eq!(seen.failures[0].cause, why);
        assert_eq!(seen.connections_opened, 0);
    }
    assert_eq!(server.seen_at_rest().requests, 0);
}

#[test]
fn a_proxy_that_never_comes_to_its_answer_does_not_hold_up_the_load() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut spec = count(proxy.local_addr().unwrap(), 1, 2);
    spec.target.proxy = Some(Proxy {
        kind: ProxyKind::Http,
        to: "localhost:443".to_owned(),
        login: None,
    });
    spec.target.tls = Some(believing(&Authority::new().unwrap()));
    let seen = thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..2 {
                let (mut client, _) = proxy.accept().unwrap();
                let interim = b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000);
                while client.write_all(&interim).is_ok() {}
            }
        });
        run(&spec)
    });
    assert_eq!(
        seen.total.failed[Failure::ConnectOther],
        2,
        "{:?}",
        seen.examples
    );
}
