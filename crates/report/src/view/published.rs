//! Published tables beside what was measured.

use deadheat_model::{
    RepeatedTable, SessionRecord, TargetId,
    published::{PublishedRow, PublishedTable},
};
use deadheat_stats::{
    Analysis,
    published::{Agreement, Bound, MeasuredRatio, MeasuredRow, RowAnalysis, TableAnalysis},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Fact, clean, load, losses};
use crate::figure::{self, NONE, count, counted, ends, figure, percent};

/// All published tables of a session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PublishedView {
    /// What stands on both sides, and what does not.
    pub introduction: Vec<String>,
    /// The tables.
    pub tables: Vec<PublishedTableView>,
}

/// A published table beside what was measured.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PublishedTableView {
    /// A name for links, unique in the report.
    pub anchor: String,
    /// The document's id.
    pub document: String,
    /// The table's id.
    pub table: String,
    /// The document and the table, for a heading.
    pub title: String,
    /// Where the published figures come from, and what was asked for on both sides.
    pub facts: Vec<Fact>,
    /// The rows, in the document's order.
    pub rows: Vec<PublishedRowView>,
    /// The rows' notes: those that several rows share stand once.
    pub notes: Vec<PublishedNote>,
    /// What holds for all rows.
    pub remarks: Vec<String>,
}

/// What a reader must know of some rows on one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PublishedNote {
    /// The rows' names.
    pub names: Vec<String>,
    /// "published" or "here".
    pub side: &'static str,
    /// What there is to know.
    pub text: String,
}

impl PublishedNote {
    /// The rows and the side, for a sentence's beginning.
    pub fn whose(&self) -> String {
        format!("{}, {}", figure::list(&self.names), self.side)
    }
}

/// A row on both sides, as strings.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PublishedRowView {
    /// Its name in the document.
    pub name: String,
    /// The stack that stands for it here.
    pub target: String,
    /// Why that one, where the document leaves it open.
    pub target_reason: Option<String>,
    /// Published requests per second.
    pub published: String,
    /// Published ratio.
    pub published_ratio: String,
    /// Median throughput here ("≥" before a lower bound), or in a word why there is none.
    pub measured: String,
    /// The larger arm of its interval.
    pub spread: Option<String>,
    /// Measured ratio ("≥", "≤" where a lower bound is in it).
    pub ratio: String,
    /// Its interval.
    pub interval: Option<String>,
    /// Whether ratios are against this row.
    pub is_baseline: bool,
    /// Whether there is a measured figure.
    pub is_measured: bool,
    /// What a reader must know of the published figure.
    pub published_notes: Vec<String>,
    /// What a reader must know of the measured one.
    pub measured_notes: Vec<String>,
}

/// The published tables of a session; `None` when it repeats none.
pub fn of_session(record: &SessionRecord, analysis: &Analysis) -> Option<PublishedView> {
    let repeated = record.header.published.iter().zip(&analysis.published);
    let tables = repeated.enumerate();
    let tables: Vec<PublishedTableView> = tables
        .map(|(index, (repeated, sides))| table(index, repeated, sides))
        .collect();
    (!tables.is_empty()).then(|| PublishedView {
        introduction: introduction(analysis),
        tables,
    })
}

fn introduction(analysis: &Analysis) -> Vec<String> {
    let measured = analysis
        .published
        .iter()
        .flat_map(|table| &table.rows)
        .find_map(|row| match &row.measured {
            MeasuredRow::Measured {
                throughput_per_second,
                ..
            } => Some(throughput_per_second),
            _ => None,
        });
    let level = |estimate: &deadheat_stats::order_statistic::MedianInterval| {
        let level = estimate.interval?.level;
        Some(format!(
            "here a median over {} with an order-statistic interval at a level of {}",
            counted(estimate.trials, "trial"),
            percent(level)
        ))
    };
    let here = measured
        .and_then(level)
        .unwrap_or_else(|| "here a median over the trials that there are".to_owned());
    vec![
        format!(
            "Requests/s are one run where they were published, so without an interval, and {here}. Ratios are against \
             the same row on both sides; a measured one is the geometric mean of the ratios within a block, with a 95 % \
             t interval on the logarithm. Intervals are each for itself: of so many, some miss by chance."
        ),
        "Which stack stands for a published server is a reading of its document, in places of its figures (the reasons \
         say where); that such a row agrees proves nothing."
            .to_owned(),
        "Other machines, versions and routes: rates differ for many reasons, ratios for fewer. The tools warmed nothing up, \
         and here nothing was but by the few requests that check the answers, where each trial is of a fresh process; whether a published server had answered before \
         is not known, and that matters most where code is compiled while it runs. The end, when connections run out of \
         requests, is in the figures. Nothing is ranked."
            .to_owned(),
    ]
}

