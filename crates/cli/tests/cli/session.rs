//! What a session keeps when all is well, beside what `heats` asks.

use std::{fs, process::Command, time::Duration};

use deadheat_model::heat::Role;
use serde_json::Value;

use crate::support::{Fake, Root, Running, flat, root::MANY_ROUNDS, running};

fn two_stacks() -> Root {
    Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")])
}

#[test]
fn a_session_is_reported_in_every_format_and_leaves_no_unfinished_file() {
    let root = two_stacks();
    root.run(MANY_ROUNDS)
        .exits(0)
        .says(&["fake-one", "fake-two"]);
    let session = root.session();
    session.assert_measured("fake-one");
    session.assert_measured("fake-two");
    assert_eq!(session.record.header.plan.seed, 1);
    assert_eq!(session.record.header.postgres, None, "no workload needs it");
    session.assert_reported(&root, &["fake-one", "fake-two"]);
    let names = fs::read_dir(&session.folder).expect("reading the session's folder");
    let names = names.map(|entry| entry.expect("a file of the session").file_name());
    let left = names.filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with(".deadheat") || name.starts_with("null-answer")
    });
    assert_eq!(left.count(), 0, "an unfinished file was left");
}

#[test]
fn every_heat_has_processes_of_its_own_and_each_is_asked_to_end() {
    let root = Root::with(&[Fake::good("fake-one")]);
    root.run(MANY_ROUNDS).exits(0);
    root.session().assert_measured("fake-one");
    // One for the check, then one in each of two heats.
    let mut started = root.told("started");
    assert_eq!(started.len(), 3, "{started:?}");
    started.sort_unstable();
    started.dedup();
    assert_eq!(started.len(), 3, "each is another process");
    assert_eq!(root.told("sigterm").len(), 3);
}

#[test]
fn a_session_ends_with_the_program_that_began_it_if_its_file_is_replaced() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let program = root.path().join("deadheat");
    // By a process of its own: one that another test starts at this moment would hold the file open for writing.
    let mut copy = Command::new("cp");
    copy.arg(env!("CARGO_BIN_EXE_deadheat")).arg(&program);
    assert!(copy.status().expect("running cp").success());
    let args = "run --heats 4 --whole-budget --heat-time 300ms --slice 40ms --guard 5ms --warm-up 50ms --seed 1 --rate none \
                --pinning off";
    let command = running::command_of(&program, root.path(), args);
    let running = Running::start_command(root.path(), command, args);
    root.wait_for_lines(1);
    root.write_program("deadheat", "exit 1");
    running.wait().exits(0);
    let session = root.session();
    assert_eq!(session.record.complete(), 4);
    let members = session
        .record
        .heats
        .iter()
        .flat_map(|one| &one.heat.members);
    for member in members.clone() {
        assert!(member.failure.is_none(), "{:?}", member.failure);
    }
    let mut null_servers = members.filter(|member| member.role == Role::Ceiling);
    let null_server = null_servers.next().expect("a heat with the null server");
    assert_eq!(null_server.command[0], "deadheat");
}

#[test]
fn a_seed_that_nobody_chose_is_recorded() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let options = "--heats 2 --whole-budget --heat-time 100ms --slice 40ms --guard 5ms --warm-up 10ms --rate none";
    let ended = root.deadheat(&format!("run {options}")).exits(0);
    let seed = root.session().record.header.plan.seed;
    ended.tells(&[&format!("seed      {seed}")]);
}

#[test]
fn a_slow_start_shows_in_the_time_to_the_first_answer() {
    let root = Root::with(&[
        Fake::good("fake-one"),
        Fake::faulty("fake-slow", "slow-start"),
    ]);
    root.run(MANY_ROUNDS).exits(0);
    let session = root.session();
    session.assert_measured("fake-one");
    session.assert_measured("fake-slow");
    let ready = |stack: &str| session.members_of(stack)[0].ready.expect("it was ready");
    let (one, slow) = (ready("fake-one"), ready("fake-slow"));
    assert!(slow >= Duration::from_secs(1), "{slow:?}");
    assert!(one < slow, "{one:?}");
}

#[test]
fn with_json_standard_output_is_the_report_for_programs_and_nothing_else() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let ended = root.run("--json").exits(0);
    let value: Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("standard output is not one JSON value: {error}: {ended}"));
    assert!(value.is_object(), "{value}");
    let folder = root.session_folder();
    let kept = fs::read_to_string(folder.join("report.json")).expect("reading report.json");
    assert_eq!(
        ended.stdout.trim_end(),
        kept.trim_end(),
        "report.json says the same"
    );
}

#[test]
fn wrong_values_say_what_is_right() {
    let root = two_stacks();
    for (options, said) in [
        ("--rate sometimes", "or write common, or none"),
        ("--rate 2.5/s", "not a whole number of requests per second"),
        ("--budget 10", "write it like 90s or 10m"),
        ("--heats 1", "from 2 to 1,000"),
        ("--publish --quick", "cannot be used with"),
    ] {
        let ended = root.deadheat(&format!("run {options}"));
        ended.exits(2).has_no_data().tells(&[said]);
    }
    assert!(root.sessions().is_empty() && root.told("started").is_empty());
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_any_work() {
    let root = two_stacks();
    let refused = root
        .deadheat("run --setup -o run.xyz")
        .exits(2)
        .has_no_data()
        .tells(&["which format?"]);
    assert!(!refused.stderr.contains("toolchains"), "{refused}");
}

#[test]
fn a_job_of_slurm_has_no_node_for_a_postgresql_that_was_named() {
    let root = Root::with(&[Fake::good("fake-one").claiming(&["plaintext", "users"])]);
    root.copy_workload("users");
    root.write_program(
        "bin/scontrol",
        "case $2 in\nhostnames) echo n1 n2 n3 ;;\nnode) echo NodeName=$3 NodeAddr=127.0.0.1 ;;\nesac",
    );
    let path = std::env::var("PATH").expect("a PATH");
    let path = format!("{}:{path}", root.path().join("bin").display());
    for (postgres, loaded_from, has_database) in [
        ("auto", "loaded from n2;", true),
        ("installed", "loaded from n2 and n3", false),
    ] {
        let args = format!("run --slurm --workload users --dry-run --postgres {postgres}");
        let mut command = running::command(root.path(), &args);
        command.envs([
            ("PATH", path.as_str()),
            ("SLURM_JOB_NODELIST", "n[1-3]"),
            ("SLURMD_NODENAME", "n1"),
        ]);
        let ended = Running::start_command(root.path(), command, &args).wait();
        let ended = ended.exits(0).says(&[loaded_from]);
        let database = flat(&ended.stdout).contains("database on n3");
        assert_eq!(database, has_database, "{ended}");
    }
}
