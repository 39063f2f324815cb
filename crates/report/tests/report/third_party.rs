//! THIRD-PARTY.md names what is embedded, in the versions that are embedded.

use std::{fs, path::Path};

use deadheat_report::html::plotly_js;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("reading {}: {error}", path.display()))
}

/// The cells of the table's row about `what`.
fn row(notices: &str, what: &str) -> Vec<String> {
    let start = format!("| [{what}](");
    let row = notices.lines().find(|line| line.starts_with(&start));
    let row = row.unwrap_or_else(|| panic!("THIRD-PARTY.md has no row about {what}"));
    let cells = row.trim_matches('|').split('|');
    cells.map(|cell| cell.trim().replace('`', "")).collect()
}

#[test]
fn the_crates_are_named_in_the_versions_of_the_lock_file() {
    let (notices, lock) = (read("THIRD-PARTY.md"), read("Cargo.lock"));
    for what in ["plotly.js", "MathJax", "DejaVu Sans"] {
        let by = row(&notices, what).swap_remove(3);
        let (name, version) = by.split_once(' ').expect("a crate and its version");
        let locked = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        assert!(
            lock.contains(&locked),
            "THIRD-PARTY.md says {by}, which is not in Cargo.lock: name its version, and check the version and the \
             licence of {what}"
        );
    }
}

#[test]
fn the_script_is_named_in_its_version_and_keeps_its_licence() {
    let version = row(&read("THIRD-PARTY.md"), "plotly.js").swap_remove(1);
    let script = plotly_js();
    let (banner, _) = script.split_once("*/").expect("a banner");
    let named = format!("/**\n* plotly.js v{version}\n");
    assert!(banner.starts_with(&named), "{banner}");
    for line in ["Copyright 2012-2025, Plotly, Inc.", "All rights reserved."] {
        assert!(banner.contains(line) && read("THIRD-PARTY.md").contains(line));
    }
}
