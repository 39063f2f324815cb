//! Warming up a member until it is steady.
//!
//! A fixed warm-up is too short for one server and wasted on another. This one ends by a rule that is declared
//! beforehand and looks at the trend alone, so that the figures which count do not choose it; how long it took and
//! whether it ended by steadiness are in the record.

use std::time::Duration;

use deadheat_model::{
    LatencyHistogram,
    heat::{FIRST_ANSWERS, SETTLED, WarmUp, WarmUpRule},
    stack::Runtime,
};

use super::MeasuredSlice;

/// The largest trend of a steady server. Slices of steady servers scatter by 5 to 10 % on a shared machine, so that a
/// smaller bound would wait for a lucky look.
const BOUND: f64 = 0.05;

/// A rest in the warm-up of what compiles while it runs. On one CPU, .NET looks for what to optimise after a second in which
/// no method was called for the first time: ASP.NET Core at crud answered 5,300/s after 22 s with pauses alone, and 17,000/s
/// after 20 s with rests. And a member of a heat is idle while others have their turns: what it does only after that, such as
/// testing connections that were idle, is compiled in the warm-up.
const REST: Duration = Duration::from_millis(1_200);

/// In which the null server's connections are made.
const NULL_SERVER_WARM_UP: Duration = Duration::from_millis(500);

/// How a member is warmed up in a heat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUps {
    /// After its start, by a closed loop.
    pub started: WarmUpRule,
    /// At each rate of equal work, of what compiles while it runs. Requests that come one by one take other ways through it
    /// than a full queue does, so that it compiles again: after 20 s of a closed loop, Vert.x on one CPU used all of it for
    /// 2.3 s of 10,000/s, and a quarter of it from then on.
    pub at_a_rate: Option<WarmUpRule>,
}

impl WarmUps {
    /// Those of a runtime, for at least the seconds that a manifest declares.
    pub fn new(runtime: Runtime, declared: Option<u32>) -> Self {
        let declared = declared.map(u64::from);
        match runtime {
            // Caches and connections.
            Runtime::Native | Runtime::Interpreted => calm(declared.unwrap_or(1), 4),
            Runtime::Jit => compiling(declared.unwrap_or(20)),
        }
    }

    /// Those of a server of which nothing is known: it may compile while it runs.
    pub(crate) fn of_unknown() -> Self {
        compiling(6)
    }

    /// Those of the null server: its answer is ready when it starts, so connections alone are made, and never for longer
    /// than was `asked` of all.
    pub(crate) fn of_null_server(asked: Option<Duration>) -> Self {
        let time = asked.unwrap_or(Duration::MAX).min(NULL_SERVER_WARM_UP);
        Self::once(rule(time, time))
    }

    fn once(started: WarmUpRule) -> Self {
        Self {
            started,
            at_a_rate: None,
        }
    }

    /// Whether it compiles while it runs, as far as is known.
    pub(crate) fn compiles(self) -> bool {
        self.at_a_rate.is_some()
    }

    /// These, with their pauses, but for as long as was `asked` after a start, and at a rate for no longer.
    pub fn lasting(self, asked: Option<Duration>) -> Self {
        let Some(asked) = asked else {
            return self;
        };
        let at_most = |rule: WarmUpRule| WarmUpRule {
            least: rule.least.min(asked),
            most: asked,
            slice: rule.slice.min(asked),
            ..rule
        };
        Self {
            started: WarmUpRule {
                least: asked,
                ..at_most(self.started)
            },
            at_a_rate: self.at_a_rate.map(at_most),
        }
    }

    /// Those of a process that has served another load before: its connections, its framework and much of its code are
    /// warm, what this load alone asks for is not. A fixed time stays.
    pub(crate) fn when_kept(self) -> Self {
        let halved = |rule: WarmUpRule| {
            let is_fixed = rule.least == rule.most;
            let least = rule.least / if is_fixed { 1 } else { 2 };
            WarmUpRule { least, ..rule }
        };
        Self {
            started: halved(self.started),
            at_a_rate: self.at_a_rate.map(halved),
        }
    }
}

