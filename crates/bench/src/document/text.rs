//! The report for a terminal: at most 40 lines, whatever the session's size. [`document`](super::document())
//! has everything.

use anstyle::Style;
use deadheat_document::text::{
    BAD, BOLD, Charset, DIM, Page, Screen, WARN, cut_middle, pad_left, pad_right,
};
use deadheat_model::figure::{NONE, seconds};
use deadheat_stats::standings::{AbsentBecause, Measure};
use textwrap::core::display_width;

use super::{
    scaling,
    view::{AtRate, LoadView, RowView, StandingsView},
    words,
};

/// The command line adds two: the path of the page, and how to see everything here.
const MAX_LINES: usize = 38;
/// Warnings that are shown.
const MAX_WARNINGS: usize = 3;
/// Stacks whose reasons are given if nothing was measured.
const MAX_REASONS: usize = 8;
/// Lines that a warning, an answer or a title takes at most.
const MAX_OF_A_TEXT: usize = 2;

/// The report in at most 38 lines.
pub fn text(view: &StandingsView, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.at_most(MAX_OF_A_TEXT, BOLD, "", &view.title.to_string());
    let end = end(view, screen);
    let room = MAX_LINES - lines(&page.text) - lines(&end);
    loads(&mut page, view, room);
    page.text + &end
}

fn lines(text: &str) -> usize {
    text.lines().count()
}

/// How far the figures can be trusted, and what is not there.
fn end(view: &StandingsView, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.line(Style::new(), "");
    page.at_most(MAX_OF_A_TEXT, Style::new(), "", &format!("{}.", view.trust));
    for warning in view.warnings.iter().take(MAX_WARNINGS) {
        page.at_most(MAX_OF_A_TEXT, WARN, "! ", &warning.in_full());
    }
    if view.warnings.len() > MAX_WARNINGS {
        let more = view.warnings.len() - MAX_WARNINGS;
        let plural = if more == 1 { "" } else { "s" };
        page.line(
            DIM,
            &format!("  … {more} more warning{plural}, in the page"),
        );
    }
    if let Some(line) = &view.not_measured.line {
        page.at_most(MAX_OF_A_TEXT, BAD, "", &format!("Not measured: {line}."));
    }
    if !view.has_figures() {
        reasons(&mut page, view);
    }
    page.text
}

/// Why there is nothing to show.
fn reasons(page: &mut Page, view: &StandingsView) {
    let entries = view.not_measured.entries.iter();
    let entries = entries.filter(|lack| lack.because != AbsentBecause::NotMeasured);
    for lack in entries.take(MAX_REASONS) {
        page.at_most(MAX_OF_A_TEXT, BAD, "x ", &words::lack(lack));
    }
}

/// A load's answer. If there is no room, it names the best alone; the page has the others.
fn answer(page: &Page, load: &LoadView) -> Vec<String> {
    let mut lines = page.wrap("", &format!("{}.", load.answer()));
    if lines.len() > MAX_OF_A_TEXT {
        lines = page.cut(MAX_OF_A_TEXT, "", &format!("{}.", load.short_answer()));
    }
    let scaling = scaling::sentence(load);
    for text in scaling.iter().chain(load.equal_work.first()) {
        lines.extend(page.cut(MAX_OF_A_TEXT, "", text));
    }
    lines
}

