//! The details of a session's report: the source of the figures, their reliability, and the limits of the session.

use deadheat_document::view::{Fact, clean, machine_facts, stack_facts};
use deadheat_model::{
    Wait, Warning,
    figure::{self, counted, list, long_time, ratio, ratios, seconds, setting, some, span},
    heat::Rounds,
    heats::{EndReason, SessionHeader, SessionRecord},
    plan::Pinning,
    warning::{Level, doubt},
};
use deadheat_stats::standings::{LoadStandings, Standings, TimeSpent, short_names};

use super::{State, load::planned, name, shorts};
use crate::document::words;

/// The source of the figures, and their limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// Session, versions, arguments.
    pub provenance: Vec<Fact>,
    /// The machine.
    pub machine: Vec<Fact>,
    /// How it was measured and judged.
    pub method: Vec<Fact>,
    /// Findings of `deadheat doctor` that are not among the session's warnings.
    pub findings: Vec<Warning>,
    /// Every stack that was asked for, in a line.
    pub stacks: Vec<String>,
    /// Limits of the session, a sentence or two each.
    pub caveats: Vec<String>,
    /// How the session's time was spent, in a line without a full stop; `None` before the first heat.
    pub time_line: Option<String>,
}

pub(super) fn details(record: &SessionRecord, standings: &Standings, state: State) -> Details {
    let header = &record.header;
    let findings = record.findings().into_iter();
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

/// How the loads were measured. Loads that were measured in the same way share a fact.
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
        "{} in heats: {} in slices, {} between them, {} warm-up, {} starts, checks, rounds that lead in, and stops",
        long_time(time.heats_seconds),
        words::percent(counted),
        share(time.between_seconds),
        share(time.warm_up_seconds),
        share(time.starting_seconds),
    ))
}

