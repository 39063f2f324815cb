//! What holds for any bytes that a server may send. Fuzzing looks for bytes for which it does not (`fuzz/`), and a test
//! asks the same of all that fuzzing has kept.
//!
//! An input is what libFuzzer changes at will: a byte or two that say how the bytes come, then the bytes.

use deadheat_model::Failure;

use super::{
    AnswerReader, Ending, FeedOutcome, Head, Heads, Sink,
    answer::Chunked,
    head::{self, Framing},
};

/// The longest input that is judged: below the limits of 64 KiB, which tests of their own look at.
const LONGEST: usize = 32 * 1024;

/// Heads: whether they are read alike however much of them has come. The first byte's lowest bit says whether it
/// answers a HEAD.
pub fn head(input: &[u8]) {
    let Some((manner, bytes)) = input.split_first() else {
        return;
    };
    if bytes.len() > LONGEST {
        return;
    }
    let to_head = manner & 1 == 1;
    let whole = head::parse(bytes, to_head);
    if let Ok(Some((read, length))) = &whole {
        assert!(
            *length <= bytes.len(),
            "it is longer than the received bytes"
        );
        assert!((100..=999).contains(&read.status), "{read:?}");
        if to_head || matches!(read.status, 100..=199 | 204 | 304) {
            assert_eq!(read.framing, Framing::Empty, "{read:?}");
        }
        let alone = head::parse(&bytes[..*length], to_head);
        assert_eq!(alone, whole, "what follows it matters");
        // The second time it is known by its bytes.
        let mut heads = Heads::new();
        for time in ["first", "second"] {
            assert_eq!(heads.read(bytes, to_head), whole, "read the {time} time");
        }
        assert_eq!(
            heads.read(bytes, !to_head),
            head::parse(bytes, !to_head),
            "known as another's"
        );
        let short = head::parse(&bytes[..length - 1], to_head);
        assert_eq!(short, Ok(None), "it was whole before its end");
    }
    // Each prefix of a short head, some of a long one.
    for cut in (0..bytes.len()).step_by(1 + bytes.len() / 64) {
        match (head::parse(&bytes[..cut], to_head), &whole) {
            (Ok(None), _) => {}
            (Ok(Some(early)), whole) => {
                assert_eq!(Ok(Some(early)), *whole, "another head after {cut} bytes");
            }
            (Err(early), Err(late)) => assert_eq!(early.kind, late.kind, "after {cut} bytes"),
            (Err(early), Ok(_)) => panic!("wrong after {cut} bytes and right later: {early:?}"),
        }
    }
}

/// Chunked bodies: whether they are decoded alike however they are cut, and as a plain decoder does that sees all of
/// them at once. The first byte says how they are cut.
pub fn chunked(input: &[u8]) {
    let Some((cuts, bytes)) = input.split_first() else {
        return;
    };
    if bytes.len() > LONGEST {
        return;
    }
    let reference = plain_chunked(bytes);
    assert_eq!(decode(bytes, [bytes]), reference, "in one piece");
    assert_eq!(decode(bytes, pieces(bytes, *cuts)), reference, "in pieces");
}

/// Whole answers: whether they are read alike however they are cut. The first byte's lowest bit says whether they
/// answer a HEAD, the second byte how they are cut.
pub fn answer(input: &[u8]) {
    let [manner, cuts, bytes @ ..] = input else {
        return;
    };
    if bytes.len() > LONGEST {
        return;
    }
    let to_head = manner & 1 == 1;
    let whole = read([bytes], to_head);
    assert_eq!(read(pieces(bytes, *cuts), to_head), whole, "in pieces");
    assert_eq!(
        dropping(bytes, *cuts, to_head),
        whole.verdict,
        "without looking at its body"
    );
    assert!(whole.heads.len() <= 1, "more than one final head");
    let framing = whole.heads.first().map(|(head, _)| head.framing);
    if framing == Some(Framing::Chunked) {
        chunks_are_right(bytes, &whole);
    }
    match whole.verdict {
        Verdict::Whole { used, .. } => {
            assert!(used <= bytes.len(), "it is longer than the received bytes");
            let alone = read([&bytes[..used]], to_head);
            assert_eq!(alone, whole, "what follows it matters");
            assert_ne!(
                framing,
                Some(Framing::UntilClose),
                "it cannot end by itself"
            );
            if let Some(Framing::Sized(length)) = framing {
                assert_eq!(whole.body.len() as u64, length);
            }
        }
        Verdict::AtTheEnd(Ending::Whole) => assert_eq!(framing, Some(Framing::UntilClose)),
        Verdict::AtTheEnd(Ending::Cut(kind)) => assert_eq!(
            kind == Failure::TruncatedBody,
            framing.is_some(),
            "{kind} after {framing:?}"
        ),
        Verdict::Wrong(kind) => {
            assert!(
                matches!(kind, Failure::BadHead | Failure::BadFraming),
                "{kind}"
            );
        }
    }
}

