//! `deadheat run`: heats, their plan and their report.

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use deadheat_model::{
    heat::Role,
    heats::{EndReason, SessionRecord},
};
use deadheat_runner::session::{
    describe_machine,
    heats::{HEATS_FILE, read_session},
};
use rustix::process::Signal;

use crate::support::{Fake, Root, eventually};

/// One rate that each stack can take, and one that none can.
#[test]
fn equal_work_stands_beside_capacity_in_every_report() {
    let root = two_stacks();
    let options = "run --seed 1 --heat-time 300ms --slice 40ms --guard 5ms --warm-up 50ms --heats 3 --whole-budget \
                   --budget 2m --rate 300/s --rate 100m/s";
    let wrong = root.deadheat(options).exits(2);
    wrong.tells(&["is not a rate"]);
    let both = root.deadheat(&options.replace("100m/s", "none")).exits(2);
    both.tells(&["--rate none excludes other rates"]);
    let options = options.replace("100m/s", "100000000/s");
    let ended = root.deadheat(&options).exits(0);
    let ended = ended
        .tells(&[
            "Plan: 2 stacks × 1 load",
            "at the same rate, 300/s and 100000000/s",
        ])
        .says(&["p99", "at the same rate for all, 300/s", "3 heats"]);
    assert!(!ended.stdout.contains("c4-rate"), "one table: {ended}");
    let record = record(&root);
    let names: Vec<String> = record
        .header
        .plan
        .loads
        .iter()
        .map(|load| load.name())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    for (place, load) in names.iter().enumerate() {
        assert_eq!(record.complete_heats(place).count(), 3, "{load}");
    }
    let details = root.deadheat("report --details").exits(0);
    details.says(&["CPU at 300/s", "plaintext at 300/s", "cannot take it"]);
}

/// Each budget is a member with CPUs of its own, in the same heats.
#[test]
fn each_stack_is_measured_with_each_number_of_cpus() {
    let root = two_stacks();
    for (options, says) in [
        ("--cpus 0", "0 is not in 1..=999"),
        ("--cpus 1,1", "--cpus has the same number twice"),
        ("--cpus 1,999", "use a machine with more CPUs"),
        ("--cpus 1,2 --published", "cannot be used with"),
    ] {
        run(&root, options).exits(2).tells(&[says]);
    }
    let there_are = describe_machine().cpus.len();
    if there_are < 2 {
        deadheat_testkit::not_tested("scaling", "this machine has one CPU");
        return;
    }
    if there_are < 4 {
        run(&root, "--cpus 1,2 --pinning apart")
            .exits(2)
            .tells(&["apart from the generator, servers have 1 CPU here"]);
        let elsewhere =
            "--cpus 1,2 --pinning apart --generator a --launcher reach-{host} --address 127.0.0.1";
        let plan = run(&root, &format!("{elsewhere} --dry-run")).exits(0);
        plan.says(&["not pinned: the server has CPUs 0"]);
    }
    let ended = run(&root, "--cpus 2,1 --heats 3 --whole-budget").exits(0);
    let ended = ended
        .tells(&["Plan: 2 stacks × 1 load", "each stack with 1 and 2 CPUs"])
        .says(&[" on 1 and 2 CPUs, plaintext", "With 2 CPUs instead of 1, "]);
    let shared = ended
        .stdout
        .contains("The load generator used the servers' CPUs");
    assert_eq!(shared, there_are < 4, "{ended}");
    for cpus in ["has-1-of-1-cpus", "has-2-of-2-cpus"] {
        // At the check before the first heat, and in some heats two of them as a twin.
        assert!(root.told(cpus).len() >= 2 * 4, "{cpus}");
    }
    let record = record(&root);
    for heat in &record.heats {
        let members = heat.heat.members.iter();
        let members = members.filter(|one| one.role == Role::Member);
        let names: BTreeSet<String> = members.map(|one| one.target.to_string()).collect();
        let all = ["fake-one@1", "fake-one@2", "fake-two@1", "fake-two@2"];
        assert!(names.iter().eq(all), "{names:?}");
    }
    let folder = root.session_folder();
    for (format, says) in [
        ("--details", "Scaling"),
        ("--format markdown", "## Scaling"),
        ("--format csv", ",speedup,"),
        ("--format json", "\"efficiency\""),
    ] {
        let text = report(&root, &folder, format);
        assert!(text.contains(says), "{format}: {text}");
    }
    // As after a kill: a session goes on with its budgets.
    let heats = folder.join(HEATS_FILE);
    let text = fs::read_to_string(&heats).expect("the heats");
    let first = text.lines().next().expect("a heat");
    fs::write(&heats, format!("{first}\n")).expect("cutting the heats off");
    root.deadheat(&format!("run --resume {}", folder.display()))
        .exits(0);
    assert_eq!(self::record(&root).heats.len(), 3);
}

/// Heats that take no longer than they have to.
const SHORT: &str = "--heat-time 300ms --slice 40ms --guard 5ms --warm-up 50ms --rate none";

