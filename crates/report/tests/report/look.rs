//! Pages to look at: `cargo test -p deadheat-report -- --ignored look`, then open the files it names.

use std::{fs, path::Path};

use deadheat_report::{View, html, load};
use deadheat_stats::analyse;

use crate::{cases, load_fixture};

#[test]
#[ignore = "writes pages of several megabytes"]
fn look() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("look");
    fs::create_dir_all(&folder).unwrap();
    for (name, record) in cases::all() {
        let page = html(&View::new(&record, &analyse(&record))).unwrap();
        fs::write(folder.join(format!("{name}.html")), page).unwrap();
    }
}

#[test]
#[ignore = "writes pages of several megabytes"]
fn look_at_loads() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("look");
    fs::create_dir_all(&folder).unwrap();
    for (name, record) in load_fixture::all() {
        let analysis = deadheat_stats::load::analyse(&record);
        let view = load::LoadView::new(&record, &analysis);
        let page = load::html(&view).unwrap();
        fs::write(folder.join(format!("load-{name}.html")), page).unwrap();
    }
}
