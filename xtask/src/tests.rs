//! Everything that must pass, in an order that keeps two CPUs busy: packages are installed and stacks fetched while the
//! compiler works, and stacks are built while tests wait. A thread that has no more tests checks stacks.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc,
    thread,
};

use crate::{
    FUZZ_SECONDS, book, browser, cluster,
    conformance::Checks,
    evidence, fuzz, lint, peers,
    project::{binary, compiling, quick_builds, root, target},
    session, setup,
    steps::{Lack, Steps},
    workflows,
};

/// The variable of `deadheat_testkit::not_tested`, which is not built for this program.
const NOT_TESTED: &str = "DEADHEAT_NOT_TESTED";

/// The integration test of the command line.
const CLI: &str = "cli";

/// Tests that watch when something happens, keep a CPU busy on purpose, or need a verdict: one at a time, with nothing beside
/// them.
const SERIAL: [&str; 6] = [
    "action::a_slowdown_fails",
    "comparing_requests::at_a_rate",
    "comparing_requests::both_servers_see",
    "comparing_requests::commands_that_speak",
    "load_arrivals::",
    "load_latency::",
];

/// The crates whose integration tests load servers. Those of the others only compute.
const LOADING: [&str; 2] = ["load", "runner"];

/// Threads of a test binary whose tests mostly wait: for servers, for loads, for sessions that are killed.
const WAITING_THREADS: &str = "--test-threads=3";

/// Sets up, then runs every part.
pub(crate) fn everything(steps: &Steps, long: bool) {
    lint::while_compiling(steps);
    if !build(steps) {
        return;
    }
    let (is_set_up, set_up) = mpsc::channel();
    let checks = Checks::new(steps);
    let mut failed = thread::scope(|scope| {
        let checks = &checks;
        scope.spawn(move || {
            setup::set_up(steps);
            // Nobody waits for it any more if lint has panicked.
            let _ = is_set_up.send(());
            checks.work_twice();
        });
        scope.spawn(|| {
            lint::without_compiling(steps);
            // mdBook takes longer to compile than anything else here: the site is built by the steps of its workflow.
            book::pages(steps);
        });
        steps.run(
            "compilation of the tests",
            compiling(&["test", "--workspace", "--quiet", "--no-run"]),
        );
        // Set-up installs what tests need.
        let _ = set_up.recv();
        tests(steps, checks)
    });
    failed.extend(serial_tests(steps));
    let stacks = checks.again();
    // Sessions wait for servers to start and for their upstream, hosts for each other. Tests that compute wait for nothing, and
    // tests of hosts look at times.
    let [failed_hosts, failed_computing] = thread::scope(|scope| {
        let others = scope.spawn(|| {
            let hosts = cluster::cluster(steps);
            [hosts, computing_tests(steps)]
        });
        scope.spawn(|| browser::test(steps));
        scope.spawn(|| {
            evidence::check(steps);
            peers::smoke(steps, binary());
        });
        session::short_sessions(steps, &stacks);
        others.join().expect("no step panics")
    });
    cluster::cluster_again(steps, &failed_hosts);
    failed.extend(failed_computing);
    tests_again(steps, failed);
    if long {
        workflows::workflows(steps);
        fuzz::fuzz(steps, FUZZ_SECONDS, false);
    }
}

/// Builds the program, as tests use it: `Cargo.toml` has the load generator optimised in this profile, too. As part of
/// the workspace and with a test, so that dependencies have the features that they have in all other steps, and are built
/// once.
pub(crate) fn build(steps: &Steps) -> bool {
    let with_a_test = ["--bin", "deadheat", "--test", "testkit"];
    let mut build = compiling(&["build", "--workspace", "--quiet"]);
    build.args(with_a_test);
    steps.run("build", build)
}

