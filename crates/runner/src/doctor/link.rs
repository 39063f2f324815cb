//! The way to another host, and its clock: what messages over the launcher's pipe say of them, judged.

use std::time::Duration;

use deadheat_model::figure::seconds;

use super::found::{Check, CheckResult, Fact, facts, fine, note, unknown, warning};

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
    pub fn new(mut all: Vec<Duration>) -> Option<Self> {
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

/// The fact that a host could not be reached, or was lost.
pub fn unreached(why: &str) -> Fact {
    let why_it_matters = "Nothing is known of this host, and no session can use it.";
    warning(format!("no answer: {why}"), why_it_matters, "").into_fact("host", "host")
}

/// All checks of the way to a host, and of its clock.
const CHECKS: [Check<Clocks>; 3] = [
    ("round-trip", "round trip", round_trip),
    ("start", "start", start),
    ("clock-drift", "clock drift", drift),
];

/// Facts of the way to the host and of its clock, the worst first.
pub fn judge_link(clocks: &Clocks) -> Vec<Fact> {
    facts(&CHECKS, clocks)
}

fn round_trip(clocks: &Clocks) -> CheckResult {
    let trips = &clocks.trips;
    let found = format!(
        "median {}, quickest {}",
        seconds(trips.median.as_secs_f64()),
        seconds(trips.quickest.as_secs_f64())
    );
    if trips.median <= LONG_TRIP {
        return fine(found);
    }
    note(
        found,
        "Every response time contains the network's part of it. Each slice begins four round trips after it was decided, \
         so a session has fewer slices.",
        "Use hosts on the same switch.",
    )
}

fn start(clocks: &Clocks) -> CheckResult {
    // The answer was given some time between the question and its arrival.
    let error = clocks.trips.quickest / 2;
    let found = format!(
        "hosts begin together within {}",
        seconds(error.as_secs_f64())
    );
    if error <= LONG_TRIP {
        return fine(found);
    }
    note(
        found,
        "Slices take about 100 ms. At their edges, only some of the hosts load.",
        "",
    )
}

fn drift(clocks: &Clocks) -> CheckResult {
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
            found,
            "The clocks of the two machines run at different speeds, more than time synchronisation ever causes. Times \
             and rates of the hosts cannot be compared.",
            "Compare the clock sources of both machines; in a virtual machine, ask for a better one.\n\
             cat /sys/devices/system/clocksource/clocksource0/current_clocksource",
        );
    }
    if *drift_error_ppm > MOST_DRIFT_PPM {
        return unknown(
            found,
            "The clocks were watched too briefly for the round trip between them: use --watch 30s.",
        );
    }
    fine(found)
}

#[cfg(test)]
mod tests {
    use deadheat_model::warning::Level;

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
            let found = drift(&clocks);
            (found.level, found.found)
        };
        assert_eq!(of(500.0, 0.0).0, None);
        assert_eq!(of(-601.0, 100.0).0, Some(Level::Doubt));
        assert_eq!(of(600.0, 100.0).0, None);
        assert_eq!(of(1_000.0, 900.0).0, Some(Level::Routine));
        assert_eq!(of(-0.3, 7.2).1, "0 ppm, ± 7 ppm");
    }

    #[test]
    fn starts_are_agreed_on_within_half_of_the_quickest_way_over_the_pipe() {
        let of = |quickest, median| {
            judge_link(&Clocks {
                trips: Trips { quickest, median },
                drift_ppm: 0.0,
                drift_error_ppm: 1.0,
            })
        };
        let facts = of(micros(300), micros(1_200));
        let told: Vec<_> = facts
            .iter()
            .map(|one| (one.id.as_str(), one.found.as_str(), one.warning.is_some()))
            .collect();
        let expected = [
            ("round-trip", "median 1.20 ms, quickest 300 µs", true),
            ("start", "hosts begin together within 150 µs", false),
            ("clock-drift", "0 ppm, ± 1 ppm", false),
        ];
        assert_eq!(told, expected);
        let far = of(micros(40_000), micros(41_000));
        assert_eq!(far[1].warning.as_ref().unwrap().level, Level::Note);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let all = [5, 1, 9, 3, 7].map(micros).to_vec();
        let trips = Trips::new(all).unwrap();
        assert_eq!((trips.quickest, trips.median), (micros(1), micros(5)));
        assert_eq!(Trips::new(Vec::new()), None);
    }
}
