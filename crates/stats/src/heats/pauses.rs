//! The time and CPU time that the slices of a member are charged with, including the pauses that their edges cut.
//!
//! A closed loop stops sending at a slice's end and waits for what is in flight. A server that stops then, as for its
//! garbage collector, does so in the drain, which is no part of the slice, and the next slice begins when it is well
//! again. In an uninterrupted load that pause would have cost answers. So the time that requests in flight at a slice's
//! end take longer than is usual for this member counts as its time. A pause that began in the guard, or because the
//! server was thawed, reaches into the slice. It is the guard's, so that the time that requests in flight at the
//! slice's start take longer than is usual is no time of the slice. Then a pause counts if it began in the counted
//! part, and for as long as it lasts, which is what an uninterrupted load finds (`cargo xtask evidence pauses`).
//!
//! Both are means over the requests at the edge: where one of four workers of a server stops, a quarter of the
//! connections wait, and a quarter of the time is lost.

use std::time::Duration;

use deadheat_model::heat::{SliceFlag, SliceRecord};
use serde::{Deserialize, Serialize};

use crate::interval::median;

/// Requests at an edge may take this many times as long as usual before it counts as a pause.
const USUAL: f64 = 3.0;
/// The shortest pause, in seconds. Shorter ones come from the scheduler.
const MIN: f64 = 0.005;

/// The times of a recorded slice, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceTimes {
    /// The counted part's length.
    pub window: f64,
    /// Verified answers in it.
    pub answers: u64,
    /// Mean time within the slice of the requests that were in flight at its start.
    pub carried: f64,
    /// Mean time after the slice of the requests that were in flight at its end.
    pub draining: f64,
    /// CPU time of the server in it; `None` if it was not measured.
    pub cpu: Option<f64>,
    /// CPU time of the server from its end to the end of the drain.
    pub drain_cpu: Option<f64>,
    /// Whether requests were still in flight when the drain was given up.
    pub gave_up: bool,
}

impl SliceTimes {
    /// Converts a recorded slice. An open loop sends what fell due at an edge later, so it has no cut pauses.
    pub(super) fn new(slice: &SliceRecord) -> Self {
        let is_closed = slice.open.is_none();
        let each = |all: Duration, requests: u64| match requests {
            1.. if is_closed => all.as_secs_f64() / requests as f64,
            _ => 0.0,
        };
        let window = slice.window.as_secs_f64();
        let cpu = slice.cpu.filter(|cpu| cpu.span_seconds > 0.0);
        Self {
            window,
            answers: slice.tally.answers(),
            carried: each(slice.carried, slice.tally.carried_in),
            draining: each(slice.draining, slice.tally.in_flight),
            cpu: cpu.map(|cpu| cpu.seconds / cpu.span_seconds * window),
            drain_cpu: cpu.and_then(|cpu| cpu.drain_seconds),
            gave_up: slice.flags.contains(&SliceFlag::Undrained),
        }
    }
}

/// The time and CPU time that a slice is charged with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChargedTime {
    /// Time in seconds.
    pub seconds: f64,
    /// CPU time in seconds; `None` if it was not measured.
    pub cpu_seconds: Option<f64>,
}

/// The charged time of each counted slice of a member in a heat, in order.
pub fn charged_times(slices: &[SliceTimes]) -> Vec<ChargedTime> {
    let edges = beyond_usual(slices, |slice| slice.carried).into_iter();
    let edges = edges.zip(beyond_usual(slices, |slice| slice.draining));
    let mut stood = false;
    let edges = slices.iter().zip(edges).map(|(slice, (before, after))| {
        // If a drain was given up, the next slice began while the server was still paused.
        let before = if stood { 0.0 } else { before };
        stood = slice.gave_up;
        (before, after)
    });
    let edges: Vec<(f64, f64)> = edges.collect();
    let usual_cpu = median(slices.iter().filter_map(|slice| slice.drain_cpu)).unwrap_or(0.0);
    let cpu_after = |slice: &SliceTimes, after: f64| match slice.drain_cpu {
        Some(cpu) if after > 0.0 => (cpu - usual_cpu).max(0.0),
        _ => 0.0,
    };
    // CPU use during a pause is estimated from drains; without one, it equals the usual use.
    let pauses = slices.iter().zip(&edges);
    let (used, time) = pauses.fold((0.0, 0.0), |(used, time), (slice, (_, after))| {
        (used + cpu_after(slice, *after), time + after)
    });
    let of = |(slice, (before, after)): (&SliceTimes, &(f64, f64))| {
        let before = before.min(slice.window);
        let cpu_seconds = slice.cpu.map(|cpu| {
            let busy = if time > 0.0 {
                used / time
            } else {
                cpu / slice.window
            };
            (cpu - before * busy).max(0.0) + cpu_after(slice, *after)
        });
        ChargedTime {
            seconds: slice.window - before + after,
            cpu_seconds,
        }
    };
    slices.iter().zip(&edges).map(of).collect()
}

