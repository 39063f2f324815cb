//! The tables of docs/statistics.md: half widths, how often a difference or a dead heat is found, and how often the
//! verdicts are wrong.

use std::ops::Range;

use deadheat_stats::heats::{PairVerdict, Settings};

use super::{
    Disturbances, Field, Member, Processes,
    evidence::{HalfWidths, half_widths, verdicts},
};

/// True ratios of B to A in the table of gates.
pub const GATE_RATIOS: [f64; 6] = [1.0, 0.98, 0.97, 0.95, 0.93, 0.90];
/// The bound of the table of gates: 3 %.
pub const GATE_BOUND: f64 = 0.03;
/// Heats at most, in the table of gates: about what five minutes, the default, have room for with commands, and with stacks
/// that need no long warm-up; and three times as long.
pub const GATE_MOST_HEATS: [u32; 3] = [10, 24, 72];

/// Numbers of members, a part of the table for each.
pub const MEMBERS: [usize; 2] = [2, 6];
/// Heats, in the table.
pub const HEATS: [usize; 7] = [2, 3, 5, 8, 12, 20, 40];
/// By how much the first member is faster than the others, in the table. 0 asks for a dead heat.
pub const EFFECTS: [f64; 4] = [0.03, 0.05, 0.10, 0.0];
/// Sessions behind each figure of the table.
pub const SESSIONS: u64 = 1_000;

/// Heats of the sessions of [`unlike_cases`].
pub const UNLIKE_HEATS: [usize; 2] = [5, 8];

/// Members of which the first is faster than the others by `effect`.
pub fn field(members: usize, effect: f64) -> Field {
    let mut speeds = vec![1.0; members];
    speeds[0] += effect;
    Field::measured(&speeds)
}

/// The median half widths of the 95 % intervals, after each of [`HEATS`].
pub fn precision(members: usize, seeds: Range<u64>) -> Vec<HalfWidths> {
    half_widths(&field(members, 0.0), &HEATS, seeds, &Settings::default())
}

/// The share (0 to 1) of sessions that find the first member faster than the second by `effect`, or, where that is 0,
/// the two in a dead heat, after each of [`HEATS`].
pub fn found(members: usize, effect: f64, seeds: Range<u64>) -> Vec<f64> {
    let verdict = if effect > 0.0 {
        PairVerdict::Faster
    } else {
        PairVerdict::DeadHeat
    };
    let field = field(members, effect);
    let found = verdicts(&field, &HEATS, verdict, seeds, &Settings::default());
    found.into_iter().map(|share| share.rate()).collect()
}

/// Sessions whose errors are counted: a name, a field, and its heats.
pub fn cases() -> Vec<(&'static str, Field, usize)> {
    let equal = |members: usize, disturbances: Disturbances| Field {
        capacity: members.min(6),
        disturbances,
        ..Field::measured(&vec![1.0; members])
    };
    let full = |members| equal(members, Disturbances::disturbed());
    let incomplete = |members| equal(members, Disturbances::incomplete());
    // A session without options, where starting takes most of the time.
    let equal_of_eleven = Field::measured(&[1.0; 11]);
    let margin = 1.0 + Settings::default().margin;
    let halves: Vec<f64> = (0..6).map(|member| margin.powi(member % 2)).collect();
    let row: Vec<f64> = (0..6).map(|member| margin.powi(member)).collect();
    let mut modes = full(6);
    modes.members[5].processes = Processes::two_modes();
    vec![
        ("2 equal members", full(2), 3),
        ("2 equal members", full(2), 8),
        ("2 equal members", full(2), 15),
        ("4 equal members", full(4), 3),
        ("6 equal members", full(6), 2),
        ("6 equal members", full(6), 3),
        ("6 equal members", full(6), 8),
        ("6 equal members", full(6), 15),
        ("2, incomplete", incomplete(2), 8),
        ("6, incomplete", incomplete(6), 3),
        ("6, incomplete", incomplete(6), 8),
        ("11 equal members", equal_of_eleven, 2),
        ("10, six in a heat", full(10), 3),
        ("10, six in a heat", full(10), 15),
        ("10, six in a heat, incomplete", incomplete(10), 8),
        ("2, the margin apart", Field::measured(&[margin, 1.0]), 12),
        ("3 and 3, the margin apart", Field::measured(&halves), 20),
        ("6 in a row, the margin apart", Field::measured(&row), 20),
        ("6, one with processes of two kinds", modes.clone(), 5),
        ("6, one with processes of two kinds", modes, 30),
    ]
}

/// Sessions of members that are not alike, whose last member is the odd one: a name, and a field.
pub fn unlike_cases() -> Vec<(&'static str, Field)> {
    let with = |members: usize, change: &dyn Fn(&mut Member)| {
        let mut field = Field::measured(&vec![1.0; members]);
        field.members.last_mut().into_iter().for_each(change);
        field
    };
    let processes = |spread| move |member: &mut Member| member.processes = Processes::Alike(spread);
    let sensitivity = |times| move |member: &mut Member| member.sensitivity = times;
    let mut mixed = Field::measured(&[1.0; 8]);
    let spreads = [0.0, 0.01, 0.02, 0.04, 0.0, 0.02, 0.08, 0.15];
    for (member, spread) in mixed.members.iter_mut().zip(spreads) {
        processes(spread)(member);
    }
    let mut leader = Field::measured(&[1.0; 18]);
    leader.members[0].speed = 1.3;
    vec![
        ("6 alike", with(6, &|_| ())),
        (
            "6, processes of one differ by 5 %",
            with(6, &processes(0.05)),
        ),
        (
            "6, processes of one differ by 15 %",
            with(6, &processes(0.15)),
        ),
        (
            "6, one has processes of two kinds",
            with(6, &|member| member.processes = Processes::two_modes()),
        ),
        (
            "6, one reacts half as much to the machine",
            with(6, &sensitivity(0.5)),
        ),
        (
            "6, one reacts 1.5 times as much",
            with(6, &sensitivity(1.5)),
        ),
        (
            "3, processes of one differ by 15 %",
            with(3, &processes(0.15)),
        ),
        ("8, processes differ by 0 to 15 %", mixed),
        ("18 alike", with(18, &|_| ())),
        ("18, one leads by 30 %", leader),
        (
            "18, processes of one differ by 15 %",
            with(18, &processes(0.15)),
        ),
    ]
}

/// Sessions that are looked at while they run: a name, a field, and its heats at most.
pub fn looked_cases() -> [(&'static str, Field, u32); 2] {
    let margin = 1.0 + Settings::default().margin;
    let row: Vec<f64> = (0..4).map(|member| margin.powi(member)).collect();
    let equal = Field {
        capacity: 6,
        disturbances: Disturbances::incomplete(),
        ..Field::measured(&[1.0; 8])
    };
    [
        ("looks: 8 equal, six in a heat, incomplete", equal, 20),
        (
            "looks: 4 in a row, the margin apart",
            Field::measured(&row),
            28,
        ),
    ]
}
