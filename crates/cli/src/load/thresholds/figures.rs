//! Figures as they are told beside their bounds.

use deadheat_model::figure::short;

/// A time in seconds with four digits that count, so that it can be told from its bound.
pub(super) fn time(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{} µs", digits(seconds * 1e6))
    } else if seconds < 1.0 {
        format!("{} ms", digits(seconds * 1e3))
    } else {
        format!("{} s", digits(seconds))
    }
}

/// Bytes per second, likewise.
pub(super) fn bytes(per_second: f64) -> String {
    let units = [("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)];
    let unit = units.into_iter().find(|(_, factor)| per_second >= *factor);
    let (name, factor) = unit.unwrap_or(("B/s", 1.0));
    format!("{} {name}", digits(per_second / factor))
}

/// Four digits that count, without zeros at the end.
pub(super) fn digits(value: f64) -> String {
    let whole = if value >= 1.0 {
        value.log10().floor() as usize + 1
    } else {
        1
    };
    short(&format!("{value:.*}", 4_usize.saturating_sub(whole))).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (0.12345, "0.123"),
            (1.0, "1"),
            (50.04, "50.04"),
            (1234.5, "1234"),
            (99999.0, "99999"),
        ];
        for (value, expected) in cases {
            assert_eq!(digits(value), expected);
        }
        assert_eq!(time(0.0123), "12.3 ms");
        assert_eq!(time(0.000_000_5), "0.5 µs");
        assert_eq!(bytes(999.0), "999 B/s");
    }
}
