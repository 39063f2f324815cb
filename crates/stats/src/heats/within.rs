//! From the rounds of one heat to an estimate for each of its members.
//!
//! A slice is taken relative to its round, because the machine's noise lasts for seconds and so is common to the slices
//! of a round. In a complete round that is the slice's logarithm minus the mean of its round. Where a slice is missing,
//! the mean of the others would lie too high or too low by what the missing member is better or worse. So each round is
//! fitted as the sum of a round's level and its members' estimates, in turn until neither changes; with complete rounds
//! this gives the plain means.
//!
//! A member's estimate is the trimmed mean over the rounds (20 % from either end), which a few disturbed slices do not
//! move. Its error within the heat is that of Tukey & McLaughlin (Sankhyā A 25, 1963), from the Winsorised variance,
//! times what neighbouring rounds have in common.

use super::{Heat, Quantity, Settings};

/// What a heat says about one of its members.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The member's number.
    pub member: usize,
    /// Its advantage in this heat: the logarithm of the figure. It can be compared within the heat only.
    pub value: f64,
    /// How the member scatters from round to round; `None` with fewer rounds than say something about it.
    pub scatter: Option<Scatter>,
}

/// How a member scatters from round to round, apart from what is common to the round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// The variance of one slice's logarithm, as it counts for the trimmed mean.
    pub variance: f64,
    /// By how many times neighbouring rounds that are alike make the variance of the mean larger (1 or more).
    pub inflation: f64,
    /// Rounds.
    pub rounds: usize,
}

impl Scatter {
    /// The variance of the member's estimate that the scatter within the heat explains.
    pub fn of_estimate(&self) -> f64 {
        self.variance * self.inflation / self.rounds as f64
    }
}

/// Fewer rounds say too little about the scatter within a heat.
const LEAST_ROUNDS: usize = 5;
/// The fit of incomplete rounds ends when nothing moves by more than this (on the logarithm), or after so many steps.
const STILL: f64 = 1e-9;
const STEPS: usize = 100;

/// The estimates of one heat by a quantity that slices have ([`estimates`]).
pub fn of_heat(heat: &Heat, quantity: Quantity, settings: &Settings) -> Vec<Vec<Estimate>> {
    let rounds = heat.rounds.iter().map(|round| {
        let slices = round.slices.iter();
        let values = slices.filter_map(|slice| Some((slice.member, quantity.of(slice)?)));
        values.collect()
    });
    estimates(&rounds.collect::<Vec<_>>(), settings)
}

/// The same of each of these heats: what [`Fit::of`](super::Fit::of) takes.
pub fn of_heats(heats: &[Heat], quantity: Quantity, settings: &Settings) -> Vec<Vec<Estimate>> {
    let heats = heats.iter();
    heats
        .flat_map(|heat| of_heat(heat, quantity, settings))
        .collect()
}

