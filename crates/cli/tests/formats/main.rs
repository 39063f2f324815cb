//! Every format from records built by hand, the ugly ones too.

mod audit;
mod bisect;
mod capacity;
mod commands;
mod compare;
mod documentation;
mod formats;
mod history;
mod load;
#[path = "../../../loadtool/tests/loadtool/load_fixture.rs"]
mod load_fixture;
mod look;
mod schema;
mod schemas;
mod shortened;
mod standings;
mod third_party;
