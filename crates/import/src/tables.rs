//! Runs as published tables, which `deadheat run --published` repeats.

use deadheat_model::{
    PublishedDocument, TargetId, Warning,
    imported::{ImportedReports, Run, Tool},
    load::{HttpVersion, Reuse},
    published::{PublishedLoad, PublishedRow, PublishedTable},
    workload::Framing,
};

use crate::ImportError;

/// The placeholder for a workload or stack that the user has to fill in by hand.
pub const UNASSIGNED: &str = "unassigned";

/// How far the printed time may be from requests ÷ rate, in seconds. A time that is further off was printed with too
/// few digits, and is left out.
const SECONDS_ROUNDED: f64 = 0.000_6;

/// How far hey's mean may be from connections ÷ rate, as a share. A mean that is further off is left out.
const MEAN_TIMED: f64 = 0.10;

/// Properties of the document that the reports do not contain.
#[derive(Clone, Copy, Debug)]
pub struct DocumentProperties<'a> {
    /// The document's id, which is its file's name.
    pub id: &'a str,
    /// The workload that asks for the same; `None`: [`UNASSIGNED`].
    pub workload: Option<&'a str>,
    /// The stacks that represent servers, by the servers' names. Others are [`UNASSIGNED`].
    pub targets: &'a [(String, TargetId)],
}

/// The document with all runs, a table for each heading and way of loading.
///
/// # Errors
/// If a run cannot be repeated by a session: its load is unknown or an open loop, or nothing was answered rightly.
pub fn document(
    imported: &ImportedReports,
    how: &DocumentProperties<'_>,
) -> Result<PublishedDocument, ImportError> {
    let refuse = |what: String| Err(ImportError::NoTable(what));
    let Some(first) = imported.runs.first() else {
        return refuse("there is no run".to_owned());
    };
    if let Some(other) = imported.runs.iter().find(|run| run.tool != first.tool) {
        let (one, other) = (first.tool.name(), other.tool.name());
        return refuse(format!(
            "the runs are of {one} and {other}; write a document for each"
        ));
    }
    let mut groups: Vec<(Key<'_>, Vec<&Run>)> = Vec::new();
    for run in &imported.runs {
        let key = Key::new(run)?;
        match groups.iter_mut().find(|(one, _)| *one == key) {
            Some((_, group)) => group.push(run),
            None => groups.push((key, vec![run])),
        }
    }
    let mut tables: Vec<PublishedTable> = Vec::new();
    for (key, runs) in groups {
        let mut table = table(&key, &runs, how)?;
        let again = tables.iter().filter(|one| one.title == table.title).count();
        if again > 0 {
            table.id = format!("{}-{}", table.id, again + 1);
        }
        tables.push(table);
    }
    Ok(PublishedDocument {
        id: how.id.to_owned(),
        title: format!("Reports of {}", first.tool.name()),
        source: format!("reports of {} ({})", first.tool.name(), first.place.file),
        machine: None,
        tool: first.tool.name().to_owned(),
        remarks: sentences(&imported.warnings),
        table: tables,
    })
}

/// What the rows of a table have in common.
#[derive(PartialEq)]
struct Key<'a> {
    section: Option<&'a str>,
    http: HttpVersion,
    reuse: Reuse,
    requests: Option<u64>,
}

impl<'a> Key<'a> {
    fn new(run: &'a Run) -> Result<Self, ImportError> {
        let place = format!("{}:{}", run.place.file, run.place.line);
        let refuse = |what: &str| Err(ImportError::NoTable(format!("{place}: {what}")));
        if run.load.is_open {
            return refuse("an open loop; sessions repeat published tables in closed loops alone");
        }
        let Some(http) = run.load.http else {
            return refuse(
                "the version of HTTP is unknown, or not 1.0 or 1.1, which published tables are for",
            );
        };
        if run.load.connections.is_none() {
            let tool = run.tool.name();
            return refuse(&format!(
                "how many requests were sent at once is unknown; say it with --command '{tool} … -c N http://…'"
            ));
        }
        Ok(Self {
            section: run.section.as_deref(),
            http,
            reuse: run.load.reuse.unwrap_or(Reuse::KeepAlive),
            // ab sends a number of requests, and prints no other.
            requests: run
                .load
                .requests
                .or(run.figures.complete.filter(|_| run.tool == Tool::Ab)),
        })
    }
}

