//! What a session of heats found, as a document: the answers, every stack at every load, each load, and where the figures
//! come from.

mod baselines;
mod load;
mod starts;

use std::{cmp::Reverse, collections::BTreeSet};

use deadheat_document::{Cell, Column, Document, Section, Table, Tone, view::Fact};
use deadheat_model::{
    Warning,
    figure::{NONE, count},
    heats::EndReason,
};
use deadheat_stats::{heats::Group, standings::Measure};

use super::{
    scaling,
    view::{LackView, LoadView, RowView, StandingsView, State, TableView},
    words,
};

/// The script of a page's drawings.
pub(super) use self::baselines::SCRIPT;

/// The style of a page's drawings.
pub(super) const STYLE: &str = include_str!("drawings.css");

/// Requests of which more than this share failed are marked.
const FAILED: f64 = 0.001;

/// The report of a session.
pub fn document(view: &StandingsView) -> Document {
    let details = &view.details;
    let again = format!(
        "Every figure can be computed again from the session's records: deadheat report {}",
        view.id
    );
    Document::new(Tone::Plain, view.title.to_string())
        .file()
        .section(lead(view))
        .section(overview(view))
        .section(scaling::section(view))
        .sections(view.loads.iter().map(|load| load::section(load, view)))
        .section(starts::section(view))
        .section(published(view))
        .section(not_measured(view))
        .section(Section::new("Limits of this session").bullets(&details.caveats))
        .section(
            Section::new("How it was measured")
                .bullets(details.method.iter().map(Fact::to_string))
                .paragraphs(details.time_line.iter().map(|line| format!("{line}.")))
                .paragraphs(discarded(view)),
        )
        .section(
            Section::new("Machine")
                .facts(details.machine.iter().map(Fact::pair))
                .bullets(details.findings.iter().map(Warning::in_full)),
        )
        .section(
            Section::new("Session")
                .facts(details.provenance.iter().map(Fact::pair))
                .paragraph(again),
        )
        .section(Section::new("Stacks").bullets(&details.stacks))
}

/// The answers, and how far they can be trusted.
fn lead(view: &StandingsView) -> Section {
    let missing = view.not_measured.line.iter();
    Section::lead()
        .aside(state(view.state).map(|state| format!("State of the session: {state}.")))
        .bullets(view.leading().map(answer))
        .paragraph(format!("{}.", view.trust))
        .warnings(view.warnings.iter().map(Warning::in_full))
        .paragraphs(missing.map(|line| format!("Not measured: {line}.")))
        .aside(view.has_figures().then(|| words::legend(view)))
}

/// What came of a load, and of equal work there.
fn answer(load: &LoadView) -> String {
    let answer = format!("{}.", load.answer());
    let sentences = [answer].into_iter().chain(scaling::sentence(load));
    let sentences: Vec<String> = sentences.collect();
    let sentences = sentences.iter().chain(&load.equal_work);
    sentences.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// How a session ended, if that is not as a reader expects.
fn state(state: State) -> Option<&'static str> {
    match state {
        State::Ended(
            EndReason::Decided | EndReason::Precise | EndReason::Finished | EndReason::Budget,
        ) => None,
        State::Running
        | State::Killed
        | State::Ended(EndReason::Interrupted | EndReason::Lost | EndReason::Nothing) => {
            Some(words::state(state))
        }
    }
}

/// Every stack at every load, with a table for each group of stacks that are ranked together: the largest CPU budget
/// first, yardsticks last. A single load has its own table.
fn overview(view: &StandingsView) -> Section {
    let section = Section::new("Every stack at every load");
    if view.leading().count() < 2 {
        return section;
    }
    let tables = view.leading().flat_map(|load| &load.tables);
    let keys: BTreeSet<_> = tables
        .map(|table| (table.group.yardsticks, Reverse(table.group.cpus)))
        .collect();
    let one = keys.len() == 1;
    let section = keys.into_iter().fold(section, |section, key| {
        let (yardsticks, Reverse(cpus)) = key;
        let who = Group { yardsticks, cpus };
        let section = if one {
            section
        } else {
            section.subtitle(words::group(who))
        };
        section.table(group(view, who))
    });
    section.aside(legend(view))
}

