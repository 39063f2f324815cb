//! Habits of language: in messages (string literals and the help of options) and in comments. There are ceilings, which
//! only fall.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use regex::Regex;

use crate::project::root;

/// A habit that makes text hard to read.
struct Habit {
    /// What to search for, as a regular expression.
    pattern: &'static str,
    /// What to write instead.
    instead: &'static str,
    /// The maximum number of texts with it.
    ceiling: usize,
}

/// Habits in comments. Lower a ceiling with each comment that you rewrite. Never raise one.
const HABITS_OF_COMMENTS: [Habit; 8] = [
    Habit {
        pattern: r"\bstands?\b",
        instead: "is, or represents",
        ceiling: 0,
    },
    Habit {
        pattern: r"\bso many\b",
        instead: "the number, or \"this many\"",
        ceiling: 0,
    },
    Habit {
        pattern: r"\bbeside\b",
        instead: "next to, compared with, or during",
        ceiling: 0,
    },
    Habit {
        pattern: r"\b(goes|go) on\b",
        instead: "continues",
        ceiling: 0,
    },
    Habit {
        pattern: r"\b(is|are) none\b",
        instead: "is not a",
        ceiling: 0,
    },
    Habit {
        pattern: r"\b(is|are) told\b",
        instead: "is reported",
        ceiling: 0,
    },
    Habit {
        pattern: r"(^|[.:;] )Who\b",
        instead: "a noun, such as \"workers that\"",
        ceiling: 0,
    },
    Habit {
        pattern: r"\b[Dd]ear(er)?\b",
        instead: "expensive",
        ceiling: 0,
    },
];

/// Habits in messages. Lower a ceiling with each message that you rewrite. Never raise one.
const HABITS_OF_MESSAGES: [Habit; 10] = [
    Habit {
        pattern: r"\b(leaves?|leaving|left)\b(\W+\w+){0,3}\W+out\b",
        instead: "omit, skip or exclude",
        ceiling: 1,
    },
    Habit {
        pattern: r"\b(gives?|gave|given|giving)\b",
        instead: "pass, set, specify or return",
        ceiling: 10,
    },
    Habit {
        pattern: r"\b(is|are) no\b",
        instead: "is not a",
        ceiling: 0,
    },
    Habit {
        pattern: r"\b[Ww]hat\b[^.?!]*([.!]|$)",
        instead: "the thing's name, instead of \"what …\" as a noun",
        ceiling: 17,
    },
    Habit {
        pattern: r"\bsays\b",
        instead: "has, contains, shows or names",
        ceiling: 0,
    },
    Habit {
        pattern: r"\bholds?\b",
        instead: "contain, keep, meet or apply",
        ceiling: 2,
    },
    Habit {
        pattern: r"\blooks?\b",
        instead: "see, check, checkpoint or trial",
        ceiling: 0,
    },
    Habit {
        pattern: r", so that\b",
        instead: "so, or a new sentence",
        ceiling: 2,
    },
    Habit {
        pattern: r"\b(least|longest)\b",
        instead: "minimum or maximum",
        ceiling: 0,
    },
    Habit {
        pattern: r"[^.!?]: [^.!?]*[^.!?]: ",
        instead: "two sentences, instead of one with two colons",
        ceiling: 28,
    },
];

/// A message has at least this many words: shorter strings are names, headings and keys.
const MIN_WORDS: usize = 5;

/// A message or a comment.
struct Text {
    file: PathBuf,
    line: usize,
    text: String,
}

/// Counts each habit in the messages and comments of all crates, and compares the counts with the ceilings.
///
/// # Errors
/// Habits above their ceilings, with all their places; ceilings above the count.
pub(super) fn check() -> Result<(), String> {
    let (mut messages, mut comments) = (Vec::new(), Vec::new());
    for source in sources(&root()).map_err(|error| format!("listing sources: {error}"))? {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", source.display());
        let text = fs::read_to_string(&source).map_err(|error| failed(&error))?;
        let tokens = text.parse().map_err(|error| failed(&error))?;
        let file = source.strip_prefix(root()).unwrap_or(&source);
        let of_file = |(line, text)| Text {
            file: file.to_owned(),
            line,
            text,
        };
        strings(tokens, false, &mut |line, text| {
            messages.push(of_file((line, text)));
        });
        comments.extend(comments_of(&text).into_iter().map(of_file));
    }
    messages.retain(|message| message.text.split_whitespace().count() >= MIN_WORDS);
    let of_messages = HABITS_OF_MESSAGES
        .iter()
        .map(|habit| (habit, &messages, "messages"));
    let of_comments = HABITS_OF_COMMENTS
        .iter()
        .map(|habit| (habit, &comments, "comments"));
    let faults: Vec<String> = of_messages
        .chain(of_comments)
        .filter_map(|(habit, texts, kind)| fault(habit, texts, kind))
        .collect();
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n"))
    }
}

