//! Verdicts on pairs, by their laws.

use deadheat_stats::heats::{
    Contrast, Fit, Group, PairVerdict, Quantity, RankedPair, Ranking, Remedy, Rule, Settings,
    of_fit, pairs::Candidate, within::Estimate,
};
use proptest::prelude::*;

use crate::random::Random;

const ALPHA: f64 = 0.05;
const MARGIN: f64 = 0.03;
const RULE: Rule = Rule {
    threshold: 0.0,
    margin: MARGIN,
    least_heats: 5,
};

/// A pair whose estimates differ by `difference`, with a standard error.
fn candidate(difference: f64, error: f64, freedom: f64) -> Candidate {
    Candidate {
        better: 0,
        worse: 1,
        contrast: Some(Contrast {
            difference,
            error,
            freedom,
            share: 0.5,
        }),
        better_is_bound: false,
        worse_is_bound: false,
        heats: 5,
    }
}

fn bound(better_is_bound: bool, worse_is_bound: bool, candidate: Candidate) -> Candidate {
    Candidate {
        better_is_bound,
        worse_is_bound,
        ..candidate
    }
}

fn one(candidate: Candidate) -> RankedPair {
    candidate.judge(ALPHA, &RULE)
}

#[test]
fn a_dead_heat_needs_enough_starts_and_a_difference_does_not() {
    let of = |heats, difference| {
        let candidate = Candidate {
            heats,
            ..candidate(difference, 0.005, 10.0)
        };
        one(candidate)
    };
    assert_eq!(of(5, 0.0).verdict, PairVerdict::DeadHeat);
    let early = of(4, 0.0);
    assert_eq!(early.verdict, PairVerdict::Undecided);
    assert_eq!(early.remedy, Some(Remedy::MoreHeats { heats: 1 }));
    assert_eq!(of(2, 0.0).remedy, Some(Remedy::MoreHeats { heats: 3 }));
    assert_eq!(of(2, 0.1).verdict, PairVerdict::Faster);
}

#[test]
fn there_are_three_verdicts() {
    assert_eq!(
        one(candidate(0.10, 0.01, 10.0)).verdict,
        PairVerdict::Faster
    );
    assert_eq!(
        one(candidate(0.005, 0.005, 10.0)).verdict,
        PairVerdict::DeadHeat
    );
    assert_eq!(
        one(candidate(0.02, 0.02, 10.0)).verdict,
        PairVerdict::Undecided
    );
    // "Not significant" alone is never a dead heat.
    assert_eq!(
        one(candidate(0.0, 0.2, 10.0)).verdict,
        PairVerdict::Undecided
    );
    // A small difference that is certain is a difference.
    assert_eq!(
        one(candidate(0.01, 0.001, 10.0)).verdict,
        PairVerdict::Faster
    );
}

#[test]
fn a_lower_bound_can_only_be_proven_faster() {
    let far = candidate(0.5, 0.01, 10.0);
    let found = one(bound(true, false, far));
    assert_eq!(found.verdict, PairVerdict::Faster);
    assert_eq!(found.interval.unwrap().high, f64::INFINITY);
    // The other may be faster still.
    let found = one(bound(false, true, far));
    assert_eq!(found.verdict, PairVerdict::Undecided);
    assert_eq!(found.remedy, Some(Remedy::FasterGenerator));
    assert_eq!(found.interval.unwrap().low, 0.0);
    assert!(!found.is_open(), "no heat can decide it");
    let found = one(bound(true, true, far));
    assert_eq!(found.verdict, PairVerdict::Undecided);
    let close = candidate(0.001, 0.001, 10.0);
    for (better, worse) in [(true, false), (false, true), (true, true)] {
        let found = one(bound(better, worse, close));
        assert_eq!(found.verdict, PairVerdict::Undecided, "{better} {worse}");
    }
}

