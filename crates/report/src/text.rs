//! Text for a terminal.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use textwrap::core::display_width;

use crate::page::{GLUE, glued};

mod charset;

pub use charset::Charset;

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

/// Text under construction.
pub(crate) struct Page {
    /// What there is of it.
    pub(crate) text: String,
    /// The columns that it keeps to.
    pub(crate) width: usize,
    colour: bool,
    /// The characters that it is written in.
    pub(crate) charset: Charset,
}

impl Page {
    /// An empty page for a screen.
    pub(crate) fn new(screen: Screen) -> Self {
        Self {
            text: String::new(),
            width: screen.width.max(LEAST_WIDTH),
            colour: screen.colour,
            charset: screen.charset,
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
}
