//! The report as Markdown, in the manner of the published comparisons: a summary, resource use, then everything raw.

use crate::view::{
    CellDetail, GroupView, PublishedTableView, PublishedView, Row, RowState, Section, TrialDetail,
    View,
};

mod course;
mod latency;
mod lost;

/// The whole report as Markdown.
pub fn markdown(view: &View) -> String {
    let mut page = Page::default();
    page.heading(1, &format!("Deadheat {}", view.id));
    page.paragraph(&escape(&view.headline));
    page.bullets(&view.alerts, "**", "**");
    page.losses_in_short(view.losses_in_short.as_ref());
    if let Some(published) = &view.published {
        page.published(published);
    }
    for section in &view.sections {
        match section {
            Section::Capacity(group) => page.summary(group),
            Section::Latency(latency) => page.latency(latency),
        }
    }
    if let Some(course) = &view.course {
        page.course(course);
    }
    if let Some(startup) = &view.startup {
        page.startup(startup);
    }
    page.lost(&view.lost);
    page.heading(2, "What this session does not show");
    page.bullets(&view.caveats, "", "");
    page.provenance(view);
    if !view.sections.is_empty() {
        page.heading(2, "Raw results");
    }
    for group in view.groups() {
        page.raw(group);
    }
    page.0
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn heading(&mut self, level: usize, title: &str) {
        self.paragraph(&format!("{} {}", "#".repeat(level), escape(title)));
    }

    /// Text that is Markdown already, with an empty line before it.
    fn paragraph(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn bullets(&mut self, items: &[String], before: &str, after: &str) {
        let line = |item: &String| format!("- {before}{}{after}", escape(item));
        if !items.is_empty() {
            self.paragraph(&items.iter().map(line).collect::<Vec<_>>().join("\n"));
        }
    }

    /// Verbatim text: indented, so that nothing in it can end it.
    fn verbatim<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        let lines: Vec<String> = lines
            .into_iter()
            .map(|line| format!("    {line}").trim_end().to_owned())
            .collect();
        // Leading empty lines would not be part of the block.
        let start = lines.iter().position(|line| !line.is_empty());
        if let Some(start) = start {
            self.paragraph(&lines[start..].join("\n"));
        }
    }

    fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let mut lines = vec![
            line(head.iter().map(|name| (*name).to_owned()).collect()),
            format!("|{}", " --- |".repeat(head.len())),
        ];
        lines.extend(
            rows.iter()
                .map(|row| line(row.iter().map(|cell| escape(cell)).collect())),
        );
        self.paragraph(&lines.join("\n"));
    }

    fn summary(&mut self, group: &GroupView) {
        self.heading(2, &group.title);
        self.paragraph(&format!("**{}**", escape(&group.summary)));
        self.losses_in_short(group.losses_in_short.as_ref());
        if let Some(sentence) = &group.not_measured {
            self.paragraph(&escape(sentence));
        }
        if !group.description.is_empty() {
            self.paragraph(&escape(&group.description));
        }
        if group.rows.is_empty() {
            return;
        }
        self.heading(3, &format!("Performance ({})", group.title));
        let lines: Vec<String> = group.rows.iter().map(performance).collect();
        self.paragraph(&lines.join("\n"));
        self.bullets(&group.dead_heats, "", "");
        for sentence in group.ceiling.iter().chain(&group.noise) {
            self.paragraph(&escape(sentence));
        }
        self.paragraph(&escape(&format!(
            "{} The percentiles are of the {}.",
            group.intervals, group.latency_name
        )));
        let shown = |percent: f64| percent == 50.0 || percent == 99.0;
        for missing in group
            .missing
            .iter()
            .filter(|missing| shown(missing.percent))
        {
            self.paragraph(&escape(&missing.sentence));
        }
        self.heading(3, &format!("Resource utilization ({})", group.title));
        let lines: Vec<String> = group.rows.iter().map(resources).collect();
        self.paragraph(&lines.join("\n"));
        for frontier in &group.frontiers {
            self.paragraph(&escape(&frontier.sentence));
        }
        self.comparison(group);
    }

    fn published(&mut self, view: &PublishedView) {
        self.heading(2, "Published and measured");
        for sentence in &view.introduction {
            self.paragraph(&escape(sentence));
        }
        for table in &view.tables {
            self.published_table(table);
        }
    }

    fn published_table(&mut self, table: &PublishedTableView) {
        self.heading(3, &table.title);
        let facts: Vec<String> = table
            .facts
            .iter()
            .map(|fact| format!("{}: {}", fact.name, fact.value))
            .collect();
        self.bullets(&facts, "", "");
        let head = [
            "published as",
            "here",
            "published requests/s",
            "ratio",
            "measured requests/s",
            "ratio",
            "95 % interval",
        ];
        let rows: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| {
                let spread = row.spread.iter().map(|spread| format!(" {spread}"));
                vec![
                    row.name.clone(),
                    row.target.clone(),
                    row.published.clone(),
                    row.published_ratio.clone(),
                    format!("{}{}", row.measured, spread.collect::<String>()),
                    row.ratio.clone(),
                    row.interval.clone().unwrap_or_default(),
                ]
            })
            .collect();
        self.table(&head, &rows);
        let stands = table.rows.iter().filter_map(|row| {
            let why = row.target_reason.as_ref()?;
            Some(format!("{} → {}: {why}", row.name, row.target))
        });
        let notes = table.notes.iter();
        let notes = notes.map(|note| format!("{}: {}", note.whose(), note.text));
        let notes: Vec<String> = notes.chain(stands).collect();
        self.bullets(&notes, "", "");
        self.bullets(&table.remarks, "", "");
    }

    fn comparison(&mut self, group: &GroupView) {
        let neighbours = group.pairs.iter().filter(|pair| pair.neighbours);
        let rows: Vec<Vec<String>> = neighbours
            .map(|pair| {
                vec![
                    format!("{} / {}", pair.faster, pair.slower),
                    pair.ratio.clone(),
                    pair.interval.clone(),
                    pair.p_adjusted.clone(),
                    pair.verdict.to_owned(),
                ]
            })
            .collect();
        if rows.is_empty() {
            return;
        }
        self.heading(3, &format!("Differences ({})", group.title));
        let metric = format!("{} of", group.metric);
        let head = [&metric, "ratio", "95 % interval", "p (Holm)", "verdict"];
        self.table(&head, &rows);
        if group.pairs.len() > rows.len() {
            self.paragraph(&format!(
                "Neighbours in the ranking only, of {} pairs compared; the JSON and HTML reports have them all.",
                group.pairs.len()
            ));
        }
    }

    fn provenance(&mut self, view: &View) {
        self.heading(2, "Where the figures come from");
        let width = view
            .provenance
            .iter()
            .map(|fact| fact.name.chars().count())
            .max();
        let lines: Vec<String> = view
            .provenance
            .iter()
            .map(|fact| format!("{:<1$}  {2}", fact.name, width.unwrap_or(0), fact.value))
            .collect();
        self.verbatim(lines.iter().map(String::as_str));
        if view.stacks.is_empty() {
            return;
        }
        self.heading(2, "Stacks");
        let rows: Vec<Vec<String>> = view
            .stacks
            .iter()
            .map(|stack| {
                vec![
                    stack.target.clone(),
                    stack.what.clone(),
                    stack.runtime.to_owned(),
                    stack.versions.clone(),
                    stack.database.clone(),
                    stack.build.clone(),
                ]
            })
            .collect();
        let head = ["stack", "what", "runs", "versions", "database", "build"];
        self.table(&head, &rows);
        let limits: Vec<String> = view
            .stacks
            .iter()
            .flat_map(|stack| {
                let variant = stack.variant.iter();
                variant
                    .chain(&stack.limits)
                    .map(|limit| format!("{}: {limit}", stack.target))
            })
            .collect();
        self.bullets(&limits, "", "");
    }

    fn raw(&mut self, group: &GroupView) {
        self.heading(3, &group.title);
        for cell in &group.cells {
            self.cell(group, cell);
        }
    }

    fn cell(&mut self, group: &GroupView, cell: &CellDetail) {
        self.heading(4, &format!("{} ({})", cell.target, group.title));
        if cell.trials.is_empty() {
            self.paragraph("No trial.");
        }
        for trial in &cell.trials {
            self.paragraph(&format!(
                "Block {}: {}",
                trial.block,
                escape(&trial.verdict)
            ));
            self.verbatim(
                trial_lines(trial, group.latency_name)
                    .iter()
                    .map(String::as_str),
            );
        }
        if let Some(sentence) = &cell.left_out {
            self.paragraph(sentence);
        }
    }
}

