//! The figures of each heat of a load.

use deadheat_model::{TargetId, heats::SessionRecord};

use crate::{
    heats::{Quantity, Settings, ranking::bounded, recorded, within::Estimate},
    order_statistic::median,
    standings::LoadAt,
    versus::Metric,
};

/// A load of a session.
pub(super) struct Load<'a> {
    pub(super) at: LoadAt<'a>,
    /// For each metric a member's number and the logarithm of its figure, once for each heat that has it.
    logs: Vec<(Metric, Vec<(usize, f64)>)>,
    bounded: Vec<bool>,
}

impl<'a> Load<'a> {
    /// The load at this place of the plan.
    pub(super) fn new(record: &'a SessionRecord, index: usize, settings: Settings) -> Self {
        let at = LoadAt::new(record, index, settings);
        let course = at.course();
        let cost = at.sliced(&course, Quantity::Cost);
        let mut all = vec![(Metric::CpuPerRequest, logs(Quantity::Cost, 1e6, &cost))];
        if at.load.point.open.is_some() {
            let times = |percent| logs(Quantity::Latency, 1.0, &at.timed(percent));
            all.push((Metric::ResponseTimeP50, times(50.0)));
            all.push((Metric::ResponseTimeP99, times(99.0)));
        } else {
            // The throughput of an open loop is the rate that was asked for.
            let throughput = at.sliced(&course, Quantity::Throughput);
            let logs = logs(Quantity::Throughput, 1.0, &throughput);
            all.push((Metric::Throughput, logs));
        }
        let memory = (0..at.load.members()).flat_map(|number| {
            let peaks = at.sound(number).filter_map(|one| one.memory_here()?.peak);
            peaks.map(move |bytes| (number, (bytes as f64).ln()))
        });
        all.push((Metric::MemoryPeak, memory.collect()));
        Self {
            bounded: bounded(&course, &settings),
            logs: all,
            at,
        }
    }

    pub(super) fn is(&self, workload: &str, point: &str) -> bool {
        self.at.load.workload == workload && self.at.load.point.id == point
    }

    /// The number of a stack that was planned here.
    pub(super) fn number(&self, target: &TargetId) -> Option<usize> {
        let mut targets = self.at.load.targets.iter();
        targets.position(|one| one == target)
    }

    /// The logarithm of a member's figure in each heat that has it.
    pub(super) fn logs(&self, metric: Metric, number: usize) -> Vec<f64> {
        let mut metrics = self.logs.iter();
        let of_metric = metrics.find(|(one, _)| *one == metric);
        let logs = of_metric.into_iter().flat_map(|(_, logs)| logs);
        let own = logs.filter(|(one, log)| *one == number && log.is_finite());
        own.map(|(_, log)| *log).collect()
    }

    /// Whether a stack's throughput is only a lower bound.
    pub(super) fn is_bound(&self, number: usize) -> bool {
        self.at.load.leads() && self.bounded[number]
    }

    /// Heats in which a member took part, and why it failed in those in which it did.
    pub(super) fn failures(&self, number: usize) -> (usize, Vec<String>) {
        let failures = self.at.places(number);
        let failures = failures.filter_map(|(heat, place)| recorded::failure(heat, place));
        (self.at.places(number).count(), failures.collect())
    }

    /// The rate of an open loop: the median over heats.
    pub(super) fn offered(&self, number: usize) -> Option<f64> {
        let members = self.at.sound(number);
        median(members.filter_map(|one| one.offered_per_second))
    }
}

/// Estimates as logarithms of figures, in units of which there are so many to the quantity's own.
fn logs(quantity: Quantity, units: f64, heats: &[Vec<Estimate>]) -> Vec<(usize, f64)> {
    let estimates = heats.iter().flatten();
    let log = |one: &Estimate| (one.member, (quantity.figure(one.value) * units).ln());
    estimates.map(log).collect()
}
