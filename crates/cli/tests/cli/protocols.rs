//! HTTP/2 and TLS in sessions and in `stacks check`: stacks that speak what they declare, and each rule broken by a stack
//! that breaks nothing else.

use deadheat_model::{StackProtocol, TargetId};
use deadheat_testkit::{CertificateKind, Identity};

use crate::support::{
    Fake, Root,
    root::{MANY_ROUNDS, PLAINTEXT},
};

const ALL: &str = "[protocols]\ntls = true\nh2 = true\nh2c = true\n";
const H2C: &str = "[protocols]\nh2c = true\n";
const TLS: &str = "[protocols]\ntls = true\n";

/// A load point for each protocol, with as many requests in flight.
const POINTS: &str = r#"[[point]]
id = "c4"
connections = 4

[[point]]
id = "tls-c4"
protocol = "tls"
connections = 4

[[point]]
id = "h2-2x2"
protocol = "h2"
connections = 2
streams = 2

[[point]]
id = "h2c-2x2"
protocol = "h2c"
connections = 2
streams = 2
"#;

fn root_with(stacks: &[Fake]) -> Root {
    let root = Root::with(stacks);
    let (workload, _) = PLAINTEXT.split_once("[[point]]").unwrap();
    root.write("workloads/plaintext.toml", &format!("{workload}{POINTS}"));
    root
}

#[test]
fn a_stack_that_speaks_what_it_declares_passes_and_is_given_no_other_port() {
    for (declared, ports) in [(ALL, [1, 1]), (H2C, [1, 0]), (TLS, [0, 1]), ("", [0, 0])] {
        let root = Root::with(&[Fake::good("fake-one").with(declared)]);
        root.deadheat("stacks check --strict")
            .exits(0)
            .says(&["1 passed, 0 failed, 0 unavailable"]);
        let told = ["H2C_PORT", "TLS_PORT"].map(|port| root.told(port).len());
        assert_eq!(told, ports, "{declared}");
    }
}

/// Asserts that the check of a stack with `fault` and these declarations fails with these words.
#[track_caller]
fn assert_found(fault: &'static str, declared: &str, told: &[&str]) {
    assert_found_within("3s", fault, declared, told);
}

/// With another time until it must be ready.
fn assert_found_within(time: &str, fault: &'static str, declared: &str, told: &[&str]) {
    Root::with(&[Fake::faulty("fake-one", fault).with(declared)])
        .deadheat(&format!("stacks check --start-timeout {time}"))
        .exits(1)
        .says(&["0 passed, 1 failed, 0 unavailable"])
        .says(told);
}

#[test]
fn an_h2c_port_that_speaks_http_1_alone() {
    let told = [
        "its manifest declares `h2c = true` in [protocols]",
        "so it must speak HTTP/2 without TLS (h2c) on $HOST:$H2C_PORT",
    ];
    assert_found("h2c-is-http1", H2C, &told);
}

#[test]
fn a_port_for_tls_that_knows_no_http_2() {
    let told = [
        "fake-one refuses HTTP/2 over TLS on 127.0.0.1:",
        "offered h2 and http/1.1 by ALPN, the server chose http/1.1",
        "its manifest declares `h2 = true` in [protocols]",
    ];
    assert_found("no-h2-by-alpn", ALL, &told);
}

#[test]
fn another_certificate_than_the_sessions() {
    let root = Root::with(&[Fake::faulty("fake-one", "own-certificate").with(TLS)]);
    let own = Identity::self_signed(CertificateKind::Localhost).unwrap();
    root.write("stacks/fake-one/own.pem", &own.certificate);
    root.write("stacks/fake-one/own-key.pem", &own.key);
    // It is not asked again until the start timeout is over.
    root.deadheat("stacks check --start-timeout 1h")
        .exits(1)
        .says(&[
            "fake-one refuses HTTP/1.1 over TLS on 127.0.0.1:",
            "the server's certificate is not the one in $TLS_CERT",
            "its manifest declares `tls = true` in [protocols]",
        ]);
}

#[test]
fn a_port_for_tls_that_knows_http_2_alone() {
    assert_found(
        "knows-h2-alone",
        ALL,
        &["so it must speak HTTP/1.1 over TLS on $HOST:$TLS_PORT"],
    );
}

#[test]
fn an_h2c_port_that_hangs_on_http_1() {
    let told = [
        "GET /plaintext in HTTP/1.1 on $H2C_PORT: HTTP/1.1 on the port for h2c is refused, or answered rightly",
        "no whole answer within 10 s",
    ];
    assert_found("h2c-hangs-on-http1", H2C, &told);
}

#[test]
fn wrong_answers_over_http_2_alone() {
    // It never becomes ready there. The message has its last answer, which can take 2 s on a busy machine.
    let told = [
        "got status 200 with `Howdy, World?`",
        "so it must speak HTTP/2 without TLS (h2c)",
    ];
    assert_found_within("10s", "wrong-over-h2", H2C, &told);
}

#[test]
fn an_unknown_path_that_is_found_over_http_2() {
    let told = [
        "GET /deadheat-no-such-path over HTTP/2 without TLS (h2c): an unknown path: expected status 404",
    ];
    assert_found("finds-everything-over-h2", H2C, &told);
}

