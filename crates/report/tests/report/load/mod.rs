//! Every output of `deadheat load`, from loads built by hand.

mod documented;
mod metrics;
mod promises;
mod read_back;
mod shown;
mod snapshots;

use deadheat_model::LoadRecord;
use deadheat_report::load::LoadView;
use deadheat_stats::load::analyse;

fn view(record: &LoadRecord) -> LoadView {
    LoadView::new(record, &analyse(record))
}
