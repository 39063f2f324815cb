//! A stack whose registry cannot be reached is unavailable, whichever language it is written in. The clients are the real
//! ones, and their registry is a port of this machine that nobody listens on.

use std::{env, process::Command};

use deadheat_runner::prepare::NotPrepared;
use deadheat_testkit::{is_missing, not_tested};

use super::Workshop;

const LOCK: &str = r#"{"name":"x","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{
    "":{"name":"x","version":"1.0.0","dependencies":{"left-pad":"1.3.0"}},
    "node_modules/left-pad":{"version":"1.3.0","resolved":"https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz",
    "integrity":"sha512-XI5MPzVNApjAyhQzphX8BkmKsKUxD4LdyK24iZeQGinBN9yTQT3bFlCBy/aVx2HrNcqQGsdot8ghrjyrvMCoEA=="}}}"#;
const POM: &str = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
    <groupId>x</groupId><artifactId>x</artifactId><version>1</version></project>";

const SETTINGS: &str = "<settings><localRepository>repository</localRepository><mirrors><mirror><id>c</id>\
    <mirrorOf>*</mirrorOf><url>http://127.0.0.1:1</url></mirror></mirrors></settings>";

/// What a client works in, and what it is called with. Settings and caches are the test's own; no client tries again for
/// long.
struct Client {
    files: &'static [(&'static str, &'static str)],
    env: &'static [&'static str],
    command: &'static [&'static str],
    named: &'static str,
}

/// A fetch that names another registry in the manifest than the client was told of.
fn why(client: &Client) -> NotPrepared {
    let mut workshop = Workshop::new();
    workshop.more_path = format!(":{}", env::var("PATH").unwrap()).leak();
    for (name, text) in client.files {
        workshop.file(&format!("stack/{name}"), text);
    }
    let home = workshop.path("home").display().to_string();
    let env = client.env.iter().map(|one| one.replace("~", &home));
    let command = client.command.iter().map(|word| (*word).to_owned());
    let words: Vec<String> = ["env".to_owned()]
        .into_iter()
        .chain(env)
        .chain(command)
        .collect();
    let stack = workshop.stack(&format!(
        "[build]\nregistry = \"the.manifest.test\"\nfetch = [{words:?}]"
    ));
    let inspection = workshop.inspect(&stack);
    let (fetched, _) =
        workshop.with_builder(|builder, tell| builder.fetch(&stack, &inspection, tell));
    fetched.unwrap_err()
}

#[track_caller]
fn is_unavailable(client: &Client) {
    let program = client.command[0];
    if is_missing(program, &format!("unreachable registry of {program}")) {
        return;
    }
    let found = match why(client) {
        NotPrepared::Unavailable(found) => found,
        NotPrepared::Failed(failure) => panic!("{failure:#?}"),
    };
    let begin = format!("{} cannot be reached (", client.named);
    assert!(found.reason.starts_with(&begin), "{found:?}");
    assert_eq!(found.remedy, "deadheat setup --stack toy");
}

#[test]
fn by_cargo() {
    is_unavailable(&Client {
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"x\"\nversion = \"0.1.0\"\n[dependencies]\nitoa = \"1\"\n",
            ),
            ("src/lib.rs", ""),
            (
                ".cargo/config.toml",
                "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\nregistry = \"sparse+http://127.0.0.1:1/\"\n",
            ),
        ],
        env: &["CARGO_HOME=~", "CARGO_NET_RETRY=0"],
        command: &["cargo", "fetch"],
        named: "the.manifest.test",
    });
}

#[test]
fn by_go() {
    is_unavailable(&Client {
        files: &[(
            "go.mod",
            "module x\n\ngo 1.21\n\nrequire github.com/pkg/errors v0.9.1\n",
        )],
        env: &[
            "GOPROXY=http://127.0.0.1:1",
            "GOMODCACHE=~",
            "GOFLAGS=-mod=mod",
            "GONOSUMDB=*",
            "GOTOOLCHAIN=local",
        ],
        command: &["go", "mod", "download"],
        named: "127.0.0.1:1",
    });
}

#[test]
fn by_npm() {
    is_unavailable(&Client {
        files: &[
            (
                "package.json",
                r#"{"name":"x","version":"1.0.0","dependencies":{"left-pad":"1.3.0"}}"#,
            ),
            ("package-lock.json", LOCK),
        ],
        env: &[
            "npm_config_registry=http://127.0.0.1:1",
            "npm_config_cache=~",
            "npm_config_fetch_retries=0",
        ],
        command: &["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        named: "127.0.0.1:1",
    });
}

#[test]
fn by_pip() {
    let pip = Command::new("python3")
        .args(["-m", "pip", "--version"])
        .output();
    if !pip.is_ok_and(|asked| asked.status.success()) {
        not_tested(
            "unreachable registry of pip",
            "python3 -m pip is not installed",
        );
        return;
    }
    is_unavailable(&Client {
        files: &[(
            "requirements.txt",
            "six==1.16.0 --hash=sha256:8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254\n",
        )],
        env: &[
            "PIP_INDEX_URL=http://127.0.0.1:1",
            "PIP_RETRIES=1",
            "PIP_CONFIG_FILE=/dev/null",
        ],
        command: &[
            "python3",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-cache-dir",
            "--target",
            "out",
            "--only-binary",
            ":all:",
            "--require-hashes",
            "-r",
            "requirements.txt",
        ],
        named: "the.manifest.test",
    });
}

#[test]
fn by_maven() {
    is_unavailable(&Client {
        files: &[("pom.xml", POM), ("settings.xml", SETTINGS)],
        env: &[],
        command: &[
            "mvn",
            "-s",
            "settings.xml",
            "--batch-mode",
            "--quiet",
            "--strict-checksums",
            "package",
        ],
        named: "127.0.0.1:1",
    });
}

#[test]
fn by_bundler() {
    is_unavailable(&Client {
        files: &[(
            "Gemfile",
            "source \"http://127.0.0.1:1\"\ngem \"deadheat-absent\"\n",
        )],
        // A mirror in the user's own settings would take the registry's place.
        env: &[
            "HOME=~",
            "BUNDLE_USER_HOME=~",
            "BUNDLE_APP_CONFIG=~",
            "BUNDLE_PATH=~/gems",
            "BUNDLE_RETRY=0",
        ],
        command: &["bundle", "install", "--quiet"],
        named: "the.manifest.test",
    });
}

#[test]
fn but_a_missing_lock_file_is_a_failure_of_the_stack() {
    let client = Client {
        files: &[("package.json", r#"{"name":"x","version":"1.0.0"}"#)],
        env: &["npm_config_cache=~"],
        command: &["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        named: "",
    };
    let failure = super::failed(why(&client));
    assert!(
        failure.reason.contains("exited with status 1"),
        "{failure:#?}"
    );
}
