//! The lines of a file without what terminals, mail, Markdown and Windows add, and numbers as the tools print
//! them. A unit moves the decimal point of the printed digits, so that nothing is rounded.

use crate::report::{Damage, damage};

/// A line of a file.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// From 1.
    pub(crate) number: usize,
    /// Its text, without blanks at either end.
    pub(crate) text: String,
    /// Whether its end was there: the last line of a file that was cut has none.
    pub(crate) ended: bool,
}

/// The most lines that are kept of a file.
pub(crate) const MAX_LINES: usize = 2_000_000;

/// The lines of a text; of many empty ones in a row, two. `None`: they are too many.
pub(crate) fn lines(text: &str) -> Option<Vec<Line>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut kept: Vec<Line> = Vec::new();
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let line = Line {
            number,
            text: cleaned(line),
            ended: line.ends_with('\n'),
        };
        let is_third =
            line.is_empty() && kept.len() >= 2 && kept[kept.len() - 2..].iter().all(Line::is_empty);
        if is_third {
            continue;
        }
        if kept.len() == MAX_LINES {
            return None;
        }
        kept.push(line);
    }
    Some(kept)
}

/// A line without colours, the marks of a quotation, and what was overwritten on the screen.
fn cleaned(line: &str) -> String {
    let line = line.trim_end_matches(['\r', '\n']);
    let shown = line.rsplit('\r').find(|part| !part.trim().is_empty());
    let text = without_escapes(shown.unwrap_or("")).replace('\u{a0}', " ");
    let mut text = text.trim();
    while let Some(quoted) = text
        .strip_prefix('>')
        .filter(|rest| rest.is_empty() || rest.starts_with(' '))
    {
        text = quoted.trim_start();
    }
    text.to_owned()
}

/// A text without the sequences that set colours (ECMA-48 § 5.4).
fn without_escapes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(one) = rest.next() {
        if one != '\u{1b}' {
            kept.push(one);
            continue;
        }
        if rest.next() == Some('[') {
            // Parameters, and one final byte.
            let _final = rest.find(|one| ('\u{40}'..='\u{7e}').contains(one));
        }
    }
    kept
}

impl Line {
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether it begins or ends a block of code in Markdown.
    pub(crate) fn is_fence(&self) -> bool {
        self.text.starts_with("```") || self.text.starts_with("~~~")
    }

    /// What follows `label`, without blanks.
    pub(crate) fn after(&self, label: &str) -> Option<&str> {
        self.text.strip_prefix(label).map(str::trim)
    }

    /// Damage: this is not what the tool prints here.
    pub(crate) fn wrong<T>(&self, expected: &str) -> Result<T, Damage> {
        let shown: String = self.text.chars().take(80).collect();
        damage(self.number, format!("expected {expected}, found `{shown}`"))
    }

    /// A value, or damage.
    pub(crate) fn expect<T>(&self, value: Option<T>, expected: &str) -> Result<T, Damage> {
        value.map_or_else(|| self.wrong(expected), Ok)
    }
}

/// The lines of a file, one after the other.
pub(crate) struct Cursor<'a> {
    lines: &'a [Line],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(lines: &'a [Line], at: usize) -> Self {
        Self { lines, at }
    }

    /// The index of the next line.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The next line that is not empty; `None` at the end of the file, or of a block of code.
    pub(crate) fn peek(&mut self) -> Option<&'a Line> {
        while self.lines.get(self.at).is_some_and(Line::is_empty) {
            self.at += 1;
        }
        self.lines.get(self.at).filter(|line| !line.is_fence())
    }

    /// Whether the next line is this one.
    pub(crate) fn is_at(&mut self, text: &str) -> bool {
        self.peek().is_some_and(|line| line.text == text)
    }

    /// Whether the next line begins with this.
    pub(crate) fn is_before(&mut self, begin: &str) -> bool {
        self.peek().is_some_and(|line| line.text.starts_with(begin))
    }

    pub(crate) fn skip(&mut self) {
        self.at += 1;
    }

    /// Whether at least `count` lines follow, empty ones included, and the next non-empty one has its end. Then the
    /// report was not cut off here.
    pub(crate) fn is_followed_by(&self, count: usize) -> bool {
        let rest = self.lines.get(self.at..).unwrap_or_default();
        let next = rest.iter().find(|line| !line.is_empty());
        rest.len() >= count && next.is_none_or(|line| line.ended || line.is_fence())
    }

    /// The number of the next line, or of the last one.
    pub(crate) fn number(&self) -> usize {
        let line = self.lines.get(self.at).or(self.lines.last());
        line.map_or(1, |line| line.number)
    }

    /// Damage: the report ends here, and something is missing.
    pub(crate) fn missing<T>(&self, what: &str) -> Result<T, Damage> {
        damage(
            self.number(),
            format!("the report is not complete: `{what}` is missing"),
        )
    }

    /// A value that a report must have.
    pub(crate) fn require<T>(&self, value: Option<T>, what: &str) -> Result<T, Damage> {
        value.map_or_else(|| self.missing(what), Ok)
    }
}

/// A value that a report has only once.
pub(crate) fn once<T>(slot: &mut Option<T>, value: T, line: &Line) -> Result<(), Damage> {
    if slot.replace(value).is_some() {
        let shown: String = line.text.chars().take(40).collect();
        return damage(line.number, format!("`{shown}` is there twice"));
    }
    Ok(())
}

/// A count: digits alone.
pub(crate) fn count(text: &str) -> Option<u64> {
    let is_count = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_count)
}

