//! What a load is called.

use deadheat_model::{
    LoadPoint,
    figure::{count, counted},
    load::words,
    workload::{Framing, OfferedRate, Sending},
};

use super::clean;

/// The workload and its load, for a heading.
pub fn title(workload: &str, point: &LoadPoint) -> String {
    clean(&format!("{workload}, {}", load(point)))
}

/// A load, in words.
pub fn load(point: &LoadPoint) -> String {
    let rounds = point
        .rounds
        .map(|rounds| format!(", {}", counted(rounds as usize, "round")))
        .unwrap_or_default();
    let how = sending(point.sending);
    let connections = point.connections_in_words();
    let open = point.open.as_ref().map(|open| match open.rate {
        OfferedRate::Common => ", the same rate for all".to_owned(),
        OfferedRate::PerSecond(rate) => format!(", {} requests/s for all", count(rate.into())),
    });
    format!("{connections}{rounds}{how}{}", open.unwrap_or_default())
}

/// How requests are sent, after a comma; nothing if that is as usual.
fn sending(sending: Sending) -> String {
    if sending.is_usual() {
        return String::new();
    }
    let reuse = words::reuse(sending.reuse);
    let bodies = match sending.bodies {
        Framing::Sized => "",
        Framing::Chunked => ", chunked bodies",
    };
    format!(", HTTP/{}, {reuse}{bodies}", sending.http)
}
