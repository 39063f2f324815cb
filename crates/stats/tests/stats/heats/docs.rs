//! The table of docs/statistics.md against the simulation that made it (`cargo xtask power`).

use std::{fs, path::Path};

use deadheat_simulation::heats::power::{EFFECTS, HEATS, MEMBERS, SESSIONS, found, precision};

/// The table's rows, each as its cells.
fn table() -> Vec<Vec<String>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/statistics.md");
    let document = fs::read_to_string(&file).unwrap();
    let lines = document.lines();
    let mut rows = lines.skip_while(|line| !line.starts_with("| members |"));
    let rows = rows.by_ref().take_while(|line| line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim_matches('|').split('|');
        inner.map(|cell| cell.trim().to_owned()).collect()
    };
    rows.filter(|row| !row.starts_with("| ---"))
        .map(cells)
        .collect()
}

/// A figure such as "±9.6 %" or "72 %", as a share.
fn share(cell: &str) -> f64 {
    let digits = cell.trim_start_matches('±').trim_end_matches(" %");
    digits.parse::<f64>().expect(cell) / 100.0
}

/// Rows of half widths: of a pair alone, and of a member beside the best.
const WIDTHS: usize = 2;

/// The row of so many members, of which the first is faster by `effect`.
fn effect_row(members: usize, effect: f64) -> Vec<f64> {
    row(
        members,
        WIDTHS + EFFECTS.iter().position(|of| *of == effect).unwrap(),
    )
}

/// The row at a place among those of so many members.
fn row(members: usize, place: usize) -> Vec<f64> {
    let rows_each = WIDTHS + EFFECTS.len();
    let part = MEMBERS.iter().position(|of| *of == members).unwrap();
    let row = &table()[1 + part * rows_each + place];
    assert_eq!(row[0], members.to_string());
    row[2..].iter().map(|cell| share(cell)).collect()
}

#[test]
fn the_table_is_whole() {
    let table = table();
    assert_eq!(table.len(), 1 + MEMBERS.len() * (WIDTHS + EFFECTS.len()));
    for (head, heats) in table[0][2..].iter().zip(HEATS) {
        assert_eq!(*head, format!("{heats} heats"));
    }
    for members in MEMBERS {
        for place in 0..WIDTHS + EFFECTS.len() {
            assert_eq!(row(members, place).len(), HEATS.len());
        }
    }
}

/// Other seeds than those of the table agree with it within the error of sampling.
#[test]
fn other_seeds_agree_with_the_table() {
    const FRESH: u64 = 100;
    let seeds = 1_000_000..1_000_000 + FRESH;
    for (members, effect) in [(2, 0.05), (2, 0.0), (6, 0.10)] {
        let fresh = found(members, effect, seeds.clone());
        for ((written, fresh), heats) in effect_row(members, effect).iter().zip(fresh).zip(HEATS) {
            let variance = written * (1.0 - written) * (1.0 / FRESH as f64 + 1.0 / SESSIONS as f64);
            // Half a per cent is the rounding, and a share of 0 or 1 has some error, too.
            let bound = 0.015 + 4.0 * variance.sqrt();
            assert!(
                (fresh - written).abs() <= bound,
                "{members} members, {effect}, {heats} heats: {written} is written, {fresh} found"
            );
        }
    }
    let fresh = precision(6, seeds);
    let alone = fresh.iter().map(|fresh| fresh.pairs).collect();
    let best = fresh.iter().map(|fresh| fresh.best).collect();
    for (place, fresh) in [alone, best].into_iter().enumerate() {
        let fresh: Vec<f64> = fresh;
        for ((written, fresh), heats) in row(6, place).iter().zip(fresh).zip(HEATS) {
            assert!(
                (fresh / written - 1.0).abs() <= 0.1,
                "{heats} heats: ±{written} is written, ±{fresh} found"
            );
        }
    }
}
