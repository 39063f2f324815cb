//! Frames: how messages travel over a pipe that may be cut, stalled or damaged anywhere on its way.
//!
//! A stream begins with [`GREETING`], so that output of a login shell before it can be skipped. A frame consists of the
//! length of its content (4 bytes, little-endian), a CRC-32 of length, kind and content (also 4 bytes), the kind of the
//! message (one byte), and the content. Each kind has a maximum content length; a longer content is refused before it
//! is read. The last frame marks the end, so a stream without it was truncated.

use std::{
    fmt,
    io::{self, BufRead, Read},
};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The line that a stream of frames begins with.
pub(super) const GREETING: &str = "deadheat-agent 2";
/// The most that is skipped before the greeting.
const MAX_SKIPPED: usize = 64 * 1024;
/// What greetings of all versions begin with.
const GREETING_OF_ANY: &[u8] = b"deadheat-agent ";
/// The bytes before the content.
const HEAD: usize = 9;

/// Why there is no next frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The stream ended.
    #[error("the connection was closed")]
    Closed,
    /// The stream ended within a frame.
    #[error("the connection was cut in the middle of a message")]
    Cut,
    /// The checksum is wrong.
    #[error("a message arrived damaged (its checksum is wrong)")]
    Damaged,
    /// A message is longer than those of its kind can be, or of no kind.
    #[error("it announced a message of {bytes} bytes, and one of this kind has at most {longest}")]
    TooLong {
        /// The announced length of the content.
        bytes: u32,
        /// The most that it can have.
        longest: u32,
    },
    /// A message means nothing, or has a value that cannot be.
    #[error("it sent a message that no deadheat agent sends: {0}")]
    Implausible(String),
    /// The stream does not begin as one of frames.
    #[error("the answer is not that of a deadheat agent: {0:?}")]
    Stranger(String),
    /// The system says why.
    #[error("the connection failed: {0}")]
    Io(io::Error),
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // Writing meets the end first, when an agent ends while it is spoken to.
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Io(error),
        }
    }
}

/// `content` as a frame of this kind.
pub(super) fn framed(kind: u8, content: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(content.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let length = length.to_le_bytes();
    let mut frame = Vec::with_capacity(content.len() + HEAD);
    frame.extend_from_slice(&length);
    frame.extend_from_slice(&checksum(length, kind, content));
    frame.push(kind);
    frame.extend_from_slice(content);
    Ok(frame)
}

/// Reads the next frame: its kind and its content, of which `longest` knows the most bytes. A kind that there is not has
/// none.
pub(super) fn read(
    input: &mut impl Read,
    longest: impl Fn(u8) -> u32,
) -> Result<(u8, Vec<u8>), FrameError> {
    let mut head = [0; HEAD];
    match fill(input, &mut head)? {
        0 => return Err(FrameError::Closed),
        HEAD => {}
        _ => return Err(FrameError::Cut),
    }
    let [a, b, c, d, sum @ .., kind] = head;
    let length = [a, b, c, d];
    let (bytes, longest) = (u32::from_le_bytes(length), longest(kind));
    if bytes > longest {
        return Err(FrameError::TooLong { bytes, longest });
    }
    // As much as comes: a damaged length reserves no memory.
    let mut content = Vec::new();
    input.take(bytes.into()).read_to_end(&mut content)?;
    if content.len() < bytes as usize {
        return Err(FrameError::Cut);
    }
    if checksum(length, kind, &content) == sum {
        Ok((kind, content))
    } else {
        Err(FrameError::Damaged)
    }
}

/// Reads lines up to one of `wanted`, which it returns.
pub(super) fn line_of<'a>(
    input: &mut impl BufRead,
    wanted: &[&'a str],
) -> Result<&'a str, FrameError> {
    let mut skipped = Vec::new();
    loop {
        let start = skipped.len();
        let room = (MAX_SKIPPED - start) as u64;
        let read = input.take(room).read_until(b'\n', &mut skipped)?;
        let line = skipped[start..].trim_ascii();
        if let Some(found) = wanted.iter().find(|one| one.as_bytes() == line) {
            return Ok(found);
        }
        // Another version's greeting is the last line that can be read.
        if read == 0 || line.starts_with(GREETING_OF_ANY) {
            let text = String::from_utf8_lossy(&skipped);
            let text: String = text.trim().chars().take(200).collect();
            return Err(if text.is_empty() {
                FrameError::Closed
            } else {
                FrameError::Stranger(text)
            });
        }
    }
}

fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn checksum(length: [u8; 4], kind: u8, content: &[u8]) -> [u8; 4] {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&length);
    sum.update(&[kind]);
    sum.update(content);
    sum.finalize().to_le_bytes()
}

/// The largest number: thousands of them still have a sum.
const LARGEST: u64 = 1 << 53;

