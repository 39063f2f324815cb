//! Warnings about connections, about requests that failed or waited by the generator's own rules, and about requests of an
//! open loop whose time had come.

use deadheat_model::{
    Failure, StopRule,
    figure::{count, counted, latency, share},
    heat::PerConnection,
    observation::{OpenLoop, TRANSPORT_FAILURES},
    warning::{Level, Warning, doubt, limit, note},
};
use deadheat_stats::uneven::{self, ENOUGH_ANSWERS, Uneven};

use super::{Load, requests};
use crate::analysis::LatencyKind;

/// If a smaller share of the offered requests was sent, the load was not what was asked for.
const SENT: f64 = 0.99;
/// A longer send lag is reported: an idle CPU wakes up within this time.
const SEND_LAG_SECONDS: f64 = 100e-6;
/// From this share of the response time, the send lag casts a doubt on it: below, it drowns in what else makes times differ.
const DOUBTFUL_LAG: f64 = 0.10;
/// From this share, response times are more the generator's than the server's.
const MOSTLY_LAG: f64 = 0.5;
/// A wait for a connection above this share of the response time is reported.
const CONNECTION_WAIT: f64 = 0.10;

impl Load<'_> {
    /// The most connections that the load may hold.
    fn most_connections(&self) -> u32 {
        self.record.spec.schedule.most_connections()
    }

    /// The percentile and the send lag there, if it is more than what an idle CPU needs.
    fn lag(&self) -> Option<(f64, f64)> {
        self.tail(LatencyKind::SendLag, LatencyKind::ResponseTime)
            .filter(|(_, lag)| *lag > SEND_LAG_SECONDS)
    }

    /// Requests were not sent although their time had come: for lack of the generator's time, or of a connection.
    pub(super) fn unsent(&self, open: &OpenLoop) -> Option<Warning> {
        let given_up = self.record.observation.measured.failed[Failure::NoConnection];
        let OpenLoop {
            offered, unsent, ..
        } = *open;
        let sent_share = self.figures.sent_share?;
        // Requests for which no connection could be made have a warning of their own.
        let waited = (unsent + given_up) as f64 / offered as f64;
        if 1.0 - waited >= SENT {
            return None;
        }
        let warning = match self.late() {
            Some((percent, lag)) => {
                let sentence = format!(
                    "Of {} requests that were due, the generator sent {} ({} unsent), because it noticed late that they \
                     were due (send lag p{percent} {}). The server was asked for less than was to be offered.",
                    count(offered),
                    share(sent_share),
                    count(unsent),
                    latency(lag)
                );
                limit("late", sentence)
                    .with("percent", percent)
                    .with("send_lag_seconds", lag)
            }
            None => self.behind(open, given_up, sent_share),
        };
        Some(
            warning
                .with("offered", offered)
                .with("unsent", unsent)
                .with("sent_share", sent_share)
                .with("bound", SENT),
        )
    }

    /// The percentile and the send lag there, if requests that were not sent waited for the generator and not for a
    /// connection. A request that waits for a connection was noticed in time: its lag is small. A generator that is late
    /// has no time to notice, and its lag shows it.
    fn late(&self) -> Option<(f64, f64)> {
        self.lag().filter(|(percent, lag)| {
            let waited = self.figures.latency(LatencyKind::ConnectionWait);
            *lag >= waited.and_then(|wait| wait.at(*percent)).unwrap_or(0.0)
        })
    }

    fn behind(&self, open: &OpenLoop, given_up: u64, sent_share: f64) -> Warning {
        let gave_up = match given_up {
            0 => String::new(),
            given_up => format!(", {} given up", count(given_up)),
        };
        let never_sent = self.record.observation.never_sent();
        let not_connected = match never_sent.saturating_sub(given_up) {
            0 => String::new(),
            number => format!(", {} could not connect", count(number)),
        };
        let oldest_seconds = open.oldest_unsent.as_secs_f64();
        let oldest = match open.unsent {
            0 => String::new(),
            _ => format!(", the oldest for {}", latency(oldest_seconds)),
        };
        let head = if sent_share > 0.0 {
            format!(
                "{} of {} offered requests were sent",
                share(sent_share),
                count(open.offered)
            )
        } else {
            // Some of the backlog is older than the measurement, so that there is no share of it.
            "The server fell far behind".to_owned()
        };
        let sentence = format!(
            "{head}: {} still waited for a free connection{oldest}{gave_up}{not_connected}; the server is slower than the \
             offered rate, or {} are too few.",
            count(open.unsent),
            counted(self.most_connections(), "connection")
        );
        doubt("behind", sentence)
            .with("given_up", given_up)
            .with("most_connections", self.most_connections())
            .with("oldest_unsent_seconds", oldest_seconds)
    }

    /// Requests of the warm-up still waited for a free connection when the measurement began, because the server was not
    /// yet as fast as the offered rate, or stood still.
    pub(super) fn backlog(&self, open: &OpenLoop) -> Option<Warning> {
        let waiting = self.record.observation.backlog_before()?;
        let share = waiting as f64 / open.offered as f64;
        let bound = 1.0 - SENT;
        let is_servers = share > bound && self.late().is_none();
        let sentence = format!(
            "{} of the warm-up still waited for a free connection when the measurement began, in addition to the {} that \
             were due in it: response times include that wait. Until then the server was slower than the offered rate, or \
             {} are too few; a longer warm-up (--warm-up) shows which.",
            requests(waiting),
            count(open.offered),
            counted(self.most_connections(), "connection")
        );
        is_servers.then(|| {
            doubt("backlog", sentence)
                .with("offered", open.offered)
                .with("waiting", waiting)
                .with("share", share)
                .with("bound", bound)
                .with("most_connections", self.most_connections())
        })
    }

    /// The generator noticed late that a request's time had come.
    pub(super) fn send_lag(&self) -> Option<Warning> {
        let (percent, lag) = self.lag()?;
        let response = self.figures.latency(LatencyKind::ResponseTime);
        let response = response.and_then(|response| response.at(percent));
        let response_share = response
            .filter(|response| *response > 0.0)
            .map(|response| lag / response);
        let part = response_share.map_or(String::new(), |part| {
            format!(", {} of the response time there", share(part.min(1.0)))
        });
        let sentence = format!(
            "Requests left late by the generator's own delay: send lag p{percent} {}{part}.",
            latency(lag)
        );
        let warning = match response_share {
            Some(share) if share >= MOSTLY_LAG => limit(
                "send-lag",
                format!("{sentence} Response times say more of the generator than of the server."),
            ),
            Some(share) if share >= DOUBTFUL_LAG => doubt("send-lag", sentence),
            _ => note("send-lag", sentence),
        };
        Some(
            warning
                .with("percent", percent)
                .with("send_lag_seconds", lag)
                .with("bound_seconds", SEND_LAG_SECONDS)
                .with("response_share", response_share),
        )
    }

    /// Whether requests waited for a free connection, or a free stream on one, for a good part of their response time, or
    /// in vain.
    fn waited_for_connections(&self) -> bool {
        let seen = &self.record.observation;
        let is_left = seen.open.as_ref().is_some_and(|open| open.unsent > 0);
        let is_given_up = seen.measured.failed[Failure::NoConnection] > 0;
        is_left && self.late().is_none() || is_given_up || self.connection_wait().is_some()
    }

    /// Requests waited for a free connection for a good part of their response time.
    pub(super) fn connection_wait(&self) -> Option<Warning> {
        let (percent, wait) = self.tail(LatencyKind::ConnectionWait, LatencyKind::ResponseTime)?;
        let response = self.figures.latency(LatencyKind::ResponseTime)?;
        let response = response.at(percent)?;
        let connections = self.record.observation.connections_peak;
        let sentence = format!(
            "Requests waited for a free connection: p{percent} {} of a response time of {}; {} of at most {} connections \
             were open.",
            latency(wait),
            latency(response),
            count(connections),
            count(u64::from(self.most_connections()))
        );
        (wait > CONNECTION_WAIT * response).then(|| {
            note("connection-wait", sentence)
                .with("percent", percent)
                .with("wait_seconds", wait)
                .with("response_seconds", response)
                .with("connections", connections)
                .with("most_connections", self.most_connections())
        })
    }
}

