//! A comparison for a pull request: the verdict, a table, and everything else folded away.

use super::{
    view::{CompareView, Outcome, RatioRow, RatioTable, SideView},
    words,
};
use crate::markdown::{Page, escape};

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
    page.bullets("⚠️ ", &view.warnings);
    let (deciding, others): (Vec<_>, Vec<_>) = view.tables.iter().partition(|table| table.decides);
    let is_judged = view.is_judged;
    deciding
        .into_iter()
        .for_each(|one| table(&mut page, one, is_judged));
    page.bullets("Not compared: ", &view.not_compared);
    if !others.is_empty() {
        page.paragraph("<details><summary>Times, CPU and memory</summary>");
        others
            .into_iter()
            .for_each(|one| table(&mut page, one, is_judged));
        page.paragraph("</details>");
    }
    page.paragraph("<details><summary>Conditions</summary>");
    page.bullets("", &view.notes);
    page.bullets("", &view.differences);
    side(&mut page, "A", &view.a);
    side(&mut page, "B", &view.b);
    page.bullets("", &view.conditions);
    page.bullets("", &view.how);
    page.paragraph("</details>");
    page.0
}

fn side(page: &mut Page, name: &str, side: &SideView) {
    if !side.facts.is_empty() {
        page.paragraph(&format!("{name}: {}", escape(&side.name)));
        page.bullets("", &side.facts);
    }
}

fn table(page: &mut Page, table: &RatioTable, is_judged: bool) {
    let title = escape(table.title);
    let head: Vec<&str> = [title.as_str()].into_iter().chain(words::HEAD).collect();
    let rules = ["---", "---:", "---:", "---", "---"];
    let rows = table.rows.iter().map(|one| row(one, is_judged));
    page.table_of(&head, &rules, &rows.collect::<Vec<_>>());
}

fn row(row: &RatioRow, is_judged: bool) -> Vec<String> {
    let name = match &row.group {
        Some(group) => format!("{} {group}", row.name),
        None => row.name.clone(),
    };
    let [a, b, against, interval] = words::cells(&row.found, is_judged);
    let against = match row.outcome {
        Outcome::Even => against,
        _ => format!("**{against}**"),
    };
    vec![escape(&name), a, b, against, interval]
}
