//! From the record of one load to what it says: its figures, and the verdict on whether they can be relied on.
//!
//! A generator at its limit makes every server look equal, and its report looks like any other. So each load is checked
//! for what shows that the generator, and not the server, shaped its figures ([`judge`]).

mod warnings;

use deadheat_model::{
    LatencyHistogram, LoadRecord, Observation, Schedule,
    interval::{Interval, LoadPhase},
    load::Stage,
    observation::WorkerHealth,
    warning::{Level, Warning},
};
use deadheat_stats::uneven::{self, Trend};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::warnings::{BUSY, CPU_WAIT, FAILURES};
pub use deadheat_stats::uneven::Uneven;

/// What a load says.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadAnalysis {
    /// The generator's verdict on itself.
    pub verdict: LoadVerdict,
    /// The figures.
    pub figures: LoadFigures,
}

/// The figures and the verdict of a load.
pub fn analyse(record: &LoadRecord) -> LoadAnalysis {
    let figures = LoadFigures::new(record);
    LoadAnalysis {
        verdict: LoadVerdict::new(record, &figures),
        figures,
    }
}

/// The generator's verdict on itself.
pub fn judge(record: &LoadRecord) -> LoadVerdict {
    LoadVerdict::new(record, &LoadFigures::new(record))
}

/// Warnings that every headline states in its own words, by their ids.
pub const IN_EVERY_HEADLINE: [&str; 2] = ["failures", "interrupted"];

/// What a load's figures are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// Nothing speaks against the figures.
    Sound,
    /// There is a doubt.
    Doubtful,
    /// The generator was the limit.
    GeneratorLimited,
    /// Half of the requests or more failed.
    MostlyFailed,
    /// No request was answered validly.
    Failed,
}

/// The share of failed requests (0 to 1) from which on a load as a whole has failed.
const MOSTLY: f64 = 0.5;

/// The verdict on a load, with the warnings behind it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadVerdict {
    /// What the figures are worth.
    pub validity: Validity,
    /// What speaks against the figures or helps to read them, the gravest first.
    pub warnings: Vec<Warning>,
}

/// Whether half of the requests or more failed, of those that ended.
pub fn has_mostly_failed(figures: &LoadFigures) -> bool {
    figures.failed_share.is_some_and(|share| share >= MOSTLY)
}

impl LoadVerdict {
    fn new(record: &LoadRecord, figures: &LoadFigures) -> Self {
        let warnings = warnings::all(record, figures);
        let gravest = warnings.first().map(|warning| warning.level);
        let validity = match gravest {
            // Also when nothing was answered: then it is the generator's fault.
            Some(Level::Limit) => Validity::GeneratorLimited,
            _ if record.observation.measured.succeeded == 0 => Validity::Failed,
            _ if has_mostly_failed(figures) => Validity::MostlyFailed,
            Some(Level::Doubt) => Validity::Doubtful,
            Some(Level::Note | Level::Routine) | None => Validity::Sound,
        };
        Self { validity, warnings }
    }

    /// Whether the generator was the limit.
    pub fn generator_was_limit(&self) -> bool {
        self.validity == Validity::GeneratorLimited
    }

    /// Whether a headline says it.
    pub fn is_in_headline(&self, warning: &Warning) -> bool {
        IN_EVERY_HEADLINE.contains(&warning.id.as_str()) || self.main_warning() == Some(warning)
    }

    /// The warning that a headline names besides failed requests and an interruption, which it always names.
    pub(crate) fn main_warning(&self) -> Option<&Warning> {
        let level = match self.validity {
            Validity::GeneratorLimited => Level::Limit,
            Validity::Doubtful | Validity::MostlyFailed => Level::Doubt,
            Validity::Sound | Validity::Failed => return None,
        };
        // That connections could not be made is why requests failed.
        let is_known = |id: &str| IN_EVERY_HEADLINE.contains(&id) || id == "not-connected";
        let mut warnings = self.warnings.iter();
        warnings.find(|one| one.level == level && !is_known(&one.id))
    }
}

/// Verified answers that a measurement needs for a percentile of 90 or more to be shown: about a hundred beyond it
/// (p99: 10,000), so that it is not one odd request. Lower percentiles and the longest request need one.
pub(crate) fn requests_for(percent: f64) -> u64 {
    if (90.0..100.0).contains(&percent) {
        (10_000.0 / (100.0 - percent)).round() as u64
    } else {
        1
    }
}

/// The percentiles that reports show (where there are enough samples for them), and every analysis holds.
pub const SHOWN_PERCENTS: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// The statuses of redirects that a client can follow (RFC 9110 §15.4); 304 and the unused codes name no other place.
const REDIRECTS: [u16; 6] = [300, 301, 302, 303, 307, 308];

