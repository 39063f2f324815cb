//! `deadheat load` asked for what makes no sense or would do harm: refused before anything is sent.

use std::{
    fs,
    time::{Duration, Instant},
};

use crate::{
    load::{Loading, hello_server, url},
    support::Root,
};

#[test]
fn wrong_options_are_refused_before_anything_is_sent() {
    let loading = Loading::new();
    let server = hello_server();
    let url = url(&server, "/");
    let cases: &[(&[&str], &str)] = &[
        (&["--no-such-option"], "--no-such-option"),
        (&["-c", "0"], "0"),
        (&["-d", "10x"], "10s"),
        (&["-d", r#"{"a":1}"#], "--body"),
        (
            &["-n", "5", "-d", "5s"],
            "--duration and --requests: only one of these can end a load",
        ),
        (
            &["--rate", "5/s", "--stage", "1s@5/s"],
            "--rate and --stage: both say how fast",
        ),
        (&["--rate", "fast"], "not a rate"),
        (&["--stage", "10s"], "not a stage"),
        (&["--ramp", "1s", "--rate", "5"], "--ramp and --rate"),
        (&["--pipeline", "1025"], "from 1 to 1024"),
        (
            &["--pipeline", "4", "--no-keepalive"],
            "--pipeline and --no-keepalive",
        ),
        (&["--key", "x.pem"], "--cert"),
        (
            &["--insecure"],
            "--insecure: this is for TLS: write https://",
        ),
        (
            &["--chunked", "--http1.0", "-b", "x"],
            "HTTP/1.0 has no chunks",
        ),
        (&["-b", "x", "--body-file", "y"], "a request has one body"),
        (
            &["--body-file", "/no/such/file"],
            "--body-file /no/such/file: the folder /no/such does not exist; name an existing file",
        ),
        (
            &["--expect-body-file", "none"],
            "--expect-body-file none: it does not exist; name an existing file",
        ),
        (
            &["--form", "a=@/no/such/file"],
            "--form a=@/no/such/file: the folder /no/such does not exist; name an existing file",
        ),
        (&["--form", "a"], "write NAME=VALUE"),
        (
            &["--follow-redirects", "--pipeline", "2"],
            "behind pipelined requests",
        ),
        (&["--follow-redirects=101"], "from 1 to 100"),
        (&["-b", "x", "--form", "a=b"], "a request has one body"),
        (
            &["--expect-body", "x", "--expect-contains", "y"],
            "compared with one expectation",
        ),
        (&["-H", "no header"], "'Name: value'"),
        (&["-H", "Content-Length: 5"], "must be 0, the body's length"),
        (
            &["-H", "Transfer-Encoding: chunked"],
            "follows from the body",
        ),
        (&["--user", "nobody"], "USER:PASSWORD"),
        (&["--template"], "contain no placeholder"),
        (&["--template", "-b", "{{count}}"], "{{counter}}"),
        (
            &["--template", "-b", "{{line /no/such/file}}"],
            "reading /no/such/file, which a template names: the folder /no/such does not exist",
        ),
        (&["--fail-if", "p99=5ms"], "neither < nor >"),
        (&["--fail-if", "p99>5"], "no unit"),
        (
            &["--fail-if", "response.p99>5ms"],
            "because it has no schedule",
        ),
        (&["--cpus", "x"], "--cpus"),
        (&["--source", "192.0.2.1"], "--source 192.0.2.1"),
        (&["--unix-socket", "/no/such/socket"], "/no/such/socket"),
        (
            &["--urls", "urls"],
            "--urls: reading urls: it does not exist; name an existing file",
        ),
        (&["-o", "report.xml"], "which format"),
        (&["-6"], "-6: 127.0.0.1 is an IPv4 address"),
    ];
    for (args, expected) in cases {
        loading
            .run(&url, args)
            .exits(2)
            .has_no_data()
            .tells(&[expected]);
    }
    assert_eq!(server.seen().connections, 0);
    loading
        .run("https://127.0.0.1:9/", &["--cacert", "none.pem"])
        .exits(2)
        .has_no_data()
        .tells(&["--cacert none.pem: it does not exist; name an existing file"]);
}

#[test]
fn wrong_urls_are_refused() {
    let loading = Loading::new();
    for (url, expected) in [
        ("localhost:8080/", "write http://localhost:8080/"),
        (
            "ftp://127.0.0.1/",
            "does not begin with http:// or https://",
        ),
        ("http://me:secret@127.0.0.1/", "--user"),
        ("http://me:secret/2@127.0.0.1/", "is not a URL"),
        ("http:/me:secret@127.0.0.1/", "has no scheme"),
        ("http://127.0.0.1:0/", "port 0"),
    ] {
        let ended = loading
            .run(url, &[])
            .exits(2)
            .has_no_data()
            .tells(&[expected]);
        assert!(!ended.stderr.contains("secret"), "{ended}");
    }
    let root = Root::with(&[]);
    root.deadheat("load").exits(2).tells(&["no URL: name one"]);
    for args in [
        "load http://127.0.0.1/ http://me:secret@127.0.0.1/",
        "run --postgres mysql://me:secret@127.0.0.1/db",
        "run --postgres me:secret@127.0.0.1/db",
    ] {
        let ended = root.deadheat(args).exits(2);
        assert!(!ended.stderr.contains("secret"), "{ended}");
    }
}

#[test]
fn a_host_of_others_is_refused_until_it_is_said_to_be_allowed() {
    let loading = Loading::new();
    // Documentation addresses (RFC 5737, RFC 3849): were anything sent, there would be the connect timeout to wait for.
    for (url, address) in [
        ("http://192.0.2.1/", "192.0.2.1"),
        ("http://[2001:db8::1]:8080/", "2001:db8::1"),
        ("https://203.0.113.7/", "203.0.113.7"),
    ] {
        let started = Instant::now();
        loading
            .run(url, &["-n", "1", "-c", "1", "--connect-timeout", "60s"])
            .exits(2)
            .has_no_data()
            .tells(&[address, "--i-may-load-this-host"]);
        assert!(started.elapsed() < Duration::from_secs(30));
        loading
            .run(url, &["--i-may-load-this-host", "--dry-run"])
            .exits(0)
            .says(&[address, "ceiling"]);
    }
    // It is the address that counts, not the name.
    let args = ["--resolve", "192.0.2.1", "-n", "1", "-c", "1"];
    loading
        .run("http://localhost/", &args)
        .exits(2)
        .tells(&["localhost resolves to 192.0.2.1"]);
}

#[test]
fn a_name_that_does_not_resolve_is_told() {
    let loading = Loading::new();
    loading
        .run("http://no-such-host.invalid/", &["-n", "1"])
        .exits(3)
        .has_no_data()
        .tells(&["resolving no-such-host.invalid", "--resolve"]);
    // With an address of its own it needs none.
    let server = hello_server();
    let address = server.address().to_string();
    let args = ["-n", "3", "-c", "1", "--resolve", &address];
    loading.run("http://no-such-host.invalid/", &args).exits(0);
    let seen = server.seen_at_rest();
    assert_eq!(seen.requests, 3);
    assert_eq!(seen.first[0].header("host"), Some("no-such-host.invalid"));
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_load() {
    let loading = Loading::new();
    let server = hello_server();
    fs::create_dir(loading.root.path().join("folder.json")).unwrap();
    for (path, why) in [
        (
            "no/such/folder/out.json",
            "the folder no/such/folder does not exist; create it, or name a file in a folder",
        ),
        ("folder.json", "name a file in a folder"),
    ] {
        let ended = loading
            .run(&url(&server, "/"), &["-n", "5", "-o", path])
            .exits(2)
            .has_no_data()
            .tells(&[path, "opening it for writing", why]);
        assert!(!ended.stderr.contains(".deadheat-"), "{ended}");
    }
    assert_eq!(server.seen().connections, 0);
}
