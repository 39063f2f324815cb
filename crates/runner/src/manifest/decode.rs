//! From TOML to a manifest's type, with every mistake on the way and not only the first; and the checks that both kinds of
//! manifest have in common.
//!
//! serde stops at the first mistake. So each one is noted and mended in the tree (a misspelt key gets its right name,
//! a value of the wrong type is taken out), and the tree is read again, until it reads or a mistake cannot be mended.

use std::{collections::BTreeMap, ops::Range};

use serde::de::DeserializeOwned;
use toml::de::{DeTable, Deserializer};

use super::{
    error::{Complaint, ManifestError, Source, did_you_mean, enumerate, nearest},
    tree::{Path, Tree},
};

/// Nobody wants to read more mistakes of one file than this.
const MAX_MISTAKES: usize = 50;

/// What came of reading a manifest.
pub(super) struct Decoded<'i, T> {
    /// The manifest, perhaps mended; `None` when it could not be read at all.
    pub value: Option<T>,
    /// Its TOML, for the places of keys; `None` when it is no TOML.
    pub tree: Option<Tree<'i>>,
    /// The mistakes.
    pub errors: Vec<ManifestError>,
}

/// Reads `source` as a `T`.
pub(super) fn decode<'i, T: DeserializeOwned>(source: &'i Source) -> Decoded<'i, T> {
    let tree = match DeTable::parse(&source.text) {
        Ok(table) => Tree(table),
        Err(error) => {
            return Decoded {
                value: None,
                tree: None,
                errors: vec![malformed(source, &error)],
            };
        }
    };
    let mut reader = Reader {
        source,
        tree,
        removed: Vec::new(),
        errors: Vec::new(),
    };
    let value = reader.read();
    Decoded {
        value,
        tree: Some(reader.tree),
        errors: reader.errors,
    }
}

pub(super) fn malformed(source: &Source, error: &toml::de::Error) -> ManifestError {
    let end = source.text.len();
    let span = error.span().unwrap_or(end..end);
    ManifestError::at(source, span, "this is not TOML").label(error.message())
}

struct Reader<'i> {
    source: &'i Source,
    tree: Tree<'i>,
    /// Keys that were removed so that reading could continue. Their absence is not another mistake.
    removed: Vec<Path>,
    errors: Vec<ManifestError>,
}

