//! A manifest as TOML with the span of every key, to find what a message is about, and to repair the manifest so that
//! reading can continue.

use std::{fmt, ops::Range};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// A step from a table to what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathSegment {
    /// Into a table.
    Key(String),
    /// Into an array, from 0.
    Index(usize),
}

/// The way from the document's root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path(pub Vec<PathSegment>);

impl Path {
    /// The last key on the way.
    pub fn key(&self) -> Option<&str> {
        self.0.iter().rev().find_map(|step| match step {
            PathSegment::Key(key) => Some(key.as_str()),
            PathSegment::Index(_) => None,
        })
    }

    /// The way to the table that holds the last key.
    pub fn parent(&self) -> Path {
        let mut steps = self.0.clone();
        while let Some(PathSegment::Index(_)) = steps.pop() {}
        Path(steps)
    }

    /// Whether it is the document's root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    fn then(&self, step: PathSegment) -> Path {
        let mut steps = self.0.clone();
        steps.push(step);
        Path(steps)
    }
}

/// A table as its header is written: `[database]`, `[[variant]]`, or "the manifest" for the root.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self
            .0
            .iter()
            .filter_map(|step| match step {
                PathSegment::Key(key) => Some(key.as_str()),
                PathSegment::Index(_) => None,
            })
            .collect();
        let keys = keys.join(".");
        match self.0.last() {
            None => f.write_str("the manifest"),
            Some(PathSegment::Key(_)) => write!(f, "[{keys}]"),
            Some(PathSegment::Index(_)) => write!(f, "[[{keys}]]"),
        }
    }
}

/// A manifest's tables, keys and values with their places.
pub(super) struct Tree<'i>(pub Spanned<DeTable<'i>>);

impl<'i> Tree<'i> {
    /// The path of the key at `span`.
    pub(crate) fn key_at(&self, span: &Range<usize>) -> Option<Path> {
        self.search(|entry| (entry.key.span() == *span).then(|| entry.path.clone()))
    }

    /// The way to the innermost key whose value reaches over `span`.
    pub(crate) fn key_around(&self, span: &Range<usize>) -> Option<Path> {
        self.search(|entry| {
            let value = entry.value.span();
            let inside = value.start <= span.start && span.end <= value.end;
            inside.then(|| entry.path.clone())
        })
    }

    /// The path of the table at `span`; the root if there is no such table.
    pub(crate) fn table_at(&self, span: &Range<usize>) -> Path {
        let found = self.search(|entry| match entry.value.get_ref() {
            DeValue::Table(_) if entry.value.span() == *span => Some(entry.path.clone()),
            DeValue::Array(array) => array
                .iter()
                .position(|item| item.get_ref().is_table() && item.span() == *span)
                .map(|index| entry.path.then(PathSegment::Index(index))),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// The span of the key of `path`.
    pub(crate) fn span_of(&self, path: &Path) -> Option<Range<usize>> {
        self.search(|entry| (entry.path == *path).then(|| entry.key.span()))
    }

    /// Whether `span` is exactly the value of the key of `path`.
    pub(crate) fn value_is(&self, path: &Path, span: &Range<usize>) -> bool {
        let value = self.search(|entry| (entry.path == *path).then(|| entry.value.span()));
        value.as_ref() == Some(span)
    }

    /// The span of the value of `path` (keys, and indices of arrays in digits).
    pub(crate) fn value_span(&self, path: &[&str]) -> Option<Range<usize>> {
        let (first, rest) = path.split_first()?;
        let mut value = self.0.get_ref().get(*first)?;
        for step in rest {
            value = match (value.get_ref(), step.parse::<usize>()) {
                (DeValue::Table(table), _) => table.get(*step)?,
                (DeValue::Array(array), Ok(index)) => array.get(index)?,
                _ => return None,
            };
        }
        Some(value.span())
    }

    /// The keys of the table at `path` with their places.
    pub fn keys(&self, path: &Path) -> Vec<(String, Range<usize>)> {
        let mut keys = Vec::new();
        self.search(|entry| {
            if entry.path.parent() == *path {
                keys.push((entry.key.get_ref().to_string(), entry.key.span()));
            }
            None::<()>
        });
        keys
    }

    /// The spans of the values of the table at `path`.
    pub fn values(&self, path: &Path) -> Vec<Range<usize>> {
        let mut values = Vec::new();
        self.search(|entry| {
            if entry.path.parent() == *path {
                values.push(entry.value.span());
            }
            None::<()>
        });
        values
    }

    /// Gives the key of `path` another name, unless that one is taken. Whether it did.
    pub fn rename(&mut self, path: &Path, name: &str) -> bool {
        let Some((table, key)) = self.table_of(path) else {
            return false;
        };
        if table.contains_key(name) {
            return false;
        }
        let Some((old, value)) = table.remove_entry(key.as_str()) else {
            return false;
        };
        table.insert(Spanned::new(old.span(), name.to_owned().into()), value);
        true
    }

    /// Takes the key of `path` out. Whether it was there.
    pub fn remove(&mut self, path: &Path) -> bool {
        self.table_of(path)
            .is_some_and(|(table, key)| table.remove(key.as_str()).is_some())
    }

    /// Puts a string in the place of the value of `path`. Whether it was there.
    pub fn replace(&mut self, path: &Path, text: &str) -> bool {
        let Some((table, key)) = self.table_of(path) else {
            return false;
        };
        let Some(value) = table.get_mut(key.as_str()) else {
            return false;
        };
        *value.get_mut() = DeValue::String(text.to_owned().into());
        true
    }

    fn table_of(&mut self, path: &Path) -> Option<(&mut DeTable<'i>, String)> {
        let key = path.key()?.to_owned();
        let mut table = self.0.get_mut();
        let parent = path.parent();
        let mut steps = parent.0.iter();
        while let Some(PathSegment::Key(step)) = steps.next() {
            let mut value = table.get_mut(step.as_str())?.get_mut();
            while let DeValue::Array(array) = value {
                let Some(PathSegment::Index(index)) = steps.next() else {
                    return None;
                };
                value = array.get_mut(*index)?.get_mut();
            }
            let DeValue::Table(inner) = value else {
                return None;
            };
            table = inner;
        }
        Some((table, key))
    }

    /// The last answer of `ask` over all entries, outer ones first.
    fn search<T>(&self, mut ask: impl FnMut(&Entry) -> Option<T>) -> Option<T> {
        let mut found = None;
        walk(self.0.get_ref(), &Path::default(), &mut |entry| {
            if let Some(answer) = ask(entry) {
                found = Some(answer);
            }
        });
        found
    }
}

/// A key with its value, and the way to it.
struct Entry<'t, 'i> {
    path: Path,
    key: &'t Spanned<toml::de::DeString<'i>>,
    value: &'t Spanned<DeValue<'i>>,
}

fn walk(table: &DeTable<'_>, path: &Path, visit: &mut dyn FnMut(&Entry)) {
    for (key, value) in table {
        let path = path.then(PathSegment::Key(key.get_ref().to_string()));
        visit(&Entry {
            path: path.clone(),
            key,
            value,
        });
        walk_value(value, &path, visit);
    }
}

fn walk_value(value: &Spanned<DeValue<'_>>, path: &Path, visit: &mut dyn FnMut(&Entry)) {
    match value.get_ref() {
        DeValue::Table(table) => walk(table, path, visit),
        DeValue::Array(array) => {
            for (index, value) in array.iter().enumerate() {
                walk_value(value, &path.then(PathSegment::Index(index)), visit);
            }
        }
        _ => {}
    }
}
