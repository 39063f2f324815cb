//! The one rule for figures: three significant digits, commas between thousands, a unit that keeps them readable.
//! Counts are exact.

use std::{collections::BTreeSet, fmt};

use crate::words::{counted, separated};

/// What stands where there is no figure.
pub const NONE: &str = "–";

/// A measured figure, to three significant digits ("52,300", "1.20", "0.0345").
pub fn figure(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 {
            "0".to_owned()
        } else {
            NONE.to_owned()
        };
    }
    let rounded = three_digits(value);
    let decimals = (2 - exponent(rounded)).max(0) as usize;
    separated(&format!("{rounded:.decimals$}"))
}

/// A number and its unit, as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The number.
    pub number: String,
    /// The unit with the blank before it; empty for a plain number.
    pub unit: &'static str,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, self.unit)
    }
}

impl Quantity {
    /// A figure without a unit.
    pub fn plain(value: f64) -> Self {
        Self {
            number: figure(value),
            unit: "",
        }
    }

    /// A time in the unit that suits it.
    pub fn seconds(value: f64) -> Self {
        Self::in_unit(value, 1000.0, &[(1e-6, " µs"), (1e-3, " ms"), (1.0, " s")])
    }

    /// A size in binary units.
    pub fn bytes(value: f64) -> Self {
        const KIB: f64 = 1024.0;
        let units = [
            (1.0, " B"),
            (KIB, " KiB"),
            (KIB * KIB, " MiB"),
            (KIB * KIB * KIB, " GiB"),
        ];
        Self::in_unit(value, KIB, &units)
    }

    fn in_unit(value: f64, step: f64, units: &[(f64, &'static str)]) -> Self {
        // Rounded first, so that 999.7 µs is 1.00 ms and not 1,000 µs.
        let fits = |(size, _): &&(f64, &str)| three_digits(value / size) < step;
        let (size, unit) = units.iter().find(fits).unwrap_or(&units[units.len() - 1]);
        Self {
            unit,
            ..Self::plain(value / size)
        }
    }

    /// From here to another one: "1.20 ms–1.35 ms" says its unit twice.
    pub fn to(&self, between: &str, other: &Self) -> String {
        if self.unit == other.unit {
            format!("{}{between}{other}", self.number)
        } else {
            format!("{self}{between}{other}")
        }
    }

    /// Without the zeros that say how precise it is ("5 ms"), for an axis, whose values are round.
    pub fn round(self) -> Self {
        let number = short(&self.number).to_owned();
        Self { number, ..self }
    }
}

/// A time in the unit that suits it ("845 µs", "1.23 ms", "2.05 s").
pub fn seconds(value: f64) -> String {
    Quantity::seconds(value).to_string()
}

/// A size in binary units ("24.0 MiB").
pub fn bytes(value: f64) -> String {
    Quantity::bytes(value).to_string()
}

/// A share as a percentage with one decimal ("98.4 %").
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// "4,700/s".
pub fn per_second(value: f64) -> String {
    format!("{}/s", figure(value))
}

/// A share with its extremes in words, because a small one is not nothing ("under 0.1 %").
pub fn share(part: f64) -> String {
    match part {
        _ if part > 0.0 && part < 0.0005 => "under 0.1 %".to_owned(),
        _ if part < 1.0 && part > 0.9995 => "over 99.9 %".to_owned(),
        _ => percent(part),
    }
}

/// A counted size, exact below a KiB.
pub fn size(counted: u64) -> String {
    match counted {
        0..1024 => format!("{counted} B"),
        _ => bytes(counted as f64),
    }
}

/// A latency in seconds. Histograms do not resolve less than a microsecond.
pub fn latency(value: f64) -> String {
    if value < 1e-6 {
        "under 1 µs".to_owned()
    } else {
        seconds(value)
    }
}

/// A time, or from the least to the most of several, in seconds ("98 ms to 1.91 s").
pub fn span([least, most]: [f64; 2]) -> String {
    let ends = [least, most].map(seconds);
    match ends {
        [least, most] if least == most => most,
        [least, most] => format!("{least} to {most}"),
    }
}

/// "a", "a and b", "a, b and c".
pub fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} and {last}", head.join(", ")),
    }
}

