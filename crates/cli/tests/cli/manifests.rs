//! Mistakes in manifests and in what is typed: each is shown with its place and the nearest right word, all of them in
//! one go, and nothing is started.

use crate::support::{Ended, Fake, Root};

/// A root folder whose only stack's manifest was changed.
fn root_with(change: impl Fn(&str) -> String) -> Root {
    let stack = Fake::good("fake-one");
    let root = Root::with(&[]);
    let (before, after) = (stack.manifest(), change(&stack.manifest()));
    assert_ne!(before, after, "the manifest was not changed");
    root.write("stacks/fake-one/stack.toml", &after);
    root
}

/// Runs and asserts that it was refused before anything began.
#[track_caller]
fn refused(root: &Root, args: &str, fragments: &[&str]) -> Ended {
    let ended = root.deadheat(args).exits(2).has_no_data().tells(fragments);
    assert!(root.sessions().is_empty(), "a session was made: {ended}");
    assert!(
        root.told("started").is_empty(),
        "a stack was started: {ended}"
    );
    ended
}

#[test]
fn a_misspelt_key() {
    let root = root_with(|manifest| manifest.replace("command =", "comand ="));
    let place = "stacks/fake-one/stack.toml:15:1";
    refused(
        &root,
        "run",
        &[place, "unknown key `comand`", "did you mean `command`?"],
    );
}

#[test]
fn a_value_of_the_wrong_type() {
    let root = root_with(|manifest| manifest.replace("language = \"Python\"", "language = 7"));
    refused(
        &root,
        "run",
        &["stacks/fake-one/stack.toml:2:12", "language", "a string"],
    );
}

#[test]
fn a_manifest_that_is_no_toml() {
    let root = root_with(|manifest| manifest.replace("[run]", "[run"));
    refused(&root, "run", &["stacks/fake-one/stack.toml:14:"]);
}

#[test]
fn an_id_that_is_not_the_folders_name() {
    let root = root_with(|manifest| manifest.replace("fake-one", "fake-two"));
    let fragments = [
        "stacks/fake-one/stack.toml:1:6",
        "`fake-two`",
        "the folder is called `fake-one`",
    ];
    refused(&root, "run", &fragments);
}

#[test]
fn a_folder_that_was_copied_with_its_id() {
    let root = Root::with(&[Fake::good("fake-one")]);
    root.write(
        "stacks/fake-copy/stack.toml",
        &Fake::good("fake-one").manifest(),
    );
    let both = [
        "two stacks have the id `fake-one`",
        "stacks/fake-copy/stack.toml:1:6",
        "stacks/fake-one/stack.toml:1:6",
    ];
    refused(&root, "run", &both);
}

#[test]
fn two_variants_with_one_id() {
    let variant = "[[variant]]\nid = \"same\"\ndescription = \"a setting\"\n";
    let root = root_with(|manifest| format!("{manifest}{variant}{variant}"));
    refused(&root, "run", &["stacks/fake-one/stack.toml:", "`same`"]);
}

#[test]
fn all_mistakes_of_all_manifests_in_one_go() {
    let root = Root::with(&[Fake::good("fake-fine")]);
    let manifest = |id: &str| Fake::good(id).manifest();
    let two = manifest("fake-one")
        .replace("language", "langage")
        .replace("\"native\"", "\"nativ\"");
    root.write("stacks/fake-one/stack.toml", &two);
    root.write(
        "stacks/fake-two/stack.toml",
        &manifest("fake-two").replace("pool = \"none\"", "pool = \"nine\""),
    );
    root.write("workloads/broken.toml", "id = \"broken\"\n");
    let fragments = [
        "stacks/fake-one/stack.toml",
        "`langage`",
        "did you mean `language`?",
        "did you mean `native`?",
        "stacks/fake-two/stack.toml",
        "nine",
        "workloads/broken.toml",
        "`description`",
    ];
    for args in ["run", "stacks list", "stacks check", "setup --dry-run"] {
        refused(&root, args, &fragments);
    }
}

#[test]
fn a_stack_or_a_workload_that_there_is_not() {
    let root = Root::with(&[Fake::good("fake-one"), Fake::good("other-two")]);
    let stack = [
        "no stack matches `fake-oen`",
        "did you mean `fake-one`?",
        "`other-two`",
    ];
    refused(&root, "run --stack fake-oen", &stack);
    refused(&root, "stacks check fake-oen", &stack);
    let workload = [
        "no workload matches `plaintxt`",
        "did you mean `plaintext`?",
    ];
    refused(&root, "run --workload plaintxt", &workload);
    refused(
        &root,
        "run --workload plaintext:c44",
        &["did you mean `c4`?", "`c1`"],
    );
    refused(
        &root,
        "run --stack fake-one:fast",
        &["`fake-one` has no variants"],
    );
    let both = "run --stack fake-oen --workload plaintxt";
    refused(
        &root,
        both,
        &["did you mean `fake-one`?", "did you mean `plaintext`?"],
    );
    refused(&root, "run --stack [z-", &["`[z-` is not a valid glob"]);
}

#[test]
fn what_is_typed_wrongly() {
    let root = Root::with(&[Fake::good("fake-one")]);
    refused(&root, "run --haets 2", &["--haets", "--heats"]);
    refused(&root, "run --heats 0", &["0", "from 2 to 1,000"]);
    refused(&root, "run --budget 5", &["5", "write it like 90s or 10m"]);
    refused(&root, "run --budget 0s", &["greater than zero"]);
    refused(&root, "run --pinning apart-ish", &["apart", "off"]);
    refused(&root, "reprot", &["reprot", "report"]);
    refused(&root, "", &["Usage: deadheat"]);
    let sources = ["--postgres nonsense", "auto, installed, download or a URL"];
    refused(&root, "run --postgres nonsense", &sources);
    refused(&root, "stacks check --postgres nonsense", &sources);
    refused(&root, "setup --dry-run --postgres nonsense", &sources);
}

#[test]
fn a_folder_that_is_no_root_folder() {
    let root = Root::with(&[]);
    std::fs::remove_dir_all(root.path().join("workloads")).expect("removing the workloads");
    let named = ["--root", "no folder `workloads`"];
    refused(&root, "run --root .", &named);
    refused(
        &root,
        "run --root nowhere",
        &["nowhere", "no folder `stacks`"],
    );
}

#[test]
fn a_root_folder_without_stacks() {
    let root = Root::with(&[]);
    refused(&root, "run", &["there are none"]);
}

#[test]
fn a_folder_without_a_manifest_is_worth_a_warning() {
    let root = Root::with(&[Fake::good("fake-one")]);
    root.write("stacks/unfinished/notes.txt", "to do");
    let left_out = "warning: stacks/unfinished has no stack.toml and is skipped";
    root.run("--dry-run")
        .exits(0)
        .says(&["1 stack ×"])
        .tells(&[left_out]);
}
