//! `--format`, `--json` and `--output` mean the same with every command.

use std::fs;

use serde_json::Value;

use crate::support::{
    Fake, Root,
    sessions::{simulated, write},
};

#[track_caller]
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn commands_that_show_something_print_or_write_the_same() {
    let root = Root::with(&[Fake::good("fake-one")]);
    for (id, share) in [("first", 1.0), ("second", 0.9)] {
        let mut record = simulated(id, share, 0.01);
        record.header.started = format!("2026-03-01T10:00:0{}Z", id.len());
        write(&root, &record);
    }
    let file = |name: &str| fs::read_to_string(root.path().join(name)).expect("reading a file");
    for command in [
        "report results/first",
        "history",
        "stacks list",
        "doctor --watch 10ms",
    ] {
        let short = root.deadheat(&format!("{command} --json"));
        let long = root.deadheat(&format!("{command} --format json"));
        let written = root.deadheat(&format!("{command} -o out.json"));
        let written = written.has_no_data().tells(&["written: out.json ("]);
        assert_eq!(short.status_code(), written.status_code(), "{command}");
        let values = [&short.stdout, &long.stdout, &file("out.json")].map(|text| json(text));
        // What is measured anew differs, and what there is of it does not.
        let keys = values.each_ref().map(|value| match value {
            Value::Object(table) => table.keys().cloned().collect(),
            other => vec![other.to_string()],
        });
        assert_eq!(keys[0], keys[1], "{command}");
        assert_eq!(keys[0], keys[2], "{command}");
        root.deadheat(&format!("{command} --format text -o out.log"))
            .has_no_data();
        assert!(!file("out.log").is_empty(), "{command}");
        for (options, why) in [
            ("-o out.xyz", "which format?"),
            ("--json --format text", "cannot be used with"),
            ("-o no/out.json", "opening it for writing"),
        ] {
            let ended = root.deadheat(&format!("{command} {options}"));
            ended.exits(2).has_no_data().tells(&[why]);
        }
    }
}

#[test]
fn commands_that_measure_print_and_write() {
    let root = Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    let file = |name: &str| fs::read(root.path().join(name)).expect("reading a file");
    let run = root.run("-o run.md -o run.json -o run.png --format csv");
    let run = run.exits(0).tells(&["written: run.md ("]);
    assert!(run.stdout.starts_with("session,"), "{run}");
    let folder = root.session_folder();
    let kept = |name: &str| fs::read(folder.join(name)).expect("reading a report");
    assert_eq!(file("run.md"), kept("report.md"));
    assert_eq!(file("run.json"), kept("report.json"));
    assert!(file("run.png").starts_with(b"\x89PNG"));
    root.deadheat("run --dry-run --format html")
        .exits(2)
        .tells(&["text or json alone"]);
    root.deadheat("run -o run.xyz")
        .exits(2)
        .tells(&["which format?", ".txt .md .html .json .csv .png"]);
    let first = folder.display().to_string();
    let mut other = simulated("other", 1.0, 0.01);
    other.header.started = "2026-03-01T10:00:00Z".to_owned();
    write(&root, &other);
    write(&root, &simulated("third", 0.9, 0.01));
    let compare = root.deadheat("compare results/other results/third -o c.md -o c.json --json");
    // B is slower, which is an answer: nothing was to fail for it.
    let compare = compare.exits(0);
    assert_eq!(compare.stdout.as_bytes(), file("c.json"), "{compare}");
    assert!(String::from_utf8_lossy(&file("c.md")).contains("| "));
    root.deadheat(&format!("report {first} -o r.html")).exits(0);
    assert!(file("r.html").starts_with(b"<!"));
}
