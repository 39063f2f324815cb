//! The report for programs. Whether it satisfies its schema is asked in [`crate::schema`].

use deadheat_report::standings;
use serde_json::Value;

use super::cases;

#[test]
fn every_report_has_what_is_shown() {
    for case in cases::all() {
        let text = standings::json(&case.record, &case.standings).expect("a report");
        let report: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(report["schema"], 2);
        let view = case.view();
        for (shown, written) in view.loads.iter().zip(report["answers"].as_array().unwrap()) {
            assert_eq!(written["answer"], shown.answer());
        }
        assert_eq!(
            report["warnings"].as_array().unwrap().len(),
            view.warnings.len()
        );
    }
}
