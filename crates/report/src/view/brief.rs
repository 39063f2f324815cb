//! The session in a few words, for where there is little room.

use deadheat_model::{SessionRecord, plan::Pinning};
use deadheat_stats::Analysis;
use serde::Serialize;

use super::clean;
use crate::figure::counted;

/// What a card says of the session.
#[derive(Clone, Debug, Serialize)]
pub struct Brief {
    /// The day on which it began (UTC).
    pub date: String,
    /// The machine, its kernel, blocks and Deadheat's version.
    pub machine: String,
    /// What it cannot show, in one line.
    pub caveat: String,
}

/// The session's.
pub fn brief(record: &SessionRecord, analysis: &Analysis) -> Brief {
    let header = &record.header;
    let machine = &header.machine;
    let (date, _) = header
        .started
        .split_once('T')
        .unwrap_or((&header.started, ""));
    let (pinning, server) = match &header.plan.pinning {
        Pinning::Apart { server, .. } if server.len() == 1 => ("", ", a one-core server"),
        Pinning::Apart { .. } => ("", ""),
        Pinning::Off { .. } => (", server and generator on the same CPUs", ""),
    };
    Brief {
        date: clean(date),
        machine: clean(&format!(
            "{}, {} · Linux {} · {} of {} · Deadheat {}",
            machine.cpu_model,
            counted(machine.cpus.len(), "CPU"),
            machine.kernel,
            analysis.blocks.complete.len(),
            counted(analysis.blocks.planned as usize, "block"),
            header.deadheat,
        )),
        caveat: format!(
            "One machine over loopback{pinning}{server}: the report says what this does not show."
        ),
    }
}
