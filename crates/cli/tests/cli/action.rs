//! What people run in CI: `action/compare.sh` in a repository with a planted slowdown, with an API of the test's own.

mod calls;

use std::{
    env, fs,
    path::Path,
    process::Command,
    sync::{Arc, Mutex, PoisonError},
};

use deadheat_testkit::{
    OracleServer, Request, Turn,
    answers::{send, sized},
};
use serde_json::{Value, json};
use yaml_rust2::{Yaml, YamlLoader};

use crate::support::{Ended, Root, Running, root::project, running};

/// The service: one thread, and one write for each answer.
const SERVER: &str = r#"
import os, selectors, socket
from work import WORK
listener = socket.create_server((os.environ["HOST"], int(os.environ["PORT"])), backlog=128)
waiting = selectors.DefaultSelector()
waiting.register(listener, selectors.EVENT_READ)
while True:
    for key, _ in waiting.select():
        if key.fileobj is listener:
            connection, _ = listener.accept()
            waiting.register(connection, selectors.EVENT_READ)
        elif key.fileobj.recv(65536):
            sum(range(WORK))
            key.fileobj.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        else:
            waiting.unregister(key.fileobj)
            key.fileobj.close()
"#;

/// The head does this many times the base's work, so that no machine is too busy to see it.
const SLOWER: u32 = 12;

/// Short heats of a small load, one argument per line.
const SHORT: &str =
    "--heat-time=300ms\n--slice=40ms\n--guard=10ms\n--warm-up=100ms\n-c\n2\n--seed=7\n";

const TOKEN: &str = "a-token-of-the-test";
/// The folder of results, in that of the test.
const RESULTS: &str = "tmp/results";

/// Fails if it is told what would let the measured code speak for the job.
const BUILD: &str = "cp work.txt work.py; ! env | grep -E '^(DEADHEAT_CI_TOKEN|GITHUB_(ENV|OUTPUT|PATH|STEP_SUMMARY))='";

/// A repository with a service, whose last commit made it slower.
pub(super) fn repository() -> Root {
    let root = Root::with(&[]);
    root.write("service/server.py", SERVER);
    git(&root, &["init", "--quiet", "--initial-branch=main"]);
    // What a hostile name could fetch into a branch.
    git(&root, &["remote", "add", "origin", "."]);
    for work in [5_000, 5_000 * SLOWER] {
        root.write("service/work.txt", &format!("WORK = {work}\n"));
        git(&root, &["add", "service"]);
        git(&root, &["commit", "--quiet", "--message=work"]);
    }
    root
}

