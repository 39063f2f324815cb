//! Pages with the real plotly, in `target/tmp/look`: for people (`cargo test -p deadheat-report -- --ignored look`, then
//! open them), and for the tests in a browser (`crates/report/tests/browser`).

use std::{fs, io::ErrorKind, path::Path};

use deadheat_report::{
    View, csv, html,
    html::{Assets, Contents},
    json, load,
    standings::html as standings_html,
};
use deadheat_stats::analyse;

use crate::{cases, large, load_fixture, over_time, standings};

#[test]
#[ignore = "writes pages of several megabytes"]
fn look() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("look");
    // The page of a case that is no more would be looked at for ever.
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => panic!("{folder:?}: {error}"),
        _ => fs::create_dir_all(&folder).unwrap(),
    }
    let cases = cases::all().map(|case| (case.name, case.record.clone()));
    let mut sessions: Vec<_> = cases.collect();
    sessions.push(("over-time", over_time::session()));
    sessions.push(("to-choose-from", large::to_choose_from()));
    sessions.push(("large", large::large()));
    for (name, record) in sessions {
        let analysis = analyse(&record);
        let view = View::new(&record, &analysis);
        let data = [json(&record, &analysis).unwrap(), csv(&record, &analysis)];
        let page = |assets| html(&view, &contents(&data, assets)).unwrap();
        write(&folder, name, &page(Assets::Inline), &data);
        if name == "plausible" {
            let apart = folder.join("separate");
            fs::create_dir(&apart).unwrap();
            let page = page(Assets::Separate);
            fs::write(apart.join("plausible.html"), page).unwrap();
            let script = apart.join(html::plotly_file());
            fs::write(script, html::plotly_js()).unwrap();
        }
    }
    for (name, view) in standings::views() {
        let contents = standings_html::Contents {
            json: "{}",
            csv: "load\r\n",
        };
        let page = standings_html::html(&view, Some(&contents)).unwrap();
        fs::write(folder.join(format!("heats-{name}.html")), page).unwrap();
    }
    for (name, record) in load_fixture::all() {
        let analysis = deadheat_stats::load::analyse(&record);
        let view = load::LoadView::new(&record, &analysis);
        let data = [
            load::json(&record, &analysis).unwrap(),
            load::csv(&record.intervals),
        ];
        let page = load::html(&view, &contents(&data, Assets::Inline)).unwrap();
        write(&folder, &format!("load-{name}"), &page, &data);
    }
}

fn contents(data: &[String; 2], assets: Assets) -> Contents<'_> {
    let [json, csv] = data;
    Contents { json, csv, assets }
}

/// A page, and beside it the data that is in it.
fn write(folder: &Path, name: &str, page: &str, data: &[String; 2]) {
    let [json, csv] = data;
    for (ending, text) in [("html", page), ("json", json), ("csv", csv)] {
        fs::write(folder.join(format!("{name}.{ending}")), text).unwrap();
    }
}