/// What is wrong with the number of `texts`, which are of this kind, that have a habit.
fn fault(habit: &Habit, texts: &[Text], kind: &str) -> Option<String> {
    let pattern = Regex::new(habit.pattern).expect("a pattern of this file");
    let placeholder = Regex::new(r"\{[^{}]*\}").expect("a pattern of this file");
    // Not part of a sentence.
    let default = Regex::new(r"\[default: [^\[\]]*\]").expect("a pattern of this file");
    let has_habit = |one: &&Text| {
        let text = placeholder.replace_all(&one.text, "{}");
        let text = default.replace_all(&text, "");
        pattern.is_match(&text.replace("at least", "").replace("there is no ", ""))
    };
    let found: Vec<&Text> = texts.iter().filter(has_habit).collect();
    let (count, ceiling) = (found.len(), habit.ceiling);
    let (pattern, instead) = (habit.pattern, habit.instead);
    if count < ceiling {
        return Some(format!(
            "{pattern}: {count} {kind}, fewer than the ceiling of {ceiling}. Lower the ceiling to {count} in {}",
            file!()
        ));
    }
    if count == ceiling {
        return None;
    }
    let mut fault =
        format!("{pattern}: {count} {kind}, above the ceiling of {ceiling}. Write {instead}:");
    for Text { file, line, text } in found {
        let first = text
            .lines()
            .find(|line| !line.is_empty())
            .unwrap_or_default();
        fault += &format!("\n  {}:{line}: {first:.100}", file.display());
    }
    Some(fault)
}

/// The comments in `source`, each with its first line's number: lines that follow each other are one comment.
fn comments_of(source: &str) -> Vec<(usize, String)> {
    let mut comments: Vec<(usize, String)> = Vec::new();
    let mut lasts = false;
    for (index, line) in source.lines().enumerate() {
        let Some(text) = line.trim_start().strip_prefix("//") else {
            lasts = false;
            continue;
        };
        let text = text.trim_start_matches(['/', '!']).trim();
        match comments.last_mut().filter(|_| lasts) {
            Some((_, whole)) => *whole += &format!(" {text}"),
            None => comments.push((index + 1, text.to_owned())),
        }
        lasts = true;
    }
    comments
}

/// The source files of the program's crates, without tests.
pub(super) fn sources(root: &Path) -> io::Result<Vec<PathBuf>> {
    const FOR_TESTS: [&str; 2] = ["testkit", "simulation"];
    let mut folders = Vec::new();
    for entry in fs::read_dir(root.join("crates"))?.flatten() {
        if !FOR_TESTS.iter().any(|name| entry.file_name() == *name) {
            folders.push(entry.path().join("src"));
        }
    }
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                if path.file_name().is_none_or(|name| name != "tests") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut for_tests = BTreeSet::new();
    for file in &found {
        for_tests.extend(modules_of_tests(file, &fs::read_to_string(file)?));
    }
    found.retain(|file| !for_tests.contains(file));
    found.sort();
    Ok(found)
}

/// The files that a file declares as modules for tests alone.
fn modules_of_tests(file: &Path, text: &str) -> Vec<PathBuf> {
    static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
        let pattern =
            r##"#\[cfg\(test\)\]\s*(?:#\[path = "(.+)"\]\s*)?(?:pub(?:\(\w+\))? )?mod (\w+);"##;
        Regex::new(pattern).expect("a pattern")
    });
    let parent = file.parent().unwrap_or(file);
    let stem = file.file_stem().unwrap_or_default();
    let below = if ["mod", "lib", "main"].iter().any(|name| stem == *name) {
        parent.to_owned()
    } else {
        parent.join(stem)
    };
    let declared = DECLARED.captures_iter(text).flat_map(|found| {
        let name = &found[2];
        match found.get(1) {
            Some(path) => vec![parent.join(path.as_str())],
            None => vec![
                below.join(format!("{name}.rs")),
                below.join(name).join("mod.rs"),
            ],
        }
    });
    declared.collect()
}

/// The derives of clap: doc comments below them are the help of options.
const CLAP: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];

