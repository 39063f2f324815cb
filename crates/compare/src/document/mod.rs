//! The report of `deadheat compare`, for people and programs.
//!
//! [`document`] says it once for all formats, [`html`] adds the data to its page, and [`json`] is unrounded.
//! docs/compare.md describes them.

mod sentence;
mod words;

use deadheat_document::{
    Cell, Column, Document, Frame, RatioMark, RatioPlot, Section, Table, Tone,
    html::{DataFile, Shell},
    json::{self, Body, ReportError},
    view::clean,
};
use deadheat_model::{
    TargetId, Warning,
    change::{Aspect, Change},
    comparison::Decide,
    figure::{self, NONE, counted, rate, signed},
};
use deadheat_stats::comparison::{
    CellId, Check, Compared, ComparisonAnalysis, Fact, Gate, GateCell, Gated, Method, Metric,
    NotCompared, Ratio, RatioVerdict, SideFacts,
};
use schemars::JsonSchema;
use serde::Serialize;

use self::{
    sentence::{Names, sentence},
    words::Advantage,
};

/// The comparison, and what it was checked for.
pub fn document(comparison: &ComparisonAnalysis, gate: Option<&Gate>) -> Document {
    let names = Names::new(comparison);
    let gate = gate.and_then(|gate| gate_sentence(gate, comparison, &names.b));
    let (failed, passed): (Vec<_>, Vec<_>) = gate.into_iter().partition(|(failed, _)| *failed);
    let texts = |gate: Vec<(bool, String)>| gate.into_iter().map(|(_, text)| text);
    let lead = Section::lead()
        .paragraphs(texts(passed))
        .facts([("A", &comparison.a.name), ("B", &comparison.b.name)])
        .warnings(texts(failed).chain(warnings(comparison)));
    let not_compared = not_compared(&comparison.not_compared);
    let differences = comparison.differences.iter().map(difference);
    let how = std::iter::once(words::rules(comparison)).chain(words::how(comparison));
    Document::new(tone(comparison), sentence(comparison, &names))
        .section(lead)
        .sections(of_cells(comparison))
        .sections(of_targets(comparison))
        .section(Section::toned(Tone::Bad, "Not compared").bullets(not_compared))
        .section(Section::new("Notes").bullets(notes(&comparison.compared)))
        .section(Section::new("What differs between A and B").bullets(differences))
        .section(
            Section::new("How it was measured and judged")
                .bullets(how)
                .details(),
        )
        .section(side("A", &comparison.a))
        .section(side("B", &comparison.b))
        .section(
            Section::new("Where")
                .facts(conditions(comparison))
                .details(),
        )
        .section(hint(comparison))
}

/// The cells that were not compared. Stacks that were not for the same reason at a load share a line.
fn not_compared(cells: &[NotCompared]) -> Vec<String> {
    let mut lines: Vec<(&NotCompared, Vec<String>)> = Vec::new();
    for cell in cells {
        let names = cell.subject.target.iter().map(TargetId::to_string);
        let is_same = |(one, _): &&mut (&NotCompared, Vec<String>)| {
            load(&one.subject) == load(&cell.subject) && one.reason == cell.reason
        };
        match lines.iter_mut().find(is_same) {
            Some((_, others)) => others.extend(names),
            None => lines.push((cell, names.collect())),
        }
    }
    let line = |(cell, stacks): (&NotCompared, Vec<String>)| {
        let at = load(&cell.subject);
        let at = if stacks.is_empty() {
            at
        } else {
            format!("{} at {at}", figure::some(&stacks, NAMED))
        };
        format!("{at}: {}", cell.reason)
    };
    lines.into_iter().map(line).collect()
}

/// Stacks that a line names at most.
const NAMED: usize = 3;

/// The verdict, in a sentence.
pub fn headline(comparison: &ComparisonAnalysis) -> String {
    clean(&sentence(comparison, &Names::new(comparison)))
}

fn tone(comparison: &ComparisonAnalysis) -> Tone {
    let has = |verdict| {
        comparison
            .compared
            .iter()
            .any(|cell| cell.verdict == verdict)
    };
    match () {
        () if comparison.b_failed() || has(RatioVerdict::Worse) => Tone::Bad,
        () if has(RatioVerdict::Better) => Tone::Good,
        () => Tone::Plain,
    }
}

fn warnings(comparison: &ComparisonAnalysis) -> impl Iterator<Item = String> {
    // The headline has all other failures.
    let failed = comparison.a.failed.as_ref();
    let failed = failed.filter(|_| comparison.b.failed.is_some());
    let failed = failed.map(|reason| format!("A failed: {reason}"));
    let warnings = comparison.warnings.iter().map(Warning::in_full);
    failed.into_iter().chain(warnings)
}

