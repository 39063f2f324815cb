//! The formats of numbers and lists in all outputs. A measured figure has three significant digits, commas between
//! thousands, and a unit that keeps it readable. Counts and settings are exact.

use std::{collections::BTreeSet, fmt, time::Duration};

/// The text for a missing figure.
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

/// A formatted number and its unit.
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

    /// A time, passed in seconds, in µs, ms or s.
    pub fn seconds(value: f64) -> Self {
        Self::in_unit(value, 1000.0, &[(1e-6, " µs"), (1e-3, " ms"), (1.0, " s")])
    }

    /// A number of bytes, in binary units.
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
        // The rounded value decides as well, so that 999.7 µs is 1.00 ms and not 1,000 µs.
        let fits = |(size, _): &&(f64, &str)| (value / size).max(three_digits(value / size)) < step;
        let (size, unit) = units.iter().find(fits).unwrap_or(&units[units.len() - 1]);
        Self {
            unit,
            ..Self::plain(value / size)
        }
    }

    /// The range from this quantity to `other`, with `between` between them. A common unit is written once.
    pub fn to(&self, between: &str, other: &Self) -> String {
        if self.unit == other.unit {
            format!("{}{between}{other}", self.number)
        } else {
            format!("{self}{between}{other}")
        }
    }

    /// The quantity without trailing zeros ("5 ms"), for an axis, whose values are round.
    pub fn round(self) -> Self {
        let number = short(&self.number).to_owned();
        Self { number, ..self }
    }
}

/// A time, passed in seconds, in the unit that suits it ("845 µs", "1.23 ms", "2.05 s").
pub fn seconds(value: f64) -> String {
    Quantity::seconds(value).to_string()
}

/// A number of bytes, in binary units ("24.0 MiB").
pub fn bytes(value: f64) -> String {
    Quantity::bytes(value).to_string()
}

/// A share as a percentage with one decimal ("98.4 %").
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A rate: "4,700/s".
pub fn per_second(value: f64) -> String {
    format!("{}/s", figure(value))
}

/// A share as a percentage. A share close to 0 or 1 is written as a bound ("under 0.1 %"), because it is not 0 or 1.
pub fn share(part: f64) -> String {
    match part {
        _ if part > 0.0 && part < 0.0005 => "under 0.1 %".to_owned(),
        _ if part < 1.0 && part > 0.9995 => "over 99.9 %".to_owned(),
        _ => percent(part),
    }
}

/// A size in bytes, exact below 1 KiB.
pub fn size(counted: u64) -> String {
    match counted {
        0..1024 => format!("{counted} B"),
        _ => bytes(counted as f64),
    }
}

/// The most decimals of a number with four significant digits.
const MAX_DECIMALS: i32 = 12;

/// Four significant digits without trailing zeros, so that a figure visibly differs from its bound.
pub fn four_digits(value: f64) -> String {
    let decimals = (3 - exponent(value)).clamp(0, MAX_DECIMALS) as usize;
    short(&format!("{value:.decimals$}")).to_owned()
}

/// A time, passed in seconds, with four significant digits, so that it visibly differs from its bound ("12.34 ms").
pub fn precise_seconds(value: f64) -> String {
    match value {
        _ if value < 1e-3 => format!("{} µs", four_digits(value * 1e6)),
        _ if value < 1.0 => format!("{} ms", four_digits(value * 1e3)),
        _ => format!("{} s", four_digits(value)),
    }
}

/// Bytes per second in decimal units, with four significant digits ("1.234 MB/s").
pub fn byte_rate(per_second: f64) -> String {
    let units = [("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)];
    let unit = units.into_iter().find(|(_, factor)| per_second >= *factor);
    let (name, factor) = unit.unwrap_or(("B/s", 1.0));
    format!("{} {name}", four_digits(per_second / factor))
}

/// A latency, passed in seconds. Latencies below 1 µs, the resolution of histograms, are "under 1 µs".
pub fn latency(value: f64) -> String {
    if value < 1e-6 {
        "under 1 µs".to_owned()
    } else {
        seconds(value)
    }
}

/// The range of several times, passed in seconds ("98 ms to 1.91 s"); a single time if both ends look the same.
pub fn span([least, most]: [f64; 2]) -> String {
    let ends = [least, most].map(seconds);
    match ends {
        [least, most] if least == most => most,
        [least, most] => format!("{least} to {most}"),
    }
}

/// A list: "a", "a and b", "a, b and c".
pub fn list(items: &[impl fmt::Display]) -> String {
    list_with("and", items)
}

/// A list with another conjunction than "and" ("404, 405 or 501").
pub fn list_with(word: &str, items: &[impl fmt::Display]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} {word} {last}", head.join(", ")),
    }
}

