//! A session as the site has it: every stack at every load, and every pair of stacks.

use std::collections::BTreeMap;

use deadheat_document::view::{clean, database_access, machine_facts};
use deadheat_model::{
    TargetId,
    figure::bytes,
    heats::{EndReason, PlannedLoad, SessionHeader, SessionRecord},
    machine::Machine,
    session::{FoundVersion, TargetRecord},
};
use deadheat_stats::{
    heats::{PairVerdict, Ranking, pairs::RankedPair},
    standings::{Figure, LoadStandings, Measure, Row, Standings, StartFigure, Table, short_names},
};

use super::types::{
    RankedFigure, RankingPairs, SiteLoad, SitePairs, SiteRow, SiteSession, SiteStack, SiteTable,
    TablePairs, rounded,
};

/// Units of a logarithm.
const UNITS: f64 = 1e7;
/// Half widths beyond this factor say nothing: there are too few heats for a verdict.
const WIDEST: f64 = 1e6;

/// The session, without pairs.
pub fn session(record: &SessionRecord, found: &Standings) -> SiteSession {
    let header = &record.header;
    let commands = commands(record);
    let stacks = header.targets.iter();
    let stacks = stacks.map(|one| stack(one, found, commands.get(&one.target)));
    let names = short_names(&found.loads);
    let loads = found.loads.iter().zip(names);
    let warnings = found.warnings.iter().map(|one| one.in_full());
    SiteSession {
        id: clean(&header.id),
        started: clean(&header.started),
        ended: record.end,
        deadheat: header.deadheat.clone(),
        commit: header.commit.as_deref().map(clean),
        command: repeat(header, None),
        repeat_stack: header
            .targets
            .iter()
            .map(|one| (one.target.clone(), repeat(header, Some(&one.target))))
            .collect(),
        machine: machine_facts(header)
            .into_iter()
            .map(|fact| (fact.name, fact.value))
            .collect(),
        alpha: header.plan.alpha,
        margin: header.plan.margin,
        least_heats: header.plan.least_heats,
        price_per_cpu_hour: header.plan.price_per_cpu_hour,
        warnings: early_end(record).into_iter().chain(warnings).collect(),
        stacks: stacks.collect(),
        loads: loads.map(|(one, name)| load(header, one, name)).collect(),
        absent: found.absent.clone(),
    }
}

/// The warning about a session that did not run to its end.
fn early_end(record: &SessionRecord) -> Option<String> {
    let end = match record.end {
        None => "The session was killed before its end, or is still being measured",
        Some(EndReason::Interrupted) => "The session was interrupted",
        Some(EndReason::Lost) => "The session ended when a host or a service was lost",
        Some(_) => return None,
    };
    Some(format!(
        "{end}. Its verdicts cover the heats up to the last checkpoint before that."
    ))
}

/// Every pair at the loads of a session, in the order of its loads.
pub fn pairs(record: &SessionRecord, found: &Standings) -> Vec<SitePairs> {
    let of_load = |load: &LoadStandings| {
        let place = |member: &usize| {
            let target = load.members.get(*member);
            let place = |target| stack_place(&record.header, target);
            target.and_then(place).unwrap_or_default()
        };
        let table = |table: &Table| TablePairs {
            main: ranking_pairs(&table.ranking, &place),
            cost: ranking_pairs(&table.cost, &place),
            p50: table.p50.as_ref().map(|one| ranking_pairs(one, &place)),
        };
        SitePairs {
            session: clean(&record.header.id),
            load: load.name(),
            tables: load.tables.iter().map(table).collect(),
        }
    };
    found.loads.iter().map(of_load).collect()
}

fn stack_place(header: &SessionHeader, target: &TargetId) -> Option<usize> {
    let mut targets = header.targets.iter();
    targets.position(|one| one.target == *target)
}

/// Whether two machines are of one kind: the same processor, number of CPUs and memory. Sessions of another kind of
/// machine are not compared.
pub fn is_same_kind(one: &Machine, other: &Machine) -> bool {
    one.cpu_model == other.cpu_model
        && one.cpus.len() == other.cpus.len()
        && one.has_memory_of(other)
}

