//! Tables of the documentation, for tests that compare them with what is written.

use std::{fs, path::Path};

/// The rows of the tables under a heading (`"## CSV"`) of a file in docs/ that begin with code, each as its cells.
pub fn rows(file: &str, heading: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(file);
    let text = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("reading {}: {error}", path.display()));
    let level = depth(heading);
    let mut lines = text.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "{file} has no heading {heading}");
    let section = lines.take_while(|line| depth(line) == 0 || depth(line) > level);
    let rows = section.filter(|line| line.starts_with("| `"));
    let cells = |row: &str| {
        let cells = row.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    rows.map(cells).collect()
}

/// A heading's level; 0 of another line. (A comment in an example of a shell ends a section, too: none has rows after.)
fn depth(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b'#').count()
}