/// The limits of the session, a sentence or two each.
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
    if header.postgres.is_some() {
        caveats.push(
            "CPU time and memory are those of the server's processes, without the database's."
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

/// A ratio is worth a word if it is known this many times worse than the typical ones.
const MUCH_WORSE: f64 = 1.2;

/// "4 heats of each stack", "3 to 5 heats of each stack at each load".
fn heats_of_each_stack(standings: &Standings) -> String {
    let tables = standings.leading().flat_map(|load| &load.tables);
    let rows = tables.flat_map(|table| &table.rows);
    let heats: Vec<u32> = rows
        .map(|row| row.heats)
        .filter(|heats| *heats > 0)
        .collect();
    let (Some(least), Some(most)) = (heats.iter().min(), heats.iter().max()) else {
        return counted(0, "heat");
    };
    let from = if least < most {
        format!("{least} to ")
    } else {
        String::new()
    };
    let at = if standings.leading().count() > 1 {
        " at each load"
    } else {
        ""
    };
    format!(
        "{from}{} of each stack{at}",
        counted(*most as usize, "heat")
    )
}

/// The line, without a full stop.
pub(super) fn trust(standings: &Standings, warnings: &[Warning]) -> String {
    let tables = standings.leading().flat_map(|load| &load.tables);
    let widths: Vec<f64> = tables.filter_map(|table| table.half_width).collect();
    let least = widths.iter().copied().reduce(f64::min);
    let most = widths.iter().copied().reduce(f64::max);
    let typical = least.zip(most);
    let typical =
        typical.map(|(least, most)| format!("ratios known to {}", words::half_widths(least, most)));
    let parts = [
        Some(heats_of_each_stack(standings)),
        typical,
        worst(standings, most),
    ];
    let warnings = match warnings.len() {
        0 => "no warnings".to_owned(),
        many => counted(many, "warning"),
    };
    let parts = parts
        .into_iter()
        .flatten()
        .chain([twin(standings), warnings]);
    parts.collect::<Vec<_>>().join(", ")
}

/// The ratio with the widest interval, if that is much wider than the typical ones are at `most`.
fn worst(standings: &Standings, most: Option<f64>) -> Option<String> {
    let loads = standings.loads.iter().zip(shorts(standings));
    let loads = loads.filter(|(load, _)| load.leads());
    let all = loads.flat_map(|(load, short)| {
        let rows = load.tables.iter().flat_map(|table| &table.rows);
        rows.filter_map(move |row| Some((row.half_width?, &row.target, short.clone())))
    });
    let (width, target, load) = all.max_by(|(one, ..), (other, ..)| one.total_cmp(other))?;
    let is_much = most.is_none_or(|most| width > MUCH_WORSE * most);
    let width = words::half_width(Some(width));
    is_much.then(|| format!("the worst to {width} ({}, {load})", name(target)))
}

/// The twin that differs the most by what the headlines are about, and before all others one that differs provably.
fn twin(standings: &Standings) -> String {
    let loads = standings.loads.iter().zip(shorts(standings));
    let twins = loads.filter_map(|(load, short)| {
        let twin = load.twin.as_ref()?;
        (load.leads() || twin.differs()).then_some((twin, short))
    });
    let judged = twins
        .clone()
        .filter_map(|(twin, short)| Some((twin, twin.interval?, short)));
    let farthest = judged.max_by(|(one, ..), (other, ..)| {
        let distance = |ratio: f64| ratio.ln().abs();
        let order = one.differs().cmp(&other.differs());
        order.then(distance(one.ratio).total_cmp(&distance(other.ratio)))
    });
    match farthest {
        Some((twin, _, load)) if twin.differs() => {
            let far = words::percent((twin.ratio - 1.0).abs());
            format!("A/A check failed ({load}: {far} apart)")
        }
        Some((twin, ends, _)) => {
            format!(
                "A/A {} ({})",
                ratio(twin.ratio),
                ratios(ends.low, ends.high)
            )
        }
        None if twins.count() > 0 => "too few heats for an A/A check".to_owned(),
        None => "no A/A check".to_owned(),
    }
}

/// This many names are spelled out.
const MAX_NAMES: usize = 3;

/// All warnings of a session, those that may change a decision first.
pub(super) fn warnings(
    record: &SessionRecord,
    standings: &Standings,
    state: State,
) -> Vec<Warning> {
    let heats: u32 = standings.leading().map(|load| load.heats).sum();
    let of_state = early_end(record, state, heats);
    let is_early = of_state.is_some() && record.header.plan.precision.is_some();
    let too_few = too_few_heats(standings, state).filter(|_| !is_early);
    let of_state = of_state.into_iter().chain(too_few);
    let bad = record.findings().into_iter();
    let bad = bad.filter(|warning| warning.level <= Level::Doubt);
    let found = standings.warnings.iter().cloned();
    let mut all: Vec<Warning> = of_state.chain(found).chain(bad.cloned()).collect();
    all.sort_by_key(|warning| warning.level);
    for warning in &mut all {
        warning.sentence = clean(&warning.sentence);
        let lines: Vec<String> = warning.advice.lines().map(clean).collect();
        warning.advice = lines.join("\n");
    }
    all
}

fn early_end(record: &SessionRecord, state: State, heats: u32) -> Option<Warning> {
    let what = match state {
        State::Killed => "The session was killed before its end",
        State::Ended(EndReason::Interrupted) => "The session was interrupted",
        State::Ended(EndReason::Lost) => {
            "A host or a service was lost and could not be reached again"
        }
        State::Ended(EndReason::Nothing) => {
            let warning = doubt("early-end", "Nothing could be measured.");
            return Some(warning.advice("See why under “Not measured”."));
        }
        State::Running | State::Ended(_) => return None,
    };
    let until = match heats {
        0 => "no heat was complete by then",
        _ if record.header.plan.precision.is_some() => {
            "with --precision, verdicts come at the end of a session"
        }
        _ => "verdicts cover the heats up to the last checkpoint before that",
    };
    let warning = doubt("early-end", format!("{what}; {until}."));
    Some(warning.advice(resume(&record.header.id)))
}

/// How to continue the session in `folder`.
pub(super) fn resume(folder: &str) -> String {
    format!(
        "Continue it with `deadheat run --resume {}`.",
        clean(folder)
    )
}

fn too_few_heats(standings: &Standings, state: State) -> Option<Warning> {
    if state == State::Running {
        return None;
    }
    let unjudged = |load: &deadheat_stats::standings::LoadStandings| {
        let rows = load.tables.iter().map(|table| table.rows.len());
        load.leads() && load.look.is_none() && rows.max().unwrap_or(0) > 1
    };
    let loads = standings.loads.iter().zip(short_names(&standings.loads));
    let names = loads.filter(|(load, _)| unjudged(load));
    let names: Vec<String> = names.map(|(_, short)| short).collect();
    (!names.is_empty()).then(|| {
        let sentence = format!(
            "Too few heats for a verdict ({}): the order may change with more data.",
            some(&names, MAX_NAMES)
        );
        doubt("too-few-heats", sentence)
            .with("loads", names)
            .advice("Measure for longer with --budget.")
    })
}
