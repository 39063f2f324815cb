//! Long bodies, read or dropped unseen: what has come is counted to the byte, and nothing is left behind.

use std::time::Duration;

use deadheat_model::{Failure, load::RequestSpec};
use deadheat_testkit::{OracleServer, Step, Turn, answers::sized};

use crate::support::{count, expecting, run};

/// Around the sizes of buffers, on this side and in the kernel.
const LENGTHS: [usize; 8] = [
    12, 65_535, 65_536, 100_000, 1_048_575, 1_048_577, 3_500_000, 0,
];

fn body(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

/// Answers `/LENGTH` with so many bytes, in pieces of `piece`, with a pause after each of the first ten.
fn in_pieces(piece: usize) -> OracleServer {
    OracleServer::start(move |turn: &Turn<'_>| {
        let length = turn.request.path[1..].parse().unwrap_or_default();
        let answer = sized(200, "", &body(length));
        let mut steps = Vec::new();
        for (nth, piece) in answer.chunks(piece).enumerate() {
            steps.push(Step::Send(piece.to_vec()));
            if nth < 10 {
                steps.push(Step::Pause(Duration::from_micros(300)));
            }
        }
        steps
    })
    .unwrap()
}

#[test]
fn long_and_short_bodies_follow_each_other_on_one_connection() {
    for piece in [7_000, 70_000, 400_000] {
        // Content looked at in every answer, in some and in none.
        for content_sample in [1, 3, 0] {
            let server = in_pieces(piece);
            let mut spec = count(server.address(), 1, 32);
            spec.content_sample = content_sample;
            spec.exchanges = LENGTHS
                .iter()
                .map(|length| expecting(RequestSpec::get(format!("/{length}")), &body(*length)))
                .collect();
            let seen = run(&spec);
            let what = format!("pieces of {piece}, content of one in {content_sample}");
            assert_eq!(seen.total.succeeded, 32, "{what}: {:?}", seen.examples);
            assert_eq!(seen.connections_opened, 1, "{what}");
            let all = 4 * LENGTHS.iter().sum::<usize>() as u64;
            assert_eq!(seen.body_bytes, all, "{what}");
            assert_eq!(server.seen_at_rest().requests, 32, "{what}");
        }
    }
}

#[test]
fn the_end_is_noticed_in_the_middle_of_a_long_body() {
    for (last, kind) in [
        (Step::Fin, Failure::TruncatedBody),
        (Step::Reset, Failure::Reset),
        (Step::Silence, Failure::Timeout),
    ] {
        let server = OracleServer::start(move |_: &Turn<'_>| {
            let whole = sized(200, "", &body(900_000));
            vec![
                Step::Send(whole[..300_000].to_vec()),
                Step::Pause(Duration::from_millis(20)),
                last.clone(),
            ]
        })
        .unwrap();
        let mut spec = count(server.address(), 1, 3);
        spec.content_sample = 0;
        spec.timeouts.request = Duration::from_millis(500);
        spec.exchanges = vec![expecting(RequestSpec::get("/"), &body(900_000))];
        let seen = run(&spec);
        assert_eq!(
            seen.total.failed.iter().find(|one| one.0 == kind),
            Some((kind, 3)),
            "{:?}",
            seen.total
        );
    }
}

#[test]
fn bytes_after_a_long_body_that_nobody_looks_at_are_noticed() {
    for extra in [1, 100] {
        let server = OracleServer::start(move |_: &Turn<'_>| {
            let mut bytes = sized(200, "", &body(900_000));
            bytes.resize(bytes.len() + extra, b'+');
            vec![Step::Send(bytes)]
        })
        .unwrap();
        let mut spec = count(server.address(), 1, 3);
        spec.content_sample = 0;
        spec.exchanges = vec![expecting(RequestSpec::get("/"), &body(900_000))];
        let failed = run(&spec).total.failed;
        let wrong = failed.iter().find(|one| one.0 == Failure::ExtraBytes);
        assert_eq!(wrong, Some((Failure::ExtraBytes, 3)), "{extra}: {failed:?}");
    }
}
