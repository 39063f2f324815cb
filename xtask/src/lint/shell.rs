//! Shell scripts, workflows and templates.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use yaml_rust2::YamlLoader;

use crate::project::{root, target};
use crate::steps::{Lack, Steps};

/// The linter of workflows. Go builds it: no Debian package has it.
const ACTIONLINT: &str = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12";

/// Checks every shell script, workflow and template.
pub(super) fn check(steps: &Steps) {
    match scripts(&root()) {
        Ok(scripts) => {
            let mut command = Command::new("shellcheck");
            command.args(scripts);
            run(
                steps,
                "shellcheck",
                command,
                "it is not installed (apt-get install shellcheck)",
            );
        }
        Err(error) => {
            steps.check("shellcheck", || Err(format!("listing scripts: {error}")));
        }
    }
    steps.check("YAML of the templates", || templates(&root()));
    let tools = target().join("tools");
    let why_not = install(&tools).err().unwrap_or_default();
    let mut command = Command::new(tools.join("actionlint"));
    command.args(workflows(&root()));
    run(steps, "actionlint", command, &why_not);
}

/// Has Go build the linter of workflows, or find that it has. Without a network that of an earlier time may be there.
fn install(tools: &Path) -> Result<(), String> {
    let mut install = Command::new("go");
    install.args(["install", ACTIONLINT]).env("GOBIN", tools);
    let output = install.output();
    let output = output.map_err(|error| format!("go: {error} (https://go.dev/dl/)"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or_default();
    Err(format!("go install {ACTIONLINT}: {last}"))
}

/// Runs a linter, unless it is missing; then this is why.
fn run(steps: &Steps, name: &str, command: Command, why_not: &str) {
    let asked = Command::new(command.get_program())
        .arg("--version")
        .output();
    if asked.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        steps.not_tested(Lack::new(name, why_not));
    } else {
        steps.run(name, command);
    }
}

/// The shell scripts: of CI, of the action, of releases, and templates.
fn scripts(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut scripts = vec![root.join(".ci/run")];
    for folder in [".github", "action", "templates"] {
        for entry in fs::read_dir(root.join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "sh") {
                scripts.push(path);
            }
        }
    }
    Ok(scripts)
}

/// Templates that are no YAML.
fn templates(root: &Path) -> Result<(), String> {
    let folder = root.join("templates");
    let entries =
        fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut faults = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !matches!(extension, Some("yml" | "yaml")) {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|error| error.to_string());
        let parsed = text
            .and_then(|text| YamlLoader::load_from_str(&text).map_err(|error| error.to_string()));
        let fault = |error| format!("{}: {error}", path.display());
        faults.extend(parsed.err().map(fault));
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n"))
    }
}

/// The workflows: the project's own, and the examples.
fn workflows(root: &Path) -> Vec<PathBuf> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let own = entries(root.join(".github/workflows")).map(|entry| entry.path());
    let examples = entries(root.join("examples")).map(|entry| entry.path().join("deadheat.yml"));
    own.chain(examples.filter(|path| path.is_file())).collect()
}
