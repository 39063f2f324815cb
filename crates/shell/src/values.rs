//! Values that options of several commands take.

use std::{collections::BTreeSet, time::Duration};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use deadheat_runner::prepare::is_package_name;

use crate::exit::CommandFailure;

/// A parser of these words: what each means, and its help.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    values: &'static [(&'static str, T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let possible = values
        .iter()
        .map(|(name, _, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(possible).try_map(move |typed| {
        let value = values.iter().find(|(name, ..)| *name == typed);
        value
            .map(|(_, value, _)| value.clone())
            .ok_or("not one of the values")
    })
}

/// CPU numbers must be below this: Linux supports at most 8,192 CPUs on x86-64 (CONFIG_NR_CPUS).
const MAX_CPUS: usize = 8_192;

/// "2,3", "0-3": CPUs by their numbers, as `option` has them.
pub fn cpus(option: &str, text: &str) -> Result<Vec<usize>, CommandFailure> {
    let bad = || {
        CommandFailure::usage(format!(
            "{option} {text:?}: write numbers and ranges, like 2,3 or 0-3"
        ))
    };
    let number = |text: &str| -> Result<usize, CommandFailure> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.then(|| text.parse().ok()).flatten();
        number.filter(|cpu| *cpu < MAX_CPUS).ok_or_else(bad)
    };
    let mut cpus = Vec::new();
    for part in text.split(',').map(str::trim) {
        match part.split_once('-') {
            None => cpus.push(number(part)?),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last {
                    return Err(bad());
                }
                cpus.extend(first..=last);
            }
        }
    }
    let mut seen = BTreeSet::new();
    match cpus.iter().find(|cpu| !seen.insert(**cpu)) {
        Some(twice) => Err(CommandFailure::usage(format!(
            "{option} {text:?}: CPU {twice} is listed twice; list each CPU once"
        ))),
        None => Ok(cpus),
    }
}

/// The longest time that an option takes: what is longer is a slip of the keyboard.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// "90s", "10m", "1h 30m"; zero is refused.
pub fn duration(text: &str) -> Result<Duration, String> {
    above_zero(time(text, "write it like 90s or 10m")?)
}

/// The time, if it is any.
pub(crate) fn above_zero(time: Duration) -> Result<Duration, String> {
    match time {
        Duration::ZERO => Err("it must be greater than zero".to_owned()),
        time => Ok(time),
    }
}

/// A time, zero allowed; errors give "30ms" as the example.
pub fn time_like_30ms(text: &str) -> Result<Duration, String> {
    time(text, "write it like 30ms or 0s")
}

/// A time of at most a year, or what is wrong with it and how it is written.
pub(crate) fn time(text: &str, written: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).map_err(|error| format!("{error}; {written}"))?;
    if time > LONGEST {
        return Err(format!("it is longer than a year; {written}"));
    }
    Ok(time)
}

/// A time, zero allowed ("500ms", "10s", "0s").
pub fn time_or_none(text: &str) -> Result<Duration, String> {
    time(text, "write a time like 500ms, 10s or 2m")
}

/// A time above zero; a bare number is seconds.
pub fn length(text: &str) -> Result<Duration, String> {
    // For curl, -d is a body: people used to it type one here.
    if text.starts_with(['{', '[', '"', '@']) || text.contains('=') {
        return Err("this is not a time; set a body with --body or --body-file".to_owned());
    }
    // As ab, hey and wrk read it.
    let seconds = text
        .parse()
        .ok()
        .filter(|seconds: &u32| text == seconds.to_string());
    above_zero(match seconds {
        Some(seconds) => Duration::from_secs(seconds.into()),
        None => time_or_none(text)?,
    })
}

/// "3%" or "3 %", as 0.03; above 0 and below 100 %.
pub fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').map(str::trim);
    let number = number.ok_or("write it in percent, like 3%")?;
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        Ok(_) => Err("it must be above 0% and below 100%".to_owned()),
        Err(_) => Err("write it in percent, like 3%".to_owned()),
    }
}

