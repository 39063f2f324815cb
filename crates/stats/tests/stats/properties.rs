//! Laws that hold for any figures.

use deadheat_model::SessionRecord;
use deadheat_stats::{
    Analysis, analyse,
    compare::holm,
    interval::log_mean,
    order_statistic::{bounds, median_interval},
};
use proptest::prelude::*;

use crate::fixture::{Found, Session, good};

/// Sessions of a few stacks over a few blocks, each trial at its own rate (small, to be quick).
fn rates() -> impl Strategy<Value = Vec<Vec<f64>>> {
    (2_usize..5, 2_usize..8).prop_flat_map(|(stacks, blocks)| {
        let trial = 20.0..40.0_f64;
        prop::collection::vec(prop::collection::vec(trial, blocks), stacks)
    })
}

fn session(rates: &[Vec<f64>], scale: f64) -> SessionRecord {
    let blocks = rates[0].len() as u32;
    let mut session = Session::new(blocks).workload("json", &[50]);
    for stack in 0..rates.len() {
        session = session.stack(&format!("s-{stack}"));
    }
    let record = session.measured(blocks, |cell, block| {
        let stack: usize = cell.target.stack[2..].parse().unwrap();
        good(Found::at(rates[stack][block as usize] * scale))
    });
    record.build()
}

fn ranks(analysis: &Analysis) -> Vec<(String, Option<u32>)> {
    let mut ranks: Vec<_> = analysis.groups[0]
        .cells
        .iter()
        .map(|cell| (cell.target.to_string(), cell.rank))
        .collect();
    ranks.sort();
    ranks
}

proptest! {
    #[test]
    fn intervals_hold_their_centre(values in prop::collection::vec(0.001..1e6_f64, 2..60)) {
        let median = median_interval(&values, 0.95).unwrap();
        let interval = median.interval.unwrap();
        prop_assert!(interval.low <= median.median && median.median <= interval.high);
        let mean = log_mean(&values, 0.95).unwrap();
        let interval = mean.interval.unwrap();
        prop_assert!(interval.low <= mean.mean && mean.mean <= interval.high);
    }

    #[test]
    fn intervals_do_not_see_the_order(
        values in prop::collection::vec(0.001..1e6_f64, 1..30).prop_shuffle(),
    ) {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        prop_assert_eq!(median_interval(&values, 0.95), median_interval(&sorted, 0.95));
    }

    #[test]
    fn levels_are_reached_when_they_can_be(n in 2_u64..200) {
        let found = bounds(n, 0.95).unwrap();
        prop_assert!(found.rank == 1 || found.level >= 0.95);
        prop_assert!(found.level >= 0.95 || n <= 5);
        prop_assert!(found.rank <= n / 2);
    }

    #[test]
    fn holm_only_raises_and_keeps_order(p in prop::collection::vec(0.0..=1.0_f64, 1..40)) {
        let adjusted = holm(&p);
        for (i, a) in adjusted.iter().enumerate() {
            prop_assert!(*a >= p[i] && *a <= 1.0);
            prop_assert!(p.iter().zip(&adjusted).all(|(q, b)| *q < p[i] || b >= a));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn ranks_are_consistent(rates in rates()) {
        let analysis = analyse(&session(&rates, 1.0));
        let group = &analysis.groups[0];
        prop_assert_eq!(group.cells[0].rank, Some(1));
        let rank = |target| group.cells.iter().find(|cell| cell.target == target).unwrap().rank.unwrap();
        for pair in group.cells.windows(2).filter(|pair| pair[0].rank == pair[1].rank) {
            prop_assert!(pair[0].throughput() >= pair[1].throughput());
        }
        for cell in &group.cells {
            prop_assert!(cell.rank.unwrap() as usize <= group.cells.len());
        }
        for dead_heat in &group.dead_heats {
            let heat = &dead_heat.targets;
            prop_assert!(dead_heat.open_ratio >= 1.0);
            prop_assert!(heat.len() > 1);
            prop_assert!(heat.iter().all(|t| rank(t.clone()) == rank(heat[0].clone())));
            let within = |pair: &&deadheat_stats::compare::Comparison| {
                heat.contains(&pair.faster) && heat.contains(&pair.slower)
            };
            prop_assert!(!group.comparison.pairs().iter().filter(within).any(|pair| pair.different));
        }
        for pair in group.comparison.pairs() {
            prop_assert!(!pair.different || rank(pair.faster.clone()) < rank(pair.slower.clone()));
            prop_assert!(pair.ratio >= 1.0 && pair.p_adjusted >= pair.p);
            prop_assert!(pair.interval.low <= pair.ratio && pair.ratio <= pair.interval.high);
        }
    }

    #[test]
    fn no_difference_is_below_the_noise_floor(rates in rates(), twins in prop::collection::vec(20.0..40.0_f64, 8)) {
        let blocks = rates[0].len() as u32;
        let mut session = Session::new(blocks).workload("json", &[50]);
        for stack in 0..rates.len() {
            session = session.stack(&format!("s-{stack}"));
        }
        let record = session.twin("s-0").measured(blocks, |cell, block| {
            let stack: Option<usize> = cell.target.stack.strip_prefix("s-").map(|id| id.parse().unwrap());
            let rate = stack.map_or(twins[block as usize], |stack| rates[stack][block as usize]);
            good(Found::at(rate))
        });
        let analysis = analyse(&record.build());
        let group = &analysis.groups[0];
        let floor = group.twin.as_ref().unwrap().floor().unwrap();
        prop_assert!(group.least_difference >= floor && group.least_difference >= 0.01);
        prop_assert_eq!(group.cells.len(), rates.len());
        for pair in group.comparison.pairs() {
            prop_assert!(!pair.different || pair.ratio > 1.0 + floor);
        }
    }

    #[test]
    fn the_order_of_trials_and_of_the_plan_does_not_matter(rates in rates(), turn in 0_usize..50) {
        let record = session(&rates, 1.0);
        let mut turned = record.clone();
        let trials = turned.trials.len();
        turned.trials.rotate_left(turn % trials);
        turned.trials.reverse();
        turned.header.plan.cells.reverse();
        let (mut one, mut other) = (analyse(&record), analyse(&turned));
        for analysis in [&mut one, &mut other] {
            for cell in &mut analysis.groups[0].cells {
                cell.trials.iter_mut().for_each(|trial| trial.record = 0);
            }
        }
        prop_assert_eq!(one, other);
    }

    #[test]
    fn a_faster_machine_changes_no_rank(rates in rates(), scale in 1_u32..5) {
        // Rates become whole numbers of answers, so that scaling them is exact.
        let whole: Vec<Vec<f64>> = rates.iter().map(|r| r.iter().map(|x| x.round()).collect()).collect();
        let one = analyse(&session(&whole, 1.0));
        let other = analyse(&session(&whole, f64::from(scale)));
        prop_assert_eq!(ranks(&one), ranks(&other));
    }
}
