//! The only place that writes: data to standard output, everything else to standard error.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::{self, IsTerminal, Write};

use deadheat_model::trial::TrialFailure;

/// Writes data. A reader that has gone away (`| head`) is no error.
pub(crate) fn data(text: &str) {
    let mut output = io::stdout().lock();
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
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

/// Whether a person reads the data in a terminal that shows colour.
pub(crate) fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Whether a person watches the progress in a terminal.
pub(crate) fn watched() -> bool {
    io::stderr().is_terminal()
}

/// The columns of the terminal that the data goes to; 100 where it is none.
pub(crate) fn width() -> usize {
    if !io::stdout().is_terminal() {
        return 100;
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
