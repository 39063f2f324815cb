//! Everything that a comparison shows: figures with their metric, and sentences.

use deadheat_model::change::{Aspect, Change};
use deadheat_stats::versus::{
    Compared, Fact as StatFact, Gate, How, Metric, NotCompared, Ratio, Side, Subject, Verdict,
    Versus,
};
use serde::Serialize;

use super::{
    gate::GateView,
    sentence::{Names, headline},
    words,
};
use crate::{
    figure::NONE,
    view::{Fact, clean},
};

/// Everything that a comparison shows.
#[derive(Clone, Debug, Serialize)]
pub struct CompareView {
    /// The verdict, in a sentence.
    pub headline: String,
    /// Whether that is good or bad news of B.
    pub outcome: Outcome,
    /// Whether there are verdicts: not before the first look.
    pub is_judged: bool,
    /// What `--fail-if-slower` and `--require-decision` say, if one of them was given.
    pub gate: Option<GateView>,
    /// What B is compared with.
    pub a: SideView,
    /// What is compared.
    pub b: SideView,
    /// What a reader must know before the figures.
    pub warnings: Vec<String>,
    /// A table for each metric; the first ones decide.
    pub tables: Vec<RatioTable>,
    /// What to know of cells that were compared.
    pub notes: Vec<String>,
    /// What was not compared: the cell and why.
    pub not_compared: Vec<Fact>,
    /// Versions, commits and selections that differ.
    pub differences: Vec<String>,
    /// How much was measured, in a few words; of two sessions nothing.
    pub effort: Option<String>,
    /// The folder with the records, if it was measured here.
    pub folder: Option<String>,
    /// What makes a verdict, and how it was measured and tested.
    pub how: Vec<String>,
    /// Where it was measured.
    pub conditions: Vec<Fact>,
}

/// What became of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is better somewhere and worse nowhere.
    Better,
    /// It is worse somewhere, or failed.
    Worse,
    /// Neither.
    Even,
}

/// One side.
#[derive(Clone, Debug, Serialize)]
pub struct SideView {
    /// What it is called.
    pub name: String,
    /// What it was.
    pub facts: Vec<Fact>,
}

/// A metric over the cells.
#[derive(Clone, Debug, Serialize)]
pub struct RatioTable {
    /// The metric, as a title.
    pub title: &'static str,
    /// The metric in a few words, as the name of a row.
    pub short: &'static str,
    /// Whether its verdicts are the cells'.
    pub decides: bool,
    /// One row per cell; those of one load point stand together.
    pub rows: Vec<RatioRow>,
}

/// One metric of one cell.
#[derive(Clone, Debug, Serialize)]
pub struct RatioRow {
    /// The load point, where several stacks were measured at it.
    pub group: Option<String>,
    /// The stack; or the load point where there is one thing on each side.
    pub name: String,
    /// A's and B's figures, the ratio B ÷ A with its interval, and what it says.
    pub found: Ratio,
    /// Whether it is good news of B.
    pub outcome: Outcome,
}

impl CompareView {
    /// The view of a comparison, and of what it was checked for.
    pub fn new(versus: &Versus, gate: Option<&Gate>) -> Self {
        let names = Names::of(versus);
        Self {
            headline: clean(&headline(versus, &names)),
            outcome: outcome(versus),
            is_judged: versus.is_judged(),
            gate: gate.and_then(|gate| GateView::of(gate, versus, &names.b)),
            a: side(&versus.a),
            b: side(&versus.b),
            warnings: warnings(versus),
            tables: tables(&versus.compared),
            notes: notes(&versus.compared),
            not_compared: versus.not_compared.iter().map(not_compared).collect(),
            differences: versus.differences.iter().map(difference).collect(),
            effort: words::effort(&versus.how),
            folder: folder(&versus.how),
            how: std::iter::once(words::rules(&versus.how, &versus.bounds))
                .chain(words::how(versus))
                .collect(),
            conditions: versus.conditions.iter().map(fact).collect(),
        }
    }
}

impl CompareView {
    /// Where one thing was compared at one load point: that load point, and the row of each metric under the metric's name.
    pub(super) fn metrics_of_one(&self) -> Option<(String, Vec<(String, &RatioRow)>)> {
        let rows = self.tables.iter().map(|table| match &table.rows[..] {
            [row] if row.group.is_none() => Some((table.short.to_owned(), row)),
            _ => None,
        });
        let rows: Vec<(String, &RatioRow)> = rows.collect::<Option<_>>()?;
        let load = self.tables.first()?.rows.first()?.name.clone();
        Some((load, rows))
    }
}

