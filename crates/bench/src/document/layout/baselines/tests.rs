//! What the forest plot shows.

use super::*;

fn beside(ratio: f64, low: f64, high: f64, verdict: Verdict) -> Cell {
    Cell::Beside(Beside {
        ratio,
        interval: Some((low, high)),
        verdict,
    })
}

#[test]
fn what_is_slower_lies_left_of_the_baseline_and_its_interval_around_it() {
    let cells = [
        Cell::Baseline,
        beside(0.8, 0.75, 0.86, Verdict::Slower),
        beside(1.2, 0.9, 1.6, Verdict::Undecided),
    ];
    let layout = Layout::new(&cells, 0.03);
    let at = |row: usize| layout.rows[row].at.unwrap();
    let one = at(0).0;
    assert!(layout.band.0 < one && one == layout.band.1 && one < layout.band.2);
    let (dot, low, high) = at(1);
    assert!(low < dot && dot < high && high < one, "{:?}", layout.rows);
    let (_, low, high) = at(2);
    assert!(low < one && one < high && high < 100.0);
    assert!(layout.ticks.contains(&(one, "1×".to_owned())));
    assert_eq!(layout.rows[1].ratio, "0.80×");
    assert_eq!(layout.rows[1].interval, "0.75–0.86");
}

#[test]
fn open_ends_reach_the_edge_and_are_said_in_words() {
    let cells = [
        Cell::Baseline,
        beside(0.5, 0.4, f64::INFINITY, Verdict::Undecided),
        beside(0.9, 0.0, 0.95, Verdict::Slower),
        beside(0.9, 0.0, f64::INFINITY, Verdict::Undecided),
        Cell::Nothing,
    ];
    let layout = Layout::new(&cells, 0.03);
    let words: Vec<&str> = layout
        .rows
        .iter()
        .map(|row| row.interval.as_str())
        .collect();
    assert_eq!(words, ["baseline", "≥ 0.40", "≤ 0.950", "–", ""]);
    assert_eq!(layout.rows[1].at.unwrap().2, 100.0);
    assert_eq!(layout.rows[2].at.unwrap().1, 0.0);
    assert_eq!(layout.rows[4].at, None);
}

#[test]
fn a_single_wide_interval_does_not_press_the_others_together() {
    let close = beside(0.95, 0.93, 0.97, Verdict::Slower);
    let alone = Layout::new(&[Cell::Baseline, close], 0.03);
    let wide = beside(0.9, 0.001, 900.0, Verdict::Undecided);
    let both = Layout::new(&[Cell::Baseline, close, wide], 0.03);
    let length = |layout: &Layout| {
        let (_, low, high) = layout.rows[1].at.unwrap();
        high - low
    };
    assert!(length(&both) > length(&alone) / 12.0);
    assert_eq!(both.rows[2].interval, "0.00100–900");
}

#[test]
fn a_far_row_does_not_press_near_ones_together_but_stands_at_the_edge() {
    let close = beside(0.95, 0.93, 0.97, Verdict::Slower);
    let far = beside(0.01, 0.009, 0.011, Verdict::Slower);
    let alone = Layout::new(&[Cell::Baseline, close, close], 0.03);
    let both = Layout::new(&[Cell::Baseline, close, close, far], 0.03);
    assert_eq!(alone.rows[1].at, both.rows[1].at);
    assert_eq!(
        (both.rows[3].at, both.rows[3].kind),
        (Some((0.0, 0.0, 0.0)), "beyond")
    );
    assert_eq!(both.rows[3].ratio, "0.010×");
    // If most are far, they are what there is to see.
    let most = Layout::new(&[Cell::Baseline, close, far, far], 0.03);
    assert!(most.rows.iter().all(|row| row.kind != "beyond"));
}

#[test]
fn a_row_is_drawn_with_its_kind_and_words() {
    let cells = [Cell::Baseline, beside(0.8, 0.75, 0.86, Verdict::Slower)];
    let drawn = Baselines {
        title: "as",
        names: ["<a>", "b"].map(str::to_owned).to_vec(),
        layouts: vec![Layout::new(&cells, 0.03); 2],
    };
    let cell = drawn.cell(1);
    assert!(
        cell.starts_with("<span class=\"beside differs\">"),
        "{cell}"
    );
    assert!(cell.contains("<b>0.80×</b>") && cell.contains(">0.75–0.86</span>"));
    let head = drawn.head();
    assert_eq!(head.matches("<text").count(), TICKS);
    assert!(head.contains("<option>&lt;a&gt;</option>"), "{head}");
}

#[test]
fn ticks_have_round_labels() {
    for (tick, label) in [
        (1.0, "1×"),
        (0.1 + 0.2, "0.3×"),
        (20.0, "20×"),
        (0.025, "0.025×"),
    ] {
        assert_eq!(tick_label(tick), label);
    }
}
