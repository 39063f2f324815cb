//! An error in a manifest, shown with its line. Messages of serde are parsed and rephrased, and the nearest known name
//! is suggested for a misspelt one.

use std::{
    fmt,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use strsim::normalized_damerau_levenshtein;

/// A manifest's text and its path for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The path from the root folder.
    pub path: PathBuf,
    /// The text of the manifest.
    pub text: Arc<str>,
}

/// A place in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Location {
    source: Source,
    span: Range<usize>,
    label: String,
}

/// A mistake in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestError {
    path: PathBuf,
    title: String,
    place: Option<Location>,
    related: Option<Location>,
    help: Vec<String>,
}

impl ManifestError {
    /// A mistake at `span` of `source`.
    pub(super) fn at(source: &Source, span: Range<usize>, title: impl Into<String>) -> Self {
        let place = Location {
            source: source.clone(),
            span,
            label: String::new(),
        };
        Self {
            path: source.path.clone(),
            title: title.into(),
            place: Some(place),
            related: None,
            help: Vec::new(),
        }
    }

    /// A mistake that concerns the whole file at `path`.
    pub(super) fn of_file(path: &Path, title: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            title: title.into(),
            place: None,
            related: None,
            help: Vec::new(),
        }
    }

    /// Sets the text next to the caret.
    pub(super) fn label(mut self, label: impl Into<String>) -> Self {
        if let Some(place) = &mut self.place {
            place.label = label.into();
        }
        self
    }

    /// Sets the advice below the lines.
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Adds another location that is related to the mistake.
    pub(super) fn related(mut self, source: &Source, span: Range<usize>, label: &str) -> Self {
        self.related = Some(Location {
            source: source.clone(),
            span,
            label: label.to_owned(),
        });
        self
    }

    /// The file, from the root folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The mistake in one line, without its location.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The line and the column (in characters), both counted from 1; `None` if the mistake concerns the whole file.
    pub fn position(&self) -> Option<(usize, usize)> {
        let place = self.place.as_ref()?;
        let before = place.source.text.get(..place.span.start)?;
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Some((line, before[start..].chars().count() + 1))
    }

    /// The mistake as text: what, where (with the line and a caret), and what to do. `colour` adds escape sequences of
    /// the terminal.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        renderer.render(&[self.group()])
    }

    fn group(&self) -> Group<'_> {
        let mut group = match &self.place {
            Some(place) => Level::ERROR
                .primary_title(self.title.as_str())
                .element(place.snippet(AnnotationKind::Primary)),
            None => {
                let title = format!("{}: {}", self.path.display(), self.title);
                Group::with_title(Level::ERROR.primary_title(title))
            }
        };
        if let Some(place) = &self.related {
            group = group.element(place.snippet(AnnotationKind::Context));
        }
        for help in &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        group
    }
}

impl Location {
    fn snippet(&self, kind: AnnotationKind) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
        let label = (!self.label.is_empty()).then_some(self.label.as_str());
        Snippet::source(&*self.source.text)
            .path(self.source.path.to_string_lossy())
            .annotation(kind.span(self.span.clone()).label(label))
    }
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some((line, column)) = self.position() {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.title)?;
        if let Some(place) = self.place.as_ref().filter(|place| !place.label.is_empty()) {
            write!(f, " ({})", place.label)?;
        }
        Ok(())
    }
}

impl std::error::Error for ManifestError {}

/// All mistakes in all manifests, at least one, in the order of their files and lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.lines())]
pub struct ManifestErrors(pub Vec<ManifestError>);

impl ManifestErrors {
    /// All mistakes as text; see [`ManifestError::render`].
    pub fn render(&self, colour: bool) -> String {
        let drawn: Vec<String> = self.0.iter().map(|error| error.render(colour)).collect();
        drawn.join("\n\n")
    }

    fn lines(&self) -> String {
        let lines: Vec<String> = self.0.iter().map(ManifestError::to_string).collect();
        lines.join("\n")
    }
}

/// The minimum similarity of a name to be suggested. Below it, a suggestion would be a guess.
const ALIKE: f64 = 0.5;
/// The minimum length of a word that is searched for in names. Shorter ones match by chance ("go" is in "mongo").
const MIN_PART: usize = 3;

/// The name in `known` that is most similar to `word`; `None` if all are too different.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_few(word, known, 1).first().copied()
}

/// The names in `known` that are close to `word`, the closest first; no more than `most`.
pub(super) fn nearest_few<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    let word = normalise(word);
    let known = known.into_iter();
    let near = known.map(|name| (likeness(&word, &normalise(name)), name));
    let mut near: Vec<(f64, &str)> = near.filter(|(score, _)| *score >= ALIKE).collect();
    // The sort is stable, so the first of equal names stays first.
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    near.truncate(most);
    near.into_iter().map(|(_, name)| name).collect()
}

/// The end of a sentence that suggests the name nearest to `word`; empty without one.
pub(super) fn did_you_mean<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, known).map(|name| format!("did you mean `{name}`?"))
}

/// `names` as people enumerate them, in backquotes.
pub(super) fn enumerate<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, ", ")
}

/// `names` as alternatives, in backquotes.
pub(super) fn either<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, " or ")
}

