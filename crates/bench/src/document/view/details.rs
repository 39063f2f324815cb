//! Where the figures of a session come from, and what it does not show.

use deadheat_document::view::{Fact, StackFacts, clean, machine_facts, stack_facts};
use deadheat_model::{
    Wait, Warning,
    figure::{self, counted, list, long_time, seconds, setting, span},
    heat::Rounds,
    heats::{SessionHeader, SessionRecord},
    plan::Pinning,
    warning::Level,
};
use deadheat_stats::standings::{LoadStandings, Standings, TimeSpent};

use super::{State, load::planned};
use crate::document::words;

/// Where the figures come from, and what they do not show.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// Session, versions, arguments.
    pub provenance: Vec<Fact>,
    /// The machine.
    pub machine: Vec<Fact>,
    /// How it was measured and judged.
    pub method: Vec<Fact>,
    /// What `deadheat doctor` found that is no warning of the session.
    pub findings: Vec<Warning>,
    /// Every stack that was asked for.
    pub stacks: Vec<StackFacts>,
    /// What the session does not show, a sentence or two each.
    pub caveats: Vec<String>,
    /// Where the time of the session went, in a line without a full stop; `None` before the first heat.
    pub time_line: Option<String>,
}

pub(super) fn details(record: &SessionRecord, standings: &Standings, state: State) -> Details {
    let header = &record.header;
    let findings = header.findings.iter();
    let findings = findings.filter(|one| one.level > Level::Doubt).cloned();
    Details {
        provenance: provenance(record, state),
        machine: machine_facts(header),
        method: method(record, standings),
        findings: findings.collect(),
        stacks: header.targets.iter().map(stack_facts).collect(),
        caveats: caveats(header, standings),
        time_line: time_line(&standings.time),
    }
}

fn provenance(record: &SessionRecord, state: State) -> Vec<Fact> {
    let (header, plan) = (&record.header, &record.header.plan);
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: String| facts.push(Fact::new(name, value));
    fact("Session", header.id.clone());
    fact("Started", header.started.clone());
    fact("State", words::state(state).to_owned());
    for one in &record.resumed {
        let reboot = if one.rebooted { ", after a reboot" } else { "" };
        let heats = counted(one.heats_before, "heat");
        fact("Resumed", format!("{}, after {heats}{reboot}", one.at));
    }
    fact("Deadheat", header.deadheat.clone());
    match (&header.commit, &header.embedded) {
        (Some(commit), _) => fact("Commit", commit.clone()),
        (None, None) => fact("Commit", "unknown (not in a checkout)".to_owned()),
        (None, Some(_)) => {}
    }
    if let Some(sha256) = &header.embedded {
        let version = &header.deadheat;
        let stacks = format!("part of Deadheat {version}, SHA-256 {sha256}");
        fact("Stacks", stacks);
    }
    fact("Arguments", header.arguments.join(" "));
    if header.live {
        fact("Live page", "written after each heat".to_owned());
    }
    if let Some(postgres) = &header.postgres {
        fact("Database", postgres.clone());
    }
    fact("Seed", plan.seed.to_string());
    if let Some(precision) = plan.precision {
        fact("Precision", format!("±{} asked for", setting(precision)));
    }
    if let Some(budget) = plan.budget_seconds {
        fact("Budget", long_time(budget));
    }
    facts
}

fn method(record: &SessionRecord, standings: &Standings) -> Vec<Fact> {
    let plan = &record.header.plan;
    let mut facts = vec![
        Fact::new(
            "Verdicts",
            format!(
                "faster if the interval of the ratio excludes 1; dead heat if it lies within {}, after {} heats or more; \
                 undecided otherwise",
                setting(plan.margin),
                plan.least_heats
            ),
        ),
        Fact::new(
            "Error level",
            format!(
                "{} for each ranking, over all pairs and checkpoints",
                setting(plan.alpha)
            ),
        ),
    ];
    facts.extend(loads(record, standings));
    facts
}

