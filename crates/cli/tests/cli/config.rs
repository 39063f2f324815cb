//! `deadheat.toml`: where it is found, what it changes, and what is said of it.

use serde_json::Value;

use crate::support::{Ended, Fake, Root};

fn root(config: &str) -> Root {
    let root = Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    root.write("deadheat.toml", config);
    root
}

#[track_caller]
fn plan(ended: &Ended) -> Value {
    let json: Value = serde_json::from_str(&ended.stdout).expect("a plan as JSON");
    json["plan"].clone()
}

const RUN: &str = "run --dry-run --json --rate none";

#[test]
fn defaults_come_from_the_nearest_file_and_are_told() {
    let root = root("[run]\nmargin = \"2%\"\nstack = \"fake-one\"\nheats = 4\n");
    let ended = root.deadheat(RUN).exits(0);
    let told = "deadheat.toml: margin = \"2%\", stack = \"fake-one\", heats = 4";
    let ended = ended.tells(&[told]);
    let found = plan(&ended);
    assert_eq!(found["margin"], 0.02);
    assert_eq!(
        found["loads"][0]["targets"].as_array().map(Vec::len),
        Some(1)
    );
    // Explicit options take precedence.
    let ended = root.deadheat(&format!("{RUN} --margin 5% --stack fake-*"));
    let ended = ended.exits(0).tells(&["deadheat.toml: heats = 4"]);
    let found = plan(&ended);
    assert_eq!(found["margin"], 0.05);
    assert_eq!(
        found["loads"][0]["targets"].as_array().map(Vec::len),
        Some(2)
    );
    // From a folder below, and not at all.
    root.write("below/x", "");
    let mut below = crate::support::running::command(root.path(), RUN);
    let below = below.current_dir(root.path().join("below"));
    let output = below.output().expect("running deadheat");
    let below: Value = serde_json::from_slice(&output.stdout).expect("a plan as JSON");
    assert_eq!(below["plan"]["margin"], 0.02);
    let without = root.deadheat(&format!("{RUN} --no-config")).exits(0);
    assert_eq!(plan(&without)["margin"], 0.03);
    assert!(!without.stderr.contains("deadheat.toml"), "{without}");
    // Another file.
    root.write("other.toml", "[run]\nmargin = \"4%\"\n");
    let other = root.deadheat(&format!("{RUN} --config other.toml"));
    assert_eq!(plan(&other.exits(0))["margin"], 0.04);
    root.deadheat(&format!("{RUN} --config missing.toml"))
        .exits(2)
        .tells(&["missing.toml", "No such file"]);
}

#[test]
fn mistakes_are_drawn_with_file_line_and_column() {
    let root = root("[run]\nmargn = \"2%\"\nbudget = \"soon\"\n");
    let ended = root.deadheat(RUN).exits(2).has_no_data();
    ended.tells(&[
        "deadheat.toml:2:1",
        "did you mean `margin`?",
        "deadheat.toml:3:10",
        "write it like 90s or 10m",
    ]);
}

#[test]
fn a_session_records_the_options_that_it_ran_with() {
    let root = root("[run]\nmargin = \"2%\"\nstack = \"fake-one\"\n");
    root.run("-q").exits(0);
    let session = root.session();
    let header = &session.record.header;
    assert_eq!(header.plan.margin, 0.02);
    let has = |argument: &str| header.arguments.iter().any(|one| one == argument);
    assert!(has("--margin=2%") && has("--stack=fake-one"), "{header:?}");
    // A session that goes on has its options, whatever the file says by now.
    root.write("deadheat.toml", "[run]\nmargn = 1\n");
    let folder = session.folder.display();
    root.deadheat(&format!("run --resume {folder}")).exits(0);
}

#[test]
fn what_does_not_fit_to_a_load_or_a_comparison_is_left_out_and_told() {
    let root = root("[load]\nduration = \"3s\"\n[compare]\nworkload = \"plaintext\"\nheats = 5\n");
    root.deadheat("load --dry-run -n 5 http://127.0.0.1:1/")
        .exits(0)
        .says(&["5 requests"])
        .tells(&["deadheat.toml: not used here: duration"]);
    root.deadheat("compare --dry-run http://127.0.0.1:1/ http://127.0.0.1:2/")
        .exits(0)
        .tells(&["deadheat.toml: heats = 5; not used here: workload"]);
}

