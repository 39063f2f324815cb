//! Published tables beside what was measured, in every format.

use deadheat_bench::document::{self as standings, html};
use deadheat_document::text::{Charset, Screen};
use deadheat_model::{Cell, RepeatedTable, published::RepeatedRow};
use deadheat_stats::{
    interval::Interval,
    standings::{
        AbsentBecause, Agreement, Bound, MeasuredRatio, MeasuredSide, RowSides, TableSides,
    },
};
use serde_json::json;

use super::cases;

/// A table with all that can be said of a row, and what was measured.
pub fn tables() -> (RepeatedTable, TableSides) {
    let row = |name: &str, target: &str, rate: f64| json!({"name": name, "target": target, "requests-per-second": rate});
    let mut errors = row("D (errors)", "rust-axum", 10_421.03);
    errors["complete"] = 5000.into();
    errors["non-2xx"] = 5000.into();
    let mut first = row("B", "go-b:2cpu", 5366.29);
    first["target-on-one-cpu"] = "python-japronto".into();
    first["connections"] = 200.into();
    let table = json!({
        "id": "users",
        "title": "Ten users",
        "workload": "users",
        "baseline": "A (async)",
        "baseline-reason": "D, the fastest, answered nothing but errors",
        "remarks": ["403 bytes an answer"],
        "load": {
            "command": "ab -n 5000 -c 100 http://localhost/users",
            "requests": 5000, "connections": 100, "http": "1.0", "reuse": "per-request",
        },
        "row": [
            row("A (async)", "rust-actix", 3569.53),
            first,
            row("C (limited)", "nginx-static", 4000.0),
            errors,
            json!({"name": "E", "target": "nim-e", "no-figures": "it did not finish"}),
            row("F", "php-laravel", 39.27),
        ],
    });
    let asked = |target: &str| RepeatedRow::Asked {
        cell: Cell {
            target: target.parse().unwrap(),
            workload: "users".to_owned(),
            point: "c50".to_owned(),
        },
    };
    let left_out = "the stack nim-e does not exist here".to_owned();
    let repeated = RepeatedTable {
        document: "blog".to_owned(),
        title: "Some servers and a database".to_owned(),
        source: "a page of results (blog.md)".to_owned(),
        machine: Some("A laptop of 2014".to_owned()),
        tool: "ab".to_owned(),
        remarks: vec!["one run of each server".to_owned()],
        table: serde_json::from_value(table).unwrap(),
        rows: vec![
            asked("rust-actix"),
            asked("python-japronto"),
            asked("nginx-static"),
            asked("rust-axum"),
            RepeatedRow::LeftOut {
                reason: left_out.clone(),
            },
            asked("php-laravel"),
        ],
    };
    let measured = |per_second, is_bound| MeasuredSide::Measured {
        per_second,
        is_bound,
    };
    let absent = MeasuredSide::Absent {
        because: AbsentBecause::Unavailable,
        reason: "`php` is not on the PATH".to_owned(),
        remedy: Some("deadheat setup --stack php-laravel".to_owned()),
    };
    let sides = [
        (measured(18_700.0, false), None),
        (measured(14_400.0, false), Some((0.77, Bound::Exact))),
        (measured(19_800.0, true), Some((1.06, Bound::AtLeast))),
        (measured(17_200.0, false), Some((0.92, Bound::Exact))),
        (MeasuredSide::LeftOut { reason: left_out }, None),
        (absent, None),
    ];
    let rows = repeated.table.row.iter().zip(&repeated.rows).zip(sides);
    let rows = rows.map(|((row, planned), (measured, ratio))| {
        let rate = row.valid_rate();
        RowSides {
            name: row.name.clone(),
            target: planned
                .cell()
                .map_or(&row.target, |cell| &cell.target)
                .clone(),
            published_per_second: row.requests_per_second,
            published_valid: rate.is_some(),
            published_ratio: rate.map(|rate| rate / 3569.53),
            measured,
            measured_ratio: ratio.map(|(ratio, bound)| MeasuredRatio {
                ratio,
                interval: (bound == Bound::Exact).then_some(Interval {
                    low: ratio - 0.01,
                    high: ratio + 0.01,
                    level: 0.99,
                }),
                bound,
            }),
            agreement: (row.name == "B").then_some(Agreement::Reversed),
        }
    });
    let sides = TableSides {
        document: repeated.document.clone(),
        table: repeated.table.id.clone(),
        baseline: repeated.table.baseline.clone(),
        rows: rows.collect(),
    };
    (repeated, sides)
}

/// Puts `text` wherever a document's own words stand.
pub fn spoil(repeated: &mut RepeatedTable, sides: &mut TableSides, text: &str) {
    let table = &mut repeated.table;
    let row = &mut table.row[1];
    for own in [
        &mut repeated.document,
        &mut repeated.source,
        &mut table.title,
        &mut table.load.command,
        &mut row.name,
        &mut sides.rows[1].name,
    ] {
        *own = text.to_owned();
    }
    repeated.machine = Some(text.to_owned());
    repeated.remarks = vec![text.to_owned()];
    row.remarks = vec![text.to_owned()];
    row.target_reason = Some(text.to_owned());
    sides.rows[5].measured = MeasuredSide::LeftOut {
        reason: text.to_owned(),
    };
}

#[test]
fn a_table_at_80_columns() {
    let screen = Screen {
        width: 80,
        colour: false,
        charset: Charset::Unicode,
    };
    let text = standings::document(&cases::named("published").view()).text(screen);
    let start = text.find("Published and measured").expect("the table");
    let end = text.find("Not measured\n").expect("what follows it");
    insta::assert_snapshot!(&text[start..end]);
}

#[test]
fn every_format_has_both_sides() {
    let case = cases::named("published");
    let view = case.view();
    let page = html(&view, None).unwrap();
    for format in [page, standings::document(&view).markdown()] {
        for text in [
            "3,570",
            "14,400",
            "≥ 19,800",
            "≥ 1.06",
            "0.760–0.780",
            "reversed",
            "left out",
            "unavailable",
        ] {
            assert!(format.contains(text), "{text}: {format}");
        }
    }
    let json = standings::json(&case.record, &case.standings).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let row = &json["standings"]["published"][0]["rows"][1];
    assert_eq!(row["measured_ratio"]["ratio"], 0.77);
    assert_eq!(row["agreement"], "reversed");
    let csv = standings::csv(&view);
    for fields in [
        "published_throughput,requests/s,5366.29",
        "published_ratio,ratio,1.50",
        "measured_ratio,ratio,0.77,0.76,0.78,false",
        "measured_ratio,ratio,1.06,,,true",
    ] {
        assert!(csv.contains(fields), "{fields}: {csv}");
    }
    let none = standings::document(&cases::named("few").view()).markdown();
    assert!(!none.contains("Published and measured"), "{none}");
}
