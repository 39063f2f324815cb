//! `deadheat compare` of what has to be measured: that both sides alternate, that looks and budget are kept, what is
//! left behind, and what is said when one side fails. Which side is called slower is tested where ratios are given.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use deadheat_model::{
    comparison::{ComparisonEnd, ComparisonOutcome, ComparisonRecord, Side},
    session::EndReason,
};
use deadheat_runner::session::{HEADER_FILE, comparison::read_comparison};
use deadheat_testkit::{OracleServer, Script, Step, Turn};
use rustix::process::Signal;

use crate::support::{
    Ended, Fake, PATIENCE, Root, Running, eventually, flat,
    recorded::{Recorded, journal_lines},
    running,
};

/// Short trials: what they find is not looked at.
const SHORT: &str = "--measure 200ms --warm-up 50ms -c 2 --seed 7 --noise-bound off";

/// A server that answers after `pause` and after having worked for `work`.
fn server(pause: Duration, work: Duration) -> OracleServer {
    answering(move |_: &Turn<'_>| {
        let until = Instant::now() + work;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        vec![
            Step::Pause(pause),
            Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec()),
        ]
    })
}

fn answering(script: impl Script) -> OracleServer {
    OracleServer::start(script).expect("starting a server")
}

fn url(server: &OracleServer) -> String {
    format!("http://{}/", server.address())
}

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// The only comparison below the root folder, read back.
#[track_caller]
fn comparison(root: &Root) -> ComparisonRecord {
    read_comparison(&root.session_folder()).expect("reading the comparison")
}

/// Starts a comparison of commands, which have blanks in them.
fn start_commands(root: &Root, a: &str, b: &str, options: &str) -> Running {
    let mut command = running::command(root.path(), "compare");
    command.args([a, b]).args(options.split_whitespace());
    Running::start_command(
        root.path(),
        command,
        &format!("compare '{a}' '{b}' {options}"),
    )
}

/// The sides of each block, in the order in which they were measured.
fn orders(record: &ComparisonRecord) -> Vec<Vec<Side>> {
    let mut blocks: Vec<Vec<Side>> = Vec::new();
    for trial in record.trials.iter().filter(|trial| trial.attempt == 0) {
        blocks.resize_with(blocks.len().max(trial.block as usize + 1), Vec::new);
        assert_eq!(blocks[trial.block as usize].len(), trial.position as usize);
        blocks[trial.block as usize].push(trial.side);
    }
    blocks
}

#[track_caller]
fn assert_alternates(record: &ComparisonRecord) {
    for order in orders(record) {
        let mut sides = order.clone();
        sides.sort();
        assert_eq!(sides, Side::BOTH, "each block has a trial of each side");
    }
}

/// The verdict, which the output begins with.
fn verdict(ended: &Ended) -> &str {
    ended.stdout.lines().next().unwrap_or_default()
}

#[test]
fn urls_alternate_and_are_looked_at_when_that_was_declared() {
    let root = Root::with(&[]);
    let (quick, slow) = (
        server(milliseconds(1), Duration::ZERO),
        server(milliseconds(1), milliseconds(3)),
    );
    let ended = root
        .deadheat(&format!(
            "compare {} {} --looks 2,4,6 {SHORT}",
            url(&quick),
            url(&slow)
        ))
        .compares_if_it_can();
    // On a machine that is busy it may have too little to go on. It never has it the wrong way round.
    let said = verdict(&ended);
    let wrong = ["B is faster", "Dead heat"];
    assert!(!wrong.iter().any(|one| said.starts_with(one)), "{said}");
    let record = comparison(&root);
    assert_alternates(&record);
    let blocks = record.complete_blocks();
    assert!(
        [2, 4, 6].contains(&blocks),
        "{blocks} blocks, which is no look"
    );
    assert_eq!(record.header.plan.looks, [2, 4, 6]);
    let orders = orders(&record);
    assert_eq!(
        orders.len() as u32,
        blocks,
        "no block was begun after the last look"
    );
    let named = [&record.header.a.name, &record.header.b.name];
    assert_eq!(named, [&url(&quick), &url(&slow)]);
    for trial in &record.trials {
        let ComparisonOutcome::Measured(measured) = &trial.outcome else {
            panic!("a trial failed: {trial:?}");
        };
        assert!(measured.load.measured.succeeded > 0 && measured.load.measured.is_conserved());
        assert!(
            measured.resources.is_none(),
            "nothing is known of a server that runs already"
        );
    }
    // Both servers saw what was recorded for them, and nothing else.
    for (server, side) in [(&quick, Side::A), (&slow, Side::B)] {
        let loads = record.trials.iter().filter(|trial| trial.side == side);
        let issued: u64 = loads
            .map(|trial| match &trial.outcome {
                ComparisonOutcome::Measured(measured) => measured.load.total.issued,
                ComparisonOutcome::Failed(_) => 0,
            })
            .sum();
        assert_eq!(server.seen_at_rest().requests, issued, "{side}");
    }
}

