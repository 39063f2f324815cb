//! Each sign in words: what was found, what it means, and what helps.

use deadheat_model::LoadRecord;
use deadheat_stats::load::{Judged, LoadAnalysis, LoadVerdict, Severity, Sign, Standing};

use crate::{
    figure::{capital, count, counted, figure, latency as seconds, percent, share, size},
    view::clean,
};

/// A sign in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignView {
    /// How much it weighs.
    pub severity: Severity,
    /// What was found, and what it means.
    pub sentence: String,
    /// Whether the headline says it already.
    pub in_headline: bool,
    /// Whether it holds for most loads and changes no decision, so that only a long report has it.
    pub is_routine: bool,
}

/// Each sign in words, the gravest first and notes last.
pub fn signs(record: &LoadRecord, analysis: &LoadAnalysis) -> Vec<SignView> {
    let quoted = quoted(&analysis.verdict);
    let view = |judged: &Judged| SignView {
        severity: judged.severity,
        sentence: capital(&sentence(&judged.sign)),
        in_headline: matches!(judged.sign, Sign::Interrupted | Sign::Failures { .. })
            || quoted == Some(&judged.sign),
        is_routine: is_routine(record, &judged.sign),
    };
    analysis.verdict.signs.iter().map(view).collect()
}

/// The sign that the headline names besides failed requests and an interruption, which it always names.
pub(super) fn quoted(verdict: &LoadVerdict) -> Option<&Sign> {
    match verdict.standing {
        Standing::GeneratorLimited => verdict.of(Severity::Limit).next(),
        Standing::Doubtful | Standing::MostlyFailed => {
            let mut doubts = verdict.of(Severity::Doubt);
            // That connections could not be made is why requests failed.
            doubts.find(|sign| {
                !matches!(
                    sign,
                    Sign::Interrupted | Sign::Failures { .. } | Sign::NotConnected { .. }
                )
            })
        }
        Standing::Sound | Standing::Failed => None,
    }
}

