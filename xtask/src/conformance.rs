//! Every stack and variant, every workload and load point, every rule: `deadheat stacks check` for each stack.
#![allow(clippy::print_stdout)]

use std::{fs, sync::Mutex, thread, vec};

use serde_json::Value;

use crate::project::{deadheat_with_quick_builds, root};
use crate::steps::{Lack, Queue, Steps, WhenFailed};

/// The stacks that take longest to build or to check. The last ones to begin are those that all others wait for.
const LONGEST: [&str; 6] = [
    "ruby-rails",
    "rust-axum",
    "cpp-beast",
    "csharp-aspnetcore",
    "kotlin-ktor",
    "clojure-jetty",
];

/// A stack that can run here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Runnable {
    /// Its id.
    pub(crate) stack: String,
    /// The workloads that its default variant answers.
    pub(crate) workloads: Vec<String>,
}

/// The stacks that have been checked.
#[derive(Default)]
struct Checked {
    /// Those that can run here.
    runnable: Vec<Runnable>,
    /// Those that failed while others were checked, built and tested beside them.
    failed: Vec<String>,
}

impl Checked {
    fn add(&mut self, stack: String, found: Option<Vec<String>>) {
        match found {
            None => self.failed.push(stack),
            Some(workloads) if workloads.is_empty() => {}
            Some(workloads) => self.runnable.push(Runnable { stack, workloads }),
        }
    }
}

/// The checks of all stacks. Threads share them: a check waits for the network, compiles, or waits for a server to start.
pub(crate) struct Checks<'a> {
    steps: &'a Steps,
    left: Queue<vec::IntoIter<String>>,
    checked: Mutex<Checked>,
}

impl<'a> Checks<'a> {
    /// Of all stacks: those that take long to build or check first, the others in alphabetical order.
    pub(crate) fn new(steps: &'a Steps) -> Self {
        let mut stacks = stacks();
        stacks.sort_by_key(|stack| {
            let place = LONGEST.iter().position(|one| one == stack);
            place.unwrap_or(LONGEST.len())
        });
        Self {
            steps,
            left: Queue::new(stacks),
            checked: Mutex::default(),
        }
    }

    /// Checks one stack after the other until none is left.
    pub(crate) fn work(&self) {
        self.left.work(|stack| {
            let name = format!("conformance of {stack}");
            let found = of_stack(self.steps, &name, &stack, WhenFailed::RunsAgain);
            let mut checked = self.checked.lock().expect("no check panics");
            checked.add(stack, found);
        });
    }

    /// The same in two threads.
    pub(crate) fn work_twice(&self) {
        thread::scope(|scope| {
            scope.spawn(|| self.work());
            self.work();
        });
    }

    /// Checks those that have failed once more, each alone. Those that can run here, in alphabetical order.
    pub(crate) fn again(self) -> Vec<Runnable> {
        let mut checked = self.checked.into_inner().expect("no check panics");
        for stack in std::mem::take(&mut checked.failed) {
            let name = format!("conformance of {stack}, again, alone");
            let found = of_stack(self.steps, &name, &stack, WhenFailed::Fails);
            checked.add(stack, found);
        }
        checked.runnable.sort();
        checked.runnable
    }
}

/// The folders in `stacks/` that hold a stack, in alphabetical order.
fn stacks() -> Vec<String> {
    let entries = fs::read_dir(root().join("stacks"))
        .into_iter()
        .flatten()
        .flatten();
    let mut stacks: Vec<String> = entries
        .filter(|entry| entry.path().join("stack.toml").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    stacks.sort();
    stacks
}

/// Checks one stack in a step of this name; the workloads that its default variant answers, if nothing failed.
fn of_stack(
    steps: &Steps,
    name: &str,
    stack: &str,
    when_failed: WhenFailed,
) -> Option<Vec<String>> {
    let command = deadheat_with_quick_builds(&["stacks", "check", stack, "--json"]);
    steps.run_with(name, command, when_failed, |said| judge(steps, stack, said))
}

/// Tells what is unavailable; the workloads that the first target, a stack's default variant, has passed.
///
/// # Errors
/// When nothing was found, or something failed.
fn judge(steps: &Steps, stack: &str, said: &str) -> Result<Vec<String>, String> {
    let found: Value =
        serde_json::from_str(said).map_err(|error| format!("its output: {error}"))?;
    let findings = found["findings"].as_array();
    let findings = findings.ok_or("its output has no findings")?;
    let default = &findings.first().ok_or("nothing was checked")?["target"];
    let mut workloads = Vec::new();
    for finding in findings {
        let text = |name: &str| finding[name].as_str().unwrap_or_default();
        match text("result") {
            "passed" if finding["target"] == *default => {
                workloads.extend(finding["workload"].as_str().map(str::to_owned));
            }
            "passed" => {}
            "unavailable" => steps.not_tested(Lack::new(text("target"), text("reason"))),
            _ => {
                // A stack that does not start has no workload.
                let asked = format!("{} {}", text("target"), text("workload"));
                return Err(format!("{}: {}", asked.trim_end(), text("reason")));
            }
        }
    }
    println!(
        "{stack}: {} passed, 0 failed, {} unavailable",
        found["passed"], found["unavailable"]
    );
    Ok(workloads)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::steps::Strictness;

    #[test]
    fn a_stack_can_run_here_when_its_default_variant_can() {
        let steps = Steps::new(&Strictness::full(), true);
        let finding = |target: &str, result: &str| json!({"target": target, "workload": "json", "result": result, "reason": "no JDK 21"});
        let of =
            |findings: &[Value]| judge(&steps, "a", &json!({ "findings": findings }).to_string());
        let both = [finding("a", "passed"), finding("a:b", "unavailable")];
        assert_eq!(of(&both), Ok(vec!["json".to_owned()]));
        assert_eq!(of(&[finding("a", "unavailable")]), Ok(Vec::new()));
        let failed = of(&[finding("a", "passed"), finding("a", "failed")]);
        assert_eq!(failed, Err("a json: no JDK 21".to_owned()));
        assert!(of(&[]).is_err());
    }
}
