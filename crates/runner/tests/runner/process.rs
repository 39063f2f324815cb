//! Child processes end whole, whatever they do and however Deadheat ends.

use std::{fs, io::Write, path::Path, time::Duration};

use deadheat_runner::process::{
    Spawn, Supervised, Supervision, TempFolder, descendants, log_tail, read_stat,
};
use deadheat_testkit::{eventually, not_tested, wait_until};

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
        grace: Some(Duration::from_secs(5)),
        unhurried: false,
        remove_after: None,
    }
}

pub(crate) fn is_alive(pid: u32) -> bool {
    read_stat(pid).is_some_and(|stat| stat.state != b'Z')
}

pub(crate) fn read_pid(path: &Path) -> u32 {
    eventually("a pid file", || {
        fs::read_to_string(path).ok()?.trim().parse().ok()
    })
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
    spec.grace = Some(Duration::from_millis(300));
    let mut child = Supervised::spawn(&supervision(), &spec).unwrap();
    wait_until("the trap is set", || !log_tail(&spec.log, 1).is_empty());
    let pid = child.pid();
    let stopped = child.stop().unwrap();
    assert!(stopped.ignored_signal && stopped.killed >= 1, "{stopped:?}");
    assert!(!is_alive(pid));
}

#[test]
fn somebody_who_waits_does_not_wait_for_the_grace() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = shell(
        folder.path(),
        "trap '' TERM; echo up; while :; do sleep 1; done",
    );
    // Longer than any test may take.
    spec.grace = Some(Duration::from_secs(3_600));
    let mut child = Supervised::spawn(&supervision(), &spec).unwrap();
    wait_until("the trap is set", || !log_tail(&spec.log, 1).is_empty());
    let stopped = child.stop_soon().unwrap();
    assert!(stopped.ignored_signal && stopped.killed >= 1, "{stopped:?}");
    assert!(!is_alive(child.pid()));
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
    wait_until("the sleeping grandchild", || descendants(parent).len() >= 2);
    let tree: Vec<u32> = descendants(parent).iter().map(|stat| stat.pid).collect();
    // The whole process group of the owner is killed; the supervisor has left it.
    let killed = std::process::Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", owner.id())])
        .status()
        .unwrap();
    assert!(killed.success());
    owner.wait().unwrap();
    wait_until("nothing of the tree is left", || {
        !tree.iter().any(|pid| is_alive(*pid))
    });
    wait_until("the folder is gone", || !doomed.exists());
    wait_until("the supervisor is gone", || !is_alive(parent));
}

/// Starts `script` and a daemon of it that has forked twice and left group and session; the daemon's process.
fn with_daemon(folder: &Path, script: &str) -> (Supervised, u32) {
    let daemon = "(setsid sh -c 'trap \"\" TERM; echo $$ > daemon.new; mv daemon.new daemon.pid; \
                  while :; do sleep 1; done' &) ;";
    let spec = shell(folder, &format!("{daemon} {script}"));
    let child = Supervised::spawn(&supervision(), &spec).unwrap();
    (child, read_pid(&folder.join("daemon.pid")))
}

pub(crate) fn signal(signal: i32, pid: u32) {
    let status = std::process::Command::new("kill")
        .args([format!("-{signal}"), pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn a_supervisor_that_is_killed_leaves_no_daemon_where_there_are_control_groups() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, daemon) = with_daemon(folder.path(), "sleep 300");
    let main = child.pid();
    let group = child.group().cloned();
    signal(libc::SIGKILL, child.supervisor_pid());
    if group.is_none() {
        signal(libc::SIGKILL, daemon);
        return not_tested("a killed supervisor", "no control group can be made");
    }
    // Nobody asks for it: Deadheat sees that the supervisor is gone.
    wait_until("the daemon's end", || !is_alive(daemon) && !is_alive(main));
    let error = child.stop().unwrap_err().to_string();
    assert!(
        error.ends_with("; its child processes were killed"),
        "{error}"
    );
}

#[test]
fn a_server_that_kills_its_supervisor_does_not_survive_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, daemon) = with_daemon(
        folder.path(),
        "while [ ! -e daemon.pid ]; do sleep 0.01; done; kill -9 $PPID; sleep 300",
    );
    if child.group().is_none() {
        signal(libc::SIGKILL, daemon);
        return not_tested("a killed supervisor", "no control group can be made");
    }
    wait_until("the daemon's end", || !is_alive(daemon));
    assert!(child.stop().is_err());
}

