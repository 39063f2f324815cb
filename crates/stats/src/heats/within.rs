//! Inside one heat: everything that was counted at one load point, and from its rounds to an estimate for each member.
//!
//! A member's figure in a heat is a total: its answers over its time, or its CPU time over its answers, of all rounds.
//! So whatever a server does now and then, such as a pause for its garbage collector, counts for as much as it takes.
//! The machine's noise lasts for seconds and so is common to the slices of a round. It has the same share in the totals
//! of all members of the heat, and cancels in their ratios. This requires the same rounds of all members, so a round in
//! which a member has no slice does not count.
//!
//! The error of a total within the heat is that of a ratio estimator (Cochran, *Sampling Techniques*, 1977, § 6.4),
//! from what the rounds' linearised values leave after the mean of their round, times what neighbouring rounds have in
//! common.

use schemars::JsonSchema;
use serde::Serialize;

/// The estimate of a member from one heat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The member's number.
    pub member: usize,
    /// Its advantage in this heat: the logarithm of the figure. It can be compared within the heat only.
    pub value: f64,
    /// The scatter from round to round; `None` with too few rounds for an estimate.
    pub scatter: Option<Scatter>,
}

/// A member's scatter from round to round, without the noise that all members of a round share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// The variance of one round, as a share of the figure.
    pub variance: f64,
    /// The factor by which the correlation of neighbouring rounds raises the variance of the mean (1 or more).
    pub inflation: f64,
    /// Number of rounds.
    pub rounds: usize,
}

impl Scatter {
    /// The variance of the member's estimate that the scatter within the heat explains.
    pub(crate) fn of_estimate(&self) -> f64 {
        self.variance * self.inflation / self.rounds as f64
    }
}

/// The minimum number of rounds for an estimate of the scatter within a heat.
const MIN_ROUNDS: usize = 5;

/// The estimates of each heat by a quantity, as input of [`Fit::new`](super::Fit::new).
pub fn of_heats(heats: &[Heat], quantity: Quantity) -> Vec<Vec<Estimate>> {
    let heats = heats.iter();
    heats.map(|heat| of_heat(heat, quantity)).collect()
}

/// The estimates of one heat by a quantity that slices have, in the order of the members. A member without answers or
/// measurements has none.
pub fn of_heat(heat: &Heat, quantity: Quantity) -> Vec<Estimate> {
    let known = |round: &super::Round| -> Vec<(usize, Amounts)> {
        let slices = round.slices.iter();
        let parts = slices.filter_map(|slice| Some((slice.member, quantity.part(slice)?)));
        parts.collect()
    };
    let rounds: Vec<_> = heat.rounds.iter().map(known).collect();
    let mut members: Vec<usize> = rounds.iter().flatten().map(|(member, _)| *member).collect();
    members.sort_unstable();
    members.dedup();
    let of = |member: usize| -> Vec<Amounts> {
        let complete = rounds.iter().filter(|round| round.len() == members.len());
        let parts = complete.flat_map(|round| round.iter().filter(|(own, _)| *own == member));
        parts.map(|(_, part)| *part).collect()
    };
    let found = members.iter().map(|member| (*member, of(*member)));
    let found: Vec<(usize, Vec<Amounts>, f64)> = found
        .filter_map(|(member, parts)| {
            let figure = Amounts::sum(&parts).figure();
            let is_figure = figure > 0.0 && figure.is_finite();
            is_figure.then_some((member, parts, figure))
        })
        .collect();
    let scatters = scatters(found.iter().map(|(_, parts, _)| parts));
    let estimate = |((member, _, figure), scatter): ((usize, _, f64), _)| Estimate {
        member,
        value: quantity.advantage(figure),
        scatter,
    };
    found.into_iter().zip(scatters).map(estimate).collect()
}

/// The members that appear together, directly or through others, each group in ascending order.
pub(super) fn groups(
    members: usize,
    together: impl Iterator<Item = Vec<usize>>,
) -> Vec<Vec<usize>> {
    let mut group: Vec<Option<usize>> = vec![None; members];
    for these in together {
        let Some(first) = these.first() else { continue };
        let into = group[*first].unwrap_or(*first);
        for member in these {
            match group[member] {
                None => group[member] = Some(into),
                Some(from) => {
                    let moved = group.iter_mut().filter(|group| **group == Some(from));
                    moved.for_each(|group| *group = Some(into));
                }
            }
        }
    }
    let of = |name: usize| -> Vec<usize> {
        let members = 0..members;
        members
            .filter(|member| group[*member] == Some(name))
            .collect()
    };
    let groups = (0..members).map(of);
    groups.filter(|group| !group.is_empty()).collect()
}

