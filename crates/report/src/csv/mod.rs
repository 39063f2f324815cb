//! A session's trials as comma-separated values (RFC 4180), tidy: one row per trial and metric, one column per variable.
//! docs/report-csv.md describes every column and metric.

mod lost;
pub(crate) mod metrics;
mod standing;

use deadheat_model::{LoadPoint, SessionRecord, TargetId, TrialRecord};
use deadheat_stats::Analysis;
use metrics::{Kinds, Metric};
use standing::{Standing, Standings};

use crate::view::clean;

/// The columns, in their order.
pub const COLUMNS: [&str; 25] = [
    "session",
    "control",
    "twin_of",
    "block",
    "position",
    "attempt",
    "target",
    "stack",
    "variant",
    "language",
    "framework",
    "workload",
    "point",
    "connections",
    "loop",
    "requests",
    "offered_per_second",
    "cell",
    "outcome",
    "reason",
    "flags",
    "metric",
    "unit",
    "value",
    "uncounted_value",
];

/// Every trial of a session, in the order in which they ended, with a row per metric; then what has no trial.
///
/// A figure stands in `value` only if an estimate of the report is made from it, or could be: all trials of a cell that
/// count have it there, or none. Whatever counts for nothing stands in `uncounted_value`, so that a mean over `value`
/// cannot contain it. Lines end with CR LF.
pub fn csv(record: &SessionRecord, analysis: &Analysis) -> String {
    let standings = Standings::of(record, analysis);
    let kinds = Kinds::of(record);
    let mut table = Table::new(&COLUMNS);
    let found: Vec<Vec<Metric>> = (0..)
        .zip(&record.trials)
        .map(|(index, trial)| {
            let standing = standings.at(index);
            let figures = standing.and_then(|standing| standing.trial.figures.as_ref());
            metrics::of_trial(trial, figures, &kinds, record.header.machine.cpus.len())
        })
        .collect();
    let whole = standings.in_all_trials(&found);
    for (index, trial) in record.trials.iter().enumerate() {
        let standing = standings.at(index);
        let row = trial_row(record, trial, standing);
        if found[index].is_empty() {
            table.add(&row);
        }
        for metric in &found[index] {
            let why = standings.why_not_counted(index, metric, &whole);
            table.add(&row.clone().with(metric, why));
        }
    }
    for row in lost::rows(record, analysis) {
        table.add(&row);
    }
    table.end()
}

/// One line of the table. A field without a value is empty.
#[derive(Clone, Debug, Default)]
struct Row {
    session: String,
    control: &'static str,
    twin_of: String,
    block: String,
    position: String,
    attempt: String,
    target: String,
    stack: String,
    variant: String,
    language: String,
    framework: String,
    workload: String,
    point: String,
    connections: String,
    /// `closed` or `open`.
    pace: &'static str,
    requests: String,
    offered_per_second: String,
    cell: String,
    outcome: String,
    reason: String,
    flags: String,
    metric: String,
    unit: &'static str,
    value: String,
    uncounted_value: String,
}

impl Row {
    /// A row that says which target it is about.
    fn about(record: &SessionRecord, target: &TargetId) -> Self {
        let controls = &record.header.plan.controls;
        let twin = controls.twin.as_ref().filter(|twin| twin.name == *target);
        let is_null_server = controls.null_server.as_ref() == Some(target);
        let mut targets = record.header.targets.iter();
        let known = targets.find(|known| known.target == *target);
        Self {
            session: clean(&record.header.id),
            control: match (is_null_server, twin) {
                (true, _) => "null-server",
                (false, Some(_)) => "twin",
                (false, None) => "",
            },
            twin_of: twin.map_or(String::new(), |twin| clean(&twin.of.to_string())),
            target: clean(&target.to_string()),
            stack: clean(&target.stack),
            variant: target.variant.as_deref().map(clean).unwrap_or_default(),
            language: known.map_or(String::new(), |known| clean(&known.language)),
            framework: known.map_or(String::new(), |known| clean(&known.framework)),
            ..Self::default()
        }
    }

