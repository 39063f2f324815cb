//! Distributions at three significant digits (HdrHistogram): latencies in nanoseconds from 1 µs to 1 h, and counts.

use std::{
    borrow::Cow,
    io::{self, Read as _},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::ZlibDecoder;
use hdrhistogram::{
    Histogram,
    serialization::{
        DeserializeError, Deserializer as HdrDeserializer, Serializer as _,
        V2DeflateSerializeError, V2DeflateSerializer,
    },
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};

/// The smallest latency that is distinguished: 1 µs in nanoseconds.
pub const LOWEST_NS: u64 = 1_000;
/// The largest recorded latency: 1 h in nanoseconds. Longer latencies count as this.
pub const HIGHEST_NS: u64 = 3_600 * 1_000_000_000;
/// The largest recorded count. Larger counts count as this.
const MAX: u64 = 1_000_000_000_000;

/// A mergeable histogram of latencies. Serialised as base64 of HdrHistogram's V2 + deflate encoding.
#[derive(Clone, Debug)]
pub struct LatencyHistogram(Counts);

/// How a histogram is kept in memory.
#[derive(Clone, Debug)]
enum Counts {
    /// A counter for each value of a range, up to 250 kB: recording is cheap.
    Dense(Histogram<u64>),
    /// The values that occur, ascending, each with its count. Records that were read or have ended are kept like this:
    /// a slice with 500 answers takes 8 kB.
    Sparse(Box<[(u64, u64)]>),
}

/// The recorded values of a histogram, ascending, each the lowest of its bucket, with their counts.
fn recorded(histogram: &Histogram<u64>) -> Box<[(u64, u64)]> {
    let recorded = histogram.iter_recorded().map(|value| {
        let lowest = histogram.lowest_equivalent(value.value_iterated_to());
        (lowest, value.count_at_value())
    });
    recorded.collect()
}

/// An empty histogram of latencies that grows with what is recorded.
fn growing() -> Histogram<u64> {
    let mut growing =
        Histogram::new_with_bounds(LOWEST_NS, 2 * LOWEST_NS, 3).expect("constant bounds");
    growing.auto(true);
    growing
}

/// Adds counts of values. `histogram` can grow.
fn add(histogram: &mut Histogram<u64>, counts: &[(u64, u64)]) {
    // The largest first, so that the histogram grows once.
    for (value, count) in counts.iter().rev() {
        histogram
            .record_n(*value, *count)
            .expect("a value from within the bounds");
    }
}

/// A histogram of these counts, which grows with what is recorded. What a worker records in is never sparse, so this is
/// not on its path.
#[cold]
fn filled(counts: &[(u64, u64)]) -> Histogram<u64> {
    let mut filled = growing();
    add(&mut filled, counts);
    filled
}

impl Counts {
    /// The library's histogram. Of sparse counts, each call makes one.
    fn dense(&self) -> Cow<'_, Histogram<u64>> {
        match self {
            Self::Dense(histogram) => Cow::Borrowed(histogram),
            Self::Sparse(counts) => Cow::Owned(filled(counts)),
        }
    }

    /// The library's histogram, to record in. Sparse counts become dense.
    #[inline]
    fn dense_mut(&mut self) -> &mut Histogram<u64> {
        if let Self::Sparse(counts) = self {
            *self = Self::Dense(filled(counts));
        }
        match self {
            Self::Dense(histogram) => histogram,
            Self::Sparse(_) => unreachable!("made dense above"),
        }
    }

    /// The values that occur, with their counts.
    fn sparse(&self) -> Cow<'_, [(u64, u64)]> {
        match self {
            Self::Dense(histogram) => Cow::Owned(recorded(histogram).into_vec()),
            Self::Sparse(counts) => Cow::Borrowed(counts),
        }
    }
}