/// Each member's own scatter, from its parts in the rounds that all of them have. What is left of a round's value after
/// the mean of its round holds a share of all members' noise: with k members of variances σⱼ² its variance is
/// σⱼ²(1 − 2/k) + Σσ²/k², which is solved for σⱼ² here.
fn scatters<'a>(members: impl Iterator<Item = &'a Vec<Amounts>>) -> Vec<Option<Scatter>> {
    let mut series: Vec<Vec<f64>> = members.map(|parts| linearised(parts)).collect();
    let members = series.len();
    let rounds = series.first().map_or(0, Vec::len);
    if members < 2 || rounds < MIN_ROUNDS {
        return vec![None; members];
    }
    let k = members as f64;
    for round in 0..rounds {
        let common = series.iter().map(|series| series[round]).sum::<f64>() / k;
        series.iter_mut().for_each(|series| series[round] -= common);
    }
    let found: Vec<Scatter> = series.iter().map(|series| scatter(series)).collect();
    let total = found.iter().map(|one| one.variance).sum::<f64>() / (1.0 - 1.0 / k);
    let own = |seen: f64| match members {
        2 => total / 2.0,
        // Chance can make it negative; some of the member's scatter is always its own.
        _ => ((seen - total / (k * k)) / (1.0 - 2.0 / k)).max(seen / 10.0),
    };
    let of = |scatter: Scatter| Scatter {
        variance: own(scatter.variance),
        ..scatter
    };
    found.into_iter().map(|scatter| Some(of(scatter))).collect()
}

/// The influence of each part on the logarithm of the total's figure, times the number of parts. The mean is 0.
fn linearised(parts: &[Amounts]) -> Vec<f64> {
    let mean = Amounts::sum(parts);
    let n = parts.len() as f64;
    let of = |part: &Amounts| n * (part.amount / mean.amount - part.per / mean.per);
    parts.iter().map(of).collect()
}

/// The variance of a time series, and the factor that its autocorrelation adds: 1 + 2 Σ ρ over the first lags, as long
/// as they are positive (Geyer, Statistical Science 7, 1992, in the simplest form).
fn scatter(values: &[f64]) -> Scatter {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let at = |lag: usize| -> f64 {
        let pairs = values.iter().zip(&values[lag..]);
        pairs.map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let squares = at(0);
    let correlations = (1..=n / 4).map(|lag| at(lag) / squares);
    let correlations = correlations.take_while(|correlation| *correlation > 0.0);
    Scatter {
        variance: squares / (n - 1) as f64,
        inflation: if squares > 0.0 {
            1.0 + 2.0 * correlations.sum::<f64>()
        } else {
            1.0
        },
        rounds: n,
    }
}

/// One load point: every heat of it, in the order in which the heats were run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatSeries {
    /// Number of members. They are numbered from 0.
    pub members: usize,
    /// The heats. A member may be missing from any of them.
    pub heats: Vec<Heat>,
}

/// The rounds of one heat: its servers were alive together, from start to stop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    /// The rounds in the order in which they were run.
    pub rounds: Vec<Round>,
}

/// One turn of the heat's members.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// At most one slice of each member. A slice that does not count is left out.
    pub slices: Vec<Slice>,
}

/// One member's stretch of load in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The member's number.
    pub member: usize,
    /// Verified answers.
    pub answers: f64,
    /// The time that they took, in seconds.
    pub seconds: f64,
    /// CPU time of the server in it, in seconds; `None` if it was not measured.
    pub cpu_seconds: Option<f64>,
    /// Whether the load generator was the limit ([`limit_of`](super::limit_of)), so that the figure is a lower bound.
    pub bounded: bool,
}

/// The two amounts of a figure that is a ratio, such as answers per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amounts {
    pub(super) amount: f64,
    pub(super) per: f64,
}

impl Amounts {
    /// The sum of these amounts.
    pub(super) fn sum(parts: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> f64| parts.iter().map(of).sum();
        Self {
            amount: sum(|part| part.amount),
            per: sum(|part| part.per),
        }
    }

    pub(super) fn figure(self) -> f64 {
        self.amount / self.per
    }
}

/// The compared quantity. The larger its [`advantage`](Quantity::advantage), the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Verified answers per second: more is better.
    Throughput,
    /// CPU time per request: less is better.
    Cost,
    /// A percentile of response time: less is better.
    Latency,
}

impl Quantity {
    /// The logarithm of a figure, with the sign by which more is better. A figure of 0 is infinitely far away.
    pub fn advantage(self, figure: f64) -> f64 {
        match self {
            Quantity::Throughput => figure.ln(),
            Quantity::Cost | Quantity::Latency => -figure.ln(),
        }
    }

    /// The figure of an advantage, in the unit that it was taken from.
    pub fn figure(self, advantage: f64) -> f64 {
        match self {
            Quantity::Throughput => advantage.exp(),
            Quantity::Cost | Quantity::Latency => (-advantage).exp(),
        }
    }

    /// The amounts of a slice; `None` if they were not measured.
    pub(super) fn part(self, slice: &Slice) -> Option<Amounts> {
        let (amount, per) = match self {
            Quantity::Throughput => (slice.answers, slice.seconds),
            Quantity::Cost => (slice.cpu_seconds?, slice.answers),
            Quantity::Latency => return None,
        };
        Some(Amounts { amount, per })
    }
}