/// The excess of each time over their median if it is long enough to be a pause; otherwise 0.
fn beyond_usual(slices: &[SliceTimes], time: fn(&SliceTimes) -> f64) -> Vec<f64> {
    let times = || slices.iter().map(time);
    let usual = median(times()).unwrap_or(0.0);
    let bound = (USUAL * usual).max(MIN);
    let beyond = |time: f64| if time > bound { time - usual } else { 0.0 };
    times().map(beyond).collect()
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const GUARD: f64 = 0.03;
    const WINDOW: f64 = 0.1;
    /// What an answer takes, so that a drain does as well.
    const ANSWER: f64 = 0.001;

    fn slice(window: f64, answers: f64, carried: f64, draining: f64) -> SliceTimes {
        SliceTimes {
            window,
            answers: answers.round() as u64,
            carried,
            draining,
            // As busy while it stops as while it answers.
            cpu: Some(window),
            drain_cpu: Some(draining),
            gave_up: false,
        }
    }

    /// Slices, of random lengths as in a heat, of a server that answers 50,000/s and stops for `pause` after each
    /// `every` of answering. A share of its connections stops, and the others continue.
    fn paused(every: f64, pause: f64, share: f64, random: &mut impl Rng) -> Vec<SliceTimes> {
        let mut left = every / 3.0;
        let mut slices = Vec::new();
        for _ in 0..20_000 {
            let window = WINDOW * random.random_range(0.6..1.4);
            let (mut now, mut served) = (-GUARD, 0.0);
            let (mut carried, mut draining) = (ANSWER, ANSWER);
            while now < window {
                let until = (now + left).min(window);
                served += (until - now.max(0.0)).max(0.0);
                left -= until - now;
                now = until;
                if left > 0.0 {
                    break;
                }
                left = every;
                let end = now + pause;
                let (from, to) = (now.max(0.0), end.min(window));
                served += (1.0 - share) * (to - from).max(0.0);
                if now < 0.0 && end > 0.0 {
                    carried += share * end.min(window);
                }
                if now >= 0.0 && end > window {
                    draining += share * (end - window);
                }
                now = end;
            }
            slices.push(slice(window, 50_000.0 * served, carried, draining));
        }
        slices
    }

    #[test]
    fn a_pause_costs_what_it_costs_without_slices() {
        let mut random = ChaCha8Rng::seed_from_u64(36);
        for (every, pause) in [
            (0.3, 0.03),
            (0.5, 0.05),
            (0.5, 0.1),
            (1.0, 0.05),
            (1.0, 0.2),
            (2.0, 0.1),
            (2.0, 0.2),
            (2.0, 0.4),
            (5.0, 0.5),
        ] {
            for share in [1.0, 0.25] {
                let slices = paused(every, pause, share, &mut random);
                let charged = charged_times(&slices);
                let seconds: f64 = charged.iter().map(|one| one.seconds).sum();
                let cpu: f64 = charged.iter().filter_map(|one| one.cpu_seconds).sum();
                let answers: u64 = slices.iter().map(|slice| slice.answers).sum();
                let loss = 1.0 - answers as f64 / seconds / 50_000.0;
                let truth = share * pause / (every + pause);
                assert!(
                    (loss - truth).abs() < 0.01,
                    "{every} s, {pause} s, {share}: {loss:.4} instead of {truth:.4}"
                );
                // It is busy all the time, so that it costs as much more as it answers less.
                if share == 1.0 {
                    let cost = cpu / answers as f64 * 50_000.0;
                    let truth = 1.0 / (1.0 - truth);
                    assert!((cost - truth).abs() < 0.01, "{cost:.4}, {truth:.4}");
                }
            }
        }
    }

    #[test]
    fn slow_answers_at_the_edges_are_no_pauses() {
        let slices: Vec<SliceTimes> = (0..20)
            .map(|nth| slice(WINDOW, 20.0, 0.02 + 0.001 * f64::from(nth), 0.03))
            .collect();
        let charged = charged_times(&slices);
        assert!(
            charged
                .iter()
                .all(|one| (one.seconds - WINDOW).abs() < 1e-9)
        );
    }

    #[test]
    fn a_server_that_stands_still_for_longer_than_a_drain_gains_nothing() {
        let mut slices = vec![slice(WINDOW, 5_000.0, ANSWER, ANSWER); 10];
        slices[3] = slice(WINDOW, 2_500.0, ANSWER, 1.0);
        slices[3].gave_up = true;
        slices[4] = slice(WINDOW, 0.0, WINDOW, 0.0);
        let charged = charged_times(&slices);
        let seconds: f64 = charged.iter().map(|one| one.seconds).sum();
        assert!((seconds - (1.0 + 0.999)).abs() < 1e-6, "{seconds}");
    }
}
