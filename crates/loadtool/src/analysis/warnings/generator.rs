//! Whether the generator itself shaped the figures.
//!
//! Some checks need a load of some length. At its start it opens connections, and at its end it waits for the last
//! answers. In a short load, that is most of the time, and shows nothing about the generator.

use std::time::Duration;

use deadheat_model::{
    Failure, LatencyHistogram, Schedule, StopRule,
    figure::{count, figure, latency, percent, share, size},
    load::Protocol,
    observation::WorkerHealth,
    warning::{Level, Warning, doubt, limit, note},
};

use super::{Load, requests, requests::FAILURES};

/// A worker that is busy for this share of its time makes the generator the limit …
pub const BUSY: f64 = 0.85;
/// … if at least this many answers were valid: with fewer, most of its work was setting up or failing.
const BUSY_ANSWERS: u64 = 100;
/// A worker that waited for a CPU for this share of its time read answers and sent requests late: it shows in the mean of
/// any latency. If it also ran for the rest of [`BUSY`], the generator was the limit.
pub const CPU_WAIT: f64 = 0.10;
/// A closed loop's connections × depth and throughput × mean service time may differ by this share of the former.
const LITTLE_DEVIATION: f64 = 0.10;
/// The fewest answers for a mean that is judged.
const MIN_FOR_MEAN: u64 = 100;
/// Starting a load takes a worker much less than this.
const LONG_ENOUGH: Duration = Duration::from_secs(1);
/// The shortest length that is recommended if a load was too short to be judged.
const ADVISED: Duration = Duration::from_secs(5);
/// A note reports unread answers on at least this share of the sampled connections.
const QUEUED: f64 = 0.2;
/// A warning reports unread answers on at least this share.
const MOSTLY_QUEUED: f64 = 0.5;
/// Both need a worker that was busy for at least this share of its time: the answer that wakes a worker is always
/// unread.
const QUEUED_BUSY: f64 = 0.5;
/// Both need at least this many sampled connections.
const QUEUED_LOOKS: u64 = 100;

/// What a limit of the generator's CPU means.
const BOUNDS: &str = "Throughput is a lower bound for the server, times are upper bounds.";

/// The result of a check that needs a load of some length.
enum CheckOutcome {
    Warning(Warning),
    /// Undecided: the measurement must be at least this long.
    TooShort(Duration),
}

