//! What stacks gain from more CPUs, if each was measured at several budgets.

use deadheat_document::{Cell, Column, Section, Table, view::clean};
use deadheat_model::figure::{NONE, counted, figure, ratio, ratios, seconds, short_percent, some};
use deadheat_stats::{
    heats::PairVerdict,
    standings::{AtBudget, Gain, Scaling},
};

use super::{
    view::{LoadView, StandingsView},
    words,
};

/// Stacks whose gain is in the sentence.
const MAX_GAINS: usize = 2;
/// Stacks without one that are named in it.
const MAX_NAMES: usize = 3;

const LEGEND: &str = "Speed-up: throughput over that of the stack's smallest number of CPUs (@), and its interval; all \
                      speed-ups of a load apply together. Efficiency: 100 % if twice the CPUs bring twice the throughput.";

/// What the largest budget brings over the smallest one, with its full stop; `None` before the first verdict.
pub(super) fn sentence(load: &LoadView) -> Option<String> {
    load.look?;
    let budgets = load.scaling.iter().flat_map(|stack| &stack.budgets);
    let cpus = || budgets.clone().map(|one| one.cpus);
    let (least, most) = (cpus().min()?, cpus().max()?);
    let largest = load.scaling.iter().filter_map(|stack| {
        stack.budgets.first().filter(|one| one.cpus == least)?;
        let largest = stack.budgets.last().filter(|one| one.cpus == most)?;
        Some((clean(&stack.target.to_string()), largest.gain?))
    });
    let mut largest: Vec<(String, Gain)> = largest.collect();
    largest.sort_by(|(.., one), (.., other)| other.ratio.total_cmp(&one.ratio));
    let of = |verdict| {
        let found = largest.iter();
        found.filter(move |(.., gain)| gain.verdict == verdict)
    };
    let gains = of(PairVerdict::Faster).take(MAX_GAINS).map(|(name, gain)| {
        let least = if gain.is_bound { "at least " } else { "" };
        let times = ratio(gain.ratio);
        format!(
            "{name} answers {least}{times} times as much{}",
            behind(gain)
        )
    });
    let more = match of(PairVerdict::Faster).count().saturating_sub(MAX_GAINS) {
        0 => None,
        1 => Some("1 other stack gains as well".to_owned()),
        more => Some(format!("{more} other stacks gain as well")),
    };
    let losses = of(PairVerdict::Slower).map(|(name, gain)| {
        let times = ratio(gain.ratio);
        format!("{name} answers only {times} times as much{}", behind(gain))
    });
    let named = |found: Vec<&(String, Gain)>, verbs: [&str; 2], what: &str| {
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        let verb = verbs[usize::from(names.len() != 1)];
        (!names.is_empty()).then(|| format!("{} {verb} {what}", some(&names, MAX_NAMES)))
    };
    let gain = ["gains", "gain"];
    let (bounded, open): (Vec<_>, Vec<_>) =
        of(PairVerdict::Undecided).partition(|(_, gain)| gain.is_bound);
    let parts: Vec<String> = gains
        .chain(more)
        .chain(losses)
        .chain(named(of(PairVerdict::DeadHeat).collect(), gain, "nothing"))
        .chain(named(open, gain, "nothing provable"))
        .chain(named(
            bounded,
            ["may gain", "may gain"],
            "more than the load generator let it show",
        ))
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
    closed.map_or_else(String::new, |one| {
        format!(" ({})", ratios(one.low, one.high))
    })
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
        Column::right("requests/s").sorted(false),
        Column::right("speed-up").sorted(false),
        Column::right("efficiency").sorted(false),
        Column::right("CPU/req").sorted(true),
        Column::left("verdict"),
    ]);
    for (stack, at) in load.scaling.iter().flat_map(of_stack) {
        let gain = at.gain;
        let per_second = words::bound(at.is_bound, figure(at.per_second));
        let times = gain.map(|gain| words::bound(gain.is_bound, ratio(gain.ratio)));
        let ends = gain
            .and_then(|gain| gain.interval)
            .map(|one| ratios(one.low, one.high));
        let cost = at.cpu_us_per_request;
        let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
        table.row([
            Cell::from(clean(&stack.target.on_cpus(Some(at.cpus)).to_string())),
            Cell::figure(per_second, Some(at.per_second)),
            Cell::figure(or_none(times), gain.map(|gain| gain.ratio))
                .note(ends.unwrap_or_default()),
            Cell::figure(
                or_none(
                    gain.map(|gain| words::bound(gain.is_bound, short_percent(gain.efficiency))),
                ),
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
const fn word(verdict: PairVerdict) -> &'static str {
    match verdict {
        PairVerdict::Faster => "faster",
        PairVerdict::Slower => "slower",
        PairVerdict::DeadHeat => "no gain",
        PairVerdict::Undecided => "undecided",
    }
}