#[test]
fn the_seed_gives_the_order() {
    let orders_of = |seed: u64| {
        let root = Root::with(&[]);
        let server = server(milliseconds(1), Duration::ZERO);
        let options = "--measure 100ms --warm-up 50ms -c 1 --blocks 8 --noise-bound off";
        root.deadheat(&format!(
            "compare {0} {0} {options} --seed {seed}",
            url(&server)
        ))
        .compares_if_it_can()
        .says(&["A/A"]);
        orders(&comparison(&root))
    };
    let first = orders_of(1);
    assert_eq!(first.len(), 8);
    assert_eq!(first, orders_of(1));
    assert_ne!(first, orders_of(2));
    assert!(first.contains(&vec![Side::A, Side::B]) && first.contains(&vec![Side::B, Side::A]));
}

#[test]
fn a_side_that_fails_ends_it_and_is_named() {
    let good = server(milliseconds(1), Duration::ZERO);
    let wrong = answering(|_: &Turn<'_>| {
        let text = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";
        vec![Step::Send(text.to_vec())]
    });
    let refusing = {
        let gone = server(Duration::ZERO, Duration::ZERO);
        url(&gone)
    };
    for (other, said) in [(url(&wrong), "500"), (refusing, "refused")] {
        let root = Root::with(&[]);
        root.deadheat(&format!(
            "compare {} {other} --blocks 5 {SHORT}",
            url(&good)
        ))
        .exits(1)
        .says(&["B failed", said]);
        let record = comparison(&root);
        assert_eq!(record.end, Some(ComparisonEnd::Failed));
        assert!(
            record.trials.len() <= 2,
            "it goes on for no more than the block: {record:?}"
        );
    }
    // When A fails there is nothing to say of B.
    let root = Root::with(&[]);
    root.deadheat(&format!(
        "compare {} {} --blocks 5 {SHORT}",
        url(&wrong),
        url(&good)
    ))
    .exits(3)
    .says(&["A failed"]);
}

#[test]
fn an_interrupt_leaves_the_records_and_no_look() {
    let root = Root::with(&[]);
    let (one, other) = (
        server(milliseconds(1), Duration::ZERO),
        server(milliseconds(1), Duration::ZERO),
    );
    let running = root.start(&format!(
        "compare {} {} --blocks 500 {SHORT}",
        url(&one),
        url(&other)
    ));
    wait_for_trials(&root, 3);
    running.signal(Signal::INT);
    running.wait().exits(3).says(&["Nothing could be compared"]);
    let record = comparison(&root);
    assert_eq!(record.end, Some(ComparisonEnd::Interrupted));
    assert!(record.trials.len() >= 3);
}

#[test]
fn without_a_look_the_gate_does_not_pass() {
    let root = Root::with(&[]);
    let one = server(milliseconds(1), Duration::ZERO);
    let running = root.start(&format!(
        "compare {0} {0} --blocks 500 --fail-if-slower 3% {SHORT}",
        url(&one)
    ));
    wait_for_trials(&root, 1);
    running.signal(Signal::INT);
    let ended = running.wait().exits(3);
    let told = flat(&ended.stdout);
    assert!(
        told.contains("not judged") && !told.contains("passed"),
        "{ended}"
    );
}