/// Sections for loads with one cell: a section for the load and for each rate, with a row for each metric. The deciding
/// metrics come first.
fn of_cells(comparison: &ComparisonAnalysis) -> impl Iterator<Item = Section> {
    let cells = comparison.compared.iter();
    let cells = cells.filter(|cell| cell.subject.target.is_none());
    cells.flat_map(|cell| {
        let mut rates: Vec<Option<f64>> = Vec::new();
        for ratio in &cell.ratios {
            if !rates.contains(&ratio.per_second) {
                rates.push(ratio.per_second);
            }
        }
        let of_rate = |per_second: Option<f64>| {
            let rows = cell.ratios.iter();
            let rows = rows.filter(|ratio| ratio.per_second == per_second);
            let rows = rows.map(|ratio| (words::short(ratio.metric).to_owned(), ratio));
            let title = match per_second {
                Some(per_second) => format!("{} at {}", load(&cell.subject), rate(per_second)),
                None => load(&cell.subject),
            };
            section(title, rows.collect(), comparison.is_judged())
        };
        rates.into_iter().map(of_rate).collect::<Vec<_>>()
    })
}

/// Sections for loads with several stacks: a section for each load and metric, with a row for each stack. The deciding
/// metrics come first.
fn of_targets(comparison: &ComparisonAnalysis) -> Vec<Section> {
    let mut sections: Vec<(bool, Section)> = Vec::new();
    for metric in Metric::ALL {
        for cells in comparison
            .compared
            .chunk_by(|one, next| load(&one.subject) == load(&next.subject))
        {
            let mut decides = false;
            let mut rows = Vec::new();
            for cell in cells {
                let Some(target) = &cell.subject.target else {
                    continue;
                };
                let of_metric = |ratio: &&Ratio| ratio.metric == metric;
                decides |= cell.deciding().iter().any(|ratio| of_metric(&ratio));
                let ratios = cell.ratios.iter().filter(of_metric);
                rows.extend(ratios.map(|ratio| (target.to_string(), ratio)));
            }
            let Some(cell) = cells.first().filter(|_| !rows.is_empty()) else {
                continue;
            };
            let title = format!("{}: {}", load(&cell.subject), words::title(metric));
            let section = section(title, rows, comparison.is_judged());
            sections.push((decides, if decides { section } else { section.details() }));
        }
    }
    sections.sort_by_key(|(decides, _)| !decides);
    sections.into_iter().map(|(_, section)| section).collect()
}

fn load(subject: &CellId) -> String {
    format!("{} {}", subject.workload, subject.point)
}

fn section(title: String, rows: Vec<(String, &Ratio)>, is_judged: bool) -> Section {
    let [a, b, against, interval] = words::HEAD;
    let mut table = Table::new([
        Column::left(""),
        Column::right(a),
        Column::right(b),
        Column::left(against).whole(),
        Column::left(interval).whole(),
    ]);
    let mut marks = Vec::new();
    for (name, ratio) in rows {
        let [a, b, against, interval] = words::cells(ratio, is_judged);
        let tone = match ratio.verdict {
            RatioVerdict::Better => Tone::Good,
            RatioVerdict::Worse => Tone::Bad,
            RatioVerdict::DeadHeat | RatioVerdict::NotEnoughData => Tone::Plain,
        };
        table.row([
            Cell::from(&name),
            Cell::from(a),
            Cell::from(b),
            Cell::toned(tone, &against),
            Cell::from(interval),
        ]);
        let advantage = Advantage::new(ratio);
        marks.push(RatioMark {
            name,
            ratio: advantage.of_b(),
            interval: advantage.range_of_b(),
            verdict: against,
            tone,
        });
    }
    let plot = RatioPlot::new("A is better", "B is better", &marks);
    Section::new(title).ratios(plot).table(table)
}

/// Notes about cells.
fn notes(cells: &[Compared]) -> impl Iterator<Item = String> {
    let of_cell = |cell: &Compared| {
        let unable = cell.overloaded.iter().map(|one| {
            let per_second = rate(one.per_second);
            format!(
                "{}: {} cannot take {per_second} ({}).",
                cell.subject, one.side, one.reason
            )
        });
        let own = cell.notes.iter();
        let own = own.map(|note| format!("{}: {}", cell.subject, note.in_full()));
        unable.chain(own).collect::<Vec<String>>()
    };
    cells.iter().flat_map(of_cell)
}

fn difference(change: &Change) -> String {
    let side = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
    match (change.aspect, &change.before, &change.after) {
        (Aspect::Selection, Some(name), None) => format!("only in A: {} {name}", change.what),
        (Aspect::Selection, None, Some(name)) => format!("only in B: {} {name}", change.what),
        (_, before, after) => format!(
            "{}: {} in A, {} in B",
            change.name(),
            side(before),
            side(after)
        ),
    }
}

fn side(letter: &str, side: &SideFacts) -> Section {
    let title = format!("{letter}: {}", side.name);
    Section::new(title)
        .facts(side.facts.iter().map(fact))
        .details()
}

/// The machine, and the folders of the records.
fn conditions(comparison: &ComparisonAnalysis) -> Vec<(&str, &str)> {
    let records = folder(comparison).map(|folder| ("records", folder));
    comparison
        .conditions
        .iter()
        .map(fact)
        .chain(records)
        .collect()
}

