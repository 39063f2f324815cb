use super::*;
use crate::http1::{AnswerReader, Heads};
use deadheat_model::load::{RequestSpec, StatusSet};

fn exchange(content: Content) -> Exchange {
    Exchange::new(
        RequestSpec::get("/"),
        Expectation {
            status: StatusSet::just(200),
            length: content.length(),
            content: Some(content),
        },
    )
}

/// The verdicts on `bodies`, one after the other, each delivered in pieces of `piece` bytes.
fn judge(
    exchange: &Exchange,
    every: u32,
    bodies: &[&[u8]],
    piece: usize,
) -> Vec<(Option<Failure>, bool)> {
    judge_with_notes(exchange, every, bodies, piece, &mut Vec::new())
}

/// The same, with what examples would say of wrong answers.
fn judge_with_notes(
    exchange: &Exchange,
    every: u32,
    bodies: &[&[u8]],
    piece: usize,
    notes: &mut Vec<String>,
) -> Vec<(Option<Failure>, bool)> {
    let mut contents = Contents::new([exchange].into_iter(), every);
    let statuses = StatusMap::new(&exchange.expect.status);
    let (mut answer, examples) = (AnswerSoFar::new(), Examples::default());
    let mut reader = AnswerReader::new();
    let mut heads = Heads::new();
    let mut verdicts = Vec::new();
    for body in bodies {
        let mut bytes =
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
        bytes.extend_from_slice(body);
        answer.begin(None);
        reader.begin(false);
        for piece in bytes.chunks(piece) {
            let mut examiner = Examiner {
                answer: &mut answer,
                browser: None,
                exchange: 0,
                expect: &exchange.expect,
                statuses: &statuses,
                contents: &mut contents,
                examples: &examples,
                received: 0,
            };
            reader.feed(piece, &mut heads, &mut examiner).unwrap();
        }
        let verdict = answer.verdict(0, &exchange.expect, &mut contents);
        verdicts.push((verdict.failure, verdict.content_checked));
        if let Some(note) = verdict.note {
            notes.push(note);
        }
    }
    verdicts
}

const RIGHT: (Option<Failure>, bool) = (None, true);
const LENGTH: (Option<Failure>, bool) = (Some(Failure::WrongLength), true);
const CONTENT: (Option<Failure>, bool) = (Some(Failure::WrongContent), true);

#[test]
fn exact_and_repeated_content_however_it_comes() {
    let exact = exchange(Content::Exact {
        bytes: b"Hello".to_vec(),
    });
    let repeated = exchange(Content::Repeated {
        byte: b'd',
        count: 9_000,
    });
    let (right, mut wrong) = (vec![b'd'; 9_000], vec![b'd'; 9_000]);
    wrong[8_999] = b'e';
    for piece in [1, 3, 100, 10_000] {
        let bodies: [&[u8]; 5] = [b"Hello", b"Hellu", b"Hell", b"Hello!", b"Hello"];
        let verdicts = judge(&exact, 1, &bodies, piece);
        assert_eq!(verdicts, [RIGHT, CONTENT, LENGTH, LENGTH, RIGHT]);
        let verdicts = judge(&repeated, 1, &[&right, &wrong, &right[1..]], piece);
        assert_eq!(verdicts, [RIGHT, CONTENT, LENGTH]);
    }
}

#[test]
fn json_is_compared_by_value() {
    let value: serde_json::Value = serde_json::json!([{"a": 1, "b": "x"}]);
    let json = exchange(Content::Json { value });
    let bodies: [&[u8]; 7] = [
        br#"[{"a":1,"b":"x"}]"#,
        br#"[{"a":1,"b":"x"}]"#,
        br#"[ {"b": "x", "a": 1} ]"#,
        br#"[{"a":1,"b":"y"}]"#,
        br#"[{"a":1"#,
        br#"[{"a":1,"b":"x"}] "#,
        b"",
    ];
    for piece in [1, 5, 1_000] {
        let verdicts = judge(&json, 1, &bodies, piece);
        let expected = [RIGHT, RIGHT, RIGHT, CONTENT, CONTENT, RIGHT, CONTENT];
        assert_eq!(verdicts, expected, "pieces of {piece}");
    }
    assert_eq!(judge(&json, 1, &[b"", b"x"], 9), [CONTENT, CONTENT]);
}

