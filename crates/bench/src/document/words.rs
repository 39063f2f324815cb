//! Numbers and verdicts in words: the same in every format. Figures have three significant digits, shares two.

mod sentences;

pub use deadheat_model::figure::{short_percent as percent, some};
use deadheat_model::{
    figure::{NONE, Quantity, bytes, count, counted, figure, list, seconds, two_digits},
    heat::Compression,
    heats::EndReason,
};
use deadheat_stats::{
    heats::{self, Group, Rank},
    interval::{Interval, median},
    standings::{AbsentBecause, Agreement, Bound, Measure, MeasuredRatio, MeasuredSide, RowSides},
};

pub use self::sentences::{beside, beside_range, pair_verdict, remedy, verdict};
use super::view::{LoadView, RankedFigure, RowView, StandingsView, State};
pub use sentences::{lack, load_notes, notes, row_verdict};

/// Half widths above this are shown as "over ±100 %".
const TOO_WIDE: f64 = 1.0;

/// The name of the control server, which answers without doing any work.
pub(crate) const NULL_SERVER: &str = "null server";

/// The title of a table of yardsticks.
const YARDSTICKS: &str = "Yardsticks, not ranked";

/// The title of the table of a group of stacks.
pub fn group(group: Group) -> String {
    if group.yardsticks {
        YARDSTICKS.to_owned()
    } else {
        counted(group.cpus as usize, "CPU")
    }
}

/// The explanation of a table's columns.
const LEGEND: &str = "±: uncertainty of the ratio to the best. Rank m–n: order not proven.";
/// The legend of tables in which a row is proven slower than the best by less than its ±. Ranks are proven step by
/// step: each pair that is proven leaves more of the error level to the others. Intervals are made before the first
/// step.
const LEGEND_OF_STEPS: &str =
    "±: to the best, all rows together. Ranks: proven in steps (m–n: not proven).";

/// The explanation of the columns of a session's tables.
pub fn legend(view: &StandingsView) -> &'static str {
    if is_proven_in_steps(view) {
        LEGEND_OF_STEPS
    } else {
        LEGEND
    }
}

/// The explanation of the columns of equal work; `None` without any.
pub fn at_rates(view: &StandingsView) -> Option<String> {
    let loads: Vec<&LoadView> = view
        .leading()
        .filter(|load| !load.rates.is_empty())
        .collect();
    let one = loads.len() == 1;
    let rates = loads.iter().map(|load| {
        let rate = figure(load.rates[0]);
        if one {
            format!("{rate}/s")
        } else {
            format!("{rate}/s ({})", load.short)
        }
    });
    let rates: Vec<String> = rates.collect();
    (!rates.is_empty()).then(|| {
        let others = if loads.iter().any(|load| load.rates.len() > 1) {
            "; other rates: --details"
        } else {
            ""
        };
        let known = p99_half_width(view).map_or_else(String::new, |width| {
            format!(", known to {}", half_width(Some(width)))
        });
        format!(
            "CPU/req, p99: at the same rate for all, {}; p99 from when a request is due{known}{others}.",
            list(&rates)
        )
    })
}

/// How uncertain the ratio of a p99 of equal work to the best is: half its interval's width on the logarithm, the median of
/// all stacks. `None` without an interval.
fn p99_half_width(view: &StandingsView) -> Option<f64> {
    let of_rates = view.loads.iter().filter(|load| !load.leads());
    let rows = of_rates.flat_map(LoadView::rows);
    median(rows.filter_map(|row| row.half_width))
}

/// Whether a row is proven to be behind the best by less than its ±.
fn is_proven_in_steps(view: &StandingsView) -> bool {
    let mut rows = view.loads.iter().flat_map(LoadView::rows);
    rows.any(|row| {
        let behind = row.share_of_best.map(|share| -share.ln());
        let is_proven = row
            .main
            .and_then(|main| main.rank)
            .is_some_and(|rank| rank.best > 1);
        let within = |(behind, width): (f64, f64)| behind > 0.0 && behind < width;
        is_proven && behind.zip(row.half_width).is_some_and(within)
    })
}

/// The column head of the measure that a load's stacks are ranked by.
pub(crate) const fn measure_head(measure: Measure) -> &'static str {
    match measure {
        Measure::Throughput => "requests/s",
        Measure::ResponseTime => "p99 response",
    }
}

/// The sentence that explains the times of a load.
pub fn times(load: &LoadView) -> String {
    match load.measure {
        Measure::Throughput => {
            let (number, what) = match load.point.streams {
                1 => (load.point.connections, "connection"),
                _ => (load.point.in_flight(), "stream"),
            };
            format!(
                "Service times at full load mostly show the queueing of {} that always wait, so they rank nobody. Their mean \
                 is {what}s ÷ throughput (Little's law).",
                counted(number as usize, what)
            )
        }
        Measure::ResponseTime => {
            "Response times count from the intended start of each request, whatever the requests before it do. Each stack \
             is loaded in turns of a second, after 0.3 s that do not count and that begin with nothing in flight."
                .to_owned()
        }
    }
}

