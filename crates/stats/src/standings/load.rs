//! The results of one load: its rankings, a row for each stack, and a stack next to its own copy (A/A).

use std::{cmp::Reverse, collections::BTreeMap};

use deadheat_model::{
    Cell, TargetId,
    heat::{MemberRecord, Role, RouteFigures},
    published::RepeatedRow,
    session::{TargetRecord, TargetState},
};

use super::{
    at::{LoadAt, WithTwin},
    scaling::Scalings,
    types::{
        Absent, AbsentBecause, Behind, Figure, LoadStandings, Measure, Memory, Route, Row, Table,
        Twin,
    },
};
use crate::{
    heats::{
        Fit, PairVerdict, Quantity, RankedMember, Ranking,
        percentile::{self, WaitingTimes, is_carried, of_a_heat},
        recorded::{self, Numbering, usual_limit},
        within,
    },
    interval::{log_mean, median},
};

/// The standings at a load.
pub(super) fn standings(at: &LoadAt<'_>) -> LoadStandings {
    let series = at.heat_series();
    let cost = at.rankings(&series, Quantity::Cost);
    let throughput = at.rankings(&series, Quantity::Throughput);
    let (main, p50) = match at.measure() {
        Measure::Throughput => (throughput.clone(), vec![None; throughput.len()]),
        Measure::ResponseTime => {
            let p50 = at.percentiles(50.0).into_iter().map(Some);
            (at.percentiles(99.0), p50.collect())
        }
    };
    let of_throughput = at.fit(&series, Quantity::Throughput);
    let fit = match at.measure() {
        Measure::Throughput => &of_throughput,
        Measure::ResponseTime => &at.timed_fit(99.0),
    };
    let scaling = Scalings::new(at);
    let settled = at.look.is_some()
        && scaling.is_settled()
        && main.iter().all(|one| one.is_settled(&at.settings));
    let parts = main.into_iter().zip(throughput).zip(cost).zip(p50);
    let mut tables: Vec<Table> = parts
        .map(|(((ranking, throughput), cost), p50)| {
            let found = GroupRankings {
                at,
                ranking: &ranking,
                throughput: &throughput,
                cost: &cost,
                p50: p50.as_ref(),
                fit,
            };
            Table {
                group: ranking.group,
                rows: found.rows(),
                half_width: ranking.median_half_width(),
                ranking,
                cost,
                p50,
            }
        })
        .filter(|table| !table.rows.is_empty())
        .collect();
    tables.sort_by_key(|table| (table.group.yardsticks, Reverse(table.group.cpus)));
    let placed = |target: &TargetId| {
        let mut rows = tables.iter().flat_map(|table| &table.rows);
        rows.any(|row| row.target == *target)
    };
    let stacks = at.load.targets.iter().enumerate();
    let lacking = stacks
        .filter(|(_, target)| !placed(target))
        .map(|(number, _)| lacking(at, number));
    let unanswered = unanswered(at);
    LoadStandings {
        workload: at.load.workload.clone(),
        description: at.load.description.clone(),
        point: at.load.point.clone(),
        measure: at.measure(),
        offered_per_second: at.offered(),
        members: (0..at.load.members())
            .map(|number| at.load.target(number))
            .collect(),
        heats: at.complete_heats(),
        look: at.look,
        scaling: scaling.stacks,
        lacking: lacking.chain(unanswered).collect(),
        // The null server's figure in a typical heat, as for stacks. Its own heats ran at other times.
        ceiling_per_second: of_throughput.figure(at.load.ceiling(), Quantity::Throughput),
        null_server_series: at.heat_figures(at.load.ceiling()),
        twin: twin(at),
        heat: at.heats.last().map_or(at.load.heat, |heat| heat.plan),
        slices: recorded::SliceLengths::new(
            (0..at.load.targets.len()).map(|number| at.slices(number).collect()),
        ),
        tables,
        settled,
    }
}

/// Why a stack of the plan has no place.
fn lacking(at: &LoadAt<'_>, number: usize) -> Absent {
    let overloads = at.overloads(number);
    if let Some(reason) = overloads.in_words()
        && overloads.are_most()
        && !at.has_failed(number)
    {
        return Absent {
            target: at.load.target(number),
            is: AbsentBecause::Overloaded,
            reason,
            remedy: None,
            log: Vec::new(),
        };
    }
    let failures = at.failures(number).map(|(heat, place, reason)| {
        let failure = heat.members[place].failure.as_ref();
        let log = failure.map_or_else(Vec::new, |failure| failure.failure.log_tail.clone());
        (reason, log)
    });
    let (is, reason, log) = match failures.last() {
        Some((reason, log)) => (AbsentBecause::Failed, reason, log),
        None if at.places(number).next().is_some() => (
            AbsentBecause::NotMeasured,
            "it answered too little to be compared".to_owned(),
            Vec::new(),
        ),
        None => (
            AbsentBecause::NotMeasured,
            "the session ended before it had a heat".to_owned(),
            Vec::new(),
        ),
    };
    Absent {
        target: at.load.target(number),
        is,
        reason,
        remedy: None,
        log,
    }
}

