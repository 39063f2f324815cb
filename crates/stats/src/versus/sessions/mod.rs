//! Two sessions of heats, measured at two times: unpaired, and corrected for how many cells were looked at.

mod cells;
mod conditions;

use deadheat_model::{heats::SessionRecord, warning::doubt};

use self::cells::{Numbers, Session};
pub use self::conditions::refusals;
use super::{
    Bounds, Compared, How, Metric, NotCompared, Ratio, Subject, Verdict, Versus, differs, unsteady,
};
use crate::interval::{self, Interval, holm};

/// What every comparison of two sessions must be read with.
const CAVEAT: &str = "The sessions were measured at two times, so the ratio includes any change of the machine in \
                      between.";
const ADVICE: &str = "`deadheat compare STACK@REVISION STACK` measures both in the same heats.";

/// Session `b` against session `a`, whatever differs between them ([`refusals`] has what ought not to). The names are
/// those by which the user knows the sessions.
pub fn compare(a: (&str, &SessionRecord), b: (&str, &SessionRecord), bounds: Bounds) -> Versus {
    let sides = [Session::new(a.1), Session::new(b.1)];
    let mut compared: Vec<Compared> = Vec::new();
    let mut not_compared: Vec<NotCompared> = Vec::new();
    for subject in cells::candidates(&sides) {
        match cells::numbers(&sides, &subject) {
            Ok(numbers) => compared.push(cell(&sides, subject, numbers, &bounds)),
            Err((reason, b_failed)) => not_compared.push(NotCompared {
                subject,
                reason,
                b_failed,
            }),
        }
    }
    for metric in Metric::ALL {
        let of_metric = |ratio: &&mut Ratio| ratio.metric == metric;
        let ratios = compared.iter_mut().flat_map(|cell| &mut cell.ratios);
        correct(&mut ratios.filter(of_metric).collect::<Vec<_>>(), &bounds);
    }
    // Only now is anything known of the ratios.
    let compared: Vec<Compared> = compared.into_iter().map(Compared::judged).collect();
    let mut warnings = vec![doubt("two-times", CAVEAT).advice(ADVICE)];
    warnings.extend(refusals(a.1, b.1).iter().map(|one| differs(one, "A", "B")));
    warnings.extend(conditions::biased(&sides));
    warnings.extend(conditions::warnings(&sides, &bounds));
    Versus {
        how: How::Sessions,
        a: conditions::side(a.0, a.1),
        b: conditions::side(b.0, b.1),
        is_change: false,
        bounds,
        compared,
        not_compared,
        conditions: conditions::conditions(a.1, b.1),
        differences: conditions::differences(a.1, b.1),
        warnings,
    }
}

fn cell(sides: &[Session<'_>; 2], subject: Subject, numbers: Numbers, bounds: &Bounds) -> Compared {
    let drift = conditions::drift(sides, &subject, bounds);
    let ratios = Metric::ALL.into_iter().filter_map(|metric| {
        let [a, b] = sides;
        let a = a.load(&subject)?.logs(metric, numbers[0]);
        let b = b.load(&subject)?.logs(metric, numbers[1]);
        Sample::new(metric, a, b).map(|sample| sample.ratio(drift, bounds))
    });
    let ratios: Vec<Ratio> = ratios.collect();
    // Sorted by metric: closed loops begin with their throughput, open ones with the median.
    let decides =
        |ratio: &Ratio| matches!(ratio.metric, Metric::Throughput | Metric::ResponseTimeP50);
    let deciding = usize::from(ratios.first().is_some_and(decides));
    Compared {
        verdict: Verdict::NotEnoughData,
        decide: Default::default(),
        rates: Vec::new(),
        overloaded: Vec::new(),
        deciding,
        tested: deciding,
        ratios,
        notes: cells::notes(sides, &subject, numbers),
        subject,
    }
}

/// With fewer heats or runs on a side there is no interval: it would reach over orders of magnitude.
pub const LEAST: usize = 3;

/// The logarithms of a metric on both sides.
pub struct Sample {
    metric: Metric,
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Sample {
    /// A sample of the logarithms of both sides, one for each heat; `None` when a side has none.
    pub fn new(metric: Metric, a: Vec<f64>, b: Vec<f64>) -> Option<Self> {
        (!a.is_empty() && !b.is_empty()).then_some(Self { metric, a, b })
    }

    /// The ratio, before it is corrected for the number of cells: its interval is at 1 − α. `drift` is how far the null
    /// server was from itself.
    pub fn ratio(&self, drift: Option<f64>, bounds: &Bounds) -> Ratio {
        let (a, b) = (mean(&self.a), mean(&self.b));
        let has_enough = self.a.len().min(self.b.len()) >= LEAST;
        let difference = interval::difference(&self.a, &self.b).filter(|_| has_enough);
        Ratio {
            per_second: None,
            metric: self.metric,
            a: a.exp(),
            b: b.exp(),
            heats_a: self.a.len(),
            heats_b: self.b.len(),
            ratio: (b - a).exp(),
            error: difference.map(|difference| difference.error),
            spread: None,
            freedom: difference.map(|difference| difference.freedom),
            interval: None,
            p: difference.map(|difference| difference.p_of_zero()),
            p_adjusted: None,
            drift,
            rule: bounds.rule(self.metric, drift),
            verdict: Verdict::NotEnoughData,
        }
    }
}

/// Corrects the ratios of one metric over all cells (Holm), and judges them. The interval of each is at the level at
/// which Holm's method tests it: 1 − α/k for the smallest of k p values, 1 − α/(k − 1) for the next, and for all from
/// the first that is not significant on that one's. So an interval excludes 1 where the adjusted p is below α, and
/// nowhere else.
pub fn correct(ratios: &mut [&mut Ratio], bounds: &Bounds) {
    let mut tested: Vec<&mut &mut Ratio> = ratios.iter_mut().filter(|r| r.p.is_some()).collect();
    tested.sort_by(|one, other| one.p.unwrap_or(1.0).total_cmp(&other.p.unwrap_or(1.0)));
    let p: Vec<f64> = tested.iter().filter_map(|ratio| ratio.p).collect();
    let adjusted = holm(&p);
    let significant = adjusted.iter().take_while(|p| **p < bounds.alpha).count();
    for (step, (ratio, adjusted)) in tested.into_iter().zip(adjusted).enumerate() {
        let tests = p.len() - step.min(significant);
        ratio.p_adjusted = Some(adjusted);
        ratio.interval = interval(ratio, 1.0 - bounds.alpha / tests as f64);
        **ratio = ratio.clone().judged();
    }
}

fn interval(ratio: &Ratio, level: f64) -> Option<Interval> {
    let difference = interval::Difference {
        mean: ratio.ratio.ln(),
        error: ratio.error?,
        freedom: ratio.freedom?,
    };
    let half = difference.half_width(level);
    let (low, high) = (
        (difference.mean - half).exp(),
        (difference.mean + half).exp(),
    );
    (low > 0.0 && high.is_finite()).then_some(Interval { low, high, level })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// One metric of runs that are in no heats, from the values of each side; `None` without values above zero.
pub(in crate::versus) fn of_runs(
    metric: Metric,
    a: &[f64],
    b: &[f64],
    bounds: &Bounds,
) -> Option<Ratio> {
    let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect();
    let is_positive = a.iter().chain(b).all(|value| *value > 0.0);
    let sample = Sample::new(metric, logs(a), logs(b)).filter(|_| is_positive)?;
    let mut ratio = sample.ratio(None, bounds);
    correct(&mut [&mut ratio], bounds);
    Some(ratio)
}
