//! Published comparisons as data (`published/<id>.toml`), and what of them a session repeats.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Cell, LoadPoint, TargetId,
    load::{HttpVersion, Reuse},
    workload::{Framing, Sending},
};

/// A document with published comparisons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PublishedDocument {
    /// The id; must be the file's name.
    pub id: String,
    /// What it compares, in a few words.
    pub title: String,
    /// What kind of document it is, under which name.
    pub source: String,
    /// The machine that the figures come from; `None`: the document does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The program that made them.
    pub tool: String,
    /// What holds for all of its tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Its comparisons.
    pub table: Vec<PublishedTable>,
}

/// One comparison: servers under one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PublishedTable {
    /// The id, unique in the document.
    pub id: String,
    /// What was asked for, in a few words.
    pub title: String,
    /// The workload that asks for the same here.
    pub workload: String,
    /// The name of the row that ratios are against.
    pub baseline: String,
    /// Why that one, where a reader would expect another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_reason: Option<String>,
    /// What holds for all of its rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// How it was loaded.
    pub load: PublishedLoad,
    /// The servers, in the document's order.
    pub row: Vec<PublishedRow>,
}

/// How the servers of a table were loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PublishedLoad {
    /// The command, as it is printed.
    pub command: String,
    /// Requests of a run.
    pub requests: u64,
    /// Requests at once.
    pub connections: u32,
    /// For the workload's `{rounds}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// The version of HTTP in the requests.
    pub http: HttpVersion,
    /// Whether connections carried more than one request.
    pub reuse: Reuse,
    /// How request bodies were framed.
    #[serde(default)]
    pub bodies: Framing,
}

/// A server of a table, and what was printed for it. Everything but the name may be missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PublishedRow {
    /// Its name in the document.
    pub name: String,
    /// The stack that stands for it here. Without a variant: the stack's default.
    pub target: TargetId,
    /// What stands for it where the server has a single CPU, for a target that is made for more: all that there are is
    /// one then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_on_one_cpu: Option<TargetId>,
    /// Why that one, where the document leaves it open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_reason: Option<String>,
    /// Requests at once, where they were not the table's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// How long the run took, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Requests that the tool counted as complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<u64>,
    /// Requests that the tool counted as failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Answers with another status than 2xx.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub non_2xx: Option<u64>,
    /// Complete requests per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_second: Option<f64>,
    /// Mean time of a request in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ms: Option<f64>,
    /// Median of the times in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    /// 99th percentile of the times in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ms: Option<f64>,
    /// Longest time in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ms: Option<f64>,
    /// Bytes received, heads included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_bytes: Option<u64>,
    /// Bytes of bodies received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_bytes: Option<u64>,
    /// KiB received per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kib_per_second: Option<f64>,
    /// What the server used, as far as the document says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<String>,
    /// Why there are no figures; where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_figures: Option<String>,
    /// Why the figures cannot be compared with the others, though there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// What the figures are of, where that is not what the table says; what stands for it here does the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<String>,
    /// What else a reader must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl PublishedTable {
    /// The row that ratios are against.
    pub fn baseline_row(&self) -> Option<&PublishedRow> {
        self.row.iter().find(|row| row.name == self.baseline)
    }

    /// Requests at once of `row`.
    pub fn connections(&self, row: &PublishedRow) -> u32 {
        row.connections.unwrap_or(self.load.connections)
    }

    /// How `row` was loaded, as a load point: for how long is for the session to say. Equal loads are the same point.
    pub fn point(&self, row: &PublishedRow) -> LoadPoint {
        let load = &self.load;
        let connections = self.connections(row);
        let mut id = format!("c{connections}");
        if let Some(rounds) = load.rounds {
            id += &format!("-rounds-{rounds}");
        }
        id += &format!("-http{}", load.http);
        if load.reuse == Reuse::PerRequest {
            id += "-close";
        }
        if load.bodies == Framing::Chunked {
            id += "-chunked";
        }
        LoadPoint {
            id,
            connections,
            rounds: load.rounds,
            queries: None,
            revalidate: false,
            protocol: Default::default(),
            streams: 1,
            sending: Sending {
                http: load.http,
                reuse: load.reuse,
                bodies: load.bodies,
            },
            open: None,
        }
    }
}

