//! Templates: `{{…}}` placeholders are checked before the start, and the files of lines are read.

use std::{borrow::Cow, collections::BTreeMap, io, path::Path};

use deadheat_model::load::{Body, Exchange};
use deadheat_runner::files;
use deadheat_shell::file_errors::why_unreadable;

/// The known placeholders, for messages.
const KNOWN: &str =
    "{{counter}}, {{random 1 100}}, {{line FILE}} and {{random-line FILE}} are known";

/// Why templates cannot be filled in.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// One of them has no end.
    #[error("{0:?} begins a template that has no }}}}")]
    NoEnd(String),
    /// The text between braces means nothing.
    #[error("{{{{{inside}}}}}: {why}")]
    Placeholder {
        /// The text.
        inside: String,
        /// What is wrong with it, or what to write.
        why: &'static str,
    },
    /// Nothing has a placeholder.
    #[error("--template: path, header values and body contain no placeholder; {known}", known = KNOWN)]
    NoPlaceholder,
    /// A file of lines cannot be read.
    #[error(
        "reading {file}, which a template names: {why}",
        why = why_unreadable(Path::new(file), error)
    )]
    File {
        /// The file.
        file: String,
        /// What the system says.
        error: io::Error,
    },
    /// A file of lines has none.
    #[error("{0}, which a template names, has no line that is not blank")]
    NoLines(String),
}

/// A text whose templates are replaced by marks, so that a parser without templates can read it.
#[derive(Debug)]
pub(crate) struct MaskedText {
    text: String,
    /// A template is replaced by this mark, its index and a `z`.
    mark: String,
    templates: Vec<String>,
}

impl MaskedText {
    /// Replaces every `{{…}}`.
    pub(crate) fn new(text: &str) -> Result<Self, TemplateError> {
        // Letters alone, because URL parsers do not change them. Lower-case, because they lower-case hosts.
        let mut mark = "held".to_owned();
        while text.to_ascii_lowercase().contains(&mark) {
            mark.push('d');
        }
        let mut masked = Self {
            text: String::new(),
            mark,
            templates: Vec::new(),
        };
        for piece in pieces(text) {
            match piece? {
                Piece::Plain(plain) => masked.text.push_str(plain),
                Piece::Template(template) => {
                    let stand_in = masked.stand_in(masked.templates.len());
                    masked.text.push_str(&stand_in);
                    masked.templates.push(format!("{{{{{template}}}}}"));
                }
            }
        }
        Ok(masked)
    }

    /// A text without templates.
    pub fn nothing(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            mark: String::new(),
            templates: Vec::new(),
        }
    }

    /// The text with marks instead of templates.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether this part of the text contains a mark.
    pub(crate) fn is_in(&self, part: &str) -> bool {
        let mut marks = (0..self.templates.len()).map(|index| self.stand_in(index));
        marks.any(|mark| part.contains(&mark))
    }

    /// A part of the text with the templates restored.
    pub(crate) fn restore(&self, part: &str) -> String {
        let mut part = part.to_owned();
        for (index, template) in self.templates.iter().enumerate() {
            part = part.replace(&self.stand_in(index), template);
        }
        part
    }

    fn stand_in(&self, index: usize) -> String {
        format!("{}{index}z", self.mark)
    }
}

enum Piece<'a> {
    Plain(&'a str),
    /// The text between the braces.
    Template(&'a str),
}

/// A text as plain pieces and templates in turn.
fn pieces(mut rest: &str) -> impl Iterator<Item = Result<Piece<'_>, TemplateError>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        match rest.find("{{") {
            Some(0) => match rest.find("}}") {
                Some(end) => {
                    let inside = &rest[2..end];
                    rest = &rest[end + 2..];
                    Some(Ok(Piece::Template(inside)))
                }
                None => {
                    let start: String = rest.chars().take(20).collect();
                    rest = "";
                    Some(Err(TemplateError::NoEnd(start)))
                }
            },
            next => {
                let (plain, after) = rest.split_at(next.unwrap_or(rest.len()));
                rest = after;
                Some(Ok(Piece::Plain(plain)))
            }
        }
    })
}

/// Whether a text seems to contain a template.
pub(crate) fn looks_like_one(text: &str) -> bool {
    text.find("{{")
        .is_some_and(|start| text[start..].contains("}}"))
}

/// Checks all templates, and reads the files that they name, each once. Returns the lines by file name, without blank
/// lines.
pub(crate) fn lists(
    exchanges: &[Exchange],
) -> Result<BTreeMap<String, Vec<String>>, TemplateError> {
    let mut count = 0;
    let mut lists = BTreeMap::new();
    for exchange in exchanges {
        let request = &exchange.request;
        let body = match &request.body {
            Body::None => Cow::Borrowed(""),
            // A body that is not text has no templates, and is left as it is.
            Body::Sized(bytes) | Body::Chunked(bytes) | Body::Call(bytes) => {
                String::from_utf8_lossy(bytes)
            }
        };
        let headers = request.headers.iter().map(|(_, value)| value.as_str());
        for text in headers.chain([request.path.as_str(), &body]) {
            for piece in pieces(text) {
                let Piece::Template(inside) = piece? else {
                    continue;
                };
                count += 1;
                if let Some(file) = check(inside)?
                    && !lists.contains_key(file)
                {
                    lists.insert(file.to_owned(), read_lines(file)?);
                }
            }
        }
    }
    match count {
        0 => Err(TemplateError::NoPlaceholder),
        _ => Ok(lists),
    }
}