fn performance(row: &Row) -> String {
    let interval = row
        .interval
        .as_ref()
        .map(|interval| format!(" ({interval})"));
    let percentile = |name: &str, value: &str| format!("{name} {value}");
    let mut parts = vec![format!(
        "{} requests/s{}",
        row.throughput,
        interval.unwrap_or_default()
    )];
    parts.push(percentile("p50", &row.p50.value));
    parts.push(percentile("p99", &row.p99.value));
    parts.extend(row.notes.iter().cloned());
    let rank = match row.state {
        RowState::Ranked => format!("rank {}", row.rank),
        RowState::Unranked | RowState::LowerBound => "not ranked".to_owned(),
    };
    format!(
        "- {}: **{}** {}",
        escape(&rank),
        escape(&row.target),
        escape(&parts.join(", "))
    )
}

fn resources(row: &Row) -> String {
    let [voluntary, involuntary] = &row.switches;
    let [minor, major] = &row.faults;
    format!(
        "- **{}** CPU: {} per request, {} cores, RAM (PSS): {} idle, {} mean, {} peak, context switches per \
         request: {voluntary} voluntary, {involuntary} involuntary, page faults per request: {minor} minor, \
         {major} major, ready in {}",
        escape(&row.target),
        row.cpu,
        row.cores,
        row.pss_idle,
        row.pss_mean,
        row.pss_peak,
        row.ready
    )
}