/// Calls `found` with the line and the text of each string literal outside of tests and attributes and, with `is_help`,
/// of each doc comment.
fn strings(tokens: TokenStream, is_help: bool, found: &mut impl FnMut(usize, String)) {
    let mut tokens = tokens.into_iter().peekable();
    let mut is_clap = false;
    let mut is_test = false;
    // The lines of one doc comment.
    let mut help: Option<(usize, String)> = None;
    while let Some(token) = tokens.next() {
        if let (TokenTree::Punct(hash), Some(TokenTree::Punct(mark))) = (&token, tokens.peek())
            && hash.as_char() == '#'
            && mark.as_char() == '!'
        {
            // An attribute of the file, such as its own doc comment.
            tokens.nth(1);
            continue;
        }
        if let (TokenTree::Punct(hash), Some(TokenTree::Group(attribute))) = (&token, tokens.peek())
            && hash.as_char() == '#'
            && attribute.delimiter() == Delimiter::Bracket
        {
            let line = attribute.span().start().line;
            let text = attribute.stream().to_string();
            if let Some(doc) = text.strip_prefix("doc = ") {
                if is_help {
                    let doc = unquoted(doc);
                    let (_, whole) = help.get_or_insert((line, String::new()));
                    *whole += &doc;
                }
            } else if text.starts_with("cfg (test)") || text.starts_with("cfg(test)") {
                is_test = true;
            } else if text.starts_with("derive") {
                is_clap = CLAP.iter().any(|name| text.contains(name));
            } else if text.starts_with("arg")
                || text.starts_with("command")
                || text.starts_with("error")
            {
                // Help texts of clap, messages of thiserror.
                strings(attribute.stream(), false, found);
            }
            tokens.next();
            continue;
        }
        if let Some((line, text)) = help.take() {
            found(line, text.trim().to_owned());
        }
        match token {
            TokenTree::Group(group) => {
                let is_body = group.delimiter() == Delimiter::Brace;
                if !is_test {
                    strings(group.stream(), is_clap && is_body, found);
                }
                if is_body {
                    (is_clap, is_test) = (false, false);
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                (is_clap, is_test) = (false, false);
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.starts_with('"') || text.starts_with("r\"") || text.starts_with("r#") {
                    found(literal.span().start().line, unquoted(&text));
                }
            }
            _ => {}
        }
    }
}

/// A string literal's text: lines that end in `\` are joined, other escapes stay as they are.
fn unquoted(literal: &str) -> String {
    let text = literal.trim_start_matches(['r', '#']).trim_end_matches('#');
    let text = text.strip_prefix('"').unwrap_or(text);
    let text = text.strip_suffix('"').unwrap_or(text);
    let mut parts = text.split("\\\n");
    let mut joined = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        joined += part.trim_start();
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_declared_for_tests_are_found() {
        let text = "mod a;\n#[cfg(test)]\nmod b;\n#[cfg(test)]\n#[path = \"c_tests.rs\"]\nmod tests;\n\
                    #[cfg(test)]\npub(super) mod d;\nmod e;\n";
        let found = |file| -> Vec<String> {
            let found = modules_of_tests(Path::new(file), text).into_iter();
            found.map(|path| path.display().to_string()).collect()
        };
        let in_a_folder = [
            "x/b.rs",
            "x/b/mod.rs",
            "x/c_tests.rs",
            "x/d.rs",
            "x/d/mod.rs",
        ];
        assert_eq!(found("x/mod.rs"), in_a_folder);
        assert_eq!(found("x/y.rs")[0], "x/y/b.rs");
        assert_eq!(found("x/y.rs")[2], "x/c_tests.rs");
    }

    fn of(source: &str) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        strings(source.parse().unwrap(), false, &mut |line, text| {
            all.push((line, text))
        });
        all
    }

    #[test]
    fn messages_are_strings_and_the_help_of_options_and_not_those_of_tests() {
        let source = r##"//! The file.
/// A comment.
fn a() { format!("one {} \
    two", x); }
#[cfg(test)]
mod tests { fn b() { "not this" } }
#[derive(Args)]
/// Not the help of an option.
struct C {
    /// Some help
    #[arg(long, help = r#"other help"#)]
    d: bool,
}
#[error("it failed")]
struct E;
"##;
        let found: Vec<_> = of(source).into_iter().map(|(_, text)| text).collect();
        assert_eq!(
            found,
            ["one {} two", "other help", "Some help", "it failed"]
        );
        assert_eq!(of(source)[0].0, 3);
    }

    #[test]
    fn comments_are_lines_that_follow_each_other() {
        let source = "//! The file,\n//! whole.\n\n/// One.\nfn a() {} // not this\n    // Two.\n";
        let found = comments_of(source);
        let expected = [(1, "The file, whole."), (4, "One."), (6, "Two.")];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn a_count_above_a_ceiling_names_its_places_and_one_below_lowers_it() {
        let message = |text: &str| Text {
            file: PathBuf::from("a.rs"),
            line: 7,
            text: text.to_owned(),
        };
        let messages = [
            message("this file says it, so"),
            message("at least one look"),
        ];
        let habit = |pattern, ceiling| Habit {
            pattern,
            instead: "has",
            ceiling,
        };
        assert_eq!(fault(&habit(r"\bsays\b", 1), &messages, "messages"), None);
        let above = fault(&habit(r"\bsays\b", 0), &messages, "messages").unwrap();
        assert!(above.contains("a.rs:7: this file says it, so"), "{above}");
        let below = fault(&habit(r"\bsays\b", 2), &messages, "messages").unwrap();
        assert!(below.contains("Lower the ceiling to 1"), "{below}");
        assert_eq!(fault(&habit(r"\bleast\b", 0), &messages, "messages"), None);
        let with_default = [message("The format: text or JSON [default: text]")];
        assert_eq!(fault(&habit(": .*: ", 0), &with_default, "messages"), None);
    }
}
