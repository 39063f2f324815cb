//! The common form of all tools' reports, the errors of reading them, and the check that their figures agree: it finds
//! digits that were lost or changed.

use deadheat_model::imported::{Load, RunFigures, SourceLine, Tool};

/// The report of one run, without the text around it.
#[derive(Debug)]
pub struct ToolReport {
    pub(crate) tool: Tool,
    /// Host and path, or URL.
    pub(crate) target: Option<String>,
    pub(crate) load: Load,
    pub(crate) figures: RunFigures,
    /// Requests that failed, by the tool's words for the reason.
    pub(crate) failures: Vec<(String, u64)>,
    /// Requests per second that an open loop sent, which may be fewer than were asked for.
    pub(crate) sent_rate: Option<f64>,
    /// How often the tool noticed an answer that was slower than its timeout.
    pub(crate) late: u64,
    /// Whether there were requests without an answer that the tool counts with a time of 0.
    pub(crate) has_zero_times: bool,
    /// Whether there were answers, and the tool recorded the time of none.
    pub(crate) lacks_times: bool,
    /// Whether errors by status would be seen in the report.
    pub(crate) shows_statuses: bool,
    /// Whether the tool itself says that the results are doubtful.
    pub(crate) is_doubted: bool,
}

impl ToolReport {
    /// An empty report.
    pub(crate) fn new(tool: Tool) -> Self {
        Self {
            tool,
            target: None,
            load: Load::default(),
            figures: RunFigures::default(),
            failures: Vec::new(),
            sent_rate: None,
            late: 0,
            has_zero_times: false,
            lacks_times: false,
            shows_statuses: true,
            is_doubted: false,
        }
    }

    /// Adds failures of a kind, if the count is not 0.
    pub(crate) fn failed(&mut self, kind: &str, count: u64) {
        if count > 0 {
            self.failures.push((kind.to_owned(), count));
        }
    }

    /// Drops the times: they were printed without having been recorded.
    pub(crate) fn drop_times(&mut self) {
        let figures = &mut self.figures;
        figures.mean_ms = None;
        figures.p50_ms = None;
        figures.p99_ms = None;
        figures.max_ms = None;
        self.lacks_times = figures.complete.is_some_and(|complete| complete > 0);
    }

    /// Drops figures that are based on no answer: the times, and a rate that does not count answers.
    pub(crate) fn drop_unmeasured(&mut self) {
        if self.figures.complete == Some(0) {
            self.figures.requests_per_second = None;
            self.drop_times();
        }
        if self.figures.requests_per_second == Some(0.0) {
            self.figures.requests_per_second = None;
        }
        // All tools but ab print microseconds or less, in which no answer takes nothing.
        if self.tool != Tool::Ab && self.figures.max_ms == Some(0.0) {
            self.drop_times();
        }
    }

    /// The number of failures of a kind.
    pub(crate) fn failures_of(&self, kind: &str) -> u64 {
        let of_kind = self.failures.iter().filter(|(one, _)| one == kind);
        of_kind.map(|(_, count)| count).sum()
    }
}

/// Why a file was not imported.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// A report is damaged: no figure of it can be used.
    #[error(
        "{}:{}: reading a report of {}: {what}. Nothing was imported; paste the whole report, or remove it",
        place.file,
        place.line,
        tool.name()
    )]
    Damaged {
        /// The line.
        place: SourceLine,
        /// The tool that printed the report.
        tool: Tool,
        /// What was found or is missing.
        what: String,
    },
    /// There is no report.
    #[error(
        "{file}: found no report of ab, wrk, wrk2, hey, oha, h2load, k6, vegeta, HttpArena or web-frameworks{hint}"
    )]
    Nothing {
        /// The file.
        file: String,
        /// What may be the reason; begins with a punctuation mark, or is empty.
        hint: String,
    },
    /// A file is too long to be read.
    #[error("{file}: it has more than {most} lines; pass the part with the reports")]
    TooLong {
        /// The file.
        file: String,
        /// The maximum.
        most: usize,
    },
    /// A published table cannot be made of the runs.
    #[error("making a published table: {0}")]
    NoTable(String),
}

/// Why a report cannot be read, and on which line.
#[derive(Debug)]
pub(crate) struct Damage {
    pub(crate) line: usize,
    pub(crate) what: String,
    /// Whether the report is complete but of an unsupported tool or layout. Other reports of the file are still read.
    pub(crate) is_foreign: bool,
}

/// Damage on a line, as a result.
pub(crate) fn damage<T>(line: usize, what: impl ToString) -> Result<T, Damage> {
    Err(damage_at(line, what))
}

/// Damage on a line.
pub(crate) fn damage_at(line: usize, what: impl ToString) -> Damage {
    Damage {
        line,
        what: what.to_string(),
        is_foreign: false,
    }
}

/// The error for a report of an unsupported tool or layout.
pub(crate) fn foreign<T>(line: usize, tool: &str) -> Result<T, Damage> {
    Err(Damage {
        line,
        what: format!("a report of {tool}, which is not read"),
        is_foreign: true,
    })
}