impl Reader<'_> {
    fn read<T: DeserializeOwned>(&mut self) -> Option<T> {
        while self.errors.len() < MAX_MISTAKES {
            match T::deserialize(Deserializer::from(self.tree.0.clone())) {
                Ok(value) => return Some(value),
                Err(error) => {
                    let span = error.span().unwrap_or(0..0);
                    if !self.note_and_mend(Complaint::new(error.message()), &span) {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// Notes a mistake and mends the tree; whether that went.
    fn note_and_mend(&mut self, complaint: Complaint, span: &Range<usize>) -> bool {
        match complaint {
            Complaint::UnknownKey { key, known } => self.unknown_key(&key, &known, span),
            Complaint::MissingKey { key } => self.missing_key(&key, span),
            Complaint::UnknownWord { word, known } => self.unknown_word(&word, &known, span),
            Complaint::WrongValue { got, expected } => {
                let span = &self.narrowed(span, &got);
                let name = self.name_of(span);
                let error = ManifestError::at(
                    self.source,
                    span.clone(),
                    format!("{name} has a wrong value"),
                );
                let label = format!("expected {expected}, got {got}");
                self.take_out(error.label(label), span)
            }
            Complaint::Other(message) => {
                let name = self.name_of(span);
                let title = format!("{name} cannot be used");
                let error = ManifestError::at(self.source, span.clone(), title).label(message);
                self.take_out(error, span)
            }
        }
    }

    fn unknown_key(&mut self, key: &str, known: &[String], span: &Range<usize>) -> bool {
        let Some(path) = self.find_key(key, span) else {
            let title = format!("unknown key `{key}`");
            self.errors
                .push(ManifestError::at(self.source, span.clone(), title));
            return false;
        };
        let table = path.parent();
        let error = unknown_key_error(self.source, &self.tree, &path, known);
        self.errors.push(error);
        let present: Vec<String> = self
            .tree
            .keys(&table)
            .into_iter()
            .map(|key| key.0)
            .collect();
        let absent = known.iter().filter(|name| !present.contains(name));
        match nearest(key, absent.map(String::as_str)) {
            Some(name) => self.tree.rename(&path, name),
            None => self.tree.remove(&path),
        }
    }

    fn missing_key(&mut self, key: &str, span: &Range<usize>) -> bool {
        let table = self.tree.table_at(span);
        let known = self.removed.iter();
        if known
            .into_iter()
            .any(|path| path.parent() == table && path.key() == Some(key))
        {
            return false;
        }
        let title = format!("{table} has no `{key}`");
        let error = ManifestError::at(self.source, span.clone(), title);
        self.errors
            .push(error.label(format!("`{key}` is missing here")));
        false
    }

    fn unknown_word(&mut self, word: &str, known: &[String], span: &Range<usize>) -> bool {
        let name = self.name_of(span);
        let names = known.iter().map(String::as_str);
        let error = ManifestError::at(
            self.source,
            span.clone(),
            format!("{name} cannot be `{word}`"),
        )
        .label(did_you_mean(word, names.clone()).unwrap_or_default())
        .help(format!("it is one of {}", enumerate(names.clone())));
        let instead = nearest(word, names.clone()).or_else(|| names.clone().next());
        match (instead, self.tree.key_around(span)) {
            (Some(instead), Some(path)) if self.tree.value_is(&path, span) => {
                self.errors.push(error);
                self.tree.replace(&path, instead)
            }
            _ => self.take_out(error, span),
        }
    }

    /// Notes `error` and takes the key whose value is at `span` out.
    fn take_out(&mut self, error: ManifestError, span: &Range<usize>) -> bool {
        self.errors.push(error);
        let Some(path) = self.tree.key_around(span) else {
            return false;
        };
        let went = self.tree.remove(&path);
        self.removed.push(path);
        went
    }

    /// The key `key` at `span`, or in the table at `span`: a tagged table is read before its keys are looked at, so
    /// that only the table's place is known.
    fn find_key(&self, key: &str, span: &Range<usize>) -> Option<Path> {
        self.tree.key_at(span).or_else(|| {
            let table = self.tree.table_at(span);
            let keys = self.tree.keys(&table);
            let (_, place) = keys.into_iter().find(|(name, _)| name == key)?;
            self.tree.key_at(&place)
        })
    }

    /// For a tagged table only the table's place is known: then the place of the value in it that `got` quotes.
    fn narrowed(&self, span: &Range<usize>, got: &str) -> Range<usize> {
        let table = self.tree.table_at(span);
        let quoted = got.split(['`', '"']).nth(1);
        let values = self.tree.values(&table).into_iter();
        let same = |value: &Range<usize>| {
            let text = self.source.text.get(value.clone()).unwrap_or_default();
            quoted == Some(text.trim_matches(['"', '\'']))
        };
        let is_table = !table.is_root();
        values
            .filter(|_| is_table)
            .find(same)
            .unwrap_or_else(|| span.clone())
    }

    /// The key whose value is at `span`, for a sentence's beginning.
    fn name_of(&self, span: &Range<usize>) -> String {
        match self.tree.key_around(span) {
            Some(path) => format!("`{}`", path.key().unwrap_or_default()),
            None => "the manifest".to_owned(),
        }
    }
}

/// The error for a key at `path` that is not one of `known`.
pub(super) fn unknown_key_error(
    source: &Source,
    tree: &Tree<'_>,
    path: &Path,
    known: &[String],
) -> ManifestError {
    let key = path.key().unwrap_or_default();
    let table = path.parent();
    let span = tree.span_of(path).unwrap_or(0..0);
    let names = known.iter().map(String::as_str);
    let error = ManifestError::at(source, span, format!("unknown key `{key}` in {table}"));
    match did_you_mean(key, names.clone()) {
        Some(suggestion) => error.label(suggestion),
        None if known.is_empty() => error.label("no keys are allowed here"),
        None => error.help(format!("the keys here are {}", enumerate(names))),
    }
}

/// Collects the mistakes of a manifest that reads, each with its place.
pub(super) struct Checks<'s, 'i> {
    /// The manifest.
    pub source: &'s Source,
    /// The places of its keys.
    pub tree: &'s Tree<'i>,
    /// Whether it read without a mistake. Otherwise what is missing may only have been taken out.
    pub whole: bool,
    /// What was found.
    pub errors: Vec<ManifestError>,
}

impl<'s, 'i> Checks<'s, 'i> {
    /// Nothing found yet in `source`.
    pub fn new(source: &'s Source, tree: &'s Tree<'i>, whole: bool) -> Self {
        Self {
            source,
            tree,
            whole,
            errors: Vec::new(),
        }
    }

    /// The span of the value of `path`; the start of the file if there is no such value.
    pub fn span(&self, path: &[&str]) -> Range<usize> {
        self.tree.value_span(path).unwrap_or(0..0)
    }

    /// The mistake `title` at `path`, for more to be said of it.
    pub fn error(&self, path: &[&str], title: impl Into<String>) -> ManifestError {
        ManifestError::at(self.source, self.span(path), title)
    }

    /// Notes `title` with `label` at `path`.
    pub fn refuse(&mut self, path: &[&str], title: impl Into<String>, label: impl Into<String>) {
        let error = self.error(path, title).label(label);
        self.errors.push(error);
    }

    /// A text that must say something.
    pub fn text(&mut self, path: &[&str], text: &str) {
        if text.trim().is_empty() {
            let key = path.last().copied().unwrap_or_default();
            self.refuse(path, format!("`{key}` is empty"), "say something here");
        }
    }

    /// A command must name a program.
    pub fn command(&mut self, path: &[&str], command: &[String]) {
        if command.first().is_none_or(|program| program.is_empty()) {
            let label = "a command is an array that begins with a program, such as [\"make\"]";
            self.refuse(path, "this command is empty", label);
        }
    }

    /// An id becomes a file's name and a part of `stack:variant`, and is used in globs.
    pub fn id(&mut self, path: &[&str], id: &str) {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        let starts = id.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !starts || !id.chars().all(plain) {
            let label = "use lower-case letters, digits, `-`, `_` and `.`, and begin with \
                         a letter or a digit";
            self.refuse(path, format!("`{id}` is not a valid id"), label);
        }
    }

    /// The ids of the tables of the array `array` must differ.
    pub fn unique<'a>(
        &mut self,
        array: &str,
        key: Option<&str>,
        ids: impl Iterator<Item = &'a str>,
    ) {
        let mut seen: BTreeMap<&str, Range<usize>> = BTreeMap::new();
        for (index, id) in ids.enumerate() {
            let index = index.to_string();
            let path: Vec<&str> = [array, &index].into_iter().chain(key).collect();
            let span = self.span(&path);
            if let Some(first) = seen.get(id) {
                let title = format!("`{id}` is twice in `{array}`");
                let error = ManifestError::at(self.source, span, title)
                    .label("again here")
                    .related(self.source, first.clone(), "first here");
                self.errors.push(error);
            } else {
                seen.insert(id, span);
            }
        }
    }
}
