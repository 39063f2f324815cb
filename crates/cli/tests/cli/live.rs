//! `deadheat run --live`: the report so far is a page that reloads itself, until the final report replaces it.

use std::{fs, path::Path};

use deadheat_model::heats::EndReason;
use deadheat_runner::session::heats::HEATS_FILE;
use rustix::process::Signal;

use crate::support::{Fake, Root, eventually, recorded::journal_lines};

/// What only a page that reloads itself has.
const RELOADS: &str = "location.reload";

/// The page of the only session, once it has at least this many heats; and its number of heats.
#[track_caller]
fn live_page(root: &Root, heats: usize) -> (String, usize) {
    eventually("a live page with more heats", || {
        let folder = root.sessions().pop()?;
        // The journal is shorter to read than the page, which never has more heats.
        if journal_lines(&folder) < heats {
            return None;
        }
        let page = fs::read_to_string(folder.join("report.html")).ok()?;
        let (_, rest) = page.split_once("<progress value=\"")?;
        let count: usize = rest.split('"').next()?.parse().ok()?;
        (count >= heats).then_some((page, count))
    })
}

/// What is in a page, below the bar.
#[track_caller]
fn main_of(page: &str) -> String {
    let found = page.find("<main").zip(page.rfind("</main>"));
    let (begin, end) = found.unwrap_or_else(|| panic!("no main part in {page}"));
    let main = &page[begin..end];
    // What a live page lacks, and its weight.
    let main = match main.split_once("<section id=\"data\">") {
        None => main.to_owned(),
        Some((before, rest)) => {
            let (_, after) = rest.split_once("</section>\n").expect("an end of the data");
            before.to_owned() + after
        }
    };
    let lines = main
        .lines()
        .filter(|line| !line.starts_with("<p>This page weighs"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The page of a session of which only the first heats are recorded, as its folder would give it.
fn page_after(root: &Root, folder: &Path, heats: usize) -> String {
    let part = root.path().join(format!("results/after-{heats}"));
    fs::create_dir_all(&part).expect("making a folder");
    fs::copy(folder.join("session.json"), part.join("session.json")).expect("copying the header");
    let all = fs::read_to_string(folder.join(HEATS_FILE)).expect("reading the heats");
    let first: String = all.split_inclusive('\n').take(heats).collect();
    fs::write(part.join(HEATS_FILE), first).expect("writing the first heats");
    let ended = root.deadheat(&format!("report {} --format html", part.display()));
    fs::remove_dir_all(&part).expect("removing the folder");
    ended.exits(0).stdout
}

/// Without what tells a session that runs from one that was killed: its state, and a warning, which is counted. The
/// warnings come last.
fn without_state(main: &str) -> String {
    let tells = |line: &&str| {
        // "2 heats of each stack, no A/A check, 7 warnings."
        let is_trust = line.starts_with("<p>")
            && (line.ends_with(" warnings.</p>") || line.ends_with(" 1 warning.</p>"));
        is_trust
            || line.contains("State of the session: ")
            || line.contains("<dt>State</dt>")
            || line.contains("The session was killed")
            || line.is_empty()
    };
    let (mut others, mut warnings, mut is_warning) = (Vec::new(), Vec::new(), false);
    for line in main.lines().filter(|line| !tells(line)) {
        if line.starts_with("<div class=\"alerts\"") {
            is_warning = true;
        } else if is_warning && line == "</div>" {
            is_warning = false;
        } else if is_warning {
            warnings.extend(line.starts_with("<li>").then_some(line));
        } else {
            others.push(line);
        }
    }
    [others, warnings].concat().join("\n")
}

#[test]
fn the_page_has_the_heats_so_far_and_becomes_the_final_report() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let running = root.start_run("--live --heats 500");
    let (page, heats) = live_page(&root, 2);
    assert!(page.contains(RELOADS) && page.contains("still being measured"));
    let folder = root.session_folder();
    running.signal(Signal::INT);
    let ended = running.wait().exits(0).says(&["interrupted"]);
    let alike = [page, page_after(&root, &folder, heats)];
    let alike = alike.map(|page| without_state(&main_of(&page)));
    // The id of the copy is that of the session; only its folder has another name.
    assert_eq!(alike[0], alike[1], "after {heats} heats");
    ended.tells(&["live: results/", "report.html (open it in a browser;"]);
    let session = root.session();
    assert_eq!(session.record.end, Some(EndReason::Interrupted));
    assert!(session.record.header.live);
    session.assert_shown(&root, &["written after each heat"]);
    let file = fs::read_to_string(folder.join("report.html")).expect("reading the report");
    assert!(!file.contains(RELOADS) && !file.contains("<progress"));
}

#[test]
fn a_session_that_continues_has_a_live_page_only_if_it_is_asked_again() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let running = root.start_run("--live --heats 50");
    root.wait_for_figures();
    running.signal(Signal::INT);
    running.wait().exits(0).tells(&["live: results/"]);
    let folder = root.session_folder();
    let resume = format!("run --resume {}", folder.display());
    // A line that says that it continues, and a heat.
    let lines = journal_lines(&folder) + 2;
    let running = root.start(&resume);
    root.wait_for_lines(lines);
    running.signal(Signal::INT);
    let ended = running.wait().exits(0);
    assert!(!ended.stderr.contains("live: "), "{ended}");
    let record = root.session().record;
    let complete = record.heats.iter().filter(|one| one.is_complete()).count();
    let running = root.start(&format!("{resume} --live"));
    let (page, heats) = live_page(&root, complete);
    assert!(page.contains(RELOADS) && heats >= complete, "{page}");
    running.wait().exits(0);
    let session = root.session();
    let resumed = session.record.resumed.iter().map(|one| one.live);
    assert!(session.record.header.live && resumed.eq([false, true]));
}

#[test]
fn a_dry_run_has_no_live_page() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let ended = root.run("--live --dry-run").exits(0);
    assert!(!ended.stderr.contains("live: "), "{ended}");
    assert!(root.sessions().is_empty());
}
