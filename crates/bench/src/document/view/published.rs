//! Published tables, next to what was measured.

use deadheat_document::view::{Fact, clean, load};
use deadheat_model::{
    RepeatedTable, TargetId,
    figure::{count, list},
    heats::SessionHeader,
    published::{PublishedRow, PublishedTable},
};
use deadheat_stats::standings::{Agreement, MeasuredSide, RowSides, Standings, TableSides};

/// A published table, next to what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedView {
    /// The document and the table.
    pub title: String,
    /// Where the published figures come from, and what is asked for on both sides.
    pub facts: Vec<Fact>,
    /// The rows on both sides.
    pub sides: TableSides,
    /// What a reader must know of rows, those that several rows share once, and then of the whole table.
    pub notes: Vec<String>,
}

/// The published tables of a session.
pub(super) fn published(header: &SessionHeader, standings: &Standings) -> Vec<PublishedView> {
    let tables = header.published.iter().zip(&standings.published);
    tables
        .map(|(repeated, sides)| table(repeated, sides))
        .collect()
}

fn table(repeated: &RepeatedTable, sides: &TableSides) -> PublishedView {
    let own = &repeated.table;
    let remarks = own.remarks.iter().chain(&repeated.remarks);
    PublishedView {
        title: clean(&format!("{}: {}", repeated.document, own.title)),
        facts: facts(repeated),
        sides: sides.clone(),
        notes: notes(own, sides)
            .into_iter()
            .chain(remarks.map(|remark| clean(remark)))
            .collect(),
    }
}

fn facts(repeated: &RepeatedTable) -> Vec<Fact> {
    let own = &repeated.table;
    let mut points: Vec<String> = Vec::new();
    for row in &own.row {
        let point = load(&own.point(row));
        if !points.contains(&point) {
            points.push(point);
        }
    }
    let machine = repeated.machine.as_deref().unwrap_or("not given");
    let reason = own.baseline_reason.iter();
    let reason: String = reason.map(|reason| format!(": {reason}")).collect();
    let facts = [
        ("Published in", repeated.source.clone()),
        ("On", machine.to_owned()),
        ("By", own.load.command.clone()),
        (
            "Repeated as",
            format!("{}, {}", own.workload, points.join("; for one row ")),
        ),
        ("Ratios against", format!("{}{reason}", own.baseline)),
    ];
    facts.map(|(name, value)| Fact::new(name, value)).to_vec()
}

/// "A and B, published: …", each text once.
fn notes(table: &PublishedTable, sides: &TableSides) -> Vec<String> {
    let mut notes: Vec<(Vec<String>, String)> = Vec::new();
    for (row, sides) in table.row.iter().zip(&sides.rows) {
        let own = [
            ("published", of_published(row)),
            ("here", of_measured(table, sides)),
            ("here", stands_for(row, &sides.target)),
        ];
        for (side, own) in own.into_iter().filter(|(_, own)| !own.is_empty()) {
            let text = format!("{side}: {}", own.join("; "));
            match notes.iter_mut().find(|(_, known)| *known == text) {
                Some((names, _)) => names.push(row.name.clone()),
                None => notes.push((vec![row.name.clone()], text)),
            }
        }
    }
    let sentence =
        |(names, text): (Vec<String>, String)| clean(&format!("{}, {text}", list(&names)));
    notes.into_iter().map(sentence).collect()
}

fn of_published(row: &PublishedRow) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(row.no_figures.iter().map(|why| format!("no figure: {why}")));
    let complete = count(row.complete.unwrap_or_default());
    match row.non_2xx.unwrap_or_default() {
        0 => {}
        all if row.is_all_errors() => notes.push(format!(
            "not valid: all {} answers had a status other than 2xx",
            count(all)
        )),
        some => notes.push(format!(
            "{} of {complete} answers had a status other than 2xx",
            count(some)
        )),
    }
    notes.extend(row.invalid.iter().map(|why| format!("not valid: {why}")));
    let measures = row.measures.iter();
    notes.extend(measures.map(|what| format!("measures something else: {what}")));
    let failed = row.failed.unwrap_or_default();
    if failed > 0 {
        notes.push(format!("{} of {complete} requests failed", count(failed)));
    }
    notes.extend(row.remarks.iter().cloned());
    notes
}

fn of_measured(table: &PublishedTable, sides: &RowSides) -> Vec<String> {
    let is_baseline = sides.name == table.baseline;
    let mut notes = Vec::new();
    match &sides.measured {
        MeasuredSide::LeftOut { reason } => notes.push(reason.clone()),
        MeasuredSide::Absent { reason, remedy, .. } => {
            let remedy = remedy
                .iter()
                .map(|remedy| format!("; to change that: {remedy}"));
            let reason = reason.trim_end_matches('.');
            notes.push(format!("{reason}{}", remedy.collect::<String>()));
        }
        MeasuredSide::Measured { is_bound: true, .. } => notes.push(if is_baseline {
            "the generator was the limit, so the others' ratios may be lower".to_owned()
        } else {
            "the generator was the limit, so the rate may be higher".to_owned()
        }),
        MeasuredSide::Measured { .. } => {}
    }
    if is_baseline && !matches!(sides.measured, MeasuredSide::Measured { .. }) {
        notes.push("it is the baseline, so it has no measured ratios".to_owned());
    }
    if sides.agreement == Some(Agreement::Reversed) {
        let against = &table.baseline;
        notes.push(if sides.published_ratio.is_some_and(|ratio| ratio > 1.0) {
            format!("published ahead of {against}, behind it here")
        } else {
            format!("published behind {against}, ahead of it here")
        });
    }
    notes
}

/// Why this stack represents the row, if that is not obvious.
fn stands_for(row: &PublishedRow, target: &TargetId) -> Vec<String> {
    let mut reasons = Vec::new();
    if *target != row.target && row.target_on_one_cpu.as_ref() == Some(target) {
        let instead = &row.target;
        reasons.push(format!(
            "{target} instead of {instead}, because the server has one CPU"
        ));
    }
    let why = row.target_reason.iter();
    reasons.extend(why.map(|why| format!("{} because: {why}", row.target)));
    reasons
}
