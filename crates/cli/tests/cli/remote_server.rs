//! `deadheat run --server` and `deadheat compare --server`: a session that runs on another host. Here "hosts" are processes of this machine with a cache
//! folder of their own, each reached by a script of its own.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use deadheat_model::{comparison::Comparison, heats::EndReason};
use deadheat_runner::session::heats::read_session;
use rustix::process::Signal;

use crate::support::{
    Ended, Fake, Root, Running, eventually,
    processes::{living, tree, wait_until_none},
    running,
};

const AGENT: &str = env!("CARGO_BIN_EXE_deadheat");
/// Starts the program as it is.
const HERE: &str = "exec \"$@\"";
/// Damages what comes back after the session: its files.
const IN_ITS_FILES: &str = r#""$@" | python3 -c '
import os
while piece := os.read(0, 65536):
    os.write(1, piece.replace(b"\"is\":\"piece\"", b"\"is\":\"peace\""))
'"#;
/// The silence after which an agent gives up, what supervisors may take, and a busy machine.
const BOUND: Duration = Duration::from_secs(25);

/// A root folder with these stacks, and a host "srv" that knows nothing of it.
fn root(stacks: &[Fake]) -> Root {
    let root = Root::with(stacks);
    reached(&root, "srv", HERE);
    root
}

/// From now on a host is reached by this script.
fn reached(root: &Root, host: &str, script: &str) {
    let home = root.path().join(format!("home-{host}"));
    let home = home.display();
    let script = format!("export HOME={home} XDG_CACHE_HOME={home}/cache\n{script}");
    root.write_program(&format!("reach-{host}"), &script);
}

fn options(root: &Root, more: &str) -> String {
    format!(
        "--server srv --launcher {}/reach-{{host}} --agent {AGENT} {more}",
        root.path().display()
    )
}

/// Brings the project and plans, no more.
#[track_caller]
fn planned(root: &Root, more: &str) -> Ended {
    let plan = root.run(&options(root, &format!("--dry-run {more}")));
    plan.exits(0)
}

