//! Faults in the page of fortunes of a copy of the stack.

use super::{Fault, Patch, fault, no_fault};

tests! {
    a_template_that_escapes_nothing_in_fortunes,
    fortunes_in_the_order_of_their_ids,
    fortunes_without_the_one_that_is_added,
    cached_rows_in_fortunes,
    a_page_of_twelve_fortunes_whatever_the_table_holds,
    fortunes_that_the_database_sorts,
    users_that_are_prepared_while_fortunes_are_declared_not_to_be,
    fortunes_that_are_prepared_although_the_manifest_says_that_they_are_not,
    fortunes_that_are_read_twice,
    a_page_that_does_not_say_that_it_is_in_utf_8,
}

/// The package of Go that escapes no HTML, in all files that use the other one.
pub(super) const ESCAPES_NOTHING: [Patch; 2] = [
    ("respond.go", "\"html/template\"", "\"text/template\""),
    ("fortunes.go", "\"html/template\"", "\"text/template\""),
];

fn a_template_that_escapes_nothing_in_fortunes() -> Fault {
    let rule = [
        "GET /fortunes: the answer is right",
        "got markup in a cell, where all text must be escaped: `<script>` after ``",
    ];
    fault("fortunes", &ESCAPES_NOTHING, &rule)
}

fn fortunes_in_the_order_of_their_ids() -> Fault {
    let by_id = (
        "fortunes.go",
        "return strings.Compare(a.Message, b.Message)",
        "_ = strings.Compare\n\t\treturn int(a.ID - b.ID)",
    );
    let rule = [
        "expected row 1 of 13 with the cells `5` and `<script>",
        "got the cells `0` and",
    ];
    fault("fortunes", &[by_id], &rule)
}

/// Does not add the row that each request adds.
const NOT_ADDED: Patch = (
    "fortunes.go",
    "\tfortunes = append(fortunes, fortune{Message: \"Additional fortune added at request time.\"})\n",
    "",
);

fn fortunes_without_the_one_that_is_added() -> Fault {
    let rule = ["expected row 3 of 13 with the cells `0` and `Additional fortune"];
    fault("fortunes", &[NOT_ADDED], &rule)
}

/// The statement runs for each request, and what is shown came with the first.
fn cached_rows_in_fortunes() -> Fault {
    let patches = [
        (
            "fortunes.go",
            "type fortune struct {",
            "var keptFortunes []fortune\n\ntype fortune struct {",
        ),
        (
            "fortunes.go",
            "\trespondHTML(w, fortunesPage, fortunes)",
            "\tif keptFortunes == nil {\n\t\tkeptFortunes = fortunes\n\t}\n\trespondHTML(w, fortunesPage, keptFortunes)",
        ),
    ];
    let rule = ["GET /fortunes: rows are read for each request"];
    fault("fortunes", &patches, &rule)
}

fn a_page_of_twelve_fortunes_whatever_the_table_holds() -> Fault {
    let twelve = (
        "fortunes.go",
        "select id, message from fortune",
        "select id, message from fortune order by id limit 12",
    );
    let rule = ["GET /fortunes: each row of the table is a row of the page"];
    fault("fortunes", &[twelve], &rule)
}

fn fortunes_that_the_database_sorts() -> Fault {
    let sorted = (
        "fortunes.go",
        "select id, message from fortune",
        "select id, message from fortune union all select 0, 'Additional fortune added at request time.' order by message",
    );
    let rule = [
        "the server adds the row and sorts, not the database: expected select id, message from fortune, got a \
                 statement with `order by`",
    ];
    fault("fortunes", &[sorted, NOT_ADDED], &rule)
}

/// Declares statements of this workload alone as parsed for each request.
const UNPREPARED: Patch = (
    "stack.toml",
    "pool = 16",
    "pool = 16\nunprepared = [\"fortunes\"]",
);

fn users_that_are_prepared_while_fortunes_are_declared_not_to_be() -> Fault {
    no_fault("users", &[UNPREPARED])
}

fn fortunes_that_are_prepared_although_the_manifest_says_that_they_are_not() -> Fault {
    let rule = ["expected a statement that is parsed for each request, as its manifest declares"];
    fault("fortunes", &[UNPREPARED], &rule)
}

fn fortunes_that_are_read_twice() -> Fault {
    let twice = (
        "fortunes.go",
        "\t// Query's error",
        "\th.pool.Exec(ctx, allFortunes)\n\t// Query's error",
    );
    let rule = [
        "GET /fortunes: each request runs one statement",
        "expected 4 statements for 4 requests, got PostgreSQL counted 8",
    ];
    fault("fortunes", &[twice], &rule)
}

fn a_page_that_does_not_say_that_it_is_in_utf_8() -> Fault {
    let bare = ("respond.go", "text/html; charset=utf-8", "text/html");
    let rule = ["the content type is right: expected `text/html; charset=utf-8`, got `text/html`"];
    fault("fortunes", &[bare], &rule)
}
