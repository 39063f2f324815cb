//! The page of a session: its structure, its figures, and what it must not have.

use std::time::{Duration, UNIX_EPOCH};

use deadheat_bench::document::{
    html, live_page,
    view::{LoadView, RowView, StandingsView, TableView},
    words,
};
use deadheat_document::html::{Bar, Contents};
use deadheat_model::figure::{bytes, seconds};
use deadheat_stats::{heats::pairs::RankedPair, standings::Row};
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

/// The part of a page below a title, up to the next one.
fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let mut sections = page.split("<section id=\"section-").skip(1);
    let own = sections.find(|part| plain(between(part, "<h2 class=\"plain\">", "</h2>")) == title);
    own.unwrap_or_else(|| panic!("{title} is missing"))
}

/// The texts of the cells of each row of each table.
fn tables(part: &str) -> Vec<Vec<Vec<String>>> {
    let bodies = part.split("<tbody>").skip(1);
    bodies
        .map(|body| {
            let body = body.split("</tbody>").next().unwrap();
            let rows = body.split("<tr>").skip(1);
            rows.map(|row| {
                let cells = row.replace("</th>", "</td>");
                let cells = cells.split("</td>").filter(|cell| cell.contains("<t"));
                cells.map(|cell| plain(cell).trim().to_owned()).collect()
            })
            .collect()
        })
        .collect()
}

