//! Lines of the program's crates by folder, without tests, and ceilings for them in `xtask/lines.txt`: what a commit adds to
//! the house is seen in its diff.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::messages::sources;
use crate::project::root;

/// So many lines may go before a ceiling has to be lowered.
const SLACK: usize = 50;

/// Compares the lines of all folders with their ceilings.
///
/// # Errors
/// Folders above their ceilings, without one, or far below.
pub(super) fn check() -> Result<(), String> {
    let counted = counted()?;
    let text =
        fs::read_to_string(file()).map_err(|error| format!("{}: {error}", file().display()))?;
    let faults = faults(&counted, &ceilings(&text)?);
    if faults.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}\nWrite less, or run cargo xtask lint --set-ceilings and say in the commit why a folder needs more lines",
        faults.join("\n")
    ))
}

/// Writes the lines that there are as the ceilings.
pub(crate) fn set_ceilings() -> Result<(), String> {
    let lines: Vec<String> = counted()?
        .iter()
        .map(|(folder, lines)| format!("{folder} {lines}\n"))
        .collect();
    fs::write(file(), lines.concat()).map_err(|error| format!("{}: {error}", file().display()))
}

fn file() -> PathBuf {
    root().join("xtask/lines.txt")
}

fn ceilings(text: &str) -> Result<BTreeMap<String, usize>, String> {
    let ceiling = |line: &str| {
        let (folder, lines) = line.split_once(' ')?;
        Some((folder.to_owned(), lines.parse().ok()?))
    };
    text.lines()
        .map(|line| ceiling(line).ok_or_else(|| format!("{}: {line:?}", file().display())))
        .collect()
}

fn faults(counted: &BTreeMap<String, usize>, ceilings: &BTreeMap<String, usize>) -> Vec<String> {
    let folders: BTreeSet<&String> = counted.keys().chain(ceilings.keys()).collect();
    let fault = |folder: &String| match (counted.get(folder), ceilings.get(folder)) {
        (Some(lines), None) => Some(format!("{folder}: {lines} lines, and no ceiling")),
        (Some(lines), Some(ceiling)) if lines > ceiling => Some(format!(
            "{folder}: {lines} lines, above the ceiling of {ceiling}"
        )),
        (lines, Some(ceiling)) if lines.unwrap_or(&0) + SLACK < *ceiling => Some(format!(
            "{folder}: {} lines, far below the ceiling of {ceiling}, which can be lower",
            lines.unwrap_or(&0)
        )),
        _ => None,
    };
    folders.into_iter().filter_map(fault).collect()
}

/// Lines without tests in each folder of a crate's `src`, and in the files beside these folders.
fn counted() -> Result<BTreeMap<String, usize>, String> {
    let root = root();
    let failed = |error: io::Error| format!("listing sources: {error}");
    let mut lines = BTreeMap::new();
    for file in sources(&root).map_err(failed)? {
        let shown = file.strip_prefix(&root).unwrap_or(&file);
        let text =
            fs::read_to_string(&file).map_err(|error| format!("{}: {error}", shown.display()))?;
        let tokens = text
            .parse()
            .map_err(|error| format!("{}: {error}", shown.display()))?;
        *lines.entry(folder(shown)).or_default() += text.lines().count() - of_tests(tokens);
    }
    Ok(lines)
}

/// `crates/load/src/worker` of `crates/load/src/worker/open/mod.rs`.
fn folder(file: &Path) -> String {
    let folder = file.parent().unwrap_or(file);
    let parts: Vec<_> = folder
        .iter()
        .take(4)
        .map(|part| part.to_string_lossy())
        .collect();
    parts.join("/")
}

/// Lines of the items that are for tests alone.
fn of_tests(tokens: TokenStream) -> usize {
    let mut lines = 0;
    let mut begun = None;
    for token in tokens {
        match &token {
            TokenTree::Group(group) => {
                let attribute = group.stream().to_string().replace(' ', "");
                if group.delimiter() == Delimiter::Bracket && attribute == "cfg(test)" {
                    begun = Some(group.span_open().start().line);
                } else if group.delimiter() == Delimiter::Brace {
                    lines += match begun.take() {
                        Some(line) => group.span_close().end().line + 1 - line,
                        None => of_tests(group.stream()),
                    };
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                if let Some(line) = begun.take() {
                    lines += punct.span().end().line + 1 - line;
                }
            }
            _ => {}
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_for_tests_do_not_count() {
        let source = "fn a() {\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n\nmod d {\n    #[cfg(test)]\n    use e;\n}\n";
        assert_eq!(of_tests(source.parse().unwrap()), 4 + 2);
    }

    #[test]
    fn folders_above_their_ceilings_are_named_and_so_are_those_far_below() {
        let lines = |list: &[(&str, usize)]| -> BTreeMap<String, usize> {
            list.iter()
                .map(|(folder, lines)| ((*folder).to_owned(), *lines))
                .collect()
        };
        let counted = lines(&[("a", 100), ("b", 101), ("c", 60), ("new", 1)]);
        let ceilings = lines(&[("a", 100), ("b", 100), ("c", 100), ("gone", 51)]);
        assert_eq!(
            faults(&counted, &ceilings),
            [
                "b: 101 lines, above the ceiling of 100",
                "gone: 0 lines, far below the ceiling of 51, which can be lower",
                "new: 1 lines, and no ceiling"
            ]
        );
    }

    #[test]
    fn a_folder_is_that_below_the_source() {
        assert_eq!(
            folder(Path::new("crates/load/src/worker/open/mod.rs")),
            "crates/load/src/worker"
        );
        assert_eq!(
            folder(Path::new("crates/load/src/lib.rs")),
            "crates/load/src"
        );
    }
}
