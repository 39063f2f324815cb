//! Blocks and durations from a budget: a pure function.

use std::time::Duration;

use deadheat_model::{
    Cell, LoadPoint, Plan, TargetId,
    plan::{Controls, Pinning, PlannedWorkload},
    stack::Runtime,
    workload::{CountedLoad, Oracle},
};

use super::{SelectedWorkload, SessionOptions};

/// Blocks and measurement, best first; the first pair that fits the budget is taken. More blocks come before longer
/// ones, because runs differ more between processes than inside one (Kalibera & Jones, ISMM 2013).
const LADDER: [(u32, u64); 8] = [
    (7, 5),
    (7, 3),
    (7, 2),
    (5, 3),
    (5, 2),
    (5, 1),
    (3, 2),
    (3, 1),
];

/// Starting, checking and stopping a server, in a trial, beside the time to its first answer.
const OVERHEAD: Duration = Duration::from_millis(400);
/// The time to the first answer, while it is not known.
const USUAL_READY: Duration = Duration::from_millis(300);

/// Requests per second, while nothing is known of them.
const UNKNOWN_RATE: f64 = 1000.0;

/// A target that takes part, and how long it took to its first correct answer when it was prepared.
#[derive(Clone, Debug)]
pub struct Participant {
    /// The stack, under its variant.
    pub target: TargetId,
    /// How its code is executed.
    pub runtime: Runtime,
    /// Workloads that it answers.
    pub workloads: Vec<String>,
    /// To its first correct answer, once that is known.
    pub ready: Option<Duration>,
}

/// The warm-up of a runtime, fixed and declared: a compiler that works while the code runs needs longer.
pub fn warm_up(runtime: Runtime) -> Duration {
    match runtime {
        Runtime::Native | Runtime::Interpreted => Duration::from_secs(1),
        Runtime::Jit => Duration::from_secs(2),
    }
}

/// Plans a session of `participants`.
pub fn plan(options: &SessionOptions, participants: &[Participant], pinning: Pinning) -> Plan {
    let ladder: Vec<(u32, Duration)> = match (options.blocks, options.measure) {
        (Some(blocks), Some(measure)) => vec![(blocks, measure)],
        (Some(blocks), None) => LADDER
            .map(|(_, seconds)| (blocks, Duration::from_secs(seconds)))
            .to_vec(),
        (None, Some(measure)) => LADDER.map(|(blocks, _)| (blocks, measure)).to_vec(),
        (None, None) => LADDER
            .map(|(blocks, seconds)| (blocks, Duration::from_secs(seconds)))
            .to_vec(),
    };
    let within = |time: Duration| options.budget.is_none_or(|budget| time <= budget);
    let fits = |rung: &&(u32, Duration)| within(estimate(options, participants, rung.0, rung.1));
    // The last rung is the least that means anything; when even that is too long, the estimate says so.
    let shortest = ladder.iter().min_by_key(|rung| (rung.0, rung.1));
    let (blocks, measure) = *ladder
        .iter()
        .find(fits)
        .or(shortest)
        .unwrap_or(&(3, Duration::from_secs(1)));
    Plan {
        seed: options.seed,
        blocks,
        targets: participants.iter().map(|one| one.target.clone()).collect(),
        workloads: options
            .workloads
            .iter()
            .map(|workload| PlannedWorkload {
                id: workload.manifest.id.clone(),
                description: workload.manifest.description.clone(),
                points: workload.points.clone(),
                delay_seconds: (workload.manifest.oracle == Oracle::Relayed)
                    .then(|| crate::services::upstream::DELAY.as_secs_f64()),
                measure: measurement(workload, measure, options.measure),
            })
            .collect(),
        cells: planned(options, participants)
            .map(|planned| planned.cell)
            .collect(),
        controls: Controls::default(),
        noise_bound: None,
        pinning,
        budget_seconds: options.budget.map(|budget| budget.as_secs_f64()),
        estimate: estimate(options, participants, blocks, measure),
    }
}

/// A workload's measurement: the plan's, or the least that the workload needs, unless the user said otherwise.
fn measurement(
    workload: &SelectedWorkload,
    planned: Duration,
    asked: Option<Duration>,
) -> Duration {
    asked.unwrap_or_else(|| planned.max(workload.manifest.least_measurement.unwrap_or_default()))
}

