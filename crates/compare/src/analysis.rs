//! Compares records of `deadheat load`. Sessions of heats are judged in `stats::comparison`. Here each record is one run,
//! and no heat has both sides.
//!
//! Seconds of one run are no repetition: they depend on each other, and share the process, its memory layout and the
//! machine's hour. So only whole runs are replicated. And runs of A that are all older than those of B have the
//! machine's drift in every ratio, with nothing to tell it from the change; runs that alternate have it on both sides.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use deadheat_loadtool::analysis::{LatencyKind, LoadAnalysis, Validity, analyse};
use deadheat_model::{
    Exchange, LoadRecord, LoadSpec, Schedule, Wait,
    change::{Aspect, Change},
    figure::{count, counted, share, time},
    load::{Content, ProxyKind, RequestSpec, Target, words as in_words},
    observation::TRANSPORT_FAILURES,
    warning::{Warning, doubt, note},
};
use deadheat_stats::comparison::{
    Bounds, CellId, Compared, ComparisonAnalysis, Fact, Method, Metric, NotCompared, Ratio,
    SideFacts, differs,
    sessions::{MIN_RUNS, Sample, correct},
};

/// The least number of changes of side between runs, in the order of their start times: A B A B, or A B B A A B.
const MIN_CHANGES: usize = 3;

/// Runs of one side, with the name that the user knows them by.
pub type Runs<'a> = (&'a str, &'a [LoadRecord]);

/// Compares runs `b` with runs `a`. Differences that bias every ratio become warnings ([`biasing_differences`]).
pub fn compare(a: Runs<'_>, b: Runs<'_>, bounds: Bounds) -> ComparisonAnalysis {
    let bounds = bounds.of_runs();
    let sides = [a.1, b.1].map(|runs| runs.iter().map(analyse).collect::<Vec<_>>());
    let first = a.1.first().or(b.1.first());
    let subject = subject(first.map(|run| &run.spec));
    let (mut compared, mut not_compared) = (Vec::new(), Vec::new());
    match hindrance([a.1, b.1], &sides) {
        None => compared.push(cell(subject, [a.1, b.1], &sides, &bounds)),
        Some((reason, b_failed)) => not_compared.push(NotCompared {
            subject,
            reason,
            b_failed,
        }),
    }
    let differences = biasing_differences(a.1, b.1);
    let differences = differences
        .iter()
        .map(|change| differs(change, "A's first run", "another"));
    let mut warnings: Vec<Warning> = differences.collect();
    warnings.extend(doubts(a.0, &sides[0]));
    warnings.extend(doubts(b.0, &sides[1]));
    ComparisonAnalysis {
        how: Method::Runs {
            a: a.1.len(),
            b: b.1.len(),
        },
        a: side(a),
        b: side(b),
        is_change: false,
        bounds,
        compared,
        not_compared,
        conditions: first.map_or(Vec::new(), |run| {
            let machine = &run.machine;
            vec![
                Fact::new("processor", &machine.cpu_model),
                Fact::new("kernel", &machine.kernel),
            ]
        }),
        differences: Vec::new(),
        warnings,
    }
}

/// Differences between A's first run and any other run that would bias every ratio, each once.
pub fn biasing_differences(a: &[LoadRecord], b: &[LoadRecord]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut runs = a.iter().chain(b);
    let Some(first) = runs.next() else {
        return changes;
    };
    for run in runs {
        for (before, after) in circumstances(first).into_iter().zip(circumstances(run)) {
            let is_known = changes.iter().any(|change| change.what == before.1);
            if before.2 != after.2 && !is_known {
                changes.push(Change {
                    aspect: before.0,
                    target: None,
                    what: before.1.to_owned(),
                    before: Some(before.2),
                    after: Some(after.2),
                });
            }
        }
    }
    changes
}

