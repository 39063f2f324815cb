//! Documents: links that lead somewhere, and words that readers stumble over.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::project::root;

/// Words and phrases that read like a translation, and what to write instead. Whole words, in any case.
const WORDS: [(&str, &str); 22] = [
    ("beside", "next to, compared with, or together with"),
    ("dear", "expensive"),
    ("dearer", "more expensive"),
    ("if nothing is said", "by default"),
    ("where nobody says", "by default"),
    ("what is typed", "explicit options"),
    ("from where on", "from which"),
    ("longer than nothing", "greater than zero"),
    ("is nothing for", "does not suit"),
    ("more than that is not known", "it may be higher"),
    ("believe any", "accept any"),
    ("so many blocks", "number of blocks"),
    ("so many heats", "number of heats"),
    ("at an end", "over"),
    ("whole of it", "all of it"),
    ("of its own accord", "by itself"),
    ("qps", "requests/s"),
    ("rps", "requests/s"),
    ("statistically significant", "faster, slower, or undecided"),
    ("statistical tie", "dead heat or undecided"),
    ("blazing", "a figure"),
    ("blazingly", "a figure"),
];

/// Documents that define these words, or quote them from records.
const QUOTING: [&str; 2] = ["docs/terminology.md", "docs/evidence/README.md"];

/// The pages of the site.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Checks every document that people read.
pub(super) fn check() -> Result<(), String> {
    let documents = documents(&root()).map_err(|error| format!("listing documents: {error}"))?;
    let mut faults = Vec::new();
    for path in &documents {
        let text =
            fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.strip_prefix(root()).unwrap_or(path);
        let mut add = |line: usize, what: String| {
            faults.push(format!("{}:{line}: {what}", name.display()));
        };
        let folder = path.parent().unwrap_or(path);
        for (line, target) in links(&text) {
            if let Some(fault) = broken(target, path, folder) {
                add(line, fault);
            }
        }
        if !QUOTING.iter().any(|quoting| name == Path::new(quoting)) {
            for (line, word, instead) in stumbles(&text) {
                add(line, format!("\"{word}\": write {instead}"));
            }
        }
    }
    faults.extend(
        no_pages(&root(), &documents).map_err(|error| format!("reading {SUMMARY}: {error}"))?,
    );
    faults.extend(unlisted(&root()).map_err(|error| format!("listing stacks: {error}"))?);
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n"))
    }
}

/// Documents that the site's list of pages lacks. Stacks are added to it, and READMEs of crates and skeletons are for
/// whoever is in those folders.
fn no_pages(root: &Path, documents: &[PathBuf]) -> io::Result<Vec<String>> {
    let text = fs::read_to_string(root.join(SUMMARY))?;
    let folder = root.join("docs");
    let pages: HashSet<PathBuf> = links(&text)
        .into_iter()
        .filter_map(|(_, target)| folder.join(target).canonicalize().ok())
        .collect();
    let mut faults = Vec::new();
    for document in documents {
        let name = document.strip_prefix(root).unwrap_or(document);
        let is_apart = name.starts_with("stacks") || name.starts_with("crates");
        if !is_apart && name != Path::new(SUMMARY) && !pages.contains(&document.canonicalize()?) {
            faults.push(format!("{SUMMARY}: {} is missing", name.display()));
        }
    }
    Ok(faults)
}

/// Stacks that the list of stacks lacks.
fn unlisted(root: &Path) -> io::Result<Vec<String>> {
    let list = "docs/stacks.md";
    let text = fs::read_to_string(root.join(list))?;
    let mut faults = Vec::new();
    for entry in fs::read_dir(root.join("stacks"))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_stack = entry.path().join("stack.toml").is_file();
        if is_stack && !text.contains(&format!("](../stacks/{name}/README.md)")) {
            faults.push(format!("{list}: {name} is missing"));
        }
    }
    faults.sort();
    Ok(faults)
}

/// The Markdown files of the project's folder, of `docs` and `examples`, of the crates and of each stack. Reports of sessions are not
/// written by anybody.
fn documents(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = vec![
        root.to_owned(),
        root.join("docs"),
        root.join("examples"),
        root.join("fuzz"),
        root.join("published"),
    ];
    for parent in ["stacks", "crates"] {
        for entry in fs::read_dir(root.join(parent))?.flatten() {
            folders.push(entry.path());
        }
    }
    let mut documents = vec![
        root.join("docs/results/README.md"),
        root.join("docs/evidence/README.md"),
    ];
    for folder in folders {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(path);
            }
        }
    }
    documents.sort();
    Ok(documents)
}

/// The lines of a text that are no code, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    let lines = text.lines().zip(1..);
    lines.filter_map(move |(line, number)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((number, line))
    })
}

/// Targets of links and pictures, with the lines that they are on.
fn links(text: &str) -> Vec<(usize, &str)> {
    let of_line = |(number, line)| {
        let targets = str::split(line, "](").skip(1);
        targets.filter_map(move |rest: &str| Some((number, rest.split_once(')')?.0)))
    };
    prose(text).flat_map(of_line).collect()
}

