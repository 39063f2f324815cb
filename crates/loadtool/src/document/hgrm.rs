//! A distribution in the text format that HdrHistogram's plotters read (`.hgrm`).

use std::fmt::Write as _;

use deadheat_model::{
    LatencyHistogram, LoadRecord,
    histogram::{HIGHEST_NS, LOWEST_NS},
};

/// Steps each time the distance to 100 % halves: HdrHistogram's own default.
const TICKS: u32 = 5;

/// The load's response time if it is an open loop, else its service time; values in milliseconds.
pub fn hgrm(record: &LoadRecord) -> String {
    let observation = &record.observation;
    let open = observation.open.as_ref();
    hgrm_of(open.map_or(&observation.service_time, |open| &open.response_time))
}

/// Any distribution of latencies; values in milliseconds.
pub fn hgrm_of(histogram: &LatencyHistogram) -> String {
    let mut text = String::from("       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
    let ms = |duration: std::time::Duration| duration.as_secs_f64() * 1e3;
    for (quantile, latency, up_to) in histogram.percentiles(TICKS) {
        let value = ms(latency);
        // Writing into a String does not fail.
        let _ = write!(text, "{value:12.3} {quantile:2.12} {up_to:10}");
        // At 100 % it is infinite, and the format has no number there.
        if quantile < 1.0 {
            let _ = write!(text, " {:14.2}", 1.0 / (1.0 - quantile));
        }
        text.push('\n');
    }
    let (sub_buckets, buckets) = buckets();
    let of = |found: Option<std::time::Duration>| found.map_or(0.0, ms);
    let _ = writeln!(
        text,
        "#[Mean    = {:12.3}, StdDeviation   = {:12.3}]\n#[Max     = {:12.3}, Total count    = {:12}]\n#[Buckets = {buckets:12}, SubBuckets     = {sub_buckets:12}]",
        of(histogram.mean()),
        of(histogram.deviation()),
        of(histogram.max()),
        histogram.count(),
    );
    text
}

/// HdrHistogram's sub-buckets for three significant digits, and how many buckets cover the range: each one covers
/// twice as much as the one before.
fn buckets() -> (u64, u32) {
    let sub_buckets = 2_000_u64.next_power_of_two();
    let unit = LOWEST_NS.ilog2();
    let mut covered = sub_buckets << unit;
    let mut buckets = 1;
    while covered <= HIGHEST_NS {
        covered *= 2;
        buckets += 1;
    }
    (sub_buckets, buckets)
}
