//! From what was typed to the load generator's input, and what makes an answer valid.

use std::{num::NonZeroU32, time::Duration};

use deadheat_model::{
    LoadSpec, Schedule, StopRule,
    load::{Arrivals, Content, Exchange, Expectation, Stage, StatusSet, Target, Timeouts},
};
use deadheat_runner::files;
use deadheat_shell::{exit::CommandFailure, file_errors::unreadable, rate, values};

use super::{request, template};
use crate::options::{AnswerArgs, LoadArgs};

/// The default number of connections.
pub(crate) const CONNECTIONS: u32 = 50;
/// The default length of the measurement.
const DURATION: Duration = Duration::from_secs(10);
/// The default warm-up of a load that ends by time.
const WARM_UP: Duration = Duration::from_secs(1);
/// The default width of intervals.
const INTERVAL: Duration = Duration::from_secs(1);
/// With more requests in `--urls` than this, they have no figures each: a latency distribution takes about 16 KiB.
pub(crate) const MAX_WITH_FIGURES: usize = 1_000;
/// The longest bins of the time series.
const WIDEST_BIN: Duration = Duration::from_millis(500);

/// The load generator's input.
pub(crate) fn spec(
    args: &LoadArgs,
    targets: Vec<Target>,
    exchanges: Vec<Exchange>,
    random_seed: u64,
) -> Result<LoadSpec, CommandFailure> {
    let lists = if args.request.template {
        template::lists(&exchanges).map_err(CommandFailure::usage)?
    } else {
        Default::default()
    };
    let schedule = schedule(args);
    let cpus = args.safety.cpus.as_deref();
    let cpus = cpus.map_or(Ok(Vec::new()), |list| values::cpus("--cpus", list))?;
    if cpus.len() > schedule.most_connections() as usize {
        return Err(CommandFailure::usage(format!(
            "--cpus: {} workers cannot share {} connections; use fewer CPUs, or more --connections",
            cpus.len(),
            schedule.most_connections()
        )));
    }
    // The connections of one host.
    let own = schedule.most_connections() / (args.hosts.on.len().max(1) as u32);
    if let Some(threads) = args.safety.threads
        && threads > own
    {
        let place = if args.hosts.on.len() > 1 {
            " of a host"
        } else {
            ""
        };
        return Err(CommandFailure::usage(format!(
            "--threads: {threads} workers cannot share the {own} connections{place}; use fewer threads, or more \
             --connections"
        )));
    }
    let interval = args.output.interval.unwrap_or(INTERVAL);
    let content_sample = args.answer.check_every.unwrap_or(1);
    let mut targets = targets.into_iter();
    let target = targets.next();
    let target = target.ok_or_else(|| CommandFailure::usage("there is no URL"))?;
    let mut spec = LoadSpec::new(target, exchanges, schedule, stop(args));
    spec.others = targets.collect();
    spec.protocol = request::protocol(&args.request);
    let most = args.connection.most_requests_per_connection;
    spec.most_per_connection = most.and_then(NonZeroU32::new);
    spec.lists = lists;
    spec.cookies = args.request.cookies;
    spec.redirects = args.request.follow_redirects.unwrap_or(0);
    spec.warm_up = args.end.warm_up.unwrap_or(match args.end.requests {
        Some(_) => Duration::ZERO,
        // At the end of the warm-up, every thinking user has started.
        None => WARM_UP.max(mean_think(args)),
    });
    spec.think = args.pace.think;
    let usual = Timeouts::default();
    spec.timeouts = Timeouts {
        connect: args.connection.connect_timeout.unwrap_or(usual.connect),
        request: args.connection.timeout.unwrap_or(usual.request),
        drain: args.end.grace.unwrap_or(usual.drain),
    };
    spec.content_sample = content_sample;
    spec.seed = args.safety.seed.unwrap_or(random_seed);
    spec.cpus = cpus;
    spec.threads = args.safety.threads.unwrap_or(1);
    spec.bin = interval.min(WIDEST_BIN);
    spec.interval = Some(interval);
    spec.first_byte = args.output.first_byte;
    spec.stream = args.stream.wanted();
    for (key, value) in &args.output.label {
        if let Some(other) = spec.labels.insert(key.clone(), value.clone()) {
            return Err(CommandFailure::usage(format!(
                "--label {key}={other} and {key}={value}: a key has one value, so use only one of them"
            )));
        }
    }
    if args.request.urls.is_some() && spec.exchanges.len() <= MAX_WITH_FIGURES {
        for (index, exchange) in (0..).zip(&mut spec.exchanges) {
            exchange.group = Some(index);
        }
    }
    Ok(spec)
}

