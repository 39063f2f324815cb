//! The way to another host, and its clock: what messages over the launcher's pipe say of them, judged.

use std::time::Duration;

use deadheat_model::{machine::Finding, words::separated};

use super::finding::{fine, note, unknown, warning};

/// A median round trip above this is a good part of a quick server's response time.
const LONG_TRIP: Duration = Duration::from_millis(1);
/// The kernel corrects a clock by at most this (adjtimex(2)); one that is further off is broken.
const MOST_DRIFT_PPM: f64 = 500.0;

/// The times of small messages there and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trips {
    /// The shortest time.
    pub quickest: Duration,
    /// The time that half of them exceeded.
    pub median: Duration,
}

impl Trips {
    /// The times of these messages; `None` without any.
    pub fn of(mut all: Vec<Duration>) -> Option<Self> {
        all.sort_unstable();
        Some(Self {
            quickest: *all.first()?,
            median: all[all.len() / 2],
        })
    }
}

/// The two machines' clocks, asked over the launcher's pipe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clocks {
    /// The times of the questions and their answers.
    pub trips: Trips,
    /// How much faster the other clock runs, in parts per million.
    pub drift_ppm: f64,
    /// The largest error of `drift_ppm`.
    pub drift_error_ppm: f64,
}

/// That a host could not be reached, or was lost.
pub fn unreached(why: &str) -> Finding {
    warning(
        "host",
        format!("no answer: {why}"),
        "Nothing is known of this host, and no session can use it.",
        "",
    )
}

/// Findings on the way to the host and on its clock, the worst first.
pub fn judge_link(clocks: &Clocks) -> Vec<Finding> {
    let mut findings = vec![round_trip(clocks), start(clocks), drift(clocks)];
    // Stable.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    findings
}

fn round_trip(clocks: &Clocks) -> Finding {
    let trips = &clocks.trips;
    let found = format!(
        "median {}, quickest {}",
        time(trips.median),
        time(trips.quickest)
    );
    if trips.median <= LONG_TRIP {
        return fine("round-trip", found);
    }
    note(
        "round-trip",
        found,
        "Every response time contains the network's part of it. Each slice begins four round trips after it was decided, \
         so a session has fewer slices.",
        "Use hosts on the same switch.",
    )
}

fn start(clocks: &Clocks) -> Finding {
    // The answer was given some time between the question and its arrival.
    let error = clocks.trips.quickest / 2;
    let found = format!("hosts begin together within {}", time(error));
    if error <= LONG_TRIP {
        return fine("start", found);
    }
    note(
        "start",
        found,
        "Slices take about 100 ms. At their edges, only some of the hosts load.",
        "",
    )
}

fn drift(clocks: &Clocks) -> Finding {
    let Clocks {
        drift_ppm,
        drift_error_ppm,
        ..
    } = clocks;
    // Never "-0".
    let rounded = drift_ppm.round() + 0.0;
    let found = format!("{rounded} ppm, ± {drift_error_ppm:.0} ppm");
    if drift_ppm.abs() - drift_error_ppm > MOST_DRIFT_PPM {
        return warning(
            "clock-drift",
            found,
            "The clocks of the two machines run at different speeds, more than time synchronisation ever causes. Times \
             and rates of the hosts cannot be compared.",
            "Compare the clock sources of both machines; in a virtual machine, ask for a better one.\n\
             cat /sys/devices/system/clocksource/clocksource0/current_clocksource",
        );
    }
    if *drift_error_ppm > MOST_DRIFT_PPM {
        return unknown(
            "clock-drift",
            found,
            "The clocks were watched too briefly for the round trip between them: use --watch 30s.",
        );
    }
    fine("clock-drift", found)
}

/// A time for a person: "85 µs", "1.2 ms".
fn time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        _ if micros < 1_000.0 => format!("{} µs", significant(micros)),
        _ => format!("{} ms", significant(micros / 1e3)),
    }
}

/// Two digits, or three where the number begins with a 1.
fn significant(number: f64) -> String {
    if number < 0.01 {
        return "0".to_owned();
    }
    let magnitude = number.log10().floor() as i32;
    let leading = number / 10_f64.powi(magnitude);
    let digits = if leading < 2.0 { 2 } else { 1 };
    let step = 10_f64.powi(magnitude - digits);
    let decimals = usize::try_from(digits - magnitude).unwrap_or(0);
    let rounded = format!("{:.decimals$}", (number / step).round() * step);
    separated(if rounded.contains('.') {
        rounded.trim_end_matches('0').trim_end_matches('.')
    } else {
        &rounded
    })
}

#[cfg(test)]
mod tests {
    use deadheat_model::machine::Level;

    use super::super::testing::found;
    use super::*;

    const fn micros(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    #[test]
    fn a_clock_that_drifts_is_a_warning_only_beyond_what_may_be_an_error() {
        let of = |drift_ppm, drift_error_ppm| {
            let clocks = Clocks {
                trips: Trips {
                    quickest: micros(60),
                    median: micros(85),
                },
                drift_ppm,
                drift_error_ppm,
            };
            let (level, finding) = found(judge_link(&clocks), "clock-drift");
            (level, finding.found)
        };
        assert_eq!(of(500.0, 0.0).0, Level::Fine);
        assert_eq!(of(-601.0, 100.0).0, Level::Warning);
        assert_eq!(of(600.0, 100.0).0, Level::Fine);
        assert_eq!(of(1_000.0, 900.0).0, Level::Unknown);
        assert_eq!(of(-0.3, 7.2).1, "0 ppm, ± 7 ppm");
    }

    #[test]
    fn starts_are_agreed_on_within_half_of_the_quickest_way_over_the_pipe() {
        let of = |quickest, median, check| {
            let clocks = Clocks {
                trips: Trips { quickest, median },
                drift_ppm: 0.0,
                drift_error_ppm: 1.0,
            };
            found(judge_link(&clocks), check)
        };
        let (level, finding) = of(micros(300), micros(1_200), "start");
        assert_eq!(level, Level::Fine);
        assert_eq!(finding.found, "hosts begin together within 150 µs");
        let far = of(micros(40_000), micros(41_000), "start");
        assert_eq!(far.0, Level::Note);
        let slow = of(micros(300), micros(1_200), "round-trip");
        assert_eq!(slow.0, Level::Note);
        assert_eq!(slow.1.found, "median 1.2 ms, quickest 300 µs");
    }

    #[test]
    fn numbers_have_two_or_three_digits() {
        let numbers = [0.0, 0.5, 1.234, 9.44, 85.0, 119.2, 1_125.0, 93_456.0];
        let texts = numbers.map(significant);
        assert_eq!(
            texts,
            ["0", "0.5", "1.23", "9.4", "85", "119", "1,130", "93,000"]
        );
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let all = [5, 1, 9, 3, 7].map(micros).to_vec();
        let trips = Trips::of(all).unwrap();
        assert_eq!((trips.quickest, trips.median), (micros(1), micros(5)));
        assert_eq!(Trips::of(Vec::new()), None);
    }
}