/// Writes the answers, with the first rows of their tables, in at most `room` lines.
fn loads(page: &mut Page, view: &StandingsView, room: usize) {
    let answers: Vec<Vec<String>> = view.leading().map(|load| answer(page, load)).collect();
    let heights: Vec<usize> = answers.iter().map(Vec::len).collect();
    let rows = |load: &LoadView| {
        let tables = load.filled_tables();
        tables.map(|table| table.rows.len()).collect()
    };
    let rows: Vec<Vec<usize>> = view.leading().map(rows).collect();
    let at_rates = words::at_rates(view);
    let at_rates = at_rates.map_or_else(Vec::new, |text| page.wrap("", &text));
    let plan = plan(room.saturating_sub(at_rates.len()), &heights, &rows);
    let shown = || view.leading().zip(&plan.rows);
    let rows = shown().flat_map(|(load, rows)| {
        let tables = load.filled_tables().zip(rows);
        tables
            .flat_map(|(table, rows)| table.rows.iter().take(*rows).map(|row| (load.measure, row)))
    });
    // The same in all tables.
    let columns = Columns::new(page, rows);
    let mut head = None;
    for (place, (load, rows)) in shown().enumerate().take(plan.answers) {
        if plan.is_spaced() {
            page.line(Style::new(), "");
        }
        let style = if plan.is_spaced() { BOLD } else { Style::new() };
        answers[place]
            .iter()
            .for_each(|line| page.line(style, line));
        for (number, (table, rows)) in load.filled_tables().zip(rows).enumerate() {
            if *rows == 0 {
                continue;
            }
            // The first table is what the answer is about.
            if let Some(title) = table.title.as_ref().filter(|_| number > 0) {
                page.line(BOLD, title);
            }
            if head.replace(load.measure) != Some(load.measure) {
                columns.head(page, load.measure);
            }
            for row in table.rows.iter().take(*rows) {
                columns.row(page, load.measure, row, table.most);
            }
        }
    }
    left_out(page, view, &plan);
    if plan.has_tables() {
        at_rates.iter().for_each(|line| page.line(DIM, line));
    }
}

/// What has no room, and what the columns mean.
fn left_out(page: &mut Page, view: &StandingsView, plan: &Plan) {
    let loads = view.leading().count() - plan.answers;
    if loads > 0 {
        page.line(DIM, &format!("… {loads} more loads, in the page"));
    }
    match plan.rows_left_out {
        0 => {}
        1 => page.line(DIM, "… 1 more row, in the page"),
        more => page.line(DIM, &format!("… {more} more rows, in the page")),
    }
    if plan.has_tables() && needs_legend(view) {
        page.line(DIM, words::legend(view));
    }
}

/// Whether there is anything that the legend explains.
fn needs_legend(view: &StandingsView) -> bool {
    let mut rows = view.loads.iter().flat_map(LoadView::rows);
    rows.any(|row| {
        let rank = row.main.and_then(|main| main.rank);
        row.half_width.is_some() || rank.is_some_and(|rank| rank.best != rank.worst)
    })
}

/// Between two columns.
const GAP: usize = 2;
/// Bars narrower than this say nothing, wider ones lose the eye.
const MIN_BAR: usize = 8;
const MAX_BAR: usize = 40;

/// How wide each column is, over all tables of the report.
struct Columns {
    rank: usize,
    name: usize,
    /// Value, half width, cost, response time, memory; 0 of one that no table has.
    figures: [usize; FIGURES],
    bar: usize,
}

/// The heads of rank and name, and of value, half width, cost, response time and memory.
const LEAD: [&str; 2] = ["rank", "stack"];
const FIGURES: usize = 5;
const HEADS: [&str; FIGURES] = ["", "±", "CPU/req", "p99", "peak mem"];
/// The place of the response time, which only loads with equal work have.
const TIME: usize = 3;

