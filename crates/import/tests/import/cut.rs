//! Reports that end too early: whatever is still read is as in the whole one.

use deadheat_import::import;
use deadheat_model::imported::Run;
use proptest::prelude::*;

use crate::support::{file, report, reports, runs};

/// Fails if a run says something that is not in the whole one.
fn is_part_of(part: &Run, whole: &Run, place: &str) {
    let value = |run: &Run| serde_json::to_value((&run.load, &run.figures)).expect("JSON");
    let (part, whole) = (value(part), value(whole));
    for at in ["/0", "/1"] {
        for (name, value) in part
            .pointer(at)
            .and_then(|one| one.as_object())
            .expect("an object")
        {
            let is_unknown = value.is_null() || name == "is_open";
            let expected = whole.pointer(&format!("{at}/{name}"));
            assert!(
                is_unknown || Some(value) == expected,
                "{place}: {name} is {value}, not {expected:?}"
            );
        }
    }
}

fn cut_everywhere(name: &str, text: &str, step: usize) {
    let whole = runs(text);
    for end in (0..text.len()).step_by(step) {
        let read = import(&[(name.to_owned(), text.as_bytes()[..end].to_vec())], None);
        let Ok(read) = read else {
            continue;
        };
        assert!(read.runs.len() <= whole.len(), "{name}, cut at {end}");
        for (part, whole) in read.runs.iter().zip(&whole) {
            is_part_of(part, whole, &format!("{name}, cut at {end}"));
        }
    }
}

#[test]
fn a_cut_at_any_byte_changes_no_figure() {
    for name in reports() {
        cut_everywhere(&name, &report(&name), 1);
    }
    for id in ["go-nim-python", "webstacks-postgres-early"] {
        cut_everywhere(id, &file(&format!("published/{id}.md")), 7);
    }
}

proptest! {
    /// Lines of all reports in any order: an error, or reports whose figures are numbers.
    #[test]
    fn no_mixture_of_lines_is_too_much(picked in prop::collection::vec((0_usize..30, 0_usize..60), 0..60)) {
        let names = reports();
        let lines: Vec<Vec<String>> =
            names.iter().map(|name| report(name).lines().map(str::to_owned).collect()).collect();
        let text: String = picked
            .iter()
            .map(|(report, line)| {
                let report = &lines[report % lines.len()];
                format!("{}\n", report[line % report.len()])
            })
            .collect();
        if let Ok(read) = import(&[("mixture".to_owned(), text.into_bytes())], None) {
            for run in read.runs {
                prop_assert!(run.figures.requests_per_second.is_none_or(|rate| rate > 0.0));
            }
        }
    }
}
