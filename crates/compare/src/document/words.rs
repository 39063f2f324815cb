//! The words of a comparison, with ratios as people read them: the larger figure over the smaller, and which side that
//! is.

use deadheat_model::figure::{
    self, bytes, counted, figure, list, ratio, ratios, seconds, setting, signed, span,
};
use deadheat_stats::{
    comparison::{ComparisonAnalysis, Direction, Ended, Method, Metric, Ratio, RatioVerdict},
    heats::{recorded::SliceLengths, unseen_starts},
    interval::Interval,
    sequential::Design,
};

/// A metric's name, with what it is.
pub(super) const fn title(metric: Metric) -> &'static str {
    match metric {
        Metric::Throughput => "Throughput, requests/s (closed loop)",
        Metric::ResponseTimeP50 => "Response time, p50 (open loop)",
        Metric::ResponseTimeP99 => "Response time, p99 (open loop)",
        Metric::CpuPerRequest => "CPU time per request",
        Metric::MemoryPeak => "Memory, peak PSS",
    }
}

/// The name of a metric in a table's row.
pub(super) const fn short(metric: Metric) -> &'static str {
    match metric {
        Metric::Throughput => "requests/s",
        Metric::ResponseTimeP50 => "response time p50",
        Metric::ResponseTimeP99 => "response time p99",
        Metric::CpuPerRequest => "CPU time/request",
        Metric::MemoryPeak => "peak memory",
    }
}

/// A figure of a metric with its unit.
fn value(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Throughput => figure(value),
        Metric::CpuPerRequest => seconds(value / 1e6),
        Metric::MemoryPeak => bytes(value),
        _ => seconds(value),
    }
}

/// A verdict on a metric.
const fn verdict(metric: Metric, verdict: RatioVerdict) -> &'static str {
    let amount = matches!(metric, Metric::CpuPerRequest | Metric::MemoryPeak);
    match (verdict, amount) {
        (RatioVerdict::Better, false) => "faster",
        (RatioVerdict::Better, true) => "less",
        (RatioVerdict::Worse, false) => "slower",
        (RatioVerdict::Worse, true) => "more",
        (RatioVerdict::DeadHeat, _) => "dead heat",
        (RatioVerdict::NotEnoughData, _) => "undecided",
    }
}

/// The columns of a row after its name.
pub(super) const HEAD: [&str; 4] = ["A", "B", "B against A", "interval"];

/// The cells of a row: A's figure, B's, what B is against A, and the interval of that. `is_judged`: whether there are
/// verdicts.
pub(super) fn cells(found: &Ratio, is_judged: bool) -> [String; 4] {
    let advantage = Advantage::new(found);
    let word = |of_b: bool| {
        let verdict = if of_b {
            RatioVerdict::Better
        } else {
            RatioVerdict::Worse
        };
        self::verdict(found.metric, verdict)
    };
    let factor = || format!("{} {}", advantage.factor(), word(advantage.is_of_b));
    let against = match found.verdict {
        RatioVerdict::Better | RatioVerdict::Worse => factor(),
        RatioVerdict::DeadHeat => "dead heat".to_owned(),
        RatioVerdict::NotEnoughData if is_judged => "undecided".to_owned(),
        RatioVerdict::NotEnoughData => format!("{}, no verdict", factor()),
    };
    let interval = advantage.span();
    [
        value(found.metric, found.a),
        value(found.metric, found.b),
        against,
        interval.unwrap_or_else(|| difference(found.interval)),
    ]
}

/// An interval with 1 inside, as the difference of B's figure from A's in percent ("−12 % to +2.0 %"). For times and
/// costs, too, a positive difference means a larger figure.
pub(super) fn difference(interval: Option<Interval>) -> String {
    match interval {
        None => figure::NONE.to_owned(),
        Some(Interval { high, low, .. }) if low <= 0.0 => format!("up to {}", signed(high - 1.0)),
        Some(Interval { high, low, .. }) if high.is_infinite() => {
            format!("from {}", signed(low - 1.0))
        }
        Some(Interval { high, low, .. }) => {
            format!("{} to {}", signed(low - 1.0), signed(high - 1.0))
        }
    }
}

/// The level of a look's intervals, with as many nines as it takes to tell it from 100 %.
pub(super) fn level(level: f64) -> String {
    let missing = (1.0 - level) * 100.0;
    if missing < 1e-6 {
        return "more than 99.9999 %".to_owned();
    }
    let digits = if missing >= 0.1 {
        2
    } else {
        (-missing.log10()).ceil() as usize + 1
    };
    format!(
        "{} %",
        figure::short(&format!("{:.digits$}", level * 100.0))
    )
}

