//! Whether what a generator reports is what a server saw, on machines that stall.
//!
//! Two things about a latency hold on any machine. The server's time for a request, from the kernel's stamp of its
//! arrival to the moment before its answer is written, lies within the generator's, so that each quantile of the
//! generator's is at least the server's: without any allowance. And what the generator has on top of it is a matter
//! of scheduling, for which there is an allowance far below the latencies that the tests tell apart.

use std::time::Duration;

use deadheat_model::LatencyHistogram;

use crate::Seen;

/// What a busy machine may add to the bulk of the requests: some turns of its scheduler.
pub const BULK_ALLOWANCE: Duration = Duration::from_millis(30);
/// What it may add to the slowest few.
pub const TAIL_ALLOWANCE: Duration = Duration::from_millis(700);
/// The slowest few: one in this many. As many may have been caught by a stall, so each quantile of the others may be
/// the server's of so much more.
const FEW: usize = 10;
/// What a histogram of three significant digits may round up.
const ROUNDING: f64 = 1.001;
/// How many quantiles are compared.
const STEPS: usize = 200;

/// Asserts that the generator's service times are the server's, quantile by quantile, in one of a few measurements. What
/// no stall explains counts at once: a quantile below the server's, or an answer too few.
///
/// # Panics
///
/// When they are not.
#[track_caller]
pub fn assert_agree(case: &str, mut measure: impl FnMut() -> (LatencyHistogram, Seen)) {
    for attempt in 1.. {
        let (reported, server) = measure();
        match agree(&reported, server.took()) {
            Ok(()) => return,
            Err(Disagreement::Above(_)) if attempt < ATTEMPTS => {}
            Err(Disagreement::Above(what) | Disagreement::Never(what)) => {
                panic!("{case}, measurement {attempt}: {what}")
            }
        }
    }
}

/// Asserts that no quantile of the generator's service times is below the server's: all that can be said where several
/// requests came in one read of the server's, which stamps them all with the last one's arrival.
///
/// # Panics
///
/// When one is.
#[track_caller]
pub fn assert_not_below(case: &str, reported: &LatencyHistogram, server: &Seen) {
    if let Err(Disagreement::Above(what) | Disagreement::Never(what)) =
        compare(reported, server.took(), false)
    {
        panic!("{case}: {what}");
    }
}

/// What is not the same.
#[derive(Debug, PartialEq, Eq)]
enum Disagreement {
    /// The generator's is more than it should be, as on a machine that stalled.
    Above(String),
    /// What is so on no machine.
    Never(String),
}

fn agree(reported: &LatencyHistogram, took: Vec<Duration>) -> Result<(), Disagreement> {
    compare(reported, took, true)
}

fn compare(
    reported: &LatencyHistogram,
    mut took: Vec<Duration>,
    above_too: bool,
) -> Result<(), Disagreement> {
    took.sort_unstable();
    let (own, servers) = (reported.count(), took.len());
    if own != servers as u64 {
        return Err(Disagreement::Never(format!(
            "the generator has {own} answers, and the server {servers}"
        )));
    }
    let few = servers / FEW;
    for step in 1..=STEPS {
        let quantile = step as f64 / STEPS as f64;
        let rank = (servers * step).div_ceil(STEPS).max(1);
        let Some(got) = reported.quantile(quantile) else {
            return Err(Disagreement::Never("there is no answer".to_owned()));
        };
        let least = took[rank - 1];
        let (most, allowance) = if rank + few <= servers {
            (took[rank + few - 1], BULK_ALLOWANCE)
        } else {
            (took[servers - 1], TAIL_ALLOWANCE)
        };
        let what = || {
            format!(
                "at {quantile} the generator says {got:?}, and the server took {least:?} (at most {most:?})"
            )
        };
        if got < least {
            return Err(Disagreement::Never(what()));
        }
        if above_too && got > most.mul_f64(ROUNDING) + allowance {
            return Err(Disagreement::Above(what()));
        }
    }
    Ok(())
}

/// Kolmogorov's distance: the largest between the share of `values` up to each of them and what `law` says, 0 to 1.
pub fn distance(mut values: Vec<f64>, law: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let all = values.len() as f64;
    let far = values.iter().enumerate().map(|(index, value)| {
        let expected = law(*value);
        let (below, up_to) = (index as f64 / all, (index + 1) as f64 / all);
        (expected - below).abs().max((up_to - expected).abs())
    });
    far.fold(0.0, f64::max)
}