impl PartialEq for LatencyHistogram {
    fn eq(&self, other: &Self) -> bool {
        self.0.sparse() == other.0.sparse()
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl LatencyHistogram {
    /// An empty histogram, allocated for its whole range: recording never allocates.
    pub fn new() -> Self {
        // The bounds are constants that the constructor accepts (a test builds one).
        let whole = Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, 3).expect("constant bounds");
        Self(Counts::Dense(whole))
    }

    /// Records one latency in nanoseconds, clamped to the range.
    #[inline]
    pub fn record_ns(&mut self, ns: u64) {
        self.record_n(ns, 1);
    }

    /// Records `count` latencies that are spread evenly from `from` to `to` nanoseconds, as a few groups.
    pub fn record_evenly(&mut self, from: u64, to: u64, count: u64) {
        const GROUPS: u64 = 32;
        let step = (to.max(from) - from) / GROUPS;
        for group in 0..GROUPS {
            let own = count / GROUPS + u64::from(group < count % GROUPS);
            if own > 0 {
                let middle = from + step * group + step / 2;
                self.record_n(middle, own);
            }
        }
    }

    /// Records `count` latencies below the histogram's resolution.
    #[inline]
    pub fn record_none(&mut self, count: u64) {
        self.record_n(0, count);
    }

    #[inline]
    fn record_n(&mut self, ns: u64, count: u64) {
        // Not the library's clamping: it clamps to the present range of a histogram that could grow.
        let recorded = self.0.dense_mut().record_n(ns.min(HIGHEST_NS), count);
        recorded.expect("a value from within the bounds");
    }

    /// The number of recorded latencies.
    pub fn count(&self) -> u64 {
        match &self.0 {
            Counts::Dense(histogram) => histogram.len(),
            Counts::Sparse(counts) => counts.iter().map(|(_, count)| count).sum(),
        }
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The latency at `quantile` (0 to 1), or `None` when nothing was recorded.
    pub fn quantile(&self, quantile: f64) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.0.dense().value_at_quantile(quantile)))
    }

    /// The mean, or `None` when nothing was recorded.
    pub fn mean(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.0.dense().mean() as u64))
    }

    /// The largest latency, or `None` when nothing was recorded.
    pub fn max(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.0.dense().max()))
    }

    /// An empty histogram that uses little memory. Recording allocates.
    pub fn small() -> Self {
        Self(Counts::Dense(growing()))
    }

    /// A copy of the histogram in as little memory as possible.
    pub fn compact(&self) -> Self {
        Self(Counts::Sparse(self.0.sparse().into()))
    }

    /// Removes all latencies, and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.0.dense_mut().reset();
    }

    /// The smallest latency, or `None` when nothing was recorded.
    pub fn least(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.0.dense().min()))
    }

    /// The standard deviation, or `None` when nothing was recorded.
    pub fn deviation(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.0.dense().stdev() as u64))
    }

    /// The share of the latencies that are at most `bound`, 0 to 1; 1 when nothing was recorded.
    pub fn share_up_to(&self, bound: Duration) -> f64 {
        let bound = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
        self.0.dense().quantile_below(bound)
    }

    /// The latencies that are at most `bound`. One up to 0.1 % above it may count as below it.
    pub fn up_to(&self, bound: Duration) -> Self {
        let bound = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
        let counts = self.0.sparse();
        let below = counts.partition_point(|(value, _)| *value <= bound);
        Self(Counts::Sparse(counts[..below].into()))
    }

    /// The number of latencies in each bucket. The buckets have the upper bounds `bounds` (nanoseconds, ascending), and
    /// the last bucket is above all bounds. A latency up to 0.1 % above a bound may count as below it.
    pub fn buckets(&self, bounds: &[u64]) -> Vec<u64> {
        let mut counts = vec![0; bounds.len() + 1];
        for (value, count) in self.0.sparse().iter() {
            counts[bounds.partition_point(|bound| bound < value)] += count;
        }
        counts
    }

    /// The sum of all latencies; zero when nothing was recorded.
    pub fn sum(&self) -> Duration {
        // The library's mean of an empty histogram is 0.
        Duration::from_nanos((self.0.dense().mean() * self.count() as f64) as u64)
    }

    /// The latencies' percentiles in the steps of HdrHistogram's `.hgrm` format: `ticks` steps each time the distance
    /// to 1 halves. Each has the quantile, the latency at it, and the number of latencies up to that.
    pub fn percentiles(&self, ticks: u32) -> Vec<(f64, Duration, u64)> {
        let mut up_to = 0;
        let counts = self.0.dense();
        let values = counts.iter_quantiles(ticks.max(1));
        values
            .map(|value| {
                up_to += value.count_since_last_iteration();
                let latency = Duration::from_nanos(value.value_iterated_to());
                (value.quantile_iterated_to(), latency, up_to)
            })
            .collect()
    }

    /// HdrHistogram's V2 encoding, deflated, as base64. Records and HdrHistogram's logs use this form. Values are
    /// nanoseconds.
    pub fn encoded(&self) -> String {
        // Writing into memory does not fail.
        self.encode().unwrap_or_default()
    }

    /// Equal histograms have the same text, dense or sparse. The encoding contains the range of the counters, so both are
    /// encoded from counters of the same range.
    fn encode(&self) -> Result<String, V2DeflateSerializeError> {
        encode(&filled(&self.0.sparse()))
    }

    /// Adds another histogram's latencies.
    pub fn merge(&mut self, other: &Self) {
        let own = self.0.dense_mut();
        // The other one may have values beyond the range.
        own.auto(true);
        match &other.0 {
            Counts::Dense(histogram) => own.add(histogram).expect("values from within the bounds"),
            Counts::Sparse(counts) => add(own, counts),
        }
    }
}

