//! A ranking: places with ranges, and the verdict on each pair.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Fit, HeatSeries, Quantity, Settings,
    pairs::{Candidate, PairVerdict, RankedPair, Rule},
    simultaneous::{Test, together},
    within,
};
use crate::interval::median;

/// The members that are ranked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Group {
    /// Whether its members are yardsticks, whose ranks say nothing.
    pub yardsticks: bool,
    /// The CPU budget that all of them have.
    pub cpus: u32,
}

impl Group {
    /// Stacks with this CPU budget.
    pub const fn stacks(cpus: u32) -> Self {
        Self {
            yardsticks: false,
            cpus,
        }
    }
}

/// The members of one group at one load point, by one quantity. Its ranks and the verdicts of its pairs hold together:
/// in a share α of rankings at most, any order that they claim is wrong.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ranking {
    /// The members that it ranks.
    pub group: Group,
    /// The members, the best estimate first. A pair can only be proven to differ in the direction of its estimates, so
    /// no member comes before one that is proven better.
    pub places: Vec<RankedMember>,
    /// All pairs of `places`.
    pub pairs: Vec<RankedPair>,
    /// Members of this group without an estimate: they never ran in a heat with another member, or had too few answers.
    pub unplaced: Vec<usize>,
}

/// The ranks that a member can have, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Serialize, JsonSchema)]
pub struct Rank {
    /// 1 + the number of members that are proven better.
    pub best: usize,
    /// The number of members − the number that are proven worse.
    pub worst: usize,
}

/// A member in a ranking.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RankedMember {
    /// The member's number.
    pub member: usize,
    /// The ranks that it can have.
    pub rank: Rank,
    /// The estimate in the unit of the slices (answers per second, or seconds): this member in a heat that is typical
    /// for the session.
    pub figure: f64,
    /// Whether the figure is only a lower bound, because the generator was the limit.
    pub is_bound: bool,
    /// Heats behind it.
    pub heats: usize,
}

impl Ranking {
    /// How `a` compares with `b`; `None` if they are no pair of this ranking.
    pub fn verdict(&self, a: usize, b: usize) -> Option<PairVerdict> {
        self.pairs.iter().find_map(|pair| match pair {
            pair if (pair.better, pair.worse) == (a, b) => Some(pair.verdict),
            pair if (pair.better, pair.worse) == (b, a) => Some(pair.verdict.reversed()),
            _ => None,
        })
    }

    /// Half the width of the interval of the ratio to the best member that is not a lower bound; for that member, of
    /// the ratio to the next one (0.03: ±3 %). `None` if the member is a lower bound or cannot be compared.
    pub fn half_width(&self, member: usize) -> Option<f64> {
        let measured = self.places.iter().filter(|place| !place.is_bound);
        let mut measured = measured.map(|place| place.member);
        let best = measured.next()?;
        let is_asked = if member == best {
            (member, measured.next()?)
        } else {
            (best, member)
        };
        let mut pairs = self.pairs.iter();
        let pair = pairs.find(|pair| (pair.better, pair.worse) == is_asked)?;
        Some(pair.half_width()).filter(|width| width.is_finite())
    }

    /// The median over all members of the half width of the interval of their ratio to the best.
    pub fn median_half_width(&self) -> Option<f64> {
        let members = self.places.iter().map(|place| place.member);
        median(members.filter_map(|member| self.half_width(member)))
    }

    /// Whether the ratios to the best are known this well (0.05: ±5 %), or no heat can make them known. It depends on
    /// the widths of intervals alone, never on whose figure is higher.
    pub(crate) fn is_precise(&self, precision: f64, settings: &Settings) -> bool {
        let least = settings.least_heats as usize;
        let width = self.median_half_width();
        self.places.iter().all(|place| place.heats >= least)
            && width.is_none_or(|width| width <= precision.ln_1p())
    }

    /// Whether a session can end as far as this ranking goes: no neighbours are left that more heats can decide.
    /// Whether [`unplaced`](Ranking::unplaced) members are still to run is for the caller to know. Each member needs
    /// the heats of a dead heat, because fewer have seen too few of its processes.
    pub fn is_settled(&self, settings: &Settings) -> bool {
        let least = settings.least_heats as usize;
        self.places.iter().all(|place| place.heats >= least) && self.open_neighbours().is_empty()
    }

    /// Neighbours that more heats can still decide, as (better, worse), the best first.
    pub fn open_neighbours(&self) -> Vec<(usize, usize)> {
        let neighbours = self.places.windows(2);
        let neighbours = neighbours.map(|pair| (pair[0].member, pair[1].member));
        let open = |(better, worse): &(usize, usize)| {
            let mut pairs = self.pairs.iter();
            pairs.any(|pair| (pair.better, pair.worse) == (*better, *worse) && pair.is_open())
        };
        neighbours.filter(open).collect()
    }
}