/// Intervals of one length from which a trend is taken; with fewer, the finer bins serve.
const MIN_INTERVALS: usize = 8;

/// What a latency is the time of. Never "latency" alone: the two loops measure different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyKind {
    /// End − actual start.
    ServiceTime,
    /// End − start of connecting, where each request has a connection of its own: what tools that connect for each
    /// request count.
    ServiceTimeWithConnect,
    /// First byte of the answer − actual start (`--first-byte`).
    FirstByte,
    /// First event of an answer that is a stream − actual start (`--stream`).
    FirstEvent,
    /// An event of such an answer − the event before it.
    EventGap,
    /// Open loop: end − intended start.
    ResponseTime,
    /// Open loop: how long a request waited for a free connection.
    ConnectionWait,
    /// Open loop: how late the generator noticed that a request's time had come.
    SendLag,
    /// How long a connection took to be made, without TLS; over the whole load.
    Connect,
    /// How long a TLS handshake took; over the whole load.
    Handshake,
}

/// A distribution of latencies.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Latency {
    /// What was timed.
    pub of: LatencyKind,
    /// How many were recorded.
    pub samples: u64,
    /// The shortest.
    pub least_seconds: f64,
    /// The mean.
    pub mean_seconds: f64,
    /// The standard deviation.
    pub deviation_seconds: f64,
    /// p50, p75, p90, p95, p99, p99.9 and p99.99.
    pub percentiles: Vec<Percentile>,
    /// The longest.
    pub most_seconds: f64,
}

/// One percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Percentile {
    /// Which (99: 99 % took no longer).
    pub percent: f64,
    /// The latency there, to three significant digits.
    pub seconds: f64,
    /// Whether there are enough samples: from p90, about a hundred beyond it (p99: 10,000 samples). If not, reports leave
    /// it out.
    pub shown: bool,
}

impl Latency {
    fn new(of: LatencyKind, histogram: &LatencyHistogram) -> Option<Self> {
        let samples = histogram.count();
        let percentiles = SHOWN_PERCENTS.map(|percent| Percentile {
            percent,
            seconds: at(histogram, percent),
            shown: samples >= requests_for(percent),
        });
        Some(Self {
            of,
            samples,
            least_seconds: histogram.least()?.as_secs_f64(),
            mean_seconds: histogram.mean()?.as_secs_f64(),
            deviation_seconds: histogram.deviation()?.as_secs_f64(),
            percentiles: percentiles.to_vec(),
            most_seconds: histogram.max()?.as_secs_f64(),
        })
    }

    /// The latency in seconds at one of [`SHOWN_PERCENTS`], however few the samples.
    pub fn at(&self, percent: f64) -> Option<f64> {
        let mut all = self.percentiles.iter();
        let found = all.find(|percentile| percentile.percent == percent);
        found.map(|percentile| percentile.seconds)
    }

    /// The same, if there are enough samples for it.
    pub fn shown(&self, percent: f64) -> Option<f64> {
        self.at(percent)
            .filter(|_| self.samples >= requests_for(percent))
    }
}

fn at(histogram: &LatencyHistogram, percent: f64) -> f64 {
    let found = histogram.quantile(percent / 100.0);
    found.unwrap_or_default().as_secs_f64()
}

