//! The verdict in a sentence that names the sides. A ratio is that of the larger figure to the smaller one, so that
//! nobody has to invert it, except for CPU time: there it is B's share of A's, which may be below 1.

use deadheat_document::view::clean;
use deadheat_model::{
    comparison::Decide,
    figure::{self, counted, list, rate, signed},
};
use deadheat_stats::{
    comparison::{Compared, ComparisonAnalysis, Ended, Method, Metric, Ratio, RatioVerdict},
    sequential::Design,
};
use textwrap::core::display_width;

use super::words::{Advantage, difference, level};

/// The longest name in a sentence, in columns.
const LONGEST_NAME: usize = 40;

/// What sentences call the sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) a: String,
    pub(super) b: String,
}

impl Names {
    /// The names of both sides without what they end with alike ("--port $PORT", the path of two URLs); A and B if
    /// these are too long or do not differ.
    pub(super) fn new(comparison: &ComparisonAnalysis) -> Self {
        let (a, b) = (clean(&comparison.a.name), clean(&comparison.b.name));
        let (a, b) = distinct(a.trim(), b.trim());
        let fits = |name: &str| (1..=LONGEST_NAME).contains(&display_width(name));
        if a != b && fits(a) && fits(b) {
            Self {
                a: a.to_owned(),
                b: b.to_owned(),
            }
        } else {
            Self {
                a: "A".to_owned(),
                b: "B".to_owned(),
            }
        }
    }

    /// The side that is ahead, and the other one.
    fn in_order(&self, advantage: &Advantage) -> [&str; 2] {
        if advantage.is_of_b {
            [&self.b, &self.a]
        } else {
            [&self.a, &self.b]
        }
    }
}

/// Two names without the words that both end with. One word of each stays.
fn distinct<'n>(mut a: &'n str, mut b: &'n str) -> (&'n str, &'n str) {
    if let (Some((one, of_a)), Some((other, of_b))) = (host(a), host(b))
        && one != other
        && of_a == of_b
    {
        return (one, other);
    }
    while let (Some((rest_a, last_a)), Some((rest_b, last_b))) =
        (a.rsplit_once(' '), b.rsplit_once(' '))
        && last_a == last_b
    {
        (a, b) = (rest_a.trim_end(), rest_b.trim_end());
    }
    (a, b)
}

/// The host and port of a URL, and what else it has.
fn host(url: &str) -> Option<(&str, (&str, &str))> {
    let (scheme, rest) = url.split_once("://")?;
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(at);
    (!scheme.contains(' ')).then_some((host, (scheme, path)))
}

/// The verdict.
pub(super) fn sentence(comparison: &ComparisonAnalysis, names: &Names) -> String {
    let Names { a, b } = names;
    if let Some(reason) = &comparison.b.failed {
        return format!("{} failed: {reason}.", with_letter(b, "B"));
    }
    if let Some(reason) = &comparison.a.failed {
        return format!(
            "{} failed, so there is nothing to compare {b} with: {reason}.",
            with_letter(a, "A")
        );
    }
    let failed = comparison.not_compared.iter();
    let also = match failed.filter(|cell| cell.b_failed).count() {
        0 => String::new(),
        count => format!(" {b} failed in {}.", counted(count, "cell")),
    };
    let verdict = match comparison.compared.as_slice() {
        _ if !comparison.has_ratio() => nothing(comparison),
        cells if !comparison.is_judged() => without_verdict(comparison, cells, names),
        [cell] => of_one(cell, names, comparison.is_change),
        cells => of_many(cells, names),
    };
    verdict + &also
}

/// The name, and the side's letter if it is another one.
fn with_letter(name: &str, letter: &str) -> String {
    if name == letter {
        name.to_owned()
    } else {
        format!("{name} ({letter})")
    }
}

