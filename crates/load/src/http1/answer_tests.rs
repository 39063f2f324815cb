//! Any split of an answer's bytes gives the same result.

use deadheat_model::Failure;
use proptest::prelude::*;

use super::*;
use crate::http1::fuzzing::{self, Collect, Verdict};

/// What a whole stream of bytes, then the end of the connection, amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reading {
    heads: Vec<(Head, Vec<u8>)>,
    body: Vec<u8>,
    result: Result<(usize, bool), Failure>,
}

/// Feeds `bytes` in pieces that end at `cuts`, then ends the connection.
fn read(bytes: &[u8], cuts: &[usize], to_head: bool) -> Reading {
    let mut from = 0;
    let ends = cuts.iter().copied().chain([bytes.len()]);
    let pieces = ends.map(|to| &bytes[std::mem::replace(&mut from, to)..to]);
    let fed = fuzzing::read(pieces.filter(|piece| !piece.is_empty()), to_head);
    let result = match fed.verdict {
        Verdict::Whole { used, keep_alive } => Ok((used, keep_alive)),
        Verdict::AtTheEnd(Ending::Whole) => Ok((bytes.len(), false)),
        Verdict::AtTheEnd(Ending::Cut(kind)) | Verdict::Wrong(kind) => Err(kind),
    };
    // Data before an error may or may not have been delivered: it is no answer.
    let body = match result {
        Ok(_) => fed.body,
        Err(_) => Vec::new(),
    };
    Reading {
        heads: fed.heads,
        body,
        result,
    }
}

struct Fixture {
    bytes: &'static [u8],
    to_head: bool,
    body: &'static [u8],
    /// Bytes behind the answer and whether the connection is kept, or the failure.
    result: Result<(usize, bool), Failure>,
}

const fn whole(
    bytes: &'static [u8],
    body: &'static [u8],
    behind: usize,
    keep_alive: bool,
) -> Fixture {
    Fixture {
        bytes,
        to_head: false,
        body,
        result: Ok((behind, keep_alive)),
    }
}

const fn broken(bytes: &'static [u8], kind: Failure) -> Fixture {
    Fixture {
        bytes,
        to_head: false,
        body: b"",
        result: Err(kind),
    }
}