impl Load<'_> {
    pub(super) fn busy(&self) -> Vec<Warning> {
        if !self.record.hosts.is_empty() {
            // The workers of each host are reported with the host.
            return Vec::new();
        }
        let workers = self.record.observation.workers.iter().enumerate();
        let mut busy: Vec<_> = workers
            .filter(|(_, health)| health.busy() >= BUSY && self.has_worked())
            .collect();
        busy.sort_by(|(_, one), (_, other)| other.busy().total_cmp(&one.busy()));
        let warning = |(place, (worker, health)): (usize, (usize, &WorkerHealth))| {
            let on = health
                .cpu
                .map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
            let meaning = if place == 0 {
                format!(" {BOUNDS}")
            } else {
                String::new()
            };
            let sentence = format!(
                "Worker {worker}{on} was busy for {} of the time (limit: {}).{meaning}",
                percent(health.busy()),
                percent(BUSY)
            );
            limit("busy", sentence)
                .with("worker", worker)
                .with("cpu", health.cpu)
                .with("busy", health.busy())
                .with("bound", BUSY)
        };
        busy.into_iter().enumerate().map(warning).collect()
    }

    /// Whether the workers spent their time on answers, and not on starting or failing.
    fn has_worked(&self) -> bool {
        let seen = &self.record.observation;
        // A few long answers are work too, if they took a while.
        let long = seen.window >= LONG_ENOUGH && seen.measured.succeeded > 0;
        long || seen.measured.succeeded >= BUSY_ANSWERS
    }

    pub(super) fn no_local_port(&self) -> Option<Warning> {
        let failed = self.record.observation.total.failed[Failure::NoLocalPort];
        let sentence = format!(
            "No local port was left to connect from for {}.",
            requests(failed)
        );
        (failed > 0).then(|| {
            limit("no-local-port", sentence)
                .with("requests", failed)
                .advice("Let connections carry more requests, or add source addresses.")
        })
    }

    /// The checks that need a load of some length, and whether it was too short for one of them.
    pub(super) fn of_some_length(&self) -> Vec<Warning> {
        let (mut warnings, mut needed) = (Vec::new(), None);
        for found in [self.cpu_wait(), self.little()].into_iter().flatten() {
            match found {
                CheckOutcome::Warning(warning) => warnings.push(warning),
                CheckOutcome::TooShort(length) => needed = needed.max(Some(length)),
            }
        }
        warnings.extend(needed.map(|needed| {
            let window = self.record.observation.window;
            let (seconds, needed) = (window.as_secs_f64(), needed.as_secs_f64());
            let sentence = format!(
                "{} is too short to judge whether the generator kept up, because connecting and the last answers take \
                 much of it.",
                latency(seconds)
            );
            note("too-short", sentence)
                .with("seconds", seconds)
                .with("needed_seconds", needed)
                .advice(format!("Use -d {needed}s."))
        }));
        warnings
    }

    /// The worker that waited longest for a CPU on which something else ran: the server or another worker.
    fn cpu_wait(&self) -> Option<CheckOutcome> {
        let workers = self.record.observation.workers.iter().enumerate();
        let waiting =
            workers.filter_map(|(worker, health)| Some((worker, health, health.waited()?)));
        let (worker, health, waited) =
            waiting.max_by(|(_, _, one), (_, _, other)| one.total_cmp(other))?;
        if waited < CPU_WAIT || !self.has_worked() {
            return None;
        }
        if self.record.observation.window < LONG_ENOUGH {
            return Some(CheckOutcome::TooShort(ADVISED));
        }
        let busy = health.busy();
        let cpu = health
            .cpu
            .map_or("one".to_owned(), |cpu| format!("CPU {cpu}"));
        let sentence = format!(
            "The load generator was short of CPU: it waited for {cpu} during {} of the time.",
            percent(waited)
        );
        let (warning, bound) = if busy + waited >= BUSY {
            (limit("cpu-wait", format!("{sentence} {BOUNDS}")), BUSY)
        } else {
            (doubt("cpu-wait", sentence), CPU_WAIT)
        };
        let warning = warning
            .with("worker", worker)
            .with("cpu", health.cpu)
            .with("waited", waited)
            .with("busy", busy)
            .with("bound", bound)
            .advice("Pin it to a free CPU with --cpus N.");
        Some(CheckOutcome::Warning(warning))
    }

    /// Closed loop: whether the connections held as many requests in flight as they could (Little, Operations Research 9,
    /// 1961). If not, generator or connections waited for something other than the server.
    fn little(&self) -> Option<CheckOutcome> {
        let connections = self.closed()?;
        // Failed requests and connects occupy connections too, and are in no service time.
        let clean = self.figures.failed_share? <= FAILURES;
        let enough = self.record.observation.measured.succeeded >= MIN_FOR_MEAN.max(connections);
        if !clean || !enough || !self.connections_stayed() {
            return None;
        }
        let (wanted, in_flight) = (self.figures.wanted_in_flight?, self.figures.mean_in_flight?);
        let allowed = LITTLE_DEVIATION * wanted;
        if (in_flight - wanted).abs() <= allowed {
            return None;
        }
        let window = self.record.observation.window;
        let idle = self.idle_at_the_ends(wanted);
        let explained = idle.div_duration_f64(window) >= wanted - in_flight - allowed;
        if window < LONG_ENOUGH || (in_flight < wanted && explained) {
            // With this length, the idle time would be within the bound.
            let needed = idle.div_f64(allowed).max(ADVISED);
            return Some(CheckOutcome::TooShort(Duration::from_secs(
                needed.as_secs_f64().ceil() as u64,
            )));
        }
        let in_batches = matches!(
            self.record.spec.protocol,
            Protocol::Http1 { pipeline: 2.., .. }
        );
        let (level, why) = if in_batches {
            (
                Level::Note,
                "pipelined requests go out in batches, so connections are not always full",
            )
        } else {
            (
                Level::Doubt,
                "something else than the server was waited for",
            )
        };
        let sentence = format!(
            "{} could be in flight, and throughput × mean service time makes {} (Little's law): {why}.",
            requests(wanted as u64),
            figure(in_flight),
        );
        let warning = Warning::new(level, "little", sentence)
            .with("wanted", wanted)
            .with("in_flight", in_flight)
            .with("bound", LITTLE_DEVIATION)
            .with("in_batches", in_batches);
        Some(CheckOutcome::Warning(warning))
    }

    /// The total time that connections may have spent at both ends of the measurement on requests that do not count in
    /// it, over all `wanted` requests in flight.
    fn idle_at_the_ends(&self, wanted: f64) -> Duration {
        let (spec, seen) = (&self.record.spec, &self.record.observation);
        let mean = |of: &LatencyHistogram| of.mean().unwrap_or_default();
        // With a warm-up, connections were made in it.
        let making = if spec.warm_up.is_zero() {
            (mean(&seen.connect_time) + mean(&seen.handshake_time))
                .mul_f64(seen.connections_opened as f64)
        } else {
            Duration::ZERO
        };
        let Schedule::Closed { ramp, .. } = spec.schedule else {
            return making;
        };
        let last = match spec.stop {
            // Other connections have no requests left while the last answer is pending.
            StopRule::Count { .. } => seen.service_time.max().unwrap_or_default(),
            _ => mean(&seen.service_time),
        };
        making + (ramp.saturating_sub(spec.warm_up) + last).mul_f64(wanted)
    }

    /// Warns if received answers waited for the generator to read them.
    pub(super) fn queued(&self) -> Option<Warning> {
        let queues = &self.record.observation.receive_queues;
        let busy = self.figures.busiest_worker;
        let part = queues.waiting_share();
        if queues.connections < QUEUED_LOOKS || busy < QUEUED_BUSY || part < QUEUED {
            return None;
        }
        let sentence = format!(
            "Answers waited for the generator: {} of {} connections looked at had unread bytes, up to {}.",
            share(part),
            count(queues.connections),
            size(queues.most_bytes)
        );
        let (warning, bound) = if part >= MOSTLY_QUEUED {
            (doubt("queued", sentence), MOSTLY_QUEUED)
        } else {
            (note("queued", sentence), QUEUED)
        };
        Some(
            warning
                .with("share", part)
                .with("connections", queues.connections)
                .with("most_bytes", queues.most_bytes)
                .with("bound", bound)
                .with("busy", busy),
        )
    }
}