/// A warm-up of at least and at most these times, until the server is steady.
fn rule(least: Duration, most: Duration) -> WarmUpRule {
    let slice = Duration::from_millis(200);
    WarmUpRule {
        least,
        most,
        // Several collections of a young generation fit into the slices that are looked at.
        slice: slice.min(most),
        pause: Duration::ZERO,
        rest: Duration::ZERO,
        // With these, a trend has a standard error of about three quarters of a slice's scatter.
        look: 8,
        bound: BOUND,
    }
}

fn calm(least: u64, more: u64) -> WarmUps {
    WarmUps::once(rule(
        Duration::from_secs(least),
        Duration::from_secs(least + more),
    ))
}

/// For runtimes with a just-in-time compiler. Measured on one CPU with 50 connections under load without a pause,
/// Vert.x reaches its final speed after 8 s, Jetty with Clojure after 16 s, ASP.NET Core after 20 s, and Spring after
/// 14 s with virtual threads or 54 s with fifty platform threads, which leave the compiler a fiftieth of the CPU. With
/// pauses, that is 22 s. Their speed may be constant for up to ten seconds in between, so a trend cannot end the
/// warm-up before the minimum time. With pauses and rests, half of that time is load.
fn compiling(least: u64) -> WarmUps {
    let least = Duration::from_secs(least);
    let started = WarmUpRule {
        pause: Duration::from_millis(100),
        rest: REST,
        look: 20,
        ..rule(least, Duration::from_secs(60))
    };
    let at_a_rate = WarmUpRule {
        least: least / 2,
        look: started.look / 2,
        // At a rate, it is idle again and again.
        rest: Duration::ZERO,
        // The rate is given, so that the trend of its cost alone says something, and at a low rate costs scatter more.
        bound: 2.0 * started.bound,
        ..started
    };
    WarmUps {
        started,
        at_a_rate: Some(WarmUpRule {
            // Time for a second look after one that was disturbed.
            most: least.max(2 * at_a_rate.looked_at()),
            ..at_a_rate
        }),
    }
}

/// What the slices of a warm-up said so far.
#[derive(Debug, Default)]
pub(super) struct WarmUpSlices {
    throughputs: Vec<f64>,
    /// CPU time per answer.
    costs: Vec<f64>,
    /// When each slice ended, since the load began, and the CPU time that the server had used since its start by then.
    ends: Vec<(Duration, Option<Duration>)>,
    /// Service time of the first answers.
    first: LatencyHistogram,
}

impl WarmUpSlices {
    /// Adds a slice that ended when the load had lasted for `ended`, and the server had used `cpu` since its start.
    pub(super) fn add(&mut self, seen: &MeasuredSlice, ended: Duration, cpu: Option<Duration>) {
        let observation = &seen.result.observation;
        // Slow answers all come while the slice drains. It has no guard, so that they are its own.
        let is_slow = observation.measured.succeeded == 0;
        let (answers, drained) = if is_slow {
            (observation.total.succeeded, seen.result.drained)
        } else {
            (observation.answers(), Duration::ZERO)
        };
        let took = (observation.window + drained).as_secs_f64();
        let throughput = if took > 0.0 {
            answers as f64 / took
        } else {
            0.0
        };
        self.throughputs.push(throughput);
        let used = seen.cpu.and_then(|cpu| {
            let in_drain = if is_slow { cpu.drain_seconds? } else { 0.0 };
            Some(cpu.seconds + in_drain)
        });
        if let (Some(used), 1..) = (used, answers) {
            self.costs.push(used / answers as f64);
        }
        self.ends.push((ended, cpu));
        if self.first.count() < FIRST_ANSWERS {
            self.first.merge(&observation.service_time);
        }
    }

    /// Completes the record of a warm-up that is over.
    pub(super) fn conclude(&self, warm_up: &mut WarmUp) {
        let (settled, is_bound) = self.settled(warm_up.rule.look);
        let last = self.ends.len().saturating_sub(1);
        let end = self.ends.get(if warm_up.steady { settled } else { last });
        if let Some((settled, cpu)) = end {
            warm_up.settled = Some(*settled);
            warm_up.settled_is_bound = warm_up.steady && is_bound;
            warm_up.settled_cpu = *cpu;
        }
        warm_up.first_answers = self.first.count();
        warm_up.first_p99 = self.first.quantile(0.99);
    }

