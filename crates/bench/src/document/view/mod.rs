//! The contents that all reports of a session share: numbers, units, states, names and sentences, without layout.

mod details;
mod load;
mod row;

use std::{collections::BTreeSet, fmt};

use deadheat_document::view::{Fact, clean, load};
use deadheat_model::{
    RepeatedTable, TargetId, Warning,
    figure::{budgets, count, counted, list},
    heats::{EndReason, SessionHeader, SessionRecord},
    plan::Pinning,
    published::{PublishedRow, PublishedTable},
};
use deadheat_stats::standings::{
    Agreement, MeasuredSide, RowSides, Standings, StartTable, TableSides, short_names,
};

pub use self::row::{LackView, UnmeasuredStacks};
pub use details::Details;
pub use load::{LoadView, TableView};
pub use row::{AtRate, RankedFigure, RowView};

/// The contents of a session's report. Sentences and names have no control characters.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingsView {
    /// The session's id.
    pub id: String,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// Whether it is still running, and if not, why it ended.
    pub state: State,
    /// The title: what was compared, on which machine, and when.
    pub title: Title,
    /// Stacks whose ratio lies within this of 1 are as good as equal (0.03: 3 %).
    pub margin: f64,
    /// The share of sessions that may claim a wrong order in a ranking (0 to 1); also the share of wrong
    /// intervals for one pair alone.
    pub alpha: f64,
    /// Each load, in the order of the plan.
    pub loads: Vec<LoadView>,
    /// How the stacks start.
    pub starts: Vec<StartTable>,
    /// Published tables that the session repeats, each with what was measured.
    pub published: Vec<PublishedView>,
    /// How far the figures can be trusted, in a line without a full stop.
    pub trust: String,
    /// Warnings, those that may change a decision first. Short formats show the first three.
    pub warnings: Vec<Warning>,
    /// The stacks without a figure.
    pub not_measured: UnmeasuredStacks,
    /// Details: provenance, method, findings, stacks, limits.
    pub details: Details,
}

/// Whether a session is still running, and if not, why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The session is running.
    Running,
    /// The session ended normally.
    Ended(EndReason),
    /// No end is recorded.
    Killed,
}

impl StandingsView {
    /// The view of a session that is over.
    pub fn new(record: &SessionRecord, standings: &Standings) -> Self {
        let state = record.end.map_or(State::Killed, State::Ended);
        Self::in_state(record, standings, state)
    }

    /// The view of a session that is still running.
    pub fn running(record: &SessionRecord, standings: &Standings) -> Self {
        let state = record.end.map_or(State::Running, State::Ended);
        Self::in_state(record, standings, state)
    }

    fn in_state(record: &SessionRecord, standings: &Standings, state: State) -> Self {
        let header = &record.header;
        let warnings = details::warnings(record, standings, state);
        Self {
            id: clean(&header.id),
            started: clean(&header.started),
            state,
            title: title(header, standings),
            margin: header.plan.margin,
            alpha: header.plan.alpha,
            loads: load::loads(header, standings),
            starts: standings.starts.clone(),
            published: published(header, standings),
            trust: details::trust(standings, &warnings),
            warnings,
            not_measured: row::not_measured(header, standings),
            details: details::details(record, standings, state),
        }
    }

    /// Names the session's folder in the commands of warnings, instead of its id.
    pub fn in_folder(mut self, folder: &str) -> Self {
        let (unknown, known) = (details::resume(&self.id), details::resume(folder));
        for warning in &mut self.warnings {
            if warning.advice == unknown {
                warning.advice.clone_from(&known);
            }
        }
        self
    }

    /// The loads with heats of their own: what was asked for. Their rows have what was found in equal work.
    pub fn leading(&self) -> impl Iterator<Item = &LoadView> + Clone {
        self.loads.iter().filter(|load| load.leads())
    }

    /// Whether any load has a row.
    pub fn has_figures(&self) -> bool {
        self.loads.iter().any(|load| load.rows().next().is_some())
    }
}

/// A target's name as it is shown.
fn name(target: &TargetId) -> String {
    clean(&target.to_string())
}

/// The name of each load in a sentence.
fn shorts(standings: &Standings) -> Vec<String> {
    let names = short_names(&standings.loads).into_iter();
    names.map(|name| clean(&name)).collect()
}

/// Up to this many stacks are named; more are only counted.
const MAX_NAMES: usize = 2;

/// A report's title in three parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Title {
    /// What was compared ("18 HTTP stacks, 4 workloads").
    pub compared: String,
    /// On what machine, and on how many of its CPUs servers ran ("AMD EPYC 7B13, 1 of 2 CPUs").
    pub machine: String,
    /// Whether nothing but that machine took part.
    pub alone: bool,
    /// When ("22 Nov 2026").
    pub date: String,
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {} · {}", self.compared, self.machine, self.date)
    }
}

