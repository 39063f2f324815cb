//! What repeats published tables.

use std::path::Path;

use deadheat_model::{
    TargetId,
    load::{HttpVersion, Reuse},
    published::RepeatedRow,
};
use deadheat_runner::manifest::{Catalogue, PublishedSelection, Repetition, load, repeat};

use super::{published, root, stack, workload};

fn catalogue() -> Catalogue {
    let variants = "\n[[variant]]\nid = \"one\"\ndescription = \"one\"\n\
                    \n[[variant]]\nid = \"two\"\ndescription = \"two\"\n";
    let no_text = stack("go-b", "").replace(
        "runtime = \"native\"",
        "runtime = \"native\"\nworkloads = [\"other\"]",
    );
    let rows = "\n[[table.row]]\nname = \"C\"\ntarget = \"go-a:two\"\nconnections = 20\nno-figures = \"it hung\"\n\
                \n[[table.row]]\nname = \"D\"\ntarget = \"go-b\"\nrequests-per-second = 5\n\
                \n[[table.row]]\nname = \"E\"\ntarget = \"go-none\"\nrequests-per-second = 5\n";
    let other = published("wiki", "").replace("id = \"table\"", "id = \"same-load\"");
    let root = root(&[
        ("stacks/go-a/stack.toml", &stack("go-a", variants)),
        ("stacks/go-b/stack.toml", &no_text),
        ("workloads/text.toml", &workload("text", "")),
        ("workloads/other.toml", &workload("other", "")),
        ("published/blog.toml", &published("blog", rows)),
        ("published/wiki.toml", &other),
    ]);
    load(root.path(), &[]).unwrap()
}

fn asked(documents: &[&str], workloads: &[&str], stacks: &[&str]) -> Result<Repetition, String> {
    let owned = |globs: &[&str]| globs.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (documents, workloads, stacks) = (owned(documents), owned(workloads), owned(stacks));
    let asked = PublishedSelection {
        documents: &documents,
        workloads: &workloads,
        stacks: &stacks,
        server_cpus: 2,
    };
    repeat(&catalogue(), asked).map_err(|error| error.to_string())
}

fn cells(repetition: &Repetition) -> Vec<String> {
    repetition.cells.iter().map(ToString::to_string).collect()
}

#[test]
fn every_row_gets_its_cell_or_a_reason() {
    let found = asked(&[], &[], &[]).unwrap();
    // The two documents have the same load for the same stack: it is measured once.
    let expected = [
        "go-a:one text c10-http1.0-close",
        "go-a:two text c20-http1.0-close",
    ];
    assert_eq!(cells(&found), expected);
    let rows: Vec<String> = found.tables[0]
        .rows
        .iter()
        .map(|row| match row {
            RepeatedRow::Asked { cell } => cell.to_string(),
            RepeatedRow::LeftOut { reason } => reason.clone(),
        })
        .collect();
    let expected = [
        "go-a:one text c10-http1.0-close",
        "go-a:one text c10-http1.0-close",
        "go-a:two text c20-http1.0-close",
        "go-b does not answer it",
        "the stack go-none does not exist here",
    ];
    assert_eq!(rows, expected);
    let workloads = &found.selection.workloads;
    let points: Vec<&str> = workloads[0]
        .points
        .iter()
        .map(|one| one.id.as_str())
        .collect();
    assert_eq!(workloads.len(), 1);
    assert_eq!(points, ["c10-http1.0-close", "c20-http1.0-close"]);
    let sending = workloads[0].points[0].sending;
    assert_eq!(
        (sending.http, sending.reuse),
        (HttpVersion::Http10, Reuse::PerRequest)
    );
}

#[test]
fn a_stack_that_reads_no_chunks_is_not_sent_any() {
    let no_chunks = format!("{}\n[http]\nchunked-bodies = false\n", stack("go-a", ""));
    let chunked = published("blog", "").replace(
        "reuse = \"per-request\"",
        "reuse = \"per-request\"\nbodies = \"chunked\"",
    );
    let rows = "\n[[table.row]]\nname = \"C\"\ntarget = \"go-c\"\nrequests-per-second = 5\n";
    let root = root(&[
        ("stacks/go-a/stack.toml", &no_chunks),
        ("stacks/go-c/stack.toml", &stack("go-c", "")),
        ("workloads/text.toml", &workload("text", "")),
        ("published/blog.toml", &format!("{chunked}{rows}")),
    ]);
    let all = PublishedSelection {
        documents: &[],
        workloads: &[],
        stacks: &[],
        server_cpus: 2,
    };
    let found = repeat(&load(root.path(), &[]).unwrap(), all).unwrap();
    assert_eq!(cells(&found), ["go-c text c10-http1.0-close-chunked"]);
    let reason = "go-a reads no request bodies in chunks".to_owned();
    assert_eq!(found.tables[0].rows[0], RepeatedRow::LeftOut { reason });
}

