//! `deadheat load` over every kind of connection and schedule, and in every format.

use std::fs;

use deadheat_testkit::{
    Authority, CertificateKind, Listen, OracleServer, TlsServer, Turn,
    answers::{hello, send, sized},
    http2::{self, RawHttp2},
    http2_server::{Counts, Reply, Server, Setup},
};
use serde_json::Value;

use crate::{
    load::{Loading, hello_server, json, tally, url},
    support::{Ended, Root, flat},
};

fn right() -> impl Fn(&Turn<'_>) -> Vec<deadheat_testkit::Action> + Send + Sync + 'static {
    |_: &Turn<'_>| send(hello())
}

#[test]
fn an_open_loop_sends_what_its_schedule_says() {
    let loading = Loading::new();
    for (args, count) in [
        (&["--rate", "200/s", "-d", "500ms"][..], 100),
        (
            &["--stage", "200ms@100/s", "--stage", "400ms@100..300/s"],
            100,
        ),
        (&["--rate", "12000/m", "-n", "40"], 40),
    ] {
        let server = hello_server();
        let fixed = ["--warm-up", "0s", "-c", "8", "--json"];
        let ended = loading
            .run(&url(&server, "/"), &[args, &fixed].concat())
            .exits(0);
        let json = json(&ended);
        let seen = server.seen_at_rest().requests;
        assert_eq!(tally(&json, "total", "issued"), seen, "{args:?}");
        let open = |what: &str| {
            let found = json.pointer(&format!("/observation/open/{what}"));
            found
                .and_then(Value::as_u64)
                .unwrap_or_else(|| panic!("no {what}: {ended}"))
        };
        // A schedule's last request may lie on its end; the last ones may come too late to be sent, and are told of.
        let offered = open("offered");
        assert!(offered.abs_diff(count) <= 1, "{args:?}: {offered} offered");
        assert_eq!(seen + open("unsent"), offered, "{args:?}: {ended}");
        let response = json.pointer("/observation/open/response_time");
        assert!(response.is_some_and(Value::is_string), "{args:?}");
    }
}

#[test]
fn an_open_loop_has_thresholds_on_what_it_alone_has() {
    let loading = Loading::new();
    let server = hello_server();
    let passing = ["response.max>30s", "wait.max>30s", "lag.max>30s"];
    let mut args = vec!["--rate", "500/s", "-n", "120", "-c", "4"];
    args.extend(passing.iter().flat_map(|text| ["--fail-if", text]));
    loading
        .run(&url(&server, "/"), &args)
        .exits(0)
        .tells(&passing.map(|_| "fail-if ok"));
    let args = [
        "--rate",
        "500/s",
        "-n",
        "120",
        "-c",
        "4",
        "--fail-if",
        "response.max>1ns",
    ];
    loading.run(&url(&server, "/"), &args).exits(1);
}

#[test]
fn templates_are_filled_in_path_headers_and_body() {
    let loading = Loading::new();
    loading.root.write("names", "ann\n\nb c\n");
    let server = hello_server();
    let args = [
        "--template",
        "-n",
        "4",
        "-c",
        "1",
        "-H",
        "X-Number: {{random 7 7}}",
        "-b",
        r#"{"n":{{counter}}, "of":"{{random-line names}}"}"#,
    ];
    let ended = loading
        .run(&url(&server, "/u/{{line names}}?n={{counter}}"), &args)
        .exits(0);
    let seen = server.seen_at_rest().first;
    let paths: Vec<&str> = seen.iter().map(|request| request.path.as_str()).collect();
    let expected = ["/u/ann?n=0", "/u/b%20c?n=1", "/u/ann?n=2", "/u/b%20c?n=3"];
    assert_eq!(paths, expected, "{ended}");
    for (number, request) in seen.iter().enumerate() {
        assert_eq!(request.header("x-number"), Some("7"));
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(body["n"], number);
        let name = body["of"].as_str().unwrap();
        assert!(["ann", "b c"].contains(&name), "{name}");
    }
}

#[test]
fn connections_are_used_as_asked() {
    let loading = Loading::new();
    for (args, version, connections) in [
        (&["--no-keepalive"][..], "HTTP/1.1", 6),
        (&["--http1.0", "--no-keepalive"], "HTTP/1.0", 6),
        (&["--pipeline", "3"], "HTTP/1.1", 1),
        (&["--most-requests-per-connection", "2"], "HTTP/1.1", 3),
        (&[], "HTTP/1.1", 1),
    ] {
        let server = hello_server();
        let fixed = ["-n", "6", "-c", "1"];
        loading
            .run(&url(&server, "/"), &[args, &fixed].concat())
            .exits(0);
        let seen = server.seen_at_rest();
        assert_eq!(
            (seen.requests, seen.connections),
            (6, connections),
            "{args:?}"
        );
        assert!(seen.first.iter().all(|request| request.version == version));
    }
}

#[test]
fn http2_has_streams_on_each_connection_and_the_report_says_so() {
    let server = Server::start(Setup::default(), |_| Reply {
        body: b"hello".to_vec(),
        ..Reply::default()
    })
    .unwrap();
    let url = format!("http://{}/", server.address);
    let args = ["--http2-prior-knowledge", "-c", "2", "-m", "4", "-n", "80"];
    let loading = Loading::new();
    let args = [&args[..], &["--expect-body", "hello"]].concat();
    let ended = loading.run(&url, &args).exits(0);
    for said in [
        "2 connections × 4 streams (8 requests in flight)",
        "HTTP/2 with prior knowledge (h2c)",
        "80 valid answers",
    ] {
        let text = flat(&ended.to_string());
        assert!(text.contains(said), "{said}: {ended}");
    }
    let seen = [&server.seen.requests, &server.seen.connections].map(Counts::get);
    assert_eq!(seen, [80, 2]);
}

#[test]
fn a_call_of_grpc_has_its_message_in_a_file_and_its_status_in_the_report() {
    let loading = Loading::new();
    let file = loading.root.path().join("message");
    fs::write(&file, b"hi").unwrap();
    for (status, exit, said) in [
        (&[("grpc-status", "0")], 0, "20 valid answers"),
        (
            &[("grpc-status", "5")],
            3,
            "the gRPC call did not succeed (NOT_FOUND)",
        ),
    ] {
        let server = Server::start(Setup::default(), move |asked| {
            assert_eq!(asked.body, b"\0\0\0\0\x02hi");
            Reply {
                body: b"\0\0\0\0\x03yes".to_vec(),
                trailers: status,
                ..Reply::default()
            }
        })
        .unwrap();
        let url = format!("http://{}", server.address);
        let args = [
            "--grpc",
            "a.B/C",
            "--expect-body",
            "yes",
            "-c",
            "1",
            "-n",
            "20",
        ];
        let args = [&args[..], &["--body-file", file.to_str().unwrap()]].concat();
        let ended = loading.run(&url, &args).exits(exit);
        let text = flat(&ended.to_string());
        for said in [
            said,
            &format!("{url}/a.B/C"),
            "POST /a.B/C with a gRPC message of 2 bytes",
            "an answer with status 200 and grpc-status 0",
        ] {
            assert!(text.contains(said), "{said}: {ended}");
        }
    }
}

/// What a load says against a server of HTTP/2 that sends each connection these bytes alone.
fn told_by(bytes: &'static [u8]) -> String {
    let server = RawHttp2::start(move |peer| peer.send(bytes)).unwrap();
    let url = format!("http://{}/", server.address());
    let args = ["--http2-prior-knowledge", "-c", "1", "-n", "2"];
    let ended = Loading::new().run(&url, &args).exits(3);
    flat(&ended.to_string())
}

#[test]
fn a_server_that_never_says_its_settings_is_named_whatever_ends_the_load() {
    let server = RawHttp2::start(|peer| peer.until_closed()).unwrap();
    let url = format!("http://{}/", server.address());
    for (end, said) in [
        (
            ["-n", "2", "--connect-timeout", "100ms"],
            "no SETTINGS of HTTP/2 came within the connect timeout",
        ),
        (
            ["-d", "300ms", "--warm-up", "0s"],
            "no request could be sent: at the end 1 connection still waited for the server's SETTINGS of HTTP/2",
        ),
    ] {
        let args = [&["--http2-prior-knowledge", "-c", "1"], &end[..]].concat();
        let ended = Loading::new().run(&url, &args).exits(3);
        for text in [&ended.stdout, &ended.stderr] {
            assert!(flat(text).contains(said), "{said}: {ended}");
        }
    }
}

#[test]
fn another_protocol_than_the_server_speaks_is_named_with_the_option_for_it() {
    for (bytes, said) in [
        (
            &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
            "most often the answer is not valid HTTP/2 (the server answered in HTTP/1: omit \
             --http2-prior-knowledge)",
        ),
        (
            &[0x15, 3, 3, 0, 2, 2, 40],
            "this port speaks TLS, use https://), with --http2 in place of --http2-prior-knowledge",
        ),
    ] {
        let told = told_by(bytes);
        assert!(told.contains(said), "{said}: {told}");
    }
    let settings = http2::frame(http2::kind::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100]);
    let server = OracleServer::start(move |_: &Turn<'_>| send(settings.clone())).unwrap();
    let ended = Loading::new().run(&url(&server, "/"), &["-c", "1", "-n", "2"]);
    let told = flat(&ended.exits(3).to_string());
    let said = "not valid HTTP, or is larger than 64 KiB (the server speaks HTTP/2: use --http2-prior-knowledge";
    assert!(told.contains(said), "{told}");
}

#[test]
fn a_server_that_says_goaway_is_not_taken_for_one_of_tls() {
    let server = RawHttp2::start(|peer| {
        peer.send(&http2::frame(http2::kind::SETTINGS, 0, 0, &[]));
        if peer.request().is_some() {
            peer.send(&http2::goaway(0, 0xb));
        }
        peer.until_closed();
    })
    .unwrap();
    let url = format!("http://{}/", server.address());
    let args = ["--http2-prior-knowledge", "-c", "1", "-n", "2"];
    let told = flat(&Loading::new().run(&url, &args).exits(3).to_string());
    assert!(told.contains("GOAWAY: ENHANCE_YOUR_CALM"), "{told}");
    assert!(!told.contains("https://"), "{told}");
}

#[test]
fn redirects_of_http2_are_told_of_without_what_it_cannot_do() {
    let server = RawHttp2::start(|peer| {
        peer.send(&http2::frame(http2::kind::SETTINGS, 0, 0, &[]));
        while let Some(stream) = peer.request() {
            // END_STREAM and END_HEADERS; the name `:status` is the table's eighth.
            let head = [0x08, 3, b'3', b'0', b'2'];
            peer.send(&http2::frame(http2::kind::HEADERS, 0x5, stream, &head));
        }
    })
    .unwrap();
    let url = format!("http://{}/", server.address());
    let args = ["--http2-prior-knowledge", "-c", "1", "-n", "2"];
    let told = flat(&Loading::new().run(&url, &args).exits(3).to_string());
    let curl = format!("(curl --http2-prior-knowledge -I {url} shows it)");
    assert!(told.contains(&curl), "{told}");
    assert!(!told.contains("--follow-redirects"), "{told}");
}

#[test]
fn several_servers_share_the_connections_and_have_figures_of_their_own() {
    let loading = Loading::new();
    let servers = [hello_server(), hello_server()];
    let [first, second] = servers.each_ref().map(|server| url(server, ""));
    let lines = format!("3 {first}/a\n{second}/b\n");
    loading.root.write("urls", &lines);
    let ended = loading
        .root
        .deadheat("load --progress off --urls urls -n 80 -c 4 --json")
        .exits(0)
        .tells(&[&format!("{second}: 127.0.0.1"), &format!("GET {second}/b")]);
    let json = json(&ended);
    let seen = servers.each_ref().map(|server| server.seen_at_rest());
    for (nth, server) in seen.iter().enumerate() {
        assert_eq!(server.connections, [3, 1][nth], "{ended}");
        let route = &json["observation"]["routes"][nth];
        assert_eq!(route["succeeded"], server.requests, "{ended}");
        let path = ["/a", "/b"][nth];
        assert!(server.first.iter().all(|request| request.path == path));
    }
    assert_eq!(
        json["figures"]["exchanges"][1]["path"],
        format!("{second}/b")
    );
    loading
        .root
        .deadheat("load --progress off --urls urls -n 80 -c 4")
        .exits(0)
        .says(&["Addresses", &format!("{first} (")]);
    loading
        .root
        .deadheat("load --progress off --urls urls -c 1")
        .exits(2)
        .tells(&["1 connections cannot lead to 2 addresses"]);
    loading
        .root
        .deadheat("load --progress off --urls urls --rate 5")
        .exits(2)
        .tells(&["Start a load for each origin"]);
}

#[test]
fn a_unix_socket_and_ipv6_are_connected_to() {
    let loading = Loading::new();
    let server = Listen::unix().unwrap().serve(right()).unwrap();
    let path = server.path().display().to_string();
    let args = ["--unix-socket", &path, "-n", "5", "-c", "1"];
    // The name is never resolved.
    loading
        .run("http://a.invalid:81/x", &args)
        .exits(0)
        .tells(&["Unix socket"]);
    let seen = server.seen_at_rest();
    assert_eq!(seen.requests, 5);
    assert_eq!(seen.first[0].header("host"), Some("a.invalid:81"));

    let server = Listen::ipv6().unwrap().serve(right()).unwrap();
    loading
        .run(&url(&server, "/"), &["-n", "5", "-c", "1", "-6"])
        .exits(0);
    assert_eq!(server.seen_at_rest().requests, 5);
}

#[test]
fn localhost_is_loaded_where_somebody_listens() {
    let loading = Loading::new();
    let server = hello_server();
    let port = server.address().port();
    let url = format!("http://localhost:{port}/");
    // Whatever the resolver says first: the server listens on IPv4 alone.
    loading.run(&url, &["-n", "5", "-c", "1"]).exits(0);
    assert_eq!(server.seen_at_rest().requests, 5);
}

#[test]
fn certificates_are_believed_as_asked() {
    let loading = Loading::new();
    let authority = Authority::new().unwrap();
    let client = authority.client().unwrap();
    loading.root.write("ca.pem", authority.pem());
    loading
        .root
        .write("other.pem", Authority::new().unwrap().pem());
    loading.root.write("client.pem", &client.certificate);
    loading.root.write("client.key", &client.key);
    let tls = |identity| TlsServer::new(identity).unwrap();
    let open = tls(authority.server(CertificateKind::Localhost).unwrap());
    let closed = open.clone().only_clients_of(&authority).unwrap();
    let own = ["--cert", "client.pem", "--key", "client.key"];
    for (server, args, exit) in [
        (&open, &["--cacert", "ca.pem"][..], 0),
        (&open, &["--insecure"], 0),
        (&open, &[], 3),
        (&open, &["--cacert", "other.pem"], 3),
        (&closed, &["--cacert", "ca.pem"], 3),
        (
            &closed,
            &[&["--cacert", "ca.pem"][..], &own[..]].concat(),
            0,
        ),
    ] {
        let server = Listen::ipv4().unwrap().over_tls(server.clone());
        let server = server.serve(right()).unwrap();
        let url = format!("https://localhost:{}/", server.address().port());
        let fixed = ["-n", "3", "-c", "1", "-4"];
        let ended = loading.run(&url, &[args, &fixed].concat()).exits(exit);
        assert_eq!(server.seen_at_rest().requests > 0, exit == 0, "{ended}");
    }
    // What is no certificate is found before the load.
    loading.root.write("no.pem", "nothing");
    loading
        .run("https://localhost:1/", &["--cacert", "no.pem"])
        .exits(2)
        .tells(&["the file contains no certificate"]);
}

#[test]
fn redirects_are_not_followed_and_told() {
    let loading = Loading::new();
    let server =
        OracleServer::start(|_: &Turn<'_>| send(sized(302, "Location: /elsewhere\r\n", b"")))
            .unwrap();
    let args = ["-n", "5", "-c", "1"];
    loading.run(&url(&server, "/"), &args).exits(3).tells(&[
        "5 answers led elsewhere (302)",
        "--follow-redirects",
        "--expect-status 2xx,3xx",
    ]);
    let ended = loading
        .run(
            &url(&server, "/"),
            &[&args[..], &["--expect-status", "302"]].concat(),
        )
        .exits(0);
    assert!(!ended.stderr.contains("elsewhere"), "{ended}");
    let seen = server.seen_at_rest();
    assert!(seen.first.iter().all(|request| request.path == "/"));
}

#[test]
fn redirects_are_followed_if_asked() {
    let loading = Loading::new();
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.request.path.as_str() {
        "/" => send(sized(302, "Location: /a\r\n", b"")),
        "/a" => send(sized(307, "Location: b\r\n", b"")),
        _ => send(hello()),
    })
    .unwrap();
    let args = ["-n", "5", "-c", "1", "--follow-redirects"];
    let ended = loading
        .run(&url(&server, "/"), &[&args[..], &["--details"]].concat())
        .exits(0)
        .says(&["10 redirects (5 with 302, 5 with 307)"])
        .tells(&["up to 10 for a request"]);
    assert!(!ended.stderr.contains("elsewhere"), "{ended}");
    assert_eq!(server.seen_at_rest().requests, 15);
    let one = ["-n", "5", "-c", "1", "--follow-redirects=1"];
    loading
        .run(&url(&server, "/"), &one)
        .exits(3)
        .says(&["more redirects in a row than are followed"]);
}

/// A file that a load wrote.
#[track_caller]
fn written(root: &Root, name: &str, ended: &Ended) -> String {
    let read = fs::read_to_string(root.path().join(name));
    read.unwrap_or_else(|error| panic!("{name}: {error}: {ended}"))
}

#[test]
fn every_format_is_written() {
    let loading = Loading::new();
    loading
        .root
        .write("out.txt", &"what was there before\n".repeat(1000));
    let server = hello_server();
    let names =
        ["txt", "json", "csv", "hlog", "hgrm", "html"].map(|ending| format!("out.{ending}"));
    let mut args = vec!["-n", "50", "-c", "2"];
    args.extend(names.iter().flat_map(|name| ["-o", name.as_str()]));
    let ended = loading
        .run(&url(&server, "/"), &args)
        .exits(0)
        .says(&["valid answers"]);
    let read = |name: &str| written(&loading.root, name, &ended);
    let text = read("out.txt");
    assert!(
        text.contains("valid answers") && !text.contains("before"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let json: Value = serde_json::from_str(&read("out.json")).unwrap();
    assert_eq!(tally(&json, "measured", "succeeded"), 50);
    assert!(read("out.csv").lines().count() >= 2);
    assert!(read("out.hlog").contains("[StartTime"));
    assert!(read("out.hgrm").contains("TotalCount") && read("out.hgrm").contains("50"));
    assert!(read("out.html").contains("</html>"));
}

#[test]
fn redirects_are_counted_and_told_of_with_where_to_look() {
    let loading = Loading::new();
    let server =
        OracleServer::start(|_: &Turn<'_>| send(sized(302, "location: /elsewhere\r\n", b"")))
            .unwrap();
    let target = url(&server, "/here");
    let shown = format!("curl -I {target} shows it");
    loading
        .run(&target, &["-n", "3", "-c", "1"])
        .exits(3)
        .tells(&[
            "hint: 3 answers led elsewhere (302)",
            &shown,
            "(status 302)",
        ]);
    // A file of URLs is no URL.
    loading
        .root
        .write("urls", &format!("{target}\n{target}2\n"));
    let ended = loading
        .root
        .deadheat("load --progress off --urls urls -n 3 -c 1");
    assert!(!ended.stderr.contains("curl"), "{ended}");
    ended
        .exits(3)
        .tells(&["hint: 3 answers led elsewhere (302)"]);
    assert!(
        server
            .seen_at_rest()
            .first
            .iter()
            .all(|request| request.path.starts_with("/here"))
    );
}
