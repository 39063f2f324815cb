//! The files of a session that is measured in heats: `session.json` (a [`SessionHeader`], written before the first heat)
//! and `heats.jsonl` (a [`JournalEntry`] per line, appended and synced after every heat). docs/formats.md says how to read them.
//!
//! A member's number, in [`NextHeat`] and in all statistics of a load, is its place in [`PlannedLoad::targets`]; the null
//! server has the number after the last of them, and the twin the one after that.

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

/// What is known before the first heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionHeader {
    /// The version of the format, [`SCHEMA`].
    pub schema: u32,
    /// The session's id, which is its folder's name.
    pub id: String,
    /// Deadheat's version.
    pub deadheat: String,
    /// The commit of the stacks' sources, with `-dirty` when there were changes; `None` outside a checkout.
    pub commit: Option<String>,
    /// SHA-256 of the stacks, workloads and published tables that are part of Deadheat, if its own stacks were measured
    /// and not those of a checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded: Option<String>,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// Deadheat's own arguments.
    pub arguments: Vec<String>,
    /// Where it ran.
    pub machine: Machine,
    /// The hosts of [`Plan::hosts`], as they were found when it began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostRecord>,
    /// What `deadheat doctor` would have said about the machine when the session began, except what was fine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Warning>,
    /// What is compared, in a session of `deadheat compare`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Box<Comparison>>,
    /// What was asked for beside what the plan says, so that the session can go on.
    pub asked: SessionRequest,
    /// What it will do.
    pub plan: Plan,
    /// Every stack that was asked for, ready or not.
    pub targets: Vec<TargetRecord>,
    /// The database, its version and where it came from, when a workload needed it.
    pub postgres: Option<String>,
    /// Published tables that it repeats, as they stood in `published/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<RepeatedTable>,
    /// A hash of what each workload's file said, by the workload's id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub definitions: BTreeMap<String, String>,
    /// The machine's boot (`/proc/sys/kernel/random/boot_id`); `None` where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// Whether the report so far was written after each heat, from the beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
    /// The names of the environment variables that servers inherited from Deadheat, beside those of the contract and of
    /// their manifests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
}

/// What a session was asked for beside what its plan says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRequest {
    /// The stacks, under their variants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetId>,
    /// The root folder, if it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// Folders with more stacks, if any were named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<PathBuf>,
    /// Where PostgreSQL is to come from, as it was typed, without a password; empty: nobody said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub postgres: String,
    /// So long a warm-up, whatever the runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_seconds: Option<f64>,
    /// How long a server may take to its first correct answer, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_timeout_seconds: Option<f64>,
}

impl SessionHeader {
    /// What is known of a contender that is a stack.
    pub fn stack_of(&self, contender: &Contender) -> Option<&TargetRecord> {
        self.target(&contender.target)
    }

    /// What is known of a stack that was asked for.
    pub fn target(&self, target: &TargetId) -> Option<&TargetRecord> {
        let mut targets = self.targets.iter();
        targets.find(|one| one.target == *target)
    }
}

/// What a session will do, decided before it starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The seed of everything random: members of heats, orders of slices, requests.
    pub seed: u64,
    /// The loads. Closed loops have heats of their own and take turns; open loops are measured in those of a closed one.
    pub loads: Vec<PlannedLoad>,
    /// How CPUs are shared out.
    pub pinning: Pinning,
    /// The share of sessions that may call any pair of a ranking different that is not (0 to 1), over all looks.
    pub alpha: f64,
    /// Two stacks whose ratio lies between 1/(1 + this) and 1 + this are as good as equal (0.03: 3 %).
    pub margin: f64,
    /// The fewest heats of both sides with which a pair can be a dead heat, or a slowdown can be excluded. With fewer
    /// starts, a rare kind of process stays unseen too often.
    #[serde(default = "least_heats")]
    pub least_heats: u32,
    /// Whether a load gets no more heats once its ranking is decided.
    pub until_decided: bool,
    /// The half width of ratios to the best that was asked for (0.05: ±5 %). A load gets no more heats once its checkpoints
    /// reach it, or after twice as many heats as were expected to. Its ranking is judged once, when the session ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// The time that measuring may take, if it was bounded.
    pub budget_seconds: Option<f64>,
    /// The time that measuring is expected to take: at most, or until the precision that was asked for is reached.
    #[serde(rename = "estimate_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub estimate: Duration,
    /// What an hour of a CPU costs, in any currency, for the price of requests at equal work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_per_cpu_hour: Option<f64>,
    /// The other hosts that take part; `None`: this machine does everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    /// Stacks that there are and that nobody asked for: a session without `--stack` measures the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<TargetId>,
}

