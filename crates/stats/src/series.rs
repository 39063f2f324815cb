//! How a trial went over its measurement: throughput in each bin, CPU and memory from sample to sample.

use deadheat_model::{Observation, observation::Bin, trial::Resources, usage::UsageSeries};

use crate::steadiness;

/// What a process tree used between two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// From when, in seconds since the measurement began.
    pub from_seconds: f64,
    /// Until when.
    pub to_seconds: f64,
    /// CPUs that were busy: CPU time over time.
    pub cores: f64,
    /// PSS of the tree in bytes at the end, the largest where samples were merged; `None` if it could not be read.
    pub pss_bytes: Option<u64>,
}

/// Verified answers per second in each bin of full width, which is what steadiness is judged by; in each `merged` of
/// them together, if that is more than one. Bins that are left over at the end are left out.
pub fn throughput(load: &Observation, merged: usize) -> Vec<f64> {
    let merged = merged.max(1);
    let bins = &load.bins[..steadiness::whole_bins(load)];
    let seconds = load.bin.as_secs_f64() * merged as f64;
    let rate = |bins: &[Bin]| bins.iter().map(|bin| bin.succeeded).sum::<u64>() as f64 / seconds;
    bins.chunks_exact(merged).map(rate).collect()
}

/// What the tree used from one sample to the next, the first from the beginning; of so many samples together. Empty for
/// a record without samples.
pub fn usage(resources: &Resources, merged: usize) -> Vec<Usage> {
    let series = resources
        .series
        .as_ref()
        .map(|series| series.thinned(merged));
    let UsageSeries { samples } = series.unwrap_or_default();
    let mut before = (0.0, 0.0);
    let mut found = Vec::with_capacity(samples.len());
    for sample in samples {
        let (seconds, cpu_seconds) = before;
        // Two samples at one moment, or a clock that a hand has set in the file: there is no rate between them.
        if sample.seconds <= seconds {
            continue;
        }
        found.push(Usage {
            from_seconds: seconds,
            to_seconds: sample.seconds,
            cores: (sample.cpu_seconds - cpu_seconds).max(0.0) / (sample.seconds - seconds),
            pss_bytes: sample.pss_bytes,
        });
        before = (sample.seconds, sample.cpu_seconds);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::{trial::CpuSource, usage::UsageSample};

    use super::*;

    fn resources(samples: &[(f64, f64, u64)]) -> Resources {
        let sample = |&(seconds, cpu_seconds, pss_bytes): &(f64, f64, u64)| UsageSample {
            seconds,
            cpu_seconds,
            pss_bytes: Some(pss_bytes),
        };
        let samples: Vec<UsageSample> = samples.iter().map(sample).collect();
        Resources {
            cpu_source: CpuSource::CgroupV2,
            cpu_seconds: 0.0,
            span_seconds: 0.0,
            pss_idle_bytes: None,
            pss_mean_bytes: None,
            pss_peak_bytes: None,
            samples: 0,
            processes: 0,
            threads: 0,
            voluntary_switches: None,
            involuntary_switches: None,
            minor_faults: 0,
            major_faults: 0,
            series: (!samples.is_empty()).then_some(UsageSeries { samples }),
        }
    }

    #[test]
    fn cores_are_cpu_time_over_the_time_between_samples_and_the_first_count_from_the_beginning() {
        let found = usage(
            &resources(&[(0.5, 0.25, 10), (1.0, 1.25, 30), (3.0, 1.75, 20)]),
            1,
        );
        let cores: Vec<f64> = found.iter().map(|usage| usage.cores).collect();
        assert_eq!(cores, [0.5, 2.0, 0.25]);
        assert_eq!((found[2].from_seconds, found[2].to_seconds), (1.0, 3.0));
        assert_eq!(found[1].pss_bytes, Some(30));
    }

    #[test]
    fn merged_samples_keep_the_cpu_time_and_the_larger_memory() {
        let found = usage(
            &resources(&[(0.5, 0.25, 30), (1.0, 1.25, 10), (2.0, 1.75, 20)]),
            2,
        );
        let cores: Vec<f64> = found.iter().map(|usage| usage.cores).collect();
        assert_eq!(cores, [1.25, 0.5]);
        assert_eq!(
            (found[0].pss_bytes, found[1].pss_bytes),
            (Some(30), Some(20))
        );
    }

    #[test]
    fn no_samples_and_no_time_between_them_give_no_rates() {
        assert!(usage(&resources(&[]), 1).is_empty());
        let found = usage(
            &resources(&[(0.5, 0.25, 1), (0.5, 0.5, 1), (1.0, 0.5, 1)]),
            1,
        );
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].cores, 0.5);
    }

    #[test]
    fn throughput_is_that_of_the_whole_bins() {
        let bin = |succeeded| Bin {
            succeeded,
            failed: 3,
        };
        let load = Observation {
            window: Duration::from_millis(2_600),
            bin: Duration::from_millis(500),
            bins: [100, 110, 90, 100, 120, 20].map(bin).to_vec(),
            ..Observation::default()
        };
        assert_eq!(throughput(&load, 1), [200.0, 220.0, 180.0, 200.0, 240.0]);
        assert_eq!(throughput(&load, 2), [210.0, 190.0]);
        assert_eq!(throughput(&load, 0).len(), 5);
        assert!(throughput(&Observation::default(), 1).is_empty());
    }
}