/// Whether a chunked body is what the plain decoder says.
fn chunks_are_right(bytes: &[u8], whole: &Reading) {
    let raw = &whole.heads[0].1;
    // It is found where it is: what comes before it are interim heads, with other statuses.
    let start = bytes.windows(raw.len()).position(|some| some == raw);
    let from = start.expect("the head is among the bytes") + raw.len();
    let decoded = match whole.verdict {
        Verdict::Whole { used, .. } => Decoded::Whole {
            body: whole.body.clone(),
            used: used - from,
        },
        Verdict::AtTheEnd(_) => Decoded::More {
            body: whole.body.clone(),
        },
        Verdict::Wrong(_) => Decoded::Wrong,
    };
    assert_eq!(decoded, plain_chunked(&bytes[from..]));
}

/// What bytes, and the end of the connection after them, amount to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// The final head with its bytes.
    pub(super) heads: Vec<(Head, Vec<u8>)>,
    /// The body. Empty when it went wrong: what had come before may have been handed on or not.
    pub(super) body: Vec<u8>,
    /// How it ended.
    pub(super) verdict: Verdict,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// By itself.
    Whole {
        /// How many bytes belonged to it.
        used: usize,
        /// Whether the connection may carry another request.
        keep_alive: bool,
    },
    /// It went on until the bytes ended; this is what the end of the connection means then.
    AtTheEnd(Ending),
    /// It cannot be read.
    Wrong(Failure),
}

/// Keeps the parts of an answer.
#[derive(Default)]
pub(super) struct Collect {
    pub(super) heads: Vec<(Head, Vec<u8>)>,
    body: Vec<u8>,
}

impl Sink for Collect {
    fn head(&mut self, head: &Head, raw: &[u8]) {
        self.heads.push((*head, raw.to_vec()));
    }

    fn body(&mut self, data: &[u8]) {
        assert!(!data.is_empty(), "nothing is handed on as data");
        self.body.extend_from_slice(data);
    }
}

/// Reads an answer that comes in these pieces.
pub(super) fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, to_head: bool) -> Reading {
    let mut reader = AnswerReader::new();
    let mut heads = Heads::new();
    reader.begin(to_head);
    let mut collect = Collect::default();
    let mut verdict = None;
    let mut before = 0;
    for piece in pieces {
        match reader.feed(piece, &mut heads, &mut collect) {
            Ok(FeedOutcome::More) => before += piece.len(),
            Ok(FeedOutcome::Whole { used, keep_alive }) => {
                let used = before + used;
                verdict = Some(Verdict::Whole { used, keep_alive });
                break;
            }
            Err(wrong) => {
                collect.body.clear();
                verdict = Some(Verdict::Wrong(wrong.kind));
                break;
            }
        }
    }
    Reading {
        heads: collect.heads,
        body: collect.body,
        verdict: verdict.unwrap_or_else(|| Verdict::AtTheEnd(reader.end())),
    }
}

/// How an answer ends of which no byte of the body is looked at where its length is known: the kernel drops it.
fn dropping(bytes: &[u8], seed: u8, to_head: bool) -> Verdict {
    let mut reader = AnswerReader::new();
    let mut heads = Heads::new();
    reader.begin(to_head);
    let mut at = 0;
    while at < bytes.len() {
        // No more than what is left is ever asked for.
        let step = match reader.body_left() {
            Some(left) => {
                let length = pieces(&bytes[at..], seed).next().map_or(0, <[u8]>::len);
                let dropped = left.min(length as u64);
                at += dropped as usize;
                Ok(reader.skip(dropped))
            }
            None => {
                // Byte by byte, so that no feed reaches into the body.
                let step = reader.feed(&bytes[at..=at], &mut heads, &mut Collect::default());
                at += 1;
                step
            }
        };
        match step {
            Ok(FeedOutcome::More) => {}
            Ok(FeedOutcome::Whole { keep_alive, .. }) => {
                return Verdict::Whole {
                    used: at,
                    keep_alive,
                };
            }
            Err(wrong) => return Verdict::Wrong(wrong.kind),
        }
    }
    Verdict::AtTheEnd(reader.end())
}