fn group(view: &StandingsView, group: Group) -> Table {
    let loads = view.leading().filter_map(|load| {
        let table = load.tables.iter().find(|table| table.group == group)?;
        Some((load, table))
    });
    let loads: Vec<(&LoadView, &TableView)> = loads.collect();
    let columns = loads.iter().map(|(load, _)| {
        let head = format!("{}, {}", load.short, words::measure_head(load.measure));
        Column::right(head).sorted(load.measure == Measure::ResponseTime)
    });
    let mut table = Table::new(
        [Column::left("stack").sorted(true)]
            .into_iter()
            .chain(columns),
    );
    // In the order of the first load; those that it lacks follow as the next loads have them.
    let mut stacks: Vec<&str> = Vec::new();
    for row in loads.iter().flat_map(|(_, table)| &table.rows) {
        if !stacks.contains(&row.target.as_str()) {
            stacks.push(&row.target);
        }
    }
    for stack in stacks {
        let cells = loads.iter().map(|(load, table)| cell(load, table, stack));
        table.row([Cell::from(stack)].into_iter().chain(cells));
    }
    table
}

/// A stack at a load.
fn cell(load: &LoadView, table: &TableView, target: &str) -> Cell {
    let row = table.rows.iter().find(|row| row.target == target);
    let Some((row, main)) = row.and_then(|row| Some((row, row.main?))) else {
        let mut lacking = load.lacking.iter();
        let lack = lacking.find(|lack| lack.target == target);
        return Cell::from(lack.map_or(NONE, |lack| words::absent(lack.because)));
    };
    let signs: String = signs(row).map(|(sign, _)| sign).collect();
    let value = words::main_placed(load.measure, row);
    Cell::figure(format!("{value}{signs}"), Some(main.value))
        .note(words::rank(main.rank))
        .bar(row.share_of_best)
}

/// What a reader should know of a figure, with its sign.
fn signs(row: &RowView) -> impl Iterator<Item = (&'static str, &'static str)> {
    let failed = !row.failures.is_empty() || row.failed_share() > FAILED;
    let signs = [
        (failed, "†", "failed in some heats, or failed requests"),
        (
            row.unsteady_heats * 2 > row.heats,
            "~",
            "not steady after its warm-up",
        ),
    ];
    let signs = signs.into_iter().filter(|(is, ..)| *is);
    signs.map(|(_, sign, means)| (sign, means))
}

/// What the signs in the overview mean, those that there are.
fn legend(view: &StandingsView) -> Option<String> {
    let rows = || view.loads.iter().flat_map(LoadView::rows);
    let mut signs: BTreeSet<(&str, &str)> = rows().flat_map(signs).collect();
    if rows().any(|row| row.main.is_some_and(|main| main.is_bound)) {
        signs.insert(("≥", "at least: the load generator was the limit"));
    }
    let signs = signs
        .into_iter()
        .map(|(sign, means)| format!("{sign} {means}"));
    let parts: Vec<String> = ["Behind a figure: its rank".to_owned()]
        .into_iter()
        .chain(signs)
        .collect();
    rows().next().map(|_| format!("{}.", parts.join("; ")))
}

/// Published tables, next to what was measured.
fn published(view: &StandingsView) -> Section {
    let mut section = Section::new("Published and measured");
    for one in &view.published {
        let heads = words::SIDES.into_iter().map(Column::right);
        let mut table = Table::new([Column::left("row → stack")].into_iter().chain(heads));
        for row in &one.sides.rows {
            let name = format!("{} → {}", row.name, row.target);
            let sides = words::sides(row, &one.sides.baseline);
            table.row([name].into_iter().chain(sides));
        }
        section = section
            .subtitle(&one.title)
            .facts(one.facts.iter().map(Fact::pair))
            .aside(Some(words::SIDES_LEGEND))
            .table(table)
            .bullets(&one.notes);
    }
    section
}

fn not_measured(view: &StandingsView) -> Section {
    let missing = &view.not_measured;
    let section = Section::new("Not measured").bullets(missing.entries.iter().map(words::lack));
    let logged = missing.entries.iter().filter(|lack| !lack.log.is_empty());
    let log = |section: Section, lack: &LackView| {
        let own = Section::new(format!("Last words of {}", lack.target)).log(&lack.log);
        section.fold(own)
    };
    let left_out = missing.left_out_sentence().into_iter();
    let names = missing.left_out.join(", ");
    logged
        .fold(section, log)
        .paragraphs(left_out.map(|sentence| format!("{sentence} They are {names}.")))
}

/// Slices that count for nothing.
fn discarded(view: &StandingsView) -> Option<String> {
    let rows = || view.loads.iter().flat_map(LoadView::rows);
    let discarded: u64 = rows().map(|row| u64::from(row.discarded_slices)).sum();
    let counted: u64 = rows().map(|row| u64::from(row.slices)).sum();
    (discarded > 0).then(|| {
        format!(
            "{} of {} slices count for nothing: the machine slept or was disturbed in their round, or their stack failed later in \
             the same heat.",
            count(discarded),
            count(discarded + counted)
        )
    })
}
