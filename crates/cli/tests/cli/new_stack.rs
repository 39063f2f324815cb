//! `deadheat stacks new`: every skeleton passes the check as it was made, and what cannot be made is refused.

use std::fs;

use deadheat_testkit::not_tested;

use crate::support::{Fake, Root, root::project};

/// Makes a stack in `language` and checks it.
fn passes(language: &str) {
    let root = Root::with(&[]);
    let id = format!("{language}-example");
    let command = format!("deadheat stacks check {id}");
    root.deadheat(&format!("stacks new {id}")).exits(0).says(&[
        "made ",
        "stack.toml",
        "README.md",
        ".gitignore",
        &command,
    ]);
    let folder = root.path().join("stacks").join(&id);
    let readme = fs::read_to_string(folder.join("README.md")).expect("a README.md");
    let last = readme.lines().last().unwrap_or_default();
    let promised = "Deviates from the contract/production practice in: ";
    assert!(last.starts_with(promised), "{readme}");
    for file in files_in(&folder) {
        let text = fs::read_to_string(&file).expect("a text");
        assert!(!text.contains("{{"), "{}: {text}", file.display());
    }
    let passed = format!("{id} plaintext: passed");
    let checked = root.deadheat(&format!("stacks check {id}")).exits(0);
    let unavailable = checked
        .stdout
        .strip_prefix(&format!("{id}: unavailable: "))
        .and_then(|rest| rest.lines().next());
    match unavailable {
        Some(because) => {
            not_tested(&format!("skeleton {language}"), because);
        }
        None => {
            checked.says(&[&passed, "1 passed, 0 failed, 0 unavailable"]);
        }
    }
}

fn files_in(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => files_in(&path),
            path => vec![path],
        })
        .collect()
}

macro_rules! every_skeleton_passes {
    ($($test:ident: $language:literal;)*) => {
        /// The languages that are tested.
        const TESTED: &[&str] = &[$($language),*];

        $(#[test]
        fn $test() {
            passes($language);
        })*
    };
}

every_skeleton_passes! {
    a_new_stack_in_csharp_passes: "csharp";
    a_new_stack_in_elixir_passes: "elixir";
    a_new_stack_in_go_passes: "go";
    a_new_stack_in_java_passes: "java";
    a_new_stack_in_javascript_passes: "javascript";
    a_new_stack_in_nim_passes: "nim";
    a_new_stack_in_php_passes: "php";
    a_new_stack_in_python_passes: "python";
    a_new_stack_in_ruby_passes: "ruby";
    a_new_stack_in_rust_passes: "rust";
}

#[test]
fn every_language_that_is_offered_is_tested() {
    let root = Root::with(&[]);
    let refused = root.deadheat("stacks new cobol-cics").exits(2);
    let offered = refused
        .stderr
        .split_once("only in ")
        .and_then(|(_, rest)| rest.split_once('.'))
        .map(|(names, _)| names.to_owned())
        .expect("a list of languages");
    let offered: Vec<&str> = offered.split(',').map(str::trim).collect();
    assert_eq!(offered, TESTED);
}

#[test]
fn what_is_left_is_said_and_stands_in_the_readme() {
    let root = Root::with(&[]);
    for id in ["hash", "json-decode", "users"] {
        root.copy_workload(id);
    }
    let said = root.deadheat("stacks new python-aiohttp").exits(0);
    let readme = root.path().join("stacks/python-aiohttp/README.md");
    let readme = fs::read_to_string(readme).expect("a README.md");
    for route in [
        "GET /bytes?rounds=N",
        "POST /json",
        "GET /users",
        "aiohttp itself",
    ] {
        assert!(said.stdout.contains(route), "{route}: {said}");
        assert!(
            readme
                .lines()
                .any(|line| line.starts_with("- [ ] ") && line.replace('`', "").contains(route)),
            "{route}: {readme}"
        );
    }
    // What it answers already is not left to do.
    assert!(!said.stdout.contains("GET /plaintext"), "{said}");
}

#[test]
fn another_languages_skeleton_is_taken_when_it_is_asked_for() {
    let root = Root::with(&[]);
    root.deadheat("stacks new perl-mojolicious --from python")
        .exits(0)
        .says(&["It is a stack in Python so far"]);
    root.deadheat("stacks check perl-mojolicious --strict")
        .exits(0)
        .says(&["1 passed, 0 failed, 0 unavailable"]);
    root.deadheat("stacks new kotlin-ktor --from cobol")
        .exits(2)
        .tells(&["no skeleton exists in `cobol`"]);
}

#[test]
fn what_is_no_name_and_what_is_there_already_is_refused() {
    let root = Root::with(&[]);
    for name in [
        "python",
        "Python-aiohttp",
        "-x",
        "python-",
        "python-a/b",
        "../go-x",
        "go-ünder",
    ] {
        // "-x" is an option that there is not.
        let refused = root.deadheat(&format!("stacks new {name}")).exits(2);
        assert!(refused.stdout.is_empty(), "{refused}");
    }
    root.deadheat("stacks new python")
        .exits(2)
        .tells(&["`python` is not a valid name for a stack", "python-aiohttp"]);
    let stacks = root.path().join("stacks");
    assert_eq!(files_in(&stacks), Vec::<std::path::PathBuf>::new());
    root.deadheat("stacks new go-chi").exits(0);
    root.write("stacks/go-chi/main.go", "mine");
    root.deadheat("stacks new go-chi")
        .exits(2)
        .tells(&["stacks/go-chi is there already"]);
    let main = fs::read_to_string(stacks.join("go-chi/main.go")).expect("my file");
    assert_eq!(main, "mine");
}

#[test]
fn a_mistake_in_another_stack_keeps_nobody_from_a_new_one() {
    let root = Root::with(&[]);
    root.write("stacks/go-broken/stack.toml", "id = 3\n");
    root.deadheat("stacks new python-aiohttp").exits(0);
}

#[test]
fn a_stack_is_made_in_the_root_that_is_named() {
    let (here, there) = (Root::with(&[]), Root::with(&[]));
    here.deadheat(&format!(
        "stacks new node-koa --root {}",
        there.path().display()
    ))
    .exits(0);
    assert!(there.path().join("stacks/node-koa/stack.toml").exists());
    assert!(!here.path().join("stacks/node-koa").exists());
    here.deadheat(&format!(
        "stacks new node-koa --root {}",
        project().join("docs").display()
    ))
    .exits(2);
}

#[test]
fn a_stack_of_ones_own_stands_in_a_folder_of_ones_own() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let said = root
        .deadheat("stacks new python-example --stacks mine")
        .exits(0)
        .says(&["deadheat stacks check python-example --stacks mine"]);
    assert!(said.stdout.contains("mine/python-example"), "{said}");
    assert!(!root.path().join("stacks/python-example").exists());
    root.deadheat("stacks check python-example --stacks mine --strict")
        .exits(0)
        .says(&["1 passed, 0 failed, 0 unavailable"]);
    root.deadheat("run --stacks mine --stack * --dry-run")
        .exits(0)
        .says(&["fake-one and python-example"]);
    root.deadheat("stacks check python-example")
        .exits(2)
        .tells(&["no stack matches `python-example`"]);
}
