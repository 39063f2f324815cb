//! The checks of single figures, and the sentences about all places that failed one.

use std::{cmp::Reverse, collections::BTreeMap};

use deadheat_import::{MANY_ERRORS, has_many_errors};
use deadheat_model::{
    Warning,
    figure::{count, counted, figure, share, short_percent, some},
    imported::Run,
    warning::{Level, doubt, note},
};

use super::{
    Place, Servers, Spread, SpreadSource,
    doubts::IMPORTED,
    figures::{
        IN_USE, UnjudgedReason, bytes_per_answer, has_doubt, has_equal_times, in_progress,
        lacks_waits, miscounted, rate_counts_errors,
    },
    quantile,
};

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

/// Places that failed a check.
#[derive(Default)]
struct FailedCheck {
    places: usize,
    /// The servers, each once.
    names: Vec<String>,
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
    /// Places with neither a path nor a number of connections.
    without_load: usize,
    /// Places whose rate counts many errors.
    counting_errors: usize,
    places: usize,
    single: usize,
}

impl AuditFindings {
    /// Checks a place by the runs that its figure is based on.
    pub(super) fn check(
        &mut self,
        test: &str,
        place: &mut Place,
        runs: &[&Run],
        context: &Context,
    ) {
        self.places += 1;
        self.single += usize::from(place.runs == 1);
        let is_unknown = |run: &&Run| {
            !run.tool.is_suite() && run.target.is_none() && run.load.connections.is_none()
        };
        self.without_load += usize::from(runs.iter().any(is_unknown));
        if place.requests_per_second.is_none() {
            self.against(test, place, "no-rate", 0.0);
            return;
        }
        self.check_law(test, place, runs);
        match place.server_cpus.zip(context.cpus) {
            Some((used, cpus)) if used < BUSY * cpus => {
                self.fail(test, place, "idle-server", 1.0 - used / cpus);
            }
            Some(_) => {}
            None => self.without_cpu += 1,
        }
        match place.errors {
            Some(share) if share >= MANY_ERRORS => {
                self.against(test, place, "errors", share);
                let counts = |run: &&Run| has_many_errors(run) && rate_counts_errors(run);
                self.counting_errors += usize::from(runs.iter().any(counts));
            }
            Some(share) if share > 0.0 => self.fail(test, place, "errors", share),
            // Some tools print errors only if there are some, so the reader knows whether they would be seen.
            _ => {
                let is_blind = |run: &&Run| has_doubt(run, "no-statuses");
                self.without_statuses += usize::from(runs.iter().any(is_blind));
            }
        }
        let bytes = runs.iter().filter_map(|run| bytes_per_answer(run));
        let bytes = bytes.reduce(f64::min).zip(context.bytes);
        if let Some((own, usual)) = bytes.filter(|(own, usual)| *own < SHORT_ANSWER * usual) {
            self.against(test, place, "short-answers", 1.0 - own / usual);
        }
        let miscounted = runs.iter().filter_map(|run| miscounted(run));
        let miscounted = miscounted.map(|times| times.max(1.0 / times));
        if let Some(times) = miscounted.reduce(f64::max) {
            self.against(test, place, "miscounted", times);
        }
        if runs.iter().any(|run| has_equal_times(run)) {
            self.fail(test, place, "equal-times", 0.0);
        }
        for doubt in &IMPORTED {
            if !runs.iter().any(|run| has_doubt(run, doubt.id)) {
                continue;
            }
            if doubt.is_against {
                self.against(test, place, doubt.id, 0.0);
            } else {
                self.fail(test, place, doubt.id, 0.0);
            }
        }
    }

    /// Little's law. A contradiction in one run is enough.
    fn check_law(&mut self, test: &str, place: &mut Place, runs: &[&Run]) {
        let mut shares = Vec::new();
        let (mut impossible, mut idle): (Option<f64>, Option<f64>) = (None, None);
        let mut reason: Option<UnjudgedReason> = None;
        for run in runs {
            match in_progress(run) {
                Ok(found) => {
                    shares.push(found.share);
                    if found.is_impossible() {
                        impossible = Some(found.share.max(impossible.unwrap_or(0.0)));
                    } else if found.is_idle() && !lacks_waits(run) {
                        idle = Some(found.share.min(idle.unwrap_or(1.0)));
                    }
                }
                Err(why) => reason = reason.or(Some(why)),
            }
        }
        if shares.is_empty() {
            if let Some(reason) = reason {
                *self.unjudged.entry(reason).or_default() += 1;
            }
            return;
        }
        place.in_progress = Some(shares.iter().sum::<f64>() / shares.len() as f64);
        if let Some(share) = impossible {
            self.against(test, place, "impossible", share);
        } else if let Some(share) = idle {
            self.fail(test, place, "idle-connections", 1.0 - share);
        }
    }

