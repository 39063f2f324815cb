//! What throughput costs: the stacks that give the most for their memory or for their CPU time.

use deadheat_stats::Group;
use serde::Serialize;

use super::plot_cell::{Dot, PlotCell};
use crate::figure::{count, counted, list};

/// What a stack pays with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// The largest PSS.
    PeakMemory,
    /// CPU time per request.
    CpuTime,
}

impl Cost {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Cost::PeakMemory => "peak memory",
            Cost::CpuTime => "CPU time per request",
        }
    }

    /// A stack's: bytes, or seconds per request.
    pub fn of(self, cell: &PlotCell) -> Option<Dot> {
        match self {
            Cost::PeakMemory => cell.pss[2],
            Cost::CpuTime => cell.cpu.map(|cpu| cpu.scaled(1e-6)),
        }
    }
}

/// Throughput against one cost.
#[derive(Clone, Debug, Serialize)]
pub struct Frontier {
    /// The cost.
    pub cost: Cost,
    /// The stacks than which no other gives as much for less, or more for as much (the Pareto frontier of the medians),
    /// the cheapest first.
    pub stacks: Vec<String>,
    /// The same in a sentence.
    pub sentence: String,
    /// Their places among the figures behind the plots.
    #[serde(skip)]
    pub places: Vec<usize>,
}

/// The frontiers of a load point; none of an open loop, whose throughput is what was offered, nor of a single stack.
pub(super) fn frontiers(group: &Group, cells: &[PlotCell]) -> Vec<Frontier> {
    if group.point.open.is_some() || group.point.counted.is_some() {
        return Vec::new();
    }
    let costs = [Cost::PeakMemory, Cost::CpuTime];
    let frontiers = costs.map(|cost| frontier(cost, cells));
    frontiers.into_iter().flatten().collect()
}

fn frontier(cost: Cost, cells: &[PlotCell]) -> Option<Frontier> {
    let points = cells.iter().enumerate();
    let points = points.filter_map(|(place, cell)| Some((place, cost.of(cell)?.value)));
    let mut points: Vec<(usize, f64)> = points.collect();
    if points.len() < 2 {
        return None;
    }
    let all = points.len();
    let rate = |place: usize| cells[place].throughput.value;
    // The cheapest first, and of two that cost the same the faster one.
    points.sort_by(|(one, cost), (other, dearer)| {
        let rates = rate(*other).total_cmp(&rate(*one));
        cost.total_cmp(dearer).then(rates)
    });
    let mut most = f64::NEG_INFINITY;
    points.retain(|(place, _)| {
        let is_more = rate(*place) > most;
        most = most.max(rate(*place));
        is_more
    });
    let places: Vec<usize> = points.iter().map(|(place, _)| *place).collect();
    let stacks: Vec<String> = places
        .iter()
        .map(|place| cells[*place].target.clone())
        .collect();
    Some(Frontier {
        cost,
        sentence: sentence(cost, &stacks, all),
        stacks,
        places,
    })
}

/// It says nothing of differences: a dead heat has two medians as well.
fn sentence(cost: Cost, stacks: &[String], all: usize) -> String {
    let name = cost.name();
    let verb = if stacks.len() == 1 { "is" } else { "are" };
    format!(
        "{} of {} {verb} beaten by no other in throughput and {name} at once, going by the medians alone: {}.",
        count(stacks.len() as u64),
        counted(all, "stack"),
        list(stacks)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stacks by name, throughput, peak memory (0: not read) and CPU time in µs.
    fn cells(of: &[(&str, f64, f64, Option<f64>)]) -> Vec<PlotCell> {
        let dot = |value: f64| Dot { value, ends: None };
        let cell = |(name, rate, memory, cpu): &(&str, f64, f64, Option<f64>)| PlotCell {
            target: (*name).to_owned(),
            lower_bound: false,
            overloaded: false,
            offered: None,
            throughput: dot(*rate),
            trials: vec![*rate],
            cpu: cpu.map(dot),
            pss: [1.0, 2.0, *memory].map(|size| (size > 0.0).then(|| dot(size))),
            times: Vec::new(),
            spectrum: Vec::new(),
        };
        of.iter().map(cell).collect()
    }

    #[test]
    fn only_stacks_that_no_other_beats_in_both_are_on_the_frontier() {
        let cells = cells(&[
            ("fast", 100.0, 50.0, Some(10.0)),
            ("worse", 80.0, 60.0, Some(13.0)),
            ("small", 40.0, 5.0, Some(25.0)),
            ("middle", 70.0, 20.0, Some(14.0)),
            ("same-size", 30.0, 5.0, Some(33.0)),
            ("no-faster", 70.0, 21.0, None),
        ]);
        let memory = frontier(Cost::PeakMemory, &cells).unwrap();
        assert_eq!(memory.stacks, ["small", "middle", "fast"]);
        assert_eq!(memory.places, [2, 3, 0]);
        assert_eq!(
            memory.sentence,
            "3 of 6 stacks are beaten by no other in throughput and peak memory at once, going by the medians alone: \
             small, middle and fast."
        );
        let cpu = frontier(Cost::CpuTime, &cells).unwrap();
        assert_eq!(cpu.stacks, ["fast"]);
        assert_eq!(
            cpu.sentence,
            "1 of 5 stacks is beaten by no other in throughput and CPU time per request at once, going by the medians \
             alone: fast."
        );
    }

    #[test]
    fn a_stack_whose_memory_could_not_be_read_is_not_the_best_on_memory() {
        let cells = cells(&[
            ("fast", 100.0, 50.0, None),
            ("small", 40.0, 5.0, None),
            ("unknown", 200.0, 0.0, None),
        ]);
        let memory = frontier(Cost::PeakMemory, &cells).unwrap();
        assert_eq!(memory.stacks, ["small", "fast"]);
        assert!(memory.sentence.starts_with("2 of 2 stacks"), "{memory:?}");
    }

    #[test]
    fn one_stack_has_no_frontier() {
        let one = cells(&[("alone", 1.0, 1.0, None)]);
        assert!(frontier(Cost::PeakMemory, &one).is_none());
        assert!(frontier(Cost::CpuTime, &one).is_none());
    }
}
