//! What was asked for, in a sentence.

use deadheat_model::{
    LoadRecord, LoadSpec, StopRule,
    figure::{capital, count, counted, seconds, time},
    load::{Endpoint, Stream, words},
};

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