/// What all runs must have in common. Which server was asked is what is compared.
fn circumstances(run: &LoadRecord) -> Vec<(Aspect, &'static str, String)> {
    let (machine, spec) = (&run.machine, &run.spec);
    let requests = spec.exchanges.iter().enumerate();
    let requests = requests.map(|(index, one)| request(spec, index, &one.request));
    let hosts: Vec<&str> = run.hosts.iter().map(|one| one.name.as_str()).collect();
    let ramp = match spec.schedule {
        Schedule::Closed { ramp, .. } => ramp,
        Schedule::Open { .. } => Duration::ZERO,
    };
    let events = spec.stream.map_or(NONE.to_owned(), |stream| {
        let what = in_words::event(stream.event);
        let enough = stream.enough.map(|enough| counted(enough, what));
        enough.unwrap_or(format!("{what}s"))
    });
    let tls = |target: &Target| match target.tls.as_ref().map(in_words::offer) {
        None => NONE.to_owned(),
        Some(offer) if offer.is_empty() => "any".to_owned(),
        Some(offer) => offer,
    };
    let proxies = spec.targets().map(|target| match &target.proxy {
        None => NONE,
        Some(proxy) => match proxy.kind {
            ProxyKind::Http => "HTTP",
            ProxyKind::Socks5 => "SOCKS 5",
        },
    });
    let hidden = spec.hidden.as_ref();
    let settings = [
        ("loop", in_words::schedule(spec)),
        ("ramp", time(ramp)),
        (
            "think time",
            spec.think.as_ref().map_or(NONE.to_owned(), in_words::think),
        ),
        ("events", events),
        ("protocol", in_words::protocol(spec)),
        ("TLS", joined(spec.targets().map(tls))),
        ("addresses", spec.routes().count().to_string()),
        ("proxy", joined(proxies)),
        ("redirects followed", spec.redirects.to_string()),
        (
            "cookies",
            if spec.cookies { "kept" } else { NONE }.to_owned(),
        ),
        ("requests", joined(requests)),
        (
            "the content of requests",
            hidden.map_or(String::new(), |hidden| {
                format!("fingerprint {}", hidden.fingerprint)
            }),
        ),
        (
            "valid answers",
            joined(spec.exchanges.iter().map(|one| valid_answer(spec, one))),
        ),
        ("duration", in_words::stop(&spec.stop)),
        ("warm-up", time(spec.warm_up)),
        ("generator's CPUs", cpus(&spec.cpus)),
        ("worker threads", spec.workers().len().to_string()),
        (
            "waiting for answers",
            match spec.wait {
                Wait::Sleep => "asleep",
                Wait::Poll => "awake",
            }
            .to_owned(),
        ),
    ];
    let surroundings = [
        (Aspect::Machine, "processor", machine.cpu_model.clone()),
        (Aspect::Machine, "CPUs", joined(machine.cpus.iter())),
        (Aspect::System, "kernel", machine.kernel.clone()),
        (Aspect::Machine, "hosts", hosts.join(", ")),
        (Aspect::Deadheat, "Deadheat", run.deadheat.clone()),
    ];
    let settings = settings.map(|(what, value)| (Aspect::Settings, what, value));
    surroundings.into_iter().chain(settings).collect()
}

/// Where a setting is absent.
const NONE: &str = "none";

fn joined(values: impl Iterator<Item = impl ToString>) -> String {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    values.join(", ")
}

fn cpus(cpus: &[usize]) -> String {
    match cpus {
        [] => "not pinned".to_owned(),
        cpus => joined(cpus.iter()),
    }
}

/// A request in words: what a record has of it.
fn request(spec: &LoadSpec, index: usize, request: &RequestSpec) -> String {
    let headers = request.headers.iter();
    let headers: Vec<String> = headers
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let hidden = spec.hidden.as_ref();
    let body = hidden.and_then(|hidden| *hidden.body_bytes.get(index)?);
    let body = body.or_else(|| request.body.length());
    let body = body.map_or(String::new(), |bytes| format!(", a body of {bytes} bytes"));
    format!(
        "{} {} ({}){body}",
        request.method,
        request.path,
        headers.join("; ")
    )
}