    /// With which slice throughput and CPU time per answer had settled, and whether it may have been an earlier one.
    fn settled(&self, look: u32) -> (usize, bool) {
        let half = (look as usize / 2).max(1);
        let per_cpu: Vec<f64> = self.costs.iter().map(|cost| 1.0 / cost).collect();
        // Slices without CPU time would shift the others.
        let per_cpu = Some(&per_cpu).filter(|all| all.len() == self.throughputs.len());
        let last = per_cpu.and_then(|per_cpu| last_below(per_cpu, half));
        let last = last.max(last_below(&self.throughputs, half));
        // Half of a window's values are below before its median is.
        let hidden = half.div_ceil(2);
        last.map_or((hidden - 1, true), |place| (place + hidden, false))
    }

    /// The trends over the last `look` slices, of throughput and of CPU time per answer.
    pub(super) fn trends(&self, look: u32) -> (Option<f64>, Option<f64>) {
        (trend(&self.throughputs, look), trend(&self.costs, look))
    }
}

/// The trend over the last `look` values: how much higher the median of their later half is than that of the earlier
/// half, as a share of it. `None` when there are fewer than `look`, or too few to halve, or the earlier half is nothing.
fn trend(values: &[f64], look: u32) -> Option<f64> {
    let half = look as usize / 2;
    let last = values.len().checked_sub(2 * half)?;
    let (earlier, later) = values[last..].split_at(half);
    let earlier = median(earlier).filter(|earlier| *earlier > 0.0)?;
    Some(median(later)? / earlier - 1.0)
}