#[test]
fn where_all_cpus_are_one_another_variant_stands_for_a_row() {
    let variants = "\n[[variant]]\nid = \"one\"\ndescription = \"one\"\n\
                    \n[[variant]]\nid = \"all\"\ndescription = \"all\"\ncpus = 2\n";
    let all = "target = \"go-a:all\"\ntarget-on-one-cpu = \"go-a:one\"";
    let blog = published("blog", "").replacen("target = \"go-a\"", all, 1);
    let root = root(&[
        ("stacks/go-a/stack.toml", &stack("go-a", variants)),
        ("workloads/text.toml", &workload("text", "")),
        ("published/blog.toml", &blog),
    ]);
    let catalogue = load(root.path(), &[]).unwrap();
    let first = |server_cpus: usize, stacks: &[String]| {
        let asked = PublishedSelection {
            documents: &[],
            workloads: &[],
            stacks,
            server_cpus,
        };
        let found = repeat(&catalogue, asked).unwrap();
        found.tables[0].rows[0]
            .cell()
            .map(|cell| cell.target.to_string())
    };
    assert_eq!(first(1, &[]).as_deref(), Some("go-a:one"));
    assert_eq!(first(2, &[]).as_deref(), Some("go-a:all"));
    // The variant that stands for it is the one that can be asked for.
    assert_eq!(first(2, &["go-a:one".to_owned()]), None);
}

#[test]
fn globs_restrict() {
    let found = asked(&["wiki"], &[], &[]).unwrap();
    assert_eq!(found.tables.len(), 1);
    let found = asked(&["*:same-*"], &[], &[]).unwrap();
    assert_eq!(found.tables[0].document, "wiki");
    let found = asked(&[], &["text:*c20*"], &[]).unwrap();
    assert_eq!(cells(&found), ["go-a:two text c20-http1.0-close"]);
    // A table of which nothing is asked for is left out; of others the rest of the rows stays, with the reason.
    assert_eq!(found.tables.len(), 1);
    let left_out = RepeatedRow::LeftOut {
        reason: "not asked for in this session".to_owned(),
    };
    assert_eq!(found.tables[0].rows[0], left_out);
    let found = asked(&[], &[], &["go-a:two"]).unwrap();
    assert_eq!(
        found.selection.targets,
        [TargetId::new("go-a", Some("two"))]
    );
}

#[test]
fn what_matches_nothing_is_told() {
    let error = asked(&["blag"], &[], &[]).unwrap_err();
    assert_eq!(
        error,
        "no published document matches `blag`: there are `blog`, `wiki`"
    );
    let error = asked(&[], &["json"], &["rust-*"]).unwrap_err();
    assert!(
        error.contains("no workload of a published table matches `json`: there are `text`"),
        "{error}"
    );
    assert!(
        error.contains("no stack of a published table matches `rust-*`"),
        "{error}"
    );
    let error = asked(&[], &[], &["go-none"]).unwrap_err();
    assert_eq!(
        error,
        "no published table has a row with a stack that is here"
    );
    let error = asked(&["{"], &[], &[]).unwrap_err();
    assert!(error.contains("is not a valid glob"), "{error}");
}

#[test]
fn the_projects_own_documents_are_those_that_there_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let catalogue = load(&root, &[]).unwrap();
    let rows = |id: &str| {
        let document = catalogue.published.iter().find(|one| one.id == id).unwrap();
        let rows = document.table.iter().map(|table| table.row.len());
        rows.collect::<Vec<_>>()
    };
    assert_eq!(catalogue.published.len(), 5);
    let documents = catalogue.published.iter();
    let tables = documents.flat_map(|document| &document.table);
    for row in tables.flat_map(|table| &table.row) {
        let target = &row.target;
        assert!(catalogue.stack(target).is_some(), "there is no {target}");
    }
    assert_eq!(rows("go-nim-python"), [4, 4, 4]);
    assert_eq!(rows("hash-express-vs-cowboy"), [2, 2, 2, 2]);
    assert_eq!(rows("payload-go-vs-node"), [2, 2]);
    assert_eq!(rows("webstacks-postgres-and-slow-api"), [9, 7, 5]);
    assert_eq!(rows("webstacks-postgres-early"), [3]);
    // The sums of all rates, as printed, added up by hand.
    let sum = |id: &str| {
        let document = catalogue.published.iter().find(|one| one.id == id).unwrap();
        let rows = document.table.iter().flat_map(|table| &table.row);
        rows.filter_map(|row| row.requests_per_second).sum::<f64>()
    };
    assert!((sum("webstacks-postgres-early") - 14_291.98).abs() < 0.005);
    assert!((sum("payload-go-vs-node") - 19_534.19).abs() < 0.005);
}
