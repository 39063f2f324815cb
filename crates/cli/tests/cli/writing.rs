//! Where output goes: files that are something else, a full disk, terminals, and records that others made.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    process::Output,
};

use crate::support::{Fake, Root, running};

/// Runs `deadheat` with a full disk as its standard output.
fn on_a_full_disk(root: &Root, args: &str) -> Output {
    let full = File::options().write(true).open("/dev/full");
    running::command(root.path(), args)
        .stdout(full.expect("opening /dev/full"))
        .output()
        .expect("running deadheat")
}

#[test]
fn a_report_replaces_no_neighbour_no_link_and_no_device() {
    let (root, folder) = Root::measured();
    let path = |name: &str| root.path().join(name);
    root.write("page.part", "mine");
    root.write("linked.md", "from before");
    symlink(path("linked.md"), path("link.md")).expect("making a link");
    symlink("/dev/full", path("full.md")).expect("making a link");
    root.deadheat(&format!("report {folder} --format html -o page.html"))
        .exits(0);
    assert_eq!(fs::read_to_string(path("page.part")).unwrap(), "mine");
    root.deadheat(&format!("report {folder} --format markdown -o link.md"))
        .exits(0);
    assert!(path("link.md").is_symlink());
    let linked = fs::read_to_string(path("linked.md")).expect("reading the file");
    assert!(linked.contains("fake-one"), "{linked}");
    root.deadheat(&format!("report {folder} --format markdown -o full.md"))
        .exits(3)
        .tells(&["writing full.md", "No space left on device"]);
    assert!(path("full.md").is_symlink());
    let ended = root
        .deadheat(&format!("report {folder} --format csv -o /dev/stdout"))
        .exits(0);
    assert!(ended.stdout.starts_with("session,"), "{ended}");
}

#[test]
fn a_full_disk_is_an_error_with_a_message() {
    let (root, folder) = Root::measured();
    for args in [
        &format!("report {folder}"),
        &format!("report {folder} --format html"),
        "stacks list",
        "run --dry-run",
        "--help",
        "load --help",
        "--version",
    ] {
        let output = on_a_full_disk(&root, args);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "`deadheat {args}`: {told}");
        assert!(
            told.contains("writing to standard output: No space left on device"),
            "`deadheat {args}`: {told}"
        );
    }
}

#[test]
fn a_session_from_elsewhere_controls_no_terminal_and_stops_nobody() {
    let (root, folder) = Root::measured();
    let header = format!("{folder}/session.json");
    let text = fs::read_to_string(&header).expect("reading the header");
    let hostile = text
        .replace("\"plaintext\"", r#""plain\u001b[2J\u001b]0;title\u0007""#)
        .replace("fake-one", r"fake\u001b[31m-one");
    fs::write(&header, hostile).expect("writing the header");
    for args in ["", "--format markdown", "--format csv", "--format json"] {
        let ended = root.deadheat(&format!("--color never report {folder} {args}"));
        for written in [&ended.stdout, &ended.stderr] {
            assert!(!written.contains(['\u{1b}', '\u{7}']), "{ended}");
        }
    }
    // What serde quotes of it, too.
    let wrong = text.replacen("\"schema\": 1", r#""schema": 1, "started": "\u001b[2J""#, 1);
    fs::write(&header, wrong).expect("writing the header");
    let ended = root.deadheat(&format!("report {folder}"));
    assert!(!ended.stderr.contains('\u{1b}'), "{ended}");
    fs::remove_file(&header).expect("removing the header");
    let pipe = rustix::fs::mkfifoat(rustix::fs::CWD, &header, rustix::fs::Mode::RUSR);
    pipe.expect("making a pipe");
    root.deadheat(&format!("report {folder}"))
        .exits(2)
        .tells(&["session.json", "it is a device, a pipe or a socket"]);
    root.deadheat("history").exits(2);
}

#[test]
fn a_build_controls_no_terminal_and_its_long_lines_are_cut() {
    let script =
        r"printf '\033[2J\033]0;title\007%01000d\nat postgres://app:hunter2@db/x\n' 0; exit 1";
    let build = format!("[build]\nsteps = [[\"sh\", \"-c\", {script:?}]]\n");
    let root = Root::with(&[Fake::good("fake-one").with(&build)]);
    let ended = root.run("").exits(3);
    assert!(!ended.stderr.contains(['\u{1b}', '\u{7}']), "{ended}");
    assert!(!ended.stderr.contains("hunter2"), "{ended}");
    assert!(
        ended.stderr.contains(r"| \u001b[2J\u001b]0;title"),
        "{ended}"
    );
    let longest = ended.stderr.lines().map(|line| line.chars().count()).max();
    assert!(longest < Some(500), "{ended}");
}

#[test]
fn colors_are_as_asked_for_and_never_in_a_file_unasked() {
    let root = Root::with(&[]);
    root.write("stacks/broken/stack.toml", "id = 1");
    let told = |args: &str, variables: &[(&str, &str)]| {
        let mut command = running::command(root.path(), args);
        let output = command.envs(variables.iter().copied()).output();
        String::from_utf8(output.expect("running deadheat").stderr).expect("text")
    };
    let coloured = |text: String| text.contains("\u{1b}[");
    assert!(!coloured(told("run", &[])));
    assert!(coloured(told("run --color always", &[])));
    assert!(coloured(told("--color always run", &[("NO_COLOR", "1")])));
    assert!(coloured(told("run", &[("CLICOLOR_FORCE", "1")])));
    let never = told("run --color never", &[("CLICOLOR_FORCE", "1")]);
    assert!(!coloured(never));
    assert!(told("run --color sometimes", &[]).contains("auto, always, never"));
}
