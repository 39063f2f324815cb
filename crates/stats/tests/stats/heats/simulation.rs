//! How often the statistics of heats are wrong, in seeded sessions on a machine with the noise that was measured.
//!
//! A share of 5 % over 1,000 sessions scatters with a standard error of 0.7 %, that of 400 with 1.1 %. Coverage is
//! counted over all pairs of a session, which have members in common: over 1,000 sessions its standard error is at most
//! 0.7 % for two members, where there is one pair, and about 0.3 % for six. The bounds are 94 to 96 %, and two of these
//! errors beyond.

use deadheat_simulation::heats::{
    Disturbances, Field, Member, Processes, evidence, gate, power::unlike_cases,
    sequential_evidence,
};
use deadheat_stats::heats::Settings;

/// Standard error of a share of 5 % of so many sessions.
fn error(sessions: u32) -> f64 {
    (0.05 * 0.95 / f64::from(sessions)).sqrt()
}

/// Equal members that scatter unequally.
fn equal(members: usize, disturbances: Disturbances) -> Field {
    Field {
        capacity: members.min(6),
        disturbances,
        ..Field::measured(&vec![1.0; members])
    }
}

/// Intervals of single pairs, and differences among equal members.
fn check(name: &str, field: &Field, heats: usize, sessions: u32) {
    let found = evidence(field, heats, 0..u64::from(sessions), &Settings::default());
    let spare = 2.0 * error(sessions) * if field.members.len() > 2 { 0.5 } else { 1.0 };
    let covered = found.covered.rate();
    assert!(
        (0.94 - spare..=0.96 + spare).contains(&covered),
        "{name}, {heats} heats: {covered} covered"
    );
    let false_differences = found.false_differences.rate();
    assert!(
        false_differences <= 0.05 + 2.0 * error(sessions),
        "{name}, {heats} heats: {false_differences} differences"
    );
}

#[test]
fn intervals_hold_what_they_promise_in_full_heats() {
    for (members, heats, sessions) in [
        (2, 3, 1_000),
        (2, 8, 1_000),
        (6, 2, 600),
        (6, 3, 600),
        (6, 8, 400),
    ] {
        let field = equal(members, Disturbances::disturbed());
        check(&format!("{members} members"), &field, heats, sessions);
    }
}

/// Slices are missing, members die or are not there.
#[test]
fn intervals_hold_what_they_promise_in_incomplete_heats() {
    for (members, heats, sessions) in [(2, 5, 1_000), (6, 3, 600), (6, 8, 400)] {
        let field = equal(members, Disturbances::incomplete());
        check(&format!("{members} members"), &field, heats, sessions);
    }
}

/// It hits all members alike, and costs precision alone.
#[test]
fn a_minute_in_which_the_hypervisor_takes_half_of_the_cpu_makes_no_false_verdicts() {
    let stolen = Disturbances {
        stolen_from: 15.0,
        stolen_seconds: 60.0,
        ..Disturbances::disturbed()
    };
    for (members, heats, sessions) in [(2, 5, 1_000), (6, 5, 400)] {
        let field = equal(members, stolen);
        check(
            &format!("{members} members, CPU stolen"),
            &field,
            heats,
            sessions,
        );
    }
    let mut apart = Field::measured(&[1.0 + Settings::default().margin, 1.0]);
    apart.disturbances = stolen;
    let found = evidence(&apart, 12, 0..1_000, &Settings::default());
    assert!(found.false_dead_heats.rate() <= 0.05, "{found:?}");
}

/// Ten members of which six are in a heat, with the first in all of them.
#[test]
fn intervals_hold_what_they_promise_in_heats_that_overlap_in_an_anchor() {
    for (heats, sessions) in [(5, 600), (12, 300)] {
        let field = equal(10, Disturbances::incomplete());
        check("ten members in turn", &field, heats, sessions);
    }
}

/// True differences of exactly the margin, where a dead heat is wrong and most easily found.
#[test]
fn members_at_the_margin_are_in_a_dead_heat_in_five_per_cent_at_most() {
    let settings = Settings::default();
    let margin = 1.0 + settings.margin;
    for (speeds, heats, sessions) in [
        (vec![margin, 1.0], 12, 1_000),
        (vec![margin, 1.0, 1.0, margin], 20, 300),
        (vec![margin * margin, margin, 1.0, 1.0 / margin], 20, 300),
    ] {
        let field = Field::measured(&speeds);
        let found = evidence(&field, heats, 0..sessions, &settings);
        let wrong = found.false_dead_heats.rate();
        assert!(wrong <= 0.05, "{speeds:?}: {wrong}");
        let wrong = found.false_differences.rate();
        assert!(wrong <= 0.05, "{speeds:?}: {wrong}");
    }
}

