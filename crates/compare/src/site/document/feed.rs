//! The Atom feed (RFC 4287): the latest sessions, and each change of a stack's throughput in them that is proven.

use deadheat_model::figure::{capital, counted};
use minijinja::{Value, context};

use super::super::analysis::{
    Site,
    session::minute,
    types::{IndexedSession, SiteIndex, SiteTimeline, StepVerdict},
};
use super::{
    fragment,
    stack_page::{changes, in_words},
};

/// Entries of the feed at most.
const ENTRIES: usize = 200;

/// What the template of the feed shows, the newest first.
pub(super) fn context(site: &Site, index: &SiteIndex, timelines: &[SiteTimeline]) -> Value {
    let mut entries: Vec<(usize, Value)> = Vec::new();
    for (place, session) in index.sessions.iter().enumerate().rev() {
        entries.push((place, of_session(session)));
        for timeline in timelines {
            entries.extend(of_stack(site, index, timeline, place).map(|entry| (place, entry)));
        }
    }
    entries.truncate(ENTRIES);
    let entries: Vec<Value> = entries.into_iter().map(|(_, entry)| entry).collect();
    let updated = index.sessions.last().map(|session| session.started.clone());
    // Each site has an id of its own, which stays when sessions are added.
    let first = index.sessions.first();
    let id = first.map(|first| format!("urn:deadheat:site:{}:{}", first.id, first.started));
    context! { id, entries, updated }
}

/// When a session started: several may be of one day.
fn time(session: &IndexedSession) -> String {
    format!("{} UTC", minute(&session.started))
}

fn of_session(session: &IndexedSession) -> Value {
    let absent = match session.absent {
        0 => String::new(),
        absent => format!(", {absent} without any figure"),
    };
    context! {
        id => format!("urn:deadheat:{}", session.id),
        title => format!("Session of {}: {}", time(session), counted(session.stacks, "stack")),
        updated => session.started.clone(),
        link => format!("index.html#session={}", fragment(&session.id)),
        text => format!("{}: {} at {}{absent}.", session.machine, counted(session.stacks, "stack"), counted(session.loads.len(), "load")),
    }
}

/// The proven changes of a stack in the session at this place.
fn of_stack(
    site: &Site,
    index: &SiteIndex,
    timeline: &SiteTimeline,
    place: usize,
) -> impl Iterator<Item = Value> {
    let session = &index.sessions[place];
    let target = &timeline.target;
    let series = timeline.series.iter();
    series.filter_map(move |series| {
        let point = series.points.iter().find(|point| point.session == place)?;
        let step = point.step.as_ref()?;
        let word = match step.verdict {
            StepVerdict::Faster => "faster",
            StepVerdict::Slower => "slower",
            _ => return None,
        };
        let since = &index.sessions[step.since];
        let reasons = changes(&point.changes);
        let reasons = if reasons.is_empty() {
            "no version or condition is known to have changed".to_owned()
        } else {
            format!("what changed: {}", reasons.join("; "))
        };
        let warnings = step.warnings.iter().map(|warning| format!(" {warning}"));
        let load = &series.load;
        Some(context! {
            id => format!("urn:deadheat:{}:{}:{load}", session.id, site.file(target)),
            title => format!("{target} is {word} at {load}"),
            updated => session.started.clone(),
            link => format!(
                "compare.html#a={0}&sa={1}&b={0}&sb={2}",
                fragment(&target.to_string()), fragment(&since.id), fragment(&session.id)
            ),
            text => format!(
                "{} of {} is {word} than that of {}: {} as many requests/s, relative to stacks that did not change; \
                 {reasons}.{}",
                capital(&target.to_string()), time(session), time(since),
                step.ratio.map_or_else(String::new, in_words), warnings.collect::<String>()
            ),
        })
    })
}
