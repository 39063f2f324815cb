//! The statistics against SciPy, statsmodels and R: their figures are kept as data in `reference/`, with the scripts
//! that made them. What they cannot say (what a single value has, or none) is typed here.

use deadheat_stats::{
    interval::{bounds, holm, log_mean, median_interval, moments, t_quantile},
    uneven::trend_of,
};
use serde::Deserialize;

/// How far a figure may be from the reference, as a share of it.
const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
struct SciPy {
    order_statistics: Vec<OrderStatistic>,
    t_quantiles: Vec<Quantile>,
    summaries: Vec<Summary>,
    paired: Vec<Paired>,
    trends: Vec<Line>,
    holm: Vec<Adjusted>,
}

#[derive(Deserialize)]
struct R {
    holm: Vec<Adjusted>,
    paired: Vec<Paired>,
}

#[derive(Deserialize)]
struct OrderStatistic {
    n: u64,
    asked: f64,
    rank: u64,
    level: f64,
}

#[derive(Deserialize)]
struct Quantile {
    freedom: usize,
    probability: f64,
    quantile: f64,
}

#[derive(Deserialize)]
struct Summary {
    kind: String,
    values: Vec<f64>,
    median: f64,
    low: f64,
    high: f64,
    geometric_mean: f64,
    t_low: Option<f64>,
    t_high: Option<f64>,
}

#[derive(Deserialize)]
struct Paired {
    kind: String,
    log_ratios: Vec<f64>,
    ratio: f64,
    p: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Line {
    values: Vec<f64>,
    change: f64,
    error: f64,
}

#[derive(Deserialize)]
struct Adjusted {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

fn scipy() -> SciPy {
    serde_json::from_str(include_str!("reference/scipy.json")).expect("scipy.json has this shape")
}

fn r() -> R {
    serde_json::from_str(include_str!("reference/r.json")).expect("r.json has this shape")
}

fn close(found: f64, expected: f64, what: &str) {
    close_on_scale(found, expected, expected, what);
}

/// Where `expected` may be next to nothing beside what it was computed from.
fn close_on_scale(found: f64, expected: f64, scale: f64, what: &str) {
    let off = (found - expected).abs();
    assert!(
        off <= TOLERANCE * scale.abs(),
        "{what}: {found} instead of {expected}"
    );
}

/// Up to 999 degrees of freedom. Beyond 1,000, which no session has, statrs is off by some 1e-8.
#[test]
fn t_quantiles() {
    let cases = scipy().t_quantiles;
    assert!(cases.len() > 100);
    for case in cases {
        let found = t_quantile(case.probability, case.freedom);
        let what = format!("t of {} with {}", case.probability, case.freedom);
        close(found, case.quantile, &what);
    }
}

#[test]
fn order_statistic_levels() {
    let cases = scipy().order_statistics;
    assert!(cases.len() > 80);
    for case in cases {
        let found = bounds(case.n, case.asked).unwrap();
        assert_eq!(found.rank, case.rank, "{} of n = {}", case.asked, case.n);
        close(found.level, case.level, &format!("n = {}", case.n));
    }
    assert_eq!(bounds(1, 0.95), None);
    assert_eq!(bounds(0, 0.95), None);
}

#[test]
fn medians_with_their_intervals() {
    let cases = scipy().summaries;
    assert!(cases.len() > 150);
    for case in cases {
        let what = format!("{} of {}", case.kind, case.values.len());
        let found = median_interval(&case.values, 0.95).unwrap();
        let interval = found.interval.unwrap();
        close(found.median, case.median, &what);
        // The ends are values of the sample.
        assert_eq!(
            (interval.low, interval.high),
            (case.low, case.high),
            "{what}"
        );
    }
    assert_eq!(median_interval(&[], 0.95), None);
    let single = median_interval(&[3.0], 0.95).unwrap();
    assert_eq!((single.median, single.interval), (3.0, None));
}

#[test]
fn geometric_means_with_their_intervals() {
    for case in scipy().summaries {
        let what = format!("{} of {}", case.kind, case.values.len());
        let found = log_mean(&case.values, 0.95).unwrap();
        close(found.mean, case.geometric_mean, &what);
        let interval = found.interval.unwrap();
        if let (Some(low), Some(high)) = (case.t_low, case.t_high) {
            close(interval.low, low, &what);
            close(interval.high, high, &what);
        }
    }
    assert_eq!(log_mean(&[0.001], 0.95).unwrap().interval, None);
    assert_eq!(log_mean(&[], 0.95), None);
    assert_eq!(log_mean(&[1.0, 0.0], 0.95), None);
}

#[test]
fn paired_log_ratios() {
    let cases: Vec<Paired> = scipy().paired.into_iter().chain(r().paired).collect();
    assert!(cases.len() > 250);
    for case in cases {
        let what = format!("{} of {}", case.kind, case.log_ratios.len());
        let found = moments(&case.log_ratios).unwrap();
        let half = found.half_width(0.95);
        close(found.mean.exp(), case.ratio, &what);
        close(found.p_of_zero(), case.p, &what);
        close((found.mean - half).exp(), case.low, &what);
        close((found.mean + half).exp(), case.high, &what);
    }
}

/// No reference has a t for these: without scatter there is nothing to divide by.
#[test]
fn ratios_without_scatter_are_certain() {
    let p = |ratios: &[f64]| moments(ratios).unwrap().p_of_zero();
    assert_eq!(p(&[0.0, 0.0, 0.0]), 1.0);
    assert_eq!(p(&[0.25, 0.25, 0.25]), 0.0);
    assert_eq!(moments(&[0.1]), None);
}

#[test]
fn holm_adjusts() {
    let cases: Vec<Adjusted> = scipy().holm.into_iter().chain(r().holm).collect();
    assert!(cases.len() > 20);
    for case in cases {
        let found = holm(&case.p);
        assert_eq!(found.len(), case.adjusted.len());
        for (found, expected) in found.into_iter().zip(case.adjusted) {
            close(found, expected, &format!("Holm over {}", case.p.len()));
        }
    }
    assert!(holm(&[]).is_empty());
}

#[test]
fn trends() {
    let cases = scipy().trends;
    assert!(cases.len() > 50);
    for case in cases {
        let what = format!("the line through {} bins", case.values.len());
        let found = trend_of(&case.values).unwrap();
        close_on_scale(found.change, case.change, case.error, &what);
        close(found.standard_error, case.error, &what);
    }
    assert_eq!(trend_of(&[9.0, 8.0, 7.0]), None, "three bins show no trend");
    assert_eq!(trend_of(&[0.0; 9]), None, "nothing has no trend");
}
