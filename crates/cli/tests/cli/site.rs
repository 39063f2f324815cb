//! `deadheat site`: its verdicts are those of the report and of the comparison, and nothing on it leads nowhere.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use deadheat_model::{
    heats::EndReason,
    session::{Phase, StackFailure, WorkloadFailure},
    stack::StackRole,
};
use serde_json::{Value, json as value};

use crate::support::{
    Root,
    schema::assert_satisfied,
    sessions::{simulated, with_unchanged, write},
};

/// A root with two sessions of one machine, the second with a slower rust-axum, and their site.
fn with_site() -> Root {
    let root = Root::with(&[]);
    for (id, started, share) in [
        ("first", "2026-03-01T10:00:00Z", 1.0),
        ("second", "2026-04-02T10:00:00Z", 0.8),
    ] {
        let mut record = simulated(id, share, 0.01);
        record.header.started = started.to_owned();
        record.header.arguments = vec!["run".to_owned(), "--stack".to_owned(), "x&y".to_owned()];
        write(&root, &record);
    }
    root.deadheat("site results -o site")
        .exits(0)
        .tells(&["wrote 2 sessions to site"]);
    root
}

fn read(root: &Root, path: &str) -> String {
    let path = root.path().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(root: &Root, path: &str) -> Value {
    serde_json::from_str(&read(root, path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// The folder of a session's data.
fn folder(root: &Root, nth: usize) -> String {
    let index = json(root, "site/data/index.json");
    index["sessions"][nth]["folder"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn verdicts_and_intervals_are_those_of_the_report() {
    let root = with_site();
    let report = root.deadheat("report results/second --json").exits(0);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let folder = folder(&root, 1);
    let pairs = json(&root, &format!("site/data/{folder}/pairs-0.json"));
    assert_satisfied("site-pairs", [&pairs]);
    assert_satisfied(
        "site-session",
        [&json(&root, &format!("site/data/{folder}/session.json"))],
    );
    let table = &report["standings"]["loads"][0]["tables"][0];
    for (name, ranking) in [("main", "ranking"), ("cost", "cost")] {
        let (own, pair) = (&pairs["tables"][0][name], &table[ranking]["pairs"][0]);
        let word = |verdict: &Value| match verdict.as_str() {
            Some("faster") => "F",
            Some("dead-heat") => "D",
            _ => "U",
        };
        assert_eq!(own["verdicts_together"], word(&pair["verdict"]), "{pair}");
        assert_eq!(
            own["verdicts_alone"],
            word(&pair["alone"]["verdict"]),
            "{pair}"
        );
        let number = |value: &Value| value.as_f64().unwrap();
        let units = |value: &Value| number(value) / 1e7;
        let log = units(&own["log"][0]) - units(&own["log"][1]);
        assert!(
            (log.exp() - number(&pair["ratio"])).abs() < 1e-4,
            "{own} {pair}"
        );
        let high = (log + units(&own["alone"][0])).exp();
        let interval = &pair["alone"]["interval"];
        assert!(
            (high - number(&interval["high"])).abs() < 1e-4,
            "{own} {pair}"
        );
    }
    assert_eq!(pairs["tables"][0]["main"]["verdicts_together"], "F");
}

#[test]
fn steps_of_a_timeline_are_those_of_a_comparison() {
    let root = Root::with(&[]);
    for (id, started, kernel, share) in [
        ("first", "2026-03-01T10:00:00Z", "6.1", 1.0),
        // Another kernel is a possible reason, which unchanged stacks had, too.
        ("second", "2026-04-02T10:00:00Z", "6.2", 0.8),
    ] {
        let mut record = with_unchanged(id, share, 0.01);
        record.header.started = started.to_owned();
        record.header.machine.kernel = kernel.to_owned();
        write(&root, &record);
    }
    root.deadheat("site results -o site").exits(0);
    let compared = root
        .deadheat("compare results/first results/second --json")
        .exits(0);
    let compared: Value = serde_json::from_str(&compared.stdout).unwrap();
    assert_satisfied(
        "site-comparison",
        [&json(&root, "site/data/comparisons/0-1.json")],
    );
    let words = BTreeMap::from([
        ("better", "faster"),
        ("worse", "slower"),
        ("dead-heat", "dead-heat"),
        ("not-enough-data", "undecided"),
    ]);
    for cell in compared["compared"].as_array().unwrap() {
        let stack = cell["target"].as_str().unwrap();
        let timeline = json(&root, &format!("site/data/stacks/{stack}.json"));
        assert_satisfied("site-timeline", [&timeline]);
        let step = &timeline["series"][0]["points"][1]["step"];
        assert_eq!(
            step["verdict"],
            words[cell["verdict"].as_str().unwrap()],
            "{stack}"
        );
        let ratio = cell["ratios"][0]["ratio"].as_f64().unwrap();
        assert!(
            (step["ratio"][0].as_f64().unwrap() - ratio).abs() < 1e-4,
            "{step}"
        );
    }
    let axum = json(&root, "site/data/stacks/rust-axum.json");
    let point = &axum["series"][0]["points"][1];
    assert_eq!(point["step"]["verdict"], "slower");
    let reasons = point["changes"].as_array().unwrap().iter();
    let reasons: Vec<&str> = reasons.map(|one| one["what"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["kernel", "sources"]);
    // It is in the feed, with the link that proves it.
    let feed = read(&root, "site/feed.atom");
    for part in [
        "rust-axum is slower at plaintext:c50",
        "relative to stacks that did not change; what changed: kernel 6.1 → 6.2; sources",
        "compare.html#a=rust-axum&amp;sa=first&amp;b=rust-axum&amp;sb=second",
    ] {
        assert!(feed.contains(part), "{part}: {feed}");
    }
}

#[test]
fn a_session_is_compared_with_the_one_before_on_its_kind_of_machine() {
    let root = Root::with(&[]);
    for (id, started, cpu, bytes, share) in [
        ("first", "2026-03-01T10:00:00Z", "A", 16_650_000_000, 1.0),
        ("other", "2026-03-02T10:00:00Z", "B", 16_650_000_000, 1.0),
        // The kernel kept a little more of the memory.
        ("third", "2026-03-03T10:00:00Z", "A", 16_640_000_000, 0.8),
    ] {
        let mut record = with_unchanged(id, share, 0.01);
        record.header.started = started.to_owned();
        record.header.machine.cpu_model = cpu.to_owned();
        record.header.machine.memory_bytes = bytes;
        write(&root, &record);
    }
    root.deadheat("site results -o site").exits(0);
    let axum = json(&root, "site/data/stacks/rust-axum.json");
    let point = &axum["series"][0]["points"][2];
    assert_eq!(point["step"]["since"], 0, "{point}");
    assert_eq!(point["step"]["verdict"], "slower", "{point}");
    assert_eq!(point["changes"][0]["what"], "sources");
}

/// The second machine makes everything twice as fast, and servers that changed nothing differ from one another by up to
/// 30 %. A null server would call each of them faster or slower.
#[test]
fn what_unchanged_stacks_moved_by_is_no_change_and_no_news() {
    let root = Root::with(&[]);
    for (id, started, speed) in [
        ("first", "2026-03-01T10:00:00Z", 1.0),
        ("second", "2026-03-02T10:00:00Z", 2.0),
    ] {
        let mut record = with_unchanged(id, 1.0, 0.002);
        record.header.started = started.to_owned();
        for heat in &mut record.heats {
            let members = heat.heat.members.iter();
            let factors: Vec<f64> = members
                .map(|one| match &one.target.stack[..] {
                    _ if speed == 1.0 => 1.0,
                    "go-nethttp" => 0.85 * speed,
                    "node-http" | "php-fpm" => 1.3 * speed,
                    "rust-hyper" => 0.9 * speed,
                    _ => speed,
                })
                .collect();
            for slice in heat.heat.rounds.iter_mut().flatten() {
                let answers = slice.tally.succeeded as f64 * factors[slice.member as usize];
                slice.tally.succeeded = answers.round() as u64;
                slice.tally.issued = slice.tally.succeeded;
            }
        }
        write(&root, &record);
    }
    root.deadheat("site results -o site").exits(0);
    for stack in ["go-nethttp", "node-http", "rust-axum"] {
        let timeline = json(&root, &format!("site/data/stacks/{stack}.json"));
        let step = &timeline["series"][0]["points"][1]["step"];
        assert_eq!(step["verdict"], "undecided", "{stack}: {step}");
        let warning = step["warnings"][0].as_str().unwrap();
        assert!(
            warning.starts_with(
                "At plaintext c50, the throughput of 6 stacks that did not change is 2.09 times as high in the session \
                 of 2026-03-02 10:00 as in the session of 2026-03-01 10:00, and 18 % apart"
            ),
            "{warning}"
        );
    }
    let feed = read(&root, "site/feed.atom");
    assert!(
        !feed.contains("is faster") && !feed.contains("is slower"),
        "{feed}"
    );
}

#[test]
fn a_change_under_other_settings_has_no_verdict_and_is_no_news() {
    let root = Root::with(&[]);
    for (id, started, connections, share) in [
        ("first", "2026-03-01T10:00:00Z", 50, 1.0),
        ("second", "2026-03-02T10:00:00Z", 51, 0.5),
    ] {
        let mut record = with_unchanged(id, share, 0.01);
        record.header.started = started.to_owned();
        record.header.plan.loads[0].point.connections = connections;
        write(&root, &record);
    }
    root.deadheat("site results -o site").exits(0);
    let axum = json(&root, "site/data/stacks/rust-axum.json");
    let step = &axum["series"][0]["points"][1]["step"];
    assert_eq!(step["verdict"], "not-compared", "{step}");
    assert_eq!(
        step["because"],
        "conditions differ: plaintext:c50: load point"
    );
    assert!(step["ratio"][0].as_f64().unwrap() < 1.0, "{step}");
    let feed = read(&root, "site/feed.atom");
    assert!(!feed.contains("rust-axum is"), "{feed}");
}

#[test]
fn a_later_session_of_one_stack_takes_its_rank_from_no_badge() {
    let root = with_site();
    let mut alone = simulated("alone", 1.0, 0.01);
    alone.header.started = "2026-05-01T10:00:00Z".to_owned();
    alone.header.targets[0].role = StackRole::Yardstick;
    write(&root, &alone);
    root.deadheat("site results -o site").exits(0);
    let badge = json(&root, "site/badge/rust-axum/plaintext-c50.json");
    assert_eq!(badge["message"], "rank 2 of 2");
}

#[test]
fn a_reference_that_no_session_has_leaves_the_old_site_as_it_was() {
    let root = with_site();
    let folder = folder(&root, 1);
    root.deadheat("site results -o site --reference rust-axun")
        .exits(2)
        .tells(&["--reference rust-axun: no session has this stack"]);
    read(&root, &format!("site/data/{folder}/pairs-0.json"));
}

#[test]
fn a_stack_that_fails_at_a_workload_without_a_load_keeps_its_figures() {
    let root = Root::with(&[]);
    let mut record = simulated("only", 1.0, 0.01);
    let [go, axum] = record.header.targets.as_mut_slice() else {
        panic!("the session has two stacks");
    };
    go.failed_workloads = vec![WorkloadFailure {
        workload: "users".to_owned(),
        failure: StackFailure {
            phase: Phase::Service,
            reason: "PostgreSQL does not start".to_owned(),
            log_tail: Vec::new(),
            load: None,
        },
    }];
    axum.role = StackRole::Yardstick;
    write(&root, &record);
    root.deadheat("site results -o site").exits(0);
    for (stack, message) in [
        ("go-nethttp", "one stack, not ranked"),
        ("rust-axum", "not ranked"),
    ] {
        let badge = json(&root, &format!("site/badge/{stack}/plaintext-c50.json"));
        assert_eq!(badge["message"], message, "{stack}");
    }
    let index = json(&root, "site/data/index.json");
    assert_eq!(index["sessions"][0]["absent"], 0);
    let go = json(&root, "site/data/stacks/go-nethttp.json");
    let point = &go["series"][0]["points"][0];
    assert!(
        point["absent"].is_null() && point["per_second"].is_array(),
        "{point}"
    );
}

#[test]
fn an_early_end_and_skipped_folders_are_on_the_pages_and_a_setting_counts_where_it_applies() {
    let root = Root::with(&[]);
    let mut record = simulated("first", 1.0, 0.01);
    record.header.started = "2026-03-01T10:00:00Z".to_owned();
    let hashes = |users: &str| BTreeMap::from([("users".to_owned(), users.to_owned())]);
    record.header.definitions = hashes("one");
    write(&root, &record);
    record.header.id = "second".to_owned();
    record.header.started = "2026-03-02T10:00:00Z".to_owned();
    record.header.definitions = hashes("two");
    record.end = Some(EndReason::Interrupted);
    write(&root, &record);
    root.write("results/broken/session.json", "{");
    root.deadheat("site results -o site")
        .exits(0)
        .tells(&["wrote 2 sessions to site, skipped 1"]);
    let data = read(&root, "site/data.html");
    for part in [
        "The session was interrupted",
        "<b>broken</b>: its files cannot be read",
    ] {
        assert!(data.contains(part), "{part}: {data}");
    }
    // The definition of another workload says nothing of this one.
    let go = json(&root, "site/data/stacks/go-nethttp.json");
    let point = &go["series"][0]["points"][1];
    assert_eq!(point["step"]["since"], 0, "{point}");
    assert_ne!(point["step"]["verdict"], "not-compared", "{point}");
    assert_eq!(point["changes"], value!([]));
}

#[test]
fn every_link_leads_to_a_file_and_nothing_is_loaded_from_elsewhere() {
    let root = with_site();
    assert_satisfied("site", [&json(&root, "site/data/index.json")]);
    let site = root.path().join("site");
    let all = files(&site);
    let pages = all
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "html"));
    let mut links = 0;
    for page in pages {
        let text = fs::read_to_string(page).unwrap();
        for tag in text.split('<').skip(1) {
            for name in ["href=\"", "src=\""] {
                let Some((_, rest)) = tag.split_once(name) else {
                    continue;
                };
                let address = rest.split('"').next().unwrap().replace("&#x2f;", "/");
                links += 1;
                if address.starts_with("https:") {
                    assert!(
                        tag.contains("rel=\"external\""),
                        "{}: {tag}",
                        page.display()
                    );
                    continue;
                }
                let path = address.split('#').next().unwrap();
                let is_here = path.is_empty() || path.starts_with("data:");
                let target = page.parent().unwrap().join(path);
                assert!(is_here || target.is_file(), "{}: {address}", page.display());
            }
        }
    }
    assert!(links > 30, "{links}");
    assert!(!read(&root, "site/site.css").contains("url("));
}

/// All that the first page loads: of the largest published session, 28 stacks at four loads.
#[test]
fn the_first_view_is_below_300_kb() {
    let root = Root::with(&[]);
    let session = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/results/2026-11-29-services-longer"
    );
    root.deadheat(&format!("site {session} -o site")).exits(0);
    let data = format!("data/{}", folder(&root, 0));
    let loaded = [
        "index.html",
        "site.js",
        "site.css",
        "data/index.js",
        &format!("{data}/session.js"),
        &format!("{data}/pairs-0.js"),
    ];
    let sizes = loaded.map(|path| read(&root, &format!("site/{path}")).len());
    assert!(sizes.iter().sum::<usize>() < 300_000, "{sizes:?}");
}

#[test]
fn badges_and_the_feed_have_the_forms_that_others_read() {
    let root = with_site();
    let badge = json(&root, "site/badge/rust-axum/plaintext-c50.json");
    assert_eq!(badge["schemaVersion"], 1);
    assert_eq!(badge["label"], "plaintext");
    assert_eq!(badge["message"], "rank 2 of 2");
    let mut open: Vec<String> = Vec::new();
    let feed = read(&root, "site/feed.atom");
    for tag in feed.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap();
        let name = tag.split_whitespace().next().unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name)),
            None if tag.ends_with('/') || tag.starts_with('?') => {}
            None => open.push(name.to_owned()),
        }
    }
    assert!(
        open.is_empty() && feed.matches("<entry>").count() >= 2,
        "{feed}"
    );
}

#[test]
fn a_folder_with_other_files_is_refused_and_a_broken_session_is_reported() {
    let root = with_site();
    root.write("other/file", "");
    root.deadheat("site results -o other")
        .exits(2)
        .tells(&["the folder has other files"]);
    root.write("results/broken/session.json", "{");
    // An earlier site is written again.
    root.deadheat("site results results/first -o site")
        .exits(0)
        .tells(&["broken", "the same session again", "wrote 2 sessions"]);
    root.deadheat("site results -o site --reference nobody")
        .exits(2)
        .tells(&["nobody", "with its variant"]);
}
