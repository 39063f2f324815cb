//! `deadheat report`, and who reads what is written.

use std::{
    fs,
    io::{BufRead, BufReader, Write as _},
    process::{Output, Stdio},
};

use serde_json::{Value, json};

use crate::{
    load::{Loading, hello_server, url},
    support::{Fake, Root, flat, root::MANY_ROUNDS, running},
};

#[test]
fn every_format_comes_from_the_records_alone() {
    let (root, folder) = Root::measured();
    let files = [
        ("html", "report.html"),
        ("markdown", "report.md"),
        ("json", "report.json"),
        ("csv", "report.csv"),
    ];
    let kept = files
        .map(|(_, file)| fs::read_to_string(format!("{folder}/{file}")).expect("reading a report"));
    for (_, file) in files {
        fs::remove_file(format!("{folder}/{file}")).expect("removing a report");
    }
    // The stacks are of no use to a report.
    fs::remove_dir_all(root.path().join("stacks")).expect("removing the stacks");
    for ((format, _), kept) in files.into_iter().zip(&kept) {
        let ended = root
            .deadheat(&format!("report {folder} --format {format}"))
            .exits(0);
        assert_eq!(
            ended.stdout.trim_end(),
            kept.trim_end(),
            "{format}: the same as after the session"
        );
        assert!(ended.stderr.is_empty(), "{ended}");
    }
    let text = root
        .deadheat(&format!("report {folder}"))
        .exits(0)
        .says(&["fake-one", "requests/s"]);
    assert!(
        !text.stdout.contains('\x1b'),
        "colours for somebody who is no terminal: {text}"
    );
    let json: Value = serde_json::from_str(&kept[2]).expect("JSON");
    assert_eq!(json["format"], "deadheat-report", "{json}");
    assert!(kept[0].starts_with("<!"), "a page");
    let mut rows = kept[3].split("\r\n");
    assert!(rows.next().is_some_and(|head| head.starts_with("session,")));
    assert!(
        rows.any(|row| row.contains(",fake-one,") && row.contains(",throughput,")),
        "a row per metric"
    );
    // In what the scripts say about themselves there are addresses; tags that load something have none.
    for tag in kept[0]
        .split('<')
        .filter(|tag| tag.starts_with("script ") || tag.starts_with("link "))
    {
        let tag = tag.split('>').next().unwrap_or_default();
        assert!(
            !tag.contains("http"),
            "the page should need nothing from elsewhere: <{tag}>"
        );
    }
}

