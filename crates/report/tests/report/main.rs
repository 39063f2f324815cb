//! Every format from sessions built by hand, the ugly ones too.

mod card;
mod cases;
mod compare;
mod course;
mod csv_table;
mod documentation;
#[path = "../../../stats/tests/stats/fixture.rs"]
mod fixture;
mod formats;
mod history;
mod hostile;
mod large;
mod live;
mod load;
#[path = "../../../stats/tests/stats/load_fixture.rs"]
mod load_fixture;
mod look;
mod lost;
mod method;
mod method_cases;
mod over_time;
mod promises;
mod purposes;
mod ratios;
mod schema;
mod shortened;
mod shown;
mod snapshots;
mod standings;
mod terminal;
mod third_party;
