//! PostgreSQL that cannot be had: its workload fails with the reason, the others are measured. PostgreSQL that is lost: no
//! stack has failed.

use std::{env, fs, os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

use deadheat_model::{heats::EndReason, session::Phase};
use rustix::process::Signal;

use crate::{
    conformance::{TARGET, copy_with, unless_unavailable},
    support::{Ended, Fake, Recorded, Root, Running, eventually, processes, running},
};

/// What the supervisors may take to end everything on a busy machine.
const BOUND: Duration = Duration::from_secs(15);

/// A stack that answers plaintext, and claims to answer users.
fn root() -> Root {
    let root = Root::with(&[Fake::good("fake-good").claiming(&["plaintext", "users"])]);
    root.copy_workload("users");
    root
}

/// Asserts that plaintext was measured and users could not be, for this reason.
#[track_caller]
fn assert_only_users_failed(root: &Root, ended: Ended, reason: &[&str]) -> Recorded {
    ended.exits(1).tells(&["users: FAILED"]).tells(reason);
    let session = root.session();
    session.assert_measured("fake-good");
    let [failed] = session.target("fake-good").failed_workloads.as_slice() else {
        panic!(
            "one workload should have failed: {:?}",
            session.target("fake-good")
        );
    };
    assert_eq!(
        (failed.workload.as_str(), failed.failure.phase),
        ("users", Phase::Service)
    );
    session.assert_reported(root, reason);
    session
}

#[test]
fn a_server_that_is_not_there() {
    let root = root();
    let url = "postgres://somebody:hunter2@127.0.0.1:1/db";
    let ended = root.run(&format!(
        "--workload plaintext --workload users --postgres {url}"
    ));
    for text in [&ended.stdout, &ended.stderr] {
        assert!(!text.contains("hunter2"), "a password was written: {ended}");
    }
    let reason = [
        "PostgreSQL at 127.0.0.1:1 as somebody",
        "Connection refused",
        "--postgres URL",
    ];
    let session = assert_only_users_failed(&root, ended, &reason);
    for entry in fs::read_dir(&session.folder)
        .expect("listing the session")
        .flatten()
    {
        let path = entry.path();
        let text = fs::read(&path).unwrap_or_default();
        assert!(
            !String::from_utf8_lossy(&text).contains("hunter2"),
            "a password stands in {}",
            path.display()
        );
    }
}

/// Puts `initdb` beside a `postgres` that only says its version, and starts a session that finds them first.
fn start_with(root: &Root, initdb: &str) -> Running {
    let version = "echo 'postgres (PostgreSQL) 99.9'";
    for (name, script) in [("postgres", version), ("initdb", initdb)] {
        root.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        let everybody = fs::Permissions::from_mode(0o755);
        fs::set_permissions(root.path().join("bin").join(name), everybody)
            .expect("making it executable");
    }
    let args = "run --heats 2 --whole-budget --heat-time 200ms --slice 40ms --guard 5ms --warm-up 50ms --rate none --workload \
                plaintext --workload users --postgres installed";
    let mut command = running::command(root.path(), args);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [root.path().join("bin")]
        .into_iter()
        .chain(env::split_paths(&path));
    command.env("PATH", env::join_paths(folders).expect("a PATH"));
    Running::start_command(root.path(), command, args)
}

#[test]
fn binaries_that_do_not_start() {
    let root = root();
    let initdb = "echo 'initdb: no space for a cluster' >&2\nexit 1";
    let ended = start_with(&root, initdb).wait();
    let reason = [
        "PostgreSQL 99.9",
        "initdb",
        "initdb: no space for a cluster",
    ];
    assert_only_users_failed(&root, ended, &reason);
}

#[test]
fn a_kill_while_a_cluster_is_made_leaves_nothing_of_it() {
    let root = root();
    let initdb = "mkdir data; : > data/half; while :; do sleep 1; done";
    let running = start_with(&root, initdb);
    eventually("a cluster that is half made", || {
        let mut folders = root.temporary().into_iter();
        folders.find(|folder| folder.join("data/half").exists())
    });
    running.signal(Signal::KILL);
    running.wait_alone().was_killed_by(9);
    root.assert_nothing_runs(BOUND, "being killed during initdb");
    assert_eq!(root.temporary(), Vec::<PathBuf>::new());
}

#[test]
fn the_server_of_initdb_ends_in_order_and_with_its_files_when_deadheat_is_killed() {
    let root = root();
    // Shared memory, which only the server of initdb can take away. Other children would get less time than this takes.
    let shared = root.path().join("shared");
    fs::create_dir(&shared).expect("making a folder");
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).expect("opening it");
    let segment = shared.join("segment");
    let path = segment.display();
    let initdb = format!(
        ": > {path}\nmkdir data; : > data/half\n\
         (while [ -e /proc/$$ ]; do sleep 0.1; done; sleep 2; [ -e data/half ] && rm {path}) &\nwait"
    );
    let running = start_with(&root, &initdb);
    eventually("a cluster that is half made", || {
        let mut folders = root.temporary().into_iter();
        folders.find(|folder| folder.join("data/half").exists())
    });
    assert!(segment.exists());
    running.signal(Signal::KILL);
    running.wait_alone().was_killed_by(9);
    root.assert_nothing_runs(BOUND, "being killed during initdb");
    assert!(
        !segment.exists(),
        "the server was killed, or its files were deleted"
    );
    assert_eq!(root.temporary(), Vec::<PathBuf>::new());
}

#[test]
fn a_server_that_is_killed_is_no_failure_of_a_stack_and_the_session_can_be_resumed() {
    let root = copy_with(&[]);
    let check = format!("stacks check {TARGET} --workload users");
    let Some(checked) = unless_unavailable(root.deadheat(&check)) else {
        return;
    };
    checked.exits(0);
    let options = "--workload users:c100 --heats 3 --postgres installed";
    let running = root.start_run(&format!("--stack {TARGET} {options}"));
    root.wait_for_lines(1);
    let processes = processes::tree(running.pid());
    let is_server = |command: &&String| command.contains("/postgres -D ");
    let server = processes.iter().find(|(_, command)| is_server(command));
    let (server, _) = server.unwrap_or_else(|| panic!("no PostgreSQL in {processes:#?}"));
    processes::signal(*server, Signal::KILL);
    running.wait().exits(0).says(&[
        "1 heat counts for nothing, because a host or a service was lost: PostgreSQL",
        "SIGKILL",
    ]);
    let session = root.session();
    assert_eq!(session.record.end, Some(EndReason::Lost));
    for heat in session.record.complete_heats(0) {
        let mut failures = heat.members.iter().filter_map(|one| one.failure.as_ref());
        assert_eq!(failures.next(), None);
    }
    let resume = format!("run --resume {}", session.folder.display());
    root.deadheat(&resume).exits(0);
    let record = root.session().record;
    assert_eq!(record.end, Some(EndReason::Finished));
    assert_eq!(record.complete_heats(0).count(), 3);
}