fn schedule(args: &LoadArgs) -> Schedule {
    let pace = &args.pace;
    let connections = pace.steady.connections.unwrap_or(CONNECTIONS);
    let stages = match pace.rate {
        Some(rate) => vec![Stage::constant(rate)],
        None => pace.stage.clone(),
    };
    if stages.is_empty() {
        return Schedule::Closed {
            connections,
            // Thinking users do not all start at once.
            ramp: pace.ramp.unwrap_or(mean_think(args)),
        };
    }
    Schedule::Open {
        arrivals: pace.steady.arrivals.unwrap_or(Arrivals::Uniform),
        stages,
        connections,
        most_connections: pace.steady.max_connections.unwrap_or(connections),
    }
}

fn mean_think(args: &LoadArgs) -> Duration {
    args.pace.think.map_or(Duration::ZERO, |think| think.mean())
}

fn stop(args: &LoadArgs) -> StopRule {
    let end = &args.end;
    match (end.requests, end.until_interrupted) {
        (Some(requests), _) => StopRule::Count { requests },
        (None, true) => StopRule::Interrupt,
        (None, false) => {
            let stages = Some(rate::total(&args.pace.stage)).filter(|total| !total.is_zero());
            let length = end.duration.or(stages).unwrap_or(DURATION);
            StopRule::Duration { length }
        }
    }
}

/// What is expected of every answer.
pub(crate) fn expectation(args: &AnswerArgs) -> Result<Expectation, CommandFailure> {
    let content = content(args)?;
    if let (Some(content), Some(length)) = (&content, args.expect_length)
        && let Some(own) = content.length()
        && own != length
    {
        return Err(CommandFailure::usage(format!(
            "--expect-length {length}: the expected body has {own} bytes; omit the length"
        )));
    }
    Ok(Expectation {
        status: args
            .expect_status
            .clone()
            .unwrap_or_else(StatusSet::success),
        // A body that is known has a known length, which every answer is held to, also where contents are sampled.
        length: args
            .expect_length
            .or_else(|| content.as_ref().and_then(Content::length)),
        content,
    })
}

fn content(args: &AnswerArgs) -> Result<Option<Content>, CommandFailure> {
    if let Some(text) = &args.expect_body {
        let bytes = text.clone().into_bytes();
        return Ok(Some(Content::Exact { bytes }));
    }
    if let Some(path) = &args.expect_body_file {
        let bytes = files::read_typed(path, files::LONGEST_BODY)
            .map_err(|error| unreadable("--expect-body-file", path, &error))?;
        return Ok(Some(Content::Exact { bytes }));
    }
    if let Some(text) = &args.expect_contains {
        if text.is_empty() {
            return Err(CommandFailure::usage(
                "--expect-contains: every body contains the empty text; write a longer one",
            ));
        }
        let bytes = text.clone().into_bytes();
        return Ok(Some(Content::Contains { bytes }));
    }
    args.expect_json.as_deref().map(json_at).transpose()
}

/// "/users/0/name="Ann"": a JSON pointer (RFC 6901) and a value.
fn json_at(text: &str) -> Result<Content, CommandFailure> {
    let write = "write a pointer and a value, like '/users/0/name=\"Ann\"' or '/count=3'";
    let (pointer, value) = text.split_once('=').ok_or_else(|| {
        CommandFailure::usage(format!("--expect-json {text:?}: the = is missing; {write}"))
    })?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err(CommandFailure::usage(format!(
            "--expect-json: the pointer {pointer:?} does not begin with /; {write}"
        )));
    }
    let parsed = serde_json::from_str(value).map_err(|error| {
        CommandFailure::usage(format!(
            "--expect-json: {value:?} is not JSON ({error}); put quotes around text, like '/name=\"Ann\"'"
        ))
    })?;
    if is_beyond_64_bits(value, &parsed) {
        return Err(CommandFailure::usage(format!(
            "--expect-json: {value} is beyond 64 bits, so it cannot be compared exactly; use --expect-contains"
        )));
    }
    Ok(Content::JsonAt {
        pointer: pointer.to_owned(),
        value: parsed,
    })
}

