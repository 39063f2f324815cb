//! Ranks from verdicts, bounds, budgets and cost.

use deadheat_stats::heats::{
    Fit, Group, HeatSeries, PairVerdict, Percentile, Quantity, Rank, Ranking, Settings, of_fit,
    percentile, rankings,
};
use proptest::prelude::*;

use super::heat_series;

/// Eight heats of members with these throughputs that scatter by about 1 %.
fn steady(rates: &[f64]) -> HeatSeries {
    let noise = [0.0, 0.01, -0.01, 0.005, -0.005, 0.01, -0.01, 0.0];
    let rate = |heat: usize, member: usize, rate: f64| {
        rate * f64::exp(noise[(heat + 3 * member) % 8] + 0.1 * heat as f64)
    };
    let heat = |heat: usize| {
        let members = rates.iter().enumerate();
        members
            .map(|(member, base)| Some(rate(heat, member, *base)))
            .collect()
    };
    heat_series(&(0..8).map(heat).collect::<Vec<_>>())
}

fn rank_by(series: &HeatSeries, quantity: Quantity) -> Ranking {
    let settings = Settings::default();
    let groups = vec![Some(Group::stacks(1)); series.members];
    rankings(series, quantity, &groups, settings.alpha, &settings).remove(0)
}

/// Members, each with its best and its worst rank, in the order of the table.
fn table(ranking: &Ranking) -> Vec<(usize, usize, usize)> {
    let places = ranking.places.iter();
    places
        .map(|place| (place.member, place.rank.best, place.rank.worst))
        .collect()
}

fn rank_of(ranking: &Ranking, member: usize) -> Rank {
    let place = ranking.places.iter().find(|place| place.member == member);
    place.unwrap().rank
}

fn bound(series: &mut HeatSeries, member: usize) {
    let rounds = series.heats.iter_mut().flat_map(|heat| &mut heat.rounds);
    for slice in rounds.flat_map(|round| &mut round.slices) {
        slice.bounded |= slice.member == member;
    }
}

#[test]
fn members_that_are_told_apart_have_one_rank_and_others_a_range() {
    let found = rank_by(&steady(&[100.0, 200.0, 100.2, 50.0]), Quantity::Throughput);
    assert_eq!(found.places[0].member, 1);
    assert_eq!(table(&found)[0], (1, 1, 1));
    assert_eq!(
        table(&found)[1..3]
            .iter()
            .map(|row| (row.1, row.2))
            .collect::<Vec<_>>(),
        [(2, 3); 2]
    );
    assert_eq!(table(&found)[3], (3, 4, 4));
    assert_eq!(found.verdict(0, 2), Some(PairVerdict::DeadHeat));
    assert_eq!(found.verdict(1, 0), Some(PairVerdict::Faster));
    assert_eq!(found.verdict(0, 1), Some(PairVerdict::Slower));
    assert_eq!(found.verdict(0, 0), None);
    assert!(found.open_neighbours().is_empty());
    // The figure is a typical slice of a typical heat: the heats' machine is faster by 0 to 70 %.
    assert!((found.places[0].figure / 200.0 - f64::exp(0.35)).abs() < 0.02);
}

/// A slice costs 1 ÷ throughput here, so that the order is the same; with half of the CPU time it is not.
#[test]
fn cost_is_ranked_by_what_is_cheaper() {
    let mut series = steady(&[100.0, 200.0]);
    assert_eq!(
        table(&rank_by(&series, Quantity::Cost)),
        [(1, 1, 1), (0, 2, 2)]
    );
    let rounds = series.heats.iter_mut().flat_map(|heat| &mut heat.rounds);
    for slice in rounds.flat_map(|round| &mut round.slices) {
        let times = if slice.member == 1 { 4.0 } else { 1.0 };
        slice.cpu_seconds = slice.cpu_seconds.map(|cost| cost * times);
    }
    let found = rank_by(&series, Quantity::Cost);
    assert_eq!(table(&found), [(0, 1, 1), (1, 2, 2)]);
    assert!(
        (found.pairs[0].ratio.unwrap() - 2.0).abs() < 0.05,
        "twice as cheap"
    );
    assert!(
        (found.places[0].figure * 100.0 - f64::exp(-0.35)).abs() < 0.02,
        "in seconds"
    );
}

