//! What `run` in blocks says that it will do, what it refuses, and what it offers. None of it starts anything.

use crate::support::{Ended, Fake, Root, flat};

/// Two stacks with plaintext: with the null server and the twin four trials a block, or with latency thirteen; each has
/// 0.7 s around it and 1 s of warm-up.
fn root() -> Root {
    Root::with(&[Fake::good("fake-one"), Fake::good("fake-two")])
}

/// These options, and one that asks for blocks unless one of them does.
fn in_blocks(options: &str) -> String {
    let asks = ["--blocks", "--measure", "--noise-bound", "--profile"];
    match asks.iter().any(|one| options.contains(one)) {
        true => options.to_owned(),
        false => format!("--noise-bound 5% {options}"),
    }
}

/// Asserts what the plan says, whatever its lines, and that they fit any terminal.
#[track_caller]
fn plan(root: &Root, options: &str, expected: &[&str]) -> Ended {
    let ended = root
        .deadheat(&format!("run --dry-run --seed 1 {}", in_blocks(options)))
        .exits(0)
        .says(expected);
    let wide = ended.stdout.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "{ended}");
    assert!(root.sessions().is_empty(), "a session was made");
    ended
}

/// Asserts that it is refused before anything starts, and what is said.
#[track_caller]
fn refused(root: &Root, options: &str, expected: &[&str]) {
    // Without --dry-run: if it were not refused, it would begin.
    root.deadheat(&format!("run {}", in_blocks(options)))
        .exits(2)
        .has_no_data()
        .tells(expected);
    assert!(root.sessions().is_empty(), "a session was made");
    assert!(root.told("started").is_empty(), "a stack was started");
}

#[test]
fn the_plan_says_what_it_chose_why_and_what_longer_budgets_buy() {
    let root = root();
    plan(
        &root,
        "--budget 40s",
        &[
            "Plan: 2 stacks × 1 load point, 3 blocks → 12 trials, about 32 s",
            "a null server",
            "once more (A/A",
            "blocks 3 blocks of 1 s: the most blocks that fit 40s. Indicative",
            "latency not measured: no room for it in 40s with seven blocks",
            "--budget 1m20s: 7 blocks of 1 s: evidence rather than indication",
            "--budget 8m: 7 blocks of 3 s, with latency at 50, 70, 90 % of capacity and at a common rate",
        ],
    );
}

#[test]
fn what_is_offered_is_what_the_budget_buys() {
    let root = root();
    let evidence = plan(
        &root,
        "--budget 1m20s",
        &["7 blocks of 1 s: the longest measurement with which seven blocks fit 1m20s"],
    );
    assert!(!evidence.stdout.contains("ndicati"), "{evidence}");
    plan(
        &root,
        "--budget 8m",
        &[
            "7 blocks → 91 trials",
            "7 blocks of 3 s: the longest measurement with which seven blocks fit 8m",
            "latency open loops at 50, 70, 90 % of each stack's own capacity, and all at 70 % of the slowest one's",
            "more --budget 11m: 7 blocks of 5 s",
        ],
    );
    plan(
        &root,
        "--budget 1h",
        &["7 blocks of 5 s: seven blocks fit 1h at the longest measurement"],
    );
}

#[test]
fn a_budget_that_is_too_short_is_refused_with_what_would_do() {
    let root = root();
    refused(
        &root,
        "--budget 10s",
        &[
            "--budget 10s is too short: the least that means anything takes 32 s",
            "3 blocks of 4 trials, 2 of them on the null server and the A/A twin",
            "It would fit with --budget 40s.",
        ],
    );
    refused(
        &root,
        "--budget 1m --blocks 20",
        &[
            "what was asked for takes 4 min",
            "--budget 3m50s",
            "or --blocks 5",
        ],
    );
    plan(
        &root,
        "--budget 1m --blocks 5",
        &["5 blocks of 1 s: the longest measurement with which so many blocks fit 1m"],
    );
    refused(
        &root,
        "--budget 1m30s --latency on",
        &["--budget 1m50s", "or --latency off"],
    );
    plan(&root, "--budget 1m30s --latency off", &["7 blocks of 1 s"]);
}

#[test]
fn the_usual_budget_refuses_nothing_and_says_what_it_takes() {
    let stacks: Vec<Fake> = (0..90)
        .map(|index| Fake::good(&format!("fake-{index}")))
        .collect();
    let root = Root::with(&stacks);
    let told = plan(
        &root,
        "",
        &[
            "about 12 min",
            "3 blocks of 1 s: the least that means anything, but it takes 12 min, longer than 10m",
        ],
    );
    let offered = flat(&told.stdout);
    assert_eq!(
        offered.matches("3 blocks of 1 s").count(),
        1,
        "what is done anyway is no offer: {told}"
    );
}

