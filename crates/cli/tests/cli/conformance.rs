//! The conformance check finds what is planted in copies of a real stack, and nothing in the stack itself.
//!
//! A copy has as many faults as can be told apart, each in a workload and in files of its own: a build, a start of PostgreSQL
//! and a start of the server cost more than most checks. The test of a fault waits for the check of its copy.
//!
//! This needs Go. Without it the tests say that they were not run.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use deadheat_testkit::not_tested;
use serde_json::Value;

use crate::support::{Ended, Root, flat, root::project};

/// Defines a test for each of these functions, which return a [`Fault`], and lists them for [`copies`].
macro_rules! tests {
    ($($fault:ident),+ $(,)?) => {
        pub(super) const FAULTS: &[fn() -> super::Fault] = &[$($fault),+];

        mod found {
            $(
                #[test]
                fn $fault() {
                    crate::conformance::assert_found(&super::$fault());
                }
            )+
        }
    };
}

mod answers;
mod crud;
mod files;
mod fortunes;
mod techempower;
mod users;

/// The stack that is copied, and its default variant.
const STACK: &str = "go-nethttp";
pub(crate) const TARGET: &str = "go-nethttp:all-cpus";
/// An argument of its build, and one that is linked sooner, without symbols.
const LINKED: &str = r#""-trimpath""#;
const LINKED_SOON: &str = r#""-trimpath", "-ldflags=-s -w""#;

/// A text in a file of the stack, and what it becomes.
pub(crate) type Patch = (&'static str, &'static str, &'static str);

/// Patches of the stack, and what a check for a workload must find then.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    workload: &'static str,
    patches: Vec<Patch>,
    /// Parts of the message of the failure. Without any, the workload must pass.
    rule: Vec<&'static str>,
}

/// A fault by which the check for `workload` must fail.
fn fault(workload: &'static str, patches: &[Patch], rule: &[&'static str]) -> Fault {
    assert!(!rule.is_empty());
    Fault {
        workload,
        patches: patches.to_vec(),
        rule: rule.to_vec(),
    }
}

/// Patches with which the check for `workload` must pass.
fn no_fault(workload: &'static str, patches: &[Patch]) -> Fault {
    Fault {
        workload,
        patches: patches.to_vec(),
        rule: Vec::new(),
    }
}

impl Fault {
    /// Whether the other one can be in the same copy, so that each is found as if it were alone.
    fn can_share_with(&self, other: &Self) -> bool {
        let is_apart = |one: &Self, other: &Self| {
            let mut files = one.patches.iter().map(|patch| patch.0);
            let shares_a_file = files.any(|file| other.patches.iter().any(|patch| patch.0 == file));
            !(shares_a_file || one.changes_the_pool() && other.needs_database())
        };
        self.topic() != other.topic()
            && (self.patches == other.patches || (is_apart(self, other) && is_apart(other, self)))
    }

    /// The workload, but one for all of TechEmpower's, whose answers share some code.
    fn topic(&self) -> &str {
        if self.workload.starts_with("te-") {
            "te"
        } else {
            self.workload
        }
    }

    fn needs_database(&self) -> bool {
        ["te", "crud", "fortunes", "users"].contains(&self.topic())
    }

    /// Whether all workloads with a database are affected: by the pool itself, or by what the manifest says of it.
    fn changes_the_pool(&self) -> bool {
        let of_pool = |patch: &Patch| patch.0 == "database.go" || patch.1.starts_with("pool");
        self.patches.iter().any(of_pool)
    }
}

/// A copy of the stack.
struct StackCopy {
    faults: Vec<Fault>,
    checked: OnceLock<Checked>,
}

/// The result of a check.
struct Checked {
    status: Option<i32>,
    report: Value,
    /// All that it wrote.
    whole: String,
}

impl StackCopy {
    fn patches(&self) -> Vec<Patch> {
        let mut patches: Vec<Patch> = Vec::new();
        for patch in self.faults.iter().flat_map(|fault| &fault.patches) {
            if !patches.contains(patch) {
                patches.push(*patch);
            }
        }
        patches
    }

    /// The result of the check for the workloads of its faults, which runs once.
    fn checked(&self) -> &Checked {
        self.checked.get_or_init(|| {
            let root = copy_with(&self.patches());
            let workloads = self.faults.iter().map(|fault| fault.workload);
            let workloads: String = workloads.map(|id| format!(" --workload {id}")).collect();
            let ended = root
                .deadheat(&format!("stacks check {TARGET} --json{workloads}"))
                .exits_one_of(&[0, 1]);
            let whole = ended.to_string();
            Checked {
                status: ended.status_code(),
                report: serde_json::from_str(&ended.stdout)
                    .unwrap_or_else(|error| panic!("{error} in {whole}")),
                whole,
            }
        })
    }
}