/// A distribution of counts, such as answers per connection. Counts are at least 1, and exact up to 2,047.
#[derive(Clone, Debug, PartialEq)]
pub struct CountHistogram(Histogram<u64>);

impl Default for CountHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl CountHistogram {
    /// An empty histogram, allocated for its whole range: recording never allocates.
    pub fn new() -> Self {
        // The bounds are constants that the constructor accepts (a test builds one).
        Self(Histogram::new_with_bounds(1, MAX, 3).expect("constant bounds"))
    }

    /// Records one count, clamped to the range.
    pub fn record(&mut self, count: u64) {
        self.0.saturating_record(count);
    }

    /// The number of recorded counts.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The smallest count, or `None` when nothing was recorded.
    pub fn least(&self) -> Option<u64> {
        // The library's minimum is the lower edge of a bucket, and 0 only when a 0 was recorded.
        (!self.0.is_empty()).then(|| self.0.min())
    }

    /// The median, or `None` when nothing was recorded.
    pub fn median(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(0.5))
    }

    /// The largest count, or `None` when nothing was recorded.
    pub fn most(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.max())
    }

    /// Adds another histogram's counts.
    pub fn merge(&mut self, other: &Self) {
        self.0.auto(true);
        self.0.add(&other.0).expect("values from within the bounds");
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.encode().map_err(S::Error::custom)?)
    }
}

impl Serialize for CountHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&encode(&self.0).map_err(S::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let read = decode(&text, HIGHEST_NS).map_err(D::Error::custom)?;
        Ok(Self(Counts::Sparse(recorded(&read))))
    }
}

impl<'de> Deserialize<'de> for CountHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        decode(&text, MAX).map(Self).map_err(D::Error::custom)
    }
}

/// Encodes a histogram in HdrHistogram's V2 encoding, deflated, as base64. HdrHistogram's log format uses this form,
/// too.
fn encode(histogram: &Histogram<u64>) -> Result<String, V2DeflateSerializeError> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes)?;
    Ok(STANDARD.encode(bytes))
}

/// The length in bytes of an encoded histogram's header, before its counts.
const HEAD: usize = 40;
/// The maximum length in bytes of an encoded histogram before deflation: 23,000 counts of up to 9 bytes each.
const LONGEST_CONTENT: u64 = 256 * 1024;
/// The maximum number of values in an encoded histogram.
const MAX_VALUES: u64 = 1 << 53;

