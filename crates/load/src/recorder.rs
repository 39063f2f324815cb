//! What one worker saw: counters, histogram, time series, examples. One per thread, merged at the end.

use std::time::Duration;

use deadheat_model::{
    Failure, LatencyHistogram, Observation, Tally,
    observation::{Bin, FailureExample, WorkerHealth},
};

/// Failures of each kind that a worker keeps verbatim.
const EXAMPLES_OF_A_KIND: u8 = 3;
/// Bins that a load without a known length has room for before the series must grow.
const BINS_OF_UNKNOWN_LENGTH: usize = 8 * 1024;

/// The first few failures of each kind. Only they are ever formatted.
#[derive(Debug, Default)]
pub(crate) struct Examples {
    kept: Vec<FailureExample>,
    seen: [u8; Failure::ALL.len()],
}

impl Examples {
    /// Whether another example of `kind` would be kept.
    #[inline]
    pub(crate) fn wants(&self, kind: Failure) -> bool {
        self.seen[kind as usize] < EXAMPLES_OF_A_KIND
    }

    /// Keeps an example, if one of its kind is wanted.
    pub(crate) fn keep(&mut self, kind: Failure, detail: impl FnOnce() -> String) {
        if self.wants(kind) {
            self.seen[kind as usize] += 1;
            let detail = detail();
            self.kept.push(FailureExample { kind, detail });
        }
    }
}

/// Counts one worker's requests. Times are nanoseconds of the monotonic clock and never go back.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// The span that lasts: the warm-up, the measurement, then the cool-down.
    span: Tally,
    /// What was issued and ended in the spans before it.
    earlier: Tally,
    /// The measurement, once it is over, and its length.
    measured: Tally,
    window: Duration,
    measuring: bool,
    measure_from: u64,
    last_end: u64,
    service_time: LatencyHistogram,
    bin: Duration,
    bin_ns: u64,
    bin_end: u64,
    bins: Vec<Bin>,
    body_bytes: u64,
    content_checked: u64,
    connections_open: u64,
    connections_opened: u64,
    connections_peak: u64,
    /// Failures kept verbatim.
    pub(crate) examples: Examples,
}

impl Recorder {
    /// A recorder with room for a measurement of `length`; `None`: of unknown length.
    pub(crate) fn new(bin: Duration, length: Option<Duration>) -> Self {
        let room = match length {
            Some(length) => length.as_nanos().div_ceil(bin.as_nanos().max(1)) as usize + 1,
            None => BINS_OF_UNKNOWN_LENGTH,
        };
        Self {
            span: Tally::default(),
            earlier: Tally::default(),
            measured: Tally::default(),
            window: Duration::ZERO,
            measuring: false,
            measure_from: 0,
            last_end: 0,
            service_time: LatencyHistogram::new(),
            bin,
            bin_ns: crate::schedule::nanos(bin).max(1),
            bin_end: 0,
            // Room for a day at the narrowest width; a longer series grows.
            bins: Vec::with_capacity(room.min(1 << 27)),
            body_bytes: 0,
            content_checked: 0,
            connections_open: 0,
            connections_opened: 0,
            connections_peak: 0,
            examples: Examples::default(),
        }
    }

    /// The warm-up is over; `in_flight` requests reach into the measurement.
    pub(crate) fn begin_measurement(&mut self, from: u64, in_flight: u64) {
        self.next_span(in_flight);
        self.measuring = true;
        self.measure_from = from;
        self.last_end = from;
        self.bin_end = from.saturating_add(self.bin_ns);
        self.bins.push(Bin::default());
    }

    /// The measurement is over, if it ever began; `in_flight` requests reach out of it.
    pub(crate) fn end_measurement(&mut self, at: u64, in_flight: u64) {
        if self.measuring {
            self.measured = self.next_span(in_flight);
            self.window = Duration::from_nanos(at - self.measure_from);
            self.measuring = false;
        }
    }

    /// Ends a span and begins the next one, into which `in_flight` requests reach.
    fn next_span(&mut self, in_flight: u64) -> Tally {
        self.span.in_flight = in_flight;
        let ended = std::mem::take(&mut self.span);
        self.span.carried_in = in_flight;
        add(&mut self.earlier, &ended);
        ended
    }

    /// A request is about to be written.
    #[inline]
    pub(crate) fn issued(&mut self) {
        self.span.issued += 1;
    }

    /// A verified answer came.
    #[inline]
    pub(crate) fn succeeded(&mut self, start: u64, end: u64) {
        self.span.succeeded += 1;
        if self.measuring {
            self.service_time.record_ns(end - start);
            self.bin_at(end).succeeded += 1;
        }
    }

    /// A request failed at `end`.
    #[inline]
    pub(crate) fn failed(&mut self, kind: Failure, end: u64) {
        self.span.failed[kind] += 1;
        if self.measuring {
            self.bin_at(end).failed += 1;
        }
    }

    #[inline]
    fn bin_at(&mut self, end: u64) -> &mut Bin {
        self.last_end = end;
        while end >= self.bin_end {
            self.bins.push(Bin::default());
            self.bin_end = self.bin_end.saturating_add(self.bin_ns);
        }
        let last = self.bins.len() - 1;
        &mut self.bins[last]
    }

    /// Bytes of a body came.
    #[inline]
    pub(crate) fn body(&mut self, bytes: u64) {
        if self.measuring {
            self.body_bytes += bytes;
        }
    }

