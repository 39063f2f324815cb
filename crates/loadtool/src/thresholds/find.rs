//! Conditions turned round: what has to be true of a probe of `--find-rate`.

use deadheat_model::{
    LatencyHistogram, Observation,
    capacity::{Condition, Unit},
};

use super::{Distribution, Figure, Metric, Operator, Threshold};

/// Answers that are expected beyond a percentile in a probe. Their number scatters by about a third: the rank that the
/// probe sees is that of p98.7 to p99.3 for p99. The search allows for probes that scatter, so that ten times as many, as
/// `--fail-if` wants, would only make it ten times as long.
const BEYOND: f64 = 10.0;
/// Requests without which no figure of a probe is worth anything.
const LEAST_REQUESTS: u64 = 100;

impl Threshold {
    /// Refuses what no rate could be found with.
    pub(crate) fn check_find(&self) -> Result<(), String> {
        let refuse = |why: &str| Err(format!("--find-rate '{self}': {why}"));
        match self.metric {
            Metric::Throughput | Metric::Goodput => refuse(
                "the search sets the rate itself: set a bound on response times or errors, like 'p99<50ms'",
            ),
            Metric::Latency {
                of: Some(Distribution::Lag),
                ..
            } => refuse("the send lag is a delay of the generator, not of the server, so omit it"),
            _ if !self.is_upper_bound() => refuse(
                "unlike in --fail-if, the condition must be true: write it with <, like 'p99<50ms'",
            ),
            _ => Ok(()),
        }
    }

    fn is_upper_bound(&self) -> bool {
        matches!(self.operator, Operator::Less | Operator::AtMost)
    }

    /// Whether it is about requests that failed.
    pub(crate) fn is_of_errors(&self) -> bool {
        matches!(self.metric, Metric::ErrorShare | Metric::ErrorCount)
    }

    /// How long the condition lets answers take, in seconds, if it bounds times.
    pub(crate) fn longest(&self) -> Option<f64> {
        matches!(self.metric, Metric::Latency { .. }).then_some(self.bound)
    }

    /// Requests that have to be due in a probe.
    pub(crate) fn requests_for_probe(&self) -> u64 {
        let needed = match self.metric {
            Metric::Latency {
                figure: Figure::Percentile(percent),
                ..
            } => BEYOND / (1.0 - percent / 100.0).min(percent / 100.0),
            Metric::ErrorShare if self.bound > 0.0 => 1.0 / self.bound,
            _ => 0.0,
        };
        ((needed - 1e-6).ceil() as u64).max(LEAST_REQUESTS)
    }

    /// The condition for the record.
    pub(crate) fn described(&self) -> Condition {
        let at = self.text.find(['<', '>']).unwrap_or(self.text.len());
        let figure = self.text[..at].trim().to_owned();
        let sign = match self.operator {
            Operator::Less => "<",
            Operator::AtMost => "≤",
            Operator::More => ">",
            Operator::AtLeast => "≥",
        };
        Condition {
            condition: format!("{figure} {sign} {}", self.shown(self.bound)),
            figure,
            unit: match self.metric {
                Metric::Latency { .. } => Unit::Seconds,
                Metric::ErrorShare => Unit::Share,
                Metric::ErrorCount | Metric::Throughput | Metric::Goodput => Unit::Count,
            },
            bound: self.bound,
        }
    }

    /// The figure of a probe in the condition's unit. Requests that had no answer at its end count as being as late as the
    /// oldest of them: a server that falls behind does not look better because its slowest answers are missing.
    pub(crate) fn value(&self, found: &Observation) -> Option<f64> {
        let ended = found.measured.ended();
        match self.metric {
            Metric::Latency { of, figure } => {
                let open = found.open.as_ref()?;
                let in_flight = Late {
                    requests: found.measured.in_flight,
                    seconds: open.oldest_in_flight.as_secs_f64(),
                };
                let unsent = Late {
                    requests: open.unsent,
                    seconds: open.oldest_unsent.as_secs_f64(),
                };
                let (histogram, late) = match of {
                    None | Some(Distribution::Response) => {
                        (&open.response_time, in_flight.and(unsent))
                    }
                    Some(Distribution::Wait) => (&open.connection_wait, unsent),
                    Some(Distribution::Service) => (&found.service_time, in_flight),
                    Some(Distribution::FirstByte) => (found.first_byte.as_ref()?, in_flight),
                    // Streams that are still going on are no sign of one that has not begun.
                    Some(Distribution::FirstEvent) => {
                        (&found.events.as_ref()?.first_event, Late::NONE)
                    }
                    Some(Distribution::Gap) => (&found.events.as_ref()?.gap, Late::NONE),
                    Some(Distribution::Lag) => return None,
                };
                late.figure(figure, histogram)
            }
            Metric::ErrorShare => {
                (ended > 0).then(|| found.measured.failed.total() as f64 / ended as f64)
            }
            Metric::ErrorCount => Some(found.measured.failed.total() as f64),
            Metric::Throughput | Metric::Goodput => None,
        }
    }

    /// Whether a value fulfils the condition.
    pub(crate) fn holds(&self, value: f64) -> bool {
        self.operator.holds(value, self.bound)
    }
}

