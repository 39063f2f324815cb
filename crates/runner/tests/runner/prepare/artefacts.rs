use std::{fs, os::unix::fs::symlink};

use deadheat_runner::prepare::artefact_bytes;

use super::Workshop;

fn bytes(workshop: &Workshop, artefacts: &[&str]) -> std::io::Result<u64> {
    let owned: Vec<String> = artefacts.iter().map(|name| (*name).to_owned()).collect();
    artefact_bytes(&workshop.path("stack"), &owned)
}

#[test]
fn files_and_folders_are_counted_with_all_that_is_in_them() {
    let workshop = Workshop::new();
    workshop
        .file("stack/out/server", "12345")
        .file("stack/out/lib/deep/x.so", "123");
    assert_eq!(bytes(&workshop, &["out/server"]).unwrap(), 5);
    assert_eq!(bytes(&workshop, &["out"]).unwrap(), 8);
    assert_eq!(bytes(&workshop, &[]).unwrap(), 0);
}

#[test]
fn what_has_several_names_counts_once() {
    let workshop = Workshop::new();
    workshop.file("stack/out/server", "12345");
    let out = workshop.path("stack/out");
    fs::hard_link(out.join("server"), out.join("copy")).unwrap();
    symlink("server", out.join("link")).unwrap();
    assert_eq!(
        bytes(&workshop, &["out", "out/server", "./out"]).unwrap(),
        5
    );
}

#[test]
fn links_count_what_they_lead_to_inside_the_stack_only() {
    let workshop = Workshop::new();
    workshop
        .file("stack/target/server", "12345")
        .file("logs/outside", "123456789");
    let stack = workshop.path("stack");
    fs::create_dir(stack.join("out")).unwrap();
    symlink("../target/server", stack.join("out/server")).unwrap();
    symlink(workshop.path("logs"), stack.join("out/system")).unwrap();
    symlink("..", stack.join("target/cycle")).unwrap();
    symlink("nowhere", stack.join("out/broken")).unwrap();
    assert_eq!(bytes(&workshop, &["out"]).unwrap(), 5);
    // The cycle leads to the stack itself, once.
    assert_eq!(bytes(&workshop, &["target"]).unwrap(), 5);
}

#[test]
fn an_artefact_that_is_not_there_is_named() {
    let workshop = Workshop::new();
    let error = bytes(&workshop, &["out/server"]).unwrap_err().to_string();
    assert!(error.contains("stack/out/server: No such file"), "{error}");
}
