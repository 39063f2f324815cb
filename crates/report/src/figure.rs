//! Figures as reports write them.

pub use deadheat_model::figure::{
    NONE, Quantity, budgets, bytes, capital, count, counted, cpus, figure, latency, list,
    long_time, per_second, percent, ratio, ratios, seconds, setting, share, short, short_percent,
    signed, size, some, span, two_digits,
};
