//! The null server over real connections, as a process.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::Duration,
};

use deadheat_model::StackProtocol::{H2, H2c, Tls};
use deadheat_runner::{
    certificate::Certificate,
    services::null::{COMMAND, ServeOptions},
    verify::{Client, Route, text_answer},
};
use deadheat_testkit::wait_until;
use tempfile::NamedTempFile;

/// Only a hang exceeds it.
const PATIENCE: Duration = Duration::from_secs(20);
const GET: &[u8] = b"GET /plaintext HTTP/1.1\r\nHost: x\r\n\r\n";

struct Fixture {
    address: SocketAddr,
    child: Child,
    answer: Vec<u8>,
}

fn start(loops: usize, body: &[u8]) -> Fixture {
    start_with(loops, body, &[])
}

fn start_with(loops: usize, body: &[u8], env: &[(&str, String)]) -> Fixture {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(body).unwrap();
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let child = Command::new(env!("CARGO_BIN_EXE_runner-child"))
        .arg(COMMAND)
        .args(ServeOptions::args("text/plain", file.path()))
        .env("HOST", address.ip().to_string())
        .env("PORT", address.port().to_string())
        .env("CPUS", loops.to_string())
        .envs(env.iter().map(|(name, value)| (*name, value)))
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length:";
    let head = format!("{head} {}\r\n\r\n", body.len());
    let fixture = Fixture {
        address,
        child,
        answer: [head.as_bytes(), body].concat(),
    };
    wait_until("it listens", || TcpStream::connect(address).is_ok());
    fixture
}

impl Fixture {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    #[track_caller]
    fn expect(&self, stream: &mut TcpStream, answers: usize) {
        for number in 0..answers {
            let mut got = vec![0; self.answer.len()];
            stream.read_exact(&mut got).unwrap();
            assert!(got == self.answer, "answer {number} is another one");
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_request_has_one_answer_however_it_comes() {
    let fixture = start(1, b"Hello, World!");
    let post = b"POST /json HTTP/1.1\r\nContent-Length: 4\r\n\r\n\r\n\r\n";
    let mut stream = fixture.connect();
    for request in [GET, post, GET] {
        stream.write_all(request).unwrap();
        fixture.expect(&mut stream, 1);
    }
    for byte in post {
        stream.write_all(&[*byte]).unwrap();
    }
    fixture.expect(&mut stream, 1);
    stream.write_all(&[GET, post, GET].concat()).unwrap();
    fixture.expect(&mut stream, 3);
    // No more than that: the next thing that comes is the end.
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
}

#[test]
fn a_long_answer_comes_whole_to_who_reads_late_and_nobody_waits_for_that() {
    let body: Vec<u8> = (0..1 << 20).map(|index| (index % 251) as u8).collect();
    let fixture = start(1, &body);
    let mut late = fixture.connect();
    // Far more than the socket holds.
    let many = 20;
    late.write_all(&GET.repeat(many)).unwrap();
    let mut other = fixture.connect();
    other.write_all(GET).unwrap();
    fixture.expect(&mut other, 1);
    fixture.expect(&mut late, many);
}

#[test]
fn connections_are_served_by_all_loops() {
    let mut fixture = start(2, b"x");
    let mut streams: Vec<TcpStream> = (0..64).map(|_| fixture.connect()).collect();
    // One after the other, so that a loop has to wait between its requests, however seldom it gets a CPU.
    for _ in 0..4 {
        for stream in &mut streams {
            stream.write_all(GET).unwrap();
            fixture.expect(stream, 1);
        }
    }
    let tasks = std::fs::read_dir(format!("/proc/{}/task", fixture.child.id())).unwrap();
    let worked = tasks.flatten().filter(|task| {
        let path = task.path();
        let name = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        let status = std::fs::read_to_string(path.join("status")).unwrap_or_default();
        let waited = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))
            .and_then(|text| text.trim().parse::<u64>().ok());
        name.starts_with("null-") && waited > Some(1)
    });
    assert_eq!(worked.count(), 2, "64 connections fall to both loops");
    assert!(fixture.child.try_wait().unwrap().is_none());
}

#[test]
fn odd_input_ends_its_own_connection_only() {
    let mut fixture = start(1, b"Hello, World!");
    let mut steady = fixture.connect();
    let endless = [b"GET / HTTP/1.1\r\nx: ", &[b'a'; 20_000][..]].concat();
    for odd in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        &endless,
    ] {
        let mut stream = fixture.connect();
        // It may be gone before all of it was sent.
        let _ = stream.write_all(odd);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert_eq!(answer, b"", "{odd:.20?}");
        steady.write_all(GET).unwrap();
        fixture.expect(&mut steady, 1);
    }
    let mut gone = fixture.connect();
    gone.write_all(&GET.repeat(1000)).unwrap();
    drop(gone);
    let mut closing = fixture.connect();
    let request = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
    closing.write_all(&[&request[..], GET].concat()).unwrap();
    let mut answer = String::new();
    closing.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 1, "{answer}");
    steady.write_all(GET).unwrap();
    fixture.expect(&mut steady, 1);
    assert!(fixture.child.try_wait().unwrap().is_none());
}

#[test]
fn http_2_and_tls_have_ports_of_their_own_and_the_certificate_is_looked_at() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let made = |folder: &tempfile::TempDir| {
        Certificate::make(Ipv4Addr::LOCALHOST.into(), folder.path()).unwrap()
    };
    let certificate = made(&folders[0]);
    let free = || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.local_addr().unwrap()
    };
    let (tls, h2c) = (free(), free());
    let env = [
        ("TLS_PORT", tls.port().to_string()),
        ("TLS_CERT", certificate.path().display().to_string()),
        ("TLS_KEY", certificate.key_path().display().to_string()),
        ("H2C_PORT", h2c.port().to_string()),
    ];
    // More than a window, so that answers wait for the client.
    let body = "d".repeat(200_000);
    let _server = start_with(2, body.as_bytes(), &env);
    let ask = |protocol, certificate: &Certificate| {
        let mut client = Client::new(Route {
            address: if protocol == H2c { h2c } else { tls },
            protocol,
            certificate: Some(certificate.clone()),
        });
        // The second one comes over the same connection.
        let twice = [(); 2].map(|()| text_answer(&mut client, "/payload", Some(&body)));
        twice.into_iter().collect::<Result<Vec<()>, _>>()
    };
    for protocol in [Tls, H2, H2c] {
        assert_eq!(
            ask(protocol, &certificate).map(|all| all.len()),
            Ok(2),
            "{protocol}"
        );
    }
    let another = made(&folders[1]);
    for protocol in [Tls, H2] {
        let fault = ask(protocol, &another).unwrap_err().to_string();
        let why = "the server's certificate is not the one in $TLS_CERT";
        assert!(fault.ends_with(why), "{fault}");
    }
}
