//! The templates for Slurm and Kubernetes. The commands of the manifest run in a shell, with a kubectl of the test's own
//! that starts programs of pods on this machine.

use std::{collections::BTreeMap, env, fs, path::Path, process::Command, time::Duration};

use yaml_rust2::{Yaml, YamlLoader};

use crate::support::{Fake, Root, Running, root::project, running::script};

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

/// The manifest for Kubernetes.
fn manifest() -> String {
    let path = project().join("templates/kubernetes.yaml");
    fs::read_to_string(path).expect("reading the manifest")
}

#[test]
fn the_commands_of_the_manifest_run_a_session_and_fetch_its_results() {
    let root = Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    let manifest = manifest();
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
    let quick = "--heats 2 --whole-budget --heat-time 300ms --slice 40ms --guard 5ms --warm-up 50ms --rate none";
    let commands = manifest.lines();
    let commands = commands.filter_map(|line| line.strip_prefix("#     "));
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
    let program = Path::new(env!("CARGO_BIN_EXE_deadheat")).parent();
    let programs = program.expect("a folder").display();
    command
        .env(
            "PATH",
            format!("{root_path}/bin:{root_path}/pod/bin:{programs}:{path}"),
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

fn texts(list: &Yaml) -> Vec<&str> {
    let list = list.as_vec().unwrap_or_else(|| panic!("a list: {list:?}"));
    list.iter()
        .map(|one| one.as_str().expect("a text"))
        .collect()
}

#[test]
fn every_pod_has_a_node_and_whole_cpus_and_only_the_servers_pod_may_reach_the_others() {
    let documents = YamlLoader::load_from_str(&manifest()).expect("YAML");
    let kind = |kind: &str| {
        let all = documents.iter();
        all.filter(|one| one["kind"].as_str() == Some(kind))
            .map(|one| (one["metadata"]["name"].as_str().expect("a name"), one))
            .collect::<BTreeMap<&str, &Yaml>>()
    };
    let mut others = Vec::new();
    for (name, pod) in kind("Pod") {
        let spec = &pod["spec"];
        let is_server = name == "deadheat-server";
        let has_token = spec["automountServiceAccountToken"].as_bool();
        assert_eq!(has_token, Some(is_server), "{name}");
        if !is_server {
            others.push(name);
        }
        // All of them have the label that keeps them apart.
        let apart = &spec["affinity"]["podAntiAffinity"];
        let apart = &apart["requiredDuringSchedulingIgnoredDuringExecution"][0];
        let key = apart["topologyKey"].as_str();
        assert_eq!(key, Some("kubernetes.io/hostname"), "{name}");
        let label = "app.kubernetes.io/name";
        let selected = &apart["labelSelector"]["matchLabels"][label];
        assert_eq!(selected.as_str(), Some("deadheat"), "{name}");
        assert_eq!(&pod["metadata"]["labels"][label], selected, "{name}");
        // Guaranteed, which CPUs of its own need: requests are limits, and CPUs are whole.
        let resources = &spec["containers"][0]["resources"];
        assert_eq!(resources["requests"], resources["limits"], "{name}");
        let cpus = resources["limits"]["cpu"].as_str().map(str::parse::<u32>);
        assert!(matches!(cpus, Some(Ok(_))), "{name}");
    }
    for rule in kind("Role")["deadheat"]["rules"].as_vec().expect("rules") {
        let mut named = texts(&rule["resourceNames"]);
        named.sort_unstable();
        assert_eq!(named, others, "{rule:?}");
    }
}

#[test]
fn the_script_for_slurm_runs_a_session_with_its_arguments() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let slurm = project().join("templates/slurm.sh");
    let run = |options: &str| {
        let line = format!("{} {options}", slurm.display());
        let mut command = script(root.path(), &line);
        command.env("DEADHEAT", env!("CARGO_BIN_EXE_deadheat"));
        Running::start_command(root.path(), command, &line).wait()
    };
    run("--stack 'fake-*' --workload plaintext")
        .exits(2)
        .tells(&["this is not a job of Slurm"]);
    run("--no-such-option").exits(2).tells(&["no-such-option"]);
}
