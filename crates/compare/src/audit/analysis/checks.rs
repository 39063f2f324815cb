//! The checks of single figures, and the sentences about all places that failed one.

use std::{cmp::Reverse, collections::BTreeMap};

use deadheat_model::{
    Warning,
    figure::{count, counted, figure, share, short_percent, some},
    imported::{Run, Tool},
    warning::{Level, doubt, note},
};

use super::{Neighbours, Place, Servers, Spread, SpreadSource, Test, quantile};

/// Rate × mean time may exceed the requests that fit on the connections by this share. Times are printed with three
/// digits (0.5 %), and the time that the rate is over has a start and an end, up to 3 % of five seconds.
const LAW_TOLERANCE: f64 = 0.05;
/// With a smaller share of the connections in use, much of the time passed outside of requests.
const IN_USE: f64 = 0.8;
/// A server that used a smaller share of the CPU was not short of it.
const BUSY: f64 = 0.8;
/// The CPU that the busiest servers of a test used: one in ten used as much.
const BUSIEST: f64 = 0.9;
/// The fewest places that show how much CPU a server could use, or how long an answer is.
const MIN_PLACES: usize = 10;
/// The fewest bytes of a usual answer by which others are judged.
const MIN_BYTES: f64 = 10.0;
/// A place whose answers have a smaller share of the usual bytes does not answer as the others do.
const SHORT_ANSWER: f64 = 0.1;
/// Rate × duration may differ from the number of answers by this share: some files have whole seconds.
const COUNT_TOLERANCE: f64 = 0.1;
/// From this share of errors on, a rate is not one of right answers.
const MANY_ERRORS: f64 = 0.01;
/// The most servers that a finding names.
const MAX_NAMED: usize = 4;

/// What the places of a test have in common.
pub(super) struct Context {
    /// CPUs that a server could use.
    cpus: Option<f64>,
    /// The usual bytes of an answer.
    bytes: Option<f64>,
}

impl Context {
    pub(super) fn new(servers: &Servers<'_>, cpus: Option<u32>) -> Self {
        let of_all = |value: fn(&Run) -> Option<f64>, level: f64| {
            let runs = servers.placed().map(|server| server.latest());
            let mut values: Vec<f64> = runs.filter_map(value).collect();
            values.sort_by(f64::total_cmp);
            quantile(&values, level).filter(|_| values.len() >= MIN_PLACES)
        };
        let used = of_all(|run| run.figures.server_cpus, BUSIEST);
        Self {
            cpus: cpus.map(f64::from).or(used),
            bytes: of_all(bytes_per_answer, 0.5).filter(|bytes| *bytes >= MIN_BYTES),
        }
    }
}

/// Why Little's law cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum UnjudgedReason {
    NoTime,
    NoLimit,
    OpenLoop,
    Computed,
}

impl UnjudgedReason {
    const fn reason(self) -> &'static str {
        match self {
            Self::NoTime => "no mean or median time is recorded",
            Self::NoLimit => {
                "the number of requests that a connection carries at once is not recorded"
            }
            Self::OpenLoop => "the load was an open loop",
            Self::Computed => "ab computes its mean time from the rate",
        }
    }
}

/// Requests in progress as a share of those that fit on the connections.
struct RequestsInProgress {
    share: f64,
    /// Whether it follows from the median alone, as half of the requests took at least that long.
    is_bound: bool,
}

fn in_progress(run: &Run) -> Result<RequestsInProgress, UnjudgedReason> {
    let (load, figures) = (&run.load, &run.figures);
    if load.is_open {
        return Err(UnjudgedReason::OpenLoop);
    }
    if run.tool == Tool::Ab {
        return Err(UnjudgedReason::Computed);
    }
    let mean = figures.mean_ms.map(|mean| (mean, false));
    let time = mean.or(figures.p50_ms.map(|median| (median / 2.0, true)));
    let (time_ms, is_bound) = time.ok_or(UnjudgedReason::NoTime)?;
    let rate = run.valid_rate().ok_or(UnjudgedReason::NoTime)?;
    let pipeline = load.pipeline.or(load.http.map(|_| 1));
    let limit = load.connections.zip(pipeline);
    let limit = limit.map(|(connections, pipeline)| f64::from(connections) * f64::from(pipeline));
    let limit = limit
        .filter(|limit| *limit > 0.0)
        .ok_or(UnjudgedReason::NoLimit)?;
    Ok(RequestsInProgress {
        share: rate * time_ms / 1e3 / limit,
        is_bound,
    })
}