/// What makes an answer valid, in words.
fn valid_answer(spec: &LoadSpec, exchange: &Exchange) -> String {
    let expect = &exchange.expect;
    let length = expect.length.map(|bytes| counted(bytes, "byte"));
    let content = expect.content.as_ref().map(|content| {
        let compared = match spec.content_sample {
            1 => "all answers".to_owned(),
            every => format!("one answer in {}", count(u64::from(every))),
        };
        format!("{} in {compared}", in_short(content))
    });
    let status = in_words::valid_status(exchange);
    let timeout = format!("within {}", time(spec.timeouts.request));
    let parts = [Some(status), length, content, Some(timeout)];
    joined(parts.into_iter().flatten())
}

/// The longest content that is shown as a whole, in characters.
const MAX_CONTENT: usize = 60;

/// Expected content. If it is long, a fingerprint replaces its end.
fn in_short(content: &Content) -> String {
    let text = serde_json::to_string(content).unwrap_or_default();
    let Some((end, _)) = text.char_indices().nth(MAX_CONTENT) else {
        return text;
    };
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{}… (fingerprint {:016x})", &text[..end], hasher.finish())
}

fn subject(spec: Option<&LoadSpec>) -> CellId {
    let request = spec.and_then(|spec| Some(&spec.exchanges.first()?.request));
    let point = spec.map(|spec| match &spec.schedule {
        Schedule::Closed { connections, .. } => {
            format!("c{connections}{}", in_words::streams(spec))
        }
        Schedule::Open { connections, .. } => {
            format!("open loop c{connections}{}", in_words::streams(spec))
        }
    });
    CellId {
        target: None,
        workload: request.map_or(String::new(), |one| format!("{} {}", one.method, one.path)),
        point: point.unwrap_or_default(),
    }
}

fn side((name, runs): Runs<'_>) -> SideFacts {
    let mut facts = vec![Fact::new("runs", runs.len().to_string())];
    if let (Some(first), Some(last)) = (runs.first(), runs.last()) {
        facts.push(Fact::new("URL", &first.url));
        facts.push(Fact::new("started", &first.started));
        if runs.len() > 1 {
            facts.push(Fact::new("last run", &last.started));
        }
    }
    SideFacts {
        name: name.to_owned(),
        facts,
        failed: None,
    }
}

/// Why nothing can be compared, and whether B failed.
fn hindrance(runs: [&[LoadRecord]; 2], sides: &[Vec<LoadAnalysis>; 2]) -> Option<(String, bool)> {
    let [a, b] = [0, 1].map(|side| hindrance_of_side(runs[side], &sides[side]));
    let b_failed = b.as_ref().is_some_and(|(_, failed)| *failed);
    let named = [("A", a), ("B", b)].into_iter();
    let reasons = named.filter_map(|(name, found)| Some(format!("a run of {name} {}", found?.0)));
    let reasons: Vec<String> = reasons.collect();
    (!reasons.is_empty()).then(|| (reasons.join("; "), b_failed))
}

/// Why the runs of a side cannot be compared, and whether the side failed. The reason follows "a run of A".
fn hindrance_of_side(runs: &[LoadRecord], analyses: &[LoadAnalysis]) -> Option<(String, bool)> {
    let has = |validity| {
        let mut all = analyses.iter();
        all.any(|one| one.verdict.validity == validity)
    };
    // A generator at its limit may be why requests fail.
    let own = |one: &&LoadAnalysis| one.verdict.validity != Validity::GeneratorLimited;
    let failed = analyses.iter().filter(own);
    let failed = failed.filter_map(|one| one.figures.failed_share);
    let worst = failed.fold(0.0, f64::max);
    let (reason, failed) = match () {
        () if has(Validity::Failed) => ("had no valid answer".to_owned(), true),
        () if worst > TRANSPORT_FAILURES => {
            (format!("failed {} of its requests", share(worst)), true)
        }
        () if has(Validity::GeneratorLimited) => {
            ("was limited by the load generator".to_owned(), false)
        }
        () if runs.iter().any(|run| run.interrupted) => ("was interrupted".to_owned(), false),
        () => return None,
    };
    Some((reason, failed))
}