/// What a load found, in figures. All of the measurement alone, unless they say otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadFigures {
    /// The measurement's length.
    pub window_seconds: f64,
    /// The time in which the valid answers came: the measurement's length, or if a count ended the load, the time of its
    /// requests.
    pub answer_seconds: f64,
    /// Valid answers: those to the measurement's requests that came in it, and one for each pair of requests that its
    /// start and its end cut. 0 if it has no request of the first kind.
    pub answers: u64,
    /// Valid answers per second: `answers` ÷ `answer_seconds`. Nothing else is throughput.
    pub throughput_per_second: f64,
    /// Requests issued per second, whatever became of them.
    pub attempts_per_second: f64,
    /// Open loop: requests per second whose intended start lay in the measurement.
    pub offered_per_second: Option<f64>,
    /// Open loop: requests sent ÷ requests due in the measurement, 0 to 1. Requests that failed before they were sent count
    /// as due.
    pub sent_share: Option<f64>,
    /// Failed requests as a share of those that ended, 0 to 1; null when none ended.
    pub failed_share: Option<f64>,
    /// Bytes of requests written per second, before TLS.
    pub sent_bytes_per_second: f64,
    /// Bytes of answers received per second, after TLS: heads, framing and bodies, of wrong answers too.
    pub received_bytes_per_second: f64,
    /// Body bytes received per second, after the transfer coding is undone, of wrong answers too.
    pub body_bytes_per_second: f64,
    /// Goodput: body bytes of valid answers per second, after the transfer coding is undone.
    pub valid_body_bytes_per_second: f64,
    /// Requests in flight on average, without those that failed: the time that they were in flight over the measurement's
    /// length (Little's law). Null without a valid answer.
    pub mean_in_flight: Option<f64>,
    /// Closed loop: connections × requests that each may hold in flight, fewer if an HTTP/2 server allows fewer. Null in an
    /// open loop, and if users think: then fewer are in flight.
    pub wanted_in_flight: Option<f64>,
    /// CPU time of the generator's busiest worker ÷ the measurement's length (0 to 1), without the time that it waited
    /// awake.
    pub busiest_worker: f64,
    /// The longest time of any worker without a CPU that it could have used, as a share of the measurement; null if
    /// the kernel does not report it.
    pub cpu_wait: Option<f64>,
    /// Share of the connections looked at that had unread answers, 0 to 1.
    pub queued_share: f64,
    /// Answers with status 300, 301, 302, 303, 307 or 308 that were not followed; `observation.followed` counts the others.
    pub redirects: u64,
    /// How throughput changed over the measurement; null: too short, too little, or the rate was meant to change.
    pub trend: Option<Trend>,
    /// The distributions with at least one sample.
    pub latencies: Vec<Latency>,
    /// The events of answers that are streams; absent without `--stream`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<EventFigures>,
    /// Figures of each request, if there are several, in the order of `spec.exchanges`; absent without `--urls`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exchanges: Vec<ExchangeFigures>,
}

/// What a load found of answers that are streams of events.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EventFigures {
    /// Events that came.
    pub events: u64,
    /// The same per second.
    pub events_per_second: f64,
    /// The longest time without an event within an answer, also if it had not ended with the measurement; null: no answer
    /// had an event.
    pub longest_gap_seconds: Option<f64>,
    /// Valid answers without any event.
    pub without: u64,
}

/// What a load found of one of its requests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExchangeFigures {
    /// The method.
    pub method: String,
    /// Path and query; in a load of several origins the whole URL.
    pub path: String,
    /// Valid answers.
    pub succeeded: u64,
    /// Requests that were sent and failed.
    pub failed: u64,
    /// Valid answers per second.
    pub throughput_per_second: f64,
    /// Bytes of valid bodies per second.
    pub valid_body_bytes_per_second: f64,
    /// Service times of the valid answers; null without one.
    pub service_time: Option<Latency>,
}

impl LoadFigures {
    /// The figures of a load.
    pub fn new(record: &LoadRecord) -> Self {
        let observation = &record.observation;
        let measured = &observation.measured;
        let window = observation.window.as_secs_f64();
        let per_second = |amount: f64| if window > 0.0 { amount / window } else { 0.0 };
        let ended = measured.ended();
        let open = observation.open.as_ref();
        let of_requests = |amount: f64| observation.per_second(amount);
        let pairs = pairs(observation);
        Self {
            window_seconds: window,
            answer_seconds: observation.answer_time().as_secs_f64(),
            answers: observation.answers(),
            throughput_per_second: observation.throughput(),
            attempts_per_second: of_requests(measured.issued as f64),
            offered_per_second: open.map(|open| of_requests(open.offered as f64)),
            sent_share: observation.sent_share(),
            failed_share: (ended > 0).then(|| measured.failed.total() as f64 / ended as f64),
            sent_bytes_per_second: per_second(observation.sent_bytes as f64),
            received_bytes_per_second: per_second(observation.received_bytes as f64),
            body_bytes_per_second: per_second(observation.body_bytes as f64),
            valid_body_bytes_per_second: pairs * of_requests(observation.valid_body_bytes as f64),
            mean_in_flight: observation.mean_in_flight(),
            wanted_in_flight: wanted_in_flight(record),
            busiest_worker: observation.busiest_worker(),
            cpu_wait: observation
                .workers
                .iter()
                .filter_map(WorkerHealth::waited)
                .reduce(f64::max),
            queued_share: observation.receive_queues.waiting_share(),
            redirects: redirects(observation),
            trend: trend(record),
            latencies: latencies(observation),
            events: observation.events.as_ref().map(|seen| EventFigures {
                events: seen.events,
                events_per_second: per_second(seen.events as f64),
                longest_gap_seconds: seen.longest_gap().map(|gap| gap.as_secs_f64()),
                without: seen.without,
            }),
            exchanges: exchanges(record),
        }
    }

    /// The distribution of one kind, if it has a sample.
    pub fn latency(&self, of: LatencyKind) -> Option<&Latency> {
        self.latencies.iter().find(|latency| latency.of == of)
    }