/// The rules of a verdict, in words.
pub(super) fn rules(comparison: &ComparisonAnalysis) -> String {
    let ComparisonAnalysis { how, bounds, .. } = comparison;
    let difference = setting(bounds.practical_difference);
    let latency = setting(bounds.practical_latency);
    let margin = setting(bounds.margin);
    let mut ratios = comparison.compared.iter().flat_map(|cell| &cell.ratios);
    let has_times = ratios.any(|ratio| ratio.metric.is_response_time());
    let times = if has_times && bounds.margin < bounds.practical_latency {
        format!(" (times: {latency})")
    } else {
        String::new()
    };
    let enough = match bounds.least_heats {
        0 => String::new(),
        least => format!(", after {least} heats or more"),
    };
    let differs = match how {
        Method::Heats { .. } => String::new(),
        Method::Sessions | Method::Runs { .. } => {
            format!(" and the ratio is farther from it than {difference} (times: {latency})")
        }
    };
    format!(
        "B / A is the geometric mean of B's figure over A's. B differs when the interval excludes 1{differs}. Otherwise \
         it is a dead heat if the whole interval lies within {margin}{times} of 1{enough}: the difference, whatever it is, is \
         smaller. Anything else is undecided."
    )
}

/// "10 heats in 143 s."
pub(super) fn effort(how: &Method) -> Option<String> {
    match how {
        Method::Sessions | Method::Runs { .. } => None,
        Method::Heats {
            heats,
            starts,
            took_seconds,
            ..
        } => Some(format!(
            "{} in {}. {}",
            counted(*heats as usize, "heat"),
            seconds(*took_seconds),
            unseen_starts(*starts as usize)
        )),
    }
}

/// How both sides were measured and tested, a sentence or two each.
pub(super) fn how(comparison: &ComparisonAnalysis) -> Vec<String> {
    let alpha = setting(comparison.bounds.alpha);
    match &comparison.how {
        Method::Sessions => vec![
            "The two sessions were measured at two times and share no heats, so that whatever the machine did differently \
             then is in every ratio. Where both measured the null server, B differs only by more than that did between \
             them."
                .to_owned(),
            format!(
                "Unpaired: Welch's t on the logarithms of each heat's figure. Over all cells of a metric the error stays \
                 at {alpha} by Holm's method; each interval has the level at which that tests it ({} or more).",
                level(1.0 - comparison.bounds.alpha)
            ),
        ],
        Method::Runs { a, b } => vec![format!(
            "{} of A and {} of B, with `deadheat load`. Each run gives one figure; the seconds of a run are not repetitions. \
             With three runs or more of each side, made in turn, the interval is Welch's t on the logarithms. Over the \
             ratios that decide the error stays at {alpha} by Holm's method.",
            counted(*a, "run"),
            counted(*b, "run"),
        )],
        Method::Heats {
            design,
            look,
            heats,
            slices,
            equal_work,
            starts,
            took_seconds,
            ended,
            seed,
            ..
        } => {
            let mut told = vec![
                format!(
                    "Measured in {} within {}: both servers were alive at the same time and were loaded in turn{} \
                     (seed {seed}). A ratio is the difference of logarithms within heats; processes that differ from \
                     heat to heat are in its interval.",
                    counted(*heats as usize, "heat"),
                    seconds(*took_seconds),
                    slices.map_or(String::new(), in_slices),
                ),
                looks(design, &alpha),
            ];
            told.extend(equal_work.map(|lengths| {
                format!(
                    "Equal work: after the rounds of a heat, the sides were loaded at the same rate in turns of {}, after \
                     {} that do not count.",
                    span(lengths.counted_seconds),
                    span(lengths.guard_seconds)
                )
            }));
            if let Some(look) = look {
                let tested = comparison.compared.iter().map(|cell| cell.tested);
                let tested = tested.max().unwrap_or_default().max(1);
                let parts = comparison.compared.len().max(1) * tested;
                let cells = match (comparison.compared.len(), tested) {
                    (0 | 1, 1) => String::new(),
                    (cells, 1) => format!(", split over {cells} cells"),
                    (0 | 1, _) => format!(", split over the {tested} ratios that are tested"),
                    (cells, _) => {
                        format!(", split over {cells} cells with {tested} ratios that are tested")
                    }
                };
                told.push(format!(
                    "The figures are of the checkpoint after {}, which spends {}{cells}: its intervals have a level of {}.",
                    counted(look.heats as usize, "heat"),
                    setting(look.spends),
                    level(1.0 - look.spends / parts as f64),
                ));
                told.extend(open_loop(comparison));
            } else {
                told.push(format!(
                    "The figures are of all complete heats, and none is a verdict. Their intervals are those of a fixed \
                     number of heats, each at {} on its own: they show how precise a figure is.",
                    level(1.0 - comparison.bounds.alpha)
                ));
            }
            told.extend(scatter(comparison));
            told.push(unseen_starts(*starts as usize));
            told.push(self::ended(*ended).to_owned());
            told
        }
    }
}

/// The spread between heats.
fn scatter(comparison: &ComparisonAnalysis) -> Option<String> {
    let deciding = comparison.compared.iter();
    let deciding = deciding.filter_map(|cell| cell.deciding().first());
    let spreads = deciding.filter_map(|ratio| ratio.spread.map(setting));
    let spreads: Vec<String> = spreads.collect();
    (!spreads.is_empty()).then(|| {
        format!(
            "From heat to heat, B / A has a standard deviation of {}.",
            list(&spreads)
        )
    })
}

