//! The only place that writes: data to standard output, everything else to standard error.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::{self, IsTerminal, Write};

use deadheat_model::trial::TrialFailure;
use deadheat_report::text::{Charset, Screen};

/// Writes data. A reader that has gone away (`| head`) is no error.
pub(crate) fn data(text: &str) {
    bytes(text.as_bytes());
}

/// The same of what is no text.
pub(crate) fn bytes(bytes: &[u8]) {
    let mut output = io::stdout().lock();
    let _ = output.write_all(bytes).and_then(|()| output.flush());
}

/// Whether the data goes to a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Writes a line for a person.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes an error for a person.
pub(crate) fn error(text: &str) {
    note(&format!("deadheat: {text}"));
}

/// Shows what the libraries warn of, on standard error.
pub(crate) fn show_warnings() {
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(watched())
        .with_max_level(tracing::Level::WARN)
        .with_target(false)
        .without_time()
        .init();
}

/// A failure in words, with the end of its log.
pub(crate) fn told(failure: &TrialFailure) -> String {
    let phase = failure.phase.describe();
    format!("{phase}: {}{}", failure.reason, quoted(&failure.log_tail))
}

/// Lines of a log, set off below a message.
pub(crate) fn quoted(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n    | {line}")).collect()
}

/// Whether a person reads the data in a terminal that shows colour. An empty `NO_COLOR` is none
/// (<https://no-color.org>).
pub(crate) fn colour() -> bool {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    is_terminal() && !forbidden && !is_dumb()
}

/// What the data is shown on.
pub(crate) fn screen() -> Screen {
    Screen {
        // What is piped into a file or a message is read at this width.
        width: width_or(80),
        colour: colour(),
        charset: charset(|name| std::env::var(name).ok(), is_terminal() && is_dumb()),
    }
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The characters of the locale (POSIX, "Internationalization Variables": of these three the first that is set and not
/// empty). Containers often set none of them, and are looked at in terminals that know all characters. A name without a
/// charset, such as `C` or `en_US`, stands for one that is not UTF-8.
fn charset(variable: impl Fn(&str) -> Option<String>, is_dumb: bool) -> Charset {
    let mut set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(variable);
    let locale = set.find(|value| !value.is_empty());
    let is_utf_8 = locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    match is_utf_8 && !is_dumb {
        true => Charset::Unicode,
        false => Charset::Ascii,
    }
}

/// Whether a person watches the progress in a terminal.
pub(crate) fn watched() -> bool {
    io::stderr().is_terminal()
}

/// The columns of the terminal that the data goes to; 100 where it is none.
pub(crate) fn width() -> usize {
    width_or(100)
}

fn width_or(columns: usize) -> usize {
    if !is_terminal() {
        return columns;
    }
    console::Term::stdout()
        .size_checked()
        .map_or(80, |(_, columns)| usize::from(columns))
}

/// Writes to the terminal that a person watches, control sequences and all, in one piece.
pub(crate) fn draw(text: &str) {
    let mut output = io::stderr().lock();
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
}

/// The columns and rows of the terminal that a person watches; `None` where it is none, or does not know them.
pub(crate) fn terminal_size() -> Option<(u16, u16)> {
    let (rows, columns) = console::Term::stderr().size_checked()?;
    (watched() && rows > 0 && columns > 0).then_some((columns, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_says_which_characters_are_shown() {
        let cases: [(&[(&str, &str)], Charset); 8] = [
            (&[], Charset::Unicode),
            (&[("LANG", "C.UTF-8")], Charset::Unicode),
            (&[("LANG", "de_DE.utf8")], Charset::Unicode),
            (&[("LANG", "C")], Charset::Ascii),
            (&[("LANG", "en_US.ISO-8859-1")], Charset::Ascii),
            (&[("LANG", "C"), ("LC_ALL", "C.UTF-8")], Charset::Unicode),
            (
                &[("LANG", "C.UTF-8"), ("LC_CTYPE", "POSIX")],
                Charset::Ascii,
            ),
            (&[("LC_ALL", ""), ("LANG", "C.UTF-8")], Charset::Unicode),
        ];
        for (set, expected) in cases {
            let variable = |name: &str| {
                let mut set = set.iter();
                set.find(|(other, _)| *other == name)
                    .map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(charset(variable, false), expected, "{set:?}");
            assert_eq!(charset(variable, true), Charset::Ascii, "{set:?}");
        }
    }
}