/// All faults, in as few copies as can hold them.
fn copies() -> &'static [StackCopy] {
    static COPIES: OnceLock<Vec<StackCopy>> = OnceLock::new();
    COPIES.get_or_init(|| {
        let all = [
            answers::FAULTS,
            crud::FAULTS,
            files::FAULTS,
            fortunes::FAULTS,
            techempower::FAULTS,
            users::FAULTS,
        ];
        let mut copies: Vec<StackCopy> = Vec::new();
        for fault in all.concat().into_iter().map(|fault| fault()) {
            let has_room = |copy: &&mut StackCopy| {
                let mut others = copy.faults.iter();
                others.all(|other| other.can_share_with(&fault))
            };
            match copies.iter_mut().find(has_room) {
                Some(copy) => copy.faults.push(fault),
                None => copies.push(StackCopy {
                    faults: vec![fault],
                    checked: OnceLock::new(),
                }),
            }
        }
        copies
    })
}

/// Asserts that the check of the copy with this fault found what it must find.
#[track_caller]
fn assert_found(fault: &Fault) {
    let copy = copies().iter().find(|copy| copy.faults.contains(fault));
    let checked = copy.expect("each fault is in a copy").checked();
    let whole = &checked.whole;
    let findings = checked.report["findings"].as_array();
    let findings = findings.unwrap_or_else(|| panic!("no findings in {whole}"));
    let unavailable = findings.iter().find(|one| one["result"] == "unavailable");
    if let Some(unavailable) = unavailable {
        let because = unavailable["reason"].as_str().unwrap_or_default();
        not_tested("conformance of faults planted in a stack", because);
        return;
    }
    let mut own = findings
        .iter()
        .filter(|one| one["workload"] == fault.workload);
    let (Some(own), None) = (own.next(), own.next()) else {
        panic!("{} should have one finding: {whole}", fault.workload);
    };
    assert_eq!(own["target"], TARGET, "{whole}");
    let expected = if fault.rule.is_empty() {
        "passed"
    } else {
        "failed"
    };
    assert_eq!(own["result"], expected, "{}: {whole}", fault.workload);
    let reason = flat(own["reason"].as_str().unwrap_or_default());
    for fragment in &fault.rule {
        assert!(
            reason.contains(&flat(fragment)),
            "the failure of {} lacks {fragment:?}: {whole}",
            fault.workload
        );
    }
    let has_failed = findings.iter().any(|one| one["result"] == "failed");
    assert_eq!(checked.status, Some(i32::from(has_failed)), "{whole}");
}

/// The ids of all workloads of the project.
fn workloads() -> Vec<String> {
    let entries = fs::read_dir(project().join("workloads")).expect("listing the workloads");
    let stem = |path: PathBuf| path.file_stem()?.to_str().map(str::to_owned);
    let ids = entries.flatten().filter_map(|entry| stem(entry.path()));
    ids.collect()
}

/// A root folder with the project's workloads and a copy of the stack with these patches.
pub(crate) fn copy_with(patches: &[Patch]) -> Root {
    let root = Root::with(&[]);
    workloads().iter().for_each(|id| root.copy_workload(id));
    let stack = project().join("stacks").join(STACK);
    let files = files_of(&stack);
    for (file, ..) in patches {
        assert!(
            files.iter().any(|one| one == file),
            "the stack has no {file}"
        );
    }
    for name in files {
        let text = fs::read_to_string(stack.join(&name))
            .unwrap_or_else(|error| panic!("reading {name}: {error}"));
        let text = patched(&name, text, patches);
        root.write(
            &format!("stacks/{STACK}/{name}"),
            &text.replace(LINKED, LINKED_SOON),
        );
    }
    root
}

/// The stack's own files and those of its templates. What was built stays where it is.
fn files_of(stack: &Path) -> Vec<String> {
    ["", "templates/"]
        .into_iter()
        .flat_map(|folder| {
            let entries = fs::read_dir(stack.join(folder)).expect("listing the stack");
            let files = entries.flatten().filter(|entry| entry.path().is_file());
            files.map(move |entry| {
                let name = entry.file_name().into_string().expect("a name in UTF-8");
                format!("{folder}{name}")
            })
        })
        .collect()
}

fn patched(file: &str, mut text: String, patches: &[Patch]) -> String {
    for (_, before, after) in patches.iter().filter(|patch| patch.0 == file) {
        assert_eq!(
            text.matches(before).count(),
            1,
            "{file} should have this once: {before}"
        );
        text = text.replace(before, after);
    }
    text
}

/// What a check of the stack found; `None` where its toolchain is not here.
pub(crate) fn unless_unavailable(ended: Ended) -> Option<Ended> {
    let said = ended
        .stdout
        .strip_prefix(&format!("{TARGET}: unavailable: "));
    let because = said.and_then(|said| said.lines().next().map(str::to_owned));
    match because {
        Some(because) => {
            not_tested("conformance of faults planted in a stack", &because);
            None
        }
        None => Some(ended),
    }
}

#[test]
fn the_stack_itself_passes_for_every_workload() {
    let root = copy_with(&[]);
    let passed: Vec<String> = workloads()
        .iter()
        .map(|workload| format!("{TARGET} {workload}: passed ("))
        .collect();
    let each: Vec<&str> = passed.iter().map(String::as_str).collect();
    let Some(found) = unless_unavailable(root.deadheat(&format!("stacks check {TARGET}"))) else {
        return;
    };
    found
        .exits(0)
        .says(&each)
        .says(&[&format!("{} passed, 0 failed, 0 unavailable", passed.len())]);
}
