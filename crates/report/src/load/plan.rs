//! What was asked for, in a sentence.

use deadheat_model::{
    LoadRecord, LoadSpec, Schedule, StopRule,
    load::{Arrivals, Endpoint, HttpVersion, Protocol, Reuse, Stage, Stream, StreamEvent, Think},
};

use crate::figure::{count, counted, figure, seconds};

/// "Closed loop: 50 connections for 10.0 s after a warm-up of 1.00 s; …".
pub(super) fn plan(record: &LoadRecord) -> String {
    let spec = &record.spec;
    format!(
        "{}; {}{}; {} over {}.",
        schedule(&spec.schedule) + &thinking(spec) + &ending(record),
        requests(spec),
        browsing(spec),
        protocol(spec),
        transport(spec),
    )
}

fn schedule(schedule: &Schedule) -> String {
    match schedule {
        Schedule::Closed { connections, .. } => {
            format!("Closed loop: {}", counted(*connections, "connection"))
        }
        Schedule::Open {
            arrivals,
            stages,
            connections,
            most_connections,
        } => {
            let stages: Vec<String> = stages.iter().map(stage).collect();
            let arrivals = match arrivals {
                Arrivals::Uniform => "uniform",
                Arrivals::Poisson => "Poisson",
            };
            let upper = connections.max(most_connections);
            let held = if upper == connections {
                count(u64::from(*upper))
            } else {
                format!(
                    "{} to {}",
                    count(u64::from(*connections)),
                    count(u64::from(*upper))
                )
            };
            format!(
                "Open loop: {} ({arrivals} arrivals), {held} connections",
                stages.join(", then ")
            )
        }
    }
}

/// " that think for 1.00 s to 2.00 s after each answer,".
fn thinking(spec: &LoadSpec) -> String {
    let time = |time: std::time::Duration| seconds(time.as_secs_f64());
    let long = match spec.think {
        None => return String::new(),
        Some(Think::Uniform { from, to }) if from == to => time(from),
        Some(Think::Uniform { from, to }) => format!("{} to {}", time(from), time(to)),
        Some(Think::Exponential { mean }) => format!("{} on average (exponential)", time(mean)),
    };
    format!(" that think for {long} after each answer,")
}

fn stage(stage: &Stage) -> String {
    let rate = if stage.from == stage.to {
        format!("{} requests/s", figure(stage.from))
    } else {
        format!("{} to {} requests/s", figure(stage.from), figure(stage.to))
    };
    if stage.length.is_zero() {
        rate
    } else {
        format!("{rate} for {}", seconds(stage.length.as_secs_f64()))
    }
}

/// How far the measurement came, of a load that was interrupted: "after 2.60 s of 20.0 s".
pub(super) fn interrupted(record: &LoadRecord) -> Option<String> {
    let when = match done(record) {
        Some(done) if !record.observation.window.is_zero() => format!("after {done}"),
        _ => "in the warm-up".to_owned(),
    };
    record.interrupted.then_some(when)
}

/// How much was done, and of how much if that was interrupted: "20.0 s", "37 of 1,000 requests".
fn done(record: &LoadRecord) -> Option<String> {
    let found = &record.observation;
    let (part, whole) = match record.spec.stop {
        StopRule::Duration { length } => (
            seconds(found.window.as_secs_f64()),
            seconds(length.as_secs_f64()),
        ),
        StopRule::Count { requests } => {
            (count(found.measured.ended()), counted(requests, "request"))
        }
        StopRule::Interrupt => return None,
    };
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
        format!(
            "{end} after a warm-up of {}",
            seconds(spec.warm_up.as_secs_f64())
        )
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
        "{} {}{more}{stream}, valid with status {}{length}{content}",
        first.request.method, first.request.path, first.expect.status,
    )
}

/// What an answer is taken apart into, for the sentence that says what was done.
fn events(stream: &Stream) -> String {
    let what = match stream.event {
        StreamEvent::Sse => "server-sent event",
        StreamEvent::Lines => "line",
        StreamEvent::Chunks => "chunk",
    };
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

fn protocol(spec: &LoadSpec) -> String {
    let Protocol::Http1 {
        version,
        reuse,
        pipeline,
    } = spec.protocol;
    let version = match version {
        HttpVersion::Http10 => "HTTP/1.0",
        HttpVersion::Http11 => "HTTP/1.1",
    };
    let reuse = match reuse {
        Reuse::KeepAlive => "keep-alive",
        Reuse::PerRequest => "a connection per request",
    };
    let depth = match pipeline {
        0 | 1 => String::new(),
        depth => format!(
            " and {} requests in flight on each",
            count(u64::from(depth))
        ),
    };
    let most = spec.most_per_connection.map_or(String::new(), |most| {
        format!(" for {} each", counted(most.get(), "request"))
    });
    format!("{version} with {reuse}{most}{depth}")
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
