//! What differs between the circumstances of two sessions.
//!
//! One place for it: a comparison refuses some differences, a resumed session nearly all, and the history shows them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    SessionHeader, TargetId,
    machine::Machine,
    plan::{NoiseBound, Pinning, PlannedWorkload},
    session::TargetRecord,
};

/// Something that is not the same in two sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What kind of thing it is.
    pub aspect: Aspect,
    /// What it is, in words ("kernel", "go-nethttp: go").
    pub what: String,
    /// What it was; `None`: it was not there.
    pub before: Option<String>,
    /// What it is; `None`: it is not there.
    pub after: Option<String>,
}

/// What kind of thing a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The machine and its system.
    Machine,
    /// Deadheat itself.
    Deadheat,
    /// How it was measured: CPUs, durations, load points, the database.
    Settings,
    /// The commit of the checkout.
    Commit,
    /// A stack's toolchain or packages.
    Version,
    /// A stack's sources.
    Sources,
    /// Which stacks and workloads were measured.
    Selection,
}

/// What differs from `before` to `after`, in the order of [`Aspect`]. The seed, the time, the blocks and the budget are
/// of one session alone and no difference.
pub fn between(before: &SessionHeader, after: &SessionHeader) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.machine(&before.machine, &after.machine);
    let version = |header: &SessionHeader| Some(header.deadheat.clone());
    changes.note(
        Aspect::Deadheat,
        "Deadheat",
        version(before),
        version(after),
    );
    changes.settings(before, after);
    let commit = |header: &SessionHeader| header.commit.clone();
    changes.note(Aspect::Commit, "commit", commit(before), commit(after));
    changes.targets(&before.targets, &after.targets);
    changes.workloads(&before.plan.workloads, &after.plan.workloads);
    changes.0.sort_by_key(|change| change.aspect);
    changes.0
}

