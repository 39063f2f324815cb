//! Synthetic loads, for tests and for inspecting the view.

use std::{net::SocketAddr, time::Duration};

use deadheat_load::LoadEvent;
use deadheat_model::{
    Exchange, Failure, Interval, LatencyHistogram, LoadPhase, LoadSpec, Schedule, SliceEvent,
    StopRule,
    load::{Arrivals, Stage, Target},
};

/// A moment of a synthetic load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scene {
    /// Nothing has been sent.
    Start,
    /// The first intervals of a warm-up.
    WarmUp,
    /// A closed loop in the middle of its measurement.
    Steady,
    /// A closed loop with a count, some of whose requests fail.
    Errors,
    /// An open loop whose rate goes up until the server cannot follow.
    Behind,
    /// A load of three hours until an interrupt, and its end.
    VeryLong,
}

impl Scene {
    pub(super) const ALL: [Scene; 6] = [
        Scene::Start,
        Scene::WarmUp,
        Scene::Steady,
        Scene::Errors,
        Scene::Behind,
        Scene::VeryLong,
    ];
}

/// The spec of the load, and its events up to the scene.
pub(super) fn play(scene: Scene) -> (LoadSpec, Vec<LoadEvent>) {
    let seconds = Duration::from_secs;
    let closed = Schedule::Closed {
        connections: 50,
        ramp: Duration::ZERO,
    };
    let after = |length| StopRule::Duration {
        length: seconds(length),
    };
    match scene {
        Scene::Start => (spec(closed, after(10), seconds(1)), Vec::new()),
        Scene::WarmUp => {
            let spec = spec(closed, after(10), seconds(1));
            let events = Script::new(Duration::from_millis(100)).run(4, LoadPhase::WarmUp, steady);
            (spec, events.events)
        }
        Scene::Steady => {
            let script = Script::new(Duration::from_millis(500))
                .run(4, LoadPhase::WarmUp, steady)
                .run(37, LoadPhase::Measurement, steady);
            (spec(closed, after(30), seconds(2)), script.events)
        }
        Scene::Errors => {
            let count = StopRule::Count { requests: 400_000 };
            let script = Script::new(seconds(1)).run(9, LoadPhase::Measurement, failing);
            (spec(closed, count, Duration::ZERO), script.events)
        }
        Scene::Behind => {
            let open = Schedule::Open {
                arrivals: Arrivals::Poisson,
                stages: vec![Stage {
                    length: seconds(30),
                    from: 2_000.0,
                    to: 20_000.0,
                }],
                connections: 50,
                most_connections: 200,
            };
            let script = Script::new(seconds(1))
                .run(2, LoadPhase::WarmUp, rising)
                .run(24, LoadPhase::Measurement, rising);
            (spec(open, after(30), seconds(2)), script.events)
        }
        Scene::VeryLong => {
            let script = Script::new(seconds(10))
                .run(1, LoadPhase::WarmUp, steady)
                .run(1_080, LoadPhase::Measurement, steady)
                .run(1, LoadPhase::Drain, ending);
            let spec = spec(closed, StopRule::Interrupt, seconds(10));
            (spec, script.events)
        }
    }
}

/// The intervals among events.
pub(super) fn intervals(events: &[LoadEvent]) -> impl Iterator<Item = &Interval> {
    events.iter().filter_map(|event| match event {
        LoadEvent::Interval(interval) => Some(&**interval),
        LoadEvent::Started | LoadEvent::Slice(_) => None,
    })
}

fn spec(schedule: Schedule, stop: StopRule, warm_up: Duration) -> LoadSpec {
    let target = Target::plain(SocketAddr::from(([127, 0, 0, 1], 8080)));
    let mut spec = LoadSpec::new(target, Vec::<Exchange>::new(), schedule, stop);
    spec.warm_up = warm_up;
    spec
}

/// A builder of events.
struct Script {
    interval: Duration,
    events: Vec<LoadEvent>,
    index: u64,
    phase: Option<LoadPhase>,
    chance: Random,
}

impl Script {
    fn new(interval: Duration) -> Self {
        Self {
            interval,
            events: Vec::new(),
            index: 0,
            phase: None,
            chance: Random(1),
        }
    }

