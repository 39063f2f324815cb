use proptest::{collection::vec, prelude::*};

use super::*;

fn events(event: StreamEvent, enough: Option<u64>) -> EventCounter {
    EventCounter::new(Stream { event, enough })
}

/// Events in a body that comes in these pieces, and how many of its bytes belong to it.
fn count<'a>(
    event: StreamEvent,
    enough: Option<u64>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (u64, usize) {
    let mut events = events(event, enough);
    let used = pieces.into_iter().map(|piece| events.feed(piece)).sum();
    events.end();
    assert_eq!(events.take_fresh(), events.seen());
    assert_eq!(events.take_fresh(), 0);
    (events.seen(), used)
}

#[track_caller]
fn assert_count(event: StreamEvent, body: &[u8], expected: u64) {
    let shown = String::from_utf8_lossy(body);
    assert_eq!(
        count(event, None, [body]),
        (expected, body.len()),
        "{shown:?}"
    );
    let bytes = count(event, None, body.chunks(1));
    assert_eq!(bytes, (expected, body.len()), "{shown:?} in bytes");
}

#[test]
fn a_server_sent_event_has_data_and_ends_with_a_blank_line() {
    for (body, expected) in [
        ("data: a\n\ndata: b\n\n", 2),
        ("data: a\r\n\r\ndata: b\r\n\r\n", 2),
        ("data: a\r\rdata: b\r\r", 2),
        ("data: a\r\n\ndata: b\n\r\n", 2),
        ("data: a\r\n\rdata: b\r\n\n", 2),
        ("data\n\ndata:\n\n", 2),
        ("event: x\nid: 7\ndata: a\ndata: b\n\n", 1),
        // Comments keep connections alive, and a field alone only sets something.
        (":\n\n: ping\n\n:\n:\n\n", 0),
        ("id: 7\n\nretry: 10\n\nevent: x\n\n", 0),
        (": ping\ndata: a\n: ping\n\n\n\n\n", 1),
        ("dat\n\ndatas: a\n\nData: a\n\n data: a\n\ndat:a\n\n", 0),
        ("x data: a\n\n: data: a\n\n", 0),
        // What is not ended by a blank line is dropped.
        ("data: a\n\ndata: b\n", 1),
        ("data: a", 0),
        ("\u{feff}data: a\n\n", 1),
        ("\u{feff}\u{feff}data: a\n\n", 0),
        ("data: a\n\n\u{feff}data: a\n\n", 1),
        ("", 0),
    ] {
        assert_count(StreamEvent::Sse, body.as_bytes(), expected);
    }
    // Only a part of the mark.
    assert_count(StreamEvent::Sse, b"\xef\xbbdata: a\n\ndata: b\n\n", 1);
}

#[test]
fn a_line_is_an_event_unless_it_is_empty() {
    for (body, expected) in [
        ("{}\n{}\n", 2),
        ("{}\r\n\r\n\n{}", 2),
        ("\n\r\n\r", 0),
        ("a", 1),
        ("", 0),
    ] {
        assert_count(StreamEvent::Lines, body.as_bytes(), expected);
    }
}

#[test]
fn a_chunk_is_an_event_however_it_comes() {
    let mut events = events(StreamEvent::Chunks, Some(2));
    assert_eq!(events.feed(b"data: a\n\n"), 9);
    assert_eq!(events.seen(), 0);
    events.end_chunk();
    assert_eq!((events.seen(), events.is_enough()), (1, false));
    assert_eq!(events.feed(b"b"), 1);
    events.end_chunk();
    assert!(events.is_enough());
    assert_eq!(events.feed(b"c"), 0);
    events.end_chunk();
    assert_eq!(events.seen(), 2);
    let mut others = super::tests::events(StreamEvent::Lines, None);
    others.end_chunk();
    assert_eq!(others.seen(), 0);
}

#[test]
fn an_answer_ends_with_the_event_that_is_enough() {
    let sse: &[u8] = b"data: a\n\n: ping\n\ndata: b\n\ndata: c\n\n";
    assert_eq!(count(StreamEvent::Sse, Some(2), [sse]), (2, 26));
    assert_eq!(count(StreamEvent::Sse, Some(2), sse.chunks(1)), (2, 26));
    assert_eq!(count(StreamEvent::Sse, Some(9), [sse]), (3, sse.len()));
    let lines: &[u8] = b"a\n\nb\nc";
    assert_eq!(count(StreamEvent::Lines, Some(1), [lines]), (1, 2));
    assert_eq!(count(StreamEvent::Lines, Some(2), [lines]), (2, 5));
    assert_eq!(count(StreamEvent::Lines, Some(3), [lines]), (3, 6));
}

/// Server-sent events as the standard has them, of a whole body: lines first, then fields.
fn by_the_standard(body: &[u8]) -> u64 {
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    let text: Vec<u8> = body.to_vec();
    let mut lines = vec![Vec::new()];
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\r' if text.get(at + 1) == Some(&b'\n') => {
                lines.push(Vec::new());
                at += 1;
            }
            b'\r' | b'\n' => lines.push(Vec::new()),
            byte => lines.last_mut().unwrap().push(byte),
        }
        at += 1;
    }
    // The last one has no end.
    lines.pop();
    let (mut events, mut has_data) = (0, false);
    for line in lines {
        if line.is_empty() {
            events += u64::from(std::mem::take(&mut has_data));
        } else {
            let name = line.split(|byte| *byte == b':').next();
            has_data |= name == Some(b"data");
        }
    }
    events
}

/// Bytes of the kinds that matter.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"\n"[..],
        b"\r",
        b"\r\n",
        b"\n\n",
        b"data",
        b"data:",
        b"data: x",
        b":",
        b"d",
        b"id: 1",
        b"\xef",
        b"\xbb",
        b"\xbf",
        b"\xef\xbb\xbf",
        b" ",
    ]);
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(
        body in body(),
        cuts in vec(any::<prop::sample::Index>(), 0..6),
        enough in prop::option::of(1..4u64),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect();
        for event in [StreamEvent::Sse, StreamEvent::Lines] {
            let whole = count(event, enough, [&body[..]]);
            prop_assert_eq!(count(event, enough, pieces.iter().copied()), whole);
        }
        prop_assert_eq!(count(StreamEvent::Sse, None, [&body[..]]).0, by_the_standard(&body));
    }
}