/// Requests without a right answer, as a share of all; `None`: not recorded.
pub(super) fn errors(run: &Run) -> Option<f64> {
    let figures = &run.figures;
    let (complete, non_2xx) = figures.complete.zip(figures.non_2xx)?;
    let apart = figures.failed.filter(|_| !run.counts_failed()).unwrap_or(0);
    let all = complete.saturating_add(apart);
    (all > 0).then(|| non_2xx.saturating_add(apart) as f64 / all as f64)
}

/// Bytes of an answer: of its body, or with its head.
fn bytes_per_answer(run: &Run) -> Option<f64> {
    let figures = &run.figures;
    let rate = run.valid_rate()?;
    let bytes = figures.body_bytes.or(figures.received_bytes);
    let per_second = bytes.zip(figures.seconds);
    let per_second = per_second.map(|(bytes, seconds)| bytes as f64 / seconds);
    let bytes = per_second.or(figures.kib_per_second.map(|kib| kib * 1024.0))? / rate;
    bytes.is_finite().then_some(bytes)
}

/// Counted answers ÷ (rate × duration), if neither all answers nor the right ones fit.
fn miscounted(run: &Run) -> Option<f64> {
    let figures = &run.figures;
    let complete = figures.complete? as f64;
    let right = complete - figures.non_2xx.unwrap_or(0) as f64;
    let sent = Some(run.valid_rate()? * figures.seconds?).filter(|sent| *sent > 0.0)?;
    let fits = |answers: f64| (answers / sent - 1.0).abs() <= COUNT_TOLERANCE;
    (!fits(complete) && !fits(right)).then(|| complete / sent)
}

/// Whether the rate counts errors: it fits all answers, and not the right ones alone.
fn rate_counts_errors(run: &Run) -> bool {
    let figures = &run.figures;
    let counts = figures.complete.zip(figures.non_2xx);
    let Some(((complete, errors), (rate, seconds))) =
        counts.zip(run.valid_rate().zip(figures.seconds))
    else {
        return false;
    };
    let (all, sent) = (complete as f64, rate * seconds);
    let right = all - errors as f64;
    (all - sent).abs() < (right - sent).abs()
}

/// Places that failed a check.
#[derive(Default)]
struct FailedCheck {
    places: usize,
    /// The worst value.
    worst: f64,
    /// The place with the worst value.
    at: String,
}

/// What the checks found in all tests.
#[derive(Default)]
pub(super) struct AuditFindings {
    /// By the id of the check.
    failed: BTreeMap<&'static str, FailedCheck>,
    unjudged: BTreeMap<UnjudgedReason, usize>,
    without_cpu: usize,
    without_statuses: usize,
    /// Places whose rate counts many errors.
    counting_errors: usize,
    places: usize,
    single: usize,
}

impl AuditFindings {
    /// Checks a place by its latest run.
    pub(super) fn check(&mut self, test: &str, place: &mut Place, run: &Run, context: &Context) {
        self.places += 1;
        self.single += usize::from(place.runs == 1);
        if place.requests_per_second.is_none() {
            self.against(test, place, "no-rate", 0.0);
            return;
        }
        match in_progress(run) {
            Ok(RequestsInProgress { share, is_bound }) => {
                place.in_progress = Some(share);
                place.in_progress_is_bound = is_bound;
                if share > 1.0 + LAW_TOLERANCE {
                    self.against(test, place, "impossible", share);
                } else if !is_bound && share < IN_USE {
                    self.fail(test, place, "idle-connections", 1.0 - share);
                }
            }
            Err(why) => *self.unjudged.entry(why).or_default() += 1,
        }
        match run.figures.server_cpus.zip(context.cpus) {
            Some((used, cpus)) if used < BUSY * cpus => {
                self.fail(test, place, "idle-server", 1.0 - used / cpus);
            }
            Some(_) => {}
            None => self.without_cpu += 1,
        }
        match place.errors {
            Some(share) if share > 0.0 => {
                if share < MANY_ERRORS {
                    self.fail(test, place, "errors", share);
                } else {
                    self.against(test, place, "errors", share);
                    self.counting_errors += usize::from(rate_counts_errors(run));
                }
            }
            // Some tools print errors only if there are some, so the reader knows whether they would be seen.
            _ => {
                let is_blind = run.warnings.iter().any(|one| one.id == "no-statuses");
                self.without_statuses += usize::from(is_blind);
            }
        }
        let bytes = bytes_per_answer(run).zip(context.bytes);
        if let Some((own, usual)) = bytes.filter(|(own, usual)| *own < SHORT_ANSWER * usual) {
            self.against(test, place, "short-answers", 1.0 - own / usual);
        }
        if let Some(times) = miscounted(run) {
            self.against(test, place, "miscounted", times.max(1.0 / times));
        }
        let times = run.figures.p99_ms.zip(run.figures.mean_ms);
        // These print four decimals of a second, in which times below 10 ms have two digits or fewer.
        let is_coarse = |time: f64| matches!(run.tool, Tool::Hey | Tool::Oha) && time < 10.0;
        if times.is_some_and(|(p99, mean)| p99 == mean && !is_coarse(p99)) {
            self.fail(test, place, "equal-times", 0.0);
        }
    }

