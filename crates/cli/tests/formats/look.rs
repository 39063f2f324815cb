//! Pages, in `target/tmp/look`: for people (`cargo test --workspace --test formats -- --ignored look`, then
//! open them), and for the tests in a browser (`crates/cli/tests/browser`).

use std::{fs, io::ErrorKind, path::Path};

use deadheat_bench::{document as report, document::view::StandingsView};
use deadheat_compare::site::{SiteArgs, site};
use deadheat_document::html::Contents;
use deadheat_loadtool::document as load;
use deadheat_model::heats::{JournalEntry, SessionRecord};

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
    write_site(&folder);
}

/// A site of all sessions, one a day. Their cases are not those of one machine and its stacks, so that each is another one.
fn write_site(folder: &Path) {
    let sessions = folder.join("sessions");
    for (day, case) in standings::cases::all().into_iter().enumerate() {
        let mut record = case.record.clone();
        record.header.id = case.name.to_owned();
        record.header.started = format!("2026-03-{:02}T10:00:00Z", day + 1);
        write_session(&sessions.join(case.name), &record);
        if case.name == "usual" {
            record.header.id = "usual-again".to_owned();
            record.header.started = "2026-04-01T10:00:00Z".to_owned();
            for version in record
                .header
                .targets
                .iter_mut()
                .flat_map(|one| &mut one.versions)
            {
                version.version += ".1";
            }
            write_session(&sessions.join("usual-again"), &record);
        }
    }
    let args = SiteArgs::new(vec![sessions], folder.join("site"));
    site(&args).unwrap();
}

fn write_session(folder: &Path, record: &SessionRecord) {
    fs::create_dir_all(folder).unwrap();
    let header = serde_json::to_string(&record.header).unwrap();
    fs::write(folder.join("session.json"), header).unwrap();
    let heats = record.heats.iter().cloned();
    let heats = heats.map(|heat| JournalEntry::Heat(Box::new(heat)));
    let at = record.header.started.clone();
    let end = record.end.map(|reason| JournalEntry::End { reason, at });
    let line = |entry| serde_json::to_string(&entry).unwrap() + "\n";
    let lines: String = heats.chain(end).map(line).collect();
    fs::write(folder.join("heats.jsonl"), lines).unwrap();
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
