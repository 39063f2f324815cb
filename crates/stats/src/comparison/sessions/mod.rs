//! Two sessions of heats, measured at two times: relative to the stacks that are the same in both, and corrected for
//! how many cells were compared. The machine and how they were measured must not differ.

mod cells;
mod unchanged;

use std::collections::BTreeMap;

use deadheat_model::{
    TargetId,
    change::{Aspect, Change, between},
    figure,
    heat::WarmUpRule,
    heats::SessionRecord,
    warning::{Warning, doubt, note},
};

pub use self::unchanged::{MIN_UNCHANGED, Movement};
use self::{
    cells::{Numbers, SessionSide, SideLoad},
    unchanged::Unchanged,
};
use super::{
    Bounds, CellId, Compared, ComparisonAnalysis, Fact, Method, Metric, NotCompared, Ratio,
    RatioVerdict, SideFacts, differs, unsteady,
};
use crate::{
    interval::{self, Difference, holm},
    standings::twin,
};

/// What every comparison of two sessions must be read with.
const CAVEAT: &str = "The sessions were measured at two times, so only a change beyond that of unchanged stacks is \
                      proven.";
const ADVICE: &str = "`deadheat compare STACK@REVISION STACK` measures both in the same heats.";

/// What sentences call the sides, where a legend says which session each is.
pub const LETTERS: [&str; 2] = ["A", "B"];

