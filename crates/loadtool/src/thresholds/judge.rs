//! Whether a condition came true, and what has to be true of a probe of `--find-rate`. A condition that cannot be evaluated
//! fails: a gate must not pass what it did not see.

use std::time::Duration;

use deadheat_model::{
    LatencyHistogram, LoadRecord, Observation,
    capacity::{Condition, Unit},
    figure::{self, byte_rate, counted, four_digits, precise_seconds},
    observation::EventsSeen,
};
use deadheat_shell::exit::CommandFailure;

use super::{Distribution, Figure, Metric, Operator, Threshold};
use crate::analysis::{LoadFigures, requests_for};

/// The samples below which no percentile is judged, however low it is.
const MIN_SAMPLES: u64 = 100;
/// A mean is judged as long as no more than this share of the requests had no answer at the end, or those would change it by
/// no more than this share.
const UNKNOWN_OF_A_MEAN: f64 = 0.01;

/// The result of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Whether it makes the exit status 1.
    pub(crate) failed: bool,
    /// The result in words.
    pub(crate) line: String,
}

/// Why a condition cannot be judged.
#[derive(Debug, thiserror::Error)]
enum Unjudged {
    #[error("the load ended before the measurement began")]
    NoMeasurement,
    #[error("no request ended")]
    NoRequests,
    #[error(
        "{} ended, and such a share needs {}; measure longer, or count them ('errors>0')",
        counted(*ended, "request"),
        figure::count(*needed)
    )]
    FewRequests { ended: u64, needed: u64 },
    #[error("the load has no such figure")]
    NoFigure,
    #[error("there was not one sample")]
    NoSample,
    #[error(
        "{} samples are too few for p{percent}, which needs {}; {}",
        figure::count(*samples),
        figure::count(*needed),
        instead(*samples)
    )]
    FewSamples {
        samples: u64,
        needed: u64,
        percent: f64,
    },
    #[error(
        "{} had no answer at the end of the measurement, the oldest for {}, so the true value is longer",
        counted(*requests, "request"),
        precise_seconds(*oldest)
    )]
    Unanswered { requests: u64, oldest: f64 },
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

    /// The value.
    fn measured(&self, record: &LoadRecord) -> Result<f64, Unjudged> {
        let observation = &record.observation;
        if observation.window.is_zero() {
            return Err(Unjudged::NoMeasurement);
        }
        let ended = observation.measured.ended();
        match self.metric {
            Metric::Latency { of, figure } => latency(of, figure, observation),
            Metric::ErrorShare => {
                // With fewer requests, one failure would exceed the bound, and none would prove nothing.
                let needed = if self.bound > 0.0 {
                    (1.0 / self.bound - 1e-9).ceil().max(1.0) as u64
                } else {
                    1
                };
                if ended < needed {
                    return Err(Unjudged::FewRequests { ended, needed });
                }
                Ok(observation.measured.failed.total() as f64 / ended as f64)
            }
            Metric::ErrorCount if ended == 0 => Err(Unjudged::NoRequests),
            Metric::ErrorCount => Ok(observation.measured.failed.total() as f64),
            Metric::Throughput => Ok(observation.throughput()),
            Metric::Goodput => Ok(LoadFigures::new(record).valid_body_bytes_per_second),
        }
    }

    /// A value of its figure, formatted for people.
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
) -> Result<f64, Unjudged> {
    let open = observation.open.as_ref();
    let ages = observation.in_flight_ages.as_ref();
    let (histogram, waiting) = match (of, open) {
        (Some(Distribution::Service), _) | (None, None) => (
            &observation.service_time,
            ages.and_then(UnansweredRequests::of_ages),
        ),
        (Some(Distribution::FirstByte), _) => {
            let recorded = observation.first_byte.as_ref();
            (
                recorded.ok_or(Unjudged::NoFigure)?,
                UnansweredRequests::older_than_any_answer(observation),
            )
        }
        (Some(Distribution::FirstEvent), _) => {
            let events = observation.events.as_ref().ok_or(Unjudged::NoFigure)?;
            (
                &events.first_event,
                UnansweredRequests::without_event(observation, events),
            )
        }
        (Some(Distribution::Gap), _) => {
            let events = observation.events.as_ref().ok_or(Unjudged::NoFigure)?;
            if let (Figure::Most, Some(longest)) = (figure, events.longest_gap()) {
                return Ok(longest.as_secs_f64());
            }
            (&events.gap, None)
        }
        (Some(Distribution::Response) | None, Some(open)) => {
            let waiting = UnansweredRequests {
                requests: open.unsent + observation.measured.in_flight,
                oldest: open.oldest_unsent.max(open.oldest_in_flight).as_secs_f64(),
                ages: None,
            };
            (&open.response_time, Some(waiting))
        }
        (Some(Distribution::Wait), Some(open)) => {
            let waiting = UnansweredRequests {
                requests: open.unsent,
                oldest: open.oldest_unsent.as_secs_f64(),
                ages: None,
            };
            (&open.connection_wait, Some(waiting))
        }
        (Some(Distribution::Lag), Some(open)) => (&open.send_lag, None),
        (Some(Distribution::Response | Distribution::Wait | Distribution::Lag), None) => {
            return Err(Unjudged::NoFigure);
        }
    };
    let waiting = waiting.filter(|waiting| waiting.requests > 0);
    figure_of(figure, histogram, waiting)
}

