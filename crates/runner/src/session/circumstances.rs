//! What must be as it was when a session began, before the session goes on.

use std::{fmt, sync::atomic::AtomicBool};

use deadheat_model::{
    TargetId,
    change::{Aspect, Change, between},
    heats::SessionHeader,
    machine::HostRecord,
    session::{FoundVersion, TargetRecord, TargetState},
};

use super::{
    SessionOptions, describe_machine,
    sources::{definitions, hash_sources},
};
use crate::prepare::{Host, inspect};

/// Memory that a start of the machine takes for itself differs a little each time.
const MEMORY_TOLERANCE: f64 = 0.01;

/// What is not as it was, a line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes(Vec<String>);

impl Changes {
    /// Whether everything is as it was.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn new(before: &SessionHeader, after: &SessionHeader) -> Self {
        // Of the commit, only what the stacks and the workloads have of it matters, and that is compared.
        let all = between(before, after).into_iter();
        let that_matter = all.filter(|change| change.aspect != Aspect::Commit);
        Self(that_matter.map(|change| in_words(&change)).collect())
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(|line| format!("  {line}")).collect();
        f.write_str(&lines.join("\n"))
    }
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

/// What has changed as far as it can be known before anything is built.
pub(super) fn at_once(before: &SessionHeader, options: &SessionOptions) -> Changes {
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

/// What has changed, now that all stacks of the plan were prepared again.
pub(super) fn prepared(
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

/// Whether the other hosts are what they were.
pub(super) fn hosts(before: &SessionHeader, found: Vec<HostRecord>) -> Changes {
    let after = SessionHeader {
        hosts: found,
        ..before.clone()
    };
    Changes::new(before, &after)
}

/// The targets that the session measures. The others stay what they were, whatever has become of them.
fn measured(before: &SessionHeader) -> impl Iterator<Item = &TargetRecord> {
    let targets = before.targets.iter();
    targets.filter(|record| measures(before, &record.target))
}

fn measures(header: &SessionHeader, target: &TargetId) -> bool {
    let mut loads = header.plan.loads.iter();
    loads.any(|load| load.targets.contains(target))
}

/// The targets of which it is not known whether their sources are what they were, because these could not be read then,
/// or cannot now.
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

/// The header that the session would have now.
fn now(
    before: &SessionHeader,
    options: &SessionOptions,
    found: Vec<TargetRecord>,
) -> SessionHeader {
    let mut after = before.clone();
    after.deadheat = options.version.clone();
    after.machine = describe_machine();
    let (was, is) = (before.machine.memory_bytes, after.machine.memory_bytes);
    if (was.abs_diff(is) as f64) < MEMORY_TOLERANCE * was as f64 {
        after.machine.memory_bytes = was;
    }
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

/// Versions that only a fetch brings are compared after it.
fn with_unfetched(mut found: Vec<FoundVersion>, recorded: &[FoundVersion]) -> Vec<FoundVersion> {
    let missing: Vec<FoundVersion> = recorded
        .iter()
        .filter(|version| found.iter().all(|one| one.name != version.name))
        .cloned()
        .collect();
    found.extend(missing);
    found
}

/// What a stack could do when the session began, and cannot now.
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
    use crate::session::heats::fixture;

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
        let mut before = fixture::record(vec![fixture::load(&["a"])]).header;
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
    fn a_change_is_told_with_both_values_and_what_is_empty_as_such() {
        let change = Change {
            aspect: Aspect::Machine,
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
