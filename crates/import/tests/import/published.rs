//! The reports in the published comparisons: what is read in them is what was typed into `published/`.

use std::{fs, path::PathBuf};

use deadheat_import::import;
use deadheat_model::{
    PublishedDocument,
    imported::{ImportedReports, RunFigures},
    published::PublishedRow,
};

use crate::support::file;

const DOCUMENTS: [(&str, usize); 5] = [
    ("go-nim-python", 11),
    ("hash-express-vs-cowboy", 8),
    ("payload-go-vs-node", 4),
    ("webstacks-postgres-and-slow-api", 20),
    ("webstacks-postgres-early", 3),
];

fn typed(id: &str) -> PublishedDocument {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../published/{id}.toml"));
    toml::from_str(&fs::read_to_string(path).expect("a published document")).expect("its TOML")
}

fn figures(row: &PublishedRow) -> RunFigures {
    RunFigures {
        seconds: row.seconds,
        complete: row.complete,
        failed: row.failed,
        non_2xx: row.non_2xx,
        requests_per_second: row.requests_per_second,
        mean_ms: row.mean_ms,
        p50_ms: row.p50_ms,
        p99_ms: row.p99_ms,
        max_ms: row.max_ms,
        received_bytes: row.received_bytes,
        body_bytes: row.body_bytes,
        kib_per_second: row.kib_per_second,
        server_cpus: None,
    }
}

/// Each row has one report of its name with its figures, and no report is left.
fn agree(id: &str, typed: &PublishedDocument, imported: &ImportedReports) -> usize {
    let mut left: Vec<_> = imported.runs.iter().collect();
    for table in &typed.table {
        for row in table
            .row
            .iter()
            .filter(|row| row.requests_per_second.is_some())
        {
            let same = |run: &&deadheat_model::imported::Run| {
                run.label.as_deref() == Some(row.name.as_str())
                    && run.figures == figures(row)
                    && run.load.connections == Some(table.connections(row))
            };
            let at = left.iter().position(same);
            let at = at.unwrap_or_else(|| {
                panic!(
                    "{id}: {}: no report of {} has its figures: {left:#?}",
                    table.id, row.name
                )
            });
            left.remove(at);
        }
    }
    assert!(left.is_empty(), "{id}: reports that no row has: {left:#?}");
    imported.runs.len()
}

#[test]
fn every_figure_that_was_typed_is_read_in_the_reports() {
    // The documents themselves, if somebody has them; otherwise what the tools printed of them.
    let documents = std::env::var_os("DEADHEAT_PUBLISHED_SOURCES").map(PathBuf::from);
    for (id, count) in DOCUMENTS {
        let typed = typed(id);
        let text = match &documents {
            None => file(&format!("published/{id}.md")),
            Some(folder) => {
                let (_, name) = typed
                    .source
                    .rsplit_once('(')
                    .expect("the name of the document");
                fs::read_to_string(folder.join(name.trim_end_matches(')'))).expect("the document")
            }
        };
        let imported = import(&[(id.to_owned(), text.into_bytes())], None);
        let imported = imported.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(agree(id, &typed, &imported), count, "{id}");
    }
}

#[test]
fn a_summary_between_prose_is_named_and_not_read() {
    let text = file("published/webstacks-postgres-early.md");
    let imported = import(&[("early".to_owned(), text.into_bytes())], None).expect("three reports");
    assert_eq!(imported.left_out.len(), 3, "{:?}", imported.left_out);
}