#[test]
fn a_lower_bound_keeps_its_place_and_may_be_better_still() {
    let mut series = steady(&[100.0, 200.0, 150.0]);
    bound(&mut series, 2);
    let found = rank_by(&series, Quantity::Throughput);
    // Member 2 is proven faster than member 0; whether member 1 is faster than it nobody knows.
    assert_eq!(table(&found), [(1, 1, 2), (2, 1, 2), (0, 3, 3)]);
    assert!(found.places[1].is_bound && !found.places[0].is_bound);
    assert!(found.open_neighbours().is_empty(), "no heat can decide it");
    // What a request costs can be told all the same.
    let cost = rank_by(&series, Quantity::Cost);
    assert_eq!(table(&cost), [(1, 1, 1), (2, 2, 2), (0, 3, 3)]);
    assert!(cost.places.iter().all(|place| !place.is_bound));
}

#[test]
fn one_slice_at_the_generators_limit_is_no_bound() {
    let mut series = steady(&[100.0, 200.0]);
    for _ in 0..3 {
        series.heats.extend(series.heats.clone());
    }
    series.heats[0].rounds[0].slices[1].bounded = true;
    assert!(!rank_by(&series, Quantity::Throughput).places[0].is_bound);
    bound(&mut series, 1);
    assert!(rank_by(&series, Quantity::Throughput).places[0].is_bound);
}

#[test]
fn only_members_of_one_group_share_a_ranking() {
    let series = steady(&[100.0, 200.0, 300.0, 400.0, 1_000.0, 900.0]);
    let yardstick = Group {
        yardsticks: true,
        cpus: 1,
    };
    let of = [2, 1, 2, 1].map(|cpus| Some(Group::stacks(cpus)));
    let groups = [&of[..], &[None, Some(yardstick)]].concat();
    let settings = Settings::default();
    let found = rankings(&series, Quantity::Throughput, &groups, 0.05, &settings);
    let members = |ranking: &Ranking| {
        let places = ranking.places.iter();
        (
            ranking.group,
            places.map(|place| place.member).collect::<Vec<_>>(),
        )
    };
    let found: Vec<_> = found.iter().map(members).collect();
    let of_stacks = |cpus, members| (Group::stacks(cpus), members);
    assert_eq!(
        found,
        [
            of_stacks(1, vec![3, 1]),
            of_stacks(2, vec![2, 0]),
            (yardstick, vec![5])
        ]
    );
}

#[test]
fn a_member_without_figures_has_no_place() {
    let mut series = steady(&[100.0, 200.0, 300.0]);
    for round in series.heats.iter_mut().flat_map(|heat| &mut heat.rounds) {
        round.slices.retain(|slice| slice.member != 1);
    }
    let found = rank_by(&series, Quantity::Throughput);
    assert_eq!(found.unplaced, [1]);
    assert_eq!(table(&found), [(2, 1, 1), (0, 2, 2)]);
}

#[test]
fn percentiles_are_ranked_by_the_same_model() {
    let heat = |heat: usize| {
        let seconds = [0.010, 0.005, 0.010];
        let members = seconds.iter().enumerate();
        let one = |(member, seconds): (usize, &f64)| Percentile {
            member,
            seconds: seconds
                * f64::exp(0.3 * heat as f64 + 0.002 * ((heat * 3 + member) % 4) as f64),
            samples: if heat == 8 { 9_999 } else { 20_000 },
        };
        members.map(one).collect()
    };
    let settings = Settings::default();
    let heats: Vec<Vec<Percentile>> = (0..9).map(heat).collect();
    let estimates = percentile::estimates(99.0, &heats, &settings);
    let fit = Fit::new(3, &estimates, &settings);
    assert_eq!(fit.heats(0), 8, "too few samples carry the last heat's");
    let found = of_fit(
        &fit,
        Quantity::Latency,
        &[false; 3],
        &[Some(Group::stacks(1)); 3],
        0.05,
        &settings,
    );
    assert_eq!(found[0].places[0].member, 1);
    assert_eq!(found[0].verdict(1, 0), Some(PairVerdict::Faster));
    assert_eq!(found[0].verdict(0, 2), Some(PairVerdict::DeadHeat));
}

/// Two members have nothing to share the error level with: all that is said of them is said of the pair alone.
#[test]
fn a_ranking_of_two_is_a_comparison_of_two() {
    let found = rank_by(&steady(&[100.0, 102.0]), Quantity::Throughput);
    let pair = found.pairs[0];
    let alone = pair.alone.unwrap();
    assert_eq!(
        (pair.verdict, pair.interval),
        (alone.verdict, Some(alone.interval))
    );
    let half = (alone.interval.high / alone.interval.low).ln() / 2.0;
    for place in &found.places {
        let found = found.half_width(place.member).unwrap();
        assert!((found - half).abs() < 1e-12, "{found} {half}");
    }
}

