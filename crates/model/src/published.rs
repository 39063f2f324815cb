//! Published comparisons as data (`published/<id>.toml`), and the parts of them that a session repeats.

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
    /// The subject of the comparison, in a few words.
    pub title: String,
    /// The kind of document, and its name.
    pub source: String,
    /// The machine of the figures; `None`: the document does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The load generator that produced the figures.
    pub tool: String,
    /// Remarks that apply to all tables of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The document's comparisons.
    pub table: Vec<PublishedTable>,
}

/// One comparison: servers under one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PublishedTable {
    /// The id, unique in the document.
    pub id: String,
    /// The request, in a few words.
    pub title: String,
    /// The workload of Deadheat with the same request.
    pub workload: String,
    /// The name of the row that is the baseline of ratios.
    pub baseline: String,
    /// Why this row is the baseline, if a reader would expect another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_reason: Option<String>,
    /// Remarks that apply to all rows of the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// How the servers were loaded.
    pub load: PublishedLoad,
    /// The servers, in the document's order.
    pub row: Vec<PublishedRow>,
}

/// How the servers of a table were loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PublishedLoad {
    /// The load generator's command, as the document prints it.
    pub command: String,
    /// Requests per run.
    pub requests: u64,
    /// Concurrent requests.
    pub connections: u32,
    /// The value of `{rounds}` in the workload's path.
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

/// A server of a table, and its printed figures. Only name and target are required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PublishedRow {
    /// The server's name in the document.
    pub name: String,
    /// The stack that represents the server. Without a variant, it is the stack's default variant.
    pub target: TargetId,
    /// The stack that represents the server on a single CPU, for a target that is made for more CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_on_one_cpu: Option<TargetId>,
    /// Why this stack represents the server, if the document leaves that open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_reason: Option<String>,
    /// Concurrent requests; `None`: as in the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// The duration of the run in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Requests that the tool counted as complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<u64>,
    /// Requests that the tool counted as failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Answers with a status other than 2xx.
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
    /// The resources that the server used, in words; `None`: the document does not name them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<String>,
    /// Why the document has no figures for the server; `None`: it has figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_figures: Option<String>,
    /// Why the figures cannot be compared with those of the other rows; `None`: they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// What the server did, if that differs from the table's description. The stack that represents it does the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<String>,
    /// Further remarks for the reader.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl PublishedTable {
    /// The row that is the baseline of ratios; `None`: no row has the baseline's name.
    pub fn baseline_row(&self) -> Option<&PublishedRow> {
        self.row.iter().find(|row| row.name == self.baseline)
    }

    /// The number of concurrent requests of `row`.
    pub fn connections(&self, row: &PublishedRow) -> u32 {
        row.connections.unwrap_or(self.load.connections)
    }

    /// The load of `row` as a load point. The session decides its duration. Equal loads have equal load points.
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
            rounds: load.rounds,
            sending: Sending {
                http: load.http,
                reuse: load.reuse,
                bodies: load.bodies,
            },
            ..LoadPoint::new(id, connections)
        }
    }
}

impl PublishedRow {
    /// Requests per second; `None` if they cannot be compared with other rows: the row has no rate, all answers were
    /// errors, or `invalid` is set.
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
    /// The subject of the document's comparisons.
    pub title: String,
    /// The kind of document, and its name.
    pub source: String,
    /// The machine of the published figures; `None`: the document does not name it.
    pub machine: Option<String>,
    /// The load generator that produced the figures.
    pub tool: String,
    /// Remarks that apply to all tables of the document.
    pub remarks: Vec<String>,
    /// The table, as in `published/`.
    pub table: PublishedTable,
    /// What the session measures for each row of the table, in the same order.
    pub rows: Vec<RepeatedRow>,
}

/// What a session measures for a row of a published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum RepeatedRow {
    /// A cell, if its stack can be measured.
    Asked {
        /// The cell.
        cell: Cell,
    },
    /// Nothing is measured.
    LeftOut {
        /// The reason.
        reason: String,
    },
}

impl RepeatedRow {
    /// The cell; `None`: nothing is measured.
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
