//! Steps that are run one after the other, each of them even when an earlier one failed, and told of at the end.
#![allow(clippy::print_stdout)]

use std::{
    ffi::OsString,
    path::PathBuf,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

/// What was run and how it ended.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Step>,
}

struct Step {
    name: String,
    problem: Option<String>,
    is_left_out: bool,
    took: Duration,
}

impl Steps {
    /// Runs a command in the project's folder; it fails when its exit status is not 0. True when it passed.
    pub(crate) fn run(&mut self, name: &str, mut command: Command) -> bool {
        let shown = format!("{command:?}");
        self.check(name, || match command.current_dir(root()).status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{shown}: {status}")),
            Err(error) => Err(format!("{shown}: {error}")),
        })
    }

    /// Runs a check of this program's own. True when it passed.
    pub(crate) fn check(&mut self, name: &str, check: impl FnOnce() -> Result<(), String>) -> bool {
        println!("\n==> {name}");
        let begun = Instant::now();
        let problem = check().err();
        if let Some(problem) = &problem {
            println!("FAILED {name}: {problem}");
        }
        let is_passed = problem.is_none();
        self.done.push(Step {
            name: name.to_owned(),
            problem,
            is_left_out: false,
            took: begun.elapsed(),
        });
        is_passed
    }

    /// Tells of a step that was allowed to be left out, and was.
    pub(crate) fn leave_out(&mut self, name: &str, why: &str) {
        println!("\n==> {name}\nleft out: {why}");
        self.done.push(Step {
            name: name.to_owned(),
            problem: None,
            is_left_out: true,
            took: Duration::ZERO,
        });
    }

    /// Tells how everything ended.
    pub(crate) fn finish(self) -> ExitCode {
        println!();
        for step in &self.done {
            let word = match step {
                Step {
                    is_left_out: true, ..
                } => "left out",
                Step { problem: None, .. } => "passed",
                Step { .. } => "FAILED",
            };
            println!(
                "{word:<8}  {:>6.1} s  {}",
                step.took.as_secs_f64(),
                step.name
            );
        }
        let failed = self
            .done
            .iter()
            .filter(|step| step.problem.is_some())
            .count();
        let left_out = self.done.iter().filter(|step| step.is_left_out).count();
        let passed = self.done.len() - failed - left_out;
        let and_left_out = match left_out {
            0 => String::new(),
            some => format!(", {some} left out"),
        };
        println!("steps: {passed} passed, {failed} failed{and_left_out}");
        if failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// The project's folder.
pub(crate) fn root() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.parent().map_or(own.clone(), PathBuf::from)
}

/// The cargo that runs this program, with arguments.
///
/// It is not told what `cargo run` tells this program of its own package: ring's build script runs again whenever that
/// changes, and everything that needs TLS would be built anew by each cargo that another one started.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    let of_package = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| of_package(name)) {
        command.env_remove(name);
    }
    command
}

/// Where cargo puts what it makes.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The release binary's file.
pub(crate) fn release_binary() -> PathBuf {
    target().join("release/deadheat")
}

/// The release binary, with arguments.
pub(crate) fn deadheat(args: &[&str]) -> Command {
    let mut command = Command::new(release_binary());
    command.args(args);
    command
}
