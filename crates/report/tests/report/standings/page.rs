//! The page of a session: its structure, its figures, and what it must not have.

use std::time::{Duration, UNIX_EPOCH};

use deadheat_report::{
    StandingsView,
    figure::{bytes, figure, seconds},
    html::{Contents, live::Bar},
    standings::{
        html::{html, live_page},
        view::{LoadView, PairView, RowView, TableView},
        words,
    },
};
use deadheat_stats::standings::Row;
use serde_json::Value;

use super::{cases, views};

fn page(view: &StandingsView) -> String {
    html(view, None).unwrap()
}

/// Every page with its case's name and its view.
fn pages() -> Vec<(&'static str, StandingsView, String)> {
    let with_page = |(name, view): (&'static str, StandingsView)| {
        let page = page(&view);
        (name, view, page)
    };
    views().into_iter().map(with_page).collect()
}

/// What stands between `from` and the first `to` after it.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text
        .find(from)
        .unwrap_or_else(|| panic!("{from} is missing"))
        + from.len();
    let end = text[start..]
        .find(to)
        .unwrap_or_else(|| panic!("{to} is missing after {from}"));
    &text[start..start + end]
}

/// The text of markup, as a reader sees it.
fn plain(markup: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for character in markup.chars() {
        match character {
            '<' => is_tag = true,
            '>' => is_tag = false,
            _ if !is_tag => text.push(character),
            _ => {}
        }
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#x2f;", "/"),
        ("&#x27;", "'"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    entities
        .iter()
        .fold(text, |text, (entity, sign)| text.replace(entity, sign))
}

/// The texts of the cells of each row of a table's body.
fn rows(page: &str, id: &str) -> Vec<Vec<String>> {
    let table = between(page, &format!("<table id=\"{id}\""), "</table>");
    let body = between(table, "<tbody>", "</tbody>");
    let rows = body.split("<tr>").skip(1);
    rows.map(|row| {
        let cells = row.split(['\n']).map(str::trim);
        let cells = cells.filter(|line| line.starts_with("<th") || line.starts_with("<td"));
        cells.map(plain).collect()
    })
    .collect()
}

fn figures_table(load: usize, table: usize) -> String {
    format!("load-{}-{}-figures", load + 1, table + 1)
}

#[test]
fn the_answer_comes_first_and_the_details_last() {
    let (record, standings) = cases::usual();
    let view = StandingsView::new(&record, &standings);
    let page = page(&view);
    let at = |text: &str| {
        page.find(text)
            .unwrap_or_else(|| panic!("{text} is missing"))
    };
    let order = [
        "<h1>18 HTTP stacks, 3 workloads",
        "class=\"answers\"",
        "class=\"trust\"",
        "id=\"warnings\"",
        "id=\"matrix-1\"",
        "<section class=\"load\" id=\"load-1\">",
        "<section class=\"load\" id=\"load-4\">",
        "<section id=\"details\">",
        "id=\"stacks\"",
    ];
    let places: Vec<usize> = order.iter().map(|text| at(text)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(page.matches("<h1>").count(), 1);
    // The id is for programs and for the curious.
    assert!(!page[..at("<section id=\"details\">")].contains(&format!(">{}<", view.id)));
    for load in &view.loads {
        let said = plain(between(&page, "class=\"answers\"", "</ul>"));
        assert!(
            said.contains(&format!("{}.", load.answer())),
            "{}",
            load.answer()
        );
    }
}

#[test]
fn every_warning_is_shown_without_a_click() {
    for (name, view, page) in pages() {
        let mut open = String::new();
        // What is inside an element that the reader has to open is left out.
        for (index, part) in page.split("<details").enumerate() {
            let shown = match index {
                0 => part,
                _ => part.split_once("</details>").map_or("", |(_, after)| after),
            };
            open += shown;
        }
        let open = plain(&open);
        for warning in &view.warnings {
            assert!(open.contains(&warning.text), "{name}: {}", warning.text);
        }
        assert!(open.contains(&view.trust.line), "{name}");
    }
}

#[test]
fn a_figure_without_a_verdict_has_a_hatched_bar_and_the_legend_says_why() {
    for (name, view, page) in pages() {
        let rows = || view.loads.iter().flat_map(LoadView::rows);
        let unknown = rows().any(|row| row.main.is_some() && row.share_of_best.is_none());
        assert_eq!(page.contains("class=\"bar unknown\""), unknown, "{name}");
        assert_eq!(page.contains("hatched bar: no verdict"), unknown, "{name}");
        assert!(!page.contains("<i style=\"width:0%\">"), "{name}");
    }
}

#[test]
fn every_link_leads_somewhere_and_every_id_is_there_once() {
    for (name, _, page) in pages() {
        let ids: Vec<&str> = page
            .split(" id=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap())
            .collect();
        let unique: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{}: {ids:?}", name);
        for link in page.split("href=\"#").skip(1) {
            let link = link.split('"').next().unwrap();
            assert!(unique.contains(link), "{}: #{link}", name);
        }
    }
}

#[test]
fn the_matrix_has_the_view_s_figures() {
    for (name, view, page) in pages().into_iter().filter(|(name, ..)| *name != "hostile") {
        for group in view
            .loads
            .iter()
            .flat_map(|load| &load.tables)
            .map(|table| table.group)
        {
            let id = if group.yardsticks {
                "matrix-yardsticks".to_owned()
            } else {
                format!("matrix-{}", group.cpus)
            };
            let shown = rows(&page, &id);
            let mut looked_at = 0;
            let has_group = |load: &LoadView| load.tables.iter().any(|table| table.group == group);
            for (column, load) in view.loads.iter().filter(|load| has_group(load)).enumerate() {
                let table = load
                    .tables
                    .iter()
                    .find(|table| table.group == group)
                    .unwrap();
                for row in &table.rows {
                    let cells = shown.iter().find(|cells| cells[0] == row.target).unwrap();
                    let main = row.main.unwrap();
                    let value =
                        words::placed(Some(&main), |value| words::main(load.measure, value));
                    let share = words::percent(row.share_of_best.unwrap());
                    let rank = words::rank(main.rank);
                    let expected = format!("{value}{share}{rank}");
                    let cell = cells[column + 1].replace(['†', '~'], "");
                    assert_eq!(cell, expected, "{}: {} at {}", name, row.target, load.name);
                    looked_at += 1;
                }
            }
            assert!(looked_at > 0, "{}", name);
        }
    }
}

/// The cell of a stack at the first load, and the legend, after its row was changed.
fn marked(change: impl Fn(&mut Row)) -> (String, String) {
    let (record, mut standings) = cases::few();
    change(&mut standings.loads[0].tables[0].rows[1]);
    let page = page(&StandingsView::new(&record, &standings));
    let cell = rows(&page, "matrix-1")[1][1].clone();
    (cell, plain(between(&page, "id=\"matrix-1\"", "</section>")))
}

#[test]
fn a_lower_bound_is_marked_before_its_figure() {
    let (cell, legend) = marked(|row| row.throughput_per_second.is_bound = true);
    assert!(cell.starts_with("≥ 115,000"), "{cell}");
    assert!(legend.contains("≥ at least: the load generator was the limit"));
}

#[test]
fn what_failed_has_a_dagger() {
    let failed: [fn(&mut Row); 2] = [
        |row| row.failures = vec!["it exited".to_owned()],
        |row| row.failed_requests = row.answers / 500,
    ];
    for change in failed {
        let (cell, legend) = marked(change);
        assert!(cell.starts_with("115,000†"), "{cell}");
        assert!(legend.contains("† failed in some heats, or failed requests"));
    }
    let (cell, legend) = marked(|row| row.failed_requests = row.answers / 2_000);
    assert!(!cell.contains('†') && !legend.contains('†'), "{cell}");
}

#[test]
fn what_was_not_steady_in_most_heats_has_a_tilde() {
    let (cell, legend) = marked(|row| row.unsteady_heats = row.heats / 2 + 1);
    assert!(cell.starts_with("115,000~"), "{cell}");
    assert!(legend.contains("~ not steady after its warm-up"));
    let (cell, legend) = marked(|row| row.unsteady_heats = row.heats / 2);
    assert!(!cell.contains('~') && !legend.contains('~'), "{cell}");
}

#[test]
fn a_stack_that_lacks_a_load_says_so_in_its_place() {
    let (mut record, mut standings) = cases::usual();
    // It has figures at the other loads.
    let users = &mut standings.loads[2];
    for table in &mut users.tables {
        table
            .rows
            .retain(|row| row.target.to_string() != "nim-mummy");
    }
    record.header.plan.loads[2].targets.clear();
    let page = page(&StandingsView::new(&record, &standings));
    let shown = rows(&page, "matrix-1");
    let cells = shown.iter().find(|cells| cells[0] == "nim-mummy").unwrap();
    assert_eq!(cells[3], "failed");
    let notes = between(&page, "id=\"load-3-notes\"", "</div>");
    assert!(notes.contains("signal 11"), "{notes}");
}

fn has(cells: &[String], text: &str) -> bool {
    cells
        .iter()
        .any(|cell| cell == text || cell.starts_with(&format!("{text} ")))
}

/// The texts that the full table must have of a row.
fn expected(load: &LoadView, row: &RowView) -> Vec<String> {
    let main = row.main.as_ref();
    let [p50, p99] = [row.p50_seconds, row.p99_seconds];
    let [p50, p99] = [p50, p99].map(|time| words::placed(time.as_ref(), seconds));
    let times = match row.mean_seconds {
        // Percentiles of a closed loop are beside the mean.
        Some(mean) => vec![format!("{} mean; p50 {p50}, p99 {p99}", seconds(mean))],
        None => vec![p50, p99],
    };
    let figures = vec![
        words::placed(main, |value| words::main(load.measure, value)),
        words::rank(main.and_then(|main| main.rank)),
        words::placed(row.cpu_us_per_request.as_ref(), words::cost),
        words::memory(row.memory.peak_bytes),
        words::time(row.ready_seconds),
        words::time(row.warm_up_seconds),
        figure(row.throughput_per_second.value),
    ];
    [figures, times].concat()
}

#[test]
fn the_full_tables_have_the_view_s_figures_in_the_view_s_order() {
    for (name, view, page) in pages().into_iter().filter(|(name, ..)| *name != "hostile") {
        for (place, load) in view.loads.iter().enumerate() {
            for (number, table) in load.tables.iter().enumerate() {
                let shown = rows(&page, &figures_table(place, number));
                let names: Vec<&String> = shown.iter().map(|cells| &cells[0]).collect();
                let known: Vec<&String> = table.rows.iter().map(|row| &row.target).collect();
                assert_eq!(names, known, "{}", name);
                for (row, cells) in table.rows.iter().zip(&shown) {
                    let is_bound = row.main.is_some_and(|main| main.is_bound);
                    for text in expected(load, row) {
                        let found =
                            has(cells, &text) || (is_bound && has(cells, &format!("≥ {text}")));
                        assert!(found, "{}: {text} of {} in {cells:?}", name, row.target);
                    }
                    if let Some(behind) = row.main.and_then(|main| main.behind) {
                        let verdict = words::verdict(words::quantity(load.measure), &behind);
                        assert!(has(cells, &verdict), "{}: {verdict} in {cells:?}", name);
                    }
                }
            }
        }
    }
}

/// What is drawn beside each baseline, as the page has it.
fn layouts(page: &str, load: usize) -> Value {
    let from = format!("id=\"load-{}-1-layouts\">", load + 1);
    serde_json::from_str(between(page, &from, "</script>")).unwrap()
}

/// The ratio of a row to a baseline, from the view's pairs.
fn ratio(table: &TableView, row: usize, baseline: usize) -> f64 {
    let is = |pair: &&PairView, better, worse| (pair.better, pair.worse) == (better, worse);
    let find = |better, worse| {
        let pair = table.pairs.iter().find(|pair| is(pair, better, worse));
        pair.and_then(|pair| pair.ratio)
    };
    let inverse = || find(baseline, row).map(|ratio| 1.0 / ratio);
    find(row, baseline).or_else(inverse).unwrap()
}

/// A ratio as the plot writes it, if it is neither small nor next to 1.
fn times(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 10.0 => format!("{}×", figure(ratio)),
        ratio if ratio >= 0.1 => format!("{ratio:.2}×"),
        ratio => format!("{ratio:.3}×"),
    }
}

#[test]
fn beside_each_baseline_every_ratio_is_the_view_s() {
    let (record, standings) = cases::usual();
    let view = StandingsView::new(&record, &standings);
    let page = page(&view);
    for (place, load) in view.loads.iter().enumerate() {
        let layouts = layouts(&page, place);
        let table = &load.tables[0];
        assert_eq!(layouts.as_array().unwrap().len(), table.rows.len());
        for baseline in 0..table.rows.len() {
            for row in 0..table.rows.len() {
                let shown = layouts[baseline]["rows"][row][2].as_str().unwrap();
                let expected = if row == baseline {
                    "1×".to_owned()
                } else {
                    times(ratio(table, row, baseline))
                };
                assert_eq!(
                    shown, expected,
                    "{} beside {baseline}",
                    table.rows[row].target
                );
            }
        }
        // What is drawn before any script runs is the first of them.
        let section = between(
            &page,
            &format!("<section class=\"load\" id=\"load-{}\">", place + 1),
            "<script",
        );
        for row in layouts[0]["rows"].as_array().unwrap() {
            let text = row[2].as_str().unwrap();
            assert!(section.contains(&format!(">{text}</text>")), "{text}");
        }
    }
}

#[test]
fn a_stack_has_one_colour_on_the_whole_page() {
    let (record, standings) = cases::usual();
    let view = StandingsView::new(&record, &standings);
    let page = page(&view);
    let drawn = page.split("<g class=\"row ").skip(1);
    let mut colours = std::collections::BTreeMap::new();
    for row in drawn {
        let class = row.split([' ', '"']).next().unwrap();
        let title = between(row, "<title>", "</title>");
        let name = plain(title).split(": ").next().unwrap().to_owned();
        if class != "k0" || name == "nginx-static" {
            let known = colours.entry(name.clone()).or_insert(class);
            assert_eq!(*known, class, "{name}");
        }
    }
    // The stacks, and the null server in the course.
    assert_eq!(colours.len(), 19);
}

#[test]
fn names_and_reasons_are_text_wherever_they_stand() {
    for (name, view, page) in pages() {
        for own in [
            "<script>alert",
            "<img",
            "<b>work",
            "href=\"javascript:",
            "\u{202e}",
            "\u{1b}",
        ] {
            assert!(!page.contains(own), "{}: {own}", name);
        }
        let boards: usize = view.loads.iter().map(|load| load.tables.len()).sum();
        assert_eq!(page.matches("</script>").count(), boards + 1, "{}", name);
        assert_eq!(page.matches("<style>").count(), 1, "{}", name);
        for (place, load) in view
            .loads
            .iter()
            .enumerate()
            .filter(|(_, load)| !load.tables.is_empty())
        {
            assert!(layouts(&page, place).is_array(), "{}: {}", name, load.name);
        }
    }
}

#[test]
fn a_page_needs_nothing_else() {
    for (name, _, page) in pages() {
        for outside in [
            "src=\"",
            "href=\"http",
            "@import",
            "url(\"",
            "url(h",
            "plotly",
            "'self'",
        ] {
            assert!(
                !page.to_lowercase().contains(outside),
                "{}: {outside}",
                name
            );
        }
        assert_eq!(page.matches("default-src 'none'").count(), 1, "{}", name);
    }
}

#[test]
fn a_page_is_light() {
    let weight = |(record, standings): (_, _)| page(&StandingsView::new(&record, &standings)).len();
    assert!(
        weight(cases::usual()) < 400_000,
        "{}",
        weight(cases::usual())
    );
    // 30 stacks at 8 loads are 240 rows and 3,480 pairs.
    assert!(
        weight(cases::thirty()) < 1_500_000,
        "{}",
        weight(cases::thirty())
    );
}

#[test]
fn a_page_has_its_data_and_says_its_weight() {
    let (record, standings) = cases::few();
    let view = StandingsView::new(&record, &standings);
    let contents = Contents {
        json: "{\"schema\":2}",
        csv: "load,stack\r\n",
    };
    let page = html(&view, Some(&contents)).unwrap();
    assert_eq!(page.matches("<script type=\"application/gzip\"").count(), 2);
    let weight = format!("This page weighs {},", bytes(page.len() as f64));
    assert!(page.contains(&weight), "{weight}");
}

#[test]
fn what_needs_a_script_is_not_offered_without_one() {
    let (record, standings) = cases::usual();
    let page = page(&StandingsView::new(&record, &standings));
    for select in page.split("<select").skip(1).map(|rest| &rest[..40]) {
        assert!(
            select.contains("data-layouts") || select.contains("id=\"budget\""),
            "{select}"
        );
    }
    let choosers = page.matches("class=\"choosers\"").count();
    assert_eq!(page.matches("class=\"choosers\" hidden>").count(), choosers);
    let buttons = page.matches("<button").count();
    assert_eq!(
        page.matches("<button type=\"button\" disabled>").count(),
        buttons
    );
}

#[test]
fn only_a_session_without_a_good_end_says_how_it_ended() {
    let says = |(_, view, page): &(&str, StandingsView, String)| {
        between(page, "<header>", "</header>").contains(words::state(view.state))
    };
    let said: Vec<&str> = pages()
        .iter()
        .filter(|page| says(page))
        .map(|(name, ..)| *name)
        .collect();
    assert_eq!(said, ["no-heats", "two-heats", "all-failed"]);
}

#[test]
fn a_live_page_has_what_the_file_has_and_reloads_itself() {
    let (record, standings) = cases::usual();
    let bar = Bar {
        status: "running: heat 3 of at most 20 (<b>)".to_owned(),
        title: "3/20".to_owned(),
        heats: 3,
        of: 20,
        written: UNIX_EPOCH + Duration::from_millis(1_234),
        next: Duration::from_secs(7),
    };
    let live = live_page(&StandingsView::running(&record, &standings), &bar).unwrap();
    let file = page(&StandingsView::new(&record, &standings));
    let main = |page: &str| between(page, "<main", "<footer>").to_owned();
    assert_eq!(main(&live), main(&file));
    for own in [
        "location.reload",
        "data-written=\"1234\" data-next=\"7000\"",
        "sessionStorage",
        "aria-label=\"Heats\"",
    ] {
        assert!(live.contains(own), "{own}");
        assert!(!file.contains(own), "{own}");
    }
    assert!(live.contains("heat 3 of at most 20 (&lt;b&gt;)"));
    assert!(!live.contains("src=") && !live.contains("connect-src"));
}

#[test]
fn the_course_has_a_dot_for_each_heat_of_each_stack_and_of_the_null_server() {
    for (name, view, page) in pages() {
        for (place, load) in view.loads.iter().enumerate() {
            if let [table] = &load.tables[..] {
                let dots: usize = table.rows.iter().map(|row| row.course.len()).sum();
                let dots = dots + load.ceiling_course.len();
                let own = format!("<section class=\"load\" id=\"load-{}\">", place + 1);
                let section = between(&page, &own, "</section>");
                if load.heats < 3 {
                    assert!(!section.contains("class=\"course\""), "{name}");
                    continue;
                }
                let course = between(section, "<details class=\"course\">", "</details>");
                assert_eq!(course.matches("h0").count(), dots, "{name}, {}", load.title);
                let null_server = between(course, "<g class=\"row null\">", "</g>");
                let own = null_server.matches("h0").count();
                assert_eq!(own, load.ceiling_course.len(), "{name}");
            }
        }
    }
}