    /// Notes that a place failed a check that its rank depends on.
    pub(super) fn against(&mut self, test: &str, place: &mut Place, id: &'static str, value: f64) {
        self.fail(test, place, id, value);
        place.caveats.push(id);
    }

    /// Notes that a place failed a check.
    pub(super) fn fail(&mut self, test: &str, place: &Place, id: &'static str, value: f64) {
        let failed = self.failed.entry(id).or_default();
        failed.places += 1;
        if !failed.names.contains(&place.name) {
            failed.names.push(place.name.clone());
        }
        if value > failed.worst {
            failed.worst = value;
            failed.at = format!("{}, {test}", place.name);
        }
    }

    /// The findings, the gravest first, of a level those of more places first; then what cannot be judged. `ranked` are
    /// the places that could have a proven rank, and `proven` those that have one.
    pub(super) fn findings(
        &self,
        [ranked, proven]: [usize; 2],
        spread: &Spread,
        cpus: Option<u32>,
    ) -> Vec<Warning> {
        let failed = self.failed.iter();
        let failed = failed.map(|(id, failed)| self.finding(id, failed, cpus));
        let mut findings: Vec<Warning> = failed.collect();
        findings.extend(self.no_statuses());
        findings.extend(self.no_load());
        findings.extend(self.one_run(spread));
        findings.extend(self.close(ranked, proven, spread));
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
    fn finding(&self, id: &str, failed: &FailedCheck, cpus: Option<u32>) -> Warning {
        let (level, text) = self.sentence(id, failed, cpus);
        Warning::new(level, id, text)
            .with("places", failed.places)
            .with("of", self.places)
    }

    fn sentence(&self, id: &str, failed: &FailedCheck, cpus: Option<u32>) -> (Level, String) {
        let of_all = self.of_all(failed.places);
        let FailedCheck { worst, at, .. } = failed;
        let names = some(&failed.names, MAX_NAMED);
        let times = figure(*worst);
        let rest = short_percent(1.0 - worst);
        if let Some(doubt) = IMPORTED.iter().find(|doubt| doubt.id == id) {
            let [fact, meaning] = doubt.sentence;
            return (
                doubt.level,
                format!("{of_all} {fact} ({names}): {meaning}."),
            );
        }
        match id {
            "no-rate" => (
                Level::Doubt,
                format!("{of_all} have no usable rate, because no request succeeded ({names})."),
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
                    "{of_all} received under a tenth of the usual bytes per answer of their test ({names}): their rates count \
                     answers without the content that the others sent."
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
                format!("{of_all} are in one file twice, with different figures ({names})."),
            ),
            "changed" => (
                Level::Doubt,
                format!(
                    "{of_all} changed by more than the spread since the run before, by up to {} ({at}): one run of the present \
                     state proves no rank.",
                    difference(*worst)
                ),
            ),
            "runs-differ" => (
                Level::Note,
                format!(
                    "{of_all} have runs that differ by more than the spread, by up to {} ({at}): their ranks are as wide as \
                     their runs.",
                    difference(*worst)
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
                    "{of_all} used under {} of the {available}, as little as {rest} ({at}). Their rates may show a limit of \
                     their threads or settings, or of the generator.",
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
        }
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

    /// Places of which nobody knows how they were loaded.
    fn no_load(&self) -> Option<Warning> {
        (self.without_load > 0).then(|| {
            let of_all = self.of_all(self.without_load);
            let text = format!(
                "{of_all} record neither path nor connections: the ranks are right only if all were loaded alike."
            );
            doubt("no-load", text)
                .with("places", self.without_load)
                .advice("Give the command with --command.")
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

    /// Places whose ranks the spread leaves open.
    fn close(&self, ranked: usize, proven: usize, spread: &Spread) -> Option<Warning> {
        let close = ranked - proven;
        (close > 0).then(|| {
            let kind = if ranked < self.places { "sound " } else { "" };
            let text = format!(
                "Of {}, {} are too close to another for a proven rank: the spread is {}.",
                counted(ranked, &format!("{kind}place")),
                count(close as u64),
                spread.shown()
            );
            doubt("close", text)
                .with("places", close)
                .with("of", ranked)
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

/// A difference between two rates: "45 %", or "24.7 times" from twice as much on.
fn difference(share: f64) -> String {
    if share < 1.0 {
        short_percent(share)
    } else {
        format!("{} times", figure(1.0 + share))
    }
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
