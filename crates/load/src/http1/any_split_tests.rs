//! Any split of what the testkit's servers send gives the same result, and the laws hold for all that fuzzing has kept.

use std::{fs, path::PathBuf};

use deadheat_testkit::{
    Action as Done,
    faults::{self, Case},
};
use proptest::prelude::*;

use super::*;

/// From here on, only places that matter and some others are cut: a head of 64 KiB is parsed for each of them.
const SHORT: usize = 600;

/// What a case sends, and whether the connection ends after it.
fn sent(case: &Case) -> (Vec<u8>, bool) {
    let (mut bytes, mut ends) = (Vec::new(), false);
    for step in &case.answer {
        match step {
            Done::Send(more) => bytes.extend_from_slice(more),
            Done::SendFin(more) => {
                bytes.extend_from_slice(more);
                ends = true;
            }
            Done::Fin => ends = true,
            _ => {}
        }
    }
    (bytes, ends)
}

/// Where to cut.
fn places(length: usize) -> Vec<usize> {
    if length <= SHORT {
        return (1..length).collect();
    }
    let limit = head::HEAD_LIMIT;
    let edge = 40;
    let every: Vec<usize> = (1..edge)
        .chain((edge..length - edge).step_by(length / 16))
        .chain(limit - 3..limit + 3)
        .chain(length - edge..length)
        .collect();
    every.into_iter().filter(|at| *at < length).collect()
}

/// Whether the parser's verdict is the case's outcome, as far as the parser is asked: it knows neither time nor what
/// is expected.
fn fits(case: &Case, reading: &Reading, length: usize, ends: bool) -> bool {
    let body_fits = reading.body == case.body;
    let kept = |keep_alive: bool| ends || keep_alive == case.keeps;
    match (case.outcome, reading.verdict) {
        (Ok(()), Verdict::Whole { used, keep_alive }) => {
            used == length && body_fits && kept(keep_alive)
        }
        (Ok(()), Verdict::AtTheEnd(Ending::Whole)) => ends && body_fits,
        (
            Err(Failure::WrongStatus | Failure::WrongLength | Failure::WrongContent),
            Verdict::Whole { used, keep_alive },
        ) => used == length && kept(keep_alive),
        (Err(Failure::ExtraBytes), Verdict::Whole { used, .. }) => used < length && body_fits,
        // A parser is not told of a reset, and so takes one for the end of a body that has no other.
        (Err(Failure::Reset | Failure::Timeout), Verdict::AtTheEnd(_)) => true,
        // Slowly, but to its end.
        (Err(Failure::Timeout), Verdict::Whole { used, .. }) => used == length,
        (Err(kind), Verdict::AtTheEnd(Ending::Cut(cut))) => ends && kind == cut,
        (Err(kind), Verdict::Wrong(wrong)) => kind == wrong,
        _ => false,
    }
}

fn cases() -> impl Iterator<Item = Case> {
    faults::right().into_iter().chain(faults::wrong())
}

#[test]
fn every_case_of_the_testkit_is_judged_alike_wherever_it_is_cut() {
    let mut cuts = 0;
    for case in cases() {
        let (bytes, ends) = sent(&case);
        let to_head = case.method == "HEAD";
        let whole = read([&bytes[..]], to_head);
        assert!(
            fits(&case, &whole, bytes.len(), ends),
            "{}: {:?} instead of {:?}",
            case.name,
            whole.verdict,
            case.outcome
        );
        for at in places(bytes.len()) {
            let (first, second) = bytes.split_at(at);
            assert_eq!(
                read([first, second], to_head),
                whole,
                "{} at {at}",
                case.name
            );
            cuts += 1;
        }
        for seed in 0..=u8::MAX {
            // A piece is parsed with all that came before it: a large head by single bytes takes its time squared.
            if bytes.len() <= SHORT || seed % 64 == 15 {
                let cut = read(pieces(&bytes, seed), to_head);
                assert_eq!(cut, whole, "{} with the pieces of {seed}", case.name);
            }
        }
    }
    assert!(cuts > 2_000, "only {cuts} cuts");
}

