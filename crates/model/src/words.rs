//! Counts, times and rates as people read them.

use std::time::Duration;

/// An exact count ("5,000").
pub fn count(value: u64) -> String {
    separated(&value.to_string())
}

/// An exact count with its noun ("1 heat", "3 heats").
pub fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {noun}"),
        many => format!("{} {noun}s", count(many)),
    }
}

/// A time of at least so many seconds as an option takes it, rounded up: "130s", "12m", "3h".
pub fn time_option(seconds: f64) -> String {
    let whole = |unit: f64| (seconds.max(1.0) / unit).ceil();
    match seconds {
        s if s <= 30.0 => format!("{}s", whole(1.0)),
        s if s <= 600.0 => format!("{}s", 10.0 * whole(10.0)),
        s if s <= 36_000.0 => format!("{}m", whole(60.0)),
        _ => format!("{}h", whole(3_600.0)),
    }
}

/// The exact time of a setting: "100 ms", "1.5 s", "90 s", "2 min", "1 h 30 min".
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    if time < Duration::from_secs(1) && !time.is_zero() {
        return format!("{} ms", time.as_secs_f64() * 1000.0);
    }
    if seconds < 120 || time.subsec_nanos() > 0 {
        return format!("{} s", time.as_secs_f64());
    }
    let parts = [
        (seconds / 3600, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts
        .map(|(number, unit)| format!("{number} {unit}"))
        .collect();
    parts.join(" ")
}

/// A rate: "5,000/s", "0.5/s".
pub fn rate(per_second: f64) -> String {
    let rounded = format!("{per_second:.3}");
    let short = rounded.trim_end_matches('0').trim_end_matches('.');
    format!("{}/s", separated(short))
}

/// A decimal number with commas between thousands.
pub fn separated(number: &str) -> String {
    let (whole, fraction) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        let left = whole.len() - index;
        if index > 0 && left.is_multiple_of(3) && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_options_are_round_and_never_less() {
        let cases = [
            (0.2, "1s"),
            (24.1, "25s"),
            (126.0, "130s"),
            (601.0, "11m"),
            (40_000.0, "12h"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(time_option(seconds), expected);
        }
    }

    #[test]
    fn times_of_settings_are_exact() {
        let cases = [
            (0, "0 s"),
            (100, "100 ms"),
            (1_500, "1.5 s"),
            (119_000, "119 s"),
            (120_000, "2 min"),
            (5_410_000, "1 h 30 min 10 s"),
        ];
        for (milliseconds, expected) in cases {
            assert_eq!(time(Duration::from_millis(milliseconds)), expected);
        }
    }

    #[test]
    fn rates_are_grouped() {
        let rates = [
            (5000.0, "5,000/s"),
            (0.5, "0.5/s"),
            (1234567.25, "1,234,567.25/s"),
            (1.0 / 3.0, "0.333/s"),
            (0.9999, "1/s"),
            (100.0, "100/s"),
        ];
        for (per_second, expected) in rates {
            assert_eq!(rate(per_second), expected);
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        let counts = [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345_678, "12,345,678"),
        ];
        for (value, text) in counts {
            assert_eq!(count(value), text);
        }
        assert_eq!(separated("-123.4567"), "-123.4567");
        assert_eq!(separated("-1234.5678"), "-1,234.5678");
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!(counted(0_u32, "byte"), "0 bytes");
        assert_eq!(counted(1_usize, "byte"), "1 byte");
        assert_eq!(counted(2_000_u64, "byte"), "2,000 bytes");
    }
}
