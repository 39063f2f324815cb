//! Connections to several addresses of one server, and to several servers.

use deadheat_model::{
    Exchange, Failure, Observation,
    load::{RequestSpec, Target},
};
use deadheat_testkit::{
    Authority, OracleServer, RefusingPort, Seen, Turn,
    answers::{BODY, hello, send},
};

use crate::{
    support::{UNTIL_STOPPED, count, expecting, in_groups, lasting, run, run_until_enough},
    tls::{believing, localhost, serving},
};

fn server() -> OracleServer {
    OracleServer::start(|_: &Turn<'_>| send(hello())).unwrap()
}

/// A request of `path` to target `target`, as often as `weight` says.
fn to(target: usize, path: &str, weight: u32) -> Exchange {
    Exchange {
        target,
        weight,
        ..expecting(RequestSpec::get(path), BODY)
    }
}

/// What was counted of each address is what its server saw.
#[track_caller]
fn agree(seen: &Observation, servers: &[Seen]) {
    assert_eq!(seen.routes.len(), servers.len());
    for (route, server) in seen.routes.iter().zip(servers) {
        assert_eq!(route.succeeded + route.failed, server.requests, "{route:?}");
        assert_eq!(route.connections_opened, server.connections, "{route:?}");
    }
    let all: u64 = seen.routes.iter().map(|route| route.succeeded).sum();
    assert_eq!(all, seen.measured.succeeded);
}

#[test]
fn connections_go_to_all_addresses_in_turn_and_name_one_host() {
    let servers = [server(), server()];
    let [first, second] = servers.each_ref().map(OracleServer::address);
    let mut spec = count(first, 6, 60);
    spec.target.more = vec![second];
    spec.target.authority = "shop.test".to_owned();
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 60, "{:?}", seen.examples);
    let servers = servers.map(|server| server.seen_at_rest());
    agree(&seen, &servers);
    for server in &servers {
        assert_eq!(server.connections, 3);
        let mut hosts = server.first.iter().map(|one| one.header("host"));
        assert!(hosts.all(|host| host == Some("shop.test")));
    }
}

#[test]
fn an_address_that_refuses_fails_alone() {
    let (server, nobody) = (server(), RefusingPort::new().unwrap());
    let mut spec = count(server.address(), 2, 20);
    spec.target.more = vec![nobody.address()];
    let seen = run(&spec);
    let refused = seen.total.failed[Failure::ConnectRefused];
    assert!(refused > 0 && refused < 20, "{refused}");
    let [first, second] = seen.routes.as_slice() else {
        panic!("{:?}", seen.routes);
    };
    assert_eq!((first.succeeded, first.failed), (20 - refused, 0));
    assert_eq!((second.succeeded, second.failed), (0, refused));
    assert_eq!(second.connections_opened, 0);
}

#[test]
fn each_server_gets_its_own_requests_on_its_share_of_the_connections() {
    let authority = Authority::new().unwrap();
    let servers = [server(), serving(localhost(&authority)), server()];
    let mut targets = servers
        .each_ref()
        .map(|server| Target::plain(server.address()));
    targets[1].tls = Some(believing(&authority));
    targets[1].authority = "localhost:1".to_owned();
    let [first, rest @ ..] = targets;
    let mut spec = count(servers[0].address(), 8, 400);
    spec.others = rest.to_vec();
    spec.exchanges = vec![
        to(0, "/a", 2),
        to(1, "/b", 1),
        to(0, "/c", 3),
        to(2, "/d", 2),
    ];
    in_groups(&mut spec);
    let seen = run(&spec);
    assert_eq!(seen.total.succeeded, 400, "{:?}", seen.examples);
    let servers = servers.map(|server| server.seen_at_rest());
    agree(&seen, &servers);
    let connections = servers.each_ref().map(|server| server.connections);
    assert_eq!(connections, [5, 1, 2]);
    let asked = |server: &Seen, paths: &[&str], host: &str| {
        for request in &server.first {
            assert!(paths.contains(&request.path.as_str()), "{}", request.path);
            assert_eq!(request.header("host"), Some(host));
        }
    };
    asked(&servers[0], &["/a", "/c"], &first.authority);
    asked(&servers[1], &["/b"], "localhost:1");
    asked(&servers[2], &["/d"], &rest[1].authority);
    let of = |index: usize| seen.groups[index].succeeded;
    assert_eq!(of(0) + of(2), servers[0].requests);
    assert_eq!((of(1), of(3)), (servers[1].requests, servers[2].requests));
    // Two of five, and three of five, as far as each of the connections has come.
    assert!(
        (of(0) * 3).abs_diff(of(2) * 2) <= 5 * 5,
        "{} {}",
        of(0),
        of(2)
    );
    let tls = servers[1].each.iter().filter_map(|one| one.tls.as_ref());
    assert_eq!(tls.count(), 1);
}

#[test]
fn workers_share_what_one_would_have() {
    let servers = [server(), server()];
    // No number of requests: one worker alone would do a small number before the other has begun.
    let mut spec = lasting(servers[0].address(), 8, 0, UNTIL_STOPPED);
    spec.others = vec![Target::plain(servers[1].address())];
    spec.exchanges = vec![to(0, "/a", 3), to(1, "/b", 1)];
    spec.cpus = vec![0, 0];
    let seen = run_until_enough(&spec, || {
        let [first, second] = [&servers[0], &servers[1]].map(OracleServer::seen);
        let connections = first.connections + second.connections;
        // By then, connections beyond these eight would be open as well.
        connections >= 8 && first.requests + second.requests >= 80
    });
    assert_eq!(seen.total.failed.total(), 0, "{:?}", seen.examples);
    let servers = servers.map(|server| server.seen_at_rest());
    assert_eq!(servers.map(|server| server.connections), [6, 2]);
}