#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn note(
        &mut self,
        aspect: Aspect,
        what: impl Into<String>,
        before: Option<String>,
        after: Option<String>,
    ) {
        if before != after {
            self.0.push(Change {
                aspect,
                what: what.into(),
                before,
                after,
            });
        }
    }

    fn machine(&mut self, before: &Machine, after: &Machine) {
        let mut note = |what: &str, of: fn(&Machine) -> Option<String>| {
            self.note(Aspect::Machine, what, of(before), of(after));
        };
        note("processor", |machine| Some(machine.cpu_model.clone()));
        note("usable CPUs", |machine| Some(numbers(&machine.cpus)));
        note("memory", |machine| {
            Some(format!("{} bytes", machine.memory_bytes))
        });
        note("system", |machine| Some(machine.os.clone()));
        note("kernel", |machine| Some(machine.kernel.clone()));
        note("mitigations", |machine| {
            Some(machine.mitigations.join("; "))
        });
        note("frequency governor", |machine| machine.governor.clone());
        note("congestion control", |machine| {
            machine.congestion_control.clone()
        });
    }

    fn settings(&mut self, before: &SessionHeader, after: &SessionHeader) {
        let mut note = |what: &str, of: fn(&SessionHeader) -> Option<String>| {
            self.note(Aspect::Settings, what, of(before), of(after));
        };
        note("pinning", |header| Some(pinning(&header.plan.pinning)));
        note("bound for noise", |header| {
            header.plan.noise_bound.as_ref().map(bound)
        });
        // Without a workload that needs it there is none to compare.
        if before.postgres.is_some() && after.postgres.is_some() {
            note("PostgreSQL", |header| header.postgres.clone());
        }
    }

    fn targets(&mut self, before: &[TargetRecord], after: &[TargetRecord]) {
        let index = |targets: &[TargetRecord]| -> BTreeMap<TargetId, TargetRecord> {
            let targets = targets.iter().cloned();
            targets.map(|one| (one.target.clone(), one)).collect()
        };
        let (before, after) = (index(before), index(after));
        for (target, old) in &before {
            match after.get(target) {
                Some(new) => self.target(target, old, new),
                None => self.note(Aspect::Selection, "stack", Some(target.to_string()), None),
            }
        }
        for target in after.keys().filter(|target| !before.contains_key(target)) {
            self.note(Aspect::Selection, "stack", None, Some(target.to_string()));
        }
    }

    fn target(&mut self, target: &TargetId, before: &TargetRecord, after: &TargetRecord) {
        let versions = |record: &TargetRecord| -> BTreeMap<String, String> {
            let found = record.versions.iter();
            found
                .map(|found| (found.name.clone(), found.version.clone()))
                .collect()
        };
        let (old, new) = (versions(before), versions(after));
        let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            let what = format!("{target}: {name}");
            let (old, new) = (old.get(name).cloned(), new.get(name).cloned());
            self.note(Aspect::Version, what, old, new);
        }
        // A record from before sources were hashed says nothing about them.
        if before.sources.is_some() && after.sources.is_some() {
            let short = |record: &TargetRecord| {
                let hash = record.sources.as_ref()?;
                Some(hash.chars().take(12).collect())
            };
            let what = format!("{target}: sources");
            self.note(Aspect::Sources, what, short(before), short(after));
        }
    }

    fn workloads(&mut self, before: &[PlannedWorkload], after: &[PlannedWorkload]) {
        for old in before {
            match after.iter().find(|new| new.id == old.id) {
                Some(new) => self.workload(old, new),
                None => self.note(Aspect::Selection, "workload", Some(old.id.clone()), None),
            }
        }
        for new in after {
            if !before.iter().any(|old| old.id == new.id) {
                self.note(Aspect::Selection, "workload", None, Some(new.id.clone()));
            }
        }
    }

    fn workload(&mut self, before: &PlannedWorkload, after: &PlannedWorkload) {
        let seconds =
            |workload: &PlannedWorkload| Some(format!("{} s", workload.measure.as_secs_f64()));
        let what = format!("{}: measurement", before.id);
        self.note(Aspect::Settings, what, seconds(before), seconds(after));
        for old in &before.points {
            let name = format!("{} {}", before.id, old.id);
            match after.points.iter().find(|new| new.id == old.id) {
                Some(new) if old != new => {
                    let text = |point| serde_json::to_string(point).ok();
                    self.note(Aspect::Settings, name, text(old), text(new));
                }
                Some(_) => {}
                None => self.note(Aspect::Selection, "load point", Some(name), None),
            }
        }
        for new in &after.points {
            if !before.points.iter().any(|old| old.id == new.id) {
                let name = format!("{} {}", after.id, new.id);
                self.note(Aspect::Selection, "load point", None, Some(name));
            }
        }
    }
}

fn pinning(pinning: &Pinning) -> String {
    match pinning {
        Pinning::Apart { server, generator } => format!(
            "server on {}, generator on {}",
            numbers(server),
            numbers(generator)
        ),
        Pinning::Off { .. } => "off".to_owned(),
    }
}

fn bound(bound: &NoiseBound) -> String {
    let percent = |share: f64| format!("{} %", share * 100.0);
    format!(
        "other programs {}, hypervisor {}",
        percent(bound.other_cpu),
        percent(bound.steal)
    )
}

