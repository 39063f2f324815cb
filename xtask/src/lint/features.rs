//! Dependencies that `cargo xtask` needs have the features that the workspace's tests give them, so that each is built once.

use std::{collections::BTreeSet, process::Command};

use crate::project::{cargo, root};

/// What is built for `cargo xtask`, and what for tests.
const OF_XTASK: [&str; 3] = ["--package=xtask", "--package=deadheat", "--edges=no-dev"];
const OF_TESTS: [&str; 1] = ["--workspace"];

/// # Errors
/// Says which dependencies would be built twice.
pub(super) fn check() -> Result<(), String> {
    let (of_xtask, of_tests) = (tree(&OF_XTASK)?, tree(&OF_TESTS)?);
    let needed: BTreeSet<String> = tree(&["--package=xtask", "--edges=no-dev"])?
        .iter()
        .map(|line| name(line).to_owned())
        .collect();
    let twice = of_xtask
        .difference(&of_tests)
        .filter(|line| needed.contains(name(line)));
    let faults: Vec<String> = twice
        .map(|line| {
            let others = of_tests.iter().filter(|other| name(other) == name(line));
            let others: Vec<&str> = others.map(String::as_str).collect();
            format!("{line} for cargo xtask, {} for tests", others.join(" and "))
        })
        .collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!(
        "built twice, with other features: {}; give xtask/Cargo.toml the features that it lacks",
        faults.join("; ")
    ))
}

/// Name and version of a line of the tree.
fn name(line: &str) -> &str {
    line.split(" [").next().unwrap_or(line)
}

/// "NAME VERSION [FEATURES]" of every package that would be built.
fn tree(which: &[&str]) -> Result<BTreeSet<String>, String> {
    let mut command: Command = cargo(&["tree", "--quiet", "--prefix=none", "--format={p} [{f}]"]);
    let output = command
        .args(which)
        .current_dir(root())
        .output()
        .map_err(|error| format!("cargo tree: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo tree {}: {said}", which.join(" ")));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let lines = said.lines().map(|line| line.trim_end_matches(" (*)"));
    Ok(lines.map(str::to_owned).collect())
}
