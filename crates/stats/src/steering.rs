//! What a session measures next, from what its record says so far: the load whose turn it is, the members of the heat,
//! the control next to them, and when there is enough.
//!
//! [`next`] is a pure function of the record and the time spent. A session that is resumed after a kill is steered as
//! it would have been without, and a heat that was interrupted is dealt again.

use std::time::Duration;

use deadheat_model::{
    HeatRecord,
    heat::{Role, Rounds},
    heats::{
        Control, EndReason, MAX_OF_EXPECTED, MIN_HEATS, MeasuredHeat, NextHeat, Plan, PlannedLoad,
        SessionRecord, Step,
    },
    stack::Runtime,
};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use crate::{
    heats::{Allocation, Pilot, PlannedHeats, Quantity, Ranking, Settings, recorded, within},
    sequential::{SPENT_IF_NARROW, usual_looks},
    standings::{FAILURES, LoadAt, Measure, scaling::Scalings, settings},
};

/// The maximum number of heats of each stack that are planned for a precision.
const MAX_HEATS: u32 = 1_000;
/// The stream of random numbers that twins are drawn from.
const TWINS: u64 = u64::MAX;

/// The next step of a session; `spent` is the measuring time so far.
pub fn next(record: &SessionRecord, spent: Duration) -> Step {
    let plan = &record.header.plan;
    let loads = leading(record);
    let mut open: Vec<(usize, &LoadSoFar<'_>)> = loads.iter().enumerate().collect();
    open.retain(|(_, load)| load.goes_on());
    // The load with the fewest heats is next.
    open.sort_by_key(|(place, load)| (load.done(), in_turn(&loads, *place)));
    let Some((_, load)) = open.first() else {
        let is_decided = || plan.until_decided && loads.iter().all(LoadSoFar::is_settled);
        return Step::End(if loads.iter().all(|load| load.done() == 0) {
            EndReason::Nothing
        } else if loads.iter().all(LoadSoFar::is_precise) {
            EndReason::Precise
        } else if is_decided() {
            EndReason::Decided
        } else {
            EndReason::Finished
        });
    };
    let budget = plan.budget_seconds.map(Duration::from_secs_f64);
    if budget.is_some_and(|budget| spent + load.heat_time() > budget) && load.done() > 0 {
        return Step::End(EndReason::Budget);
    }
    let is_same_turn = |then: &&(usize, &LoadSoFar<'_>)| {
        then.1.done() == load.done() && then.1.load().shares_starts_with(load.load())
    };
    let then = open.get(1).filter(is_same_turn);
    Step::Heat(NextHeat {
        then: then.map(|(_, then)| then.index),
        ..load.next_heat()
    })
}

/// The sort key of a load's turn: the earliest load that it shares its starts with, then its place among these. Each of
/// them goes first for two heats, one with each kind of control, because a process that has served another load is no
/// longer fresh.
fn in_turn(loads: &[LoadSoFar<'_>], place: usize) -> (usize, usize) {
    let own = &loads[place];
    let all = loads.iter().enumerate();
    let shared: Vec<usize> = all
        .filter(|(_, one)| one.load().shares_starts_with(own.load()))
        .map(|(place, _)| place)
        .collect();
    let Some(nth) = shared.iter().position(|one| *one == place) else {
        return (place, 0);
    };
    let first = own.done() as usize / 2 % shared.len();
    (shared[0], (nth + shared.len() - first) % shared.len())
}

/// The loads with heats of their own.
fn leading(record: &SessionRecord) -> Vec<LoadSoFar<'_>> {
    let loads = record.header.plan.loads.iter().enumerate();
    let leading = loads.filter(|(_, load)| load.leads());
    leading
        .map(|(index, _)| LoadSoFar::new(record, index))
        .collect()
}

/// A load with heats of its own, and their figures so far.
struct LoadSoFar<'a> {
    at: LoadAt<'a>,
    index: usize,
    record: &'a SessionRecord,
    /// The heats that count.
    heats: Vec<&'a HeatRecord>,
    /// The stacks that can take part in another heat.
    ready: Vec<usize>,
}