#[test]
fn what_is_not_available_here_takes_no_time_of_the_budget() {
    let absent = r#"
[[toolchain]]
program = "deadheat-no-such-compiler"
version = ["deadheat-no-such-compiler", "--version"]
minimum = "1.2"
hint = "https://example.org/compiler"
"#;
    let root = Root::with(&[
        Fake::good("fake-good"),
        Fake::good("fake-absent").with(absent),
    ]);
    // Three trials fit, four do not.
    plan(
        &root,
        "--budget 25s",
        &["Plan: 1 stack × 1 load point, 3 blocks → 9 trials"],
    )
    .tells(&["1 of the 2 stacks cannot be measured here"]);
    refused(&root, "--budget 20s", &["3 blocks of 3 trials"]);
}

#[test]
fn presets_are_overridden_by_what_is_typed() {
    let root = root();
    plan(
        &root,
        "--quick",
        &[
            "3 blocks of 1 s: a first look (--quick). Indicative",
            "latency not measured",
        ],
    );
    plan(
        &root,
        "--quick --latency on",
        &["3 blocks of 1 s", "latency open loops"],
    );
    plan(
        &root,
        "--quick --blocks 4 --measure 2s",
        &["4 blocks of 2 s"],
    );
    plan(
        &root,
        "--publish",
        &[
            "10 blocks of 5 s: the least to publish (--publish)",
            "latency open loops",
        ],
    );
    plan(
        &root,
        "--publish --budget 1h",
        &[
            "30 blocks of 5 s: as many as are ever chosen",
            "latency open loops",
        ],
    );
    plan(
        &root,
        "--publish --budget 20m",
        &["13 blocks of 5 s: the most blocks of that length that fit 20m"],
    );
    plan(
        &root,
        "--publish --measure 1s --latency off",
        &["10 blocks of 1 s", "latency not measured"],
    );
    refused(
        &root,
        "--publish --budget 5m",
        &["--budget 5m is too short", "--budget 15m"],
    );
    refused(&root, "--publish --quick", &["cannot be used with"]);
}

#[test]
fn what_makes_figures_unfit_to_be_published_is_said_and_only_then() {
    let root = root();
    let objections = [
        "unfit to be published: server and generator are not kept apart",
        "unfit to be published: the stacks lie outside a git checkout",
        "unfit to be published: 3 blocks, where 10 are the least",
        "unfit to be published: no latency",
        "unfit to be published: disturbed trials count",
    ];
    let bad = "--pinning off --blocks 3 --latency off --noise-bound off";
    plan(&root, &format!("--publish {bad}"), &objections);
    let usual = plan(
        &root,
        bad,
        &["noise disturbed trials are flagged and count"],
    );
    assert!(!usual.stdout.contains("unfit"), "{usual}");
    let good = plan(&root, "--publish", &["outside a git checkout"]);
    assert!(!good.stdout.contains("blocks, where"), "{good}");
    assert!(!good.stdout.contains("no latency"), "{good}");
}

#[test]
fn phases_too_short_to_mean_anything_are_taken_and_told() {
    let root = root();
    plan(
        &root,
        "--measure 300ms --warm-up 999ms",
        &[
            "4 connections; 300 ms a trial",
            "a warm-up of 999 ms is too short to mean anything: --warm-up 1s or more",
            "a measurement of 300 ms is too short to mean anything: --measure 1s or more",
        ],
    );
    let fine = plan(&root, "--measure 1s --warm-up 1s", &["1 s a trial"]);
    assert!(!fine.stdout.contains("too short"), "{fine}");
}

#[test]
fn wrong_values_say_what_is_right() {
    let root = root();
    refused(&root, "--noise-bound 5", &["--noise-bound", "like 5%"]);
    refused(&root, "--noise-bound 0%", &["every trial would be void"]);
    refused(&root, "--latency sometimes", &["auto, on, off"]);
    refused(&root, "--budget 10", &["write it like 90s or 10m"]);
    refused(&root, "--blocks 0", &["--blocks"]);
    for preset in ["--quick", "--publish", "--latency on"] {
        let name = preset.split(' ').next().unwrap_or(preset);
        refused(
            &root,
            &format!("--profile seeds {preset}"),
            &[name, "--profile seeds"],
        );
    }
}