impl PublishedRow {
    /// Requests per second, if they can be compared with others: there are figures, not all answers were errors, and
    /// nothing else is known against them.
    pub fn valid_rate(&self) -> Option<f64> {
        self.requests_per_second
            .filter(|_| !self.is_all_errors() && self.invalid.is_none())
    }

    /// Whether no answer had a status of 2xx.
    pub fn is_all_errors(&self) -> bool {
        self.non_2xx.is_some_and(|errors| errors > 0) && self.non_2xx == self.complete
    }
}

/// A published table that a session repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedTable {
    /// The document's id.
    pub document: String,
    /// What the document compares.
    pub title: String,
    /// What kind of document it is, under which name.
    pub source: String,
    /// The machine of the published figures, if the document names one.
    pub machine: Option<String>,
    /// The program that made them.
    pub tool: String,
    /// What holds for all tables of the document.
    pub remarks: Vec<String>,
    /// The table, as it stands in `published/`.
    pub table: PublishedTable,
    /// What the session measures for each of its rows, in their order.
    pub rows: Vec<RepeatedRow>,
}

/// What a session measures for a published row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum RepeatedRow {
    /// This cell, if its stack turns out to be ready.
    Asked {
        /// The cell.
        cell: Cell,
    },
    /// Nothing.
    LeftOut {
        /// Why.
        reason: String,
    },
}

impl RepeatedRow {
    /// The cell, if there is one.
    pub fn cell(&self) -> Option<&Cell> {
        match self {
            RepeatedRow::Asked { cell } => Some(cell),
            RepeatedRow::LeftOut { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> PublishedTable {
        let table = serde_json::json!({
            "id": "users",
            "title": "Ten users",
            "workload": "users",
            "baseline": "A",
            "load": {
                "command": "ab -c 100 -n 5000 http://localhost/",
                "requests": 5000,
                "connections": 100,
                "http": "1.0",
                "reuse": "per-request",
            },
            "row": [
                {
                    "name": "A",
                    "target": "go-nethttp:2cpu",
                    "complete": 5000,
                    "non-2xx": 5000,
                    "requests-per-second": 10421.03,
                },
                {
                    "name": "B",
                    "target": "node-express",
                    "connections": 200,
                    "complete": 5000,
                    "non-2xx": 7,
                    "requests-per-second": 100,
                },
            ],
        });
        serde_json::from_value(table).unwrap()
    }

    #[test]
    fn a_run_of_errors_has_no_valid_rate() {
        let mut table = table();
        assert_eq!(table.row[0].valid_rate(), None);
        assert_eq!(table.row[1].valid_rate(), Some(100.0));
        table.row[1].invalid = Some("another page".to_owned());
        assert_eq!(table.row[1].valid_rate(), None);
    }

    #[test]
    fn a_point_is_the_load_of_its_row() {
        let mut table = table();
        let point = table.point(&table.row[0]);
        assert_eq!(point.id, "c100-http1.0-close");
        assert_eq!(point.sending.reuse, Reuse::PerRequest);
        let own = table.point(&table.row[1]);
        assert_eq!(
            (own.id.as_str(), own.connections),
            ("c200-http1.0-close", 200)
        );
        table.load = PublishedLoad {
            http: HttpVersion::Http11,
            reuse: Reuse::KeepAlive,
            bodies: Framing::Chunked,
            rounds: Some(5),
            ..table.load
        };
        let point = table.point(&table.row[0]);
        assert_eq!(point.id, "c100-rounds-5-http1.1-chunked");
        assert_eq!(point.rounds, Some(5));
    }
}
