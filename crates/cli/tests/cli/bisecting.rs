//! `deadheat bisect`: that it finds the commit that made a server slower, whatever happens on the way. The servers sleep
//! rather than work, and differ by far more than a busy machine moves them.

use std::{fs, path::Path};

use deadheat_model::bisect::{Asks, BisectAnswer, BisectRecord};
use deadheat_runner::session::heats::read_session;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Ended, Fake, Root, Running, eventually, flat, running};

/// Answers one request after the other, each after the time in the file `pause`.
const SERVER: &str = r#"
import os, select, socket, time
pause = float(open("built").read())
listener = socket.create_server((os.environ["HOST"], int(os.environ["PORT"])))
poll, open_ones = select.epoll(), {}
poll.register(listener, select.EPOLLIN)
while True:
    for number, _ in poll.poll():
        if number == listener.fileno():
            one, _ = listener.accept()
            open_ones[one.fileno()] = one
            poll.register(one, select.EPOLLIN)
            continue
        one = open_ones[number]
        if one.recv(65536):
            time.sleep(pause)
            one.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        else:
            poll.unregister(one)
            open_ones.pop(number).close()
"#;
/// Short heats, as many as a verdict needs: on a busy machine, more. With a CPU to itself, the generator would poll, and other
/// tests would have to do without that CPU.
const SHORT: &str =
    "--budget 3m --heat-time 300ms --slice 40ms --guard 10ms --warm-up 60ms --seed 7 --pinning off";

/// A repository with the tag `good` and six commits, 1 to 6. With 4 the server takes four times as long, and 3 does not
/// build.
fn repository() -> Root {
    let root = Root::with(&[]);
    root.write("service/server.py", SERVER);
    root.write("service/pause", "0.002");
    root.git("init -q -b main");
    for number in 0..=6 {
        match number {
            3 => fs::remove_file(root.path().join("service/pause")).expect("deleting a file"),
            4.. => root.write("service/pause", "0.008"),
            _ => {}
        }
        root.write("service/number", &number.to_string());
        root.git("add service");
        root.git(&format!("commit -q -m {number}"));
        if number == 0 {
            root.git("tag good");
        }
    }
    root
}

/// `deadheat bisect` in the folder of the service; `last` is one argument, behind the dashes.
fn start(root: &Root, options: &str, last: &str) -> Running {
    let mut command = running::command(root.path(), "bisect");
    command
        .current_dir(root.path().join("service"))
        .args(options.split_whitespace());
    if !last.is_empty() {
        command.args(["--", last]);
    }
    Running::start_command(root.path(), command, &format!("bisect {options} {last}"))
}

fn record(folder: &Path) -> BisectRecord {
    let text = fs::read_to_string(folder.join("bisect.json")).expect("reading the record");
    serde_json::from_str(&text).expect("a record")
}

/// The folder of the only search.
fn folder(results: &Path) -> std::path::PathBuf {
    let mut folders = fs::read_dir(results).expect("listing results").flatten();
    let folder = folders.next().expect("a search").path();
    assert!(folders.next().is_none(), "there is one search");
    folder
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended}"))
}

#[test]
fn a_search_that_is_killed_goes_on_and_finds_the_commit_beside_one_that_does_not_build() {
    let root = repository();
    let running = start(
        &root,
        &format!("good HEAD -c 2 --build=cp\u{a0}pause\u{a0}built {SHORT}")
            .replace('\u{a0}', "${IFS}"),
        "python3 server.py",
    );
    eventually("a commit is skipped", || {
        running.told().contains("skipped").then_some(())
    });
    running.signal(Signal::KILL);
    running.wait().was_killed_by(9);
    let folder = folder(&root.path().join("service/results"));
    let before = record(&folder).questions;
    assert!(
        matches!(before[..], [ref ends, ref skipped]
            if ends.asks == Asks::Ends && matches!(&skipped.answer, BisectAnswer::Skipped { reason } if reason.contains("pause"))),
        "{before:#?}"
    );
    let ended = start(
        &root,
        &format!("--resume {} --format json", folder.display()),
        "",
    )
    .wait()
    // On a busy machine, the last comparison may be undecided.
    .exits_one_of(&[0, 3]);
    let found = json(&ended);
    let outcome = &found["outcome"];
    assert_eq!(outcome["is"], "found", "{ended}");
    assert_eq!([&outcome["first"], &outcome["last"]], [2, 3], "{ended}");
    assert!(
        found["headline"]
            .as_str()
            .unwrap_or_default()
            .starts_with("One of 2 commits")
    );
    let questions = record(&folder).questions;
    assert_eq!(
        questions[..2],
        before[..],
        "what was decided is not asked again"
    );
    let asked: Vec<Asks> = questions.iter().map(|one| one.asks).collect();
    let commit = |index| Asks::Commit { index };
    let expected = [
        Asks::Ends,
        commit(2),
        commit(3),
        commit(1),
        Asks::Found { first: 2, last: 3 },
    ];
    assert_eq!(asked, expected);
    let sessions = questions.iter().filter_map(|one| one.session.as_ref());
    let mut plans = sessions.map(|one| {
        let session = read_session(&folder.join(one)).expect("reading a session");
        session.header.plan.pinning
    });
    let first = plans.next().expect("a session");
    assert!(
        plans.all(|other| other == first),
        "no session takes CPUs from the next"
    );
    assert_eq!(root.temporary(), Vec::<std::path::PathBuf>::new());
    assert!(
        !root.path().join(".git/worktrees").exists(),
        "the repository is as it was"
    );
    // Once more: there is nothing left to do.
    start(&root, &format!("--resume {}", folder.display()), "")
        .wait()
        .exits(0)
        .says(&["One of 2 commits", "skipped", "vs good"]);
    assert_eq!(record(&folder).questions, questions);
}

