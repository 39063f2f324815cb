//! What `deadheat load` leaves for a person or a program, from the record of one load and its analysis.
//!
//! [`document`], [`brief`] and [`html`] are for people. What programs read ([`json()`], [`csv()`], [`hdr_log()`], [`hgrm()`])
//! is unrounded. What monitoring systems read ([`open_metrics`], [`otlp`]) is made from [`Reading`]s; docs/metrics.md
//! describes it.

mod csv;
mod facts;
mod hdr_log;
mod headline;
mod hgrm;
mod json;
mod layout;
mod metrics;
mod plan;
mod plot_data;
mod plots;
mod tables;

pub use csv::{csv, csv_head, csv_row};
pub use hdr_log::{RESPONSE_TIME_TAG, SERVICE_TIME_TAG, hdr_log};
pub use headline::{most_frequent, most_frequent_failure};
pub use hgrm::{hgrm, hgrm_of};
pub use json::json;
pub use metrics::{
    Meter, Reading, Source, open_metrics, otlp, otlp_rejected, otlp_request, readings,
};

pub use self::layout::{brief, document, html};
pub use self::{
    csv::{Row, failed_column},
    json::Report,
};