/// A sign as a sentence that begins with a lower-case letter, unless it is a name, and ends with a full stop.
pub(super) fn sentence(sign: &Sign) -> String {
    match sign {
        Sign::OnHost { host, found } => format!("on {}, {}", clean(host), sentence(found)),
        Sign::Busy {
            worker,
            cpu,
            busy,
            bound,
        } => {
            let place = cpu.map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
            format!(
                "worker {worker}{place} was busy for {} of the time (limit: {}).",
                percent(*busy),
                percent(*bound)
            )
        }
        Sign::CpuWait { cpu, waited, .. } => {
            let place = cpu.map_or("one".to_owned(), |cpu| format!("CPU {cpu}"));
            format!(
                "the load generator was short of CPU: it waited for {place} during {} of the time. Pin it to a free \
                 CPU with --cpus N.",
                percent(*waited)
            )
        }
        Sign::NoLocalPort { requests } => format!(
            "no local port was left to connect from for {}; let connections carry more requests, or add source addresses.",
            counted(*requests, "request")
        ),
        Sign::Late {
            offered,
            unsent,
            sent_share,
            percent,
            send_lag_seconds,
            ..
        } => format!(
            "of {} requests that were due, the generator sent {} ({} unsent), because it noticed late that they were due (send lag p{percent} {}).",
            count(*offered),
            share(*sent_share),
            count(*unsent),
            seconds(*send_lag_seconds)
        ),
        Sign::Behind { .. } => behind(sign),
        Sign::Backlog {
            offered,
            waiting,
            most_connections,
            ..
        } => format!(
            "{} of the warm-up still waited for a free connection when the measurement began, in addition to the {} that were due in it: response times include that wait. Until then the server was slower than the offered rate, or {} are too few; a longer warm-up (--warm-up) shows which.",
            counted(*waiting, "request"),
            count(*offered),
            counted(*most_connections, "connection")
        ),
        Sign::SendLag {
            percent,
            send_lag_seconds,
            response_share,
            ..
        } => {
            let part = response_share.map_or(String::new(), |part| {
                format!(", {} of the response time there", share(part.min(1.0)))
            });
            format!(
                "requests left late by the generator's own delay: send lag p{percent} {}{part}.",
                seconds(*send_lag_seconds)
            )
        }
        Sign::ConnectionWait {
            percent,
            wait_seconds,
            response_seconds,
            connections,
            most_connections,
        } => format!(
            "requests waited for a free connection: p{percent} {} of a response time of {}; {} of at most {} connections were open.",
            seconds(*wait_seconds),
            seconds(*response_seconds),
            count(*connections),
            count(u64::from(*most_connections))
        ),
        Sign::Unfinished { .. } => unfinished(sign),
        Sign::Little {
            wanted,
            in_flight,
            in_batches,
            ..
        } => format!(
            "{} could be in flight, and throughput × mean service time makes {} (Little's law): {}.",
            counted(*wanted as u64, "request"),
            figure(*in_flight),
            if *in_batches {
                "pipelined requests go out in batches, so connections are not always full"
            } else {
                "something else than the server was waited for"
            }
        ),
        Sign::Connections { peak: 0, .. } => "no connection was ever open.".to_owned(),
        Sign::Connections { wanted, peak } => format!(
            "of {}, no more than {} were open at once.",
            counted(*wanted, "connection"),
            count(*peak)
        ),
        Sign::NotConnected { requests } => format!(
            "{} failed because no connection could be made, or TLS could not be agreed on.",
            counted(*requests, "request")
        ),
        Sign::NoContinue {
            requests,
            ended,
            seconds: waited,
        } => {
            let who = if requests == ended {
                "each request".to_owned()
            } else {
                format!("{} of {} requests", count(*requests), count(*ended))
            };
            format!(
                "the server sent no 100 (Continue): {who} waited {} for it before its body, {} in total. This wait is \
                 in the service times; without the Expect header there is none.",
                seconds(waited / *requests as f64),
                seconds(*waited)
            )
        }
        Sign::ReconnectPauses {
            pauses,
            seconds: paused,
            share: part,
            ..
        } => format!(
            "connections that failed were made again after a pause: {}, {} in total ({} of the connections' time). No \
             requests were sent on them meanwhile.",
            counted(*pauses, "pause"),
            seconds(*paused),
            share(*part)
        ),
        Sign::Uneven(found) => format!("connections waited unevenly: {found}."),
        Sign::Queued {
            share: part,
            connections,
            most_bytes,
            ..
        } => format!(
            "answers waited for the generator: {} of {} connections looked at had unread bytes, up to {}.",
            share(*part),
            count(*connections),
            size(*most_bytes)
        ),
        Sign::Failures {
            requests,
            share: part,
            ..
        } => format!(
            "{} failed ({} of those that ended).",
            counted(*requests, "request"),
            share(*part)
        ),
        Sign::NotConserved => {
            "the counts contradict each other: this is a bug of Deadheat, please report it."
                .to_owned()
        }
        Sign::Unsteady {
            change,
            standard_error,
        } => format!(
            "throughput {} by {} over the measurement (± {} standard error): the figures are averages over this \
             change.",
            if *change < 0.0 { "fell" } else { "rose" },
            percent(change.abs()),
            percent(*standard_error)
        ),
        Sign::Silence {
            from_seconds,
            seconds: length,
        } => format!(
            "no valid answer came for at least {}, from {} after the load's start on.",
            seconds(*length),
            seconds(*from_seconds)
        ),
        Sign::Interrupted => {
            "the load was interrupted, so the figures cover only the time before that."
                .to_owned()
        }
        Sign::FewAnswers {
            answers,
            percent,
            needed,
        } => format!(
            "too few valid answers for p{percent} and above: {}, and p{percent} needs {}.",
            count(*answers),
            count(*needed)
        ),
        Sign::Redirects { answers, valid } => format!(
            "{} led elsewhere (3xx); redirects are counted, not followed, and here {} valid answers.",
            counted(*answers, "answer"),
            if *valid { "they are" } else { "they are no" }
        ),
        Sign::TooShort {
            seconds: took,
            needed_seconds,
        } => format!(
            "{} is too short to judge whether the generator kept up, because connecting and the last answers take much \
             of it: use -d {needed_seconds}s.",
            seconds(*took)
        ),
        Sign::NoWarmUp => {
            "there was no warm-up, so the figures include the set-up of connections and cold caches."
                .to_owned()
        }
        Sign::ClosedLoop => {
            "a closed loop sends fewer requests to a slow server, so slow phases count too little (coordinated \
             omission); an open loop (--rate) shows the waits of users."
                .to_owned()
        }
        Sign::SameMachine { cpus } => {
            let cpus = match cpus {
                0 => "CPUs".to_owned(),
                cpus => counted(*cpus, "CPU"),
            };
            format!("server and generator shared this machine's {cpus}.")
        }
        Sign::Paced { congestion_control } => format!(
            "TCP's congestion control here ({congestion_control}) slows down long answers: compare with cubic (sysctl -w \
             net.ipv4.tcp_congestion_control=cubic, then start the server again)."
        ),
    }
}

