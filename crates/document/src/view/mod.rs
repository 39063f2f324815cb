//! What the reports of sessions, comparisons and loads have in common: text that is fit to be shown, facts, and names.

pub mod facts;

use deadheat_model::{
    LoadPoint,
    figure::{count, counted},
    load::words,
    workload::{Framing, OfferedRate, Sending},
};

pub use facts::{Fact, StackFacts};

/// One line in which control characters, and those that change the direction of writing, are replaced by their code points.
/// Without this a log could move the reader's cursor, or show another order of words than it has.
pub fn clean(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => line.push_str("    "),
            // The ends of an answer's lines, as programmers know them.
            '\r' => line.push_str("\\r"),
            '\n' => line.push_str("\\n"),
            c if c.is_control() || turns_direction(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    line
}

const fn turns_direction(character: char) -> bool {
    matches!(
        character,
        '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Lines of a log, each cleaned; a run of equal ones is one line that says how many.
pub fn clean_log(lines: &[String]) -> Vec<String> {
    let runs = lines.chunk_by(|one, next| one == next);
    runs.map(|run| match run.len() {
        1 => clean(&run[0]),
        count => format!("{} (×{count})", clean(&run[0])),
    })
    .collect()
}

/// The workload and its load, for a heading.
pub fn title(workload: &str, point: &LoadPoint) -> String {
    clean(&format!("{workload}, {}", load(point)))
}

/// A load, in words.
pub fn load(point: &LoadPoint) -> String {
    let rounds = point
        .rounds
        .map(|rounds| format!(", {}", counted(rounds as usize, "round")))
        .unwrap_or_default();
    let how = sending(point.sending);
    let connections = point.connections_in_words();
    let open = point.open.as_ref().map(|open| match open.rate {
        OfferedRate::Common => ", the same rate for all".to_owned(),
        OfferedRate::PerSecond(rate) => format!(", {} requests/s for all", count(rate.into())),
    });
    format!("{connections}{rounds}{how}{}", open.unwrap_or_default())
}

/// How requests are sent, after a comma; nothing if that is as usual.
fn sending(sending: Sending) -> String {
    if sending.is_usual() {
        return String::new();
    }
    let reuse = words::reuse(sending.reuse);
    let bodies = match sending.bodies {
        Framing::Sized => "",
        Framing::Chunked => ", chunked bodies",
    };
    format!(", HTTP/{}, {reuse}{bodies}", sending.http)
}

#[cfg(test)]
mod tests {
    use super::{clean, clean_log};

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(clean("\u{1b}[2Jgone\r\n"), "\\u{1b}[2Jgone\\r\\n");
        assert_eq!(clean("a\u{202e}b"), "a\\u{202e}b");
        let log = ["same", "same", "other"].map(str::to_owned);
        assert_eq!(clean_log(&log), ["same (×2)", "other"]);
        assert_eq!(clean("Größe 大小\t<b>"), "Größe 大小    <b>");
    }
}