/// A cell, and what it stands for.
struct Planned<'a> {
    cell: Cell,
    participant: &'a Participant,
    workload: &'a SelectedWorkload,
    point: &'a LoadPoint,
}

fn planned<'a>(
    options: &'a SessionOptions,
    participants: &'a [Participant],
) -> impl Iterator<Item = Planned<'a>> {
    let all = participants.iter().flat_map(move |participant| {
        let answered = options
            .workloads
            .iter()
            .filter(|workload| participant.workloads.contains(&workload.manifest.id));
        answered.flat_map(move |workload| {
            workload.points.iter().map(move |point| Planned {
                cell: Cell {
                    target: participant.target.clone(),
                    workload: workload.manifest.id.clone(),
                    point: point.id.clone(),
                },
                participant,
                workload,
                point,
            })
        })
    });
    let asked = options.cells.as_ref();
    all.filter(move |one| asked.is_none_or(|cells| cells.contains(&one.cell)))
}

/// The time that measuring will take.
fn estimate(
    options: &SessionOptions,
    participants: &[Participant],
    blocks: u32,
    measure: Duration,
) -> Duration {
    let block: Duration = planned(options, participants)
        .map(|one| {
            let probes = match one.workload.manifest.oracle {
                // One probe before and one after the load, each as slow as the upstream.
                Oracle::Relayed => 2 * crate::services::upstream::DELAY,
                _ => Duration::ZERO,
            };
            let usual = options
                .warm_up
                .unwrap_or_else(|| warm_up(one.participant.runtime));
            let load = match &one.point.counted {
                None => measurement(one.workload, measure, options.measure),
                Some(by_count) => counted(options, &one.cell, by_count),
            };
            one.participant.ready.unwrap_or(USUAL_READY)
                + OVERHEAD
                + probes
                + one.point.warm_up(usual)
                + load
        })
        .sum();
    block * blocks
}

/// About the time of a load of so many requests: what a published run of it took, else a guess.
fn counted(options: &SessionOptions, cell: &Cell, by_count: &CountedLoad) -> Duration {
    let mut tables = options.published.iter();
    let published = tables.find_map(|repeated| {
        let mut rows = repeated.rows.iter().zip(&repeated.table.row);
        let (_, row) = rows.find(|(row, _)| row.cell() == Some(cell))?;
        row.requests_per_second
    });
    let seconds = by_count.requests as f64 / published.unwrap_or(UNKNOWN_RATE);
    let takes = Duration::try_from_secs_f64(seconds).unwrap_or(by_count.limit);
    by_count.limit.min(takes)
}

#[cfg(test)]
mod tests {
    use deadheat_model::{
        WorkloadManifest,
        load::{HttpVersion, Reuse},
        workload::Framing,
    };

    use super::*;
    use crate::{
        process::Supervision,
        services::postgres::Source,
        session::{PinningMode, START_TIMEOUT},
    };

    fn workload(id: &str, oracle: Oracle, least: Option<Duration>) -> SelectedWorkload {
        let point = LoadPoint {
            id: "c50".to_owned(),
            connections: 50,
            rounds: None,
            counted: None,
            open: None,
        };
        SelectedWorkload {
            manifest: WorkloadManifest {
                id: id.to_owned(),
                description: String::new(),
                oracle,
                method: "GET".to_owned(),
                path: "/".to_owned(),
                content_type: "text/plain".to_owned(),
                least_measurement: least,
                content_sample: 1,
                point: vec![point.clone()],
            },
            points: vec![point],
        }
    }

    fn options(budget: u64) -> SessionOptions {
        let text = Oracle::Text {
            body: String::new(),
        };
        SessionOptions {
            targets: Vec::new(),
            workloads: vec![
                workload("plaintext", text, None),
                workload("users", Oracle::Users, None),
                workload("proxy", Oracle::Relayed, Some(Duration::from_secs(2))),
            ],
            cells: None,
            published: Vec::new(),
            plaintext: None,
            results: "results".into(),
            seed: 1,
            budget: Some(Duration::from_secs(budget)),
            blocks: None,
            measure: None,
            warm_up: None,
            pinning: PinningMode::Off,
            postgres: Source::automatic(None),
            supervision: Supervision::by("deadheat"),
            start_timeout: START_TIMEOUT,
            findings: Vec::new(),
            arguments: Vec::new(),
            version: String::new(),
        }
    }

