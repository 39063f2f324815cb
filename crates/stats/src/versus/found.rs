//! What one trial found of each metric.

use std::collections::BTreeMap;

use deadheat_model::{LatencyHistogram, Observation};

use super::Metric;
use crate::figures::requests_for;

/// The metrics of one trial, in their units. A metric that it says nothing of is not in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found(BTreeMap<Metric, f64>);

impl Found {
    /// Of a load alone, when nothing is known of the server's process. The throughput of an open loop is the rate that
    /// was asked for, so that it has none; its service times are not what a user waits, so that it has response times.
    pub fn of_load(load: &Observation) -> Self {
        let mut found = Self::default();
        match &load.open {
            None => {
                found.put(Metric::Throughput, Some(load.throughput()));
                found.times(
                    &load.service_time,
                    Metric::ServiceTimeP50,
                    Metric::ServiceTimeP99,
                );
            }
            Some(open) => found.times(
                &open.response_time,
                Metric::ResponseTimeP50,
                Metric::ResponseTimeP99,
            ),
        }
        found
    }

    /// The figure of `metric`.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.0.get(&metric).copied()
    }

    fn times(&mut self, times: &LatencyHistogram, median: Metric, p99: Metric) {
        for (metric, percent) in [(median, 50.0), (p99, 99.0)] {
            let enough = times.count() >= requests_for(percent);
            let time = times.quantile(percent / 100.0).filter(|_| enough);
            self.put(metric, time.map(|time| time.as_secs_f64()));
        }
    }

    /// A figure of 0 has no logarithm, and says that nothing was counted.
    fn put(&mut self, metric: Metric, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite() && *value > 0.0) {
            self.0.insert(metric, value);
        }
    }
}

/// The metrics that every trial has, in their order. One that some trials lack would be of other trials than the rest.
pub fn metrics<'a>(trials: impl Iterator<Item = &'a Found> + Clone) -> Vec<Metric> {
    let in_all = |metric: &Metric| {
        let mut trials = trials.clone();
        trials.all(|found| found.get(*metric).is_some())
    };
    Metric::ALL.into_iter().filter(in_all).collect()
}
