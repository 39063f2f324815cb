//! What `cargo xtask` does with processes.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Stops a broken test.
const AT_MOST: Duration = Duration::from_secs(60);

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < AT_MOST, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A cargo that starts a process in a session of its own, writes its number and its own, and works for ten minutes.
const CARGO: &str = r#"#!/bin/sh
setsid sleep 600 &
echo $! $$ >"$PIDS.new"
mv "$PIDS.new" "$PIDS"
sleep 600
"#;

#[test]
fn a_signal_ends_what_a_step_started_and_what_that_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let cargo = folder.path().join("cargo");
    fs::write(&cargo, CARGO).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let pids = folder.path().join("pids");
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("lint")
        .env("CARGO", &cargo)
        .env("PIDS", &pids)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the step did not start", || pids.exists());
    let pid = libc::pid_t::try_from(xtask.id()).unwrap();
    // SAFETY: kill(2) takes two numbers and touches no memory.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGINT) }, 0);
    let output = {
        let status = xtask.wait().unwrap();
        assert_eq!(status.code(), Some(130));
        std::io::read_to_string(xtask.stdout.take().unwrap()).unwrap()
    };
    assert!(output.contains("| ended  | format"), "{output}");
    assert!(!output.contains("==> clippy"), "{output}");
    for pid in fs::read_to_string(&pids).unwrap().split_whitespace() {
        // One that has ended and was not waited for yet is a zombie: Z.
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let has_ended = stat.is_empty() || stat.contains(") Z ");
        assert!(has_ended, "process {pid} still runs: {output}");
    }
}