/// How the loads were measured; those that were measured alike in one fact.
fn loads(record: &SessionRecord, standings: &Standings) -> Vec<Fact> {
    let mut alike: Vec<(Vec<String>, String)> = Vec::new();
    for load in &standings.loads {
        let (name, how) = (load.name(), of_load(record, load));
        match alike.iter_mut().find(|(_, known)| *known == how) {
            Some((names, _)) => names.push(name),
            None => alike.push((vec![name], how)),
        }
    }
    let all = standings.loads.len();
    let facts = alike.into_iter().map(|(names, how)| match names.len() {
        many if many > 1 && many == all => Fact::new("All loads", how),
        _ => Fact::new(&list(&names), how),
    });
    facts.collect()
}

/// How a load was measured, in a line.
fn of_load(record: &SessionRecord, load: &LoadStandings) -> String {
    let planned = planned(&record.header, load);
    let looks = planned
        .map(|planned| &planned.looks[..])
        .unwrap_or_default();
    let looks: Vec<String> = looks.iter().map(u32::to_string).collect();
    let mut parts = vec![match load.look {
        Some(_) if record.header.plan.precision.is_some() => format!(
            "{} (precision looked at after {})",
            counted(load.heats as usize, "heat"),
            list(&looks)
        ),
        Some(look) => format!(
            "{} (verdicts after {}, planned checkpoints after {})",
            counted(load.heats as usize, "heat"),
            look.heats,
            list(&looks)
        ),
        None => counted(load.heats as usize, "heat"),
    }];
    parts.push(of_heat(load));
    if let Some(planned) = planned {
        let why = planned.capacity_reason.iter();
        let why = why.map(|why| format!(" ({})", why.trim_end_matches('.')));
        let most = counted(planned.capacity as usize, "server");
        parts.push(format!(
            "at most {most} at a time{}",
            why.collect::<String>()
        ));
    }
    parts.join("; ")
}

fn of_heat(load: &LoadStandings) -> String {
    let plan = &load.heat;
    let rounds = match plan.rounds {
        Rounds::Count { rounds } => counted(rounds as usize, "round"),
        Rounds::Time { time } => format!("rounds for {}", seconds(time.as_secs_f64())),
    };
    let waiting = if plan.freeze {
        "waiting servers frozen"
    } else {
        "waiting servers not frozen"
    };
    let wait = match plan.wait {
        Wait::Poll => "the generator polls",
        Wait::Sleep => "the generator sleeps between answers",
    };
    let slices = load.slices.map(|slices| {
        format!(
            "slices of {} after {} that do not count, gaps of {} at most; ",
            span(slices.counted_seconds),
            span(slices.guard_seconds),
            seconds(slices.longest_gap_seconds)
        )
    });
    format!("{}{rounds}; {waiting}; {wait}", slices.unwrap_or_default())
}

fn time_line(time: &TimeSpent) -> Option<String> {
    let counted = time.counted_share()?;
    let share = |part: f64| words::percent(part / time.heats_seconds);
    Some(format!(
        "{} in heats: {} measured, {} between slices, {} warm-up, {} starting, checking and stopping servers",
        long_time(time.heats_seconds),
        words::percent(counted),
        share(time.between_seconds),
        share(time.warm_up_seconds),
        share(time.starting_seconds),
    ))
}

