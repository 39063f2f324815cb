//! How much other programs took from server and generator in the kept heats that are repeated if that is much.

use std::path::{Path, PathBuf};

use deadheat_model::{
    figure::{counted, short_percent},
    heat::TAKEN_FROM_HEAT,
};

use super::{results, sessions::record};
use crate::project::root;

/// The shares that were taken in heats that are disturbed and in the others, as Markdown, from all kept sessions of
/// `deadheat run`. Equal work has no heats of its own.
///
/// # Errors
/// What cannot be read.
pub(super) fn table() -> Result<String, String> {
    let (mut quiet, mut disturbed) = (Vec::new(), Vec::new());
    for folder in [results::folder(), root().join("docs/evidence")] {
        for session in sessions_in(&folder)? {
            let record = record(&session)?;
            if record.header.comparison.is_some() {
                continue;
            }
            let loads = &record.header.plan.loads;
            let judged = record.heats.iter();
            for measured in judged.filter(|one| loads[one.load as usize].leads()) {
                match measured.heat.taken_share() {
                    Some(share) if share > TAKEN_FROM_HEAT => disturbed.push(share),
                    Some(share) => quiet.push(share),
                    None => {}
                }
            }
        }
    }
    let row = |what: &str, shares: &[f64]| {
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let most = shares.iter().copied().fold(0.0, f64::max);
        let (least, most) = (short_percent(least), short_percent(most));
        let range = match shares.len() {
            0 => "–".to_owned(),
            _ if least == most => least,
            _ => format!("{least} to {most}"),
        };
        format!("| {} | {range} |\n", counted(shares.len(), what))
    };
    Ok(format!(
        "| heats | taken, at least |\n| --- | --- |\n{}{}",
        row("heat", &quiet),
        row("heat", &disturbed)
    ))
}

/// The sessions in a folder, at any depth, in the order of their names.
pub(super) fn sessions_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let entries: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut folders = entries.map_err(failed)?;
    folders.retain(|path| path.is_dir());
    folders.sort();
    let mut sessions = Vec::new();
    for path in folders {
        if path.join("heats.jsonl.gz").exists() {
            sessions.push(path);
        } else {
            sessions.extend(sessions_in(&path)?);
        }
    }
    Ok(sessions)
}
