//! Counts as people read them.

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
