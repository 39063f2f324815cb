//! A mistake in a manifest, drawn with its line.

use std::{
    fmt,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// A manifest's text, and the name it goes by in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The path from the root folder.
    pub path: PathBuf,
    /// What stands in it.
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

    /// A mistake of the file at `path` as a whole.
    pub(super) fn of_file(path: &Path, title: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            title: title.into(),
            place: None,
            related: None,
            help: Vec::new(),
        }
    }

    /// What stands beside the caret.
    pub(super) fn label(mut self, label: impl Into<String>) -> Self {
        if let Some(place) = &mut self.place {
            place.label = label.into();
        }
        self
    }

    /// What to do, below the drawing.
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Another place that has to do with it.
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

    /// What is wrong, in a line without its place.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The line and the column (in characters), both from 1; `None` when the file as a whole is meant.
    pub fn position(&self) -> Option<(usize, usize)> {
        let place = self.place.as_ref()?;
        let before = place.source.text.get(..place.span.start)?;
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Some((line, before[start..].chars().count() + 1))
    }

    /// The mistake as people read it: what, where (with the line and a caret), and what to do. `colour` adds the
    /// terminal's escape sequences.
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
    /// All of them, drawn; see [`ManifestError::render`].
    pub fn render(&self, colour: bool) -> String {
        let drawn: Vec<String> = self.0.iter().map(|error| error.render(colour)).collect();
        drawn.join("\n\n")
    }

    fn lines(&self) -> String {
        let lines: Vec<String> = self.0.iter().map(ManifestError::to_string).collect();
        lines.join("\n")
    }
}