/// Runs whose own verdict is that there is a doubt.
fn doubts(name: &str, analyses: &[LoadAnalysis]) -> Option<Warning> {
    let doubtful = analyses.iter();
    let count = doubtful
        .filter(|one| {
            matches!(
                one.verdict.validity,
                Validity::Doubtful | Validity::MostlyFailed
            )
        })
        .count();
    (count > 0).then(|| {
        let all = analyses.len();
        let sentence = format!("{name}: {count} of {all} runs are doubtful by their own verdict.");
        doubt("doubtful-runs", sentence)
            .with("runs", count)
            .advice("Their reports say why.")
    })
}

fn cell(
    subject: CellId,
    runs: [&[LoadRecord]; 2],
    sides: &[Vec<LoadAnalysis>; 2],
    bounds: &Bounds,
) -> Compared {
    use Metric::{ResponseTimeP50, ResponseTimeP99, Throughput};
    let is_open = runs
        .iter()
        .any(|runs| runs.iter().any(|run| run.spec.schedule.is_open()));
    // As in heats: response times and keeping up in an open loop, else throughput.
    let deciding: &[Metric] = if is_open {
        &[ResponseTimeP50, ResponseTimeP99, Throughput]
    } else {
        &[Throughput]
    };
    let ratio = |metric: &Metric| {
        let logs = |side: &Vec<LoadAnalysis>| -> Vec<f64> {
            let figures = side.iter().filter_map(|one| figure(*metric, one));
            figures.map(f64::ln).collect()
        };
        let sample = Sample::new(*metric, logs(&sides[0]), logs(&sides[1]));
        let mut ratio = sample?.ratio(bounds);
        if is_open && *metric == Throughput {
            ratio.rule = bounds.in_heats(*metric, true);
        }
        Some(ratio)
    };
    let mut ratios: Vec<Ratio> = deciding.iter().filter_map(ratio).collect();
    let reason = no_verdict(runs);
    if reason.is_none() {
        correct(&mut ratios.iter_mut().collect::<Vec<_>>(), bounds);
    } else {
        for ratio in &mut ratios {
            (ratio.error, ratio.freedom, ratio.p) = (None, None, None);
        }
    }
    Compared {
        subject,
        deciding: ratios.len(),
        tested: ratios.len(),
        ratios,
        notes: reason.into_iter().collect(),
        ..Compared::default()
    }
    .judged()
}

fn figure(metric: Metric, analysis: &LoadAnalysis) -> Option<f64> {
    use Metric::{ResponseTimeP50, ResponseTimeP99, Throughput};
    let figures = &analysis.figures;
    let time = |percent| figures.latency(LatencyKind::ResponseTime)?.shown(percent);
    let figure = match metric {
        Throughput => Some(figures.throughput_per_second),
        ResponseTimeP50 => time(50.0),
        ResponseTimeP99 => time(99.0),
        Metric::CpuPerRequest | Metric::MemoryPeak => None,
    };
    figure.filter(|figure| *figure > 0.0)
}

/// Why these runs carry no verdict, if so.
fn no_verdict(runs: [&[LoadRecord]; 2]) -> Option<Warning> {
    let [a, b] = runs.map(<[LoadRecord]>::len);
    if a.min(b) < MIN_RUNS {
        let sentence = format!(
            "No verdict: a run is not a repetition of itself, and there are {a} of A and {b} of B."
        );
        return Some(note("few-runs", sentence).advice(format!(
            "Make {MIN_RUNS} or more of each, in turn (A B A B A B), and compare two folders of records."
        )));
    }
    let sentence = "No verdict: the runs of A and B were not made in turn (A B A B A B), so the ratio includes any change \
                    of the machine in between.";
    (changes(runs) < MIN_CHANGES).then(|| note("not-in-turn", sentence))
}

/// How often two runs in a row, in the order of their times, are of two sides.
fn changes(runs: [&[LoadRecord]; 2]) -> usize {
    let of = |side: usize| {
        runs[side]
            .iter()
            .map(move |run| (run.started.as_str(), side))
    };
    let mut all: Vec<(&str, usize)> = of(0).chain(of(1)).collect();
    // RFC 3339 in UTC has the order of its text.
    all.sort_unstable();
    all.windows(2).filter(|two| two[0].1 != two[1].1).count()
}
