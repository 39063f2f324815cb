//! Pages with the real plotly, in `target/tmp/look`: for people (`cargo test -p deadheat-report -- --ignored look`, then
//! open them), and for the tests in a browser (`crates/report/tests/browser`).

use std::{fs, io::ErrorKind, path::Path};

use deadheat_report::{View, html, load};
use deadheat_stats::analyse;

use crate::{cases, large, load_fixture, over_time};

#[test]
#[ignore = "writes pages of several megabytes"]
fn look() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("look");
    // The page of a case that is no more would be looked at for ever.
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => panic!("{folder:?}: {error}"),
        _ => fs::create_dir_all(&folder).unwrap(),
    }
    let mut sessions = cases::all();
    sessions.push(("odd-names", large::odd_names()));
    sessions.push(("over-time", over_time::session()));
    sessions.push(("to-choose-from", large::to_choose_from()));
    sessions.push(("large", large::large()));
    for (name, record) in sessions {
        let page = html(&View::new(&record, &analyse(&record))).unwrap();
        fs::write(folder.join(format!("{name}.html")), page).unwrap();
    }
    for (name, record) in load_fixture::all() {
        let analysis = deadheat_stats::load::analyse(&record);
        let page = load::html(&load::LoadView::new(&record, &analysis)).unwrap();
        fs::write(folder.join(format!("load-{name}.html")), page).unwrap();
    }
}
