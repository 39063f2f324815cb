use std::{
    collections::BTreeMap,
    fs,
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
        if_it_says: BTreeMap::new(),
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
        ("echo hello", "`tool --version` printed no version"),
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
        ("true", "`tool --version` printed no version"),
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
    assert_eq!(
        unfit.remedy(&workshop.host()),
        "install tool 1.25 or later: https://tool.example"
    );
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
    let as_root = "apt-get install -y --no-install-recommends --no-remove -oAPT::Cmd::Pattern-Only=true -- tool-dev tool-doc (or: install tool: https://tool.example)";
    assert_eq!(unfit.remedy(&workshop.host()), as_root);
    workshop.root = false;
    assert_eq!(unfit.remedy(&workshop.host()), format!("sudo {as_root}"));
}

#[test]
fn packages_that_are_installed_already_are_no_remedy() {
    let workshop = Workshop::sealed();
    workshop.debian(&["tool-dev"]).program("tool", "echo 1.19");
    let unfit = check(&workshop, &tool(Some("1.25"), &["tool-dev"])).unwrap_err();
    assert_eq!(
        unfit.remedy(&workshop.host()),
        "install tool 1.25 or later: https://tool.example"
    );
}

#[test]
fn packages_are_no_remedy_for_a_program_that_hides_theirs() {
    let workshop = Workshop::sealed();
    workshop.debian(&[]).program("tool", "echo 1.19");
    let unfit = check(&workshop, &tool(Some("1.25"), &["tool-dev"])).unwrap_err();
    assert_eq!(unfit.packages, [""; 0]);
    // Debian's own is the one that would be brought up to date.
    let bin = workshop.path("system/usr/bin");
    fs::create_dir_all(&bin).unwrap();
    fs::rename(workshop.path("bin/tool"), bin.join("tool")).unwrap();
    let mut host = workshop.host();
    host.path = format!("{}:{}", workshop.path("bin").display(), bin.display());
    let unfit = check_program(
        &host,
        &workshop.path("stack"),
        &tool(Some("1.25"), &["tool-dev"]),
    );
    assert_eq!(unfit.unwrap_err().packages, ["tool-dev"]);
}

