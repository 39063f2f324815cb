//! Every format from sessions built by hand, the ugly ones too.

mod cases;
#[path = "../../../stats/tests/stats/fixture.rs"]
mod fixture;
mod hostile;
mod look;
mod promises;
mod snapshots;
