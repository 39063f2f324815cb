//! The files of a session that is measured in heats. `session.json` is a [`SessionHeader`], written before the first
//! heat. `heats.jsonl` has a [`JournalEntry`] per line, appended and synced after every heat. docs/formats.md describes
//! both.
//!
//! A member's number, in [`NextHeat`] and in all statistics of a load, is its index in [`PlannedLoad::targets`]. The
//! null server has the number after the last of them, and the twin has the one after that.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    LoadPoint, RepeatedTable, TargetId, Warning,
    comparison::{Comparison, Contender},
    heat::{HeatEnd, HeatPlan, HeatRecord, MemberRecord, Role},
    machine::{DatabaseHost, HostRecord, Hosts, Machine},
    plan::Pinning,
    session::TargetRecord,
};

/// The version of both file formats.
pub const SCHEMA: u32 = 3;

/// The header of a session: everything that is known before the first heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionHeader {
    /// The version of the format, [`SCHEMA`].
    pub schema: u32,
    /// The session's id, which is its folder's name.
    pub id: String,
    /// Deadheat's version.
    pub deadheat: String,
    /// The build of Deadheat: the first 12 digits of its program's SHA-256; `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// The commit of the stacks' sources, with `-dirty` if there were changes; `None`: not a checkout.
    pub commit: Option<String>,
    /// SHA-256 of the stacks, workloads and published tables that are embedded in Deadheat; `None`: the stacks of a
    /// checkout were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded: Option<String>,
    /// When the session started (RFC 3339, UTC).
    pub started: String,
    /// Deadheat's command-line arguments.
    pub arguments: Vec<String>,
    /// The machine that the session ran on.
    pub machine: Machine,
    /// The hosts of [`Plan::hosts`], as they were when the session began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostRecord>,
    /// The findings of `deadheat doctor` about the machine when the session began, except what was fine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Warning>,
    /// What is compared, in a session of `deadheat compare`; `None`: another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Box<Comparison>>,
    /// The user's settings that the plan does not contain. A resumed session needs them.
    pub asked: SessionRequest,
    /// What the session will do.
    pub plan: Plan,
    /// All requested stacks, ready or not.
    pub targets: Vec<TargetRecord>,
    /// The database, its version and its origin; `None`: no workload needed it.
    pub postgres: Option<String>,
    /// Published tables that the session repeats, as they were in `published/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<RepeatedTable>,
    /// A hash of the contents of each workload's file, by the workload's id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub definitions: BTreeMap<String, String>,
    /// The id of the machine's boot (`/proc/sys/kernel/random/boot_id`); `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// Whether an interim report was written after each heat, from the beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
    /// The names of the environment variables that servers inherited from Deadheat, in addition to those of the
    /// contract and of their manifests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
}

/// The user's settings that a session's plan does not contain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRequest {
    /// The stacks with their variants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetId>,
    /// The root folder; `None`: not specified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// Further folders with stacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<PathBuf>,
    /// The source of PostgreSQL as it was typed, without a password; empty: not specified.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub postgres: String,
    /// The length of the warm-up in seconds, for all runtimes; `None`: each runtime's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_seconds: Option<f64>,
    /// The maximum time from a server's start to its first correct answer, in seconds; `None`: the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_timeout_seconds: Option<f64>,
}

impl SessionHeader {
    /// The record of a contender that is a stack; `None`: it is not.
    pub fn stack_of(&self, contender: &Contender) -> Option<&TargetRecord> {
        self.target(&contender.target)
    }

    /// The record of a requested stack; `None`: it was not requested.
    pub fn target(&self, target: &TargetId) -> Option<&TargetRecord> {
        let mut targets = self.targets.iter();
        targets.find(|one| one.target == *target)
    }
}

