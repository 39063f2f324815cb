//! The documentation site: the documents as they are, laid out for mdBook.
//!
//! mdBook wants every page below one folder, and knows no links out of it. So the pages are copied to `target/book/src`
//! in the project's own layout, and links to what is no page lead to the repository.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Component, Path, PathBuf},
    process::Command,
};

use crate::{
    project::root,
    steps::{Lack, Steps},
    workflows,
};

/// The list of pages, with links that are relative to its own folder.
const SUMMARY: &str = "docs/SUMMARY.md";
/// The page below which each stack has one.
const STACKS: &str = "docs/stacks.md";
/// Where files that are no pages can be read.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main");

/// Lays the pages out in `target/book/src`. True when all could be.
pub(crate) fn pages(steps: &Steps) -> bool {
    let sources = root().join("target/book/src");
    steps.check("pages of the site", || {
        stage(&root(), &sources)
            .map_err(|error| format!("laying out {}: {error}", sources.display()))
    })
}

/// Lays the pages out and builds the site in `target/book/html`.
pub(crate) fn book(steps: &Steps) {
    if !pages(steps) {
        return;
    }
    let mdbook = |argument: &str| {
        let mut command = Command::new("mdbook");
        command.arg(argument).env("PATH", workflows::path());
        command
    };
    if mdbook("--version").output().is_err() {
        let because = "mdbook is not on the PATH (cargo install mdbook --locked)";
        steps.not_tested(Lack::new("site", because));
        return;
    }
    steps.run("site", mdbook("build"));
}

/// Writes the pages that `root`'s list names, and what they show, into `sources`.
fn stage(root: &Path, sources: &Path) -> io::Result<()> {
    if sources.exists() {
        fs::remove_dir_all(sources)?;
    }
    let summary = with_stacks(root, &fs::read_to_string(root.join(SUMMARY))?)?;
    let site = Site::new(root, &summary)?;
    let write = |path: &Path, text: &str| {
        let path = sources.join(path);
        fs::create_dir_all(path.parent().unwrap_or(sources))?;
        fs::write(path, text)
    };
    let list = rewritten(&summary, |link| site.link(link, Path::new(SUMMARY), 0));
    write(Path::new("SUMMARY.md"), &list)?;
    for page in &site.pages {
        let text = fs::read_to_string(root.join(page))?;
        let depth = page.components().count() - 1;
        write(
            &site.place(page),
            &rewritten(&text, |link| site.link(link, page, depth)),
        )?;
    }
    for file in &site.files {
        let place = sources.join(file);
        fs::create_dir_all(place.parent().unwrap_or(sources))?;
        fs::copy(root.join(file), place)?;
    }
    Ok(())
}

