//! Percentiles of response times in heats: one figure for each member and heat.

use std::collections::BTreeMap;

use deadheat_model::{
    HeatRecord, LatencyHistogram,
    heat::{PerConnection, SliceRecord},
};

use super::{
    Quantity, Settings,
    recorded::{self, Numbering},
    within::Estimate,
};
use crate::{
    interval::median,
    uneven::{self, Uneven},
};

/// A percentile of one member's response times in one heat, from the merged histograms of its slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// The member's number.
    pub member: usize,
    /// The response time at the percentile, in seconds (above 0).
    pub seconds: f64,
    /// Response times behind it.
    pub samples: u64,
}

/// Whether this many samples carry a percentile (0 to 100): [`Settings::beyond`] of them must lie beyond it. Of fewer, a
/// single pause of the server decides what the percentile is.
pub fn is_carried(percent: f64, samples: u64, settings: &Settings) -> bool {
    // In thousandths of a sample, so that 1,000 samples at 90 % are not one too few by rounding.
    let beyond = samples as f64 * (100.0 - percent) / 100.0;
    (beyond * 1e3).round() >= settings.beyond as f64 * 1e3
}

/// The samples that carry a percentile (0 to 100), which may be no whole number.
pub(crate) fn needed(percent: f64, settings: &Settings) -> f64 {
    settings.beyond as f64 * 100.0 / (100.0 - percent)
}

/// Of the samples that are to lie beyond a percentile over all heats, each heat has one in this many at least.
const SHARE_OF_HEAT: u64 = 10;

/// What is asked of one heat where the heats together have to carry a percentile.
pub(crate) fn of_a_heat(settings: &Settings) -> Settings {
    Settings {
        beyond: settings.beyond / SHARE_OF_HEAT,
        ..*settings
    }
}

/// Turns at a rate are short, so that a queue which takes long to build up is not seen whole. From this share of a server's
/// capacity on, that hides most of it: at 90 %, the p99 of turns was 0.16 to 0.28 of that of an uninterrupted load, of three
/// servers in five; at 70 % nothing was to be seen (docs/evidence, `equal-work`).
const NEAR: f64 = 0.8;

/// Of turns in which this share more was answered than fell due (0.01: 1 %), many began with a queue from the time before they
/// count. The slowest hundredth of their answers, and so the p99, is that queue.
const QUEUED: f64 = 0.01;

/// Whether percentiles of turns at a rate say little: the rate is near to what the server answered in the closed loops of its
/// heats (`capacities`), both per second, or it answered more in turns than fell due (`answered`, as a share of that).
pub(crate) fn is_near_capacity(
    rate: f64,
    capacities: impl Iterator<Item = f64>,
    answered: Option<f64>,
) -> bool {
    median(capacities).is_some_and(|capacity| rate > NEAR * capacity)
        || answered.is_some_and(|answered| answered > 1.0 + QUEUED)
}

/// The estimates of each heat, for [`Fit::new`](super::Fit::new), from its percentiles. What too few samples carry is
/// left out.
pub fn estimates(
    percent: f64,
    heats: &[Vec<Percentile>],
    settings: &Settings,
) -> Vec<Vec<Estimate>> {
    let carried =
        |one: &&Percentile| one.seconds > 0.0 && is_carried(percent, one.samples, settings);
    let estimate = |one: &Percentile| Estimate {
        member: one.member,
        value: Quantity::Latency.advantage(one.seconds),
        scatter: None,
    };
    heats
        .iter()
        .map(|heat| heat.iter().filter(carried).map(estimate).collect())
        .collect()
}

/// The percentiles of each heat as estimates, of members whose heats together carry the percentile.
pub(crate) fn estimates_together(
    percent: f64,
    mut heats: Vec<Vec<Percentile>>,
    settings: &Settings,
) -> Vec<Vec<Estimate>> {
    let mut samples: BTreeMap<usize, u64> = BTreeMap::new();
    for one in heats.iter().flatten() {
        *samples.entry(one.member).or_default() += one.samples;
    }
    for heat in &mut heats {
        heat.retain(|one| is_carried(percent, samples[&one.member], settings));
    }
    estimates(percent, &heats, &of_a_heat(settings))
}

