//! What the statistics find in simulated sessions of heats, and how often they are wrong; how often a gate fails a
//! change of known size.

use std::ops::Range;

use deadheat_stats::{
    comparison::{
        Bounds, Check, Gate,
        alternating::LookResult,
        paired::{PairedCell, at_look},
    },
    heats::{
        Allocation, Fit, Group, Looks, PairVerdict, Quantity, RankedMember, Ranking, Settings,
        of_fit, within,
    },
    sequential::Design,
};

use super::Field;
use crate::Share;

/// How good the intervals and verdicts of some sessions are.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Intervals of single pairs, at 95 %, that hold the true ratio; of all pairs of all sessions.
    pub covered: Share,
    /// The same for the pair whose intervals do it least and most often.
    pub pairs: (Share, Share),
    /// Sessions whose intervals of all members compared with the best hold the true ratios.
    pub best: Share,
    /// Sessions that claim an order of truly equal members, or a wrong one.
    pub false_differences: Share,
    /// Sessions that call any pair a dead heat whose true ratio lies at the margin or beyond.
    pub false_dead_heats: Share,
    /// The median half widths of the intervals, on the logarithm.
    pub half_widths: HalfWidths,
}

/// Median half widths of intervals, on the logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfWidths {
    /// Of single pairs.
    pub pairs: f64,
    /// Of single pairs without the last member.
    pub others: f64,
    /// Of members compared with the best.
    pub best: f64,
}

/// Two true advantages that are closer than this are the same.
const SAME: f64 = 1e-9;

/// The evidence of sessions of this many heats of a field.
pub fn evidence(field: &Field, heats: usize, seeds: Range<u64>, settings: &Settings) -> Evidence {
    let members = field.members.len();
    let sessions = (seeds.end - seeds.start) as u32;
    let none = Share {
        of_these: 0,
        sessions: 0,
    };
    let mut covered = vec![none; members * members];
    let mut widths = Widths::default();
    let mut errors = Errors::default();
    let mut best = Share { sessions, ..none };
    for seed in seeds {
        let fit = fits(field, &[heats], seed, settings).remove(0);
        for (a, b) in pairs_of(members) {
            let Some(contrast) = fit.contrast(a, b) else {
                continue;
            };
            let half = contrast.half_width(settings.alpha);
            let holds = (contrast.difference - field.truth(a, b)).abs() <= half;
            let pair = &mut covered[a * members + b];
            pair.of_these += u32::from(holds);
            pair.sessions += 1;
        }
        let ranking = ranking_of(&fit, members, settings.alpha, settings);
        widths.add(&fit, &ranking, settings);
        best.of_these += u32::from(holds_beside_the_best(field, &ranking));
        errors.count(field, settings, &[ranking]);
    }
    covered.retain(|pair| pair.sessions > 0);
    covered.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
    let all = covered.iter().fold(none, |sum, pair| Share {
        of_these: sum.of_these + pair.of_these,
        sessions: sum.sessions + pair.sessions,
    });
    let (false_differences, false_dead_heats) = errors.shares(sessions);
    Evidence {
        covered: all,
        pairs: (covered[0], covered[covered.len() - 1]),
        best,
        false_differences,
        false_dead_heats,
        half_widths: widths.medians(),
    }
}

/// All pairs of this many members.
fn pairs_of(members: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..members).flat_map(|a| (0..a).map(move |b| (a, b)))
}

/// Whether the intervals of all members compared with the first hold the true ratios.
fn holds_beside_the_best(field: &Field, ranking: &Ranking) -> bool {
    let first = ranking.places.first().map(|place| place.member);
    let mut beside = ranking
        .pairs
        .iter()
        .filter(|pair| Some(pair.better) == first);
    beside.all(|pair| {
        let truth = field.truth(pair.better, pair.worse).exp();
        pair.interval
            .is_none_or(|ends| ends.low <= truth * (1.0 + SAME) && truth <= ends.high)
    })
}

/// Half widths of the intervals of some sessions.
#[derive(Default)]
struct Widths {
    pairs: Vec<f64>,
    others: Vec<f64>,
    best: Vec<f64>,
}

impl Widths {
    fn add(&mut self, fit: &Fit, ranking: &Ranking, settings: &Settings) {
        let members = ranking.places.len() + ranking.unplaced.len();
        for (a, b) in pairs_of(members) {
            let Some(contrast) = fit.contrast(a, b) else {
                continue;
            };
            let half = contrast.half_width(settings.alpha);
            self.pairs.push(half);
            if a + 1 < members {
                self.others.push(half);
            }
        }
        let places = ranking.places.iter();
        self.best
            .extend(places.filter_map(|place| ranking.half_width(place.member)));
    }

