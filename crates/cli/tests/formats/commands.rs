//! The commands with jq of docs/formats.md print what the page shows, from reports of the fixtures.

use std::{env, fs, path::Path, process::Command};

use deadheat_bench::document as standings;
use deadheat_compare::document as compare;
use deadheat_loadtool::{analysis::analyse, document as load};

use crate::{load_fixture::open_freeze, standings::cases};

/// The page with what its commands print in a folder.
fn answered(page: &str, folder: &Path) -> String {
    let mut written = String::new();
    let mut is_below = false;
    for line in page.lines() {
        is_below &= !line.starts_with("$ ") && !line.starts_with("```");
        if is_below {
            continue;
        }
        written += &format!("{line}\n");
        if line.starts_with("$ jq ") {
            let ended = Command::new("sh")
                .args(["-c", &line[2..]])
                .current_dir(folder)
                .output()
                .expect("running it");
            assert!(ended.status.success(), "{line}: {ended:?}");
            written += &String::from_utf8_lossy(&ended.stdout);
            is_below = true;
        }
    }
    written
}

/// As insta does with its snapshots, the page is written anew if that is asked for.
#[test]
fn questions_of_the_page_have_their_answers() {
    if Command::new("jq").arg("--version").output().is_err() {
        deadheat_testkit::not_tested("commands of docs/formats.md", "jq is not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: String| {
        fs::write(folder.path().join(name), text).expect("writing a report");
    };
    let (session, load) = (cases::named("few"), open_freeze());
    write(
        "report.json",
        standings::json(&session.record, &session.standings).unwrap(),
    );
    write("load.json", load::json(&load, &analyse(&load)).unwrap());
    let mut comparison = crate::compare::comparison(0.9);
    comparison.a.name = "old".to_owned();
    comparison.b.name = "new".to_owned();
    write("compare.json", compare::json(&comparison, None).unwrap());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let page = fs::read_to_string(&file).expect("reading the page");
    let answered = answered(&page, folder.path());
    if env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&file, &answered).expect("writing the page");
    } else {
        assert_eq!(page, answered, "docs/formats.md");
    }
}
