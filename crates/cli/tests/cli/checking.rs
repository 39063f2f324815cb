//! Every rule about HTTP that `stacks check` asks for, each seen to be broken by a stack that breaks nothing else.
//! (`conformance.rs` has those about the services behind a stack.)

use serde_json::Value;

use crate::support::{Fake, Root};

const PIPELINING: &str = "[http]\npipelining = true\n";
const CLOSING: &str = "[http]\nkeep-alive = false\n";

fn root_with(fault: &'static str, http: &str) -> Root {
    let stack = Fake::faulty("fake-one", fault)
        .claiming(&["plaintext", "json-decode"])
        .with(http);
    let root = Root::with(&[stack]);
    root.copy_workload("json-decode");
    root
}

/// Asserts that a stack with `fault` fails for `workload`, and that this is told.
#[track_caller]
fn assert_found(fault: &'static str, http: &str, workload: &str, told: &[&str]) {
    root_with(fault, http)
        .deadheat(&format!("stacks check --workload {workload}"))
        .exits(1)
        .says(&[
            &format!("fake-one {workload}: FAILED being checked before the load:"),
            "0 passed, 1 failed, 0 unavailable",
        ])
        .says(told);
}

#[test]
fn a_stack_that_breaks_no_rule_passes_with_so_many_probes() {
    let ended = root_with("none", PIPELINING)
        .deadheat("stacks check --strict")
        .exits(0)
        .says(&["2 passed, 0 failed, 0 unavailable"]);
    for workload in ["plaintext", "json-decode"] {
        let line = format!("fake-one {workload}: passed (");
        let probes = ended.stdout.split_once(&line).map(|(_, rest)| rest);
        let probes = probes.and_then(|rest| rest.split_once(" probes)")?.0.parse().ok());
        // 64 connections with 3 requests each, 16 in one write, and the others.
        assert!(probes > Some(64 * 3 + 16), "{probes:?}: {ended}");
    }
}

#[test]
fn a_stack_that_closes_connections_and_says_so_passes() {
    root_with("closes", CLOSING)
        .deadheat("stacks check --strict")
        .exits(0)
        .says(&["2 passed, 0 failed, 0 unavailable"]);
}

#[test]
fn answers_that_go_to_other_connections() {
    let told = [
        "POST /json, request",
        "of 64 at once: connections at once are all answered, each with its own answer: expected `Hello, ",
        "got `Hello, ",
    ];
    assert_found("mixes-up", "", "json-decode", &told);
}

#[test]
fn connections_that_are_too_many() {
    let told = [
        "GET /plaintext, request 1 on connection",
        "of 64 at once",
        "expected an answer, got the connection was closed without an answer",
    ];
    assert_found("turns-away", "", "plaintext", &told);
}

#[test]
fn a_connection_that_is_closed_although_nothing_was_said_of_that() {
    let told = [
        "GET /plaintext, request 2 on a connection: a connection is kept after an answer",
        "a stack that closes it declares `keep-alive = false` under [http]",
        "got the connection was closed after the answer before",
    ];
    assert_found("closes", "", "plaintext", &told);
}

#[test]
fn a_connection_that_stays_open_although_it_was_said_that_it_closes() {
    let told = [
        "GET /plaintext: a connection is closed after every answer, as its manifest declares (keep-alive = false)",
        "expected the connection's end, got it stayed open for",
    ];
    assert_found("none", CLOSING, "plaintext", &told);
}

#[test]
fn pipelined_answers_out_of_order() {
    let rule = "requests that come in one write are all answered, in their order";
    let plain = [
        "GET /plaintext, request 1 of 16 in one write",
        rule,
        "got status 404",
    ];
    assert_found("out-of-order", PIPELINING, "plaintext", &plain);
    let named = ["POST /json, request 1 of 16 in one write", rule];
    assert_found("out-of-order", PIPELINING, "json-decode", &named);
    // Only those that say so are asked.
    root_with("out-of-order", "")
        .deadheat("stacks check")
        .exits(0);
}

#[test]
fn a_request_that_must_come_at_once() {
    let told = [
        "GET /plaintext in pieces: a request that comes in pieces is answered as any other",
        "expected status 200, got status 400",
    ];
    assert_found("reads-once", "", "plaintext", &told);
}

#[test]
fn http_1_0_that_is_kept_open_or_answered_in_chunks() {
    let rule =
        "a request of HTTP/1.0 without keep-alive is answered whole, and its connection closed";
    let open = ["GET /plaintext in HTTP/1.0", rule, "got it stayed open for"];
    assert_found("keeps-http-1.0", "", "plaintext", &open);
    let chunked = ["GET /plaintext in HTTP/1.0", rule, "got a body in chunks"];
    assert_found("chunks-for-http-1.0", "", "plaintext", &chunked);
}

#[test]
fn an_unknown_path_that_is_found() {
    let told = [
        "GET /deadheat-no-such-path: an unknown path",
        "expected status 404, got status 200",
    ];
    assert_found("finds-everything", "", "plaintext", &told);
}

#[test]
fn a_wrong_method_that_is_answered_or_hangs() {
    let rule = "DELETE /plaintext: a method that the path does not have is refused";
    let answered = [rule, "expected status 404, 405 or 501, got status 200"];
    assert_found("deletes", "", "plaintext", &answered);
    let silent = [rule, "expected an answer, got no whole answer within"];
    assert_found("hangs-on-delete", "", "plaintext", &silent);
}

#[test]
fn a_malformed_body_that_is_a_failure_of_the_server() {
    let told = [
        "POST /json with the body ``: a body that is not a person is refused",
        "expected status 400, got status 500",
    ];
    assert_found("fails-on-malformed", "", "json-decode", &told);
}

