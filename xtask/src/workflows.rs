//! The shell steps of `.github/workflows/`, run as they are written: nothing else here shows that they work.
//!
//! What they install goes below `target/workflows`, and their Rust is one of their own there: whoever runs this keeps
//! their tools, and their Rust.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use yaml_rust2::{Yaml, YamlLoader};

use crate::project::{root, target};
use crate::steps::{Lack, Steps};

/// Steps that are not run from here, and why.
const NOT_HERE: [(&str, &str); 3] = [
    ("cargo xtask test", "these steps are a part of it (--long)"),
    (
        "gh release create \"$RELEASE_TAG\" --repo \"$GITHUB_REPOSITORY\" --draft --target \"$GITHUB_SHA\" --generate-notes dist/*",
        "it makes the draft of a release",
    ),
    (
        ".github/publish.sh \"$GITHUB_REF_NAME\"",
        "it publishes a release",
    ),
];
/// Where steps install and build, in the folder of what is built.
const FOLDER: &str = "workflows";

/// A step that is a line of shell.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    /// The workflow's file, without its folder.
    workflow: String,
    run: String,
    /// The variables of its job, and those of a job that a matrix makes many of, as for this machine.
    variables: Vec<(String, String)>,
}

impl Step {
    fn why_not_here(&self) -> Option<&'static str> {
        let (_, why) = NOT_HERE.iter().find(|(run, _)| *run == self.run)?;
        Some(why)
    }

    /// As GitHub runs a step that names no shell.
    fn command(&self) -> Command {
        let mut command = Command::new("bash");
        command
            .args(["-e", "-c", &self.run])
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env("CARGO_INSTALL_ROOT", target().join(FOLDER))
            .env("PATH", path());
        command
    }

    fn name(&self) -> String {
        let line = format!("{}: {}", self.workflow, self.run);
        // The table of steps has no room for more.
        line.chars().take(60).collect()
    }
}

/// Runs every step of every workflow.
pub(crate) fn workflows(steps: &Steps) {
    let folder = target().join(FOLDER);
    let own_rust = [
        ("RUSTUP_HOME", folder.join("rustup")),
        ("RUSTUP_TOOLCHAIN", PathBuf::from("stable")),
        ("CARGO_TARGET_DIR", folder.join("target")),
    ];
    match all(&root()) {
        Ok(mut found) => {
            // GitHub's machines have a Rust before their first step.
            found.sort_by_key(|step| !step.run.starts_with("rustup "));
            for step in found {
                if let Some(why) = step.why_not_here() {
                    let because = format!("{why}: {}", step.run);
                    steps.not_tested(Lack::new("workflow step", &because));
                    continue;
                }
                let mut command = step.command();
                command.envs(own_rust.iter().map(|(name, value)| (name, value)));
                steps.run(&step.name(), command);
            }
        }
        Err(problem) => {
            steps.check("steps of the workflows", || Err(problem));
        }
    }
}

/// The `PATH` with what steps have installed.
pub(crate) fn path() -> OsString {
    let tools = target().join(FOLDER).join("bin");
    let own = env::var_os("PATH").unwrap_or_default();
    let all = [tools].into_iter().chain(env::split_paths(&own));
    env::join_paths(all).unwrap_or(own)
}

/// The steps of all workflows of the project in `root`.
fn all(root: &Path) -> Result<Vec<Step>, String> {
    let folder = root.join(".github/workflows");
    let entries =
        fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let steps: Result<Vec<Vec<Step>>, String> = files.iter().map(|file| steps_of(file)).collect();
    Ok(steps?.into_iter().flatten().collect())
}

/// The steps of a workflow, in the order in which they are written.
fn steps_of(file: &Path) -> Result<Vec<Step>, String> {
    let wrong = |what: String| format!("{}: {what}", file.display());
    let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let documents = YamlLoader::load_from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let workflow = file.file_name().unwrap_or_default().to_string_lossy();
    let jobs = documents
        .first()
        .and_then(|document| document["jobs"].as_hash());
    let mut steps = Vec::new();
    for job in jobs.ok_or_else(|| wrong("no jobs".to_owned()))?.values() {
        let matrix = of_this_machine(&job["strategy"]["matrix"]["include"]);
        for step in job["steps"].as_vec().into_iter().flatten() {
            if let Some(run) = step["run"].as_str() {
                steps.push(Step {
                    workflow: workflow.clone().into_owned(),
                    run: run.to_owned(),
                    variables: variables(&job["env"], matrix),
                });
            }
        }
    }
    Ok(steps)
}

/// The entry of a matrix whose target is of this machine's architecture.
fn of_this_machine(include: &Yaml) -> Option<&Yaml> {
    include.as_vec()?.iter().find(|entry| {
        let target = entry["target"].as_str().unwrap_or_default();
        target.starts_with(env::consts::ARCH)
    })
}

/// A job's variables. Each value is a text, one value of the matrix, or empty if only GitHub knows it.
fn variables(env: &Yaml, matrix: Option<&Yaml>) -> Vec<(String, String)> {
    let Some(env) = env.as_hash() else {
        return Vec::new();
    };
    let value = |value: &str| match value.strip_prefix("${{ matrix.") {
        Some(rest) => {
            let key = rest.trim_end_matches("}}").trim();
            let found = matrix.and_then(|matrix| matrix[key].as_str());
            found.unwrap_or_default().to_owned()
        }
        // GitHub knows the rest, such as who started the workflow and with what.
        None if value.starts_with("${{") => String::new(),
        None => value.to_owned(),
    };
    env.iter()
        .filter_map(|(name, text)| Some((name.as_str()?.to_owned(), value(text.as_str()?))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_with_their_variables() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("release.yml");
        let arch = env::consts::ARCH;
        let text = format!(
            "jobs:\n  build:\n    strategy:\n      matrix:\n        include:\n          - {{target: other-linux}}\n          \
             - {{target: {arch}-linux}}\n    env:\n      TARGET: ${{{{ matrix.target }}}}\n      TAG: ${{{{ inputs.tag }}}}\n      WORD: plain\n    steps:\n      \
             - uses: actions/checkout@v4\n      - run: make \"$TARGET\"\n  publish:\n    steps:\n      - run: make publish\n"
        );
        fs::write(&file, text).unwrap();
        let found = steps_of(&file).unwrap();
        let step = |run: &str, variables: &[(&str, &str)]| Step {
            workflow: "release.yml".to_owned(),
            run: run.to_owned(),
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        };
        let target = format!("{arch}-linux");
        assert_eq!(
            found,
            [
                step(
                    "make \"$TARGET\"",
                    &[("TARGET", &target), ("TAG", ""), ("WORD", "plain")]
                ),
                step("make publish", &[])
            ]
        );
    }

    #[test]
    fn what_is_not_run_is_a_step_of_some_workflow() {
        let found = all(&root()).unwrap();
        for (run, _) in NOT_HERE {
            assert!(found.iter().any(|step| step.run == run), "{run}");
        }
        let lines = found.iter().map(|step| step.run.lines().count());
        assert!(lines.eq(found.iter().map(|_| 1)), "{found:?}");
    }
}
