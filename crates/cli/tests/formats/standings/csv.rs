//! The table for programs.

use std::collections::{BTreeMap, BTreeSet};

use deadheat_bench::document as standings;

use super::{
    cases::{self, Case},
    views,
};
use crate::schema::{closed, published, rows, satisfies};

/// The table's rows by the names of its columns.
fn table(case: &Case) -> Vec<BTreeMap<String, String>> {
    let text = standings::csv(&case.view());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        let cells = heads.iter().zip(record.iter());
        cells
            .map(|(head, cell)| (head.to_owned(), cell.to_owned()))
            .collect()
    };
    reader
        .records()
        .map(|record| row(record.unwrap()))
        .collect()
}

#[test]
fn a_row_has_a_metric_with_its_place_and_its_distance_to_the_best() {
    let found = table(&cases::named("few"));
    let of = |target: &str, metric: &str| {
        let mut rows = found.iter();
        let is_it =
            |row: &&BTreeMap<String, String>| row["target"] == target && row["metric"] == metric;
        rows.find(is_it)
            .unwrap_or_else(|| panic!("{target} {metric}"))
            .clone()
    };
    let best = of("nginx-static", "throughput");
    let expected = [
        ("workload", "plaintext"),
        ("point", "c50"),
        ("connections", "50"),
        ("loop", "closed"),
        ("outcome", "measured"),
        ("unit", "requests/s"),
        ("value", "116400"),
        ("is_bound", "false"),
        ("rank_best", "1"),
        ("rank_worst", "2"),
        ("limit", "server"),
        ("best_ratio", ""),
        ("best_verdict", ""),
    ];
    for (column, value) in expected {
        assert_eq!(best[column], value, "{column}");
    }
    // Half of its processes had served another load before.
    let heats = |metric| of("nginx-static", metric)["heats"].parse::<u32>().unwrap();
    assert_eq!(
        ["throughput", "memory_mean", "memory_peak"].map(heats),
        [14, 7, 7]
    );
    let axum = of("rust-axum", "throughput");
    assert_eq!(axum["best_verdict"], "better");
    let [low, ratio, high] = ["best_ratio_low", "best_ratio", "best_ratio_high"]
        .map(|column| axum[column].parse::<f64>().unwrap());
    assert!(low < ratio && ratio < high && (ratio - 116.4 / 101.3).abs() < 1e-9);
    for (row, expected) in [(&best, 0.04), (&axum, 0.04)] {
        let half_width: f64 = row["half_width"].parse().unwrap();
        assert!((half_width - expected).abs() < 1e-9, "{half_width}");
    }
    let plain = |metric: &str| of("rust-axum", metric)["value"].clone();
    assert_eq!(plain("slices"), "840");
    assert_eq!(plain("discarded_slices"), "1");
    assert_eq!(plain("unsteady_heats"), "0");
    assert_eq!(plain("reconnected"), "0");
    assert_eq!(of("~null-server", "throughput")["value"], "180000");
    let twin = of("~aa-twin", "twin_ratio");
    assert_eq!(
        (twin["outcome"].as_str(), twin["heats"].as_str()),
        ("control", "5")
    );
    let [low, ratio, high] =
        ["value_low", "value", "value_high"].map(|column| twin[column].parse::<f64>().unwrap());
    assert!(low < ratio && ratio == 1.004 && ratio < high);
    let cost: f64 = of("rust-axum", "cpu_per_request")["value"].parse().unwrap();
    assert!((cost - 9.4e-6).abs() < 1e-12);
}

#[test]
fn stacks_without_a_figure_have_a_row() {
    let found = table(&cases::named("usual"));
    let is_absent = |target: &str, outcome: &str| {
        found
            .iter()
            .any(|row| row["target"] == target && row["outcome"] == outcome)
    };
    assert!(is_absent("php-laravel", "unavailable"));
    assert!(is_absent("nim-mummy", "failed"));
}

#[test]
fn an_open_end_is_empty() {
    for row in table(&cases::named("all-bounds")) {
        assert!(!row["best_ratio_high"].contains("inf"));
        if row["metric"] == "throughput" && row["outcome"] == "measured" {
            assert_eq!(
                (row["is_bound"].as_str(), row["best_ratio_low"].as_str()),
                ("true", "")
            );
        }
    }
}

#[test]
fn every_session_is_a_table_of_single_lines() {
    for case in cases::all() {
        let text = standings::csv(&case.view());
        assert_eq!(
            text.lines().count(),
            table(&case).len() + 1,
            "{}",
            case.name
        );
        assert!(!text.replace("\r\n", "").contains(|c: char| c.is_control()));
    }
}

#[test]
fn columns_and_metrics_are_described() {
    let schema = published("report-csv");
    let closed = closed(schema.clone());
    let mut used = BTreeSet::new();
    for (name, view) in views() {
        for row in rows(&standings::csv(&view), &schema) {
            satisfies(&closed, name, &row);
            used.insert(row["metric"].as_str().unwrap_or_default().to_owned());
        }
    }
    used.remove("");
    let metrics = schema["$defs"]["Metric"]["oneOf"]
        .as_array()
        .expect("metrics");
    let described: BTreeSet<String> = metrics
        .iter()
        .map(|metric| metric["const"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(described, used);
}
