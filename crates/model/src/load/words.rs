//! The descriptions of a load that plans, reports and comparisons share.

use super::{
    Arrivals, Exchange, LoadSpec, Protocol, Reuse, Schedule, Stage, StopRule, StreamEvent, Think,
    Tls,
};
use crate::figure::{count, counted, rate, time};

/// Whether all targets use TLS.
fn is_over_tls(spec: &LoadSpec) -> bool {
    spec.targets().all(|target| target.tls.is_some())
}

/// The text after a number of connections that carry HTTP/2: " × 4 streams of HTTP/2 (h2c)".
pub fn streams(spec: &LoadSpec) -> String {
    let Protocol::Http2 { streams } = spec.protocol else {
        return String::new();
    };
    let prior_knowledge = if is_over_tls(spec) { "" } else { " (h2c)" };
    format!(
        " × {} of HTTP/2{prior_knowledge}",
        counted(streams, "stream")
    )
}

/// The loop and its connections: "closed loop: 50 connections", "closed loop: 10 connections × 32 streams (320 requests
/// in flight)".
pub fn schedule(spec: &LoadSpec) -> String {
    let schedule = &spec.schedule;
    let streams = match spec.protocol {
        Protocol::Http2 { streams } if streams != 1 => format!(" × {}", counted(streams, "stream")),
        Protocol::Http1 { .. } | Protocol::Http2 { .. } => String::new(),
    };
    match schedule {
        Schedule::Closed { connections, .. } => {
            let in_flight = if streams.is_empty() {
                String::new()
            } else {
                let in_flight = u64::from(*connections) * u64::from(spec.protocol.depth());
                format!(" ({} requests in flight)", count(in_flight))
            };
            let connections = counted(*connections, "connection");
            format!("closed loop: {connections}{streams}{in_flight}")
        }
        Schedule::Open {
            arrivals,
            stages,
            connections,
            ..
        } => {
            let stages: Vec<String> = stages.iter().map(stage).collect();
            let most = schedule.most_connections();
            let held = if most == *connections {
                counted(most, "connection")
            } else {
                format!(
                    "{} to {}",
                    count(u64::from(*connections)),
                    counted(most, "connection")
                )
            };
            format!(
                "open loop: {} {}, on {held}{streams}",
                stages.join(", then "),
                self::arrivals(*arrivals)
            )
        }
    }
}

/// How intended starts are distributed: "at random (Poisson)".
pub fn arrivals(arrivals: Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Uniform => "at even distances",
        Arrivals::Poisson => "at random (Poisson)",
    }
}

/// The rate of a stage: "5,000/s", "1,000/s to 5,000/s for 30 s".
fn stage(stage: &Stage) -> String {
    let rates = if stage.from == stage.to {
        rate(stage.from)
    } else {
        format!("{} to {}", rate(stage.from), rate(stage.to))
    };
    if stage.length.is_zero() {
        rates
    } else {
        format!("{rates} for {}", time(stage.length))
    }
}

/// The think time: "1 s", "500 ms to 2 s at random".
pub fn think(think: &Think) -> String {
    match think {
        Think::Uniform { from, to } if from == to => time(*from),
        Think::Uniform { from, to } => format!("{} to {} at random", time(*from), time(*to)),
        Think::Exponential { mean } => format!("{} on average (exponential)", time(*mean)),
    }
}

/// The length of the measurement: "10 s", "1,000 requests", "until Ctrl-C".
pub fn stop(stop: &StopRule) -> String {
    match stop {
        StopRule::Duration { length } => time(*length),
        StopRule::Count { requests } => counted(*requests, "request"),
        StopRule::Interrupt => "until Ctrl-C".to_owned(),
    }
}

/// The status of a valid answer: "status 2xx". A gRPC call has a second one.
pub fn valid_status(exchange: &Exchange) -> String {
    let of_call = if exchange.request.body.is_call() {
        " and grpc-status 0"
    } else {
        ""
    };
    format!("status {}{of_call}", exchange.expect.status)
}

