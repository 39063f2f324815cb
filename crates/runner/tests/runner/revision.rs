//! Stacks as they were at a revision of a git repository.

use std::{fs, path::Path, process::Command};

use deadheat_runner::{
    process::Supervision,
    revision::{Checkout, Revision, RevisionError, same_sources},
};
use tempfile::TempDir;

const MANIFEST: &str = r#"id = "go-one"
language = "Go"
framework = "one"
class = "platform"
runtime = "native"
workloads = ["plaintext"]

[run]
command = ["./server"]

[[variant]]
id = "plain"
description = "as it is"

[[variant]]
id = "2cpu"
description = "on two CPUs"
cpus = 2
"#;
const WORKLOAD: &str = r#"id = "plaintext"
description = "A constant text"
method = "GET"
path = "/plaintext"
content-type = "text/plain"
content-sample = 1

[oracle]
kind = "text"
body = "Hello, World!"

[[point]]
id = "c1"
connections = 1
"#;

fn supervision() -> Supervision {
    Supervision::by(env!("CARGO_BIN_EXE_runner-child"))
}

fn git(folder: &Path, arguments: &[&str]) {
    let own = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
    let output = Command::new("git")
        .current_dir(folder)
        .args(own)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A repository whose folder `below` (or itself, when that is empty) is a root folder, with three commits: without a
/// stack, with one, with another source of it.
fn repository(below: &str) -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(below);
    git(folder.path(), &["init", "-q", "-b", "main"]);
    write(&root, "workloads/plaintext.toml", WORKLOAD);
    write(
        &root,
        "stacks/go-two/stack.toml",
        &MANIFEST.replace("go-one", "go-two"),
    );
    for (number, source) in [None, Some("first"), Some("second")]
        .into_iter()
        .enumerate()
    {
        if let Some(source) = source {
            write(&root, "stacks/go-one/stack.toml", MANIFEST);
            write(&root, "stacks/go-one/server", source);
        }
        git(folder.path(), &["add", "-A"]);
        git(folder.path(), &["commit", "-q", "-m", &number.to_string()]);
    }
    (folder, root)
}

#[test]
fn a_stack_is_read_as_it_was_and_is_gone_in_the_end() {
    for below in ["", "bench/http"] {
        let (folder, root) = repository(below);
        let revision = Revision::find(&root, "HEAD~1").unwrap();
        assert!(revision.commit.starts_with(&revision.short), "{revision:?}");
        let checkout = Checkout::new(&root, "go-one", &revision, &supervision()).unwrap();
        let dir = checkout.stack().dir.clone();
        assert_eq!(fs::read_to_string(dir.join("server")).unwrap(), "first");
        // What stands in the work tree stays.
        let own = fs::read_to_string(root.join("stacks/go-one/server")).unwrap();
        assert_eq!(own, "second");
        let name = format!("go-one@{}", revision.short);
        let target = |variant| checkout.target(variant).map(|target| target.to_string());
        assert_eq!(target(None), Some(format!("{name}:plain")));
        assert_eq!(target(Some("2cpu")), Some(format!("{name}:2cpu")));
        assert_eq!(target(Some("no-such")), None);
        assert_eq!(
            checkout.stack().manifest.targets()[0].to_string(),
            format!("{name}:plain")
        );
        drop(checkout);
        assert!(!dir.exists(), "{} is still there", dir.display());
        let status = Command::new("git")
            .current_dir(folder.path())
            .args(["status", "--porcelain"])
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&status.stdout),
            "",
            "the checkout is as it was"
        );
    }
}

#[test]
fn what_cannot_be_had_is_said_with_what_to_do() {
    let (_folder, root) = repository("");
    let error = |typed: &str| Revision::find(&root, typed).unwrap_err().to_string();
    for typed in ["no-such", "", "-n", "HEAD~99"] {
        let error = error(typed);
        assert!(
            error.starts_with(&format!("`{typed}` names no commit")),
            "{error}"
        );
        assert!(error.contains("git log"), "{error}");
    }
    let first = Revision::find(&root, "HEAD~2").unwrap();
    let error = Checkout::new(&root, "go-one", &first, &supervision()).unwrap_err();
    assert!(
        matches!(&error, RevisionError::NoStack { has, .. } if has == &["go-two"]),
        "{error}"
    );
    assert!(error.to_string().contains("HEAD~2"), "{error}");

    let outside = tempfile::tempdir().unwrap();
    let error = Revision::find(outside.path(), "HEAD").unwrap_err();
    assert!(
        matches!(error, RevisionError::NoRepository { .. }),
        "{error}"
    );

    write(
        &root,
        "stacks/go-one/stack.toml",
        &MANIFEST.replace("runtime", "runtimes"),
    );
    git(&root, &["commit", "-q", "-a", "-m", "a mistake"]);
    let broken = Revision::find(&root, "HEAD").unwrap();
    let error = Checkout::new(&root, "go-one", &broken, &supervision()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("runtimes") && text.contains("stack.toml"),
        "{text}"
    );
}

#[test]
fn equal_sources_are_known_as_such() {
    let (_folder, root) = repository("bench");
    let at = |typed: &str| Revision::find(&root, typed).unwrap();
    let (old, new) = (at("HEAD~1"), at("HEAD"));
    let same = |one: Option<&Revision>, other: Option<&Revision>| {
        same_sources(&root, "go-one", one, other).unwrap()
    };
    assert!(same(None, None));
    assert!(same(Some(&new), Some(&new)) && same(Some(&new), None));
    assert!(!same(Some(&old), Some(&new)) && !same(None, Some(&old)));
    // Another stack has not changed.
    assert!(same_sources(&root, "go-two", Some(&old), Some(&new)).unwrap());
    // A new file is a difference, one that git ignores is none.
    write(&root, ".gitignore", "ignored\n");
    write(&root, "stacks/go-one/ignored", "");
    assert!(same(Some(&new), None));
    write(&root, "stacks/go-one/another", "");
    assert!(!same(Some(&new), None));
}
