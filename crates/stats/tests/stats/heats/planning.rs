//! From a pilot to the precision of a session.

use deadheat_simulation::heats::{Field, evidence::half_widths};
use deadheat_stats::heats::{
    Pilot, PlannedHeats, Quantity, Settings,
    within::{Estimate, Scatter, of_heat},
};

fn planned(heats: u32) -> PlannedHeats {
    PlannedHeats {
        heats,
        rounds: 30,
        members: 6,
        alpha: 0.05,
    }
}

fn noisy(member: usize, variance: f64) -> Estimate {
    Estimate {
        member,
        value: 0.0,
        scatter: Some(Scatter {
            variance,
            inflation: 1.5,
            rounds: 30,
        }),
    }
}

/// 30 rounds of variance .02 × 1.5 for each of two members, and processes of 2 %: variance of a heat
/// 2 × .03 ÷ 30 + 2 × .0004 = .0028; ten heats of six members have t(45) = 2.0141.
#[test]
fn the_expected_half_width_is_that_of_the_formula() {
    let settings = Settings::default();
    let pilot = Pilot::new(3, &[vec![noisy(0, 0.02), noisy(1, 0.02)]], &settings);
    let found = pilot.half_width(0, 1, &planned(10)).unwrap();
    assert!(
        (found - 2.014_103 * 0.00028_f64.sqrt()).abs() < 1e-6,
        "{found}"
    );
    assert_eq!(pilot.half_width(0, 2, &planned(10)), None, "no pilot");
    assert_eq!(
        pilot.half_width(0, 1, &planned(1)),
        None,
        "no scatter between heats"
    );
}

#[test]
fn the_heats_for_a_half_width_are_the_fewest_that_reach_it() {
    let settings = Settings::default();
    let pilot = Pilot::new(2, &[vec![noisy(0, 0.02), noisy(1, 0.05)]], &settings);
    for target in [0.01, 0.03, 0.10] {
        let heats = pilot.heats_for(&[0, 1], target, &planned(0)).unwrap();
        let reached = |heats| pilot.median_half_width(&[0, 1], &planned(heats)).unwrap() <= target;
        assert!(reached(heats), "{target}: {heats}");
        assert!(heats == 2 || !reached(heats - 1), "{target}: {heats}");
    }
    assert_eq!(pilot.heats_for(&[0, 1], 0.0, &planned(0)), None);
}

/// On the simulated machine, whose processes differ by about what is assumed, one heat foretells the half width. A
/// single pilot can be off by half; what it says on average is right.
#[test]
fn a_pilot_foretells_what_a_session_reaches() {
    let settings = Settings::default();
    let field = Field::measured(&[1.0; 6]);
    let members: Vec<usize> = (0..6).collect();
    let reached = half_widths(&field, &[8, 16], 0..100, &settings);
    for (heats, reached) in [8, 16].into_iter().zip(reached) {
        let mut foretold: Vec<f64> = (1_000..1_100)
            .map(|seed| {
                let series = field.draw(1, seed);
                let pilot = of_heat(&series.heats[0], Quantity::Throughput);
                let pilot = Pilot::new(6, &[pilot], &settings);
                pilot.median_half_width(&members, &planned(heats)).unwrap()
            })
            .collect();
        foretold.sort_by(f64::total_cmp);
        let reached = reached.pairs;
        let ratio = foretold[50] / reached;
        assert!((0.8..=1.25).contains(&ratio), "{heats} heats: {ratio}");
        assert!(foretold[5] > reached / 2.0 && foretold[94] < reached * 2.0);
    }
}
