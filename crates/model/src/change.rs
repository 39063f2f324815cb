//! Differences between the circumstances of two sessions.
//!
//! A comparison refuses some differences, a resumed session nearly all, and the history shows them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    TargetId, Wait, figure,
    heat::HeatPlan,
    heats::{PlannedLoad, SessionHeader},
    machine::{HostRecord, Machine},
    session::TargetRecord,
};

/// A difference between two sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The kind of thing that differs.
    pub aspect: Aspect,
    /// The stack that the thing belongs to; `None`: it does not belong to a stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetId>,
    /// The thing's name ("kernel"; for a stack "go").
    pub what: String,
    /// The thing's value in the earlier session; `None`: it had no value.
    pub before: Option<String>,
    /// The thing's value in the later session; `None`: it has no value.
    pub after: Option<String>,
}

impl Change {
    /// The thing's name, with the stack that it belongs to ("kernel", "go-nethttp: go").
    pub fn name(&self) -> String {
        match &self.target {
            Some(target) => format!("{target}: {}", self.what),
            None => self.what.clone(),
        }
    }
}

/// The kind of thing that a change concerns.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The machine: processor, usable CPUs and memory.
    Machine,
    /// The machine's operating system, its kernel and their settings.
    System,
    /// Deadheat itself.
    Deadheat,
    /// The settings of the measurement: CPUs, slices, load points and the database.
    Settings,
    /// The commit of the checkout.
    Commit,
    /// A stack's toolchain or packages.
    Version,
    /// A stack's sources.
    Sources,
    /// The selection of stacks and loads.
    Selection,
}

/// The differences from `before` to `after`, in the order of [`Aspect`]. Seed, time, number of heats and budget are not
/// compared, because each session has its own.
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
    changes.loads(&before.plan.loads, &after.plan.loads);
    changes.definitions(&before.definitions, &after.definitions);
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
        self.note_of(None, aspect, what, before, after);
    }

    fn note_of(
        &mut self,
        target: Option<&TargetId>,
        aspect: Aspect,
        what: impl Into<String>,
        before: Option<String>,
        after: Option<String>,
    ) {
        if before != after {
            self.0.push(Change {
                aspect,
                target: target.cloned(),
                what: what.into(),
                before,
                after,
            });
        }
    }

    fn machine(&mut self, before: &Machine, after: &Machine) {
        let mut note = |aspect, what: &str, of: fn(&Machine) -> Option<String>| {
            self.note(aspect, what, of(before), of(after));
        };
        note(Aspect::Machine, "processor", |machine| {
            Some(machine.cpu_model.clone())
        });
        note(Aspect::Machine, "usable CPUs", |machine| {
            Some(figure::list(&machine.cpus))
        });
        if !before.has_memory_of(after) {
            note(Aspect::Machine, "memory", |machine| {
                Some(figure::bytes(machine.memory_bytes as f64))
            });
        }
        let mut note = |what: &str, of: fn(&Machine) -> Option<String>| {
            note(Aspect::System, what, of);
        };
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
        note("pinning", |header| Some(header.plan.pinning.in_words()));
        note("other hosts", |header| {
            let host = |one: &HostRecord| {
                let (name, machine) = (&one.name, &one.machine);
                let cpus = figure::list(&machine.cpus);
                format!(
                    "{name} ({}, CPUs {cpus}, {})",
                    machine.cpu_model, machine.kernel
                )
            };
            let hosts: Vec<String> = header.hosts.iter().map(host).collect();
            Some(hosts.join("; "))
        });
        // If a session has no workload that needs PostgreSQL, there is nothing to compare.
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
            let (old, new) = (old.get(name).cloned(), new.get(name).cloned());
            self.note_of(Some(target), Aspect::Version, name, old, new);
        }
        // Sources that could not be read cannot be compared.
        if before.sources.is_some() && after.sources.is_some() {
            let hash = |record: &TargetRecord| record.sources.as_deref().map(short);
            let (old, new) = (hash(before), hash(after));
            self.note_of(Some(target), Aspect::Sources, "sources", old, new);
        }
    }

    /// Compares the definitions of workloads. A workload that only one session has is reported with its loads.
    fn definitions(&mut self, before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) {
        for (id, old) in before {
            if let Some(new) = after.get(id) {
                let what = format!("{id}: definition");
                self.note(Aspect::Settings, what, Some(short(old)), Some(short(new)));
            }
        }
    }

    fn loads(&mut self, before: &[PlannedLoad], after: &[PlannedLoad]) {
        for old in before {
            match after.iter().find(|new| new.name() == old.name()) {
                Some(new) => self.load(old, new),
                None => self.note(Aspect::Selection, "load", Some(old.name()), None),
            }
        }
        for new in after {
            if !before.iter().any(|old| old.name() == new.name()) {
                self.note(Aspect::Selection, "load", None, Some(new.name()));
            }
        }
    }

    fn load(&mut self, before: &PlannedLoad, after: &PlannedLoad) {
        type LoadSetting = fn(&PlannedLoad) -> Option<String>;
        let settings: [(&str, LoadSetting); 4] = [
            ("load point", |load| serde_json::to_string(&load.point).ok()),
            ("slices", |load| Some(slices(&load.heat))),
            ("starts", |load| {
                let shared = load.shared_starts;
                Some(
                    shared
                        .map_or("of its own", |_| "shared with other loads")
                        .to_owned(),
                )
            }),
            ("minimum time of an answer", |load| {
                load.delay_seconds.map(|delay| format!("{delay} s"))
            }),
        ];
        for (name, of) in settings {
            let what = format!("{}: {name}", before.name());
            self.note(Aspect::Settings, what, of(before), of(after));
        }
    }
}

