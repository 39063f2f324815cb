//! The tables of a load.

use deadheat_stats::heats::Verdict;

use crate::{
    figure::{count, seconds},
    markdown::Page,
    standings::{
        view::{LoadView, PairView, Placed, RowView, TableView},
        words,
    },
};

/// Undecided pairs that are shown.
const MOST_PAIRS: usize = 8;

/// Who is how fast, and what a request costs.
pub(super) fn ranking(page: &mut Page, load: &LoadView, table: &TableView) {
    let measure = load.measure;
    let ranked = |placed: Option<&Placed>, write: fn(f64) -> String| match placed {
        Some(placed) => format!("{} ({})", write(placed.value), words::rank(placed.rank)),
        None => words::placed(None, write),
    };
    let row = |row: &RowView| {
        vec![
            words::rank(row.main.and_then(|main| main.rank)),
            row.target.clone(),
            words::placed(row.main.as_ref(), |value| words::main(measure, value)),
            words::half_width(row.half_width),
            words::row_verdict(measure, row),
            ranked(row.cpu_us_per_request.as_ref(), words::cost),
            words::memory(row.memory.peak_bytes),
        ]
    };
    let heads = [
        "rank",
        "stack",
        words::measure_head(measure),
        "±",
        "beside the first",
        "CPU per request (rank)",
        "peak memory",
    ];
    let rows: Vec<Vec<String>> = table.rows.iter().map(row).collect();
    page.table(&heads, &rows);
}

/// What else each stack used.
pub(super) fn resources(page: &mut Page, table: &TableView) {
    let row = |row: &RowView| {
        let made_of = [row.language.as_str(), row.framework.as_str()];
        let made_of: Vec<&str> = made_of
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        vec![
            row.target.clone(),
            made_of.join(", "),
            words::memory(row.memory.idle_bytes),
            words::memory(row.memory.mean_bytes),
            words::time(row.mean_seconds),
            words::placed(row.p50_seconds.as_ref(), seconds),
            words::placed(row.p99_seconds.as_ref(), seconds),
            words::time(row.ready_seconds),
            words::time(row.warm_up_seconds),
            count(row.heats.into()),
            words::spread(row.spread),
            count(row.answers),
            words::notes(row).join("; "),
        ]
    };
    let heads = [
        "stack",
        "language, framework",
        "idle memory",
        "mean memory",
        "mean time",
        "p50",
        "p99",
        "ready in",
        "warm-up",
        "heats",
        "spread of starts",
        "answers",
        "notes",
    ];
    let rows: Vec<Vec<String>> = table.rows.iter().map(row).collect();
    page.table(&heads, &rows);
}

/// Neighbours without a verdict, and what could decide them.
pub(super) fn undecided(page: &mut Page, load: &LoadView, table: &TableView) {
    let is_open =
        |pair: &&PairView| pair.verdict == Verdict::Undecided && pair.worse == pair.better + 1;
    let pairs: Vec<&PairView> = table.pairs.iter().filter(is_open).collect();
    if pairs.is_empty() {
        return;
    }
    let quantity = words::quantity(load.measure);
    let name = |place: usize| table.rows[place].target.clone();
    let row = |pair: &&PairView| {
        vec![
            format!("{} beside {}", name(pair.worse), name(pair.better)),
            words::pair_verdict(quantity, pair),
            pair.remedy.map_or_else(String::new, words::remedy),
        ]
    };
    let rows: Vec<Vec<String>> = pairs.iter().take(MOST_PAIRS).map(row).collect();
    page.table(&["neighbours", "verdict", "what would decide it"], &rows);
    if pairs.len() > rows.len() {
        let more = pairs.len() - rows.len();
        page.paragraph(&format!(
            "{more} more undecided neighbours are in the page."
        ));
    }
}