/// Requests that had no answer when the measurement ended. Histograms contain only answered ones: without this count, a
/// server that stops would look better than one that continues slowly.
#[derive(Clone, Copy, Debug)]
struct UnansweredRequests<'a> {
    requests: u64,
    /// How long the oldest of them had waited, in seconds.
    oldest: f64,
    /// How long each of them had waited. `None`: only that of the oldest is known, and all count as that old.
    ages: Option<&'a LatencyHistogram>,
}

impl<'a> UnansweredRequests<'a> {
    fn of_ages(ages: &'a LatencyHistogram) -> Option<Self> {
        Some(Self {
            requests: ages.count(),
            oldest: ages.max()?.as_secs_f64(),
            ages: Some(ages),
        })
    }

    /// The requests in flight that had taken longer than any whole answer. Of a request without a whole answer, it is not
    /// known whether the first byte has come: the body of a younger one may be under way.
    fn older_than_any_answer(observation: &'a Observation) -> Option<Self> {
        let all = Self::of_ages(observation.in_flight_ages.as_ref()?)?;
        let longest = observation.service_time.max().unwrap_or_default();
        Some(Self {
            requests: all.older_than(longest.as_secs_f64()),
            ages: None,
            ..all
        })
    }

    /// The requests in flight that still waited for their first event. It is not known which ones these are. So the
    /// others, whose streams had begun, count as the oldest.
    fn without_event(observation: &'a Observation, events: &EventsSeen) -> Option<Self> {
        let ages = observation.in_flight_ages.as_ref()?;
        let measured = &observation.measured;
        // A failed request may have had events or not.
        let begun = events.first_event.count() + events.without + measured.failed.total();
        let requests = measured.issued.saturating_sub(begun);
        if requests >= ages.count() {
            return Self::of_ages(ages);
        }
        let oldest = ages.quantile(requests as f64 / ages.count() as f64)?;
        Some(Self {
            requests,
            oldest: oldest.as_secs_f64(),
            ages: None,
        })
    }

    /// The number of those that had waited for longer than this many seconds.
    fn older_than(&self, seconds: f64) -> u64 {
        match self.ages {
            _ if self.oldest <= seconds => 0,
            None => self.requests,
            Some(ages) => {
                let share = ages.share_up_to(Duration::from_secs_f64(seconds));
                ((1.0 - share) * self.requests as f64).round() as u64
            }
        }
    }

    /// Whether they leave the mean of `samples` answers unknown.
    fn hide_the_mean(&self, mean: f64, samples: u64) -> bool {
        match self.ages {
            None => self.older_than(mean) as f64 > samples as f64 * UNKNOWN_OF_A_MEAN,
            // The mean as if all of them had just been answered.
            Some(ages) => {
                let all = (samples + self.requests) as f64;
                let least = (mean * samples as f64 + ages.sum().as_secs_f64()) / all;
                least > mean * (1.0 + UNKNOWN_OF_A_MEAN)
            }
        }
    }

    fn unknown(&self) -> Unjudged {
        Unjudged::Unanswered {
            requests: self.requests,
            oldest: self.oldest,
        }
    }
}