/// The list of pages with one for each stack below that of all stacks.
fn with_stacks(root: &Path, summary: &str) -> io::Result<String> {
    let mut stacks: Vec<String> = fs::read_dir(root.join("stacks"))?
        .flatten()
        .filter(|entry| entry.path().join("README.md").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    stacks.sort();
    let mut text = String::new();
    for line in summary.lines() {
        text += &format!("{line}\n");
        let is_stacks = |link: &str| resolved(link, Path::new(SUMMARY)) == Path::new(STACKS);
        if links(line).any(is_stacks) {
            for stack in &stacks {
                text += &format!("  - [{stack}](../stacks/{stack}/README.md)\n");
            }
        }
    }
    Ok(text)
}

/// What the site has, by paths below the project's folder.
struct Site {
    pages: BTreeSet<PathBuf>,
    /// Pictures, schemas, and reports of sessions, which are pages of their own.
    files: BTreeSet<PathBuf>,
}

impl Site {
    fn new(root: &Path, summary: &str) -> io::Result<Self> {
        let pages = summary.lines().flat_map(links);
        let pages = pages.map(|link| resolved(link, Path::new(SUMMARY)));
        let mut files = BTreeSet::new();
        let mut folders = vec![PathBuf::from("docs")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(root.join(&folder))? {
                let entry = entry?;
                let path = folder.join(entry.file_name());
                if entry.file_type()?.is_dir() {
                    folders.push(path);
                } else if !is_document(&path) {
                    files.insert(path);
                }
            }
        }
        Ok(Self {
            pages: pages.collect(),
            files,
        })
    }

    /// Where a page is on the site, as Markdown. `README.md` is its folder's page, and a page never takes the place of a
    /// file that would have the same name as HTML.
    fn place(&self, page: &Path) -> PathBuf {
        if page.ends_with("README.md") {
            page.with_file_name("index.md")
        } else if self.files.contains(&page.with_extension("html")) {
            let name = page.file_stem().unwrap_or_default().to_string_lossy();
            page.with_file_name(format!("{name}-text.md"))
        } else {
            page.to_owned()
        }
    }

    /// A link of the page `from`, as the site has it, where that page is in `depth` folders.
    fn link(&self, link: &str, from: &Path, depth: usize) -> String {
        if link.contains("://") || link.starts_with(['#', '<']) || link.starts_with("mailto:") {
            return link.to_owned();
        }
        let (file, anchor) = link.find('#').map_or((link, ""), |at| link.split_at(at));
        let path = resolved(file, from);
        let place = if self.pages.contains(&path) {
            self.place(&path)
        } else if self.files.contains(&path) {
            path
        } else {
            return format!("{REPOSITORY}/{}{anchor}", path.display());
        };
        format!("{}{}{anchor}", "../".repeat(depth), place.display())
    }
}

fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// The path that a link of the document `from` leads to.
fn resolved(link: &str, from: &Path) -> PathBuf {
    let mut path = from.parent().map(Path::to_owned).unwrap_or_default();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(name) => path.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    path
}

/// The targets of a line's links and pictures.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split("](").skip(1);
    parts.filter_map(|rest| Some(rest.split_once(')')?.0))
}

/// A text with other targets for its links and pictures, but for those in code.
fn rewritten(text: &str, target: impl Fn(&str) -> String) -> String {
    let mut is_code = false;
    let mut written = String::new();
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let mut parts = line.split("](");
        written += parts.next().unwrap_or_default();
        for part in parts {
            written += "](";
            match part.split_once(')') {
                Some((link, rest)) if !is_code => written += &format!("{}){rest}", target(link)),
                _ => written += part,
            }
        }
        written.push('\n');
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_files_or_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "docs/SUMMARY.md",
            "[Start](../README.md)\n- [Stacks](stacks.md)\n- [Day](day.md)\n",
        );
        write("docs/day.html", "<p>the report");
        write("docs/day.md", "[page](day.html)\n");
        write(
            "docs/stacks.md",
            "[a](../stacks/a/README.md) [b](../Cargo.toml) [c](day.md#x)\n```\n[d](day.md)\n",
        );
        write(
            "README.md",
            "![e](docs/card.png) [f](https://example.org/) [g](#own)\n",
        );
        write("docs/card.png", "");
        write("stacks/a/README.md", "[h](../../README.md)\n");
        let sources = folder.path().join("target");
        stage(folder.path(), &sources).unwrap();
        let read = |path: &str| fs::read_to_string(sources.join(path)).unwrap();
        assert_eq!(
            read("SUMMARY.md"),
            "[Start](index.md)\n- [Stacks](docs/stacks.md)\n  - [a](stacks/a/index.md)\n- [Day](docs/day-text.md)\n"
        );
        assert_eq!(
            read("docs/stacks.md"),
            format!(
                "[a](../stacks/a/index.md) [b]({REPOSITORY}/Cargo.toml) [c](../docs/day-text.md#x)\n```\n[d](day.md)\n"
            )
        );
        assert_eq!(read("docs/day-text.md"), "[page](../docs/day.html)\n");
        assert_eq!(read("docs/day.html"), "<p>the report");
        assert_eq!(read("stacks/a/index.md"), "[h](../../index.md)\n");
        assert_eq!(
            read("index.md"),
            "![e](docs/card.png) [f](https://example.org/) [g](#own)\n"
        );
    }
}
