//! Figures from SciPy 1.17.1 and statsmodels 0.15.0, each with the expression that made it:
//! `pip install scipy statsmodels`, then `python3 -c 'from scipy import stats; print(repr(float(…)))'`.

use deadheat_stats::{
    compare::holm,
    interval::{log_mean, moments, t_quantile},
    order_statistic::{bounds, median_interval},
    steadiness::trend_of,
};

fn close(found: f64, expected: f64, what: &str) {
    let error = (found - expected).abs() / expected.abs().max(1e-300);
    assert!(error < 1e-9, "{what}: {found} instead of {expected}");
}

/// `stats.t.ppf(.975, freedom)`
#[test]
fn t_quantiles() {
    let expected = [
        (1, 12.706204736174694),
        (2, 4.302652729749462),
        (3, 3.1824463052837078),
        (4, 2.7764451051977934),
        (6, 2.4469118511449786),
        (9, 2.262157162798205),
        (29, 2.045229642132703),
        (99, 1.9842169515864174),
    ];
    for (freedom, value) in expected {
        close(
            t_quantile(0.975, freedom),
            value,
            &format!("t with {freedom}"),
        );
    }
}

/// The largest r of `1 - 2 * stats.binom.cdf(r - 1, n, .5)` that reaches .95, else r = 1.
#[test]
fn order_statistic_levels() {
    let expected = [
        (2, 1, 0.5),
        (3, 1, 0.75),
        (4, 1, 0.875),
        (5, 1, 0.9375),
        (6, 1, 0.96875),
        (7, 1, 0.984375),
        (8, 1, 0.9921875),
        (9, 2, 0.9609375),
        (10, 2, 0.978515625),
        (15, 4, 0.96484375),
        (20, 6, 0.9586105346679688),
        (30, 10, 0.9572260547429323),
        (50, 18, 0.9671608624357315),
    ];
    for (n, rank, level) in expected {
        let found = bounds(n, 0.95).unwrap();
        assert_eq!(found.rank, rank, "n = {n}");
        close(found.level, level, &format!("n = {n}"));
    }
    assert_eq!(bounds(1, 0.95), None);
    assert_eq!(bounds(0, 0.95), None);
}

/// `statsmodels.stats.multitest.multipletests(p, method="holm")[1]`
#[test]
fn holm_adjusts() {
    let adjusts = |p: &[f64], expected: &[f64]| {
        for (found, expected) in holm(p).into_iter().zip(expected) {
            close(found, *expected, "Holm");
        }
    };
    adjusts(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]);
    adjusts(
        &[0.001, 0.02, 0.02, 0.8, 0.0004, 0.049],
        &[0.005, 0.08, 0.08, 0.8, 0.0024, 0.098],
    );
    assert!(holm(&[]).is_empty());
}

/// `stats.ttest_rel(np.log(a), np.log(b))`, its p value and `confidence_interval(.95)`.
#[test]
fn paired_log_ratio() {
    let a = [
        10200.0,
        10350.0,
        9980.0,
        10410.0,
        10120.0,
        10290.0,
        10300.0_f64,
    ];
    let b = [
        9900.0,
        10110.0,
        9850.0,
        10080.0,
        9990.0,
        10020.0,
        10150.0_f64,
    ];
    let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a / b).ln()).collect();
    let found = moments(&ratios).unwrap();
    let half = found.half_width(0.95);
    close(found.mean.exp(), 1.0220727073182398, "ratio");
    close(found.p_of_zero(), 0.00041075468572264776, "p");
    close((found.mean - half).exp(), 1.0143455500394465, "low");
    close((found.mean + half).exp(), 1.0298587291127876, "high");
}

/// `np.exp(stats.t.interval(.95, 4, loc=np.log(x).mean(), scale=stats.sem(np.log(x))))`
#[test]
fn log_t_interval() {
    let found = log_mean(&[0.00102, 0.00110, 0.00097, 0.00131, 0.00105], 0.95).unwrap();
    let interval = found.interval.unwrap();
    close(found.mean, 0.001084039325178807, "mean");
    close(interval.low, 0.0009394858685895967, "low");
    close(interval.high, 0.0012508344168053367, "high");
    assert_eq!(log_mean(&[0.001], 0.95).unwrap().interval, None);
    assert_eq!(log_mean(&[], 0.95), None);
    assert_eq!(log_mean(&[1.0, 0.0], 0.95), None);
}

/// `s = stats.linregress(.25 + .5 * np.arange(10), y)`; `s.slope * 5 / y.mean()`, `s.stderr * 5 / y.mean()`
#[test]
fn trend() {
    let y = [
        1000.0, 990.0, 985.0, 970.0, 960.0, 955.0, 940.0, 935.0, 930.0, 915.0,
    ];
    let found = trend_of(&y).unwrap();
    close(found.change, -0.0967925602581135, "change");
    close(found.standard_error, 0.0033099970798469935, "error");
    assert_eq!(trend_of(&y[..3]), None, "three bins show no trend");
    assert_eq!(trend_of(&[0.0; 9]), None, "nothing has no trend");
}

#[test]
fn medians() {
    let of = |values: &[f64]| median_interval(values, 0.95).map(|found| found.median);
    assert_eq!(of(&[]), None);
    assert_eq!(of(&[3.0]), Some(3.0));
    assert_eq!(of(&[4.0, 1.0]), Some(2.5));
    assert_eq!(of(&[9.0, 1.0, 5.0]), Some(5.0));
    let five = median_interval(&[5.0, 1.0, 4.0, 2.0, 3.0], 0.95).unwrap();
    let interval = five.interval.unwrap();
    assert_eq!((interval.low, interval.high), (1.0, 5.0));
    assert_eq!(median_interval(&[3.0], 0.95).unwrap().interval, None);
}
