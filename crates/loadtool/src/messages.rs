//! What is said after a load, beyond its report.

use std::sync::atomic::{AtomicBool, Ordering};

use deadheat_load::LoadError;
use deadheat_model::{
    Failure, LoadRecord, LoadSpec,
    figure::counted,
    load::{Protocol, REDIRECTS, Tls, Trust},
};
use deadheat_runner::agent::AgentError;
use deadheat_shell::exit::{CommandFailure, Exit};

use crate::document::{most_frequent, most_frequent_failure};

/// Why the load could not be started: what was asked for cannot be done, or the machine does not let it.
pub(crate) fn refused(typed: &str, error: &LoadError) -> CommandFailure {
    let message = format!("loading {typed}: {error}");
    match error {
        LoadError::TooFewDescriptors { .. }
        | LoadError::Descriptors { .. }
        | LoadError::Pin { .. }
        | LoadError::Spawn { .. }
        | LoadError::Poll { .. } => CommandFailure::no_result(message),
        _ => CommandFailure::usage(message),
    }
}

/// Why the load from other hosts is no measurement. `stop` is set after Ctrl-C.
pub(crate) fn lost(typed: &str, error: &AgentError, stop: &AtomicBool) -> CommandFailure {
    let message = format!("loading {typed}: {error}");
    if stop.load(Ordering::SeqCst) {
        CommandFailure::interrupted(message)
    } else {
        CommandFailure::no_result(message)
    }
}

/// The exit status of a load without a valid answer. Ctrl-C is the reason if no request had ended by then.
pub(crate) fn exit_without_result(record: &LoadRecord) -> Exit {
    if record.interrupted && record.observation.measured.ended() == 0 {
        Exit::Interrupted
    } else {
        Exit::NoResult
    }
}

/// Why nothing was measured, if so: not one valid answer.
pub fn nothing(record: &LoadRecord) -> Option<String> {
    let found = &record.observation;
    if found.measured.succeeded > 0 {
        return None;
    }
    let why = if found.window.is_zero() {
        if record.interrupted {
            "it was interrupted before the measurement began".to_owned()
        } else {
            "the load ended before the measurement began".to_owned()
        }
    } else {
        match most_frequent_failure(found).filter(|_| found.measured.ended() > 0) {
            Some(most) => format!(
                "not one valid answer in {}; mostly, {most}{}",
                counted(found.measured.ended(), "request"),
                what_to_do(record)
            ),
            None => format!(
                "{}; measure longer{}",
                found.none_ended().unwrap_or_default(),
                match found.measured.carried_succeeded {
                    0 => format!(
                        ", or see whether the server answers at all{}",
                        what_is_spoken(record)
                    ),
                    _ => String::new(),
                }
            ),
        }
    };
    Some(format!("nothing could be measured: {why}"))
}

/// Why a load ended at its first interval: no server listens.
pub(crate) fn dead(spec: &LoadSpec) -> CommandFailure {
    let mut addresses: Vec<String> = Vec::new();
    for address in spec.routes().map(|(_, endpoint)| endpoint.to_string()) {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    CommandFailure::no_result(format!(
        "nothing could be measured: {} refused every connection; is the server running, and on this port?",
        addresses.join(", ")
    ))
}

/// What to look at where a connection is made and the server says nothing on it.
fn what_is_spoken(record: &LoadRecord) -> &'static str {
    let unmade = record.observation.unmade;
    if unmade.settings > unmade.tls {
        "; does this port speak HTTP/2?"
    } else if unmade.tls > 0 {
        "; does this port speak TLS?"
    } else {
        ""
    }
}