/// Sessions that are looked at, stop when all neighbours are decided, and deal the heats by what they saw.
#[test]
fn looks_and_dealing_cost_no_more_than_five_per_cent() {
    let settings = Settings::default();
    let equal = equal(8, Disturbances::incomplete());
    let found = sequential_evidence(&equal, 14, 0..300, &settings);
    let wrong = found.false_differences.rate();
    assert!(wrong <= 0.05 + 2.0 * error(300), "{wrong}");
    // In a row, the margin apart.
    let mut row = Field::measured(&[1.0; 4]);
    for (place, member) in row.members.iter_mut().enumerate() {
        member.speed = (1.0 + settings.margin).powi(place as i32);
    }
    let found = sequential_evidence(&row, 28, 0..200, &settings);
    let wrong = found.false_dead_heats.rate();
    assert!(wrong <= 0.05, "{wrong}");
}

/// The gate's own bound is what is tested: a slowdown within it fails in half of the error level at most, and one beyond it
/// is found, given time.
#[test]
fn a_gate_fails_what_is_slower_than_its_bound() {
    let fails = |ratio, most| gate(ratio, 0.03, most, 0..200).fails.rate();
    for ratio in [1.0, 0.98, 0.97] {
        let wrong = fails(ratio, 24);
        assert!(wrong <= 0.025 + 2.0 * error(200) / 2.0, "{ratio}: {wrong}");
    }
    let found = fails(0.90, 24);
    assert!(found > 0.8, "{found}");
    // What is as fast passes before its last heat, because the bound is excluded, not because time is up.
    let passed = gate(1.0, 0.03, 72, 0..100);
    assert!(
        passed.undecided.rate() < 0.1 && passed.heats < 36.0,
        "{passed:?}"
    );
}

/// Differences that are large are found at the first look, so that the session ends early.
#[test]
fn a_session_ends_when_all_neighbours_are_decided() {
    let far = Field::measured(&[1.0, 1.5, 2.2, 3.3]);
    let found = sequential_evidence(&far, 20, 0..100, &Settings::default());
    assert!(found.settled.rate() > 0.95, "{found:?}");
    assert!(found.heats < 9.0, "{found:?}");
}

/// One process in six is a third slower, as was measured of one stack. Two such members are equal, and called so.
#[test]
fn processes_of_two_kinds_make_no_differences_between_equal_members() {
    let mut field = equal(4, Disturbances::disturbed());
    for member in &mut field.members {
        member.processes = Processes::two_modes();
    }
    for heats in [5, 12] {
        let found = evidence(&field, heats, 0..500, &Settings::default());
        let wrong = found.false_differences.rate();
        assert!(wrong <= 0.05 + 2.0 * error(500), "{heats} heats: {wrong}");
    }
}

/// What no statistics can know: a kind of process that a session hardly ever saw. This is stated in
/// docs/statistics.md.
#[test]
fn few_heats_do_not_show_a_rare_kind_of_process() {
    let mut field = equal(4, Disturbances::disturbed());
    field.members[3].processes = Processes::two_modes();
    let covered = |heats| {
        let found = evidence(&field, heats, 0..300, &Settings::default());
        found.pairs.0.rate()
    };
    assert!(covered(5) < 0.85);
    assert!(covered(30) > 0.88);
}

/// An expectation that is a mean over all members made the others' intervals 1.5 times as wide, and the unstable one's own
/// intervals held the truth in 88 to 90 %.
#[test]
fn an_unstable_member_widens_no_interval_of_others() {
    let found = |change: &dyn Fn(&mut Member)| {
        let mut field = Field::measured(&[1.0; 6]);
        field.members.last_mut().into_iter().for_each(change);
        evidence(&field, 8, 0..300, &Settings::default())
    };
    let alike = found(&|_| ()).half_widths.others;
    let unstable = found(&|member| member.processes = Processes::Alike(0.15));
    let of_two_kinds = found(&|member| member.processes = Processes::two_modes());
    for odd in [&unstable, &of_two_kinds] {
        let others = odd.half_widths.others;
        assert!(others < 1.2 * alike, "{others} and {alike}");
        assert!(
            odd.false_differences.rate() <= 0.05 + 2.0 * error(300),
            "{odd:?}"
        );
    }
    assert!(unstable.pairs.0.rate() > 0.9, "{unstable:?}");
}

/// Statements of a ranking hold together although members are as unlike as they can be, and 18 are many.
#[test]
fn what_a_ranking_says_holds_together() {
    for (name, field) in unlike_cases() {
        if name.contains("reacts") {
            // Their heats are not independent (docs/statistics.md, "Limits").
            continue;
        }
        let sessions = if field.members.len() > 10 { 60 } else { 200 };
        let found = evidence(&field, 8, 0..sessions, &Settings::default());
        let most = 0.05 + 2.5 * error(sessions as u32);
        assert!(found.false_differences.rate() <= most, "{name}: {found:?}");
        assert!(found.false_dead_heats.rate() <= most, "{name}: {found:?}");
    }
}

/// With 18 members, the lead of one is known better than by Holm's procedure over all pairs, which made it ±7.3 %.
#[test]
fn a_leader_is_compared_with_and_not_everybody_with_everybody() {
    let mut field = Field::measured(&[1.0; 18]);
    field.members[0].speed = 1.3;
    let found = evidence(&field, 8, 0..40, &Settings::default());
    assert!(found.half_widths.best < 0.064, "{found:?}");
    assert!(found.best.rate() > 0.9, "{found:?}");
}
