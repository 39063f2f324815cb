//! What the view of a session holds is in each format, whatever the session.

use deadheat_report::{
    html::html_with,
    json,
    view::{GroupView, LatencyTable, LatencyView, Loss, Row, Section, TrialDetail, View},
};
use serde_json::{Value, to_value};

use crate::{
    cases::{self, Case},
    formats::{assert_closed, shown, words},
};

fn capacities(view: &View) -> impl Iterator<Item = &GroupView> {
    view.sections.iter().filter_map(|section| match section {
        Section::Capacity(group) => Some(group),
        Section::Latency(_) => None,
    })
}

pub fn latencies(view: &View) -> impl Iterator<Item = &LatencyView> {
    view.sections.iter().filter_map(|section| match section {
        Section::Capacity(_) => None,
        Section::Latency(latency) => Some(latency),
    })
}

/// Every sentence that all formats for people show.
pub fn sentences(view: &View) -> Vec<&str> {
    let mut all = vec![view.headline.as_str()];
    all.extend(view.alerts.iter().chain(&view.caveats).map(String::as_str));
    all.extend(
        view.provenance
            .iter()
            .flat_map(|fact| [fact.name.as_str(), &fact.value]),
    );
    for stack in &view.stacks {
        all.extend([&*stack.target, &stack.what, stack.runtime, &stack.versions]);
        all.extend([&*stack.database, &stack.build]);
    }
    for group in capacities(view) {
        all.extend([&*group.title, &group.summary]);
        all.extend(group.dead_heats.iter().map(String::as_str));
        all.extend(
            group
                .rows
                .iter()
                .flat_map(|row| &row.notes)
                .map(String::as_str),
        );
        let optional = [&group.ceiling, &group.noise, &group.not_measured];
        all.extend(optional.into_iter().flatten().map(String::as_str));
        if !group.rows.is_empty() {
            all.push(&group.intervals);
        }
        losses(&group.losses, &mut all);
    }
    for latency in latencies(view) {
        all.extend([&*latency.title, &latency.intervals]);
        all.extend(latency.introduction.iter().map(String::as_str));
        all.extend(latency.missing.iter().map(String::as_str));
        losses(&latency.losses, &mut all);
        for table in &latency.tables {
            all.extend([&*table.title, &table.summary]);
            all.extend(
                table
                    .dead_heats
                    .iter()
                    .chain(&table.notes)
                    .map(String::as_str),
            );
            all.extend(table.noise.as_deref());
        }
    }
    losses(&view.losses, &mut all);
    // Pages name no remedy for each void cell: one sentence stands above their table.
    let causes = view.lost.causes.iter();
    all.extend(causes.filter_map(|cause| cause.remedy.as_deref()));
    all
}

fn losses<'a>(losses: &'a [Loss], all: &mut Vec<&'a str>) {
    for loss in losses {
        all.push(&loss.target);
        all.extend(loss.examples.iter().chain(&loss.log).map(String::as_str));
    }
}

#[test]
fn every_sentence_of_the_view_is_in_every_format() {
    for Case { name, view, .. } in cases::all() {
        for (format, page) in shown(view) {
            for sentence in sentences(view) {
                assert!(
                    page.contains(&words(sentence)),
                    "{format} of {name}: {sentence}"
                );
            }
        }
    }
}

/// A page has these phrases in this order.
fn assert_in_order(name: &str, page: &str, phrases: impl IntoIterator<Item = String>) {
    let mut rest = page;
    for phrase in phrases {
        let phrase = words(&phrase);
        let at = rest.find(&phrase);
        let at = at.unwrap_or_else(|| panic!("{name} does not say, or too early: {phrase}"));
        rest = &rest[at + phrase.len()..];
    }
}