/// A decimal number with this many digits behind its point.
pub(crate) fn fixed(text: &str, decimals: usize) -> Option<f64> {
    let (_, fraction) = text.split_once('.')?;
    decimal(text, 0).filter(|_| fraction.len() == decimals)
}

/// A decimal number times ten to the `exponent`; neither signs nor anything but digits and one point.
pub(crate) fn decimal(text: &str, exponent: i32) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    count(whole)?;
    let digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let value: f64 = format!("{text}e{exponent}").parse().ok()?;
    Some(value).filter(|value| digits && value.is_finite())
}

/// A number times ten to the `exponent`; `None` if the result is negative or not finite.
pub(crate) fn shifted(value: f64, exponent: i32) -> Option<f64> {
    let moved: f64 = format!("{value}e{exponent}").parse().ok()?;
    Some(moved).filter(|moved| moved.is_finite() && *moved >= 0.0)
}

/// Whether a tool prints this where it measured nothing: `nan`, `-nanus`, `+Inf`, `-`, or nothing at all.
pub(crate) fn is_unmeasured(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['-', '+']);
    let begins = |word: &str| {
        text.get(..word.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(word))
    };
    text.is_empty() || begins("nan") || begins("inf") || begins("n/a")
}

/// A value that `read` reads, or that was not measured; `None`: it is neither.
pub(crate) fn measured<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if is_unmeasured(text) {
        Some(None)
    } else {
        read(text).map(Some)
    }
}

/// Digits and point at the beginning of a text, and the rest.
fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|one: char| !one.is_ascii_digit() && one != '.');
    text.split_at(end.unwrap_or(text.len()))
}

/// A number and its unit of time (`1.02ms`, `12 secs`), in milliseconds.
pub(crate) fn milliseconds(text: &str) -> Option<f64> {
    let (number, unit) = split_unit(text.trim());
    of_unit(number, unit.trim())
}

fn of_unit(number: &str, unit: &str) -> Option<f64> {
    let exponent = match unit {
        "ns" => -6,
        "us" | "µs" | "μs" => -3,
        "ms" => 0,
        "s" | "sec" | "secs" => 3,
        "m" | "min" => return Some(decimal(number, 0)? * 60_000.0),
        "h" => return Some(decimal(number, 0)? * 3_600_000.0),
        _ => return None,
    };
    decimal(number, exponent)
}

/// A duration as Go prints it (`1m2.5s`, `187.542µs`), in milliseconds. k6 puts blanks between its parts.
pub(crate) fn go_duration(text: &str) -> Option<f64> {
    if text == "0s" || text == "0" {
        return Some(0.0);
    }
    let mut rest = text.trim();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let (number, behind) = split_unit(rest);
        let end = behind.find(|one: char| one.is_ascii_digit() || one == ' ');
        let (unit, after) = behind.split_at(end.unwrap_or(behind.len()));
        parts.push(of_unit(number, unit)?);
        rest = after.trim_start();
    }
    (!parts.is_empty()).then(|| parts.iter().sum())
}

/// A size in binary units (`7.35MB`, `6.35 KiB`, `0.00B`), in KiB.
pub(crate) fn kib(text: &str) -> Option<f64> {
    let (number, unit) = split_unit(text.trim());
    let factor = match unit.trim().to_ascii_uppercase().as_str() {
        "B" => 1.0 / 1024.0,
        "KB" | "KIB" => 1.0,
        "MB" | "MIB" => 1024.0,
        "GB" | "GIB" => 1024.0 * 1024.0,
        "TB" | "TIB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(decimal(number, 0)? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_added_is_taken_away() {
        let text = "\u{feff}> \u{1b}[32mRequests/sec: 1.0000\u{1b}[0m  \r\n\n50 %\r  90 %\r\nend";
        let lines = lines(text).expect("a few lines");
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["Requests/sec: 1.0000", "", "90 %", "end"]);
        assert!(lines[2].ended && !lines[3].ended);
    }

    #[test]
    fn digits_are_kept_as_they_were_printed() {
        assert_eq!(milliseconds("0.0037 secs"), Some(3.7));
        assert_eq!(milliseconds("635.91us"), Some(0.63591));
        assert_eq!(milliseconds("1.50m"), Some(90_000.0));
        assert_eq!(go_duration("1m2.5s"), Some(62_500.0));
        assert_eq!(go_duration("187.542µs"), Some(0.187_542));
        assert_eq!(kib("7.35MB"), Some(7526.4));
        assert_eq!(fixed("13214.2607", 4), Some(13214.2607));
    }

    #[test]
    fn what_was_not_measured_is_no_zero() {
        for text in [
            "nan",
            "-nan",
            "-nanus",
            "NaN secs",
            "+Inf",
            "-inf secs",
            "-",
            "",
            "N/A",
        ] {
            assert_eq!(measured(text, milliseconds), Some(None), "{text}");
        }
        assert_eq!(measured("0.00us", milliseconds), Some(Some(0.0)));
        assert_eq!(measured("1.5 parsecs", milliseconds), None);
    }

    #[test]
    fn nothing_else_is_a_number() {
        for text in [
            "-1", "+1", "1e5", "NaN", "inf", "1.", ".5", "1,000", "", "1.2.3",
        ] {
            assert_eq!(decimal(text, 0), None, "{text}");
            assert_eq!(count(text), None, "{text}");
        }
        for text in ["12", "12.5", "1.5 parsecs", "ms"] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
        assert_eq!(
            fixed("13214.26", 4),
            None,
            "cut in the middle of its digits"
        );
        assert_eq!(count("99999999999999999999999"), None);
    }
}
