//! Verdicts on pairs, by their laws.

use deadheat_stats::{
    heats::{
        Contrast, Pair, Remedy, Verdict,
        pairs::{Candidate, judge},
    },
    holm::holm,
};
use proptest::prelude::*;

const ALPHA: f64 = 0.05;
const MARGIN: f64 = 0.03;

/// A pair whose estimates differ by `difference`, with a standard error.
fn candidate(difference: f64, error: f64, freedom: f64) -> Candidate {
    Candidate {
        better: 0,
        worse: 1,
        contrast: Some(Contrast {
            difference,
            error,
            freedom,
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

fn one(candidate: Candidate) -> Pair {
    judge(&[candidate], ALPHA, MARGIN)[0]
}

#[test]
fn there_are_three_verdicts() {
    assert_eq!(one(candidate(0.10, 0.01, 10.0)).verdict, Verdict::Faster);
    assert_eq!(
        one(candidate(0.005, 0.005, 10.0)).verdict,
        Verdict::DeadHeat
    );
    assert_eq!(one(candidate(0.02, 0.02, 10.0)).verdict, Verdict::Undecided);
    // "Not significant" alone is never a dead heat.
    assert_eq!(one(candidate(0.0, 0.2, 10.0)).verdict, Verdict::Undecided);
    // A small difference that is certain is a difference.
    assert_eq!(one(candidate(0.01, 0.001, 10.0)).verdict, Verdict::Faster);
}

#[test]
fn a_lower_bound_can_only_be_proven_faster() {
    let far = candidate(0.5, 0.01, 10.0);
    let found = one(bound(true, false, far));
    assert_eq!(found.verdict, Verdict::Faster);
    assert_eq!(found.interval.unwrap().high, f64::INFINITY);
    // The other may be faster still.
    let found = one(bound(false, true, far));
    assert_eq!(found.verdict, Verdict::Undecided);
    assert_eq!(found.remedy, Some(Remedy::FasterGenerator));
    assert_eq!(found.interval.unwrap().low, 0.0);
    assert!(!found.is_open(), "no heat can decide it");
    let found = one(bound(true, true, far));
    assert_eq!(found.verdict, Verdict::Undecided);
    let close = candidate(0.001, 0.001, 10.0);
    for (better, worse) in [(true, false), (false, true), (true, true)] {
        let found = one(bound(better, worse, close));
        assert_eq!(found.verdict, Verdict::Undecided, "{better} {worse}");
    }
}

#[test]
fn a_pair_that_never_met_is_undecided_and_takes_no_share() {
    let never = Candidate {
        contrast: None,
        ..candidate(0.0, 0.0, 1.0)
    };
    // Just within 5 % alone: with half of it, it would not be.
    let edge = candidate(0.0205, 0.01, 1e6);
    let found = judge(&[never, edge], ALPHA, MARGIN);
    assert_eq!(found[0].remedy, Some(Remedy::Meeting));
    assert_eq!(found[0].interval, None);
    assert_eq!(found[1].verdict, Verdict::Faster);
    assert_eq!(
        judge(&[edge, edge], ALPHA, MARGIN)[1].verdict,
        Verdict::Undecided
    );
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
        assert_ne!(after(heats), Verdict::Undecided, "{difference}: {heats}");
        assert_eq!(
            after(heats - 1),
            Verdict::Undecided,
            "{difference}: {heats}"
        );
    }
}

fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
    let contrast = (0.0..0.2_f64, 0.000_5..0.1_f64, 1.0..60.0_f64);
    let bounds = (prop::bool::weighted(0.15), prop::bool::weighted(0.15));
    let one = (prop::option::weighted(0.95, contrast), bounds);
    let of = |(contrast, (better_is_bound, worse_is_bound)): (Option<(f64, f64, f64)>, _)| {
        let (difference, error, freedom) = contrast.unwrap_or((0.0, 0.0, 1.0));
        let mut candidate = bound(
            better_is_bound,
            worse_is_bound,
            candidate(difference, error, freedom),
        );
        if contrast.is_none() {
            candidate.contrast = None;
        }
        candidate
    };
    prop::collection::vec(one.prop_map(of), 1..20)
}

proptest! {
    #[test]
    fn the_interval_and_the_verdict_always_agree(candidates in candidates()) {
        for (pair, candidate) in judge(&candidates, ALPHA, MARGIN).iter().zip(&candidates) {
            let interval = pair.interval.map(|interval| (interval.low, interval.high));
            let excludes_one = interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0);
            let within = interval.is_some_and(|(low, high)| low >= 1.0 / 1.03 && high <= 1.03);
            prop_assert_eq!(pair.verdict == Verdict::Faster, excludes_one, "{:?}", pair);
            prop_assert_eq!(pair.verdict == Verdict::DeadHeat, within && !excludes_one, "{:?}", pair);
            prop_assert_eq!(pair.verdict.is_decided(), pair.remedy.is_none());
            prop_assert_eq!(pair.interval.is_some(), candidate.contrast.is_some());
            if let Some((low, high)) = interval {
                let ratio = pair.ratio.unwrap();
                prop_assert!(low <= ratio && ratio <= high && ratio >= 1.0);
                prop_assert!(pair.interval.unwrap().level >= 1.0 - ALPHA - 1e-12);
            }
        }
    }

    /// Differences are exactly those of Holm's procedure.
    #[test]
    fn differences_are_those_that_holm_finds(candidates in candidates()) {
        let candidates: Vec<Candidate> =
            candidates.into_iter().map(|one| bound(false, false, one)).collect();
        let met = candidates.iter().filter_map(|one| one.contrast);
        let adjusted = holm(&met.map(|contrast| contrast.p(0.0)).collect::<Vec<_>>());
        let judged = judge(&candidates, ALPHA, MARGIN);
        let met = judged.iter().filter(|pair| pair.interval.is_some());
        for (pair, p) in met.zip(adjusted) {
            prop_assert_eq!(pair.verdict == Verdict::Faster, p < ALPHA, "{} {:?}", p, pair);
        }
    }

    #[test]
    fn a_lower_bound_is_never_slower_and_in_no_dead_heat(candidates in candidates()) {
        for (pair, candidate) in judge(&candidates, ALPHA, MARGIN).iter().zip(&candidates) {
            if candidate.worse_is_bound {
                prop_assert_eq!(pair.verdict, Verdict::Undecided);
            }
            if candidate.better_is_bound {
                prop_assert_ne!(pair.verdict, Verdict::DeadHeat);
            }
        }
    }
}

/// Random numbers that are the same everywhere (Steele, Lea & Flood, OOPSLA 2014: SplitMix64; Box & Muller 1958).
fn normal(state: &mut u64) -> f64 {
    let mut uniform = || {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let radius = (-2.0 * (1.0 - uniform()).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform()).cos()
}

/// Eight members in a row, each exactly the margin faster than the next: seven pairs could be a false dead heat. If
/// proven differences gave the others a larger share of the error, 13 % of such sessions would have one (4,000
/// simulated, a margin of four standard errors).
#[test]
fn proven_differences_make_no_false_dead_heats() {
    const SESSIONS: u32 = 2_000;
    let margin = MARGIN.ln_1p();
    let mut state = 1;
    for errors in [3.0, 4.0, 5.0] {
        let error = margin / errors;
        let mut wrong = 0;
        for _ in 0..SESSIONS {
            let place = |member: i32| margin * f64::from(member);
            let mut estimate = |member| place(member) + error / 2.0_f64.sqrt() * normal(&mut state);
            let estimates: Vec<f64> = (0..8).map(&mut estimate).collect();
            let mut candidates = Vec::new();
            for a in 0..8 {
                for b in 0..a {
                    let difference = (estimates[a] - estimates[b]).abs();
                    candidates.push(Candidate {
                        better: a,
                        worse: b,
                        ..candidate(difference, error, 1e6)
                    });
                }
            }
            let found = judge(&candidates, ALPHA, MARGIN);
            wrong += u32::from(found.iter().any(|pair| pair.verdict == Verdict::DeadHeat));
        }
        let share = f64::from(wrong) / f64::from(SESSIONS);
        assert!(share <= 0.05, "{errors}: {share}");
    }
}