/// The length of slices, and the wait of a side for its turn.
fn in_slices(slices: SliceLengths) -> String {
    format!(
        ", in slices of {} after {} that do not count, with gaps of {} at most",
        span(slices.counted_seconds),
        span(slices.guard_seconds),
        seconds(slices.longest_gap_seconds)
    )
}

/// The deciding metrics of an open loop without a closed one, in words; `None`: it is not one.
fn open_loop(comparison: &ComparisonAnalysis) -> Option<String> {
    let deciding = comparison.compared.iter().flat_map(|cell| cell.deciding());
    let times: Vec<Metric> = deciding
        .filter(|ratio| ratio.metric.is_response_time() && ratio.per_second.is_none())
        .map(|ratio| ratio.metric)
        .collect();
    let times = match times.contains(&Metric::ResponseTimeP50) {
        true => "The median and the p99 response time decide",
        false if times.is_empty() => return None,
        false => "The p99 response time decides",
    };
    Some(format!(
        "In an open loop both sides have the same rate. {times}, and throughput, which differs only if a side does not keep \
         up (by more than {}). B is slower if it is in one of these, and faster or in a dead heat if all of them have a verdict.",
        setting(comparison.bounds.practical_latency),
    ))
}

fn looks(design: &Design, alpha: &str) -> String {
    let heats: Vec<String> = design
        .looks
        .iter()
        .map(|look| look.heats.to_string())
        .collect();
    match heats.as_slice() {
        [one] => format!(
            "It was to be judged once, after {one} heats, as declared beforehand: all of the {alpha} of error is \
             that checkpoint's."
        ),
        _ => format!(
            "It was to be judged after {} heats, as declared beforehand. {alpha} of error are spent over these \
             checkpoints, less at the early ones (Kim & DeMets 1987), so judging often adds no errors.",
            list(&heats)
        ),
    }
}

const fn ended(ended: Ended) -> &'static str {
    match ended {
        Ended::Decided => {
            "It ended because the question had its answer in every cell, or could not get one."
        }
        Ended::LooksTaken => "It ended with the last of the declared checkpoints.",
        Ended::Budget => {
            "It ended because its budget was used up before the last declared checkpoint; what the checkpoints had left \
             of the error was spent at its end."
        }
        Ended::Interrupted => {
            "It was interrupted. That is not a checkpoint: whoever interrupts may have seen the figures."
        }
        Ended::Lost => {
            "It did not come to its end: a host or a service was lost, or Deadheat was killed or is still measuring."
        }
        Ended::Failed => "It ended because one side failed.",
    }
}

/// The advantage of one side over the other in a metric.
pub(super) struct Advantage {
    /// Whether B is ahead.
    pub(super) is_of_b: bool,
    /// The figure of the side that is ahead over the other one, so that more is better; 1 or more.
    factor: f64,
    /// B's figure over A's, so that more is better, and the ends of its interval.
    range_of_b: Option<(f64, f64)>,
}

impl Advantage {
    pub(super) fn new(found: &Ratio) -> Self {
        let is_more = found.metric.direction() == Direction::MoreIsBetter;
        let better = |ratio: f64| if is_more { ratio } else { 1.0 / ratio };
        let of_b = better(found.ratio);
        let ends = found.interval.map(|interval| {
            let (low, high) = (better(interval.low), better(interval.high));
            (low.min(high), low.max(high))
        });
        Self {
            is_of_b: of_b >= 1.0,
            factor: of_b.max(1.0 / of_b),
            range_of_b: ends,
        }
    }

    /// How many times as good B is as A.
    pub(super) fn of_b(&self) -> f64 {
        if self.is_of_b {
            self.factor
        } else {
            1.0 / self.factor
        }
    }

    /// "1.47×".
    pub(super) fn factor(&self) -> String {
        format!("{}×", ratio(self.factor))
    }

    /// How many times as good B may be as A, at least and at most: 0 and ∞ for open ends.
    pub(super) fn range_of_b(&self) -> Option<(f64, f64)> {
        self.range_of_b
    }

    /// The interval of the factor ("1.41–1.53×"); `None` without one, or if it has 1 inside, so that either side may be
    /// ahead.
    pub(super) fn span(&self) -> Option<String> {
        let (low, high) = self.range_of_b?;
        let (least, most) = match () {
            () if low >= 1.0 => (low, high),
            () if high <= 1.0 => (1.0 / high, 1.0 / low),
            () => return None,
        };
        Some(if most.is_finite() {
            format!("{}×", ratios(least, most))
        } else {
            format!("{}× or more", ratio(least))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_told_from_certainty() {
        let cases = [
            (0.95, "95 %"),
            (0.9692, "96.92 %"),
            (0.999_32, "99.932 %"),
            (0.999_998_4, "99.99984 %"),
            (1.0 - 1e-9, "more than 99.9999 %"),
        ];
        for (share, expected) in cases {
            assert_eq!(level(share), expected);
        }
    }
}