/// Bytes cut as `seed` says: each by itself (0), or in pieces of changing length, some of them long.
pub(super) fn pieces(bytes: &[u8], seed: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    let mut chance = u32::from(seed);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // The constants of Numerical Recipes' linear congruential generator; its high bits are the good ones.
        chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let longest = match seed {
            0 => 1,
            seed => 1 << (seed % 8),
        };
        let length = (1 + (chance >> 16) as usize % longest).min(rest.len());
        let (piece, left) = rest.split_at(length);
        rest = left;
        Some(piece)
    })
}

/// What a chunked body amounts to.
#[derive(Debug, PartialEq, Eq)]
enum Decoded {
    /// Its end has come.
    Whole {
        /// The data.
        body: Vec<u8>,
        /// How many bytes belonged to it.
        used: usize,
    },
    /// All of it was right, and its end has not come.
    More {
        /// The data so far.
        body: Vec<u8>,
    },
    /// The bytes are wrong, whatever follows them.
    Wrong,
}

fn decode<'a>(bytes: &[u8], pieces: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let (mut state, mut body) = (Chunked::new(), Vec::new());
    let mut used = 0;
    for piece in pieces {
        match state.feed(piece, |data, _| body.extend_from_slice(data)) {
            Ok(taken) => {
                let done = state == Chunked::Done;
                assert!(
                    taken == piece.len() || done,
                    "bytes are left before the end"
                );
                used += taken;
                if done {
                    return Decoded::Whole { body, used };
                }
            }
            Err(_) => return Decoded::Wrong,
        }
    }
    assert_eq!(used, bytes.len());
    Decoded::More { body }
}

/// RFC 9112 §7.1 in the plainest way: line by line, over all bytes at once.
fn plain_chunked(bytes: &[u8]) -> Decoded {
    let (mut rest, mut body) = (bytes, Vec::new());
    loop {
        let size = match line(rest) {
            Line::Whole(text, behind) => {
                rest = behind;
                match chunk_size(text) {
                    Some(Some(size)) => size,
                    // A line without a size, or with an invalid one.
                    Some(None) | None => return Decoded::Wrong,
                }
            }
            Line::Part(text) if chunk_size(text).is_some() => return Decoded::More { body },
            Line::Part(_) | Line::Wrong => return Decoded::Wrong,
        };
        if size == 0 {
            break;
        }
        let here = size.min(rest.len() as u64) as usize;
        body.extend_from_slice(&rest[..here]);
        rest = &rest[here..];
        match rest {
            [] | [b'\r'] => return Decoded::More { body },
            [b'\r', b'\n', behind @ ..] => rest = behind,
            _ => return Decoded::Wrong,
        }
    }
    loop {
        match line(rest) {
            Line::Whole([], behind) => {
                let used = bytes.len() - behind.len();
                return Decoded::Whole { body, used };
            }
            Line::Whole(_, behind) => rest = behind,
            Line::Part(_) => return Decoded::More { body },
            Line::Wrong => return Decoded::Wrong,
        }
    }
}

/// The start of some bytes as a line that ends in CR LF.
enum Line<'a> {
    /// The line without its end, and what follows.
    Whole(&'a [u8], &'a [u8]),
    /// Its end has not come.
    Part(&'a [u8]),
    /// A CR or LF alone.
    Wrong,
}

fn line(bytes: &[u8]) -> Line<'_> {
    let Some(end) = bytes.iter().position(|byte| b"\r\n".contains(byte)) else {
        return Line::Part(bytes);
    };
    match &bytes[end..] {
        [b'\r', b'\n', behind @ ..] => Line::Whole(&bytes[..end], behind),
        [b'\r'] if !bytes[..end].is_empty() => Line::Part(&bytes[..end]),
        // An empty line: whether it may be one is asked when it is whole, but a size has digits.
        [b'\r'] => Line::Part(b"\r"),
        _ => Line::Wrong,
    }
}

/// A chunk's size, or `Some(None)` before its first digit, or `None` for what cannot become a size line.
fn chunk_size(text: &[u8]) -> Option<Option<u64>> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_hexdigit());
    let (digits, behind) = text.split_at(digits.count());
    let blanks = behind.iter().take_while(|byte| b" \t".contains(byte));
    let extension = &behind[blanks.count()..];
    if !(extension.is_empty() || extension[0] == b';') {
        return None;
    }
    if digits.is_empty() {
        return text.is_empty().then_some(None);
    }
    let digits = std::str::from_utf8(digits).ok()?.trim_start_matches('0');
    match digits {
        "" => Some(Some(0)),
        digits => u64::from_str_radix(digits, 16).ok().map(Some),
    }
}

#[cfg(test)]
#[path = "any_split_tests.rs"]
mod tests;
