//! Comparisons of loads and the course of sessions, on records built by hand.

mod history;
// Other tests use the rest of it.
#[allow(dead_code)]
#[path = "../../../loadtool/tests/loadtool/load_fixture.rs"]
mod load_fixture;
mod load_records;
#[path = "../../../stats/tests/stats/sessions.rs"]
mod sessions;