/// The protocol: "HTTP/1.1 with keep-alive".
pub fn protocol(spec: &LoadSpec) -> String {
    let (version, reuse, pipeline) = match spec.protocol {
        Protocol::Http1 {
            version,
            reuse,
            pipeline,
        } => (version, reuse, pipeline),
        Protocol::Http2 { .. } if is_over_tls(spec) => return "HTTP/2".to_owned(),
        Protocol::Http2 { .. } => return "HTTP/2 with prior knowledge (h2c)".to_owned(),
    };
    let reuse = self::reuse(reuse);
    let most = spec.most_per_connection.map_or(String::new(), |most| {
        format!(" for {} each", counted(most.get(), "request"))
    });
    let depth = match pipeline {
        0 | 1 => String::new(),
        depth => format!(" and up to {} pipelined on each", counted(depth, "request")),
    };
    format!("HTTP/{version} with {reuse}{most}{depth}")
}

/// Whether connections carry more than one request: "keep-alive".
pub fn reuse(reuse: Reuse) -> &'static str {
    match reuse {
        Reuse::KeepAlive => "keep-alive",
        Reuse::PerRequest => "a new connection for each request",
    }
}

/// The name of an event: "server-sent event".
pub fn event(event: StreamEvent) -> &'static str {
    match event {
        StreamEvent::Sse => "server-sent event",
        StreamEvent::Lines => "line",
        StreamEvent::Chunks => "chunk",
    }
}

/// The limits on TLS versions and cipher suites: "only TLS 1.3, only TLS_AES_128_GCM_SHA256". Empty: no limits.
pub fn offer(tls: &Tls) -> String {
    let version = tls.version.map(|version| format!("only TLS {version}"));
    let suites = &tls.cipher_suites;
    let suites = (!suites.is_empty()).then(|| format!("only {}", suites.join(", ")));
    let both: Vec<String> = version.into_iter().chain(suites).collect();
    both.join(", ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::load::Target;

    #[test]
    fn a_schedule_says_its_loop_its_rates_and_its_connections() {
        let spec = |schedule, protocol| LoadSpec {
            protocol,
            ..LoadSpec::new(
                Target::plain(([127, 0, 0, 1], 80).into()),
                Vec::new(),
                schedule,
                StopRule::Interrupt,
            )
        };
        let said = |given| schedule(&spec(given, Protocol::HTTP_1_1));
        let closed = Schedule::Closed {
            connections: 1_000,
            ramp: Duration::ZERO,
        };
        assert_eq!(said(closed.clone()), "closed loop: 1,000 connections");
        let http2 = |streams| Protocol::Http2 { streams };
        assert_eq!(
            schedule(&spec(closed.clone(), http2(32))),
            "closed loop: 1,000 connections × 32 streams (32,000 requests in flight)"
        );
        assert_eq!(
            schedule(&spec(closed, http2(1))),
            "closed loop: 1,000 connections"
        );
        let said = |protocol| {
            streams(&spec(
                Schedule::Closed {
                    connections: 2,
                    ramp: Duration::ZERO,
                },
                protocol,
            ))
        };
        assert_eq!(said(Protocol::HTTP_1_1), "");
        assert_eq!(said(http2(4)), " × 4 streams of HTTP/2 (h2c)");
        let stage = |length, from, to| Stage {
            length: Duration::from_secs(length),
            from,
            to,
        };
        let open = |stages, most_connections| Schedule::Open {
            arrivals: Arrivals::Poisson,
            stages,
            connections: 20,
            most_connections,
        };
        let said = |given| schedule(&spec(given, Protocol::HTTP_1_1));
        assert_eq!(
            said(open(vec![Stage::constant(0.5)], 20)),
            "open loop: 0.5/s at random (Poisson), on 20 connections"
        );
        let stages = vec![stage(10, 1e3, 1e3), stage(90, 1e3, 5e3)];
        assert_eq!(
            said(open(stages, 100)),
            "open loop: 1,000/s for 10 s, then 1,000/s to 5,000/s for 90 s at random (Poisson), on 20 to 100 \
             connections"
        );
    }

    #[test]
    fn times_of_users_are_those_of_their_distribution() {
        let seconds = Duration::from_secs;
        let uniform = |from, to| Think::Uniform { from, to };
        let cases = [
            (uniform(seconds(1), seconds(1)), "1 s"),
            (
                uniform(Duration::from_millis(500), seconds(2)),
                "500 ms to 2 s at random",
            ),
            (
                Think::Exponential { mean: seconds(1) },
                "1 s on average (exponential)",
            ),
        ];
        for (think, expected) in cases {
            assert_eq!(super::think(&think), expected);
        }
    }
}