fn table(
    key: &Key<'_>,
    runs: &[&Run],
    how: &DocumentProperties<'_>,
) -> Result<PublishedTable, ImportError> {
    let title = key.section.unwrap_or(how.id).to_owned();
    let connections = runs.iter().filter_map(|run| run.load.connections);
    let usual = connections
        .clone()
        .max_by_key(|one| connections.clone().filter(|other| other == one).count());
    let usual = usual.unwrap_or(1);
    let done = runs
        .iter()
        .filter_map(|run| run.figures.complete.or(run.load.requests));
    let command = runs.first().and_then(|run| run.command.clone());
    let command = command.filter(|one| runs.iter().all(|run| run.command.as_ref() == Some(one)));
    let mut rows: Vec<PublishedRow> = Vec::new();
    for run in runs {
        let mut row = row(run, usual, how);
        let again = rows.iter().filter(|one| {
            one.name == row.name || one.name.starts_with(&format!("{} (run ", row.name))
        });
        let again = again.count();
        if again > 0 {
            row.name = format!("{} (run {})", row.name, again + 1);
        }
        rows.push(row);
    }
    let baseline = rows
        .iter()
        .find(|row| row.valid_rate().is_some())
        .map(|row| row.name.clone());
    let baseline = baseline
        .ok_or_else(|| ImportError::NoTable(format!("`{title}`: no run has a valid rate")))?;
    Ok(PublishedTable {
        id: slug(&title),
        title,
        workload: how.workload.unwrap_or(UNASSIGNED).to_owned(),
        baseline,
        baseline_reason: None,
        remarks: Vec::new(),
        load: PublishedLoad {
            command: command.unwrap_or_else(|| "not in the report".to_owned()),
            requests: done.chain(key.requests).max().unwrap_or(1).max(1),
            connections: usual,
            rounds: None,
            http: key.http,
            reuse: key.reuse,
            bodies: Framing::default(),
        },
        row: rows,
    })
}

fn row(run: &Run, usual: u32, how: &DocumentProperties<'_>) -> PublishedRow {
    let figures = &run.figures;
    let name = run.name();
    let target = how
        .targets
        .iter()
        .find(|(of, _)| *of == name)
        .map(|(_, target)| target.clone());
    let rate = figures.requests_per_second;
    let complete = figures.complete;
    // A published row's figures must follow from each other to the last digit.
    let seconds = figures.seconds.filter(|seconds| {
        let follows = complete
            .zip(rate)
            .map(|(complete, rate)| complete as f64 / rate);
        follows.is_none_or(|follows| (follows - seconds).abs() <= SECONDS_ROUNDED)
    });
    let body_bytes = figures.body_bytes.filter(|bodies| {
        let alike = complete.is_none_or(|complete| bodies.checked_rem(complete) == Some(0));
        alike
            && figures
                .received_bytes
                .is_none_or(|received| received > *bodies)
    });
    // hey's mean is of what it timed, and a table takes it only if the connections were never idle.
    let mean_ms = figures.mean_ms.filter(|mean| {
        let follows = run
            .load
            .connections
            .zip(rate)
            .map(|(connections, rate)| f64::from(connections) / rate * 1e3);
        run.tool != Tool::Hey
            || follows.is_none_or(|follows| (follows - mean).abs() <= MEAN_TIMED * follows)
    });
    let fits = |count: &u64| complete.is_none_or(|complete| *count <= complete);
    let invalid = run.invalid().filter(|_| rate.is_some());
    PublishedRow {
        name,
        target: target.unwrap_or_else(|| TargetId::new(UNASSIGNED, None)),
        target_on_one_cpu: None,
        target_reason: None,
        connections: run
            .load
            .connections
            .filter(|connections| *connections != usual),
        seconds,
        complete,
        failed: figures.failed.filter(fits),
        non_2xx: figures.non_2xx.filter(|_| complete.is_some()),
        requests_per_second: rate,
        mean_ms,
        p50_ms: figures.p50_ms,
        p99_ms: figures.p99_ms,
        max_ms: figures.max_ms,
        received_bytes: figures.received_bytes,
        body_bytes,
        kib_per_second: figures.kib_per_second,
        resources: None,
        no_figures: rate.is_none().then(|| "no request was answered".to_owned()),
        invalid: invalid.map(str::to_owned),
        measures: None,
        remarks: sentences(&run.warnings),
    }
}

fn sentences(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(Warning::in_full).collect()
}

/// A title as an id: lower-case letters and digits, with hyphens between words.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for one in title.chars() {
        if one.is_ascii_alphanumeric() {
            slug.push(one.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.starts_with(|one: char| one.is_ascii_alphabetic()) {
        slug.to_owned()
    } else {
        format!("table-{slug}").trim_end_matches('-').to_owned()
    }
}

/// The document as a file of `published/`.
///
/// # Errors
/// If it cannot be written as TOML, which no document of [`document`] is.
pub fn toml(document: &PublishedDocument) -> Result<String, ImportError> {
    let text =
        toml::to_string(document).map_err(|error| ImportError::NoTable(error.to_string()))?;
    let unassigned = document.table.iter().any(|table| {
        table.workload == UNASSIGNED || table.row.iter().any(|row| row.target.stack == UNASSIGNED)
    });
    let todo = if unassigned {
        format!(
            "# Replace `{UNASSIGNED}`: the workload that asks for the same here, and the stack of each row.\n"
        )
    } else {
        String::new()
    };
    Ok(format!(
        "# Figures as printed; docs/published.md has the keys.\n{todo}{text}"
    ))
}