/// How often something that a stall of the machine spoils is measured.
const ATTEMPTS: usize = 6;

/// Measures how far something is from where it should be until that is at most `near`, a few times at most; the least
/// that was found. A stall makes one measurement far; a schedule that follows another law is far every time.
pub fn least(near: f64, measure: impl FnMut() -> f64) -> f64 {
    let mut least = f64::INFINITY;
    for far in std::iter::repeat_with(measure).take(ATTEMPTS) {
        least = far.min(least);
        if least <= near {
            break;
        }
    }
    least
}

/// The distances from each of some instants to the next.
pub fn gaps(instants: &[f64]) -> Vec<f64> {
    instants.windows(2).map(|two| two[1] - two[0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn reported(latencies: impl Iterator<Item = Duration>) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        latencies.for_each(|latency| histogram.record_ns(latency.as_nanos() as u64));
        histogram
    }

    fn server(requests: u32) -> Vec<Duration> {
        let one_in_ten = |index| if index % 10 == 9 { 200 * MS } else { 20 * MS };
        (0..requests).map(one_in_ten).collect()
    }

    #[test]
    fn what_is_the_same_but_for_scheduling_agrees() {
        let late = |index: u32| if index == 7 { 150 * MS } else { MS / 10 };
        let own = server(400)
            .into_iter()
            .zip(0..)
            .map(|(took, index)| took + late(index));
        assert_eq!(agree(&reported(own), server(400)), Ok(()));
    }

    #[test]
    fn what_is_not_the_same_disagrees() {
        // What a stall may explain is measured again; what it may not, is not.
        let (never, above) = (false, true);
        let wrong: [(&str, bool, Vec<Duration>); 6] = [
            (
                "faster than possible",
                never,
                server(400).iter().map(|took| *took - MS).collect(),
            ),
            (
                "slower",
                above,
                server(400).iter().map(|took| *took + 31 * MS).collect(),
            ),
            ("one is missing", never, server(399)),
            ("no second hump", never, vec![20 * MS; 400]),
            (
                "other shares",
                above,
                server(400)
                    .into_iter()
                    .zip(0..)
                    .map(|(took, index)| if index % 4 == 0 { 200 * MS } else { took })
                    .collect(),
            ),
            (
                "microseconds for milliseconds",
                never,
                server(400).iter().map(|took| *took / 1_000).collect(),
            ),
        ];
        for (case, stall, own) in wrong {
            let found = agree(&reported(own.into_iter()), server(400)).unwrap_err();
            let by_stall = matches!(found, Disagreement::Above(_));
            assert_eq!(by_stall, stall, "{case}: {found:?}");
        }
        assert!(agree(&reported(std::iter::empty()), Vec::new()).is_err());
        let slower = reported(server(400).iter().map(|took| *took * 2));
        assert_eq!(compare(&slower, server(400), false), Ok(()));
        let faster = reported(server(400).iter().map(|took| *took - MS));
        assert!(compare(&faster, server(400), false).is_err());
    }

    #[test]
    fn one_good_measurement_is_enough_and_none_is_not() {
        let mut given = vec![0.3, 0.05, 0.2].into_iter();
        assert_eq!(least(0.1, || given.next().unwrap()), 0.05);
        assert_eq!(given.len(), 1, "no more than it takes");
        let mut count = 0;
        let far = least(0.1, || {
            count += 1;
            0.2
        });
        assert_eq!((far, count), (0.2, ATTEMPTS));
    }

    #[test]
    fn the_distance_is_kolmogorovs() {
        // By hand: the largest difference of the steps 1/4, 2/4, … from the line is at the last but one.
        let far = distance(vec![0.1, 0.2, 0.3, 0.9], |at| at);
        assert!((far - 0.45).abs() < 1e-12, "{far}");
        assert!(distance((1..=100).map(f64::from).collect(), |at| at / 100.0) <= 0.01 + 1e-12);
        assert_eq!(gaps(&[1.0, 3.0, 3.5]), [2.0, 0.5]);
    }
}