#[test]
fn a_stack_is_searched_among_the_commits_that_change_it() {
    let root = Root::with(&[Fake::faulty("fake-one", "unhurried")]);
    root.git("init -q -b main");
    let server = root.path().join("stacks/fake-one/server.py");
    let text = fs::read_to_string(&server).expect("reading the server");
    assert!(text.contains("UNHURRIED = 0.002"));
    for (number, pause) in [(0, "0.002"), (1, "0.002"), (2, "0.002"), (3, "0.01")] {
        if number != 1 {
            let pause = format!("UNHURRIED = {pause}");
            let changed = text.replace("UNHURRIED = 0.002", &pause);
            root.write(
                "stacks/fake-one/server.py",
                &format!("{changed}\n# {number}\n"),
            );
        }
        // 1 changes another folder.
        root.write("workloads/note", &number.to_string());
        root.git("add stacks workloads");
        root.git(&format!("commit -q -m {number}"));
        root.git(&format!("tag v{number}"));
    }
    let search = format!("bisect v0 HEAD fake-one {SHORT} --format json");
    let plan = json(&root.deadheat(&format!("{search} --dry-run")).exits(0));
    let commits = plan["plan"]["commits"].as_array().expect("commits");
    let subjects: Vec<&str> = commits
        .iter()
        .filter_map(|one| one["subject"].as_str())
        .collect();
    assert_eq!(subjects, ["2", "3"], "{plan}");
    assert_eq!(plan["plan"]["steps"], 1);
    root.deadheat(&format!("{search} --dry-run --workload nowhere"))
        .exits(2)
        .tells(&["nowhere"]);
    assert!(!root.path().join("results").exists());
    let ended = root.deadheat(&search).exits(0);
    let outcome = &json(&ended)["outcome"];
    assert_eq!([&outcome["first"], &outcome["last"]], [1, 1], "{ended}");
    assert_eq!(root.temporary(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn what_cannot_be_searched_is_refused_with_the_way_out() {
    let root = repository();
    let cases = [
        (
            "HEAD good",
            "python3 server.py",
            "is not an ancestor of good",
        ),
        ("good nowhere", "python3 server.py", "names no commit"),
        ("good HEAD", "", "STACK, or -- COMMAND"),
        ("good HEAD ./server.py", "", "behind two dashes"),
        (
            "good HEAD --workload json",
            "python3 server.py",
            "--workload has no meaning for a command",
        ),
        ("good HEAD", "python3 server.py && true", "for a shell"),
        // Before anything is checked out.
        (
            "good HEAD --dry-run --insecure",
            "python3 server.py",
            "this is for TLS",
        ),
        (
            "good HEAD --budget 5s",
            "python3 server.py",
            "--budget 5s: a heat takes about",
        ),
        (
            "--resume results/none",
            "",
            "reading results/none/bisect.json",
        ),
        (
            "--resume results/none --heats 3",
            "",
            "--heats cannot be used with --resume",
        ),
    ];
    for (options, command, said) in cases {
        let ended = start(&root, options, command).wait().exits(2);
        assert!(
            flat(&ended.stderr).contains(said),
            "{options} -- {command}: {ended}"
        );
    }
    // An end that cannot be measured is no commit to skip.
    let ended = start(
        &root,
        &format!("good HEAD~3 --build false {SHORT}"),
        "python3 server.py",
    )
    .wait()
    .exits(3);
    let told = flat(&ended.stderr);
    assert!(told.contains("the good end cannot be measured"), "{ended}");
    assert!(told.contains("deadheat bisect --resume"), "{ended}");
}

#[test]
fn no_secret_of_a_request_is_recorded() {
    let root = repository();
    let options = format!("good HEAD {SHORT} -H X-Token:s3cret");
    let ended = start(&root, &options, "false").wait();
    assert_ne!(ended.status_code(), Some(0), "{ended}");
    let told = flat(&ended.stderr);
    assert!(told.contains("secrets among the arguments"), "{ended}");
    assert!(!told.contains("--resume"), "{ended}");
    let results = root.path().join("service/results");
    let mut folders = vec![results];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)
            .expect("reading the records")
            .flatten()
        {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files += 1;
                let text = fs::read_to_string(&path).expect("reading a record");
                assert!(!text.contains("s3cret"), "{}", path.display());
            }
        }
    }
    assert!(files > 0, "{ended}");
}
