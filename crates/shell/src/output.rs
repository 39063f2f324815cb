//! The only place that writes: data to standard output, everything else to standard error.
//!
//! Some of it comes from elsewhere: logs of builds and servers, folders of sessions that others made. So control
//! characters are made visible here, and passwords of URLs are hidden in messages.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, IsTerminal, Write},
    sync::OnceLock,
};

use clap::ValueEnum;
use deadheat_document::text::{Charset, Screen};
use deadheat_model::session::StackFailure;
use deadheat_runner::secret::without_userinfo;
use indicatif::ProgressDrawTarget;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    Layer as _, filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::{exit::CommandFailure, hints};

/// The most characters of a line of a log that are shown.
const LONGEST_LINE: usize = 400;

/// When colours are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColourArg {
    /// In a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Also in files and pipes
    Always,
    /// Nowhere
    Never,
}

/// How much is written to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Warnings and errors.
    Problems,
    /// Plans and results, and progress.
    #[default]
    Usual,
    /// Each step, and the commands that are run.
    Steps,
    /// What helps to find a fault.
    Everything,
}

/// The environment variable that chooses what is logged, such as `deadheat_runner=debug`; it takes precedence over -v.
const LOG_VARIABLE: &str = "DEADHEAT_LOG";

static ASKED: OnceLock<ColourArg> = OnceLock::new();
static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

/// Takes what was asked for on the command line. The first call counts.
pub fn use_colour(asked: ColourArg) {
    let _ = ASKED.set(asked);
}

/// Sets how much is written to standard error. The first call counts.
pub fn set_verbosity(verbosity: Verbosity) {
    let _ = VERBOSITY.set(verbosity);
}

fn verbosity() -> Verbosity {
    VERBOSITY.get().copied().unwrap_or_default()
}

/// What `--color` says among arguments that are wrong otherwise, or that ask for help.
pub fn colour_among(arguments: impl IntoIterator<Item = String>) -> ColourArg {
    let mut arguments = arguments.into_iter();
    let mut asked = None;
    while let Some(argument) = arguments.next() {
        let value = match argument.strip_prefix("--color") {
            Some("") => arguments.next(),
            Some(value) => value.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        asked = asked.or(value);
    }
    let read = asked.and_then(|value| ColourArg::from_str(&value, false).ok());
    read.unwrap_or_default()
}

/// Writes data: text, or JSON, in which a control character means the same as its escape.
///
/// # Errors
/// When it cannot be written. A reader that has gone away (`| head`) is no error.
pub fn data(text: &str) -> Result<(), CommandFailure> {
    bytes(visible(text, colour()).as_bytes())
}

/// Writes data as it is: a picture, a page.
///
/// # Errors
/// As for [`data`].
pub fn bytes(bytes: &[u8]) -> Result<(), CommandFailure> {
    let mut output = io::stdout().lock();
    match output.write_all(bytes).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandFailure::no_result(
            format!("writing to standard output: {error}"),
        )),
        _ => Ok(()),
    }
}

/// Whether the data goes to a terminal.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Writes a line for a person, unless that person wants to hear of problems alone.
pub fn note(text: &str) {
    if verbosity() > Verbosity::Problems {
        warn(text);
    }
}

/// Writes a line about a problem.
pub fn warn(text: &str) {
    let text = visible(&without_userinfo(text), colour_of_notes());
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Asks a person who sits at a terminal; `None` without one, or when the input ends.
pub fn ask(question: &str) -> Option<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return None;
    }
    let _ = write!(io::stderr().lock(), "{question} [y/N] ");
    let mut answer = String::new();
    match io::stdin().read_line(&mut answer) {
        Ok(length) if length > 0 => Some(is_yes(&answer)),
        _ => None,
    }
}

/// Whether somebody means yes.
fn is_yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// Writes an error for a person.
pub fn error(text: &str) {
    warn(&format!("deadheat: {text}"));
}