#[test]
fn a_failure_in_a_disturbed_trial_is_a_failure() {
    let root = Root::with(&[Fake::good("fake-one")]);
    // Whatever else runs here is more than that, so that trials are void.
    let options = OF_COMMANDS.replace("--noise-bound off", "--noise-bound 0.001%");
    let bad = "cmd:env FAULT=dies-under-load python3 -I -S stacks/fake-one/server.py";
    start_commands(&root, GOOD, bad, &format!("{options} --blocks 2"))
        .wait()
        .exits(1)
        .says(&["B failed"]);
}

#[test]
fn no_password_of_a_command_is_shown_or_recorded() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let with = |secret: &str| {
        format!("cmd:env DB=postgres://me:{secret}@h/d python3 -I -S stacks/fake-one/server.py")
    };
    let (a, b) = (with("s3cret-a"), with("s3cret-b"));
    let options = format!("{OF_COMMANDS} --blocks 2 --format json");
    let ended = start_commands(&root, &a, &b, &options)
        .wait()
        .compares_if_it_can();
    // Two passwords are two commands, whatever is shown of them.
    assert!(!ended.stdout.contains("(A/A)"), "{ended}");
    let folder = root.session_folder();
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("reading the records");
    let (header, trials) = (read("comparison.json"), read("trials.jsonl"));
    for text in [&ended.stdout, &ended.stderr, &header, &trials] {
        assert!(!text.contains("s3cret"), "{text}");
    }
    assert!(header.contains("DB=postgres://…") && trials.contains("DB=postgres://…"));
}

#[track_caller]
fn wait_for_trials(root: &Root, count: usize) {
    eventually(&format!("{count} trials in the journal"), PATIENCE, || {
        let folder = root.sessions().pop()?;
        (journal_lines(&folder) >= count).then_some(())
    });
}

const GOOD: &str = "cmd:python3 -I -S stacks/fake-one/server.py";
const OF_COMMANDS: &str =
    "--path /plaintext --measure 200ms --warm-up 50ms -c 2 --seed 7 --noise-bound off";

#[test]
fn commands_are_started_anew_for_each_trial_and_sampled() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let b = "cmd:env MARKED=$PORT python3 -I -S stacks/fake-one/server.py";
    start_commands(&root, GOOD, b, &format!("{OF_COMMANDS} --blocks 2"))
        .wait()
        .compares_if_it_can();
    let record = comparison(&root);
    assert_alternates(&record);
    assert_eq!(record.complete_blocks(), 2);
    assert_eq!(
        root.told("started").len(),
        record.trials.len(),
        "a process for each trial"
    );
    assert_eq!(
        root.told("sigterm").len(),
        record.trials.len(),
        "and each is stopped"
    );
    for trial in &record.trials {
        let ComparisonOutcome::Measured(measured) = &trial.outcome else {
            panic!("a trial failed: {trial:?}");
        };
        let resources = measured.resources.as_ref().expect("its tree is sampled");
        assert!(resources.pss_mean_bytes > 0 && measured.ready.is_some());
        if trial.side == Side::B {
            let port = trial.command[1]
                .strip_prefix("MARKED=")
                .map(str::parse::<u16>);
            assert!(
                matches!(port, Some(Ok(20_000..32_000))),
                "{:?}",
                trial.command
            );
        }
    }
}