impl Columns {
    fn new<'a>(page: &Page, rows: impl Iterator<Item = (Measure, &'a RowView)>) -> Self {
        let width = |text: &str| display_width(&page.charset.write(text));
        let mut columns = Self {
            rank: width(LEAD[0]),
            name: width(LEAD[1]),
            figures: HEADS.map(width),
            bar: 0,
        };
        columns.figures[TIME] = 0;
        for (measure, row) in rows {
            columns.rank = columns.rank.max(width(&rank(row)));
            columns.name = columns.name.max(width(&row.target));
            let head = width(words::measure_head(measure));
            columns.figures[0] = columns.figures[0].max(head);
            for (place, cell) in figures(measure, row).iter().enumerate() {
                let head = if cell.is_empty() {
                    0
                } else {
                    width(HEADS[place])
                };
                columns.figures[place] = columns.figures[place].max(width(cell)).max(head);
            }
        }
        let figures = columns.figures.iter().filter(|width| **width > 0);
        let figures: usize = figures.map(|width| width + GAP).sum();
        let room = page
            .width
            .saturating_sub(columns.rank + GAP + figures + GAP);
        // A bar is an extra: names and figures come first.
        columns.bar = match room.checked_sub(columns.name) {
            Some(bar) if bar >= MIN_BAR => bar.min(MAX_BAR),
            _ if columns.figures[TIME] == 0 => MIN_BAR,
            _ => 0,
        };
        columns.name = columns.name.min(room.saturating_sub(columns.bar));
        columns
    }

    fn head(&self, page: &mut Page, measure: Measure) {
        let mut heads = HEADS.map(str::to_owned);
        heads[0] = words::measure_head(measure).to_owned();
        let line = self.line(page.charset, LEAD[0], LEAD[1], &heads, "");
        page.line(DIM, &line);
    }

    fn row(&self, page: &mut Page, measure: Measure, row: &RowView, most: f64) {
        let (rank, figures) = (rank(row), figures(measure, row));
        let bar = bar(page.charset, row, most, self.bar);
        let line = self.line(page.charset, &rank, &row.target, &figures, &bar);
        page.line(style(row), &line);
    }

    fn line(
        &self,
        charset: Charset,
        rank: &str,
        name: &str,
        figures: &[String; FIGURES],
        bar: &str,
    ) -> String {
        let name = cut_middle(&charset.write(name), self.name, charset);
        let cell = |column: usize| pad_left(&charset.write(&figures[column]), self.figures[column]);
        let mut cells = vec![
            pad_right(&charset.write(rank), self.rank),
            pad_right(&name, self.name),
            cell(0),
            cell(1),
        ];
        if self.bar > 0 {
            cells.push(pad_right(bar, self.bar));
        }
        // What no table has is no column.
        let rest = (2..FIGURES).filter(|column| self.figures[*column] > 0);
        cells.extend(rest.map(cell));
        cells.join(&" ".repeat(GAP))
    }
}

/// The style of a row: lower bounds as a warning, and rows that may be the best in bold.
fn style(row: &RowView) -> Style {
    match row.main {
        Some(main) if main.is_bound => WARN,
        Some(main) if main.rank.is_some_and(|rank| rank.best == 1) => BOLD,
        _ => Style::new(),
    }
}

fn rank(row: &RowView) -> String {
    words::rank(row.main.and_then(|main| main.rank))
}

/// The cells of a row. Cost and response time are those of equal work if there is any.
fn figures(measure: Measure, row: &RowView) -> [String; FIGURES] {
    let (cost, time) = match row.at_rates.first() {
        None => (
            words::placed(row.cpu_us_per_request.as_ref(), words::cost),
            String::new(),
        ),
        Some(AtRate::Lacks(AbsentBecause::Overloaded)) => ("too slow".to_owned(), NONE.to_owned()),
        Some(AtRate::Lacks(AbsentBecause::Failed)) => ("failed".to_owned(), NONE.to_owned()),
        Some(found) => (
            words::placed(found.cost().as_ref(), words::cost),
            words::placed(found.p99().as_ref(), seconds),
        ),
    };
    [
        words::main_placed(measure, row),
        words::half_width_in_column(row.half_width),
        cost,
        time,
        words::memory(row.memory.peak_bytes),
    ]
}

/// A bar from 0; `most` is as long as there is room.
fn bar(charset: Charset, row: &RowView, most: f64, width: usize) -> String {
    let Some(main) = row.main.filter(|_| width > 0) else {
        return String::new();
    };
    // An arrow shows that a lower bound may be more.
    let width = width.saturating_sub(1);
    let share = if most > 0.0 { main.value / most } else { 0.0 };
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    let (full, part) = (eighths / 8, eighths % 8);
    let mut bar = match charset {
        Charset::Unicode => {
            let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
            "█".repeat(full) + parts[part]
        }
        Charset::Ascii => "#".repeat(full + usize::from(part >= 4)),
    };
    if main.is_bound {
        bar.push(match charset {
            Charset::Unicode => '→',
            Charset::Ascii => '>',
        });
    }
    bar
}

