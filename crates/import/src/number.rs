//! Numbers as the tools print them. A unit moves the decimal point of the printed digits, so that nothing is rounded.

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