/// Figures of a report that cannot all be right.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum FigureError {
    #[error("the {name} is not a positive number")]
    NotPositive { name: &'static str },
    #[error("a rate of 0 requests/s cannot be compared with others")]
    ZeroRate,
    #[error("the {less}, {small} ms, is more than the {more}, {large} ms")]
    TimesOutOfOrder {
        less: &'static str,
        small: f64,
        more: &'static str,
        large: f64,
    },
    #[error("there are more errors than the {complete} answers")]
    TooManyErrors { complete: u64 },
    #[error("more requests failed than the {sent} that were sent")]
    TooManyFailures { sent: u64 },
    #[error("{complete} requests at {rate}/s take {follows:.3} s, not {seconds} s")]
    TimeOfAll {
        complete: u64,
        rate: f64,
        follows: f64,
        seconds: f64,
    },
    #[error("{connections} requests at once at {rate}/s take {follows:.3} ms, not {mean} ms")]
    MeanTime {
        connections: u32,
        rate: f64,
        follows: f64,
        mean: f64,
    },
    #[error("{received} bytes are {follows:.2} KiB/s, not {transfer}")]
    TransferRate {
        received: u64,
        follows: f64,
        transfer: f64,
    },
    #[error("the bodies have more bytes than were received")]
    TooManyBodyBytes,
    #[error("{counted} requests are counted, and {sent:.1} were sent by rate and time")]
    Counts { counted: u64, sent: f64 },
    #[error("the counts of statuses add up to {all}, and there were {total} requests")]
    Statuses { all: u64, total: u64 },
    #[error("`http_req_failed` is of {of_all} requests, and `http_reqs` are {count}")]
    Requests { of_all: u64, count: u64 },
}

/// Checks that the figures of a report agree.
///
/// # Errors
/// Says which figures cannot all be right.
pub(crate) fn check(tool: Tool, load: &Load, figures: &RunFigures) -> Result<(), FigureError> {
    for (name, value) in [
        ("time", figures.seconds),
        ("rate", figures.requests_per_second),
        ("mean", figures.mean_ms),
        ("median", figures.p50_ms),
        ("99th percentile", figures.p99_ms),
        ("maximum", figures.max_ms),
        ("transfer rate", figures.kib_per_second),
    ] {
        if value.is_some_and(|value| !value.is_finite() || value < 0.0) {
            return Err(FigureError::NotPositive { name });
        }
    }
    if figures.requests_per_second == Some(0.0) {
        return Err(FigureError::ZeroRate);
    }
    let mut times = vec![
        ("median", figures.p50_ms, "99th percentile", figures.p99_ms),
        ("median", figures.p50_ms, "maximum", figures.max_ms),
        ("99th percentile", figures.p99_ms, "maximum", figures.max_ms),
    ];
    // ab's mean is made of the rate, its maximum is in whole milliseconds.
    if tool != Tool::Ab {
        times.push(("mean", figures.mean_ms, "maximum", figures.max_ms));
    }
    for (less, small, more, large) in times {
        if let (Some(small), Some(large)) = (small, large)
            && small > large * 1.01 + 0.01
        {
            return Err(FigureError::TimesOutOfOrder {
                less,
                small,
                more,
                large,
            });
        }
    }
    if let Some(complete) = figures.complete {
        let most = complete.max(load.requests.unwrap_or(0));
        if figures.non_2xx.is_some_and(|errors| errors > complete) {
            return Err(FigureError::TooManyErrors { complete });
        }
        let counts_among_complete = matches!(tool, Tool::Ab | Tool::K6);
        if counts_among_complete && figures.failed.is_some_and(|failed| failed > most) {
            return Err(FigureError::TooManyFailures { sent: most });
        }
    }
    if tool == Tool::Ab {
        of_ab(load, figures)
    } else {
        Ok(())
    }
}

/// ab prints the same facts in several ways.
fn of_ab(load: &Load, figures: &RunFigures) -> Result<(), FigureError> {
    let (Some(rate), Some(seconds), Some(complete)) = (
        figures.requests_per_second,
        figures.seconds,
        figures.complete,
    ) else {
        return Ok(());
    };
    let follows = complete as f64 / rate;
    // Half of the last digit of the time and of the rate.
    if (follows - seconds).abs() > 0.000_6 + follows * 0.005_1 / rate {
        return Err(FigureError::TimeOfAll {
            complete,
            rate,
            follows,
            seconds,
        });
    }
    if let (Some(mean), Some(connections)) = (figures.mean_ms, load.connections) {
        let follows = f64::from(connections) / rate * 1e3;
        // Half of the last digit, of which there are two before version 2.0.
        let has_two_digits = (mean * 100.0 - (mean * 100.0).round()).abs() < 1e-6;
        let rounded = if has_two_digits { 0.005_1 } else { 0.000_6 };
        if (follows - mean).abs() > rounded + (0.000_1 + 0.005_1 / rate) * follows {
            return Err(FigureError::MeanTime {
                connections,
                rate,
                follows,
                mean,
            });
        }
    }
    if let (Some(received), Some(transfer)) = (figures.received_bytes, figures.kib_per_second) {
        let follows = received as f64 / 1024.0 / follows;
        if (follows - transfer).abs() > 0.006 + follows * 0.005_1 / rate {
            return Err(FigureError::TransferRate {
                received,
                follows,
                transfer,
            });
        }
    }
    let bodies = figures.body_bytes.zip(figures.received_bytes);
    if bodies.is_some_and(|(bodies, received)| bodies > received) {
        return Err(FigureError::TooManyBodyBytes);
    }
    Ok(())
}
