//! The options of a search for the highest rate.

use clap::Args;
use deadheat_shell::values::precision;

use crate::{thresholds::Threshold, values::whole};

/// What the highest rate is searched for with.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct FindArgs {
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