/// What the session does not show, a sentence or two each.
fn caveats(header: &SessionHeader, standings: &Standings) -> Vec<String> {
    let mut loads = header.plan.loads.iter();
    let has_tls = loads.any(|load| load.point.protocol.is_over_tls());
    let way = match (&header.plan.hosts, has_tls) {
        (None, false) => {
            "Requests travelled over the loopback interface of one machine: there was no network card, no network and \
             no TLS."
        }
        (None, true) => {
            "Requests travelled over the loopback interface of one machine: there was no network card and no network."
        }
        (Some(_), false) => {
            "Requests travelled from the generators over a network, whose delay is in all times and whose bandwidth \
             bounds all rates. There was no TLS."
        }
        (Some(_), true) => {
            "Requests travelled from the generators over a network, whose delay is in all times and whose bandwidth \
             bounds all rates."
        }
    };
    let mut caveats = vec![way.to_owned(), loops(standings).to_owned()];
    if has_tls {
        caveats.push(
            "Figures over TLS are those of encryption on open connections, not of handshakes. Exceptions: connections that \
             were made again, and up to a tenth of them if their handshakes outlasted the warm-up. At equal work, each turn \
             opens new connections before it counts."
                .to_owned(),
        );
    }
    let machine = &header.machine;
    if let Some(name) = machine
        .congestion_control
        .as_ref()
        .filter(|_| machine.paces_loopback())
    {
        caveats.push(format!(
            "TCP's congestion control was {}, which paces the server's sending, even over loopback. Large answers \
             took longer and cost more than with Linux's default, cubic.",
            clean(name)
        ));
    }
    if header.plan.database_host().is_some() {
        caveats.push(
            "The database was reached over a network, whose delay is in all answers that need it."
                .to_owned(),
        );
    }
    caveats.extend(cpus(header));
    let loads = || standings.loads.iter();
    if !standings.loads.is_empty() && loads().all(|load| load.twin.is_none()) {
        caveats.push(
            "No stack was measured twice in one heat (A/A), so the method was not checked on this machine.".to_owned(),
        );
    }
    if !standings.loads.is_empty() && loads().all(|load| load.ceiling_per_second.is_none()) {
        caveats.push(
            "The null server was not measured, so the most that the generator can load here is not known.".to_owned(),
        );
    }
    if !header.published.is_empty() {
        caveats.push(
            "Published figures are single runs on other machines, of other versions and routes. That a ratio agrees or \
             differs proves neither side right or wrong. Here servers were warm, and a published one may have been cold."
                .to_owned(),
        );
    }
    caveats.push(
        "One machine, one kernel, one set of versions and settings: the ranking may differ on others.".to_owned(),
    );
    caveats
}

fn loops(standings: &Standings) -> &'static str {
    if standings.loads.iter().any(|load| !load.leads()) {
        "Response times are those of independent arrivals at a steady rate; users also come in bursts. Throughput is \
             that of closed loops: a connection sends its next request when it has its answer."
    } else {
        "All loads are closed loops: a connection sends its next request when it has its answer. Times are \
             measured at full load. At a lower rate users wait less; --rate shows how long."
    }
}

fn cpus(header: &SessionHeader) -> Vec<String> {
    let elsewhere = header.plan.is_loaded_elsewhere();
    let Pinning::Apart { server, generator } = &header.plan.pinning else {
        let pinned = if header.plan.cpu_budgets().is_empty() {
            "Nothing was pinned"
        } else {
            "Only servers were pinned"
        };
        let shared = format!("{pinned}: servers and generator took CPU time from each other.");
        return if elsewhere { Vec::new() } else { vec![shared] };
    };
    let mut caveats = Vec::new();
    if server.len() == 1 {
        caveats.push("Servers had one CPU. Nothing here shows how a stack uses more.".to_owned());
    }
    let on = |side: &[usize], core: &[usize]| core.iter().any(|cpu| side.contains(cpu));
    let mut cores = header.machine.shared_cores.iter();
    if cores.any(|core| on(server, core) && on(generator, core)) {
        let others = header.plan.beside_servers();
        let other = others.first().copied().unwrap_or("services");
        caveats.push(format!(
            "Server and {other} ran on threads of one core: each was slower while the other worked."
        ));
    }
    if header.postgres.is_some() && header.plan.database_host().is_none() {
        let who = if elsewhere {
            "The database had"
        } else {
            "The generator and the database shared"
        };
        caveats.push(format!(
            "{who} {}, which may have limited these figures.",
            figure::cpus(generator)
        ));
    }
    caveats
}