/// What a session will do, decided before it starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The seed of all random choices: members of heats, orders of slices, requests.
    pub seed: u64,
    /// The loads. Closed loops have their own heats, which take turns. Open loops are measured in the heats of a closed
    /// one.
    pub loads: Vec<PlannedLoad>,
    /// How CPUs are divided between servers and generator.
    pub pinning: Pinning,
    /// The error rate: the share of sessions (0 to 1) that may report any false difference in a ranking, over all
    /// looks.
    pub alpha: f64,
    /// The margin of a dead heat (0.03: 3 %). Two stacks are as good as equal if their ratio is between 1/(1 + margin)
    /// and 1 + margin.
    pub margin: f64,
    /// The minimum number of heats of both sides for a dead heat, or for excluding a slowdown. With fewer starts, a
    /// rare kind of process stays unseen too often.
    #[serde(default = "least_heats")]
    pub least_heats: u32,
    /// Whether a load gets no more heats once its ranking is decided.
    pub until_decided: bool,
    /// The requested half width of ratios to the best (0.05: ±5 %); `None`: not requested. A load gets no more heats
    /// when its checkpoints reach it, or after twice the expected number of heats. Its ranking is judged once, when the
    /// session ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// The maximum time for measuring, in seconds; `None`: no budget.
    pub budget_seconds: Option<f64>,
    /// The expected time for measuring: the maximum, or the time until the requested precision is reached.
    #[serde(rename = "estimate_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub estimate: Duration,
    /// The price of a CPU hour, in any currency, for the price of requests at equal work; `None`: not specified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_per_cpu_hour: Option<f64>,
    /// The other hosts that take part; `None`: this machine does everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    /// Available stacks that are not measured, because a session without `--stack` measures the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<TargetId>,
}

/// The minimum number of fresh processes of each side for a dead heat or an early end, unless the user asks for
/// another. If one process in six of a stack is a third slower, five starts miss that kind in 40 % of sessions, and
/// eight in 23 %.
pub const MIN_HEATS: u32 = 8;

const fn least_heats() -> u32 {
    MIN_HEATS
}

/// With a precision, the maximum of heats and of time, as a multiple of the expected ones.
pub const MAX_OF_EXPECTED: u32 = 2;

impl Plan {
    /// The planned heats of a load: the maximum, or the number after which the requested precision is expected.
    pub fn planned_heats(&self, load: &PlannedLoad) -> u32 {
        load.planned_heats(self.precision)
    }

    /// The share of the planned heats that the budget is expected to allow (0 to 1).
    pub fn share_in_budget(&self) -> f64 {
        let estimate = self.estimate.as_secs_f64();
        match self.budget_seconds {
            Some(budget) if budget < estimate => budget / estimate,
            _ => 1.0,
        }
    }

    /// The numbers of CPUs with which each stack is measured; empty if the session does not compare several.
    pub fn cpu_budgets(&self) -> BTreeSet<u32> {
        let targets = self.loads.iter().flat_map(|load| &load.targets);
        targets.filter_map(|target| target.cpus).collect()
    }

    /// The loads that have their own heats.
    pub fn leading(&self) -> impl Iterator<Item = &PlannedLoad> + Clone {
        self.loads.iter().filter(|load| load.leads())
    }

    /// A short name of a load: its workload. The load point is added if others have the same workload, or if the
    /// protocol is not HTTP/1.1 without TLS.
    pub fn short_name(&self, load: &PlannedLoad) -> String {
        let of_workload = self.leading().filter(|one| one.workload == load.workload);
        match of_workload.count() {
            0 | 1 if load.point.protocol.is_usual() => load.workload.clone(),
            _ => load.name(),
        }
    }

    /// The loads that are measured in the heats of `closed`, each with its index in the plan.
    pub fn equal_work<'p>(
        &'p self,
        closed: &'p PlannedLoad,
    ) -> impl Iterator<Item = (usize, &'p PlannedLoad)> {
        let loads = self.loads.iter().enumerate();
        loads.filter(|(_, load)| load.is_measured_with(closed))
    }

    /// Whether the generator used the servers' CPUs. A server with more CPUs then left fewer for the generator.
    pub fn generator_shares_cpus(&self) -> bool {
        matches!(self.pinning, Pinning::Off { .. }) && !self.is_loaded_elsewhere()
    }

    /// Whether other hosts load the servers.
    pub fn is_loaded_elsewhere(&self) -> bool {
        self.hosts.as_ref().is_some_and(Hosts::load_it)
    }

    /// The host of the database; `None`: this machine.
    pub fn database_host(&self) -> Option<&DatabaseHost> {
        self.hosts.as_ref()?.database.as_ref()
    }

    /// What this machine does in addition to running the servers.
    pub fn beside_servers(&self) -> Vec<&'static str> {
        let all = [
            ("generator", !self.is_loaded_elsewhere()),
            ("database", self.database_host().is_none()),
            ("upstream", true),
        ];
        let here = all.into_iter().filter(|(_, is_here)| *is_here);
        here.map(|(what, _)| what).collect()
    }
}

