//! Time series in bounded memory: if a series has too many pieces, neighbours are merged. The intervals of a load are
//! kept in such a series.

use deadheat_model::{Interval, LoadPhase};

/// The most intervals kept, plus one for each change of phase. Each takes 16 bytes for each latency that differs from
/// the others, and up to 250 kB when it was merged: 300 MB at most. With intervals of 1 s that is 20 min; longer loads
/// merge neighbours.
pub(crate) const MAX_POINTS: usize = 1_200;

/// Intervals of a load in order.
#[derive(Debug)]
pub(crate) struct Series(Downsampled<Interval>);

impl Piece for Interval {
    fn phase(&self) -> LoadPhase {
        self.phase
    }

    fn append(&mut self, next: Self) {
        Interval::append(self, &next);
    }
}

impl Default for Series {
    fn default() -> Self {
        Self(Downsampled::new(MAX_POINTS))
    }
}

impl Series {
    /// Adds the next interval.
    pub(crate) fn push(&mut self, interval: &Interval) {
        self.0.push(interval.compact());
    }

    /// All intervals, numbered from 0.
    pub(crate) fn into_intervals(self) -> Vec<Interval> {
        let mut intervals = self.0.into_pieces();
        for (index, interval) in (0..).zip(&mut intervals) {
            interval.index = index;
        }
        intervals
    }
}

/// Data of a time span within one phase.
pub(crate) trait Piece {
    /// The phase of the span.
    fn phase(&self) -> LoadPhase;

    /// Merges the next piece into this one.
    fn append(&mut self, next: Self);
}

/// Pieces in order. Each merges the same number of added pieces, except at the end of a phase: phases are never mixed.
#[derive(Clone, Debug)]
pub(crate) struct Downsampled<T> {
    pieces: Vec<T>,
    most: usize,
    /// Number of added pieces that make a piece.
    span: u32,
    /// Number of added pieces in the last piece.
    filled: u32,
}

impl<T: Piece> Downsampled<T> {
    /// An empty series of at most this many pieces, plus one for each change of phase.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            pieces: Vec::new(),
            most,
            span: 1,
            filled: 0,
        }
    }

    /// The pieces in order.
    pub(crate) fn pieces(&self) -> &[T] {
        &self.pieces
    }

    /// The pieces in order.
    pub(crate) fn into_pieces(self) -> Vec<T> {
        self.pieces
    }

    /// Adds the next piece.
    pub(crate) fn push(&mut self, next: T) {
        match self.pieces.last_mut() {
            Some(last) if self.filled < self.span && last.phase() == next.phase() => {
                last.append(next);
                self.filled += 1;
            }
            _ => {
                if self.pieces.len() >= self.most {
                    self.halve();
                }
                self.pieces.push(next);
                self.filled = 1;
            }
        }
    }

    /// Merges each two neighbours of the same phase.
    fn halve(&mut self) {
        let mut fewer: Vec<T> = Vec::with_capacity(self.most);
        let mut paired = true;
        for piece in self.pieces.drain(..) {
            match fewer.last_mut() {
                Some(last) if !paired && last.phase() == piece.phase() => {
                    last.append(piece);
                    paired = true;
                }
                _ => {
                    fewer.push(piece);
                    paired = false;
                }
            }
        }
        self.pieces = fewer;
        self.span *= 2;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::{Failure, LatencyHistogram};
    use proptest::prelude::*;

    use super::*;

    fn second(index: u64) -> Interval {
        let mut interval = Interval {
            index,
            from: Duration::from_secs(index),
            until: Duration::from_secs(index + 1),
            phase: LoadPhase::Measurement,
            issued: 3,
            succeeded: 2,
            in_flight: index,
            valid_body_bytes: 5,
            service_time: LatencyHistogram::small(),
            response_time: Some(LatencyHistogram::small()),
            ..Interval::default()
        };
        interval.failed[Failure::Timeout] = 1;
        for ns in [1_000 * (index + 1), 5_000_000] {
            interval.service_time.record_ns(ns);
            if let Some(times) = &mut interval.response_time {
                times.record_ns(2 * ns);
            }
        }
        interval
    }

    fn series_of(seconds: u64) -> Vec<Interval> {
        let mut series = Series::default();
        (0..seconds).for_each(|index| series.push(&second(index)));
        series.into_intervals()
    }

    #[test]
    fn a_load_of_usual_length_keeps_each_interval_as_it_was() {
        let kept = series_of(600);
        assert_eq!(kept, (0..600).map(second).collect::<Vec<_>>());
    }

    #[test]
    fn hours_of_load_keep_every_count_and_latency_in_fewer_intervals() {
        const SECONDS: u64 = 10_000;
        let kept = series_of(SECONDS);
        assert!(
            kept.len() <= MAX_POINTS && kept.len() > MAX_POINTS / 3,
            "{}",
            kept.len()
        );
        let mut all = second(0);
        (1..SECONDS).for_each(|index| all.append(&second(index)));
        let mut sum = kept[0].clone();
        for (index, interval) in kept.iter().enumerate() {
            assert_eq!(interval.index, index as u64);
            assert_eq!(
                (interval.throughput(), interval.in_flight),
                (2.0, interval.until.as_secs() - 1)
            );
            if index > 0 {
                sum.append(interval);
            }
        }
        assert_eq!(sum, all);
    }

    #[derive(Clone, Debug, PartialEq)]
    struct Run {
        phase: LoadPhase,
        from: u32,
        until: u32,
    }

    impl Piece for Run {
        fn phase(&self) -> LoadPhase {
            self.phase
        }

        fn append(&mut self, next: Self) {
            assert_eq!(self.until, next.from, "they follow each other");
            self.until = next.until;
        }
    }

    proptest! {
        #[test]
        fn all_is_there_in_order_and_phases_are_never_mixed(
            warm_up in 0_u32..3_000,
            measured in 0_u32..30_000,
            most in 4_usize..200,
        ) {
            let mut thinned = Downsampled::new(most);
            for from in 0..warm_up + measured {
                let phase = if from < warm_up { LoadPhase::WarmUp } else { LoadPhase::Measurement };
                thinned.push(Run { phase, from, until: from + 1 });
                prop_assert!(thinned.pieces().len() <= most + 1);
            }
            let pieces = thinned.into_pieces();
            let mut until = 0;
            for piece in &pieces {
                prop_assert_eq!(piece.from, until);
                prop_assert_eq!(piece.phase == LoadPhase::WarmUp, piece.from < warm_up);
                prop_assert!(piece.phase == LoadPhase::Measurement || piece.until <= warm_up);
                until = piece.until;
            }
            prop_assert_eq!(until, warm_up + measured);
            if (warm_up + measured) as usize >= most {
                prop_assert!(pieces.len() >= most / 2, "{} of {}", pieces.len(), most);
            }
        }
    }
}