    fn medians(self) -> HalfWidths {
        let [pairs, others, best] = [self.pairs, self.others, self.best].map(|mut widths| {
            widths.sort_by(f64::total_cmp);
            widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN)
        });
        HalfWidths {
            pairs,
            others,
            best,
        }
    }
}

/// How sessions end that are looked at while they run.
#[derive(Clone, Debug, PartialEq)]
pub struct SequentialEvidence {
    /// Sessions in which any look calls any pair of truly equal members different.
    pub false_differences: Share,
    /// Sessions in which any look calls any pair a dead heat whose true ratio lies at the margin or beyond.
    pub false_dead_heats: Share,
    /// Sessions that end with all neighbours decided.
    pub settled: Share,
    /// Heats of a session, on average.
    pub heats: f64,
}

/// Sessions of `most` heats at most that end at the first look at which no pair of neighbours is open, and whose heats
/// are dealt by the look before.
pub fn sequential_evidence(
    field: &Field,
    most: u32,
    seeds: Range<u64>,
    settings: &Settings,
) -> SequentialEvidence {
    let sessions = (seeds.end - seeds.start) as u32;
    let members: Vec<usize> = (0..field.members.len()).collect();
    let looks = Looks::within(most, settings.alpha).expect("two heats or more");
    let mut errors = Errors::default();
    let (mut settled, mut all_heats) = (0, 0);
    for seed in seeds {
        let mut session = field.start(seed);
        let mut estimates = Vec::new();
        let (mut history, mut open, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for heat in 1..=most {
            let dealt = Allocation {
                first: &[],
                members: &members,
                anchor: Some(0),
                capacity: field.capacity,
                history: &history,
                open: &open,
                seed,
            }
            .next();
            let found = session.heat(&dealt);
            estimates.push(within::of_heat(&found, Quantity::Throughput));
            history.push(dealt);
            if let Some(look) = looks.at(heat) {
                let fit = Fit::new(members.len(), &estimates, settings);
                let found = ranking_of(&fit, members.len(), look.spends, settings);
                open = found.open_neighbours();
                let is_settled = found.is_settled(settings);
                seen.push(found);
                if is_settled {
                    settled += 1;
                    break;
                }
            }
        }
        all_heats += history.len();
        errors.count(field, settings, &seen);
    }
    let (false_differences, false_dead_heats) = errors.shares(sessions);
    SequentialEvidence {
        false_differences,
        false_dead_heats,
        settled: Share {
            of_these: settled,
            sessions,
        },
        heats: all_heats as f64 / f64::from(sessions),
    }
}

/// The share of sessions of these seeds in which the first and second member have this verdict, after each of these
/// numbers of heats, which grow.
pub fn verdicts(
    field: &Field,
    heats: &[usize],
    verdict: PairVerdict,
    seeds: Range<u64>,
    settings: &Settings,
) -> Vec<Share> {
    let sessions = (seeds.end - seeds.start) as u32;
    let none = Share {
        of_these: 0,
        sessions,
    };
    let mut found = vec![none; heats.len()];
    for seed in seeds {
        let fits = fits(field, heats, seed, settings);
        for (found, fit) in found.iter_mut().zip(&fits) {
            let ranking = ranking_of(fit, field.members.len(), settings.alpha, settings);
            found.of_these += u32::from(ranking.verdict(0, 1) == Some(verdict));
        }
    }
    found
}

/// The median half widths of the intervals after each of these numbers of heats, which grow.
pub fn half_widths(
    field: &Field,
    heats: &[usize],
    seeds: Range<u64>,
    settings: &Settings,
) -> Vec<HalfWidths> {
    let mut widths: Vec<Widths> = heats.iter().map(|_| Widths::default()).collect();
    for seed in seeds {
        let fits = fits(field, heats, seed, settings);
        for (widths, fit) in widths.iter_mut().zip(&fits) {
            let ranking = ranking_of(fit, field.members.len(), settings.alpha, settings);
            widths.add(fit, &ranking, settings);
        }
    }
    widths.into_iter().map(Widths::medians).collect()
}

/// The fits of a session's throughput after each of these numbers of heats, which grow.
fn fits(field: &Field, heats: &[usize], seed: u64, settings: &Settings) -> Vec<Fit> {
    let series = field.draw(heats.last().copied().unwrap_or(0), seed);
    let estimates = within::of_heats(&series.heats, Quantity::Throughput);
    let fit = |heats: &usize| Fit::new(series.members, &estimates[..*heats], settings);
    heats.iter().map(fit).collect()
}

/// The ranking by throughput of this many members with one budget.
fn ranking_of(fit: &Fit, members: usize, alpha: f64, settings: &Settings) -> Ranking {
    let bounded = vec![false; members];
    let groups = vec![Some(Group::stacks(1)); members];
    of_fit(
        fit,
        Quantity::Throughput,
        &bounded,
        &groups,
        alpha,
        settings,
    )
    .remove(0)
}

#[derive(Default)]
struct Errors {
    differences: u32,
    dead_heats: u32,
}

impl Errors {
    /// Counts a session by the rankings that it showed.
    fn count(&mut self, field: &Field, settings: &Settings, seen: &[Ranking]) {
        let margin = settings.margin.ln_1p();
        let wrong_order = |ranking: &Ranking| {
            let mut pairs = ranking.pairs.iter();
            let mut places = ranking.places.iter();
            // A difference that has the wrong direction is a false one, too.
            pairs.any(|pair| {
                pair.verdict == PairVerdict::Faster && field.truth(pair.better, pair.worse) < SAME
            }) || places.any(|place| is_false_rank(field, ranking, place))
        };
        let wrong_dead_heat = |ranking: &Ranking| {
            let mut pairs = ranking.pairs.iter();
            pairs.any(|pair| {
                let truth = field.truth(pair.better, pair.worse);
                pair.verdict == PairVerdict::DeadHeat && truth.abs() > margin - SAME
            })
        };
        self.differences += u32::from(seen.iter().any(wrong_order));
        self.dead_heats += u32::from(seen.iter().any(wrong_dead_heat));
    }

    fn shares(&self, sessions: u32) -> (Share, Share) {
        let share = |of_these| Share { of_these, sessions };
        (share(self.differences), share(self.dead_heats))
    }
}

/// Whether a member cannot truly have any of its ranks: more are claimed better, or worse, than are.
fn is_false_rank(field: &Field, ranking: &Ranking, place: &RankedMember) -> bool {
    let count = |is: &dyn Fn(f64) -> bool| {
        let ahead = ranking.places.iter();
        let ahead = ahead.map(|other| field.truth(other.member, place.member));
        ahead.filter(|ahead| is(*ahead)).count()
    };
    let better = count(&|ahead| ahead > SAME);
    let worse = count(&|ahead| ahead < -SAME);
    place.rank.best > 1 + better || place.rank.worst + worse < ranking.places.len()
}

/// How comparisons end that have a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateEvidence {
    /// Those that fail.
    pub fails: Share,
    /// Those that neither fail nor exclude a slowdown beyond the bound.
    pub undecided: Share,
    /// Heats of a comparison, on average.
    pub heats: f64,
}