fn performance(format: &str, row: &Row) -> String {
    let Row {
        rank,
        target,
        throughput,
        cpu,
        pss_peak,
        ..
    } = row;
    let (p50, p99) = (&row.p50.value, &row.p99.value);
    let interval = row.interval.as_deref().unwrap_or_default();
    match format {
        "text" => {
            let spread = row.spread.as_deref().unwrap_or_default();
            let spread = spread.trim_matches(['±', '%', ' ']);
            format!("{rank} {target} {throughput} {spread} {cpu} {pss_peak} {p50} {p99}")
        }
        "markdown" => {
            let interval = row.interval.iter().map(|interval| format!(" ({interval})"));
            let interval: String = interval.collect();
            let rank = match rank.as_str() {
                "–" => "not ranked".to_owned(),
                rank => format!("rank {rank}"),
            };
            format!("{rank}: {target} {throughput} requests/s{interval}, p50 {p50}")
        }
        _ => {
            let tag = match throughput.starts_with('≥') {
                true => "generator-limited",
                false => "",
            };
            format!("{rank} {target} {tag} {throughput} {interval} {cpu} {pss_peak} {p50} {p99}")
        }
    }
}

#[test]
fn the_rows_of_a_load_point_are_in_every_format_in_order() {
    for Case { name, view, .. } in cases::all() {
        for (format, page) in shown(view) {
            let rows = capacities(view).flat_map(|group| &group.rows);
            let rows = rows.map(|row| performance(format, row));
            assert_in_order(&format!("{format} of {name}"), &page, rows);
        }
    }
}