proptest! {
    /// A right answer with another behind it, and one byte that is another: whatever it is then, it is so for any cut.
    #[test]
    fn a_byte_that_went_wrong_is_judged_alike_however_it_is_cut(
        case in 0..cases().count(),
        at in any::<prop::sample::Index>(),
        byte in prop_oneof![prop::sample::select(b"\r\n 0a:;\0\xff".to_vec()), any::<u8>()],
        manner in any::<u8>(),
        cuts in any::<u8>(),
    ) {
        let case = cases().nth(case).expect("one of them");
        let (mut bytes, _) = sent(&case);
        prop_assume!(!bytes.is_empty() && bytes.len() <= SHORT);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        answer(&[&[manner, cuts], &bytes[..]].concat());
        head(&[&[manner], &bytes[..]].concat());
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            chunked(&[&[cuts], &bytes[end + 4..]].concat());
        }
    }
}

#[test]
fn the_plain_decoder_reads_the_rfcs_grammar() {
    let whole = |text: &str, body: &str, used| {
        let body = body.as_bytes().to_vec();
        assert_eq!(
            plain_chunked(text.as_bytes()),
            Decoded::Whole { body, used },
            "{text:?}"
        );
    };
    whole("0\r\n\r\n", "", 5);
    whole(
        "5;a=b\r\nHello\r\n00a \r\n, big wide\r\n0\r\nA: b\r\n\r\nmore",
        "Hello, big wide",
        43,
    );
    for part in [
        "",
        "5",
        "5 ",
        "5;x",
        "5\r",
        "5\r\nHe",
        "5\r\nHello\r",
        "0\r\n",
        "0\r\n\r",
        "0\r\nA",
    ] {
        assert!(
            matches!(plain_chunked(part.as_bytes()), Decoded::More { .. }),
            "{part:?}"
        );
    }
    for wrong in [
        "x",
        "\r",
        "\r\n",
        "5 6",
        "5\n",
        "5\rx",
        "5\r\nHello!",
        "0\r\n\n",
        "0\r\n\rx",
        ";a",
    ] {
        assert_eq!(plain_chunked(wrong.as_bytes()), Decoded::Wrong, "{wrong:?}");
    }
    assert_eq!(plain_chunked(b"10000000000000000\r\n"), Decoded::Wrong);
}

#[test]
fn pieces_are_the_bytes_in_order() {
    let bytes: Vec<u8> = (0..500u16).map(|n| n as u8).collect();
    for seed in 0..=u8::MAX {
        let cut: Vec<&[u8]> = pieces(&bytes, seed).collect();
        assert_eq!(cut.concat(), bytes);
        assert!(cut.iter().all(|piece| !piece.is_empty()));
        assert_eq!(
            cut.len() == bytes.len(),
            seed % 8 == 0,
            "{seed}: {}",
            cut.len()
        );
    }
}

type Laws = fn(&[u8]);

/// A parser's laws, and the folder of what fuzzing has kept for it.
const TARGETS: [(&str, Laws); 3] = [("head", head), ("chunked", chunked), ("answer", answer)];

fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_laws_hold_for_all_that_fuzzing_has_kept() {
    for (name, laws) in TARGETS {
        let folder = project().join("fuzz/corpus").join(name);
        let kept = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        let mut inputs = 0;
        for entry in kept {
            laws(&fs::read(entry.unwrap().path()).unwrap());
            inputs += 1;
        }
        assert!(inputs >= 20, "{folder:?} holds only {inputs} inputs");
    }
}

/// `cargo test -p deadheat-load seeds_for_fuzzing -- --ignored`, then `cargo xtask fuzz --keep`.
#[test]
#[ignore = "writes files"]
fn seeds_for_fuzzing() {
    let folder = project().join("target/fuzz/corpus");
    for (name, _) in TARGETS {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    let write = |name: &str, number: usize, prefix: &[u8], bytes: &[u8]| {
        let file = folder.join(name).join(format!("case-{number}"));
        fs::write(file, [prefix, bytes].concat()).unwrap();
    };
    for (number, case) in cases().enumerate() {
        let (bytes, _) = sent(&case);
        if bytes.is_empty() || bytes.len() > SHORT {
            continue;
        }
        let manner = u8::from(case.method == "HEAD");
        write("answer", number, &[manner, number as u8], &bytes);
        write("head", number, &[manner], &bytes);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((_, body)) = text.split_once("chunked\r\n\r\n") {
            write("chunked", number, &[number as u8], body.as_bytes());
        }
    }
}