#[test]
fn a_log_keeps_its_beginning_and_its_end_and_nobody_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let spec = shell(
        folder.path(),
        "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last",
    );
    let mut child = Supervised::spawn(&supervision(), &spec).unwrap();
    let exit = child.wait_exit(Duration::from_secs(30));
    assert_eq!(exit.as_deref(), Some("exited with status 0"));
    // All that it wrote is there when its end is told.
    assert_eq!(child.log_tail(1), ["last"]);
    let log = fs::read_to_string(&spec.log).unwrap();
    assert!(log.len() < 9 << 20, "{} bytes", log.len());
    assert!(log.starts_with("first\nxxx"));
    assert!(
        log.contains("[deadheat: "),
        "it says that something is left out"
    );
}

/// One that is asked to end and never killed: it notes that it was asked, and works on until `go` is there.
fn installation(folder: &Path) -> Spawn {
    let mut spec = shell(
        folder,
        "trap 'echo > asked' INT TERM; echo $$ > main.new; mv main.new main.pid; \
         for i in $(seq 3000); do [ -e go ] && break; sleep 0.02; done; echo configured; echo > finished",
    );
    (spec.grace, spec.stop_signal) = (None, libc::SIGINT);
    spec
}

#[test]
fn an_installation_ends_by_itself_when_the_owner_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // Started by a shell that ignores Ctrl-C, as it does for what runs in a script's background: the installation is
    // asked to end all the same.
    let mut supervisor = std::process::Command::new("sh")
        .args(["-c", "trap '' INT; exec \"$0\" \"$1\""])
        .args([env!("CARGO_BIN_EXE_runner-child"), Supervision::COMMAND])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut lifeline = supervisor.stdin.take().unwrap();
    let line = serde_json::to_string(&installation(folder.path())).unwrap();
    writeln!(lifeline, "{line}").unwrap();
    read_pid(&path("main.pid"));
    drop(lifeline);
    wait_until("it is asked to end", || path("asked").exists());
    // Longer than what is left behind may live otherwise.
    std::thread::sleep(Duration::from_millis(1200));
    fs::write(path("go"), "").unwrap();
    supervisor.wait().unwrap();
    assert!(path("finished").exists());
}

#[test]
fn an_installation_goes_on_when_its_supervisor_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let spec = installation(folder.path());
    let mut child = Supervised::spawn(&supervision(), &spec).unwrap();
    read_pid(&path("main.pid"));
    signal(libc::SIGKILL, child.supervisor_pid());
    let error = child.stop().unwrap_err().to_string();
    assert!(error.contains("may still run"), "{error}");
    fs::write(path("go"), "").unwrap();
    wait_until("its end", || path("finished").exists());
    assert_eq!(log_tail(&spec.log, 1), ["configured"]);
}

/// As sudo's: a process of root's under a supervisor that is not.
#[test]
fn one_that_may_not_be_killed_is_named() {
    if !deadheat_runner::process::is_root() {
        return not_tested(
            "processes that may not be killed",
            "it takes root to have one",
        );
    }
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    allow(folder.path(), 0o777).unwrap();
    // Nobody may look into the folder of the build.
    let (child, setpriv) = (folder.path().join("child"), folder.path().join("setpriv"));
    fs::copy(env!("CARGO_BIN_EXE_runner-child"), &child).unwrap();
    fs::copy("/usr/bin/setpriv", &setpriv).unwrap();
    allow(&child, 0o755).unwrap();
    allow(&setpriv, 0o4755).unwrap();
    let supervision = Supervision {
        program: "setpriv".into(),
        args: ["--reuid=65534", "--regid=65534", "--clear-groups"]
            .map(str::to_owned)
            .into_iter()
            .chain([child.display().to_string(), Supervision::COMMAND.to_owned()])
            .collect(),
    };
    let mut spec = shell(folder.path(), "exec ./setpriv --reuid=0 sleep 300");
    spec.grace = Some(Duration::from_millis(10));
    let mut child = Supervised::spawn(&supervision, &spec).unwrap();
    let name = || fs::read_to_string(format!("/proc/{}/comm", child.pid()));
    wait_until("root's sleep", || {
        name().is_ok_and(|name| name == "sleep\n")
    });
    let error = child.stop().unwrap_err().to_string();
    let pid = child.pid();
    assert!(is_alive(pid));
    signal(libc::SIGKILL, pid);
    let named = format!("these processes still run and cannot be killed: {pid} (sleep)");
    assert!(error.ends_with(&named), "{error}");
}