/// Comparisons of these seeds, of a B whose throughput is truly `ratio` of A's, with a gate at `bound` and `most`
/// heats.
pub fn gate(ratio: f64, bound: f64, most: u32, seeds: Range<u64>) -> GateEvidence {
    let field = Field::measured(&[1.0, ratio]);
    let bounds = Bounds::default();
    let design = Design::within(most, bounds.alpha).expect("two heats or more");
    let check = Check {
        fail_if_slower: Some(bound),
        ..Check::default()
    };
    let sessions = (seeds.end - seeds.start) as u32;
    let (mut fails, mut undecided, mut heats) = (0, 0, 0);
    for seed in seeds {
        let mut session = field.start(seed);
        let mut cell = PairedCell::of_throughput(Vec::new());
        for heat in 1..=most {
            let found = session.heat(&[0, 1]);
            cell.series[0]
                .heats
                .push(within::of_heat(&found, Quantity::Throughput));
            let Some(look) = design.at(heat) else {
                continue;
            };
            let judged = LookResult {
                compared: at_look(std::slice::from_ref(&cell), look, &bounds),
                not_compared: Vec::new(),
                awaiting_tail: Vec::new(),
            };
            if judged.is_final(check) || heat == most {
                let gate = Gate::new(&judged.compared, 0, check);
                fails += u32::from(gate.failed);
                undecided += u32::from(!gate.is_decided());
                heats += heat;
                break;
            }
        }
    }
    let share = |of_these| Share { of_these, sessions };
    GateEvidence {
        fails: share(fails),
        undecided: share(undecided),
        heats: f64::from(heats) / f64::from(sessions),
    }
}