/// The quantity of a measure, for its verdicts.
pub const fn quantity(measure: Measure) -> heats::Quantity {
    match measure {
        Measure::Throughput => heats::Quantity::Throughput,
        Measure::ResponseTime => heats::Quantity::Latency,
    }
}

/// A figure of a measure, without "requests/s", because the column's head has it ("116,000", "1.23 ms").
pub fn main(measure: Measure, value: f64) -> String {
    match measure {
        Measure::Throughput => figure(value),
        Measure::ResponseTime => seconds(value),
    }
}

/// The figure that a row is ranked by, with the sign of a lower bound.
pub fn main_placed(measure: Measure, row: &RowView) -> String {
    placed(row.main.as_ref(), |value| main(measure, value))
}

/// A figure of a measure with its unit, for a sentence ("116,000 requests/s").
pub(crate) fn main_in_full(measure: Measure, value: f64) -> Quantity {
    match measure {
        Measure::Throughput => Quantity {
            unit: " requests/s",
            ..Quantity::plain(value)
        },
        Measure::ResponseTime => Quantity::seconds(value),
    }
}

/// Figures from … to with their unit ("112,000 to 116,000 requests/s", "955 to 965 µs").
pub(crate) fn main_range(measure: Measure, least: f64, most: f64) -> String {
    span(&main_in_full(measure, least), &main_in_full(measure, most))
}

/// The price of a million requests. `cost_us` is microseconds of CPU time for one, so seconds for a million.
pub fn price_of_a_million(cost_us: f64, per_cpu_hour: f64) -> f64 {
    cost_us / 3600.0 * per_cpu_hour
}

/// CPU time per request, in microseconds, from … to ("8.50 to 9.20 µs").
pub(crate) fn cost_range(least: f64, most: f64) -> String {
    time_range(least / 1e6, most / 1e6)
}

/// A time from … to ("3.20 to 3.40 ms").
pub(crate) fn time_range(least: f64, most: f64) -> String {
    span(&Quantity::seconds(least), &Quantity::seconds(most))
}

/// "5.0 to 13 %"; two equal figures are written once.
fn span(low: &Quantity, high: &Quantity) -> String {
    if low == high {
        high.to_string()
    } else {
        low.to(" to ", high)
    }
}

/// The figure of a ranked value, with `≥` before a lower bound; a dash without one.
pub fn placed(placed: Option<&RankedFigure>, write: impl Fn(f64) -> String) -> String {
    match placed {
        Some(placed) => bound(placed.is_bound, write(placed.value)),
        None => NONE.to_owned(),
    }
}

/// A figure, with `≥` before it if it is a lower bound.
pub fn bound(is_bound: bool, figure: String) -> String {
    if is_bound {
        format!("≥ {figure}")
    } else {
        figure
    }
}

/// CPU time per request ("8.50 µs").
pub fn cost(microseconds: f64) -> String {
    seconds(microseconds / 1e6)
}

/// Bytes, or a dash.
pub fn memory(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), bytes)
}

/// How long a compressed answer is, and how much shorter it became: "1.46 KiB (5.6 times shorter)".
pub fn compression(found: Compression) -> String {
    let ratio = two_digits(found.ratio());
    format!("{} ({ratio} times shorter)", bytes(found.bytes as f64))
}

/// Seconds, or a dash.
pub fn time(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), seconds)
}

/// A rank range ("1", "2–4"), or a dash.
pub fn rank(rank: Option<Rank>) -> String {
    match rank {
        Some(rank) if rank.best == rank.worst => rank.best.to_string(),
        Some(rank) => format!("{}–{}", rank.best, rank.worst),
        None => NONE.to_owned(),
    }
}

/// A half width ("±4.2 %"), or a dash.
pub fn half_width(width: Option<f64>) -> String {
    signed("±", width)
}

/// A half width in a column whose head has the sign ("4.2 %").
pub(crate) fn half_width_in_column(width: Option<f64>) -> String {
    signed("", width)
}

fn signed(sign: &str, width: Option<f64>) -> String {
    match width.map(f64::exp_m1) {
        None => NONE.to_owned(),
        Some(width) if width > TOO_WIDE => format!("over {sign}{}", percent(TOO_WIDE)),
        Some(width) => format!("{sign}{}", percent(width)),
    }
}

/// Half widths from … to ("±3.0–5.0 %").
pub fn half_widths(least: f64, most: f64) -> String {
    let shown = |width: f64| two_digits(width.exp_m1() * 100.0);
    match (shown(least), shown(most)) {
        _ if least.exp_m1() > TOO_WIDE => half_width(Some(least)),
        (least, _) if most.exp_m1() > TOO_WIDE => {
            format!("±{least} % to {}", half_width(Some(most)))
        }
        (least, most) if least == most => format!("±{most} %"),
        (least, most) => format!("±{least}–{most} %"),
    }
}

