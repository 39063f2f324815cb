use deadheat_model::stack::LockedPackage;
use deadheat_runner::prepare::locked::{LockedError, SUPPORTED, find_version, is_supported};

use super::Workshop;

const GO_MOD: &str = "\
module example.com/server

go 1.25.0

require github.com/single/one v1.0.0 // a comment

require (
\tgithub.com/jackc/pgx/v5 v5.12.0
\tgithub.com/jackc/puddle/v2 v2.2.2 // indirect
\tgolang.org/x/sync v0.17.0
)

replace golang.org/x/sync => example.com/fork/sync v0.18.1

replace (
\tgithub.com/single/one v1.0.0 => ../one
)
";

const PACKAGE_LOCK: &str = r#"{
  "name": "server", "version": "1.0.0", "lockfileVersion": 3,
  "packages": {
    "": { "name": "server", "dependencies": { "pg": "^8.0.0" } },
    "node_modules/pg": { "version": "8.16.3" },
    "node_modules/@scope/thing": { "version": "2.0.0-rc.1" },
    "node_modules/express/node_modules/pg": { "version": "7.0.0" }
  }
}"#;

const REQUIREMENTS: &str = "\
# by pip-compile
flask==3.1.2 \\
    --hash=sha256:aaa
    # via -r requirements.in
psycopg[binary,pool]==3.2.12 ; python_version >= '3.10'
Flask-SQLAlchemy == 3.0  # a comment
typing_extensions===4.15.0
uvloop>=0.20
";

const CARGO_LOCK: &str = r#"
version = 4

[[package]]
name = "rand"
version = "0.9.2"

[[package]]
name = "rand"
version = "0.10.0"

[[package]]
name = "axum"
version = "0.8.6"
dependencies = ["rand 0.9.2"]
"#;

fn version(file: &str, text: &str, package: &str) -> Result<String, LockedError> {
    let workshop = Workshop::new();
    workshop.file(&format!("stack/{file}"), text);
    let locked = LockedPackage {
        file: file.to_owned(),
        package: package.to_owned(),
    };
    find_version(&workshop.path("stack"), &locked).map(|found| {
        assert_eq!(found.name, package);
        found.version
    })
}

#[test]
fn versions_are_read_from_all_lock_files() {
    let cases = [
        ("go.mod", GO_MOD, "github.com/jackc/pgx/v5", "5.12.0"),
        ("go.mod", GO_MOD, "github.com/jackc/puddle/v2", "2.2.2"),
        ("go.mod", GO_MOD, "github.com/single/one", "1.0.0"),
        ("go.mod", GO_MOD, "golang.org/x/sync", "0.18.1"),
        ("package-lock.json", PACKAGE_LOCK, "pg", "8.16.3"),
        (
            "package-lock.json",
            PACKAGE_LOCK,
            "@scope/thing",
            "2.0.0-rc.1",
        ),
        ("requirements.txt", REQUIREMENTS, "flask", "3.1.2"),
        ("requirements.txt", REQUIREMENTS, "psycopg", "3.2.12"),
        ("requirements.txt", REQUIREMENTS, "flask_sqlalchemy", "3.0"),
        (
            "requirements.txt",
            REQUIREMENTS,
            "Typing.Extensions",
            "4.15.0",
        ),
        ("Cargo.lock", CARGO_LOCK, "axum", "0.8.6"),
        ("Cargo.lock", CARGO_LOCK, "rand", "0.10.0"),
        ("server/Cargo.lock", CARGO_LOCK, "axum", "0.8.6"),
    ];
    for (file, text, package, expected) in cases {
        assert_eq!(
            version(file, text, package).unwrap(),
            expected,
            "{package} in {file}"
        );
    }
}

#[test]
fn a_package_that_is_not_locked_is_named_with_its_file() {
    let cases = [
        ("go.mod", GO_MOD, "github.com/jackc/pgx"),
        ("package-lock.json", PACKAGE_LOCK, "express"),
        // A range is no version.
        ("requirements.txt", REQUIREMENTS, "uvloop"),
        ("Cargo.lock", CARGO_LOCK, "tokio"),
        ("go.mod", "", "x"),
    ];
    for (file, text, package) in cases {
        let error = version(file, text, package).unwrap_err();
        assert!(matches!(error, LockedError::Missing { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(file) && text.contains(package) && text.contains("[[locked]]"),
            "{text}"
        );
    }
}

#[test]
fn a_file_that_is_not_what_it_is_called_is_refused() {
    let cases = [
        ("package-lock.json", "not json", "expected"),
        (
            "package-lock.json",
            r#"{"lockfileVersion": 1, "dependencies": {}}"#,
            "npm 7 or later",
        ),
        ("Cargo.lock", "= 3", "key"),
        ("pom.xml", "<project/>", "not known"),
    ];
    for (file, text, reason) in cases {
        let error = version(file, text, "x").unwrap_err();
        assert!(matches!(error, LockedError::Malformed { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn a_file_that_is_not_there_is_said_to_be_missing() {
    let workshop = Workshop::new();
    let locked = LockedPackage {
        file: "go.mod".to_owned(),
        package: "x".to_owned(),
    };
    let error = find_version(&workshop.path("stack"), &locked)
        .unwrap_err()
        .to_string();
    assert!(error.contains("go.mod: No such file"), "{error}");
}

#[test]
fn every_supported_name_has_a_parser() {
    assert!(SUPPORTED.into_iter().all(is_supported));
    assert!(!is_supported("go.sum") && !is_supported(""));
}