fn outcome(versus: &Versus) -> Outcome {
    let has = |verdict| versus.compared.iter().any(|cell| cell.verdict() == verdict);
    match () {
        () if versus.b_failed() || has(Verdict::Worse) => Outcome::Worse,
        () if has(Verdict::Better) => Outcome::Better,
        () => Outcome::Even,
    }
}

/// The folder with the records.
fn folder(how: &How) -> Option<String> {
    match how {
        How::Heats { folder, .. } => Some(clean(folder)),
        How::Sessions | How::Runs { .. } => None,
    }
}

fn side(side: &Side) -> SideView {
    SideView {
        name: clean(&side.name),
        facts: side.facts.iter().map(fact).collect(),
    }
}

fn warnings(versus: &Versus) -> Vec<String> {
    let side = |(name, side): (&str, &Side)| {
        let reason = side.failed.as_ref()?;
        Some(format!("{name} failed: {reason}"))
    };
    // The headline tells of the others.
    let unsaid = [("A", &versus.a)]
        .into_iter()
        .filter(|_| versus.b.failed.is_some());
    let failed = unsaid.filter_map(side);
    let all = failed.chain(versus.warnings.iter().cloned());
    all.map(|warning| clean(&warning)).collect()
}

fn tables(cells: &[Compared]) -> Vec<RatioTable> {
    let table = |metric: Metric| {
        let mut decides = false;
        let mut rows = Vec::new();
        for cell in cells {
            for (place, ratio) in cell.ratios.iter().enumerate() {
                if ratio.metric == metric {
                    decides |= place < cell.deciding;
                    rows.push(row(&cell.subject, ratio));
                }
            }
        }
        (!rows.is_empty()).then_some(RatioTable {
            title: words::title(metric),
            short: words::short(metric),
            decides,
            rows,
        })
    };
    let mut tables: Vec<RatioTable> = Metric::ALL.into_iter().filter_map(table).collect();
    tables.sort_by_key(|table| !table.decides);
    tables
}

fn row(subject: &Subject, ratio: &Ratio) -> RatioRow {
    let load = clean(&format!("{} {}", subject.workload, subject.point));
    let target = subject.target.as_ref();
    let (group, name) = match target.map(|target| clean(&target.to_string())) {
        Some(target) => (Some(load), target),
        None => (None, load),
    };
    RatioRow {
        group,
        name,
        found: ratio.clone(),
        outcome: match ratio.verdict {
            Verdict::Better => Outcome::Better,
            Verdict::Worse => Outcome::Worse,
            _ => Outcome::Even,
        },
    }
}

/// What was said of the cells, and where the null server's drift is more than the practical difference, each once.
fn notes(cells: &[Compared]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for cell in cells {
        let load = format!("{} {}", cell.subject.workload, cell.subject.point);
        let drifts = cell.ratios.iter().filter_map(|ratio| {
            let drift = ratio.drift.filter(|drift| *drift >= ratio.rule.threshold)?;
            Some(format!(
                "{load}: the null server, the same program in both sessions, differed by {}: B differs only if by more",
                words::percent(drift)
            ))
        });
        let own = cell.notes.iter();
        let own = own.map(|note| format!("{}: {note}", cell.subject));
        for note in drifts.chain(own).map(|note| clean(&note)) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

fn not_compared(cell: &NotCompared) -> Fact {
    Fact::new(&cell.subject.to_string(), &cell.reason)
}

fn difference(change: &Change) -> String {
    let side = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
    let text = match (change.aspect, &change.before, &change.after) {
        (Aspect::Selection, Some(name), None) => format!("only in A: {} {name}", change.what),
        (Aspect::Selection, None, Some(name)) => format!("only in B: {} {name}", change.what),
        (_, before, after) => format!(
            "{}: {} in A, {} in B",
            change.name(),
            side(before),
            side(after)
        ),
    };
    clean(&text)
}

fn fact(fact: &StatFact) -> Fact {
    let value = if fact.value.is_empty() {
        NONE
    } else {
        &fact.value
    };
    Fact::new(&fact.name, value)
}