/// More failed requests than this share of those that ended cast a doubt on the result.
pub const FAILURES: f64 = TRANSPORT_FAILURES;
/// Pauses after failed attempts to connect cast a doubt on the result above this share of the connections' time.
const RECONNECT_PAUSES: f64 = 0.01;

impl Load<'_> {
    pub(super) fn not_connected(&self) -> Option<Warning> {
        let failed = &self.record.observation.total.failed;
        let kinds = [
            Failure::ConnectRefused,
            Failure::ConnectTimeout,
            Failure::ConnectOther,
        ];
        let connecting: u64 = kinds.iter().map(|kind| failed[*kind]).sum();
        let why = match (connecting, failed[Failure::Tls]) {
            (_, 0) => "no connection could be made",
            (0, _) => "TLS could not be agreed on",
            _ => "no connection could be made, or TLS could not be agreed on",
        };
        let failed = connecting + failed[Failure::Tls];
        let sentence = format!("{} failed because {why}.", requests(failed));
        (failed > 0).then(|| doubt("not-connected", sentence).with("requests", failed))
    }

    pub(super) fn failures(&self) -> Option<Warning> {
        let failed = self.record.observation.measured.failed.total();
        let part = self.figures.failed_share.filter(|_| failed > 0)?;
        let sentence = format!(
            "{} failed ({} of those that ended).",
            requests(failed),
            share(part)
        );
        let level = if part > FAILURES {
            Level::Doubt
        } else {
            Level::Note
        };
        Some(
            Warning::new(level, "failures", sentence)
                .with("requests", failed)
                .with("share", part)
                .with("bound", FAILURES),
        )
    }

    /// Bodies waited for a 100 (Continue) that the server did not send.
    pub(super) fn no_continue(&self) -> Option<Warning> {
        let observation = &self.record.observation;
        let waits = observation.own_waits.for_continue;
        let ended = observation.measured.ended().max(waits.count);
        let waited = waits.total.as_secs_f64();
        let who = if waits.count == ended {
            "each request".to_owned()
        } else {
            format!("{} of {} requests", count(waits.count), count(ended))
        };
        (waits.count > 0).then(|| {
            let sentence = format!(
                "The server sent no 100 (Continue): {who} waited {} for it before its body, {} in total. This wait is in \
                 the service times; without the Expect header there is none.",
                latency(waited / waits.count as f64),
                latency(waited)
            );
            doubt("no-continue", sentence)
                .with("requests", waits.count)
                .with("ended", ended)
                .with("seconds", waited)
        })
    }

    /// Connections waited before another attempt, after attempts that failed.
    pub(super) fn reconnect_pauses(&self) -> Option<Warning> {
        let observation = &self.record.observation;
        let waits = observation.own_waits.before_connecting;
        let connections = self.record.spec.schedule.most_connections();
        let all = observation.window.as_secs_f64() * f64::from(connections);
        let seconds = waits.total.as_secs_f64();
        let part = if all > 0.0 {
            (seconds / all).min(1.0)
        } else {
            0.0
        };
        let sentence = format!(
            "Connections that failed were made again after a pause: {}, {} in total ({} of the connections' time). No \
             requests were sent on them meanwhile.",
            counted(waits.count, "pause"),
            latency(seconds),
            share(part)
        );
        let level = if part > RECONNECT_PAUSES {
            Level::Doubt
        } else {
            Level::Note
        };
        (waits.count > 0).then(|| {
            Warning::new(level, "reconnect-pauses", sentence)
                .with("pauses", waits.count)
                .with("seconds", seconds)
                .with("share", part)
                .with("bound", RECONNECT_PAUSES)
        })
    }

    /// Closed loop: whether all connections could be opened.
    pub(super) fn fewer_connections(&self) -> Option<Warning> {
        let mut wanted = self.closed()?;
        if let StopRule::Count { requests } = self.record.spec.stop {
            // Fewer requests than can be in flight need fewer.
            let depth = u64::from(self.record.spec.protocol.depth().max(1));
            wanted = wanted.min(requests.div_ceil(depth));
        }
        let peak = self.record.observation.connections_peak;
        // A connection that the server closes is made again when its user has thought.
        let is_whole = self.record.spec.think.is_none();
        let sentence = match peak {
            0 => "No connection was ever open.".to_owned(),
            _ => format!(
                "Of {}, no more than {} were open at once.",
                counted(wanted, "connection"),
                count(peak)
            ),
        };
        (peak < wanted && is_whole && self.keeps_alive()).then(|| {
            doubt("connections", sentence)
                .with("wanted", wanted)
                .with("peak", peak)
        })
    }

    /// HTTP/2: whether servers allowed fewer requests at once on a connection than the load would have had.
    pub(super) fn fewer_streams(&self) -> Option<Warning> {
        let spec = &self.record.spec;
        let wanted = spec.protocol.depth();
        let allowed = self.record.observation.fewest_streams?;
        let were_needed = match (self.closed(), &spec.stop) {
            (Some(connections), StopRule::Count { requests }) => {
                *requests > connections * u64::from(allowed)
            }
            (Some(_), _) => true,
            (None, _) => self.waited_for_connections(),
        };
        if !were_needed {
            return None;
        }
        let sentence = format!(
            "The server allows {} at once on a connection, of {wanted} asked for: fewer requests were in flight.",
            counted(allowed, "stream")
        );
        let warning = doubt("streams", sentence)
            .with("wanted", wanted)
            .with("allowed", allowed);
        Some(warning.advice("Use more connections with fewer streams each"))
    }

    /// Closed loop: whether connections were served unevenly.
    pub(super) fn uneven(&self) -> Option<Warning> {
        self.closed().filter(|_| self.connections_stayed())?;
        let spec = &self.record.spec;
        if spec.think.is_some_and(|think| think.is_random()) {
            // Users who think for long get fewer answers.
            return None;
        }
        if !spec.others.is_empty() {
            // A slow server gets fewer.
            return None;
        }
        let observation = &self.record.observation;
        let answers = PerConnection::new(&observation.answers_per_connection);
        let times = &observation.service_time;
        let half = times.quantile(0.5).zip(times.mean());
        // Several exchanges take differently long by themselves, and so do the first answers of a server.
        let has_enough = answers.is_some_and(|answers| answers.median >= ENOUGH_ANSWERS);
        let half = half.filter(|_| has_enough && spec.exchanges.len() == 1);
        let in_a_row =
            half.and_then(|(p50, mean)| uneven::in_a_row(p50.as_secs_f64(), mean.as_secs_f64()));
        let found = answers.and_then(uneven::starved).or(in_a_row)?;
        let warning = doubt("uneven", format!("Connections waited unevenly: {found}."));
        Some(match found {
            Uneven::Starved(answers) => warning
                .with("because", "starved")
                .with("least", answers.least)
                .with("median", answers.median)
                .with("most", answers.most),
            Uneven::InARow {
                p50_seconds,
                mean_seconds,
            } => warning
                .with("because", "in-a-row")
                .with("p50_seconds", p50_seconds)
                .with("mean_seconds", mean_seconds),
        })
    }
}
