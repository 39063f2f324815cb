//! The report for programs. Whether it satisfies its schema is asked in [`crate::schema`].

use deadheat_bench::{
    document as standings,
    document::{view::LoadView, words},
};
use serde_json::{Value, json};

use super::cases;

#[test]
fn every_report_has_what_is_shown() {
    for case in cases::all() {
        let text = standings::json(&case.record, &case.standings).expect("a report");
        let report: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(report["schema"], 3);
        let view = case.view();
        for (shown, written) in view.loads.iter().zip(report["answers"].as_array().unwrap()) {
            assert_eq!(written["answer"], shown.answer());
            assert_eq!(written["notes"], json!(words::load_notes(shown)));
            let rows = written["rows"].as_array().unwrap();
            assert_eq!(rows.len(), shown.rows().count());
            for (row, written) in shown.rows().zip(rows) {
                assert_eq!(written["notes"], json!(words::notes(row)));
            }
        }
        let tables = report["standings"]["loads"].as_array().unwrap().iter();
        let tables = tables.flat_map(|load| load["tables"].as_array().unwrap());
        let written = tables.flat_map(|table| table["rows"].as_array().unwrap());
        let shown = view.loads.iter().flat_map(LoadView::rows);
        for (written, shown) in written.zip(shown) {
            assert_eq!(written["half_width"].as_f64(), shown.half_width);
        }
        assert_eq!(
            report["warnings"].as_array().unwrap().len(),
            view.warnings.len()
        );
    }
}
