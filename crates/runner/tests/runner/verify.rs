//! What is looked at before stacks are asked.

use std::fs;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deadheat_model::{WorkloadManifest, stack::Pool};
use deadheat_runner::{
    services::{Places, Postgres, PostgresOptions, Source},
    verify::{Declared, Depth, Fixtures, Verifier},
};
use deadheat_testkit::{OracleServer, Turn, answers};
use sha2::{Digest, Sha256};

use super::services::supervision;

/// The project's own.
const USERS: &str = include_str!("../../../../workloads/users.toml");
const HASH: &str = include_str!("../../../../workloads/hash.toml");

#[test]
fn clients_without_a_pool_need_room_and_a_pool_needs_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let postgres = Postgres::start(&PostgresOptions {
        sources: vec![Source::Installed(Places::Usual)],
        ..PostgresOptions::new(supervision(), folder.path())
    });
    let mut fixtures = Fixtures::create(folder.path(), 1).unwrap();
    fixtures.postgres = Some(postgres.unwrap());
    let workload: WorkloadManifest = toml::from_str(USERS).unwrap();
    let mut room = |pool, clients| {
        let declared = Declared {
            pool,
            ..Declared::default()
        };
        // It asks PostgreSQL alone; nothing listens there.
        let nobody = ([127, 0, 0, 1], 1).into();
        let point = &workload.point[0];
        Verifier::new(nobody, declared, &workload, point, &mut fixtures, 1)
            .check_free_connections(clients)
    };
    assert_eq!(room(Pool::None, 400), Ok(()));
    assert_eq!(room(Pool::Size(900), 10_000), Ok(()));
    let fault = room(Pool::None, 600).unwrap_err().to_string();
    for text in [
        "it takes as many connections as the stack may open",
        "expected 1200 free ones (600 clients without a pool, whose connections overlap)",
        "free ones of 1000; raise max_connections",
    ] {
        assert!(fault.contains(text), "{fault}");
    }
    let fault = room(Pool::Size(1001), 1).unwrap_err().to_string();
    assert!(fault.contains("1001 free ones (a pool of 1001)"), "{fault}");
}

/// Servers that are alive together read one file: the check of one must not make the answers of another wrong.
#[test]
fn a_check_leaves_the_file_as_the_load_expects_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixtures = Fixtures::create(folder.path(), 1).unwrap();
    let path = fixtures.blob.path().to_owned();
    let server = OracleServer::start(move |_: &Turn<'_>| {
        let digest = STANDARD.encode(Sha256::digest(fs::read(&path).unwrap()));
        let date = httpdate::fmt_http_date(std::time::SystemTime::now());
        let headers = format!("Date: {date}\r\nContent-Type: text/plain\r\n");
        answers::send(answers::sized(200, &headers, digest.as_bytes()))
    });
    let server = server.unwrap();
    let workload: WorkloadManifest = toml::from_str(HASH).unwrap();
    let declared = Declared::default();
    let point = &workload.point[0];
    let mut verifier = Verifier::new(
        server.address(),
        declared,
        &workload,
        point,
        &mut fixtures,
        1,
    );
    let of_the_load = verifier.exchanges().unwrap();
    assert!(verifier.verify(Depth::Brief).unwrap() >= 3);
    assert_eq!(verifier.exchanges().unwrap(), of_the_load);
}
