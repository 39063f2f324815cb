//! Provenance: when, where and from what the figures come.

use deadheat_model::{
    LoadPoint, SessionRecord,
    machine::Machine,
    plan::Pinning,
    session::{EndReason, TargetRecord, TargetState},
    stack::{Database, Pool},
};
use deadheat_stats::Analysis;
use schemars::JsonSchema;
use serde::Serialize;

use super::{chosen, clean, controls, guard, live, words};
use crate::figure::{self, bytes, count, counted, seconds};

/// A named fact.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// The fact.
    pub value: String,
}

/// What is known of a stack.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StackFacts {
    /// The stack, under its variant.
    pub target: String,
    /// Language and framework.
    pub what: String,
    /// What the variant changes.
    pub variant: Option<String>,
    /// How its code is executed.
    pub runtime: &'static str,
    /// How it reaches the database.
    pub database: String,
    /// Versions found.
    pub versions: String,
    /// Build time and artefact size, when it was built.
    pub build: String,
    /// What it cannot do or deviates in.
    pub limits: Vec<String>,
}

/// The name of the fact that says how a session ended.
pub const ENDED: &str = "Ended";

/// Where the figures come from.
pub fn provenance(record: &SessionRecord, analysis: &Analysis) -> Vec<Fact> {
    let header = &record.header;
    let (machine, plan, blocks) = (&header.machine, &header.plan, &analysis.blocks);
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: String| {
        facts.push(Fact {
            name: name.to_owned(),
            value: clean(&value),
        });
    };
    fact("Session", header.id.clone());
    fact("Started", header.started.clone());
    fact(ENDED, ended(record.end).to_owned());
    fact("Deadheat", header.deadheat.clone());
    let no_commit = || "unknown (not in a checkout)".to_owned();
    fact("Commit", header.commit.clone().unwrap_or_else(no_commit));
    fact("Arguments", header.arguments.join(" "));
    if let Some(served) = live::served(record) {
        fact("Live page", served);
    }
    facts.extend(self::machine(machine, &plan.pinning));
    let mut fact = |name: &str, value: String| {
        facts.push(Fact {
            name: name.to_owned(),
            value: clean(&value),
        });
    };
    if let Some(postgres) = &header.postgres {
        fact("Database", postgres.clone());
    }
    fact(
        "Blocks",
        format!(
            "{} complete of {} planned",
            blocks.complete.len(),
            blocks.planned
        ),
    );
    fact("Trials", trials(analysis, plan.trials()));
    fact("Seed", plan.seed.to_string());
    if let Some(budget) = plan.budget_seconds {
        fact("Budget", seconds(budget));
    }
    for workload in &plan.workloads {
        let name = format!("Workload {}", workload.id);
        let (timed, by_count): (Vec<&LoadPoint>, Vec<&LoadPoint>) = workload
            .points
            .iter()
            .partition(|point| point.counted.is_none());
        if !timed.is_empty() {
            let measure = seconds(workload.measure.as_secs_f64());
            let points: Vec<String> = timed.iter().map(|point| point.id.clone()).collect();
            fact(
                &name,
                format!("{measure} per trial at {}", figure::list(&points)),
            );
        }
        for point in by_count {
            let limit = point
                .counted
                .as_ref()
                .map(|by_count| by_count.limit.as_secs_f64());
            fact(
                &name,
                format!(
                    "{}; no warm-up, {} at most",
                    super::load(point),
                    seconds(limit.unwrap_or_default())
                ),
            );
        }
    }
    facts.extend(chosen::facts(plan));
    facts.extend(controls::facts(analysis));
    facts.extend(guard::facts(record, analysis));
    facts
}

/// The machine, and how its CPUs were shared out.
pub(crate) fn machine(machine: &Machine, pinning: &Pinning) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: String| {
        facts.push(Fact {
            name: name.to_owned(),
            value: clean(&value),
        });
    };
    fact("Processor", machine.cpu_model.clone());
    fact("CPUs", usable_cpus(machine));
    fact("Pinning", self::pinning(pinning));
    fact("Memory", bytes(machine.memory_bytes as f64));
    fact("System", machine.os.clone());
    fact("Kernel", machine.kernel.clone());
    let governor = || "none known".to_owned();
    fact(
        "Frequency governor",
        machine.governor.clone().unwrap_or_else(governor),
    );
    if let Some(name) = &machine.congestion_control {
        fact("Congestion control", name.clone());
    }
    fact("Mitigations", or_none(machine.mitigations.join("; ")));
    facts
}