fn fixtures() -> Vec<Fixture> {
    vec![
        whole(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello", b"Hello", 0, true),
        whole(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"", 0, true),
        whole(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHelloextra", b"Hello", 5, true),
        whole(b"HTTP/1.1 200 OK\r\nContent-Length:5 \r\nX:\r\n\r\nHello", b"Hello", 0, true),
        whole(b"HTTP/1.1 200\nContent-Length: 5\n\nHello", b"Hello", 0, true),
        whole(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=\"y\"\r\nHel\r\n02 \r\nlo\r\n0\r\nA: b\r\n\r\n",
            b"Hello",
            0,
            true,
        ),
        whole(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            b"",
            19,
            true,
        ),
        whole(b"HTTP/1.1 200 OK\r\n\r\nup to the end", b"up to the end", 0, false),
        whole(b"HTTP/1.1 200 OK\r\n\r\n", b"", 0, false),
        whole(
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nHi",
            b"Hi",
            0,
            true,
        ),
        whole(b"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", b"", 0, true),
        whole(b"HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n", b"", 0, true),
        whole(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nHi", b"Hi", 0, false),
        whole(b"HTTP/1.1 101 Upgrade\r\n\r\nbytes", b"", 5, false),
        Fixture {
            to_head: true,
            ..whole(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", b"", 0, true)
        },
        broken(b"", Failure::ClosedEarly),
        broken(b"HTTP/1.1 100 Continue\r\n\r\n", Failure::ClosedEarly),
        broken(b"H", Failure::TruncatedHead),
        broken(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", Failure::TruncatedHead),
        broken(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHell", Failure::TruncatedBody),
        broken(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n",
            Failure::TruncatedBody,
        ),
        broken(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n",
            Failure::TruncatedBody,
        ),
        broken(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nHello",
            Failure::BadFraming,
        ),
        broken(
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            Failure::BadFraming,
        ),
        broken(b"SSH-2.0-OpenSSH\r\n", Failure::BadHead),
        broken(b"HTTP/1.1 abc OK\r\n\r\n", Failure::BadHead),
    ]
}

#[test]
fn cutting_an_answer_anywhere_changes_nothing() {
    for fixture in fixtures() {
        let Fixture { bytes, to_head, .. } = fixture;
        let shown = String::from_utf8_lossy(bytes);
        let reference = read(bytes, &[], to_head);
        let expected = fixture
            .result
            .map(|(behind, keep)| (bytes.len() - behind, keep));
        assert_eq!(reference.result, expected, "{shown:?}");
        assert_eq!(reference.body, fixture.body, "{shown:?}");
        let every: Vec<usize> = (1..bytes.len()).collect();
        assert_eq!(
            read(bytes, &every, to_head),
            reference,
            "byte by byte: {shown:?}"
        );
        for first in 0..bytes.len() {
            assert_eq!(
                read(bytes, &[first], to_head),
                reference,
                "cut at {first}: {shown:?}"
            );
            for second in first..bytes.len() {
                let cuts = [first, second];
                assert_eq!(
                    read(bytes, &cuts, to_head),
                    reference,
                    "cut at {cuts:?}: {shown:?}"
                );
            }
        }
    }
}

#[test]
fn a_reader_is_used_again() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello";
    let mut reader = AnswerReader::new();
    let mut heads = Heads::new();
    let mut collect = Collect::default();
    for cut in 1..bytes.len() {
        reader.begin(false);
        assert_eq!(
            reader.feed(&bytes[..cut], &mut heads, &mut collect),
            Ok(FeedOutcome::More)
        );
        let step = reader
            .feed(&bytes[cut..], &mut heads, &mut collect)
            .unwrap();
        assert!(matches!(
            step,
            FeedOutcome::Whole {
                keep_alive: true,
                ..
            }
        ));
    }
    assert_eq!(collect.heads.len(), bytes.len() - 1);
}

#[test]
fn a_head_is_bounded_however_it_comes() {
    let mut bytes = b"HTTP/1.1 200 OK\r\nA: ".to_vec();
    bytes.resize(HEAD_LIMIT + 10, b'a');
    for piece in [bytes.len(), 9_000, HEAD_LIMIT] {
        let cuts: Vec<usize> = (0..bytes.len()).step_by(piece).skip(1).collect();
        assert_eq!(
            read(&bytes, &cuts, false).result,
            Err(Failure::BadHead),
            "{piece}"
        );
    }
}

proptest! {
    /// Random bodies in random chunks, cut at random places.
    #[test]
    fn chunks_and_cuts_at_random(
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..60), 0..8),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        extension in "(;[a-z]{1,5}(=[a-z0-9]{0,5})?)?",
        trailer in "([A-Z]{1,4}: [a-z]{0,9}\r\n){0,2}",
    ) {
        let mut bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for chunk in &chunks {
            bytes.extend_from_slice(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(format!("0\r\n{trailer}\r\n").as_bytes());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        cuts.sort_unstable();
        let reading = read(&bytes, &cuts, false);
        prop_assert_eq!(&reading, &read(&bytes, &[], false));
        prop_assert_eq!(reading.body, chunks.concat());
        prop_assert_eq!(reading.result, Ok((bytes.len(), true)));
    }

    /// Arbitrary bytes never panic, and any cut gives the same result.
    #[test]
    fn noise_is_judged_alike_however_it_is_cut(
        noise in prop::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'0'), Just(b'5'), any::<u8>()], 0..80),
        start in prop::sample::select(vec![
            "",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n",
        ]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let bytes = [start.as_bytes(), &noise].concat();
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.sort_unstable();
        prop_assert_eq!(read(&bytes, &at, false), read(&bytes, &[], false));
    }
}

fn decode(text: &[u8]) -> Result<(Vec<u8>, usize, Chunked), Malformed> {
    let (mut state, mut body) = (Chunked::new(), Vec::new());
    let used = state.feed(text, |data, _| body.extend_from_slice(data))?;
    Ok((body, used, state))
}

#[test]
fn decodes_extensions_trailers_and_blanks() {
    let text = b"5;a=\"b;c\" ;d\r\nHello\r\n00A  \r\n, big wide\r\n2\t;x\r\n!!\r\n000\r\nTrailer: yes\r\nB: c\r\n\r\nrest";
    let (body, used, state) = decode(text).unwrap();
    assert_eq!(body, b"Hello, big wide!!");
    assert_eq!(&text[used..], b"rest");
    assert_eq!(state, Chunked::Done);
}

#[test]
fn malformed_chunks_are_refused() {
    let long = format!("5;{}\r\n", "x".repeat(70_000));
    let trailers = format!("0\r\n{}", "a: b\r\n".repeat(20_000));
    for text in [
        "\r\n",
        "x\r\n",
        "-5\r\n",
        "0x5\r\n",
        "5\nHello",
        "5 6\r\n",
        "5;a\n",
        "5\r\nHello!\r\n",
        "5\r\nHello\n",
        "5\r\nHello\rx",
        "10000000000000000\r\n",
        "0\r\n\n",
        "0\r\nTrailer: x\n\r\n",
        "0\r\n\rx",
        &long,
        &trailers,
    ] {
        assert!(
            decode(text.as_bytes()).is_err(),
            "{:?}",
            &text[..text.len().min(40)]
        );
    }
    let many_zeros = format!("{}5\r\nHello\r\n0\r\n\r\n", "0".repeat(1000));
    assert_eq!(decode(many_zeros.as_bytes()).unwrap().0, b"Hello");
}