/// Answers of more bytes than these are paced: shorter ones go out in a burst.
const PACED_BYTES: u64 = 16 * 1024;

/// Whether the sign holds for most loads of its kind and changes no decision.
fn is_routine(record: &LoadRecord, sign: &Sign) -> bool {
    match sign {
        Sign::ClosedLoop | Sign::SameMachine { .. } => true,
        Sign::Paced { .. } => {
            let found = &record.observation;
            let answers = found.measured.succeeded.max(1);
            found.valid_body_bytes / answers < PACED_BYTES
        }
        _ => false,
    }
}

/// What a limit of the generator does to the figures: a sentence to go on with, or nothing.
pub(super) fn meaning(sign: &Sign) -> &'static str {
    match sign {
        Sign::OnHost { found, .. } => meaning(found),
        Sign::Busy { .. } | Sign::CpuWait { .. } => {
            " Throughput is a lower bound for the server, times are upper bounds."
        }
        Sign::Late { .. } => " The server was asked for less than was to be offered.",
        Sign::SendLag { .. } => " Response times say more of the generator than of the server.",
        _ => "",
    }
}

fn behind(sign: &Sign) -> String {
    let Sign::Behind {
        offered,
        unsent,
        given_up,
        sent_share,
        most_connections,
        oldest_unsent_seconds,
        ..
    } = sign
    else {
        return String::new();
    };
    let given_up = match given_up {
        0 => String::new(),
        given_up => format!(", {} given up", count(*given_up)),
    };
    let oldest = if *unsent > 0 {
        format!(", the oldest for {}", seconds(*oldest_unsent_seconds))
    } else {
        String::new()
    };
    let head = if *sent_share > 0.0 {
        format!(
            "{} of {} offered requests were sent: ",
            share(*sent_share),
            count(*offered)
        )
    } else {
        // Some of the backlog is older than the measurement, so that there is no share of it.
        "The server fell far behind: ".to_owned()
    };
    format!(
        "{head}{} still waited for a free connection{oldest}{given_up}; the server is slower than the offered rate, or {} are too few.",
        count(*unsent),
        counted(*most_connections, "connection")
    )
}

fn unfinished(sign: &Sign) -> String {
    let Sign::Unfinished {
        requests,
        share: part,
        oldest_seconds,
        percentiles,
    } = sign
    else {
        return String::new();
    };
    let oldest = oldest_seconds.map_or(String::new(), |oldest| {
        format!(", the oldest for {}", seconds(oldest))
    });
    let bound = if *percentiles {
        let known = (100.0 * (1.0 - part)).floor();
        format!("percentiles are lower bounds, and nothing is known beyond p{known}")
    } else {
        "the maximum is a lower bound".to_owned()
    };
    format!(
        "{} ({}) had no answer yet when the measurement ended{oldest}: {bound}.",
        counted(*requests, "request"),
        share(*part)
    )
}