fn two_stacks() -> Root {
    Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")])
}

fn run(root: &Root, options: &str) -> crate::support::Ended {
    root.deadheat(&format!("run --seed 1 {SHORT} {options}"))
}

fn record(root: &Root) -> SessionRecord {
    read_session(&root.session_folder()).expect("reading the session back")
}

#[test]
fn two_stacks_take_turns_and_every_report_has_them() {
    let root = two_stacks();
    let ended = run(&root, "--heats 2 --whole-budget").exits(0);
    let ended = ended
        .tells(&[
            "Plan: 2 stacks × 1 load, measured in heats",
            "report: results/",
        ])
        .says(&["plaintext · ", "fake-one", "fake-two", "2 heats"]);
    assert!(ended.stdout.lines().count() <= 40, "{ended}");
    let record = record(&root);
    assert_eq!(record.end, Some(EndReason::Finished));
    assert_eq!(record.heats.len(), 2);
    let members = record.heats.iter().flat_map(|one| &one.heat.members);
    let controls: Vec<Role> = members
        .map(|member| member.role)
        .filter(|role| *role != Role::Member)
        .collect();
    assert!(
        matches!(controls[..], [Role::Ceiling, Role::Twin { .. }]),
        "{controls:?}"
    );
    for heat in record.heats.iter().map(|one| &one.heat) {
        assert_eq!(heat.members.len(), 3);
        assert!(heat.members.iter().all(|member| member.failure.is_none()));
        let slices = heat.rounds.iter().flatten();
        // On a busy machine, all answers to so short slices may come in their drains. Without any, a member fails.
        for place in 0..3 {
            assert!(slices.clone().any(|slice| slice.member == place), "{place}");
        }
        assert!(
            slices
                .clone()
                .all(|slice| slice.guard >= Duration::from_millis(5))
        );
    }
    root.deadheat("history --stack fake-one")
        .exits(0)
        .says(&["1 session, ", "fake-one at plaintext: 4 connections"]);
    let folder = root.session_folder();
    for file in ["report.html", "report.md", "report.json", "report.csv"] {
        let written = fs::read_to_string(folder.join(file)).unwrap_or_default();
        assert!(
            written.contains("fake-one") && written.contains("fake-two"),
            "{file}"
        );
        let format = match file.rsplit_once('.').map(|one| one.1) {
            Some("md") => "markdown",
            Some(format) => format,
            None => unreachable!("each has an ending"),
        };
        let again = report(&root, &folder, &format!("--format {format}"));
        assert_eq!(again, written, "{file} is made from the records alone");
    }
    let details = report(&root, &folder, "--details");
    assert!(details.lines().count() > ended.stdout.lines().count());
}

fn report(root: &Root, folder: &Path, options: &str) -> String {
    let ended = root.deadheat(&format!("report {} {options}", folder.display()));
    ended.exits(0).stdout
}

#[test]
fn the_plan_fits_15_lines_and_starts_nothing() {
    let root = two_stacks();
    let ended = run(&root, "--dry-run --budget 10m").exits(0).says(&[
        "Plan: 2 stacks × 1 load, measured in heats, at most 10 min",
        "fake-one and fake-two",
        "40 ms slices",
        "in a dead heat with it (within 3 %), or after 10 min",
    ]);
    assert!(ended.stdout.lines().count() <= 15, "{ended}");
    let wide = ended.stdout.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "{ended}");
    assert!(root.sessions().is_empty() && root.told("started").is_empty());
    let plan = run(&root, "--dry-run --json --budget 10m").exits(0).stdout;
    let plan: serde_json::Value = serde_json::from_str(&plan).expect("the plan is JSON");
    assert_eq!(plan["plan"]["loads"][0]["workload"], "plaintext");
    assert_eq!(plan["plan"]["budget_seconds"], 600.0);
}

