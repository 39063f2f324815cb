//! Every output of `deadheat load`, from loads built by hand.

mod documented;
mod metrics;
mod promises;
mod read_back;
mod shown;
mod snapshots;

use deadheat_document::{Document, text::Screen};
use deadheat_loadtool::{
    analysis::analyse,
    document::{brief, document, html},
};
use deadheat_model::LoadRecord;

fn whole(record: &LoadRecord) -> Document {
    document(record, &analyse(record))
}

fn headline(record: &LoadRecord) -> String {
    whole(record).headline().to_owned()
}

fn text(record: &LoadRecord, width: usize) -> String {
    whole(record).text(Screen::new(width, false))
}

fn first_screen(record: &LoadRecord) -> String {
    brief(record, &analyse(record)).text(Screen::new(80, false))
}

fn page(record: &LoadRecord) -> String {
    html(record, &analyse(record)).unwrap()
}