/// A workload at a load point, and the plan for measuring it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedLoad {
    /// The workload's id.
    pub workload: String,
    /// What the workload exercises.
    pub description: String,
    /// The load point.
    pub point: LoadPoint,
    /// The minimum time of an answer in seconds, because of the slow upstream's delay; `None`: no minimum.
    pub delay_seconds: Option<f64>,
    /// The stacks that are measured at this load. Their indices in this list are their numbers.
    pub targets: Vec<TargetId>,
    /// The plan of each heat. Its slices and guards are minimums: they become longer if answers are slow.
    pub heat: HeatPlan,
    /// The maximum number of members of a heat, including a control.
    pub capacity: u32,
    /// Loads with the same number share their starts: a process serves a heat at each of them. `None`: each heat has
    /// its own starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_starts: Option<u32>,
    /// Why `capacity` is lower than usual, such as too little memory; `None`: it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_reason: Option<String>,
    /// The numbers of complete heats at which the ranking is examined, declared before the first heat. If a precision
    /// was requested, only the precision is examined. The last number is the maximum number of heats.
    pub looks: Vec<u32>,
}

impl PlannedLoad {
    /// Workload and load point ("plaintext:c50").
    pub fn name(&self) -> String {
        format!("{}:{}", self.workload, self.point.id)
    }

    /// The null server's number.
    pub fn ceiling(&self) -> usize {
        self.targets.len()
    }

    /// The twin's number.
    pub fn twin(&self) -> usize {
        self.targets.len() + 1
    }

    /// The number of member numbers: those of the stacks and of the two controls.
    pub fn members(&self) -> usize {
        self.targets.len() + 2
    }

    /// The number of a member of a heat of this load; `None`: it is not a member of such a heat.
    pub fn number(&self, member: &MemberRecord) -> Option<usize> {
        match member.role {
            Role::Member => self.targets.iter().position(|one| *one == member.target),
            Role::Ceiling => Some(self.ceiling()),
            Role::Twin { .. } => Some(self.twin()),
        }
    }

    /// The name of the member with this number.
    pub fn target(&self, number: usize) -> TargetId {
        match number.checked_sub(self.targets.len()) {
            None => self.targets[number].clone(),
            Some(0) => TargetId::null_server(),
            Some(_) => TargetId::twin(),
        }
    }

    /// Whether the load has its own heats. Equal work is measured in the heats of a closed loop, by the same processes,
    /// after their rounds.
    pub fn leads(&self) -> bool {
        self.point.is_closed()
    }

    /// Whether a process serves a heat of this load and one of `other`.
    pub fn shares_starts_with(&self, other: &Self) -> bool {
        self.shared_starts.is_some() && self.shared_starts == other.shared_starts
    }

    /// Whether it is equal work in the heats of `closed`.
    pub fn is_measured_with(&self, closed: &Self) -> bool {
        self.workload == closed.workload && self.point.is_in_heats_of(&closed.point)
    }

    /// [`Plan::planned_heats`] for a plan with this precision.
    pub fn planned_heats(&self, precision: Option<f64>) -> u32 {
        match precision {
            Some(_) => self.most_heats() / MAX_OF_EXPECTED,
            None => self.most_heats(),
        }
    }

    /// The maximum number of heats.
    pub fn most_heats(&self) -> u32 {
        self.looks.last().copied().unwrap_or(0)
    }
}

/// The next step of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A heat.
    Heat(NextHeat),
    /// Nothing: the session is over.
    End(EndReason),
}

/// A heat to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextHeat {
    /// The load's index in [`Plan::loads`].
    pub load: usize,
    /// The numbers of the stacks that take part, in the order in which they start.
    pub members: Vec<usize>,
    /// The control that is measured with them; `None`: no control.
    pub control: Option<Control>,
    /// The load of the next heat, whose members are the same processes as far as possible; `None`: all processes end
    /// with this heat.
    pub then: Option<usize>,
}

/// A member of a heat that is measured to judge the method and the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Control {
    /// The null server, which shows the maximum load of this generator on this machine.
    Ceiling,
    /// A second instance of one of the members (A/A).
    Twin {
        /// The member's number.
        of: usize,
    },
}

/// A line of `heats.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum JournalEntry {
    /// A heat ended.
    Heat(Box<MeasuredHeat>),
    /// The session was resumed after an interruption or a kill. More heats follow.
    Resumed {
        /// When (RFC 3339, UTC).
        at: String,
        /// The id of the machine's boot, as in the header.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        boot: Option<String>,
        /// The build of Deadheat, as in the header.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        build: Option<String>,
        /// The findings of `deadheat doctor` at that time, as in the header.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        findings: Vec<Warning>,
        /// Whether an interim report is written after each heat from now on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        live: bool,
    },
    /// The session ended normally. Absent if it was killed.
    End {
        /// Why.
        reason: EndReason,
        /// When (RFC 3339, UTC).
        at: String,
    },
}