/// Writes what clap has to say, which is the help or what is wrong with the arguments, and returns the exit status.
pub fn usage(error: &clap::Error) -> Result<crate::exit::Exit, CommandFailure> {
    let colour = if error.use_stderr() {
        colour_of_notes()
    } else {
        colour()
    };
    let hint = hints::hint(error);
    let hidden = hints::without_secrets(error);
    let hidden = hidden.or_else(|| hint.as_ref().map(|_| hints::without_tips(error)));
    let error = hidden.as_ref().unwrap_or(error);
    let rendered = error.render();
    let text = if colour {
        rendered.ansi().to_string()
    } else {
        rendered.to_string()
    };
    if error.use_stderr() {
        warn(text.trim_end());
        if let Some(hint) = hint {
            warn(&format!("\n{hint}"));
        }
        return Ok(crate::exit::Exit::Usage);
    }
    data(&text).map(|()| crate::exit::Exit::Fine)
}

/// Shows what the program and its libraries log, on standard error.
pub fn show_log() {
    let level = match verbosity() {
        Verbosity::Problems | Verbosity::Usual => LevelFilter::WARN,
        Verbosity::Steps => LevelFilter::INFO,
        Verbosity::Everything => LevelFilter::DEBUG,
    };
    // The names of its crates begin with this.
    let usual = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("deadheat", level);
    let asked = env::var(LOG_VARIABLE).unwrap_or_default();
    let (filter, wrong) = match (asked.is_empty(), asked.parse::<Targets>()) {
        (true, _) => (usual, None),
        (false, Ok(asked)) => (asked, None),
        (false, Err(error)) => (usual, Some(error)),
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(colour_of_notes())
        .with_target(level == LevelFilter::DEBUG)
        .without_time()
        .with_filter(filter);
    tracing_subscriber::registry().with(lines).init();
    if let Some(error) = wrong {
        warn(&format!(
            "warning: {LOG_VARIABLE}={asked} ({error}); write it like debug, or deadheat_runner=debug"
        ));
    }
}

/// A text in which nothing moves the cursor, changes the terminal or turns the direction of writing. Control characters
/// are escaped as in JSON, so that JSON keeps its meaning. With `styled`, styles (`ESC [ … m`) stay, and end with
/// the text.
fn visible(text: &str, styled: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    let mut has_style = false;
    while let Some(character) = rest.chars().next() {
        let length = match styled.then(|| style(rest)).flatten() {
            Some(length) => {
                has_style = true;
                shown.push_str(&rest[..length]);
                length
            }
            None => {
                let is_line_end = rest.starts_with("\r\n") || "\n\t".contains(character);
                match character {
                    c if is_line_end || !is_unsafe(c) => shown.push(c),
                    c => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
                }
                character.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    if has_style && !shown.trim_end().ends_with("\u{1b}[0m") {
        shown.push_str("\u{1b}[0m");
    }
    shown
}

/// The length of the style that `text` begins with (ECMA-48 § 8.3.117, SGR).
fn style(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    codes[end..].starts_with('m').then_some(2 + end + 1)
}

fn is_unsafe(character: char) -> bool {
    let turns = matches!(
        character,
        '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    character.is_control() || turns
}

/// A failure in words, with the end of its log.
pub fn failure_text(failure: &StackFailure) -> String {
    let phase = failure.phase.describe();
    format!("{phase}: {}{}", failure.reason, quoted(&failure.log_tail))
}

/// Lines of a log, set off below a message. They have no style of their own, and what is longer than anybody reads is
/// cut.
pub fn quoted(lines: &[String]) -> String {
    let quoted = |line: &String| {
        let mut characters = line.trim_end_matches('\r').chars();
        let shown: String = characters.by_ref().take(LONGEST_LINE).collect();
        let left = characters.count();
        let more = if left > 0 {
            format!("… ({left} more characters)")
        } else {
            String::new()
        };
        format!(
            "\n    | {}{more}",
            visible(&shown.replace('\n', " "), false)
        )
    };
    lines.iter().map(quoted).collect()
}

/// Whether data is coloured.
pub(crate) fn colour() -> bool {
    is_coloured(asked(), is_terminal(), |name| env::var_os(name))
}

/// Whether messages are coloured, including progress and the view of a load.
pub fn colour_of_notes() -> bool {
    is_coloured(asked(), watched(), |name| env::var_os(name))
}

fn asked() -> ColourArg {
    ASKED.get().copied().unwrap_or_default()
}

/// Whether output is coloured. An explicit option takes precedence. Otherwise `NO_COLOR` forbids colour
/// (<https://no-color.org>) and `CLICOLOR_FORCE` asks for it (<https://bixense.com/clicolors>), with empty values as if
/// they were not set. Without any of these, terminals that support colour get it.
fn is_coloured(
    asked: ColourArg,
    terminal: bool,
    variable: impl Fn(&str) -> Option<OsString>,
) -> bool {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    let is = |name, text: &str| variable(name).is_some_and(|value| value == text);
    match asked {
        ColourArg::Always => true,
        ColourArg::Never => false,
        ColourArg::Auto if is_set("NO_COLOR") => false,
        ColourArg::Auto if is_set("CLICOLOR_FORCE") && !is("CLICOLOR_FORCE", "0") => true,
        ColourArg::Auto => terminal && !is("TERM", "dumb"),
    }
}

/// What the data is shown on.
pub fn screen() -> Screen {
    Screen {
        width: width(),
        colour: colour(),
        charset: charset(|name| env::var(name).ok(), is_terminal() && is_dumb()),
    }
}

fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The characters of the locale (POSIX, "Internationalization Variables": of these three the first that is set and not
/// empty). Containers often set none of them, and are looked at in terminals that know all characters. A name without a
/// charset, such as `C` or `en_US`, means one that is not UTF-8.
fn charset(variable: impl Fn(&str) -> Option<String>, is_dumb: bool) -> Charset {
    let mut set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(variable);
    let locale = set.find(|value| !value.is_empty());
    let is_utf_8 = locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    if is_utf_8 && !is_dumb {
        Charset::Unicode
    } else {
        Charset::Ascii
    }
}

/// Whether a person watches the progress in a terminal.
pub fn watched() -> bool {
    io::stderr().is_terminal()
}

/// Whether progress is drawn. If not, steps are reported in lines.
pub fn draws_progress() -> bool {
    let term = env::var_os("TERM");
    watched() && can_draw(term.as_deref()) && verbosity() == Verbosity::Usual
}

/// Whether a terminal of this name can move its cursor. In one that cannot, or that is not known, indicatif draws nothing.
fn can_draw(term: Option<&OsStr>) -> bool {
    term.is_some_and(|name| name != "dumb")
}

/// Whether progress is reported in lines if it is not drawn.
pub fn tells_progress() -> bool {
    verbosity() > Verbosity::Problems
}

/// Where a bar is drawn: on standard error, if a person watches.
pub fn bar_target() -> ProgressDrawTarget {
    if draws_progress() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    }
}

/// The columns of the terminal that the data goes to. What is piped into a file or a message is read at 80.
fn width() -> usize {
    if !is_terminal() {
        return 80;
    }
    console::Term::stdout()
        .size_checked()
        .map_or(80, |(_, columns)| usize::from(columns))
}

/// Writes to the terminal that a person watches, control sequences and all, in one piece.
pub fn draw(text: &str) {
    let mut output = io::stderr().lock();
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
}

/// The columns and rows of the terminal that a person watches; `None` without a terminal, or if it does not know them.
pub fn terminal_size() -> Option<(u16, u16)> {
    let (rows, columns) = console::Term::stderr().size_checked()?;
    (watched() && rows > 0 && columns > 0).then_some((columns, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_found_among_wrong_arguments() {
        let among = |line: &str| colour_among(line.split(' ').map(str::to_owned));
        assert_eq!(
            among("deadheat run --color never --wrong"),
            ColourArg::Never
        );
        assert_eq!(among("deadheat --color=always --help"), ColourArg::Always);
        assert_eq!(among("deadheat --color=blue"), ColourArg::Auto);
        assert_eq!(among("deadheat run --colors --color"), ColourArg::Auto);
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(is_yes("y\n") && is_yes(" YES \n"));
        assert!(!is_yes("\n") && !is_yes("no\n") && !is_yes("yikes\n"));
    }

    #[test]
    fn one_place_decides_whether_there_is_colour() {
        use ColourArg::{Always, Auto, Never};
        type Variables = &'static [(&'static str, &'static str)];
        let cases: [(ColourArg, bool, Variables, bool); 10] = [
            (Auto, true, &[], true),
            (Auto, false, &[], false),
            (Auto, true, &[("NO_COLOR", "1")], false),
            (Auto, true, &[("NO_COLOR", "")], true),
            (Auto, true, &[("TERM", "dumb")], false),
            (Auto, false, &[("CLICOLOR_FORCE", "1")], true),
            (Auto, false, &[("CLICOLOR_FORCE", "0")], false),
            (
                Auto,
                false,
                &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
                false,
            ),
            (Always, false, &[("NO_COLOR", "1")], true),
            (Never, true, &[("CLICOLOR_FORCE", "1")], false),
        ];
        for (asked, terminal, set, expected) in cases {
            let variable = |name: &str| {
                let mut set = set.iter();
                set.find(|(other, _)| *other == name)
                    .map(|(_, value)| OsString::from(value))
            };
            let found = is_coloured(asked, terminal, variable);
            assert_eq!(found, expected, "{asked:?}, terminal: {terminal}, {set:?}");
        }
    }

    #[test]
    fn where_nothing_can_be_drawn_progress_is_in_lines() {
        for (term, expected) in [(Some("xterm"), true), (Some("dumb"), false), (None, false)] {
            assert_eq!(can_draw(term.map(OsStr::new)), expected, "{term:?}");
        }
    }

    #[test]
    fn what_comes_from_elsewhere_controls_no_terminal() {
        let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7}b\r\u{9b}31m\u{202e}c\td\r\n";
        assert_eq!(
            visible(hostile, false),
            "a\\u001b[2J\\u001b]0;title\\u0007b\\u000d\\u009b31m\\u202ec\td\r\n"
        );
        // As JSON it is what it was.
        let json = serde_json::to_string("x\u{7f}\u{9b}").unwrap();
        let read: String = serde_json::from_str(&visible(&json, true)).unwrap();
        assert_eq!(read, "x\u{7f}\u{9b}");
    }

    #[test]
    fn styles_are_kept_where_they_are_shown_and_end_with_the_text() {
        let styled = "\u{1b}[1;31mbad\u{1b}[0m\n";
        assert_eq!(visible(styled, true), styled);
        assert_eq!(visible(styled, false), "\\u001b[1;31mbad\\u001b[0m\n");
        assert_eq!(visible("\u{1b}[8mgone", true), "\u{1b}[8mgone\u{1b}[0m");
        assert_eq!(visible("\u{1b}[2K", true), "\\u001b[2K");
    }

    #[test]
    fn lines_of_a_log_are_short_and_plain() {
        let long = "x".repeat(1_000);
        let lines = ["\u{1b}[32mfine\u{1b}[0m\r".to_owned(), long];
        let quoted = quoted(&lines);
        assert!(
            quoted.starts_with("\n    | \\u001b[32mfine\\u001b[0m\n"),
            "{quoted}"
        );
        assert!(quoted.ends_with("x… (600 more characters)"), "{quoted}");
    }

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