#[test]
fn the_budget_ends_what_takes_longer_than_was_thought() {
    let root = Root::with(&[Fake::good("fake-one")]);
    // Each start takes a second more than a start is thought to take, so that four blocks do not fit. One look, at the
    // last of them: at an earlier one, a trial that the generator limited would end the comparison before its budget.
    let slow = "cmd:env FAULT=slow-start python3 -I -S stacks/fake-one/server.py";
    let running = start_commands(
        &root,
        slow,
        "cmd:env FAULT=slow-start python3 -I -S stacks/fake-one/./server.py",
        &format!("{OF_COMMANDS} --looks 4 --budget 8s"),
    );
    running.wait().compares_if_it_can().says(&["budget"]);
    let record = comparison(&root);
    assert_eq!(record.end, Some(ComparisonEnd::Budget));
    assert!(
        record.complete_blocks() < 4,
        "{} blocks",
        record.complete_blocks()
    );
}

#[test]
fn a_command_that_does_not_start_or_dies_is_named_with_its_last_words() {
    let cases = [
        ("exits-at-once", "the ink is dry"),
        ("dies-under-load", "under load"),
    ];
    for (fault, said) in cases {
        let root = Root::with(&[Fake::good("fake-one")]);
        let bad = format!("cmd:env FAULT={fault} python3 -I -S stacks/fake-one/server.py");
        let ended = start_commands(&root, GOOD, &bad, &format!("{OF_COMMANDS} --blocks 3"))
            .wait()
            .exits(1)
            .says(&["B failed"]);
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(all.contains(said), "{fault}: {ended}");
        assert_eq!(comparison(&root).end, Some(ComparisonEnd::Failed));
    }
}

#[test]
fn what_is_no_command_or_no_fit_is_refused_before_anything_starts() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let cases = [
        ("cmd:a && b", OF_COMMANDS, "there is none"),
        (GOOD, "--path plaintext", "begins with a slash"),
        (GOOD, "--budget 1s", "has room for 0, and"),
        (
            GOOD,
            "--workload plaintext",
            "--workload has no meaning for commands",
        ),
    ];
    for (b, options, said) in cases {
        start_commands(&root, GOOD, b, options)
            .wait()
            .exits(2)
            .tells(&[said]);
    }
    root.deadheat("compare http://192.0.2.1/ http://127.0.0.1:1/")
        .exits(2)
        .tells(&["--i-may-load-this-host"]);
    start_commands(&root, GOOD, GOOD, "--dry-run --blocks 3")
        .wait()
        .exits(0)
        .has_no_data();
    assert!(root.sessions().is_empty() && root.told("started").is_empty());
}

const OF_STACKS: &str =
    "--measure 1s --warm-up 100ms --start-timeout 20s --seed 1 --noise-bound off";

#[test]
fn stacks_are_the_contenders_of_a_session() {
    let root = Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    let ended = root
        .deadheat(&format!("compare fake-one fake-two --blocks 2 {OF_STACKS}"))
        .compares_if_it_can()
        .says(&["fake-one", "fake-two"]);
    assert!(!verdict(&ended).is_empty());
    let session = root.session();
    let plan = &session.record.header.plan;
    let targets: Vec<String> = plan.targets.iter().map(ToString::to_string).collect();
    assert_eq!(
        (targets, plan.blocks),
        (vec!["fake-one".to_owned(), "fake-two".to_owned()], 2)
    );
    // One, if the generator was the limit in it.
    let blocks = session.record.complete_blocks().len();
    assert!((1..=2).contains(&blocks), "{blocks} complete blocks");
    assert!(
        session
            .record
            .end
            .is_some_and(|end| end != EndReason::Interrupted)
    );
    // A session like any other.
    session.assert_reported(&root, &["fake-one", "fake-two"]);
    assert!(session.folder.join("report.html").exists());
}

#[test]
fn a_plan_is_as_asked_for_where_somebody_asked() {
    let root = Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")]);
    let told = |options: &str| {
        let ended = root
            .deadheat(&format!("compare fake-one fake-two --dry-run {options}"))
            .exits(0);
        flat(&ended.stderr)
    };
    let usual = told("");
    assert!(
        usual.contains("Plan") && !usual.contains("as asked for"),
        "{usual}"
    );
    let asked = told("--blocks 7 --measure 1s");
    assert!(asked.contains("as asked for"), "{asked}");
}

