//! A view at the end of the terminal's output. It is redrawn in place and erased at the end, so that earlier output
//! stays where it was.
//!
//! The terminal stays in its usual state: no alternate screen, no raw mode, no hidden cursor. So nothing has to be
//! restored when Deadheat is killed, Ctrl-C works as usual, and the cursor's position is never queried over standard
//! output, which carries data. The cursor rests in the empty row below the view; each frame starts from there.

use std::{
    fmt::Write as _,
    panic,
    sync::{
        Arc, Once,
        atomic::{AtomicBool, AtomicU16, Ordering},
    },
};

use deadheat_shell::output;
use ratatui::{
    buffer::{Buffer, Cell},
    layout::Rect,
    style::{Color, Modifier},
};
use signal_hook::{SigId, consts::SIGCONT, flag, low_level};

/// Begins a synchronized update: a terminal that supports it shows the frame at once. Others ignore it.
const TOGETHER: &str = "\x1b[?2026h";
const SHOW: &str = "\x1b[?2026l";
/// Clears to the end of the line, and of the screen.
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";
/// Clears the whole screen. Many terminals keep the old content in their scrollback.
const CLEAR_ALL: &str = "\x1b[H\x1b[2J";
const PLAIN: &str = "\x1b[0m";

/// Number of rows on the terminal now. The panic hook erases them, so that they do not cover the message.
static ROWS: AtomicU16 = AtomicU16::new(0);

/// A size of the terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: u16,
    pub(super) rows: u16,
}

/// Produces the bytes that draw frames.
#[derive(Debug, Default)]
struct Painter {
    /// The drawn frame: the terminal's size, and the rows of the frame plus the one below it.
    shown: Option<(Size, u16)>,
}

impl Painter {
    /// Draws at most this many rows in place of the previous frame.
    fn frame(
        &mut self,
        size: Size,
        most_rows: u16,
        render: impl FnOnce(Rect, &mut Buffer),
    ) -> String {
        let mut text = String::from(TOGETHER);
        match self.shown {
            // A narrower terminal has wrapped the lines, and the number of rows is unknown.
            Some((before, _)) if before.columns > size.columns => text.push_str(CLEAR_ALL),
            Some((before, rows)) => {
                text.push_str(&to_top(rows));
                if before != size {
                    text.push_str(CLEAR_BELOW);
                }
            }
            None => text.push('\r'),
        }
        let area = Rect::new(
            0,
            0,
            size.columns,
            size.rows.saturating_sub(1).min(most_rows),
        );
        let mut buffer = Buffer::empty(area);
        render(area, &mut buffer);
        for row in 0..area.height {
            encode_row(&buffer, row, &mut text);
            text.push_str("\r\n");
        }
        text.push_str(CLEAR_LINE);
        text.push_str(SHOW);
        self.shown = Some((size, area.height + 1));
        text
    }

    /// Erases the frame.
    fn erase(&mut self) -> String {
        let shown = self.shown.take();
        shown.map_or(String::new(), |(_, rows)| erasing(rows))
    }
}

/// From the row below a frame to its first one.
fn to_top(rows: u16) -> String {
    match rows {
        0 | 1 => "\r".to_owned(),
        rows => format!("\r\x1b[{}A", rows - 1),
    }
}

/// Erases a frame line by line from below. When tmux sees the whole screen cleared, it keeps the content, so a frame
/// that fills the screen would stay in the scrollback.
fn erasing(rows: u16) -> String {
    let above = format!("\x1b[A{CLEAR_LINE}").repeat(usize::from(rows.saturating_sub(1)));
    format!("\r{CLEAR_LINE}{above}")
}

/// A row without the blanks at its end.
fn encode_row(buffer: &Buffer, row: u16, text: &mut String) {
    let start = usize::from(row) * usize::from(buffer.area.width);
    let cells = &buffer.content[start..start + usize::from(buffer.area.width)];
    let blank = |cell: &Cell| cell.symbol() == " ";
    let end = cells.iter().rposition(|cell| !blank(cell));
    let mut style = (Color::Reset, Modifier::empty());
    for cell in &cells[..end.map_or(0, |last| last + 1)] {
        if (cell.fg, cell.modifier) != style {
            style = (cell.fg, cell.modifier);
            text.push_str(PLAIN);
            set_style(style.0, style.1, text);
        }
        text.push_str(cell.symbol());
    }
    if style != (Color::Reset, Modifier::empty()) {
        text.push_str(PLAIN);
    }
    text.push_str(CLEAR_LINE);
}