/// Stacks that were prepared for this load, and did not answer its workload rightly.
fn unanswered(at: &LoadAt<'_>) -> Vec<Absent> {
    let header = &at.record.header;
    let rows = || header.published.iter().flat_map(|table| &table.rows);
    // A session that repeats published tables has stacks of its own at each load.
    let is_asked = |target: &&TargetRecord| {
        let is_here = |cell: &Cell| {
            let load = (&cell.workload, &cell.point);
            cell.target == target.target && load == (&at.load.workload, &at.load.point.id)
        };
        header.published.is_empty() || rows().filter_map(RepeatedRow::cell).any(is_here)
    };
    let targets = header.targets.iter().filter(is_asked);
    let unanswered = targets.filter_map(|target| {
        unanswered_by(target, &at.load.workload).or_else(|| not_offered(at, target))
    });
    unanswered.collect()
}

/// Why a stack that is ready is not asked at this load, as far as that is recorded.
fn not_offered(at: &LoadAt<'_>, target: &TargetRecord) -> Option<Absent> {
    let is_ready = matches!(target.state, TargetState::Ready { .. });
    let protocols = target.protocols.filter(|_| is_ready)?;
    if at.load.targets.contains(&target.target) {
        return None;
    }
    let protocol = at.load.point.protocol;
    let reason = if protocols.include(protocol) {
        format!("it does not answer {}", at.load.workload)
    } else {
        format!("it does not speak {protocol}")
    };
    Some(Absent {
        target: target.target.clone(),
        is: AbsentBecause::NotOffered,
        reason,
        remedy: None,
        log: Vec::new(),
    })
}

/// The invalid answers of a stack that was prepared.
pub(super) fn unanswered_by(target: &TargetRecord, workload: &str) -> Option<Absent> {
    let failure = target.failed_workload(workload)?;
    Some(Absent::failed(&target.target, failure))
}

/// The rankings of one group.
struct GroupRankings<'a> {
    at: &'a LoadAt<'a>,
    ranking: &'a Ranking,
    throughput: &'a Ranking,
    cost: &'a Ranking,
    p50: Option<&'a Ranking>,
    /// The fit of the quantity that the load is ranked by.
    fit: &'a Fit,
}

impl GroupRankings<'_> {
    /// The rows, the best first. Last come those that have no place but a cost, for example because the rate is too low
    /// for a percentile.
    fn rows(&self) -> Vec<Row> {
        let unplaced = |one: &&RankedMember| self.ranking.unplaced.contains(&one.member);
        let unplaced = self.cost.places.iter().filter(unplaced);
        let places = self.ranking.places.iter().chain(unplaced);
        let near_capacity = self.at.near_capacity();
        let row = |place: &RankedMember| self.row(place.member, near_capacity);
        places.map(row).collect()
    }

    fn row(&self, member: usize, near_capacity: &[usize]) -> Row {
        let at = self.at;
        let cpus = at.cpus(member);
        let sound = || at.sound(member);
        let slices = || at.slices(member);
        let all: usize = at
            .places(member)
            .map(|(heat, place)| {
                let all = heat.rounds.iter().flatten();
                all.filter(|slice| slice.member as usize == place).count()
            })
            .sum();
        let counted = slices().count();
        let failures = at.failures(member).map(|(.., reason)| reason);
        // In an open loop it is the rate that was asked for, as far as it was answered.
        let unranked = |figure: Figure| Figure {
            rank: None,
            ..figure
        };
        let throughput = figure(self.throughput, member, 1.0).map(|figure| match at.measure() {
            Measure::Throughput if !self.ranking.group.yardsticks => figure,
            _ => unranked(figure),
        });
        let is_closed = at.measure() == Measure::Throughput;
        let waiting = throughput.filter(|_| is_closed).map(|throughput| {
            let heats: Vec<_> = at.sound_places(member).collect();
            let in_flight = at.load.point.in_flight();
            WaitingTimes::new(in_flight, throughput.value, &heats, &at.settings)
        });
        let is_ranked = !self.ranking.group.yardsticks;
        let ranked = |figure: Option<Figure>| {
            if is_ranked {
                figure
            } else {
                figure.map(unranked)
            }
        };
        let [p50_seconds, p99_seconds] = match self.p50 {
            Some(p50) => [p50, self.ranking].map(|ranking| ranked(figure(ranking, member, 1.0))),
            None => waiting.map_or([None; 2], |waiting| {
                waiting.percentiles.map(|time| time.map(Figure::unranked))
            }),
        };
        let memory = || sound().filter_map(MemberRecord::memory_here);
        Row {
            member,
            target: at.load.target(member),
            throughput_per_second: throughput.unwrap_or(Figure::unranked(0.0)),
            cpu_us_per_request: ranked(figure(self.cost, member, 1e6)),
            mean_seconds: waiting.map(|waiting| waiting.mean_seconds),
            p50_seconds,
            p99_seconds,
            uneven: waiting.and_then(|waiting| waiting.uneven),
            behind: Behind::new(self.ranking, member),
            half_width: self.ranking.half_width(member),
            spread: self.fit.spread(member),
            memory: Memory {
                mean_bytes: bytes(memory().map(|one| one.mean)),
                peak_bytes: bytes(memory().map(|one| one.peak)),
                heats: memory().filter(|one| one.mean.is_some()).count() as u32,
            },
            unsteady_heats: at.unsteady_heats(member),
            overloads: at.overloads(member).in_words(),
            near_capacity: near_capacity.contains(&member),
            heats: sound().count() as u32,
            slices: counted as u32,
            often_late: is_closed && recorded::often_late(slices()),
            discarded_slices: (all - counted) as u32,
            answers: slices().map(|slice| slice.tally.answers()).sum(),
            failed_requests: slices().map(|slice| slice.tally.failed.total()).sum(),
            reconnected: slices().map(|slice| slice.reconnected).sum(),
            busy: median(slices().filter_map(|slice| recorded::busy(slice, cpus))),
            limited_by: usual_limit(slices(), cpus, &at.settings),
            failures: failures.collect(),
            routes: routes(sound()),
            compression: sound().filter_map(|heat| heat.compression).last(),
            writes: sound()
                .filter_map(|heat| heat.writes)
                .reduce(|all, more| all + more),
            series: at.heat_figures(member),
        }
    }
}