fn what_to_do(record: &LoadRecord) -> &'static str {
    let Some((kind, group)) = most_frequent(&record.observation) else {
        return "";
    };
    let cause = group.map_or("", |group| group.cause.as_str());
    match kind {
        Failure::ConnectRefused => "; is the server running, and on this port?",
        Failure::Tls => for_tls(record, cause),
        Failure::Reset | Failure::ClosedEarly if cause.contains("had been idle") => {
            "; --no-keepalive makes a connection for each request, or let the server keep idle ones longer"
        }
        Failure::Reset | Failure::ClosedEarly if cause.contains("TLS alert") => {
            match record.spec.protocol {
                Protocol::Http1 { .. } => "",
                Protocol::Http2 { .. } => ", with --http2 in place of --http2-prior-knowledge",
            }
        }
        // A server that sends GOAWAY speaks HTTP/2 on this port, not TLS.
        Failure::Reset | Failure::ClosedEarly
            if is_silent_without_tls(record) && !cause.contains("GOAWAY") =>
        {
            "; if this port speaks TLS, write https://"
        }
        Failure::WrongStatus if is_400_without_tls(record) => {
            "; if this port speaks TLS, write https:// (servers answer plain HTTP there with 400)"
        }
        Failure::Timeout if is_endless(record) => {
            "; a stream without an end needs --stream-events N, after which an answer is valid"
        }
        Failure::Grpc if cause == "UNIMPLEMENTED" => "; is --grpc the path of one of its methods?",
        Failure::Grpc if cause == "no grpc-status" => "; does this port speak gRPC?",
        Failure::WrongStatus if is_grpc(record) => "; does this port speak gRPC?",
        Failure::WrongStatus => "; --expect-status sets the valid ones",
        Failure::BadRedirect => {
            "; load the address that they lead to, or raise N in --follow-redirects=N if there were too many"
        }
        _ => "",
    }
}

/// What helps when TLS could not be agreed on.
fn for_tls(record: &LoadRecord, cause: &str) -> &'static str {
    let tls = record.spec.targets().find_map(|target| target.tls.as_ref());
    let has = |one: fn(&Tls) -> bool| tls.is_some_and(one);
    if let Some(alert) = cause.strip_prefix("TLS alert ") {
        let name = alert.split(':').next().unwrap_or_default();
        return match name {
            "handshake_failure" | "protocol_version" | "insufficient_security"
                if has(|tls| tls.version.is_some() || !tls.cipher_suites.is_empty()) =>
            {
                "; does the server have what --tls-version and --tls-ciphers leave?"
            }
            "handshake_failure" if has(|tls| tls.identity.is_none()) => {
                "; it may want a client certificate (--cert, --key) or have a key that only --insecure accepts"
            }
            "unrecognized_name" => "; --server-name sends another name",
            "certificate_required" => "; --cert and --key send one",
            "bad_certificate" | "access_denied" if has(|tls| tls.identity.is_none()) => {
                "; --cert and --key send a client certificate"
            }
            "bad_certificate"
            | "unsupported_certificate"
            | "certificate_revoked"
            | "certificate_expired"
            | "certificate_unknown"
            | "unknown_ca"
            | "access_denied" => "; is --cert the certificate that the server expects?",
            "no_application_protocol" => "; HTTP/1.1 is spoken without --http2, HTTP/2 with it",
            _ => "; the server's log may say more",
        };
    }
    if cause.contains("server's certificate") {
        return match tls.map(|tls| &tls.trust) {
            Some(Trust::Anything) => "",
            _ if cause.contains("cannot be verified") => "; --insecure accepts it",
            _ if cause.contains("another name") => {
                "; --server-name NAME expects that name, --insecure accepts any certificate"
            }
            Some(Trust::Authorities { .. }) => "; --cacert accepts only what its file names",
            _ => "; --cacert accepts a given certificate or authority, --insecure any certificate",
        };
    }
    if cause.contains("use http://") {
        ""
    } else if has(|tls| tls.version.is_some() || !tls.cipher_suites.is_empty())
        && cause.contains("that Deadheat offers")
    {
        "; does the server have what --tls-version and --tls-ciphers leave?"
    } else if record
        .observation
        .tls
        .as_ref()
        .is_some_and(|seen| seen.full + seen.resumed > 0)
    {
        // Others were agreed on.
        ""
    } else {
        "; does this port speak TLS?"
    }
}

/// Whether calls of gRPC are sent.
fn is_grpc(record: &LoadRecord) -> bool {
    let mut exchanges = record.spec.exchanges.iter();
    exchanges.any(|exchange| exchange.request.body.is_call())
}

/// Whether nothing has TLS.
fn is_plain(record: &LoadRecord) -> bool {
    record.spec.targets().all(|target| target.tls.is_none())
}

