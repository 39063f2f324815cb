//! Standings built by hand: what the statistics would say of stacks whose figures are given.

use std::time::Duration;

use deadheat_model::{
    LoadPoint, TargetId, Wait,
    heat::{HeatPlan, Rounds},
    workload::{OfferedRate, OpenLoad},
};
use deadheat_stats::{
    heats::{
        Alone, Group, LimitedBy, Look, PairVerdict, Rank, RankedMember, RankedPair, Ranking,
        Remedy, recorded::SliceLengths,
    },
    interval::{Interval, log_mean},
    standings::{
        Absent, Behind, Figure, HeatFigure, LoadStandings, Measure, Memory, Row, StartAtLoad,
        StartFigure, StartRow, StartTable, Table, Twin,
    },
    uneven::Uneven,
};

/// What is known of a stack.
#[derive(Clone, Debug)]
pub struct Stack {
    pub name: String,
    pub rate: f64,
    pub cost_us: f64,
    pub memory_mib: f64,
    pub p99_ms: f64,
    pub is_bound: bool,
    pub uneven: Option<Uneven>,
}

impl Stack {
    pub fn new(name: &str, rate: f64) -> Self {
        Self {
            name: name.to_owned(),
            rate,
            cost_us: 950_000.0 / rate,
            memory_mib: 12.0,
            p99_ms: 90_000.0 / rate,
            is_bound: false,
            uneven: None,
        }
    }

    pub fn bound(self) -> Self {
        Self {
            is_bound: true,
            ..self
        }
    }
}

/// A load in the making.
pub struct Load {
    pub stacks: Vec<Stack>,
    pub workload: String,
    pub connections: u32,
    pub is_open: bool,
    pub half_width: f64,
    pub heats: u32,
    pub lacking: Vec<Absent>,
    pub twin: Option<f64>,
}

impl Load {
    pub fn new(workload: &str, stacks: Vec<Stack>) -> Self {
        Self {
            stacks,
            workload: workload.to_owned(),
            connections: 50,
            is_open: false,
            half_width: 0.04,
            heats: 14,
            lacking: Vec::new(),
            twin: Some(1.004),
        }
    }

    fn measure(&self) -> Measure {
        if self.is_open {
            Measure::ResponseTime
        } else {
            Measure::Throughput
        }
    }

    pub fn point(&self) -> LoadPoint {
        LoadPoint {
            open: self.is_open.then(|| OpenLoad {
                capacity_of: "c50".to_owned(),
                rate: OfferedRate::Common,
            }),
            ..LoadPoint::new(format!("c{}", self.connections), self.connections)
        }
    }

    pub fn targets(&self) -> Vec<TargetId> {
        let names = self.stacks.iter();
        names.map(|stack| stack.name.parse().unwrap()).collect()
    }

    fn look(&self) -> Option<Look> {
        (self.heats >= 3).then_some(Look {
            heats: self.heats,
            spends: 0.02,
        })
    }

    pub fn standings(&self) -> LoadStandings {
        let mut members = self.targets();
        members.push(TargetId::null_server());
        members.push(TargetId::twin());
        LoadStandings {
            workload: self.workload.clone(),
            description: format!("what {} exercises", self.workload),
            point: self.point(),
            measure: self.measure(),
            offered_per_second: self.is_open.then_some(12_000.0),
            members,
            heats: self.heats,
            look: self.look(),
            tables: if self.stacks.is_empty() || self.heats == 0 {
                Vec::new()
            } else {
                vec![self.table()]
            },
            scaling: Vec::new(),
            lacking: self.lacking.clone(),
            ceiling_per_second: Some(180_000.0),
            null_server_series: heat_series(180_000.0, self.heats.div_ceil(2), 2),
            twin: self.twin.map(|ratio| Twin {
                of: vec![TargetId::new("go-nethttp", None)],
                heats: 5,
                ratio,
                interval: Some(Interval {
                    low: ratio / 1.02,
                    high: ratio * 1.02,
                    level: 0.95,
                }),
                verdict: match ratio {
                    more if more > 1.02 => PairVerdict::Faster,
                    less if less < 1.0 / 1.02 => PairVerdict::Slower,
                    _ => PairVerdict::DeadHeat,
                },
            }),
            heat: HEAT,
            slices: Some(SliceLengths {
                counted_seconds: [0.098, 0.31],
                guard_seconds: [0.03, 0.08],
                longest_gap_seconds: 1.4,
            }),
            settled: false,
        }
    }

