//! `deadheat compare` of revisions of a stack: what is built of each, and that no folder of one is left, however it ends.

use std::fs;

use deadheat_model::heats::EndReason;
use rustix::process::Signal;

use super::comparing_live::{OF_STACKS, comparison, names, unhurried};
use crate::support::{Root, Running, eventually, flat, running};

/// A root folder that is a checkout with one commit.
fn checkout() -> Root {
    let root = Root::with(&[unhurried("fake-one")]);
    root.git("init -q -b main");
    root.git("add stacks workloads");
    root.git("commit -q -m first");
    root
}

#[test]
fn a_revision_is_compared_with_the_work_tree_and_leaves_no_folder() {
    let root = checkout();
    let server = root.path().join("stacks/fake-one/server.py");
    let changed = fs::read_to_string(&server).unwrap() + "\n# changed\n";
    root.write("stacks/fake-one/server.py", &changed);
    let ended = root
        .deadheat(&format!(
            "compare fake-one@HEAD fake-one --heats 2 {OF_STACKS}"
        ))
        .exits(0);
    let told = flat(&ended.stdout);
    assert!(
        !told.contains("A and B have the same sources"),
        "their sources differ: {ended}"
    );
    let record = comparison(&root);
    let [name, _] = names(&record);
    assert!(
        name.starts_with("fake-one@") && ended.stdout.contains(name),
        "{ended}"
    );
    assert_eq!(record.heats.len(), 2);
    assert_eq!(root.temporary(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn equal_sources_are_told_and_an_interrupt_leaves_no_folder_of_a_revision() {
    let root = checkout();
    let running = root.start(&format!("compare fake-one @HEAD --heats 500 {OF_STACKS}"));
    root.wait_for_lines(1);
    assert!(
        !root.temporary().is_empty(),
        "the revision's folder is there meanwhile"
    );
    running.signal(Signal::INT);
    running.wait().exits(130).says(&["same sources"]);
    assert_eq!(root.temporary(), Vec::<std::path::PathBuf>::new());
    assert_eq!(comparison(&root).end, Some(EndReason::Interrupted));
}

#[test]
fn two_variants_at_one_revision_are_built_both() {
    let variants = "[build]\nsteps = [[\"sh\", \"-c\", \"mkdir -p out && cp server.py out/server.py\"]]\n\
        artefacts = [\"out/server.py\"]\n\n\
        [[variant]]\nid = \"one\"\ndescription = \"One.\"\n\n\
        [[variant]]\nid = \"two\"\ndescription = \"Two.\"\n";
    let root = Root::with(&[unhurried("fake-one").with(variants)]);
    let manifest = root.path().join("stacks/fake-one/stack.toml");
    let text = fs::read_to_string(&manifest).expect("reading the manifest");
    // It is what was built that runs.
    let built = text.replace("\"server.py\"]\nenv", "\"out/server.py\"]\nenv");
    assert_ne!(text, built);
    fs::write(&manifest, built).expect("writing the manifest");
    root.git("init -q -b main");
    root.git("add stacks workloads");
    root.git("commit -q -m first");
    root.deadheat(&format!(
        "compare fake-one:one@HEAD fake-one:two@HEAD --heats 2 {OF_STACKS}"
    ))
    .exits(0);
    assert_eq!(comparison(&root).heats.len(), 2);
}

/// A `git` that tells when it unpacks a revision, and waits for leave.
const SLOW_GIT: &str = r#"#!/bin/sh
case "$*" in *read-tree*)
    touch "$WAITING"
    tries=0
    while [ ! -e "$LEAVE" ] && [ $tries -lt 300 ]; do sleep 0.1; tries=$((tries + 1)); done
esac
exec "$GIT" "$@"
"#;

#[test]
fn a_signal_while_a_revision_is_fetched_ends_it_in_order() {
    use std::os::unix::fs::PermissionsExt;
    let root = checkout();
    root.write("bin/git", SLOW_GIT);
    let script = root.path().join("bin/git");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("making it a program");
    let search = std::env::var("PATH").expect("there is a PATH");
    let mut folders = std::env::split_paths(&search).map(|folder| folder.join("git"));
    let real = folders
        .find(|file| file.exists())
        .expect("git is installed");
    let [waiting, leave] = ["waiting", "leave"].map(|name| root.path().join(name));
    let args = format!("compare fake-one@HEAD fake-one --heats 500 {OF_STACKS}");
    let mut command = running::command(root.path(), &args);
    command
        .env(
            "PATH",
            format!("{}:{search}", root.path().join("bin").display()),
        )
        .env("GIT", real)
        .env("WAITING", &waiting)
        .env("LEAVE", &leave);
    let running = Running::start_command(root.path(), command, &args);
    eventually("git is asked", || waiting.exists().then_some(()));
    running.signal(Signal::INT);
    fs::write(&leave, "").expect("giving leave");
    running.wait().exits(130).tells(&["interrupted before"]);
    assert_eq!(root.temporary(), Vec::<std::path::PathBuf>::new());
    assert!(root.sessions().is_empty());
}

#[test]
fn a_kill_leaves_no_folder_of_a_revision() {
    let root = checkout();
    let running = root.start(&format!(
        "compare fake-one@HEAD fake-one --heats 500 {OF_STACKS}"
    ));
    root.wait_for("started", 1);
    running.signal(Signal::KILL);
    running.wait().was_killed_by(9);
    eventually("the folder is gone", || {
        root.temporary().is_empty().then_some(())
    });
}

#[test]
fn revisions_that_cannot_be_had_are_refused() {
    let root = checkout();
    for (side, said) in [
        ("fake-one@no-such", "names no commit"),
        ("fake-one:fast@HEAD", "no variant `fast`"),
        ("fake-two@HEAD", "the stack `fake-two` does not exist"),
    ] {
        root.deadheat(&format!("compare fake-one {side}"))
            .exits(2)
            .tells(&[said]);
    }
    let outside = Root::with(&[unhurried("fake-one")]);
    outside
        .deadheat("compare fake-one fake-one@HEAD")
        .exits(2)
        .tells(&["no git checkout"]);
    assert!(root.sessions().is_empty() && root.temporary().is_empty());
}