/// Whether connections without TLS were ended and no answer came.
fn is_silent_without_tls(record: &LoadRecord) -> bool {
    let found = &record.observation;
    let redirected = found.total.failed[Failure::BadRedirect] > 0 || !found.followed.is_empty();
    is_plain(record) && found.statuses.is_empty() && !redirected
}

/// Whether each answer without TLS had status 400.
fn is_400_without_tls(record: &LoadRecord) -> bool {
    is_plain(record)
        && record
            .observation
            .statuses
            .keys()
            .all(|status| *status == 400)
}

/// Whether answers had events, and no end that was waited for.
fn is_endless(record: &LoadRecord) -> bool {
    let endless = record
        .spec
        .stream
        .is_some_and(|stream| stream.enough.is_none());
    let events = record.observation.events.as_ref();
    endless && events.is_some_and(|seen| seen.events > 0)
}

/// That redirects came and were not followed, where they are not what was expected.
pub(crate) fn redirects(record: &LoadRecord) -> Option<String> {
    if record.spec.redirects > 0 {
        return None;
    }
    let expected = |status: u16| {
        let mut exchanges = record.spec.exchanges.iter();
        exchanges.any(|exchange| exchange.expect.status.contains(status))
    };
    let statuses = &record.observation.statuses;
    let came = REDIRECTS.iter().filter(|status| !expected(**status));
    let came: Vec<(u16, u64)> = came
        .filter_map(|status| Some((*status, *statuses.get(status)?)))
        .filter(|(_, count)| *count > 0)
        .collect();
    if came.is_empty() {
        return None;
    }
    let all: u64 = came.iter().map(|(_, count)| count).sum();
    let names: Vec<String> = came.iter().map(|(status, _)| status.to_string()).collect();
    let option = match record.spec.protocol {
        Protocol::Http2 { .. } if is_plain(record) => " --http2-prior-knowledge",
        Protocol::Http1 { .. } | Protocol::Http2 { .. } => "",
    };
    // Of several URLs it is not known which ones they are.
    let where_to = match record.spec.exchanges.len() {
        1 => format!(" (curl{option} -I {} shows it)", record.url),
        _ => String::new(),
    };
    let follow = match record.spec.protocol {
        Protocol::Http1 { .. } => {
            "follow them with --follow-redirects if they stay on this scheme, host and port, "
        }
        // It is refused.
        Protocol::Http2 { .. } => "",
    };
    Some(format!(
        "hint: {} led elsewhere ({}), and redirects are not followed: load the address that they lead to{where_to}, \
         {follow}or count them as valid with --expect-status 2xx,3xx",
        counted(all, "answer"),
        names.join(", "),
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::{Schedule, StopRule, load::Target, record::SCHEMA};

    use super::*;

    fn record(interrupted: bool) -> LoadRecord {
        let closed = Schedule::Closed {
            connections: 1,
            ramp: Duration::ZERO,
        };
        let target = Target::plain("127.0.0.1:80".parse().unwrap());
        LoadRecord {
            schema: SCHEMA,
            deadheat: String::new(),
            started: String::new(),
            url: "http://localhost/".to_owned(),
            machine: Default::default(),
            spec: LoadSpec::new(target, Vec::new(), closed, StopRule::Interrupt),
            interrupted,
            observation: Default::default(),
            intervals: Vec::new(),
            hosts: Vec::new(),
        }
    }

    #[test]
    fn a_load_without_a_result_is_interrupted_only_if_that_is_why() {
        assert_eq!(exit_without_result(&record(true)), Exit::Interrupted);
        assert_eq!(exit_without_result(&record(false)), Exit::NoResult);
        // Whatever would have come later: these requests failed.
        let mut failing = record(true);
        failing.observation.measured.failed[Failure::WrongStatus] = 1;
        assert_eq!(exit_without_result(&failing), Exit::NoResult);
    }

    #[test]
    fn a_host_that_is_lost_after_ctrl_c_is_no_failure_of_the_host() {
        let error = AgentError {
            host: "load1".to_owned(),
            problem: "interrupted before it answered".to_owned(),
        };
        for (stopped, expected) in [(true, Exit::Interrupted), (false, Exit::NoResult)] {
            let failure = lost("http://localhost/", &error, &AtomicBool::new(stopped));
            assert_eq!(failure.exit(), expected);
            assert!(failure.to_string().contains("host load1"), "{failure}");
        }
    }
}