    /// The same at a workload and a load point.
    fn at(self, workload: &str, point: &str, load: Option<&LoadPoint>) -> Self {
        let counted = load.and_then(|load| load.counted.as_ref());
        Self {
            workload: clean(workload),
            point: clean(point),
            connections: load.map_or(String::new(), |load| load.connections.to_string()),
            pace: match load.map(|load| load.open.is_some()) {
                Some(true) => "open",
                Some(false) => "closed",
                None => "",
            },
            requests: counted.map_or(String::new(), |counted| counted.requests.to_string()),
            ..self
        }
    }

    /// The same with a metric. `why`: why it counts for nothing, if it does not count.
    fn with(self, metric: &Metric, why: Option<String>) -> Self {
        let (value, uncounted_value) = match &why {
            None => (metric.value.clone(), String::new()),
            Some(_) => (String::new(), metric.value.clone()),
        };
        Self {
            reason: why.unwrap_or(self.reason),
            metric: metric.name.clone(),
            unit: metric.unit,
            value,
            uncounted_value,
            ..self
        }
    }

    fn fields(&self) -> [&str; COLUMNS.len()] {
        [
            &self.session,
            self.control,
            &self.twin_of,
            &self.block,
            &self.position,
            &self.attempt,
            &self.target,
            &self.stack,
            &self.variant,
            &self.language,
            &self.framework,
            &self.workload,
            &self.point,
            &self.connections,
            self.pace,
            &self.requests,
            &self.offered_per_second,
            &self.cell,
            &self.outcome,
            &self.reason,
            &self.flags,
            &self.metric,
            self.unit,
            &self.value,
            &self.uncounted_value,
        ]
    }
}

/// What all rows of a trial have in common.
fn trial_row(record: &SessionRecord, trial: &TrialRecord, standing: Option<&Standing<'_>>) -> Row {
    let cell = &trial.cell;
    let load = standing.map(|standing| &standing.group.point);
    let offered = standing
        .and_then(|standing| standing.trial.figures.as_ref()?.open.as_ref())
        .map(|open| open.offered_per_second);
    let offered = offered.or(trial.offered_per_second);
    Row {
        block: trial.block.to_string(),
        position: trial.position.to_string(),
        attempt: trial.attempt.to_string(),
        offered_per_second: offered.map_or(String::new(), metrics::number),
        cell: standing.map_or(String::new(), |standing| {
            standing::cell_word(&standing.cell.verdict)
        }),
        outcome: standing::outcome(standing).to_owned(),
        reason: standing::reason(standing),
        flags: standing.map_or(String::new(), Standing::flags),
        ..Row::about(record, &cell.target).at(&cell.workload, &cell.point, load)
    }
}

/// A table as it is written.
pub(crate) struct Table(::csv::Writer<Vec<u8>>);

impl Table {
    /// A table with these columns.
    pub(crate) fn new(columns: &[&str]) -> Self {
        let mut settings = ::csv::WriterBuilder::new();
        settings.terminator(::csv::Terminator::CRLF);
        let mut table = Self(settings.from_writer(Vec::new()));
        table.write(columns);
        table
    }

    fn add(&mut self, row: &Row) {
        self.write(&row.fields());
    }

    /// Adds a row, which has as many fields as there are columns.
    pub(crate) fn write(&mut self, fields: &[&str]) {
        self.0
            .write_record(fields)
            .expect("every row has as many fields, and memory takes them");
    }

    /// The whole table.
    pub(crate) fn end(self) -> String {
        let bytes = self.0.into_inner().expect("memory takes what it is given");
        String::from_utf8(bytes).expect("made of text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be_and_lines_end_as_rfc_4180_has_it() {
        let row = Row {
            target: "a, \"b\"\nc".to_owned(),
            reason: "Größe 大小".to_owned(),
            ..Row::default()
        };
        let mut table = Table::new(&COLUMNS);
        table.add(&row);
        let text = table.end();
        let (head, rest) = text.split_once("\r\n").unwrap();
        assert_eq!(head, COLUMNS.join(","));
        assert!(rest.ends_with("\r\n"), "{rest:?}");
        assert!(rest.contains(",\"a, \"\"b\"\"\nc\","), "{rest:?}");
        assert!(rest.contains(",Größe 大小,"), "{rest:?}");
    }
}
