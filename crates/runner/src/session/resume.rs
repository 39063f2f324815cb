//! Resumes a session that was interrupted or killed, but only under the conditions in which it began.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use deadheat_model::{
    Event, TargetId,
    change::{Aspect, Change, between},
    heats::SessionHeader,
    machine::HostRecord,
    session::{FoundVersion, TargetRecord, TargetState},
};

use super::{
    SessionError, SessionOptions, describe_machine,
    folder::SessionFolder,
    journal::{HEADER_FILE, Journal, JournalError},
    preparation::prepare,
    services::Services,
    sources::{definitions, hash_sources, own_build},
};
use crate::{
    agent::Agents,
    prepare::{Host, inspect},
};

/// Why a session cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The folder has no header.
    #[error(
        "going on with {}: it has no {HEADER_FILE}, because it ended before anything was measured; begin a new \
         session with `deadheat run`", folder.display()
    )]
    NoSession {
        /// The folder.
        folder: PathBuf,
    },
    /// The journal cannot be opened for writing.
    #[error(
        "going on with {}: opening its journal for writing ({source}); a session goes on in its own folder, so make \
         that writable, or go on with a copy of it", folder.display()
    )]
    NotWritable {
        /// The folder.
        folder: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// No stack can be measured.
    #[error(
        "going on with {}: no stack could be measured when it began, so there is nothing to go on with; begin a new \
         one with `deadheat run`", folder.display()
    )]
    NothingPlanned {
        /// The folder.
        folder: PathBuf,
    },
    /// The session is one of `deadheat compare`.
    #[error(
        "going on with {}: `deadheat compare` measured it, and only a session of `deadheat run` can go on; compare again",
        folder.display()
    )]
    Comparison {
        /// The folder.
        folder: PathBuf,
    },
    /// The conditions have changed, so it would not be the same session.
    #[error(
        "going on with {}: these have changed since it began:\n{changes}\nA session is measured under the same \
         circumstances from beginning to end. Restore them, or begin a new one with `deadheat run`", folder.display()
    )]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// What changed.
        changes: Changes,
    },
    /// The files could not be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The session was resumed, and then an error ended it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Checks that `folder`, whose journal has the name `journal`, has a header.
///
/// # Errors
/// When there is no header.
pub(super) fn expect_header(folder: &Path, journal: &str) -> Result<(), ResumeError> {
    if folder.join(HEADER_FILE).exists() {
        return Ok(());
    }
    // The process that holds the journal may be about to write the header.
    if let Err(held @ JournalError::Held { .. }) = Journal::reopen_as(folder, journal) {
        return Err(held.into());
    }
    let folder = folder.to_owned();
    Err(ResumeError::NoSession { folder })
}

/// Opens the journal of this name in `folder` for writing, and locks it.
///
/// # Errors
/// When it cannot be written, or another process writes it.
pub(super) fn reopen(folder: &Path, journal: &str) -> Result<Journal, ResumeError> {
    Journal::reopen_as(folder, journal).map_err(|error| match error {
        JournalError::Write { source, .. } => ResumeError::NotWritable {
            folder: folder.to_owned(),
            source,
        },
        other => other.into(),
    })
}

/// Prepares the stacks of the session that began with `header` again. `None`: the user asked to stop, and the session
/// is unchanged.
///
/// # Errors
/// When something changed since it began, or the services' files cannot be written.
pub(super) fn prepare_again(
    folder: &SessionFolder,
    header: &SessionHeader,
    options: &SessionOptions,
    database_host: Option<Agents>,
    on_event: &mut dyn FnMut(&Event),
    interrupt: &AtomicBool,
) -> Result<Option<Services>, ResumeError> {
    // Check before anything is built what can be checked by then.
    refuse(folder, changes_at_once(header, options))?;
    folder.remove_remains();
    let pinning = &header.plan.pinning;
    let (services, prepared) =
        prepare(options, folder, pinning, database_host, on_event, interrupt)?;
    if interrupt.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let prepared: Vec<TargetRecord> = prepared.into_iter().map(|one| one.record).collect();
    let postgres = services.describe_postgres();
    refuse(
        folder,
        changes_when_prepared(header, options, prepared, postgres),
    )?;
    Ok(Some(services))
}

pub(super) fn refuse(folder: &SessionFolder, changes: Changes) -> Result<(), ResumeError> {
    if changes.is_empty() {
        return Ok(());
    }
    let folder = folder.path().to_owned();
    Err(ResumeError::Changed { folder, changes })
}

/// Changes since the session began, one per line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes(Vec<String>);