#[test]
fn a_pair_that_never_met_is_undecided() {
    let never = Candidate {
        contrast: None,
        ..candidate(0.0, 0.0, 1.0)
    };
    let found = one(never);
    assert_eq!(found.verdict, PairVerdict::Undecided);
    assert_eq!(found.remedy, Some(Remedy::Meeting));
    assert_eq!((found.interval, found.alone), (None, None));
}

/// With as many heats as it asks for, and the same estimate and scatter, the pair is decided; with one less it is not.
#[test]
fn an_undecided_pair_says_how_many_more_heats_decide_it() {
    for (difference, error) in [(0.02, 0.02), (0.001, 0.02), (0.05, 0.04), (0.028, 0.03)] {
        let candidate = candidate(difference, error, 4.0);
        let Some(Remedy::MoreHeats { heats }) = one(candidate).remedy else {
            panic!("{difference} is decided");
        };
        let after = |heats: u32| {
            let times = f64::from(5 + heats) / 5.0;
            let error = error / times.sqrt();
            one(super::pairs::candidate(difference, error, 4.0 * times)).verdict
        };
        assert_ne!(
            after(heats),
            PairVerdict::Undecided,
            "{difference}: {heats}"
        );
        assert_eq!(
            after(heats - 1),
            PairVerdict::Undecided,
            "{difference}: {heats}"
        );
    }
}

fn any_candidate() -> impl Strategy<Value = Candidate> {
    let contrast = (0.0..0.2_f64, 0.000_5..0.1_f64, 1.0..60.0_f64);
    let bounds = (prop::bool::weighted(0.15), prop::bool::weighted(0.15));
    (contrast, bounds).prop_map(|((difference, error, freedom), (better, worse))| {
        bound(better, worse, candidate(difference, error, freedom))
    })
}

proptest! {
    #[test]
    fn the_interval_and_the_verdict_always_agree(candidate in any_candidate()) {
        let pair = one(candidate);
        let interval = pair.interval.unwrap();
        let is_within = interval.low >= 1.0 / 1.03 && interval.high <= 1.03;
        prop_assert_eq!(pair.verdict == PairVerdict::Faster, interval.low > 1.0, "{:?}", pair);
        prop_assert_eq!(pair.verdict == PairVerdict::DeadHeat, is_within && interval.low <= 1.0);
        prop_assert_eq!(pair.verdict.is_decided(), pair.remedy.is_none());
        let ratio = pair.ratio.unwrap();
        prop_assert!(interval.low <= ratio && ratio <= interval.high && ratio >= 1.0);
        // One pair is a ranking of two: there is nothing that it has to hold together with.
        let alone = pair.alone.unwrap();
        prop_assert_eq!((alone.verdict, alone.interval), (pair.verdict, interval));
    }

    #[test]
    fn a_lower_bound_is_never_slower_and_in_no_dead_heat(candidate in any_candidate()) {
        let pair = one(candidate);
        if candidate.worse_is_bound {
            prop_assert_eq!(pair.verdict, PairVerdict::Undecided);
        }
        if candidate.better_is_bound {
            prop_assert_ne!(pair.verdict, PairVerdict::DeadHeat);
        }
    }
}

/// A ranking of members that are truly this far ahead, after so many heats in which each scatters normally by `spread`.
fn ranked(ahead: &[f64], heats: usize, spread: f64, random: &mut Random) -> Ranking {
    let mut heat = || {
        let members = ahead.iter().enumerate();
        let estimate = |(member, ahead): (usize, &f64)| Estimate {
            member,
            value: ahead + spread * random.normal(),
            scatter: None,
        };
        members.map(estimate).collect()
    };
    let heats: Vec<Vec<Estimate>> = (0..heats).map(|_| heat()).collect();
    let (members, settings) = (ahead.len(), Settings::default());
    let fit = Fit::new(members, &heats, &settings);
    let groups = vec![Some(Group::stacks(1)); members];
    let bounded = vec![false; members];
    let found = of_fit(
        &fit,
        Quantity::Throughput,
        &bounded,
        &groups,
        ALPHA,
        &settings,
    );
    found.into_iter().next().unwrap()
}