impl<'a> LoadSoFar<'a> {
    fn new(record: &'a SessionRecord, index: usize) -> Self {
        let at = LoadAt::new(record, index, settings(&record.header.plan));
        let load = &record.header.plan.loads[index];
        let heats: Vec<&HeatRecord> = record.complete_heats(index).collect();
        let may_run = |number: &usize| {
            let failures = recorded::failures(heats.iter().copied(), |member| {
                load.number(member) == Some(*number)
            });
            failures < FAILURES
        };
        let ready = (0..load.targets.len()).filter(may_run).collect();
        Self {
            at,
            index,
            record,
            heats,
            ready,
        }
    }

    fn load(&self) -> &'a PlannedLoad {
        &self.record.header.plan.loads[self.index]
    }

    /// Complete heats.
    fn done(&self) -> u32 {
        self.at.complete_heats()
    }

    /// Whether a look has settled the load. A look counts only the heats up to it, so that each look is judged once.
    fn is_settled(&self) -> bool {
        let is_decided = || {
            let rankings = self.at.main_rankings();
            rankings.iter().all(|one| one.is_settled(&self.at.settings))
                && Scalings::new(&self.at).is_settled()
        };
        self.at.has_look() && is_decided()
    }

    /// Whether the load is at a checkpoint and as precise as requested. It then gets no more heats, so it stays there.
    fn is_precise(&self) -> bool {
        let plan = &self.record.header.plan;
        let Some(precision) = plan.precision else {
            return false;
        };
        let end = Some(EndReason::Precise);
        let at = LoadAt::ended(self.record, self.index, self.at.settings, end);
        let is_precise = |one: &Ranking| one.is_precise(precision, &at.settings);
        self.load().looks.contains(&self.done())
            && at.main_rankings().iter().all(is_precise)
            && Scalings::new(&at).is_precise(precision)
    }

    /// Whether the load gets more heats.
    fn goes_on(&self) -> bool {
        // A stack that is left alone after others failed has nothing to be compared with.
        let least = self.load().targets.len().min(2);
        let can = !self.ready.is_empty() && self.ready.len() >= least;
        let wanted = self.done() < self.load().most_heats();
        let until_decided = self.record.header.plan.until_decided;
        can && wanted && !(until_decided && self.is_settled()) && !self.is_precise()
    }

    /// The expected time of another heat, including the equal work measured in it: the mean so far.
    fn heat_time(&self) -> Duration {
        let with_it = self.record.header.plan.equal_work(self.load());
        let with_it: Duration = with_it.map(|(index, _)| self.mean_time(index)).sum();
        self.mean_time(self.index) + with_it
    }

    /// The mean time of the heats at the load at this place.
    fn mean_time(&self, index: usize) -> Duration {
        let heats = self.record.complete_heats(index);
        let (mut sum, mut count) = (Duration::ZERO, 0);
        for heat in heats {
            sum += heat.wall;
            count += 1;
        }
        sum.checked_div(count).unwrap_or_default()
    }

    fn next_heat(&self) -> NextHeat {
        let load = self.load();
        let open: Vec<(usize, usize)> = match self.done() {
            0 => Vec::new(),
            _ => self
                .at
                .main_rankings()
                .iter()
                .flat_map(Ranking::open_neighbours)
                .chain(Scalings::new(&self.at).open())
                .collect(),
        };
        let history: Vec<Vec<usize>> = self
            .heats
            .iter()
            .map(|heat| {
                let members = heat.members.iter();
                let numbers = members.filter_map(|member| load.number(member));
                numbers.filter(|one| *one < load.targets.len()).collect()
            })
            .collect();
        let seed = self.record.header.plan.seed;
        let mut members = Allocation {
            members: &self.ready,
            first: &self.going_on(),
            anchor: self.anchor(),
            capacity: (load.capacity as usize).saturating_sub(1).max(2),
            history: &history,
            open: &open,
            seed: seed ^ self.index as u64,
        }
        .next();
        let control = self.control(&members, seed);
        // They start in this order, and the first waits longest for its first slice: each is early and late by turns.
        let mut random = ChaCha8Rng::seed_from_u64(!(seed ^ self.index as u64));
        random.set_stream(self.done().into());
        members.shuffle(&mut random);
        NextHeat {
            load: self.index,
            members,
            control,
            then: None,
        }
    }

    /// The heat of this turn at the load before, whose processes serve this load too.
    fn before(&self) -> Option<&'a MeasuredHeat> {
        let loads = &self.record.header.plan.loads;
        let mut heats = self.record.heats.iter().rev();
        let last = heats.find(|one| one.is_complete() && loads[one.load as usize].leads())?;
        let done = self.record.complete_heats(last.load as usize).count() as u32;
        let is_shared = loads[last.load as usize].shares_starts_with(self.load());
        (is_shared && done > self.done()).then_some(last)
    }

    /// The stacks of that heat, which are chosen first.
    fn going_on(&self) -> Vec<usize> {
        let members = self
            .before()
            .into_iter()
            .flat_map(|heat| &heat.heat.members);
        let stacks = members.filter(|member| member.role == Role::Member);
        let here = stacks.filter_map(|member| self.load().number(member));
        here.filter(|number| self.ready.contains(number)).collect()
    }

    /// The stack that is in every heat: the first that starts and warms up quickly.
    fn anchor(&self) -> Option<usize> {
        let is_native = |number: &&usize| {
            let target = &self.load().targets[**number];
            let found = self.record.header.target(target);
            found.is_some_and(|found| found.runtime == Runtime::Native)
        };
        let native = self.ready.iter().find(is_native);
        native.or(self.ready.first()).copied()
    }

    /// The control of the next heat: the null server in every second heat, otherwise a twin of each member in turn. If
    /// the processes also serve this load, so does the twin, because a fresh process would differ from them.
    fn control(&self, members: &[usize], seed: u64) -> Option<Control> {
        if let Some(before) = self.before() {
            let mut twins = before.heat.members.iter();
            let twin = twins.find(|one| matches!(one.role, Role::Twin { .. }));
            let of = twin.and_then(|twin| {
                let targets = &self.load().targets;
                targets.iter().position(|one| *one == twin.target)
            });
            let of = of.filter(|of| members.contains(of));
            return Some(of.map_or(Control::Ceiling, |of| Control::Twin { of }));
        }
        let done = self.done() as usize;
        match done % 2 {
            0 => Some(Control::Ceiling),
            // One stack alone can be compared with the null server alone.
            _ if members.len() < 2 => Some(Control::Ceiling),
            _ => {
                // In a random order, which is the same for the whole session and, where they have the same stacks, for
                // all loads. Stacks that are not in the heat are skipped.
                let mut turns: Vec<usize> = (0..self.load().targets.len()).collect();
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                random.set_stream(TWINS);
                turns.shuffle(&mut random);
                let turns = turns.iter().cycle().skip(done / 2).take(turns.len());
                let mut here = turns.filter(|number| members.contains(number));
                here.next().map(|of| Control::Twin { of: *of })
            }
        }
    }
}

