//! The load over time for monitoring systems. docs/metrics.md describes what they get.
//!
//! ```text
//! Interval → Meter → Reading (cumulative samples at an instant) → open_metrics, otlp
//! ```
//!
//! The two formats only lay out readings, so that they cannot contradict each other.

mod family;
mod meter;
mod open_metrics;
mod otlp;
mod reading;
mod source;

pub use meter::{Meter, readings};
pub use open_metrics::open_metrics;
pub use otlp::{otlp, otlp_rejected, otlp_request};
pub use reading::Reading;
pub use source::Source;
