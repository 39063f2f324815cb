//! THIRD-PARTY.md names what is embedded, in the versions that are embedded.

use std::{fs, path::Path};

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
    let what = "DejaVu Sans";
    let by = row(&notices, what).swap_remove(3);
    let (name, version) = by.split_once(' ').expect("a crate and its version");
    let locked = format!("name = \"{name}\"\nversion = \"{version}\"\n");
    assert!(
        lock.contains(&locked),
        "THIRD-PARTY.md says {by}, which is not in Cargo.lock: name its version, and check the version and the licence \
         of {what}"
    );
}
