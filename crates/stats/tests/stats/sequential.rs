//! What the looks of a comparison cost and find, by simulation: log-ratios of two things, heat by heat.

use deadheat_stats::{
    comparison::{
        Bounds, CellId, Metric, RatioVerdict,
        paired::{PairedCell, PairedSeries, at_look},
    },
    interval::{moments, t_quantile},
    sequential::Design,
};

use crate::random::Random;

/// Simulated comparisons. The sampling error of 5 % in so many is 0.5 %.
const SESSIONS: u64 = 2_000;
/// 5 % and three sampling errors.
const AT_MOST: f64 = 0.05 + 3.0 * 0.0049;
/// The most heats of each: six looks.
const MAX_HEATS: u32 = 40;

/// A comparison of B, `ratio` times as fast as A, whose heats scatter by `noise` on a machine that drifts.
fn pairs(seed: u64, ratio: f64, noise: f64) -> Vec<(f64, f64)> {
    let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95));
    (0..MAX_HEATS)
        .map(|heat| {
            let drift = 1.0 + 0.05 * f64::from(heat) / f64::from(MAX_HEATS);
            let mut rate = |rate: f64| rate * drift * (noise * random.normal()).exp();
            (rate(1_000.0), rate(1_000.0 * ratio))
        })
        .collect()
}

fn cell(pairs: &[(f64, f64)]) -> PairedCell {
    let series = PairedSeries::of_pairs(Metric::Throughput, pairs);
    PairedCell::new(CellId::default(), series)
}

fn design() -> Design {
    let design = Design::within(MAX_HEATS, 0.05).unwrap();
    assert_eq!(design.looks.len(), 6);
    design
}

/// The verdict at every look.
fn verdicts(pairs: &[(f64, f64)]) -> Vec<RatioVerdict> {
    verdicts_within(pairs, &Bounds::default())
}

fn verdicts_within(pairs: &[(f64, f64)], bounds: &Bounds) -> Vec<RatioVerdict> {
    let looks = design().looks;
    let at = looks.into_iter().map(|look| {
        let cell = cell(&pairs[..look.heats as usize]);
        at_look(&[cell], look, bounds)[0].verdict
    });
    at.collect()
}

/// The share of the simulated comparisons for which `holds`.
fn share(ratio: f64, noise: f64, holds: impl Fn(&[(f64, f64)]) -> bool) -> f64 {
    let found = (0..SESSIONS).filter(|seed| holds(&pairs(*seed, ratio, noise)));
    found.count() as f64 / SESSIONS as f64
}

fn different(verdict: &RatioVerdict) -> bool {
    matches!(verdict, RatioVerdict::Better | RatioVerdict::Worse)
}

#[test]
fn identical_things_are_called_different_at_any_look_in_five_percent_at_most() {
    let called = share(1.0, 0.10, |pairs| verdicts(pairs).iter().any(different));
    assert!(called <= AT_MOST, "{called}");
}

/// No interval at any look may miss the ratio.
#[test]
fn the_intervals_hold_the_ratio_at_all_looks_together() {
    let looks = design().looks;
    let missed = share(1.2, 0.05, |pairs| {
        looks.iter().any(|look| {
            let cell = cell(&pairs[..look.heats as usize]);
            let found = at_look(&[cell], *look, &Bounds::default());
            let interval = found[0].ratios[0].interval;
            interval.is_some_and(|interval| interval.low > 1.2 || interval.high < 1.2)
        })
    });
    assert!(missed <= AT_MOST, "{missed}");
    // Bonferroni wastes something, but not most of it.
    assert!(missed >= 0.01, "{missed}");
}

/// What the design is for: the same looks, each at 5 %, go far beyond.
#[test]
fn peeking_at_the_same_looks_calls_identical_things_different_far_more_often() {
    let looks = design().looks;
    let called = share(1.0, 0.10, |pairs| {
        looks.iter().any(|look| {
            let pairs = &pairs[..look.heats as usize];
            let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b / a).ln()).collect();
            let moments = moments(&logs).unwrap();
            moments.mean.abs() > t_quantile(0.975, moments.n - 1) * moments.error
        })
    });
    assert!(called > 0.12, "{called}");
}

#[test]
fn a_difference_beyond_the_margin_is_called_a_dead_heat_in_five_percent_at_most() {
    // Just beyond it, where it is hardest.
    let cases = [
        (0.03, 1.0301, 0.02),
        (0.03, 1.0 / 1.0301, 0.02),
        (0.01, 1.0101, 0.005),
        (0.01, 1.0 / 1.0101, 0.005),
    ];
    for (margin, ratio, noise) in cases {
        let bounds = Bounds {
            margin,
            ..Bounds::default()
        };
        let called = share(ratio, noise, |pairs| {
            verdicts_within(pairs, &bounds).contains(&RatioVerdict::DeadHeat)
        });
        assert!(called <= AT_MOST, "{ratio} under {noise}: {called}");
    }
}

#[test]
fn what_there_is_to_find_is_found() {
    let faster = share(1.05, 0.02, |pairs| {
        verdicts(pairs).contains(&RatioVerdict::Better)
    });
    assert!(faster >= 0.9, "5 % under 2 % of noise: {faster}");
    let slower = share(1.0 / 1.05, 0.02, |pairs| {
        verdicts(pairs).contains(&RatioVerdict::Worse)
    });
    assert!(slower >= 0.9, "the same the other way: {slower}");
    let heat = share(1.0, 0.02, |pairs| {
        verdicts(pairs).contains(&RatioVerdict::DeadHeat)
    });
    assert!(heat >= 0.9, "a dead heat under 2 % of noise: {heat}");
}

/// Several cells share the error: any of ten identical ones is called different in 5 % at most.
#[test]
fn cells_share_the_error() {
    let looks = design().looks;
    let called = (0..SESSIONS / 4).filter(|session| {
        let cells: Vec<Vec<(f64, f64)>> = (0..10)
            .map(|cell| pairs(session * 10 + cell, 1.0, 0.1))
            .collect();
        looks.iter().any(|look| {
            let cells: Vec<PairedCell> = cells
                .iter()
                .map(|pairs| cell(&pairs[..look.heats as usize]))
                .collect();
            let found = at_look(&cells, *look, &Bounds::default());
            found.iter().any(|cell| different(&cell.verdict))
        })
    });
    let called = called.count() as f64 / (SESSIONS / 4) as f64;
    assert!(called <= 0.05 + 3.0 * 0.0098, "{called}");
}