fn title(header: &SessionHeader, standings: &Standings) -> Title {
    Title {
        compared: compared(header, standings),
        machine: machine(header),
        alone: header.plan.hosts.is_none(),
        date: date(&header.started),
    }
}

fn compared(header: &SessionHeader, standings: &Standings) -> String {
    let rows = || {
        let tables = standings.loads.iter().flat_map(|load| &load.tables);
        tables.flat_map(|table| &table.rows).map(|row| &row.target)
    };
    let planned = header.plan.loads.iter().flat_map(|load| &load.targets);
    let asked_for = header.targets.iter().map(|one| &one.target);
    // Before anything is measured, what is going to be, or was asked for.
    let mut found: Vec<&TargetId> = rows().collect();
    if found.is_empty() {
        found = planned.chain(asked_for).collect();
    }
    let mut names: Vec<String> = Vec::new();
    for target in found {
        let name = clean(&target.on_cpus(None).to_string());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let stacks = match names.len() {
        0 => "No stacks".to_owned(),
        1..=MAX_NAMES => list(&names),
        many => format!("{many} HTTP stacks"),
    };
    let budgets = budgets(&header.plan.cpu_budgets()).map(|budgets| format!(" on {budgets}"));
    let stacks = stacks + &budgets.unwrap_or_default();
    let workloads: BTreeSet<&str> = standings
        .loads
        .iter()
        .map(|load| load.workload.as_str())
        .collect();
    let workloads = match (workloads.len(), workloads.first()) {
        (0, _) => return stacks,
        (1, Some(one)) => clean(one),
        (many, _) => counted(many, "workload"),
    };
    format!("{stacks}, {workloads}")
}

fn machine(header: &SessionHeader) -> String {
    let machine = &header.machine;
    let cpus = counted(machine.cpus.len(), "CPU");
    let cpus = match &header.plan.pinning {
        Pinning::Apart { server, .. } if server.len() < machine.cpus.len() => {
            format!("{} of {cpus}", server.len())
        }
        _ => cpus,
    };
    let own = match model(&machine.cpu_model) {
        model if model.is_empty() => cpus,
        model => format!("{model}, {cpus}"),
    };
    let generators = header.plan.hosts.iter().flat_map(|one| &one.generators);
    let loaded = match generators.count() {
        0 => String::new(),
        count => format!(", loaded from {}", counted(count, "other host")),
    };
    let database = match header.plan.database_host() {
        Some(_) => ", database on another host",
        None => "",
    };
    format!("{own}{loaded}{database}")
}

/// The processor's name without words that every name has ("Processor", "CPU", "64-Core").
fn model(name: &str) -> String {
    let name = name.split(" @ ").next().unwrap_or(name);
    let is_informative = |word: &&str| {
        let lower = word.to_lowercase();
        !matches!(lower.as_str(), "processor" | "cpu") && !lower.ends_with("-core")
    };
    let plain = name
        .replace("(R)", "")
        .replace("(TM)", "")
        .replace("(tm)", "");
    let words: Vec<&str> = plain.split_whitespace().filter(is_informative).collect();
    clean(&words.join(" "))
}

/// "22 Nov 2026" of an RFC 3339 time; any other text stays as it is.
fn date(started: &str) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let day = started.split('T').next().unwrap_or(started);
    let parts: Vec<&str> = day.split('-').collect();
    let [year, month, day_of_month] = parts.as_slice() else {
        return clean(day);
    };
    let month = month.parse::<usize>().ok();
    let month = month.and_then(|month| MONTHS.get(month.checked_sub(1)?));
    match (month, day_of_month.parse::<u32>()) {
        (Some(month), Ok(day)) => clean(&format!("{day} {month} {year}")),
        _ => clean(day),
    }
}

/// A published table, next to what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedView {
    /// The document and the table.
    pub title: String,
    /// The source of the published figures, and the requests on both sides.
    pub facts: Vec<Fact>,
    /// The rows on both sides.
    pub sides: TableSides,
    /// Notes about rows (a note that several rows share comes once), then about the whole table.
    pub notes: Vec<String>,
}

/// The published tables of a session.
fn published(header: &SessionHeader, standings: &Standings) -> Vec<PublishedView> {
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

#[cfg(test)]
mod tests {
    use super::{date, model};

    #[test]
    fn dates_are_short_and_odd_ones_stay() {
        assert_eq!(date("2026-11-22T03:04:05Z"), "22 Nov 2026");
        assert_eq!(date("2026-01-02"), "2 Jan 2026");
        assert_eq!(date("2026-13-02T1"), "2026-13-02");
        assert_eq!(date("yesterday\u{1b}"), "yesterday\\u{1b}");
    }

    #[test]
    fn processors_have_short_names() {
        let cases = [
            ("AMD EPYC 7B13 64-Core Processor", "AMD EPYC 7B13"),
            ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Intel Xeon"),
            ("AMD EPYC", "AMD EPYC"),
            ("", ""),
        ];
        for (name, short) in cases {
            assert_eq!(model(name), short);
        }
    }
}