/// Whether an integer was read as the nearest floating-point number.
fn is_beyond_64_bits(text: &str, value: &serde_json::Value) -> bool {
    let digits = text.trim().trim_start_matches('-');
    value.is_f64() && digits.len() > 1 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use deadheat_model::load::{Expectation, HttpVersion, Protocol, RequestSpec, Reuse, StatusSet};
    use serde_json::json;

    use super::*;

    #[derive(Debug, Parser)]
    struct Typed {
        #[command(flatten)]
        load: LoadArgs,
    }

    fn spec_of(line: &str) -> Result<LoadSpec, String> {
        let typed = Typed::try_parse_from(["load"].into_iter().chain(line.split_whitespace()));
        let typed = typed.map_err(|error| error.to_string())?;
        let expect = Expectation {
            status: StatusSet::success(),
            length: None,
            content: None,
        };
        let exchanges = vec![Exchange::new(RequestSpec::get("/"), expect)];
        let targets = vec![Target::plain("127.0.0.1:80".parse().unwrap())];
        spec(&typed.load, targets, exchanges, 7).map_err(|error| error.to_string())
    }

    fn length_of(line: &str) -> (StopRule, Duration) {
        let spec = spec_of(line).unwrap();
        (spec.stop, spec.warm_up)
    }

    #[test]
    fn what_is_not_given_has_the_documented_default() {
        let spec = spec_of("").unwrap();
        let closed = Schedule::Closed {
            connections: 50,
            ramp: Duration::ZERO,
        };
        assert_eq!(spec.schedule, closed);
        assert_eq!(
            spec.stop,
            StopRule::Duration {
                length: Duration::from_secs(10)
            }
        );
        assert_eq!(spec.warm_up, Duration::from_secs(1));
        assert_eq!(spec.protocol, Protocol::HTTP_1_1);
        assert_eq!(spec.timeouts, Timeouts::default());
        assert_eq!((spec.content_sample, spec.seed), (1, 7));
        assert_eq!(spec.interval, Some(Duration::from_secs(1)));
        assert_eq!(spec.cpus, [0_usize; 0]);
    }

    #[test]
    fn each_worker_thread_has_a_connection() {
        assert_eq!(spec_of("--threads 4 -c 4").unwrap().threads, 4);
        let refused = spec_of("--threads 5 -c 4").unwrap_err();
        assert!(refused.contains("--threads"), "{refused}");
    }

    #[test]
    fn users_who_think_begin_one_after_the_other_and_before_the_measurement() {
        let ramp_of = |line: &str| {
            let spec = spec_of(line).unwrap();
            let Schedule::Closed { ramp, .. } = spec.schedule else {
                panic!("{line}: {:?}", spec.schedule);
            };
            (ramp.as_millis(), spec.warm_up.as_millis())
        };
        assert_eq!(ramp_of("--think 2s"), (2000, 2000));
        assert_eq!(ramp_of("--think 1s..4s --warm-up 1s"), (2500, 1000));
        assert_eq!(ramp_of("--think exp:10ms"), (10, 1000));
        assert_eq!(ramp_of("--think 2s --ramp 0s -n 5"), (0, 0));
    }

    #[test]
    fn the_end_follows_from_what_is_given() {
        let seconds = Duration::from_secs;
        let timed = |length| StopRule::Duration {
            length: seconds(length),
        };
        assert_eq!(length_of("-d 3s"), (timed(3), seconds(1)));
        assert_eq!(length_of("-d 3s --warm-up 0s"), (timed(3), Duration::ZERO));
        assert_eq!(
            length_of("-n 7"),
            (StopRule::Count { requests: 7 }, Duration::ZERO)
        );
        assert_eq!(length_of("-n 7 --warm-up 2s").1, seconds(2));
        assert_eq!(
            length_of("--until-interrupted"),
            (StopRule::Interrupt, seconds(1))
        );
        assert_eq!(
            length_of("--stage 2s@5 --stage 3s@5..9"),
            (timed(5), seconds(1))
        );
        assert_eq!(length_of("--stage 2s@5 -d 9s").0, timed(9));
        assert_eq!(length_of("--rate 5").0, timed(10));
    }

    #[test]
    fn a_rate_makes_an_open_loop() {
        let open = |arrivals, most_connections| Schedule::Open {
            arrivals,
            stages: vec![Stage::constant(5.0)],
            connections: 10,
            most_connections,
        };
        let spec = spec_of("--rate 300/m -c 10").unwrap();
        assert_eq!(spec.schedule, open(Arrivals::Uniform, 10));
        let spec =
            spec_of("--rate 5 -c 10 --arrivals poisson --max-connections 99 --seed 3").unwrap();
        assert_eq!(spec.schedule, open(Arrivals::Poisson, 99));
        assert_eq!(spec.seed, 3);
    }

    #[test]
    fn the_protocol_is_what_was_asked_for() {
        let protocol = |line| spec_of(line).unwrap().protocol;
        let http1 = |version, reuse, pipeline| Protocol::Http1 {
            version,
            reuse,
            pipeline,
        };
        let (keep, once) = (Reuse::KeepAlive, Reuse::PerRequest);
        assert_eq!(protocol("--http1.0"), http1(HttpVersion::Http10, keep, 1));
        assert_eq!(
            protocol("--no-keepalive"),
            http1(HttpVersion::Http11, once, 1)
        );
        assert_eq!(
            protocol("--pipeline 16"),
            http1(HttpVersion::Http11, keep, 16)
        );
        let http2 = |streams| Protocol::Http2 { streams };
        assert_eq!(protocol("--http2-prior-knowledge"), http2(1));
        assert_eq!(protocol("--http2-prior-knowledge -m 16"), http2(16));
    }

    #[test]
    fn bins_are_no_wider_than_intervals() {
        let spec = spec_of("--interval 100ms").unwrap();
        assert_eq!(
            (spec.bin, spec.interval),
            (Duration::from_millis(100), Some(Duration::from_millis(100)))
        );
        assert_eq!(spec_of("--interval 5s").unwrap().bin, WIDEST_BIN);
    }

    #[test]
    fn each_worker_has_a_connection() {
        let error = spec_of("-c 1 --cpus 0-1").unwrap_err();
        assert!(
            error.contains("2 workers cannot share 1 connections"),
            "{error}"
        );
    }

    #[derive(Debug, Parser)]
    struct TypedAnswer {
        #[command(flatten)]
        answer: AnswerArgs,
    }

    fn expected(args: &[&str]) -> Result<Expectation, String> {
        let typed = TypedAnswer::try_parse_from([&["load"], args].concat());
        let typed = typed.map_err(|error| error.to_string())?;
        expectation(&typed.answer).map_err(|error| error.to_string())
    }

    #[test]
    fn any_2xx_is_right_unless_told_otherwise() {
        let plain = expected(&[]).unwrap();
        assert_eq!(plain.status.to_string(), "2xx");
        assert_eq!((plain.length, plain.content), (None, None));
        let other = expected(&["--expect-status", "200,304", "--expect-length", "7"]).unwrap();
        assert_eq!(other.status.to_string(), "200,304");
        assert_eq!(other.length, Some(7));
        assert!(
            expected(&["--expect-status", "ok"])
                .unwrap_err()
                .contains("not a status")
        );
    }

    #[test]
    fn a_known_body_has_a_known_length() {
        let body = expected(&["--expect-body", "hé"]).unwrap();
        assert_eq!(body.length, Some(3));
        assert!(body.content.unwrap().matches("hé".as_bytes()));
        let error = expected(&["--expect-body", "abc", "--expect-length", "4"]).unwrap_err();
        assert!(error.contains("has 3 bytes"), "{error}");
        let contains = expected(&["--expect-contains", "b", "--expect-length", "4"]).unwrap();
        assert_eq!(contains.length, Some(4));
        assert!(contains.content.unwrap().matches(b"abc"));
        assert!(expected(&["--expect-contains", ""]).is_err());
        assert!(
            expected(&["--expect-body-file", "/no/such"])
                .unwrap_err()
                .contains("/no/such")
        );
    }

    #[test]
    fn json_is_a_pointer_and_a_value() {
        let cases = [
            (r#"/a/0="x=y""#, "/a/0", json!("x=y")),
            ("/a=3", "/a", json!(3)),
            (r#"={"a":[]}"#, "", json!({"a": []})),
            ("/a=null", "/a", json!(null)),
        ];
        for (text, pointer, value) in cases {
            let pointer = pointer.to_owned();
            let expected = Content::JsonAt { pointer, value };
            assert_eq!(json_at(text).unwrap(), expected, "{text}");
        }
        for (text, expected) in [
            ("/a", "the = is missing"),
            ("a=3", "begin with /"),
            ("/a=Ann", "put quotes"),
            ("/a=", "not JSON"),
            ("/a=18446744073709551616", "beyond 64 bits"),
            ("/a=-9223372036854775809", "beyond 64 bits"),
        ] {
            let error = json_at(text).unwrap_err();
            assert!(error.to_string().contains(expected), "{text}: {error}");
        }
    }
}
