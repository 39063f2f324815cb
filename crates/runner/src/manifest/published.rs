//! Checks of a `published/<id>.toml` beyond its types. Its figures were typed by hand, so those that depend on each
//! other must agree.

use deadheat_model::{
    PublishedDocument, TargetId, WorkloadManifest,
    published::{PublishedRow, PublishedTable},
};

use super::{Stack, decode::Checks, error::did_you_mean, workload::ROUNDS};

/// Half of the last digit of a rate, as the tools print it, in requests per second; of a time, in seconds; and of a
/// transfer rate, in KiB per second. With a hair for what they round themselves.
const RATE_ROUNDED: f64 = 0.005_1;
const SECONDS_ROUNDED: f64 = 0.000_6;
const TRANSFER_ROUNDED: f64 = 0.006;
/// The mean that ab prints is connections over rate, but for its digits.
const MEAN_ROUNDED: f64 = 0.000_1;
/// hey's mean is of what it timed itself, and leaves out what it did between two requests. Other tools' means are
/// corrected, or also of pauses: nothing follows for them.
const MEAN_TIMED: f64 = 0.10;

/// The ids, workloads and stacks that a published comparison may refer to.
pub(super) struct KnownNames<'a> {
    /// Ids of all workloads, also of those with mistakes.
    pub ids: &'a [String],
    /// Workloads without mistakes.
    pub workloads: &'a [WorkloadManifest],
    /// Stacks without mistakes.
    pub stacks: &'a [Stack],
}

/// Notes the mistakes of `document`, whose file is called `<stem>.toml`.
pub(super) fn check(
    checks: &mut Checks<'_, '_>,
    document: &PublishedDocument,
    stem: &str,
    named: &KnownNames<'_>,
) {
    checks.id(&["id"], &document.id);
    if document.id != stem {
        let title = format!("the id `{}` is not the file's name", document.id);
        checks.refuse(&["id"], title, format!("the file is called `{stem}.toml`"));
    }
    checks.text(&["title"], &document.title);
    checks.text(&["source"], &document.source);
    checks.text(&["tool"], &document.tool);
    let ids = document.table.iter().map(|table| table.id.as_str());
    checks.unique("table", Some("id"), ids);
    for (index, table) in document.table.iter().enumerate() {
        TableLocation {
            checks,
            table,
            index: index.to_string(),
            mean_deviation: match document.tool.as_str() {
                "ab" => Some(MEAN_ROUNDED),
                "hey" => Some(MEAN_TIMED),
                _ => None,
            },
        }
        .check(named);
    }
}

/// A table and its location.
struct TableLocation<'c, 's, 'i, 't> {
    checks: &'c mut Checks<'s, 'i>,
    table: &'t PublishedTable,
    index: String,
    /// By how much a mean time may differ from what follows from the rate; `None`: by anything.
    mean_deviation: Option<f64>,
}

impl TableLocation<'_, '_, '_, '_> {
    fn check(&mut self, named: &KnownNames<'_>) {
        let table = self.table;
        self.checks.id(&["table", &self.index, "id"], &table.id);
        self.refuse_if(
            table.title.trim().is_empty(),
            &["title"],
            "`title` is empty",
        );
        self.workload(named);
        let none = "nothing would be asked";
        self.refuse_if(table.load.requests == 0, &["load", "requests"], none);
        self.refuse_if(table.load.connections == 0, &["load", "connections"], none);
        if table.row.is_empty() {
            let title = format!("the table `{}` has no row", table.id);
            self.refuse(&[], &title);
        }
        self.baseline();
        for (index, row) in table.row.iter().enumerate() {
            self.row(&index.to_string(), row, named);
            let twice = table.row[..index].iter().any(|one| one.name == row.name);
            let title = format!("`{}` is twice in `{}`", row.name, table.id);
            self.refuse_if(twice, &["row", &index.to_string(), "name"], &title);
        }
    }

    fn workload(&mut self, named: &KnownNames<'_>) {
        let id = &self.table.workload;
        if !named.ids.contains(id) {
            let title = format!("the workload `{id}` does not exist");
            let ids = named.ids.iter().map(String::as_str);
            let label = did_you_mean(id, ids).unwrap_or_default();
            let path = ["table", &self.index, "workload"];
            self.checks.refuse(&path, title, label);
        }
        let wants = named.workloads.iter().find(|one| one.id == *id);
        let wants = wants.is_some_and(|one| one.path.contains(ROUNDS));
        let rounds = self.table.load.rounds;
        self.refuse_if(
            wants && rounds.is_none_or(|rounds| rounds == 0),
            &["load"],
            &format!("`{id}` needs `rounds`, at least 1"),
        );
    }

    fn baseline(&mut self) {
        match self.table.baseline_row() {
            None => {
                let title = format!(
                    "the baseline `{}` is not the name of a row",
                    self.table.baseline
                );
                self.refuse(&["baseline"], &title);
            }
            Some(row) if row.valid_rate().is_none() => {
                let title = format!("the baseline `{}` has no valid figure", row.name);
                self.refuse(&["baseline"], &title);
            }
            Some(_) => {}
        }
    }