#[test]
fn one_stack_twice_has_two_names() {
    let root = Root::with(&[Fake::good("fake-one")]);
    root.deadheat(&format!("compare fake-one fake-one --blocks 2 {OF_STACKS}"))
        .compares_if_it_can()
        .says(&["A/A", "fake-one~b"]);
    let session = root.session();
    for name in ["fake-one", "fake-one~b"] {
        assert!(!session.trials_of(name).is_empty(), "{name}");
    }
}

#[test]
fn a_stack_that_cannot_be_measured_ends_it_before_the_first_trial() {
    let bad = Fake::faulty("fake-bad", "exits-at-once");
    for (sides, status) in [("fake-one fake-bad", 1), ("fake-bad fake-one", 3)] {
        let root = Root::with(&[
            Fake::good("fake-one"),
            Fake::faulty("fake-bad", "exits-at-once"),
        ]);
        root.deadheat(&format!("compare {sides} --blocks 5 {OF_STACKS}"))
            .exits(status)
            .says(&["failed", &bad.id]);
        assert!(root.session().record.trials.is_empty());
    }
    let root = Root::with(&[Fake::good("fake-one")]);
    root.deadheat("compare fake-one fake-two")
        .exits(2)
        .tells(&["fake-two", "fake-one"]);
}

fn git(root: &Root, arguments: &str) {
    let output = Command::new("git")
        .current_dir(root.path())
        .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"])
        .args(arguments.split_whitespace())
        .output()
        .expect("running git");
    assert!(output.status.success(), "git {arguments}: {output:?}");
}

/// A root folder that is a checkout with one commit.
fn checkout() -> Root {
    let root = Root::with(&[Fake::good("fake-one")]);
    git(&root, "init -q -b main");
    git(&root, "add stacks workloads");
    git(&root, "commit -q -m first");
    root
}

/// The name of the side that came from a revision.
fn revision_in(folder: &Path) -> String {
    let record = Recorded::read(folder).record;
    let mut targets = record.header.plan.targets.into_iter();
    let target = targets.find(|target| target.stack.contains('@'));
    target.expect("one side is a revision").to_string()
}

