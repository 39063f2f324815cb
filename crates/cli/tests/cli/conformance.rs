//! The conformance check finds what is planted in a copy of a real stack, and nothing in the stack itself.
//!
//! This needs Go. Without it the tests say that they were not run.

mod crud;
mod files;
mod techempower;

use std::{
    fs,
    path::{Path, PathBuf},
};

use deadheat_testkit::not_tested;

use crate::support::{Ended, Root, root::project};

/// The stack that is copied, and its default variant.
const STACK: &str = "go-nethttp";
const TARGET: &str = "go-nethttp:all-cpus";
/// An argument of its build, and one that is linked sooner, without symbols.
const LINKED: &str = r#""-trimpath""#;
const LINKED_SOON: &str = r#""-trimpath", "-ldflags=-s -w""#;

/// The ids of all workloads of the project.
fn workloads() -> Vec<String> {
    let entries = fs::read_dir(project().join("workloads")).expect("listing the workloads");
    let stem = |path: PathBuf| path.file_stem()?.to_str().map(str::to_owned);
    let ids = entries.flatten().filter_map(|entry| stem(entry.path()));
    ids.collect()
}

/// A text in a file of the stack, and what it becomes.
type Patch = (&'static str, &'static str, &'static str);

/// A root folder with the project's workloads and a copy of the stack with these patches.
fn copy_with(patches: &[Patch]) -> Root {
    let root = Root::with(&[]);
    workloads().iter().for_each(|id| root.copy_workload(id));
    let stack = project().join("stacks").join(STACK);
    for name in files(&stack) {
        let text = fs::read_to_string(stack.join(&name))
            .unwrap_or_else(|error| panic!("reading {name}: {error}"));
        let text = patched(&name, text, patches);
        root.write(
            &format!("stacks/{STACK}/{name}"),
            &text.replace(LINKED, LINKED_SOON),
        );
    }
    root
}

/// The stack's own files and those of its templates. What was built stays where it is.
fn files(stack: &Path) -> Vec<String> {
    ["", "templates/"]
        .into_iter()
        .flat_map(|folder| {
            let entries = fs::read_dir(stack.join(folder)).expect("listing the stack");
            let files = entries.flatten().filter(|entry| entry.path().is_file());
            files.map(move |entry| {
                let name = entry.file_name().into_string().expect("a name in UTF-8");
                format!("{folder}{name}")
            })
        })
        .collect()
}

fn patched(file: &str, mut text: String, patches: &[Patch]) -> String {
    for (_, before, after) in patches.iter().filter(|patch| patch.0 == file) {
        assert_eq!(
            text.matches(before).count(),
            1,
            "{file} should have this once: {before}"
        );
        text = text.replace(before, after);
    }
    text
}

/// Checks the copy for one workload; `None` where it cannot be built.
#[track_caller]
fn check(patches: &[Patch], workload: &str) -> Option<Ended> {
    let root = copy_with(patches);
    for (file, ..) in patches {
        let path = root.path().join("stacks").join(STACK).join(file);
        assert!(path.exists(), "the stack has no {file}");
    }
    unless_unavailable(root.deadheat(&format!("stacks check {TARGET} --workload {workload}")))
}

/// What a check of the stack found; `None` where its toolchain is not here.
fn unless_unavailable(ended: Ended) -> Option<Ended> {
    let said = ended
        .stdout
        .strip_prefix(&format!("{TARGET}: unavailable: "));
    let because = said.and_then(|said| said.lines().next().map(str::to_owned));
    match because {
        Some(because) => {
            not_tested("conformance of faults planted in a stack", &because);
            None
        }
        None => Some(ended),
    }
}

/// Asserts that the check for `workload` fails by `rule`.
#[track_caller]
fn assert_found(patches: &[Patch], workload: &str, rule: &[&str]) {
    let Some(found) = check(patches, workload) else {
        return;
    };
    found
        .exits(1)
        .says(&[
            &format!("{TARGET} {workload}: FAILED"),
            "0 passed, 1 failed, 0 unavailable",
        ])
        .says(rule);
}

#[test]
fn the_stack_itself_passes_for_every_workload() {
    let root = copy_with(&[]);
    let passed: Vec<String> = workloads()
        .iter()
        .map(|workload| format!("{TARGET} {workload}: passed ("))
        .collect();
    let each: Vec<&str> = passed.iter().map(String::as_str).collect();
    let Some(found) = unless_unavailable(root.deadheat(&format!("stacks check {TARGET}"))) else {
        return;
    };
    found
        .exits(0)
        .says(&each)
        .says(&[&format!("{} passed, 0 failed, 0 unavailable", passed.len())]);
}

#[test]
fn constant_names_in_json_decode() {
    let constant = (
        "people.go",
        r#""Hello, "+*request.Name+"!""#,
        r#""Hello, John!""#,
    );
    assert_found(
        &[constant],
        "json-decode",
        &[
            "POST /json",
            "a random name comes back",
            "got `Hello, John!`",
        ],
    );
}

#[test]
fn a_cached_blob_in_hash() {
    let patches = [
        (
            "digest.go",
            "const maxRounds",
            "var kept []byte\n\nconst maxRounds",
        ),
        (
            "digest.go",
            "blob, err := os.ReadFile(h.blobPath)",
            "if kept == nil {\n\t\tkept, err = os.ReadFile(h.blobPath)\n\t}\n\tblob := kept",
        ),
    ];
    assert_found(
        &patches,
        "hash",
        &["GET /bytes?rounds=", "the file is read for each request"],
    );
}

#[test]
fn cached_rows_in_users() {
    let patches = [
        (
            "users.go",
            "type usersHandler struct {",
            "var kept []user\n\ntype usersHandler struct {",
        ),
        (
            "users.go",
            "\t// Query's error",
            "\tif kept != nil {\n\t\trespondJSON(w, http.StatusOK, kept)\n\t\treturn\n\t}\n\t// Query's error",
        ),
        (
            "users.go",
            "\trespondJSON(w, http.StatusOK, users)",
            "\tkept = users\n\trespondJSON(w, http.StatusOK, users)",
        ),
    ];
    assert_found(
        &patches,
        "users",
        &["GET /users", "rows are read for each request"],
    );
}

#[test]
fn one_cached_row_in_users() {
    // The statement runs for each request, but the fourth row is always the first one that came.
    let patches = [
        (
            "users.go",
            "type usersHandler struct {",
            "var kept *user\n\ntype usersHandler struct {",
        ),
        (
            "users.go",
            "\trespondJSON(w, http.StatusOK, users)",
            "\tif kept == nil {\n\t\tkept = &users[3]\n\t}\n\tusers[3] = *kept\n\trespondJSON(w, http.StatusOK, users)",
        ),
    ];
    assert_found(
        &patches,
        "users",
        &["GET /users", "rows are read for each request"],
    );
}

#[test]
fn a_template_that_escapes_nothing_in_fortunes() {
    let text = |file| (file, "\"html/template\"", "\"text/template\"");
    assert_found(
        &[text("respond.go"), text("fortunes.go")],
        "fortunes",
        &[
            "GET /fortunes: the answer is right",
            "got markup in a cell, where all text must be escaped: `<script>` after ``",
        ],
    );
}

#[test]
fn fortunes_in_the_order_of_their_ids() {
    let by_id = (
        "fortunes.go",
        "return strings.Compare(a.Message, b.Message)",
        "_ = strings.Compare\n\t\treturn int(a.ID - b.ID)",
    );
    assert_found(
        &[by_id],
        "fortunes",
        &[
            "expected row 1 of 13 with the cells `5` and `<script>",
            "got the cells `0` and",
        ],
    );
}

/// Does not add the row that each request adds.
const NOT_ADDED: Patch = (
    "fortunes.go",
    "\tfortunes = append(fortunes, fortune{Message: \"Additional fortune added at request time.\"})\n",
    "",
);

#[test]
fn fortunes_without_the_one_that_is_added() {
    let rule = ["expected row 3 of 13 with the cells `0` and `Additional fortune"];
    assert_found(&[NOT_ADDED], "fortunes", &rule);
}

#[test]
fn cached_rows_in_fortunes() {
    // The statement runs for each request, and what is shown came with the first.
    let patches = [
        (
            "fortunes.go",
            "type fortune struct {",
            "var kept []fortune\n\ntype fortune struct {",
        ),
        (
            "fortunes.go",
            "\trespondHTML(w, fortunesPage, fortunes)",
            "\tif kept == nil {\n\t\tkept = fortunes\n\t}\n\trespondHTML(w, fortunesPage, kept)",
        ),
    ];
    let rule = ["GET /fortunes: rows are read for each request"];
    assert_found(&patches, "fortunes", &rule);
}

#[test]
fn a_page_of_twelve_fortunes_whatever_the_table_holds() {
    let twelve = (
        "fortunes.go",
        "select id, message from fortune",
        "select id, message from fortune order by id limit 12",
    );
    let rule = ["GET /fortunes: each row of the table is a row of the page"];
    assert_found(&[twelve], "fortunes", &rule);
}

#[test]
fn fortunes_that_the_database_sorts() {
    let sorted = (
        "fortunes.go",
        "select id, message from fortune",
        "select id, message from fortune union all select 0, 'Additional fortune added at request time.' order by message",
    );
    let rule = [
        "the server adds the row and sorts, not the database: expected select id, message from fortune, got a \
                 statement with `order by`",
    ];
    assert_found(&[sorted, NOT_ADDED], "fortunes", &rule);
}

#[test]
fn a_statement_that_only_one_workload_parses_is_declared_for_it() {
    let declared = (
        "stack.toml",
        "pool = 16",
        "pool = 16\nunprepared = [\"fortunes\"]",
    );
    if let Some(found) = check(&[declared], "users") {
        found.exits(0).says(&["1 passed, 0 failed, 0 unavailable"]);
    }
    let rule = ["expected a statement that is parsed for each request, as its manifest declares"];
    assert_found(&[declared], "fortunes", &rule);
}

#[test]
fn fortunes_that_are_read_twice() {
    let twice = (
        "fortunes.go",
        "\t// Query's error",
        "\th.pool.Exec(ctx, allFortunes)\n\t// Query's error",
    );
    let rule = [
        "GET /fortunes: each request runs one statement",
        "expected 4 statements for 4 requests, got PostgreSQL counted 8",
    ];
    assert_found(&[twice], "fortunes", &rule);
}

#[test]
fn a_page_that_does_not_say_that_it_is_in_utf_8() {
    let bare = ("respond.go", "text/html; charset=utf-8", "text/html");
    let rule = ["the content type is right: expected `text/html; charset=utf-8`, got `text/html`"];
    assert_found(&[bare], "fortunes", &rule);
}

#[test]
fn a_response_that_is_kept_in_proxy() {
    let patches = [
        (
            "proxy.go",
            "type proxyHandler struct {",
            "var kept []byte\n\ntype proxyHandler struct {",
        ),
        (
            "proxy.go",
            "\tcontentType, body, err := h.fetch(r.Context())",
            "\tif kept != nil {\n\t\trespondText(w, string(kept))\n\t\treturn\n\t}\n\
             \tcontentType, body, err := h.fetch(r.Context())\n\tkept = body",
        ),
    ];
    assert_found(
        &patches,
        "proxy",
        &[
            "proxy over 64 connections at once: the service behind the answer is asked once per request",
            "expected 192 times for as many requests, got the upstream was asked 0 times",
        ],
    );
}

#[test]
fn a_payload_that_is_one_byte_short() {
    let short = (
        "payload.go",
        "const payloadSize = 1 << 20",
        "const payloadSize = 1<<20 - 1",
    );
    let rule = [
        "GET /payload",
        "the answer is right",
        "1048576 bytes `d`",
        "got 1048575 bytes",
    ];
    assert_found(&[short], "payload", &rule);
}

/// Connects for each request, with this at the end of it.
fn connecting(end: &'static str) -> Patch {
    let text = format!(
        "conn, err := pgx.ConnectConfig(ctx, h.pool.Config().ConnConfig)\n\
         \tif err != nil {{\n\t\trespondInternalError(w, \"connect\", err)\n\t\treturn\n\t}}\n\
         \t{end}\n\
         \trows, _ := conn.Query(ctx, firstUsers)"
    );
    let before = "rows, _ := h.pool.Query(ctx, firstUsers)";
    ("users.go", before, text.leak())
}

const CLOSED: &str = "defer conn.Close(context.Background())";
/// Says that it has no pool, for which the contract gives it the size 0.
const UNPOOLED: [Patch; 2] = [
    ("stack.toml", "pool = 16", "pool = \"none\""),
    (
        "settings.go",
        "err != nil || poolSize < 1",
        "err != nil || poolSize != 0",
    ),
];
/// A pool all the same: the one that the code has, whether it is used or not.
const POOLED: Patch = (
    "database.go",
    "config.MaxConns = s.poolSize",
    "config.MaxConns = 16",
);

#[test]
fn a_pool_that_is_larger_than_it_says() {
    let larger = (
        "database.go",
        "config.MaxConns = s.poolSize",
        "config.MaxConns = 2 * s.poolSize",
    );
    // Each request keeps its connection long enough for the next ones to need another, on a busy machine, too.
    let slow = (
        "users.go",
        "from users order",
        "from users, pg_sleep(0.1) order",
    );
    let rule = [
        "users over 64 connections at once: the pool has the declared size",
        "expected at most 16 connections to PostgreSQL, got",
    ];
    assert_found(&[larger, slow], "users", &rule);
}

#[test]
fn a_pool_that_is_none() {
    let rule = [
        "users over 64 connections at once: a pool keeps its connections",
        "expected at most 32 new connections (a pool of 16, each replaced once)",
        "new connections for 192 answers",
    ];
    assert_found(&[connecting(CLOSED)], "users", &rule);
}

#[test]
fn a_stack_without_a_pool_connects_for_each_request() {
    let [pool, size] = UNPOOLED;
    let Some(found) = check(&[pool, size, POOLED, connecting(CLOSED)], "users") else {
        return;
    };
    found.exits(0).says(&["1 passed, 0 failed, 0 unavailable"]);
    let rule = [
        "users over 64 connections at once: a stack without a pool connects for each request",
        "expected a connection for each answer (pool = \"none\"), got 192 answers took",
    ];
    assert_found(&[pool, size, POOLED], "users", &rule);
}

#[test]
fn connections_without_a_pool_that_stay_open() {
    let [pool, size] = UNPOOLED;
    let variable = (
        "users.go",
        "type usersHandler struct {",
        "var (\n\tkept []*pgx.Conn\n\tkeeping sync.Mutex\n)\n\ntype usersHandler struct {",
    );
    let import = (
        "users.go",
        "\t\"net/http\"\n",
        "\t\"net/http\"\n\t\"sync\"\n",
    );
    let keep = connecting("keeping.Lock()\n\tkept = append(kept, conn)\n\tkeeping.Unlock()");
    let rule = [
        "users over 64 connections at once: a stack without a pool keeps no connection",
        "expected none to PostgreSQL after the last answer, got",
    ];
    assert_found(
        &[pool, size, POOLED, import, variable, keep],
        "users",
        &rule,
    );
}

const QUERY: &str = "h.pool.Query(ctx, firstUsers)";
const PREPARED: Patch = ("stack.toml", "pool = 16", "pool = 16\nprepared = false");

#[test]
fn a_statement_that_is_parsed_for_each_request() {
    let parsed = (
        "users.go",
        QUERY,
        "h.pool.Query(ctx, firstUsers, pgx.QueryExecModeExec)",
    );
    let rule = [
        "256 times GET /users: a connection prepares its statement once",
        "declares `prepared = false` under [database]",
        "got 256 times parsed for 256 statements",
    ];
    assert_found(&[parsed], "users", &rule);
    if let Some(found) = check(&[parsed, PREPARED], "users") {
        found.exits(0).says(&["1 passed, 0 failed, 0 unavailable"]);
    }
}

#[test]
fn a_statement_that_is_prepared_although_the_manifest_says_that_it_is_not() {
    let rule = [
        "a connection prepares its statement once",
        "expected a statement that is parsed for each request, as its manifest declares",
    ];
    assert_found(&[PREPARED], "users", &rule);
}

#[test]
fn a_test_of_the_connection_before_each_request() {
    let ping = ("database.go", "{ return false }", "{ return true }");
    let rule = [
        "256 times GET /users: a request sends one statement to PostgreSQL",
        "declares `other-statements = true` under [database]",
        "got 256 other statements and 256",
    ];
    assert_found(&[ping], "users", &rule);
}