#[test]
fn a_report_is_written_to_a_file_and_a_card_is_a_picture() {
    let (root, folder) = Root::measured();
    let written = |name: &str| fs::read(root.path().join(name)).expect("reading what was written");
    root.deadheat(&format!(
        "report {folder} --format markdown --output results.md"
    ))
    .exits(0)
    .has_no_data();
    assert_eq!(
        written("results.md"),
        written(&format!("{folder}/report.md"))
    );
    root.deadheat(&format!("report {folder} --format card -o card.png"))
        .exits(0)
        .has_no_data();
    let card = written("card.png");
    // Signature, then the first chunk with width and height (PNG, third edition, §§ 5.2 and 11.2.1).
    assert!(card.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(
        card[16..24],
        [0, 0, 0x04, 0xb0, 0, 0, 0x02, 0x76],
        "1200 × 630"
    );
    root.deadheat(&format!("report {folder} --format card -o no/card.png"))
        .exits(2)
        .tells(&["no/card.png", "a folder that you may write to"]);
    root.deadheat(&format!(
        "report {folder} --format card --workload nonsense -o card.png"
    ))
    .exits(2)
    .has_no_data()
    .tells(&["`nonsense`", "it has", ":c"]);
    root.deadheat(&format!("report {folder} --workload nonsense"))
        .exits(2)
        .has_no_data()
        .tells(&["--format card"]);
}

#[test]
fn a_report_is_ascii_where_the_locale_is() {
    let (root, folder) = Root::measured();
    let shown = |locale: &str| {
        let output = running::command(root.path(), &format!("report {folder}"))
            .env("LC_ALL", locale)
            .output()
            .expect("running deadheat");
        String::from_utf8(output.stdout).expect("text")
    };
    let (ascii, unicode) = (shown("C"), shown("C.UTF-8"));
    assert!(ascii.is_ascii() && ascii.contains("fake-one"), "{ascii}");
    assert!(!unicode.is_ascii(), "{unicode}");
    assert!(
        unicode.lines().all(|line| line.chars().count() <= 80),
        "{unicode}"
    );
}

#[test]
fn a_file_instead_of_standard_output() {
    let (root, folder) = Root::measured();
    let kept = fs::read_to_string(format!("{folder}/report.csv")).expect("reading a report");
    let ended = root
        .deadheat(&format!("report {folder} --format csv -o table.csv"))
        .exits(0)
        .has_no_data()
        .tells(&["written: table.csv ("]);
    let written = fs::read_to_string(root.path().join("table.csv")).expect("reading the file");
    assert_eq!(written, kept, "{ended}");
    root.deadheat(&format!("report {folder} -o no/such/folder/a.txt"))
        .exits(2)
        .has_no_data()
        .tells(&["--output no/such/folder/a.txt", "you may write to"]);
}

#[test]
fn what_is_no_session_is_said_to_be_none() {
    let (root, folder) = Root::measured();
    root.deadheat("report nowhere")
        .exits(2)
        .has_no_data()
        .tells(&["nowhere does not exist", "the folder of a session"]);
    root.deadheat("report stacks")
        .exits(2)
        .has_no_data()
        .tells(&[
            "stacks/session.json",
            "is stacks",
            "the folder of a session?",
        ]);
    root.deadheat("report workloads/plaintext.toml")
        .exits(2)
        .has_no_data()
        .tells(&["no report of ab", "session.json"]);
    root.deadheat(&format!("report {folder} --format pdf"))
        .exits(2)
        .has_no_data()
        .tells(&["pdf", "markdown"]);
}

#[test]
fn a_load_is_shown_again_from_its_json_in_every_format_that_it_has() {
    let loading = Loading::new();
    let server = hello_server();
    let formats = [
        ("markdown", "a.md"),
        ("html", "a.html"),
        ("json", "a.json"),
        ("csv", "a.csv"),
        ("hlog", "a.hlog"),
        ("hgrm", "a.hgrm"),
        ("openmetrics", "a.om"),
        ("otlp", "a.otlp.json"),
    ];
    let mut args = vec!["-n", "50", "-c", "2", "-o", "a.txt"];
    args.extend(formats.iter().flat_map(|(_, file)| ["-o", *file]));
    let loaded = loading.run(&url(&server, "/"), &args).exits(0);
    let root = &loading.root;
    let written =
        |file: &str| fs::read_to_string(root.path().join(file)).expect("reading a report");
    let again = root.deadheat("report a.json").exits(0);
    assert_eq!(again.stdout, loaded.stdout);
    for (format, file) in formats {
        let again = root
            .deadheat(&format!("report a.json --format {format}"))
            .exits(0);
        assert_eq!(again.stdout, written(file), "{format}");
    }
    root.deadheat("report a.json --details -o b.txt").exits(0);
    assert_eq!(written("b.txt"), written("a.txt"));
    root.deadheat("report a.json --format card")
        .exits(2)
        .has_no_data()
        .tells(&["The load in a.json", "openmetrics or otlp"]);
}

/// Runs `deadheat` with `input` in a pipe as its standard input.
fn with_input(root: &Root, args: &str, input: &[u8]) -> Output {
    let mut child = running::command(root.path(), args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starting deadheat");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input).expect("writing to deadheat");
    drop(pipe);
    child.wait_with_output().expect("waiting for deadheat")
}

#[test]
fn a_record_is_read_from_standard_input() {
    let loading = Loading::new();
    let server = hello_server();
    let args = ["-n", "20", "-c", "2", "--json", "-o", "a.json"];
    let loaded = loading.run(&url(&server, "/"), &args).exits(0);
    let root = &loading.root;
    let shown = root.deadheat("report a.json").exits(0).stdout;
    let piped = with_input(root, "report -", loaded.stdout.as_bytes());
    let told = String::from_utf8_lossy(&piped.stderr);
    assert_eq!(piped.status.code(), Some(0), "{told}");
    assert_eq!(String::from_utf8_lossy(&piped.stdout), shown);
    let other = with_input(root, "report -", b"Requests/sec: 9000");
    let told = flat(&String::from_utf8_lossy(&other.stderr));
    assert_eq!(other.status.code(), Some(2), "{told}");
    assert!(
        told.contains("`deadheat import -` reads reports of other tools"),
        "{told}"
    );
    // The file that is standard input is not replaced.
    let kept = fs::read(root.path().join("a.json")).expect("reading the record");
    let file = fs::File::open(root.path().join("a.json")).expect("opening the record");
    let output = running::command(root.path(), "report - -o a.json")
        .stdin(file)
        .output();
    assert_eq!(output.expect("running deadheat").status.code(), Some(2));
    let after = fs::read(root.path().join("a.json")).expect("reading the record");
    assert_eq!(after, kept);
}

#[test]
fn a_search_for_a_commit_is_shown_again_from_its_json() {
    let root = Root::with(&[]);
    let commit = |short| json!({"commit": short, "short": short, "subject": "", "merge": false});
    let search = json!({
        "schema": 1, "deadheat": "0.1.0", "started": "2026-11-25T12:00:00Z", "arguments": [], "folder": "/",
        "measured": "./server", "alpha": 0.05, "good": commit("a1"), "commits": [commit("b2")], "questions": [],
    });
    let report =
        json!({"schema": 1, "format": "deadheat-bisect", "folder": "one", "search": search});
    root.write("one/bisect.json", &search.to_string());
    root.write("report.json", &report.to_string());
    let of_folder = root.deadheat("report one").exits(0);
    let of_folder = of_folder.says(&["Records: one"]);
    for file in ["one/bisect.json", "report.json"] {
        let again = root.deadheat(&format!("report {file}")).exits(0);
        assert_eq!(again.stdout, of_folder.stdout, "{file}");
    }
    // A report does not replace the record that it is made from.
    let record = fs::read_to_string(root.path().join("one/bisect.json")).expect("the record");
    root.deadheat("report one --json -o one/bisect.json")
        .exits(2)
        .tells(&["--output one/bisect.json", "would be replaced"]);
    let after = fs::read_to_string(root.path().join("one/bisect.json")).expect("the record");
    assert_eq!(after, record);
}

#[test]
fn a_file_of_deadheat_is_shown_or_refused_with_what_would_work() {
    let (root, folder) = Root::measured();
    let shown = root.deadheat(&format!("report {folder}")).exits(0).stdout;
    for file in ["session.json", "heats.jsonl"] {
        let again = root.deadheat(&format!("report {folder}/{file}")).exits(0);
        assert_eq!(again.stdout, shown, "{file}");
    }
    root.write("cut.json", "{\"schema\": 1, \"format\": \"deadheat-load\",");
    root.write(
        "old.json",
        "{\"schema\": 99, \"format\": \"deadheat-load\"}",
    );
    let cases = [
        (
            format!("{folder}/report.json"),
            ["deadheat-report", "the folder of its session"],
        ),
        ("cut.json".to_owned(), ["EOF", "the JSON of a load"]),
        ("old.json".to_owned(), ["its schema is 99", "-o FILE.json"]),
        (
            format!("{folder} --format hlog"),
            ["The session in", "csv or card"],
        ),
        (
            format!("{folder} -o {folder}/session.json"),
            ["part of a session's record", "name another one"],
        ),
    ];
    for (args, told) in cases {
        root.deadheat(&format!("report {args}"))
            .exits(2)
            .has_no_data()
            .tells(&told);
    }
}

#[test]
fn without_a_name_it_is_the_newest_session() {
    let root = Root::with(&[Fake::good("fake-one")]);
    root.deadheat("report")
        .exits(2)
        .has_no_data()
        .tells(&["newest session in results", "deadheat report FOLDER"]);
    root.run(MANY_ROUNDS).exits(0);
    let first = root.session_folder();
    // One that began a second later, under a name that comes before.
    let text = fs::read_to_string(first.join("session.json")).expect("reading the header");
    let header: Value = serde_json::from_str(&text).expect("JSON");
    let started = header["started"].as_str().expect("a time");
    let later = text.replace(started, "2100-01-01T00:00:00Z");
    root.write("results/0-later/session.json", &later);
    let heats = fs::read_to_string(first.join("heats.jsonl")).expect("reading the heats");
    root.write("results/0-later/heats.jsonl", &heats);
    root.deadheat("report")
        .exits(0)
        .says(&["fake-one"])
        .tells(&["report of results/0-later"]);
}

#[test]
fn files_that_were_changed_or_are_of_another_version() {
    let (root, folder) = Root::measured();
    let header = format!("{folder}/session.json");
    let heats = format!("{folder}/heats.jsonl");
    let (right_header, right_heats) = (
        fs::read_to_string(&header).unwrap(),
        fs::read_to_string(&heats).unwrap(),
    );
    let after_the_last = format!("heats.jsonl, line {}", right_heats.lines().count() + 1);
    let cases = [
        (
            &header,
            right_header.replacen("\"schema\": 3", "\"schema\": 99", 1),
            "has format 99",
        ),
        (
            &header,
            right_header.replacen('{', "", 1),
            "session.json, line",
        ),
        (
            &heats,
            right_heats.replacen("\"load\":0", "\"load\":\"first\"", 1),
            "heats.jsonl, line 1",
        ),
        (
            &heats,
            format!("{right_heats}{{}}\n"),
            after_the_last.as_str(),
        ),
    ];
    for (path, text, message) in cases {
        fs::write(path, text).expect("changing a record");
        root.deadheat(&format!("report {folder}"))
            .exits(2)
            .has_no_data()
            .tells(&[message]);
        fs::write(&header, &right_header).expect("putting it back");
        fs::write(&heats, &right_heats).expect("putting it back");
    }
    root.deadheat(&format!("report {folder}")).exits(0);
}

#[test]
fn a_heat_that_was_cut_off_by_a_kill_is_left_out() {
    let (root, folder) = Root::measured();
    let heats = format!("{folder}/heats.jsonl");
    let text = fs::read_to_string(&heats).expect("reading the journal");
    fs::write(&heats, &text[..text.find('\n').expect("a line") / 2]).expect("cutting the journal");
    let ended = root.deadheat(&format!("report {folder}")).exits(0);
    ended.says(&["was killed before its end; no heat was complete by then"]);
}

/// Runs `deadheat` into a pipe that is closed after `lines` lines.
#[track_caller]
fn into_a_closed_pipe(root: &Root, args: &str, lines: usize) {
    let mut child = running::command(root.path(), args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starting deadheat");
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    for _ in 0..lines {
        reader
            .read_line(&mut String::new())
            .expect("reading a line");
    }
    drop(reader);
    let output = child.wait_with_output().expect("waiting for deadheat");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(0),
        "`deadheat {}`: {stderr}",
        args
    );
    let announces = |line: &str| line.starts_with("Looking for the toolchains of ");
    assert!(stderr.lines().all(announces), "`deadheat {args}`: {stderr}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (root, folder) = Root::measured();
    for lines in [0, 1] {
        for format in ["text", "markdown", "html", "json", "csv"] {
            into_a_closed_pipe(&root, &format!("report {folder} --format {format}"), lines);
        }
        into_a_closed_pipe(&root, "stacks list", lines);
        into_a_closed_pipe(&root, "--help", lines);
    }
}

#[test]
fn help_and_version_are_data() {
    let root = Root::with(&[]);
    let help = root.deadheat("--help").exits(0).says(&[
        "run",
        "report",
        "setup",
        "stacks",
        "Exit status: 0 success",
    ]);
    assert!(help.stderr.is_empty(), "{help}");
    assert!(
        !help.stdout.contains("__supervise"),
        "what is for Deadheat itself is not shown: {help}"
    );
    root.deadheat("--version").exits(0).says(&["deadheat 0."]);
}
