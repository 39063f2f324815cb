//! What the action runs of a release: nothing before its checksum is verified.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use deadheat_testkit::{
    OracleServer, Turn,
    answers::{send, sized},
};

use super::action::{gitlab, repository, run, run_of};
use crate::support::root::project;

/// The SHA-256 of something else.
const OTHER: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The archive of a release with a script in place of the program, as the release workflow packs it.
fn release(folder: &Path) -> PathBuf {
    let program = folder.join("program");
    let script = format!(
        "#!/bin/sh\nexec '{}' \"$@\"\n",
        env!("CARGO_BIN_EXE_deadheat")
    );
    fs::write(&program, script).expect("writing a program");
    let target = format!("{}-unknown-linux-musl", env::consts::ARCH);
    let mut pack = Command::new("bash");
    pack.arg(project().join(".github/package.sh"))
        .arg(&program)
        .arg(&target)
        .arg(folder);
    let output = pack.output().expect("starting bash");
    assert!(output.status.success(), "{output:?}");
    folder.join(format!("deadheat-{target}.tar.gz"))
}

/// A copy of the action and of the template that knows the archives in `folder` as those of a release.
fn copy_of_a_release(folder: &Path, tag: &str) -> PathBuf {
    let copy = folder.join("copy");
    for file in [
        "action/compare.sh",
        "action/release.sha256",
        "templates/compare.yml",
        ".github/record.sh",
    ] {
        let to = copy.join(file);
        fs::create_dir_all(to.parent().expect("a folder")).expect("making a folder");
        fs::copy(project().join(file), to).expect("copying the action");
    }
    let mut record = Command::new("bash");
    record
        .arg(copy.join(".github/record.sh"))
        .arg(tag)
        .arg(folder);
    let output = record.output().expect("starting bash");
    assert!(output.status.success(), "{output:?}");
    copy
}

#[test]
fn nothing_of_a_release_runs_before_the_checksum_that_the_action_knows_is_verified() {
    let folder = tempfile::tempdir().expect("making a folder");
    let archive = release(folder.path());
    let files = folder.path().to_owned();
    let releases = OracleServer::start(move |turn: &Turn<'_>| {
        let name = turn.request.path.strip_prefix("/download/v9.9.9/");
        let file = name.and_then(|name| fs::read(files.join(name)).ok());
        let status = if file.is_some() { 200 } else { 404 };
        send(sized(status, "", &file.unwrap_or_default()))
    });
    let releases = releases.expect("starting a server");
    let address = format!("http://{}", releases.address());
    let copy = copy_of_a_release(folder.path(), "v9.9.9");
    let root = repository();
    let variables = |version, sum| {
        [
            ("DEADHEAT_CI_BASE", "HEAD~1"),
            // Enough has run by then.
            ("DEADHEAT_CI_BUILD", "echo built; false"),
            ("DEADHEAT_CI_BINARY", ""),
            ("DEADHEAT_CI_RELEASES", address.as_str()),
            ("DEADHEAT_CI_VERSION", version),
            ("DEADHEAT_CI_SHA256", sum),
        ]
    };
    let version = |version, sum| run_of(&copy, &root, "measure", &variables(version, sum));
    let on_gitlab = |version, sum| gitlab(&copy, &root, &variables(version, sum));
    let runs = concat!("deadheat ", env!("CARGO_PKG_VERSION"));
    for own in ["", "v9.9.9"] {
        version(own, "").exits(1).tells(&[runs, "built"]);
    }
    on_gitlab("v9.9.9", "").exits(1).tells(&[runs, "built"]);
    // One that the action does not know needs a checksum of the user's.
    for unknown in ["v0.0.1", "latest"] {
        version(unknown, "").exits(2).tells(&["set 'sha256'"]);
    }
    on_gitlab("v0.0.1", "")
        .exits(2)
        .tells(&["set the input sha256"]);
    version("v0.0.1", OTHER).exits(3).tells(&["v0.0.1", "404"]);
    version("../v9.9.9", "").exits(2);
    // A copy that is no release's knows none at all.
    run(&root, "measure", &variables("", ""))
        .exits(2)
        .tells(&["belongs to no release"]);
    version("v9.9.9", OTHER)
        .exits(3)
        .tells(&["nothing of it was run"]);
    // Somebody who changes an archive can also change the checksum next to it.
    let mut bytes = fs::read(&archive).expect("reading the archive");
    bytes.push(0);
    fs::write(&archive, bytes).expect("changing the archive");
    let mut again = Command::new("bash");
    again.args(["-c", "cd \"$0\" && sha256sum *.tar.gz > new && for it in *.tar.gz; do cp new \"$it.sha256\"; done"]);
    assert!(again.arg(folder.path()).status().expect("bash").success());
    let changed = version("v9.9.9", "")
        .exits(3)
        .tells(&["nothing of it was run"]);
    assert!(!changed.stderr.contains(runs), "{changed}");
    let changed = on_gitlab("v9.9.9", "").exits(1);
    assert!(!changed.stderr.contains(runs), "{changed}");
}