/// Why there is no figure.
pub fn nothing(comparison: &ComparisonAnalysis) -> String {
    let why = match &comparison.how {
        Method::Heats { heats: 0, .. } if comparison.compared.is_empty() => {
            ": it was stopped before the first heat ended"
        }
        _ if comparison.compared.is_empty() => "",
        Method::Heats { .. } => ": no heat has slices of both sides that count",
        Method::Sessions | Method::Runs { .. } => ": both sides have no figure in common",
    };
    format!("Nothing could be compared{why}.")
}

/// What was measured before it was stopped. Nothing in it is a verdict.
fn without_verdict(comparison: &ComparisonAnalysis, cells: &[Compared], names: &Names) -> String {
    let Method::Heats {
        design,
        heats,
        ended,
        ..
    } = &comparison.how
    else {
        return String::new();
    };
    let stopped = format!(
        "{} {}, so there is no verdict.",
        why(*ended),
        checkpoint(design)
    );
    let [cell] = cells else {
        return stopped;
    };
    let Some(ratio) = cell.deciding().first() else {
        return stopped;
    };
    let advantage = Advantage::new(ratio);
    let [ahead, behind] = names.in_order(&advantage);
    let load = at(&cell.subject.workload, ratio);
    let figure = match ratio.metric {
        Metric::Throughput => {
            format!(
                "{ahead} was {} as fast as {behind} at {load}",
                advantage.factor()
            )
        }
        metric => format!(
            "{behind} had {} the {} of {ahead} at {load}",
            advantage.factor(),
            metric.name()
        ),
    };
    let interval = match (ratio.interval, advantage.span()) {
        (Some(interval), span) => {
            let span = span.unwrap_or_else(|| difference(ratio.interval));
            format!(
                " ({span}: {} interval for a fixed number of heats)",
                level(interval.level)
            )
        }
        (None, _) if *heats == 1 => "; one heat has no interval".to_owned(),
        (None, _) => String::new(),
    };
    format!(
        "{stopped} In {}, {figure}{interval}.",
        counted(*heats as usize, "heat")
    )
}

const fn why(ended: Ended) -> &'static str {
    match ended {
        Ended::Budget => "The budget ended before",
        Ended::Failed => "It ended before",
        Ended::Interrupted | Ended::Lost | Ended::Decided | Ended::LooksTaken => "Stopped before",
    }
}

/// The first time at which the figures would have been judged.
fn checkpoint(design: &Design) -> String {
    match design.looks.first() {
        Some(look) => format!(
            "the first checkpoint ({})",
            counted(look.heats as usize, "heat")
        ),
        None => "the first checkpoint".to_owned(),
    }
}

/// The verdict on the only cell. `is_change`: B is A after a change, so that the sentence is about B.
fn of_one(cell: &Compared, names: &Names, is_change: bool) -> String {
    let workload = &cell.subject.workload;
    if let Some(sentence) = overload(cell, names) {
        return sentence;
    }
    let Some(ratio) = cell.decisive() else {
        return match cell.lacks() {
            Some(metric) => format!(
                "Undecided at {workload}: the {} is not known.",
                metric.name()
            ),
            None => format!("Undecided at {workload}: both sides have no figure in common."),
        };
    };
    let load = &at(workload, ratio);
    match ratio.verdict {
        RatioVerdict::Better | RatioVerdict::Worse => {
            different(cell, ratio, load, names, is_change)
        }
        RatioVerdict::DeadHeat => equal(ratio, load, names),
        RatioVerdict::NotEnoughData => undecided(cell, ratio, load, names),
    }
}

/// Where a ratio was measured: "GET /", "2,000/s of GET /".
fn at(workload: &str, ratio: &Ratio) -> String {
    match ratio.per_second {
        Some(per_second) => format!("{} of {workload}", rate(per_second)),
        None => workload.to_owned(),
    }
}

