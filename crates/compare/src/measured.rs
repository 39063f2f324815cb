//! What a session of `deadheat compare` says, from its record alone.

use std::{path::Path, time::Duration};

use deadheat_bench::plan_text::pinning;
use deadheat_model::{
    Wait,
    change::{Aspect, Change},
    comparison::{Contender, ContenderKind, Side},
    heats::{EndReason, Plan, PlannedLoad, SessionHeader, SessionRecord},
    session::TargetRecord,
    warning::note,
};
use deadheat_shell::invocation;
use deadheat_stats::{
    comparison::{ComparisonAnalysis, Ended, Fact, Method, SideFacts, alternating::Duel},
    sequential::Look,
};

/// The comparison that the session in `folder` made; `None` if the session is not a comparison.
pub fn analyse(record: &SessionRecord, folder: &Path) -> Option<ComparisonAnalysis> {
    let duel = Duel::new(record)?;
    let plan = &record.header.plan;
    let look = duel.final_look();
    let judged = duel.judge(look);
    let walls: Duration = record.heats.iter().map(|one| one.heat.wall).sum();
    Some(ComparisonAnalysis {
        how: Method::Heats {
            design: duel.design()?,
            look,
            heats: duel.most_heats(),
            starts: starts(&duel, look),
            folder: invocation::shown(folder),
            slices: duel.slice_lengths(),
            equal_work: duel.equal_work_lengths(),
            took_seconds: walls.as_secs_f64(),
            ended: ended(record.end),
            seed: plan.seed,
        },
        a: side(&duel, Side::A),
        b: side(&duel, Side::B),
        is_change: duel.is_change(),
        bounds: duel.bounds(),
        compared: judged.compared,
        not_compared: judged.not_compared,
        conditions: conditions(&record.header, folder),
        differences: differences(&duel),
        warnings: {
            let comparison = record.header.comparison.iter();
            let alike = comparison.filter_map(|one| one.alike.as_deref());
            alike.map(|sentence| note("alike", sentence)).collect()
        },
    })
}

/// The number of processes of each side behind the figures.
fn starts(duel: &Duel<'_>, look: Option<Look>) -> u32 {
    match duel.contender(Side::A).kind {
        ContenderKind::Url { .. } => 1,
        _ => look.map_or(duel.most_heats(), |look| look.heats),
    }
}

fn ended(end: Option<EndReason>) -> Ended {
    match end {
        // No comparison asks for a precision.
        Some(EndReason::Decided | EndReason::Precise) => Ended::Decided,
        Some(EndReason::Finished) => Ended::LooksTaken,
        Some(EndReason::Budget) => Ended::Budget,
        Some(EndReason::Nothing) => Ended::Failed,
        Some(EndReason::Interrupted) => Ended::Interrupted,
        Some(EndReason::Lost) | None => Ended::Lost,
    }
}

fn side(duel: &Duel<'_>, which: Side) -> SideFacts {
    let contender = duel.contender(which);
    SideFacts {
        name: contender.name.clone(),
        facts: facts(contender, duel.stack(which)),
        failed: duel.failure_of(which),
    }
}

fn facts(contender: &Contender, stack: Option<&TargetRecord>) -> Vec<Fact> {
    match &contender.kind {
        ContenderKind::Url { load } => {
            let endpoints = load.routes().map(|(_, endpoint)| endpoint.to_string());
            let endpoints: Vec<String> = endpoints.collect();
            vec![Fact::new("server", endpoints.join(", "))]
        }
        ContenderKind::Command { command, .. } => vec![
            Fact::new("command", command.words.join(" ")),
            Fact::new("folder", command.folder.display().to_string()),
        ],
        ContenderKind::Stack { sources, .. } => {
            let versions = stack.into_iter().flat_map(|stack| &stack.versions);
            let versions = versions.map(|found| Fact::new(&found.name, &found.version));
            let sources = Fact::new("sources", sources);
            [sources].into_iter().chain(versions).collect()
        }
    }
}

/// What differs between two revisions of a stack. Two stacks differ in everything.
fn differences(duel: &Duel<'_>) -> Vec<Change> {
    let [a, b] = Side::BOTH.map(|side| &duel.contender(side).kind);
    let (
        ContenderKind::Stack { stack, sources },
        ContenderKind::Stack {
            stack: other,
            sources: others,
        },
    ) = (a, b)
    else {
        return Vec::new();
    };
    if stack != other {
        return Vec::new();
    }
    let mut changes = Vec::new();
    let mut differ = |aspect, what: &str, before: Option<&str>, after: Option<&str>| {
        if before != after {
            changes.push(Change {
                aspect,
                target: None,
                what: what.to_owned(),
                before: before.map(str::to_owned),
                after: after.map(str::to_owned),
            });
        }
    };
    differ(
        Aspect::Commit,
        "sources",
        Some(sources.as_str()),
        Some(others.as_str()),
    );
    let [Some(a), Some(b)] = Side::BOTH.map(|side| duel.stack(side)) else {
        return changes;
    };
    let version = |record: &TargetRecord, name: &str| {
        let mut versions = record.versions.iter();
        let found = versions.find(|found| found.name == name);
        found.map(|found| found.version.clone())
    };
    let names = a.versions.iter().chain(&b.versions);
    let mut told: Vec<&String> = Vec::new();
    for name in names.map(|found| &found.name) {
        if !told.contains(&name) {
            let (before, after) = (version(a, name), version(b, name));
            differ(Aspect::Version, name, before.as_deref(), after.as_deref());
            told.push(name);
        }
    }
    changes
}

fn conditions(header: &SessionHeader, folder: &Path) -> Vec<Fact> {
    let machine = &header.machine;
    let mut facts = vec![
        Fact::new("load", loads(&header.plan)),
        Fact::new("generator", waiting(&header.plan)),
        Fact::new("CPUs", pinning(&header.plan)),
        Fact::new("processor", &machine.cpu_model),
        Fact::new("kernel", &machine.kernel),
    ];
    let a = header.comparison.as_ref().map(|both| &both.a.kind);
    if let Some(ContenderKind::Url { .. }) = a {
        facts.push(Fact::new(
            "not known",
            "CPU and memory of servers that run already: throughput alone is compared, or with --rate response times; nor are \
             they frozen while the other one is loaded",
        ));
    }
    facts.push(Fact::new("records", invocation::shown(folder)));
    facts
}

/// The loads by name: "plaintext c50, users c100".
pub(super) fn loads(plan: &Plan) -> String {
    let named = plan.leading();
    let named = named.map(|one| format!("{} {}", one.workload, one.point.id));
    named.collect::<Vec<_>>().join(", ")
}

/// How the generator waits for answers.
pub(super) fn waiting(plan: &Plan) -> String {
    let polls = |one: &&PlannedLoad| one.heat.wait == Wait::Poll;
    let loads: Vec<&PlannedLoad> = plan.leading().collect();
    match loads.iter().copied().filter(polls).count() {
        0 => "waits for answers asleep, because its CPUs are not its own".to_owned(),
        all if all == loads.len() => "waits for answers awake, on CPUs of its own".to_owned(),
        _ => "waits for answers awake, but asleep where a service shares its CPUs".to_owned(),
    }
}
