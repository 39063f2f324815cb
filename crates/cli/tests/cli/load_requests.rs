//! What requests are made of, what is read from files for them, and what is kept of it.

use std::{
    io::Read as _,
    net::TcpListener,
    os::linux::net::SocketAddrExt as _,
    os::unix::net::{SocketAddr, UnixListener},
};

use deadheat_testkit::{
    Listen, OracleServer, Turn,
    answers::{hello, send, sized},
};

use crate::{
    load::{Loading, hello_server, json, url},
    support::{Root, running},
};

const ONCE: [&str; 4] = ["-n", "1", "-c", "1"];

#[test]
fn methods_that_define_content_are_sent_with_a_length() {
    let loading = Loading::new();
    let server = hello_server();
    loading
        .root
        .write("urls", "POST /a\nPUT /b\nPATCH /c\nDELETE /d\n/e\n");
    let all = ["-n", "5", "-c", "1", "--urls", "urls"];
    loading.run(&url(&server, ""), &all).exits(0);
    for method in ["POST", "PUT", "DELETE"] {
        let args = [&ONCE[..], &["-X", method]].concat();
        loading.run(&url(&server, "/f"), &args).exits(0);
    }
    let own = [&ONCE[..], &["-X", "POST", "-H", "Content-Length: 0"]].concat();
    loading.run(&url(&server, "/g"), &own).exits(0);
    let template = [&ONCE[..], &["-X", "PATCH", "--template"]].concat();
    loading
        .run(&url(&server, "/{{counter}}"), &template)
        .exits(0);
    let mut command = running::command(loading.root.path(), "as");
    command.args([
        "hey",
        "-n",
        "1",
        "-c",
        "1",
        "-m",
        "POST",
        &url(&server, "/h"),
    ]);
    assert!(command.output().unwrap().status.success());
    let seen = server.seen_at_rest().first;
    let lengths: Vec<(&str, Option<&str>)> = seen
        .iter()
        .map(|one| (&*one.method, one.header("content-length")))
        .collect();
    let zero = Some("0");
    let expected = [
        ("POST", zero),
        ("PUT", zero),
        ("PATCH", zero),
        ("DELETE", None),
        ("GET", None),
        ("POST", zero),
        ("PUT", zero),
        ("DELETE", None),
        ("POST", zero),
        ("PATCH", zero),
        ("POST", zero),
    ];
    assert_eq!(lengths, expected);
}

#[test]
fn byte_order_marks_are_no_part_of_a_file_and_bodies_are_sent_as_they_are() {
    let loading = Loading::new();
    let server = hello_server();
    loading.root.write("names", "\u{feff}ann\r\nbob\r\n");
    loading.root.write("urls", "\u{feff}/a\n/b @body\n");
    loading.root.write("body", "\u{feff}x");
    let two = ["-n", "2", "-c", "1"];
    let args = [&two[..], &["--template"]].concat();
    loading
        .run(&url(&server, "/u/{{line names}}"), &args)
        .exits(0);
    let args = [&two[..], &["--urls", "urls"]].concat();
    loading.run(&url(&server, ""), &args).exits(0);
    let seen = server.seen_at_rest().first;
    let paths: Vec<&str> = seen.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["/u/ann", "/u/bob", "/a", "/b"]);
    assert_eq!(seen[3].body, "\u{feff}x".as_bytes());
    std::fs::write(loading.root.path().join("urls"), b"\xff\xfe/\0a\0").unwrap();
    loading
        .run(&url(&server, ""), &args)
        .exits(2)
        .tells(&["--urls: reading urls: it is UTF-16 text; save it as UTF-8"]);
}

#[test]
fn a_line_that_is_no_request_is_refused_with_its_number() {
    let loading = Loading::new();
    let server = hello_server();
    for (lines, expected) in [
        (
            "/\nGET /a HTTP/1.1\n",
            "urls, line 2: \"HTTP/1.1\" after \"/a\"",
        ),
        ("-1 /a\n", "urls, line 1: the weight \"-1\""),
        ("/a b\n", "expected [WEIGHT] [METHOD] URL [@BODYFILE]"),
    ] {
        loading.root.write("urls", lines);
        let args = [&ONCE[..], &["--urls", "urls"]].concat();
        loading
            .run(&url(&server, ""), &args)
            .exits(2)
            .tells(&[expected]);
    }
    assert_eq!(server.seen().connections, 0);
}

#[test]
fn nothing_that_a_request_is_made_of_is_kept() {
    let loading = Loading::new();
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.index % 2 {
        0 => send(hello()),
        _ => send(sized(302, "Location: /a?code=S3CRET\r\n", b"")),
    })
    .unwrap();
    loading.root.write("tokens", "S3CRET-a\nS3CRET-b\n");
    let args = [
        "-n",
        "4",
        "-c",
        "1",
        "--template",
        "-H",
        "Authorization: Bearer {{line tokens}}",
        "-H",
        "X-Own: S3CRET",
        "-b",
        "pin=S3CRET",
        "-o",
        "x.json",
        "-o",
        "x.html",
        "-o",
        "x.txt",
        "-o",
        "x.csv",
        "-o",
        "x.om",
        "-o",
        "x.otlp.json",
        "--details",
    ];
    let target = url(&server, "/a;jsessionid=S3CRET/b?code=S3CRET&S3CRET#S3CRET");
    let ended = loading.run(&target, &args).exits(1);
    let record = std::fs::read_to_string(loading.root.path().join("x.json")).unwrap();
    let mut texts = vec![ended.stdout.clone(), ended.stderr.clone(), record.clone()];
    for name in ["x.txt", "x.csv", "x.om", "x.otlp.json", "x.html"] {
        texts.push(std::fs::read_to_string(loading.root.path().join(name)).unwrap());
    }
    let in_base64 = ["UzNDUkVU", "MzQ1JFV", "TM0NSRV"];
    for text in &texts {
        assert!(!text.contains("S3CRET"), "{text}");
        assert!(!in_base64.iter().any(|part| text.contains(part)), "{text}");
    }
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let hidden = &record["spec"]["hidden"];
    assert_eq!(hidden["body_bytes"][0], 10);
    assert_eq!(hidden["lists"]["tokens"]["lines"], 2);
    assert_eq!(
        record["spec"]["exchanges"][0]["request"]["headers"][0][0],
        "Authorization"
    );
    assert_eq!(
        record["spec"]["exchanges"][0]["request"]["path"],
        "/a;jsessionid=…/b?code=…&…"
    );
}

