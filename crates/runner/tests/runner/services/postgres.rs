//! PostgreSQL of Deadheat's own and as a guest on another server. Without PostgreSQL on the machine these tests fail,
//! and the message says how to install it.

use std::{
    fs::{File, Permissions},
    io::Write as _,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    sync::Mutex,
    time::{Duration, Instant},
};

use deadheat_model::workload::Table;
use deadheat_runner::services::{
    Mirror, Places, Postgres, PostgresOptions, Source,
    postgres::{RowChange, SEATS, USERS},
};
use deadheat_testkit::{Authority, CertificateKind, eventually, wait_until};
use postgres::{Client, NoTls};

use super::supervision;
use crate::process::signal;

fn installed(logs: &Path) -> PostgresOptions<'static> {
    PostgresOptions {
        sources: vec![Source::Installed(Places::Usual)],
        ..PostgresOptions::new(supervision(), logs)
    }
}

/// The folder of a running server of Deadheat's own, from its command line.
fn folder_of(server: &Postgres) -> PathBuf {
    let pid = server.pid().unwrap();
    let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    let data = line
        .split('\0')
        .skip_while(|word| *word != "-D")
        .nth(1)
        .unwrap();
    Path::new(data).parent().unwrap().to_owned()
}

fn is_running(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Reads the table as drivers and mappers write it.
fn read_as_stacks_do(client: &mut Client) {
    for statement in [
        "select id, email from users order by id limit 10",
        "SELECT \"users\".\"id\", \"users\".\"email\" FROM \"users\" ORDER BY \"users\".\"id\" ASC LIMIT 10",
        "SELECT u.id, u.email\n  FROM public.users AS u ORDER BY u.id FETCH FIRST 10 ROWS ONLY",
    ] {
        assert_eq!(client.query(statement, &[]).unwrap().len(), 10);
    }
    // None of these reads the table.
    client
        .batch_execute("select 1; select 'from users'; select count(*) from pg_class")
        .unwrap();
}

/// Everything that the runner needs of a server, however it came about.
fn check(server: &Postgres) {
    assert_eq!(
        server
            .first_rows(Table::Users, USERS as u32 + 1)
            .unwrap()
            .len(),
        USERS as usize
    );
    let first = server.first_rows(Table::Users, 10).unwrap();
    assert_eq!(first[0], (1, "ada.1@example.org".to_owned()));
    assert!(first.is_sorted_by_key(|(id, _)| *id));

    // The server may still be about to end the session that made the table.
    wait_until("nobody is connected", || {
        server.stack_connections().unwrap() == 0
    });
    check_connections(server);
    let before = server.statements(Table::Users).unwrap();
    let mut stack = Client::connect(server.url(), NoTls).unwrap();
    assert_eq!(server.stack_connections().unwrap(), 1);
    for _ in 0..10 {
        read_as_stacks_do(&mut stack);
    }
    let prepared = stack
        .prepare("select id, email from users order by id limit $1")
        .unwrap();
    for _ in 0..70 {
        stack.query(&prepared, &[&10i64]).unwrap();
    }
    server.first_rows(Table::Users, 10).unwrap();
    std::thread::sleep(server.count_lag());
    assert_eq!(server.statements(Table::Users).unwrap() - before, 100);

    server
        .change_row(Table::Users, 3, RowChange::Set("changed@example.org"))
        .unwrap();
    let row = stack
        .query_one("select email from users where id = 3", &[])
        .unwrap();
    assert_eq!(row.get::<_, String>(0), "changed@example.org");
    server
        .change_row(Table::Users, 3, RowChange::Set(&first[2].1))
        .unwrap();
    assert_eq!(server.first_rows(Table::Users, 10).unwrap(), first);
    let missing = server.change_row(Table::Users, USERS + 1, RowChange::Set("x"));
    let error = missing.unwrap_err().to_string();
    assert!(error.contains("take an id from 1 to 1000"), "{error}");
    assert!(stack.execute("update users set email = 'x'", &[]).is_err());
}

/// Connections that came and went are counted, and those that are open are not free.
fn check_connections(server: &Postgres) {
    let before = server.sessions().unwrap().expect("a server that counts");
    for _ in 0..5 {
        drop(Client::connect(server.url(), NoTls).unwrap());
    }
    // A server notes the end of a connection some time after the client.
    wait_until("five sessions", || {
        server.sessions().unwrap() >= Some(before + 5)
    });
    assert_eq!(server.sessions().unwrap(), Some(before + 5));
    wait_until("nobody is connected", || {
        server.stack_connections().unwrap() == 0
    });
    let connections = server.free_connections().unwrap();
    assert!(
        connections.most >= 900 && connections.free < connections.most,
        "{connections:?}"
    );
}

/// As many servers as are alive together at most hold connections at the same time.
fn check_seats(server: &Postgres) {
    let held = |seat| server.connections_of(seat).unwrap();
    let pools: Vec<Vec<Client>> = (0..SEATS)
        .map(|seat| {
            let connect = |_| Client::connect(server.url_of(seat), NoTls).unwrap();
            (0..=seat).map(connect).collect()
        })
        .collect();
    for seat in 0..SEATS {
        assert_eq!(
            held(seat),
            Some(seat as u32 + 1),
            "the others' do not count"
        );
    }
    let all: usize = pools.iter().map(Vec::len).sum();
    assert_eq!(server.stack_connections().unwrap() as usize, all);
    let before = server.statements(Table::Users).unwrap();
    for mut one in pools.into_iter().flatten() {
        one.query("select id, email from users", &[]).unwrap();
    }
    assert_eq!(
        server.statements(Table::Users).unwrap() - before,
        all as u64
    );
}

#[test]
fn a_cluster_that_was_killed_is_lost() {
    let logs = tempfile::tempdir().unwrap();
    let mut server = Postgres::start(&installed(logs.path())).unwrap();
    assert_eq!(server.lost(), None);
    signal(libc::SIGKILL, server.pid().unwrap());
    let how = eventually("its loss", || server.lost());
    assert!(how.contains("PostgreSQL"), "{how}");
}

#[test]
fn a_cluster_of_its_own_is_seeded_counts_and_leaves_nothing() {
    let logs = tempfile::tempdir().unwrap();
    let mut server = Postgres::start(&installed(logs.path())).unwrap();
    assert!(
        server.describe().starts_with("PostgreSQL 1"),
        "{}",
        server.describe()
    );
    check(&server);
    check_seats(&server);
    let (folder, pid) = (folder_of(&server), server.pid().unwrap());
    assert!(folder.is_dir());
    server.stop().unwrap();
    server.stop().unwrap();
    assert!(!folder.exists() && !is_running(pid));
    let error = server.statements(Table::Users).unwrap_err().to_string();
    assert!(error.contains("its log ends with:"), "{error}");
    // Statements were not logged.
    let log = std::fs::read_to_string(logs.path().join("postgres.log")).unwrap();
    assert!(!log.contains("select"), "{log}");
}

#[test]
fn a_dropped_cluster_leaves_nothing_either() {
    let logs = tempfile::tempdir().unwrap();
    let server = Postgres::start(&installed(logs.path())).unwrap();
    let (folder, pid) = (folder_of(&server), server.pid().unwrap());
    drop(server);
    assert!(!folder.exists() && !is_running(pid));
}

/// A user of another server, as somebody would give it with `--postgres URL`.
fn url_for(host: &Postgres, user: &str) -> String {
    let (_, rest) = host.url().split_once('@').unwrap();
    format!("postgresql://{user}:secret@{rest}")
}

/// Statements as the superuser of a cluster of Deadheat's own, whose password nobody knows but the cluster.
fn as_superuser(host: &Postgres, statements: &str) {
    let folder = folder_of(host);
    let hba = folder.join("data/pg_hba.conf");
    let text = std::fs::read_to_string(&hba).unwrap();
    std::fs::write(
        &hba,
        format!("host all deadheat 127.0.0.1/32 trust\n{text}"),
    )
    .unwrap();
    let pid = host.pid().unwrap() as i32;
    // The signal that makes the server read the file again.
    assert!(
        std::process::Command::new("kill")
            .args(["-HUP", &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
    let (_, place) = host.url().split_once('@').unwrap();
    let url = format!("postgresql://deadheat@{place}");
    let mut client = (0..100)
        .find_map(|_| {
            std::thread::sleep(Duration::from_millis(20));
            Client::connect(&url, NoTls).ok()
        })
        .unwrap();
    client.batch_execute(statements).unwrap();
}

/// Adds to the settings of a cluster of Deadheat's own; [`as_superuser`] has the server read them.
fn configure(host: &Postgres, settings: &str) {
    let path = folder_of(host).join("data/postgresql.conf");
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    file.write_all(settings.as_bytes()).unwrap();
}

fn databases(url: &str) -> Vec<String> {
    let mut client = Client::connect(url, NoTls).unwrap();
    let sql =
        "select datname::text from pg_database union select rolname::text from pg_roles order by 1";
    client
        .query(sql, &[])
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect()
}

#[test]
fn a_guest_makes_its_own_database_and_drops_it() {
    let logs = tempfile::tempdir().unwrap();
    let host = Postgres::start(&installed(logs.path())).unwrap();
    as_superuser(
        &host,
        "create role chief superuser login password 'secret'; \
         create role plain createdb login password 'secret'; \
         create role nothing login password 'secret'",
    );
    let guest = |user: &str| {
        Postgres::start(&PostgresOptions {
            sources: Source::automatic(Some(url_for(&host, user))),
            ..PostgresOptions::new(supervision(), logs.path())
        })
    };
    let before = databases(host.url());

    let mut server = guest("chief").unwrap();
    assert!(
        server.describe().contains(" at 127.0.0.1:"),
        "{}",
        server.describe()
    );
    assert!(server.pid().is_none());
    assert!(server.count_lag().is_zero());
    check(&server);
    assert_eq!(databases(host.url()).len(), before.len() + 1 + SEATS);
    server.stop().unwrap();
    assert_eq!(databases(host.url()), before);

    // Without the right to make roles and the extension: the same, counted by scans.
    let server = guest("plain").unwrap();
    assert!(!server.count_lag().is_zero());
    assert!(server.url().starts_with("postgresql://plain:secret@"));
    let mut stack = Client::connect(server.url(), NoTls).unwrap();
    assert_eq!(server.stack_connections().unwrap(), 1);
    assert_eq!(server.connections_of(0).unwrap(), None, "who knows whose");
    assert_eq!(server.connections_of(1).unwrap(), None, "who knows whose");
    let count = server.statements(Table::Users).unwrap();
    read_as_stacks_do(&mut stack);
    server.first_rows(Table::Users, 10).unwrap();
    // A backend that ends reports its statistics, so the lag need not be waited for here.
    drop(stack);
    let until = Instant::now() + server.count_lag();
    while server.statements(Table::Users).unwrap() - count < 3 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(server.statements(Table::Users).unwrap() - count, 3);
    drop(server);
    assert_eq!(databases(host.url()), before);

    let error = guest("nothing").unwrap_err().to_string();
    assert!(error.contains("making the database deadheat_"), "{error}");
    assert!(error.contains("alter role \"nothing\" createdb"), "{error}");
    let error = guest("nobody").unwrap_err().to_string();
    assert!(
        error.contains("as nobody") && error.contains("password authentication failed"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
    assert_eq!(databases(host.url()), before);
}

#[test]
fn a_guest_tells_of_databases_that_killed_sessions_have_left() {
    let logs = tempfile::tempdir().unwrap();
    let host = Postgres::start(&installed(logs.path())).unwrap();
    as_superuser(&host, "create role chief superuser login password 'secret'");
    for name in [
        "deadheat_0123456789",
        "deadheat_of_mine",
        "deadheat_abcdefghij",
    ] {
        as_superuser(&host, &format!("create database {name}"));
    }
    let url = url_for(&host, "chief");
    let used = url.replace("/deadheat", "/deadheat_abcdefghij");
    let _other_session = Client::connect(&used, NoTls).unwrap();

    let path = logs.path().join("told");
    let log = tracing_subscriber::fmt().with_writer(Mutex::new(File::create(&path).unwrap()));
    tracing::subscriber::with_default(log.finish(), || {
        let options = PostgresOptions {
            sources: Source::automatic(Some(url)),
            ..PostgresOptions::new(supervision(), logs.path())
        };
        Postgres::start(&options).unwrap().stop().unwrap();
    });
    let told = std::fs::read_to_string(path).unwrap();
    assert_eq!(told.matches("still has").count(), 1, "{told}");
    assert!(
        told.contains(
            "`drop database deadheat_0123456789; drop role if exists deadheat_stack_0123456789_0, "
        ),
        "{told}"
    );
}

#[test]
fn a_given_server_is_reached_by_tls_where_it_has_it_and_no_password_stands_in_a_statement() {
    let logs = tempfile::tempdir().unwrap();
    let host = Postgres::start(&installed(logs.path())).unwrap();
    let data = folder_of(&host).join("data");
    let identity = Authority::new()
        .unwrap()
        .server(CertificateKind::Localhost)
        .unwrap();
    let owner = std::fs::metadata(&data).unwrap();
    for (name, text) in [
        ("server.crt", &identity.certificate),
        ("server.key", &identity.key),
    ] {
        let path = data.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
    let hba = data.join("pg_hba.conf");
    let rest = std::fs::read_to_string(&hba).unwrap();
    std::fs::write(&hba, format!("hostnossl all chief all reject\n{rest}")).unwrap();
    configure(&host, "log_statement = all\n");
    let make = "create role chief superuser login password 'secret'";
    as_superuser(&host, make);
    let url = url_for(&host, "chief");
    let start = |query: &str| {
        Postgres::start(&PostgresOptions {
            sources: Source::automatic(Some(format!("{url}{query}"))),
            ..PostgresOptions::new(supervision(), logs.path())
        })
    };
    let error = start("?sslmode=require").unwrap_err().to_string();
    assert!(error.contains("server does not support TLS"), "{error}");
    assert!(!error.contains("secret"), "{error}");

    configure(&host, "ssl = on\n");
    as_superuser(&host, "select 1");
    let until = Instant::now() + Duration::from_secs(20);
    let mut server = loop {
        match start("?sslmode=require") {
            Ok(server) => break server,
            // The server's processes read their settings one after the other.
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
    };
    assert_eq!(server.first_rows(Table::Users, 10).unwrap().len(), 10);
    let stack: postgres::Config = server.url().parse().unwrap();
    let password = String::from_utf8(stack.get_password().unwrap().to_vec()).unwrap();
    server.stop().unwrap();
    start("").unwrap();
    assert!(start("?sslmode=disable").is_err());

    let log = std::fs::read_to_string(logs.path().join("postgres.log")).unwrap();
    assert!(log.contains("create role deadheat_stack_"), "{log}");
    assert!(!log.contains(&password), "{log}");
}

/// What does not need the network (digest, cache, unpacking) is tested beside the code.
#[test]
#[ignore = "needs the network: 15 MB from Maven Central"]
fn the_download_works() {
    let logs = tempfile::tempdir().unwrap();
    // Not in a folder of `tempdir`, which only root could look into.
    let cache = std::env::temp_dir().join(format!("deadheat-test-cache-{}", std::process::id()));
    let options = PostgresOptions {
        sources: vec![Source::Download(Mirror {
            cache: Some(cache.clone()),
            ..Mirror::default()
        })],
        ..PostgresOptions::new(supervision(), logs.path())
    };
    let mut server = Postgres::start(&options).unwrap();
    assert!(
        server.describe().starts_with("PostgreSQL 18.6 from "),
        "{}",
        server.describe()
    );
    assert!(server.count_lag().is_zero());
    check(&server);
    server.stop().unwrap();
    std::fs::remove_dir_all(cache).unwrap();
}
