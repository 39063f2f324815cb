//! `deadheat kubernetes-manifest`: its commands, in a shell, with a kubectl of the test's own that starts programs of pods
//! on this machine.

use std::{env, fs, process::Command, time::Duration};

use crate::support::{Fake, Root, Running, running::script};

/// As in `load_hosts`.
const BOUND: Duration = Duration::from_secs(20);
/// What it does with the arguments that kubectl would get.
const KUBECTL: &str = r#"echo "$1" >> "$CALLS"
case $1 in
  apply | wait | delete) ;;
  get) echo 127.0.0.1 ;;
  cp) cp -r "${2#deadheat-server:}" "${3#deadheat-server:}" ;;
  exec) while [ "$1" != -- ]; do shift; done; shift; exec "$@" ;;
  *) exit 9 ;;
esac"#;

#[test]
fn the_commands_of_a_manifest_run_a_session_and_fetch_its_results() {
    let root = Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    let printed = root.deadheat("kubernetes-manifest --generators 2 --database");
    let printed = printed.exits(0).stdout;
    root.write_program("bin/kubectl", KUBECTL);
    root.write(".gitignore", "/pod/\n/tmp/\n/bin/\n");
    root.write("pod/bin/empty", "");
    let git = Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(root.path())
        .status();
    assert!(git.expect("starting git").success());
    // Folders of a pod are folders of the test, and the session is short.
    let pod = root.path().join("pod");
    let project = format!("{}/project", pod.display());
    let quick = "--heats 2 --whole-budget --heat-time 300ms --slice 40ms --guard 5ms --warm-up 50ms --latency off";
    let commands = printed.lines().filter_map(|line| line.strip_prefix("#   "));
    let commands = commands
        .collect::<Vec<_>>()
        .join("\n")
        .replace("/usr/local/bin", &pod.join("bin").display().to_string())
        .replace(" /deadheat", &format!(" {project}"))
        .replace(":/deadheat/", &format!(":{project}/"))
        .replace("--setup", quick);
    let mut command = script(root.path(), &commands);
    let path = env::var("PATH").unwrap_or_default();
    let root_path = root.path().display();
    command
        .env(
            "PATH",
            format!("{root_path}/bin:{root_path}/pod/bin:{path}"),
        )
        .env("XDG_CACHE_HOME", pod.join("cache"))
        .env("CALLS", root.path().join("calls"))
        .env("POD_IP", "127.0.0.1");
    Running::start_command(root.path(), command, &commands)
        .wait()
        .exits(0)
        .says(&[
            "fake-one",
            "fake-two",
            "loaded from 2 other hosts, database on another host",
        ]);
    root.session().assert_measured("fake-one");
    let header = root.session().record.header;
    let hosts = header.hosts.iter().map(|one| one.host.as_str());
    let expected = [
        "deadheat-generator-1",
        "deadheat-generator-2",
        "deadheat-database",
    ];
    assert_eq!(hosts.collect::<Vec<_>>(), expected);
    let calls = fs::read_to_string(root.path().join("calls")).expect("the calls of kubectl");
    assert_eq!(
        calls.split_whitespace().collect::<Vec<_>>(),
        [
            "apply", "wait", "exec", "exec", "exec", "exec", "get", "exec", "exec", "exec", "cp",
            "delete"
        ]
    );
    root.assert_nothing_runs(BOUND, "a session");
}