#[test]
fn only_declared_variables_are_inherited_and_the_number_of_open_files_is_the_same_for_all() {
    // cargo sets it for this test, and no list has it.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let folder = tempfile::tempdir().unwrap();
    let script = "env; grep -h 'Max open files' /proc/self/limits";
    let mut child = Supervised::spawn(&supervision(), &shell(folder.path(), script)).unwrap();
    child.wait_exit(Duration::from_secs(30));
    let log = child.log_tail(1000);
    let has = |name: &str| log.iter().any(|line| line.starts_with(&format!("{name}=")));
    assert!(has("PATH") && has("DEADHEAT_TEST"), "{log:?}");
    assert!(!has("CARGO_MANIFEST_DIR"), "{log:?}");
    let limits: Vec<&str> = log.last().unwrap().split_whitespace().collect();
    let hard = limits[4].parse().unwrap_or(u64::MAX);
    assert_eq!(limits[3], hard.min(65_536).to_string(), "{limits:?}");
}

#[test]
fn it_runs_on_the_cpus_that_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let seen_on = |cpu: usize| {
        let mut spec = shell(folder.path(), "grep Cpus_allowed_list /proc/self/status");
        spec.cpus = Some(vec![cpu]);
        let mut child = Supervised::spawn(&supervision(), &spec).ok()?;
        child.wait_exit(Duration::from_secs(30));
        let log = child.log_tail(1).join("");
        log.split_whitespace().last()?.parse().ok()
    };
    for cpu in deadheat_runner::process::usable_cpus() {
        assert_eq!(seen_on(cpu), Some(cpu));
    }
    // On a machine with one CPU that says nothing, so one that no machine has is asked for, too.
    let last_of_all = libc::CPU_SETSIZE as usize - 1;
    assert_eq!(seen_on(last_of_all), None, "it ran all the same");
}

#[test]
fn a_temporary_folder_goes_when_nobody_works_in_it_any_more_or_stays_if_it_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let mut kept = TempFolder::create("deadheat-test-", &supervision()).unwrap();
    let path = kept.path().to_owned();
    fs::write(path.join("file"), "here").unwrap();
    // What still works there needs its files for its end.
    let script = format!("echo > begun; sleep 1; cat file > {}", seen.display());
    let mut worker = std::process::Command::new("sh");
    let worker = worker.args(["-c", &script]).current_dir(&path);
    let mut worker = worker.spawn().unwrap();
    wait_until("a worker", || path.join("begun").exists());
    kept.remove().unwrap();
    assert!(worker.wait().unwrap().success());
    assert_eq!(fs::read_to_string(&seen).unwrap(), "here");
    assert!(!path.exists());

    let kept = TempFolder::create("deadheat-test-", &supervision()).unwrap();
    let path = kept.keep().unwrap();
    assert!(path.is_dir());
    fs::remove_dir(&path).unwrap();
}

#[test]
fn a_child_whose_end_is_not_hurried_has_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "trap 'sleep 1; echo > ended; exit' TERM; echo > begun; while :; do sleep 0.1; done";
    let mut spec = shell(folder.path(), script);
    spec.grace = Some(Duration::from_secs(60));
    spec.unhurried = true;
    let mut child = Supervised::spawn(&supervision(), &spec).unwrap();
    wait_until("a child", || folder.path().join("begun").exists());
    let stopped = child.stop_soon().unwrap();
    assert_eq!(stopped.killed, 0, "{stopped:?}");
    assert!(folder.path().join("ended").exists());
}

#[test]
fn shared_memory_of_a_child_whose_end_is_not_hurried_goes_with_it_even_if_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let segment = format!("/dev/shm/deadheat-test-{}", std::process::id());
    let script = format!(
        "exec python3 -c 'import mmap, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
         file = open(\"{segment}\", \"w+b\"); file.truncate(4096); shared = mmap.mmap(file.fileno(), 4096)\n\
         open(\"begun\", \"w\"); time.sleep(600)'"
    );
    let mut spec = shell(folder.path(), &script);
    spec.grace = Some(Duration::from_millis(100));
    spec.unhurried = true;
    let mut child = Supervised::spawn(&supervision(), &spec).unwrap();
    wait_until("a child", || folder.path().join("begun").exists());
    assert!(Path::new(&segment).exists());
    let stopped = child.stop().unwrap();
    assert_eq!(stopped.killed, 1, "{stopped:?}");
    assert!(!Path::new(&segment).exists());
}