/// A few heats of a few members; throughputs differ a little, so that all verdicts occur, and some are missing.
fn heats() -> impl Strategy<Value = (Vec<Vec<Option<f64>>>, Vec<bool>)> {
    (2_usize..7, 2_usize..9).prop_flat_map(|(members, heats)| {
        let noise = prop::option::weighted(0.9, -0.03..0.03_f64);
        let speeds = prop::collection::vec(prop_oneof![Just(0.0), -0.3..0.3_f64], members);
        let noise = prop::collection::vec(prop::collection::vec(noise, members), heats);
        let heats = (speeds, noise).prop_map(|(speeds, noise)| {
            let heat = |noise: Vec<Option<f64>>| {
                let members = noise.into_iter().zip(&speeds);
                let rate = |(noise, speed): (Option<f64>, &f64)| Some(1e3 * (noise? + speed).exp());
                members.map(rate).collect()
            };
            noise.into_iter().map(heat).collect()
        });
        (
            heats,
            prop::collection::vec(prop::bool::weighted(0.2), members),
        )
    })
}

proptest! {
    #[test]
    fn nothing_that_is_proven_worse_stands_above_something_better((heats, bounds) in heats()) {
        let mut series = heat_series(&heats);
        for (member, is_bound) in bounds.iter().enumerate() {
            if *is_bound {
                bound(&mut series, member);
            }
        }
        let found = rank_by(&series, Quantity::Throughput);
        let members = found.places.len();
        prop_assert_eq!(members + found.unplaced.len(), series.members);
        prop_assert_eq!(found.pairs.len(), members * members.saturating_sub(1) / 2);
        for pair in found.places.windows(2) {
            prop_assert!(pair[0].figure >= pair[1].figure * (1.0 - 1e-12));
        }
        let place = |member| found.places.iter().position(|place| place.member == member).unwrap();
        for pair in &found.pairs {
            prop_assert!(place(pair.better) < place(pair.worse));
            prop_assert_ne!(pair.verdict, PairVerdict::Slower);
        }
        for (index, place) in found.places.iter().enumerate() {
            // Its own place in the table is one of its ranks.
            prop_assert!(place.rank.best <= index + 1 && index < place.rank.worst, "{:?}", found);
        }
    }

    /// What a ranking says of a pair is what is said of the pair alone, or less; and ranks, verdicts and the comparison with
    /// the best never contradict each other.
    #[test]
    fn what_a_ranking_says_never_contradicts_itself((heats, bounds) in heats()) {
        let mut series = heat_series(&heats);
        for (member, is_bound) in bounds.iter().enumerate() {
            if *is_bound {
                bound(&mut series, member);
            }
        }
        let found = rank_by(&series, Quantity::Throughput);
        for pair in &found.pairs {
            let Some((interval, alone)) = pair.interval.zip(pair.alone) else { continue };
            prop_assert!([alone.verdict, PairVerdict::Undecided].contains(&pair.verdict), "{:?}", pair);
            prop_assert!(pair.verdict == PairVerdict::Faster || interval.low <= alone.interval.low);
            prop_assert!(interval.high >= alone.interval.high, "{:?}", pair);
            prop_assert_eq!(pair.verdict.is_decided(), pair.remedy.is_none());
            let ranks = [pair.better, pair.worse].map(|member| rank_of(&found, member));
            if pair.verdict == PairVerdict::Faster {
                prop_assert!(interval.low >= 1.0);
                prop_assert!(ranks[1].best > ranks[0].best && ranks[0].worst < ranks[1].worst, "{:?}", found);
            } else {
                prop_assert!(interval.low <= 1.0);
            }
            let is_within = interval.low >= 1.0 / 1.03 && interval.high <= 1.03;
            prop_assert!(is_within || pair.verdict != PairVerdict::DeadHeat);
        }
    }

    /// A machine that is twice as fast changes no verdict.
    #[test]
    fn a_faster_machine_changes_no_verdict((heats, _) in heats()) {
        let double = |heat: &Vec<Option<f64>>| heat.iter().map(|rate| Some(rate.as_ref()? * 2.0)).collect();
        let faster: Vec<_> = heats.iter().map(double).collect();
        let one = rank_by(&heat_series(&heats), Quantity::Throughput);
        let other = rank_by(&heat_series(&faster), Quantity::Throughput);
        prop_assert_eq!(table(&one), table(&other));
    }
}
