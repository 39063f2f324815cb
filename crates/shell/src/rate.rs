//! Rates and stages of open loops: "5000/s", "10s@1000/s", "30s@1000..5000/s".

use std::time::Duration;

use deadheat_load::limits::MAX_PER_SECOND;
use deadheat_model::{load::Stage, workload::OfferedRate};

use crate::values::length;

/// A rate above zero, in requests per second: "5000/s", "300/m", "5000" (per second).
pub fn rate(text: &str) -> Result<f64, String> {
    match any_rate(text)? {
        0.0 => Err("a rate of zero sends nothing; set one above zero".to_owned()),
        rate => Ok(rate),
    }
}

/// A rate of equal work: a number of whole requests per second, or `common`.
pub fn equal_rate(text: &str) -> Result<OfferedRate, String> {
    match text.trim() {
        "common" => Ok(OfferedRate::Common),
        text => {
            let rate = rate(text).map_err(|error| format!("{error}; or write common"))?;
            if rate.fract() != 0.0 || rate > f64::from(u32::MAX) {
                return Err(format!(
                    "{text:?} is not a whole number of requests per second"
                ));
            }
            Ok(OfferedRate::PerSecond(rate as u32))
        }
    }
}

/// A rate of equal work, or `none`.
pub fn equal_rate_or_none(text: &str) -> Result<Option<OfferedRate>, String> {
    match text.trim() {
        "none" => Ok(None),
        text => equal_rate(text)
            .map(Some)
            .map_err(|error| format!("{error}, or none")),
    }
}

/// A stage: a length, and one rate or two.
pub fn stage(text: &str) -> Result<Stage, String> {
    let bad = || format!("{text:?} is not a stage; write 10s@1000/s or 30s@1000..5000/s");
    let (time, rates) = text.split_once('@').ok_or_else(bad)?;
    let length = length(time.trim())?;
    let (from, to) = match rates.split_once("..") {
        None => {
            let rate = any_rate(rates)?;
            (rate, rate)
        }
        Some((from, to)) => {
            // "1000..5000/m": the unit at the end is both rates'.
            let unit = to.trim().split_once('/').map_or("", |(_, unit)| unit);
            let from = if from.contains('/') || unit.is_empty() {
                any_rate(from)?
            } else {
                any_rate(&format!("{from}/{unit}"))?
            };
            (from, any_rate(to)?)
        }
    };
    if from == 0.0 && to == 0.0 {
        return Err(format!("{text:?} sends nothing: set a rate above zero"));
    }
    Ok(Stage { length, from, to })
}

/// How long all stages take.
pub fn total(stages: &[Stage]) -> Duration {
    stages.iter().map(|stage| stage.length).sum()
}

/// The highest rate of all stages, in requests per second.
pub fn highest(stages: &[Stage]) -> f64 {
    let rates = stages.iter().flat_map(|stage| [stage.from, stage.to]);
    rates.fold(0.0, f64::max)
}

fn any_rate(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let bad = || format!("{text:?} is not a rate; write 5000/s, 300/m or 5000 (per second)");
    let (number, seconds) = match text.split_once('/') {
        None => (text, 1.0),
        Some((number, unit)) => match unit.trim() {
            "s" => (number, 1.0),
            "m" => (number, 60.0),
            "h" => (number, 3600.0),
            _ => return Err(bad()),
        },
    };
    // Rust parses these as numbers, but they are not valid rates: "inf", "NaN", "1e3", "-0".
    let number = number.trim();
    let plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    if !number.bytes().all(plain) {
        return Err(bad());
    }
    let rate = number.parse::<f64>().map_err(|_| bad())? / seconds;
    if rate > MAX_PER_SECOND {
        return Err(format!(
            "{text:?} is more than 1,000,000,000 requests per second"
        ));
    }
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_units() {
        let cases = [
            ("5000/s", 5000.0),
            ("300/m", 5.0),
            ("36/h", 0.01),
            ("5000", 5000.0),
            (" 0.5 / s ", 0.5),
        ];
        for (text, expected) in cases {
            assert_eq!(rate(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for text in [
            "", "/s", "-1/s", "1e3", "inf", "NaN", "5k/s", "5/ms", "5/s/s", "1,000", ".", "1e99/s",
        ] {
            assert!(rate(text).unwrap_err().contains("not a rate"), "{text:?}");
        }
        assert!(rate("0/s").unwrap_err().contains("sends nothing"));
        assert!(rate("2000000000").unwrap_err().contains("more than"));
    }

    #[test]
    fn stages_hold_or_go_from_one_rate_to_another() {
        let stage_of = |seconds, from, to| {
            let length = Duration::from_secs(seconds);
            Ok(Stage { length, from, to })
        };
        assert_eq!(stage("10s@1000/s"), stage_of(10, 1000.0, 1000.0));
        assert_eq!(stage("30s@1000..5000/s"), stage_of(30, 1000.0, 5000.0));
        assert_eq!(stage("30s@1000/s..5000/s"), stage_of(30, 1000.0, 5000.0));
        assert_eq!(stage("1m@60..120/m"), stage_of(60, 1.0, 2.0));
        assert_eq!(stage("1m@0..100"), stage_of(60, 0.0, 100.0));
    }

    #[test]
    fn what_is_no_stage_is_refused() {
        for text in ["", "10s", "1000/s", "@", "10s@", "@1000/s", "0s@1/s"] {
            assert!(stage(text).is_err(), "{text:?}");
        }
        for text in ["10s@0/s", "10s@0..0/s"] {
            assert!(stage(text).unwrap_err().contains("sends nothing"), "{text}");
        }
        assert!(stage("10s@1..2..3/s").is_err());
        assert!(stage("10s@5..1/ms").is_err());
    }
}
