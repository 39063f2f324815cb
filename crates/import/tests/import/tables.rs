//! Published tables that are made of reports.

use deadheat_import::{DocumentProperties, UNASSIGNED, document, import, toml};
use deadheat_model::{PublishedDocument, TargetId, load::Reuse};

use crate::support::{file, read, report};

const HOW: DocumentProperties<'static> = DocumentProperties {
    id: "mine",
    workload: None,
    targets: &[],
};

#[test]
fn a_document_has_a_table_for_each_heading_and_is_read_back() {
    let imported = read(&file("published/go-nim-python.md")).expect("reports");
    let targets = [(
        "Nim".to_owned(),
        TargetId::new("nim-asynchttpserver", Some("1thread")),
    )];
    let how = DocumentProperties {
        workload: Some("plaintext"),
        targets: &targets,
        ..HOW
    };
    let made = document(&imported, &how).expect("a document");
    let ids: Vec<&str> = made.table.iter().map(|table| table.id.as_str()).collect();
    assert_eq!(ids, ["plaintext", "returns-json", "decode-json"]);
    let table = &made.table[0];
    assert_eq!((table.load.requests, table.load.connections), (30_000, 50));
    assert_eq!(
        (table.load.reuse, table.baseline.as_str()),
        (Reuse::KeepAlive, "Go 2 CPUs")
    );
    assert_eq!(table.row[0].target.stack, UNASSIGNED);
    assert_eq!(table.row[2].target, targets[0].1);
    let text = toml(&made).expect("TOML");
    assert!(text.contains("Replace `unassigned`"), "{text}");
    let back: PublishedDocument = ::toml::from_str(&text).expect("its TOML");
    assert_eq!(back, made);
}

#[test]
fn a_row_with_other_connections_says_so() {
    let imported = read(&file("published/webstacks-postgres-and-slow-api.md")).expect("reports");
    let made = document(&imported, &HOW).expect("a document");
    let table = &made.table[0];
    let go = table.row.iter().find(|row| row.name == "Go").expect("Go");
    assert_eq!((table.load.connections, go.connections), (100, Some(200)));
}

#[test]
fn runs_of_one_server_have_names_of_their_own() {
    let imported = read(&format!("## Go\n{}", report("ab-three.txt"))).expect("reports");
    let made = document(&imported, &HOW).expect("a document");
    let names: Vec<&str> = made.table[0]
        .row
        .iter()
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(names, ["Go", "Go (run 2)", "Go (run 3)"]);
}

#[test]
fn what_a_session_cannot_repeat_is_refused() {
    for (name, expected) in [
        ("vegeta-hello.txt", "an open loop"),
        ("wrk2-latency.txt", "an open loop"),
        ("hey-hello.txt", "--command 'hey"),
        ("ab-broken.txt", "no run has a valid rate"),
        ("k6-legacy.txt", "the version of HTTP is unknown"),
    ] {
        let imported = read(&report(name)).expect("a report");
        let error = document(&imported, &HOW).expect_err(name).to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
    let files = [("x".to_owned(), report("hey-hello.txt").into_bytes())];
    let imported =
        import(&files, Some("hey -n 500 -c 10 http://127.0.0.1/hello")).expect("a report");
    assert_eq!(
        document(&imported, &HOW).expect("a document").table[0]
            .load
            .connections,
        10
    );
}
