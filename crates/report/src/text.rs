//! The report for a terminal.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use textwrap::core::display_width;

use crate::{
    page::{GLUE, glued},
    view::{GroupView, Loss, Row, Section, View},
};

mod charset;
mod latency;
mod strip;
mod table;

pub use charset::Charset;
use strip::Plotted;
use table::Line;

/// What is plotted, then what it costs and how long it takes.
const RATE: [&str; 2] = ["requests/s", "± %"];
const COST: [&str; 4] = ["CPU/req", "peak PSS", "p50", "p99"];

/// A narrower terminal gets this: the table's figures need 52 columns beside the names.
const LEAST_WIDTH: usize = 72;

/// Where the text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// The columns that a line may take; 72 at least.
    pub width: usize,
    /// Whether it shows ANSI colours.
    pub colour: bool,
    /// The characters that it shows.
    pub charset: Charset,
}

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const LOST: Style = AnsiColor::Red.on_default();

/// The whole report, wrapped at `width` columns, with ANSI colours if `colour`, in any characters.
pub fn text(view: &View, width: usize, colour: bool) -> String {
    text_on(
        view,
        Screen {
            width,
            colour,
            charset: Charset::Unicode,
        },
    )
}

/// The whole report for a screen.
pub fn text_on(view: &View, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.wrapped(BOLD, "", &format!("Deadheat {}", view.id));
    // The longest part comes first, so that a terminal ends with the results.
    page.provenance(view);
    page.section("What this session does not show");
    for caveat in &view.caveats {
        page.wrapped(Style::new(), "- ", caveat);
    }
    page.section("Results");
    page.wrapped(Style::new(), "", &view.headline);
    for alert in &view.alerts {
        page.wrapped(WARN, "! ", alert);
    }
    if !view.losses.is_empty() {
        page.section("Not measured");
        view.losses.iter().for_each(|loss| page.loss(loss));
    }
    for section in &view.sections {
        match section {
            Section::Capacity(group) => page.group(group),
            Section::Latency(latency) => latency::section(&mut page, latency),
        }
    }
    page.text
}

/// Text under construction.
pub(crate) struct Page {
    /// What there is of it.
    pub(crate) text: String,
    /// The columns that it keeps to.
    pub(crate) width: usize,
    colour: bool,
    /// The characters that it is written in.
    pub(crate) charset: Charset,
    /// What was last said of the figures.
    note: String,
}

impl Page {
    /// An empty page for a screen.
    pub(crate) fn new(screen: Screen) -> Self {
        Self {
            text: String::new(),
            width: screen.width.max(LEAST_WIDTH),
            colour: screen.colour,
            charset: screen.charset,
            note: String::new(),
        }
    }

    /// A line as it is.
    pub(crate) fn line(&mut self, style: Style, line: &str) {
        // All that is set in columns has been written in the charset before.
        let line = self.charset.write(line.trim_end());
        self.text.push_str(&self.paint(style, &line));
        self.text.push('\n');
    }

