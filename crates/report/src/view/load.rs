//! What a load is called.

use deadheat_model::{
    LoadPoint,
    load::Reuse,
    workload::{Framing, OfferedRate},
};

use super::clean;
use crate::figure::{count, counted};

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
    let Some(by_count) = &point.counted else {
        let connections = counted(point.connections as usize, "connection");
        let open = point.open.as_ref().map(|open| match open.rate {
            OfferedRate::OfOwnCapacity(percent) => {
                format!(", open loop at {percent} % of each stack's own capacity")
            }
            OfferedRate::OfSlowestCapacity(percent) => {
                format!(", open loop at {percent} % of the slowest stack's capacity")
            }
        });
        return format!("{connections}{rounds}{}", open.unwrap_or_default());
    };
    let version = by_count.http;
    let reuse = match by_count.reuse {
        Reuse::KeepAlive => "keep-alive",
        Reuse::PerRequest => "a connection each",
    };
    let bodies = match by_count.bodies {
        Framing::Sized => "",
        Framing::Chunked => ", chunked bodies",
    };
    format!(
        "{}, {} at a time{rounds}, HTTP/{version}, {reuse}{bodies}",
        counted(by_count.requests as usize, "request"),
        count(point.connections.into()),
    )
}
