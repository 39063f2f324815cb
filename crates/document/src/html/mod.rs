//! What all pages have in common: the data that they hold, the shell, and the bar of a live page.

use std::{
    io::Write as _,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use deadheat_model::figure::bytes;
use flate2::{Compression, write::GzEncoder};
use minijinja::{Environment, Value, context, syntax::SyntaxConfig, value::Serde};
use serde::Serialize;

use crate::json::ReportError;

/// The data that a page holds in addition to what it shows.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The report as JSON.
    pub json: &'a str,
    /// The report as CSV.
    pub csv: &'a str,
}

/// Templates, by their names, whose endings switch escaping on. `ends_lines`: whether a template's last line keeps its end.
///
/// # Errors
/// When a template cannot be read.
pub fn environment(
    templates: &[(&'static str, &'static str)],
    ends_lines: bool,
) -> Result<Environment<'static>, ReportError> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(ends_lines)
        .build()?;
    environment.set_syntax(syntax);
    for (name, template) in templates {
        environment.add_template(name, template)?;
    }
    Ok(environment)
}

/// JSON that cannot end the script element that contains it.
pub fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

/// The template of the section with the data.
pub(crate) const DATA: (&str, &str) = ("data.html", include_str!("templates/data.html.j2"));
/// The content security policy of a page: it loads nothing from outside.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:";

/// What surrounds a report.
pub struct Shell<'a> {
    data: Vec<DataFile<'a>>,
}

impl<'a> Shell<'a> {
    /// The shell of a page with these files in it.
    pub fn new(data: Vec<DataFile<'a>>) -> Self {
        Self { data }
    }

    /// Whether the page has files to save.
    pub(crate) fn has_data(&self) -> bool {
        !self.data.is_empty()
    }

    /// What the templates call `shell`.
    pub(crate) fn context(&self) -> Value {
        context! {
            policy => Value::from_safe_string(POLICY.to_owned()),
            data => Value::from(Serde(&self.data)),
            page_size => Value::from_safe_string(SIZE_PLACE.to_owned()),
        }
    }

    /// The page with what it says about its own size.
    pub(crate) fn weighed(&self, page: String) -> String {
        let size = |length: usize| bytes(length as f64);
        let data: usize = self.data.iter().map(DataFile::page_size).sum();
        let data = match data {
            0 => String::new(),
            data => format!(", of which {} are the data", size(data)),
        };
        weighed(&page, |length| {
            format!(
                "This page weighs {}{data}. It needs nothing else.",
                size(length)
            )
        })
    }
}

/// A file that takes more than this of a page is left out of it: the page would weigh more than mail takes, and
/// `deadheat report` makes the file again.
const MAX_BYTES: usize = 12 << 20;

/// A file for a page.
#[derive(Debug, Serialize)]
pub struct DataFile<'a> {
    /// Its name, and the id of the element that contains it.
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
    /// The file, as gzip in base64; `None` if it would take too much of the page.
    packed: Option<String>,
}

impl<'a> DataFile<'a> {
    /// The file `name` with this text in it.
    pub fn new(name: &'a str, holds: &'a str, command: String, text: &str) -> Self {
        Self::within(MAX_BYTES, name, holds, command, text)
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

    /// The number of bytes that the packed file adds to the page; 0 if it is too large for it.
    fn page_size(&self) -> usize {
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

/// The place of the sentence about the page's size. Text from records cannot hold it: there, `<` is escaped.
const SIZE_PLACE: &str = "<!--page-size-->";

/// The page with a sentence about its length in bytes, the sentence included.
fn weighed(page: &str, sentence: impl Fn(usize) -> String) -> String {
    let rest = page.len() - SIZE_PLACE.len();
    // The sentence may get shorter when the figure gets larger ("1,020 KiB", "1.00 MiB"): blanks, which HTML does not
    // show, make sure that there is a length for which it is right.
    let mut texts = (0..4).filter_map(|blanks| {
        let of = |length| sentence(length) + &" ".repeat(blanks);
        let mut text = of(rest);
        for _ in 0..8 {
            let next = of(rest + text.len());
            if next == text {
                return Some(text);
            }
            text = next;
        }
        None
    });
    let text = texts.next().unwrap_or_else(|| sentence(rest));
    page.replacen(SIZE_PLACE, &text, 1)
}

const LIVE_STYLE: &str = include_str!("live.css");
const LIVE_SCRIPT: &str = include_str!("live.js");

/// The template of the bar.
pub(crate) const LIVE_TEMPLATE: (&str, &str) =
    ("live.html", include_str!("templates/live.html.j2"));

/// The bar above a live page, which shows the progress of a session. A script reloads the page. The final report has neither.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What the session does, in words ("running: heat 3 of at most 8, 6 stacks at plaintext:c50").
    pub status: String,
    /// A few words for the browser's tab.
    pub title: String,
    /// The number of heats that have ended.
    pub heats: usize,
    /// The largest number of heats that the session can have.
    pub of: usize,
    /// When the page was written.
    pub written: SystemTime,
    /// The time after which the next page is expected.
    pub next: Duration,
}

impl Bar {
    /// What the templates call `live`.
    pub(crate) fn context(&self) -> Value {
        let written = self.written.duration_since(UNIX_EPOCH).unwrap_or_default();
        context! {
            status => self.status.as_str(),
            title => self.title.as_str(),
            heats => self.heats,
            of => self.of,
            written_ms => written.as_millis() as u64,
            next_ms => self.next.as_millis() as u64,
            style => Value::from_safe_string(LIVE_STYLE.to_owned()),
            script => Value::from_safe_string(LIVE_SCRIPT.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use deadheat_model::figure::bytes;

    use super::*;

    #[test]
    fn json_cannot_end_its_script() {
        assert_eq!(
            in_script(r#"{"a":"</script>&"}"#),
            r#"{"a":"\u003c/script\u003e\u0026"}"#
        );
    }

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
            (fits.page_size(), fits.packed.as_ref().map(String::len)),
            (length, Some(length))
        );
        let too_large = of(length - 1, "report.json");
        assert_eq!((too_large.kind, too_large.page_size()), ("JSON", 0));
        assert_eq!(
            (too_large.packed, too_large.size.as_str()),
            (None, "8.00 B")
        );
    }

    #[test]
    fn a_page_is_right_about_its_own_size() {
        let sentence = |length: usize| format!("It weighs {}.", bytes(length as f64));
        let around = |middle: usize| middle - 40..middle + 40;
        let lengths = [
            around(1_024),
            around(102_349),
            around(1_048_064),
            around(5_000_000),
        ];
        for length in lengths.into_iter().flatten() {
            let page = format!("{}{SIZE_PLACE}", "x".repeat(length));
            let page = weighed(&page, sentence);
            let told = page.trim_start_matches('x').trim_end();
            assert_eq!(told, sentence(page.len()), "of {}", page.len());
        }
    }
}