/// The settings of a heat's slices, in words. The number of rounds is not among them: it affects only the precision.
fn slices(heat: &HeatPlan) -> String {
    let wait = match heat.wait {
        Wait::Poll => "polls",
        Wait::Sleep => "sleeps",
    };
    format!(
        "{} s after {} s, others {}, generator {wait}",
        heat.slice.as_secs_f64(),
        heat.guard.as_secs_f64(),
        if heat.freeze { "frozen" } else { "running" },
    )
}

/// The first 12 digits of a hash, which identify it.
fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn header(change: impl FnOnce(&mut Value)) -> SessionHeader {
        let mut header = json!({
            "schema": 3, "id": "s", "deadheat": "1", "commit": "abc", "started": "", "arguments": [], "asked": {},
            "machine": {
                "cpu_model": "A", "cpus": [0, 1], "memory_bytes": 1, "os": "O", "kernel": "K",
                "mitigations": [], "governor": null
            },
            "plan": {
                "seed": 1, "alpha": 0.05, "margin": 0.03, "until_decided": true,
                "loads": [{
                    "workload": "json", "description": "", "delay_seconds": null, "targets": ["go-a"], "capacity": 7, "looks": [5],
                    "point": {"id": "c50", "connections": 50},
                    "heat": {
                        "slice_seconds": 0.1, "guard_seconds": 0.03, "rounds": {"until": "count", "rounds": 30},
                        "freeze": true, "wait": "poll", "memory_every_seconds": 1.0
                    }
                }],
                "pinning": {"mode": "apart", "server": [0], "generator": [1]},
                "budget_seconds": null, "estimate_seconds": 1.0
            },
            "targets": [{
                "target": "go-a", "language": "", "framework": "", "class": "micro", "role": "stack", "runtime": "native",
                "variant_description": null, "database": null, "limits": [],
                "versions": [{"name": "go", "version": "1.25"}],
                "sources": "0123456789abcdef",
                "state": {"is": "unavailable", "reason": "", "remedy": ""}
            }],
            "postgres": null,
            "definitions": {"json": "0123456789abcdef"}
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
                let name = one.name();
                let (before, after) = (text(one.before), text(one.after));
                (one.aspect, format!("{name}: {before} → {after}"))
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
            header["plan"]["loads"][0]["looks"] = json!([5, 7]);
            header["plan"]["loads"][0]["heat"]["rounds"]["rounds"] = json!(60);
            header["plan"]["budget_seconds"] = json!(60.0);
            header["plan"]["estimate_seconds"] = json!(9.0);
        };
        assert_eq!(changed(another), []);
    }

    #[test]
    fn every_circumstance_is_told_with_both_values() {
        type Case = (&'static str, Value, Aspect, &'static str);
        let cases: [Case; 17] = [
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
                "usable CPUs: 0 and 1 → 0",
            ),
            (
                "/machine/memory_bytes",
                json!(2),
                Aspect::Machine,
                "memory: 1.00 B → 2.00 B",
            ),
            ("/machine/os", json!("P"), Aspect::System, "system: O → P"),
            (
                "/machine/kernel",
                json!("L"),
                Aspect::System,
                "kernel: K → L",
            ),
            (
                "/machine/mitigations",
                json!(["m: on"]),
                Aspect::System,
                "mitigations:  → m: on",
            ),
            (
                "/machine/governor",
                json!("powersave"),
                Aspect::System,
                "frequency governor: – → powersave",
            ),
            ("/deadheat", json!("2"), Aspect::Deadheat, "Deadheat: 1 → 2"),
            ("/commit", json!(null), Aspect::Commit, "commit: abc → –"),
            (
                "/plan/pinning",
                json!({"mode": "off", "cpus": [0]}),
                Aspect::Settings,
                "pinning: server on CPU 0, generator on CPU 1 → off",
            ),
            (
                "/plan/loads/0/heat/wait",
                json!("sleep"),
                Aspect::Settings,
                "json:c50: slices: 0.1 s after 0.03 s, others frozen, generator polls → \
                 0.1 s after 0.03 s, others frozen, generator sleeps",
            ),
            (
                "/plan/loads/0/point/connections",
                json!(51),
                Aspect::Settings,
                "json:c50: load point: {\"id\":\"c50\",\"connections\":50} → \
                 {\"id\":\"c50\",\"connections\":51}",
            ),
            (
                "/plan/loads/0/delay_seconds",
                json!(0.5),
                Aspect::Settings,
                "json:c50: minimum time of an answer: – → 0.5 s",
            ),
            (
                "/definitions/json",
                json!("fedcba98765432100"),
                Aspect::Settings,
                "json: definition: 0123456789ab → fedcba987654",
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
                "/plan/loads/0/point/id",
                json!("c9"),
                Aspect::Selection,
                "load: json:c50 → –",
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
        let found = changed(|header| header["plan"]["loads"] = json!([]));
        assert_eq!(
            found,
            [(Aspect::Selection, "load: json:c50 → –".to_owned())]
        );
    }

    #[test]
    fn sources_that_could_not_be_read_are_no_change() {
        let found = changed(|header| header["targets"][0]["sources"] = json!(null));
        assert_eq!(found, []);
    }
}