#[test]
fn streams_that_are_refused_although_they_are_allowed() {
    let told = [
        "GET /plaintext, 16 times on a connection over HTTP/2 without TLS (h2c)",
        "requests on a connection at once are all answered, each with its own answer",
    ];
    assert_found("few-streams", H2C, &told);
}

#[test]
fn h2_without_tls_is_a_mistake_of_the_manifest() {
    Root::with(&[Fake::good("fake-one").with("[protocols]\nh2 = true\n")])
        .deadheat("stacks check")
        .exits(2)
        .tells(&[
            "HTTP/2 over TLS without HTTP/1.1 over TLS",
            "add `tls = true`",
        ]);
}

/// Measures the point, and asserts what its reports call it.
#[track_caller]
fn assert_measured(point: &str, protocol: StackProtocol, title: &str) {
    let root = root_with(&[Fake::good("fake-one").with(ALL), Fake::good("fake-plain")]);
    let options = format!("{MANY_ROUNDS} --workload plaintext:{point}");
    root.run(&options)
        .exits(0)
        .tells(&[
            "skipped (not made for these loads): fake-plain",
            &format!("heat 1 · plaintext:{point}: "),
        ])
        .says(&[&format!("plaintext:{point}: fake-one answers")]);
    let session = root.session();
    session.assert_measured("fake-one");
    session.assert_shown(&root, &[title]);
    let loads = &session.record.header.plan.loads;
    assert_eq!(loads[0].point.protocol, protocol);
    assert_eq!(loads[0].targets.len(), 1, "the other one does not offer it");
    let header = &session.record.header;
    let plain = header.target(&TargetId::new("fake-plain", None));
    assert!(plain.is_none(), "{plain:?}");
    root.run(&format!("{options} --stack fake-plain"))
        .exits(2)
        .tells(&[&format!("fake-plain does not offer {protocol}")]);
    let csv = session.report(&root, "csv");
    assert!(csv.contains(&format!(",{point},")) && csv.contains(&format!(",{},", protocol.key())));
    let other = if protocol.is_over_tls() {
        "H2C_PORT"
    } else {
        "TLS_PORT"
    };
    assert_eq!(
        root.told(other).len(),
        0,
        "it was given the port for {other}"
    );
    // One for the check, then one in each of two heats.
    assert_eq!(root.told(protocol.port_variable()).len(), 3);
}

#[test]
fn a_session_over_h2c() {
    let title =
        "plaintext, 2 connections × 2 streams (4 requests in flight), HTTP/2 without TLS (h2c)";
    assert_measured("h2c-2x2", StackProtocol::H2c, title);
}

#[test]
fn a_session_over_h2() {
    let title = "plaintext, 2 connections × 2 streams (4 requests in flight), HTTP/2 over TLS";
    assert_measured("h2-2x2", StackProtocol::H2, title);
}

#[test]
fn a_session_over_tls() {
    let title = "plaintext, 4 connections, HTTP/1.1 over TLS";
    assert_measured("tls-c4", StackProtocol::Tls, title);
}

#[test]
fn a_stack_is_not_offered_where_it_does_not_speak_the_protocol() {
    let root = root_with(&[Fake::good("fake-one").with(ALL), Fake::good("fake-plain")]);
    let loads = "--workload plaintext:c4 --workload plaintext:h2c-2x2";
    root.run(&format!("{MANY_ROUNDS} {loads}")).exits(0);
    let session = root.session();
    let said = "fake-plain not offered: it does not speak HTTP/2 without TLS (h2c)";
    session.assert_shown(&root, &[said, "1 not offered: fake-plain"]);
    let csv = session.report(&root, "csv");
    let row = csv.lines().find(|row| row.contains("not-offered"));
    let row = row.unwrap_or_else(|| panic!("{csv}"));
    assert!(
        row.contains("fake-plain") && row.contains("h2c-2x2"),
        "{row}"
    );
}

#[test]
fn protocols_are_measured_if_they_are_named() {
    let root = root_with(&[Fake::good("fake-one").with(ALL)]);
    let loads = |options: &str| {
        let ended = root.deadheat(&format!("run --dry-run {options}")).exits(0);
        let text = ended.stderr.clone() + &ended.stdout;
        ["(4 connections)", "over TLS", "(h2c)"].map(|text_of| text.contains(text_of))
    };
    assert_eq!(loads(""), [true, false, false]);
    assert_eq!(loads("--all"), [true, false, false]);
    assert_eq!(loads("--workload plaintext:*"), [true, true, true]);
}

#[test]
fn one_process_serves_the_loads_of_several_protocols() {
    let root = root_with(&[Fake::good("fake-one").with(ALL)]);
    let options = "--heats 8 --workload plaintext:c4 --workload plaintext:h2c-2x2";
    root.run(options).exits(0);
    let session = root.session();
    let loads = &session.record.header.plan.loads;
    assert_eq!(loads.len(), 2);
    assert!(
        loads.iter().all(|load| load.shared_starts == Some(0)),
        "{loads:?}"
    );
    // The check, and one start for a heat at each of both loads.
    assert_eq!(root.told("H2C_PORT").len(), 1 + 8);
}
