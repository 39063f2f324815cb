//! Text for a terminal.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use textwrap::core::display_width;

use crate::view::Fact;

/// The least width of a page, also on a narrower terminal: the ranking of a session needs 52 columns for its figures.
const MIN_WIDTH: usize = 72;

/// Keeps a number and its unit on one line.
const GLUE: char = '\u{a0}';

/// Where the text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// The columns that a line may take; a page uses at least [`MIN_WIDTH`].
    pub width: usize,
    /// Whether it shows ANSI colours.
    pub colour: bool,
    /// The characters that it shows.
    pub charset: Charset,
}

impl Screen {
    /// A screen that shows all characters.
    pub fn new(width: usize, colour: bool) -> Self {
        Self {
            width,
            colour,
            charset: Charset::Unicode,
        }
    }
}

/// What matters most.
pub const BOLD: Style = Style::new().bold();
/// What matters least.
pub const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// What may be wrong.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// What is wrong.
pub const BAD: Style = AnsiColor::Red.on_default();

/// Text under construction.
pub struct Page {
    /// The text so far.
    pub text: String,
    /// The columns that it keeps to.
    pub width: usize,
    colour: bool,
    /// The characters that it is written in.
    pub charset: Charset,
}

impl Page {
    /// An empty page for a screen.
    pub fn new(screen: Screen) -> Self {
        Self {
            text: String::new(),
            width: screen.width.max(MIN_WIDTH),
            colour: screen.colour,
            charset: screen.charset,
        }
    }

    /// Adds a line as it is.
    pub fn line(&mut self, style: Style, line: &str) {
        // All that is set in columns has been written in the charset before.
        let line = self.charset.write(line.trim_end());
        if self.colour && !style.is_plain() && !line.is_empty() {
            self.text += &format!("{style}{line}{style:#}\n")
        } else {
            self.text += &format!("{line}\n")
        }
    }

    /// Adds a text wrapped to the width; lines after the first are indented by the width of `mark`.
    pub(crate) fn wrapped(&mut self, style: Style, mark: &str, text: &str) {
        self.at_most(usize::MAX, style, mark, text);
    }

    /// Adds a text in at most `most` lines.
    pub fn at_most(&mut self, most: usize, style: Style, mark: &str, text: &str) {
        for line in self.cut(most, mark, text) {
            self.line(style, &line);
        }
    }

    /// The lines of a text that begins with `mark`; further lines are indented by its width. Numbers stay with their units.
    pub fn wrap(&self, mark: &str, text: &str) -> Vec<String> {
        wrap(&self.charset.write(text), self.width, mark, true)
    }

    /// The lines of a text, cut to this many with an ellipsis.
    pub fn cut(&self, most: usize, mark: &str, text: &str) -> Vec<String> {
        let mut lines = self.wrap(mark, text);
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

    /// Adds an empty line and a title.
    pub(crate) fn section(&mut self, title: &str) {
        self.text.push('\n');
        self.wrapped(BOLD, "", title);
    }

    /// Adds facts, with their names in a column.
    pub(crate) fn facts(&mut self, facts: &[Fact]) {
        let widths = facts.iter().map(|fact| display_width(&fact.name));
        let width = widths.max().unwrap_or(0);
        for fact in facts {
            let mark = format!("  {}  ", pad_right(&fact.name, width));
            self.wrapped(Style::new(), &mark, &fact.value);
        }
    }
}

/// Lines of at most `width` columns, of which the first begins with `mark` and the others are indented by its width. Numbers
/// stay with their units, and blanks that do not break stay. A word that is longer than a line is broken, or else has a
/// line of its own.
pub fn wrap(text: &str, width: usize, mark: &str, breaks_words: bool) -> Vec<String> {
    let rest = " ".repeat(display_width(mark));
    let options = textwrap::Options::new(width)
        // The other algorithm lets a line pass the width by a little rather than leave one short.
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        // A path is not broken at its slashes.
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .break_words(breaks_words)
        .initial_indent(mark)
        .subsequent_indent(&rest);
    let text = glued(text);
    let lines = textwrap::wrap(&text, options).into_iter();
    lines.map(|line| line.replace(GLUE, " ")).collect()
}

/// The text with its numbers glued to their units.
fn glued(text: &str) -> String {
    const UNITS: [&str; 9] = ["µs", "us", "ms", "s", "%", "B", "KiB", "MiB", "GiB"];
    let mut glued = String::with_capacity(text.len());
    for word in text.split_inclusive(' ') {
        let unit = word
            .trim_end_matches(|end: char| end.is_ascii_punctuation() && end != '%' || end == ' ')
            .trim_end_matches("/s");
        let after_number = glued
            .strip_suffix(' ')
            .is_some_and(|before| before.ends_with(|end: char| end.is_ascii_digit()));
        if after_number && UNITS.contains(&unit) {
            glued.pop();
            glued.push(GLUE);
        }
        glued.push_str(word);
    }
    glued
}

/// Right-aligns `text` in a width.
pub fn pad_left(text: &str, width: usize) -> String {
    let blank = width.saturating_sub(display_width(text));
    format!("{}{text}", " ".repeat(blank))
}

/// Left-aligns `text` in a width.
pub fn pad_right(text: &str, width: usize) -> String {
    let blank = width.saturating_sub(display_width(text));
    format!("{text}{}", " ".repeat(blank))
}

/// Which characters text is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// All of them.
    #[default]
    Unicode,
    /// ASCII, for a terminal or a locale that is not UTF-8.
    Ascii,
}

