//! Results that cannot be written: nothing is lost that was written before, and the message says what to do.

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::support::{Fake, Root, Running, eventually, running};

#[test]
fn a_file_in_the_place_of_the_results_folder() {
    let root = Root::with(&[Fake::good("fake-one")]);
    root.write("results", "I am a file\n");
    root.run("").exits(3).has_no_data().tells(&[
        "making the session's folder",
        "results/",
        "Not a directory",
        "--results",
    ]);
    assert!(
        root.told("started").is_empty(),
        "a stack was started though nothing could be kept"
    );
}

#[test]
fn a_folder_that_cannot_be_made() {
    let root = Root::with(&[Fake::good("fake-one")]);
    // Even root makes no folders here.
    root.run("--results /proc/deadheat")
        .exits(3)
        .tells(&["making the session's folder /proc/deadheat/", "--results"]);
}

/// Waits for the folder of the session that has just begun, before any of its records are written.
fn session_folder(root: &Root) -> PathBuf {
    eventually("a session's folder", || {
        root.sessions()
            .pop()
            .filter(|folder| folder.join("logs").exists())
    })
}

#[test]
fn a_full_disk_ends_the_session_and_keeps_what_is_on_it() {
    let root = Root::with(&[Fake::good("fake-one")]);
    // Room for the blob (64 KiB), and in the journal for some heats.
    let args = "run --heats 200 --whole-budget --heat-time 60ms --slice 10ms --guard 1ms --warm-up 10ms --rate none \
                --seed 1";
    let command = running::short_of_space(root.path(), 144, args);
    Running::start_command(root.path(), command, args)
        .wait()
        .exits(3)
        .tells(&[
            "writing",
            "heats.jsonl",
            "File too large",
            "heats finished before are safe in the session's folder",
            "free some space, or choose another folder with --results",
        ]);
    let kept = root.session().record.heats.len();
    assert!(kept > 0, "{kept} heats were kept");
}

/// A folder in the place of a file that is to be written.
fn obstruct(path: &Path) {
    fs::create_dir_all(path).expect("making a folder");
}

#[test]
fn a_report_that_cannot_be_written_loses_no_heat() {
    let root = Root::with(&[Fake::faulty("fake-slow", "slow-start")]);
    let running = root.start_run("");
    let folder = session_folder(&root);
    obstruct(&folder.join("report.html"));
    let shown = folder.display().to_string();
    running.wait().exits(3).tells(&[
        "report.html",
        "the heats are safe",
        &format!("`deadheat report {shown}` prints"),
    ]);
    root.session().assert_measured("fake-slow");
    root.deadheat(&format!("report {shown}"))
        .exits(0)
        .says(&["fake-slow", "2 heats"]);
}

#[test]
fn a_folder_whose_name_is_no_unicode() {
    let root = Root::with(&[Fake::good("fake-one")]);
    let results = OsStr::from_bytes(b"r\xe9sultats");
    let mut command = running::command(root.path(), "run --heats 2 --results");
    command.arg(results);
    // What is told to children is JSON, which has Unicode only. That is said, without a panic.
    Running::start_command(root.path(), command, "run --heats 2 --results r?sultats")
        .wait()
        .exits(3)
        .says(&["path contains invalid UTF-8"]);
}