fn trial_lines(trial: &TrialDetail, latency_name: &str) -> Vec<String> {
    let mut lines: Vec<String> = trial
        .lines
        .iter()
        .map(|fact| format!("{:<24}{}", format!("{}:", fact.name), fact.value))
        .collect();
    lines.extend(trial.flags.iter().map(|flag| format!("WARNING: {flag}")));
    if !trial.percentiles.is_empty() {
        lines.push(String::new());
        lines.push(format!(
            "Percentage of the requests served within a certain time ({latency_name})"
        ));
        lines.extend(trial.percentiles.iter().map(|(percent, time)| {
            let longest = if percent == "100%" {
                " (longest request)"
            } else {
                ""
            };
            format!("{percent:>5} {time:>10}{longest}")
        }));
    }
    if !trial.used.is_empty() {
        lines.push(String::new());
        lines.extend(
            trial
                .used
                .iter()
                .map(|(value, name)| format!("{value:>16}  {name}")),
        );
    }
    for (title, verbatim) in [("Examples", &trial.examples), ("Output", &trial.log)] {
        if !verbatim.is_empty() {
            lines.push(String::new());
            lines.push(format!("{title}:"));
            lines.extend(verbatim.iter().map(|line| format!("  {line}")));
        }
    }
    lines
}

/// Text from outside, so that it stands in Markdown as it is and is neither markup nor HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                escaped.push('\\');
                escaped.push(character);
            }
            c => escaped.push(c),
        }
    }
    escaped
}
