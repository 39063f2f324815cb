//! Pages to look at: `cargo test -p deadheat-report -- --ignored look`, then open the files it names.

use std::{fs, path::Path};

use deadheat_report::{View, html};
use deadheat_stats::analyse;

use crate::cases;

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