fn joined<'a>(names: impl IntoIterator<Item = &'a str>, between: &str) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(between)
}

fn likeness(word: &str, name: &str) -> f64 {
    let edits = normalized_damerau_levenshtein(word, name);
    let part = word.len() >= MIN_PART && name.contains(word);
    // A word contained in the name is a better hint than a low similarity.
    if part { edits.max(0.6) } else { edits }
}

fn normalise(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// A message of serde or of one of the model's deserialisers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Complaint {
    /// "unknown field `x`, expected one of …".
    UnknownKey { key: String, known: Vec<String> },
    /// "missing field `x`".
    MissingKey { key: String },
    /// "unknown variant `x`, expected one of …".
    UnknownWord { word: String, known: Vec<String> },
    /// "invalid type: …, expected …" and "invalid value: …, expected …".
    WrongValue { got: String, expected: String },
    /// Anything else, as it is.
    Other(String),
}

impl Complaint {
    /// Parses `message`.
    pub fn new(message: &str) -> Self {
        let quoted = quoted(message);
        let known = || quoted.iter().skip(1).cloned().collect();
        match (message, quoted.first()) {
            (text, Some(key)) if text.starts_with("unknown field") => Self::UnknownKey {
                key: key.clone(),
                known: known(),
            },
            (text, Some(key)) if text.starts_with("missing field") => {
                Self::MissingKey { key: key.clone() }
            }
            (text, Some(word)) if text.starts_with("unknown variant") => Self::UnknownWord {
                word: word.clone(),
                known: known(),
            },
            _ => Self::wrong_value(message).unwrap_or_else(|| Self::Other(message.to_owned())),
        }
    }

    fn wrong_value(message: &str) -> Option<Self> {
        let rest = message
            .strip_prefix("invalid type: ")
            .or_else(|| message.strip_prefix("invalid value: "))?;
        // The received value may contain this separator itself; the expected one never does.
        let (got, expected) = rest.rsplit_once(", expected ")?;
        Some(Self::WrongValue {
            got: in_toml(got),
            expected: in_toml(expected),
        })
    }
}

/// The parts of `message` in backquotes.
fn quoted(message: &str) -> Vec<String> {
    let parts = message.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}

/// serde's words for types, in TOML's.
fn in_toml(words: &str) -> String {
    let named = match words {
        "a sequence" | "sequence" => "an array",
        "a map" | "map" => "a table",
        "u32" | "u64" => "a whole number that is not negative",
        "a duration" => "a duration such as \"2s\"",
        "a character" => "a single character",
        "path string" => "a string",
        "IP address" => "an IP address such as \"10.0.0.1\"",
        "a string" | "a boolean" => words,
        _ if words.starts_with("struct ") || words.contains(" enum ") => "a table",
        _ => return with_article(words),
    };
    named.to_owned()
}

/// "string \"x\"" becomes "the string \"x\"".
fn with_article(words: &str) -> String {
    let is_value = [
        "string ",
        "integer ",
        "floating point ",
        "boolean ",
        "character ",
    ]
    .iter()
    .any(|kind| words.starts_with(kind));
    if is_value {
        format!("the {words}")
    } else {
        words.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_is_near_and_nothing_else() {
        let keys = ["access", "driver", "pool", "artefacts", "minimum"];
        let cases = [
            ("artifacts", Some("artefacts")),
            ("drivr", Some("driver")),
            ("Pool", Some("pool")),
            ("min", Some("minimum")),
            ("colour", None),
            ("", None),
        ];
        for (word, expected) in cases {
            assert_eq!(nearest(word, keys), expected, "{word:?}");
        }
    }

    #[test]
    fn of_equally_near_names_the_first_is_taken() {
        assert_eq!(nearest("ab", ["aa", "ac"]), Some("aa"));
    }

    #[test]
    fn takes_serdes_messages_apart() {
        let wrong = |got: &str, expected: &str| Complaint::WrongValue {
            got: got.to_owned(),
            expected: expected.to_owned(),
        };
        let cases = [
            (
                "unknown field `a`, expected `b` or `c`",
                Complaint::UnknownKey {
                    key: "a".to_owned(),
                    known: vec!["b".to_owned(), "c".to_owned()],
                },
            ),
            (
                "missing field `a`",
                Complaint::MissingKey {
                    key: "a".to_owned(),
                },
            ),
            (
                "unknown variant `x`, expected one of `y`, `z`",
                Complaint::UnknownWord {
                    word: "x".to_owned(),
                    known: vec!["y".to_owned(), "z".to_owned()],
                },
            ),
            (
                "invalid type: string \"x, expected y\", expected a sequence",
                wrong("the string \"x, expected y\"", "an array"),
            ),
            (
                "invalid type: sequence, expected struct Database",
                wrong("an array", "a table"),
            ),
            (
                "invalid value: integer `-1`, expected u32",
                wrong("the integer `-1`", "a whole number that is not negative"),
            ),
            ("a pool is …", Complaint::Other("a pool is …".to_owned())),
        ];
        for (message, expected) in cases {
            assert_eq!(Complaint::new(message), expected, "{message}");
        }
    }
}
