//! What `deadheat compare` asks URLs and commands for: the options of `deadheat load`, as both servers saw them.

use std::{fs, time::Duration};

use deadheat_runner::session::{HEADER_FILE, heats::read_session};
use deadheat_testkit::{
    Action, Authority, CertificateKind, Listen, OracleServer, TlsServer, Turn,
    answers::{hello, send},
};

use crate::support::{Root, Running, flat, running};

/// Short heats: what they find is no reason for exit status 1.
const SHORT: &str = "--heats 2 --heat-time 300ms --slice 40ms --guard 10ms --warm-up 100ms -c 2 --seed 7 --fail-if-slower 99%";

fn urls(servers: &[OracleServer; 2], scheme: &str) -> String {
    let url = |server: &OracleServer| format!("{scheme}://{}/", server.address());
    format!("{} {}", url(&servers[0]), url(&servers[1]))
}

#[test]
fn both_servers_see_method_headers_body_and_tls_and_no_secret_is_recorded() {
    let authority = Authority::new().expect("making certificates");
    let served = || {
        let identity = authority
            .server(CertificateKind::Localhost)
            .expect("a certificate");
        let tls = TlsServer::new(identity).expect("a TLS server");
        let listen = Listen::ipv4().expect("listening").over_tls(tls);
        listen.serve(|_: &Turn<'_>| send(hello())).expect("serving")
    };
    let servers = [served(), served()];
    let root = Root::with(&[]);
    root.write("ca.pem", authority.pem());
    root.deadheat(&format!(
        "compare {} --cacert ca.pem --server-name localhost -X PUT -H X-Token:s3cret-h --user ann:s3cret-p \
         --body {{\"n\":1}} -H Content-Type:application/json --chunked {SHORT}",
        urls(&servers, "https")
    ))
    .exits(0)
    .says(&["PUT / c2"]);
    for server in &servers {
        let seen = server.seen_at_rest();
        assert!(seen.full_handshakes + seen.resumed_handshakes > 0);
        assert!(!seen.first.is_empty());
        for request in &seen.first {
            assert_eq!(
                (request.method.as_str(), request.path.as_str()),
                ("PUT", "/")
            );
            assert_eq!(request.header("x-token"), Some("s3cret-h"));
            // ann:s3cret-p (RFC 7617).
            assert_eq!(
                request.header("authorization"),
                Some("Basic YW5uOnMzY3JldC1w")
            );
            assert_eq!(request.body, b"{\"n\":1}");
            assert!(!request.chunks.is_empty(), "it was sent in chunks");
        }
    }
    let folder = root.session_folder();
    for name in [HEADER_FILE, "heats.jsonl"] {
        let text = fs::read_to_string(folder.join(name)).expect("reading the records");
        for secret in ["s3cret", "YW5uOnMzY3JldC1w"] {
            assert!(!text.contains(secret), "{name}: {text}");
        }
    }
}

#[test]
fn what_is_expected_of_answers_is_expected_of_both() {
    let served = |body: &'static str| {
        let listen = Listen::ipv4().expect("listening");
        let text = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let served = listen.serve(move |_: &Turn<'_>| send(text.clone()));
        served.expect("serving")
    };
    let servers = [served("right"), served("wrong")];
    let root = Root::with(&[]);
    root.deadheat(&format!(
        "compare {} --expect-body right {SHORT}",
        urls(&servers, "http")
    ))
    .exits(1)
    .says(&["B failed", "wrong"]);
}

#[test]
fn paths_of_a_file_are_asked_of_both_sides() {
    let served = || {
        let listen = Listen::ipv4().expect("listening");
        listen.serve(|_: &Turn<'_>| send(hello())).expect("serving")
    };
    let servers = [served(), served()];
    let root = Root::with(&[]);
    root.write("paths", "3 /a\nPOST /b\n");
    root.deadheat(&format!(
        "compare {} --urls paths {SHORT}",
        urls(&servers, "http")
    ))
    .exits(0)
    .says(&["GET /a and 1 more"]);
    for server in &servers {
        let seen = server.seen_at_rest().first;
        for (method, path) in [("GET", "/a"), ("POST", "/b")] {
            let is_it = |one: &deadheat_testkit::Request| one.method == method && one.path == path;
            assert!(seen.iter().any(is_it), "{method} {path}");
        }
    }
}

#[test]
fn at_a_rate_both_sides_are_offered_the_same_and_response_times_decide() {
    let served = |pause: u64| {
        let listen = Listen::ipv4().expect("listening");
        let answer = vec![
            Action::Pause(Duration::from_millis(pause)),
            Action::Send(hello()),
        ];
        let served = listen.serve(move |_: &Turn<'_>| answer.clone());
        served.expect("serving")
    };
    let servers = [served(2), served(12)];
    let root = Root::with(&[]);
    let ended = root.deadheat(&format!(
        "compare {} --rate 2000/s -c 60 --heats 2 --heat-time 600ms --slice 120ms --guard 20ms --warm-up 100ms --seed 7",
        urls(&servers, "http")
    ));
    let said = flat(&ended.stdout);
    // On a machine that is busy it may be undecided. It never has it the wrong way round.
    assert!(
        said.contains("response time") && said.contains("GET / 2000/s c60"),
        "{ended}"
    );
    let b = servers[1].address().to_string();
    let is_right = said.starts_with("Undecided") || said.starts_with(&format!("{b} is slower"));
    assert!(
        is_right || said.starts_with(&format!("{b} does not keep up")),
        "{ended}"
    );
    ended.exits(0);
    let record = read_session(&root.session_folder()).expect("reading the comparison");
    for heat in record.heats.iter().map(|one| &one.heat) {
        let rates = heat.members.iter().map(|one| one.offered_per_second);
        assert_eq!(rates.collect::<Vec<_>>(), [Some(2000.0); 2]);
        for round in &heat.rounds {
            let due: Vec<u64> = round
                .iter()
                .filter_map(|slice| Some(slice.open.as_ref()?.offered))
                .collect();
            assert!(due.len() == 2 && due.iter().all(|due| *due > 0), "{due:?}");
        }
    }
}

/// An HTTPS server for a command. It keeps what it was asked for.
const HTTPS: &str = r#"
import http.server, os, ssl
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open("asked", "ab") as asked:
            asked.write(body + b"\n")
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("server.pem", "server.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"#;

#[test]
fn commands_that_speak_tls_are_asked_with_the_body_from_their_first_request_on() {
    let authority = Authority::new().expect("making certificates");
    let identity = authority
        .server(CertificateKind::Localhost)
        .expect("a certificate");
    let root = Root::with(&[]);
    root.write("ca.pem", authority.pem());
    root.write("server.pem", &identity.certificate);
    root.write("server.key", &identity.key);
    root.write("server.py", HTTPS);
    let options =
        format!("--https --cacert ca.pem --server-name localhost --path /in --body x=1 {SHORT}");
    let mut command = running::command(root.path(), "compare");
    command
        .args(["cmd:python3 server.py", "cmd:python3 ./server.py"])
        .args(options.split_whitespace());
    Running::start_command(root.path(), command, "compare two commands over TLS")
        .wait()
        .exits(0)
        .says(&["POST /in c2"]);
    let asked = fs::read_to_string(root.path().join("asked")).expect("it was asked");
    assert!(asked.lines().all(|line| line == "x=1"), "{asked}");
}

#[test]
fn what_has_no_meaning_is_refused_before_anything_is_sent() {
    let root = Root::with(&[]);
    let urls = "http://127.0.0.1:1/ http://127.0.0.1:2/";
    let commands = "cmd:./a cmd:./b";
    let cases = [
        (urls, "--https", "--https has no meaning for URLs"),
        (urls, "--insecure", "this is for TLS"),
        (urls, "--arrivals poisson", "open loops"),
        (urls, "--ramp 1s", "--ramp"),
        (urls, "--body a --body-file -", "both sides need it"),
        (urls, "--pipeline 2 --no-keepalive", "pipelining"),
        (
            "http://127.0.0.1:1/a http://127.0.0.1:2/",
            "--urls paths",
            "the file names the paths",
        ),
        (
            urls,
            "--decide cpu",
            "--decide cpu: the CPU time of servers that run already is not known",
        ),
        (
            urls,
            "--fail-if-costlier 3% --rate 5/s",
            "--fail-if-costlier: the CPU time of servers that run already is not known",
        ),
        (urls, "--decide p99", "add one, like --rate 1000/s"),
        (
            urls,
            "--rate common",
            "their capacity is not measured first",
        ),
        (urls, "--rate 5/s --rate 6/s", "at one rate alone"),
        (commands, "--insecure", "give --https"),
        (
            commands,
            "--rate 5/s --arrivals uniform",
            "--arrivals has no meaning for commands",
        ),
        (
            commands,
            "--resolve 127.0.0.1 -4",
            "--resolve, -4 have no meaning for commands",
        ),
        (
            commands,
            "--unix-socket s",
            "--unix-socket has no meaning for commands",
        ),
        (
            "go-a go-b",
            "--arrivals poisson -X PUT",
            "--arrivals, --method have no meaning for stacks",
        ),
        (
            "go-a go-b",
            "--expect-status 200",
            "--expect-status has no meaning for stacks",
        ),
        (
            "go-a go-b",
            "--timeout 30s",
            "--timeout has no meaning for stacks",
        ),
    ];
    for (sides, options, told) in cases {
        root.deadheat(&format!("compare {sides} {options}"))
            .exits(2)
            .has_no_data()
            .tells(&[told]);
    }
}