    fn row(&mut self, index: &str, row: &PublishedRow, named: &KnownNames<'_>) {
        let empty = row.name.trim().is_empty();
        self.refuse_if(empty, &["row", index, "name"], "`name` is empty");
        self.refuse_if(
            row.connections == Some(0),
            &["row", index, "connections"],
            "nothing would be asked",
        );
        self.target(&["row", index, "target"], &row.target, named);
        if let Some(target) = &row.target_on_one_cpu {
            self.target(&["row", index, "target-on-one-cpu"], target, named);
        }
        self.refuse_if(
            row.requests_per_second.is_some() == row.no_figures.is_some(),
            &["row", index],
            &format!(
                "`{}` needs either `requests-per-second` or `no-figures`",
                row.name
            ),
        );
        let no_rate = |rate: f64| !rate.is_finite() || rate <= 0.0;
        self.refuse_if(
            row.requests_per_second.is_some_and(no_rate),
            &["row", index, "requests-per-second"],
            "`requests-per-second` must be greater than zero",
        );
        self.refuse_if(
            row.non_2xx.is_some() && row.complete.is_none(),
            &["row", index, "non-2xx"],
            "`non-2xx` needs `complete`, of which it is a part",
        );
        for (key, problem) in contradictions(self.table, row, self.mean_deviation) {
            self.refuse(&["row", index, key], &format!("`{key}`: {problem}"));
        }
    }

    /// A root folder need not have the stack; but if it has, then under that name.
    fn target(&mut self, path: &[&str], target: &TargetId, named: &KnownNames<'_>) {
        let mut stacks = named.stacks.iter();
        if let Some(stack) = stacks.find(|one| one.manifest.id == target.stack) {
            let known = target.variant.is_none() || stack.manifest.targets().contains(target);
            let title = format!("`{}` has no such variant", target.stack);
            self.refuse_if(!known, path, &title);
        }
    }

    fn refuse_if(&mut self, wrong: bool, path: &[&str], title: &str) {
        if wrong {
            self.refuse(path, title);
        }
    }

    fn refuse(&mut self, path: &[&str], title: &str) {
        let path: Vec<&str> = ["table", &self.index]
            .into_iter()
            .chain(path.iter().copied())
            .collect();
        self.checks.refuse(&path, title, "");
    }
}

/// Figures of a row that cannot all be right: the key of one of them, and why.
fn contradictions(
    table: &PublishedTable,
    row: &PublishedRow,
    mean_deviation: Option<f64>,
) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut unless = |right: bool, key, problem: String| {
        if !right {
            found.push((key, problem));
        }
    };
    let requests = row.complete.unwrap_or(table.load.requests);
    let rate = row.requests_per_second;
    if let (Some(rate), Some(seconds)) = (rate, row.seconds) {
        let follows = requests as f64 / rate;
        let rounded = SECONDS_ROUNDED + follows * RATE_ROUNDED / rate;
        let right = (follows - seconds).abs() <= rounded;
        let problem = format!("{requests} requests at {rate}/s take {follows:.4} s");
        unless(right, "seconds", problem);
    }
    if let (Some(rate), Some(mean), Some(mean_deviation)) = (rate, row.mean_ms, mean_deviation) {
        let follows = f64::from(table.connections(row)) / rate * 1e3;
        let rounded = (mean_deviation + RATE_ROUNDED / rate) * follows;
        let right = (follows - mean).abs() <= rounded;
        let problem = format!(
            "{} connections at {rate}/s wait {follows:.3} ms each",
            table.connections(row)
        );
        unless(right, "mean-ms", problem);
    }
    if let (Some(rate), Some(received), Some(transfer)) =
        (rate, row.received_bytes, row.kib_per_second)
    {
        let follows = received as f64 / 1024.0 / (requests as f64 / rate);
        let rounded = TRANSFER_ROUNDED + follows * RATE_ROUNDED / rate;
        let right = (follows - transfer).abs() <= rounded;
        let problem = format!("{received} bytes at that rate are {follows:.2} KiB/s");
        unless(right, "kib-per-second", problem);
    }
    let counts = [("failed", row.failed), ("non-2xx", row.non_2xx)];
    for (key, count) in counts {
        let right = count.is_none_or(|count| count <= requests);
        unless(right, key, format!("more than the {requests} requests"));
    }
    let more = row.complete.is_some_and(|done| done > table.load.requests);
    unless(!more, "complete", "more than were asked".to_owned());
    if let (Some(received), Some(bodies)) = (row.received_bytes, row.body_bytes) {
        let right = received > bodies;
        unless(right, "body-bytes", "more than was received".to_owned());
    }
    // Every answer of these servers was as long as the others.
    let whole = row
        .body_bytes
        .is_none_or(|bytes| bytes.checked_rem(requests) == Some(0));
    let problem = format!("not the same for each of {requests} requests");
    unless(whole, "body-bytes", problem);
    let times = [
        ("p99-ms", row.p50_ms, row.p99_ms),
        ("max-ms", row.p99_ms, row.max_ms),
        ("max-ms", row.mean_ms, row.max_ms),
    ];
    for (key, less, more) in times {
        if let (Some(less), Some(more)) = (less, more) {
            unless(less <= more, key, format!("less than {less}"));
        }
    }
    found
}