/// Checks the text between braces. Returns the file that it names, if any.
fn check(inside: &str) -> Result<Option<&str>, TemplateError> {
    let bad = |why| {
        let inside = inside.to_owned();
        Err(TemplateError::Placeholder { inside, why })
    };
    let words = inside.trim();
    let (name, rest) = words
        .split_once(char::is_whitespace)
        .map_or((words, ""), |(name, rest)| (name, rest.trim()));
    match name {
        "counter" if rest.is_empty() => Ok(None),
        "counter" => bad("write {{counter}}, with nothing after it"),
        "random" => {
            let bounds: Result<Vec<u64>, _> = rest.split_whitespace().map(str::parse).collect();
            match bounds.as_deref() {
                Ok([from, to]) if from <= to => Ok(None),
                Ok([_, _]) => bad("the first number is larger than the second one"),
                _ => bad("write two whole numbers, like {{random 1 100}}"),
            }
        }
        "line" | "random-line" if rest.is_empty() => bad("name the file: {{line names.txt}}"),
        "line" | "random-line" => Ok(Some(rest)),
        _ => bad(KNOWN),
    }
}

fn read_lines(file: &str) -> Result<Vec<String>, TemplateError> {
    let text = files::read_typed_text(Path::new(file)).map_err(|error| {
        let file = file.to_owned();
        TemplateError::File { file, error }
    })?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    if lines.is_empty() {
        Err(TemplateError::NoLines(file.to_owned()))
    } else {
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use deadheat_model::load::{Expectation, RequestSpec, StatusSet};

    use super::*;

    fn exchange(path: &str, header: &str, body: &str) -> Exchange {
        let expect = Expectation {
            status: StatusSet::success(),
            length: None,
            content: None,
        };
        let request = RequestSpec {
            headers: vec![("X".to_owned(), header.to_owned())],
            body: Body::Sized(body.as_bytes().to_vec().into()),
            template: true,
            ..RequestSpec::get(path)
        };
        Exchange::new(request, expect)
    }

    fn file(text: &str) -> (tempfile::NamedTempFile, String) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let path = file.path().display().to_string();
        (file, path)
    }

    #[test]
    fn what_is_held_comes_back() {
        let texts = [
            "",
            "a{{b}}c",
            "{{a}}{{b}}",
            "held0z{{x}}",
            "HELD{{x}}HELDd",
            "}}{{a}}}}",
        ];
        for text in texts {
            let masked = MaskedText::new(text).unwrap();
            assert!(!masked.text().contains("{{"), "{text}: {}", masked.text());
            assert_eq!(masked.restore(masked.text()), text);
        }
        let many = "{{a}}".repeat(12);
        let masked = MaskedText::new(&many).unwrap();
        assert_eq!(masked.restore(masked.text()), many);
        let error = MaskedText::new("a{{b").unwrap_err().to_string();
        assert!(error.contains("has no }}"), "{error}");
    }

    #[test]
    fn each_file_is_read_once_whatever_names_it() {
        let (_keep, path) = file("a\n\n b b\r\nc\n");
        let body = format!("{{\"n\":{{{{counter}}}}, \"l\":\"{{{{line {path}}}}}\"}}");
        let header = format!("{{{{random-line {path}}}}}");
        let lists = lists(&[exchange("/", &header, &body)]).unwrap();
        assert_eq!(lists.len(), 1);
        assert_eq!(lists[&path], ["a", " b b", "c"]);
    }

    #[test]
    fn mistakes_are_told() {
        let cases = [
            ("{{count}}", "are known"),
            ("{{}}", "are known"),
            ("{{counter 1}}", "nothing after it"),
            ("{{random 1}}", "two whole numbers"),
            ("{{random 1 x}}", "two whole numbers"),
            ("{{random 9 1}}", "larger than"),
            ("{{random -1 1}}", "two whole numbers"),
            ("{{line}}", "name the file"),
            ("{{line /no/such/file}}", "reading /no/such/file"),
            ("{{counter", "has no }}"),
            ("plain", "contain no placeholder"),
        ];
        for (header, expected) in cases {
            let error = lists(&[exchange("/", header, "")]).unwrap_err();
            assert!(error.to_string().contains(expected), "{header}: {error}");
        }
        let mut binary = exchange("/", "{{ counter }}", "");
        binary.request.body = Body::Sized(vec![0xff].into());
        assert!(lists(&[binary]).is_ok());
    }

    #[test]
    fn a_file_without_lines_is_refused() {
        let (_keep, empty) = file("\n \n");
        let none = lists(&[exchange("/", "", &format!("{{{{line {empty}}}}}"))]);
        assert!(none.unwrap_err().to_string().contains("no line"));
    }
}