/// The tests that load servers. Those of the command line wait most of the time, so the others run at the same time. Each of
/// the two threads then checks stacks. Returns the tests that failed.
fn tests(steps: &Steps, checks: &Checks<'_>) -> Vec<String> {
    let lacks = lacking("tests");
    let failed = thread::scope(|scope| {
        let others = scope.spawn(|| {
            let mut others = test(&lacks, &[]);
            others.args(LOADING.iter().flat_map(|name| ["--test", name]));
            let failed = steps.run_tests("tests of load and runner", others);
            checks.work();
            failed
        });
        let mut cli = test(&lacks, &["--test", CLI]);
        cli.args(["--", WAITING_THREADS]);
        cli.args(SERIAL.iter().flat_map(|name| ["--skip", name]));
        let failed = steps.run_tests("tests of the command line", cli);
        checks.work();
        [failed, others.join().expect("no step panics")].concat()
    });
    // Cargo does not run it by itself: it needs the network.
    let mut download = test(&lacks, &["--test", "runner", "--", "--ignored", "--exact"]);
    download.arg("services::postgres::the_download_works");
    steps.run("download of PostgreSQL", download);
    list(steps, &lacks);
    failed
}

/// The unit tests, and the integration tests that load nothing. Returns those that failed.
fn computing_tests(steps: &Steps) -> Vec<String> {
    let lacks = lacking("computing");
    let mut computing = test(&lacks, &["--lib", "--bins"]);
    for name in integration_tests().filter(|name| !LOADING.contains(&name.as_str())) {
        computing.args(["--test", &name]);
    }
    let failed = steps.run_tests("tests that compute", computing);
    steps.run("examples in the documentation", test(&lacks, &["--doc"]));
    list(steps, &lacks);
    failed
}

/// The crates' integration tests, but for those of the command line: each is a folder with a `main.rs`.
fn integration_tests() -> impl Iterator<Item = String> {
    let subfolders = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut crates = subfolders(&root().join("crates"));
    crates.push(root().join("xtask"));
    let folders = crates
        .into_iter()
        .flat_map(move |one| subfolders(&one.join("tests")));
    let tests = folders.filter(|folder| folder.join("main.rs").is_file());
    let names = tests.filter_map(|folder| Some(folder.file_name()?.to_str()?.to_owned()));
    names.filter(|name| name != CLI)
}

fn test(lacks: &Path, which: &[&str]) -> Command {
    let mut command = compiling(&["test", "--workspace", "--quiet", "--no-fail-fast"]);
    command.args(which).env(NOT_TESTED, lacks);
    // Not for the cargo that runs the tests, but for stacks that they build.
    for (name, value) in quick_builds() {
        command.env(format!("DEADHEAT_TEST_{name}"), value);
    }
    command
}

/// Tests that nothing may run beside. Returns those that failed.
fn serial_tests(steps: &Steps) -> Vec<String> {
    let lacks = lacking("serial");
    let mut serial = test(&lacks, &["--test", CLI, "--", "--test-threads=1"]);
    serial.args(SERIAL);
    let failed = steps.run_tests("tests of the command line, serial", serial);
    list(steps, &lacks);
    failed
}

/// Once more the tests that have failed, alone. Among a dozen programs on two busy CPUs, what waits for a process now and
/// then waits longer than it was thought to; such a test is to be mended, and is named at the end.
fn tests_again(steps: &Steps, failed: Vec<String>) {
    if failed.is_empty() {
        return;
    }
    let lacks = lacking("again");
    let mut again = test(&lacks, &["--tests", "--", "--test-threads=1", "--exact"]);
    again.args(failed);
    steps.run("tests that failed, again, alone", again);
    list(steps, &lacks);
}

/// An empty list for what the tests of this part could not look at.
fn lacking(part: &str) -> PathBuf {
    let file = target().join(format!("tmp/not-tested-{part}"));
    let _ = fs::remove_file(&file);
    file
}

/// What tests said that they could not look at.
fn list(steps: &Steps, lacks: &Path) {
    let said = fs::read_to_string(lacks).unwrap_or_default();
    for (what, because) in said.lines().filter_map(|line| line.split_once('\t')) {
        steps.not_tested(Lack::new(what, because));
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_runs_alone_is_there() {
        for name in SERIAL {
            let module = name.split("::").next().unwrap_or_default();
            let file = root().join(format!("crates/cli/tests/cli/{module}.rs"));
            assert!(file.is_file(), "no {}", file.display());
        }
    }
}
