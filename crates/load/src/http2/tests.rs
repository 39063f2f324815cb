//! Conversations with a server, in frames.

use std::{fs, path::PathBuf};

use deadheat_testkit::http2::{frame, goaway, kind::PUSH_PROMISE, number, setting};
use proptest::prelude::*;

use super::{
    client::{Client, WINDOW},
    frame::{
        ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, Header, PADDED, PING, PRIORITY,
        RST_STREAM, SETTINGS, WINDOW_UPDATE, WITH_PRIORITY,
    },
    fuzzing::{Reading, conversation, pieces, read},
};
use deadheat_model::Failure;

const OK: &[u8] = &[0x88];

fn greeting() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[])
}

fn head(stream: u32, flags: u8, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, flags | END_HEADERS, stream, block)
}

fn with_length(length: &str) -> Vec<u8> {
    let mut block = vec![0x88, 0x0f, 0x0d, length.len() as u8];
    block.extend_from_slice(length.as_bytes());
    block
}

/// What is read after the server's settings; the same for all cuts.
fn after_greeting(frames: &[Vec<u8>], streams: usize) -> Reading {
    let bytes = [&[greeting()], frames].concat().concat();
    let whole = read([&bytes[..]], streams);
    for seed in 0..24 {
        assert_eq!(read(pieces(&bytes, seed), streams), whole, "cut by {seed}");
    }
    whole
}

/// The frames behind the preface.
fn sent(out: &[u8]) -> Vec<(Header, Vec<u8>)> {
    let mut rest = out
        .strip_prefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .unwrap();
    let mut frames = Vec::new();
    while let Some(header) = Header::read(rest) {
        let (frame, after) = rest.split_at(9 + header.length);
        frames.push((header, frame[9..].to_vec()));
        rest = after;
    }
    assert!(rest.is_empty());
    frames
}

#[test]
fn answers_end_in_any_order() {
    let reading = after_greeting(
        &[
            head(3, 0, OK),
            head(1, 0, &with_length("4")),
            frame(DATA, 0, 3, b"thr"),
            frame(DATA, END_STREAM, 1, b"one!"),
            frame(DATA, 0, 3, b""),
            frame(DATA, END_STREAM, 3, b"ee"),
        ],
        2,
    );
    assert_eq!(reading.broken, None);
    assert_eq!(reading.events, ["1: 200", "0: 200", "0: whole", "1: whole"]);
    assert_eq!(reading.bodies, [b"one!".to_vec(), b"three".to_vec()]);
    let sent = sent(&reading.out);
    let ids: Vec<u32> = sent
        .iter()
        .filter(|(header, _)| header.kind == HEADERS)
        .map(|(header, _)| header.stream)
        .collect();
    assert_eq!(ids, [1, 3, 5, 7], "two ended, and two more followed");
    assert_eq!(sent[3].1, [0x20, 0x82], "no table, said once");
    assert_eq!(sent[4].1, [0x82]);
}

#[test]
fn a_body_may_come_byte_by_byte() {
    let mut frames = vec![head(1, 0, OK)];
    frames.extend(vec![frame(DATA, 0, 1, b"x"); 10_001]);
    frames.push(frame(DATA, END_STREAM, 1, b""));
    let reading = after_greeting(&frames, 1);
    assert_eq!(
        (reading.broken, reading.events),
        (None, vec!["0: 200".to_owned(), "0: whole".to_owned()])
    );
}

#[test]
fn padding_priorities_parts_interim_answers_and_trailers_are_what_they_are() {
    let reading = after_greeting(
        &[
            head(1, 0, &[0x48, 3, b'1', b'0', b'3']),
            frame(
                HEADERS,
                PADDED | WITH_PRIORITY,
                1,
                &[3, 0, 0, 0, 0, 9, 0x88, 0, 0, 0],
            ),
            frame(CONTINUATION, 0, 1, &[]),
            frame(CONTINUATION, END_HEADERS, 1, &[0x0f, 0x0d, 1, b'2']),
            frame(DATA, PADDED, 1, &[5, b'h', 0, 0, 0, 0, 0]),
            frame(DATA, PADDED, 1, &[0]),
            frame(0xfa, 0xff, 1, &[1, 2, 3]),
            frame(PRIORITY, 0, 7, &[0, 0, 0, 1, 9]),
            frame(DATA, PADDED, 1, &[0, b'i']),
            head(1, END_STREAM, &[0x00, 1, b'a', 1, b'b']),
        ],
        1,
    );
    assert_eq!(
        (reading.broken, reading.events),
        (None, vec!["0: 200".to_owned(), "0: whole".to_owned()])
    );
    assert_eq!(reading.bodies, [b"hi"]);
}

