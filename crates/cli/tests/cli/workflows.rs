//! The actions, the template for GitLab, and the workflows that use them, as they are written.

use std::{
    fs,
    path::{Path, PathBuf},
};

use yaml_rust2::{Yaml, YamlLoader};

use crate::{action::template, support::root::project};

/// A step's place, and the step.
type Steps = Vec<(String, Yaml)>;

/// The steps of the actions and of every workflow.
fn steps() -> Steps {
    let yaml = |path: &Path| {
        let text = fs::read_to_string(path).expect("reading a workflow");
        YamlLoader::load_from_str(&text).expect("YAML").remove(0)
    };
    let named = |path: &Path, steps: &Yaml| {
        let steps = steps.as_vec().expect("steps").iter().cloned();
        let path = path.display().to_string();
        steps.map(|step| (path.clone(), step)).collect::<Steps>()
    };
    let actions = ["action.yml", "comment/action.yml"].map(|name| project().join(name));
    let steps_of = |action: &PathBuf| named(action, &yaml(action)["runs"]["steps"]);
    let mut found: Steps = actions.iter().flat_map(steps_of).collect();
    for entry in fs::read_dir(project().join(".github/workflows")).expect("listing workflows") {
        let path = entry.expect("a workflow").path();
        let workflow = yaml(&path);
        assert!(!workflow["permissions"].is_badvalue(), "{}", path.display());
        for job in workflow["jobs"].as_hash().expect("jobs").values() {
            found.extend(named(&path, &job["steps"]));
        }
    }
    found
}

#[test]
fn steps_pin_what_they_use_and_give_shells_no_expressions() {
    let steps = steps();
    assert!(steps.len() > 10, "{steps:?}");
    for (path, step) in steps {
        if let Some(uses) = step["uses"].as_str() {
            let commit = uses.split_once('@').map_or("", |(_, commit)| commit);
            let is_commit = commit.len() == 40 && commit.bytes().all(|one| one.is_ascii_hexdigit());
            assert!(is_commit, "{path}: {uses} is pinned to no commit");
        }
        if let Some(script) = step["run"].as_str() {
            // What is longer belongs in a script, which shellcheck reads.
            assert_eq!(script.trim_end().lines().count(), 1, "{path}: {script}");
            assert!(!script.contains("${{"), "{path}: {script}");
        }
    }
}

/// The blocks of YAML in a document.
fn yaml_blocks(document: &str) -> Vec<Yaml> {
    let text = fs::read_to_string(project().join(document)).expect("reading a document");
    let blocks = text.split("```yaml\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap_or_default());
    let parsed = blocks.map(|block| YamlLoader::load_from_str(block).expect(block));
    parsed.flatten().collect()
}

/// The actions that a job uses, without their versions.
fn uses(job: &Yaml) -> Vec<String> {
    let steps = job["steps"].as_vec().expect("steps").iter();
    let uses = steps.filter_map(|step| step["uses"].as_str());
    let name = |uses: &str| uses.split('@').next().unwrap_or_default().to_owned();
    uses.map(name).collect()
}

fn permissions(of: &Yaml) -> Vec<(String, String)> {
    let granted = of["permissions"].as_hash().expect("permissions").iter();
    let text = |yaml: &Yaml| yaml.as_str().unwrap_or_default().to_owned();
    granted.map(|(of, what)| (text(of), text(what))).collect()
}

#[test]
fn the_job_that_runs_code_of_a_request_cannot_write_and_the_one_that_comments_runs_none() {
    let examples = ["go", "node", "rust"].map(|name| format!("examples/{name}/deadheat.yml"));
    let examples = examples.iter().flat_map(|path| {
        let text = fs::read_to_string(project().join(path)).expect("reading an example");
        YamlLoader::load_from_str(&text).expect("YAML")
    });
    let documents = ["README.md", "docs/ci.md"].map(yaml_blocks);
    let workflows: Vec<Yaml> = examples
        .chain(documents.into_iter().flatten())
        .filter(|yaml| !yaml["jobs"].is_badvalue())
        .collect();
    assert!(workflows.len() > 4, "{workflows:?}");
    let granted = |what: &str, how: &str| vec![(what.to_owned(), how.to_owned())];
    for workflow in &workflows {
        let jobs: Vec<&Yaml> = workflow["jobs"].as_hash().expect("jobs").values().collect();
        assert_eq!(permissions(workflow), [], "{workflow:?}");
        let [measure, comment] = jobs[..] else {
            panic!("two jobs: {workflow:?}");
        };
        assert_eq!(permissions(measure), granted("contents", "read"));
        assert!(uses(measure).contains(&"deadheat/deadheat".to_owned()));
        let checkout = &measure["steps"][0]["with"];
        assert_eq!(checkout["persist-credentials"].as_bool(), Some(false));
        assert_eq!(permissions(comment), granted("pull-requests", "write"));
        assert_eq!(uses(comment), ["deadheat/deadheat/comment"]);
        assert_eq!(comment["steps"].as_vec().map(Vec::len), Some(1));
    }
    // The action that measures has no token at all, and the other one runs its own script only.
    let text = |path: &str| fs::read_to_string(project().join(path)).expect("reading an action");
    assert!(!text("action.yml").to_lowercase().contains("token"));
    let comment = YamlLoader::load_from_str(&text("comment/action.yml")).expect("YAML");
    let steps = comment[0]["runs"]["steps"].as_vec().expect("steps");
    assert_eq!(uses(&comment[0]["runs"]), ["actions/download-artifact"]);
    let runs: Vec<&str> = steps
        .iter()
        .filter_map(|step| step["run"].as_str())
        .collect();
    assert_eq!(
        runs,
        [
            "rm -rf -- \"$FOLDER\"",
            "printf \"name=%s\\n\" \"$(\"$GITHUB_ACTION_PATH/../action/compare.sh\" artifact)\" >>\"$GITHUB_OUTPUT\"",
            "\"$GITHUB_ACTION_PATH/../action/compare.sh\" comment"
        ]
    );
    // On GitLab, the token is a variable of an environment that only one job has.
    let jobs = template(&project());
    assert!(jobs["deadheat"]["environment"].is_badvalue());
    let comment = &jobs["deadheat-comment"];
    assert_eq!(
        comment["environment"]["name"].as_str(),
        Some("deadheat-comment")
    );
    assert_eq!(comment["variables"]["GIT_STRATEGY"].as_str(), Some("none"));
}

#[test]
fn every_page_that_names_folders_of_stacks_says_that_they_are_programs() {
    let docs = fs::read_dir(project().join("docs")).expect("listing the documents");
    let pages = docs.flatten().map(|entry| entry.path());
    let pages = pages.chain([
        project().join("README.md"),
        project().join("CONTRIBUTING.md"),
    ]);
    let mut named = 0;
    for page in pages.filter(|page| page.extension().is_some_and(|kind| kind == "md")) {
        let text = fs::read_to_string(&page).expect("reading a document");
        if text.contains("--stacks") {
            named += 1;
            let says = text.contains("configuration.md#stacks-are-programs")
                || text.contains("## Stacks are programs");
            assert!(says, "{} names --stacks", page.display());
        }
    }
    assert!(named > 2, "{named}");
}
