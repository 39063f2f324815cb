//! From the heats' estimates to differences with errors.

use deadheat_stats::{
    heats::{
        Fit, Quantity, Settings,
        within::{Estimate, of_heats},
    },
    interval::moments,
};
use proptest::prelude::*;

use super::heat_series;

fn fit(heats: &[Vec<Option<f64>>]) -> Fit {
    let series = heat_series(heats);
    let settings = Settings::default();
    let heats = of_heats(&series.heats, Quantity::Throughput);
    Fit::new(series.members, &heats, &settings)
}

/// Two members leave nothing to borrow: the interval is that of the paired t test.
#[test]
fn two_members_are_compared_by_the_paired_t_test() {
    let rates = [(100.0, 103.0), (90.0, 97.0), (120.0, 121.0), (80.0, 86.0)];
    let heats: Vec<_> = rates
        .iter()
        .map(|(a, b)| vec![Some(*a), Some(*b)])
        .collect();
    let found = fit(&heats).contrast(1, 0).unwrap();
    let logs: Vec<f64> = rates
        .iter()
        .map(|(a, b): &(f64, f64)| (b / a).ln())
        .collect();
    let expected = moments(&logs).unwrap();
    assert!((found.difference - expected.mean).abs() < 1e-12);
    assert!(
        (found.error - expected.error).abs() < 1e-9,
        "{found:?} {expected:?}"
    );
    assert!((found.freedom - 3.0).abs() < 1e-9);
    assert!((found.half_width(0.05) - expected.half_width(0.95)).abs() < 1e-8);
    assert!((found.p(0.0) - expected.p_of_zero()).abs() < 1e-9);
}

/// Exact figures of four members of which no heat has more than two.
#[test]
fn members_that_never_met_are_compared_through_others() {
    let heats = [
        vec![Some(10.0), Some(20.0), None, None],
        vec![None, Some(30.0), Some(90.0), None],
        vec![None, None, Some(5.0), Some(2.5)],
        vec![Some(7.0), Some(14.0), None, None],
        vec![None, None, Some(8.0), Some(4.0)],
    ];
    let fit = fit(&heats);
    let ratio = |a, b| fit.contrast(a, b).unwrap().difference.exp();
    assert!((ratio(1, 0) - 2.0).abs() < 1e-6);
    assert!((ratio(2, 0) - 6.0).abs() < 1e-6);
    assert!((ratio(3, 0) - 3.0).abs() < 1e-6);
    assert_eq!(fit.heats(1), 3);
    assert!((fit.advantage(2).unwrap() - fit.advantage(0).unwrap() - 6.0_f64.ln()).abs() < 1e-6);
}

#[test]
fn members_that_met_in_no_way_are_not_compared() {
    let heats = [
        vec![Some(10.0), Some(20.0), None, None, None],
        vec![None, None, Some(5.0), Some(2.5), None],
        vec![Some(12.0), Some(21.0), None, None, None],
        vec![None, None, Some(5.0), Some(2.6), None],
        vec![None, None, None, None, Some(3.0)],
    ];
    let fit = fit(&heats);
    assert!(fit.contrast(0, 1).is_some() && fit.contrast(2, 3).is_some());
    assert_eq!(fit.contrast(0, 2), None);
    assert_eq!(fit.contrast(0, 4), None);
    assert_eq!((fit.advantage(4), fit.heats(4)), (None, 0), "it met nobody");
}

#[test]
fn one_heat_says_nothing_about_the_scatter_between_heats() {
    let fit = fit(&[vec![Some(10.0), Some(20.0), Some(30.0)]]);
    assert!(fit.advantage(0).is_some());
    assert_eq!(fit.contrast(0, 1), None);
}

/// A pair that met in fewer heats is less certain.
#[test]
fn a_member_in_fewer_heats_has_a_wider_interval() {
    let noise = [0.02, -0.01, 0.03, -0.02, 0.01, -0.03, 0.02, -0.02];
    let heat = |heat: usize| {
        let rate = |member: usize| 100.0 * f64::exp(noise[(heat * 3 + member * 5) % 8]);
        let rare = (heat < 3).then(|| rate(2));
        vec![Some(rate(0)), Some(rate(1)), rare]
    };
    let fit = fit(&(0..8).map(heat).collect::<Vec<_>>());
    let width = |a, b| fit.contrast(a, b).unwrap().half_width(0.05);
    assert!(width(0, 2) > 1.3 * width(0, 1));
}

/// Estimates of some heats, in each of which at least two members are.
fn heats() -> impl Strategy<Value = Vec<Vec<Estimate>>> {
    let one = (any::<bool>(), -0.2..0.2_f64);
    prop::collection::vec(prop::collection::vec(one, 5), 4..9).prop_map(|heats| {
        let heat = |heat: Vec<(bool, f64)>| {
            let members = heat.into_iter().enumerate();
            let there = members.filter(|(member, (there, _))| *there || *member < 2);
            there
                .map(|(member, (_, value))| Estimate {
                    member,
                    value,
                    scatter: None,
                })
                .collect()
        };
        heats.into_iter().map(heat).collect()
    })
}

proptest! {
    /// What a whole heat has in common, however large, is no difference between members.
    #[test]
    fn what_moves_a_whole_heat_moves_no_difference(heats in heats(), shift in -5.0..5.0_f64) {
        let settings = Settings::default();
        let mut moved = heats.clone();
        moved[1].iter_mut().for_each(|one| one.value += shift);
        let (one, other) = (Fit::new(5, &heats, &settings), Fit::new(5, &moved, &settings));
        for a in 0..5 {
            for b in 0..a {
                let (one, other) = (one.contrast(a, b), other.contrast(a, b));
                prop_assert_eq!(one.is_some(), other.is_some());
                if let Some((one, other)) = one.zip(other) {
                    prop_assert!((one.difference - other.difference).abs() < 1e-6);
                    prop_assert!((one.error / other.error - 1.0).abs() < 1e-4);
                }
            }
        }
    }

    /// Seen from the other member a pair has the same error and the opposite difference, and differences add up.
    #[test]
    fn differences_are_those_of_one_order(heats in heats()) {
        let fit = Fit::new(5, &heats, &Settings::default());
        let contrast = |a, b| fit.contrast(a, b);
        if let Some((ab, ba)) = contrast(0, 1).zip(contrast(1, 0)) {
            prop_assert!((ab.difference + ba.difference).abs() < 1e-12);
            prop_assert!((ab.error - ba.error).abs() < 1e-9);
        }
        if let Some(((ab, bc), ac)) = contrast(0, 1).zip(contrast(1, 2)).zip(contrast(0, 2)) {
            prop_assert!((ab.difference + bc.difference - ac.difference).abs() < 1e-9);
            prop_assert!(ac.freedom >= 1.0 && ac.error > 0.0);
        }
    }
}