#[test]
fn an_option_that_is_wrong_does_not_repeat_a_secret() {
    let root = Root::with(&[]);
    for (args, expected) in [
        (&["-H", "S3CRET"][..], "write a header like 'Name: value'"),
        (&["-H", "a b: S3CRET"], "--header"),
        (&["--form", "S3CRET"], "write NAME=VALUE"),
        (&["-d", "{\"pin\":\"S3CRET\"}"], "set a body with --body"),
        (&["--user", "S3CRET"], "USER:PASSWORD"),
        (&["--otlp", "http://h/?S3CRET=1"], "--otlp"),
        (&["--rate", "fast"], "invalid value 'fast'"),
    ] {
        let mut command = running::command(root.path(), "load");
        command.arg("http://127.0.0.1:1/").args(args);
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(
            told.contains(expected) && !told.contains("S3CRET"),
            "{told}"
        );
    }
}

#[test]
fn failures_come_first_and_a_load_that_mostly_failed_ends_with_1() {
    let loading = Loading::new();
    let server = OracleServer::start(|turn: &Turn<'_>| match turn.index % 3 {
        0 => send(hello()),
        _ => send(sized(500, "", b"")),
    })
    .unwrap();
    let args = ["-n", "30", "-c", "1"];
    let ended = loading.run(&url(&server, "/"), &args).exits(1);
    assert!(
        ended
            .stdout
            .starts_with("66.7 % of 30 requests failed (mostly: "),
        "{ended}"
    );
    let accepted = [&args[..], &["--fail-if", "errors>25"]].concat();
    loading.run(&url(&server, "/"), &accepted).exits(0);
}

#[test]
fn wrong_json_is_described_by_its_place() {
    let loading = Loading::new();
    let server =
        OracleServer::start(|_: &Turn<'_>| send(sized(200, "", b"{\"price\":10.0}"))).unwrap();
    for right in ["/price=10", "/price=1e1", "/price=10.00"] {
        let args = [&ONCE[..], &["--expect-json", right]].concat();
        loading.run(&url(&server, "/"), &args).exits(0);
    }
    let args = [&ONCE[..], &["--expect-json", "/price=12.5"]].concat();
    loading
        .run(&url(&server, "/"), &args)
        .exits(3)
        .says(&["at /price: expected 12.5, found 10.0"]);
}

#[test]
fn a_tls_handshake_that_is_not_answered_is_no_failed_connection() {
    let loading = Loading::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("https://{}/", silent.local_addr().unwrap());
    let args = [
        "-n",
        "2",
        "-c",
        "1",
        "--insecure",
        "--connect-timeout",
        "300ms",
    ];
    let ended = loading.run(&target, &args).exits(3).tells(&[
        "the TLS handshake was not finished within the connect timeout",
        "does this port speak TLS?",
    ]);
    assert!(!ended.stderr.contains("no connection within"), "{ended}");
}

#[test]
fn an_abstract_socket_and_an_address_with_a_zone_can_be_loaded() {
    let loading = Loading::new();
    let name = format!("deadheat-test-{}", std::process::id());
    let missing = [
        "-n",
        "1",
        "-c",
        "1",
        "--unix-socket",
        "@deadheat-no-such-socket",
    ];
    loading
        .run("http://h/", &missing)
        .exits(2)
        .tells(&["no abstract socket has this name"]);
    let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    let server = std::thread::spawn(move || {
        use std::io::Write as _;
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let _ = stream.read(&mut head).unwrap();
        stream.write_all(&hello()).unwrap();
        let _ = stream.read(&mut head);
    });
    let socket = format!("@{name}");
    let args = ["-n", "1", "-c", "1", "--unix-socket", &socket];
    loading.run("http://h/", &args).exits(0);
    server.join().unwrap();
    let Ok(listen) = Listen::ipv6() else {
        return;
    };
    let server = listen.serve(|_: &Turn<'_>| send(hello())).unwrap();
    let target = format!("http://[::1%25lo]:{}/", server.address().port());
    let ended = loading
        .run(&target, &[&ONCE[..], &["--json"]].concat())
        .exits(0);
    assert_eq!(
        json(&ended)["spec"]["target"]["authority"],
        format!("[::1]:{}", server.address().port())
    );
    loading
        .run("http://[fe80::1]/", &ONCE)
        .exits(2)
        .tells(&["fe80::1 is link-local", "http://[fe80::1%25eth0]:80/"]);
}