    /// What a user waits for: response time in an open loop, and in a closed one service time for want of it.
    pub fn main_latency(&self) -> Option<&Latency> {
        self.latency(LatencyKind::ResponseTime)
            .or_else(|| self.latency(LatencyKind::ServiceTime))
    }
}

fn latencies(observation: &Observation) -> Vec<Latency> {
    let open = observation.open.as_ref();
    let events = observation.events.as_ref();
    let all = [
        (LatencyKind::ServiceTime, Some(&observation.service_time)),
        (
            LatencyKind::ServiceTimeWithConnect,
            observation.service_time_with_connect.as_ref(),
        ),
        (LatencyKind::FirstByte, observation.first_byte.as_ref()),
        (
            LatencyKind::FirstEvent,
            events.map(|events| &events.first_event),
        ),
        (LatencyKind::EventGap, events.map(|events| &events.gap)),
        (
            LatencyKind::ResponseTime,
            open.map(|open| &open.response_time),
        ),
        (
            LatencyKind::ConnectionWait,
            open.map(|open| &open.connection_wait),
        ),
        (LatencyKind::SendLag, open.map(|open| &open.send_lag)),
        (LatencyKind::Connect, Some(&observation.connect_time)),
        (LatencyKind::Handshake, Some(&observation.handshake_time)),
    ];
    let known = all.into_iter().filter_map(|(of, found)| Some((of, found?)));
    known
        .filter_map(|(of, found)| Latency::new(of, found))
        .collect()
}

/// Throughput counts an answer for each pair of requests that the measurement's ends cut: answers over those that began in it.
fn pairs(observation: &Observation) -> f64 {
    match observation.measured.succeeded {
        0 => 1.0,
        succeeded => observation.answers() as f64 / succeeded as f64,
    }
}

fn exchanges(record: &LoadRecord) -> Vec<ExchangeFigures> {
    let observation = &record.observation;
    // Requests that were cut are shared out, so that the sum is the throughput of all.
    let pairs = pairs(observation);
    let per_second = |amount: u64| pairs * observation.per_second(amount as f64);
    let both = record.spec.exchanges.iter().zip(&observation.groups);
    both.map(|(asked, seen)| ExchangeFigures {
        method: asked.request.method.clone(),
        path: match record.spec.targets().nth(asked.target) {
            Some(target) if !record.spec.others.is_empty() => {
                format!("{}{}", target.origin(), asked.request.path)
            }
            _ => asked.request.path.clone(),
        },
        succeeded: seen.succeeded,
        failed: seen.failed,
        throughput_per_second: per_second(seen.succeeded),
        valid_body_bytes_per_second: per_second(seen.valid_body_bytes),
        service_time: Latency::new(LatencyKind::ServiceTime, &seen.service_time),
    })
    .collect()
}

fn wanted_in_flight(record: &LoadRecord) -> Option<f64> {
    let Schedule::Closed { connections, .. } = record.spec.schedule else {
        return None;
    };
    if record.spec.think.is_some() {
        return None;
    }
    let asked = record.spec.protocol.depth().max(1);
    // A server of HTTP/2 may allow fewer.
    let depth = record
        .observation
        .fewest_streams
        .map_or(asked, |most| most.min(asked));
    Some(f64::from(connections) * f64::from(depth))
}

fn redirects(observation: &Observation) -> u64 {
    let counts = REDIRECTS
        .iter()
        .filter_map(|status| observation.statuses.get(status));
    counts.sum()
}

/// The trend of the throughput over the intervals, or over the bins where those are too few.
fn trend(record: &LoadRecord) -> Option<Trend> {
    if changes_on_purpose(&record.spec.schedule) {
        return None;
    }
    let measured = |interval: &&Interval| interval.phase == LoadPhase::Measurement;
    let intervals: Vec<_> = record.intervals.iter().filter(measured).collect();
    let longest = intervals.iter().map(|interval| interval.length()).max();
    // The first and the last one may be cut off by the measurement's ends.
    let whole = intervals
        .iter()
        .filter(|interval| Some(interval.length().mul_f64(1.1)) >= longest);
    let rates: Vec<f64> = whole.map(|interval| interval.throughput()).collect();
    if rates.len() >= MIN_INTERVALS {
        uneven::trend_of(&rates)
    } else {
        uneven::trend(&record.observation)
    }
}

fn changes_on_purpose(schedule: &Schedule) -> bool {
    let Schedule::Open { stages, .. } = schedule else {
        return false;
    };
    let rate = stages.first().map_or(0.0, |stage| stage.from);
    let constant = |stage: &Stage| stage.from == rate && stage.to == rate;
    !stages.iter().all(constant)
}
