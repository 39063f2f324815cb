//! Judges heats of both sides at a declared look, with the model of [`crate::heats`] for two members.

use super::{Bounds, CellId, Compared, Direction, Metric, Ratio, RatioVerdict};
use crate::{
    heats::{
        Fit, Quantity, Rule, Settings,
        pairs::{Candidate, Remedy},
        within::Estimate,
    },
    interval::{Interval, moments},
    sequential::Look,
};

/// A cell with its measurements so far.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedCell {
    /// The cell without ratios. Its `deciding` and `tested` are numbers of the first series.
    pub unjudged: Compared,
    /// The metrics that both sides have.
    pub series: Vec<PairedSeries>,
}

impl PairedCell {
    /// A cell of one series, which decides.
    pub fn new(subject: CellId, series: PairedSeries) -> Self {
        let unjudged = Compared {
            subject,
            deciding: 1,
            tested: 1,
            ..Compared::default()
        };
        Self {
            unjudged,
            series: vec![series],
        }
    }

    /// A cell without a name, for the throughput of two members whose figures are not lower bounds.
    pub fn of_throughput(heats: Vec<Vec<Estimate>>) -> Self {
        let series = PairedSeries::new(Metric::Throughput, heats);
        Self::new(CellId::default(), series)
    }

    /// Whether the cell is an open loop. Only open loops have response times outside equal work.
    fn is_open(&self) -> bool {
        let mut own = self.series.iter().filter(|one| one.per_second.is_none());
        own.any(|series| series.metric.is_response_time())
    }
}

/// A metric over the heats.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedSeries {
    /// The metric.
    pub metric: Metric,
    /// The rate of equal work at which it was measured, in requests per second.
    pub per_second: Option<f64>,
    /// The estimates of each heat, as [`Quantity::advantage`]. Member 0 is A, 1 is B.
    pub heats: Vec<Vec<Estimate>>,
    /// Whether A's figure is only a lower bound, and B's, because the generator was the limit.
    pub bounded: [bool; 2],
}

impl PairedSeries {
    /// A series outside equal work whose figures are not lower bounds.
    pub(super) fn new(metric: Metric, heats: Vec<Vec<Estimate>>) -> Self {
        Self {
            metric,
            per_second: None,
            heats,
            bounded: [false; 2],
        }
    }

    /// A series of A's and B's figures in each heat, in the metric's unit. A figure of 0 says nothing.
    pub fn of_pairs(metric: Metric, pairs: &[(f64, f64)]) -> Self {
        let estimate = |(member, figure): (usize, f64)| {
            let is_figure = figure.is_finite() && figure > 0.0;
            is_figure.then(|| Estimate {
                member,
                value: quantity(metric).advantage(figure),
                scatter: None,
            })
        };
        let heat = |(a, b): &(f64, f64)| [(0, *a), (1, *b)].into_iter().filter_map(estimate);
        let heats = pairs.iter().map(|pair| heat(pair).collect());
        Self::new(metric, heats.collect())
    }

    /// About how many more heats would decide the series at the error `alpha`, if they scatter as these did. `None` if
    /// it is decided already, or if this cannot be estimated.
    pub(crate) fn heats_to_go(&self, alpha: f64, rule: &Rule) -> Option<u32> {
        let fit = fit(&self.heats);
        let contrast = fit.contrast(1, 0)?;
        let (better, worse) = if contrast.difference < 0.0 {
            (0, 1)
        } else {
            (1, 0)
        };
        let candidate = Candidate {
            better,
            worse,
            contrast: fit.contrast(better, worse),
            better_is_bound: self.bounded[better],
            worse_is_bound: self.bounded[worse],
            heats: fit.heats(0).min(fit.heats(1)),
        };
        match candidate.judge(alpha, rule).remedy {
            Some(Remedy::MoreHeats { heats }) => Some(heats),
            _ => None,
        }
    }
}

/// The quantity that a metric is in the model of heats.
pub(super) fn quantity(metric: Metric) -> Quantity {
    match metric.direction() {
        Direction::MoreIsBetter => Quantity::Throughput,
        Direction::LessIsBetter if metric.is_response_time() => Quantity::Latency,
        Direction::LessIsBetter => Quantity::Cost,
    }
}

