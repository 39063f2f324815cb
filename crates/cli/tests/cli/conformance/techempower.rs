//! Faults in the workloads of the pack `techempower`, one for each of its rules.

use super::{Fault, Patch, fault, fortunes::ESCAPES_NOTHING};

tests! {
    a_world_that_is_kept,
    the_same_world_for_each_request,
    several_worlds_by_one_statement,
    more_worlds_than_500,
    a_number_of_worlds_that_is_no_number,
    updates_that_are_not_written,
    updates_that_change_nothing,
    an_answer_without_a_server_header,
    an_answer_without_a_date_header,
    a_date_that_stands_still,
    a_template_that_escapes_nothing,
}

/// A variable for a row.
const KEPT: Patch = (
    "techempower.go",
    "type message struct {",
    "var keptWorld *world\n\ntype message struct {",
);

fn a_world_that_is_kept() -> Fault {
    let patches = [
        KEPT,
        (
            "techempower.go",
            "\trespondJSON(w, http.StatusOK, found)",
            "\tif keptWorld == nil {\n\t\tkeptWorld = &found\n\t}\n\trespondJSON(w, http.StatusOK, keptWorld)",
        ),
    ];
    let rule = ["GET /techempower/db: rows are read for each request (all were changed"];
    fault("te-db", &patches, &rule)
}

fn the_same_world_for_each_request() -> Fault {
    let same = (
        "techempower.go",
        "readWorld(ctx, t.pool, randomID())",
        "readWorld(ctx, t.pool, 7)",
    );
    let rule = [
        "GET /techempower/db: rows are chosen at random for each request: expected ids that differ, got the same ids in 4 \
         answers",
    ];
    fault("te-db", &[same], &rule)
}

fn several_worlds_by_one_statement() -> Fault {
    let patches = [
        (
            "techempower.go",
            "\tfor i, id := range randomIDs(count) {\n\t\tif worlds[i], err = readWorld(ctx, connection, id); err != nil {\n\
             \t\t\treturn nil, err\n\t\t}\n\t}\n\treturn worlds, nil",
            "\trows, _ := connection.Query(ctx, \"select id, randomnumber from world where id = any($1)\", randomIDs(count))\n\
             \treturn pgx.CollectRows(rows, pgx.RowToStructByPos[world])",
        ),
        ("techempower.go", "\tworlds := make([]world, count)\n", ""),
    ];
    let rule = [
        "each row is read by a statement of its own",
        "expected 80 statements that read, 0 that write, 0 rows written, got PostgreSQL counted 4, 0 and 0",
    ];
    fault("te-queries", &patches, &rule)
}

fn more_worlds_than_500() -> Fault {
    let more = (
        "techempower.go",
        "return min(max(count, 1), maxWorlds)",
        "return max(count, min(1, maxWorlds))",
    );
    let rule = [
        "GET /techempower/queries?queries=501: the number of rows is 1 to 500",
        "expected an array of 500 objects",
    ];
    fault("te-queries", &[more], &rule)
}

fn a_number_of_worlds_that_is_no_number() -> Fault {
    let refused = (
        "techempower.go",
        "\tif err != nil {\n\t\treturn 1\n\t}",
        "\tif err != nil {\n\t\treturn 2\n\t}",
    );
    let rule = [
        "GET /techempower/cached-queries?count=foo: the number of rows is 1 to 500",
        "expected an array of 1 object",
    ];
    fault("te-cached-queries", &[refused], &rule)
}

fn updates_that_are_not_written() -> Fault {
    let unwritten = (
        "techempower.go",
        "t.pool.Exec(ctx, updateWorlds, ids, numbers)",
        "t.pool.Exec(ctx, updateWorlds, ids[:1], numbers[:1])",
    );
    let rule = [
        "GET /techempower/updates?queries=20: the table has the numbers of an answer when it comes",
    ];
    fault("te-updates", &[unwritten], &rule)
}

fn updates_that_change_nothing() -> Fault {
    let unchanged = (
        "techempower.go",
        "\t\tworlds[i].RandomNumber = randomID()\n",
        "",
    );
    let rule = ["an update writes other numbers than before: expected 20 changed rows, got 0"];
    fault("te-updates", &[unchanged], &rule)
}

fn an_answer_without_a_server_header() -> Fault {
    let unnamed = (
        "techempower.go",
        "\t\tw.Header().Set(\"Server\", \"net/http\")\n",
        "",
    );
    let rule = [
        "GET /techempower/json: every answer has the headers that the suite asks for: expected a Server header, got none",
    ];
    fault("te-json", &[unnamed], &rule)
}

fn an_answer_without_a_date_header() -> Fault {
    let undated = (
        "techempower.go",
        "\t\tw.Header().Set(\"Server\", \"net/http\")\n",
        "\t\tw.Header().Set(\"Server\", \"net/http\")\n\t\tw.Header()[\"Date\"] = nil\n",
    );
    let rule = ["GET /techempower/plaintext: every answer has a Date header"];
    fault("te-plaintext", &[undated], &rule)
}

fn a_date_that_stands_still() -> Fault {
    let kept = (
        "techempower.go",
        "\t\tw.Header().Set(\"Server\", \"net/http\")\n",
        "\t\tw.Header().Set(\"Server\", \"net/http\")\n\t\tw.Header().Set(\"Date\", started)\n",
    );
    let started = (
        "techempower.go",
        "type message struct {",
        "var started = time.Now().UTC().Format(http.TimeFormat)\n\ntype message struct {",
    );
    let import = (
        "techempower.go",
        "\t\"strconv\"\n",
        "\t\"strconv\"\n\t\"time\"\n",
    );
    let rule = ["GET /techempower/plaintext: the Date header is of the answer's own time"];
    fault("te-plaintext", &[kept, started, import], &rule)
}

fn a_template_that_escapes_nothing() -> Fault {
    let rule = [
        "GET /techempower/fortunes: the answer is right",
        "got markup in a cell, where all text must be escaped: `<script>` after ``",
    ];
    fault("te-fortunes", &ESCAPES_NOTHING, &rule)
}