fn figure_of(
    figure: Figure,
    histogram: &LatencyHistogram,
    waiting: Option<UnansweredRequests<'_>>,
) -> Result<f64, Unjudged> {
    let samples = histogram.count();
    let seconds = |found: Option<Duration>| {
        found
            .map(|found| found.as_secs_f64())
            .ok_or(Unjudged::NoSample)
    };
    match figure {
        Figure::Least => seconds(histogram.least()),
        Figure::Most => {
            let most = seconds(histogram.max())?;
            Ok(waiting.map_or(most, |waiting| most.max(waiting.oldest)))
        }
        Figure::Mean => {
            let mean = seconds(histogram.mean())?;
            match waiting.filter(|waiting| waiting.hide_the_mean(mean, samples)) {
                Some(waiting) => Err(waiting.unknown()),
                None => Ok(mean),
            }
        }
        Figure::Percentile(percent) => {
            let needed = requests_for(percent).max(MIN_SAMPLES);
            if samples < needed {
                return Err(Unjudged::FewSamples {
                    samples,
                    needed,
                    percent,
                });
            }
            let share = percent / 100.0;
            let value = seconds(histogram.quantile(share))?;
            let Some(waiting) = waiting.filter(|waiting| waiting.oldest > value) else {
                return Ok(value);
            };
            // As if those that had waited for longer took forever: the result is the percentile whenever they end.
            let all = (samples + waiting.older_than(value)) as f64;
            let quantile = share * all / samples as f64;
            if quantile <= 1.0 {
                seconds(histogram.quantile(quantile))
            } else {
                Err(waiting.unknown())
            }
        }
    }
}

/// What to do about too few samples.
fn instead(samples: u64) -> String {
    if samples >= requests_for(90.0) {
        // About a hundred beyond it.
        let highest = 100.0 - 10_000.0 / samples as f64;
        format!("measure longer, or judge p{}", digits_down(highest))
    } else if samples >= MIN_SAMPLES {
        "measure longer, or judge p50 and max".to_owned()
    } else {
        "measure longer, or judge max".to_owned()
    }
}

/// A percentage with one digit behind the point, rounded down.
fn digits_down(percent: f64) -> String {
    four_digits((percent * 10.0).floor() / 10.0)
}

/// Answers that are expected beyond a percentile in a probe. Their number scatters by about a third: for p99, the rank
/// in the probe is that of p98.7 to p99.3. The search allows for scatter, so ten times as many, as `--fail-if` needs,
/// would only make it ten times as long.
const BEYOND: f64 = 10.0;
/// The fewest requests for a meaningful figure of a probe.
const MIN_REQUESTS: u64 = 100;

impl Threshold {
    /// Refuses a condition that cannot be used to find a rate.
    pub(crate) fn check_find(&self) -> Result<(), CommandFailure> {
        let refuse = |why| {
            let message = format!("--find-rate '{self}': {why}");
            Err(CommandFailure::usage(message))
        };
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

    /// The longest time that the condition allows, in seconds; `None`: it bounds no times.
    pub(crate) fn longest(&self) -> Option<f64> {
        matches!(self.metric, Metric::Latency { .. }).then_some(self.bound)
    }

    /// Number of requests that must be due in a probe.
    pub(crate) fn requests_for_probe(&self) -> u64 {
        let needed = match self.metric {
            Metric::Latency {
                figure: Figure::Percentile(percent),
                ..
            } => BEYOND / (1.0 - percent / 100.0).min(percent / 100.0),
            Metric::ErrorShare if self.bound > 0.0 => 1.0 / self.bound,
            _ => 0.0,
        };
        ((needed - 1e-6).ceil() as u64).max(MIN_REQUESTS)
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

    /// The figure of a probe in the condition's unit. Requests without an answer at its end count as late as the oldest
    /// of them, so that a server which falls behind does not look better because its slowest answers are missing.
    pub(crate) fn value(&self, found: &Observation) -> Option<f64> {
        let ended = found.measured.ended();
        match self.metric {
            Metric::Latency { of, figure } => {
                let open = found.open.as_ref()?;
                let in_flight = LateRequests {
                    requests: found.measured.in_flight,
                    seconds: open.oldest_in_flight.as_secs_f64(),
                };
                let unsent = LateRequests {
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
                    Some(Distribution::FirstEvent) => {
                        let events = found.events.as_ref()?;
                        let waiting = UnansweredRequests::without_event(found, events);
                        let late = waiting.map_or(LateRequests::NONE, |waiting| LateRequests {
                            requests: waiting.requests,
                            seconds: waiting.oldest,
                        });
                        (&events.first_event, late)
                    }
                    Some(Distribution::Gap) => (&found.events.as_ref()?.gap, LateRequests::NONE),
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

/// The number of requests without an answer, and how late the oldest of them is.
#[derive(Clone, Copy, Debug)]
struct LateRequests {
    requests: u64,
    seconds: f64,
}

impl LateRequests {
    const NONE: Self = Self {
        requests: 0,
        seconds: 0.0,
    };

    /// The sum of both, as late as the later ones.
    fn and(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            seconds: self.seconds.max(other.seconds),
        }
    }

    /// A figure over these requests and those in a histogram together.
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
#[path = "judge_tests.rs"]
mod tests;