    fn participants(count: usize, runtime: Runtime) -> Vec<Participant> {
        (0..count)
            .map(|index| Participant {
                target: TargetId::new(format!("stack-{index}"), None),
                runtime,
                workloads: ["plaintext", "users", "proxy"].map(str::to_owned).to_vec(),
                ready: None,
            })
            .collect()
    }

    fn planned(options: &SessionOptions, count: usize) -> Plan {
        plan(
            options,
            &participants(count, Runtime::Native),
            Pinning::Off { cpus: vec![0] },
        )
    }

    #[test]
    fn the_default_budget_gives_five_stacks_seven_blocks() {
        let plan = planned(&options(600), 5);
        assert_eq!((plan.blocks, plan.cells.len()), (7, 15));
        assert!(plan.estimate <= Duration::from_secs(600));
        assert!(
            plan.estimate >= Duration::from_secs(300),
            "the budget is used: {:?}",
            plan.estimate
        );
    }

    #[test]
    fn a_small_budget_keeps_three_blocks_and_whole_seconds_and_says_what_it_takes() {
        let plan = planned(&options(1), 5);
        assert_eq!(plan.blocks, 3);
        assert_eq!(plan.workloads[0].measure, Duration::from_secs(1));
        assert!(plan.estimate > Duration::from_secs(1));
    }

    #[test]
    fn a_workload_keeps_its_least_measurement_unless_the_user_says_otherwise() {
        let mut options = options(1);
        assert_eq!(
            planned(&options, 1).workloads[2].measure,
            Duration::from_secs(2)
        );
        options.measure = Some(Duration::from_millis(500));
        assert_eq!(
            planned(&options, 1).workloads[2].measure,
            Duration::from_millis(500)
        );
    }

    #[test]
    fn more_budget_never_buys_less() {
        let mut last = (0, Duration::ZERO);
        for budget in [1, 60, 120, 240, 480, 960, 1920] {
            let plan = planned(&options(budget), 5);
            let bought = (plan.blocks, plan.workloads[0].measure);
            assert!(bought.0 >= last.0, "{bought:?} after {last:?}");
            last = bought;
        }
        assert_eq!(last, (7, Duration::from_secs(5)));
    }

    #[test]
    fn blocks_and_measurement_can_be_given() {
        let mut options = options(1);
        (options.blocks, options.measure) = (Some(11), Some(Duration::from_secs(9)));
        let plan = planned(&options, 1);
        assert_eq!(
            (plan.blocks, plan.workloads[0].measure),
            (11, Duration::from_secs(9))
        );
    }

    #[test]
    fn a_workload_that_a_stack_lacks_is_no_cell() {
        let mut some = participants(2, Runtime::Jit);
        some[1].workloads.retain(|id| id == "users");
        let plan = plan(&options(600), &some, Pinning::Off { cpus: vec![0] });
        assert_eq!(plan.cells.len(), 4);
    }

    #[test]
    fn only_the_cells_that_are_asked_for_are_planned() {
        let mut options = options(600);
        let cell = planned(&options, 2).cells[3].clone();
        options.cells = Some([cell.clone()].into());
        assert_eq!(planned(&options, 2).cells, [cell]);
    }

    #[test]
    fn a_load_by_count_takes_about_its_requests_and_no_longer_than_its_limit() {
        let mut options = options(600);
        options.budget = None;
        options.blocks = Some(1);
        options.workloads.truncate(1);
        let mut estimate = |requests: u64| {
            options.workloads[0].points[0].counted = Some(CountedLoad {
                requests,
                limit: Duration::from_secs(60),
                http: HttpVersion::Http10,
                reuse: Reuse::PerRequest,
                bodies: Framing::Sized,
            });
            planned(&options, 1).estimate
        };
        let fixed = USUAL_READY + OVERHEAD;
        // 1,000 requests/s where nothing is known; there is no warm-up.
        assert_eq!(estimate(5_000), fixed + Duration::from_secs(5));
        assert_eq!(estimate(5_000_000), fixed + Duration::from_secs(60));
    }
}
