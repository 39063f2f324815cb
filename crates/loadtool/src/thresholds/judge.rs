//! Whether a condition came true. A condition that cannot be evaluated fails: a gate must not pass what it did not see.

use deadheat_model::{
    LatencyHistogram, LoadRecord, Observation,
    figure::{self, byte_rate, counted, four_digits, precise_seconds},
};

use super::{Distribution, Figure, Metric, Threshold};
use crate::analysis::{LoadFigures, requests_for};

/// The samples below which no percentile is judged, however low it is.
const LEAST_SAMPLES: u64 = 100;
/// A mean is judged as long as no more than this share of the requests had no answer at the end.
const UNKNOWN_OF_A_MEAN: f64 = 0.01;

/// What became of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Whether it makes the exit status 1.
    pub(crate) failed: bool,
    /// In words.
    pub(crate) line: String,
}

impl Threshold {
    /// Judges the condition on what a load found.
    pub(crate) fn judge(&self, record: &LoadRecord) -> Outcome {
        let (failed, what) = match self.measured(record) {
            Ok(value) if record.interrupted => (
                true,
                format!(
                    "cannot be judged: the load was interrupted (until then it was {})",
                    self.shown(value)
                ),
            ),
            Ok(value) => {
                let shown = self.shown(value);
                (
                    self.operator.holds(value, self.bound),
                    format!("it was {shown}"),
                )
            }
            Err(why) => (true, format!("cannot be judged: {why}")),
        };
        let mark = if failed { "FAILED" } else { "ok    " };
        Outcome {
            failed,
            line: format!("fail-if {mark} {self}: {what}"),
        }
    }

    /// The value, or why there is none that could be judged.
    fn measured(&self, record: &LoadRecord) -> Result<f64, String> {
        let observation = &record.observation;
        if observation.window.is_zero() {
            return Err("the load ended before the measurement began".to_owned());
        }
        let ended = observation.measured.ended();
        match self.metric {
            Metric::Latency { of, figure } => latency(of, figure, observation),
            Metric::ErrorShare => {
                // With fewer, one failure would be more than the bound, and none says nothing about it.
                let needed = if self.bound > 0.0 {
                    (1.0 / self.bound - 1e-9).ceil().max(1.0) as u64
                } else {
                    1
                };
                if ended < needed {
                    return Err(format!(
                        "{} ended, and such a share needs {}; measure longer, or count them ('errors>0')",
                        counted(ended, "request"),
                        figure::count(needed)
                    ));
                }
                Ok(observation.measured.failed.total() as f64 / ended as f64)
            }
            Metric::ErrorCount if ended == 0 => Err("no request ended".to_owned()),
            Metric::ErrorCount => Ok(observation.measured.failed.total() as f64),
            Metric::Throughput => Ok(observation.throughput()),
            Metric::Goodput => Ok(LoadFigures::new(record).valid_body_bytes_per_second),
        }
    }

    /// A value of its figure as a person reads it.
    pub(crate) fn shown(&self, value: f64) -> String {
        match self.metric {
            Metric::Latency { .. } => precise_seconds(value),
            Metric::ErrorShare => format!("{} %", four_digits(value * 100.0)),
            Metric::ErrorCount => figure::count(value as u64),
            Metric::Throughput => figure::rate(value),
            Metric::Goodput => byte_rate(value),
        }
    }
}

fn latency(
    of: Option<Distribution>,
    figure: Figure,
    observation: &Observation,
) -> Result<f64, String> {
    let open = observation.open.as_ref();
    let missing = || "the load has no such figure".to_owned();
    let (histogram, waiting) = match (of, open) {
        (Some(Distribution::Service), _) | (None, None) => (&observation.service_time, None),
        (Some(Distribution::FirstByte), _) => {
            let recorded = observation.first_byte.as_ref();
            (recorded.ok_or_else(missing)?, None)
        }
        (Some(Distribution::FirstEvent), _) => {
            let events = observation.events.as_ref().ok_or_else(missing)?;
            (&events.first_event, None)
        }
        (Some(Distribution::Gap), _) => {
            let events = observation.events.as_ref().ok_or_else(missing)?;
            if let (Figure::Most, Some(longest)) = (figure, events.longest_gap()) {
                return Ok(longest.as_secs_f64());
            }
            (&events.gap, None)
        }
        (Some(Distribution::Response) | None, Some(open)) => {
            let waiting = Unanswered {
                requests: open.unsent + observation.measured.in_flight,
                oldest: open.oldest_unsent.max(open.oldest_in_flight).as_secs_f64(),
            };
            (&open.response_time, Some(waiting))
        }
        (Some(Distribution::Wait), Some(open)) => {
            let waiting = Unanswered {
                requests: open.unsent,
                oldest: open.oldest_unsent.as_secs_f64(),
            };
            (&open.connection_wait, Some(waiting))
        }
        (Some(Distribution::Lag), Some(open)) => (&open.send_lag, None),
        (Some(Distribution::Response | Distribution::Wait | Distribution::Lag), None) => {
            return Err(missing());
        }
    };
    let waiting = waiting.filter(|waiting| waiting.requests > 0);
    figure_of(figure, histogram, waiting)
}

