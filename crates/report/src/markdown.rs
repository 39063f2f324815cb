//! The report as Markdown that can be committed, in the manner of the published comparisons: an analysis, performance
//! and resource use, then raw results as ab prints them.

use crate::view::{GroupView, Row, RowState, Section, View};

mod course;
pub(crate) mod homes;
mod latency;
mod lost;
mod raw;

/// The whole report as Markdown.
pub fn markdown(view: &View) -> String {
    let mut page = Page::default();
    page.heading(1, &format!("Deadheat {}", view.id));
    page.paragraph(&escape(&view.headline));
    page.bullets(&view.alerts, "**", "**");
    page.analysis(view);
    page.losses_in_short(view.losses_in_short.as_ref());
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
    page.raw_results(&view.groups());
    homes::without_homes(&page.0)
}

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

    /// A list; `before` and `after` are Markdown.
    pub(crate) fn bullets(&mut self, items: &[String], before: &str, after: &str) {
        let line = |item: &String| format!("- {before}{}{after}", escape(item));
        if !items.is_empty() {
            self.paragraph(&items.iter().map(line).collect::<Vec<_>>().join("\n"));
        }
    }

    /// Every verdict, a sentence or two each.
    fn analysis(&mut self, view: &View) {
        let mut verdicts = Vec::new();
        for section in &view.sections {
            match section {
                Section::Capacity(group) => verdicts.push((group.title.clone(), &group.summary)),
                Section::Latency(latency) => {
                    verdicts.extend(latency.tables.iter().map(|table| {
                        let title = format!("{}, {}", latency.title, table.title);
                        (title, &table.summary)
                    }));
                }
            }
        }
        let line = |(title, verdict): &(String, &String)| {
            format!("- **{}**: {}", escape(title), escape(verdict))
        };
        if !verdicts.is_empty() {
            self.heading(2, "Analysis");
            self.paragraph(&verdicts.iter().map(line).collect::<Vec<_>>().join("\n"));
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

    /// A table of text.
    pub(crate) fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
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
