//! Text from outside (logs, answers, names of a machine) made harmless for any format.

/// One line in which control characters and those that turn the direction of writing stand as their code points.
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