fn trials(analysis: &Analysis, planned: usize) -> String {
    let blocks = &analysis.blocks;
    let mut text = format!(
        "{} counted of {} planned",
        count(blocks.trials_counted as u64),
        count(planned as u64)
    );
    let controls = analysis.groups.iter().flat_map(|group| {
        let ceiling = group.ceiling.iter().map(|ceiling| &ceiling.cell);
        ceiling.chain(group.twin.iter().map(|twin| &twin.cell))
    });
    match controls.map(|cell| cell.trials.len()).sum::<usize>() {
        0 => {}
        controls => {
            text +=
                &format!(", {controls} of them of the null server and of the stack measured twice");
        }
    }
    if blocks.trials_void > 0 {
        text += &format!("; {} void", count(blocks.trials_void as u64));
    }
    if blocks.trials_left_out > 0 {
        let left_out = counted(blocks.trials_left_out, "trial");
        text += &format!(
            "; {left_out} left out, because the block is not complete or the trial was repeated"
        );
    }
    if blocks.incomplete && blocks.trials_counted > 0 {
        text += "; no block is complete, so all trials there are count";
    }
    text
}

/// How a session ended, in words.
pub const fn ended(end: Option<EndReason>) -> &'static str {
    match end {
        Some(EndReason::Finished) => "finished: all blocks were measured",
        Some(EndReason::Budget) => "its budget was used up",
        Some(EndReason::Interrupted) => "interrupted",
        Some(EndReason::Enough) => "finished: what it was to find out was known",
        None => "killed: no end is recorded",
    }
}

fn pinning(pinning: &Pinning) -> String {
    match pinning {
        Pinning::Apart { server, generator } => {
            let one_core = match (server.len(), generator.len()) {
                (1, 1) => "; on two cores that is a one-core server",
                (1, _) => "; that is a one-core server",
                _ => "",
            };
            format!(
                "server on {}; generator, database, upstream and sampling on {}{one_core}",
                cpu_words(server),
                cpu_words(generator)
            )
        }
        Pinning::Off { cpus } => format!("off: everything shares {}", cpu_words(cpus)),
    }
}

/// "4 usable: 0, 1, 2 and 3; threads of one core: 0 and 2, 1 and 3".
fn usable_cpus(machine: &Machine) -> String {
    let usable = format!("{} usable: {}", machine.cpus.len(), numbers(&machine.cpus));
    let cores = machine.shared_cores.iter();
    let cores: Vec<String> = cores.map(|cpus| numbers(cpus)).collect();
    match cores.is_empty() {
        true => usable,
        false => format!("{usable}; threads of one core: {}", cores.join(", ")),
    }
}

/// "CPU 1", "CPUs 0, 2 and 3".
pub fn cpu_words(cpus: &[usize]) -> String {
    let noun = if cpus.len() == 1 { "CPU" } else { "CPUs" };
    format!("{noun} {}", numbers(cpus))
}

fn numbers(cpus: &[usize]) -> String {
    let numbers: Vec<String> = cpus.iter().map(usize::to_string).collect();
    or_none(figure::list(&numbers))
}

fn or_none(text: String) -> String {
    if text.is_empty() {
        "none known".to_owned()
    } else {
        text
    }
}

fn database(database: &Database) -> String {
    let access = words::access(database.access);
    let connections = match database.pool {
        Pool::Size(size) => format!("{size} pooled connections"),
        Pool::None => "a connection per request".to_owned(),
    };
    clean(&format!("{} ({access}), {connections}", database.driver))
}

/// What is known of each stack, in the order in which they were asked for.
pub fn stacks(record: &SessionRecord) -> Vec<StackFacts> {
    record.header.targets.iter().map(stack).collect()
}

/// What is known of a stack.
pub(crate) fn stack(target: &TargetRecord) -> StackFacts {
    let versions: Vec<String> = target
        .versions
        .iter()
        .map(|found| clean(&format!("{} {}", found.name, found.version)))
        .collect();
    let build = match &target.state {
        TargetState::Ready { build } if build.seconds == 0.0 => {
            format!(
                "nothing to build, {} to deploy",
                bytes(build.artefact_bytes as f64)
            )
        }
        TargetState::Ready { build } => format!(
            "{}{}, {} to deploy",
            seconds(build.seconds),
            if build.incremental {
                " (incremental)"
            } else {
                ""
            },
            bytes(build.artefact_bytes as f64)
        ),
        TargetState::Unavailable { .. } => "not built: unavailable".to_owned(),
        TargetState::Failed(failure) => super::losses::failed(failure.phase),
    };
    StackFacts {
        target: clean(&target.target.to_string()),
        what: clean(&format!("{}, {}", target.language, target.framework)),
        variant: target.variant_description.as_deref().map(clean),
        runtime: words::runtime(target.runtime),
        database: target.database.as_ref().map_or("none".to_owned(), database),
        versions: or_none(versions.join(", ")),
        build,
        limits: target.limits.iter().map(|limit| clean(limit)).collect(),
    }
}
