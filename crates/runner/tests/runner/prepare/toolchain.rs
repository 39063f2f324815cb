use std::{
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use deadheat_model::stack::Toolchain;
use deadheat_runner::prepare::{FoundProgram, UnfitProgram, check_program};

use super::Workshop;

fn tool(minimum: Option<&str>, apt: &[&str]) -> Toolchain {
    Toolchain {
        program: "tool".to_owned(),
        version: vec!["tool".to_owned(), "--version".to_owned()],
        minimum: minimum.map(str::to_owned),
        maximum: None,
        apt: apt.iter().map(|name| (*name).to_owned()).collect(),
        hint: "https://tool.example".to_owned(),
    }
}

fn check(workshop: &Workshop, toolchain: &Toolchain) -> Result<FoundProgram, UnfitProgram> {
    check_program(&workshop.host(), &workshop.path("stack"), toolchain)
}

#[test]
fn a_program_is_found_and_asked_its_version() {
    let cases = [
        ("echo 'tool version v1.25.3 linux/amd64'", "1.25.3"),
        ("echo 'openjdk version \"17.0.9\" 2023-10-17' >&2", "17.0.9"),
        ("[ \"$1\" = --version ] && echo 21", "21"),
    ];
    for (script, version) in cases {
        let workshop = Workshop::new();
        workshop.program("tool", script);
        let found = check(&workshop, &tool(Some("1.25"), &[])).unwrap();
        assert_eq!(found.version, version);
        assert_eq!(found.path, workshop.path("bin/tool"));
    }
}

#[test]
fn a_version_is_asked_in_the_stacks_folder() {
    let workshop = Workshop::new();
    workshop
        .program("tool", "cat .tool-version")
        .file("stack/.tool-version", "3.1.4");
    assert_eq!(check(&workshop, &tool(None, &[])).unwrap().version, "3.1.4");
}

#[test]
fn what_will_not_do_is_said_with_its_reason() {
    let cases = [
        ("echo 1.24.9", "is too old; 1.25 or later is needed"),
        ("echo hello", "`tool --version` printed none"),
        (
            "echo; echo 'pyenv: tool: command not found' >&2; exit 127",
            "`tool --version` exited with status 127: pyenv: tool: command not found",
        ),
        (
            "echo 'warning: latin1 may malfunction'; echo '** (Mix) no task \"hex.info\"'; exit 1",
            "`tool --version` exited with status 1: ** (Mix) no task \"hex.info\"",
        ),
        (
            "echo 'Warning: no such thing'; exit 1",
            "exited with status 1: Warning: no such thing",
        ),
        ("true", "`tool --version` printed none"),
        // Whoever asks gets no answer, at once.
        (
            "echo 'Install it? [Yn]'; read answer || exit 3; echo 9.9",
            "`tool --version` exited with status 3: Install it? [Yn]",
        ),
        ("kill -9 $$", "was ended by SIGKILL"),
    ];
    for (script, reason) in cases {
        let workshop = Workshop::new();
        workshop.program("tool", script);
        let unfit = check(&workshop, &tool(Some("1.25"), &[])).unwrap_err();
        assert!(unfit.reason.contains(reason), "{}", unfit.reason);
    }
}

#[test]
fn a_missing_program_is_named_with_what_was_wanted() {
    let workshop = Workshop::sealed();
    let unfit = check(&workshop, &tool(Some("1.25"), &["tool-dev"])).unwrap_err();
    assert_eq!(unfit.reason, "tool 1.25 or later is not on the PATH");
    // There is no apt here.
    assert_eq!(unfit.remedy(&workshop.host()), "https://tool.example");
}

#[test]
fn a_file_that_cannot_be_executed_is_no_program() {
    let workshop = Workshop::sealed();
    workshop.file("bin/tool", "1.0");
    let unfit = check(&workshop, &tool(None, &[])).unwrap_err();
    assert_eq!(unfit.reason, "tool is not on the PATH");
}

#[test]
fn the_remedy_is_a_command_where_there_is_apt() {
    let mut workshop = Workshop::sealed();
    workshop.debian(&["tool-doc"]);
    let toolchain = tool(None, &["tool-dev", "tool-doc"]);
    let unfit = check(&workshop, &toolchain).unwrap_err();
    let as_root = "apt-get install -y --no-install-recommends -- tool-dev tool-doc (or: https://tool.example)";
    assert_eq!(unfit.remedy(&workshop.host()), as_root);
    workshop.root = false;
    assert_eq!(unfit.remedy(&workshop.host()), format!("sudo {as_root}"));
}

#[test]
fn packages_that_are_installed_already_are_no_remedy() {
    let workshop = Workshop::sealed();
    workshop.debian(&["tool-dev"]).program("tool", "echo 1.19");
    let unfit = check(&workshop, &tool(Some("1.25"), &["tool-dev"])).unwrap_err();
    assert_eq!(unfit.remedy(&workshop.host()), "https://tool.example");
}

#[test]
fn a_program_that_hangs_is_ended() {
    let workshop = Workshop::new();
    workshop.program("tool", "sleep 1000");
    let begun = Instant::now();
    let unfit = thread::scope(|scope| {
        let asked = scope.spawn(|| check(&workshop, &tool(None, &[])).unwrap_err());
        thread::sleep(Duration::from_millis(300));
        workshop.interrupt.store(true, Ordering::Relaxed);
        asked.join().unwrap()
    });
    assert!(
        unfit.reason.contains("`tool --version` was interrupted"),
        "{}",
        unfit.reason
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn packages_that_are_too_old_are_no_remedy() {
    let cases = [
        ("tool-dev", "  Candidate: 1.19.8-1", false),
        ("tool-dev", "  Candidate: 2:1.19+93", false),
        ("tool-dev", "  Candidate: 2:1.25~rc1", true),
        ("tool-dev", "  Candidate: 1.30", true),
        ("tool-dev", "  Candidate: (none)", true),
        ("tool-dev", "", true),
        // What is called otherwise counts otherwise.
        ("default-tool", "  Candidate: 2:1.19-74", true),
    ];
    for (package, said, helps) in cases {
        let workshop = Workshop::new();
        workshop.debian(&[]);
        workshop.program(
            "apt-cache",
            &format!("[ \"$*\" = 'policy {package}' ] && echo '{said}'"),
        );
        let unfit = check(&workshop, &tool(Some("1.25"), &[package])).unwrap_err();
        assert_eq!(!unfit.packages.is_empty(), helps, "{package}: {said}");
    }
}

#[test]
fn a_version_beyond_the_newest_that_works_is_too_new() {
    let workshop = Workshop::new();
    workshop.program("tool", "echo 3.7.17");
    let up_to = |maximum: &str| Toolchain {
        maximum: Some(maximum.to_owned()),
        ..tool(Some("3.6"), &[])
    };
    // All of 3.7 works, whatever its last number.
    for maximum in ["3.7", "3.7.17", "3.8", "4"] {
        assert!(check(&workshop, &up_to(maximum)).is_ok(), "{maximum}");
    }
    for maximum in ["3.6", "3.7.16", "2"] {
        let reason = check(&workshop, &up_to(maximum)).unwrap_err().reason;
        let path = workshop.path("bin/tool");
        assert_eq!(
            reason,
            format!(
                "tool 3.7.17 ({}) is too new; 3.6 to {maximum} is needed",
                path.display()
            )
        );
    }
}