/// With fewer fresh processes of each side nothing is called a dead heat, and nothing ends early, unless asked for: of a
/// stack that has one process in six a third slower, five starts miss that kind in 40 % of sessions, and eight in 23 %.
pub const LEAST_HEATS: u32 = 8;

const fn least_heats() -> u32 {
    LEAST_HEATS
}

/// A session that asks for a precision takes at most this many times the heats, and the time, that it is expected to take.
pub const MOST_OF_EXPECTED: u32 = 2;

impl Plan {
    /// The heats of a load that are planned: the most that there will be, or those after which the precision that was asked
    /// for is expected.
    pub fn planned_heats(&self, load: &PlannedLoad) -> u32 {
        load.planned_heats(self.precision)
    }

    /// The share of the planned heats that the budget is expected to have time for (0 to 1).
    pub fn share_in_budget(&self) -> f64 {
        let estimate = self.estimate.as_secs_f64();
        match self.budget_seconds {
            Some(budget) if budget < estimate => budget / estimate,
            _ => 1.0,
        }
    }

    /// The numbers of CPUs with which each stack is measured, if the session compares several.
    pub fn cpu_budgets(&self) -> BTreeSet<u32> {
        let targets = self.loads.iter().flat_map(|load| &load.targets);
        targets.filter_map(|target| target.cpus).collect()
    }

    /// The loads with heats of their own.
    pub fn leading(&self) -> impl Iterator<Item = &PlannedLoad> + Clone {
        self.loads.iter().filter(|load| load.leads())
    }

    /// The workload of a load, with its load point if others have the same workload, or if it speaks another protocol than
    /// HTTP/1.1 without TLS.
    pub fn short_name(&self, load: &PlannedLoad) -> String {
        let of_workload = self.leading().filter(|one| one.workload == load.workload);
        match of_workload.count() {
            0 | 1 if load.point.protocol.is_usual() => load.workload.clone(),
            _ => load.name(),
        }
    }

    /// The loads that are measured in the heats of `closed`, each with its place in the plan.
    pub fn equal_work<'p>(
        &'p self,
        closed: &'p PlannedLoad,
    ) -> impl Iterator<Item = (usize, &'p PlannedLoad)> {
        let loads = self.loads.iter().enumerate();
        loads.filter(|(_, load)| load.is_measured_with(closed))
    }

    /// Whether the generator had CPUs of the servers: the fewer the more a server was given.
    pub fn generator_shares_cpus(&self) -> bool {
        matches!(self.pinning, Pinning::Off { .. }) && !self.is_loaded_elsewhere()
    }

    /// Whether other hosts load the servers.
    pub fn is_loaded_elsewhere(&self) -> bool {
        self.hosts.as_ref().is_some_and(Hosts::load_it)
    }

    /// The host of the database, if it is another one.
    pub fn database_host(&self) -> Option<&DatabaseHost> {
        self.hosts.as_ref()?.database.as_ref()
    }

    /// What this machine does beside the servers.
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

/// A workload at a load point, and how it is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedLoad {
    /// The workload's id.
    pub workload: String,
    /// What it exercises.
    pub description: String,
    /// The load point.
    pub point: LoadPoint,
    /// What every answer takes at least, by the workload's own nature, in seconds: the slow upstream's delay.
    pub delay_seconds: Option<f64>,
    /// The stacks that are measured here. Their places in this list are their numbers.
    pub targets: Vec<TargetId>,
    /// The least of each heat: slices and guards become longer where answers are slow.
    pub heat: HeatPlan,
    /// Members of a heat at most, a control among them.
    pub capacity: u32,
    /// Loads with the same number share their starts: a process serves a heat at each of them. `None`: each heat has starts
    /// of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_starts: Option<u32>,
    /// Why it is less than usual, if it is: memory is short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_reason: Option<String>,
    /// The numbers of complete heats at which the ranking is looked at, declared before the first; if a precision was asked
    /// for, only at how precise it is. The last one is the most heats that there will be.
    pub looks: Vec<u32>,
}

impl PlannedLoad {
    /// Workload and load point in one word ("plaintext:c50").
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

    /// How many numbers there are: the stacks' and the controls'.
    pub fn members(&self) -> usize {
        self.targets.len() + 2
    }

    /// The number of a member of a heat of this load; `None`: it is none of them.
    pub fn number(&self, member: &MemberRecord) -> Option<usize> {
        match member.role {
            Role::Member => self.targets.iter().position(|one| *one == member.target),
            Role::Ceiling => Some(self.ceiling()),
            Role::Twin { .. } => Some(self.twin()),
        }
    }

