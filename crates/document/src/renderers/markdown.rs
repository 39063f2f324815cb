//! A document for an issue or a pull request.

use crate::{
    Align, Audience, Block, Cell, Document, Row, Section, Table, Tone,
    markdown::{Page, escape},
};

impl Document {
    /// The document as Markdown.
    pub fn markdown(&self) -> String {
        let mut page = Page::default();
        let sign = match self.tone {
            Tone::Plain => "",
            Tone::Good => "✅ ",
            Tone::Doubtful => "⚠️ ",
            Tone::Bad => "❌ ",
        };
        let level = if self.is_file {
            page.heading(1, &self.headline);
            2
        } else {
            page.paragraph(&format!("{sign}**{}**", escape(&self.headline)));
            3
        };
        let sections = self.sections.iter();
        let sections: Vec<&Section> = sections
            .filter(|one| one.audience != Audience::Brief && one.has_text())
            .collect();
        for run in sections.chunk_by(|one, next| one.audience == next.audience) {
            let is_folded = run[0].audience == Audience::Details;
            if is_folded {
                page.paragraph("<details><summary>Details</summary>");
            }
            run.iter()
                .for_each(|section| write_section(&mut page, level, section));
            if is_folded {
                page.paragraph("</details>");
            }
        }
        page.0
    }
}

fn write_section(page: &mut Page, level: usize, section: &Section) {
    if !section.title.is_empty() {
        page.heading(level, &section.title);
    }
    for block in &section.blocks {
        write(page, level + 1, block);
    }
}

/// Writes a block; titles in it are headings of this level.
fn write(page: &mut Page, level: usize, block: &Block) {
    match block {
        Block::Paragraph(text) | Block::Aside(text) => page.paragraph(&escape(text)),
        Block::Bullets(items) => page.bullets("", items),
        Block::Warnings(items) => page.bullets("⚠️ ", items),
        Block::Facts(facts) => page.bullets("", facts),
        Block::Table(table) => write_table(page, &table.printed()),
        Block::Subtitle(title) => page.heading(level, title),
        Block::Fold(fold) if fold.is_drawn => {}
        Block::Fold(fold) => {
            page.heading(level, &fold.title);
            for block in &fold.blocks {
                write(page, level + 1, block);
            }
        }
        Block::Log(lines) => page.verbatim(lines),
        Block::Plots(_) | Block::Ratios(_) => {}
    }
}

fn write_table(page: &mut Page, table: &Table) {
    let heads: Vec<String> = table.columns.iter().map(|one| escape(&one.title)).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rules = table.columns.iter().map(|column| match column.align {
        Align::Left => "---",
        Align::Right => "---:",
    });
    // Markdown has no cell over several columns.
    let alone = |text: &str| {
        let mut cells = vec![String::new(); heads.len()];
        cells[0] = escape(text);
        cells
    };
    let rows = table.rows.iter().map(|row| match row {
        Row::Cells(cells) => cells.iter().map(write_cell).collect(),
        Row::Note { mark, text } => alone(&format!("{mark}{text}")),
        Row::Command(text) => alone(text),
    });
    let (rules, rows): (Vec<&str>, Vec<Vec<String>>) = (rules.collect(), rows.collect());
    page.table_of(&heads, &rules, &rows);
}

fn write_cell(cell: &Cell) -> String {
    let text = escape(&cell.in_full());
    match cell.tone {
        Tone::Plain => text,
        _ => format!("**{text}**"),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::hostile;

    #[test]
    fn nothing_from_outside_is_markup() {
        let expected = [
            "⚠️ **A &lt;i&gt;headline&lt;/i&gt;\\\\u{202e}**",
            "",
            "A paragraph &amp; more.",
            "",
            "An \\[aside\\](javascript:x).",
            "",
            "- ⚠️ &lt;/main&gt;",
            "",
            "### A \\`title\\`",
            "",
            "| name | figure |",
            "| --- | ---: |",
            "| &lt;b&gt;\\|\\\\u{1b}\\[31m | 1,000 |",
            "| ! \\*bold\\* `@someone` |  |",
            "| make &lt;b&gt; |  |",
            "",
            "- one\\\\ntwo",
            "",
            "- \"name\": &lt;value&gt;",
            "",
            "    make </pre>",
            "",
        ];
        assert_eq!(hostile().markdown(), expected.join("\n"));
    }
}