#[test]
fn an_example_of_wrong_json_says_what_was_found_where() {
    let at = exchange(Content::JsonAt {
        pointer: "/price".to_owned(),
        value: serde_json::json!(10),
    });
    let bodies: [&[u8]; 6] = [
        br#"{"price":10.0}"#,
        br#"{"price":1e1}"#,
        br#"{"price":12.5}"#,
        b"{}",
        b"{",
        br#"{"price":10.0"#,
    ];
    for piece in [1, 1_000] {
        let mut notes = Vec::new();
        let verdicts = judge_with_notes(&at, 1, &bodies, piece, &mut notes);
        let expected = [RIGHT, RIGHT, CONTENT, CONTENT, CONTENT, CONTENT];
        assert_eq!(verdicts, expected);
        assert_eq!(
            notes[..2],
            [
                "at /price: expected 10, found 12.5",
                "at /price: expected 10, found nothing"
            ]
        );
        assert!(notes[2].starts_with("the body is not JSON: "), "{notes:?}");
    }
}

#[test]
fn one_in_so_many_is_compared() {
    let exact = exchange(Content::Exact {
        bytes: b"Hello".to_vec(),
    });
    let checked = |every: u32| -> Vec<bool> {
        let verdicts = judge(&exact, every, &[b"Hello".as_slice(); 7], 9);
        verdicts.into_iter().map(|(_, checked)| checked).collect()
    };
    assert_eq!(checked(3), [true, false, false, true, false, false, true]);
    assert_eq!(checked(1), [true; 7]);
    assert_eq!(checked(0), [false; 7]);
}

#[test]
fn an_answer_outside_the_sample_is_still_measured() {
    let exact = exchange(Content::Exact {
        bytes: b"Hello".to_vec(),
    });
    let verdicts = judge(&exact, 0, &[b"Hellu", b"Hell"], 9);
    assert_eq!(
        verdicts,
        [(None, false), (Some(Failure::WrongLength), false)]
    );
}

#[test]
fn contents_can_be_known_in_part() {
    let contains = exchange(Content::Contains {
        bytes: b"needle".to_vec(),
    });
    let at = exchange(Content::JsonAt {
        pointer: "/a/1".to_owned(),
        value: serde_json::json!("x"),
    });
    for piece in [1, 4, 1_000] {
        let bodies: [&[u8]; 5] = [b"a needle!", b"a needle!", b"nee dle", b"", b"needle"];
        let verdicts = judge(&contains, 1, &bodies, piece);
        assert_eq!(verdicts, [RIGHT, RIGHT, CONTENT, CONTENT, RIGHT]);
        let bodies: [&[u8]; 5] = [
            br#"{"a":[0,"x"]}"#,
            br#"{"n":1,"a":[0,"x"]}"#,
            br#"{"a":[0,"y"]}"#,
            br#"{"a":[0]}"#,
            b"x",
        ];
        let verdicts = judge(&at, 1, &bodies, piece);
        assert_eq!(verdicts, [RIGHT, RIGHT, CONTENT, CONTENT, CONTENT]);
    }
}

#[test]
fn all_connections_of_a_worker_share_the_room_for_gathering() {
    let at = exchange(Content::JsonAt {
        pointer: "/0".to_owned(),
        value: serde_json::json!(1),
    });
    let statuses = StatusMap::new(&at.expect.status);
    let examples = Examples::default();
    let mut contents = Contents::new([&at].into_iter(), 1);
    // Three answers at once, each of them a bit more than a third of the room.
    let mut body = b"[1,\"".to_vec();
    body.resize(GATHER_LIMIT * 2 / 5, b'x');
    body.extend_from_slice(b"\"]");
    let mut answers = [AnswerSoFar::new(), AnswerSoFar::new(), AnswerSoFar::new()];
    for round in 0..2 {
        for answer in &mut answers {
            answer.begin(None);
            answer.is_right_status = true;
            answer.comparison = Comparison::Same;
            body[10] = b'a' + round;
            for piece in body.chunks(64 * 1024) {
                let mut examiner = Examiner {
                    answer: &mut *answer,
                    browser: None,
                    exchange: 0,
                    expect: &at.expect,
                    statuses: &statuses,
                    contents: &mut contents,
                    examples: &examples,
                    received: 0,
                };
                examiner.body(piece);
            }
        }
        assert!(contents.gathered.load(Ordering::Relaxed) <= GATHER_LIMIT);
        let verdicts = answers
            .each_mut()
            .map(|answer| answer.verdict(0, &at.expect, &mut contents));
        let checked = verdicts.map(|verdict| (verdict.failure, verdict.content_checked));
        assert_eq!(checked, [RIGHT, RIGHT, (None, false)], "round {round}");
        assert_eq!(contents.gathered.load(Ordering::Relaxed), 0);
        assert!(contents.spare_bytes <= GATHER_LIMIT);
    }
    // What breaks off gives its room back.
    answers[0].comparison = Comparison::Gathering(Gathered {
        text: Vec::new(),
        all: Arc::clone(&contents.gathered),
    });
    if let Comparison::Gathering(gathered) = &mut answers[0].comparison {
        assert!(gathered.add(b"[1"));
    }
    answers[0].begin(None);
    assert_eq!(contents.gathered.load(Ordering::Relaxed), 0);
}