#[test]
fn a_precision_is_planned_measured_and_reported() {
    let root = two_stacks();
    for other in [
        "--budget 1m",
        "--heats 9",
        "--quick",
        "--publish",
        "--whole-budget",
    ] {
        let both = run(&root, &format!("--precision 5% {other}")).exits(2);
        both.tells(&["cannot be used with", "--precision"]);
    }
    run(&root, "--precision 5").exits(2).tells(&["like 5%"]);
    let ended = run(&root, "--precision 2% --dry-run").exits(0).says(&[
        "Plan: 2 stacks × 1 load, measured in heats, about ",
        ", at most ",
        "when ratios to the best are known to ±2 % at every load",
        "ratios known to ±2 %",
    ]);
    assert!(ended.stdout.lines().count() <= 15, "{ended}");
    let json = |options: &str| {
        let plan = run(&root, &format!("{options} --dry-run --json"))
            .exits(0)
            .stdout;
        let plan: serde_json::Value = serde_json::from_str(&plan).expect("the plan is JSON");
        plan["plan"].clone()
    };
    let [fine, coarse] = ["--precision 2%", "--precision 50%"].map(json);
    let seconds = |plan: &serde_json::Value, name: &str| plan[name].as_f64().expect("seconds");
    let [long, short] = [&fine, &coarse].map(|plan| seconds(plan, "estimate_seconds"));
    assert!(long > 2.0 * short, "{long} {short}");
    assert_eq!(seconds(&fine, "budget_seconds"), 2.0 * long);
    assert_eq!(coarse["loads"][0]["looks"], serde_json::json!([8, 11, 16]));
    // A generator with a CPU to itself would poll in all of up to 16 heats.
    let ended = run(&root, "--precision 50% --pinning off").exits(0);
    let record = record(&root);
    let done = record.heats.len() as u32;
    // On a busy machine the precision is not reached, or the time ends first.
    match record.end {
        Some(EndReason::Precise) => assert!([8, 11, 16].contains(&done), "{done}"),
        Some(EndReason::Finished) => assert_eq!(done, 16),
        other => assert_eq!(other, Some(EndReason::Budget)),
    }
    let missed = ended.stdout.contains("The precision that was asked for");
    assert!(
        !(missed && record.end == Some(EndReason::Precise)),
        "{ended}"
    );
    let details = root.deadheat("report --details").exits(0);
    details.says(&["±50 % asked for"]);
    let folder = root.session_folder();
    root.deadheat(&format!("run --resume {}", folder.display()))
        .exits(0)
        .tells(&["is complete: nothing is left to measure"]);
}

/// With the stacks of this repository: of those that nobody named, as many as the budget can decide.
#[test]
fn what_is_measured_without_options_is_what_the_budget_can_decide() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = two_stacks();
    let asked = format!("run --dry-run --json --root {}", repository.display());
    for options in ["", "--quick", "--budget 30m"] {
        let plan = root.deadheat(&format!("{asked} {options}")).exits(0).stdout;
        let plan: serde_json::Value = serde_json::from_str(&plan).expect("the plan is JSON");
        let plan = &plan["plan"];
        let seconds = |name: &str| plan[name].as_f64().expect("a number of seconds");
        assert!(
            seconds("estimate_seconds") <= seconds("budget_seconds"),
            "{options}: {plan}"
        );
        for load in plan["loads"].as_array().expect("loads") {
            let heats = load["looks"].as_array().and_then(|looks| looks.last());
            assert!(heats.and_then(|heats| heats.as_u64()) >= Some(8), "{load}");
            assert!(
                load["targets"]
                    .as_array()
                    .is_some_and(|stacks| stacks.len() >= 3),
                "{load}"
            );
        }
    }
    let told = root.deadheat(&asked.replace("--json ", "")).exits(0);
    told.says(&["room", "has room for eight heats of these as well: "]);
    // Stacks that were named are measured, however long that takes.
    let all = root
        .deadheat(&format!(
            "{} --stack * --budget 1m",
            asked.replace("--json ", "")
        ))
        .exits(0);
    all.says(&["short"]);
}

/// The same stacks are measured as if nothing had happened, and complete heats are kept.
#[test]
fn an_interrupted_session_goes_on_where_it_was() {
    let root = two_stacks();
    let running = root.start(&format!("run --seed 1 {SHORT} --heats 4 --whole-budget"));
    eventually("a heat in the journal", || {
        let journal = root.sessions().pop()?.join(HEATS_FILE);
        let text = fs::read_to_string(journal).ok()?;
        (text.lines().count() >= 1).then_some(())
    });
    running.signal(Signal::INT);
    running.wait();
    let before = record(&root);
    assert_eq!(before.end, Some(EndReason::Interrupted));
    let complete = before.complete_heats(0).count();
    assert!((1..4).contains(&complete), "{complete}");
    let folder = root.session_folder();
    let resume = || root.deadheat(&format!("run --resume {}", folder.display()));
    resume().exits(0).tells(&["Resuming"]);
    let after = record(&root);
    assert_eq!(after.end, Some(EndReason::Finished));
    assert_eq!(after.complete_heats(0).count(), 4);
    assert_eq!(after.heats[..complete], before.heats[..complete]);
    assert_eq!(after.resumed.len(), 1);
    resume()
        .exits(0)
        .tells(&["is complete: nothing is left to measure"]);
    assert_eq!(record(&root).heats.len(), after.heats.len());
}

#[test]
fn a_stack_that_dies_under_load_fails_the_session_and_is_named() {
    let root = Root::with(&[
        Fake::good("fake-one"),
        Fake::good("fake-three"),
        Fake::faulty("fake-two", "dies-under-load"),
    ]);
    let ended = run(&root, "--heats 2 --whole-budget").exits(1);
    ended.says(&["fake-one", "fake-three", "fake-two"]);
    let record = record(&root);
    let failed = record.heats.iter().flat_map(|one| &one.heat.members);
    let failed = failed.filter(|member| member.failure.is_some());
    assert!(failed.clone().count() >= 1);
    assert!(
        failed
            .into_iter()
            .all(|member| member.target.stack == "fake-two")
    );
}
