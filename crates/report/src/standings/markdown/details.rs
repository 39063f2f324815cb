//! Where the figures come from, and what they do not show.

use crate::{
    markdown::{Page, escape},
    standings::{
        view::{PublishedView, SidesView, StandingsView},
        words,
    },
    view::Fact,
};

pub(super) fn write(page: &mut Page, view: &StandingsView) {
    if !view.published.is_empty() {
        page.heading(2, "Published and measured");
        page.paragraph(words::SIDES_LEGEND);
    }
    for table in &view.published {
        published(page, table);
    }
    not_measured(page, view);
    let details = &view.details;
    page.heading(2, "Limits of this session");
    page.bullets("", &details.caveats);
    page.heading(2, "How it was measured");
    facts(page, &details.method);
    if let Some(line) = &details.time_line {
        page.paragraph(&escape(&format!("{line}.")));
    }
    page.heading(2, "Machine and session");
    facts(page, &details.machine);
    findings(page, view);
    facts(page, &details.provenance);
    stacks(page, view);
}

fn published(page: &mut Page, table: &PublishedView) {
    page.heading(3, &table.title);
    facts(page, &table.facts);
    let row = |row: &SidesView| {
        let names = [row.name.clone(), row.target.clone()];
        names.into_iter().chain(words::sides(row)).collect()
    };
    let rows: Vec<Vec<String>> = table.rows.iter().map(row).collect();
    let heads: Vec<&str> = ["row", "stack"].into_iter().chain(words::SIDES).collect();
    page.table(&heads, &rows);
    page.bullets("", &table.notes);
}

fn not_measured(page: &mut Page, view: &StandingsView) {
    let missing = &view.not_measured;
    if missing.entries.is_empty() && missing.left_out.is_empty() {
        return;
    }
    page.heading(2, "Not measured");
    let entries = missing.entries.iter().map(|lack| {
        vec![
            lack.target.clone(),
            lack.load.clone().unwrap_or_else(|| "all".to_owned()),
            words::absent(lack.because).to_owned(),
            lack.reason.clone(),
            lack.remedy.clone().unwrap_or_default(),
        ]
    });
    let rows: Vec<Vec<String>> = entries.collect();
    if !rows.is_empty() {
        page.table(
            &["stack", "workload", "what", "why", "to change that"],
            &rows,
        );
    }
    for lack in missing.entries.iter().filter(|lack| !lack.log.is_empty()) {
        page.paragraph(&escape(&format!("Last words of {}:", lack.target)));
        page.verbatim(&lack.log);
    }
    if let Some(sentence) = missing.left_out_sentence() {
        let names = missing.left_out.join(", ");
        page.paragraph(&escape(&format!("{sentence} They are {names}.")));
    }
}

fn facts(page: &mut Page, facts: &[Fact]) {
    let rows: Vec<Vec<String>> = facts
        .iter()
        .map(|fact| vec![fact.name.clone(), fact.value.clone()])
        .collect();
    page.table(&["", ""], &rows);
}

fn findings(page: &mut Page, view: &StandingsView) {
    let rows: Vec<Vec<String>> = view
        .details
        .findings
        .iter()
        .map(|one| {
            vec![
                one.check.clone(),
                words::level(one.level).to_owned(),
                one.found.clone(),
                one.why.clone(),
                one.remedy.clone(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        page.table(
            &["check", "level", "found", "what it does", "what to do"],
            &rows,
        );
    }
}

fn stacks(page: &mut Page, view: &StandingsView) {
    let stacks = &view.details.stacks;
    if stacks.is_empty() {
        return;
    }
    page.heading(2, "Stacks");
    let row = |stack: &crate::view::StackFacts| {
        let limits: Vec<&String> = stack.variant.iter().chain(&stack.limits).collect();
        let limits: Vec<&str> = limits.into_iter().map(String::as_str).collect();
        vec![
            stack.target.clone(),
            stack.what.clone(),
            stack.runtime.to_owned(),
            stack.versions.clone(),
            stack.database.clone(),
            stack.build.clone(),
            limits.join("; "),
        ]
    };
    let rows: Vec<Vec<String>> = stacks.iter().map(row).collect();
    let heads = [
        "stack", "what", "runs", "versions", "database", "build", "limits",
    ];
    page.table(&heads, &rows);
}