/// Judges every cell at `look`. The look's error is split evenly over the cells, and a cell's part over its tested
/// series. So it bounds the probability that *any* cell is wrongly called different, or any check is wrong. Every other
/// series has its cell's part.
pub fn at_look(cells: &[PairedCell], look: Look, bounds: &Bounds) -> Vec<Compared> {
    let each = look.spends / cells.len().max(1) as f64;
    let judged = |cell: &PairedCell| {
        let is_open = cell.is_open();
        let at = |spends| Look { spends, ..look };
        let tested = cell.unjudged.tested.min(cell.series.len());
        let shared = at(each / tested.max(1) as f64);
        compared(cell, |place, series| {
            let look = if place < tested { shared } else { at(each) };
            ratio(series, is_open, look, bounds)
        })
    };
    cells.iter().map(judged).collect()
}

/// The ratios of every cell without a verdict: each with the interval of a sample of fixed size at the level 1 − α,
/// which holds for that ratio alone. A measurement that was stopped is no such sample, because who stopped it may have
/// seen its figures. So the interval shows how precise the ratio is, and decides nothing. Two heats are the fewest for
/// an interval.
pub fn unjudged(cells: &[PairedCell], heats: u32, bounds: &Bounds) -> Vec<Compared> {
    let whole = Look {
        heats,
        spends: bounds.alpha,
    };
    let of = |cell: &PairedCell| {
        let is_open = cell.is_open();
        let verdict = RatioVerdict::NotEnoughData;
        let found = compared(cell, |_, series| {
            let ratio = ratio(series, is_open, whole, bounds)?;
            Some(Ratio { verdict, ..ratio })
        });
        Compared { verdict, ..found }
    };
    cells.iter().map(of).collect()
}

/// The cell with the ratio that `of` makes of each series, by its place.
fn compared(cell: &PairedCell, of: impl Fn(usize, &PairedSeries) -> Option<Ratio>) -> Compared {
    let series = cell.series.iter().enumerate();
    let ratios = series.filter_map(|(place, series)| Some((place, of(place, series)?)));
    let (places, ratios): (Vec<usize>, Vec<Ratio>) = ratios.unzip();
    let decides = |place: &&usize| **place < cell.unjudged.deciding;
    Compared {
        deciding: places.iter().filter(decides).count(),
        ratios,
        ..cell.unjudged.clone()
    }
    .judged()
}

/// The standard deviation of the differences within heats.
fn spread(heats: &[Vec<Estimate>]) -> Option<f64> {
    let both = heats.iter().filter_map(|heat| match &heat[..] {
        [a, b] => Some(b.value - a.value),
        _ => None,
    });
    let found = moments(&both.collect::<Vec<_>>())?;
    Some(found.error * (found.n as f64).sqrt())
}

fn fit(heats: &[Vec<Estimate>]) -> Fit {
    Fit::new(2, heats, &Settings::default())
}

/// The ratio with its interval at the level of `look`: a repeated confidence interval (Jennison & Turnbull, J. R. Stat.
/// Soc. B 51, 1989). Over all looks together they hold the ratio with probability 1 − α. An end that a lower bound
/// leaves open is 0 or ∞.
fn ratio(series: &PairedSeries, is_open: bool, look: Look, bounds: &Bounds) -> Option<Ratio> {
    let metric = series.metric;
    let fit = fit(&series.heats);
    let figure = |member| Some(quantity(metric).figure(fit.advantage(member)?));
    let (a, b) = (figure(0)?, figure(1)?);
    let contrast = fit.contrast(1, 0);
    let (log, level) = ((b / a).ln(), look.level());
    let interval = contrast.and_then(|contrast| {
        let half = contrast.half_width(look.spends);
        let low = if series.bounded[0] {
            0.0
        } else {
            (log - half).exp()
        };
        let high = if series.bounded[1] {
            f64::INFINITY
        } else {
            (log + half).exp()
        };
        let is_one_sided = series.bounded.contains(&true);
        (is_one_sided || (low > 0.0 && high.is_finite())).then_some(Interval { low, high, level })
    });
    let heats = [0, 1].map(|member| fit.heats(member));
    let ratio = Ratio {
        metric,
        per_second: series.per_second,
        a,
        b,
        heats_a: heats[0],
        heats_b: heats[1],
        ratio: b / a,
        error: contrast.map(|contrast| contrast.error),
        spread: spread(&series.heats),
        freedom: contrast.map(|contrast| contrast.freedom),
        interval,
        p: contrast.map(|contrast| contrast.p(0.0)),
        p_adjusted: None,
        unchanged: None,
        rule: bounds.in_heats(metric, is_open),
        verdict: RatioVerdict::NotEnoughData,
    };
    Some(ratio.judged())
}