/// Requests without an answer, and how late the oldest of them is.
#[derive(Clone, Copy, Debug)]
struct Late {
    requests: u64,
    seconds: f64,
}

impl Late {
    const NONE: Self = Self {
        requests: 0,
        seconds: 0.0,
    };

    /// Both, as late as the later ones.
    fn and(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            seconds: self.seconds.max(other.seconds),
        }
    }

    /// A figure of these requests and of those in a histogram together.
    fn figure(self, figure: Figure, histogram: &LatencyHistogram) -> Option<f64> {
        let (answered, waiting) = (histogram.count() as f64, self.requests as f64);
        if answered + waiting == 0.0 {
            return None;
        }
        if answered == 0.0 {
            return Some(self.seconds);
        }
        let seconds = |found: Option<std::time::Duration>| found.map(|found| found.as_secs_f64());
        let least = seconds(histogram.least())?;
        let most = seconds(histogram.max())?;
        let mean = seconds(histogram.mean())?;
        if self.requests == 0 {
            return match figure {
                Figure::Least => Some(least),
                Figure::Most => Some(most),
                Figure::Mean => Some(mean),
                Figure::Percentile(percent) => seconds(histogram.quantile(percent / 100.0)),
            };
        }
        match figure {
            Figure::Least => Some(least.min(self.seconds)),
            Figure::Most => Some(most.max(self.seconds)),
            Figure::Mean => Some((mean * answered + self.seconds * waiting) / (answered + waiting)),
            Figure::Percentile(percent) => {
                let rank = percent / 100.0 * (answered + waiting);
                // The value if all that wait came after it, and if all came before it.
                let before = if rank <= answered {
                    seconds(histogram.quantile(rank / answered))?
                } else {
                    f64::INFINITY
                };
                let after = if rank > waiting {
                    seconds(histogram.quantile((rank - waiting) / answered))?
                } else {
                    0.0
                };
                Some(before.min(after.max(self.seconds)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::observation::OpenLoop;

    use super::*;

    fn parsed(text: &str) -> Threshold {
        text.parse().unwrap()
    }

    #[test]
    fn only_upper_bounds_of_what_the_server_does_are_taken() {
        for text in [
            "p99<50ms",
            "service.max<=1s",
            "errors<1%",
            "errors<5",
            "wait.p50<1ms",
        ] {
            assert_eq!(parsed(text).check_find(), Ok(()), "{text}");
        }
        for (text, says) in [
            ("p99>50ms", "write it with <"),
            ("errors>=1%", "write it with <"),
            ("throughput<100/s", "sets the rate itself"),
            ("goodput<1MB/s", "sets the rate itself"),
            ("lag.p99<1ms", "delay of the generator"),
        ] {
            let refusal = parsed(text).check_find().unwrap_err();
            assert!(refusal.contains(says), "{text}: {refusal}");
        }
    }

    #[test]
    fn a_probe_has_ten_answers_beyond_each_percentile() {
        for (text, requests) in [
            ("p99<50ms", 1_000),
            ("p50<50ms", 100),
            ("p99.9<1s", 10_000),
            ("max<1s", 100),
            ("errors<0.1%", 1_000),
        ] {
            assert_eq!(parsed(text).requests_for_probe(), requests, "{text}");
        }
    }

    #[test]
    fn a_condition_is_said_with_its_unit() {
        let said = parsed("p99<=50ms").described();
        assert_eq!(said.condition, "p99 ≤ 50 ms");
        assert_eq!((said.figure.as_str(), said.unit), ("p99", Unit::Seconds));
        assert_eq!(
            parsed("errors<0.5%").described().condition,
            "errors < 0.5 %"
        );
    }

    /// 1,000 answers of 1 to 1,000 ms, and requests that wait.
    fn found(unsent: u64, late_ms: u64) -> Observation {
        let mut open = OpenLoop {
            unsent,
            oldest_unsent: Duration::from_millis(late_ms),
            ..OpenLoop::default()
        };
        for time in 1..=1_000_u64 {
            open.response_time.record_ns(time * 1_000_000);
        }
        Observation {
            open: Some(open),
            ..Observation::default()
        }
    }

    #[test]
    fn requests_without_an_answer_are_as_late_as_the_oldest() {
        let value = |text: &str, found: &Observation| parsed(text).value(found).unwrap();
        for (unsent, late, percent, expected) in [
            (0, 0, "p50", 0.5),
            // All of them beyond what was answered.
            (1_000, 5_000, "p50", 1.0),
            (1_000, 5_000, "p60", 5.0),
            (1_000, 5_000, "p25", 0.5),
            // All of them before that: the median is the answers' first.
            (1_000, 0, "p75", 0.5),
            // In the middle.
            (1_000, 500, "p50", 0.5),
            (200, 900, "p90", 0.9),
        ] {
            let value = value(&format!("{percent}<1s"), &found(unsent, late));
            assert!(
                (value / expected - 1.0).abs() < 0.01,
                "{unsent} {late} {percent}: {value}"
            );
        }
        assert_eq!(value("max<1s", &found(1, 7_000)), 7.0);
        assert!(value("mean<1s", &found(1_000, 5_000)) > 2.7);
    }
}