/// The name of the folder of a kind of machine.
pub fn machine_key(machine: &Machine) -> String {
    let gib = (machine.memory_bytes as f64 / f64::from(1 << 30)).round();
    format!("{}-{}cpu-{gib}gib", machine.cpu_model, machine.cpus.len())
}

/// The minute at which a session started: "2026-03-01 10:00".
pub fn minute(started: &str) -> String {
    clean(&started.get(..16).unwrap_or(started).replace('T', " "))
}

/// The machine in words: "AMD EPYC, 2 CPUs, 23.5 GiB".
pub fn machine_words(machine: &Machine) -> String {
    let cpus = deadheat_model::figure::counted(machine.cpus.len(), "CPU");
    let memory = bytes(machine.memory_bytes as f64);
    clean(&format!("{}, {cpus}, {memory}", machine.cpu_model))
}

/// The command that repeats a session, or one stack of it.
pub fn repeat(header: &SessionHeader, only: Option<&TargetId>) -> String {
    let mut words = vec!["deadheat".to_owned()];
    let mut arguments = header.arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        let of = |name: &str| argument == name || argument.starts_with(&format!("{name}="));
        // The folder of the results is the reader's choice.
        let is_dropped = of("--results") || (only.is_some() && of("--stack"));
        if !is_dropped {
            words.push(argument.clone());
        } else if !argument.contains('=') {
            arguments.next();
        }
    }
    if let Some(target) = only {
        words.extend(["--stack".to_owned(), target.on_cpus(None).to_string()]);
    }
    let quoted = shlex::try_join(words.iter().map(String::as_str));
    let command = quoted.unwrap_or_else(|_| words.join(" "));
    let commit = header
        .commit
        .as_deref()
        .filter(|_| header.embedded.is_none());
    let checkout = commit.map(|commit| {
        let commit = commit.strip_suffix("-dirty").unwrap_or(commit);
        format!("git checkout {commit} && cargo run --release -- ")
    });
    let command = match &checkout {
        Some(_) => command.strip_prefix("deadheat ").unwrap_or_default(),
        None => &command,
    };
    clean(&format!("{}{command}", checkout.unwrap_or_default()))
}

/// The latest command of each stack.
fn commands(record: &SessionRecord) -> BTreeMap<TargetId, Vec<String>> {
    let members = record.heats.iter().flat_map(|one| &one.heat.members);
    let started = members.filter(|member| !member.command.is_empty());
    started
        .map(|one| (one.target.clone(), one.command.clone()))
        .collect()
}

fn stack(record: &TargetRecord, found: &Standings, command: Option<&Vec<String>>) -> SiteStack {
    let target = &record.target;
    let mut starts = found.starts.iter().flat_map(|table| &table.rows);
    let start = starts.find(|row| row.target == *target);
    let command = command.into_iter().flatten();
    SiteStack {
        target: target.clone(),
        language: clean(&record.language),
        framework: clean(&record.framework),
        class: record.class,
        role: record.role,
        runtime: record.runtime,
        variant: record.variant_description.as_deref().map(clean),
        database: record.database.clone(),
        database_access: database_access(record),
        versions: record
            .versions
            .iter()
            .map(|found| FoundVersion {
                name: clean(&found.name),
                version: clean(&found.version),
            })
            .collect(),
        limits: record.limits.iter().map(|limit| clean(limit)).collect(),
        sources: record.sources.clone(),
        is_own: record.added.is_none(),
        command: command.map(|word| clean(word)).collect(),
        first_answer_seconds: start.map(|row| started(row.first_answer_seconds)),
        memory_at_rest_bytes: start.and_then(|row| row.memory_at_rest_bytes).map(started),
    }
}

fn started(figure: StartFigure) -> RankedFigure {
    RankedFigure {
        value: rounded(figure.value),
        rank: figure.rank,
        is_bound: figure.is_upper_bound,
    }
}

fn placed(figure: Figure) -> RankedFigure {
    RankedFigure {
        value: rounded(figure.value),
        rank: figure.rank,
        is_bound: figure.is_bound,
    }
}