/// A heat of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredHeat {
    /// The load's index in [`Plan::loads`].
    pub load: u32,
    /// The heat. Its number counts all heats of the session from 0.
    pub heat: HeatRecord,
}

impl MeasuredHeat {
    /// Whether the heat ran to its end and counts. One that the user interrupted or another program disturbed is repeated.
    pub fn is_complete(&self) -> bool {
        !matches!(self.heat.end, HeatEnd::Interrupted | HeatEnd::Disturbed)
    }
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// All rankings were decided as far as more heats could decide them.
    Decided,
    /// All loads reached the requested precision.
    Precise,
    /// All planned heats were run.
    Finished,
    /// The time budget was used up.
    Budget,
    /// SIGINT or SIGTERM. The session can be resumed.
    Interrupted,
    /// A host or a service (PostgreSQL, the upstream) was lost and could not be reached again. The session can be resumed.
    Lost,
    /// There was nothing to measure, or nothing left that could be measured.
    Nothing,
}

/// A whole session, as read back from its files.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    /// What was known before the first heat.
    pub header: SessionHeader,
    /// Heats in the order in which they ended.
    pub heats: Vec<MeasuredHeat>,
    /// When the session was resumed, in order.
    pub resumed: Vec<Resumption>,
    /// Why the session ended; `None`: it was killed, or is still running.
    pub end: Option<EndReason>,
}

impl SessionRecord {
    /// The findings of `deadheat doctor` when the session began, then those of each resumption that are not among them.
    pub fn findings(&self) -> Vec<&Warning> {
        let mut all: Vec<&Warning> = self.header.findings.iter().collect();
        for one in self.resumed.iter().flat_map(|one| &one.findings) {
            let mut known = all.iter();
            if !known.any(|known| known.id == one.id && known.level == one.level) {
                all.push(one);
            }
        }
        all
    }

    /// The number of heats that began. Each has a record for every load that was measured in it.
    pub fn begun(&self) -> u32 {
        self.heats.last().map_or(0, |last| last.heat.heat + 1)
    }

    /// The number of heats that count.
    pub fn complete(&self) -> usize {
        let complete = self.heats.iter().filter(|one| one.is_complete());
        let numbers: BTreeSet<u32> = complete.map(|one| one.heat.heat).collect();
        numbers.len()
    }

    /// The heats of the load with this index that count, in their order.
    pub fn complete_heats(&self, load: usize) -> impl Iterator<Item = &HeatRecord> + Clone {
        let complete = self.heats.iter().filter(|one| one.is_complete());
        let own = complete.filter(move |one| one.load as usize == load);
        own.map(|one| &one.heat)
    }
}

/// A resumption of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resumption {
    /// When (RFC 3339, UTC).
    pub at: String,
    /// Whether the machine was rebooted since the previous heat.
    pub rebooted: bool,
    /// The number of heats that had been recorded by then.
    pub heats_before: usize,
    /// The findings of `deadheat doctor` about the machine at that time, except what was fine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Warning>,
    /// Whether an interim report was written after each heat from then on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::warning::{doubt, note};

    #[test]
    fn a_finding_of_a_resumption_is_one_of_the_session_if_it_is_new() {
        let header = json!({
            "schema": SCHEMA, "id": "s", "deadheat": "1", "commit": null, "started": "", "arguments": [],
            "machine": Machine::default(), "targets": [], "postgres": null, "asked": {},
            "plan": {
                "seed": 1, "loads": [], "pinning": {"mode": "off", "cpus": [0]}, "alpha": 0.05, "margin": 0.03,
                "until_decided": true, "budget_seconds": null, "estimate_seconds": 0.0,
            },
        });
        let resumption = |findings| Resumption {
            at: String::new(),
            rebooted: false,
            heats_before: 0,
            findings,
            live: false,
        };
        let (nice, busy) = (note("nice", "It is nice."), note("busy", "Others work."));
        let very_busy = doubt("busy", "Others work a lot.");
        let mut record = SessionRecord {
            header: serde_json::from_value(header).unwrap(),
            heats: Vec::new(),
            resumed: vec![
                resumption(vec![nice.clone(), busy.clone()]),
                resumption(vec![busy.clone(), very_busy.clone()]),
            ],
            end: None,
        };
        record.header.findings = vec![nice.clone()];
        assert_eq!(record.findings(), [&nice, &busy, &very_busy]);
    }
}