fn numbers(cpus: &[usize]) -> String {
    let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
    cpus.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn header(change: impl FnOnce(&mut Value)) -> SessionHeader {
        let mut header = json!({
            "schema": 1, "id": "s", "deadheat": "1", "commit": "abc", "started": "", "arguments": [],
            "machine": {
                "cpu_model": "A", "cpus": [0, 1], "memory_bytes": 1, "os": "O", "kernel": "K",
                "mitigations": [], "governor": null
            },
            "plan": {
                "seed": 1, "blocks": 3, "targets": ["go-a"], "cells": [],
                "workloads": [{
                    "id": "json", "description": "", "measure_seconds": 1.0,
                    "points": [{"id": "c50", "connections": 50}]
                }],
                "pinning": {"mode": "apart", "server": [0], "generator": [1]},
                "budget_seconds": null, "estimate_seconds": 1.0
            },
            "targets": [{
                "target": "go-a", "language": "", "framework": "", "runtime": "native",
                "variant_description": null, "database": null, "limits": [],
                "versions": [{"name": "go", "version": "1.25"}],
                "sources": "0123456789abcdef",
                "state": {"is": "unavailable", "reason": "", "remedy": ""}
            }],
            "postgres": null
        });
        change(&mut header);
        serde_json::from_value(header).unwrap()
    }

    /// The changes that one change of the header makes, as "what: before → after".
    fn changed(change: impl FnOnce(&mut Value)) -> Vec<(Aspect, String)> {
        let all = between(&header(|_| {}), &header(change));
        let text = |side: Option<String>| side.unwrap_or_else(|| "–".to_owned());
        all.into_iter()
            .map(|one| {
                let (before, after) = (text(one.before), text(one.after));
                (one.aspect, format!("{}: {before} → {after}", one.what))
            })
            .collect()
    }

    #[test]
    fn another_session_of_the_same_kind_has_no_change() {
        let another = |header: &mut Value| {
            header["id"] = json!("t");
            header["started"] = json!("later");
            header["arguments"] = json!(["run"]);
            header["plan"]["seed"] = json!(2);
            header["plan"]["blocks"] = json!(7);
            header["plan"]["budget_seconds"] = json!(60.0);
            header["plan"]["estimate_seconds"] = json!(9.0);
        };
        assert_eq!(changed(another), []);
    }

    #[test]
    fn every_circumstance_is_told_with_both_values() {
        type Case = (&'static str, Value, Aspect, &'static str);
        let cases: [Case; 14] = [
            (
                "/machine/cpu_model",
                json!("B"),
                Aspect::Machine,
                "processor: A → B",
            ),
            (
                "/machine/cpus",
                json!([0]),
                Aspect::Machine,
                "usable CPUs: 0, 1 → 0",
            ),
            (
                "/machine/memory_bytes",
                json!(2),
                Aspect::Machine,
                "memory: 1 bytes → 2 bytes",
            ),
            ("/machine/os", json!("P"), Aspect::Machine, "system: O → P"),
            (
                "/machine/kernel",
                json!("L"),
                Aspect::Machine,
                "kernel: K → L",
            ),
            (
                "/machine/mitigations",
                json!(["m: on"]),
                Aspect::Machine,
                "mitigations:  → m: on",
            ),
            (
                "/machine/governor",
                json!("powersave"),
                Aspect::Machine,
                "frequency governor: – → powersave",
            ),
            ("/deadheat", json!("2"), Aspect::Deadheat, "Deadheat: 1 → 2"),
            ("/commit", json!(null), Aspect::Commit, "commit: abc → –"),
            (
                "/plan/pinning",
                json!({"mode": "off", "cpus": [0]}),
                Aspect::Settings,
                "pinning: server on 0, generator on 1 → off",
            ),
            (
                "/plan/workloads/0/measure_seconds",
                json!(2.0),
                Aspect::Settings,
                "json: measurement: 1 s → 2 s",
            ),
            (
                "/targets/0/versions/0/version",
                json!("1.26"),
                Aspect::Version,
                "go-a: go: 1.25 → 1.26",
            ),
            (
                "/targets/0/sources",
                json!("fedcba98765432100"),
                Aspect::Sources,
                "go-a: sources: 0123456789ab → fedcba987654",
            ),
            (
                "/plan/workloads/0/points/0/id",
                json!("c9"),
                Aspect::Selection,
                "load point: json c50 → –",
            ),
        ];
        for (path, value, aspect, told) in cases {
            let found = changed(|header| *header.pointer_mut(path).unwrap() = value);
            assert_eq!(found[0], (aspect, told.to_owned()), "{path}");
        }
    }

    #[test]
    fn what_only_one_session_has_is_told_once() {
        let found = changed(|header| header["targets"] = json!([]));
        assert_eq!(found, [(Aspect::Selection, "stack: go-a → –".to_owned())]);
        let found = changed(|header| header["plan"]["workloads"] = json!([]));
        assert_eq!(
            found,
            [(Aspect::Selection, "workload: json → –".to_owned())]
        );
    }

    #[test]
    fn older_records_without_hashes_say_nothing_of_sources() {
        let found = changed(|header| header["targets"][0]["sources"] = json!(null));
        assert_eq!(found, []);
    }
}
