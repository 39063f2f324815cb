//! Every stack and variant, every workload and load point, every rule: `deadheat stacks check` for each stack.
#![allow(clippy::print_stdout)]

use std::{fs, sync::Mutex};

use serde_json::Value;

use crate::steps::{Lack, Steps, deadheat, root, two_at_a_time};

/// A stack that can run here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Runnable {
    /// Its id.
    pub(crate) stack: String,
    /// The workloads that its default variant answers.
    pub(crate) workloads: Vec<String>,
}

/// Checks every stack. Those that can run here, in alphabetical order.
pub(crate) fn check(steps: &Steps) -> Vec<Runnable> {
    let runnable = Mutex::new(Vec::new());
    two_at_a_time(stacks(), |stack| {
        let workloads = of_stack(steps, &stack);
        if !workloads.is_empty() {
            let found = Runnable { stack, workloads };
            runnable.lock().expect("no check panics").push(found);
        }
    });
    let mut runnable = runnable.into_inner().expect("no check panics");
    runnable.sort();
    runnable
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

/// Checks one stack; the workloads that its default variant answers.
fn of_stack(steps: &Steps, stack: &str) -> Vec<String> {
    let mut workloads = Vec::new();
    steps.run_with(
        &format!("conformance of {stack}"),
        deadheat(&["stacks", "check", stack, "--json"]),
        |said| {
            let found: Value =
                serde_json::from_str(said).map_err(|error| format!("its output: {error}"))?;
            let findings = found["findings"]
                .as_array()
                .ok_or("its output has no findings")?;
            workloads = judge(steps, findings)?;
            println!(
                "{stack}: {} passed, 0 failed, {} unavailable",
                found["passed"], found["unavailable"]
            );
            Ok(())
        },
    );
    workloads
}

/// Tells what is unavailable; the workloads that the first target, a stack's default variant, has passed.
///
/// # Errors
/// When nothing was found, or something failed.
fn judge(steps: &Steps, findings: &[Value]) -> Result<Vec<String>, String> {
    let default = &findings.first().ok_or("nothing was checked")?["target"];
    let mut workloads = Vec::new();
    for finding in findings {
        let name = finding["target"].as_str().unwrap_or_default();
        match finding["result"].as_str() {
            Some("passed") if finding["target"] == *default => {
                workloads.extend(finding["workload"].as_str().map(str::to_owned));
            }
            Some("passed") => {}
            Some("unavailable") => {
                let because = finding["reason"].as_str().unwrap_or_default();
                steps.not_tested(Lack::new(name, because));
            }
            _ => return Err(format!("{name}: {finding:#}")),
        }
    }
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
        let of = |findings: &[Value]| judge(&steps, findings);
        let both = [finding("a", "passed"), finding("a:b", "unavailable")];
        assert_eq!(of(&both), Ok(vec!["json".to_owned()]));
        assert_eq!(of(&[finding("a", "unavailable")]), Ok(Vec::new()));
        assert!(of(&[finding("a", "passed"), finding("a", "failed")]).is_err());
        assert!(of(&[]).is_err());
    }
}
