//! What changed while the load went on, and what was left at its end.

use std::time::Duration;

use deadheat_model::{
    Interval, LoadPhase, LoadRecord,
    figure::{latency, share},
    warning::{Level, Warning, doubt},
};

use super::{Load, requests};
use crate::analysis::LatencyKind;

/// If more than this share of all requests had not ended when the measurement did, the p99 may lie among them.
const UNFINISHED: f64 = 0.01;
/// A throughput that changed by more than this share over the measurement is not steady …
const STEADY_CHANGE: f64 = 0.10;
/// … if the change is also larger than this many of its standard errors.
const STEADY_ERRORS: f64 = 2.0;
/// An interval without any valid answer is reported if intervals have this many on average.
const SILENCE_ANSWERS: u64 = 10;

/// A part of the measurement.
struct Piece {
    from: Duration,
    until: Duration,
    succeeded: u64,
}

impl Load<'_> {
    /// Requests had not ended when the measurement did, and those that had were the quicker ones: percentiles are lower
    /// bounds (coordinated omission at the end).
    pub(super) fn unfinished(&self) -> Option<Warning> {
        let observation = &self.record.observation;
        let open = observation.open.as_ref();
        let left = observation.measured.in_flight + open.map_or(0, |open| open.unsent);
        let answered = observation.measured.succeeded;
        if left == 0 || answered == 0 {
            return None;
        }
        let part = left as f64 / (left + answered) as f64;
        let many = part > UNFINISHED;
        // A closed loop always ends with as many in flight as it holds; how old they are is not known.
        let oldest = open.map(|open| open.oldest_unsent.max(open.oldest_in_flight).as_secs_f64());
        let (level, percentiles) = match oldest {
            None if many => (Level::Note, true),
            None => return None,
            Some(oldest) => {
                let response = self.figures.latency(LatencyKind::ResponseTime)?;
                if many && oldest > response.at(99.0)? {
                    (Level::Doubt, true)
                } else if oldest > response.most_seconds {
                    (Level::Note, false)
                } else {
                    return None;
                }
            }
        };
        let age = oldest.map_or(String::new(), |oldest| {
            format!(", the oldest for {}", latency(oldest))
        });
        let bound = if percentiles {
            let known = (100.0 * (1.0 - part)).floor();
            format!("percentiles are lower bounds, and nothing is known beyond p{known}")
        } else {
            "the maximum is a lower bound".to_owned()
        };
        let sentence = format!(
            "{} ({}) had no answer yet when the measurement ended{age}: {bound}.",
            requests(left),
            share(part)
        );
        Some(
            Warning::new(level, "unfinished", sentence)
                .with("requests", left)
                .with("share", part)
                .with("oldest_seconds", oldest)
                .with("percentiles", percentiles),
        )
    }

    pub(super) fn unsteady(&self) -> Option<Warning> {
        let trend = self.figures.trend?;
        let (change, error) = (trend.change, trend.standard_error);
        let sentence = format!(
            "Throughput {}: the figures are averages over this change.",
            trend.in_words(["rose from nothing", "fell by ", "rose by "])
        );
        (change.abs() > STEADY_CHANGE && change.abs() > STEADY_ERRORS * error).then(|| {
            doubt("unsteady", sentence)
                .with("change", change)
                .with("standard_error", error)
        })
    }

    /// The measurement in pieces of the width that was asked for, or finer: the intervals, or the bins of a load so
    /// long that intervals were joined.
    fn pieces(&self) -> Vec<Piece> {
        let LoadRecord {
            spec,
            observation,
            intervals,
            ..
        } = self.record;
        let measured = |interval: &&Interval| interval.phase == LoadPhase::Measurement;
        let mut intervals = intervals.iter().filter(measured).peekable();
        let from = intervals.peek().map_or(spec.warm_up, |first| first.from);
        let piece = |interval: &Interval| Piece {
            from: interval.from,
            until: interval.until,
            succeeded: interval.succeeded,
        };
        let pieces: Vec<Piece> = intervals.map(piece).collect();
        let widest = pieces.iter().map(|piece| piece.until - piece.from).max();
        // One may be a little longer than asked for, where the load ends in it.
        let asked = spec.interval.map(|width| width.mul_f64(1.5));
        if widest <= asked || observation.bin.is_zero() {
            return pieces;
        }
        let each = spec
            .interval
            .unwrap_or_default()
            .div_duration_f64(observation.bin);
        let bins = observation.bins.chunks((each.round() as usize).max(1));
        let mut until = from;
        bins.map(|bins| {
            let from = until;
            until += observation.bin * bins.len() as u32;
            let succeeded = bins.iter().map(|bin| bin.succeeded).sum();
            Piece {
                from,
                until,
                succeeded,
            }
        })
        .collect()
    }

    /// The longest time without a valid answer, between others that had some: the server (or what is between) stood
    /// still. In a closed loop such a time is under-represented in all percentiles.
    pub(super) fn silence(&self) -> Option<Warning> {
        let pieces = self.pieces();
        // At a low rate an interval may have no answer by chance.
        let usual = self.record.observation.measured.succeeded / pieces.len().max(1) as u64;
        if usual < SILENCE_ANSWERS {
            return None;
        }
        let silent = |piece: &Piece| piece.succeeded == 0;
        let runs = pieces.chunk_by(|one, next| silent(one) == silent(next));
        let runs = runs.filter(|run| run.iter().all(silent));
        let span = |run: &[Piece]| {
            let from = run.first().map_or(Duration::ZERO, |first| first.from);
            let until = run.last().map_or(Duration::ZERO, |last| last.until);
            (from, until.saturating_sub(from))
        };
        let (from, length) = runs.map(span).max_by_key(|(_, length)| *length)?;
        let (from, length) = (from.as_secs_f64(), length.as_secs_f64());
        let sentence = format!(
            "No valid answer came for at least {}, from {} after the load's start on.",
            latency(length),
            latency(from)
        );
        // An open loop counts what waited meanwhile; a closed one did not ask.
        let level = match self.closed() {
            Some(_) => Level::Doubt,
            None => Level::Note,
        };
        Some(
            Warning::new(level, "silence", sentence)
                .with("from_seconds", from)
                .with("seconds", length),
        )
    }
}