/// Fewer rows of a table than this say less than its answer.
const MIN_ROWS: usize = 2;
/// Lines besides answers and rows: the column heads, what is left out, the legend.
const AROUND_TABLES: usize = 3;

/// What is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Plan {
    /// Loads whose answers are shown.
    pub answers: usize,
    /// Rows that are shown of each load's tables.
    pub rows: Vec<Vec<usize>>,
    /// Rows that are not.
    pub rows_left_out: usize,
}

impl Plan {
    /// Whether any table is shown.
    fn has_tables(&self) -> bool {
        self.rows.iter().flatten().any(|rows| *rows > 0)
    }

    /// Whether there is an empty line before each answer.
    fn is_spaced(&self) -> bool {
        self.has_tables() || self.answers <= 1
    }
}

/// Divides `room` lines among the loads. `answers` has the lines of each load's answer, `tables` the rows of each of
/// its tables.
fn plan(room: usize, answers: &[usize], tables: &[Vec<usize>]) -> Plan {
    let all: usize = tables.iter().flatten().sum();
    let fixed: usize = answers.iter().map(|lines| lines + 1).sum();
    // Each further table of a load has a title, and another measure has heads of its own.
    let titles: usize = tables
        .iter()
        .map(|tables| tables.len().saturating_sub(1))
        .sum();
    let heads = AROUND_TABLES + usize::from(tables.len() > 1) + titles;
    let shown = tables.iter().flatten().count();
    let left = room.saturating_sub(fixed + heads);
    if shown == 0 || left < shown * MIN_ROWS.min(all / shown.max(1)) {
        return answers_only(room, answers, tables, all);
    }
    let rows = shared(left, tables);
    let given: usize = rows.iter().flatten().sum();
    Plan {
        answers: answers.len(),
        rows,
        rows_left_out: all - given,
    }
}

/// One row more for each table in turn, until there is no room or no row left.
fn shared(mut room: usize, tables: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = tables.iter().map(|tables| vec![0; tables.len()]).collect();
    loop {
        let before = room;
        for (given, all) in rows.iter_mut().flatten().zip(tables.iter().flatten()) {
            if room > 0 && *given < *all {
                *given += 1;
                room -= 1;
            }
        }
        if room == before || room == 0 {
            return rows;
        }
    }
}

fn answers_only(room: usize, answers: &[usize], tables: &[Vec<usize>], all: usize) -> Plan {
    // A blank line, what is left out of the loads, and of the rows.
    let mut left = room.saturating_sub(3);
    let fits = |lines: &&usize| {
        let has_room = **lines <= left;
        left = left.saturating_sub(**lines);
        has_room
    };
    Plan {
        answers: answers.iter().take_while(fits).count(),
        rows: tables.iter().map(|tables| vec![0; tables.len()]).collect(),
        rows_left_out: all,
    }
}

#[cfg(test)]
mod tests {
    use super::plan;

    #[test]
    fn a_single_table_gets_all_the_room() {
        let found = plan(30, &[1], &[vec![18]]);
        assert_eq!((found.rows, found.rows_left_out), (vec![vec![18]], 0));
        let found = plan(15, &[2], &[vec![18]]);
        assert_eq!((found.rows, found.rows_left_out), (vec![vec![9]], 9));
    }

    #[test]
    fn tables_share_alike_and_short_ones_leave_their_room() {
        let found = plan(26, &[1, 1], &[vec![3], vec![18]]);
        assert_eq!(found.rows, [vec![3], vec![15]]);
        assert_eq!(found.rows_left_out, 3);
    }

    #[test]
    fn many_loads_have_their_answers_alone_and_never_more_than_fit() {
        let answers = vec![2; 30];
        let found = plan(25, &answers, &vec![vec![30]; 30]);
        assert_eq!(found.answers, 11);
        assert!(!found.has_tables());
        assert_eq!(found.rows_left_out, 900);
    }

    #[test]
    fn nothing_measured_needs_no_table() {
        let found = plan(25, &[1], &[Vec::new()]);
        assert_eq!((found.answers, found.has_tables()), (1, false));
    }
}