/// Which side cannot take a rate, if that is the verdict.
fn overload(cell: &Compared, names: &Names) -> Option<String> {
    let workload = &cell.subject.workload;
    let Names { a, b } = names;
    let verdict = cell.verdict;
    cell.overloads().find_map(|rate_of| {
        let one = rate_of.iter().flatten().next()?;
        let load = format!("{} of {workload}", rate(one.per_second));
        match (rate_of, verdict) {
            ([Some(_), Some(_)], RatioVerdict::NotEnoughData) => Some(format!(
                "Undecided: neither {a} nor {b} can take {load}. Choose a lower --rate."
            )),
            ([one, other], RatioVerdict::NotEnoughData) if !one.or(other)?.other_side_keeps_up => {
                let [unable, able] = if one.is_some() { [a, b] } else { [b, a] };
                Some(format!(
                    "Undecided: {unable} cannot take {load}, and {able} did not always. Choose a lower --rate."
                ))
            }
            ([None, Some(_)], RatioVerdict::Worse) => {
                Some(format!("{b} cannot take {load}, and {a} can."))
            }
            ([Some(_), None], RatioVerdict::Better) => {
                Some(format!("{a} cannot take {load}, and {b} can."))
            }
            _ => None,
        }
    })
}

fn different(cell: &Compared, ratio: &Ratio, load: &str, names: &Names, is_change: bool) -> String {
    let advantage = Advantage::new(ratio);
    let [ahead, behind] = names.in_order(&advantage);
    let Names { a, b } = names;
    let factor = advantage.factor();
    let span = advantage.span();
    let span = span.map_or(String::new(), |span| format!(" ({span})"));
    let word = if advantage.is_of_b {
        "faster"
    } else {
        "slower"
    };
    let metric = ratio.metric.name();
    match ratio.metric {
        Metric::CpuPerRequest => costs(ratio, load, names, is_change),
        // Both sides have the same rate.
        Metric::Throughput if cell.deciding().len() > 1 => format!(
            "{behind} does not keep up with the rate at {load}: {ahead} gives {factor} as many answers{span}."
        ),
        Metric::Throughput if is_change => {
            format!("{b} makes {load} {factor} {word} than {a}{span}.")
        }
        Metric::Throughput => format!("{ahead} is {factor} as fast as {behind} at {load}{span}."),
        _ if is_change && advantage.is_of_b => {
            format!("{b} makes {load} faster than {a}, whose {metric} is {factor} as long{span}.")
        }
        _ if is_change => {
            format!("{b} makes {load} slower than {a}: its {metric} is {factor} as long{span}.")
        }
        _ => format!(
            "{behind} is slower than {ahead} at {load}: its {metric} is {factor} as long{span}."
        ),
    }
}

/// How much less or more B costs than A. The ratio is B's share of A's cost, so it may be below 1.
fn costs(ratio: &Ratio, load: &str, names: &Names, is_change: bool) -> String {
    let Names { a, b } = names;
    let word = if ratio.ratio < 1.0 {
        "cheaper"
    } else {
        "more expensive"
    };
    let by = unsigned(ratio.ratio - 1.0);
    let span = ratio.interval.map_or(String::new(), |interval| {
        format!(" ({})", figure::ratios(interval.low, interval.high))
    });
    let share = figure::ratio(ratio.ratio);
    let of = format!("{share}{span} of {a}'s CPU time per request");
    if is_change {
        format!("{b} makes {load} {by} {word} than {a}: {of}.")
    } else {
        format!("{b} is {by} {word} than {a} at {load}: {of}.")
    }
}

/// A difference in percent, without its sign.
fn unsigned(share: f64) -> String {
    signed(share).trim_start_matches(['+', '−', '±']).to_owned()
}

fn equal(ratio: &Ratio, load: &str, names: &Names) -> String {
    let Names { a, b } = names;
    let what = match ratio.metric {
        Metric::Throughput => format!("{a} and {b}"),
        Metric::CpuPerRequest => format!("the CPU times per request of {a} and {b}"),
        metric => format!("the {}s of {a} and {b}", metric.name()),
    };
    let most = ratio
        .interval
        .map(|interval| (interval.high - 1.0).max(1.0 / interval.low - 1.0));
    match most {
        // Rounded up, because it is an upper bound.
        Some(most) => format!(
            "A dead heat at {load}: {what} differ by at most {:.1} %.",
            (most * 1e3).ceil() / 10.0
        ),
        None => format!("A dead heat at {load}: {what} do not differ."),
    }
}