/// The expected precision of a load after its planned heats.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The load ("plaintext:c50").
    pub load: String,
    /// The maximum number of heats within the budget.
    pub heats: u32,
    /// The median half width of the intervals of all pairs after these (0.03: ±3 %); `None` with fewer than two.
    pub half_width: Option<f64>,
}

/// The expected precision of each load, from the noise of its heats so far. Loads without a heat, and open loops, have
/// no expectation.
pub fn expectation(record: &SessionRecord, spent: Duration) -> Vec<Expected> {
    let plan = &record.header.plan;
    let loads = leading(record);
    // Each heat of every load takes its turn until the budget ends.
    let cycle: Duration = loads.iter().map(LoadSoFar::heat_time).sum();
    let left = plan
        .budget_seconds
        .map(|budget| (budget - spent.as_secs_f64()).max(0.0));
    let more = match left {
        Some(left) if !cycle.is_zero() => (left / cycle.as_secs_f64()) as u32,
        _ => u32::MAX,
    };
    let measured = loads.iter().filter(|load| {
        // A comparison at a rate has an open loop alone.
        load.done() > 0 && load.at.measure() == Measure::Throughput
    });
    measured.map(|load| load.expected(more)).collect()
}

impl LoadSoFar<'_> {
    fn expected(&self, more: u32) -> Expected {
        let load = self.load();
        let settings = settings(&self.record.header.plan);
        let series = self.at.heat_series();
        let estimates = within::of_heats(&series.heats, Quantity::Throughput);
        let rounds = series.heats.iter().map(|heat| heat.rounds.len()).max();
        let heats = load.most_heats().min(self.done().saturating_add(more));
        let rounds = rounds.unwrap_or(1).max(1) as u32;
        let stacks = self.ready.len();
        let pilot = Pilot::new(load.members(), &estimates, &settings);
        let precision = self.record.header.plan.precision;
        let alpha = precision.map_or(1.0, |_| SPENT_IF_NARROW) * settings.alpha;
        let needed = precision.map(|precision| {
            let planned = planned(load, stacks, heats, rounds, alpha);
            let own = heats_for(&pilot, &self.ready, precision, &planned);
            own.saturating_mul(stacks.div_ceil(seats(load, stacks)) as u32)
        });
        let heats = heats.min(needed.unwrap_or(heats));
        let planned = planned(load, stacks, heats, rounds, alpha);
        Expected {
            load: load.name(),
            heats,
            half_width: pilot.median_half_width(&self.ready, &planned),
        }
    }
}

