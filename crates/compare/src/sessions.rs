//! Two sessions that have been measured.

use std::path::Path;

use deadheat_model::change::Change;
use deadheat_runner::session::heats::read_session;
use deadheat_shell::exit::Failure;
use deadheat_stats::versus::{
    Bounds, Versus,
    sessions::{self, refusals},
};

/// Compares session `b` with session `a`; if machine or settings differ, only if `force`.
pub(super) fn compare(a: &Path, b: &Path, bounds: Bounds, force: bool) -> Result<Versus, Failure> {
    let read = |folder| read_session(folder).map_err(Failure::usage);
    let (of_a, of_b) = (read(a)?, read(b)?);
    if of_a.header.id == of_b.header.id && of_a.header.started == of_b.header.started {
        return Err(Failure::usage(format!(
            "{} and {} are the same session, {}: there is nothing to compare",
            a.display(),
            b.display(),
            of_a.header.id
        )));
    }
    for (folder, record) in [(a, &of_a), (b, &of_b)] {
        if record.header.comparison.is_some() {
            return Err(Failure::usage(format!(
                "{0} holds a comparison of two sides, and no session of `deadheat run`; `deadheat report {0}` shows it",
                folder.display()
            )));
        }
    }
    let reasons = refusals(&of_a, &of_b);
    if !reasons.is_empty() && !force {
        return Err(Failure::usage(refused(a, b, &reasons)));
    }
    let (name_a, name_b) = (a.display().to_string(), b.display().to_string());
    Ok(sessions::compare(
        (&name_a, &of_a),
        (&name_b, &of_b),
        bounds,
    ))
}

/// All the reasons at once, so that nobody meets them one after the other.
fn refused(a: &Path, b: &Path, reasons: &[Change]) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let reasons = reasons.iter().map(|reason| {
        let what = reason.name();
        let (before, after) = (value(&reason.before), value(&reason.after));
        deadheat_document::view::clean(&format!("{what}: {before} in A, {after} in B"))
    });
    let reasons: String = reasons.map(|reason| format!("\n  - {reason}")).collect();
    format!(
        "{} and {} are not compared, because what differs between them would be in every figure:{reasons}\n\
         Measure again under the same conditions, or go on with these as warnings: --force",
        a.display(),
        b.display()
    )
}