fn table(index: usize, repeated: &RepeatedTable, sides: &TableAnalysis) -> PublishedTableView {
    let own = &repeated.table;
    let rows = own.row.iter().zip(&sides.rows);
    let rows: Vec<PublishedRowView> = rows.map(|(row, side)| self::row(own, row, side)).collect();
    let remarks = own.remarks.iter().chain(&repeated.remarks);
    PublishedTableView {
        anchor: format!("published-{}", index + 1),
        document: clean(&repeated.document),
        table: clean(&own.id),
        title: clean(&format!("{}: {}", repeated.document, own.title)),
        facts: facts(repeated),
        notes: notes(&rows),
        rows,
        remarks: remarks.map(|remark| clean(remark)).collect(),
    }
}

fn notes(rows: &[PublishedRowView]) -> Vec<PublishedNote> {
    let mut notes: Vec<PublishedNote> = Vec::new();
    for row in rows {
        let sides = [
            ("published", &row.published_notes),
            ("here", &row.measured_notes),
        ];
        for (side, own) in sides.into_iter().filter(|(_, own)| !own.is_empty()) {
            let text = own.join("; ");
            let mut same = notes.iter_mut();
            match same.find(|note| note.side == side && note.text == text) {
                Some(note) => note.names.push(row.name.clone()),
                None => notes.push(PublishedNote {
                    names: vec![row.name.clone()],
                    side,
                    text,
                }),
            }
        }
    }
    notes
}

fn facts(repeated: &RepeatedTable) -> Vec<Fact> {
    let own = &repeated.table;
    let fact = |name: &str, value: &str| Fact {
        name: name.to_owned(),
        value: clean(value),
    };
    let machine = repeated.machine.as_deref().unwrap_or("not given");
    let mut facts = vec![
        fact("Published in", &repeated.source),
        fact("On", machine),
        fact("By", &own.load.command),
    ];
    let mut points: Vec<String> = Vec::new();
    for row in &own.row {
        let point = load(&own.point(row, std::time::Duration::ZERO));
        if !points.contains(&point) {
            points.push(point);
        }
    }
    let here = format!("{}, {}", own.workload, points.join("; for one row "));
    facts.push(fact("Repeated as", &here));
    let reason = own.baseline_reason.iter();
    let reason: String = reason.map(|reason| format!(": {reason}")).collect();
    facts.push(fact("Ratios against", &format!("{}{reason}", own.baseline)));
    facts
}

fn row(table: &PublishedTable, row: &PublishedRow, side: &RowAnalysis) -> PublishedRowView {
    let is_baseline = row.name == table.baseline;
    let (measured, spread) = measured(&side.measured);
    let is_measured = matches!(side.measured, MeasuredRow::Measured { .. });
    let (ratio, interval) = match &side.measured_ratio {
        Some(ratio) => ratio_words(ratio),
        None if is_baseline && is_measured => ("1".to_owned(), None),
        None => (NONE.to_owned(), None),
    };
    PublishedRowView {
        name: clean(&row.name),
        target: clean(&side.target.to_string()),
        target_reason: target_reason(row, &side.target).map(|reason| clean(&reason)),
        published: side.published_per_second.map_or(NONE.to_owned(), printed),
        published_ratio: match side.published_ratio {
            Some(_) if is_baseline => "1".to_owned(),
            Some(ratio) => figure(ratio),
            None => NONE.to_owned(),
        },
        measured,
        spread,
        ratio,
        interval,
        is_baseline,
        is_measured,
        published_notes: published_notes(row),
        measured_notes: measured_notes(table, side, is_baseline),
    }
}

/// Why `stands` stands for the row, where that is not plain.
fn target_reason(row: &PublishedRow, stands: &TargetId) -> Option<String> {
    let why = row.target_reason.clone();
    if *stands == row.target || row.target_on_one_cpu.as_ref() != Some(stands) {
        return why;
    }
    let instead = format!(
        "in place of {}, because the server has one CPU here",
        row.target
    );
    Some(match why {
        Some(why) => format!("{instead}; {} because: {why}", row.target),
        None => instead,
    })
}

