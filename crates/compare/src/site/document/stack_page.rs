//! The page of a stack: what it is, its latest ranks, how to repeat its figures, and its history.

use deadheat_document::view::clean;
use deadheat_model::{
    TargetId,
    change::{Aspect, Change},
    figure::{NONE, figure, ratio, ratios, seconds},
};
use minijinja::{Value, context, value::Serde};

use super::{
    super::analysis::{
        Site,
        types::{
            Ends, IndexedSession, RankedFigure, SiteIndex, SitePoint, SiteSession, SiteTimeline,
            StepVerdict,
        },
    },
    badges,
};

/// Letters of a changed value that are shown.
const VALUE: usize = 60;

/// Letters of a commit that are shown.
const COMMIT: usize = 12;

/// What the template of a stack's page shows.
pub(super) fn context(
    sessions: &[SiteSession],
    site: &Site,
    index: &SiteIndex,
    timeline: &SiteTimeline,
) -> Value {
    let target = &timeline.target;
    let has_stack = |session: &&SiteSession| session.stacks.iter().any(|one| one.target == *target);
    let latest = sessions.iter().rfind(has_stack);
    let stack = latest.and_then(|session| session.stacks.iter().find(|one| one.target == *target));
    let commit = latest.and_then(|session| session.commit.as_deref());
    let series: Vec<Value> = timeline
        .series
        .iter()
        .map(|series| {
            let points = series.points.iter().rev();
            let points: Vec<Value> = points.map(|point| self::point(index, point)).collect();
            let last = series
                .points
                .iter()
                .rfind(|point| point.per_second.is_some());
            context! {
                load => series.load.clone(),
                badge => badges::path(site.file(target), &series.load),
                last => last.map(|last| self::point(index, last)),
                points,
            }
        })
        .collect();
    context! {
        title => target.to_string(),
        page => "stack",
        root => "../",
        target => target.to_string(),
        stack => Value::from(Serde(&stack)),
        first_answer => stack.and_then(|one| one.first_answer_seconds).map(time),
        source => latest.and_then(|session| source(session, target)),
        started => latest.map(|session| session.started.get(..10).unwrap_or_default()),
        source_name => format!("stacks/{}", target.stack),
        commit => commit.map(|commit| commit.chars().take(COMMIT).collect::<String>()),
        is_dirty => commit.is_some_and(|commit| commit.ends_with("-dirty")),
        repeat => latest.map(|session| repeat(session, target)),
        whole_command => latest.map(|session| session.command.clone()),
        warning => latest.and_then(|session| session.warnings.first().cloned()),
        lacking => latest.map(|session| lacking(session, target)),
        series,
    }
}

fn time(placed: RankedFigure) -> String {
    let bound = if placed.is_bound { "≤ " } else { "" };
    format!("{bound}{}", seconds(placed.value))
}

/// The address of the stack's sources at the commit that was measured, if it is one of the project's own.
fn source(session: &SiteSession, target: &TargetId) -> Option<String> {
    let commit = session.commit.as_deref()?;
    let commit = commit.strip_suffix("-dirty").unwrap_or(commit);
    let mut stacks = session.stacks.iter();
    let is_own = stacks.any(|one| one.target == *target && one.is_own);
    let repository = env!("CARGO_PKG_REPOSITORY");
    is_own.then(|| format!("{repository}/tree/{commit}/stacks/{}", target.stack))
}

/// The command that repeats the stack's figures.
fn repeat(session: &SiteSession, target: &TargetId) -> String {
    let mut stacks = session.repeat_stack.iter();
    let own = stacks.find(|(one, _)| one == target);
    own.map_or_else(String::new, |(_, command)| command.clone())
}

/// Where the stack has no figure in a session, and why.
fn lacking(session: &SiteSession, target: &TargetId) -> Vec<String> {
    let all = session.absent.iter().map(|one| (one, String::new()));
    let some = session.loads.iter().flat_map(|load| {
        load.absent
            .iter()
            .map(|one| (one, format!("{}: ", load.label)))
    });
    let own = all
        .chain(some)
        .filter(|(absent, _)| absent.target == *target);
    own.map(|(absent, load)| clean(&format!("{load}{}", absent.reason)))
        .collect()
}

fn point(index: &SiteIndex, point: &SitePoint) -> Value {
    let session = &index.sessions[point.session];
    let step = point.step.as_ref();
    // Of another kind of machine, everything differs.
    let is_new_machine = step.is_none()
        && point
            .changes
            .iter()
            .any(|one| one.aspect == Aspect::Machine);
    let reasons = point.changes.iter();
    let reasons = reasons.filter(|one| !is_new_machine || one.aspect != Aspect::Machine);
    let reasons: Vec<Change> = reasons.cloned().collect();
    let ratio = step.and_then(|step| step.ratio).map(in_words);
    context! {
        day => day(session),
        id => session.id.clone(),
        since => step.map(|step| index.sessions[step.since].id.clone()),
        per_second => point.per_second.map_or(NONE.to_owned(), |ends| {
            let bound = if point.is_bound { "≥ " } else { "" };
            format!("{bound}{}", figure(ends.0))
        }),
        interval => point.per_second.and_then(|Ends(_, low, high)| Some(format!("{}–{}", figure(low?), figure(high?)))),
        rank => point.rank.map(|(best, worst, of)| if best == worst {
            format!("{best} of {of}")
        } else {
            format!("{best}–{worst} of {of}")
        }),
        is_new_machine,
        verdict => step.map(|step| verdict(step.verdict)),
        tone => step.map(|step| tone(step.verdict)),
        ratio,
        because => step.and_then(|step| step.because.clone()),
        warnings => step.map_or_else(Vec::new, |step| step.warnings.clone()),
        absent => point.absent.as_deref().map(clean),
        changes => changes(&reasons),
    }
}

/// "0.95× (0.93–0.97)".
pub(super) fn in_words(Ends(value, low, high): Ends) -> String {
    let interval = low
        .zip(high)
        .map(|(low, high)| format!(" ({})", ratios(low, high)));
    format!("{}×{}", ratio(value), interval.unwrap_or_default())
}

const fn verdict(verdict: StepVerdict) -> &'static str {
    match verdict {
        StepVerdict::Faster => "faster",
        StepVerdict::Slower => "slower",
        StepVerdict::DeadHeat => "dead heat",
        StepVerdict::Undecided => "undecided",
        StepVerdict::NotCompared => "not compared",
    }
}

const fn tone(verdict: StepVerdict) -> &'static str {
    match verdict {
        StepVerdict::Faster => "good",
        StepVerdict::Slower => "bad",
        _ => "",
    }
}

/// The day of a session.
fn day(session: &IndexedSession) -> &str {
    session.started.get(..10).unwrap_or(&session.started)
}

/// Changes in words: "go 1.25 → 1.26", "kernel 6.1 → 6.2".
pub(super) fn changes(changes: &[Change]) -> Vec<String> {
    let value = |value: &Option<String>| match value {
        Some(text) if text.chars().count() > VALUE => {
            text.chars().take(VALUE).chain(['…']).collect()
        }
        Some(text) if !text.is_empty() => text.clone(),
        _ => NONE.to_owned(),
    };
    let shown = changes.iter().filter(|one| one.aspect != Aspect::Selection);
    shown
        .map(|one| {
            clean(&format!(
                "{} {} → {}",
                one.what,
                value(&one.before),
                value(&one.after)
            ))
        })
        .collect()
}
