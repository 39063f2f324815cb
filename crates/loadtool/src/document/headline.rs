//! A load in sentences: the verdict, and what was asked for.

use deadheat_document::view::clean;
use deadheat_model::{
    Failure, LoadRecord, LoadSpec, Observation, StopRule, Warning,
    figure::{capital, count, counted, per_second, seconds, share, time},
    load::{Endpoint, Stream, words},
    observation::FailureGroup,
};

use crate::analysis::{LoadAnalysis, Validity};

/// "66.7 % of 6,300 requests failed (mostly: …). ", or nothing if none failed.
fn failed(record: &LoadRecord, analysis: &LoadAnalysis) -> String {
    let measured = &record.observation.measured;
    let Some(part) = analysis.figures.failed_share.filter(|share| *share > 0.0) else {
        return String::new();
    };
    let why = most_frequent_failure(&record.observation);
    let why = why.map_or(String::new(), |why| format!(" (mostly: {why})"));
    format!(
        "{} of {} failed{why}. ",
        share(part),
        counted(measured.ended(), "request")
    )
}

/// The verdict in a line. It says first of all whether the load was interrupted, and how many requests failed.
pub(crate) fn headline(record: &LoadRecord, analysis: &LoadAnalysis) -> String {
    let verdict = &analysis.verdict;
    let measured = &record.observation.measured;
    let main = verdict.main_warning().map(Warning::in_full);
    let found = format!(
        "{} in {} ({})",
        counted(analysis.figures.answers, "valid answer"),
        seconds(analysis.figures.answer_seconds),
        per_second(analysis.figures.throughput_per_second),
    );
    let text = match verdict.validity {
        Validity::GeneratorLimited => {
            let failed = failed(record, analysis);
            let why = main.unwrap_or_default();
            format!("{failed}The generator was the limit. {why}")
        }
        Validity::Failed => {
            let requests = measured.ended();
            let all = match requests {
                0 => record
                    .observation
                    .unsent()
                    .unwrap_or_else(|| "no request ended in the measurement".to_owned()),
                1 => "the only request was not answered validly".to_owned(),
                _ => format!(
                    "none of {} was answered validly",
                    counted(requests, "request")
                ),
            };
            let why = most_frequent_failure(&record.observation);
            let why = why.map_or(String::new(), |why| match requests {
                1 => format!(": {why}"),
                _ => format!("; most often {why}"),
            });
            format!("nothing was measured: {all}{why}.")
        }
        Validity::Doubtful | Validity::MostlyFailed => {
            let failed = failed(record, analysis);
            match main {
                Some(why) => format!("{failed}{found}. Warning: {why}"),
                None => format!("{failed}{found}."),
            }
        }
        Validity::Sound => match failed(record, analysis).as_str() {
            "" => format!("{found}. No problems found."),
            failed => format!("{failed}{found}."),
        },
    };
    match interrupted(record) {
        Some(when) => format!("Interrupted {when}: {text}"),
        None => capital(&text),
    }
}

/// The kind of failure that came most often, and the largest group of it: in the measurement, or in the whole load if
/// nothing failed there.
pub fn most_frequent(observation: &Observation) -> Option<(Failure, Option<&FailureGroup>)> {
    let in_measurement = observation.measured.failed.total() > 0;
    let failed = if in_measurement {
        &observation.measured.failed
    } else {
        &observation.total.failed
    };
    let (kind, _) = failed.iter().max_by_key(|(_, count)| *count)?;
    let of_kind = observation.failures.iter().filter(|one| one.kind == kind);
    let many = |group: &&FailureGroup| {
        if in_measurement {
            group.measured
        } else {
            group.total
        }
    };
    Some((kind, of_kind.max_by_key(many)))
}

/// What failed most often, in words ("the connection was refused"), with the cause where the kind alone says too little to go
/// on with.
pub fn most_frequent_failure(observation: &Observation) -> Option<String> {
    let (kind, cause) = most_frequent(observation)?;
    let telling = matches!(
        kind,
        Failure::WrongStatus
            | Failure::Tls
            | Failure::ConnectOther
            | Failure::BadHead
            | Failure::BadFraming
            | Failure::TruncatedBody
            | Failure::Http2
            | Failure::Grpc
    );
    let ended = matches!(kind, Failure::Reset | Failure::ClosedEarly);
    let says_why = |group: &&FailureGroup| {
        ended
            && ["had been idle", "TLS alert"]
                .iter()
                .any(|why| group.cause.contains(why))
    };
    Some(match cause.filter(|group| telling || says_why(group)) {
        Some(group) => format!("{} ({})", kind.describe(), clean(&group.cause)),
        None => kind.describe().to_owned(),
    })
}