/// Requests that had no answer when the measurement ended. A histogram holds those alone that had one, so that a server
/// that stops looks better than one that continues slowly.
#[derive(Clone, Copy, Debug)]
struct Unanswered {
    requests: u64,
    /// How long the oldest of them had waited, in seconds.
    oldest: f64,
}

impl Unanswered {
    fn unknown(self) -> String {
        format!(
            "{} had no answer at the end of the measurement, the oldest for {}, so the true value is longer",
            counted(self.requests, "request"),
            precise_seconds(self.oldest)
        )
    }
}

fn figure_of(
    figure: Figure,
    histogram: &LatencyHistogram,
    waiting: Option<Unanswered>,
) -> Result<f64, String> {
    let samples = histogram.count();
    let seconds = |found: Option<std::time::Duration>| {
        found
            .map(|found| found.as_secs_f64())
            .ok_or_else(|| "there was not one sample".to_owned())
    };
    match figure {
        Figure::Least => seconds(histogram.least()),
        Figure::Most => {
            let most = seconds(histogram.max())?;
            Ok(waiting.map_or(most, |waiting| most.max(waiting.oldest)))
        }
        Figure::Mean => {
            let mean = seconds(histogram.mean())?;
            let many = |waiting: &Unanswered| {
                waiting.oldest > mean
                    && waiting.requests as f64 > samples as f64 * UNKNOWN_OF_A_MEAN
            };
            match waiting.filter(many) {
                Some(waiting) => Err(waiting.unknown()),
                None => Ok(mean),
            }
        }
        Figure::Percentile(percent) => {
            let needed = requests_for(percent).max(LEAST_SAMPLES);
            if samples < needed {
                return Err(too_few(samples, needed, percent));
            }
            let value = seconds(histogram.quantile(percent / 100.0))?;
            match waiting.filter(|waiting| waiting.oldest > value) {
                None => Ok(value),
                // As if all of them took for ever: what is left is the percentile whatever they do.
                Some(waiting) => {
                    let all = (samples + waiting.requests) as f64;
                    let quantile = percent / 100.0 * all / samples as f64;
                    if quantile <= 1.0 {
                        seconds(histogram.quantile(quantile))
                    } else {
                        Err(waiting.unknown())
                    }
                }
            }
        }
    }
}

fn too_few(samples: u64, needed: u64, percent: f64) -> String {
    let advice = if samples >= requests_for(90.0) {
        // About a hundred beyond it.
        let highest = 100.0 - 10_000.0 / samples as f64;
        format!("measure longer, or judge p{}", digits_down(highest))
    } else if samples >= LEAST_SAMPLES {
        "measure longer, or judge p50 and max".to_owned()
    } else {
        "measure longer, or judge max".to_owned()
    };
    format!(
        "{} samples are too few for p{percent}, which needs {}; {advice}",
        figure::count(samples),
        figure::count(needed)
    )
}

