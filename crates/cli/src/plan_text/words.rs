//! Times and lines.

use std::time::Duration;

use deadheat_report::text::wrap;

/// The columns of a terminal that everybody has.
const WIDTH: usize = 80;

/// The columns of a label and of the blanks around it.
const MARK: usize = 12;

/// A duration for a person: seconds below two minutes, minutes below two hours, else hours and minutes.
pub(crate) fn about(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else if seconds < 7200.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        let minutes = (seconds / 60.0).round() as u64;
        format!("{} h {} min", minutes / 60, minutes % 60)
    }
}

/// The length of a phase, exactly: "3 s", "1.5 s", "100 ms".
pub(crate) fn length(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        return format!("{} ms", duration.as_secs_f64() * 1000.0);
    }
    format!("{} s", duration.as_secs_f64())
}

/// What an entry of the plan is about, and what it is, in lines of at most 80 columns.
pub(crate) fn entry(label: &str, text: &str) -> Vec<String> {
    let mark = format!("  {label:<width$}", width = MARK - 2);
    wrap(text, WIDTH, &mark, false)
}

/// A line of a plan in lines of at most 80 columns: what is longer goes on below its text.
pub(crate) fn in_columns(line: &str) -> Vec<String> {
    match line.split_at_checked(MARK) {
        Some((mark, text)) if line.starts_with("  ") => wrap(text, WIDTH, mark, false),
        _ => vec![line.to_owned()],
    }
}

/// `text` as one word.
pub(crate) fn glued(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_exact() {
        let length = |millis| length(Duration::from_millis(millis));
        assert_eq!(length(3000), "3 s");
        assert_eq!(length(1500), "1.5 s");
        assert_eq!(length(100), "100 ms");
    }

    #[test]
    fn a_line_that_is_too_long_goes_on_below_its_text() {
        let long = format!("  looks     {}", "after 3 heats, ".repeat(10));
        let lines = in_columns(&long);
        assert!(lines.len() > 1 && lines.iter().all(|line| line.chars().count() <= 80));
        assert!(lines[1].starts_with("            "), "{lines:?}");
        for short in [
            "Plan: B against A",
            "  A         go",
            "            and so on",
        ] {
            assert_eq!(in_columns(short), [short]);
        }
    }

    #[test]
    fn an_entry_stays_within_80_columns_and_below_itself() {
        let text = format!("{} {}", "word ".repeat(30), glued("--budget 25m"));
        let lines = entry("blocks", &text);
        assert!(lines.len() > 1 && lines.iter().all(|line| line.chars().count() <= 80));
        assert!(lines[1].starts_with("            w"), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("--budget 25m")));
    }
}
