//! Format and lint: of the workspace, of the stacks with their languages' own tools, of the documents, and of scripts and
//! workflows.

mod documents;
mod features;
mod messages;
mod shell;
mod size;

use std::{fs, io, path::Path, process::Command};

pub(crate) use self::size::set_ceilings;
use crate::project::{cargo, lint_while_compiling, root};
use crate::steps::{Lack, Steps};

/// Everything.
pub(crate) fn lint(steps: &Steps) {
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ];
    without_compiling(steps);
    steps.run("clippy", cargo(&clippy));
}

/// Makes clippy the compiler of the steps that follow, if it is there.
pub(crate) fn while_compiling(steps: &Steps) {
    match Command::new("clippy-driver").arg("--version").output() {
        Ok(output) if output.status.success() => lint_while_compiling(),
        _ => {
            let because = "clippy-driver does not run (rustup component add clippy)";
            steps.not_tested(Lack::new("clippy", because));
        }
    }
}

/// All but clippy.
pub(crate) fn without_compiling(steps: &Steps) {
    steps.run("format", cargo(&["fmt", "--all", "--check"]));
    steps.check("format of the stacks", || stacks(steps));
    steps.check("features of dependencies", features::check);
    words(steps);
    shell::check(steps);
}

/// Documents and messages, which need no compiler.
pub(crate) fn words(steps: &Steps) {
    steps.check("links and words of the documents", documents::check);
    steps.check("words of messages", messages::check);
    steps.check("lines of code", size::check);
}

/// The stacks and examples in the languages that whoever changes this has, or needs for most stacks anyway: Rust and Go.
fn stacks(steps: &Steps) -> Result<(), String> {
    let mut found = Vec::new();
    for folder in [root().join("stacks"), root().join("examples")] {
        let entries =
            fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        found.extend(entries.flatten().map(|entry| entry.path()));
    }
    let mut faults = Vec::new();
    for stack in found {
        if stack.join("Cargo.toml").exists() {
            faults.extend(rustfmt(&stack).err());
        }
        if stack.join("go.mod").exists() {
            faults.extend(gofmt(steps, &stack).err());
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n"))
    }
}

fn rustfmt(stack: &Path) -> Result<(), String> {
    let mut command = cargo(&["fmt", "--check", "--manifest-path"]);
    let status = command
        .arg(stack.join("Cargo.toml"))
        .status()
        .map_err(|error| format!("cargo fmt of {}: {error}", stack.display()))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("cargo fmt would change {}", stack.display()))
    }
}

/// `gofmt -l` lists files that differ and exits with 0 all the same.
fn gofmt(steps: &Steps, stack: &Path) -> Result<(), String> {
    let output = match Command::new("gofmt").arg("-l").arg(stack).output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let because = "gofmt is not on the PATH (https://go.dev/dl/)";
            steps.not_tested(Lack::new("format of the Go stacks", because));
            return Ok(());
        }
        Err(error) => return Err(format!("gofmt -l {}: {error}", stack.display())),
    };
    let listed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if listed.is_empty() {
        Ok(())
    } else {
        Err(format!("gofmt would change {listed}"))
    }
}