/// The colours and modifiers that the view uses.
fn set_style(colour: Color, modifier: Modifier, text: &mut String) {
    let colour = match colour {
        Color::Red => Some(31),
        Color::Green => Some(32),
        Color::Yellow => Some(33),
        Color::Magenta => Some(35),
        Color::Cyan => Some(36),
        Color::DarkGray => Some(90),
        _ => None,
    };
    let bold = modifier.contains(Modifier::BOLD).then_some(1);
    let dim = modifier.contains(Modifier::DIM).then_some(2);
    for code in [colour, bold, dim].into_iter().flatten() {
        // Writing into a string does not fail.
        let _ = write!(text, "\x1b[{code}m");
    }
}

/// The terminal at standard error.
#[derive(Debug)]
pub(super) struct Screen {
    painter: Painter,
    /// Set when Deadheat was stopped and continues: the shell has written since.
    resumed: Arc<AtomicBool>,
    signal: Option<SigId>,
}

impl Screen {
    /// The terminal, if it can be drawn on.
    pub(super) fn open() -> Option<Self> {
        let dumb = std::env::var_os("TERM").is_none_or(|name| name == "dumb");
        if dumb || output::terminal_size().is_none() {
            return None;
        }
        erase_before_panics();
        let resumed = Arc::new(AtomicBool::new(false));
        Some(Self {
            painter: Painter::default(),
            signal: flag::register(SIGCONT, Arc::clone(&resumed)).ok(),
            resumed,
        })
    }

    /// Draws at most this many rows.
    pub(super) fn draw(&mut self, most_rows: u16, render: impl FnOnce(Rect, &mut Buffer)) {
        let Some((columns, rows)) = output::terminal_size() else {
            return;
        };
        if self.resumed.swap(false, Ordering::Relaxed) {
            self.painter.shown = None;
        }
        let text = self
            .painter
            .frame(Size { columns, rows }, most_rows, render);
        output::draw(&text);
        let shown = self.painter.shown.map_or(0, |(_, rows)| rows);
        ROWS.store(shown, Ordering::Relaxed);
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(signal) = self.signal.take() {
            low_level::unregister(signal);
        }
        // In a panic, the hook has erased the view; erasing again would remove the message.
        if ROWS.swap(0, Ordering::Relaxed) > 0 {
            output::draw(&self.painter.erase());
        }
    }
}

