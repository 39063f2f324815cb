//! Pages, in `target/tmp/look`: for people (`cargo test --workspace --test formats -- --ignored look`, then
//! open them), and for the tests in a browser (`crates/cli/tests/browser`).

use std::{fs, io::ErrorKind, path::Path};

use deadheat_bench::{document as report, document::view::StandingsView};
use deadheat_compare::site::{SiteArgs, site};
use deadheat_document::html::Contents;
use deadheat_loadtool::document as load;
use deadheat_model::{
    heats::{JournalEntry, SessionRecord},
    session::{FoundVersion, TargetState},
};
use deadheat_simulation::Recorded;
use deadheat_stats::steering;

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

/// A site of simulated sessions: usual ones, one of many stacks, one of hostile texts, two without figures, and one
/// with other speeds.
fn write_site(folder: &Path) {
    let sessions = folder.join("sessions");
    let session = |id: &str, day: u32, stacks: usize, change: &dyn Fn(&mut SessionRecord)| {
        let speed = |place: usize| match (id, place) {
            ("changed", 0) => 0.3,
            ("changed", _) => 2.0 * 0.97_f64.powi(place as i32),
            _ => 0.97_f64.powi(place as i32),
        };
        let speeds: Vec<f64> = (0..stacks).map(speed).collect();
        let mut plan = Recorded::quiet(&speeds);
        plan.workloads = ["plaintext", "users"].map(str::to_owned).to_vec();
        plan.looks = vec![8];
        plan.until_decided = false;
        plan.field.rounds = 5;
        let mut record = plan.run(1, &mut steering::next);
        record.header.id = id.to_owned();
        record.header.started = format!("2026-03-{day:02}T10:00:00Z");
        for (place, target) in record.header.targets.iter_mut().enumerate() {
            target.language = ["Go", "Rust", "Java"][place % 3].to_owned();
            target.versions = vec![version("1.25")];
        }
        change(&mut record);
        write_session(&sessions.join(id), &record);
    };
    session("usual", 1, 4, &|_| {});
    session("usual-again", 2, 4, &|record| {
        record.header.targets[0].versions = vec![version("1.26")];
        record.header.machine.kernel = "7.0".to_owned();
    });
    session("many", 3, 30, &|_| {});
    session("hostile", 4, 3, &|record| {
        let text = standings::cases::HOSTILE.join(" ");
        record.header.machine.cpu_model = text.clone();
        record.header.commit = Some(text.clone());
        for target in &mut record.header.targets {
            target.language = text.clone();
            target.framework = text.clone();
            target.limits = vec![text.clone(), "x".repeat(300)];
            target.versions = vec![version(&text)];
        }
    });
    session("all-unavailable", 6, 3, &|record| {
        record.heats.clear();
        for target in &mut record.header.targets {
            target.state = TargetState::Unavailable {
                reason: standings::cases::HOSTILE[1].to_owned(),
                remedy: "x".repeat(300),
            };
        }
        record.header.plan.loads.clear();
    });
    // The session before on the same kind of machine is "many": "hostile" is of another one. The null server changes,
    // too.
    session("changed", 7, 4, &|_| {});
    session("no-heats", 8, 3, &|record| record.heats.clear());
    let args = SiteArgs::new(vec![sessions], folder.join("site"));
    site(&args).unwrap();
}

fn version(version: &str) -> FoundVersion {
    FoundVersion {
        name: "toolchain".to_owned(),
        version: version.to_owned(),
    }
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