/// The expected precision of each closed loop of a plan before its first heat: after the heats that fit its budget,
/// with the usual noise of a shared machine.
pub fn foretold(plan: &Plan) -> Vec<Expected> {
    let settings = settings(plan);
    let expected = plan.leading().map(|load| {
        let stacks = load.targets.len();
        let numbers: Vec<usize> = (0..stacks).collect();
        let heats = (f64::from(plan.planned_heats(load)) * plan.share_in_budget()) as u32;
        let alpha = plan.precision.map_or(1.0, |_| SPENT_IF_NARROW) * settings.alpha;
        let planned = planned(load, stacks, heats, rounds(load), alpha);
        Expected {
            load: load.name(),
            heats,
            half_width: Pilot::usual(stacks, &settings).median_half_width(&numbers, &planned),
        }
    });
    expected.collect()
}

/// The checkpoints of a load with this requested precision (0.05: ±5 %), in heats of each stack: the usual ones up to
/// the heats that reach it with the usual noise of a shared machine, and two later ones in case the noise is greater.
pub fn looks_for(load: &PlannedLoad, precision: f64, alpha: f64) -> Vec<u32> {
    let stacks = load.targets.len();
    let numbers: Vec<usize> = (0..stacks).collect();
    let pilot = Pilot::usual(stacks, &Settings::default());
    let alpha = SPENT_IF_NARROW * alpha;
    let planned = planned(load, stacks, MIN_HEATS, rounds(load), alpha);
    let heats = heats_for(&pilot, &numbers, precision, &planned);
    let mut looks = usual_looks(heats);
    looks.extend([heats * 7 / 5, heats * MAX_OF_EXPECTED]);
    looks
}

/// Heats of each stack that are expected to reach this precision: at least as many as a dead heat needs, and at most
/// [`MAX_HEATS`]. With one stack there is no ratio.
fn heats_for(pilot: &Pilot, stacks: &[usize], precision: f64, planned: &PlannedHeats) -> u32 {
    let needed = match stacks.len() {
        0 | 1 => Some(MIN_HEATS),
        _ => pilot.heats_for(stacks, precision.ln_1p(), planned),
    };
    needed.unwrap_or(MAX_HEATS).clamp(MIN_HEATS, MAX_HEATS)
}

/// The number of rounds of a planned heat.
fn rounds(load: &PlannedLoad) -> u32 {
    let rounds = match load.heat.rounds {
        Rounds::Count { rounds } => rounds,
        Rounds::Time { time } => {
            let members = 1 + seats(load, load.targets.len()) as u32;
            let round = load.heat.round(members);
            (time.as_secs_f64() / round.as_secs_f64()).ceil() as u32
        }
    };
    rounds.max(1)
}

/// The number of stacks in a heat if the load has this many.
fn seats(load: &PlannedLoad, stacks: usize) -> usize {
    (load.capacity as usize)
        .saturating_sub(1)
        .clamp(2, stacks.max(2))
}

/// Heats of this many stacks, for the interval of a pair that is judged with all others.
fn planned(load: &PlannedLoad, stacks: usize, heats: u32, rounds: u32, alpha: f64) -> PlannedHeats {
    let seats = seats(load, stacks);
    // A pair meets in fewer heats where not everybody is in each.
    let own = (f64::from(heats) * seats as f64 / stacks.max(1) as f64).min(heats.into()) as u32;
    let pairs = (stacks * stacks.saturating_sub(1) / 2).max(1);
    PlannedHeats {
        heats: own,
        rounds,
        members: seats,
        alpha: alpha / pairs as f64,
    }
}