#[test]
fn settings_and_pings_are_answered() {
    let reading = after_greeting(
        &[
            setting(0x4, 10),
            frame(PING, 0, 0, b"12345678"),
            frame(PING, ACK, 0, b"87654321"),
        ],
        2,
    );
    let sent = sent(&reading.out);
    let acks = sent.iter().filter(|(header, _)| {
        header.flags & ACK != 0 && header.kind != HEADERS && header.kind != DATA
    });
    let acks: Vec<(u8, &[u8])> = acks
        .map(|(header, payload)| (header.kind, &payload[..]))
        .collect();
    assert_eq!(
        acks,
        [(SETTINGS, &[][..]), (SETTINGS, &[]), (PING, b"12345678")]
    );
}

#[test]
fn a_body_is_sent_as_far_as_windows_allow() {
    let data = |reading: &Reading| -> Vec<(usize, bool)> {
        let sent = sent(&reading.out);
        let data = sent.iter().filter(|(header, _)| header.kind == DATA);
        data.map(|(header, _)| (header.length, header.has(END_STREAM)))
            .collect()
    };
    // Slot 1 has a body of 100 bytes, on stream 3.
    assert_eq!(data(&after_greeting(&[], 2)), [(100, true)]);
    assert_eq!(data(&after_greeting(&[setting(0x4, 30)], 2)), [(30, false)]);
    assert_eq!(data(&after_greeting(&[setting(0x4, 0)], 2)), []);
    let later = [setting(0x4, 0), number(WINDOW_UPDATE, 3, 7)];
    assert_eq!(data(&after_greeting(&later, 2)), [(7, false)]);
    let more = [setting(0x4, 0), setting(0x4, 1 << 20)];
    assert_eq!(data(&after_greeting(&more, 2)), [(100, true)]);
}

#[test]
fn what_the_server_has_not_looked_at_comes_back() {
    let reading = after_greeting(
        &[
            goaway(0x7fff_ffff, 0),
            head(5, END_STREAM, OK),
            goaway(3, 0),
            // Late, and no mistake.
            frame(DATA, END_STREAM, 7, b"x"),
            head(1, END_STREAM, OK),
            head(3, END_STREAM, OK),
        ],
        4,
    );
    assert_eq!(reading.broken, None);
    assert_eq!(
        reading.events,
        [
            "2: 200",
            "2: whole",
            "3: unprocessed",
            "0: 200",
            "0: whole",
            "1: 200",
            "1: whole"
        ]
    );
}

#[test]
fn streams_fail_one_by_one() {
    let cases: [(Vec<Vec<u8>>, &str); 15] = [
        (
            vec![number(RST_STREAM, 1, 7)],
            "Head the server reset the stream: REFUSED_STREAM",
        ),
        (
            vec![head(1, 0, OK), number(RST_STREAM, 1, 2)],
            "Body the server reset the stream: INTERNAL_ERROR",
        ),
        (vec![number(RST_STREAM, 1, 99)], "unknown error code"),
        (
            vec![frame(DATA, END_STREAM, 1, b"x")],
            "a body came before its head",
        ),
        (
            vec![head(1, 0, &with_length("2")), frame(DATA, 0, 1, b"abc")],
            "longer than its content-length",
        ),
        (
            vec![
                head(1, 0, &with_length("2")),
                frame(DATA, END_STREAM, 1, b"a"),
            ],
            "shorter than its content-length",
        ),
        (
            vec![head(1, END_STREAM, &with_length("2"))],
            "shorter than its content-length",
        ),
        (
            vec![head(1, 0, &[0x89]), frame(DATA, 0, 1, b"a")],
            "longer than its content-length",
        ),
        (vec![head(1, END_STREAM, &[])], "no :status"),
        (
            vec![head(1, END_STREAM, &[0x48, 3, b'1', b'0', b'3'])],
            "an interim answer",
        ),
        (
            vec![head(1, 0, &[0x48, 3, b'1', b'0', b'1'])],
            "an interim answer",
        ),
        (
            vec![head(1, 0, OK), head(1, 0, &[])],
            "in the middle of a body",
        ),
        (
            vec![head(1, 0, OK), head(1, END_STREAM, OK)],
            "trailers have a pseudo-header",
        ),
        (vec![number(WINDOW_UPDATE, 1, 0)], "adds nothing"),
        (vec![number(WINDOW_UPDATE, 1, 0x7fff_ffff)], "above 2^31-1"),
    ];
    for (frames, why) in cases {
        let reading = after_greeting(&frames, 1);
        assert_eq!(reading.broken, None, "{why}");
        let last = reading.events.last().unwrap();
        assert!(last.contains(why), "{last} instead of {why}");
    }
}

