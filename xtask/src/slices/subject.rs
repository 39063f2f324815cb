//! What is measured: a command, or stacks as `deadheat stacks list` knows them.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::Options;

/// A server to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    /// What it is called.
    pub(crate) name: String,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// Where it is started.
    pub(crate) folder: PathBuf,
    /// What its environment has beside that of every server.
    pub(crate) env: BTreeMap<String, String>,
}

/// The servers that are asked for.
pub(crate) fn subjects(options: &Options) -> Result<Vec<Subject>, String> {
    if options.stack.is_empty() {
        return Ok(vec![Subject {
            name: options.command.join(" "),
            command: options.command.clone(),
            folder: options.folder.clone(),
            env: BTreeMap::new(),
        }]);
    }
    of_list(&list(&options.deadheat, &options.stack)?)
}

/// A server that is started by a command of words without quotes, in this folder.
pub(super) fn of_command(command: &str) -> Subject {
    Subject {
        name: command.to_owned(),
        command: command.split_whitespace().map(str::to_owned).collect(),
        folder: ".".into(),
        env: BTreeMap::new(),
    }
}

/// What `deadheat stacks list --json` says.
fn list(deadheat: &Path, stacks: &[String]) -> Result<Value, String> {
    let failed = |what: String| format!("asking {} for stacks: {what}", deadheat.display());
    let output = Command::new(deadheat)
        .args(["stacks", "list", "--json"])
        .args(stacks)
        .output()
        .map_err(|error| failed(format!("{error}; build it with cargo build --release")))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

/// The first variant of each stack that is listed: its default one unless another was named. All of them must be built.
fn of_list(listed: &Value) -> Result<Vec<Subject>, String> {
    let mut seen = HashSet::new();
    let rows = listed["stacks"].as_array().into_iter().flatten();
    let first: Vec<&Value> = rows
        .filter(|row| seen.insert(row["stack"].clone()))
        .collect();
    let unbuilt = first.iter().filter(|row| row["state"]["is"] != "built");
    let unbuilt: Vec<&str> = unbuilt.filter_map(|row| row["stack"].as_str()).collect();
    if unbuilt.is_empty() {
        return first.into_iter().map(subject).collect();
    }
    let names = unbuilt.join(" ");
    Err(format!(
        "not built: {names}; `deadheat stacks check {names}` builds them"
    ))
}

fn subject(row: &Value) -> Result<Subject, String> {
    let name = row["target"].as_str().unwrap_or_default().to_owned();
    let lacking = |what| format!("{name}: the list of stacks has no {what} for it");
    let words = row["command"]
        .as_array()
        .ok_or_else(|| lacking("command"))?;
    let env = row["env"].as_object().ok_or_else(|| lacking("env"))?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(Subject {
        command: words.iter().map(text).collect(),
        folder: row["folder"]
            .as_str()
            .ok_or_else(|| lacking("folder"))?
            .into(),
        env: env
            .iter()
            .map(|(name, value)| (name.clone(), text(value)))
            .collect(),
        name,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_stack_has_its_first_variant_and_must_be_built() {
        let row = |target: &str, stack: &str, state: &str| {
            json!({
                "target": target, "stack": stack, "state": {"is": state}, "command": ["./out/server", "-x"],
                "folder": "/stacks/a", "env": {"GOGC": "100"},
            })
        };
        let mut all = vec![
            row("go:all", "go", "built"),
            row("go:1cpu", "go", "built"),
            row("rust", "rust", "built"),
        ];
        let found = of_list(&json!({"stacks": all})).unwrap();
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["go:all", "rust"]);
        assert_eq!(found[0].command, ["./out/server", "-x"]);
        assert_eq!(found[0].env["GOGC"], "100");
        all.push(row("nim", "nim", "ready"));
        assert_eq!(
            of_list(&json!({"stacks": all})).unwrap_err(),
            "not built: nim; `deadheat stacks check nim` builds them"
        );
    }
}