    fn paint<'a>(&self, style: Style, text: &'a str) -> Cow<'a, str> {
        if self.colour && !style.is_plain() && !text.is_empty() {
            return format!("{style}{text}{style:#}").into();
        }
        text.into()
    }

    /// Text wrapped to the width; after the first line as deep as `mark` is wide.
    pub(crate) fn wrapped(&mut self, style: Style, mark: &str, text: &str) {
        self.wrapped_at(style, mark, text, 0);
    }

    fn wrapped_at(&mut self, style: Style, mark: &str, text: &str, depth: usize) {
        let first = format!("{}{mark}", " ".repeat(depth));
        for line in self.wrap(&first, text) {
            self.line(style, &line);
        }
    }

    /// The lines of a text that begins with `first` and goes on as deep as that is wide.
    pub(crate) fn wrap(&self, first: &str, text: &str) -> Vec<String> {
        let rest = " ".repeat(display_width(first));
        // The other algorithm lets a line pass the width by a little rather than leave one short.
        let options = textwrap::Options::new(self.width)
            .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .initial_indent(first)
            .subsequent_indent(&rest);
        let text = self.charset.write(text);
        let lines = textwrap::wrap(&text, options).into_iter();
        lines.map(Cow::into_owned).collect()
    }

    /// The text, cut to this many lines with an ellipsis. Numbers stay with their units.
    pub(crate) fn cut(&self, most: usize, first: &str, text: &str) -> Vec<String> {
        let mut lines = self.wrap(first, &glued(text));
        for line in &mut lines {
            *line = line.replace(GLUE, " ");
        }
        if lines.len() <= most {
            return lines;
        }
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            let ellipsis = self.charset.write("…");
            while display_width(last) + display_width(&ellipsis) > self.width {
                last.pop();
            }
            last.push_str(&ellipsis);
        }
        lines
    }

    /// Text wrapped to the width, in at most so many lines.
    pub(crate) fn at_most(&mut self, most: usize, style: Style, mark: &str, text: &str) {
        for line in self.cut(most, mark, text) {
            self.line(style, &line);
        }
    }

    /// An empty line and a title.
    pub(crate) fn section(&mut self, title: &str) {
        self.text.push('\n');
        self.line(BOLD, title);
    }

    fn provenance(&mut self, view: &View) {
        for fact in &view.provenance {
            let sentence = format!("{}: {}", fact.name, fact.value);
            self.wrapped(Style::new(), "- ", &sentence);
        }
        self.section("Stacks");
        for stack in &view.stacks {
            let variant = stack.variant.iter().map(|variant| format!(" ({variant})"));
            let limits = stack.limits.iter().map(|limit| format!("; {limit}"));
            let line = format!(
                "{}{}: {}, {}; {}; database: {}; build: {}{}",
                stack.target,
                variant.collect::<String>(),
                stack.what,
                stack.runtime,
                stack.versions,
                stack.database,
                stack.build,
                limits.collect::<String>(),
            );
            self.wrapped(Style::new(), "- ", &line);
        }
    }

    fn loss(&mut self, loss: &Loss) {
        let sentence = format!("{} {}: {}", loss.target, loss.what, loss.reasons.join("; "));
        self.wrapped(LOST, "x ", &sentence);
        if let Some(remedy) = &loss.remedy {
            self.wrapped_at(Style::new(), "to change that: ", remedy, 2);
        }
        for example in &loss.examples {
            self.wrapped_at(DIM, "e.g. ", example, 2);
        }
        for line in &loss.log {
            self.wrapped_at(DIM, "| ", line, 2);
        }
    }

    fn group(&mut self, group: &GroupView) {
        self.section(&group.title);
        self.wrapped(Style::new(), "", &group.summary);
        if !group.rows.is_empty() {
            self.results(group);
        }
        for sentence in &group.dead_heats {
            self.wrapped(Style::new(), "= ", sentence);
        }
        for row in group.rows.iter().filter(|row| !row.notes.is_empty()) {
            let sentence = format!("{}: {}", row.target, row.notes.join("; "));
            self.wrapped(WARN, "! ", &sentence);
        }
        for sentence in group.ceiling.iter().chain(&group.noise) {
            self.wrapped(Style::new(), "", sentence);
        }
        group.losses.iter().for_each(|loss| self.loss(loss));
        if let Some(sentence) = &group.not_measured {
            self.wrapped(LOST, "x ", sentence);
        }
        if !group.rows.is_empty() {
            let note = format!(
                "p50 and p99 are of the {}. {} {}",
                group.latency_name,
                group.intervals,
                strip::legend(&Plotted::all(&group.plot), self.charset)
            );
            // It is the same for most load points.
            if note != self.note {
                self.wrapped(DIM, "", &note);
                self.note = note;
            }
            let shown = |percent: f64| percent == 50.0 || percent == 99.0;
            for missing in group
                .missing
                .iter()
                .filter(|missing| shown(missing.percent))
            {
                self.wrapped(DIM, "", &missing.sentence);
            }
        }
    }

    /// One table where it leaves room for the plot, else two.
    fn results(&mut self, group: &GroupView) {
        let head = [RATE[0], RATE[1], COST[0], COST[1], COST[2], COST[3]];
        let whole: Vec<Line<6>> = group
            .rows
            .iter()
            .map(|row| {
                let ([a, b], [c, d, e, f]) = (rate(row), cost(row));
                line(row, [a, b, c, d, e, f])
            })
            .collect();
        if self.has_room("#", &head, &whole) {
            self.plotted("", "#", &head, &whole, &Plotted::all(&group.plot));
            return;
        }
        let rates: Vec<Line<2>> = group.rows.iter().map(|row| line(row, rate(row))).collect();
        self.plotted("", "#", &RATE, &rates, &Plotted::all(&group.plot));
        // The next table begins with an empty line of its own.
        self.text.pop();
        let costs: Vec<Line<4>> = group.rows.iter().map(|row| line(row, cost(row))).collect();
        self.table("", "#", &COST, &costs);
    }
}

fn line<const N: usize>(row: &Row, cells: [String; N]) -> Line<'_, N> {
    Line {
        lead: &row.rank,
        name: &row.target,
        style: table::style(row.state, &row.rank),
        cells,
    }
}

fn rate(row: &Row) -> [String; 2] {
    let bare = |spread: &String| spread.trim_matches(['±', '%', ' ']).to_owned();
    let spread = row.spread.as_ref().map(bare).unwrap_or_default();
    [row.throughput.clone(), spread]
}

fn cost(row: &Row) -> [String; 4] {
    [
        row.cpu.clone(),
        row.pss_peak.clone(),
        row.p50.value.clone(),
        row.p99.value.clone(),
    ]
}
