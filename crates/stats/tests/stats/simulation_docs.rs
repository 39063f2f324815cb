//! The tables of docs/blocks.md, "How many blocks?", against the simulation that made them: when the analysis
//! changes what it finds, they change with it (`cargo xtask power`).

use std::{fs, path::Path};

use deadheat_simulation::{
    Machine,
    power::{self, BLOCKS, EFFECTS, NOISES, SESSIONS, STACKS},
};
use deadheat_stats::interval::t_quantile;

/// A row's cells, without what surrounds them.
fn cells(line: &str) -> Vec<&str> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(str::trim).collect()
}

/// The section's tables, each as its rows without the line below the header.
fn tables() -> Vec<Vec<Vec<String>>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/blocks.md");
    let document = fs::read_to_string(&file).unwrap();
    let section = document.split("\n## ");
    let section = section.filter(|section| section.starts_with("How many blocks?"));
    let section = section.last().expect("docs/blocks.md has the section");
    let mut tables: Vec<Vec<Vec<String>>> = Vec::new();
    let mut inside = false;
    for line in section.lines() {
        let is_row = line.starts_with('|');
        if is_row && !inside {
            tables.push(Vec::new());
        }
        inside = is_row;
        if is_row && !line.starts_with("| ---") {
            let row = cells(line).into_iter().map(str::to_owned).collect();
            tables.last_mut().unwrap().push(row);
        }
    }
    tables
}

/// The share of sessions that the table of so many stacks gives, in per cent.
fn in_document(stacks: usize, noise: f64, effect: f64, blocks: u32) -> f64 {
    let table = STACKS.iter().position(|of| *of == stacks).unwrap();
    let table = &tables()[table];
    let per_cent = |cell: &str| -> f64 { cell.trim_end_matches(" %").parse().unwrap() };
    let near = |cell: &str, share: f64| (per_cent(cell) - 100.0 * share).abs() < 1e-9;
    let mut rows = table[1..].iter();
    let row = rows.find(|row| near(&row[0], noise) && near(&row[1], effect));
    let column = table[0]
        .iter()
        .position(|head| *head == format!("{blocks} blocks"));
    per_cent(&row.expect("a row of that noise and effect")[column.expect("such a column")])
}

fn simulated(
    stacks: usize,
    noise: f64,
    effect: f64,
    blocks: u32,
    seeds: std::ops::Range<u64>,
) -> f64 {
    power::found(effect, stacks, Machine::drifting(noise), blocks, seeds).rate()
}

#[test]
fn the_power_tables_are_whole() {
    let tables = tables();
    for (table, stacks) in tables.iter().zip(STACKS) {
        assert_eq!(table[0][0], format!("{stacks} stacks: noise"));
        assert_eq!(table.len(), 1 + NOISES.len() * EFFECTS.len());
        assert!(table.iter().all(|row| row.len() == 2 + BLOCKS.len()));
        for noise in NOISES {
            for effect in EFFECTS {
                for blocks in BLOCKS {
                    let share = in_document(stacks, noise, effect, blocks);
                    assert!((0.0..=100.0).contains(&share));
                }
            }
        }
    }
}

/// The same seeds give the same sessions. A machine's own logarithm may move one of them across a threshold.
#[test]
fn cells_of_the_power_tables_are_found_again() {
    let cases = [
        (2, 0.01, 0.02, 5),
        (2, 0.02, 0.03, 7),
        (2, 0.02, 0.05, 10),
        (8, 0.02, 0.05, 7),
    ];
    for (stacks, noise, effect, blocks) in cases {
        let written = in_document(stacks, noise, effect, blocks);
        let found = 100.0 * simulated(stacks, noise, effect, blocks, 0..u64::from(SESSIONS));
        assert!(
            (found - written).abs() <= 0.7,
            "{stacks} stacks, {noise}, {effect}, {blocks} blocks: {written} % is written, {found} % found; \
             `cargo xtask power` makes the tables"
        );
    }
}

/// Other seeds agree within the error of sampling, so that the tables do not hang on theirs.
#[test]
fn other_seeds_agree_with_the_power_tables() {
    const FRESH: u32 = 300;
    let cases = [
        (2, 0.01, 0.015, 10),
        (2, 0.01, 0.05, 3),
        (2, 0.02, 0.02, 15),
        (2, 0.02, 0.10, 3),
        (2, 0.05, 0.10, 5),
        (2, 0.05, 0.05, 20),
        (8, 0.01, 0.03, 7),
        (8, 0.02, 0.05, 10),
    ];
    for (stacks, noise, effect, blocks) in cases {
        let written = in_document(stacks, noise, effect, blocks) / 100.0;
        let first = 1_000_000;
        let found = simulated(
            stacks,
            noise,
            effect,
            blocks,
            first..first + u64::from(FRESH),
        );
        let variance =
            written * (1.0 - written) * (1.0 / f64::from(FRESH) + 1.0 / f64::from(SESSIONS));
        // Half a per cent is the rounding.
        let bound = 0.005 + 4.0 * variance.sqrt();
        assert!(
            (found - written).abs() <= bound,
            "{stacks} stacks, {noise}, {effect}, {blocks} blocks: {written} is written, {found} found"
        );
    }
}

#[test]
fn the_divisors_for_ones_own_noise_are_right() {
    let tables = tables();
    let mut tables = tables.iter();
    let table = tables.find(|table| table[0][0] == "blocks").unwrap();
    for (column, blocks) in BLOCKS.into_iter().enumerate() {
        assert_eq!(table[0][column + 1], blocks.to_string());
        let divisor = t_quantile(0.975, blocks as usize - 1) * (2.0 / f64::from(blocks)).sqrt();
        assert_eq!(table[1][column + 1], format!("{divisor:.2}"));
    }
}