/// Budgets of CPUs ("1, 2 and 4 CPUs"); `None` without any.
pub fn budgets(cpus: &BTreeSet<u32>) -> Option<String> {
    let plural = if *cpus.last()? == 1 { "" } else { "s" };
    let all: Vec<String> = cpus.iter().map(u32::to_string).collect();
    Some(format!("{} CPU{plural}", list(&all)))
}

/// "a, b and c"; of more than `most` the first ones, and how many more.
pub fn some(names: &[String], most: usize) -> String {
    if names.len() <= most {
        return list(names);
    }
    let shown = most.saturating_sub(1).max(1);
    format!(
        "{} and {} more",
        names[..shown].join(", "),
        names.len() - shown
    )
}

/// Like [`some`], for parts that are more than names; the rest is counted as `noun` ("…, and at 3 more loads").
pub fn some_of(parts: &[String], most: usize, noun: &str) -> String {
    if parts.len() <= most {
        return parts.join(", ");
    }
    let shown = most.saturating_sub(1).max(1);
    let more = counted(parts.len() - shown, &format!("more {noun}"));
    format!("{}, and at {more}", parts[..shown].join(", "))
}

/// A share with two significant digits ("0.34 %", "4.2 %", "13 %").
pub fn short_percent(share: f64) -> String {
    format!("{} %", two_digits(share * 100.0))
}

/// Two significant digits, whole numbers from 10 on, at most two decimals.
pub fn two_digits(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    match value.abs() {
        size if size >= 9.95 => format!("{value:.0}"),
        size if size >= 0.995 => format!("{value:.1}"),
        size if size >= 0.005 => format!("{value:.2}"),
        _ => "0".to_owned(),
    }
}

/// A number without zeros at its end that say nothing.
pub fn short(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

fn exponent(value: f64) -> i32 {
    if value == 0.0 {
        0
    } else {
        value.abs().log10().floor() as i32
    }
}

fn three_digits(value: f64) -> f64 {
    // Through text, because a power of ten is not exact in binary and 1.005 × 10² would round by luck.
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// The text with a capital letter at its start.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_significant_digits() {
        let cases = [
            (0.0, "0"),
            (0.012345, "0.0123"),
            (1.2, "1.20"),
            (9.996, "10.0"),
            (99.96, "100"),
            (999.6, "1,000"),
            (1234.0, "1,230"),
            (52_345.0, "52,300"),
            (1_234_567.0, "1,230,000"),
            (-1234.0, "-1,230"),
            (f64::NAN, "–"),
        ];
        for (value, text) in cases {
            assert_eq!(figure(value), text, "{value}");
        }
    }

    #[test]
    fn units_suit_the_figure() {
        assert_eq!(seconds(0.000_845), "845 µs");
        assert_eq!(seconds(0.000_999_7), "1.00 ms");
        assert_eq!(seconds(0.5123), "512 ms");
        assert_eq!(seconds(75.0), "75.0 s");
        assert_eq!(bytes(24.0 * 1_048_576.0), "24.0 MiB");
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(1023.9 * 1024.0), "1,020 KiB");
        assert_eq!(bytes(5e12), "4,660 GiB");
    }

    #[test]
    fn lists_are_english() {
        let words =
            |items: &[&str]| list(&items.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&[]), "");
        assert_eq!(words(&["a"]), "a");
        assert_eq!(words(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn of_many_names_the_first_are_given() {
        let names: Vec<String> = (0..5).map(|n| format!("s{n}")).collect();
        assert_eq!(some(&names[..3], 3), "s0, s1 and s2");
        assert_eq!(some(&names, 3), "s0, s1 and 3 more");
        assert_eq!(some(&names, 1), "s0 and 4 more");
        assert_eq!(some_of(&names, 3, "load"), "s0, s1, and at 3 more loads");
    }
}