#[test]
fn a_broken_rule_ends_the_connection_with_its_name() {
    let flood = |frame: Vec<u8>| vec![frame.repeat(10_001)];
    let large = frame(HEADERS, 0, 1, &[0; 16_384]);
    let part = frame(CONTINUATION, 0, 1, &[0; 16_384]);
    let cases: [(Vec<Vec<u8>>, &str); 40] = [
        (
            vec![frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2])],
            "PUSH_PROMISE",
        ),
        (
            vec![frame(CONTINUATION, END_HEADERS, 1, OK)],
            "without the HEADERS",
        ),
        (
            vec![frame(HEADERS, 0, 1, OK), frame(PING, 0, 0, &[0; 8])],
            "between the parts",
        ),
        (
            vec![
                frame(HEADERS, 0, 1, OK),
                frame(CONTINUATION, END_HEADERS, 3, &[]),
            ],
            "between the parts",
        ),
        (vec![large, part.repeat(4)], "longer than 64 KiB"),
        (
            vec![
                frame(HEADERS, 0, 1, OK),
                frame(CONTINUATION, 0, 1, &[]).repeat(10_001),
            ],
            "10,000 frames",
        ),
        (flood(frame(PING, 0, 0, &[0; 8])), "10,000 frames"),
        (flood(frame(PING, ACK, 0, &[0; 8])), "10,000 frames"),
        (flood(frame(SETTINGS, 0, 0, &[])), "10,000 frames"),
        (flood(frame(SETTINGS, ACK, 0, &[])), "10,000 frames"),
        (flood(number(WINDOW_UPDATE, 0, 1)), "10,000 frames"),
        (flood(number(WINDOW_UPDATE, 1, 1)), "10,000 frames"),
        (flood(frame(PRIORITY, 0, 1, &[0; 5])), "10,000 frames"),
        (flood(frame(0x77, 0, 0, b"")), "10,000 frames"),
        (
            flood(head(1, 0, &[0x48, 3, b'1', b'0', b'3'])),
            "10,000 frames",
        ),
        (
            vec![head(1, 0, OK), frame(DATA, 0, 1, b"").repeat(10_001)],
            "10,000 frames",
        ),
        (
            vec![
                number(RST_STREAM, 1, 8),
                number(RST_STREAM, 1, 8).repeat(10_001),
            ],
            "10,000 frames",
        ),
        (vec![goaway(1, 0).repeat(10_001)], "10,000 frames"),
        (vec![head(2, END_STREAM, OK)], "nobody has opened"),
        (vec![head(99, END_STREAM, OK)], "nobody has opened"),
        (vec![number(RST_STREAM, 99, 0)], "nobody has opened"),
        (vec![number(WINDOW_UPDATE, 99, 1)], "nobody has opened"),
        (vec![head(0, END_STREAM, OK)], "has no stream"),
        (vec![frame(DATA, 0, 0, b"x")], "has no stream"),
        (vec![number(RST_STREAM, 0, 0)], "has no stream"),
        (
            vec![head(1, END_STREAM, OK), frame(DATA, 0, 1, b"x")],
            "whose answer had ended",
        ),
        (
            vec![head(1, END_STREAM, OK), head(1, END_STREAM, OK)],
            "whose answer had ended",
        ),
        (
            vec![head(1, END_STREAM, &[0xbe])],
            "entry that the table does not have",
        ),
        (
            vec![head(1, END_STREAM, &[0x3f, 0xe1, 0x1f, 0x88])],
            "announced size of 0",
        ),
        (
            vec![head(1, END_STREAM, &[0x40, 0x7f])],
            "middle of a field",
        ),
        (
            vec![frame(DATA, PADDED, 1, &[])],
            "too short for its padding",
        ),
        (
            vec![frame(DATA, PADDED, 1, &[9, 0])],
            "too short for its padding",
        ),
        (
            vec![frame(HEADERS, END_HEADERS | PADDED, 1, &[9, 0])],
            "too short for its padding",
        ),
        (vec![frame(PING, 0, 0, b"1234")], "not 8 bytes"),
        (vec![frame(PING, 0, 1, b"12345678")], "is on a stream"),
        (vec![frame(SETTINGS, 0, 0, &[0; 5])], "middle of a setting"),
        (vec![setting(0x2, 1)], "ENABLE_PUSH"),
        (vec![setting(0x4, 0x8000_0000)], "INITIAL_WINDOW_SIZE"),
        (vec![setting(0x5, 16_383)], "MAX_FRAME_SIZE"),
        (vec![number(WINDOW_UPDATE, 0, 0x7fff_ffff)], "above 2^31-1"),
    ];
    for (frames, why) in cases {
        let bytes = [greeting(), frames.concat()].concat();
        let reading = read([&bytes[..]], 1);
        let broken = reading
            .broken
            .unwrap_or_else(|| panic!("{why}: {reading:?}"));
        assert!(broken.why.contains(why), "{} instead of {why}", broken.why);
        assert_eq!(broken.kind, Failure::Http2);
        assert_eq!(read(pieces(&bytes, 5), 1), reading, "{why}");
    }
    let others: [(&[u8], &str); 4] = [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "answered in HTTP/1"),
        (&frame(PING, 0, 0, &[0; 8]), "first frame is not SETTINGS"),
        (&frame(SETTINGS, ACK, 0, &[]), "first frame is not SETTINGS"),
        (
            &[0, 0x40, 1, SETTINGS, 0, 0, 0, 0, 0],
            "longer than the 16,384",
        ),
    ];
    for (bytes, why) in others {
        let broken = read([bytes], 1).broken.unwrap();
        assert!(broken.why.contains(why), "{} instead of {why}", broken.why);
    }
}