fn fact(fact: &Fact) -> (&str, &str) {
    let value = if fact.value.is_empty() {
        NONE
    } else {
        &fact.value
    };
    (&fact.name, value)
}

/// The folder with the records, if it was measured here.
fn folder(comparison: &ComparisonAnalysis) -> Option<&str> {
    match &comparison.how {
        Method::Heats { folder, .. } => Some(folder),
        Method::Sessions | Method::Runs { .. } => None,
    }
}

fn hint(comparison: &ComparisonAnalysis) -> Section {
    match folder(comparison) {
        Some(folder) => Section::hint()
            .aside(words::effort(&comparison.how))
            .aside(Some(format!("Records: {folder}")))
            .aside(Some(format!("Details: deadheat report {folder} --details"))),
        None => Section::hint().aside(Some(
            "--details shows how it was judged, the other metrics, both sides and the machine.",
        )),
    }
}

/// The whole comparison as a page.
///
/// # Errors
/// When the template does not fit the document.
pub fn html(comparison: &ComparisonAnalysis, gate: Option<&Gate>) -> Result<String, ReportError> {
    let json = json(comparison, gate)?;
    let command = match folder(comparison) {
        Some(folder) => format!("deadheat report {folder} -o compare.json"),
        None => "deadheat compare … -o compare.json".to_owned(),
    };
    let file = DataFile::new(
        "compare.json",
        "everything unrounded (docs/compare.md)",
        command,
        &json,
    );
    let shell = Shell::new(vec![file]);
    document(comparison, gate).html_in(&Frame::new("deadheat-compare", shell))
}

/// The result of `deadheat compare`, unrounded. Shares and levels are from 0 to 1.
#[derive(Serialize, JsonSchema)]
pub struct CompareReport<'a> {
    /// The verdict as a sentence.
    headline: String,
    /// The result of `--fail-if-slower`, `--fail-if-costlier` and `--require-decision`; null in `deadheat report`, and
    /// without these options.
    gate: Option<&'a Gate>,
    #[serde(flatten)]
    comparison: &'a ComparisonAnalysis,
}

impl Body for CompareReport<'_> {
    const FORMAT: &'static str = "deadheat-compare";
    const SCHEMA: u32 = 7;
}

/// The comparison as JSON over several lines that end with a newline.
pub fn json(comparison: &ComparisonAnalysis, gate: Option<&Gate>) -> Result<String, ReportError> {
    json::json(&CompareReport {
        headline: headline(comparison),
        gate,
        comparison,
    })
}

/// Whether a check fails, and why; `None` if no check was asked for.
fn gate_sentence(gate: &Gate, comparison: &ComparisonAnalysis, b: &str) -> Option<(bool, String)> {
    let is_asked = gate.check != Check::default();
    is_asked.then(|| (gate.failed, sentences(gate, comparison, b).join(" ")))
}

/// Cells that the answer to a check names at most, if none failed it.
const ANSWERS: usize = 6;

fn sentences(gate: &Gate, comparison: &ComparisonAnalysis, b: &str) -> Vec<String> {
    let is_judged = comparison.is_judged();
    let asked = GateQuestion::new(gate, comparison);
    let of = |asked: GateQuestion, is: Gated| -> Option<String> {
        let cells = gate.cells.iter();
        let cells = cells.filter(|cell| cell.is == is && asked.is_about(cell));
        let cells: Vec<String> = cells.map(shown).collect();
        // What failed is named as a whole.
        let most = if is == Gated::Worse {
            usize::MAX
        } else {
            ANSWERS
        };
        (!cells.is_empty()).then(|| figure::some(&cells, most))
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
    // Two sessions differ by their machines as well, which more heats do not change.
    let remedy = match comparison.how {
        Method::Sessions => "A comparison in the same heats may decide it.",
        Method::Runs { .. } | Method::Heats { .. } => "More heats may decide it.",
    };
    let open = all(Gated::NotExcluded);
    sentences.extend(open.map(|(asked, cells)| {
        let event = asked.event();
        format!("Not excluded: a {event} of {cells}. {remedy}")
    }));
    let excluded = all(Gated::Excluded);
    sentences.extend(
        excluded.map(|(asked, cells)| format!("Excluded: a {} of {cells}.", asked.event())),
    );
    if gate.not_judged > 0 && is_judged {
        sentences.push(format!(
            "Not judged: {}, of cells or rates that could not be compared.",
            counted(gate.not_judged, "question")
        ));
    }
    sentences
}

/// The question of a check about B: its speed or its cost, and the bound; `None` without a bound.
#[derive(Clone, Copy)]
struct GateQuestion {
    of_cost: bool,
    bound: Option<f64>,
}

impl GateQuestion {
    fn new(gate: &Gate, comparison: &ComparisonAnalysis) -> Vec<Self> {
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
        let of_cost = comparison
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
