//! `deadheat run --generator`: a session whose load comes from agents. Here "hosts" are processes of this machine, each
//! reached by a script of its own.

use std::{fs, time::Duration};

use deadheat_model::heats::EndReason;
use rustix::process::Signal;

use crate::support::{
    Fake, Root, Running, eventually,
    processes::{self, Processes},
    running::command,
};

const AGENT: &str = env!("CARGO_BIN_EXE_deadheat");
/// Starts the program as it is.
const HERE: &str = "exec \"$@\"";
/// As in `load_hosts`.
const BOUND: Duration = Duration::from_secs(20);

fn root() -> Root {
    let root = Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    for host in ["a", "b"] {
        reached(&root, host, HERE);
    }
    root
}

/// From now on a host is reached by this script.
fn reached(root: &Root, host: &str, script: &str) {
    root.write_program(&format!("reach-{host}"), script);
}

fn options(root: &Root, more: &str) -> String {
    format!(
        "--generator a --generator b --launcher {}/reach-{{host}} --agent {AGENT} --address 127.0.0.1 {more}",
        root.path().display()
    )
}

/// The agents of a session, which are children of its process.
fn agents(running: u32) -> Processes {
    let mut all = processes::tree(running);
    all.retain(|pid, command| *pid != running && command.ends_with("deadheat agent"));
    all
}

#[test]
fn two_hosts_load_the_servers_of_a_session() {
    let root = root();
    let plan = root.run(&options(&root, "--dry-run"));
    let plan = plan.exits(0).stdout;
    assert!(
        plan.contains("loaded from a and b, an equal share each"),
        "the plan names the hosts: {plan}"
    );
    root.run(&options(&root, "--heats 2")).exits(0).says(&[
        "fake-one",
        "fake-two",
        "loaded from 2 other hosts",
    ]);
    let session = root.session();
    session.assert_measured("fake-one");
    session.assert_measured("fake-two");
    let header = &session.record.header;
    let hosts = header.hosts.iter().map(|one| one.host.as_str());
    assert_eq!(hosts.collect::<Vec<_>>(), ["a", "b"]);
    assert!(header.hosts.iter().all(|one| !one.machine.cpus.is_empty()));
    let (mut timed, mut answers) = (0, 0);
    for heat in &session.record.heats {
        for slice in heat.heat.rounds.iter().flatten() {
            let window = slice.window.as_secs_f64();
            // On a busy machine, a server may not get a CPU in a slice.
            answers += slice.tally.succeeded;
            assert!(matches!(slice.generator.host, Some(0 | 1)));
            // The server's time is taken when the hosts begin and stop counting, by this machine's clock; where a host
            // came too late for that, there is none.
            if let Some(cpu) = slice.cpu {
                timed += 1;
                assert!(
                    (cpu.span_seconds - window).abs() < 0.15 * window,
                    "{} s of CPU time for a window of {window} s",
                    cpu.span_seconds
                );
            }
        }
    }
    assert!(answers > 0);
    assert!(timed > 0, "no slice has the server's CPU time");
    root.assert_nothing_runs(BOUND, "a session");
}

#[test]
fn a_file_names_the_hosts_and_options_take_precedence() {
    let root = root();
    let file = format!(
        "generator = [\"a\", \"b\"]\nlauncher = \"{}/reach-{{host}}\"\nagent = \"{AGENT}\"\naddress = \"127.0.0.1\"\n",
        root.path().display()
    );
    root.write("hosts.toml", &file);
    let plan = root.run("--hosts hosts.toml --generator b --dry-run");
    plan.exits(0)
        .says(&["hosts     loaded from b; servers listen on 127.0.0.1"]);
    root.run("--hosts hosts.toml")
        .exits(0)
        .says(&["loaded from 2 other hosts"]);
    let header = root.session().record.header;
    let hosts = header.hosts.iter().map(|one| one.host.as_str());
    assert_eq!(hosts.collect::<Vec<_>>(), ["a", "b"]);
    root.assert_nothing_runs(BOUND, "a session");
    root.write("hosts.toml", &format!("{file}generators = [\"c\"]\n"));
    let mistakes = ["unknown key `generators`", "hosts.toml:5:1"];
    root.run("--hosts hosts.toml").exits(2).tells(&mistakes);
    root.deadheat("compare fake-one fake-two --hosts hosts.toml --dry-run")
        .exits(2)
        .tells(&mistakes);
}