#[track_caller]
fn git(root: &Root, args: &[&str]) -> String {
    let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
    let mut command = Command::new("git");
    command.args(identity).args(args).current_dir(root.path());
    let output = command.output().expect("starting git");
    assert!(output.status.success(), "git {args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("git writes UTF-8")
}

/// `compare.sh STEP` as a job of GitHub would run it, with these variables.
#[track_caller]
pub(super) fn run(root: &Root, step: &str, variables: &[(&str, &str)]) -> Ended {
    run_of(&project(), root, step, variables)
}

/// The same of another copy of the action.
#[track_caller]
pub(super) fn run_of(copy: &Path, root: &Root, step: &str, variables: &[(&str, &str)]) -> Ended {
    let mut command = running::script(root.path(), "exec \"$SCRIPT\" \"$STEP\"");
    command.env("SCRIPT", copy.join("action/compare.sh"));
    command.env("STEP", step);
    if step == "comment" {
        command.env("DEADHEAT_CI_TOKEN", TOKEN);
    }
    job(root, command, step, variables)
}

/// The jobs of the template for GitLab.
pub fn template(copy: &Path) -> Yaml {
    let path = copy.join("templates/compare.yml");
    let text = fs::read_to_string(path).expect("reading the template");
    let mut documents = YamlLoader::load_from_str(&text).expect("YAML");
    documents.remove(1)
}

/// The job that measures of a copy of the template for GitLab, with these variables.
#[track_caller]
pub(super) fn gitlab(copy: &Path, root: &Root, variables: &[(&str, &str)]) -> Ended {
    let jobs = template(copy);
    let lines = |list: &Yaml| -> Vec<String> {
        let lines = list.as_vec().expect("a list").iter();
        lines
            .map(|line| line.as_str().expect("a line").to_owned())
            .collect()
    };
    let before = lines(&jobs[".deadheat"]["before_script"]);
    let script = lines(&jobs["deadheat"]["script"]);
    let recorded = jobs[".deadheat"]["variables"]["DEADHEAT_CI_RECORDED"].as_str();
    let mut command = running::script(root.path(), "exec bash -eo pipefail -c \"$SCRIPT\"");
    command.env("SCRIPT", [before, script].concat().join("\n"));
    command.env("DEADHEAT_CI_RECORDED", recorded.expect("a text"));
    job(root, command, "on GitLab", variables)
}

#[track_caller]
fn job(root: &Root, mut command: Command, what: &str, variables: &[(&str, &str)]) -> Ended {
    let at = |name: &str| root.path().join(name);
    command
        .env("DEADHEAT_CI_BINARY", env!("CARGO_BIN_EXE_deadheat"))
        .env("DEADHEAT_CI_BUILD", BUILD)
        .env("DEADHEAT_CI_START", "exec python3 server.py")
        .env("DEADHEAT_CI_DIRECTORY", "service")
        .env("DEADHEAT_CI_FOLDER", at(RESULTS))
        .env("DEADHEAT_CI_NAME", "the service --><script>")
        .env("GITHUB_ENV", at("env"))
        .env("GITHUB_OUTPUT", at("outputs"))
        .env("GITHUB_STEP_SUMMARY", at("summary.md"))
        .env("GITHUB_REPOSITORY", "owner/name")
        .env_remove("GITLAB_CI")
        .envs(variables.iter().copied());
    let shown = format!("compare.sh {what} {variables:?}");
    let _ = fs::remove_file(at("outputs"));
    Running::start_command(root.path(), command, &shown).wait()
}

/// An output of the last `measure`.
#[track_caller]
fn output(root: &Root, name: &str) -> String {
    let outputs = fs::read_to_string(root.path().join("outputs")).expect("reading the outputs");
    let mut lines = outputs.lines().filter_map(|line| line.split_once('='));
    let found = lines.find(|(other, _)| *other == name);
    found
        .unwrap_or_else(|| panic!("no {name} in {outputs}"))
        .1
        .to_owned()
}

/// The comments of a request: number, author, text.
type Comments = Arc<Mutex<Vec<(usize, String, String)>>>;

/// An API with comments: that of GitHub under `/repos`, that of GitLab under `/projects`.
fn api(comments: &Comments) -> OracleServer {
    let comments = Arc::clone(comments);
    let answered = move |turn: &Turn<'_>| {
        let (status, body) = answer(turn.request, &comments);
        send(sized(status, "", body.to_string().as_bytes()))
    };
    OracleServer::start(answered).expect("starting the API")
}

fn answer(request: &Request, comments: &Comments) -> (u16, Value) {
    const OF_GITHUB: &str = "/repos/owner/name/issues";
    const OF_GITLAB: &str = "/projects/3/merge_requests/7/notes";
    let (own, author) = if request.header("authorization") == Some(&format!("Bearer {TOKEN}")) {
        ("github-actions[bot]", "user")
    } else if request.header("private-token") == Some(TOKEN) {
        ("project_3_bot", "author")
    } else {
        return (401, Value::Null);
    };
    let mut comments = comments.lock().unwrap_or_else(PoisonError::into_inner);
    let text = || -> Option<String> {
        let body: Value = serde_json::from_slice(&request.body).ok()?;
        Some(body["body"].as_str()?.to_owned())
    };
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let is_list = [&format!("{OF_GITHUB}/7/comments"), OF_GITLAB].contains(&path);
    match request.method.as_str() {
        "GET" if path == "/user" && author == "author" => (200, json!({"username": own})),
        "GET" if is_list => {
            // Two pages, of which the second is empty.
            let shown = comments.iter().filter(|_| query.ends_with("&page=1"));
            let shown = shown.map(|(id, by, text)| {
                json!({"id": id, author: {"login": by, "username": by}, "body": text})
            });
            (200, shown.collect())
        }
        "POST" if is_list => {
            let Some(text) = text() else {
                return (422, Value::Null);
            };
            let id = 100 + comments.len();
            comments.push((id, own.to_owned(), text));
            (201, json!({}))
        }
        "PATCH" | "PUT" => {
            let id = path.rsplit('/').next().and_then(|id| id.parse().ok());
            let prefix = if author == "user" {
                format!("{OF_GITHUB}/comments/")
            } else {
                format!("{OF_GITLAB}/")
            };
            let found = comments
                .iter_mut()
                .find(|one| Some(one.0) == id && path.starts_with(&prefix));
            match (found, text()) {
                (Some(comment), Some(text)) => {
                    comment.2 = text;
                    (200, json!({}))
                }
                _ => (404, Value::Null),
            }
        }
        // Also `GET /user` with the token of a workflow.
        _ => (403, Value::Null),
    }
}

