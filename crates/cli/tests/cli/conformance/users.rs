//! Faults in how a copy of the stack reads users: in its rows, its pool and its statements.

use super::{Fault, Patch, fault, no_fault};

tests! {
    cached_rows_in_users,
    one_cached_row_in_users,
    a_pool_that_is_larger_than_it_says,
    a_pool_that_is_none,
    a_stack_without_a_pool_connects_for_each_request,
    a_pool_of_a_stack_that_declares_none,
    connections_without_a_pool_that_stay_open,
    a_statement_that_is_parsed_for_each_request,
    a_statement_that_is_parsed_for_each_request_as_declared,
    a_statement_that_is_prepared_although_the_manifest_says_that_it_is_not,
    a_test_of_the_connection_before_each_request,
}

fn cached_rows_in_users() -> Fault {
    let patches = [
        (
            "users.go",
            "type usersHandler struct {",
            "var keptUsers []user\n\ntype usersHandler struct {",
        ),
        (
            "users.go",
            "\t// Query's error",
            "\tif keptUsers != nil {\n\t\trespondJSON(w, http.StatusOK, keptUsers)\n\t\treturn\n\t}\n\t// Query's error",
        ),
        (
            "users.go",
            "\trespondJSON(w, http.StatusOK, users)",
            "\tkeptUsers = users\n\trespondJSON(w, http.StatusOK, users)",
        ),
    ];
    let rule = ["GET /users", "rows are read for each request"];
    fault("users", &patches, &rule)
}

/// The statement runs for each request, but the fourth row is always the first one that came.
fn one_cached_row_in_users() -> Fault {
    let patches = [
        (
            "users.go",
            "type usersHandler struct {",
            "var keptUser *user\n\ntype usersHandler struct {",
        ),
        (
            "users.go",
            "\trespondJSON(w, http.StatusOK, users)",
            "\tif keptUser == nil {\n\t\tkeptUser = &users[3]\n\t}\n\tusers[3] = *keptUser\n\
             \trespondJSON(w, http.StatusOK, users)",
        ),
    ];
    let rule = ["GET /users", "rows are read for each request"];
    fault("users", &patches, &rule)
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

fn a_pool_that_is_larger_than_it_says() -> Fault {
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
    fault("users", &[larger, slow], &rule)
}

fn a_pool_that_is_none() -> Fault {
    let rule = [
        "users over 64 connections at once: a pool keeps its connections",
        "expected at most 32 new connections (a pool of 16, each replaced once)",
        "new connections for 192 answers",
    ];
    fault("users", &[connecting(CLOSED)], &rule)
}

fn a_stack_without_a_pool_connects_for_each_request() -> Fault {
    let [pool, size] = UNPOOLED;
    no_fault("users", &[pool, size, POOLED, connecting(CLOSED)])
}

fn a_pool_of_a_stack_that_declares_none() -> Fault {
    let [pool, size] = UNPOOLED;
    let rule = [
        "users over 64 connections at once: a stack without a pool connects for each request",
        "expected a connection for each answer (pool = \"none\"), got 192 answers took",
    ];
    fault("users", &[pool, size, POOLED], &rule)
}

fn connections_without_a_pool_that_stay_open() -> Fault {
    let [pool, size] = UNPOOLED;
    let variable = (
        "users.go",
        "type usersHandler struct {",
        "var (\n\tkeptConnections []*pgx.Conn\n\tkeeping sync.Mutex\n)\n\ntype usersHandler struct {",
    );
    let import = (
        "users.go",
        "\t\"net/http\"\n",
        "\t\"net/http\"\n\t\"sync\"\n",
    );
    let keep = connecting(
        "keeping.Lock()\n\tkeptConnections = append(keptConnections, conn)\n\tkeeping.Unlock()",
    );
    let rule = [
        "users over 64 connections at once: a stack without a pool keeps no connection",
        "expected none to PostgreSQL after the last answer, got",
    ];
    fault(
        "users",
        &[pool, size, POOLED, import, variable, keep],
        &rule,
    )
}

/// The statement has no name, so that PostgreSQL parses it each time.
const PARSED: Patch = (
    "users.go",
    "h.pool.Query(ctx, firstUsers)",
    "h.pool.Query(ctx, firstUsers, pgx.QueryExecModeExec)",
);
/// Declares that.
const UNPREPARED: Patch = ("stack.toml", "pool = 16", "pool = 16\nprepared = false");

fn a_statement_that_is_parsed_for_each_request() -> Fault {
    let rule = [
        "256 times GET /users: a connection prepares its statement once",
        "declares `prepared = false` under [database]",
        "got 256 times parsed for 256 statements",
    ];
    fault("users", &[PARSED], &rule)
}

fn a_statement_that_is_parsed_for_each_request_as_declared() -> Fault {
    no_fault("users", &[PARSED, UNPREPARED])
}

fn a_statement_that_is_prepared_although_the_manifest_says_that_it_is_not() -> Fault {
    let rule = [
        "a connection prepares its statement once",
        "expected a statement that is parsed for each request, as its manifest declares",
    ];
    fault("users", &[UNPREPARED], &rule)
}

fn a_test_of_the_connection_before_each_request() -> Fault {
    let ping = ("database.go", "{ return false }", "{ return true }");
    let rule = [
        "256 times GET /users: a request sends one statement to PostgreSQL",
        "declares `other-statements = true` under [database]",
        "got 256 other statements and 256",
    ];
    fault("users", &[ping], &rule)
}