    /// An answer's content was compared.
    #[inline]
    pub(crate) fn content_checked(&mut self) {
        if self.measuring {
            self.content_checked += 1;
        }
    }

    pub(crate) fn connection_opened(&mut self) {
        self.connections_opened += 1;
        self.connections_open += 1;
        self.connections_peak = self.connections_peak.max(self.connections_open);
    }

    pub(crate) fn connection_closed(&mut self) {
        self.connections_open -= 1;
    }

    /// Requests that were issued and have not ended, by the counts.
    #[inline]
    pub(crate) fn outstanding(&self) -> u64 {
        self.span.carried_in + self.span.issued - self.span.ended()
    }

    /// When the last request of the measurement ended; its start if none did.
    pub(crate) fn last_end(&self) -> u64 {
        self.last_end
    }

    /// The observation of a load that ended with `in_flight` requests under way.
    pub(crate) fn into_observation(mut self, in_flight: u64, health: WorkerHealth) -> Observation {
        self.span.in_flight = in_flight;
        let in_use = self.bins_in_use();
        let mut total = self.earlier;
        add(&mut total, &self.span);
        total.in_flight = in_flight;
        let (measured, window) = (self.measured, self.window);
        let bins = window.as_nanos().div_ceil(u128::from(self.bin_ns)) as usize;
        // An end exactly on a bin's edge has opened the bin after the last one.
        self.bins.resize(bins.max(in_use), Bin::default());
        Observation {
            total,
            measured,
            window,
            service_time: self.service_time,
            bin: self.bin,
            bins: self.bins,
            connections_opened: self.connections_opened,
            connections_peak: self.connections_peak,
            body_bytes: self.body_bytes,
            content_checked: self.content_checked,
            workers: vec![health],
            examples: self.examples.kept,
            ..Observation::default()
        }
    }

    fn bins_in_use(&self) -> usize {
        let used = |bin: &Bin| *bin != Bin::default();
        self.bins.iter().rposition(used).map_or(0, |last| last + 1)
    }
}

/// Adds what was issued and ended in a span; what was in flight at its edges cancels out between spans.
fn add(sum: &mut Tally, span: &Tally) {
    sum.issued += span.issued;
    sum.succeeded += span.succeeded;
    sum.failed.merge(&span.failed);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn recorder() -> Recorder {
        let length = Some(Duration::from_millis(100));
        Recorder::new(Duration::from_millis(10), length)
    }

    fn health() -> WorkerHealth {
        WorkerHealth {
            cpu: None,
            cpu_time: Duration::ZERO,
            wall: Duration::ZERO,
        }
    }

    #[test]
    fn spans_conserve_over_the_edge() {
        let mut recorder = recorder();
        for _ in 0..5 {
            recorder.issued();
        }
        recorder.succeeded(0, MS);
        recorder.failed(Failure::Reset, MS);
        assert_eq!(recorder.outstanding(), 3);
        recorder.begin_measurement(10 * MS, 3);
        recorder.issued();
        recorder.succeeded(5 * MS, 12 * MS);
        recorder.failed(Failure::Timeout, 35 * MS);
        recorder.end_measurement(110 * MS, 2);
        recorder.succeeded(5 * MS, 120 * MS);
        let seen = recorder.into_observation(1, health());
        assert!(seen.total.is_conserved() && seen.measured.is_conserved());
        assert_eq!((seen.measured.in_flight, seen.total.in_flight), (2, 1));
        assert_eq!((seen.measured.succeeded, seen.total.succeeded), (1, 3));
        assert_eq!(
            (
                seen.measured.carried_in,
                seen.measured.issued,
                seen.total.issued
            ),
            (3, 1, 6)
        );
        assert_eq!(seen.service_time.count(), 1);
        assert_eq!(seen.window, Duration::from_millis(100));
        assert_eq!(seen.bins.len(), 10);
        let (first, third) = (seen.bins[0], seen.bins[2]);
        assert_eq!((first.succeeded, first.failed), (1, 0));
        assert_eq!((third.succeeded, third.failed), (0, 1));
    }

    #[test]
    fn an_end_in_the_warm_up_measures_nothing() {
        let mut recorder = recorder();
        recorder.issued();
        recorder.issued();
        recorder.succeeded(0, 1);
        let seen = recorder.into_observation(1, health());
        assert!(seen.total.is_conserved());
        assert_eq!(seen.measured, Tally::default());
        assert_eq!((seen.window, seen.bins.len()), (Duration::ZERO, 0));
    }

    #[test]
    fn bins_follow_the_time_even_over_gaps() {
        let mut recorder = recorder();
        recorder.begin_measurement(0, 0);
        for end in [0, 10 * MS - 1, 10 * MS, 95 * MS] {
            recorder.issued();
            recorder.succeeded(end, end);
        }
        let counts = |seen: Observation| {
            seen.bins
                .iter()
                .map(|bin| bin.succeeded)
                .collect::<Vec<_>>()
        };
        recorder.end_measurement(100 * MS, 0);
        let seen = recorder.into_observation(0, health());
        assert_eq!(counts(seen), [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn only_the_first_examples_are_formatted() {
        let mut examples = Examples::default();
        for _ in 0..3 {
            examples.keep(Failure::Reset, || "first".to_owned());
        }
        examples.keep(Failure::Reset, || unreachable!("a fourth is not kept"));
        examples.keep(Failure::Timeout, || "another kind".to_owned());
        assert_eq!(examples.kept.len(), 4);
    }
}