/// The project's folder on the host.
#[track_caller]
fn project(root: &Root) -> PathBuf {
    let projects = root.path().join("home-srv/cache/deadheat/projects");
    let [project] = &entries(&projects)[..] else {
        panic!("one project in {}", projects.display());
    };
    project.clone()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The folders for results on the host.
fn results(root: &Root) -> Vec<PathBuf> {
    let mut folders = entries(&project(root));
    folders.retain(|path| path.display().to_string().contains("/results-"));
    folders
}

#[test]
fn a_session_runs_there_and_its_words_its_folder_and_its_status_come_here() {
    let root = root(&[
        Fake::good("fake-one"),
        Fake::faulty("fake-wrong", "wrong-answer"),
    ]);
    let ended = root.run(&options(&root, ""));
    // One of them failed.
    let ended = ended.exits(1).says(&["fake-one", "fake-wrong"]).tells(&[
        "servers on srv: 5 of 5 files sent",
        "fake-wrong: FAILED",
        "heat 2",
        "report: results/",
    ]);
    let session = root.session();
    session.assert_measured("fake-one");
    session.failure_of("fake-wrong");
    let folder = session.folder.display();
    let report = root.deadheat(&format!("report {folder}")).exits(0);
    assert_eq!(report.stdout, ended.stdout, "the report made here");
    let typed = &session.record.header.arguments;
    let is_typed = |word: &str| typed.iter().any(|one| one == word);
    assert!(is_typed("--server") && !is_typed("--there"), "{typed:?}");
    let left = results(&root);
    assert!(left.is_empty(), "nothing is left there: {left:?}");
    for file in ["report.html", "report.json"] {
        assert!(session.folder.join(file).exists(), "{file}");
    }
    root.assert_nothing_runs(BOUND, "a session");
}

#[test]
fn only_what_has_changed_goes_there_and_what_is_gone_is_gone_there() {
    let root = root(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    root.write("stacks/fake-one/out/built", "here");
    let plan = planned(&root, "").tells(&["5 of 5 files sent"]);
    assert!(
        plan.stdout.contains("fake-one") && plan.stdout.contains("fake-two"),
        "the plan comes on standard output: {plan}"
    );
    let files = project(&root).join("files/root");
    let one = files.join("stacks/fake-one");
    assert!(!one.join("out").exists(), "what was built here stays here");
    fs::create_dir(one.join("out")).unwrap();
    fs::write(one.join("out/built"), "there").unwrap();
    let state = |path: &Path| {
        let found = path.metadata().unwrap();
        (found.ino(), found.mtime_nsec())
    };
    let server = one.join("server.py");
    let before = state(&server);
    planned(&root, "").tells(&["0 of 5 files sent"]);
    root.write("stacks/fake-one/more.txt", "new");
    fs::remove_dir_all(root.path().join("stacks/fake-two")).unwrap();
    let plan = planned(&root, "").tells(&["1 of 4 files sent"]);
    assert!(!plan.stdout.contains("fake-two"), "{plan}");
    assert_eq!(state(&server), before, "it is not written again");
    assert!(one.join("more.txt").exists() && one.join("out/built").exists());
    assert!(!files.join("stacks/fake-two").exists());
    assert!(root.sessions().is_empty());
    // A link that would lead anywhere on the host.
    std::os::unix::fs::symlink("/etc/passwd", root.path().join("stacks/fake-one/link")).unwrap();
    let refused = root.run(&options(&root, "--dry-run"));
    refused
        .exits(3)
        .tells(&["stacks/fake-one/link", "leads out"]);
}

#[test]
fn stacks_of_another_folder_go_there_too_and_json_is_json() {
    let root = root(&[Fake::good("fake-one")]);
    let other = Fake::good("fake-other");
    root.write("others/fake-other/stack.toml", &other.manifest());
    let plan = planned(&root, "--stacks others --json");
    let json: serde_json::Value = serde_json::from_str(&plan.stdout).expect("JSON");
    let targets = json["plan"]["loads"][0]["targets"].to_string();
    assert!(
        targets.contains("fake-one") && targets.contains("fake-other"),
        "{targets}"
    );
}

#[test]
fn that_host_reaches_the_generators() {
    let root = root(&[Fake::good("fake-one")]);
    reached(&root, "gen", HERE);
    let ended = root.run(&options(
        &root,
        "--generator gen --address 127.0.0.1 --color always",
    ));
    let ended = ended.exits(0);
    assert!(
        ended.stdout.contains("\u{1b}["),
        "what is coloured there is so here: {ended}"
    );
    ended.says(&["fake-one", "loaded from 1 other host"]);
    let hosts = root.session().record.header.hosts;
    assert_eq!(hosts.len(), 1);
    assert_eq!(hosts[0].host, "gen");
    reached(&root, "gen", "echo no route to it >&2; exit 255");
    let ended = root.run(&options(&root, "--generator gen --address 127.0.0.1"));
    ended.exits(3).tells(&["host gen: ", "no route to it"]);
    root.assert_nothing_runs(BOUND, "a session that did not begin");
}

#[test]
fn an_interrupt_here_ends_in_a_report() {
    let root = root(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    let running = root.start_run(&options(&root, "--heats 500"));
    eventually("a heat", || {
        running.told().contains("heat 1 ·").then_some(())
    });
    running.signal(Signal::INT);
    let ended = running.wait();
    let ended = ended.exits(0);
    ended
        .says(&["interrupted", "fake-one"])
        .tells(&["report: results/"]);
    let session = root.session();
    assert_eq!(session.record.end, Some(EndReason::Interrupted));
    session.assert_measured("fake-one");
}

#[test]
fn a_second_interrupt_ends_it_at_once_and_its_folder_still_comes() {
    let root = root(&[Fake::faulty("fake-deaf", "ignores-sigterm")]);
    let running = root.start_run(&options(&root, ""));
    // From now on Deadheat waits for five seconds, because the server does not listen to SIGTERM.
    root.wait_for("sigterm", 1);
    running.signal(Signal::INT);
    // One that comes right after the first would only repeat it.
    std::thread::sleep(Duration::from_secs(1));
    running.signal(Signal::INT);
    running.wait().exits(130);
    root.session_folder();
}

#[test]
fn nothing_runs_on_there_when_this_process_is_killed_and_the_session_stays_there() {
    let root = root(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    let running = root.start_run(&options(&root, "--heats 500"));
    eventually("a heat", || {
        running.told().contains("heat 1 ·").then_some(())
    });
    let before = tree(running.pid());
    running.signal(Signal::KILL);
    running.wait_alone().was_killed_by(9);
    root.assert_nothing_runs(BOUND, "this process was killed");
    if let Err(left) = wait_until_none(BOUND, || living(&before)) {
        panic!("these processes live: {left:#?}");
    }
    let [results] = &results(&root)[..] else {
        panic!("one folder for results");
    };
    let [session] = &entries(results)[..] else {
        panic!("one session");
    };
    let report = root.deadheat(&format!("report {}", session.display()));
    report.exits(0).says(&["fake-one", "killed"]);
}

#[test]
fn a_host_that_cannot_be_reached_or_whose_words_are_damaged_is_named() {
    let root = root(&[Fake::good("fake-one")]);
    let cases = [
        ("echo no route to it >&2; exit 255", "no route to it"),
        ("\"$@\" | head -c 2000", "the connection was"),
        ("\"$@\" | stdbuf -o0 tr { [", "arrived damaged"),
        (IN_ITS_FILES, "what it has of the session is there"),
    ];
    for (script, why) in cases {
        reached(&root, "srv", script);
        let ended = root.run(&options(&root, ""));
        ended.exits(3).tells(&["host srv: ", why]);
        let sessions = root.sessions();
        assert!(sessions.is_empty(), "{script}: {sessions:?}");
        root.assert_nothing_runs(BOUND, script);
    }
}

#[test]
fn what_another_host_cannot_do_is_refused_here() {
    let root = root(&[Fake::good("fake-one")]);
    let refusals = [
        ("--live", "--server and --live"),
        ("--resume results/x", "--server and --resume"),
        ("--slurm", "cannot be used with"),
    ];
    for (option, why) in refusals {
        let ended = root.deadheat(&format!("run --server srv {option}"));
        ended.exits(2).tells(&[why]);
    }
    root.deadheat("run --server -x").exits(2);
    root.write("stacks/fake-one/stack.toml", "id = 1");
    let ended = root.run(&options(&root, ""));
    ended.exits(2).tells(&["stacks/fake-one/stack.toml"]);
    assert!(!root.path().join("home-srv").exists(), "nothing went there");
}

/// Short heats: what they find is not looked at.
const SHORT: &str =
    "--heats 2 --heat-time 300ms --slice 40ms --guard 10ms --warm-up 100ms --seed 7";

/// A comparison on the host "srv". Commands have blanks in them.
fn compared(root: &Root, a: &str, b: &str, more: &str) -> Ended {
    let options = format!("{} {SHORT}", options(root, more));
    let mut command = running::command(root.path(), "compare");
    command.args([a, b]).args(options.split_whitespace());
    let shown = format!("compare '{a}' '{b}' {options}");
    Running::start_command(root.path(), command, &shown).wait()
}

/// The comparison whose folder came here.
#[track_caller]
fn comparison(root: &Root) -> Comparison {
    let record = read_session(&root.session_folder()).expect("reading the comparison");
    assert_eq!(record.heats.len(), 2);
    *record.header.comparison.expect("both sides")
}

#[test]
fn a_revision_is_compared_there_where_git_knows_nothing_of_it() {
    let root = root(&[Fake::faulty("fake-one", "unhurried")]);
    root.git("init -q -b main");
    root.git("add stacks workloads");
    root.git("commit -q -m first");
    let same = compared(&root, "fake-one@HEAD", "fake-one", "--dry-run");
    same.exits(0).says(&["Plan: B against A", "(A/A)"]);
    let server = root.path().join("stacks/fake-one/server.py");
    let changed = fs::read_to_string(&server).unwrap() + "\n# changed\n";
    root.write("stacks/fake-one/server.py", &changed);
    let ended = compared(&root, "fake-one@HEAD", "fake-one", "--format json");
    let ended = ended.exits(0).tells(&["servers on srv: 1 of "]);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON alone");
    let compared = comparison(&root);
    assert_eq!(json["a"]["name"], compared.a.name);
    assert!(compared.a.name.starts_with("fake-one@"), "{compared:?}");
    assert_eq!(
        (compared.b.name.as_str(), compared.alike),
        ("fake-one", None)
    );
    let folder = root.session_folder();
    let record = read_session(&folder).unwrap();
    let commit = record.header.commit.expect("the commit of the work tree");
    assert!(commit.ends_with("-dirty"), "{commit}");
    let files = project(&root).join("files");
    let served = |place: &str| fs::read_to_string(files.join(place)).unwrap();
    assert_eq!(served("root/stacks/fake-one/server.py"), changed);
    assert_ne!(served("revision-0/stacks/fake-one/server.py"), changed);
    assert_eq!(root.temporary(), Vec::<PathBuf>::new());
    assert!(results(&root).is_empty(), "nothing is left there");
    root.assert_nothing_runs(BOUND, "a comparison");
}

#[test]
fn commands_are_compared_there_and_a_side_that_fails_decides_the_status() {
    let root = root(&[Fake::good("fake-one")]);
    let good = "cmd:env FAULT=unhurried python3 -I -S stacks/fake-one/server.py";
    let ended = compared(&root, good, good, "--path /plaintext -c 2 --details");
    let ended = ended.exits(0).says(&["(A/A)", "records  results/"]);
    assert!(
        !ended.stderr.contains("sent"),
        "there is nothing to bring: {ended}"
    );
    comparison(&root);
    for (a, b, status) in [(good, "cmd:false", 1), ("cmd:false", good, 3)] {
        let root = self::root(&[Fake::good("fake-one")]);
        let ended = compared(&root, a, b, "--path /plaintext -c 2");
        ended.exits(status).says(&["failed"]);
    }
}

#[test]
fn a_comparison_that_cannot_be_there_is_refused_here() {
    let root = root(&[Fake::good("fake-one")]);
    let refusals = [
        (
            "http://127.0.0.1:1/ http://127.0.0.1:2/",
            "--server has no meaning for URLs",
        ),
        ("fake-one fake-none", "fake-none"),
        ("fake-one@HEAD fake-one", "git"),
    ];
    for (sides, why) in refusals {
        let ended = root.deadheat(&format!("compare {sides} {}", options(&root, "")));
        ended.exits(2).tells(&[why]);
    }
    root.write("hosts.toml", "server = \"srv\"\n");
    let ended = root.deadheat("compare http://127.0.0.1:1/ http://127.0.0.1:2/ --hosts hosts.toml");
    ended.exits(2).tells(&["`server` (hosts.toml:1)"]);
    assert!(!root.path().join("home-srv").exists(), "nothing went there");
}

#[test]
fn a_file_of_hosts_may_name_the_servers_host_alone() {
    let root = root(&[Fake::good("fake-one")]);
    let reach = root.path().join("reach-{host}");
    let hosts = format!(
        "server = \"srv\"\nlauncher = \"{}\"\nagent = \"{AGENT}\"\n",
        reach.display()
    );
    root.write("hosts.toml", &hosts);
    let plan = root.run("--hosts hosts.toml --dry-run").exits(0);
    plan.says(&["fake-one"]).tells(&["servers on srv: "]);
}
