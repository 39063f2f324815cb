//! Which cells: contenders, controls, open loops.

use std::collections::BTreeSet;

use deadheat_model::{Cell, plan::Controls};

use super::*;

/// The targets of the cells at a load point, and how often each is there.
fn at<'a>(plan: &'a Plan, workload: &str, point: &str) -> Vec<&'a str> {
    let cells = plan.cells.iter();
    let there =
        cells.filter(|cell| (cell.workload.as_str(), cell.point.as_str()) == (workload, point));
    there.map(|cell| cell.target.stack.as_str()).collect()
}

fn twin_of(plan: &Plan) -> String {
    let twin = plan.controls.twin.as_ref().expect("a twin");
    twin.of.to_string()
}

#[test]
fn one_stack_and_one_workload_have_a_null_server_and_a_twin() {
    let mut options = options(600);
    options.workloads.truncate(1);
    let plan = planned(&options, 1);
    let expected = ["stack-0", "~null-server", "~aa-twin"];
    assert_eq!(at(&plan, "plaintext", "c50"), expected);
    assert_eq!(plan.cells.len(), 3);
    assert_eq!(plan.targets, [TargetId::new("stack-0", None)]);
    assert_eq!(twin_of(&plan), "stack-0");
    assert!(plan.controls.has(&Controls::null_server_id()));
}

#[test]
fn a_workload_that_a_stack_lacks_is_no_cell_and_one_that_all_lack_has_no_control() {
    let mut some = participants(2, Runtime::Jit);
    some[0].workloads.retain(|id| id != "proxy");
    some[1].workloads.retain(|id| id == "users");
    let plan = of(&options(600), &some);
    assert_eq!(
        at(&plan, "users", "c50"),
        ["stack-0", "stack-1", "~null-server", "~aa-twin"]
    );
    assert_eq!(
        at(&plan, "plaintext", "c50"),
        ["stack-0", "~null-server", "~aa-twin"]
    );
    assert_eq!(at(&plan, "proxy", "c50"), Vec::<&str>::new());
}

#[test]
fn the_twin_is_of_a_stack_that_answers_most_and_the_seed_says_of_which() {
    let mut some = participants(4, Runtime::Native);
    some[2].workloads.truncate(2);
    let twins: BTreeSet<String> = (0..64)
        .map(|seed| {
            let options = SessionOptions {
                seed,
                ..options(600)
            };
            assert_eq!(of(&options, &some).controls, of(&options, &some).controls);
            twin_of(&of(&options, &some))
        })
        .collect();
    assert_eq!(
        twins,
        ["stack-0", "stack-1", "stack-3"].map(str::to_owned).into()
    );
}

#[test]
fn open_loops_follow_each_closed_one_at_shares_and_at_a_common_rate() {
    let mut options = options(600);
    (options.latency, options.budget) = (LatencyMode::On, None);
    let plan = planned(&options, 2);
    let ids: Vec<&str> = plan.workloads[0]
        .points
        .iter()
        .map(|one| one.id.as_str())
        .collect();
    let shares = [
        "c50",
        "c50-open-50",
        "c50-open-70",
        "c50-open-90",
        "c50-open-common",
    ];
    assert_eq!(ids, shares);
    for point in &plan.workloads[0].points[1..] {
        let open = point.open.as_ref().expect("an open loop");
        assert_eq!((open.capacity_of.as_str(), point.connections), ("c50", 50));
    }
    let contenders = ["stack-0", "stack-1"];
    for id in &shares[1..4] {
        assert_eq!(
            at(&plan, "users", id),
            contenders,
            "controls have no capacity of their own to share"
        );
    }
    let common = ["stack-0", "stack-1", "~aa-twin"];
    assert_eq!(at(&plan, "users", "c50-open-common"), common);
    let closed = ["stack-0", "stack-1", "~null-server", "~aa-twin"];
    assert_eq!(at(&plan, "users", "c50"), closed);
    let distinct: BTreeSet<&Cell> = plan.cells.iter().collect();
    assert_eq!(distinct.len(), plan.cells.len());
}

#[test]
fn loads_of_so_many_requests_have_neither_controls_nor_open_loops() {
    let mut options = options(600);
    options.latency = LatencyMode::On;
    for workload in &mut options.workloads {
        workload.points[0].counted = Some(by_count(1000));
    }
    let plan = planned(&options, 2);
    assert_eq!(plan.controls, Controls::default());
    assert_eq!(plan.cells.len(), 6);
    assert!(plan.cells.iter().all(|cell| cell.point == "c50"));
}

#[test]
fn a_load_by_count_among_others_has_no_control_and_they_have() {
    let mut options = options(600);
    options.latency = LatencyMode::On;
    options.workloads.truncate(1);
    let counted = LoadPoint {
        counted: Some(by_count(1000)),
        ..point("n1000")
    };
    options.workloads[0].points.push(counted);
    let plan = planned(&options, 1);
    assert_eq!(at(&plan, "plaintext", "n1000"), ["stack-0"]);
    assert_eq!(
        at(&plan, "plaintext", "c50"),
        ["stack-0", "~null-server", "~aa-twin"]
    );
}

#[test]
fn only_the_cells_that_are_asked_for_are_planned_with_what_follows_from_them() {
    let mut options = options(600);
    let cell = planned(&options, 2).cells[3].clone();
    assert_eq!(cell.to_string(), "stack-1 plaintext c50");
    options.cells = Some([cell.clone()].into());
    let cells = planned(&options, 2).cells;
    assert_eq!(cells[0], cell);
    assert_eq!(
        at(&planned(&options, 2), "plaintext", "c50"),
        ["stack-1", "~null-server", "~aa-twin"]
    );
    options.latency = LatencyMode::On;
    let open = planned(&options, 2);
    // Four open ones of its own, and the twin's at the common rate.
    assert_eq!(open.cells.len(), cells.len() + 5);
}

#[test]
fn without_stacks_there_are_no_controls() {
    let plan = planned(&options(600), 0);
    assert_eq!((plan.cells.len(), plan.controls), (0, Controls::default()));
}

#[test]
fn the_bound_for_noise_is_the_one_that_was_asked_for() {
    let mut options = options(600);
    assert_eq!(
        planned(&options, 1).noise_bound,
        Some(NoiseBound::default())
    );
    options.noise_bound = None;
    assert_eq!(planned(&options, 1).noise_bound, None);
}