/// A margin of a dead heat: not below the 1 % that a difference must have to count.
pub fn margin(text: &str) -> Result<f64, String> {
    let share = share(text)?;
    if (0.01..=0.5).contains(&share) {
        return Ok(share);
    }
    Err("it must be from 1% (below that a difference counts as none) to 50%".to_owned())
}

/// How well something is to be known, written as "5%": a share from 0.005 to 0.5.
pub fn precision(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').map(str::trim_end);
    let plain = |text: &&str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    match number.filter(plain).and_then(|text| text.parse().ok()) {
        Some(percent) if (0.5..=50.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(format!(
            "{text:?} is not a precision; write one from 0.5% to 50%, like 5%"
        )),
    }
}

/// A price above zero: "0.04".
pub fn price(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(price) if price > 0.0 && price.is_finite() => Ok(price),
        _ => Err("write a number above zero without a currency, like 0.04".to_owned()),
    }
}

/// The name of a Debian package.
pub fn debian_package(text: &str) -> Result<String, String> {
    if is_package_name(text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "{text:?} is not the name of a Debian package; write lower-case letters, digits, +, - and ., like libpq-dev"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_need_a_unit_and_may_be_nothing_only_where_that_means_something() {
        assert_eq!(time_or_none("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(time_or_none("0s"), Ok(Duration::ZERO));
        assert_eq!(length("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(length("10"), Ok(Duration::from_secs(10)));
        assert!(length("010").is_err() && length("1.5").is_err());
        for wrong in ["10", "", "-1s", "ten", "1s,", "400days"] {
            assert!(time_or_none(wrong).is_err(), "{wrong:?}");
        }
        assert!(length("0s").unwrap_err().contains("greater than zero"));
    }

    #[test]
    fn a_body_after_d_is_told_where_it_belongs() {
        for body in [r#"{"a":1}"#, "@file", "a=1"] {
            assert!(length(body).unwrap_err().contains("--body"), "{body}");
        }
    }

    #[test]
    fn a_precision_is_a_percentage_within_reason() {
        assert_eq!(precision("5%"), Ok(0.05));
        assert_eq!(precision(" 2.5 % "), Ok(0.025));
        for text in ["5", "0%", "0.1%", "51%", "-5%", "x%", "%", "inf%", "1e1%"] {
            assert!(precision(text).unwrap_err().contains("like 5%"), "{text}");
        }
    }

    #[test]
    fn cpus_are_numbers_and_ranges() {
        let cpus = |text| cpus("--cpus", text);
        let cases = [
            ("0", vec![0]),
            ("2,3", vec![2, 3]),
            ("0-3", vec![0, 1, 2, 3]),
            ("5, 0-1", vec![5, 0, 1]),
        ];
        for (text, expected) in cases {
            assert_eq!(cpus(text).unwrap(), expected, "{text}");
        }
        let bad = [
            "",
            ",",
            "a",
            "-1",
            "3-1",
            "1-",
            "+1",
            "9999999",
            "0-99999999999",
        ];
        for text in bad {
            let error = cpus(text).unwrap_err().to_string();
            assert!(error.contains("like 2,3 or 0-3"), "{text}");
        }
        let twice = cpus("1,0-1").unwrap_err().to_string();
        assert!(twice.contains("CPU 1 is listed twice"), "{twice}");
    }

    #[test]
    fn durations_need_a_unit_and_a_length() {
        assert_eq!(duration("1m 30s"), Ok(Duration::from_secs(90)));
        assert!(duration("90").is_err());
        assert!(duration("0s").is_err());
        assert!(duration("366d").is_ok());
        for long in ["9000000000000000000s", "367d"] {
            let error = duration(long).unwrap_err();
            assert!(error.contains("longer than a year"), "{error}");
        }
    }

    #[test]
    fn shares_are_percent() {
        assert_eq!(share("3%"), Ok(0.03));
        assert_eq!(share("2.5 %"), Ok(0.025));
        for wrong in ["3", "", "%", "0%", "-1%", "100%", "NaN%", "inf%", "three%"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_margin_is_no_smaller_than_a_difference_that_counts() {
        assert_eq!(margin("1%"), Ok(0.01));
        assert!(margin("0.5%").is_err() && margin("51%").is_err());
    }
}