/// The share of so many sessions that show something.
fn share(sessions: u32, mut shows: impl FnMut(&mut Random) -> bool) -> f64 {
    let mut random = Random(1);
    let shown = (0..sessions).filter(|_| shows(&mut random)).count();
    shown as f64 / f64::from(sessions)
}

/// Eight members in a row, each exactly the margin faster than the next: seven pairs could be a false dead heat. If
/// proven differences gave the others a larger share of the error, 13 % of such sessions would have one (4,000
/// simulated, a margin of four standard errors).
#[test]
fn proven_differences_make_no_false_dead_heats() {
    let margin = MARGIN.ln_1p();
    let ahead: Vec<f64> = (0..8).map(|member| margin * f64::from(member)).collect();
    for errors in [3.0, 4.0, 5.0] {
        let spread = margin / errors * (40.0_f64 / 2.0).sqrt();
        let wrong = share(200, |random| {
            let pairs = ranked(&ahead, 40, spread, random).pairs;
            pairs
                .iter()
                .any(|pair| pair.verdict == PairVerdict::DeadHeat)
        });
        assert!(wrong <= 0.05, "{errors}: {wrong}");
    }
}

/// Nothing is lost by being one of many: with all others far away, the last pair is decided as if it were alone.
#[test]
fn proven_differences_leave_their_share_to_the_other_pairs() {
    let close = 0.03;
    let found = |ahead: &[f64]| {
        share(200, |random| {
            let ranking = ranked(ahead, 20, 0.03, random);
            ranking.verdict(1, 0) == Some(PairVerdict::Faster)
        })
    };
    let (two, six) = (
        found(&[0.0, close]),
        found(&[0.0, close, 1.0, 2.0, 3.0, 4.0]),
    );
    assert!((two - six).abs() < 0.12, "{two} of two, {six} of six");
    let equal = found(&[0.0, close, 0.0, 0.0, 0.0, 0.0]);
    assert!(equal < two - 0.12, "{two} of two, {equal} among equal ones");
}

/// Of equal members, some of the pairs that stand alone differ; of those that hold together, hardly ever any.
#[test]
fn of_many_pairs_that_stand_alone_some_are_wrong_and_those_of_a_ranking_hold_together() {
    let any = |differs: fn(&RankedPair) -> bool| {
        share(300, |random| {
            ranked(&[0.0; 10], 12, 0.03, random)
                .pairs
                .iter()
                .any(differs)
        })
    };
    let alone = any(|pair| {
        pair.alone
            .is_some_and(|alone| alone.verdict == PairVerdict::Faster)
    });
    let together = any(|pair| pair.verdict == PairVerdict::Faster);
    assert!(alone > 0.4, "{alone}");
    assert!((0.01..=0.075).contains(&together), "{together}");
}

/// The best one's lead is known better than any other pair as soon as nobody else can be the best.
#[test]
fn comparisons_with_the_best_are_narrower_than_those_of_all_pairs() {
    let mut random = Random(1);
    let mut ahead = [0.0; 18];
    ahead[0] = 0.5;
    let ranking = ranked(&ahead, 12, 0.03, &mut random);
    let width = |pair: &RankedPair| {
        pair.interval
            .map(|one| (one.high / one.low).ln() / 2.0)
            .unwrap()
    };
    let of = |has_best: bool| {
        let pairs = ranking
            .pairs
            .iter()
            .filter(|pair| (pair.better == 0) == has_best);
        let widths: Vec<f64> = pairs.map(width).collect();
        widths.iter().sum::<f64>() / widths.len() as f64
    };
    assert!(of(true) < 0.9 * of(false), "{} {}", of(true), of(false));
}
