//! What the checks of both kinds of manifest have in common.

use std::{collections::BTreeMap, ops::Range};

use super::{
    error::{ManifestError, Source},
    tree::Tree,
};

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

    /// Where the value of `path` stands; the file's beginning when it does not.
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

    /// An id becomes a file's name and a part of `stack:variant`, and stands in globs.
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
