//! Format and lint: of the workspace, and of the stacks with their languages' own tools.

use std::process::Command;

use crate::steps::{Steps, cargo, root};

pub(crate) fn lint(steps: &mut Steps) {
    steps.run("format", cargo(&["fmt", "--all", "--check"]));
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ];
    steps.run("clippy", cargo(&clippy));
    let axum = "stacks/rust-axum/Cargo.toml";
    steps.run(
        "format of rust-axum",
        cargo(&["fmt", "--manifest-path", axum, "--check"]),
    );
    steps.check("format of go-nethttp", gofmt);
}

/// `gofmt -l` lists files that differ and exits with 0 all the same.
fn gofmt() -> Result<(), String> {
    let output = Command::new("gofmt")
        .args(["-l", "stacks/go-nethttp"])
        .current_dir(root())
        .output()
        .map_err(|error| {
            format!("gofmt -l stacks/go-nethttp: {error}; install Go (`deadheat setup`)")
        })?;
    let listed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if listed.is_empty() {
        Ok(())
    } else {
        Err(format!("gofmt would change {listed}"))
    }
}
