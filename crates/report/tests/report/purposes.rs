//! What each case is there for.

use deadheat_report::view::{GroupView, Loss, RowState};

use crate::{cases, shown::latencies};

fn only_group(name: &str) -> &'static GroupView {
    let view = &cases::named(name).view;
    let [group] = view.groups()[..] else {
        panic!("{name} has {} groups", view.groups().len())
    };
    group
}

fn ranks(group: &GroupView) -> Vec<(&str, &str)> {
    let rows = group.rows.iter();
    rows.map(|row| (&*row.rank, &*row.target)).collect()
}

#[test]
fn a_dead_heat_shares_its_rank_and_a_lower_bound_has_none() {
    let view = &cases::named("plausible").view;
    let [json, users] = view.groups()[..] else {
        panic!("{}", view.groups().len())
    };
    // The bound is better than anything that was measured of the others.
    let expected = [
        ("–", "nginx-static"),
        ("1=", "rust-axum"),
        ("1=", "go-nethttp:1cpu"),
        ("3", "node-http"),
        ("4", "nim-jester"),
        ("5", "node-express"),
        ("6", "python-flask:gunicorn"),
    ];
    assert_eq!(ranks(json), expected);
    assert!(json.rows[0].throughput.starts_with("≥ ") && json.rows[0].interval.is_none());
    assert!(json.rows[0].notes[0].contains("was the limit in 7 of 7 trials"));
    assert!(
        ranks(users)
            .iter()
            .all(|(_, target)| *target != "nim-jester")
    );
    assert_eq!(users.losses[0].what, "failed in 2 of 7 trials");
    assert_eq!(view.losses[0].target, "elixir-bandit");
}

#[test]
fn stacks_that_are_alike_share_one_rank_and_are_bracketed() {
    let group = only_group("ties");
    assert_eq!(ranks(group), [("1=", "c"), ("1=", "a"), ("1=", "b")]);
    assert_eq!(group.heats, [vec![0, 1, 2]]);
    assert!(
        group.summary.starts_with("Indicative: "),
        "{}",
        group.summary
    );
    assert!(group.pairs.iter().all(|pair| pair.verdict != "different"));
}

#[test]
fn a_single_trial_has_no_interval_and_no_comparison() {
    let group = only_group("one-trial");
    let [row] = &group.rows[..] else { panic!() };
    assert_eq!((&*row.rank, &*row.throughput), ("–", "1,230"));
    assert_eq!(
        (&row.interval, &row.spread, &row.cpu_interval),
        (&None, &None, &None)
    );
    assert!(group.pairs.is_empty() && group.heats.is_empty());
    assert!(
        group.intervals.contains("there is no interval"),
        "{}",
        group.intervals
    );
    assert!(only_group("nothing").rows.is_empty());
}

#[test]
fn where_all_fail_nothing_is_ranked_and_every_failure_is_named() {
    let view = &cases::named("failures-only").view;
    let group = only_group("failures-only");
    assert!(group.rows.is_empty() && group.pairs.is_empty());
    let named = |losses: &[Loss]| -> Vec<String> {
        let losses = losses.iter();
        losses
            .map(|loss| format!("{} {}", loss.target, loss.what))
            .collect()
    };
    assert_eq!(
        named(&view.losses),
        [
            "elixir-bandit is unavailable here",
            "bad-build failed while building"
        ]
    );
    assert_eq!(
        named(&group.losses),
        [
            "bad-json failed while being checked before the load",
            "bad-answers failed in 2 of 2 trials",
            "bad-start failed in 2 of 2 trials",
        ]
    );
    for loss in view.losses.iter().chain(&group.losses) {
        assert!(!loss.reasons.is_empty(), "{loss:?}");
    }
    assert_eq!(group.losses[2].log.len(), cases::HOSTILE.len());
    assert!(group.losses[1].examples[0].contains("500 Internal Server Error"));
}

#[test]
fn of_thirty_stacks_each_is_ranked_or_named_among_the_failed() {
    let view = &cases::named("thirty").view;
    let group = only_group("thirty");
    assert_eq!((group.rows.len(), group.losses.len()), (28, 2));
    let lost: Vec<&str> = group.losses.iter().map(|loss| &*loss.target).collect();
    assert_eq!(lost, ["language-framework7", "language-framework8"]);
    assert!(
        group.losses[0].reasons[1].contains("30 reset"),
        "{:?}",
        group.losses[0]
    );
    assert_eq!(
        group.dead_heats.len(),
        group.heats.len() - 1,
        "the first is in the summary"
    );
    let unsteady = group
        .rows
        .iter()
        .find(|row| row.target == "language-framework5")
        .unwrap();
    assert_eq!(unsteady.notes, ["not steady in 1 of 3 trials"]);
    assert!(
        view.alerts
            .iter()
            .any(|alert| alert.contains("1 trial changed in throughput"))
    );
}

#[test]
fn of_a_killed_session_only_complete_blocks_count() {
    let view = &cases::named("lost-block").view;
    let group = only_group("lost-block");
    assert_eq!(ranks(group), [("1", "rust-axum"), ("2", "go-nethttp")]);
    assert!(
        view.headline.contains("2 of 7 blocks complete"),
        "{}",
        view.headline
    );
    assert!(view.alerts[0].contains("killed"), "{:?}", view.alerts);
    assert!(view.alerts[2].starts_with("Left out"), "{:?}", view.alerts);
    let left_out = group.cells.iter().filter_map(|cell| cell.left_out.as_ref());
    assert_eq!(left_out.count(), 1);
}

#[test]
fn a_lost_null_server_and_a_lost_twin_leave_ceiling_and_noise_unknown() {
    let group = only_group("lost-ceiling");
    for (sentence, who) in [(&group.ceiling, "null server"), (&group.noise, "twin")] {
        let sentence = sentence.as_ref().unwrap();
        let failed = format!("{who} failed in 1 of 3 trials");
        assert!(
            sentence.contains(&failed) && sentence.contains("not known"),
            "{sentence}"
        );
    }
    assert!(group.ceiling_dot.is_none());
    assert_eq!(group.rows.len(), 2, "neither is a stack");
}

#[test]
fn stacks_limited_at_their_own_rate_are_not_ranked_there_and_are_ranked_elsewhere() {
    let view = &cases::named("thirty-latency").view;
    let [latency] = &latencies(view).collect::<Vec<_>>()[..] else {
        panic!()
    };
    let [common, own] = &latency.tables[..] else {
        panic!("{}", latency.tables.len())
    };
    assert!(common.is_ranked && !own.is_ranked);
    assert_eq!((common.rows.len(), own.rows.len()), (30, 30));
    let limited = own
        .rows
        .iter()
        .filter(|row| row.state == RowState::LowerBound);
    assert_eq!(limited.count(), 15);
    assert!(view.alerts.iter().any(|alert| alert.contains("and 8 more")));
}