/// The index of the last window of this length whose median is clearly below that of the last two windows
/// ([`SETTLED`]).
fn last_below(values: &[f64], window: usize) -> Option<usize> {
    let last = &values[values.len().saturating_sub(2 * window)..];
    let least = median(last)? * (1.0 - SETTLED);
    let is_below = |window: &[f64]| median(window).is_some_and(|median| median < least);
    values.windows(window).rposition(is_below)
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    match sorted.len() % 2 {
        0 => Some((sorted[sorted.len() / 2 - 1] + upper) / 2.0),
        _ => Some(upper),
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::heat::CpuUsed;

    use super::*;

    #[test]
    fn the_trend_is_that_of_the_last_slices() {
        let cases: [(&[f64], u32, Option<f64>); 8] = [
            (&[100.0, 100.0, 110.0, 110.0], 4, Some(0.1)),
            (&[1.0, 1.0, 100.0, 100.0, 100.0, 100.0], 4, Some(0.0)),
            (&[100.0, 100.0, 50.0, 50.0], 4, Some(-0.5)),
            // One slice that the machine spoiled is no trend.
            (&[100.0, 100.0, 100.0, 100.0, 3.0, 100.0], 6, Some(0.0)),
            // The middle one of an odd number belongs to no half.
            (&[1.0, 100.0, 110.0], 3, Some(0.1)),
            (&[100.0, 100.0, 100.0], 4, None),
            (&[0.0, 0.0, 100.0, 100.0], 4, None),
            (&[100.0], 1, None),
        ];
        for (throughputs, look, expected) in cases {
            let found = trend(throughputs, look);
            let near = match (found, expected) {
                (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(near, "{throughputs:?} by {look}: {found:?}");
        }
    }

    #[test]
    fn answers_that_take_longer_than_a_slice_have_a_trend() {
        let mut course = WarmUpSlices::default();
        for _ in 0..4 {
            let mut seen = MeasuredSlice {
                cpu: Some(CpuUsed {
                    seconds: 0.01,
                    drain_seconds: Some(0.04),
                    ..CpuUsed::default()
                }),
                ..MeasuredSlice::default()
            };
            let observation = &mut seen.result.observation;
            observation.window = Duration::from_millis(200);
            observation.measured.in_flight = 50;
            observation.total.succeeded = 50;
            seen.result.drained = Duration::from_millis(300);
            course.add(&seen, Duration::ZERO, None);
        }
        assert_eq!(course.throughputs, [100.0; 4]);
        assert_eq!(course.costs, [0.001; 4]);
        assert_eq!(course.trends(4), (Some(0.0), Some(0.0)));
    }

    /// What is said of slices with this throughput and CPU time per answer.
    fn settled(throughputs: &[f64], costs: &[f64], look: u32) -> (usize, bool) {
        let course = WarmUpSlices {
            throughputs: throughputs.to_vec(),
            costs: costs.to_vec(),
            ..WarmUpSlices::default()
        };
        course.settled(look)
    }

    fn after(slow: usize, speed: f64) -> Vec<f64> {
        let slow = vec![speed; slow];
        slow.into_iter().chain([100.0; 12]).collect()
    }

    #[test]
    fn a_member_has_settled_with_the_first_slice_that_is_nearly_as_good_as_the_last_ones() {
        for (look, hidden) in [(1, 1), (2, 1), (6, 2), (8, 2), (20, 5)] {
            for slow in 0..10 {
                let expected = if slow < hidden {
                    (hidden - 1, true)
                } else {
                    (slow, false)
                };
                let found = settled(&after(slow, 60.0), &[], look);
                assert_eq!(found, expected, "{slow} by {look}");
                let found = settled(&after(slow, 95.0), &[], look);
                assert_eq!(found, (hidden - 1, true), "{slow} by {look}");
            }
        }
        // One slice that the machine spoiled is no slow server.
        let mut values = after(0, 0.0);
        values[3] = 10.0;
        assert_eq!(settled(&values, &[], 8), (1, true));
        assert_eq!(settled(&[], &[], 8), (1, true));
    }

    #[test]
    fn a_member_whose_answers_become_cheaper_has_not_settled() {
        let costs: Vec<f64> = after(5, 160.0);
        assert_eq!(settled(&after(2, 60.0), &costs[3..], 8), (2, false));
        assert_eq!(settled(&after(2, 100.0), &costs[3..], 8), (2, false));
        // What lacks CPU time in some slices cannot be placed.
        assert_eq!(settled(&after(3, 100.0), &costs[3..], 8), (1, true));
    }

    #[test]
    fn a_time_that_was_asked_for_is_fixed_after_a_start_and_the_most_at_a_rate() {
        let own = WarmUps::new(Runtime::Jit, Some(4));
        assert_eq!(own.lasting(None), own);
        let cases = [(0.02, 0.02), (1.0, 1.0), (2.0, 2.0), (60.0, 2.0)];
        for (asked, least_at_a_rate) in cases {
            let [asked, least] = [asked, least_at_a_rate].map(Duration::from_secs_f64);
            let lasting = own.lasting(Some(asked));
            assert_eq!(
                (lasting.started.least, lasting.started.most),
                (asked, asked)
            );
            assert_eq!(lasting.when_kept().started, lasting.started);
            let WarmUpRule { pause, rest, .. } = lasting.started;
            assert_eq!((pause, rest), (own.started.pause, REST));
            let at_a_rate = lasting.at_a_rate.unwrap();
            assert_eq!((at_a_rate.least, at_a_rate.most), (least, asked));
        }
        assert_eq!(own.at_a_rate.unwrap().rest, Duration::ZERO);
        // Twenty slices, eighteen pauses and two rests.
        let unknown = WarmUps::of_unknown().started;
        assert_eq!(unknown.looked_at(), Duration::from_millis(8_200));
        let native = WarmUps::new(Runtime::Native, Some(4));
        assert_eq!(native.started.rest, Duration::ZERO);
        assert_eq!(
            native.lasting(Some(Duration::from_secs(60))).at_a_rate,
            None
        );
    }

    #[test]
    fn the_null_server_is_never_warmed_up_for_longer_than_its_own_time() {
        let cases = [(None, 500), (Some(100), 100), (Some(110_000), 500)];
        for (asked, expected) in cases {
            let own = WarmUps::of_null_server(asked.map(Duration::from_millis));
            assert_eq!(own.started.most, Duration::from_millis(expected));
            assert_eq!(own.at_a_rate, None);
        }
    }

    #[test]
    fn every_rule_leaves_time_to_become_steady() {
        let compiling = (1..=20).map(compiling);
        for all in compiling.chain([calm(1, 4), calm(5, 4), WarmUps::of_unknown()]) {
            for rule in [Some(all.started), all.at_a_rate].into_iter().flatten() {
                assert!(rule.least < rule.most);
                assert!(rule.looked_at() < rule.most);
            }
        }
    }
}