/// A published figure with the digits by which a reader finds it again.
fn printed(rate: f64) -> String {
    if rate < 100.0 {
        return figure(rate);
    }
    count(rate.round() as u64)
}

fn measured(side: &MeasuredRow) -> (String, Option<String>) {
    let word = |word: &str| (word.to_owned(), None);
    match side {
        MeasuredRow::LeftOut { .. } => word("left out"),
        MeasuredRow::Unavailable { .. } => word("unavailable"),
        MeasuredRow::Failed { .. } => word("failed"),
        MeasuredRow::NotMeasured => word("no trial"),
        MeasuredRow::Measured {
            throughput_per_second,
            lower_bound: true,
            ..
        } => (format!("≥ {}", figure(throughput_per_second.median)), None),
        MeasuredRow::Measured {
            throughput_per_second,
            ..
        } => (
            figure(throughput_per_second.median),
            figure::spread(throughput_per_second),
        ),
    }
}

fn ratio_words(ratio: &MeasuredRatio) -> (String, Option<String>) {
    let sign = match ratio.bound {
        Bound::Exact => "",
        Bound::AtLeast => "≥ ",
        Bound::AtMost => "≤ ",
    };
    let interval = ratio.interval.map(|interval| ends(&interval, figure));
    (format!("{sign}{}", figure(ratio.ratio)), interval)
}

fn published_notes(row: &PublishedRow) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(why) = &row.no_figures {
        notes.push(format!("no figure: {why}"));
    }
    let complete = row.complete.unwrap_or_default();
    match row.non_2xx.unwrap_or_default() {
        0 => {}
        all if row.is_all_errors() => notes.push(format!(
            "not valid: all {} answers had another status than 2xx",
            count(all)
        )),
        some => notes.push(format!(
            "{} of {} answers had another status than 2xx",
            count(some),
            count(complete)
        )),
    }
    if let Some(why) = &row.invalid {
        notes.push(format!("not valid: {why}"));
    }
    if let Some(what) = &row.measures {
        notes.push(format!("measures something else: {what}"));
    }
    let failed = row.failed.unwrap_or_default();
    if failed > 0 {
        notes.push(format!(
            "{} of {} requests failed",
            count(failed),
            count(complete)
        ));
    }
    notes.extend(row.remarks.iter().cloned());
    notes.iter().map(|note| clean(note)).collect()
}

fn measured_notes(table: &PublishedTable, side: &RowAnalysis, is_baseline: bool) -> Vec<String> {
    let mut notes = Vec::new();
    match &side.measured {
        MeasuredRow::LeftOut { reason } => notes.push(reason.clone()),
        MeasuredRow::Unavailable { reason, remedy } => {
            notes.push(format!("{reason}; to change that: {remedy}"));
        }
        MeasuredRow::Failed {
            failed,
            of,
            reasons,
        } => {
            let mut kinds: Vec<String> = reasons.iter().map(losses::kind_of).collect();
            kinds.dedup();
            let reasons = kinds.join("; ");
            notes.push(match of {
                0 => format!("before any trial: {reasons}"),
                of => format!("in {failed} of {}: {reasons}", counted(*of, "trial")),
            });
        }
        MeasuredRow::NotMeasured => notes.push("no trial that counts".to_owned()),
        MeasuredRow::Measured {
            lower_bound,
            cut_short,
            failed_requests,
            ..
        } => {
            if *lower_bound {
                let what = "generator-limited: the rate is a lower bound";
                notes.push(match is_baseline {
                    true => format!("{what}, so that the others' ratios are upper ones"),
                    false => what.to_owned(),
                });
            }
            if *cut_short > 0 {
                notes.push(format!(
                    "the time limit ended {} before all requests were made: the rate is that of the time until then",
                    counted(*cut_short, "trial")
                ));
            }
            if *failed_requests > 0 {
                let failed = counted(*failed_requests as usize, "request");
                notes.push(format!("{failed} failed"));
            }
        }
    }
    if is_baseline && !matches!(side.measured, MeasuredRow::Measured { .. }) {
        notes.push("it is the baseline, so that there are no measured ratios".to_owned());
    }
    if side.agreement == Some(Agreement::Reversed) {
        let against = &table.baseline;
        let ahead = side.published_ratio.is_some_and(|ratio| ratio > 1.0);
        notes.push(if ahead {
            format!("published ahead of {against}, behind it here")
        } else {
            format!("published behind {against}, ahead of it here")
        });
    }
    notes.iter().map(|note| clean(note)).collect()
}
