//! What stacks gain from more CPUs, if each was measured at several budgets.

use deadheat_stats::{
    heats::Verdict,
    order_statistic::Interval,
    standings::{AtBudget, Gain, Scaling},
};

use super::{
    view::{LoadView, StandingsView},
    words,
};
use crate::{
    document::{Cell, Column, Section, Table},
    figure::{NONE, counted, figure, seconds, short_percent, some},
    view::clean,
};

/// Stacks whose gain is in the sentence.
const MOST_GAINS: usize = 2;
/// Stacks without one that are named in it.
const MOST_NAMES: usize = 3;

const LEGEND: &str = "Speed-up: throughput over that with the fewest CPUs, and its interval; the intervals of a load apply \
                      together. Efficiency: 100 % if twice the CPUs bring twice the throughput.";

/// What the largest budget brings over the smallest one, with its full stop; `None` before the first verdict.
pub(super) fn sentence(load: &LoadView) -> Option<String> {
    load.look?;
    let budgets = load.scaling.iter().flat_map(|stack| &stack.budgets);
    let cpus = || budgets.clone().map(|one| one.cpus);
    let (least, most) = (cpus().min()?, cpus().max()?);
    let largest = load.scaling.iter().filter_map(|stack| {
        stack.budgets.first().filter(|one| one.cpus == least)?;
        let largest = stack.budgets.last().filter(|one| one.cpus == most)?;
        Some((clean(&stack.target.to_string()), largest, largest.gain?))
    });
    let mut largest: Vec<(String, &AtBudget, Gain)> = largest.collect();
    largest.sort_by(|(.., one), (.., other)| other.ratio.total_cmp(&one.ratio));
    let of = |verdict| {
        let found = largest.iter();
        found.filter(move |(.., gain)| gain.verdict == verdict)
    };
    let gains = of(Verdict::Faster)
        .take(MOST_GAINS)
        .map(|(name, at, gain)| {
            let least = if at.is_bound { "at least " } else { "" };
            let times = ratio(gain.ratio);
            format!(
                "{name} answers {least}{times} times as much{}",
                behind(gain)
            )
        });
    let more = match of(Verdict::Faster).count().saturating_sub(MOST_GAINS) {
        0 => None,
        1 => Some("1 other stack gains as well".to_owned()),
        more => Some(format!("{more} other stacks gain as well")),
    };
    let losses = of(Verdict::Slower).map(|(name, _, gain)| {
        let times = ratio(gain.ratio);
        format!("{name} answers only {times} times as much{}", behind(gain))
    });
    let nothing = |verdict, what: &str| {
        let names: Vec<String> = of(verdict).map(|(name, ..)| name.clone()).collect();
        let verb = if names.len() == 1 { "gains" } else { "gain" };
        let named = (!names.is_empty()).then(|| some(&names, MOST_NAMES));
        named.map(|named| format!("{named} {verb} nothing{what}"))
    };
    let parts: Vec<String> = gains
        .chain(more)
        .chain(losses)
        .chain(nothing(Verdict::DeadHeat, ""))
        .chain(nothing(Verdict::Undecided, " provable"))
        .collect();
    let all = parts.join("; ");
    let most = counted(most, "CPU");
    (!parts.is_empty()).then(|| format!("With {most} instead of {least}, {all}."))
}

/// " (1.75–1.91)"; nothing if an end is open.
fn behind(gain: &Gain) -> String {
    let closed = gain
        .interval
        .filter(|one| one.low > 0.0 && one.high.is_finite());
    closed.map_or_else(String::new, |one| format!(" ({})", interval(&one)))
}

/// How many times as much ("1.83", "13.1").
fn ratio(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.2}")
    } else {
        figure(value)
    }
}

fn interval(interval: &Interval) -> String {
    let Interval { low, high, .. } = *interval;
    match (low > 0.0, high.is_finite()) {
        (true, true) => format!("{}–{}", ratio(low), ratio(high)),
        (true, false) => format!("≥ {}", ratio(low)),
        (false, true) => format!("≤ {}", ratio(high)),
        (false, false) => NONE.to_owned(),
    }
}

/// Each stack with each of its budgets; empty if none was measured with several.
pub(super) fn section(view: &StandingsView) -> Section {
    let loads = view.leading().filter(|load| !load.scaling.is_empty());
    let several = loads.clone().count() > 1;
    let legend = loads.clone().next().map(|_| LEGEND);
    let section = loads.fold(Section::new("Scaling"), |section, load| {
        let section = if several {
            section.subtitle(&load.title)
        } else {
            section
        };
        section.paragraphs(sentence(load)).table(table(load))
    });
    section.aside(legend)
}

fn table(load: &LoadView) -> Table {
    let mut table = Table::new([
        Column::left("stack").sorted(true),
        Column::right("CPUs").sorted(false),
        Column::right("requests/s").sorted(false),
        Column::right("speed-up").sorted(false),
        Column::right("efficiency").sorted(false),
        Column::right("CPU/req").sorted(true),
        Column::left("verdict"),
    ]);
    for (stack, at) in load.scaling.iter().flat_map(of_stack) {
        let gain = at.gain;
        let per_second = words::bound(at.is_bound, figure(at.per_second));
        let times = gain.map(|gain| words::bound(at.is_bound, ratio(gain.ratio)));
        let ends = gain
            .and_then(|gain| gain.interval)
            .map(|one| interval(&one));
        let cost = at.cpu_us_per_request;
        let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
        table.row([
            Cell::from(clean(&stack.target.to_string())),
            Cell::figure(at.cpus.to_string(), Some(at.cpus.into())),
            Cell::figure(per_second, Some(at.per_second)),
            Cell::figure(or_none(times), gain.map(|gain| gain.ratio))
                .note(ends.unwrap_or_default()),
            Cell::figure(
                or_none(gain.map(|gain| short_percent(gain.efficiency))),
                gain.map(|gain| gain.efficiency),
            ),
            Cell::figure(or_none(cost.map(|us| seconds(us / 1e6))), cost),
            Cell::from(gain.map_or("", |gain| word(gain.verdict))),
        ]);
    }
    table
}

fn of_stack(stack: &Scaling) -> impl Iterator<Item = (&Scaling, &AtBudget)> {
    stack.budgets.iter().map(move |at| (stack, at))
}

/// The verdict on a larger budget, for somebody who asks for a gain.
const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::DeadHeat => "no gain",
        Verdict::Undecided => "undecided",
    }
}