#[test]
fn the_rows_of_open_loops_are_in_every_format_in_order() {
    let row = |table: &LatencyTable| -> Vec<String> {
        let rows = table.rows.iter().map(|row| {
            let times = row.response.iter().map(|time| &*time.value);
            let times: Vec<&str> = times.collect();
            (row, times)
        });
        let rows = rows.map(|(row, times)| {
            let (offered, achieved) = (&row.offered, &row.achieved);
            format!(
                "{} {} {offered} {achieved} {}",
                row.lead,
                row.target,
                times.join(" ")
            )
        });
        rows.collect()
    };
    let mut seen = 0;
    for Case { name, view, .. } in cases::all() {
        let [(format, page), ..] = shown(view);
        let rows = latencies(view)
            .flat_map(|latency| &latency.tables)
            .flat_map(row);
        let rows: Vec<String> = rows.collect();
        seen += rows.len();
        assert_in_order(&format!("{format} of {name}"), &page, rows);
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn a_page_has_a_row_for_every_trial_and_for_all_that_a_stack_used() {
    for Case { name, view, .. } in cases::all() {
        let [.., (_, page)] = shown(view);
        for group in capacities(view) {
            let used = group.rows.iter().map(|row| {
                let cpu = row.cpu_interval.as_deref().unwrap_or_default();
                let [voluntary, involuntary] = &row.switches;
                let [minor, major] = &row.faults;
                format!(
                    "{} {} {cpu} {} {} {} {} {voluntary} {involuntary} {minor} {major} {}",
                    row.target,
                    row.cpu,
                    row.cores,
                    row.pss_idle,
                    row.pss_mean,
                    row.pss_peak,
                    row.ready
                )
            });
            assert_in_order(name, &page, used);
        }
        for group in view.groups() {
            let trials = group.cells.iter().flat_map(|cell| {
                let row = |trial: &TrialDetail| {
                    format!(
                        "{} {} {} {} {} {} {} {} {} {}",
                        cell.target,
                        trial.block,
                        trial.throughput,
                        trial.p50,
                        trial.p99,
                        trial.cpu,
                        trial.pss_peak,
                        trial.failed,
                        trial.verdict,
                        trial.flags.join(" ")
                    )
                };
                cell.trials.iter().map(row).collect::<Vec<_>>()
            });
            assert_in_order(name, &page, trials);
            let pairs = group.pairs.iter().map(|pair| {
                let (faster, slower) = (&pair.faster, &pair.slower);
                let (ratio, interval, p) = (&pair.ratio, &pair.interval, &pair.p_adjusted);
                format!("{faster} {slower} {ratio} {interval} {p} {}", pair.verdict)
            });
            assert_in_order(name, &page, pairs);
        }
    }
}

#[test]
fn pages_have_every_block_every_start_up_and_every_void_cell() {
    for Case { name, view, .. } in cases::all() {
        let parts = |texts: &[&String]| texts.iter().map(|text| words(text)).collect::<Vec<_>>();
        let mut rows = Vec::new();
        for point in view.course.iter().flat_map(|course| &course.points) {
            rows.extend(point.blocks.iter().map(|row| {
                let null: &[_] = if point.is_open {
                    &[]
                } else {
                    &[&row.null_server, &row.null_ratio]
                };
                let rest = [&row.stacks, &row.counted, &row.void, &row.repetitions];
                let rest = [&rest[..], &[&row.failed, &row.left_out]].concat();
                parts(&[&[&row.block, &row.began], null, &rest].concat()).join(" ")
            }));
        }
        if let Some(startup) = &view.startup {
            let rest = startup.rows.iter();
            rows.extend(rest.map(|row| format!("{} {}", row.target, row.ready)));
            rows.extend(
                startup
                    .rows
                    .iter()
                    .map(|row| format!("{} {}", row.range, row.starts)),
            );
        }
        if let Some(void) = &view.lost.void {
            rows.extend(void.rows.iter().map(|row| {
                let then = [&row.blocks, &row.other_cpu, &row.steal, &row.then];
                parts(&[&[&row.target, &row.at, &row.trials], &then[..]].concat()).join(" ")
            }));
        }
        for cause in &view.lost.causes {
            rows.push(cause.title.clone());
            let met = cause.stacks.iter().flat_map(|met| &met.places);
            rows.extend(met.cloned());
        }
        rows.push(view.lost.summary.clone());
        let [_, pages @ ..] = shown(view);
        for (format, page) in pages {
            for row in &rows {
                assert!(page.contains(&words(row)), "{format} of {name}: {row}");
            }
        }
    }
}

#[test]
fn a_page_says_of_each_trial_how_steady_it_was() {
    for Case { name, view, .. } in cases::all() {
        let [.., (_, page)] = shown(view);
        let points = view.series.iter().flat_map(|series| &series.points);
        let stacks = points.flat_map(|point| &point.stacks);
        let rows = stacks.flat_map(|stack| {
            stack.trials.iter().map(|trial| {
                let aside = trial.aside.as_deref().unwrap_or_default();
                let (change, error) = (&trial.change, &trial.standard_error);
                let (block, bound) = (&trial.block, &trial.bound);
                format!(
                    "{block} {change} {error} {bound} {} {aside}",
                    trial.steadiness
                )
            })
        });
        assert_in_order(name, &page, rows);
    }
}

#[test]
fn markdown_has_the_raw_figures_of_a_trial_of_each_cell() {
    for Case { name, view, .. } in cases::all() {
        let [_, (_, page), _] = shown(view);
        for raw in view.groups().iter().flat_map(|group| &group.cells) {
            for line in raw.raw.iter().flat_map(|raw| &raw.lines) {
                assert!(page.contains(&words(line)), "{name}: {line}");
            }
        }
    }
}

#[test]
fn every_element_of_a_page_is_closed() {
    for Case { name, view, .. } in cases::all() {
        assert_closed(name, &html_with(view, "").unwrap());
    }
}

#[test]
fn json_holds_the_header_the_analysis_and_the_words_of_the_view() {
    for case in cases::all() {
        let (name, view) = (case.name, &case.view);
        let text = json(&case.record, &case.analysis).unwrap();
        let mut report: Value = serde_json::from_str(&text).unwrap();
        let mut is = |field: &str, value: Value| {
            // Numbers as they are read: a float keeps its value, not its last digit, when it is written and read.
            let value: Value = serde_json::from_str(&value.to_string()).unwrap();
            assert!(report[field].take() == value, "{name}: {field}");
        };
        is("header", to_value(&case.record.header).unwrap());
        is("analysis", to_value(&case.analysis).unwrap());
        is("ended", to_value(case.record.end).unwrap());
        is("headline", view.headline.clone().into());
        is("alerts", view.alerts.clone().into());
        is("does_not_show", view.caveats.clone().into());
        let outcomes = view.groups().into_iter().map(|group| {
            serde_json::json!({
                "workload": group.workload,
                "point": group.point,
                "title": group.title,
                "summary": group.summary,
                "dead_heats": group.dead_heats,
                "losses": group.losses,
                "ceiling": group.ceiling,
                "noise": group.noise,
            })
        });
        is("outcomes", outcomes.collect());
    }
}