/// The advice for `program`, which is at `path` on the PATH and does what `script` says.
fn advice_for(program: &str, path: &str, script: &str, minimum: &str) -> String {
    let mut workshop = Workshop::new();
    workshop.program("new", script);
    let place = workshop.path(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::rename(workshop.path("bin/new"), &place).unwrap();
    if path.starts_with("home/.cargo/") {
        fs::write(place.with_file_name("rustup"), "").unwrap();
    }
    let toolchain = Toolchain {
        program: program.to_owned(),
        version: vec![program.to_owned(), "--version".to_owned()],
        ..tool(Some(minimum), &[])
    };
    workshop.limit = Duration::from_secs(20);
    let mut host = workshop.host();
    host.path = format!("{}:/usr/bin:/bin", place.parent().unwrap().display());
    let stack = workshop.path("stack");
    let unfit = check_program(&host, &stack, &toolchain).unwrap_err();
    unfit.advice.replace(&stack.display().to_string(), "/stack")
}

#[test]
fn the_advice_fits_the_cause() {
    let no_default = "echo \"error: rustup could not choose a version of cargo to run, because one wasn't specified \
                      explicitly, and no default is configured.\" >&2; echo \"help: run 'rustup default stable' to \
                      download the latest stable release of Rust and set it as your default toolchain.\" >&2; exit 1";
    let not_installed =
        "echo \"pyenv: version \\`3.7' is not installed (set by /x/.python-version)\" >&2; exit 1";
    let not_chosen = "echo 'pyenv: python3.7: command not found'; echo; echo \"The \\`python3.7' command exists in these \
                      Python versions:\"; echo '  3.7.16'; exit 127";
    let cases = [
        (
            "cargo",
            "home/.cargo/bin/cargo",
            no_default,
            "1.88",
            "rustup default stable",
        ),
        (
            "cargo",
            "home/.cargo/bin/cargo",
            "echo \"error: toolchain '1.80' is not installed\"; echo 'help: run `rustup toolchain install 1.80` to install it'; exit 1",
            "1.88",
            "rustup toolchain install 1.80",
        ),
        (
            "cargo",
            "home/.cargo/bin/cargo",
            "echo cargo 1.70.0",
            "1.88",
            "rustup update stable && rustup default stable",
        ),
        (
            "cargo",
            "bin/cargo",
            "echo cargo 1.70.0",
            "1.88",
            "install cargo 1.88 or later: https://tool.example",
        ),
        (
            "node",
            "home/.nvm/versions/node/v18.1.0/bin/node",
            "echo v18.1.0",
            "20.18.1",
            "nvm install 20 && nvm alias default 20",
        ),
        (
            "go",
            "bin/go",
            "echo go1.19.8",
            "1.25",
            "install go 1.25 or later: https://tool.example",
        ),
        (
            "go",
            "bin/go",
            "echo go1.24.1",
            "1.25",
            "go env -w GOTOOLCHAIN=auto, or install go 1.25 or later: https://tool.example",
        ),
        (
            "node",
            "bin/node",
            "echo v18.1.0",
            "20.18.1",
            "install node 20.18.1 or later: https://tool.example",
        ),
        (
            "python3",
            "home/.pyenv/shims/python3",
            "echo Python 3.9.2",
            "3.11",
            "PYTHON_CONFIGURE_OPTS='--enable-optimizations --with-lto' pyenv install 3.11 && pyenv global 3.11",
        ),
        (
            "python3.7",
            "home/.pyenv/shims/python3.7",
            not_installed,
            "3.7",
            "pyenv install 3.7",
        ),
        (
            "python3.7",
            "home/.pyenv/shims/python3.7",
            not_chosen,
            "3.7",
            "cd /stack && pyenv local 3.7.16",
        ),
        (
            "ruby",
            "home/.rbenv/shims/ruby",
            "echo ruby 2.7.0",
            "3.1",
            "rbenv install 3.1.0 && rbenv global 3.1.0",
        ),
        (
            "tool",
            "bin/tool",
            "echo broken; exit 1",
            "1",
            "make `tool --version` work, or install tool 1 or later: https://tool.example",
        ),
    ];
    for (program, path, script, minimum, expected) in cases {
        assert_eq!(
            advice_for(program, path, script, minimum),
            expected,
            "{path}: {script}"
        );
    }
}

#[test]
fn the_manifest_knows_what_to_do_about_what_a_program_says() {
    let workshop = Workshop::new();
    let toolchain = Toolchain {
        if_it_says: BTreeMap::from([("No .NET SDKs".to_owned(), "install the SDK".to_owned())]),
        ..tool(None, &[])
    };
    workshop.program("tool", "echo 'No .NET SDKs were found.'; exit 145");
    assert_eq!(
        check(&workshop, &toolchain).unwrap_err().advice,
        "install the SDK"
    );
    workshop.program("tool", "echo 'no ICU'; exit 134");
    let other = check(&workshop, &toolchain).unwrap_err().advice;
    assert_eq!(
        other,
        "make `tool --version` work, or install tool: https://tool.example"
    );
}

#[test]
fn a_program_that_is_only_off_the_path_is_not_installed_again() {
    let workshop = Workshop::sealed();
    workshop.debian(&[]).program("go", "echo go1.25.0");
    let place = workshop.path("system/usr/local/go/bin/go");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::rename(workshop.path("bin/go"), &place).unwrap();
    let go = Toolchain {
        program: "go".to_owned(),
        ..tool(Some("1.25"), &["golang"])
    };
    let unfit = check(&workshop, &go).unwrap_err();
    let folder = place.parent().unwrap().display().to_string();
    assert_eq!(
        unfit.remedy(&workshop.host()),
        format!("export PATH=\"{folder}:$PATH\"")
    );
    // Where rustup is, cargo only lacks a toolchain.
    workshop.program("rustup", "true");
    let cargo = Toolchain {
        program: "cargo".to_owned(),
        ..tool(Some("1.88"), &[])
    };
    assert_eq!(
        check(&workshop, &cargo).unwrap_err().advice,
        "rustup default stable"
    );
}

#[test]
fn the_last_line_of_a_traceback_says_what_is_wrong() {
    let workshop = Workshop::new();
    let script = "echo 'Traceback (most recent call last):'; echo '  File \"<string>\", line 1, in <module>'; \
                  echo \"ModuleNotFoundError: No module named 'ensurepip'\"; exit 1";
    workshop.program("tool", script);
    let reason = check(&workshop, &tool(None, &[])).unwrap_err().reason;
    assert!(
        reason.ends_with("status 1: ModuleNotFoundError: No module named 'ensurepip'"),
        "{reason}"
    );
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