/// "Closed loop: 50 connections for 10 s after a warm-up of 1 s; …".
pub(super) fn plan(record: &LoadRecord) -> String {
    let spec = &record.spec;
    format!(
        "{}; {}{}; {} over {}.",
        capital(&words::schedule(spec)) + &thinking(spec) + &ending(record),
        requests(spec),
        browsing(spec),
        words::protocol(spec),
        transport(spec),
    )
}

/// " that think for 1 s to 2 s at random after each answer,".
fn thinking(spec: &LoadSpec) -> String {
    let long = spec.think.as_ref().map(words::think);
    long.map_or(String::new(), |long| {
        format!(" that think for {long} after each answer,")
    })
}

/// How far the measurement came, of a load that was interrupted: "after 2.60 s of 20 s".
pub(super) fn interrupted(record: &LoadRecord) -> Option<String> {
    let when = match done(record) {
        Some(done) if !record.observation.window.is_zero() => format!("after {done}"),
        _ => "in the warm-up".to_owned(),
    };
    record.interrupted.then_some(when)
}

/// How much was done, and of how much if that was interrupted: "20 s", "37 of 1,000 requests".
fn done(record: &LoadRecord) -> Option<String> {
    let found = &record.observation;
    let part = match record.spec.stop {
        StopRule::Duration { .. } => seconds(found.window.as_secs_f64()),
        StopRule::Count { .. } => count(found.measured.ended()),
        StopRule::Interrupt => return None,
    };
    let whole = words::stop(&record.spec.stop);
    Some(if record.interrupted {
        format!("{part} of {whole}")
    } else {
        whole
    })
}

fn ending(record: &LoadRecord) -> String {
    let spec = &record.spec;
    let end = match done(record) {
        Some(done) => format!(" for {done}"),
        None => " until stopped".to_owned(),
    };
    if spec.warm_up.is_zero() {
        end
    } else {
        format!("{end} after a warm-up of {}", time(spec.warm_up))
    }
}

/// "GET /plaintext, valid with status 2xx".
fn requests(spec: &LoadSpec) -> String {
    let Some(first) = spec.exchanges.first() else {
        return "no request".to_owned();
    };
    let more = match spec.exchanges.len() - 1 {
        0 => String::new(),
        more => format!(" and {}", counted(more, "other request")),
    };
    let length = first
        .expect
        .length
        .map_or(String::new(), |length| format!(", {} B", count(length)));
    let content = if first.expect.content.is_none() {
        ""
    } else {
        " and the right content"
    };
    let stream = spec.stream.as_ref().map_or(String::new(), events);
    format!(
        "{} {}{more}{stream}, valid with {}{length}{content}",
        first.request.method,
        first.request.path,
        words::valid_status(first),
    )
}

/// What an answer is taken apart into, for the sentence that says what was done.
fn events(stream: &Stream) -> String {
    let what = words::event(stream.event);
    match stream.enough {
        Some(enough) => format!(", each up to {}", counted(enough, what)),
        None => format!(", in {what}s"),
    }
}

/// What is done beyond requests.
fn browsing(spec: &LoadSpec) -> &'static str {
    match (spec.redirects, spec.cookies) {
        (0, false) => "",
        (0, true) => ", cookies kept",
        (_, false) => ", redirects followed",
        (_, true) => ", redirects followed, cookies kept",
    }
}

fn transport(spec: &LoadSpec) -> String {
    let target = &spec.target;
    let tls = target.tls.as_ref().map_or("", |_| "TLS, ");
    let socket = match target.endpoint {
        Endpoint::Tcp { .. } => "TCP to ",
        Endpoint::Unix { .. } => "",
    };
    let socket = match target.proxy {
        Some(_) => "TCP to the proxy ",
        None => socket,
    };
    let mut endpoints = spec.routes().map(|(_, endpoint)| endpoint.to_string());
    let endpoint = endpoints.next().unwrap_or_default();
    match endpoints.count() {
        0 => format!("{tls}{socket}{endpoint}"),
        more => format!(
            "{tls}{socket}{endpoint} and {}",
            counted(more, "other address")
        ),
    }
}
