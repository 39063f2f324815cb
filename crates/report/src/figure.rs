//! Figures as reports write them.

pub use deadheat_model::figure::{
    NONE, Quantity, budgets, bytes, capital, count, counted, cpus, figure, latency, list,
    long_time, per_second, percent, ratio, ratios, seconds, setting, share, short, short_percent,
    signed, size, some, span, two_digits,
};

/// How common a kind of process can be that this number of starts of each server has not shown.
pub fn unseen_starts(starts: usize) -> String {
    if starts == 1 {
        return "One process of each was seen: others may differ.".to_owned();
    }
    format!(
        "{} of each: a kind of process with a share of up to {} may be unseen.",
        counted(starts, "start"),
        short_percent(deadheat_stats::heats::unseen(starts))
    )
}