    fn table(&self) -> Table {
        let bounds: Vec<bool> = self.stacks.iter().map(|stack| stack.is_bound).collect();
        let none = vec![false; bounds.len()];
        let of = |figure: &dyn Fn(&Stack) -> f64| -> Vec<f64> {
            self.stacks.iter().map(figure).collect()
        };
        let rates = of(&|stack| stack.rate);
        let costs = of(&|stack| stack.cost_us / 1e6);
        let p99s = of(&|stack| stack.p99_ms / 1e3);
        let p50s = of(&|stack| stack.p99_ms / 2e3);
        let rank = |figures: &[f64], bounds: &[bool], more: bool| {
            ranking(
                figures,
                bounds,
                more,
                self.half_width,
                self.look().is_some(),
            )
        };
        let cost = rank(&costs, &none, false);
        let p50 = rank(&p50s, &none, false);
        let ranking = if self.is_open {
            rank(&p99s, &none, false)
        } else {
            rank(&rates, &bounds, true)
        };
        let places = ranking.places.iter();
        let rows = places.map(|place| self.row(place.member, [&ranking, &cost, &p50]));
        let rows = rows.collect();
        Table {
            group: Group::stacks(1),
            rows,
            ranking,
            cost,
            p50: self.is_open.then_some(p50),
            half_width: (self.stacks.len() > 1).then_some(self.half_width),
        }
    }

    fn row(&self, member: usize, [main, cost, p50]: [&Ranking; 3]) -> Row {
        let stack = &self.stacks[member];
        let best = main.places[0].member;
        let pair = main.pairs.iter();
        let pair = { pair }.find(|pair| (pair.better, pair.worse) == (best, member));
        // Those of a closed loop have no rank.
        let time = |ranking: &Ranking, value: f64| {
            if self.is_open {
                return figure(ranking, member, 1.0);
            }
            Figure {
                value,
                rank: None,
                is_bound: false,
            }
        };
        Row {
            member,
            target: stack.name.parse().unwrap(),
            throughput_per_second: if self.is_open {
                Figure {
                    value: stack.rate,
                    rank: None,
                    is_bound: false,
                }
            } else {
                figure(main, member, 1.0)
            },
            cpu_us_per_request: Some(figure(cost, member, 1e6)),
            overloads: None,
            near_capacity: false,
            mean_seconds: (!self.is_open).then_some(50.0 / stack.rate),
            p50_seconds: Some(time(p50, stack.p99_ms / 2e3)),
            p99_seconds: Some(time(main, stack.p99_ms / 1e3)),
            uneven: stack.uneven,
            behind: pair.map(|pair| Behind {
                ratio: pair.ratio.unwrap(),
                interval: pair.interval,
                verdict: pair.verdict,
            }),
            half_width: main.half_width(member),
            spread: Some(0.021),
            memory: Memory {
                mean_bytes: Some(stack.memory_mib * 0.9 * 1_048_576.0),
                peak_bytes: Some(stack.memory_mib * 1_048_576.0),
                heats: self.heats.div_ceil(2),
            },
            unsteady_heats: 0,
            heats: self.heats,
            slices: self.heats * 60,
            often_late: false,
            discarded_slices: 1,
            answers: (stack.rate * 0.1 * f64::from(self.heats * 60)) as u64,
            failed_requests: 0,
            reconnected: 0,
            busy: Some(0.97),
            limited_by: Some(if stack.is_bound {
                LimitedBy::Generator
            } else {
                LimitedBy::Server
            }),
            failures: Vec::new(),
            routes: Vec::new(),
            compression: None,
            writes: None,
            series: heat_series(stack.rate, self.heats, 1),
        }
    }
}

/// How the stacks of these loads start: the larger, the later. The last one is steady after none of its starts.
pub fn starts(loads: &[Load]) -> Vec<StartTable> {
    let Some(first) = loads.iter().find(|load| load.heats > 0) else {
        return Vec::new();
    };
    let stacks = &first.stacks;
    let figures = |of: &dyn Fn(&Stack) -> f64, bounds: &[bool]| -> Vec<StartFigure> {
        let figures: Vec<f64> = stacks.iter().map(of).collect();
        let ranking = ranking(&figures, bounds, false, first.half_width, true);
        let mut found: Vec<(usize, StartFigure)> = Vec::new();
        for place in &ranking.places {
            let figure = StartFigure {
                value: place.figure,
                rank: Some(place.rank),
                is_upper_bound: place.is_bound,
                behind: Behind::new(&ranking, place.member),
                half_width: ranking.half_width(place.member),
            };
            found.push((place.member, figure));
        }
        found.sort_by_key(|(member, _)| *member);
        found.into_iter().map(|(_, figure)| figure).collect()
    };
    let none = vec![false; stacks.len()];
    let bounds: Vec<bool> = stacks.iter().map(|stack| stack.memory_mib < 10.0).collect();
    let answer = figures(&|stack| stack.memory_mib / 1e3, &none);
    let memory = figures(&|stack| stack.memory_mib * 0.6 * 1_048_576.0, &none);
    let steady = figures(&|stack| stack.memory_mib / 20.0, &bounds);
    let cpu = figures(&|stack| stack.memory_mib / 25.0, &bounds);
    let at_load = |load: &Load, place: usize| {
        let is_steady = place == 0 || place + 1 < stacks.len();
        StartAtLoad {
            workload: load.workload.clone(),
            point: load.point().id,
            starts: load.heats,
            unsteady_starts: if is_steady { 0 } else { load.heats },
            not_steady_after_seconds: (!is_steady).then_some(60.2),
            time_to_steady_seconds: is_steady.then_some(steady[place]),
            cpu_to_steady_seconds: is_steady.then_some(cpu[place]),
            first_p99_seconds: log_mean(
                &[2.0, 2.2, 1.9].map(|p99| stacks[place].p99_ms / 1e3 * p99),
                0.95,
            ),
            first_answers: Some([1_003, 1_003 + (stacks[place].rate / 10.0) as u64]),
        }
    };
    let closed = || loads.iter().filter(|load| !load.is_open);
    let mut rows: Vec<StartRow> = stacks
        .iter()
        .enumerate()
        .map(|(place, stack)| StartRow {
            target: stack.name.parse().unwrap(),
            starts: closed().map(|load| load.heats).sum(),
            failed_starts: u32::from(place == 1),
            first_answer_seconds: answer[place],
            memory_at_rest_bytes: Some(memory[place]),
            loads: closed().map(|load| at_load(load, place)).collect(),
        })
        .collect();
    rows.sort_by(|a, b| {
        let time = |row: &StartRow| row.first_answer_seconds.value;
        time(a).total_cmp(&time(b))
    });
    vec![StartTable {
        group: Group::stacks(1),
        rows,
    }]
}

