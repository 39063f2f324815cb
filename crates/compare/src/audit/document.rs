//! An audit, for a person or a program.

use deadheat_document::{
    Column, Document, Frame, Section, Table, Tone,
    html::{DataFile, Shell},
    json::{self, Body, ReportError},
};
use deadheat_model::{
    Warning,
    figure::{NONE, count, counted, figure, list, rough_percent, short_percent, two_digits},
    warning::Level,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::analysis::{Audit, Place, Ranks, SpreadSource, Test};

/// The most tests that the first table has; the details have all.
const MAX_TESTS: usize = 12;

/// The answer, then the findings by their weight, the tests, and what cannot be judged.
pub fn document(audit: &Audit) -> Document {
    let of_level = |is: fn(Level) -> bool| {
        let findings = audit.findings.iter();
        let findings = findings.filter(move |one| is(one.level));
        findings.map(Warning::in_full)
    };
    let grave = of_level(|level| level <= Level::Doubt);
    let notes = of_level(|level| level == Level::Note);
    let unknown = of_level(|level| level == Level::Routine);
    let tests = &audit.tests;
    let hidden = tests.len().saturating_sub(MAX_TESTS);
    let more = (hidden > 0).then(|| format!("{} more with --details.", counted(hidden, "test")));
    let all = (hidden > 0).then_some(tests);
    let unranked = "Faulty places have no rank, and the others are ranked without them.";
    let unranked = (audit.sound < audit.places).then(|| unranked.to_owned());
    Document::new(Tone::Plain, headline(audit))
        .section(Section::lead().warnings(grave))
        .section(Section::new("Also found").bullets(notes))
        .section(
            Section::new("Tests")
                .table(tests_table(tests.iter().take(MAX_TESTS)))
                .aside(more)
                .aside(unranked),
        )
        .section(Section::new("Cannot be judged").bullets(unknown))
        .section(Section::new("Not read").bullets(&audit.not_read))
        .sections(all.map(|tests| {
            let table = tests_table(tests.iter());
            Section::new("All tests").table(table).details()
        }))
        .sections(tests.iter().map(|test| {
            let title = &test.name;
            Section::new(title).table(places_table(test)).details()
        }))
        .section(Section::hint().aside(Some("--details shows every place.")))
}

/// How many places are proven.
fn headline(audit: &Audit) -> String {
    let tools = list(&audit.tools);
    let all = counted(audit.places, "place");
    let spread = audit.spread.shown();
    let proven = count(audit.proven as u64);
    if audit.ranked == 0 {
        return format!("{tools}: {all}, and no test has two usable rates to rank.");
    }
    match audit.spread.source {
        SpreadSource::Repeats => format!(
            "{tools}: {proven} of {all} are proven. Their distance to the others exceeds the spread between runs, {spread}."
        ),
        SpreadSource::Largest if audit.spread.is_least() => format!(
            "{tools}: {proven} of {all} are proven. Their distance to the others exceeds {spread}, the assumed minimum: \
             repeated figures differ by less."
        ),
        SpreadSource::Largest => format!(
            "{tools}: {proven} of {all} are proven. Their distance to the others exceeds the largest difference between runs, \
             {spread}."
        ),
        SpreadSource::Option => format!(
            "{tools}: {proven} of {all} are proven if runs of one server differ by at most {spread}, as assumed with --spread."
        ),
        SpreadSource::Assumed => format!(
            "{tools}: {proven} of {all} are proven, if runs of one server differ by at most {spread}. That is assumed: no figure \
             is repeated."
        ),
    }
}

fn tests_table<'a>(tests: impl Iterator<Item = &'a Test>) -> Table {
    let mut table = Table::new([
        Column::left("test"),
        Column::right("places"),
        Column::right("proven"),
        Column::right("too close"),
        Column::right("faulty"),
    ]);
    for test in tests {
        let faulty = test.places.iter().filter(|place| !place.is_sound());
        let figures = [
            test.places.len(),
            test.proven,
            test.ranked - test.proven,
            faulty.count(),
        ];
        let cells = figures.map(|figure| count(figure as u64));
        table.row([test.name.clone()].into_iter().chain(cells));
    }
    table
}

fn places_table(test: &Test) -> Table {
    let has_cpu = test.places.iter().any(|place| place.server_cpus.is_some());
    let columns = [
        Column::left("server"),
        Column::right("ranks"),
        Column::right("requests/s"),
        Column::right("in use"),
        Column::right("errors"),
    ];
    let cpus = has_cpu.then(|| Column::right("CPUs"));
    let mut table = Table::new(columns.into_iter().chain(cpus));
    for place in &test.places {
        let cpus = has_cpu.then(|| or_none(place.server_cpus, two_digits));
        table.row(cells(place).into_iter().chain(cpus));
        if !place.caveats.is_empty() {
            let caveats: Vec<&str> = place.caveats.iter().map(|id| fault(id)).collect();
            table.note("! ", caveats.join(", "));
        }
    }
    table
}

/// A finding about one place, in a few words.
fn fault(id: &str) -> &str {
    match id {
        "no-rate" => "no usable rate",
        "impossible" => "contradicts Little's law",
        "errors" => "errors",
        "short-answers" => "short answers",
        "miscounted" => "answers are not rate × duration",
        "twice" => "twice in one file",
        "short" => "a run of less than 1 s",
        "one-cpu" => "the generator's one CPU may be the limit",
        "stopped" => "stopped early",
        "changed" => "changed since the run before",
        other => other,
    }
}

fn cells(place: &Place) -> [String; 5] {
    let ranks = |ranks: Ranks| match ranks {
        Ranks { best, worst } if best == worst => best.to_string(),
        Ranks { best, worst } => format!("{best}–{worst}"),
    };
    [
        place.name.clone(),
        place.ranks.map_or_else(|| NONE.to_owned(), ranks),
        or_none(place.requests_per_second, figure),
        or_none(place.in_progress, rough_percent),
        or_none(place.errors, short_percent),
    ]
}

fn or_none(value: Option<f64>, shown: fn(f64) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), shown)
}

/// The whole audit as a page.
///
/// # Errors
/// When the template does not fit the document.
pub fn html(audit: &Audit) -> Result<String, ReportError> {
    let json = json(audit)?;
    let file = DataFile::new(
        "audit.json",
        "everything unrounded (docs/audit.md)",
        "deadheat audit … -o audit.json".to_owned(),
        &json,
    );
    document(audit).html_in(&Frame::new("deadheat-audit", Shell::new(vec![file])))
}

/// What `deadheat audit` found, unrounded. Shares are from 0 to 1.
#[derive(Serialize, JsonSchema)]
pub struct AuditReport<'a> {
    /// The answer as a sentence.
    headline: String,
    #[serde(flatten)]
    audit: &'a Audit,
}

impl Body for AuditReport<'_> {
    const FORMAT: &'static str = "deadheat-audit";
    const SCHEMA: u32 = 2;
}

/// The audit as JSON over several lines that end with a newline.
///
/// # Errors
/// When a figure cannot be written.
pub fn json(audit: &Audit) -> Result<String, ReportError> {
    json::json(&AuditReport {
        headline: headline(audit),
        audit,
    })
}