#[test]
fn a_malformed_body_that_spoils_the_connection() {
    let told = [
        "POST /json after the body ``: the server goes on after a malformed body",
        "expected status 200, got status 400",
    ];
    assert_found("spoils-connections", "", "json-decode", &told);
}

#[test]
fn the_unread_body_of_a_refused_request_that_is_taken_for_requests() {
    let told = [
        "GET /plaintext after POST /deadheat-no-such-path with a body of 20000 bytes: \
         the body of a refused request is not taken for the next request on its connection",
        "expected status 200, got status 404",
    ];
    assert_found("leaves-bodies-unread", "", "plaintext", &told);
}

#[test]
fn a_malformed_body_that_ends_the_server_with_its_log_named() {
    let root = root_with("dies-of-malformed", "");
    let ended = root
        .deadheat("stacks check --workload json-decode --json")
        .exits(1)
        .tells(&["logs: "]);
    let found: Value = serde_json::from_str(&ended.stdout).expect("the findings are JSON");
    assert_eq!(
        (&found["passed"], &found["failed"], &found["unavailable"]),
        (&0.into(), &1.into(), &0.into()),
        "{ended}"
    );
    let finding = &found["findings"][0];
    assert_eq!(
        (&finding["target"], &finding["workload"], &finding["result"]),
        (&"fake-one".into(), &"json-decode".into(), &"failed".into()),
        "{ended}"
    );
    assert_eq!(finding["log_tail"][0], "fake: cannot stomach that");
    let log = finding["logs"][0].as_str().expect("a log is named");
    assert!(log.ends_with("fake-one-check.log"), "{log}");
    let text = std::fs::read_to_string(log).expect("the log has stayed");
    assert_eq!(text, "fake: cannot stomach that\n");
}

const ABSENT: &str = r#"
[[toolchain]]
program = "deadheat-no-such-compiler"
version = ["deadheat-no-such-compiler", "--version"]
hint = "https://example.org/compiler"
"#;
/// What a package manager says whose registry is out of reach.
const UNREACHABLE: &str = r#"
[build]
registry = "registry.test"
fetch = [["sh", "-c", "echo 'connect: connection refused' >&2; exit 1"]]
"#;
/// What it says when what it got is not what the lock file names.
const CORRUPT: &str = r#"
[build]
registry = "registry.test"
fetch = [["sh", "-c", "echo checksum mismatch >&2; exit 1"]]
"#;

#[test]
fn a_stack_that_may_lack_something_is_no_failure() {
    let root = Root::with(&[
        Fake::good("fake-absent").with(ABSENT),
        Fake::good("fake-corrupt").with(CORRUPT),
        Fake::good("fake-good"),
        Fake::good("fake-unreachable").with(UNREACHABLE),
    ]);
    let without = "stacks check fake-absent fake-good fake-unreachable";
    root.deadheat(without).exits(0);
    let strict = "stacks check --strict";
    root.deadheat(strict).exits(1).says(&[
        "fake-absent: unavailable: deadheat-no-such-compiler",
        "fake-corrupt: FAILED fetching its dependencies:",
        "checksum mismatch",
        "fake-unreachable: unavailable: registry.test cannot be reached",
        "connection refused",
        "deadheat setup --stack fake-unreachable",
        "1 passed, 1 failed, 2 unavailable",
    ]);
    root.deadheat(&format!("{strict} --may-lack fake-absent"))
        .exits(1);
    let both = "--may-lack fake-absent --may-lack fake-unreach*";
    root.deadheat(&format!("{without} --strict {both}"))
        .exits(0)
        .says(&[
            "fake-absent: unavailable, as it may be: deadheat-no-such-compiler",
            "fake-unreachable: unavailable, as it may be: registry.test cannot be reached",
            "1 passed, 0 failed, 2 unavailable",
        ]);
    root.deadheat(&format!("{strict} --may-lack fake-nobody"))
        .exits(2)
        .has_no_data()
        .tells(&["--may-lack", "no stack matches `fake-nobody`"]);
    // A failure is one, whatever a stack may lack.
    let root = Root::with(&[Fake::faulty("fake-one", "deletes")]);
    root.deadheat(&format!("{strict} --may-lack fake-one"))
        .exits(1);
}

#[test]
fn answers_without_a_date() {
    let told = [
        "GET /plaintext: every answer has a Date header: expected `",
        "got none",
    ];
    assert_found("undated", "", "plaintext", &told);
}

#[test]
fn a_person_without_a_username_that_is_greeted() {
    let told = [
        r#"POST /json with the body `{"name":"John","username":7}`: a body that is not a person is refused"#,
        "expected status 400, got status 200",
    ];
    assert_found("needs-no-username", "", "json-decode", &told);
}

#[test]
fn content_types_that_are_mistaken() {
    let any = [
        "POST /json: a content type other than JSON is refused",
        "expected status 400 or 415, got status 200",
    ];
    assert_found("reads-any-type", "", "json-decode", &any);
    let one = [
        "POST /json: a content type may have capitals and parameters (RFC 9110, section 8.3.1)",
        "expected status 200, got status 415",
    ];
    assert_found("knows-one-type", "", "json-decode", &one);
}

/// A workload with an environment of its own has a server of its own.
#[test]
fn an_environment_for_one_workload() {
    let env = "[run.workload-env.json-decode]\nFAULT = \"fails-on-malformed\"\n";
    root_with("none", env)
        .deadheat("stacks check")
        .exits(1)
        .says(&[
            "fake-one plaintext: passed (",
            "fake-one json-decode: FAILED",
            "1 passed, 1 failed, 0 unavailable",
        ]);
}
