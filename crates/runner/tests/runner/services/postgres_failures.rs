//! What is said when PostgreSQL is not to be had.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::Path,
    time::{Duration, Instant},
};

use deadheat_runner::services::{Mirror, Places, Postgres, PostgresOptions, Source};

use super::supervision;

const VERSION: &str = "case \"$1\" in --version) echo 'postgres (PostgreSQL) 99.1'; exit;; esac\n";
/// An `initdb` that does what Deadheat looks at.
const GOOD_INITDB: &str = "for word in \"$@\"; do case \"$word\" in --pgdata=*) data=${word#--pgdata=};; esac; done\n\
    mkdir \"$data\" && touch \"$data/PG_VERSION\" \"$data/postgresql.conf\"\n";

struct Fake {
    folder: tempfile::TempDir,
    logs: tempfile::TempDir,
}

fn write_script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Binaries that are scripts, where any user can run them.
fn fake(initdb: &str, postgres: &str) -> Fake {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    write_script(&folder.path().join("initdb"), initdb);
    write_script(
        &folder.path().join("postgres"),
        &format!("{VERSION}{postgres}"),
    );
    Fake {
        folder,
        logs: tempfile::tempdir().unwrap(),
    }
}

impl Fake {
    fn start(&self) -> String {
        let options = PostgresOptions {
            sources: vec![Source::Installed(Places::Folder(
                self.folder.path().to_owned(),
            ))],
            patience: Duration::from_millis(700),
            ..PostgresOptions::new(supervision(), self.logs.path())
        };
        let start = Instant::now();
        let error = Postgres::start(&options).unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(15), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(&self.folder.path().display().to_string()),
            "{text}"
        );
        assert!(text.contains("--postgres URL"), "{text}");
        text
    }
}

#[test]
fn nothing_installed_and_no_network_says_both_and_what_to_do() {
    let empty = tempfile::tempdir().unwrap();
    let options = PostgresOptions {
        sources: vec![
            Source::Installed(Places::Folder(empty.path().to_owned())),
            Source::Download(Mirror {
                repository: "http://127.0.0.1:1".to_owned(),
                cache: Some(empty.path().join("cache")),
            }),
        ],
        ..PostgresOptions::new(supervision(), empty.path())
    };
    let text = Postgres::start(&options).unwrap_err().to_string();
    for part in [
        "looking for PostgreSQL: `initdb` is missing in ",
        "downloading http://127.0.0.1:1/",
        "refused",
        "apt install postgresql",
        "--postgres postgresql://",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

#[test]
fn an_initdb_that_fails_shows_its_words() {
    let text = fake("echo no space left >&2; exit 3", "").start();
    assert!(
        text.starts_with("making a cluster with PostgreSQL 99.1 from "),
        "{text}"
    );
    assert!(text.contains("initdb exited with status 3"), "{text}");
    assert!(
        text.ends_with("\nits log ends with:\n  no space left"),
        "{text}"
    );
    let text = fake("exit 0", "").start();
    assert!(
        text.contains("initdb ended well but made no cluster"),
        "{text}"
    );
}

#[test]
fn a_server_that_ends_at_once_shows_its_words() {
    let text = fake(GOOD_INITDB, "echo FATAL: bad weather >&2; exit 1").start();
    assert!(text.starts_with("starting PostgreSQL 99.1 from "), "{text}");
    assert!(text.contains("it exited with status 1"), "{text}");
    assert!(text.ends_with("\n  FATAL: bad weather"), "{text}");
}

#[test]
fn a_server_that_never_listens_is_not_waited_for_without_end() {
    let fake = fake(GOOD_INITDB, "echo $PWD; echo thinking; exec sleep 1000");
    let text = fake.start();
    assert!(text.contains("no answer within 0.7 s"), "{text}");
    assert!(text.ends_with("\n  thinking"), "{text}");
    let log = fs::read_to_string(fake.logs.path().join("postgres.log")).unwrap();
    let folder = log.lines().next().unwrap();
    assert!(folder.contains("deadheat-postgres-"), "{log}");
    assert!(!Path::new(folder).exists());
}

#[test]
fn a_port_that_is_always_taken_is_given_up() {
    let text = fake(GOOD_INITDB, "echo 'could not bind IPv4 address'; exit 1").start();
    assert!(text.contains("could not bind"), "{text}");
}

/// The first start is made to meet a port that is really taken; the next one gets what Deadheat asks for.
#[test]
fn a_port_that_was_taken_meanwhile_is_replaced_by_another() {
    let logs = tempfile::tempdir().unwrap();
    let mut real = Postgres::start(&PostgresOptions {
        sources: vec![Source::Installed(Places::Usual)],
        ..PostgresOptions::new(supervision(), logs.path())
    })
    .unwrap();
    let (_, bin) = real.describe().split_once(" from ").unwrap();
    let bin = bin.to_owned();
    real.stop().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let marks = tempfile::tempdir().unwrap();
    fs::set_permissions(marks.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let mark = marks.path().join("tried").display().to_string();
    let fake = fake(
        &format!("exec {bin}/initdb \"$@\""),
        &format!(
            "if [ -e {mark} ]; then exec {bin}/postgres \"$@\"; fi\n\
             touch {mark}; exec {bin}/postgres -D \"$2\" -p {port}"
        ),
    );
    let mut server = Postgres::start(&PostgresOptions {
        sources: vec![Source::Installed(Places::Folder(
            fake.folder.path().to_owned(),
        ))],
        ..PostgresOptions::new(supervision(), fake.logs.path())
    })
    .unwrap();
    assert_eq!(
        server
            .first_rows(deadheat_model::workload::Table::Users, 1)
            .unwrap()
            .len(),
        1
    );
    let first = fs::read_to_string(fake.logs.path().join("postgres.log")).unwrap();
    assert!(first.contains("Address already in use"), "{first}");
    assert!(fake.logs.path().join("postgres-2.log").is_file());
    server.stop().unwrap();
}

#[test]
fn a_url_that_leads_elsewhere_is_said_without_its_password() {
    let logs = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // Takes the connection and hangs up, as a server of something else would.
            drop(stream);
        }
    });
    let start = |url: String| {
        let options = PostgresOptions {
            sources: Source::automatic(Some(url)),
            ..PostgresOptions::new(supervision(), logs.path())
        };
        Postgres::start(&options).unwrap_err().to_string()
    };
    let text = start(format!("postgresql://me:secret@127.0.0.1:{port}/x"));
    assert!(
        text.contains(&format!(
            "connecting to PostgreSQL at 127.0.0.1:{port} as me"
        )),
        "{text}"
    );
    assert!(
        text.contains("does not answer as PostgreSQL does"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
    let text = start("postgresql://me:secret@127.0.0.1:1/x".to_owned());
    assert!(
        text.contains("refused") && !text.contains("secret"),
        "{text}"
    );
    let text = start("mysql://me:secret@127.0.0.1/x".to_owned());
    assert!(
        text.contains("it does not begin with postgresql://"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}