fn undecided(cell: &Compared, ratio: &Ratio, load: &str, names: &Names) -> String {
    let Names { a, b } = names;
    let advantage = Advantage::new(ratio);
    let [ahead, behind] = names.in_order(&advantage);
    let factor = advantage.factor();
    let Some((low, high)) = advantage.range_of_b() else {
        let has = |id: &str| cell.notes.iter().any(|note| note.id == id);
        let why = match () {
            () if has("not-in-turn") => "because the runs were not made in turn",
            () if has("few-runs") => "because there are too few runs for an interval",
            () => "because there are too few heats for an interval",
        };
        return format!("Undecided at {load}, {why}: {ahead} is {factor} as fast as {behind}.");
    };
    if let Some(span) = advantage.span() {
        return format!(
            "Undecided at {load}: {ahead} is {factor} as fast as {behind} ({span}), and only a difference of more than \
             {} counts.",
            unsigned(ratio.rule.threshold)
        );
    }
    if let (Metric::CpuPerRequest, Some(interval)) = (ratio.metric, ratio.interval) {
        let ends = [interval.low, interval.high].map(|end| {
            let word = if end < 1.0 { "less" } else { "more" };
            format!("{} {word}", unsigned(end - 1.0))
        });
        let [least, most] = ends;
        return format!(
            "Undecided at {load}: {b}'s CPU time per request is between {least} and {most} than {a}'s."
        );
    }
    let by = match ratio.metric {
        Metric::Throughput => String::new(),
        metric => format!("by its {}, ", metric.name()),
    };
    let slower = format!("{}×", figure::ratio(1.0 / low));
    let faster = format!("{}×", figure::ratio(high));
    let range = match (low > 0.0, high.is_finite()) {
        (true, true) => format!("between {slower} slower and {faster} faster than {a}"),
        (true, false) => format!("at most {slower} slower than {a}"),
        _ => format!("at most {faster} faster than {a}"),
    };
    format!("Undecided at {load}: {by}{b} is {range}.")
}

fn of_many(cells: &[Compared], names: &Names) -> String {
    let count = |verdict| {
        let cells = cells.iter();
        cells.filter(|cell| cell.verdict == verdict).count()
    };
    let (worse, better) = if cells.iter().all(|cell| cell.decide == Decide::Cpu) {
        ("more expensive in", "cheaper in")
    } else {
        ("slower in", "faster in")
    };
    let kinds = [
        (RatioVerdict::Worse, worse),
        (RatioVerdict::Better, better),
        (RatioVerdict::DeadHeat, "in a dead heat in"),
        (RatioVerdict::NotEnoughData, "undecided in"),
    ];
    let found: Vec<String> = kinds
        .into_iter()
        .map(|(verdict, word)| (count(verdict), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{word} {count}"))
        .collect();
    let cells = counted(cells.len(), "cell");
    let Names { a, b } = names;
    format!("Of {cells}, {b} is {}, compared with {a}.", list(&found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_they_can_be_told_apart() {
        let cases = [
            (
                ("./old --port $PORT", "./new --port $PORT"),
                ("./old", "./new"),
            ),
            (("node a.js", "python3 b.py"), ("node a.js", "python3 b.py")),
            (
                ("./server", "./server --fast"),
                ("./server", "./server --fast"),
            ),
            (
                ("http://127.0.0.1:8080/x", "http://127.0.0.1:9090/x"),
                ("127.0.0.1:8080", "127.0.0.1:9090"),
            ),
            (("http://h/a", "http://h/b"), ("http://h/a", "http://h/b")),
            (("go-a@main", "go-a"), ("go-a@main", "go-a")),
            (("x y", "z x y"), ("x", "z x")),
        ];
        for ((a, b), expected) in cases {
            assert_eq!(distinct(a, b), expected);
        }
    }
}