#[test]
fn what_a_plan_or_a_comparison_of_reports_cannot_have_is_left_out() {
    let root =
        root("[run]\nformat = \"markdown\"\nheats = 4\n\n[compare]\nfail-if-slower = \"3%\"\n");
    let plan = root.deadheat("run --dry-run --rate none").exits(0);
    plan.tells(&["deadheat.toml: heats = 4; not used here: format"]);
    let [before, after] = crate::support::root::two_reports();
    root.write("before.txt", &before);
    root.write("after.txt", &after);
    root.deadheat("compare before.txt after.txt").exits(0);
    root.deadheat("compare before.txt after.txt --require-decision")
        .exits(2)
        .tells(&["--require-decision has no meaning for reports of other tools"]);
}

/// What a repository of somebody else could have in it. `FOLDER` is where it leaves traces.
const HOSTILE: &str = "[load]\nconnections = 3\non = [\"web1\"]\n\
    launcher = \"sh -c 'touch FOLDER/ran; exec false {host}'\"\noutput = \"FOLDER/written.json\"\ninsecure = true\n\
    method = \"DELETE\"\n";

#[test]
fn a_file_that_nobody_named_sets_figures_only() {
    let folder = tempfile::tempdir().expect("making a folder");
    let text = HOSTILE.replace("FOLDER", &folder.path().display().to_string());
    let root = root(&text);
    let traces = || ["ran", "written.json"].map(|name| folder.path().join(name).exists());
    let load = "load http://127.0.0.1:1/ -d 100ms --warm-up 0s --progress off";
    let found = root.deadheat(load).exits(3).tells(&[
        "deadheat.toml: connections = 3\n",
        "on (chooses hosts), launcher (runs programs), output (writes files), insecure (weakens TLS), \
         method (changes requests)",
        "A file that you did not name may set figures only",
        "--config deadheat.toml",
    ]);
    assert_eq!(traces(), [false; 2], "{found}");
    let plan = root.deadheat(&format!("{load} --dry-run")).exits(0);
    plan.says(&["GET", "3 connections"]);

    // Whoever names it means all of it.
    root.deadheat(&format!("{load} --config deadheat.toml"))
        .tells(&["launcher = ", "method = \"DELETE\""]);
    assert!(traces()[0]);
    let by_variable = |file: &str| {
        std::fs::remove_file(folder.path().join("ran")).unwrap_or_default();
        let mut command = crate::support::running::command(root.path(), load);
        command.env("DEADHEAT_CONFIG", file);
        crate::support::Running::start_command(root.path(), command, load).wait()
    };
    by_variable(&root.path().join("deadheat.toml").display().to_string());
    assert!(traces()[0]);
    // A path that means another file in each folder would obey whatever is found there.
    by_variable("deadheat.toml")
        .exits(2)
        .tells(&["write the path from /"]);
    by_variable("").exits(3);
    assert!(!traces()[0]);
}

#[test]
fn a_file_that_other_users_can_write_sets_nothing() {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let root = root("[run]\nmargin = \"2%\"\n");
    let file = root.path().join("deadheat.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("changing its mode");
    let ended = root.deadheat(RUN).exits(0);
    let ended = ended.tells(&["not used, because other users can write to", "--config"]);
    assert_eq!(plan(&ended)["margin"], 0.03);
    let named = root.deadheat(&format!("{RUN} --config deadheat.toml"));
    assert_eq!(plan(&named.exits(0))["margin"], 0.02);
}

#[test]
fn stacks_that_other_users_can_write_run_only_if_their_folder_is_named() {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let root = root("");
    root.write("stacks/fake-one/ran.py", "");
    let manifest = "stacks/fake-one/stack.toml";
    for (path, mode) in [
        (".", 0o777),
        ("stacks", 0o1777),
        ("workloads", 0o777),
        ("stacks/fake-one", 0o757),
        (manifest, 0o666),
        ("stacks/fake-one/server.py", 0o646),
    ] {
        let place = root.path().join(path);
        let before = fs::metadata(&place).expect("a file").permissions();
        fs::set_permissions(&place, fs::Permissions::from_mode(mode)).expect("changing its mode");
        for command in ["stacks list", RUN] {
            root.deadheat(command).exits(2).has_no_data().tells(&[
                "programs that would run as you",
                "--root",
                "DEADHEAT_ROOT=",
            ]);
        }
        let named = format!("{RUN} --root {}", root.path().display());
        root.deadheat(&named).exits(0);
        fs::set_permissions(&place, before).expect("changing its mode back");
    }
    root.deadheat(RUN).exits(0);
}
