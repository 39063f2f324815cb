//! A comparison for a pull request: the verdict, a table, and everything else folded away.

use super::view::{CompareView, Outcome, RatioRow, RatioTable, SideView};
use crate::{markdown::escape, view::Fact};

/// The whole comparison as Markdown, with `<details>` as GitHub, GitLab and Gitea fold them.
pub fn markdown(view: &CompareView) -> String {
    let mut page = Page::default();
    let sign = match view.outcome {
        Outcome::Better => "✅",
        Outcome::Worse => "❌",
        Outcome::Even => "⚖️",
    };
    page.paragraph(&format!("{sign} **{}**", escape(&view.headline)));
    if let Some(gate) = &view.gate {
        let sentences: Vec<String> = gate.sentences.iter().map(|said| escape(said)).collect();
        page.paragraph(&sentences.join(" "));
    }
    page.paragraph(&format!(
        "A: {}\\\nB: {}",
        escape(&view.a.name),
        escape(&view.b.name)
    ));
    page.bullets(&view.warnings, "⚠️ ");
    let (deciding, others): (Vec<_>, Vec<_>) = view.tables.iter().partition(|table| table.decides);
    deciding.into_iter().for_each(|one| page.table(one));
    page.facts(&view.not_compared, "Not compared: ");
    if !others.is_empty() {
        page.open("Times, CPU and memory");
        others.into_iter().for_each(|one| page.table(one));
        page.close();
    }
    page.open("Conditions");
    page.bullets(&view.notes, "");
    page.bullets(&view.differences, "");
    page.side("A", &view.a);
    page.side("B", &view.b);
    page.facts(&view.conditions, "");
    page.bullets(&view.how, "");
    page.close();
    page.0
}

#[derive(Default)]
struct Page(String);

impl Page {
    /// Text that is Markdown already, with an empty line before it.
    fn paragraph(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn bullets(&mut self, items: &[String], mark: &str) {
        let lines: Vec<String> = items
            .iter()
            .map(|item| format!("- {mark}{}", escape(item)))
            .collect();
        if !lines.is_empty() {
            self.paragraph(&lines.join("\n"));
        }
    }

    fn facts(&mut self, facts: &[Fact], mark: &str) {
        let line = |fact: &Fact| format!("- {mark}{}: {}", escape(&fact.name), escape(&fact.value));
        let lines: Vec<String> = facts.iter().map(line).collect();
        if !lines.is_empty() {
            self.paragraph(&lines.join("\n"));
        }
    }

    fn side(&mut self, name: &str, side: &SideView) {
        if !side.facts.is_empty() {
            self.paragraph(&format!("{name}: {}", escape(&side.name)));
            self.facts(&side.facts, "");
        }
    }

    fn table(&mut self, table: &RatioTable) {
        let mut lines = vec![
            format!(
                "| {} | A | B | B / A | interval | verdict |",
                escape(table.title)
            ),
            "| --- | ---: | ---: | ---: | :---: | --- |".to_owned(),
        ];
        lines.extend(table.rows.iter().map(row));
        self.paragraph(&lines.join("\n"));
    }

    fn open(&mut self, summary: &str) {
        self.paragraph(&format!("<details><summary>{summary}</summary>"));
    }

    fn close(&mut self) {
        self.paragraph("</details>");
    }
}

fn row(row: &RatioRow) -> String {
    let name = match &row.group {
        Some(group) => format!("{} {group}", row.name),
        None => row.name.clone(),
    };
    let verdict = match row.outcome {
        Outcome::Even => row.verdict.to_owned(),
        _ => format!("**{}**", row.verdict),
    };
    format!(
        "| {} | {} | {} | {} | {} | {verdict} |",
        escape(&name),
        row.a,
        row.b,
        row.ratio,
        row.interval
    )
}
