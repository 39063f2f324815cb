//! The contents of another load generator's report, as `deadheat import` reads them.

use serde::{Deserialize, Serialize};

use crate::{
    load::{HttpVersion, Reuse},
    warning::Warning,
};

/// The version of the JSON that `deadheat import` writes.
pub const SCHEMA: u32 = 1;

/// The minimum number of runs of a server with which a difference can be distinguished from chance.
pub const ENOUGH_RUNS: usize = 3;

/// The load generators whose reports can be read, and the suites whose data files can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// Apache's ab.
    Ab,
    /// hey.
    Hey,
    /// wrk.
    Wrk,
    /// wrk2, which is wrk with a fixed rate.
    Wrk2,
    /// oha.
    Oha,
    /// nghttp2's h2load.
    H2load,
    /// k6.
    K6,
    /// vegeta.
    Vegeta,
    /// HttpArena, a suite that does not record which generator it used.
    HttpArena,
    /// web-frameworks of the-benchmarker, a suite.
    #[serde(rename = "web-frameworks")]
    WebFrameworks,
}

impl Tool {
    /// Whether it is a suite. A suite's files do not name the load generator.
    pub const fn is_suite(self) -> bool {
        matches!(self, Tool::HttpArena | Tool::WebFrameworks)
    }

    /// The name of the program or the suite.
    pub const fn name(self) -> &'static str {
        match self {
            Tool::Ab => "ab",
            Tool::Hey => "hey",
            Tool::Wrk => "wrk",
            Tool::Wrk2 => "wrk2",
            Tool::Oha => "oha",
            Tool::H2load => "h2load",
            Tool::K6 => "k6",
            Tool::Vegeta => "vegeta",
            Tool::HttpArena => "HttpArena",
            Tool::WebFrameworks => "web-frameworks",
        }
    }
}

/// Everything that was read from a set of files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedReports {
    /// The version of the format, [`SCHEMA`].
    pub import_schema: u32,
    /// The runs, in the order of their files and lines.
    pub runs: Vec<Run>,
    /// Warnings that concern several runs and may change a decision.
    pub warnings: Vec<Warning>,
    /// Lines that look like part of a report, and were not read.
    pub left_out: Vec<LeftOut>,
}

/// A line that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The line's place.
    pub place: SourceLine,
    /// Why it was not read.
    pub reason: String,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLine {
    /// The file, as the user named it.
    pub file: String,
    /// The line's number, from 1.
    pub line: usize,
}

/// One run of a load generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The generator.
    pub tool: Tool,
    /// The first line of its report.
    pub place: SourceLine,
    /// The server's name in the text above the report; `None`: there is no name.
    pub label: Option<String>,
    /// The heading above the name; `None`: there is no heading.
    pub section: Option<String>,
    /// The command, from the text or from the user; `None`: not known.
    pub command: Option<String>,
    /// Host and path, or the URL; `None`: the report does not contain it.
    pub target: Option<String>,
    /// How the server was loaded.
    pub load: Load,
    /// The figures as printed, in the units of these fields.
    pub figures: RunFigures,
    /// Warnings about the figures, the most important first.
    pub warnings: Vec<Warning>,
}

/// The load on a server. `None`: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The requested number of requests.
    pub requests: Option<u64>,
    /// Concurrent requests.
    pub connections: Option<u32>,
    /// Threads of the generator.
    pub threads: Option<u32>,
    /// Concurrent requests on each connection; `None`: not known. Over HTTP/1, that is 1 unless an option changed it.
    pub pipeline: Option<u32>,
    /// The requested rate of an open loop, in requests per second.
    pub rate: Option<f64>,
    /// Whether requests were sent on a schedule, independently of answers (open loop).
    pub is_open: bool,
    /// The version of HTTP; `None`: unknown, or 2 or 3.
    pub http: Option<HttpVersion>,
    /// Whether connections carried more than one request.
    pub reuse: Option<Reuse>,
}

/// The figures of a run, named as in published tables. `None`: not printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// The duration of the run in seconds.
    pub seconds: Option<f64>,
    /// Answered requests. Most tools count answers of any kind.
    pub complete: Option<u64>,
    /// Requests that the tool counted as failed.
    pub failed: Option<u64>,
    /// Answers that the tool counts as errors because of their status: all except 2xx, or 4xx and 5xx.
    pub non_2xx: Option<u64>,
    /// Requests per second, by the tool's own count.
    pub requests_per_second: Option<f64>,
    /// Mean time of a request in ms.
    pub mean_ms: Option<f64>,
    /// Median of the times in ms.
    pub p50_ms: Option<f64>,
    /// 99th percentile in ms.
    pub p99_ms: Option<f64>,
    /// Longest time in ms.
    pub max_ms: Option<f64>,
    /// Bytes received, heads included.
    pub received_bytes: Option<u64>,
    /// Bytes of bodies received.
    pub body_bytes: Option<u64>,
    /// KiB received per second.
    pub kib_per_second: Option<f64>,
    /// CPUs that the server used, on average.
    pub server_cpus: Option<f64>,
}

impl Run {
    /// The server's name: its label, or file and line of the report.
    pub fn name(&self) -> String {
        self.label.clone().unwrap_or_else(|| {
            let file = self.place.file.rsplit('/').next().unwrap_or_default();
            format!("{file}:{}", self.place.line)
        })
    }

    /// Why the rate is not a rate of correct answers; `None`: no reason is known.
    pub fn invalid(&self) -> Option<&'static str> {
        let figures = &self.figures;
        let all = |errors: Option<u64>| {
            errors.is_some_and(|errors| {
                errors > 0 && figures.complete.is_some_and(|all| all <= errors)
            })
        };
        if figures.complete == Some(0) {
            Some("no request was answered")
        } else if all(figures.non_2xx) {
            Some("every answer was an error")
        } else if self.counts_failed() && all(figures.failed) {
            Some("every request failed")
        } else if figures.requests_per_second.is_none() {
            Some("no request succeeded")
        } else {
            None
        }
    }

    /// Whether the tool includes failed requests in the complete ones.
    pub const fn counts_failed(&self) -> bool {
        matches!(self.tool, Tool::Ab | Tool::K6)
    }

    /// Requests per second; `None` if the rate is missing or [`Self::invalid`].
    pub fn valid_rate(&self) -> Option<f64> {
        self.figures
            .requests_per_second
            .filter(|_| self.invalid().is_none())
    }
}