/// A percentage with one digit behind the point, rounded down.
fn digits_down(percent: f64) -> String {
    four_digits((percent * 10.0).floor() / 10.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::{
        Failure, LoadSpec, Schedule, StopRule,
        load::{Arrivals, Exchange, Expectation, RequestSpec, Stage, StatusSet, Target},
        load_record::SCHEMA,
        machine::Machine,
        observation::{EventsSeen, OpenLoop},
    };
    use proptest::prelude::*;

    use super::*;

    fn record(observation: Observation) -> LoadRecord {
        let expect = Expectation {
            status: StatusSet::success(),
            length: None,
            content: None,
        };
        let schedule = Schedule::Closed {
            connections: 1,
            ramp: Duration::ZERO,
        };
        LoadRecord {
            schema: SCHEMA,
            deadheat: String::new(),
            started: String::new(),
            url: String::new(),
            machine: Machine::default(),
            spec: LoadSpec::new(
                Target::plain("127.0.0.1:1".parse().unwrap()),
                vec![Exchange::new(RequestSpec::get("/"), expect)],
                schedule,
                StopRule::Interrupt,
            ),
            interrupted: false,
            observation,
            intervals: Vec::new(),
            hosts: Vec::new(),
        }
    }

    /// Of 10 s, with one answer after each of these times in milliseconds.
    fn answered(times: impl IntoIterator<Item = u64>) -> Observation {
        let mut found = Observation {
            window: Duration::from_secs(10),
            ..Observation::default()
        };
        for time in times {
            found.service_time.record_ns(time * 1_000_000);
            found.measured.issued += 1;
            found.measured.succeeded += 1;
        }
        found
    }

    /// The same as an open loop, at whose end requests waited.
    fn open(times: impl IntoIterator<Item = u64>, unsent: u64, oldest_ms: u64) -> Observation {
        let mut found = answered(times);
        found.open = Some(OpenLoop {
            unsent,
            oldest_unsent: Duration::from_millis(oldest_ms),
            response_time: found.service_time.clone(),
            connection_wait: found.service_time.clone(),
            ..OpenLoop::default()
        });
        found
    }

    #[track_caller]
    fn judged(text: &str, found: &Observation, failed: bool, says: &str) {
        let threshold: Threshold = text.parse().unwrap();
        let outcome = threshold.judge(&record(found.clone()));
        assert_eq!(outcome.failed, failed, "{}", outcome.line);
        assert!(
            outcome.line.contains(says),
            "{says:?} is not in: {}",
            outcome.line
        );
    }

    #[test]
    fn what_comes_true_fails() {
        let mut found = answered(1..=1000);
        found.measured.failed[Failure::Reset] = 10;
        judged(
            "p50>100ms",
            &found,
            true,
            "fail-if FAILED p50>100ms: it was 500",
        );
        judged(
            "p50>600ms",
            &found,
            false,
            "fail-if ok     p50>600ms: it was 500",
        );
        judged("p90>1s", &found, false, "it was 90");
        judged("mean>100ms", &found, true, "it was 50");
        judged("min<0.99ms", &found, false, "it was 999.9 µs");
        judged("min<10ms", &found, true, "it was 999.9 µs");
        judged("max>=1s", &found, true, "it was 1");
        judged("max>2s", &found, false, "it was 1");
        judged("errors>0", &found, true, "it was 10");
        judged("errors>10", &found, false, "it was 10");
        judged("errors>=10", &found, true, "it was 10");
        judged("errors>1%", &found, false, "it was 0.99 %");
        judged("errors>0.5%", &found, true, "it was 0.99 %");
        judged("throughput<100/s", &found, false, "it was 100/s");
        judged("throughput<=100/s", &found, true, "it was 100/s");
    }

    #[test]
    fn too_few_samples_fail_whatever_they_say() {
        let found = answered([1; 999]);
        judged(
            "p99>50ms",
            &found,
            true,
            "999 samples are too few for p99, which needs 10,000",
        );
        judged(
            "p90>50ms",
            &found,
            true,
            "which needs 1,000; measure longer, or judge p50 and max",
        );
        judged("p89>50ms", &found, false, "it was");
        judged(
            "p50>50ms",
            &answered([1; 99]),
            true,
            "99 samples are too few",
        );
        judged("p99>50ms", &answered([1; 2000]), true, "or judge p95");
        judged("max>50ms", &answered([1]), false, "it was");
        judged(
            "errors>0.1%",
            &found,
            true,
            "999 requests ended, and such a share needs 1,000",
        );
        judged("errors>0.1%", &answered([1; 1000]), false, "it was 0 %");
        judged("errors>0%", &answered([1]), false, "it was 0 %");
        let nothing = answered([]);
        for text in [
            "p50>1h",
            "mean>1s",
            "max>1s",
            "min>1s",
            "errors>0",
            "errors>0%",
            "errors>50%",
        ] {
            let text = text.replace("1h", "60m");
            judged(&text, &nothing, true, "cannot be judged");
        }
        judged("throughput<1/s", &nothing, true, "it was 0/s");
        judged(
            "throughput>1/s",
            &Observation::default(),
            true,
            "before the measurement",
        );
    }

    #[test]
    fn an_open_loop_is_judged_by_response_time_and_what_still_waited() {
        let found = open([5; 10_000], 0, 0);
        judged("p99>50ms", &found, false, "it was 5");
        judged("lag.p50>1ms", &found, true, "0 samples");
        // A stop at the end: the answers that came were quick.
        let stopped = open([5; 10_000], 500, 3_000);
        judged(
            "p99>50ms",
            &stopped,
            true,
            "500 requests had no answer at the end",
        );
        judged("p90>50ms", &stopped, false, "it was 5");
        judged("wait.p99>50ms", &stopped, true, "the oldest for 3 s");
        judged("max>1s", &stopped, true, "it was 3 s");
        judged("mean>1s", &stopped, true, "had no answer");
        judged("service.p99>50ms", &stopped, false, "it was 5");
        // Some are always under way, and have waited no longer than the others.
        judged("p99>50ms", &open([5; 10_000], 500, 4), false, "it was 5");
        // A closed loop has nothing of the kind.
        judged(
            "response.p99>50ms",
            &answered([5; 10_000]),
            true,
            "no such figure",
        );
    }

    #[test]
    fn events_are_judged_where_they_are_recorded() {
        let mut found = answered([5; 100]);
        judged("gap.max>1s", &found, true, "no such figure");
        let mut events = EventsSeen {
            open_gap: Duration::from_secs(2),
            ..EventsSeen::default()
        };
        for _ in 0..10_000 {
            events.first_event.record_ns(30_000_000);
            events.gap.record_ns(200_000_000);
        }
        found.events = Some(events);
        judged("first-event.p99>29ms", &found, true, "it was 3");
        judged("gap.p99>210ms", &found, false, "it was 200");
        // A stream that stood still at the end is no quick one.
        judged("gap.max>1s", &found, true, "it was 2 s");
        for text in ["gap.p99>1s", "first-event.mean>1s"] {
            let threshold: Threshold = text.parse().unwrap();
            let spec = record(Observation::default()).spec;
            let refusal = threshold.check(&spec).unwrap_err();
            assert!(refusal.contains("--stream"), "{refusal}");
        }
    }

    #[test]
    fn a_closed_loop_has_no_response_time_and_first_bytes_are_recorded_on_request() {
        let closed = record(Observation::default()).spec;
        let open = LoadSpec {
            schedule: Schedule::Open {
                connections: 1,
                most_connections: 1,
                arrivals: Arrivals::Uniform,
                stages: vec![Stage::constant(1.0)],
            },
            ..closed.clone()
        };
        for text in ["response.p99>1s", "wait.max>1s", "lag.mean>1s"] {
            let threshold: Threshold = text.parse().unwrap();
            assert!(
                threshold.check(&closed).unwrap_err().contains("--rate"),
                "{text}"
            );
            assert_eq!(threshold.check(&open), Ok(()));
        }
        for text in ["p99>1s", "service.p99>1s", "errors>1", "goodput<1B/s"] {
            let threshold: Threshold = text.parse().unwrap();
            assert_eq!(
                (threshold.check(&closed), threshold.check(&open)),
                (Ok(()), Ok(()))
            );
        }
        let threshold: Threshold = "first-byte.p99>1s".parse().unwrap();
        let refusal = threshold.check(&open).unwrap_err();
        assert!(refusal.contains("--first-byte"), "{refusal}");
        let recording = LoadSpec {
            first_byte: true,
            ..closed
        };
        assert_eq!(threshold.check(&recording), Ok(()));
        let mut found = answered([9; 10_000]);
        judged("first-byte.p99>1ms", &found, true, "no such figure");
        found.first_byte = Some(answered([5; 10_000]).service_time);
        judged("first-byte.p99>6ms", &found, false, "it was 5");
    }

    #[test]
    fn goodput_is_that_of_valid_answers() {
        let mut found = answered([1; 10]);
        (found.body_bytes, found.valid_body_bytes) = (90_000, 25_000);
        found.measured.failed[Failure::WrongStatus] = 1;
        judged("goodput<2kB/s", &found, false, "it was 2.5 kB/s");
        judged("goodput<3kB/s", &found, true, "it was 2.5 kB/s");
    }

    proptest! {
        /// Whatever was found: a condition and its opposite never both pass, and both fail only when nothing can be judged.
        #[test]
        fn a_condition_and_its_opposite_are_judged_apart(
            times in prop::collection::vec(1_u64..2_000, 0..300),
            bound in 1_u64..2_000,
            unsent in 0_u64..100,
            oldest in 0_u64..5_000,
            metric in prop::sample::select(vec!["p50", "p90", "mean", "max", "min", "service.p75", "wait.p50"]),
        ) {
            let found = record(open(times, unsent, oldest));
            let judge = |sign: &str| {
                let threshold: Threshold = format!("{metric}{sign}{bound}ms").parse().unwrap();
                threshold.judge(&found)
            };
            let (more, at_most) = (judge(">"), judge("<="));
            let unjudged = more.line.contains("cannot be judged");
            prop_assert_eq!(unjudged, at_most.line.contains("cannot be judged"));
            prop_assert_eq!(more.failed && at_most.failed, unjudged);
            prop_assert!(more.failed || at_most.failed);
        }

        /// No text makes the parser panic, and what it takes it shows as it was typed.
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z0-9.<>=% /]{0,20}") {
            if let Ok(threshold) = text.parse::<Threshold>() {
                prop_assert_eq!(threshold.to_string(), text.trim());
            }
        }
    }
}
