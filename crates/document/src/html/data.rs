//! The data that a page holds beside what it shows: files, compressed, that its reader can save.

use std::io::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deadheat_model::figure::bytes;
use flate2::{Compression, write::GzEncoder};
use serde::Serialize;

/// A file that takes more than this of a page is left out of it: the page would weigh more than mail takes, and
/// `deadheat report` makes the file again.
const MOST_BYTES: usize = 12 << 20;

/// A file for a page.
#[derive(Debug, Serialize)]
pub struct DataFile<'a> {
    /// Its name, and the id of the element that it stands in.
    name: &'a str,
    /// What it is, as buttons call it.
    kind: &'a str,
    /// Its media type.
    media_type: &'a str,
    /// What it holds, in words.
    holds: &'a str,
    /// The command that makes it again.
    command: String,
    /// How large it is.
    size: String,
    /// How much of the page it takes.
    packed_size: String,
    /// It, as gzip in base64; none where it would take too much.
    packed: Option<String>,
}

impl<'a> DataFile<'a> {
    /// The file `name` with so much text in it.
    pub fn new(name: &'a str, holds: &'a str, command: String, text: &str) -> Self {
        Self::within(MOST_BYTES, name, holds, command, text)
    }

    fn within(most: usize, name: &'a str, holds: &'a str, command: String, text: &str) -> Self {
        let packed = packed(text);
        let (kind, media_type) = match name.rsplit_once('.') {
            Some((_, "csv")) => ("CSV", "text/csv"),
            _ => ("JSON", "application/json"),
        };
        Self {
            name,
            kind,
            media_type,
            holds,
            command,
            size: bytes(text.len() as f64),
            packed_size: bytes(packed.len() as f64),
            packed: Some(packed).filter(|packed| packed.len() <= most),
        }
    }

    /// The bytes that it takes of the page.
    pub(crate) fn weight(&self) -> usize {
        self.packed.as_deref().map_or(0, str::len)
    }
}

/// The text as gzip in base64, which has nothing in it that HTML would read.
fn packed(text: &str) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(text.as_bytes());
    let bytes = written.and_then(|()| encoder.finish());
    STANDARD.encode(bytes.expect("a vector takes everything"))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn what_is_packed_can_be_unpacked() {
        for text in ["", "größe,1\r\n", &"a,b\n".repeat(100_000)] {
            let bytes = STANDARD.decode(packed(text)).unwrap();
            let mut unpacked = String::new();
            flate2::read::GzDecoder::new(&bytes[..])
                .read_to_string(&mut unpacked)
                .unwrap();
            assert!(unpacked == text);
        }
    }

    #[test]
    fn a_file_that_would_make_the_page_absurd_is_left_out() {
        let of = |most, name| DataFile::within(most, name, "", String::new(), "a,b\n1,2\n");
        let length = packed("a,b\n1,2\n").len();
        let fits = of(length, "report.csv");
        assert_eq!((fits.kind, fits.media_type), ("CSV", "text/csv"));
        assert_eq!(
            (fits.weight(), fits.packed.as_ref().map(String::len)),
            (length, Some(length))
        );
        let too_large = of(length - 1, "report.json");
        assert_eq!((too_large.kind, too_large.weight()), ("JSON", 0));
        assert_eq!(
            (too_large.packed, too_large.size.as_str()),
            (None, "8.00 B")
        );
    }
}
