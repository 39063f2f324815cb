//! Facts that follow from the figures of one run: requests in progress, and whether the counts fit the rate.

use deadheat_import::RequestCounts;
use deadheat_model::imported::{Run, Tool};

/// Rate × mean time may exceed the requests that fit on the connections by this share. Times are printed with three
/// digits (0.5 %), and the time that the rate is over has a start and an end, up to 3 % of five seconds.
const LAW_TOLERANCE: f64 = 0.05;
/// With a smaller share of the connections in use, much of the time passed outside of requests.
pub(super) const IN_USE: f64 = 0.8;
/// Rate × duration may differ from the number of answers by this share: some files have whole seconds.
const COUNT_TOLERANCE: f64 = 0.1;
/// The profiles of HttpArena that wrk loads.
const PROFILES_OF_WRK: [&str; 2] = ["static", "json-tls"];

/// Whether the import had this doubt about a run.
pub(super) fn has_doubt(run: &Run, id: &str) -> bool {
    run.warnings.iter().any(|one| one.id == id)
}

/// The number of requests by rate and duration.
fn by_rate(run: &Run) -> Option<f64> {
    let requests = run.valid_rate()? * run.figures.seconds?;
    (requests > 0.0).then_some(requests)
}

/// Counted answers ÷ (rate × duration), if the rate is not one of right answers, of all answers or of all requests.
pub(super) fn miscounted(run: &Run) -> Option<f64> {
    let (counts, by_rate) = RequestCounts::new(run).zip(by_rate(run))?;
    let fits = |count: f64| (count / by_rate - 1.0).abs() <= COUNT_TOLERANCE;
    let counted = [counts.right, counts.answered, counts.sent];
    (!counted.into_iter().any(fits)).then_some(counts.answered / by_rate)
}

/// Whether the rate counts errors: it fits all answers or all requests better than the right answers.
pub(super) fn rate_counts_errors(run: &Run) -> bool {
    let Some((counts, by_rate)) = RequestCounts::new(run).zip(by_rate(run)) else {
        return run.counts_failed();
    };
    let off = |count: f64| (count - by_rate).abs();
    off(counts.answered).min(off(counts.sent)) < off(counts.right)
}

/// Bytes of an answer: of its body, or with its head.
pub(super) fn bytes_per_answer(run: &Run) -> Option<f64> {
    let figures = &run.figures;
    let rate = run.valid_rate()?;
    let bytes = figures.body_bytes.or(figures.received_bytes);
    let per_second = bytes.zip(figures.seconds);
    let per_second = per_second.map(|(bytes, seconds)| bytes as f64 / seconds);
    let bytes = per_second.or(figures.kib_per_second.map(|kib| kib * 1024.0))? / rate;
    bytes.is_finite().then_some(bytes)
}

/// Whether the 99th percentile is the mean, in more digits than a few.
pub(super) fn has_equal_times(run: &Run) -> bool {
    let times = run.figures.p99_ms.zip(run.figures.mean_ms);
    // These print four decimals of a second, in which times below 10 ms have two digits or fewer.
    let is_coarse = |time: f64| matches!(run.tool, Tool::Hey | Tool::Oha) && time < 10.0;
    times.is_some_and(|(p99, mean)| p99 == mean && !is_coarse(p99))
}

/// Why Little's law cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UnjudgedReason {
    NoTime,
    NoLimit,
    OpenLoop,
    Computed,
    Corrected,
    MeansOfRoutes,
}

impl UnjudgedReason {
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::NoTime => "no mean time is recorded",
            Self::NoLimit => {
                "the number of requests that a connection carries at once is not recorded"
            }
            Self::OpenLoop => "the load was an open loop",
            Self::Computed => "ab computes its mean time from the rate",
            Self::Corrected => {
                "wrk adds computed times to its mean, for coordinated omission, and a script of it may pipeline"
            }
            Self::MeansOfRoutes => "rates and times are means over several routes",
        }
    }
}

/// Requests in progress as a share of those that fit on the connections.
pub(super) struct RequestsInProgress {
    pub(super) share: f64,
    /// Half of the last printed digit of the time, as such a share.
    rounded: f64,
}

impl RequestsInProgress {
    /// Whether they are more than the connections carry.
    pub(super) fn is_impossible(&self) -> bool {
        self.share - self.rounded > 1.0 + LAW_TOLERANCE
    }

    /// Whether many connections carried none.
    pub(super) fn is_idle(&self) -> bool {
        self.share + self.rounded < IN_USE
    }
}

/// Requests in progress by Little's law, or why they are not known.
pub(super) fn in_progress(run: &Run) -> Result<RequestsInProgress, UnjudgedReason> {
    let (load, figures) = (&run.load, &run.figures);
    if load.is_open {
        return Err(UnjudgedReason::OpenLoop);
    }
    match run.tool {
        Tool::Ab => return Err(UnjudgedReason::Computed),
        Tool::WebFrameworks => return Err(UnjudgedReason::MeansOfRoutes),
        _ => {}
    }
    let times = figures.mean_ms.zip(run.valid_rate());
    let (mean, rate) = times.ok_or(UnjudgedReason::NoTime)?;
    // The rates of these are of all requests, and their times of answers.
    let answered = match run.tool {
        Tool::Hey | Tool::Oha => {
            let counts = RequestCounts::new(run);
            counts.map_or(1.0, |counts| counts.answered / counts.sent)
        }
        _ => 1.0,
    };
    // h2load can pipeline over HTTP/1.1, and its report does not have how much.
    let usual = load.http.filter(|_| run.tool != Tool::H2load).map(|_| 1);
    let limit = load.connections.zip(load.pipeline.or(usual));
    let limit = limit.map(|(connections, pipeline)| f64::from(connections) * f64::from(pipeline));
    let limit = limit
        .filter(|limit| *limit > 0.0)
        .ok_or(UnjudgedReason::NoLimit)?;
    let of_limit = |time_ms: f64| answered * rate * time_ms / 1e3 / limit;
    let found = RequestsInProgress {
        share: of_limit(mean),
        rounded: of_limit(rounding(run.tool, mean)),
    };
    // wrk's mean is too high, if anything.
    if found.is_impossible() && is_of_wrk(run) {
        return Err(UnjudgedReason::Corrected);
    }
    Ok(found)
}

/// Whether wrk measured it.
fn is_of_wrk(run: &Run) -> bool {
    let test = run.section.as_deref().unwrap_or_default();
    let profile = test.rsplit_once('-').map_or(test, |(profile, _)| profile);
    match run.tool {
        Tool::Wrk => true,
        Tool::HttpArena => PROFILES_OF_WRK.contains(&profile),
        _ => false,
    }
}

/// Half of the last digit that a tool prints of a time, in milliseconds.
fn rounding(tool: Tool, time_ms: f64) -> f64 {
    let tenths = time_ms * 10.0;
    let is_in_tenths = (tenths - tenths.round()).abs() < 1e-6;
    match tool {
        Tool::Hey => 0.05,
        // Older versions print seconds alone.
        Tool::Oha if is_in_tenths => 0.05,
        // Below a millisecond, they print whole microseconds.
        Tool::H2load | Tool::HttpArena if time_ms < 1.0 => 0.000_5,
        _ => 0.0,
    }
}

/// Whether a time may be missing because an answer came late or never.
pub(super) fn lacks_waits(run: &Run) -> bool {
    has_doubt(run, "late-answers") || run.figures.failed.is_some_and(|failed| failed > 0)
}