/// The estimates of one heat, from its rounds as (member, advantage). Members that are not connected by common rounds
/// cannot be compared; each connected group is given apart, as if it were a heat of its own.
///
/// An advantage of −∞ is a slice in which nothing was answered: it is the member's worst, and not part of its round's
/// mean. A member with more of them than are trimmed has no estimate.
pub fn estimates(rounds: &[Vec<(usize, f64)>], settings: &Settings) -> Vec<Vec<Estimate>> {
    let members = rounds.iter().flatten().map(|(member, _)| member + 1);
    let members = members.max().unwrap_or(0);
    let together = rounds
        .iter()
        .map(|round| round.iter().map(|(member, _)| *member).collect());
    let groups = groups(members, together);
    let ours = |group: &[usize]| -> Vec<Vec<(usize, f64)>> {
        let place = |member| group.iter().position(|other| *other == member);
        let rounds = rounds.iter().map(|round| {
            let slices = round.iter();
            let slices = slices.filter_map(|(member, value)| Some((place(*member)?, *value)));
            slices.collect::<Vec<_>>()
        });
        rounds.filter(|round| !round.is_empty()).collect()
    };
    groups
        .iter()
        .map(|group| {
            let mut found = of_group(group.len(), &ours(group), settings);
            for estimate in &mut found {
                estimate.member = group[estimate.member];
            }
            found
        })
        .filter(|group| !group.is_empty())
        .collect()
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

/// The estimates of connected members, numbered from 0 without gaps.
fn of_group(members: usize, rounds: &[Vec<(usize, f64)>], settings: &Settings) -> Vec<Estimate> {
    // A round in which nobody answered has no level.
    let mut levels: Vec<Option<f64>> = vec![None; rounds.len()];
    let mut values: Vec<f64> = vec![0.0; members];
    let mut series: Vec<Vec<f64>> = vec![Vec::new(); members];
    for _ in 0..STEPS {
        let before = values.clone();
        for (level, round) in levels.iter_mut().zip(rounds) {
            let told = round
                .iter()
                .filter(|(member, value)| value.is_finite() && values[*member].is_finite());
            let (mut sum, mut count) = (0.0, 0_usize);
            for (member, value) in told {
                sum += value - values[*member];
                count += 1;
            }
            *level = (count > 0).then(|| sum / count as f64);
        }
        series.iter_mut().for_each(Vec::clear);
        for (level, round) in levels.iter().zip(rounds) {
            for (member, value) in round {
                series[*member].push(value - level.unwrap_or(0.0));
            }
        }
        for (value, series) in values.iter_mut().zip(&series) {
            *value = trimmed_mean(series, settings.trim);
        }
        // What all have in common belongs to the rounds.
        let finite = || values.iter().filter(|value| value.is_finite());
        let common = finite().sum::<f64>() / finite().count().max(1) as f64;
        values.iter_mut().for_each(|value| *value -= common);
        let moved = |(a, b): (&f64, &f64)| a.is_finite() && (a - b).abs() > STILL;
        if !values.iter().zip(&before).any(moved) {
            break;
        }
    }
    let levels: Vec<f64> = levels.into_iter().flatten().collect();
    let level = trimmed_mean(&levels, settings.trim);
    let own = own_variances(&series, settings.trim);
    let estimate = |(member, value): (usize, f64)| Estimate {
        member,
        value: value + level,
        scatter: own[member],
    };
    let found = values.into_iter().enumerate();
    let found = found.filter(|(_, value)| value.is_finite());
    found.map(estimate).collect()
}

/// The mean of what remains after the share `trim` (0 to below a half) of the values is taken from either end.
pub fn trimmed_mean(values: &[f64], trim: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = cut(sorted.len(), trim);
    let kept = &sorted[cut..sorted.len() - cut];
    kept.iter().sum::<f64>() / kept.len() as f64
}

fn cut(values: usize, trim: f64) -> usize {
    (values as f64 * trim) as usize
}

/// Each member's own scatter. What is left of a slice after its round's level holds a share of all members' noise:
/// with k members of variances σⱼ² its variance is σⱼ²(1 − 2/k) + Σσ²/k², which is solved for σⱼ² here.
fn own_variances(series: &[Vec<f64>], trim: f64) -> Vec<Option<Scatter>> {
    let found: Vec<Option<Scatter>> = series.iter().map(|series| scatter(series, trim)).collect();
    let k = series.len() as f64;
    let sum: f64 = found.iter().flatten().map(|scatter| scatter.variance).sum();
    let all = found.iter().flatten().count() == series.len();
    if !all || series.len() < 2 {
        return vec![None; series.len()];
    }
    let total = sum / (1.0 - 1.0 / k);
    let own = |seen: f64| match series.len() {
        2 => total / 2.0,
        // Chance can make it negative; some of the member's scatter is always its own.
        _ => ((seen - total / (k * k)) / (1.0 - 2.0 / k)).max(seen / 10.0),
    };
    let of = |scatter: Scatter| Scatter {
        variance: own(scatter.variance),
        ..scatter
    };
    found.into_iter().map(|scatter| scatter.map(of)).collect()
}

/// The Winsorised variance of a series in time, scaled so that variance ÷ rounds is that of the trimmed mean, and how
/// much its autocorrelation adds: 1 + 2 Σ ρ over the first lags, as long as they are positive (Geyer, Statistical
/// Science 7, 1992, in the simplest form).
fn scatter(series: &[f64], trim: f64) -> Option<Scatter> {
    let n = series.len();
    if n < LEAST_ROUNDS {
        return None;
    }
    let mut sorted = series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = cut(n, trim);
    let (low, high) = (sorted[cut], sorted[n - 1 - cut]);
    let values: Vec<f64> = series.iter().map(|value| value.clamp(low, high)).collect();
    let mean = values.iter().sum::<f64>() / n as f64;
    let at = |lag: usize| -> f64 {
        let pairs = values.iter().zip(&values[lag..]);
        pairs.map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let squares = at(0);
    let kept = 1.0 - 2.0 * cut as f64 / n as f64;
    let correlations = (1..=n / 4).map(|lag| at(lag) / squares);
    let correlations = correlations.take_while(|correlation| *correlation > 0.0);
    let inflation = if squares > 0.0 {
        1.0 + 2.0 * correlations.sum::<f64>()
    } else {
        1.0
    };
    squares.is_finite().then(|| Scatter {
        variance: squares / (n - 1) as f64 / (kept * kept),
        inflation,
        rounds: n,
    })
}