/// Answers beyond a percentile that it takes at least.
const BEYOND: u64 = 100;

/// The figures of each route in these heats.
fn routes<'a>(heats: impl Iterator<Item = &'a MemberRecord>) -> Vec<Route> {
    let mut all: Vec<RouteFigures> = Vec::new();
    for heat in heats {
        for route in &heat.routes {
            match all.iter_mut().find(|known| known.route == route.route) {
                Some(known) => known.merge(route),
                None => all.push(route.clone()),
            }
        }
    }
    let summed_up = |one: RouteFigures| {
        let percentile = |quantile: f64| {
            let beyond = one.service_time.count() as f64 * (1.0 - quantile);
            let time = one.service_time.quantile(quantile);
            time.filter(|_| beyond >= BEYOND as f64)
                .map(|time| time.as_secs_f64())
        };
        Route {
            answers: one.succeeded,
            failed_requests: one.failed,
            p50_seconds: percentile(0.5),
            p99_seconds: percentile(0.99),
            route: one.route,
        }
    };
    all.into_iter().map(summed_up).collect()
}

/// A member's figure in a ranking, multiplied by `units` (1e6: from seconds to µs).
fn figure(ranking: &Ranking, member: usize, units: f64) -> Option<Figure> {
    let mut places = ranking.places.iter();
    let place = places.find(|place| place.member == member)?;
    Some(Figure {
        value: place.figure * units,
        rank: Some(place.rank),
        is_bound: place.is_bound,
    })
}

fn bytes(figures: impl Iterator<Item = Option<u64>>) -> Option<f64> {
    median(figures.flatten().map(|bytes| bytes as f64))
}

/// With fewer heats there is no interval.
const MIN_HEATS: usize = 3;
/// The level of the interval.
const LEVEL: f64 = 0.95;

/// The comparison of a stack with its twin; `None` without a twin.
pub(crate) fn twin(at: &LoadAt<'_>) -> Option<Twin> {
    let twin = at.load.twin();
    let mut ratios = Vec::new();
    let mut of = BTreeMap::new();
    for (heat, place) in at.places(twin) {
        let Role::Twin { of: original } = heat.members[place].role else {
            continue;
        };
        let original = &heat.members[original as usize];
        let Some(number) = at.load.number(original) else {
            continue;
        };
        let values: Vec<(usize, f64)> = match at.measure() {
            Measure::Throughput => {
                let counted = recorded::heat(heat, &WithTwin(at), &at.settings);
                let found = within::of_heat(&counted, Quantity::Throughput).into_iter();
                found.map(|one| (one.member, one.value)).collect()
            }
            Measure::ResponseTime => percentile::percentiles(99.0, heat, &WithTwin(at))
                .into_iter()
                .filter(|one| is_carried(99.0, one.samples, &of_a_heat(&at.settings)))
                .map(|one| (one.member, one.seconds.ln()))
                .collect(),
        };
        let value = |wanted: usize| {
            let mut values = values.iter();
            values
                .find(|(member, _)| *member == wanted)
                .map(|one| one.1)
        };
        if let Some((own, other)) = value(twin).zip(value(number)) {
            ratios.push((own - other).exp());
            of.insert(number, original.target.clone());
        }
    }
    let found = log_mean(&ratios, LEVEL)?;
    let interval = found.interval.filter(|_| found.trials >= MIN_HEATS);
    let rule = at.settings.rule();
    // Of response times more is worse, and which way they differ does not matter here.
    let verdict = interval.map_or(PairVerdict::Undecided, |interval| {
        rule.verdict(found.mean, &interval, found.trials)
    });
    Some(Twin {
        of: of.into_values().collect(),
        heats: found.trials as u32,
        ratio: found.mean,
        interval,
        verdict,
    })
}
