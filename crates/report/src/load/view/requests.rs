//! What became of each of several requests.

use deadheat_stats::load::{ExchangeFigures, LoadFigures};
use serde::Serialize;

use super::time;
use crate::{
    figure::{NONE, count, figure},
    view::clean,
};

/// The heads of the table.
pub const HEADS: [&str; 6] = ["request", "answers/s", "failed", "p50", "p99", "longest"];

/// One of several requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestRow {
    /// Method and path.
    pub request: String,
    /// Valid answers per second.
    pub per_second: f64,
    /// Requests that failed.
    pub failed: u64,
    /// Service times in seconds: p50, p99 and the longest; `None` where too few answers came.
    pub times: [Option<f64>; 3],
}

impl RequestRow {
    fn new(figures: &ExchangeFigures) -> Self {
        let times = figures.service_time.as_ref();
        Self {
            request: clean(&format!("{} {}", figures.method, figures.path)),
            per_second: figures.throughput_per_second,
            failed: figures.failed,
            times: [
                times.and_then(|times| times.shown(50.0)),
                times.and_then(|times| times.shown(99.0)),
                times.map(|times| times.most_seconds),
            ],
        }
    }

    /// Its cells in words.
    pub fn shown(&self) -> [String; 6] {
        let [p50, p99, longest] = self.times.map(|cell| cell.map_or(NONE.to_owned(), time));
        [
            self.request.clone(),
            figure(self.per_second),
            count(self.failed),
            p50,
            p99,
            longest,
        ]
    }
}

/// A row for each.
pub(super) fn rows(figures: &LoadFigures) -> Vec<RequestRow> {
    figures.exchanges.iter().map(RequestRow::new).collect()
}
