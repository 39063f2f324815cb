//! Latencies in nanoseconds, 1 µs to 1 h, at three significant digits (HdrHistogram).

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer as HdrDeserializer, Serializer as _, V2DeflateSerializer},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};

/// The smallest latency told apart, 1 µs in nanoseconds.
pub const LOWEST_NS: u64 = 1_000;
/// The largest latency kept; longer ones count as this (1 h in nanoseconds).
pub const HIGHEST_NS: u64 = 3_600 * 1_000_000_000;

/// A mergeable histogram of latencies. Serialised as base64 of HdrHistogram's V2 + deflate encoding.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyHistogram(Histogram<u64>);

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl LatencyHistogram {
    /// An empty histogram, allocated for its whole range: recording never allocates.
    pub fn new() -> Self {
        // The bounds are constants that the constructor accepts (a test builds one).
        Self(Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, 3).expect("constant bounds"))
    }

    /// Records one latency in nanoseconds, clamped to the range.
    #[inline]
    pub fn record_ns(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    /// Recorded latencies.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency at `quantile` (0 to 1), or `None` when nothing was recorded.
    pub fn quantile(&self, quantile: f64) -> Option<Duration> {
        (!self.0.is_empty()).then(|| Duration::from_nanos(self.0.value_at_quantile(quantile)))
    }

    /// The mean, or `None` when nothing was recorded.
    pub fn mean(&self) -> Option<Duration> {
        (!self.0.is_empty()).then(|| Duration::from_nanos(self.0.mean() as u64))
    }

    /// The largest latency, or `None` when nothing was recorded.
    pub fn max(&self) -> Option<Duration> {
        (!self.0.is_empty()).then(|| Duration::from_nanos(self.0.max()))
    }

    /// Adds another histogram's latencies.
    pub fn merge(&mut self, other: &Self) {
        // One that was read back is as small as its values; a new one has room for all.
        self.0.auto(true);
        self.0.add(&other.0).expect("values from within the bounds");
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .map_err(S::Error::custom)?;
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = STANDARD
            .decode(String::deserialize(deserializer)?)
            .map_err(D::Error::custom)?;
        let read: Histogram<u64> = HdrDeserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(D::Error::custom)?;
        // Only as large as what was recorded: a report holds one for each trial of a session.
        let mut own =
            Histogram::new_with_bounds(LOWEST_NS, 2 * LOWEST_NS, 3).map_err(D::Error::custom)?;
        own.auto(true);
        own.add(&read).map_err(D::Error::custom)?;
        Ok(Self(own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_a_round_trip() {
        let mut histogram = LatencyHistogram::new();
        for ns in [500, 1_000, 2_000_000, u64::MAX] {
            histogram.record_ns(ns);
        }
        let json = serde_json::to_string(&histogram).unwrap();
        let back: LatencyHistogram = serde_json::from_str(&json).unwrap();
        assert_eq!(back, histogram);
        assert_eq!(back.count(), 4);
        let max = back.max().unwrap().as_secs_f64();
        assert!(
            (max - 3600.0).abs() < 3.6,
            "clamped to an hour, not {max} s"
        );
    }

    #[test]
    fn empty_has_no_quantile() {
        let empty = LatencyHistogram::new();
        assert_eq!(
            (empty.quantile(0.5), empty.mean(), empty.max()),
            (None, None, None)
        );
    }
}