/// Waiting times of a member at a closed loop. Percentiles count answers: of a server that answers a connection ten times in
/// a row, nine of ten answers are quick, and all of its connections wait. So none of these ranks anybody.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WaitingTimes {
    /// The mean by Little's law: connections ÷ throughput.
    pub(crate) mean_seconds: f64,
    /// The median and the 99th percentile of service time: the medians over the heats whose answers carry them.
    pub(crate) percentiles: [Option<f64>; 2],
    /// How its connections were served unevenly, if so.
    pub(crate) uneven: Option<Uneven>,
}

impl WaitingTimes {
    /// The waiting times of a member that answered `per_second` while this number of requests was always `in_flight`.
    /// `heats` are the heats in which it took part, each with its place there.
    pub(crate) fn new(
        in_flight: u32,
        per_second: f64,
        heats: &[(&HeatRecord, usize)],
        settings: &Settings,
    ) -> Self {
        let mean_seconds = f64::from(in_flight) / per_second;
        let times = heats.iter();
        let times = times.map(|(heat, place)| recorded::times(recorded::slices_of(heat, *place)));
        let times: Vec<LatencyHistogram> = times.collect();
        let percentiles = [50.0, 99.0].map(|percent| {
            median(times.iter().filter_map(|times| {
                let carried = is_carried(percent, times.count(), settings);
                let time = times.quantile(percent / 100.0).filter(|_| carried)?;
                Some(time.as_secs_f64())
            }))
        });
        let slices = heats
            .iter()
            .flat_map(|(heat, place)| recorded::slices_of(heat, *place));
        let slices: Vec<&SliceRecord> = slices.collect();
        let all = slices.len();
        let answers = slices.iter().filter_map(|slice| slice.per_connection);
        let mut answers: Vec<PerConnection> = answers.collect();
        // The most uneven ones first: if the one in the middle is uneven, so are half of the slices.
        answers.sort_by(|one, other| {
            let share = |of: &PerConnection| of.least as f64 / of.median.max(1) as f64;
            share(one).total_cmp(&share(other))
        });
        // Where connections were made again, making them is a part of the mean alone.
        let stayed = 2 * answers.len() > all;
        let usual = answers.get(answers.len() / 2).copied().filter(|_| stayed);
        let in_a_row = |p50: f64| uneven::in_a_row(p50, mean_seconds).filter(|_| stayed);
        Self {
            mean_seconds,
            percentiles,
            uneven: usual
                .and_then(uneven::starved)
                .or_else(|| percentiles[0].and_then(in_a_row)),
        }
    }
}

/// A percentile (0 to 100) of each member's times in a heat ([`recorded::times`]).
pub fn percentiles(
    percent: f64,
    record: &HeatRecord,
    numbering: &impl Numbering,
) -> Vec<Percentile> {
    let of = |place: usize| {
        let member = numbering.number(record, place)?;
        if recorded::failure(record, place).is_some() {
            return None;
        }
        let times = recorded::times(recorded::slices_of(record, place));
        Some(Percentile {
            member,
            seconds: times.quantile(percent / 100.0)?.as_secs_f64(),
            samples: times.count(),
        })
    };
    (0..record.members.len()).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_samples_lie_beyond_a_percentile() {
        let settings = Settings::default();
        for (percent, least) in [(50.0, 200), (90.0, 1_000), (99.0, 10_000), (99.9, 100_000)] {
            assert!(is_carried(percent, least, &settings), "{percent}");
            assert!(!is_carried(percent, least - 1, &settings), "{percent}");
        }
        assert!(!is_carried(100.0, u64::MAX, &settings));
    }

    #[test]
    fn what_too_few_samples_carry_is_left_out() {
        let one = |member, seconds, samples| Percentile {
            member,
            seconds,
            samples,
        };
        let heats = vec![
            vec![
                one(0, 0.002, 10_000),
                one(1, 0.004, 9_000),
                one(2, 0.004, 20_000),
            ],
            vec![one(0, 0.002, 999), one(1, 0.004, 999), one(2, 0.004, 1_000)],
        ];
        let strict = estimates(99.0, &heats, &Settings::default());
        assert_eq!((strict[0].len(), strict[1].len()), (2, 0));
        let found = estimates_together(99.0, heats, &Settings::default());
        let members =
            |heat: usize| -> Vec<usize> { found[heat].iter().map(|one| one.member).collect() };
        assert_eq!((members(0), members(1)), (vec![0, 2], vec![2]));
        // Twice the time is half as good.
        let ahead = found[0][0].value - found[0][1].value;
        assert!((ahead.exp() - 2.0).abs() < 1e-12);
    }
}