#[test]
fn a_heat_that_loses_a_host_counts_for_nothing_and_the_session_goes_on() {
    let root = root();
    let running = root.start_run(&options(&root, "--heats 3 --heat-time 400ms"));
    root.wait_for_lines(1);
    let (pid, _) = eventually("an agent", || agents(running.pid()).pop_last());
    processes::signal(pid, Signal::KILL);
    running
        .wait()
        .exits(0)
        .says(&["1 heat counts for nothing", "the connection was"]);
    let record = root.session().record;
    assert_eq!(record.end, Some(EndReason::Finished));
    assert_eq!(record.complete_heats(0).count(), 3);
    let lost: Vec<_> = record
        .heats
        .iter()
        .filter(|one| one.heat.lost.is_some())
        .collect();
    let [lost] = lost[..] else {
        panic!("{} heats lost a host", lost.len());
    };
    assert!(!lost.is_complete());
    root.assert_nothing_runs(BOUND, "a session");
}

#[test]
fn a_host_that_stays_away_ends_the_session_which_can_go_on_later() {
    let root = root();
    let running = root.start_run(&options(&root, "--heats 3 --heat-time 400ms"));
    root.wait_for_lines(1);
    reached(&root, "b", "echo no route to it >&2; exit 255");
    let ours = agents(running.pid());
    assert_eq!(ours.len(), 2, "{ours:?}");
    for pid in ours.into_keys() {
        processes::signal(pid, Signal::KILL);
    }
    running
        .wait()
        .exits(0)
        .says(&["A host or a service was lost and could not be reached again"])
        .tells(&["host b: ", "no route to it"]);
    let session = root.session();
    assert_eq!(session.record.end, Some(EndReason::Lost));
    let resume = format!("run --resume {}", session.folder.display());
    root.deadheat(&resume).exits(3).tells(&["no route to it"]);
    reached(&root, "b", HERE);
    root.deadheat(&resume).exits(0);
    let record = root.session().record;
    assert_eq!(record.end, Some(EndReason::Finished));
    assert_eq!(record.complete_heats(0).count(), 3);
    root.assert_nothing_runs(BOUND, "a session");
}

#[test]
fn a_host_that_cannot_be_reached_is_named_before_anything_is_built() {
    let root = root();
    reached(&root, "b", "echo no route to it >&2; exit 255");
    root.run(&options(&root, ""))
        .exits(3)
        .tells(&["host b: ", "no route to it"]);
    root.assert_nothing_runs(BOUND, "a session that did not begin");
}

#[test]
fn a_database_on_another_host_is_named_and_ends_with_the_session() {
    let root = Root::with(&[Fake::good("fake-one").claiming(&["plaintext", "users"])]);
    root.copy_workload("users");
    reached(&root, "db", HERE);
    let options = format!(
        "--workload plaintext --workload users --database db=127.0.0.1 --launcher {}/reach-{{host}} --agent {AGENT}",
        root.path().display()
    );
    // It answers no users.
    root.run(&options)
        .exits(1)
        .says(&["fake-one", "database on another host"])
        .tells(&["database on db, which listens on 127.0.0.1"]);
    let header = root.session().record.header;
    let database = header.postgres.expect("a database");
    assert!(database.ends_with(" on db"), "{database}");
    assert_eq!(header.hosts.len(), 1);
    root.assert_nothing_runs(BOUND, "a session");
}

#[test]
fn a_session_is_loaded_from_pods() {
    let root = root();
    // Its arguments are `exec --stdin POD -- PROGRAM …`.
    root.write_program(
        "bin/kubectl",
        "[ \"$1 $2 $4\" = 'exec --stdin --' ] || exit 9; echo \"$3\" >> pods; shift 4; exec \"$@\"",
    );
    let args = "run --heats 2 --heat-time 300ms --slice 40ms --guard 5ms --warm-up 50ms --rate none --whole-budget \
                --launcher kubectl --generator a --address 127.0.0.1";
    let mut command = command(root.path(), args);
    let path = std::env::var("PATH").unwrap_or_default();
    let bin = root.path().join("bin");
    command.env("PATH", format!("{}:{path}", bin.display()));
    command.env("XDG_CACHE_HOME", root.path().join("cache"));
    Running::start_command(root.path(), command, args)
        .wait()
        .exits(0)
        .says(&["fake-one", "fake-two", "loaded from 1 other host"]);
    root.session().assert_measured("fake-one");
    let pods = fs::read_to_string(root.path().join("pods"));
    assert_eq!(pods.expect("the pods that were asked for"), "a\n");
    root.assert_nothing_runs(BOUND, "a session");
}