    /// Adds intervals of a phase; `fill` fills each in by its number, with random numbers.
    fn run(
        mut self,
        intervals: u64,
        phase: LoadPhase,
        fill: fn(u64, &mut Random, &mut Interval),
    ) -> Self {
        if self.phase.is_none() {
            self.events.push(LoadEvent::Started);
        }
        if self.phase != Some(phase) {
            self.phase = Some(phase);
            match phase {
                LoadPhase::WarmUp => {}
                LoadPhase::Measurement => self
                    .events
                    .push(LoadEvent::Slice(SliceEvent::CountingStarted)),
                LoadPhase::Drain => self
                    .events
                    .push(LoadEvent::Slice(SliceEvent::CountingEnded)),
            }
        }
        for _ in 0..intervals {
            let mut interval = Interval {
                index: self.index,
                from: self.interval * self.index as u32,
                until: self.interval * (self.index as u32 + 1),
                phase,
                connections: 50,
                in_flight: 50,
                ..Interval::default()
            };
            fill(self.index, &mut self.chance, &mut interval);
            let length = interval.length().as_secs_f64();
            for count in [
                &mut interval.succeeded,
                &mut interval.offered,
                &mut interval.sent_bytes,
                &mut interval.received_bytes,
            ] {
                *count = (*count as f64 * length) as u64;
            }
            interval.issued = interval.succeeded + interval.failed.total();
            self.events.push(LoadEvent::Interval(Box::new(interval)));
            self.index += 1;
        }
        self
    }
}

// The following functions set counts per second; `run` scales them to the interval.

fn steady(index: u64, chance: &mut Random, interval: &mut Interval) {
    interval.succeeded = 40_000 + chance.below(3_000) + if index < 2 { 0 } else { 1_500 };
    interval.sent_bytes = interval.succeeded * 84;
    interval.received_bytes = interval.succeeded * 310;
    fill(&mut interval.service_time, chance, 900_000, 30);
}

fn ending(_: u64, chance: &mut Random, interval: &mut Interval) {
    fill(&mut interval.service_time, chance, 900_000, 30);
    interval.in_flight = 0;
}

fn failing(index: u64, chance: &mut Random, interval: &mut Interval) {
    steady(index, chance, interval);
    if index >= 4 {
        interval.succeeded /= 2;
        interval.connections = 37;
        interval.failed[Failure::WrongStatus] = 15_000 + chance.below(1_000);
        interval.failed[Failure::Timeout] = 3 + index;
        interval.failed[Failure::Reset] = 12;
        interval.failed[Failure::ConnectRefused] = 1;
        fill(&mut interval.service_time, chance, 9_000_000, 900);
    }
}

/// A server that answers 9,000 requests per second at most.
fn rising(index: u64, chance: &mut Random, interval: &mut Interval) {
    let offered = 2_000 + index.saturating_sub(2) * 600;
    let late = offered.saturating_sub(9_000);
    interval.offered = offered;
    interval.succeeded = offered.min(9_000);
    interval.waiting = late * 3;
    interval.connections = 50 + (late / 10).min(150);
    interval.in_flight = interval.succeeded / 200;
    interval.sent_bytes = interval.succeeded * 84;
    interval.received_bytes = interval.succeeded * 310;
    fill(&mut interval.service_time, chance, 700_000, 8);
    let mut response_time = LatencyHistogram::new();
    fill(&mut response_time, chance, 720_000 + late * 300_000, 8);
    interval.response_time = Some(response_time);
}

/// Adds latencies around `middle` nanoseconds; one in a hundred is `times` as long.
fn fill(histogram: &mut LatencyHistogram, chance: &mut Random, middle: u64, times: u64) {
    for _ in 0..150 {
        let ns = middle * (60 + chance.below(30) + chance.below(50)) / 100;
        let slow = chance.below(100) == 0;
        histogram.record_ns(if slow { ns * times } else { ns });
    }
}

/// Reproducible random numbers (Lehmer's generator with the multiplier of MINSTD).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0 * 48_271 % 0x7fff_ffff;
        self.0 % bound
    }
}