fn load(header: &SessionHeader, load: &LoadStandings, label: String) -> SiteLoad {
    let mut planned = header.plan.loads.iter();
    let planned = planned.find(|one| one.name() == load.name());
    let open = load.point.open.as_ref();
    let table = |table: &Table| SiteTable {
        group: table.group,
        rows: table
            .rows
            .iter()
            .map(|one| row(header, load, one))
            .collect(),
    };
    SiteLoad {
        name: load.name(),
        label,
        workload: load.workload.clone(),
        description: clean(&load.description),
        measure: load.measure,
        equal_work_of: open.map(|open| format!("{}:{}", load.workload, open.capacity_of)),
        offered_per_second: load.offered_per_second.map(rounded),
        heats: load.heats,
        judged_heats: load.look.map(|look| look.heats),
        copies_differ: load
            .twin
            .as_ref()
            .filter(|twin| twin.differs())
            .map(|twin| rounded((twin.ratio - 1.0).abs())),
        shared_starts: planned.and_then(|one: &PlannedLoad| one.shared_starts),
        tables: load.tables.iter().map(table).collect(),
        absent: load.lacking.clone(),
    }
}

fn row(header: &SessionHeader, load: &LoadStandings, row: &Row) -> SiteRow {
    let is_open = load.measure == Measure::ResponseTime;
    let time = |figure: Option<Figure>| figure.filter(|_| is_open).map(placed);
    SiteRow {
        stack: stack_place(header, &row.target).unwrap_or_default(),
        per_second: Some(placed(row.throughput_per_second)),
        cpu_us: row.cpu_us_per_request.map(placed),
        p50_seconds: time(row.p50_seconds),
        p99_seconds: time(row.p99_seconds),
        peak_bytes: row.memory.peak_bytes.map(rounded),
        heats: row.heats,
        failed_requests: row.failed_requests,
        failures: row.failures.iter().map(|reason| clean(reason)).collect(),
    }
}

fn ranking_pairs(ranking: &Ranking, place: &impl Fn(&usize) -> usize) -> RankingPairs {
    let places = &ranking.places;
    // Times and costs are sorted by less: the sign is that of the better one.
    let last = places.last().map_or(1.0, |place| place.figure);
    let log = |figure: f64| units((figure / last).ln().abs());
    let alone = |pair: &RankedPair| {
        let interval = pair.alone?.interval;
        half_width(pair.ratio?, interval.low, interval.high)
    };
    let together = |pair: &RankedPair| {
        let interval = pair.interval?;
        half_width(pair.ratio?, interval.low, interval.high)
    };
    RankingPairs {
        stacks: places.iter().map(|one| place(&one.member)).collect(),
        log: places.iter().map(|one| log(one.figure)).collect(),
        is_bound: places.iter().map(|one| one.is_bound).collect(),
        heats: places.iter().map(|one| one.heats).collect(),
        alone: ranking.pairs.iter().map(alone).collect(),
        together: ranking.pairs.iter().map(together).collect(),
        verdicts_alone: ranking
            .pairs
            .iter()
            .map(|pair| pair.alone.map_or('-', |alone| letter(alone.verdict)))
            .collect(),
        verdicts_together: ranking
            .pairs
            .iter()
            .map(|pair| pair.ratio.map_or('-', |_| letter(pair.verdict)))
            .collect(),
    }
}

fn units(log: f64) -> i64 {
    (log * UNITS).round() as i64
}

/// The half width of an interval of a ratio on the logarithm, by the end that is not open.
fn half_width(ratio: f64, low: f64, high: f64) -> Option<i64> {
    let half = if high.is_finite() {
        (high / ratio).ln()
    } else {
        (ratio / low).ln()
    };
    (half < WIDEST.ln()).then(|| units(half))
}

const fn letter(verdict: PairVerdict) -> char {
    match verdict {
        PairVerdict::Faster => 'F',
        PairVerdict::Slower => 'S',
        PairVerdict::DeadHeat => 'D',
        PairVerdict::Undecided => 'U',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_less_memory_is_no_other_kind_of_machine() {
        let machine = |cpu_model: &str, mib: u64| Machine {
            cpu_model: cpu_model.to_owned(),
            memory_bytes: mib << 20,
            ..Machine::default()
        };
        let usual = machine("A", 15_883);
        assert!(is_same_kind(&usual, &machine("A", 15_862)));
        assert!(!is_same_kind(&usual, &machine("A", 7_900)));
        assert!(!is_same_kind(&usual, &machine("B", 15_883)));
    }
}