    /// Notes that a place failed a check that its rank depends on.
    pub(super) fn against(&mut self, test: &str, place: &mut Place, id: &'static str, value: f64) {
        self.fail(test, place, id, value);
        place.caveats.push(id);
    }

    fn fail(&mut self, test: &str, place: &Place, id: &'static str, value: f64) {
        let failed = self.failed.entry(id).or_default();
        failed.places += 1;
        if value > failed.worst {
            failed.worst = value;
            failed.at = format!("{}, {test}", place.name);
        }
    }

    /// The findings, the gravest first, of a level those of more places first; then what cannot be judged.
    pub(super) fn findings(
        &self,
        tests: &[Test],
        spread: &Spread,
        neighbours: Neighbours,
        cpus: Option<u32>,
    ) -> Vec<Warning> {
        let failed = self.failed.iter();
        let failed = failed.map(|(id, failed)| self.finding(id, failed, tests, cpus));
        let mut findings: Vec<Warning> = failed.collect();
        findings.extend(self.no_statuses());
        findings.extend(self.one_run(spread));
        findings.extend(self.close(tests, spread, neighbours.close));
        findings.extend(repeated(spread));
        let places = |finding: &Warning| {
            let places = finding.evidence.get("places");
            places.and_then(serde_json::Value::as_u64).unwrap_or(0)
        };
        findings.sort_by_key(|finding| (finding.level, Reverse(places(finding))));
        findings.extend(self.unknown());
        findings
    }

    /// "41 of 59 places".
    fn of_all(&self, places: usize) -> String {
        let [places, all] = [places, self.places].map(|one| count(one as u64));
        format!("{places} of {all} places")
    }

    /// The finding about all places that failed a check.
    fn finding(
        &self,
        id: &str,
        failed: &FailedCheck,
        tests: &[Test],
        cpus: Option<u32>,
    ) -> Warning {
        let of_all = self.of_all(failed.places);
        let FailedCheck { worst, at, .. } = failed;
        let times = figure(*worst);
        let rest = short_percent(1.0 - worst);
        let (level, text) = match id {
            "no-rate" => (
                Level::Doubt,
                format!(
                    "{of_all} have no usable rate, because no request succeeded ({}).",
                    names(tests, id)
                ),
            ),
            "impossible" => (
                Level::Doubt,
                format!(
                    "{of_all} contradict Little's law: rate × time is more requests at once than the connections carry, up to \
                     {times} times as many ({at}). Rate and time are not of the same requests."
                ),
            ),
            "errors" if *worst >= MANY_ERRORS => (Level::Doubt, self.errors(failed)),
            "errors" => (Level::Note, self.errors(failed)),
            "short-answers" => (
                Level::Doubt,
                format!(
                    "{of_all} received under a tenth of the usual bytes per answer of their test ({}): their rates count \
                     answers without the content that the others sent.",
                    names(tests, id)
                ),
            ),
            "miscounted" => (
                Level::Doubt,
                format!(
                    "{of_all} have another number of answers than rate × duration, by up to {times} times ({at}): the \
                     duration or the rate is not that of these answers."
                ),
            ),
            "twice" => (
                Level::Doubt,
                format!(
                    "{of_all} are in one file twice, with different figures ({}).",
                    names(tests, id)
                ),
            ),
            "changed" => (
                Level::Doubt,
                format!(
                    "{of_all} changed by more than the spread since the run before, by up to {} ({at}): one run of the present \
                     state proves no rank.",
                    if *worst < 1.0 {
                        short_percent(*worst)
                    } else {
                        format!("{} times", figure(1.0 + worst))
                    }
                ),
            ),
            "idle-connections" => (
                Level::Note,
                format!(
                    "{of_all} used under {} of their connections by Little's law (rate × mean time), as little as {rest} \
                     ({at}). The others waited for the generator or to connect, so the server may not be the limit.",
                    short_percent(IN_USE)
                ),
            ),
            "idle-server" => {
                let available = match cpus {
                    Some(cpus) => counted(cpus, "CPU"),
                    None => "CPU time that the busiest tenth of their test used".to_owned(),
                };
                let text = format!(
                    "{of_all} used under {} of the {available}, as little as {rest} ({at}): these servers were not saturated, \
                     so their rates may show a limit of the generator or of their settings.",
                    short_percent(BUSY)
                );
                (Level::Note, text)
            }
            _ => (
                Level::Note,
                format!(
                    "{of_all} have the same 99th percentile as mean time: one of the two was not measured."
                ),
            ),
        };
        Warning::new(level, id, text)
            .with("places", failed.places)
            .with("of", self.places)
    }