    /// What the member of a number is called.
    pub fn target(&self, number: usize) -> TargetId {
        match number.checked_sub(self.targets.len()) {
            None => self.targets[number].clone(),
            Some(0) => TargetId::null_server(),
            Some(_) => TargetId::twin(),
        }
    }

    /// Whether it has heats of its own. Equal work is done in those of a closed loop, by the same processes, once their
    /// rounds are over.
    pub fn leads(&self) -> bool {
        self.point.is_closed()
    }

    /// Whether a process serves a heat of both.
    pub fn shares_starts_with(&self, other: &Self) -> bool {
        self.shared_starts.is_some() && self.shared_starts == other.shared_starts
    }

    /// Whether it is equal work in the heats of `closed`.
    pub fn is_measured_with(&self, closed: &Self) -> bool {
        self.workload == closed.workload && self.point.is_in_heats_of(&closed.point)
    }

    /// [`Plan::planned_heats`] of a plan with this precision.
    pub fn planned_heats(&self, precision: Option<f64>) -> u32 {
        match precision {
            Some(_) => self.most_heats() / MOST_OF_EXPECTED,
            None => self.most_heats(),
        }
    }

    /// The most heats that there will be.
    pub fn most_heats(&self) -> u32 {
        self.looks.last().copied().unwrap_or(0)
    }
}

/// What is measured next.
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
    /// The load's place in [`Plan::loads`].
    pub load: usize,
    /// The numbers of the stacks that take part, in the order in which they start.
    pub members: Vec<usize>,
    /// What is measured beside them.
    pub control: Option<Control>,
    /// The load of the heat that follows, whose members are the same processes as far as they can be; `None`: all end with
    /// this heat.
    pub then: Option<usize>,
}

/// What a heat measures to judge the method and the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Control {
    /// The null server: the most that this generator can load on this machine.
    Ceiling,
    /// One of its members a second time (A/A).
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
    /// The session went on after it had been interrupted or killed; heats follow.
    Resumed {
        /// When (RFC 3339, UTC).
        at: String,
        /// The machine's boot, as in the header.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        boot: Option<String>,
        /// Whether the report so far is written after each heat from now on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        live: bool,
    },
    /// The session ended in order; absent when it was killed.
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
    /// The load's place in [`Plan::loads`].
    pub load: u32,
    /// The heat. Its number counts all heats of the session from 0.
    pub heat: HeatRecord,
}

impl MeasuredHeat {
    /// Whether it ran to its end. One that the user interrupted counts for nothing and is run again.
    pub fn is_complete(&self) -> bool {
        self.heat.end != HeatEnd::Interrupted
    }
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// Every ranking was decided as far as more heats could.
    Decided,
    /// The precision that was asked for is reached at every load.
    Precise,
    /// All planned heats were run.
    Finished,
    /// The time budget was used up.
    Budget,
    /// SIGINT or SIGTERM. It can be resumed.
    Interrupted,
    /// A host was lost and could not be reached again. It can be resumed.
    Lost,
    /// There was nothing to measure, or nothing left that could be.
    Nothing,
}

/// A whole session, as read back from its files.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    /// What was known before the first heat.
    pub header: SessionHeader,
    /// Heats in the order in which they ended.
    pub heats: Vec<MeasuredHeat>,
    /// When it went on after an interruption, in order.
    pub resumed: Vec<Resumption>,
    /// Why it ended; `None`: it was killed, or goes on.
    pub end: Option<EndReason>,
}

impl SessionRecord {
    /// How many heats were begun. Each has a record for every load that was measured in it.
    pub fn begun(&self) -> u32 {
        self.heats.last().map_or(0, |last| last.heat.heat + 1)
    }

    /// How many heats ran to their end.
    pub fn complete(&self) -> usize {
        let complete = self.heats.iter().filter(|one| one.is_complete());
        let numbers: BTreeSet<u32> = complete.map(|one| one.heat.heat).collect();
        numbers.len()
    }

    /// The complete heats of the load at this place, in their order.
    pub fn complete_heats(&self, load: usize) -> impl Iterator<Item = &HeatRecord> + Clone {
        let complete = self.heats.iter().filter(|one| one.is_complete());
        let own = complete.filter(move |one| one.load as usize == load);
        own.map(|one| &one.heat)
    }
}

/// A session went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resumption {
    /// When (RFC 3339, UTC).
    pub at: String,
    /// Whether the machine was started anew since the heat before.
    pub rebooted: bool,
    /// How many heats had been recorded by then.
    pub heats_before: usize,
    /// Whether the report so far was written after each heat from then on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
}
