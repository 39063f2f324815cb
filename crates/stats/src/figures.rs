//! How many answers a figure needs.

/// Verified answers that a measurement needs for a percentile of 90 or more to be shown: about a hundred beyond it
/// (p99: 10,000), so that it is not one odd request. Lower percentiles and the longest request need one.
pub fn requests_for(percent: f64) -> u64 {
    if (90.0..100.0).contains(&percent) {
        (10_000.0 / (100.0 - percent)).round() as u64
    } else {
        1
    }
}