/// Why a text is not a histogram.
#[derive(Debug, thiserror::Error)]
enum DecodeError {
    #[error(transparent)]
    Base64(#[from] base64::DecodeError),
    #[error(transparent)]
    Deflate(#[from] io::Error),
    #[error(transparent)]
    Histogram(#[from] DeserializeError),
    #[error("the histogram is too short")]
    TooShort,
    #[error("the histogram is shorter or longer than any that is written")]
    Length,
    #[error("the histogram has another range, precision or length than any that is written")]
    Layout,
    #[error("the histogram has {0} values")]
    Values(u64),
}

/// Decodes a histogram that `encode` wrote, with values up to `highest`. The size that it declares is checked before
/// memory is allocated.
fn decode(text: &str, highest: u64) -> Result<Histogram<u64>, DecodeError> {
    let bytes = STANDARD.decode(text)?;
    // Magic number and length, then the zlib data.
    let deflated = bytes.get(8..).ok_or(DecodeError::TooShort)?;
    let mut content = Vec::new();
    ZlibDecoder::new(deflated)
        .take(LONGEST_CONTENT + 1)
        .read_to_end(&mut content)?;
    if content.len() < HEAD || content.len() as u64 > LONGEST_CONTENT {
        return Err(DecodeError::Length);
    }
    let number = |at: usize| {
        let bytes = content[at..at + 4].try_into();
        bytes.map_or(0, u32::from_be_bytes)
    };
    let high = (u64::from(number(24)) << 32) | u64::from(number(28));
    let length = number(4) as usize;
    // Recording doubles the range until it is large enough.
    if number(12) != 3 || length != content.len() - HEAD || high > 16 * highest {
        return Err(DecodeError::Layout);
    }
    let read: Histogram<u64> = HdrDeserializer::new().deserialize(&mut content.as_slice())?;
    if read.len() > MAX_VALUES {
        return Err(DecodeError::Values(read.len()));
    }
    Ok(read)
}

/// The JSON Schema of the text that [`encode`] writes.
fn encoded_schema(what: &str) -> Schema {
    json_schema!({
        "description": format!("{what}: a histogram in HdrHistogram's V2 encoding, deflated, as base64."),
        "type": "string",
        "contentEncoding": "base64",
        "pattern": "^[A-Za-z0-9+/]+={0,2}$",
    })
}

impl JsonSchema for LatencyHistogram {
    fn schema_name() -> Cow<'static, str> {
        "LatencyHistogram".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        encoded_schema("Latencies in nanoseconds")
    }
}

impl JsonSchema for CountHistogram {
    fn schema_name() -> Cow<'static, str> {
        "CountHistogram".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        encoded_schema("How many of something each of many things had")
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
    fn the_size_that_a_histogram_announces_is_checked_before_it_is_believed() {
        let mut histogram = LatencyHistogram::new();
        histogram.record_ns(2_000_000);
        let bytes = STANDARD.decode(histogram.encoded()).unwrap();
        let mut content = Vec::new();
        ZlibDecoder::new(&bytes[8..])
            .read_to_end(&mut content)
            .unwrap();
        let encoded = |content: &[u8]| {
            let mut deflated = bytes[..8].to_vec();
            let level = flate2::Compression::fast();
            let mut encoder = flate2::read::ZlibEncoder::new(content, level);
            encoder.read_to_end(&mut deflated).unwrap();
            format!("\"{}\"", STANDARD.encode(deflated))
        };
        let read = |content: &[u8]| serde_json::from_str::<LatencyHistogram>(&encoded(content));
        assert_eq!(read(&content).unwrap(), histogram);
        let with = |at: usize, bytes: &[u8]| {
            let mut changed = content.clone();
            changed[at..at + bytes.len()].copy_from_slice(bytes);
            changed
        };
        let announced = with(4, &u32::MAX.to_be_bytes());
        let precise = with(12, &5_u32.to_be_bytes());
        let wide = with(24, &u64::MAX.to_be_bytes());
        let long = [content.as_slice(), &[0; 1 << 20]].concat();
        for content in [
            announced,
            precise,
            wide,
            long,
            Vec::new(),
            content[..20].to_vec(),
        ] {
            assert!(read(&content).is_err());
        }
        assert!(serde_json::from_str::<LatencyHistogram>("\"HISTFAAA\"").is_err());
    }

    #[test]
    fn compacting_takes_room_away_and_nothing_else() {
        let mut histogram = LatencyHistogram::new();
        for ns in [1_000, 2_000_000, 3_000_000] {
            histogram.record_ns(ns);
        }
        let mut compact = histogram.compact();
        assert_eq!(compact, histogram);
        assert_eq!(compact.encoded(), histogram.encoded());
        let Counts::Sparse(counts) = &compact.0 else {
            panic!("kept with all its counters: {compact:?}")
        };
        assert_eq!(counts.len(), 3);
        for both in [&mut compact, &mut histogram] {
            both.record_ns(u64::MAX);
        }
        assert_eq!(compact, histogram);
    }

    #[test]
    fn what_is_above_a_bound_is_left_out() {
        let mut histogram = LatencyHistogram::new();
        for ms in [1, 1_000, 1_000, 2_100] {
            histogram.record_ns(ms * 1_000_000);
        }
        let second = Duration::from_secs(1);
        for kept in [histogram.up_to(second), histogram.compact().up_to(second)] {
            assert_eq!(kept.count(), 3);
            assert_eq!(kept.max(), histogram.quantile(0.75));
        }
        assert_eq!(histogram.up_to(Duration::MAX), histogram);
        assert!(histogram.up_to(Duration::ZERO).is_empty());
    }

    #[test]
    fn a_small_histogram_grows_with_what_it_counts() {
        let mut small = LatencyHistogram::small();
        let mut whole = LatencyHistogram::new();
        for ns in [500, 3_000_000, 70_000_000_000, u64::MAX] {
            for histogram in [&mut small, &mut whole] {
                histogram.record_ns(ns);
            }
        }
        assert_eq!(small, whole);
        assert!(small.max().unwrap() > Duration::from_secs(3_590));
    }

    #[test]
    fn buckets_hold_every_latency_once_and_a_bound_belongs_to_the_bucket_below_it() {
        let mut histogram = LatencyHistogram::new();
        for ns in [900_000, 1_000_000, 1_100_000, 4_000_000, 70_000_000_000] {
            histogram.record_ns(ns);
        }
        assert_eq!(
            histogram.buckets(&[1_000_000, 2_000_000, 5_000_000]),
            [2, 1, 1, 1]
        );
        assert_eq!(histogram.buckets(&[]), [5]);
        let sum = histogram.sum().as_secs_f64();
        assert!((sum / 70.007 - 1.0).abs() < 0.001, "{sum}");
        let empty = LatencyHistogram::new();
        assert_eq!(
            (empty.buckets(&[1]), empty.sum()),
            (vec![0, 0], Duration::ZERO)
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