/// Session `b` against session `a`, whatever differs between them ([`refusals`] has what ought not to). Each comes with
/// the name by which the user knows it; sentences call them by `called`.
pub fn compare(
    a: (&str, &SessionRecord),
    b: (&str, &SessionRecord),
    called: [&str; 2],
    bounds: Bounds,
) -> ComparisonAnalysis {
    let sides = [
        SessionSide::new(called[0], a.1),
        SessionSide::new(called[1], b.1),
    ];
    let differences = differences(a.1, b.1);
    let of_stacks: Vec<Change> = differences
        .iter()
        .cloned()
        .chain(warm_ups(a.1, b.1))
        .collect();
    let unchanged = AllUnchanged::new(&sides, &of_stacks);
    let mut compared: Vec<Compared> = Vec::new();
    let mut not_compared: Vec<NotCompared> = Vec::new();
    for subject in cells::candidates(&sides) {
        match cells::numbers(&sides, &subject) {
            Ok(numbers) => compared.push(cell(&sides, subject, numbers, &unchanged, &bounds)),
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
    let differing = refusals(a.1, b.1);
    warnings.extend(
        differing
            .iter()
            .map(|one| differs(one, called[0], called[1])),
    );
    warnings.extend(biased(&sides));
    warnings.extend(unchanged.warnings(&compared, called, &bounds));
    ComparisonAnalysis {
        how: Method::Sessions,
        a: side(a.0, a.1),
        b: side(b.0, b.1),
        is_change: false,
        bounds,
        compared,
        not_compared,
        conditions: conditions(a.1, b.1),
        differences,
        warnings,
    }
}

fn cell(
    sides: &[SessionSide<'_>; 2],
    subject: CellId,
    numbers: Numbers,
    unchanged: &AllUnchanged,
    bounds: &Bounds,
) -> Compared {
    let ratios = Metric::ALL.into_iter().filter_map(|metric| {
        let movement = unchanged.at(&subject, metric)?;
        let movement = movement.without(subject.target.as_ref());
        let sample = Sample::of(sides, &subject, metric, numbers)?;
        Some(sample.relative_to(movement, bounds))
    });
    let ratios: Vec<Ratio> = ratios.collect();
    // Sorted by metric: closed loops begin with their throughput, open ones with the median.
    let decides =
        |ratio: &Ratio| matches!(ratio.metric, Metric::Throughput | Metric::ResponseTimeP50);
    let deciding = usize::from(ratios.first().is_some_and(decides));
    Compared {
        deciding,
        tested: deciding,
        ratios,
        notes: cells::notes(sides, &subject, numbers),
        subject,
        ..Compared::default()
    }
}

/// With fewer heats or runs on a side there is no interval: it would reach over orders of magnitude.
pub const MIN_RUNS: usize = 3;

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

    /// That of a stack in both sessions.
    fn of(
        sides: &[SessionSide<'_>; 2],
        subject: &CellId,
        metric: Metric,
        numbers: Numbers,
    ) -> Option<Self> {
        let [a, b] = sides;
        let a = a.load(subject)?.logs(metric, numbers[0]);
        let b = b.load(subject)?.logs(metric, numbers[1]);
        Self::new(metric, a, b)
    }

    /// B less A on the logarithm; `None` with too few values.
    fn difference(&self) -> Option<Difference> {
        let has_enough = self.a.len().min(self.b.len()) >= MIN_RUNS;
        interval::difference(&self.a, &self.b).filter(|_| has_enough)
    }

    /// The ratio, before it is corrected for the number of cells.
    pub fn ratio(&self, bounds: &Bounds) -> Ratio {
        let (a, b) = (mean(&self.a), mean(&self.b));
        let difference = self.difference();
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
            unchanged: None,
            rule: bounds.rule(self.metric),
            verdict: RatioVerdict::NotEnoughData,
        }
    }

    /// The ratio relative to those of unchanged stacks, before it is corrected for the number of cells. Without them
    /// it has no error, since nothing tells the stack's doing from the machine's.
    fn relative_to(&self, unchanged: Option<Movement>, bounds: &Bounds) -> Ratio {
        let ratio = self.ratio(bounds);
        let own = self.difference();
        let found = unchanged.zip(own).map(|(others, own)| others.against(&own));
        Ratio {
            ratio: unchanged.map_or(ratio.ratio, |others| ratio.ratio / others.ratio),
            error: found.map(|found| found.error),
            freedom: found.map(|found| found.freedom),
            p: found.map(|found| found.p_of_zero()),
            unchanged,
            ..ratio
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
        ratio.interval = ratio.interval_at(1.0 - bounds.alpha / tests as f64);
        **ratio = ratio.clone().judged();
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// One metric of runs that are in no heats, from the values of each side; `None` without values above zero.
pub(in crate::comparison) fn of_runs(
    metric: Metric,
    a: &[f64],
    b: &[f64],
    bounds: &Bounds,
) -> Option<Ratio> {
    let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect();
    let is_positive = a.iter().chain(b).all(|value| *value > 0.0);
    let sample = Sample::new(metric, logs(a), logs(b)).filter(|_| is_positive)?;
    let mut ratio = sample.ratio(bounds);
    correct(&mut [&mut ratio], bounds);
    Some(ratio)
}

/// Differences between two sessions with which they did not measure the same: machine, settings, workloads and warm-ups.
/// With one of them a comparison says nothing of the stacks. `before` is A, `after` is B. Another kernel or Deadheat does
/// not count among them: unchanged stacks had it, too, and show by how much it moves figures.
pub fn refusals(a: &SessionRecord, b: &SessionRecord) -> Vec<Change> {
    let one_reason = in_one(&warm_ups(a, b));
    other_conditions(a, b).chain(one_reason).collect()
}

/// [`refusals`], with the warm-up of each stack that has another one as a change of that stack.
pub fn refusals_by_stack(a: &SessionRecord, b: &SessionRecord) -> Vec<Change> {
    other_conditions(a, b).chain(warm_ups(a, b)).collect()
}

fn other_conditions(a: &SessionRecord, b: &SessionRecord) -> impl Iterator<Item = Change> {
    let changes = between(&a.header, &b.header).into_iter();
    changes.filter(|change| !is_compared(change))
}

/// Differences that are what is compared, or that say which stacks and load points only one side has.
fn differences(a: &SessionRecord, b: &SessionRecord) -> Vec<Change> {
    let changes = between(&a.header, &b.header).into_iter();
    changes.filter(is_compared).collect()
}

fn is_compared(change: &Change) -> bool {
    match change.aspect {
        Aspect::Machine | Aspect::Settings => false,
        Aspect::System
        | Aspect::Deadheat
        | Aspect::Commit
        | Aspect::Version
        | Aspect::Sources
        | Aspect::Selection => true,
    }
}

/// The stacks with another warm-up, which is in the heats, at each load.
fn warm_ups(a: &SessionRecord, b: &SessionRecord) -> Vec<Change> {
    let of = |record: &SessionRecord| {
        let mut rules: BTreeMap<(String, TargetId), String> = BTreeMap::new();
        for heat in &record.heats {
            let load = record.header.plan.loads[heat.load as usize].name();
            for member in &heat.heat.members {
                let Some(warm_up) = member.warm_up.filter(|_| member.loads_before == 0) else {
                    continue;
                };
                let WarmUpRule {
                    least, most, rest, ..
                } = warm_up.rule;
                let mut rule = format!("{} to {} s", least.as_secs_f64(), most.as_secs_f64());
                if !rest.is_zero() {
                    rule += &format!(" with rests of {} s", rest.as_secs_f64());
                }
                rules.insert((load.clone(), member.target.clone()), rule);
            }
        }
        rules
    };
    let (of_a, mut of_b) = (of(a), of(b));
    let others = of_a.into_iter().filter_map(|(key, one)| {
        let other = of_b.remove(&key)?;
        let (load, target) = key;
        (one != other).then(|| Change {
            aspect: Aspect::Settings,
            target: Some(target),
            what: format!("{load}: warm-up"),
            before: Some(one),
            after: Some(other),
        })
    });
    others.collect()
}

/// Other warm-ups as one change, which names the first.
fn in_one(warm_ups: &[Change]) -> Option<Change> {
    let first = warm_ups.first()?;
    let (load, target) = (first.what.rsplit_once(": ")?.0, first.target.as_ref()?);
    let more = match warm_ups.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(Change {
        target: None,
        what: format!("warm-up of {target} at {load}{more}"),
        ..first.clone()
    })
}

/// A warning for each session in which a stack and its twin (A/A) differed.
fn biased(sides: &[SessionSide<'_>; 2]) -> Vec<Warning> {
    let of = |session: &SessionSide<'_>| {
        let differs = |load: &&SideLoad<'_>| twin(&load.at).is_some_and(|twin| twin.differs());
        let loads = session.loads.iter().filter(differs);
        let loads: Vec<String> = loads.map(|load| load.at.load.name()).collect();
        (!loads.is_empty()).then(|| {
            let name = session.name;
            let sentence = format!(
                "In {name} one stack under two names (A/A) differed at {}: its order or its machine is biased, and \
                 every difference there is in doubt.",
                loads.join(", ")
            );
            doubt("twin-differs", sentence)
                .with("side", name)
                .with("loads", loads)
        })
    };
    sides.iter().filter_map(of).collect()
}

/// What is known of one side.
fn side(name: &str, record: &SessionRecord) -> SideFacts {
    let header = &record.header;
    let commit = header.commit.clone();
    SideFacts {
        name: name.to_owned(),
        facts: vec![
            Fact::new("session", &header.id),
            Fact::new("started", &header.started),
            Fact::new("commit", commit.unwrap_or_else(|| "unknown".to_owned())),
            Fact::new("complete heats", record.complete().to_string()),
        ],
        failed: None,
    }
}

/// Where and how both were measured; where that differs, each side's.
fn conditions(a: &SessionRecord, b: &SessionRecord) -> Vec<Fact> {
    type SessionSetting = fn(&SessionRecord) -> String;
    let facts: [(&str, SessionSetting); 9] = [
        ("processor", |record| {
            record.header.machine.cpu_model.clone()
        }),
        ("usable CPUs", |record| {
            figure::list(&record.header.machine.cpus)
        }),
        ("pinning", |record| record.header.plan.pinning.in_words()),
        ("system", |record| record.header.machine.os.clone()),
        ("kernel", |record| record.header.machine.kernel.clone()),
        ("mitigations", |record| {
            record.header.machine.mitigations.join("; ")
        }),
        ("frequency governor", |record| {
            let governor = record.header.machine.governor.clone();
            governor.unwrap_or_else(|| "none known".to_owned())
        }),
        ("congestion control", |record| {
            let name = record.header.machine.congestion_control.clone();
            name.unwrap_or_else(|| "none known".to_owned())
        }),
        ("Deadheat", |record| record.header.deadheat.clone()),
    ];
    let fact = |(name, of): (&str, SessionSetting)| {
        let (a, b) = (of(a), of(b));
        let value = if a == b { a } else { format!("A: {a}; B: {b}") };
        Fact::new(name, value)
    };
    facts.into_iter().map(fact).collect()
}

/// The unchanged stacks at each load of both sessions, for each metric.
struct AllUnchanged(Vec<(CellId, Metric, Unchanged)>);

impl AllUnchanged {
    fn new(sides: &[SessionSide<'_>; 2], differences: &[Change]) -> Self {
        let [a, b] = sides;
        let loads = a.subjects(None).filter(|load| b.load(load).is_some());
        let of_load = |load: CellId| {
            let stacks = unchanged(sides, &load, differences);
            let of_metric = move |metric| {
                let stacks = stacks.iter().map(|(target, numbers)| {
                    let sample = Sample::of(sides, &load, metric, *numbers);
                    (target.clone(), sample.and_then(|one| one.difference()))
                });
                (load.clone(), metric, Unchanged::new(stacks))
            };
            Metric::ALL.into_iter().map(of_metric)
        };
        Self(loads.flat_map(of_load).collect())
    }

    fn at(&self, subject: &CellId, metric: Metric) -> Option<&Unchanged> {
        let mut all = self.0.iter();
        let is_it =
            |load: &CellId| (&load.workload, &load.point) == (&subject.workload, &subject.point);
        let found = all.find(|(load, of, _)| *of == metric && is_it(load));
        found.map(|(.., unchanged)| unchanged)
    }

    /// For each load of these cells, how far the unchanged stacks moved if that is more than what counts, or that they are
    /// too few.
    fn warnings(&self, compared: &[Compared], called: [&str; 2], bounds: &Bounds) -> Vec<Warning> {
        let decide =
            |metric: &Metric| matches!(metric, Metric::Throughput | Metric::ResponseTimeP50);
        let mut warnings = Vec::new();
        let has_cells = |(load, ..): &(CellId, Metric, Unchanged)| {
            let mut cells = compared.iter().map(|cell| &cell.subject);
            cells.any(|one| (&one.workload, &one.point) == (&load.workload, &load.point))
        };
        let loads = self.0.chunk_by(|(one, ..), (next, ..)| one == next);
        for of_load in loads.filter(|of_load| of_load.first().is_some_and(has_cells)) {
            // A closed load has no response times, and an open one no throughput.
            let deciding = of_load.iter().filter(|(_, metric, _)| decide(metric));
            let Some((load, metric, unchanged)) = deciding.max_by_key(|(.., all)| all.len()) else {
                continue;
            };
            warnings.extend(warning(load, *metric, unchanged, called, bounds));
        }
        warnings
    }
}

/// The stacks that are the same in both sessions, with their numbers at this load: they count there, and their sources,
/// versions and warm-ups are known and the same.
fn unchanged(
    sides: &[SessionSide<'_>; 2],
    load: &CellId,
    differences: &[Change],
) -> Vec<(TargetId, Numbers)> {
    let [a, b] = sides;
    let is_known = |target: &TargetId| {
        let headers = [a, b].map(|side| side.record.header.target(target));
        let mut headers = headers.into_iter();
        headers.all(|one| one.is_some_and(|one| one.sources.is_some()))
    };
    let is_same = |target: &TargetId| {
        let mut changes = differences.iter();
        is_known(target) && !changes.any(|one| one.target.as_ref() == Some(target))
    };
    let numbers = |target: &TargetId| {
        let subject = CellId {
            target: Some(target.clone()),
            ..load.clone()
        };
        let numbers = cells::numbers(sides, &subject).ok()?;
        Some((target.clone(), numbers))
    };
    let at_load = a.load(load);
    let stacks = at_load.iter().flat_map(|load| &load.at.load.targets);
    stacks
        .filter(|target| is_same(target))
        .filter_map(numbers)
        .collect()
}

/// What the unchanged stacks at a load say of every ratio there.
fn warning(
    load: &CellId,
    metric: Metric,
    unchanged: &Unchanged,
    [a, b]: [&str; 2],
    bounds: &Bounds,
) -> Option<Warning> {
    let loads = [format!("{}:{}", load.workload, load.point)];
    let Some(movement) = unchanged.without(None) else {
        let found = match unchanged.len() {
            0 => "No stack is".to_owned(),
            1 => "Only one stack is".to_owned(),
            found => format!("Only {found} stacks are"),
        };
        let sentence = format!(
            "{found} the same in {a} and in {b} at {load}: a verdict needs {MIN_UNCHANGED} of them, which show the \
             machine's doing."
        );
        return Some(doubt("few-unchanged", sentence).with("loads", loads));
    };
    let least = bounds.rule(metric).threshold;
    let moved = movement.ratio.ln().abs().max(movement.spread) > least;
    moved.then(|| {
        let Movement { stacks, ratio, spread, .. } = movement;
        let sentence = format!(
            "At {load}, the {} of {stacks} stacks that did not change is {} times as high in {b} as in {a}, and {} apart: \
             ratios are relative to theirs.",
            metric.name(),
            figure::ratio(ratio),
            figure::short_percent(spread)
        );
        note("unchanged-moved", sentence)
            .with("loads", loads)
            .with("stacks", stacks)
            .with("ratio", ratio)
            .with("spread", spread)
    })
}