#[test]
fn a_slowdown_fails_and_is_commented_and_the_comment_is_kept_up_to_date() {
    let root = repository();
    let threshold = ("DEADHEAT_CI_FAIL_IF_SLOWER", "50%");
    // As many heats as the verdict needs: on a busy machine, more.
    let ended = run(
        &root,
        "measure",
        &[
            ("DEADHEAT_CI_BASE", "HEAD~1"),
            ("DEADHEAT_CI_BUDGET", "3m"),
            ("DEADHEAT_CI_OPTIONS", SHORT),
            threshold,
        ],
    );
    ended
        .exits(1)
        .says(&["this commit makes GET / ", "slower than HEAD"])
        .tells(&["the head is slower by more than 50%"]);
    assert_eq!(output(&root, "verdict"), "slower");
    for (name, below) in [("low", 0.5), ("ratio", 0.5), ("high", 1.0)] {
        let ratio: f64 = output(&root, name).parse().expect("a number");
        assert!(ratio > 0.0 && ratio < below, "{name} {ratio}");
    }
    assert_eq!(
        output(&root, "head"),
        git(&root, &["rev-parse", "HEAD"]).trim()
    );
    let summary = fs::read_to_string(root.path().join("summary.md")).expect("a summary");
    assert!(
        summary.contains("slower than HEAD") && !summary.contains("<script>"),
        "{summary}"
    );
    assert_eq!(git(&root, &["worktree", "list"]).lines().count(), 1);

    // Somebody else has a comment with the same first line.
    let marker = "<!-- deadheat the service --script -->";
    let forged = format!("{marker}\n");
    let comments: Comments = Arc::default();
    comments
        .lock()
        .unwrap()
        .push((1, "mallory".to_owned(), forged.clone()));
    let api = api(&comments);
    let address = format!("http://{}", api.address());
    let of_github = [
        ("GITHUB_API_URL", address.as_str()),
        ("DEADHEAT_CI_REQUEST", "7"),
    ];
    for _ in 0..2 {
        run(&root, "comment", &of_github).exits(0);
        let comments = comments.lock().unwrap();
        assert_eq!(comments.len(), 2, "{comments:?}");
        assert_eq!(comments[0].2, forged);
        let text = &comments[1].2;
        assert!(text.starts_with(marker), "{text}");
        for part in [
            "pull request makes the service slower",
            "\n this commit makes GET / ",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    // No change: a false alarm may come, but not one of half the speed.
    fs::remove_dir_all(root.path().join(RESULTS)).expect("removing the results");
    let ended = run(
        &root,
        "measure",
        &[
            ("DEADHEAT_CI_BASE", "main"),
            ("DEADHEAT_CI_OPTIONS", &format!("{SHORT}--heats\n2")),
            threshold,
        ],
    );
    ended.exits(0);
    assert_ne!(output(&root, "verdict"), "failed");
    run(&root, "comment", &of_github).exits(0);
    let of_gitlab = [
        ("GITLAB_CI", "true"),
        ("CI_API_V4_URL", address.as_str()),
        ("CI_PROJECT_ID", "3"),
        ("DEADHEAT_CI_REQUEST", "7"),
    ];
    for _ in 0..2 {
        run(&root, "comment", &of_gitlab).exits(0);
    }
    let comments = comments.lock().unwrap();
    let authors: Vec<&str> = comments.iter().map(|one| one.1.as_str()).collect();
    assert_eq!(authors, ["mallory", "github-actions[bot]", "project_3_bot"]);
    assert!(comments[2].2.contains("merge request"), "{comments:?}");
    drop(comments);

    // A fork's token may not write.
    let refused = [
        of_github[0],
        of_github[1],
        ("DEADHEAT_CI_TOKEN", "of-a-fork"),
    ];
    run(&root, "comment", &refused)
        .exits(0)
        .tells(&["pull-requests: write"]);
}

#[test]
fn a_job_that_has_a_token_does_not_run_what_it_measures() {
    let root = repository();
    let variables = |token| {
        [
            ("DEADHEAT_CI_BASE", "HEAD~1"),
            ("DEADHEAT_CI_BUILD", "touch ../../../built"),
            token,
        ]
    };
    let why = ["the code that is measured could read it"];
    for token in ["DEADHEAT_CI_TOKEN", "DEADHEAT_TOKEN"] {
        let refused = run(&root, "measure", &variables((token, TOKEN)));
        refused.exits(2).tells(&why);
    }
    // A shell above that had it can be read, too.
    let mut command = running::script(root.path(), "(unset DEADHEAT_TOKEN; \"$SCRIPT\" measure)");
    command.env("SCRIPT", project().join("action/compare.sh"));
    let variables = variables(("DEADHEAT_TOKEN", TOKEN));
    job(&root, command, "measure", &variables)
        .exits(2)
        .tells(&why);
    assert!(!root.path().join("tmp/built").exists());
}

#[test]
fn the_verdict_is_that_of_the_comparison_and_not_of_a_file_that_a_build_left() {
    let root = repository();
    let compared = |verdict: &str, ratio: f64| {
        json!({"compared": [{"verdict": verdict, "decide": "throughput", "ratios": [{
            "metric": "throughput",
            "ratio": ratio,
            "interval": {"low": ratio, "high": ratio},
        }]}]})
    };
    let (true_one, forged) = (compared("worse", 0.5), compared("better", 2.0));
    let program = format!(
        "case $1 in --version) echo deadheat 0;; compare) echo '{true_one}'; exit 1;; *) echo '{forged}';; esac"
    );
    root.write_program("fake-deadheat", &program);
    let build = format!(
        "mkdir -p ../../../results/9 && for name in report.json outputs results/9/session.json; do \
         echo '{forged}' > ../../../$name; done"
    );
    let program = root.path().join("fake-deadheat").display().to_string();
    let variables = [
        ("DEADHEAT_CI_BASE", "HEAD~1"),
        ("DEADHEAT_CI_BINARY", program.as_str()),
        ("DEADHEAT_CI_BUILD", build.as_str()),
        ("DEADHEAT_CI_FAIL_IF_SLOWER", "5%"),
    ];
    run(&root, "measure", &variables).exits(1);
    assert_eq!(output(&root, "verdict"), "slower");
    assert_eq!(output(&root, "ratio"), "0.5");
    let written = fs::read_to_string(root.path().join(RESULTS).join("outputs")).unwrap();
    assert!(written.starts_with("verdict=slower\n"), "{written}");
}

/// The verdict is the comparison's own word, also where a rate that a side cannot take leaves no ratio.
#[test]
fn where_the_cost_decides_the_action_says_so() {
    let root = repository();
    for (verdict, expected, said) in [
        ("worse", "more expensive", "the head is more expensive"),
        ("not-enough-data", "undecided", "is not excluded"),
    ] {
        let compared = json!({"compared": [{"verdict": verdict, "decide": "cpu", "ratios": []}]});
        let program =
            format!("case $1 in --version) echo deadheat 0;; *) echo '{compared}'; exit 1;; esac");
        root.write_program("fake-deadheat", &program);
        let program = root.path().join("fake-deadheat").display().to_string();
        let variables = [
            ("DEADHEAT_CI_BASE", "HEAD~1"),
            ("DEADHEAT_CI_BINARY", program.as_str()),
            ("DEADHEAT_CI_OPTIONS", "--decide=cpu"),
            ("DEADHEAT_CI_REQUIRE_DECISION", "true"),
        ];
        let ended = run(&root, "measure", &variables);
        assert_eq!(output(&root, "verdict"), expected);
        ended.exits(1).tells(&[said]);
    }
}

#[test]
fn what_was_measured_is_quoted_in_a_comment_and_nothing_of_it_is_active() {
    let root = Root::with(&[]);
    let comments: Comments = Arc::default();
    let api = api(&comments);
    let address = format!("http://{}", api.address());
    let comment = |report: &str, outputs: &str| -> String {
        root.write(&format!("{RESULTS}/report.txt"), report);
        root.write(&format!("{RESULTS}/outputs"), outputs);
        let variables = [
            ("GITHUB_API_URL", address.as_str()),
            ("DEADHEAT_CI_REQUEST", "7"),
        ];
        run(&root, "comment", &variables).exits(0);
        comments.lock().unwrap().pop().expect("a comment").2
    };
    let plain = comment("", "verdict=faster\nratio=1.25\nlow=1.2\nhigh=1e1\n");
    assert!(
        plain.contains(
            "service faster.** Its throughput is 1.25 times that of the base (1.2 to 10)."
        ),
        "{plain}"
    );

    let hostile = "```\n/merge\n@everyone ![x](http://h/) <img src=x>\n\u{202e}\u{200b}\u{1b}[31m\r\n````\n/close";
    let text = comment(
        hostile,
        "verdict=slower](http://h/)\nratio=1; touch pwned\nlow=$(touch pwned)\nbase=@everyone\nverdict=slower\n",
    );
    let (before, quoted) = text.split_once("\n```text\n").expect("a block");
    let (quoted, after) = quoted.split_once("\n```\n").expect("its end");
    for text in [before, after] {
        assert!(
            !text.contains(['@', '[', '$']) && !text.contains("\n/"),
            "{text}"
        );
    }
    assert!(before.contains("Nothing could be compared"), "{before}");
    assert!(quoted.lines().all(|line| line.starts_with(' ')), "{quoted}");
    let is_plain = |c: char| c == '\n' || (!c.is_control() && c != '`');
    assert!(quoted.chars().all(is_plain), "{quoted:?}");
    assert!(!quoted.contains(['\u{202e}', '\u{200b}']), "{quoted:?}");
    assert!(quoted.contains("@everyone") && quoted.contains("\n /merge\n"));

    let long = comment(&"x".repeat(1_000_000), "");
    assert!(long.len() < 30_000, "{}", long.len());
    let long = comment(&"é\n".repeat(300_000), "");
    assert!(long.len() < 60_000, "{}", long.len());

    // A link could lead to what only this job can read.
    root.write("secret", "verdict=faster\nthe secret\n");
    for name in ["report.txt", "outputs"] {
        let path = root.path().join(RESULTS).join(name);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(root.path().join("secret"), &path).unwrap();
    }
    let variables = [
        ("GITHUB_API_URL", address.as_str()),
        ("DEADHEAT_CI_REQUEST", "7"),
    ];
    run(&root, "comment", &variables).exits(0);
    let text = comments.lock().unwrap().pop().expect("a comment").2;
    assert!(
        text.contains("Nothing could be compared") && !text.contains("secret"),
        "{text}"
    );
    // Nor does a folder that is not there stop it.
    fs::remove_dir_all(root.path().join(RESULTS)).unwrap();
    run(&root, "comment", &variables).exits(0);
    assert!(!root.path().join("pwned").exists());
}

#[test]
fn a_name_never_becomes_a_command() {
    let root = repository();
    let pwned = root.path().join("pwned");
    for name in [
        "$(touch pwned)",
        "`touch pwned`",
        "a; touch pwned",
        "--upload-pack=touch pwned",
        "main:refs/heads/other",
        "+main",
        "0000000000000000000000000000000000000000",
        "",
    ] {
        run(&root, "measure", &[("DEADHEAT_CI_BASE", name)]).exits(2);
    }
    let base = ("DEADHEAT_CI_BASE", "HEAD~1");
    for (variable, text, exit) in [
        ("DEADHEAT_CI_DIRECTORY", "$(touch pwned)", 2),
        ("DEADHEAT_CI_REQUIRE_DECISION", "$(touch pwned)", 2),
        ("DEADHEAT_CI_FAIL_IF_SLOWER", "$(touch pwned)", 2),
        ("DEADHEAT_CI_FAIL_IF_COSTLIER", "$(touch pwned)", 2),
        ("DEADHEAT_CI_BUDGET", "x; touch pwned", 2),
        ("DEADHEAT_CI_PATH", "$(touch pwned)", 2),
        ("DEADHEAT_CI_OPTIONS", "--path\n`touch pwned`", 2),
    ] {
        run(&root, "measure", &[base, (variable, text)]).exits(exit);
    }
    assert!(!pwned.exists());
    assert_eq!(
        git(&root, &["for-each-ref", "--format=%(refname)"]).trim(),
        "refs/heads/main"
    );
    assert_eq!(git(&root, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_base_that_a_shallow_clone_lacks_is_fetched() {
    let whole = repository();
    let base = git(&whole, &["rev-parse", "HEAD~1"]);
    let shallow = Root::with(&[]);
    let origin = whole.path().display().to_string();
    git(&shallow, &["init", "--quiet"]);
    git(&shallow, &["remote", "add", "origin", &origin]);
    git(
        &shallow,
        &["fetch", "--quiet", "--depth=1", "origin", "main"],
    );
    git(&shallow, &["checkout", "--quiet", "FETCH_HEAD"]);
    let stops = ("DEADHEAT_CI_BUILD", "false");
    let ended = run(
        &shallow,
        "measure",
        &[("DEADHEAT_CI_BASE", base.trim()), stops],
    );
    ended
        .exits(1)
        .tells(&[&format!("building base ({})", base.trim())]);
}

#[test]
fn a_pull_request_is_compared_with_the_base_that_it_was_merged_into() {
    let root = repository();
    let id = |name: &str| git(&root, &["rev-parse", name]).trim().to_owned();
    let told = id("HEAD");
    git(&root, &["checkout", "--quiet", "-b", "change"]);
    root.write("service/change.txt", "");
    git(&root, &["add", "service"]);
    git(&root, &["commit", "--quiet", "--message=change"]);
    let head = id("HEAD");
    // Others go on.
    git(&root, &["checkout", "--quiet", "main"]);
    root.write("service/others.txt", "");
    git(&root, &["add", "service"]);
    git(&root, &["commit", "--quiet", "--message=others"]);
    let base = id("HEAD");
    git(&root, &["merge", "--quiet", "--no-edit", "change"]);
    let stops = ("DEADHEAT_CI_BUILD", "false");
    let event = [
        ("DEADHEAT_CI_PULL_BASE", told.as_str()),
        ("DEADHEAT_CI_PULL_HEAD", &head),
        stops,
    ];
    let compared = |named: &str, expected: &str| {
        let variables = [&event[..], &[("DEADHEAT_CI_BASE", named)]].concat();
        let built = format!("building base ({expected})");
        run(&root, "measure", &variables).exits(1).tells(&[&built]);
    };
    compared(&told, &base);
    // A base of one's own is what was asked for.
    compared(&head, &head);
    // Without the merge commit, the base is that of the event.
    git(&root, &["checkout", "--quiet", "change"]);
    compared(&told, &told);
}

#[test]
fn what_breaks_is_named() {
    let root = repository();
    let base = ("DEADHEAT_CI_BASE", "HEAD~1");
    let build = ("DEADHEAT_CI_BUILD", "false");
    run(&root, "measure", &[base, build])
        .exits(1)
        .tells(&["building base", "failed"]);
    // The head does not start.
    root.write("service/work.txt", "WORK = none\n");
    git(&root, &["commit", "--quiet", "--all", "--message=broken"]);
    run(&root, "measure", &[base, ("DEADHEAT_CI_OPTIONS", SHORT)])
        .exits(1)
        .tells(&["the head failed"]);
    assert_eq!(output(&root, "verdict"), "failed");
}