#[test]
fn a_window_that_is_overrun_is_a_failure_and_one_that_is_used_is_renewed() {
    let mut client = Client::new(1, 0, 0);
    client.begin();
    let mut sink = read([&greeting()[..]], 1);
    client.feed(&greeting(), &mut sink).unwrap();
    client.send(0, false, |_| 0);
    client.feed(&head(1, 0, OK), &mut sink).unwrap();
    client.wrote(client.unwritten().len());
    let data = frame(DATA, 0, 1, &[0; 16_384]);
    let until_half = WINDOW as usize / 2 / 16_384;
    for nth in 0..=until_half {
        assert!(client.unwritten().is_empty(), "after {nth}");
        client.feed(&data, &mut sink).unwrap();
        sink.bodies[0].clear();
    }
    let payload = (WINDOW as u32 / 2 + 16_384).to_be_bytes();
    let expected = [
        frame(WINDOW_UPDATE, 0, 0, &payload),
        frame(WINDOW_UPDATE, 0, 1, &payload),
    ];
    assert_eq!(client.unwritten(), expected.concat());
    client.shrink_window();
    let broken = client.feed(&data, &mut sink).unwrap_err();
    assert!(broken.why.contains("connection's window"), "{broken:?}");
}

#[test]
fn a_long_head_is_sent_in_parts() {
    let mut client = Client::new(1, 0, 0);
    client.begin();
    let mut sink = read([&greeting()[..]], 1);
    client.feed(&greeting(), &mut sink).unwrap();
    client.send(0, false, |out| {
        out.extend_from_slice(&[0x82; 40_000]);
        0
    });
    let sent = sent(client.unwritten());
    let parts: Vec<(u8, u8, usize)> = sent[3..]
        .iter()
        .map(|(header, _)| (header.kind, header.flags, header.length))
        .collect();
    assert_eq!(
        parts,
        [
            (HEADERS, END_STREAM, 16_384),
            (CONTINUATION, 0, 16_384),
            (CONTINUATION, END_HEADERS, 40_001 - 2 * 16_384)
        ]
    );
}

#[test]
fn long_heads_that_wait_to_be_written_are_no_answers_that_the_server_asked_for() {
    const STREAMS: usize = 40;
    // The values of a template are not known beforehand.
    let mut client = Client::new(STREAMS, 0, 0);
    client.begin();
    let mut sink = read([&greeting()[..]], STREAMS);
    client.feed(&greeting(), &mut sink).unwrap();
    for slot in 0..STREAMS {
        client.send(slot, false, |out| {
            out.extend_from_slice(&[0x82; 40_000]);
            0
        });
    }
    assert!(client.unwritten().len() > 1_500_000);
    let ping = frame(PING, 0, 0, &[0; 8]);
    client.feed(&ping, &mut sink).unwrap();
}