impl Charset {
    /// `text` in these characters. What ASCII lacks is written by what is usual for it ("us" for "µs"), and in names by
    /// code points: two names that differ do so afterwards.
    pub fn write<'a>(self, text: &'a str) -> Cow<'a, str> {
        if self == Charset::Unicode || text.is_ascii() {
            return text.into();
        }
        let mut ascii = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                'µ' => ascii.push('u'),
                '–' | '—' | '·' | '−' => ascii.push('-'),
                '±' => ascii.push_str("+-"),
                '≥' => ascii.push_str(">="),
                '≤' => ascii.push_str("<="),
                '×' => ascii.push('x'),
                '÷' => ascii.push('/'),
                '†' => ascii.push('+'),
                '→' => ascii.push_str("->"),
                '…' => ascii.push_str("..."),
                '“' | '”' => ascii.push('"'),
                '‘' | '’' => ascii.push('\''),
                '§' => ascii.push_str("section"),
                '\u{a0}' => ascii.push(' '),
                c if c.is_ascii() => ascii.push(c),
                c => ascii.extend(c.escape_unicode()),
            }
        }
        ascii.into()
    }
}

/// A name no wider than `width`, its middle cut out: variants often differ in their ends.
pub fn cut_middle(name: &str, width: usize, charset: Charset) -> String {
    if display_width(name) <= width {
        return name.to_owned();
    }
    let ellipsis = charset.write("…");
    let room = width.saturating_sub(display_width(&ellipsis));
    let head = beginning(name.chars(), room - room / 2);
    let tail = beginning(name.chars().rev(), room / 2);
    let tail: String = tail.chars().rev().collect();
    format!("{head}{ellipsis}{tail}")
}

/// A text no wider than `width`, its end cut off.
pub fn cut_end(text: &str, width: usize, charset: Charset) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let ellipsis = charset.write("…");
    let room = width.saturating_sub(display_width(&ellipsis));
    format!("{}{ellipsis}", beginning(text.chars(), room).trim_end())
}

/// As many characters as there is room for.
fn beginning(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    let fits = |character: &char| {
        used += display_width(character.encode_utf8(&mut [0; 4]));
        used <= room
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::{Charset, glued, wrap, *};

    #[test]
    fn lines_are_as_long_as_they_can_be_and_words_are_whole_unless_they_are_broken() {
        let text = "a bb c  d --option=of-many-words e";
        let whole = ["# a bb", "  c  d", "  --option=of-many-words", "  e"];
        assert_eq!(wrap(text, 7, "# ", false), whole);
        let broken = wrap(text, 7, "# ", true);
        assert_eq!(broken[..3], ["# a bb", "  c  d", "  --opt"]);
    }

    #[test]
    fn units_stay_with_their_numbers_and_nothing_else_does() {
        let cases = [
            ("for 3.00 s after 500 ms.", "for 3.00~s after 500~ms."),
            ("(27.5 % of 1,020 KiB/s)", "(27.5~% of 1,020~KiB/s)"),
            ("up to 51 B.", "up to 51~B."),
            ("50 connections, s 3", "50 connections, s 3"),
            ("8 seconds", "8 seconds"),
        ];
        for (text, expected) in cases {
            assert_eq!(glued(text), expected.replace('~', "\u{a0}"));
        }
    }

    #[test]
    fn figures_stay_readable_and_names_distinct() {
        let write = |text| Charset::Ascii.write(text).into_owned();
        assert_eq!(write("≥ 185 µs ± 2 % (1–2)"), ">= 185 us +- 2 % (1-2)");
        assert_eq!(write("−4.8 %, a ÷ b, 9†"), "-4.8 %, a / b, 9+");
        assert_eq!(write("größe"), "gr\\u{f6}\\u{df}e");
        assert_eq!(Charset::Unicode.write("größe"), "größe");
    }

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(cut_middle("short", 5, Charset::Unicode), "short");
        assert_eq!(
            cut_middle("language-framework", 9, Charset::Unicode),
            "lang…work"
        );
        assert_eq!(
            cut_middle("language-framework", 9, Charset::Ascii),
            "lan...ork"
        );
        assert_eq!(cut_middle("大小大小大小", 7, Charset::Unicode), "大…小");
    }

    #[test]
    fn texts_lose_their_end() {
        assert_eq!(cut_end("short", 5, Charset::Unicode), "short");
        assert_eq!(
            cut_end("count the answers", 11, Charset::Unicode),
            "count the…"
        );
        assert_eq!(cut_end("count the answers", 9, Charset::Ascii), "count...");
        assert_eq!(cut_end("大小大小", 6, Charset::Unicode), "大小…");
    }
}