/// The reason why a stack has no figure, in words.
pub const fn absent(because: AbsentBecause) -> &'static str {
    match because {
        AbsentBecause::Unavailable => "unavailable",
        AbsentBecause::Failed => "failed",
        AbsentBecause::NotOffered => "not offered",
        AbsentBecause::NotMeasured => "not reached",
        AbsentBecause::Overloaded => "cannot take it",
    }
}

/// Why a session ended, or that it did not.
pub const fn state(state: State) -> &'static str {
    match state {
        State::Running => "still being measured",
        State::Killed => "killed before its end",
        State::Ended(EndReason::Decided) => "ended early: more heats would change no verdict",
        State::Ended(EndReason::Precise) => "the precision that was asked for is reached",
        State::Ended(EndReason::Finished) => "all planned heats were run",
        State::Ended(EndReason::Budget) => "the time budget was used up",
        State::Ended(EndReason::Interrupted) => "interrupted",
        State::Ended(EndReason::Lost) => "ended when a host or a service was lost",
        State::Ended(EndReason::Nothing) => "nothing could be measured",
    }
}

/// The heads of the columns of [`sides`], which follow the row's name and its stack.
pub const SIDES: [&str; 6] = [
    "published",
    "ratio",
    "measured",
    "ratio",
    "interval",
    "agreement",
];

/// The caption of a table of published rows.
pub const SIDES_LEGEND: &str = "Requests/s, and their ratio to the baseline's.";

/// The cells of a row of a table with a baseline of this name.
pub fn sides(row: &RowSides, baseline: &str) -> [String; 6] {
    let is_baseline = row.name == baseline;
    let ratio = row.measured_ratio;
    let baseline = || is_baseline.then(|| "1".to_owned());
    let or_none = |cell: Option<String>| cell.unwrap_or_else(|| NONE.to_owned());
    let is_measured = matches!(row.measured, MeasuredSide::Measured { .. });
    let own = baseline().filter(|_| is_measured);
    [
        or_none(row.published_per_second.map(printed)),
        or_none(
            row.published_ratio
                .map(|ratio| baseline().unwrap_or_else(|| figure(ratio))),
        ),
        match row.measured {
            MeasuredSide::LeftOut { .. } => "left out".to_owned(),
            MeasuredSide::Absent { because, .. } => absent(because).to_owned(),
            MeasuredSide::Measured {
                per_second,
                is_bound,
            } => {
                let measured = RankedFigure {
                    is_bound,
                    ..RankedFigure::alone(per_second)
                };
                placed(Some(&measured), figure)
            }
        },
        or_none(ratio.map(|ratio| bounded(&ratio)).or(own)),
        or_none(ratio.and_then(|ratio| Some(ends(&ratio.interval?)))),
        match row.agreement {
            _ if is_baseline => "baseline",
            Some(Agreement::Within) => "agrees",
            Some(Agreement::Higher) => "higher",
            Some(Agreement::Lower) => "lower",
            Some(Agreement::Reversed) => "reversed",
            None => NONE,
        }
        .to_owned(),
    ]
}

fn ends(interval: &Interval) -> String {
    let [low, high] = [interval.low, interval.high].map(Quantity::plain);
    low.to("–", &high)
}

/// A published figure with the digits by which a reader finds it again.
fn printed(rate: f64) -> String {
    if rate < 100.0 {
        figure(rate)
    } else {
        count(rate.round() as u64)
    }
}

fn bounded(ratio: &MeasuredRatio) -> String {
    let sign = match ratio.bound {
        Bound::Exact => "",
        Bound::AtLeast => "≥ ",
        Bound::AtMost => "≤ ",
    };
    format!("{sign}{}", figure(ratio.ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_two_digits() {
        let cases = [
            (0.1341, "13 %"),
            (0.0994, "9.9 %"),
            (0.0996, "10 %"),
            (0.042, "4.2 %"),
            (0.0034, "0.34 %"),
            (0.0, "0 %"),
            (f64::NAN, "– %"),
        ];
        for (share, text) in cases {
            assert_eq!(percent(share), text, "{share}");
        }
        assert_eq!(half_widths(0.0296, 0.0488), "±3.0–5.0 %");
        // No figure is 2,077 % lower than another one.
        assert_eq!(half_width(Some(3.08)), "over ±100 %");
        assert_eq!(half_widths(0.0488, 3.08), "±5.0 % to over ±100 %");
        assert_eq!(half_widths(1.9, 3.08), "over ±100 %");
    }

    #[test]
    fn a_range_has_its_unit_once() {
        let times = |least, most| main_range(Measure::ResponseTime, least, most);
        assert_eq!(times(955e-6, 965e-6), "955 to 965 µs");
        assert_eq!(times(955e-6, 1.2e-3), "955 µs to 1.20 ms");
        let rates = |least, most| main_range(Measure::Throughput, least, most);
        assert_eq!(rates(1_000.0, 1_200.0), "1,000 to 1,200 requests/s");
        assert_eq!(rates(1_000.0, 1_001.0), "1,000 requests/s");
    }
}