    fn errors(&self, failed: &FailedCheck) -> String {
        let counts = match self.counting_errors {
            0 => String::new(),
            places => format!(
                " In {} of them, the rate counts the errors as throughput.",
                count(places as u64)
            ),
        };
        format!(
            "{} had requests without a right answer, and the largest share is {} ({}).{counts}",
            self.of_all(failed.places),
            share(failed.worst),
            failed.at
        )
    }

    fn no_statuses(&self) -> Option<Warning> {
        (self.without_statuses > 0).then(|| {
            let of_all = self.of_all(self.without_statuses);
            let text = format!(
                "{of_all} record no errors or statuses: whether errors count as throughput cannot be judged."
            );
            doubt("no-statuses", text).with("places", self.without_statuses)
        })
    }

    /// Figures without a second run.
    fn one_run(&self, spread: &Spread) -> Option<Warning> {
        let advice = match spread.source {
            SpreadSource::Repeats | SpreadSource::Largest => "",
            _ => "Add an earlier file of the same tests, because repeated figures show the spread.",
        };
        (self.single > 0).then(|| {
            let of_all = self.of_all(self.single);
            let text = format!(
                "{of_all} have one figure without a spread. Whether it is the mean or the best of several runs is not recorded."
            );
            doubt("one-run", text)
                .with("places", self.single)
                .advice(advice)
        })
    }

    /// Neighbours that the spread does not tell apart.
    fn close(&self, tests: &[Test], spread: &Spread, close: usize) -> Option<Warning> {
        (close > 0).then(|| {
            let places = tests.iter().flat_map(|test| &test.places);
            let sound = places.filter(|place| place.is_sound()).count();
            let kind = if sound < self.places { "sound " } else { "" };
            let text = format!(
                "Of {}, {} are within {} of the next: their order is not proven.",
                counted(sound, &format!("{kind}place")),
                count(close as u64),
                spread.shown()
            );
            doubt("neighbours", text)
                .with("places", close)
                .with("of", sound)
                .with("spread", spread.share)
        })
    }

    /// What cannot be judged.
    fn unknown(&self) -> Vec<Warning> {
        let routine = |id: &str, places: usize, sentence: String| {
            Warning::new(Level::Routine, id, sentence).with("places", places)
        };
        let laws = self.unjudged.iter().map(|(why, places)| {
            let (of_all, reason) = (self.of_all(*places), why.reason());
            let text = format!("Little's law, for {of_all}: {reason}.");
            routine("no-law", *places, text)
        });
        let server = (self.without_cpu > 0).then(|| {
            let of_all = self.of_all(self.without_cpu);
            let text = format!(
                "Saturation of the server, for {of_all}: no CPU is recorded, or for too few servers to compare."
            );
            routine("no-server-cpu", self.without_cpu, text)
        });
        let generator = routine(
            "no-generator-cpu",
            self.places,
            "Saturation of the generator: no CPU of it is recorded.".to_owned(),
        );
        laws.chain(server).chain([generator]).collect()
    }
}

/// The servers with this finding.
fn names(tests: &[Test], id: &str) -> String {
    let places = tests.iter().flat_map(|test| &test.places);
    let mut names: Vec<&str> = Vec::new();
    for place in places.filter(|place| place.caveats.contains(&id)) {
        if !names.contains(&place.name.as_str()) {
            names.push(&place.name);
        }
    }
    some(&names, MAX_NAMED)
}

/// The spread of repeated figures.
fn repeated(spread: &Spread) -> Option<Warning> {
    let (median, p95) = spread.median.zip(spread.p95)?;
    let use_of_it = match spread.source {
        SpreadSource::Repeats => {
            " The 95th percentile also has servers that were changed in between, so the spread is made of the median: 2.9 times \
             as much."
        }
        SpreadSource::Largest => " The spread is the largest of these changes, and 3 % at least.",
        SpreadSource::Option | SpreadSource::Assumed => "",
    };
    let text = format!(
        "{} changed by {} (median) and {} (95th percentile) from one run to the next.{use_of_it}",
        counted(spread.repeats, "repeated figure"),
        short_percent(median),
        short_percent(p95)
    );
    Some(
        note("spread", text)
            .with("places", spread.repeats)
            .with("median", median)
            .with("p95", p95),
    )
}
