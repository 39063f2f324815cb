//! Connections, and requests that failed or waited by the generator's own rules.

use deadheat_model::{
    Failure, StopRule,
    failure::TRANSPORT_FAILURES,
    figure::{count, counted, latency, share},
    heat::PerConnection,
    warning::{Level, Warning, doubt},
};
use deadheat_stats::uneven::{self, ENOUGH_ANSWERS, Uneven};

use super::{Load, requests};

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
            Failure::Tls,
        ];
        let failed = kinds.iter().map(|kind| failed[*kind]).sum();
        let sentence = format!(
            "{} failed because no connection could be made, or TLS could not be agreed on.",
            requests(failed)
        );
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
