//! What became of the requests of an open loop whose time had come.

use deadheat_model::{
    Failure,
    figure::{count, counted, latency, share},
    observation::OpenLoop,
    warning::{Warning, doubt, limit, note},
};

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
        if offered == 0 {
            return None;
        }
        let missing = (unsent + given_up) as f64 / offered as f64;
        let sent_share = (1.0 - missing).max(0.0);
        if sent_share >= SENT {
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
            "{head}: {} still waited for a free connection{oldest}{gave_up}; the server is slower than the offered rate, \
             or {} are too few.",
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
    pub(super) fn waited_for_connections(&self) -> bool {
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
