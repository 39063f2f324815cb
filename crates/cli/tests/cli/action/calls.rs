//! How the action calls `deadheat compare`, and what its artifact is called.

use std::fs;

use super::{RESULTS, git, repository, run, run_of};
use crate::support::{Root, root::project};

/// The arguments of `deadheat compare` in a `measure` with these variables, a line each, and then what the file
/// `request.json` has where it runs.
#[track_caller]
fn arguments(root: &Root, variables: &[(&str, &str)]) -> Vec<String> {
    let seen = root.path().join("arguments").display().to_string();
    let program = format!(
        "case $1 in --version) echo deadheat 0;; *) printf '%s\\n' \"$@\" >'{seen}'; cat request.json >>'{seen}'; exit 3;; esac"
    );
    root.write_program("fake-deadheat", &program);
    let program = root.path().join("fake-deadheat").display().to_string();
    let own = [("DEADHEAT_CI_BINARY", program.as_str())];
    run(root, "measure", &[&own[..], variables].concat()).exits(3);
    let written = fs::read_to_string(&seen).expect("reading the arguments");
    written.lines().map(str::to_owned).collect()
}

#[test]
fn it_runs_where_the_job_does_so_that_options_may_name_files_of_the_checkout() {
    let root = repository();
    root.write("request.json", "{\"item\": 1}\n");
    let variables = [
        ("DEADHEAT_CI_BASE", "HEAD~1"),
        ("DEADHEAT_CI_OPTIONS", "--body-file=request.json"),
    ];
    let found = arguments(&root, &variables);
    let folder = root.path().join(RESULTS).display().to_string();
    for expected in [
        format!("cmd:'{folder}/base'"),
        format!("cmd:'{folder}/head'"),
        format!("{folder}/results"),
        format!("{folder}/report.md"),
        "--body-file=request.json".to_owned(),
        "{\"item\": 1}".to_owned(),
    ] {
        assert!(found.contains(&expected), "{expected}: {found:?}");
    }
}

#[test]
fn only_the_base_of_the_request_has_the_name_of_its_branch() {
    let root = repository();
    root.write("request.json", "");
    let id = |name: &str| git(&root, &["rev-parse", name]).trim().to_owned();
    let (base, head) = (id("HEAD~1"), id("HEAD"));
    let name = |base: &str, of_request: &str| {
        let variables = [
            ("DEADHEAT_CI_BASE", base),
            ("DEADHEAT_CI_PULL_BASE", of_request),
            ("DEADHEAT_CI_PULL_HEAD", head.as_str()),
            ("GITHUB_BASE_REF", "main"),
        ];
        let found = arguments(&root, &variables);
        let mut names = found.iter().filter_map(|one| one.strip_prefix("--base="));
        names.next().expect("a name of the base").to_owned()
    };
    assert_eq!(name(&base, &base), "main");
    assert_eq!(name(&base, &head), base[..10]);
    assert_eq!(name("HEAD~1", &base), "HEAD~1");
}

#[test]
fn the_name_of_the_artifact_has_no_slash_in_both_jobs() {
    let root = Root::with(&[]);
    for (name, expected) in [
        ("services/api", "deadheat-services-api\n"),
        ("", "deadheat\n"),
    ] {
        let variables = [("DEADHEAT_CI_NAME", name)];
        let ended = run_of(&project(), &root, "artifact", &variables).exits(0);
        assert_eq!(ended.stdout, expected);
    }
    for (file, output) in [
        ("action.yml", "steps.measure.outputs.artifact"),
        ("comment/action.yml", "steps.artifact.outputs.name"),
    ] {
        let text = fs::read_to_string(project().join(file)).expect("reading an action");
        let name = format!("name: ${{{{ {output} }}}}");
        assert!(text.contains(&name), "{file}");
    }
}
