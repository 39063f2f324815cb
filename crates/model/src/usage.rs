//! What a process tree used over a measurement, moment by moment.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Samples of a process tree over a measurement, in the order of time. On the disk they are a column per figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Columns", into = "Columns")]
pub struct UsageSeries {
    /// The samples.
    pub samples: Vec<UsageSample>,
}

/// A process tree at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsageSample {
    /// When, in seconds since CPU time began to be counted (as `Resources::span_seconds`).
    pub seconds: f64,
    /// CPU seconds, user and system, that the tree had used since then.
    pub cpu_seconds: f64,
    /// PSS of the tree in bytes; `None` if it could not be read. Where samples were merged to keep them few, the largest
    /// since the sample before.
    pub pss_bytes: Option<u64>,
}

impl UsageSample {
    /// One sample for itself and the one after it. CPU time is a total, so that nothing of it is lost; of memory the
    /// larger figure is kept, so that the series has the peak.
    pub fn merged(self, later: Self) -> Self {
        Self {
            pss_bytes: self.pss_bytes.max(later.pss_bytes),
            ..later
        }
    }
}

impl UsageSeries {
    /// The same series with one sample for each `every` of them; the last may stand for fewer.
    pub fn thinned(&self, every: usize) -> Self {
        let merged = |samples: &[UsageSample]| samples.iter().copied().reduce(UsageSample::merged);
        let samples = self.samples.chunks(every.max(1)).filter_map(merged);
        Self {
            samples: samples.collect(),
        }
    }
}

/// The series as it is written: less than half of what an object per sample would take.
#[derive(Serialize, Deserialize)]
struct Columns {
    seconds: Vec<f64>,
    cpu_seconds: Vec<f64>,
    pss_bytes: Vec<Option<u64>>,
}

/// The columns of a series are not of one length.
#[derive(Debug, Error)]
#[error(
    "a series of samples has {seconds} times, {cpu_seconds} CPU times and {pss_bytes} sizes; each sample needs one of \
     each"
)]
pub struct UnevenColumns {
    seconds: usize,
    cpu_seconds: usize,
    pss_bytes: usize,
}

impl TryFrom<Columns> for UsageSeries {
    type Error = UnevenColumns;

    fn try_from(columns: Columns) -> Result<Self, UnevenColumns> {
        let Columns {
            seconds,
            cpu_seconds,
            pss_bytes,
        } = columns;
        if seconds.len() != cpu_seconds.len() || seconds.len() != pss_bytes.len() {
            return Err(UnevenColumns {
                seconds: seconds.len(),
                cpu_seconds: cpu_seconds.len(),
                pss_bytes: pss_bytes.len(),
            });
        }
        let rows = seconds.into_iter().zip(cpu_seconds).zip(pss_bytes);
        let sample = |((seconds, cpu_seconds), pss_bytes)| UsageSample {
            seconds,
            cpu_seconds,
            pss_bytes,
        };
        Ok(Self {
            samples: rows.map(sample).collect(),
        })
    }
}

impl From<UsageSeries> for Columns {
    fn from(series: UsageSeries) -> Self {
        let samples = || series.samples.iter();
        Self {
            seconds: samples().map(|sample| sample.seconds).collect(),
            cpu_seconds: samples().map(|sample| sample.cpu_seconds).collect(),
            pss_bytes: samples().map(|sample| sample.pss_bytes).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(sizes: &[u64]) -> UsageSeries {
        let sample = |(index, pss_bytes): (usize, &u64)| UsageSample {
            seconds: 0.25 * (index + 1) as f64,
            cpu_seconds: 0.125 * (index + 1) as f64,
            pss_bytes: Some(*pss_bytes),
        };
        UsageSeries {
            samples: sizes.iter().enumerate().map(sample).collect(),
        }
    }

    #[test]
    fn thinning_keeps_the_peak_the_end_and_all_cpu_time() {
        let thinned = series(&[7, 5, 1, 9, 3]).thinned(2);
        let seconds: Vec<f64> = thinned.samples.iter().map(|s| s.seconds).collect();
        let sizes: Vec<u64> = thinned.samples.iter().filter_map(|s| s.pss_bytes).collect();
        assert_eq!((seconds, sizes), (vec![0.5, 1.0, 1.25], vec![7, 9, 3]));
        assert_eq!(thinned.samples[2].cpu_seconds, 0.625);
        assert_eq!(series(&[4, 2]).thinned(0), series(&[4, 2]));
        assert_eq!(series(&[]).thinned(3), series(&[]));
    }

    #[test]
    fn it_is_written_in_columns_and_read_back() {
        let mut series = series(&[4096, 8192, 1]);
        series.samples[2].pss_bytes = None;
        let json = serde_json::to_string(&series).unwrap();
        assert_eq!(
            json,
            r#"{"seconds":[0.25,0.5,0.75],"cpu_seconds":[0.125,0.25,0.375],"pss_bytes":[4096,8192,null]}"#
        );
        assert_eq!(serde_json::from_str::<UsageSeries>(&json).unwrap(), series);
    }

    #[test]
    fn columns_of_different_lengths_are_an_error_that_says_so() {
        let json = r#"{"seconds":[0.25,0.5],"cpu_seconds":[0.125],"pss_bytes":[4096,8192]}"#;
        let error = serde_json::from_str::<UsageSeries>(json).unwrap_err();
        assert!(
            error.to_string().contains("2 times, 1 CPU times and 2"),
            "{error}"
        );
    }
}