/// CPUs by their numbers ("CPU 1", "CPUs 0, 2 and 3").
pub fn cpus(cpus: &[usize]) -> String {
    match cpus {
        [] => "no known CPU".to_owned(),
        [one] => format!("CPU {one}"),
        several => format!("CPUs {}", list(several)),
    }
}

/// Numbers of CPUs ("1, 2 and 4 CPUs"); `None` for an empty set.
pub fn budgets(cpus: &BTreeSet<u32>) -> Option<String> {
    let plural = if *cpus.last()? == 1 { "" } else { "s" };
    let all: Vec<u32> = cpus.iter().copied().collect();
    Some(format!("{} CPU{plural}", list(&all)))
}

/// A list with at most `most` parts: the first names, and the number of the others ("a, b and 3 more").
pub fn some(names: &[impl fmt::Display], most: usize) -> String {
    if names.len() <= most {
        return list(names);
    }
    let shown = most.saturating_sub(1).max(1);
    let mut parts: Vec<String> = names[..shown].iter().map(ToString::to_string).collect();
    parts.push(format!("{} more", names.len() - shown));
    list(&parts)
}

/// Like [`some`], for parts that are phrases. The others are counted as `noun` ("…, and at 3 more loads").
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

/// An approximate share in whole percent ("8 %").
pub fn rough_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A difference in percent, with its sign: "−4.8 %", "+268 %".
pub fn signed(share: f64) -> String {
    let percent = 100.0 * share;
    let size = match percent.abs() {
        size if size < 0.1 => format!("{size:.2}"),
        size if size < 9.95 => format!("{size:.1}"),
        size => format!("{size:.0}"),
    };
    let sign = match percent {
        _ if size.chars().all(|c| c == '0' || c == '.') => "±",
        less if less < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{size} %")
}

/// A share from a setting, with as few digits as possible ("3 %", "2.5 %", "0.0041 %").
pub fn setting(share: f64) -> String {
    let percent = share * 100.0;
    let digits = match percent {
        p if p >= 1.0 => 2,
        p if p >= 0.01 => 3,
        p if p > 0.0 => (-p.log10()).ceil() as usize + 1,
        _ => 0,
    };
    format!("{} %", short(&format!("{percent:.digits$}")))
}

/// A ratio ("1.63", "12.3", "0.035"). Ratios near 1 have three decimals, because 0.1 % matters there.
pub fn ratio(value: f64) -> String {
    as_ratio(value, value)
}

/// A range of ratios, with as many decimals as the end closer to 1 needs ("1.041–1.153", "0.82–0.88"). An end at 0 or ∞
/// is open ("≥ 1.41"). The text is a dash if both ends are open.
pub fn ratios(low: f64, high: f64) -> String {
    let nearest = if (low - 1.0).abs() < (high - 1.0).abs() {
        low
    } else {
        high
    };
    match (low > 0.0, high.is_finite()) {
        (true, true) => format!("{}–{}", as_ratio(low, nearest), as_ratio(high, nearest)),
        (true, false) => format!("≥ {}", ratio(low)),
        (false, true) => format!("≤ {}", ratio(high)),
        (false, false) => NONE.to_owned(),
    }
}

/// `value` with the number of decimals of the ratio `like`.
fn as_ratio(value: f64, like: f64) -> String {
    match like {
        _ if !(0.009_95..9.995).contains(&value) => figure(value),
        _ if value < 0.0995 => format!("{value:.3}"),
        like if like > 0.9 && like < 1.1 => format!("{value:.3}"),
        _ => format!("{value:.2}"),
    }
}

/// A duration, passed in seconds, in words ("45 s", "9 min 40 s", "2 h 5 min").
pub fn long_time(value: f64) -> String {
    let all = value.round() as u64;
    let (hours, minutes, rest) = (all / 3600, all / 60 % 60, all % 60);
    let part = |number: u64, unit: &str| (number > 0).then(|| format!("{number} {unit}"));
    let parts = match hours {
        0 if all < 60 => return seconds(value),
        0 => [part(minutes, "min"), part(rest, "s")],
        _ => [part(hours, "h"), part(minutes, "min")],
    };
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" ")
}

/// An approximate duration ("9.5 s", "45 s", "12 min", "2 h 5 min").
pub fn about(time: Duration) -> String {
    let seconds = time.as_secs_f64();
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

/// Two significant digits with at most two decimals. Numbers from 10 on are whole.
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

/// A decimal number without trailing zeros.
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

/// A time of at least this many seconds in the format of options, rounded up: "130s", "12m", "3h".
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

/// A rate: "5,000/s", "0.5/s". A slow one has four significant digits: "0.0002778/s" is one an hour.
pub fn rate(per_second: f64) -> String {
    if per_second < 0.1 {
        return format!("{}/s", four_digits(per_second));
    }
    format!("{}/s", separated(short(&format!("{per_second:.3}"))))
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
mod tests;
