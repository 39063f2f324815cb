//! What `--fail-if-slower`, `--fail-if-costlier` and `--require-decision` say, in sentences.

use deadheat_model::{
    comparison::Decide,
    figure::{self, counted, list, rate, signed},
};
use deadheat_stats::versus::{Check, Gate, GateCell, Gated, Metric, Versus};

use super::words;

/// Whether a check fails, and why; `None` if no check was asked for.
pub(super) fn sentence(gate: &Gate, versus: &Versus, b: &str) -> Option<(bool, String)> {
    let is_asked = gate.check != Check::default();
    is_asked.then(|| (gate.failed, sentences(gate, versus, b).join(" ")))
}

fn sentences(gate: &Gate, versus: &Versus, b: &str) -> Vec<String> {
    let is_judged = versus.is_judged();
    let asked = GateQuestion::new(gate, versus);
    let of = |asked: GateQuestion, is: Gated| -> Option<String> {
        let cells = gate.cells.iter();
        let cells = cells.filter(|cell| cell.is == is && asked.is_about(cell));
        let cells: Vec<String> = cells.map(shown).collect();
        (!cells.is_empty()).then(|| list(&cells))
    };
    let all = |is: Gated| {
        asked
            .iter()
            .filter_map(move |asked| Some((*asked, of(*asked, is)?)))
    };
    let options = options(&gate.check);
    let events = |word: &str| {
        let events: Vec<String> = asked
            .iter()
            .map(|asked| format!("{word} {}", asked.event()))
            .collect();
        events.join(" and ")
    };
    let worse = all(Gated::Worse);
    let worse = worse.map(|(asked, cells)| format!("{b} is proven {}: {cells}.", asked.worse()));
    let unable = gate.overloaded.iter().map(|one| {
        let per_second = rate(one.overloaded.per_second);
        format!("{b} cannot take {per_second}, and A can: {}.", one.subject)
    });
    let against: Vec<String> = worse.chain(unable).collect();
    let is_open = all(Gated::NotExcluded).next().is_some();
    let first = match () {
        () if !against.is_empty() => format!("{options}: failed. {}", against.join(" ")),
        () if gate.failed => format!(
            "{options}: failed, because {} is not excluded.",
            events("a")
        ),
        () if !is_judged => format!("{options}: not judged, because there is no verdict."),
        () if gate.cells.is_empty() => {
            format!("{options}: not judged, because nothing that decides was compared.")
        }
        () if !is_open => format!("{options}: passed."),
        () => format!("{options}: passed, undecided. {} is proven.", events("No")),
    };
    let mut sentences = vec![first];
    let open = all(Gated::NotExcluded);
    sentences.extend(open.map(|(asked, cells)| {
        let event = asked.event();
        format!("Not excluded: a {event} of {cells}. More heats may decide it.")
    }));
    let excluded = all(Gated::Excluded);
    sentences.extend(
        excluded.map(|(asked, cells)| format!("Excluded: a {} of {cells}.", asked.event())),
    );
    if gate.not_judged > 0 && is_judged {
        sentences.push(format!(
            "Not judged, because not compared: {}.",
            counted(gate.not_judged, "cell")
        ));
    }
    sentences
}

/// What a check asks about B: its speed or its cost, and the bound if there is one.
#[derive(Clone, Copy)]
struct GateQuestion {
    of_cost: bool,
    bound: Option<f64>,
}

impl GateQuestion {
    fn new(gate: &Gate, versus: &Versus) -> Vec<Self> {
        let Check {
            fail_if_slower,
            fail_if_costlier,
            ..
        } = gate.check;
        if gate.check.has_bound() {
            let bounds = [(false, fail_if_slower), (true, fail_if_costlier)];
            let bounds = bounds.into_iter().filter(|(_, bound)| bound.is_some());
            return bounds
                .map(|(of_cost, bound)| Self { of_cost, bound })
                .collect();
        }
        let of_cost = versus
            .compared
            .first()
            .is_some_and(|cell| cell.decide == Decide::Cpu);
        vec![Self {
            of_cost,
            bound: None,
        }]
    }

    fn is_about(self, cell: &GateCell) -> bool {
        self.of_cost == is_of_cost(cell)
    }

    /// "slowdown of more than 3 %".
    fn event(self) -> String {
        let what = if self.of_cost {
            "rise in cost"
        } else {
            "slowdown"
        };
        let bound = self.bound.map(figure::setting);
        bound.map_or(what.to_owned(), |bound| {
            format!("{what} of more than {bound}")
        })
    }

    /// "slower by more than 3 %".
    fn worse(self) -> String {
        let what = if self.of_cost {
            "more expensive"
        } else {
            "slower"
        };
        let bound = self.bound.map(figure::setting);
        bound.map_or(what.to_owned(), |bound| {
            format!("{what} by more than {bound}")
        })
    }
}

fn is_of_cost(cell: &GateCell) -> bool {
    cell.metric == Metric::CpuPerRequest
}

/// The cell, and by how much the figure that decides differs.
fn shown(cell: &GateCell) -> String {
    let difference = signed(cell.ratio - 1.0);
    let metric = cell.metric.name();
    let interval = words::difference(cell.interval);
    let at = cell
        .per_second
        .map(|per_second| format!(" at {}", rate(per_second)));
    let at = at.unwrap_or_default();
    format!("{}{at} ({metric} {difference}, {interval})", cell.subject)
}

/// The options as they were typed.
fn options(check: &Check) -> String {
    let bound = |option: &str, bound: Option<f64>| {
        let bound = bound.map(figure::setting);
        bound.map(|bound| format!("{option} {bound}"))
    };
    let decision = check
        .require_decision
        .then(|| "--require-decision".to_owned());
    let given = [
        bound("--fail-if-slower", check.fail_if_slower),
        bound("--fail-if-costlier", check.fail_if_costlier),
        decision,
    ];
    let given: Vec<String> = given.into_iter().flatten().collect();
    given.join(" ")
}
