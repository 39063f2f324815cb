//! Every format of every case, in `target/tmp/look-standings`, to look at:
//! `cargo test --workspace --test formats -- --ignored look_at_standings`.

use std::{fs, path::Path};

use deadheat_bench::document as standings;
use deadheat_document::text::{Charset, Screen};

use super::{
    cases::{self, Case},
    recorded,
};

#[test]
#[ignore = "writes files"]
fn look_at_standings() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("look-standings");
    fs::create_dir_all(&folder).unwrap();
    let screen = Screen {
        width: 80,
        colour: false,
        charset: Charset::Unicode,
    };
    let ascii = Screen {
        charset: Charset::Ascii,
        ..screen
    };
    let (record, found) = recorded::session();
    let steered = Case {
        name: "recorded",
        record,
        standings: found,
    };
    for case in cases::all().into_iter().chain([steered]) {
        let view = case.view();
        let formats = [
            ("txt", standings::text(&view, screen)),
            ("ascii.txt", standings::text(&view, ascii)),
            ("full.txt", standings::document(&view).text(screen)),
            ("md", standings::document(&view).markdown()),
            ("csv", standings::csv(&view)),
            (
                "json",
                standings::json(&case.record, &case.standings).unwrap(),
            ),
        ];
        for (ending, text) in formats {
            fs::write(folder.join(format!("{}.{ending}", case.name)), text).unwrap();
        }
        let card = standings::card(&view, None).unwrap();
        fs::write(folder.join(format!("{}.png", case.name)), card).unwrap();
    }
}