#[test]
fn the_answer_comes_first_and_the_details_last() {
    let view = cases::named("usual").view();
    let page = page(&view);
    let at = |text: &str| {
        page.find(text)
            .unwrap_or_else(|| panic!("{text} is missing"))
    };
    let order = [
        "<h1>18 HTTP stacks, 3 workloads",
        "<li>plaintext: nginx-static",
        "<p>14 heats of each stack at each load, ratios known to",
        "class=\"alerts\"",
        "Every stack at every load</h2>",
        "plaintext, 50 connections</h2>",
        "json, 256 connections, the same rate for all</h2>",
        "Limits of this session</h2>",
        ">Stacks</h2>",
    ];
    let places: Vec<usize> = order.iter().map(|text| at(text)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(page.matches("<h1>").count(), 1);
    // The id is for programs and for the curious.
    assert!(!plain(between(&page, "<body>", "Limits of this session</h2>")).contains(&view.id));
    let said = plain(between(&page, "<header", "</header>"));
    for load in view.leading() {
        assert!(said.contains(&load.answer()), "{}", load.answer());
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
            assert!(
                open.contains(&warning.sentence),
                "{name}: {}",
                warning.sentence
            );
        }
        assert!(open.contains(&view.trust), "{name}");
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
fn the_overview_has_the_view_s_figures() {
    for (name, view, page) in pages() {
        if view.leading().count() < 2 || name == "hostile" {
            continue;
        }
        let shown = tables(section(&page, "Every stack at every load"));
        for (column, load) in view.leading().enumerate() {
            for row in &load.tables[0].rows {
                let cells = shown[0].iter().find(|cells| cells[0] == row.target);
                let value = words::main_placed(load.measure, row);
                let cell = cells.unwrap()[column + 1].replace(['†', '~'], "");
                let rank = words::rank(row.main.unwrap().rank);
                assert_eq!(cell, format!("{value} {rank}"), "{name}: {}", row.target);
            }
        }
    }
}

/// The cell of a stack at the first load, and the legend, after its row was changed.
fn marked(change: impl Fn(&mut Row)) -> (String, String) {
    let (record, mut standings) = cases::usual();
    change(&mut standings.loads[1].tables[0].rows[1]);
    let page = page(&StandingsView::new(&record, &standings));
    let overview = section(&page, "Every stack at every load");
    (tables(overview)[0][1][2].clone(), plain(overview))
}

#[test]
fn a_lower_bound_is_marked_before_its_figure() {
    let (cell, legend) = marked(|row| row.throughput_per_second.is_bound = true);
    assert!(cell.starts_with("≥ 93,200"), "{cell}");
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
        assert!(cell.starts_with("93,200†"), "{cell}");
        assert!(legend.contains("† failed in some heats, or failed requests"));
    }
    let (cell, legend) = marked(|row| row.failed_requests = row.answers / 2_000);
    assert!(!cell.contains('†') && !legend.contains('†'), "{cell}");
}

#[test]
fn what_was_not_steady_in_most_heats_has_a_tilde() {
    let (cell, legend) = marked(|row| row.unsteady_heats = row.heats / 2 + 1);
    assert!(cell.starts_with("93,200~"), "{cell}");
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
    let shown = tables(section(&page, "Every stack at every load"));
    let mut rows = shown[0].iter();
    let cells = rows.find(|cells| cells[0] == "nim-mummy").unwrap();
    assert_eq!(cells[3], "failed");
    assert!(section(&page, "users, 100 connections").contains("signal 11"));
}

/// The texts that the tables of a load must have of a row.
fn expected(load: &LoadView, row: &RowView) -> Vec<String> {
    // Beside equal work, percentiles of the closed loop are left out.
    let percentiles = match row.at_rates.first() {
        Some(found) => [found.p99(), found.p99()],
        None => [row.p50_seconds, row.p99_seconds],
    };
    let percentiles = percentiles.map(|time| words::placed(time.as_ref(), seconds));
    let figures = [
        words::main_placed(load.measure, row),
        words::rank(row.main.and_then(|main| main.rank)),
        words::placed(row.cpu_us_per_request.as_ref(), words::cost),
        words::memory(row.memory.peak_bytes),
        words::row_verdict(load.measure, row),
    ];
    figures.into_iter().chain(percentiles).collect()
}

#[test]
fn the_tables_of_a_load_have_the_view_s_figures_in_the_view_s_order() {
    for (name, view, page) in pages().into_iter().filter(|(name, ..)| *name != "hostile") {
        for load in &view.loads {
            let shown = tables(section(&page, &load.title));
            for table in &load.tables {
                let names: Vec<&String> = table.rows.iter().map(|row| &row.target).collect();
                let own: Vec<&Vec<Vec<String>>> = shown
                    .iter()
                    .filter(|rows| rows.iter().map(|cells| &cells[0]).eq(names.iter().copied()))
                    .collect();
                for (place, row) in table.rows.iter().enumerate() {
                    let mut cells = own.iter().flat_map(|rows| &rows[place]);
                    for text in expected(load, row) {
                        let has =
                            |cell: &String| *cell == text || cell.starts_with(&format!("{text} "));
                        let found = cells.clone().any(has);
                        assert!(found, "{name}: {text} of {}", row.target);
                    }
                    assert!(cells.next().is_some());
                }
            }
        }
    }
}

/// What is drawn beside each baseline, as the page has it.
fn layouts(page: &str, load: &LoadView) -> Value {
    let json = "<script type=\"application/json\">";
    serde_json::from_str(between(section(page, &load.title), json, "</script>")).unwrap()
}

/// The ratio of a row to a baseline, from the view's pairs.
fn ratio(table: &TableView, row: usize, baseline: usize) -> f64 {
    let is = |pair: &&RankedPair, better, worse| (pair.better, pair.worse) == (better, worse);
    let find = |better, worse| {
        let pair = table.pairs.iter().find(|pair| is(pair, better, worse));
        pair.and_then(|pair| pair.ratio)
    };
    let inverse = || find(baseline, row).map(|ratio| 1.0 / ratio);
    find(row, baseline).or_else(inverse).unwrap()
}

/// A ratio as the plot writes it, if it is neither small nor next to 1.
fn times(ratio: f64) -> String {
    format!("{}×", deadheat_model::figure::ratio(ratio))
}

#[test]
fn beside_each_baseline_every_ratio_is_the_view_s() {
    let view = cases::named("usual").view();
    let page = page(&view);
    for load in &view.loads {
        let layouts = layouts(&page, load);
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
                let name = &table.rows[row].target;
                assert_eq!(shown, expected, "{name} beside {baseline}");
            }
        }
        // What is drawn before any script runs is the first of them.
        for row in layouts[0]["rows"].as_array().unwrap() {
            let text = row[2].as_str().unwrap();
            let section = section(&page, &load.title);
            assert!(section.contains(&format!("<b>{text}</b>")), "{text}");
        }
    }
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
            assert!(!page.contains(own), "{name}: {own}");
        }
        let tables = view.loads.iter().flat_map(|load| &load.tables);
        let drawn = tables.filter(|table| !table.rows.is_empty()).count();
        assert_eq!(page.matches("</script>").count(), drawn + 1, "{name}");
        assert_eq!(page.matches("<style>").count(), 1, "{name}");
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
    let page = page(&cases::named("usual").view());
    let choosers = page.matches("<select").count();
    assert_eq!(choosers, 4);
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
        between(page, "<header", "</header>").contains(words::state(view.state))
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
        for load in view.loads.iter().filter(|load| load.tables.len() == 1) {
            let dots = load.rows().map(|row| row.series.len()).sum::<usize>();
            let dots = dots + load.null_server_series.len();
            let section = match name {
                "hostile" => &page,
                _ => section(&page, &load.title),
            };
            if load.heats < 3 {
                assert!(!section.contains("class=\"heats\""), "{name}");
                continue;
            }
            let course = between(section, "<summary>Course of the session", "</details>");
            assert_eq!(course.matches("h0").count(), dots, "{name}, {}", load.title);
            assert!(course.contains("null server"), "{name}");
        }
    }
}