/// Installs a hook that erases the view before the message of a panic is written.
fn erase_before_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let rows = ROWS.swap(0, Ordering::Relaxed);
            if rows > 0 {
                output::draw(&erasing(rows));
            }
            usual(info);
        }));
    });
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use ratatui::style::Style;
    use vt100::Parser;

    use super::*;

    const SIZE: Size = Size {
        columns: 20,
        rows: 8,
    };

    fn letters(letter: &'static str) -> impl FnOnce(Rect, &mut Buffer) {
        move |area, buffer| {
            for y in area.top()..area.bottom() {
                buffer.set_string(0, y, letter.repeat(area.width.into()), Style::new());
            }
        }
    }

    /// What a terminal of this size shows, without the empty rows at its end.
    fn seen(terminal: &Parser) -> Vec<String> {
        let rows = terminal.screen().rows(0, SIZE.columns);
        let mut rows: Vec<String> = rows.collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    fn some(characters: u16) -> NonZeroU16 {
        NonZeroU16::new(characters).expect("no empty terminal")
    }

    fn terminal() -> Parser {
        let mut terminal = Parser::new(some(SIZE.rows), some(SIZE.columns), 100);
        terminal.process(b"$ deadheat load\r\nthe plan\r\n");
        terminal
    }

    #[test]
    fn frames_are_drawn_over_each_other_and_leave_nothing() {
        let mut terminal = terminal();
        let mut painter = Painter::default();
        for letter in ["a", "b", "c"] {
            terminal.process(painter.frame(SIZE, 3, letters(letter)).as_bytes());
            let line = letter.repeat(20);
            assert_eq!(
                seen(&terminal),
                ["$ deadheat load", "the plan", &line, &line, &line]
            );
            assert_eq!(terminal.screen().cursor_position(), (5, 0));
        }
        terminal.process(painter.erase().as_bytes());
        assert_eq!(seen(&terminal), ["$ deadheat load", "the plan"]);
        assert_eq!(terminal.screen().cursor_position(), (2, 0));
        assert!(!terminal.screen().hide_cursor());
        assert!(!terminal.screen().alternate_screen());
        assert_eq!(painter.erase(), "");
    }

    #[test]
    fn a_frame_that_needs_room_pushes_what_was_there_into_the_scrollback() {
        let mut terminal = terminal();
        let mut painter = Painter::default();
        for letter in ["a", "b"] {
            terminal.process(painter.frame(SIZE, 30, letters(letter)).as_bytes());
            let line = letter.repeat(20);
            assert_eq!(seen(&terminal), vec![line.as_str(); 7]);
        }
        terminal.screen_mut().set_scrollback(2);
        assert_eq!(seen(&terminal)[..2], ["$ deadheat load", "the plan"]);
    }

    #[test]
    fn a_frame_that_fills_the_screen_is_gone_from_the_scrollback_too() {
        let mut terminal = terminal();
        let mut painter = Painter::default();
        terminal.process(painter.frame(SIZE, 30, letters("a")).as_bytes());
        let erasing = painter.erase();
        // What makes tmux move the screen into its history.
        assert!(!erasing.contains("\x1b[J") && !erasing.contains("\x1b[2J"));
        terminal.process(erasing.as_bytes());
        assert_eq!(seen(&terminal), [""; 0]);
        assert_eq!(terminal.screen().cursor_position(), (0, 0));
        terminal.screen_mut().set_scrollback(100);
        assert_eq!(seen(&terminal), ["$ deadheat load", "the plan"]);
    }

    #[test]
    fn a_typed_key_is_drawn_over() {
        let mut terminal = terminal();
        let mut painter = Painter::default();
        terminal.process(painter.frame(SIZE, 3, letters("a")).as_bytes());
        terminal.process(b"^Cwhy");
        terminal.process(painter.frame(SIZE, 3, letters("b")).as_bytes());
        let line = "b".repeat(20);
        assert_eq!(
            seen(&terminal),
            ["$ deadheat load", "the plan", &line, &line, &line]
        );
    }

    #[test]
    fn another_size_is_filled_anew() {
        for (columns, rows) in [(30, 8), (12, 8), (20, 12), (20, 4), (9, 3)] {
            let mut terminal = terminal();
            let mut painter = Painter::default();
            terminal.process(painter.frame(SIZE, 5, letters("a")).as_bytes());
            terminal.set_size(some(rows), some(columns));
            let size = Size { columns, rows };
            terminal.process(painter.frame(size, 5, letters("b")).as_bytes());
            let shown = terminal.screen().contents();
            assert!(
                !shown.contains('a') || columns >= 20,
                "{columns} {rows}: {shown}"
            );
            let line = "b".repeat(columns.into());
            assert_eq!(
                shown.matches(&line).count(),
                usize::from(5.min(rows - 1)),
                "{columns} × {rows}: {shown}"
            );
        }
    }

    #[test]
    fn styles_end_where_they_end() {
        let mut painter = Painter::default();
        let text = painter.frame(SIZE, 1, |_, buffer| {
            let bad = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
            buffer.set_string(1, 0, "bad", bad);
            buffer.set_string(4, 0, "good", Style::new());
        });
        assert!(
            text.contains(" \x1b[0m\x1b[31m\x1b[1mbad\x1b[0mgood\x1b[K\r\n"),
            "{text:?}"
        );
    }
}