/// The rankings of a load point by throughput or cost, one for each group: stacks with the smallest CPU budget first,
/// yardsticks last.
///
/// `groups` has the group of each member; `None` for one that is measured but not ranked, such as the null server.
/// All members take part in the fit. `alpha` is the share of errors that each ranking may make: [`Settings::alpha`], or
/// what a look may spend of it ([`Look::spends`](super::Look)).
pub fn rankings(
    series: &HeatSeries,
    quantity: Quantity,
    groups: &[Option<Group>],
    alpha: f64,
    settings: &Settings,
) -> Vec<Ranking> {
    let heats = within::of_heats(&series.heats, quantity);
    let bounded = match quantity {
        Quantity::Throughput => bounded(series, settings),
        // What a request costs can be told, whoever was the limit.
        Quantity::Cost | Quantity::Latency => vec![false; series.members],
    };
    of_fit(
        &Fit::new(series.members, &heats, settings),
        quantity,
        &bounded,
        groups,
        alpha,
        settings,
    )
}

/// The rankings from a fit, such as that of a percentile's estimates ([`super::percentile`]). `bounded` says of each
/// member whether its figure is only a lower bound.
pub fn of_fit(
    fit: &Fit,
    quantity: Quantity,
    bounded: &[bool],
    groups: &[Option<Group>],
    alpha: f64,
    settings: &Settings,
) -> Vec<Ranking> {
    let mut members: BTreeMap<Group, Vec<usize>> = BTreeMap::new();
    for (member, group) in groups.iter().enumerate() {
        if let Some(group) = group {
            members.entry(*group).or_default().push(member);
        }
    }
    let ranking = |(group, members): (Group, Vec<usize>)| {
        let (mut ranked, unplaced): (Vec<usize>, Vec<usize>) = members
            .into_iter()
            .partition(|member| fit.advantage(*member).is_some());
        let advantage = |member: usize| fit.advantage(member).unwrap_or(f64::NEG_INFINITY);
        ranked.sort_by(|a, b| advantage(*b).total_cmp(&advantage(*a)).then(a.cmp(b)));
        let pairs = judge(fit, &ranked, bounded, alpha, &settings.rule());
        let place = |member: &usize| RankedMember {
            member: *member,
            rank: rank(*member, ranked.len(), &pairs),
            figure: quantity.figure(advantage(*member)),
            is_bound: bounded[*member],
            heats: fit.heats(*member),
        };
        Ranking {
            group,
            places: ranked.iter().map(place).collect(),
            pairs,
            unplaced,
        }
    };
    members.into_iter().map(ranking).collect()
}

/// All pairs of members that are sorted by their estimates.
fn candidates(fit: &Fit, ranked: &[usize], bounded: &[bool]) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for (place, better) in ranked.iter().enumerate() {
        for worse in &ranked[place + 1..] {
            candidates.push(Candidate {
                better: *better,
                worse: *worse,
                contrast: fit.contrast(*better, *worse),
                better_is_bound: bounded[*better],
                worse_is_bound: bounded[*worse],
                heats: fit.heats(*better).min(fit.heats(*worse)),
            });
        }
    }
    candidates
}

/// The verdicts on all pairs of members that are sorted by their estimates.
fn judge(
    fit: &Fit,
    ranked: &[usize],
    bounded: &[bool],
    alpha: f64,
    rule: &Rule,
) -> Vec<RankedPair> {
    let candidates = candidates(fit, ranked, bounded);
    let places = (0..ranked.len())
        .flat_map(|better| (better + 1..ranked.len()).map(move |worse| [better, worse]));
    let candidates: Vec<([usize; 2], Candidate)> = places.zip(candidates).collect();
    let test = |(places, candidate): &([usize; 2], Candidate)| {
        Some(Test {
            places: *places,
            contrast: candidate.testable()?,
            is_provable: !candidate.worse_is_bound,
        })
    };
    let tests: Vec<Test> = candidates.iter().filter_map(test).collect();
    let is_bound: Vec<bool> = ranked.iter().map(|member| bounded[*member]).collect();
    let mut together = together(fit, ranked, &is_bound, &tests, alpha).into_iter();
    let pair = |(_, candidate): &([usize; 2], Candidate)| {
        let together = candidate.testable().and_then(|_| together.next());
        candidate.judge_together(together, alpha, rule)
    };
    candidates.iter().map(pair).collect()
}

fn rank(member: usize, members: usize, pairs: &[RankedPair]) -> Rank {
    let proven = |better: Option<usize>, worse: Option<usize>| {
        let is = |pair: &&RankedPair| {
            pair.verdict == PairVerdict::Faster
                && better.is_none_or(|better| pair.better == better)
                && worse.is_none_or(|worse| pair.worse == worse)
        };
        pairs.iter().filter(is).count()
    };
    Rank {
        best: 1 + proven(None, Some(member)),
        worst: members - proven(Some(member), None),
    }
}

/// The members whose figure is only a lower bound.
pub(crate) fn bounded(series: &HeatSeries, settings: &Settings) -> Vec<bool> {
    let mut slices = vec![(0_u32, 0_u32); series.members];
    let heats = series.heats.iter();
    for slice in heats.flat_map(|heat| heat.rounds.iter().flat_map(|round| &round.slices)) {
        let (bounded, all) = &mut slices[slice.member];
        *bounded += u32::from(slice.bounded);
        *all += 1;
    }
    let share = |(bounded, all): (u32, u32)| f64::from(bounded) / f64::from(all.max(1));
    let share = slices.into_iter().map(share);
    share.map(|share| share > settings.bounded).collect()
}
