//! The options of a search for the highest rate.

use clap::Args;

use crate::load::{thresholds::Threshold, values::whole};

/// What the highest rate is searched for with.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct FindArgs {
    /// Find the highest rate at which this is true: 'p99<50ms'; repeatable
    ///
    /// Loads at one rate after the other, for --duration [default: 5s] each. docs/load.md lists the figures.
    #[arg(long, value_name = "BOUND")]
    pub(crate) find_rate: Vec<Threshold>,
    /// --find-rate: the maximum number of trials [default: 20]
    #[arg(long, value_name = "N", value_parser = whole::<1, 100>, hide_short_help = true)]
    pub(crate) looks: Option<u32>,
    /// --find-rate: stop when the rate is known this well [default: 5%]
    #[arg(long, value_name = "PERCENT", value_parser = precision, hide_short_help = true)]
    pub(crate) precision: Option<f64>,
}

impl FindArgs {
    /// Whether there is something to search for.
    pub(crate) fn is_asked(&self) -> bool {
        !self.find_rate.is_empty()
    }
}

/// A share that is written as "5%".
fn precision(text: &str) -> Result<f64, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_is_a_percentage_within_reason() {
        assert_eq!(precision("5%"), Ok(0.05));
        assert_eq!(precision(" 2.5 % "), Ok(0.025));
        for text in ["5", "0%", "0.1%", "51%", "-5%", "x%", "%", "inf%", "1e1%"] {
            assert!(precision(text).unwrap_err().contains("like 5%"), "{text}");
        }
    }
}
