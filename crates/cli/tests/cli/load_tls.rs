//! TLS, Unix sockets, IPv6 and source addresses, by the options of `deadheat load`.

use std::{collections::BTreeSet, fs, net::IpAddr, path::Path};

use deadheat_model::{Failure, failure::FailurePhase};
use deadheat_testkit::{
    Action, Authority, CertificateKind, Identity, Listen, OracleServer, Seen, TlsFault, TlsServer,
    Turn,
    answers::{hello, send},
};
use tempfile::TempDir;

use crate::support::loaded::{Loaded, in_parallel, load};

const REQUESTS: u64 = 24;
const CLOSED: &[&str] = &["-n", "24", "-c", "3"];
const OPEN: &[&str] = &["-n", "24", "-c", "3", "--rate", "300/s"];
const UNTIL_CLOSE: &str = "HTTP/1.1 200 OK\r\n\r\nHello";

fn serving(listen: Listen) -> OracleServer {
    listen.serve(|_: &Turn<'_>| send(hello())).unwrap()
}

fn over(tls: TlsServer) -> OracleServer {
    serving(Listen::ipv4().unwrap().over_tls(tls))
}

/// Certificates in files, for options to name.
struct Files {
    folder: TempDir,
    authority: Authority,
}

impl Files {
    fn new() -> Self {
        let files = Self {
            folder: tempfile::tempdir().unwrap(),
            authority: Authority::new().unwrap(),
        };
        files.write("ca.pem", files.authority.pem());
        files
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn write_identity(&self, name: &str, identity: &Identity) {
        self.write(&format!("{name}.pem"), &identity.certificate);
        self.write(&format!("{name}.key"), &identity.key);
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn server(&self, of: CertificateKind) -> TlsServer {
        TlsServer::new(self.authority.server(of).unwrap()).unwrap()
    }
}

/// Loads https://localhost at a new server, closed and open, with these options.
fn each_loop(
    serve: impl Fn() -> OracleServer + Sync,
    options: &[&str],
    check: impl Fn(Loaded, Seen) + Sync,
) {
    in_parallel([CLOSED, OPEN], |which| {
        let server = serve();
        let url = format!("https://localhost:{}/", server.address().port());
        let args = [which, &["-4"], options, &[&url]].concat();
        let loaded = load(&args);
        let server = server.seen_at_rest();
        check(loaded.agrees_with(&server), server);
    });
}

fn fails(loaded: Loaded, server: &Seen) {
    fails_in(&[FailurePhase::Tls], loaded, server);
}

fn fails_in(phases: &[FailurePhase], loaded: Loaded, server: &Seen) {
    let loaded = loaded.all_fail(REQUESTS, Failure::Tls, phases);
    assert_eq!(server.requests, 0, "{loaded}");
}

fn succeeds(loaded: Loaded, server: &Seen) {
    let loaded = loaded.all_succeed(REQUESTS);
    assert_eq!(server.requests, REQUESTS, "{loaded}");
    let own = loaded
        .seen
        .tls
        .clone()
        .unwrap_or_else(|| panic!("no TLS: {loaded}"));
    assert!(own.full + own.resumed > 0, "{loaded}");
}

/// Checks the name in every handshake. Not every connection has one: requests are dealt out to those that are ready, so
/// the load may be over before the last is.
#[track_caller]
fn asked_for(server: &Seen, name: &str) {
    let handshakes = server.each.iter().filter_map(|each| each.tls.as_ref());
    let names: BTreeSet<_> = handshakes.map(|tls| tls.name.as_deref()).collect();
    assert_eq!(names, BTreeSet::from([Some(name)]));
}

#[test]
fn a_certificate_is_believed_for_its_authority_name_and_date_alone() {
    let files = Files::new();
    let stranger = Authority::new().unwrap();
    let ca = files.path("ca.pem");
    let believing = ["--cacert", ca.as_str()];
    each_loop(
        || over(files.server(CertificateKind::Localhost)),
        &believing,
        |loaded, server| {
            succeeds(loaded, &server);
            asked_for(&server, "localhost");
        },
    );
    let wrong = [
        files.server(CertificateKind::Elsewhere),
        files.server(CertificateKind::Past),
        TlsServer::new(stranger.server(CertificateKind::Localhost).unwrap()).unwrap(),
    ];
    for tls in wrong {
        each_loop(
            || over(tls.clone()),
            &believing,
            |loaded, server| fails(loaded, &server),
        );
        each_loop(
            || over(tls.clone()),
            &["--insecure"],
            |loaded, server| succeeds(loaded, &server),
        );
    }
    let named = [&believing[..], &["--server-name", "elsewhere.test"]].concat();
    each_loop(
        || over(files.server(CertificateKind::Elsewhere)),
        &named,
        |loaded, server| {
            succeeds(loaded, &server);
            asked_for(&server, "elsewhere.test");
        },
    );
    each_loop(
        || over(files.server(CertificateKind::Localhost)),
        &named,
        |loaded, server| fails(loaded, &server),
    );
    // Nobody outside has signed it.
    each_loop(
        || over(files.server(CertificateKind::Localhost)),
        &[],
        |loaded, server| fails(loaded, &server),
    );
}

#[test]
fn a_self_signed_certificate_is_accepted_if_it_is_given_and_has_the_right_name_and_date() {
    let files = Files::new();
    let stranger = Identity::self_signed(CertificateKind::Localhost).unwrap();
    for (of, why) in [
        (CertificateKind::Localhost, None),
        (CertificateKind::Elsewhere, Some("is for another name")),
        (CertificateKind::Past, Some("has expired")),
    ] {
        let identity = Identity::self_signed(of).unwrap();
        files.write("own.pem", &identity.certificate);
        let own = files.path("own.pem");
        let serve = |identity: &Identity| over(TlsServer::new(identity.clone()).unwrap());
        each_loop(
            || serve(&identity),
            &["--cacert", &own],
            |loaded, server| match why {
                None => succeeds(loaded, &server),
                Some(why) => {
                    assert!(loaded.stderr.contains(why), "{loaded}");
                    let names_it = loaded.stderr.contains("--server-name NAME");
                    assert_eq!(
                        names_it,
                        matches!(of, CertificateKind::Elsewhere),
                        "{loaded}"
                    );
                    fails(loaded, &server);
                }
            },
        );
        each_loop(
            || serve(&stranger),
            &["--cacert", &own],
            |loaded, server| {
                for said in [
                    "is self-signed",
                    "--cacert accepts only what its file names",
                ] {
                    assert!(loaded.stderr.contains(said), "{loaded}");
                }
                fails(loaded, &server);
            },
        );
    }
}

#[test]
fn a_port_without_tls_is_named_instead_of_a_weaker_check() {
    let files = Files::new();
    for (fault, advice) in [
        (
            TlsFault::Garbage,
            "this port speaks plain HTTP: use http://",
        ),
        (TlsFault::Close, "does this port speak TLS?"),
    ] {
        each_loop(
            || over(files.server(CertificateKind::Localhost).failing(fault)),
            &[],
            |loaded, server| {
                assert!(loaded.stderr.contains(advice), "{loaded}");
                assert!(!loaded.stderr.contains("--insecure"), "{loaded}");
                fails(loaded, &server);
            },
        );
    }
}

#[test]
fn sessions_are_resumed_unless_that_is_switched_off() {
    let files = Files::new();
    let ca = files.path("ca.pem");
    for tls in [
        files.server(CertificateKind::Localhost).only_1_2(),
        files.server(CertificateKind::Localhost).only_1_3(),
    ] {
        let tls = tls.unwrap();
        let options = ["--cacert", ca.as_str(), "--no-keepalive"];
        each_loop(
            || over(tls.clone()),
            &options,
            |loaded, server| {
                succeeds(loaded, &server);
                // The first on each of the three connections may have nothing to resume.
                assert!(
                    server.resumed_handshakes >= REQUESTS - 6,
                    "{}",
                    server.resumed_handshakes
                );
            },
        );
        let options = [&options[..], &["--no-resumption"]].concat();
        each_loop(
            || over(tls.clone()),
            &options,
            |loaded, server| {
                succeeds(loaded, &server);
                assert_eq!(server.resumed_handshakes, 0);
                assert!(server.full_handshakes >= REQUESTS);
            },
        );
    }
}

#[test]
fn a_clients_certificate_is_shown() {
    // With TLS 1.3 a client hears of it when its side of the handshake is over (RFC 8446 § 4.4.2.4).
    let late = [
        FailurePhase::Tls,
        FailurePhase::Write,
        FailurePhase::FirstByte,
    ];
    let files = Files::new();
    let stranger = Authority::new().unwrap();
    files.write_identity("right", &files.authority.client().unwrap());
    files.write_identity("wrong", &stranger.client().unwrap());
    let ca = files.path("ca.pem");
    let serve = || {
        over(
            files
                .server(CertificateKind::Localhost)
                .only_clients_of(&files.authority)
                .unwrap(),
        )
    };
    for (name, may) in [("right", true), ("wrong", false)] {
        let (cert, key) = (
            files.path(&format!("{name}.pem")),
            files.path(&format!("{name}.key")),
        );
        let options = ["--cacert", &ca, "--cert", &cert, "--key", &key];
        each_loop(serve, &options, |loaded, server| {
            assert!(loaded.stdout.contains("BEGIN CERTIFICATE"), "{loaded}");
            for text in [&loaded.stdout, &loaded.stderr] {
                assert!(!text.contains("PRIVATE KEY"), "a key is shown: {loaded}");
            }
            if may {
                succeeds(loaded, &server)
            } else {
                fails_in(&late, loaded, &server)
            }
        });
    }
    each_loop(serve, &["--cacert", &ca], |loaded, server| {
        fails_in(&late, loaded, &server)
    });
}

#[test]
fn handshakes_and_answers_that_are_cut_off() {
    let files = Files::new();
    let ca = files.path("ca.pem");
    let options = ["--cacert", ca.as_str(), "--no-keepalive"];
    for fault in [
        TlsFault::Alert,
        TlsFault::Garbage,
        TlsFault::Close,
        TlsFault::Reset,
    ] {
        let serve = || over(files.server(CertificateKind::Localhost).failing(fault));
        each_loop(serve, &options, |loaded, server| fails(loaded, &server));
    }
    let serve = || {
        over(
            files
                .server(CertificateKind::Localhost)
                .failing(TlsFault::Silence),
        )
    };
    let soon = ["--cacert", ca.as_str(), "--connect-timeout", "250ms"];
    each_loop(serve, &soon, |loaded, server| {
        let loaded = loaded.all_fail(REQUESTS, Failure::Tls, &[FailurePhase::Tls]);
        assert_eq!(server.requests, 0, "{loaded}");
    });
    // Without a length it is close_notify alone that tells an end from a cut (RFC 9112 § 9.8).
    for (end, whole) in [(Action::Fin, true), (Action::Cut, false)] {
        let serve = || {
            let steps = vec![Action::Send(UNTIL_CLOSE.into()), end.clone()];
            let listen = Listen::ipv4()
                .unwrap()
                .over_tls(files.server(CertificateKind::Localhost));
            listen.serve(move |_: &Turn<'_>| steps.clone()).unwrap()
        };
        each_loop(serve, &options, |loaded, server| {
            let loaded = if whole {
                loaded.all_succeed(REQUESTS)
            } else {
                loaded.all_fail(REQUESTS, Failure::TruncatedBody, &[FailurePhase::Body])
            };
            assert_eq!(server.requests, REQUESTS, "{loaded}");
        });
    }
}

/// Loads a server, and asserts that every request arrived and was answered.
fn all_arrive(server: &OracleServer, args: &[&str]) -> Seen {
    let loaded = load(args).all_succeed(REQUESTS);
    let seen = server.seen_at_rest();
    let loaded = loaded.agrees_with(&seen);
    assert_eq!(seen.requests, REQUESTS, "{loaded}");
    seen
}

#[test]
fn unix_sockets_ipv6_and_addresses_are_connected_to_and_from() {
    in_parallel([CLOSED, OPEN], |which| {
        let server = serving(Listen::unix().unwrap());
        let path: &Path = server.path();
        let options = [
            "--unix-socket",
            path.to_str().unwrap(),
            "http://somewhere.test/",
        ];
        let seen = all_arrive(&server, &[which, &options].concat());
        assert_eq!(seen.each[0].peer, None);
        assert_eq!(seen.first[0].header("host"), Some("somewhere.test"));

        let server = serving(Listen::ipv6().unwrap());
        let url = format!("http://[::1]:{}/", server.address().port());
        let seen = all_arrive(&server, &[which, &["-6", &url]].concat());
        assert!(seen.each.iter().all(|one| one.peer.unwrap().is_ipv6()));

        let server = serving(Listen::ipv4().unwrap());
        let url = format!("http://somewhere.test:{}/", server.address().port());
        let options = [
            "--resolve",
            "127.0.0.1",
            "--source",
            "127.0.0.2",
            "--source",
            "127.0.0.3",
            &url,
        ];
        let seen = all_arrive(&server, &[which, &options].concat());
        let from: BTreeSet<IpAddr> = seen.each.iter().map(|one| one.peer.unwrap().ip()).collect();
        assert_eq!(
            from,
            [2, 3].map(|last| IpAddr::from([127, 0, 0, last])).into()
        );
        let host = format!("somewhere.test:{}", server.address().port());
        assert_eq!(seen.first[0].header("host"), Some(host.as_str()));
    });
}

/// A server of OpenSSL with these options, and its port; `None`: there is no openssl.
fn openssl(folder: &Path, options: &[&str]) -> Option<(std::process::Child, u16)> {
    use std::io::BufRead as _;
    let mut child = std::process::Command::new("openssl")
        .current_dir(folder)
        .args(["s_server", "-accept", "127.0.0.1:0", "-www"])
        .args(options)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .stdin(std::process::Stdio::piped())
        .spawn()
        .ok()?;
    let mut lines = std::io::BufReader::new(child.stdout.take()?).lines();
    let port = lines.find_map(|line| {
        let line = line.ok()?;
        let (_, port) = line.strip_prefix("ACCEPT ")?.rsplit_once(':')?;
        port.trim().parse().ok()
    });
    // What it prints later goes nowhere, and does not stop it.
    std::thread::spawn(move || lines.for_each(drop));
    Some((child, port?))
}

#[test]
fn without_checks_any_certificate_is_accepted_and_with_them_the_reason_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let make = |command: &str| {
        let mut words = command.split_whitespace();
        let mut openssl = std::process::Command::new(words.next().unwrap_or_default());
        let done = openssl.args(words).current_dir(folder.path()).output();
        done.is_ok_and(|done| done.status.success())
    };
    let subject = "-nodes -days 9 -subj /CN=localhost";
    let made = make(&format!(
        "openssl req -newkey rsa:2048 -keyout v1.key -out v1.csr {subject}"
    )) && make("openssl x509 -req -in v1.csr -signkey v1.key -out v1.pem -days 9")
        && make(&format!(
            "openssl req -x509 -newkey rsa:1024 -keyout rsa.key -out rsa.pem {subject}"
        ))
        && make(&format!(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:secp521r1 -keyout p521.key -out p521.pem {subject}"
        ));
    if !made {
        deadheat_testkit::not_tested("certificates of OpenSSL", "openssl did not make them");
        return;
    }
    for (name, why) in [
        ("v1", "X.509 version 1"),
        ("rsa", "an RSA key of fewer than 2,048 bits"),
        ("p521", "TLS alert handshake_failure"),
    ] {
        let (cert, key) = (format!("{name}.pem"), format!("{name}.key"));
        // Short RSA keys are below OpenSSL's own usual level.
        let options = [
            "-cert",
            &cert,
            "-key",
            &key,
            "-cipher",
            "DEFAULT@SECLEVEL=0",
        ];
        let Some((mut server, port)) = openssl(folder.path(), &options) else {
            deadheat_testkit::not_tested(
                "certificates of OpenSSL",
                "openssl s_server did not start",
            );
            return;
        };
        let url = format!("https://localhost:{port}/");
        let args = |more: &[&str]| {
            let own = [
                url.as_str(),
                "--resolve",
                "127.0.0.1",
                "-n",
                "2",
                "-c",
                "1",
                "--http1.0",
            ];
            own.iter()
                .chain(more)
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        let run = |more: &[&str]| {
            let args = args(more);
            load(&args.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let accepted = run(&["--insecure"]);
        assert_eq!(accepted.seen.total.succeeded, 2, "{name}: {accepted}");
        let refused = run(&[]);
        assert!(
            refused.stderr.contains(why) || refused.stderr.contains("nobody trusted"),
            "{name}: {refused}"
        );
        server.kill().unwrap();
        server.wait().unwrap();
    }
}
