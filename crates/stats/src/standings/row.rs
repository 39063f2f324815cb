//! A stack's row: its estimates with their ranks, and what else its heats say.

use deadheat_model::heat::{MemberRecord, RouteFigures};

use super::{
    at::LoadAt,
    types::{Behind, Figure, Measure, Memory, Route, Row},
};
use crate::{
    heats::{
        Fit, RankedMember, Ranking,
        percentile::WaitingTimes,
        recorded::{self, Numbering, usual_limit},
    },
    order_statistic::median,
};

/// The rankings of one group.
pub(super) struct GroupRankings<'a> {
    pub(super) at: &'a LoadAt<'a>,
    pub(super) ranking: &'a Ranking,
    pub(super) throughput: &'a Ranking,
    pub(super) cost: &'a Ranking,
    pub(super) p50: Option<&'a Ranking>,
    /// The fit of the quantity that the load is ranked by.
    pub(super) fit: &'a Fit,
}

impl GroupRankings<'_> {
    /// The rows, the best first. Last come those that have no place but a cost, for example because the rate is too low
    /// for a percentile.
    pub(super) fn rows(&self) -> Vec<Row> {
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
        let failures = at
            .places(member)
            .filter_map(|(heat, place)| recorded::failure(heat, place));
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
            course: at.heat_figures(member),
        }
    }
}

/// Answers beyond a percentile that it takes at least.
const BEYOND: u64 = 100;

/// What these heats say of each route.
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