/// The throughput in `heats` heats, numbered in steps of `step`: up and down by a few percent.
fn heat_series(rate: f64, heats: u32, step: u32) -> Vec<HeatFigure> {
    let figure = |number: u32| HeatFigure {
        heat: number * step,
        per_second: rate * [0.97, 1.0, 1.04, 0.99][number as usize % 4],
    };
    (0..heats).map(figure).collect()
}

pub const HEAT: HeatPlan = HeatPlan {
    slice: Duration::from_millis(100),
    guard: Duration::from_millis(30),
    rounds: Rounds::Count { rounds: 60 },
    freeze: true,
    wait: Wait::Poll,
    memory_every: Duration::from_secs(1),
};

fn figure(ranking: &Ranking, member: usize, unit: f64) -> Figure {
    let mut places = ranking.places.iter();
    let place = places.find(|place| place.member == member).unwrap();
    Figure {
        value: place.figure * unit,
        rank: Some(place.rank),
        is_bound: place.is_bound,
    }
}

/// A ranking with intervals of one half width; nothing is decided without a look.
fn ranking(
    figures: &[f64],
    bounds: &[bool],
    more_is_better: bool,
    half_width: f64,
    has_look: bool,
) -> Ranking {
    let sign = if more_is_better { 1.0 } else { -1.0 };
    let advantage = |member: usize| sign * figures[member].ln();
    let mut order: Vec<usize> = (0..figures.len()).collect();
    order.sort_by(|a, b| advantage(*b).total_cmp(&advantage(*a)));
    let mut pairs = Vec::new();
    for (place, better) in order.iter().enumerate() {
        for worse in &order[place + 1..] {
            let ratio = (advantage(*better) - advantage(*worse)).exp();
            let low = if bounds[*worse] {
                0.0
            } else {
                ratio / half_width.exp()
            };
            let high = if bounds[*better] {
                f64::INFINITY
            } else {
                ratio * half_width.exp()
            };
            let verdict = if has_look && low > 1.0 {
                PairVerdict::Faster
            } else if has_look && low > 1.0 / 1.03 && high < 1.03 {
                PairVerdict::DeadHeat
            } else {
                PairVerdict::Undecided
            };
            let interval = Interval {
                low,
                high,
                level: 0.98,
            };
            pairs.push(RankedPair {
                better: *better,
                worse: *worse,
                verdict,
                remedy: (!verdict.is_decided()).then_some(Remedy::MoreHeats { heats: 9 }),
                ratio: Some(ratio),
                interval: Some(interval),
                alone: Some(Alone { verdict, interval }),
            });
        }
    }
    let proven = |of: &dyn Fn(&RankedPair) -> usize, member: usize| {
        let pairs = pairs.iter();
        pairs
            .filter(|pair| pair.verdict == PairVerdict::Faster && of(pair) == member)
            .count()
    };
    let place = |member: &usize| RankedMember {
        member: *member,
        rank: Rank {
            best: 1 + proven(&|pair| pair.worse, *member),
            worst: figures.len() - proven(&|pair| pair.better, *member),
        },
        figure: figures[*member],
        is_bound: bounds[*member],
        heats: 14,
    };
    Ranking {
        group: Group::stacks(1),
        places: order.iter().map(place).collect(),
        pairs: pairs.clone(),
        unplaced: Vec::new(),
    }
}
