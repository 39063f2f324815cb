//! Signs that show only in a load of some length. At its beginning connections are made, and at its end the last answers
//! are waited for; in a short load that is most of the time, and says nothing of the generator.

use std::time::Duration;

use deadheat_model::{LatencyHistogram, Schedule, StopRule, load::Protocol};

use super::{
    Judged, Sign,
    signs::{LONG_ENOUGH, Load, doubt, limit, note},
};

/// Answers that a mean needs before it is held against the generator.
const LEAST_FOR_MEAN: u64 = 100;

/// How long a load should be at least that was too short to be judged.
const ADVISED: Duration = Duration::from_secs(5);

/// What one search found.
enum Found {
    Sign(Judged),
    /// What was found says nothing, unless the measurement takes so long.
    TooShort(Duration),
}

impl Load<'_> {
    /// These signs, and whether the load was too short for one of them.
    pub(super) fn of_some_length(&self) -> Vec<Judged> {
        let (mut signs, mut needed) = (Vec::new(), None);
        for found in [self.cpu_wait(), self.little()].into_iter().flatten() {
            match found {
                Found::Sign(judged) => signs.push(judged),
                Found::TooShort(length) => needed = needed.max(Some(length)),
            }
        }
        signs.extend(needed.map(|needed| {
            note(Sign::TooShort {
                seconds: self.record.observation.window.as_secs_f64(),
                needed_seconds: needed.as_secs_f64(),
            })
        }));
        signs
    }

    /// The worker that waited longest for a CPU, if that was long enough to show.
    fn cpu_wait(&self) -> Option<Found> {
        let workers = self.record.observation.workers.iter().enumerate();
        let waiting =
            workers.filter_map(|(worker, health)| Some((worker, health, health.waited()?)));
        let (worker, health, waited) =
            waiting.max_by(|(_, _, one), (_, _, other)| one.total_cmp(other))?;
        if waited < self.settings.cpu_wait || !self.has_worked() {
            return None;
        }
        if self.record.observation.window < LONG_ENOUGH {
            return Some(Found::TooShort(ADVISED));
        }
        let busy = health.busy();
        let sign = |bound| Sign::CpuWait {
            worker,
            cpu: health.cpu,
            waited,
            busy,
            bound,
        };
        let full = self.settings.generator_busy;
        Some(Found::Sign(if busy + waited >= full {
            limit(sign(full))
        } else {
            doubt(sign(self.settings.cpu_wait))
        }))
    }

    fn little(&self) -> Option<Found> {
        let connections = self.closed()?;
        // Failed requests and connections in the making hold connections too, and stand in no service time.
        let clean = self.figures.failed_share? <= self.settings.failures;
        let enough = self.record.observation.measured.succeeded >= LEAST_FOR_MEAN.max(connections);
        if !clean || !enough || !self.connections_stayed() {
            return None;
        }
        let (wanted, in_flight) = (self.figures.wanted_in_flight?, self.figures.mean_in_flight?);
        let bound = self.settings.little_deviation;
        if (in_flight - wanted).abs() <= bound * wanted {
            return None;
        }
        let window = self.record.observation.window;
        let idle = self.idle_at_the_ends(wanted);
        let explained = idle.div_duration_f64(window) >= wanted - in_flight - bound * wanted;
        if window < LONG_ENOUGH || (in_flight < wanted && explained) {
            // So long that it would be within the bound.
            let needed = idle.div_f64(bound * wanted).max(ADVISED);
            return Some(Found::TooShort(Duration::from_secs(
                needed.as_secs_f64().ceil() as u64,
            )));
        }
        let Protocol::Http1 { pipeline, .. } = self.record.spec.protocol;
        let in_batches = pipeline > 1;
        let sign = Sign::Little {
            wanted,
            in_flight,
            bound,
            in_batches,
        };
        let weigh = if in_batches { note } else { doubt };
        Some(Found::Sign(weigh(sign)))
    }

    /// For how long connections may have had no request that ended in the measurement, because it had just begun or was
    /// about to end, summed up over all of the `wanted`.
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
            // The others have nothing left to ask while the last answer is waited for.
            StopRule::Count { .. } => seen.service_time.max().unwrap_or_default(),
            _ => mean(&seen.service_time),
        };
        making + (ramp.saturating_sub(spec.warm_up) + last).mul_f64(wanted)
    }
}
