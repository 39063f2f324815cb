//! Child processes end whole, whatever they do and however Deadheat ends.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use deadheat_runner::process::{Spawn, Supervised, Supervision, descendants, log_tail, read_stat};

pub(crate) fn supervision() -> Supervision {
    Supervision::by(env!("CARGO_BIN_EXE_runner-child"))
}

pub(crate) fn shell(folder: &Path, script: &str) -> Spawn {
    Spawn {
        name: "a shell".to_owned(),
        program: "sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        env: vec![("DEADHEAT_TEST".to_owned(), "yes".to_owned())],
        cwd: folder.to_owned(),
        cpus: None,
        log: folder.join("log"),
        user: None,
        stop_signal: libc::SIGTERM,
        grace: Duration::from_secs(5),
        remove_after: None,
    }
}

/// Waits for a condition that a process brings about; the bound only ends a broken test.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < until, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_alive(pid: u32) -> bool {
    read_stat(pid).is_some_and(|stat| stat.state != b'Z')
}

pub(crate) fn read_pid(path: &Path) -> u32 {
    let mut pid = None;
    eventually("a pid file", || {
        pid = fs::read_to_string(path)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        pid.is_some()
    });
    pid.unwrap()
}

#[test]
fn environment_log_and_exit_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let spec = shell(folder.path(), "echo env=$DEADHEAT_TEST; exit 3");
    let mut child = Supervised::spawn(&supervision(), &spec).unwrap();
    let exit = child.wait_exit(Duration::from_secs(30));
    assert_eq!(exit.as_deref(), Some("exited with status 3"));
    assert_eq!(child.log_tail(5), ["env=yes"]);
    assert_eq!(child.stop().unwrap().killed, 0);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = shell(folder.path(), "");
    spec.program = "./no-such-server".into();
    let error = Supervised::spawn(&supervision(), &spec)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no-such-server") && error.contains("deadheat setup"),
        "{error}"
    );
}

#[test]
fn one_that_ignores_sigterm_is_killed_after_the_grace() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = shell(
        folder.path(),
        "trap '' TERM; echo up; while :; do sleep 1; done",
    );
    spec.grace = Duration::from_millis(300);
    let mut child = Supervised::spawn(&supervision(), &spec).unwrap();
    eventually("the trap is set", || !log_tail(&spec.log, 1).is_empty());
    let pid = child.pid();
    let stopped = child.stop().unwrap();
    assert!(stopped.ignored_signal && stopped.killed >= 1, "{stopped:?}");
    assert!(!is_alive(pid));
}

#[test]
fn one_that_does_nothing_about_signals_ends_at_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = shell(folder.path(), "");
    (spec.program, spec.args) = ("sleep".into(), vec!["300".to_owned()]);
    let mut child = Supervised::spawn(&supervision(), &spec).unwrap();
    let stopped = child.stop().unwrap();
    assert!(
        !stopped.ignored_signal && stopped.killed == 0,
        "{stopped:?}"
    );
    assert_eq!(child.exit().as_deref(), Some("was ended by SIGTERM"));
}

#[test]
fn a_daemon_that_forked_twice_is_found_and_ended() {
    let folder = tempfile::tempdir().unwrap();
    let spec = shell(
        folder.path(),
        "(setsid sh -c 'trap \"\" TERM; echo $$ > daemon.pid; while :; do sleep 1; done' &) ; sleep 300",
    );
    let mut child = Supervised::spawn(&supervision(), &spec).unwrap();
    let daemon = read_pid(&folder.path().join("daemon.pid"));
    let tree: Vec<u32> = descendants(child.supervisor_pid())
        .iter()
        .map(|stat| stat.pid)
        .collect();
    assert!(
        tree.contains(&daemon),
        "the daemon {daemon} belongs to the tree {tree:?}"
    );
    let stopped = child.stop().unwrap();
    assert!(stopped.left_behind >= 1, "{stopped:?}");
    assert!(!is_alive(daemon));
}

#[test]
fn the_tree_ends_and_the_folder_goes_when_the_owner_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let doomed = folder.path().join("doomed");
    fs::create_dir(&doomed).unwrap();
    let mut spec = shell(
        folder.path(),
        "echo $$ > main.pid; (setsid sleep 300 &); sleep 300",
    );
    spec.remove_after = Some(doomed.clone());
    let mut line = serde_json::to_string(&spec).unwrap();
    line.push('\n');
    // This test's own stand-in for a Deadheat that is killed: a shell that holds the pipe's other end.
    fs::write(folder.path().join("spec"), line).unwrap();
    let script = format!(
        "(cat spec; sleep 300) | {} __supervise > status & echo $! > owner.pid; wait",
        env!("CARGO_BIN_EXE_runner-child")
    );
    let mut owner = {
        use std::os::unix::process::CommandExt;
        std::process::Command::new("sh")
            .args(["-c", &script])
            .current_dir(folder.path())
            .process_group(0)
            .spawn()
            .unwrap()
    };
    let main = read_pid(&folder.path().join("main.pid"));
    let parent = read_stat(main).unwrap().parent;
    eventually("the sleeping grandchild", || descendants(parent).len() >= 2);
    let tree: Vec<u32> = descendants(parent).iter().map(|stat| stat.pid).collect();
    // The whole process group of the owner is killed; the supervisor has left it.
    let killed = std::process::Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", owner.id())])
        .status()
        .unwrap();
    assert!(killed.success());
    owner.wait().unwrap();
    eventually("nothing of the tree is left", || {
        !tree.iter().any(|pid| is_alive(*pid))
    });
    eventually("the folder is gone", || !doomed.exists());
    eventually("the supervisor is gone", || !is_alive(parent));
}

#[test]
fn it_runs_on_the_cpus_that_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let cpu = deadheat_runner::process::usable_cpus()[0];
    let mut spec = shell(folder.path(), "grep Cpus_allowed_list /proc/self/status");
    spec.cpus = Some(vec![cpu]);
    let mut child = Supervised::spawn(&supervision(), &spec).unwrap();
    child.wait_exit(Duration::from_secs(30));
    let log = child.log_tail(1).join("");
    assert_eq!(
        log.split_whitespace().last(),
        Some(cpu.to_string().as_str())
    );
}
