//! What a report of another load generator says, as `deadheat import` reads it.

use serde::{Deserialize, Serialize};

use crate::{
    load::{HttpVersion, Reuse},
    warning::Warning,
};

/// The version of the JSON that `deadheat import` writes.
pub const SCHEMA: u32 = 1;

/// From this many runs of a server on, chance can be told from a difference.
pub const ENOUGH_RUNS: usize = 3;

/// The load generators whose reports are read, and the suites whose data files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// Apache's ab.
    Ab,
    /// hey.
    Hey,
    /// wrk.
    Wrk,
    /// wrk2: wrk with a rate.
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
    /// Whether it is a suite, whose files do not record the generator.
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

/// Everything that was read from some files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// [`SCHEMA`].
    pub import_schema: u32,
    /// The runs, in the order of their files and lines.
    pub runs: Vec<Run>,
    /// What holds for several runs and may change a decision.
    pub warnings: Vec<Warning>,
    /// Lines that look like a report's and were not read.
    pub left_out: Vec<LeftOut>,
}

/// A line that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Where it is.
    pub place: SourceLine,
    /// Why it was not read.
    pub reason: String,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceLine {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// One run of a load generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The generator.
    pub tool: Tool,
    /// Where its report begins.
    pub place: SourceLine,
    /// What the text above calls the server; `None`: nothing stands there.
    pub label: Option<String>,
    /// The heading above the label.
    pub section: Option<String>,
    /// The command, if the text has one or it was given.
    pub command: Option<String>,
    /// Host and path, or URL, as far as the report says.
    pub target: Option<String>,
    /// How the server was loaded.
    pub load: Load,
    /// The figures, exactly as printed but in these units.
    pub figures: RunFigures,
    /// What speaks against the figures, the most important first.
    pub warnings: Vec<Warning>,
}

/// How a server was loaded, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Requests that were asked for.
    pub requests: Option<u64>,
    /// Requests at once.
    pub connections: Option<u32>,
    /// Threads of the generator.
    pub threads: Option<u32>,
    /// Requests at once on each connection; `None`: unknown, which over HTTP/1 is one unless the tool was told otherwise.
    #[serde(default)]
    pub pipeline: Option<u32>,
    /// Requests per second that were asked for, in an open loop.
    pub rate: Option<f64>,
    /// Whether requests were sent on a schedule, not when an answer had come.
    pub is_open: bool,
    /// The version of HTTP; `None`: unknown, or 2 or 3.
    pub http: Option<HttpVersion>,
    /// Whether connections carried more than one request.
    pub reuse: Option<Reuse>,
}

/// Figures of a run; the names are those of published tables. `None`: not printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// How long the run took, in seconds.
    pub seconds: Option<f64>,
    /// Requests that got an answer, of any kind unless the tool says otherwise.
    pub complete: Option<u64>,
    /// Requests that the tool counted as failed.
    pub failed: Option<u64>,
    /// Answers that the tool counts as errors by their status: other than 2xx, or 4xx and 5xx.
    pub non_2xx: Option<u64>,
    /// Requests per second, as the tool counts.
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
    #[serde(default)]
    pub server_cpus: Option<f64>,
}

impl Run {
    /// What the server is called: by the text, or by the place of the report.
    pub fn name(&self) -> String {
        self.label.clone().unwrap_or_else(|| {
            let file = self.place.file.rsplit('/').next().unwrap_or_default();
            format!("{file}:{}", self.place.line)
        })
    }

    /// Why the rate is not that of right answers; `None`: nothing is known against it.
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

    /// Whether the tool counts failed requests among the complete ones, and not apart from them.
    pub const fn counts_failed(&self) -> bool {
        matches!(self.tool, Tool::Ab | Tool::K6)
    }

    /// Requests per second, unless something is known against them.
    pub fn valid_rate(&self) -> Option<f64> {
        self.figures
            .requests_per_second
            .filter(|_| self.invalid().is_none())
    }
}
