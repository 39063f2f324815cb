//! Pages, in `target/tmp/look`: for people (`cargo test --workspace --test formats -- --ignored look`, then
//! open them), and for the tests in a browser (`crates/cli/tests/browser`).

use std::{fs, io::ErrorKind, path::Path};

use deadheat_bench::{document as report, document::view::StandingsView};
use deadheat_document::html::Contents;
use deadheat_loadtool::document as load;

use crate::{capacity, load_fixture, standings};

#[test]
#[ignore = "writes pages for people and for the tests in a browser"]
fn look() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("look");
    // The page of a case that is no more would be looked at for ever.
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => panic!("{folder:?}: {error}"),
        _ => fs::create_dir_all(&folder).unwrap(),
    }
    for case in standings::cases::all() {
        let view = case.view();
        let data = [
            report::json(&case.record, &case.standings).unwrap(),
            report::csv(&view),
        ];
        let page = report::html(&view, Some(&contents(&data))).unwrap();
        write(&folder, &format!("heats-{}", case.name), &page, &data);
    }
    let (record, found) = standings::budgets::budgets();
    let page = report::html(&StandingsView::new(&record, &found), None).unwrap();
    fs::write(folder.join("heats-budgets.html"), page).unwrap();
    for (name, record) in load_fixture::all() {
        let analysis = deadheat_loadtool::analysis::analyse(&record);
        let data = [
            load::json(&record, &analysis).unwrap(),
            load::csv(&record.intervals),
        ];
        let page = load::html(&record, &analysis).unwrap();
        write(&folder, &format!("load-{name}"), &page, &data);
    }
    for (name, record) in capacity::all() {
        let analysis = deadheat_stats::capacity::analyse(&record);
        let page = deadheat_loadtool::find_rate::document::html(&record, &analysis).unwrap();
        fs::write(folder.join(format!("rate-{name}.html")), page).unwrap();
    }
}

fn contents(data: &[String; 2]) -> Contents<'_> {
    let [json, csv] = data;
    Contents { json, csv }
}

/// A page, and beside it the data that is in it.
fn write(folder: &Path, name: &str, page: &str, data: &[String; 2]) {
    let [json, csv] = data;
    for (ending, text) in [("html", page), ("json", json), ("csv", csv)] {
        fs::write(folder.join(format!("{name}.{ending}")), text).unwrap();
    }
}