/// Checks all values of a message in JSON before it is read: no number is so large that sums of it overflow, and no text
/// is longer than those of its kind. Nothing of the message is kept meanwhile.
///
/// # Errors
/// The first value that is out of range, or that this is no JSON.
pub(super) fn check(json: &[u8], longest_text: usize) -> serde_json::Result<()> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    TextLengthCheck { longest_text }.deserialize(&mut reader)
}

/// A check of a value's texts, which does not keep the value.
#[derive(Clone, Copy)]
struct TextLengthCheck {
    longest_text: usize,
}

impl<'de> DeserializeSeed<'de> for TextLengthCheck {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TextLengthCheck {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        if number > LARGEST {
            return Err(E::custom(format!("the number {number} is too large")));
        }
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.visit_u64(number.unsigned_abs())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        if number.abs() > LARGEST as f64 {
            return Err(E::custom(format!("the number {number:e} is too large")));
        }
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if text.len() > self.longest_text {
            let bytes = text.len();
            return Err(E::custom(format!("a text of {bytes} bytes is too long")));
        }
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while entries.next_key_seed(self)?.is_some() {
            entries.next_value_seed(self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Vec<u8> {
        [framed(1, b"first").unwrap(), framed(2, &[7; 300]).unwrap()].concat()
    }

    fn read(input: &mut &[u8]) -> Result<(u8, Vec<u8>), FrameError> {
        super::read(input, |_| 300)
    }

    #[test]
    fn what_is_written_is_read() {
        let stream = two();
        let mut input = stream.as_slice();
        assert_eq!(read(&mut input).unwrap(), (1, b"first".to_vec()));
        assert_eq!(read(&mut input).unwrap(), (2, vec![7; 300]));
        assert!(matches!(read(&mut input), Err(FrameError::Closed)));
    }

    #[test]
    fn a_stream_cut_at_any_byte_is_no_message() {
        let stream = two();
        let first = HEAD + 5;
        for cut in 0..stream.len() {
            let mut input = &stream[..cut];
            let mut whole = 0;
            let end = loop {
                match read(&mut input) {
                    Ok(_) => whole += 1,
                    Err(error) => break error,
                }
            };
            assert_eq!(whole, usize::from(cut >= first), "cut at {cut}");
            let at_boundary = cut == 0 || cut == first;
            assert_eq!(
                matches!(end, FrameError::Closed),
                at_boundary,
                "cut at {cut}: {end}"
            );
        }
    }

    #[test]
    fn a_changed_byte_is_found_wherever_it_is() {
        let stream = two();
        for at in 0..HEAD + 5 {
            for bit in 0..8 {
                let mut damaged = stream.clone();
                damaged[at] ^= 1 << bit;
                assert!(
                    read(&mut damaged.as_slice()).is_err(),
                    "byte {at}, bit {bit}"
                );
            }
        }
    }

    #[test]
    fn a_message_longer_than_its_kind_is_refused_by_its_head() {
        let head = [&u32::MAX.to_le_bytes()[..], &[0; 4], &[3]].concat();
        let longest = |kind| u32::from(kind) * 100;
        let refused = super::read(&mut head.as_slice(), longest).unwrap_err();
        let is_too_long = matches!(
            refused,
            FrameError::TooLong {
                bytes: u32::MAX,
                longest: 300
            }
        );
        assert!(is_too_long, "{refused}");
    }

    #[test]
    fn what_a_shell_prints_first_is_skipped() {
        let mut input = "Welcome!\n\ndeadheat-agent 2\nrest".as_bytes();
        assert_eq!(line_of(&mut input, &["x", GREETING]).unwrap(), GREETING);
        assert_eq!(input, b"rest");
        for strange in ["sh: deadheat: not found\n", "deadheat-agent 1"] {
            let error = line_of(&mut strange.as_bytes(), &[GREETING]).unwrap_err();
            assert!(matches!(error, FrameError::Stranger(_)), "{error}");
        }
        let endless = vec![b'x'; 2 * MAX_SKIPPED];
        assert!(line_of(&mut endless.as_slice(), &[GREETING]).is_err());
        assert!(matches!(
            line_of(&mut [].as_slice(), &[GREETING]),
            Err(FrameError::Closed)
        ));
    }

    #[test]
    fn values_out_of_range_are_found_wherever_they_are() {
        let fine = r#"{"a":[1,-2,0.5,null,true,"text"],"b":{"c":9007199254740992}}"#;
        check(fine.as_bytes(), 4).unwrap();
        for (wrong, why) in [
            ("[9007199254740993]", "too large"),
            ("{\"a\":{\"b\":18446744073709551615}}", "too large"),
            ("-9007199254740993", "too large"),
            ("[1e19]", "too large"),
            ("1e999", "out of range"),
            ("[\"texts\"]", "too long"),
            ("{\"texts\":1}", "too long"),
            ("[1", "EOF"),
            (&"[".repeat(100_000), "recursion"),
        ] {
            let error = check(wrong.as_bytes(), 4).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