/// What is wrong with a link in the document at `path`.
fn broken(target: &str, path: &Path, folder: &Path) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let leads_to = match file {
        "" => path.to_owned(),
        file => folder.join(file),
    };
    if !leads_to.exists() {
        return Some(format!("a link to {file}, which does not exist"));
    }
    if anchor.is_empty() || leads_to.extension().is_none_or(|one| one != "md") {
        return None;
    }
    let text = fs::read_to_string(&leads_to).unwrap_or_default();
    let has = headings(&text).contains(anchor);
    (!has).then(|| {
        format!(
            "a link to #{anchor}, a heading that {} lacks",
            leads_to.display()
        )
    })
}

/// The anchors of a document's headings, as GitHub makes them: lower case, without punctuation, hyphens for spaces, and
/// `-1`, `-2`, … for those that come again.
fn headings(text: &str) -> HashSet<String> {
    let mut anchors = HashSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter_map(|one| match one {
            ' ' => Some('-'),
            '-' | '_' => Some(one),
            one => one.is_alphanumeric().then(|| one.to_ascii_lowercase()),
        });
        let anchor: String = kept.collect();
        let again = (1..).map(|count| format!("{anchor}-{count}"));
        let mut names = std::iter::once(anchor.clone()).chain(again);
        if let Some(free) = names.find(|name| !anchors.contains(name)) {
            anchors.insert(free);
        }
    }
    anchors
}

/// Words of [`WORDS`] in a text's prose, also where a line ends within them: line, word, what to write instead.
fn stumbles(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    for (number, line) in prose(text) {
        let all = line.split(|one: char| !one.is_alphanumeric() && one != '\'');
        let all = all.filter(|word| !word.is_empty());
        words.extend(all.map(|word| (number, word.to_lowercase())));
        if line.trim().is_empty() {
            // No phrase goes beyond a paragraph.
            words.push((number, String::new()));
        }
    }
    let mut found = Vec::new();
    for (phrase, instead) in WORDS {
        let parts: Vec<&str> = phrase.split(' ').collect();
        let is_phrase =
            |seen: &&[(usize, String)]| seen.iter().map(|(_, word)| word).eq(parts.iter());
        let hits = words.windows(parts.len()).filter(is_phrase);
        found.extend(hits.map(|seen| (seen[0].0, phrase, instead)));
    }
    found.sort_by_key(|(number, ..)| *number);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_that_the_list_of_stacks_lacks_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for stack in ["a", "b"] {
            let stack = folder.path().join("stacks").join(stack);
            fs::create_dir_all(&stack).unwrap();
            fs::write(stack.join("stack.toml"), "").unwrap();
        }
        fs::create_dir_all(folder.path().join("stacks/begun")).unwrap();
        fs::create_dir_all(folder.path().join("docs")).unwrap();
        let list = "[A](../stacks/a/README.md)";
        fs::write(folder.path().join("docs/stacks.md"), list).unwrap();
        let faults = unlisted(folder.path()).unwrap();
        assert_eq!(faults, ["docs/stacks.md: b is missing"]);
    }

    #[test]
    fn a_document_that_is_no_page_of_the_site_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["docs", "stacks/a"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let documents = [
            "README.md",
            "docs/a.md",
            "docs/b.md",
            "docs/SUMMARY.md",
            "stacks/a/README.md",
        ]
        .map(at);
        for document in &documents {
            fs::write(document, "").unwrap();
        }
        fs::write(at("docs/SUMMARY.md"), "[x](../README.md)\n- [a](a.md)\n").unwrap();
        let faults = no_pages(folder.path(), &documents).unwrap();
        assert_eq!(faults, ["docs/SUMMARY.md: docs/b.md is missing"]);
    }

    #[test]
    fn a_link_leads_to_a_file_and_a_heading() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(
            at("other.md"),
            "# A `title`, twice\n\n```\n# code\n```\n## B\n## B\n",
        )
        .unwrap();
        let text = "[a](other.md) [b](other.md#a-title-twice) ![c](none.png)\n\n\
                    [d](https://example.org/x) [e](other.md#code) [f](#own)\n[g](other.md#b-1)\n# Own\n";
        fs::write(at("this.md"), text).unwrap();
        let faults: Vec<_> = links(text)
            .into_iter()
            .filter_map(|(line, target)| {
                Some((line, broken(target, &at("this.md"), folder.path())?))
            })
            .collect();
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].0 == 1 && faults[0].1.contains("none.png"));
        assert!(faults[1].0 == 3 && faults[1].1.contains("#code"));
    }

    #[test]
    fn words_are_found_in_prose_alone_and_whole() {
        let text = "A dearly loved `dear`\n```\nis dear\n```\nIt is cheap, if nothing\nis said. If  nothing is said\n\n\
                    if nothing\n\nis said\n";
        let lines: Vec<_> = stumbles(text)
            .into_iter()
            .map(|(line, word, _)| (line, word))
            .collect();
        assert_eq!(
            lines,
            [
                (1, "dear"),
                (5, "if nothing is said"),
                (6, "if nothing is said")
            ]
        );
    }
}
