//! What `deadheat load` leaves for a person or a program, from the record of one load and its analysis.
//!
//! [`LoadView`] holds every figure as a rounded string with its unit; [`brief`], [`text`] and [`html`] only lay it out. What
//! programs read ([`json`], [`csv`], [`hdr_log`], [`hgrm`]) is unrounded. docs/load-json.md describes it. What monitoring
//! systems read ([`open_metrics`], [`otlp`]) is made from [`Reading`]s. docs/metrics.md describes it.

mod csv;
mod hdr_log;
mod hgrm;
mod html;
mod json;
mod metrics;
mod text;
mod view;

pub use csv::{COLUMNS, csv, csv_head, csv_row};
pub use hdr_log::{RESPONSE_TIME_TAG, SERVICE_TIME_TAG, hdr_log};
pub use hgrm::{hgrm, hgrm_of};
pub use html::{html, html_with};
pub use json::{SCHEMA, json};
pub use metrics::{
    Meter, Reading, Source, open_metrics, otlp, otlp_rejected, otlp_request, readings,
};
pub use text::{brief, text};
pub use view::{
    FailureRow, LatencyRow, LatencyTable, LatencyUnit, LoadView, Percentiles, Point, REQUEST_HEADS,
    RequestRow, Series, SignView, StatusRow, most_frequent, most_frequent_failure,
};
