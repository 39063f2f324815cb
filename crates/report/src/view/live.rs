//! A session that is looked at while it runs.

use deadheat_model::SessionRecord;
use deadheat_stats::Analysis;

use super::{View, alerts, facts};
use crate::figure::counted;

/// That the results so far were served while the session ran, and from when on; `None` when they were not.
pub fn served(record: &SessionRecord) -> Option<String> {
    let beginning = record.header.live.then(|| "its beginning".to_owned());
    let resumed = record.resumed.iter().filter(|one| one.live);
    let resumed = resumed.map(|one| format!("its going on at {}", one.at));
    let since: Vec<String> = beginning.into_iter().chain(resumed).collect();
    (!since.is_empty()).then(|| {
        format!(
            "the results so far were served on 127.0.0.1 from {}; they were drawn between trials alone",
            since.join(", and from ")
        )
    })
}

impl View {
    /// The view of a session that runs: that no end is recorded means nothing yet.
    pub fn running(record: &SessionRecord, analysis: &Analysis) -> Self {
        let mut view = Self::new(record, analysis);
        if record.end.is_some() {
            return view;
        }
        view.alerts.retain(|alert| alert != alerts::KILLED);
        let ended = view.provenance.iter_mut();
        for fact in ended.filter(|fact| fact.name == facts::ENDED) {
            fact.value = format!(
                "not yet: this is what it had found after {}",
                counted(record.trials.len(), "trial")
            );
        }
        view
    }
}
