//! Markdown that can be committed.

/// Markdown under construction.
#[derive(Default)]
pub(crate) struct Page(pub(crate) String);

impl Page {
    /// A heading of a level from 1.
    pub(crate) fn heading(&mut self, level: usize, title: &str) {
        self.paragraph(&format!("{} {}", "#".repeat(level), escape(title)));
    }

    /// Text that is Markdown already, with an empty line before it.
    pub(crate) fn paragraph(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// A list; `mark` is Markdown.
    pub(crate) fn bullets(&mut self, mark: &str, items: &[impl ToString]) {
        let line = |item: &_| format!("- {mark}{}", escape(&ToString::to_string(item)));
        if !items.is_empty() {
            self.paragraph(&items.iter().map(line).collect::<Vec<_>>().join("\n"));
        }
    }

    /// Verbatim text: indented, so that nothing in it can end it.
    pub(crate) fn verbatim(&mut self, lines: &[String]) {
        let lines: Vec<String> = lines
            .iter()
            .map(|line| format!("    {line}").trim_end().to_owned())
            .collect();
        // Leading empty lines would not be part of the block.
        let start = lines.iter().position(|line| !line.is_empty());
        if let Some(start) = start {
            self.paragraph(&lines[start..].join("\n"));
        }
    }

    /// A table of Markdown, with how its columns are aligned.
    pub(crate) fn table_of(&mut self, head: &[&str], rules: &[&str], rows: &[Vec<String>]) {
        let line = |cells: String| format!("| {cells} |");
        let mut lines = vec![line(head.join(" | ")), line(rules.join(" | "))];
        lines.extend(rows.iter().map(|row| line(row.join(" | "))));
        self.paragraph(&lines.join("\n"));
    }
}

/// Text from outside, escaped so that Markdown shows it as it is: it is neither markup nor HTML, links nowhere, and mentions
/// nobody. What would become a link or a mention is written as code, so that it can still be copied.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end_matches(char::is_whitespace);
        let blank = &word[bare.len()..];
        if becomes_a_link(bare) {
            let outside = |one: char| "()[]{}<>\"'.,;:?*_".contains(one);
            let core = bare.trim_matches(outside);
            let begin = bare.find(core).unwrap_or(0);
            let (before, rest) = bare.split_at(begin);
            let (core, after) = rest.split_at(core.len());
            escape_word(before, &mut escaped);
            as_code(core, &mut escaped);
            escape_word(after, &mut escaped);
        } else {
            escape_word(bare, &mut escaped);
        }
        escaped.push_str(blank);
    }
    escaped
}

/// Whether GitHub, GitLab or Gitea make a link or a mention of something in a word. They look at the text after Markdown
/// was rendered, so a backslash does not keep them from it.
fn becomes_a_link(word: &str) -> bool {
    let follows = |mark: char, is_part: fn(char) -> bool| {
        let mut after = word.split(mark).skip(1);
        after.any(|rest| rest.starts_with(is_part))
    };
    let lower = word.to_ascii_lowercase();
    word.contains("://")
        || lower.contains("www.")
        || lower.contains("gh-")
        || follows('@', |one| one.is_alphanumeric() || one == '_' || one == '"')
        || follows('#', |one| one.is_ascii_digit())
        || follows('!', |one| one.is_ascii_digit())
}

/// A word as code, in which nothing is a link. If it could end the code, or a cell of a table, its links are broken by
/// blanks of no width instead.
fn as_code(word: &str, escaped: &mut String) {
    if !word.is_empty() && !word.contains(['`', '|', '\\']) {
        escaped.push('`');
        escaped.push_str(word);
        escaped.push('`');
        return;
    }
    let mut before = ' ';
    for one in word.chars() {
        let is_split = matches!(before, '@' | '#' | '!' | ':' | '-')
            || (one == '.' && before.eq_ignore_ascii_case(&'w'));
        if is_split {
            escaped.push_str("&#8203;");
        }
        escape_word(one.encode_utf8(&mut [0; 4]), escaped);
        before = one;
    }
}

fn escape_word(word: &str, escaped: &mut String) {
    for character in word.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // GitHub reads mathematics between dollars.
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '$' => {
                escaped.push('\\');
                escaped.push(character);
            }
            c => escaped.push(c),
        }
    }
}

/// The text with `~` for the folder below `/home` or `/Users`, and for `/root`, wherever a path begins with it, so that a
/// committed report does not reveal whose machine it came from.
pub fn without_homes(text: &str) -> String {
    let mut rest = text;
    let mut written = String::with_capacity(text.len());
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        written.push_str(before);
        let starts = !written.ends_with(|end: char| end.is_alphanumeric() || "_.-~/".contains(end));
        let home = if starts { home(path) } else { None };
        match home {
            Some(length) => {
                written.push('~');
                rest = &path[length..];
            }
            None => {
                written.push('/');
                rest = &path[1..];
            }
        }
    }
    written + rest
}

/// The length of the home folder that a path begins with.
fn home(path: &str) -> Option<usize> {
    let is_end = |c: char| c == '/' || !(c.is_alphanumeric() || "_.-\\".contains(c));
    let end = |text: &str| text.find(is_end).unwrap_or(text.len());
    for below in ["/home/", "/Users/"] {
        if let Some(name) = path.strip_prefix(below) {
            let length = end(name);
            return (length > 0).then_some(below.len() + length);
        }
    }
    let rest = path.strip_prefix("/root")?;
    (end(rest) == 0).then_some("/root".len())
}

#[cfg(test)]
mod tests {
    use super::{escape, without_homes};

    #[test]
    fn nothing_from_outside_is_markup_a_link_or_a_mention() {
        let cases = [
            (
                "a *b* <i> [c](d) `e` $f$",
                "a \\*b\\* &lt;i&gt; \\[c\\](d) \\`e\\` \\$f\\$",
            ),
            ("500 ping @octocat, see", "500 ping `@octocat`, see"),
            ("mail a@b.example.", "mail `a@b.example`."),
            (
                "(https://evil.example/?a=1&b)",
                "(`https://evil.example/?a=1&b`)",
            ),
            ("HTTP://X www.evil.example", "`HTTP://X` `www.evil.example`"),
            ("fixes #1 and !2 and GH-3", "fixes `#1` and `!2` and `GH-3`"),
            ("a|@b", "a\\|@&#8203;b"),
            ("`@b`", "\\`@&#8203;b\\`"),
            ("https://a|b", "https:&#8203;//a\\|b"),
            ("stack:variant 1 @ 2", "stack:variant 1 @ 2"),
        ];
        for (text, expected) in cases {
            assert_eq!(escape(text), expected);
        }
    }

    #[test]
    fn only_what_is_a_home_folder_goes() {
        let cases = [
            ("in /home/jo.ex-1/src/a.rs:3", "in ~/src/a.rs:3"),
            ("\"/root/.cargo/bin\", /root", "\"~/.cargo/bin\", ~"),
            ("PATH=/Users/Jo/bin:/usr/bin", "PATH=~/bin:/usr/bin"),
            ("/home/größe/x", "~/x"),
            (
                "/rooted/x and /home/ and /homework",
                "/rooted/x and /home/ and /homework",
            ),
            (
                "http://host/home/page, src/root/x",
                "http://host/home/page, src/root/x",
            ),
            ("1/2, /", "1/2, /"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_homes(text), expected);
        }
    }
}