#[test]
fn a_revision_is_compared_with_the_work_tree_and_leaves_no_folder() {
    let root = checkout();
    let server = root.path().join("stacks/fake-one/server.py");
    let changed = fs::read_to_string(&server).unwrap() + "\n# changed\n";
    root.write("stacks/fake-one/server.py", &changed);
    let ended = root
        .deadheat(&format!(
            "compare fake-one@HEAD fake-one --blocks 2 {OF_STACKS}"
        ))
        .compares_if_it_can();
    let told = flat(&ended.stdout);
    assert!(
        !told.contains("A and B have the same sources"),
        "their sources differ: {ended}"
    );
    let name = revision_in(&root.session_folder());
    assert!(
        name.starts_with("fake-one@") && ended.stdout.contains(&name),
        "{ended}"
    );
    assert!(
        !Recorded::read(&root.session_folder())
            .trials_of(&name)
            .is_empty()
    );
    assert_eq!(root.temporary(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn equal_sources_are_told_and_an_interrupt_leaves_no_folder_of_a_revision() {
    let root = checkout();
    let running = root.start(&format!("compare fake-one @HEAD --blocks 500 {OF_STACKS}"));
    eventually("a trial in the journal", PATIENCE, || {
        let folder = root.sessions().pop()?;
        (folder.join(HEADER_FILE).exists() && journal_lines(&folder) >= 1).then_some(())
    });
    assert!(
        !root.temporary().is_empty(),
        "the revision's folder is there meanwhile"
    );
    running.signal(Signal::INT);
    running.wait().exits(3).says(&["same sources"]);
    assert_eq!(root.temporary(), Vec::<std::path::PathBuf>::new());
    assert_eq!(root.session().record.end, Some(EndReason::Interrupted));
}

#[test]
fn two_variants_at_one_revision_are_built_both() {
    let variants = "[build]\nsteps = [[\"sh\", \"-c\", \"mkdir -p out && cp server.py out/server.py\"]]\n\
        artefacts = [\"out/server.py\"]\n\n\
        [[variant]]\nid = \"one\"\ndescription = \"One.\"\n\n\
        [[variant]]\nid = \"two\"\ndescription = \"Two.\"\n";
    let root = Root::with(&[Fake::good("fake-one").with(variants)]);
    let manifest = root.path().join("stacks/fake-one/stack.toml");
    let text = fs::read_to_string(&manifest).expect("reading the manifest");
    // It is what was built that runs.
    let built = text.replace("\"server.py\"]\nenv", "\"out/server.py\"]\nenv");
    assert_ne!(text, built);
    fs::write(&manifest, built).expect("writing the manifest");
    git(&root, "init -q -b main");
    git(&root, "add stacks workloads");
    git(&root, "commit -q -m first");
    root.deadheat(&format!(
        "compare fake-one:one@HEAD fake-one:two@HEAD --blocks 2 {OF_STACKS}"
    ))
    .compares_if_it_can();
    assert!(!root.session().record.trials.is_empty());
}

/// A `git` that tells when it unpacks a revision, and waits for leave.
const SLOW_GIT: &str = r#"#!/bin/sh
case "$*" in *read-tree*)
    touch "$WAITING"
    tries=0
    while [ ! -e "$LEAVE" ] && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
esac
exec "$GIT" "$@"
"#;

#[test]
fn a_signal_while_a_revision_is_fetched_ends_it_in_order() {
    use std::os::unix::fs::PermissionsExt;
    let root = checkout();
    root.write("bin/git", SLOW_GIT);
    let script = root.path().join("bin/git");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("making it a program");
    let search = std::env::var("PATH").expect("there is a PATH");
    let mut folders = std::env::split_paths(&search).map(|folder| folder.join("git"));
    let real = folders
        .find(|file| file.exists())
        .expect("git is installed");
    let [waiting, leave] = ["waiting", "leave"].map(|name| root.path().join(name));
    let args = format!("compare fake-one@HEAD fake-one --blocks 500 {OF_STACKS}");
    let mut command = running::command(root.path(), &args);
    command
        .env(
            "PATH",
            format!("{}:{search}", root.path().join("bin").display()),
        )
        .env("GIT", real)
        .env("WAITING", &waiting)
        .env("LEAVE", &leave);
    let running = Running::start_command(root.path(), command, &args);
    eventually("git is asked", PATIENCE, || waiting.exists().then_some(()));
    running.signal(Signal::INT);
    fs::write(&leave, "").expect("giving leave");
    running.wait().exits(3).tells(&["interrupted before"]);
    assert_eq!(root.temporary(), Vec::<std::path::PathBuf>::new());
    assert!(root.sessions().is_empty());
}

#[test]
fn a_kill_leaves_no_folder_of_a_revision() {
    let root = checkout();
    let running = root.start(&format!(
        "compare fake-one@HEAD fake-one --blocks 500 {OF_STACKS}"
    ));
    root.wait_for("started", 1);
    running.signal(Signal::KILL);
    running.wait().was_killed_by(9);
    eventually("the folder is gone", PATIENCE, || {
        root.temporary().is_empty().then_some(())
    });
}

#[test]
fn revisions_that_cannot_be_had_are_refused() {
    let root = checkout();
    for (side, said) in [
        ("fake-one@no-such", "names no commit"),
        ("fake-one:fast@HEAD", "no variant `fast`"),
        ("fake-two@HEAD", "no stack `fake-two`"),
    ] {
        root.deadheat(&format!("compare fake-one {side}"))
            .exits(2)
            .tells(&[said]);
    }
    let outside = Root::with(&[Fake::good("fake-one")]);
    outside
        .deadheat("compare fake-one fake-one@HEAD")
        .exits(2)
        .tells(&["no git checkout"]);
    assert!(root.sessions().is_empty() && root.temporary().is_empty());
}