/// A frame that a server might send.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop_oneof![
        4 => Just(HEADERS),
        4 => Just(DATA),
        1 => 0u8..12,
    ];
    let flags = prop_oneof![
        4 => Just(END_HEADERS | END_STREAM),
        2 => Just(END_HEADERS),
        1 => any::<u8>(),
    ];
    let stream = prop_oneof![8 => (0u32..8).prop_map(|nth| 2 * nth + 1), 1 => 0u32..4];
    let payload = prop_oneof![
        3 => Just(vec![0x88]),
        1 => Just(with_length("3")),
        1 => Just(b"abc".to_vec()),
        1 => Just(vec![0, 0, 0, 1]),
        1 => Just(vec![0, 3, 0, 0, 0, 1]),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ];
    (kind, flags, stream, payload)
        .prop_map(|(kind, flags, stream, payload)| frame(kind, flags, stream, &payload))
}

proptest! {
    #[test]
    fn any_conversation_is_read_alike_however_it_is_cut(
        frames in prop::collection::vec(any_frame(), 0..30),
        manner in any::<u8>(),
        cuts in any::<u8>(),
        wrong in prop::option::weighted(0.2, (any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let mut input = [vec![manner & 0x7f, cuts], frames.concat()].concat();
        if let Some((at, byte)) = wrong {
            let at = at.index(input.len());
            input[at] = byte;
        }
        conversation(&input);
    }
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/http2")
}

#[test]
fn the_laws_hold_for_all_that_fuzzing_has_kept_of_http2() {
    let mut inputs = 0;
    for entry in fs::read_dir(corpus()).expect("the corpus") {
        conversation(&fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs >= 20, "only {inputs} inputs");
}

/// `cargo test --workspace --lib seeds_of_http2 -- --ignored`
#[test]
#[ignore = "writes files"]
fn seeds_of_http2() {
    let seeds: [Vec<Vec<u8>>; 22] = [
        vec![head(1, END_STREAM, OK)],
        vec![head(1, 0, OK), frame(DATA, END_STREAM, 1, b"hello")],
        vec![
            head(1, 0, &with_length("5")),
            frame(DATA, END_STREAM, 1, b"hello"),
        ],
        vec![
            head(3, 0, OK),
            head(1, END_STREAM, OK),
            frame(DATA, END_STREAM, 3, b"x"),
        ],
        vec![
            head(1, 0, OK),
            frame(DATA, PADDED, 1, &[2, b'a', 0, 0]),
            head(1, END_STREAM, &[]),
        ],
        vec![
            frame(HEADERS, 0, 1, OK),
            frame(CONTINUATION, END_HEADERS, 1, &with_length("0")),
        ],
        vec![
            head(1, 0, &[0x48, 3, b'1', b'0', b'3']),
            head(1, END_STREAM, OK),
        ],
        vec![frame(PING, 0, 0, b"12345678"), head(1, END_STREAM, OK)],
        vec![setting(0x3, 1), head(1, END_STREAM, OK)],
        vec![
            setting(0x4, 0),
            number(WINDOW_UPDATE, 3, 50),
            head(3, END_STREAM, OK),
        ],
        vec![number(WINDOW_UPDATE, 0, 1 << 20), head(1, END_STREAM, OK)],
        vec![number(RST_STREAM, 1, 7), head(3, END_STREAM, OK)],
        vec![
            goaway(3, 0),
            head(1, END_STREAM, OK),
            head(3, END_STREAM, OK),
        ],
        vec![frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2])],
        vec![
            frame(PRIORITY, 0, 3, &[0, 0, 0, 1, 9]),
            head(1, END_STREAM, OK),
        ],
        vec![frame(0x77, 1, 3, b"abc"), head(1, END_STREAM, OK)],
        vec![head(1, END_STREAM, &[0x20, 0x48, 0x82, 0x64, 0x02])],
        vec![
            head(1, 0, &[0x88, 0x5c, 0x82, 0x0b, 0xe2]),
            frame(DATA, END_STREAM, 1, b"12"),
        ],
        vec![frame(
            HEADERS,
            END_HEADERS | PADDED | WITH_PRIORITY,
            1,
            &[1, 0, 0, 0, 0, 9, 0x88, 0],
        )],
        vec![b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()],
        vec![setting(0x1, 4096), setting(0x5, 1 << 20), setting(0x6, 100)],
        vec![head(1, END_STREAM, &[0xbe]), head(3, END_STREAM, &[0x40])],
    ];
    fs::create_dir_all(corpus()).unwrap();
    for (number, frames) in seeds.iter().enumerate() {
        let input = [&[3, number as u8][..], &frames.concat()].concat();
        fs::write(corpus().join(format!("case-{number}")), input).unwrap();
    }
}