impl Changes {
    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn new(before: &SessionHeader, after: &SessionHeader) -> Self {
        // Of the commit, only the files of stacks and workloads matter, and these are compared.
        let all = between(before, after).into_iter();
        let that_matter = all.filter(|change| change.aspect != Aspect::Commit);
        let mut changes: Vec<String> = that_matter.map(|change| in_words(&change)).collect();
        changes.extend(changed_build(before, after));
        Self(changes)
    }
}

impl FromIterator<String> for Changes {
    fn from_iter<I: IntoIterator<Item = String>>(lines: I) -> Self {
        Self(lines.into_iter().collect())
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(|line| format!("  {line}")).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// The change of the program, if it is known. Sessions of two builds can be compared, and one session has one of them.
fn changed_build(before: &SessionHeader, after: &SessionHeader) -> Option<String> {
    let (was, is) = before.build.as_ref().zip(after.build.as_ref())?;
    (was != is).then(|| format!("Deadheat's program: it was built as {was}, and is {is}"))
}

fn in_words(change: &Change) -> String {
    let side = |value: &Option<String>| match value.as_deref() {
        None => "not there".to_owned(),
        Some("") => "nothing".to_owned(),
        Some(value) => value.to_owned(),
    };
    let (before, after) = (side(&change.before), side(&change.after));
    format!("{}: it was {before}, and is {after}", change.name())
}

/// The changes that can be detected before anything is built.
fn changes_at_once(before: &SessionHeader, options: &SessionOptions) -> Changes {
    let never = AtomicBool::new(false);
    let host = Host::here(options.supervision.clone(), &never);
    let found = measured(before).filter_map(|record| {
        let mut targets = options.targets.iter();
        let target = targets.find(|one| one.target == record.target)?;
        let versions = inspect(&host, &target.stack).versions(&record.target);
        Some(TargetRecord {
            versions: with_unfetched(versions, &record.versions),
            sources: hash_sources(&target.stack.dir).ok(),
            ..record.clone()
        })
    });
    let found: Vec<TargetRecord> = found.collect();
    let unchecked = unchecked(before, &found);
    let mut changes = Changes::new(before, &now(before, options, found));
    changes.0.extend(unchecked);
    changes
}

/// The changes that are detected after all stacks of the plan were prepared again.
fn changes_when_prepared(
    before: &SessionHeader,
    options: &SessionOptions,
    prepared: Vec<TargetRecord>,
    postgres: Option<String>,
) -> Changes {
    let lost: Vec<String> = prepared
        .iter()
        .flat_map(|one| {
            let mut records = before.targets.iter();
            let record = records.find(|record| record.target == one.target);
            record.map(|record| lost(record, one)).unwrap_or_default()
        })
        .collect();
    let unchecked = unchecked(before, &prepared);
    let mut after = now(before, options, prepared);
    after.postgres = postgres;
    let mut changes = Changes::new(before, &after);
    changes.0.extend(lost);
    changes.0.extend(unchecked);
    changes
}

/// The changes of the other hosts.
pub(super) fn changed_hosts(before: &SessionHeader, found: Vec<HostRecord>) -> Changes {
    let after = SessionHeader {
        hosts: found,
        ..before.clone()
    };
    Changes::new(before, &after)
}

/// The targets that the session measures. Changes of other targets do not matter.
fn measured(before: &SessionHeader) -> impl Iterator<Item = &TargetRecord> {
    let targets = before.targets.iter();
    targets.filter(|record| measures(before, &record.target))
}

fn measures(header: &SessionHeader, target: &TargetId) -> bool {
    let mut loads = header.plan.loads.iter();
    loads.any(|load| load.targets.contains(target))
}

/// The targets whose sources cannot be compared, because they could not be read then or cannot be read now.
fn unchecked(before: &SessionHeader, found: &[TargetRecord]) -> Vec<String> {
    let both = measured(before).filter_map(|then| {
        let mut found = found.iter();
        Some((then, found.find(|now| now.target == then.target)?))
    });
    let line = |(then, now): (&TargetRecord, &TargetRecord)| {
        let when = match (&then.sources, &now.sources) {
            (Some(_), Some(_)) => return None,
            (None, _) => "could not be read when the session began",
            (Some(_), None) => "cannot be read now",
        };
        let target = &then.target;
        Some(format!(
            "{target}: its sources {when}, so it is unknown whether they have changed"
        ))
    };
    both.filter_map(line).collect()
}

/// The header that the session would have if it began now.
fn now(
    before: &SessionHeader,
    options: &SessionOptions,
    found: Vec<TargetRecord>,
) -> SessionHeader {
    let mut after = before.clone();
    after.deadheat = options.version.clone();
    after.build = own_build();
    after.machine = describe_machine();
    after.plan.pinning = options.share_out();
    after.definitions = definitions(options);
    after
        .targets
        .retain(|record| !measures(before, &record.target));
    after.targets.extend(found);
    let workload = |id: &String| after.definitions.contains_key(id);
    after.plan.loads.retain(|load| workload(&load.workload));
    after
}

/// Adds the recorded versions of packages that are not fetched yet. They are compared after the fetch.
fn with_unfetched(mut found: Vec<FoundVersion>, recorded: &[FoundVersion]) -> Vec<FoundVersion> {
    let missing: Vec<FoundVersion> = recorded
        .iter()
        .filter(|version| found.iter().all(|one| one.name != version.name))
        .cloned()
        .collect();
    found.extend(missing);
    found
}

/// Capabilities that a stack had when the session began and has lost since.
fn lost(before: &TargetRecord, after: &TargetRecord) -> Vec<String> {
    let target = &before.target;
    match &after.state {
        TargetState::Ready { .. } => {}
        TargetState::Unavailable { reason, remedy } => {
            let line =
                format!("{target}: it was ready, and is unavailable now ({reason}); {remedy}");
            return vec![line];
        }
        TargetState::Failed(failure) => {
            let phase = failure.phase.describe();
            let reason = &failure.reason;
            return vec![format!(
                "{target}: it was ready, and failed {phase} ({reason})"
            )];
        }
    }
    let new = after.failed_workloads.iter().filter(|failed| {
        let mut failed_before = before.failed_workloads.iter();
        !failed_before.any(|one| one.workload == failed.workload)
    });
    new.map(|failed| {
        let phase = failed.failure.phase.describe();
        let reason = &failed.failure.reason;
        format!(
            "{target}: it answered {}, and failed {phase} ({reason})",
            failed.workload
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixtures;

    fn versions(found: &[(&str, &str)]) -> Vec<FoundVersion> {
        let found = found.iter().map(|(name, version)| FoundVersion {
            name: (*name).to_owned(),
            version: (*version).to_owned(),
        });
        found.collect()
    }

    #[test]
    fn a_version_that_was_not_fetched_is_no_change_and_one_that_was_is() {
        let recorded = versions(&[("go", "1.25"), ("pgx", "5.12")]);
        assert_eq!(
            with_unfetched(versions(&[("go", "1.25")]), &recorded),
            recorded
        );
        let found = versions(&[("go", "1.25"), ("pgx", "5.13")]);
        assert_eq!(with_unfetched(found.clone(), &recorded), found);
    }

    #[test]
    fn sources_that_could_not_be_read_are_no_reason_to_go_on() {
        let mut before = fixtures::record(vec![fixtures::load(&["a"])]).header;
        let record = |target: &str, sources: Option<&str>| -> TargetRecord {
            serde_json::from_value(serde_json::json!({
                "target": target, "language": "", "framework": "", "class": "micro", "role": "stack", "runtime": "native",
                "limits": [], "versions": [], "sources": sources,
                "state": {"is": "unavailable", "reason": "", "remedy": ""}
            }))
            .unwrap()
        };
        let mut told = |then, now| {
            // The other is not measured, so that it may be what it likes.
            before.targets = vec![record("a", then), record("other", None)];
            unchecked(&before, &[record("a", now)]).join("\n")
        };
        assert_eq!(told(Some("1"), Some("1")), "");
        assert_eq!(
            told(Some("1"), Some("2")),
            "",
            "a change that is told with both"
        );
        let missing = told(None, Some("1"));
        assert!(missing.starts_with("a: its sources could not be read when the session began"));
        let missing = told(Some("1"), None);
        assert!(missing.starts_with("a: its sources cannot be read now"));
        assert!(!told(None, None).is_empty());
    }

    #[test]
    fn another_build_is_a_change_where_both_are_known() {
        let of = |build: Option<&str>| {
            let mut header = fixtures::record(vec![fixtures::load(&["a"])]).header;
            header.build = build.map(str::to_owned);
            header
        };
        let told = |was, is| Changes::new(&of(was), &of(is)).to_string();
        assert_eq!(
            told(Some("0"), Some("1")),
            "  Deadheat's program: it was built as 0, and is 1"
        );
        for (was, is) in [(Some("0"), Some("0")), (None, Some("1")), (Some("0"), None)] {
            assert_eq!(told(was, is), "");
        }
        // Sessions of two builds can be compared.
        assert_eq!(between(&of(Some("0")), &of(Some("1"))), []);
        let own = own_build().unwrap();
        assert_eq!(own.len(), 12, "{own}");
    }

    #[test]
    fn a_change_is_told_with_both_values_and_what_is_empty_as_such() {
        let change = Change {
            aspect: Aspect::System,
            target: None,
            what: "mitigations".to_owned(),
            before: Some(String::new()),
            after: None,
        };
        assert_eq!(
            in_words(&change),
            "mitigations: it was nothing, and is not there"
        );
    }
}
