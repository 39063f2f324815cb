//! Markdown that can be committed.

pub(crate) mod homes;

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

    /// A table of text.
    pub(crate) fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        let rows = rows.iter().map(|row| row.iter().map(|cell| escape(cell)));
        let rows: Vec<Vec<String>> = rows.map(Iterator::collect).collect();
        self.table_of(head, &vec!["---"; head.len()], &rows);
    }

    /// A table of Markdown, with how its columns are aligned.
    pub(crate) fn table_of(&mut self, head: &[&str], rules: &[&str], rows: &[Vec<String>]) {
        let line = |cells: String| format!("| {cells} |");
        let mut lines = vec![line(head.join(" | ")), line(rules.join(" | "))];
        lines.extend(rows.iter().map(|row| line(row.join(" | "))));
        self.paragraph(&lines.join("\n"));
    }
}

/// Text from outside, so that it stands in Markdown as it is and is neither markup nor HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
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
    escaped
}
