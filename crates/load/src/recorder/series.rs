//! The measurement in bins of one width: what ended in each.

use std::time::Duration;

use deadheat_model::observation::Bin;

use crate::schedule::nanos;

/// Bins that a load without a known length has room for before the series must grow.
const BINS_OF_UNKNOWN_LENGTH: usize = 8 * 1024;
/// Room for a day at the narrowest width; a longer series grows.
const MOST_AT_FIRST: usize = 1 << 27;

#[derive(Debug)]
pub(super) struct IntervalBuffer {
    width: Duration,
    width_ns: u64,
    /// When the last bin ends.
    end: u64,
    bins: Vec<Bin>,
}

impl IntervalBuffer {
    pub(super) fn new(width: Duration) -> Self {
        Self {
            width,
            width_ns: nanos(width).max(1),
            end: 0,
            bins: Vec::new(),
        }
    }

    /// Makes room for a measurement of so many nanoseconds, if that is known.
    pub(super) fn reserve(&mut self, length: Option<u64>) {
        let room = length.map_or(BINS_OF_UNKNOWN_LENGTH, |length| {
            length.div_ceil(self.width_ns) as usize + 1
        });
        self.bins.reserve_exact(room.min(MOST_AT_FIRST));
    }

    /// The measurement begins.
    pub(super) fn begin(&mut self, from: u64) {
        self.end = from.saturating_add(self.width_ns);
        self.bins.push(Bin::default());
    }

    /// The bin of what ends at `end`. Time never goes back.
    #[inline]
    pub(super) fn at(&mut self, end: u64) -> &mut Bin {
        while end >= self.end {
            self.bins.push(Bin::default());
            self.end = self.end.saturating_add(self.width_ns);
        }
        let last = self.bins.len() - 1;
        &mut self.bins[last]
    }

    /// The width of a bin, and the bins of a measurement that took `window`.
    pub(super) fn into_bins(mut self, window: Duration) -> (Duration, Vec<Bin>) {
        let used = |bin: &Bin| *bin != Bin::default();
        let in_use = self.bins.iter().rposition(used).map_or(0, |last| last + 1);
        let bins = window.as_nanos().div_ceil(u128::from(self.width_ns)) as usize;
        // An end exactly on a bin's edge has opened the bin after the last one.
        self.bins.resize(bins.max(in_use), Bin::default());
        (self.width, self.bins)
    }
}
