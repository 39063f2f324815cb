//! What is made of what was seen of a member: its flags, its failure in words, and how long its slices should be.

use std::time::Duration;

use deadheat_model::{
    Failure, Observation, SliceResult,
    heat::{HeatPlan, LONGEST_GAP, SliceFlag},
};

use super::MeasuredSlice;

/// A slice has room for so many answers in a row on each connection, …
const ANSWERS: u32 = 20;
/// … but is no longer than this: servers would close the connections of the others meanwhile.
const LONGEST_SLICE: Duration = Duration::from_secs(10);

/// What becomes of a heat's plan for a member whose answers take so long.
pub(crate) fn suited(plan: HeatPlan, answer: Duration) -> HeatPlan {
    HeatPlan {
        slice: plan.slice.max((answer * ANSWERS).min(LONGEST_SLICE)),
        guard: plan.guard.max(answer.min(LONGEST_SLICE)),
        ..plan
    }
}

pub(super) fn wrong_answers(count: u64, observation: &Observation) -> String {
    let example = example(observation, Failure::is_wrong_answer);
    format!("{count} answers under load were wrong{example}")
}

/// A failure of a kind, as the end of a sentence; empty when there is none.
pub(super) fn example(observation: &Observation, is: fn(Failure) -> bool) -> String {
    let mut examples = observation.examples.iter();
    let example = examples.find(|one| is(one.kind));
    let shown =
        example.map(|one| format!(", for example: {}: {}", one.kind.describe(), one.detail));
    shown.unwrap_or_default()
}

/// Why there was no right answer, as the end of a sentence: a failure, or what connections waited for.
pub(super) fn why_silent(observation: &Observation) -> String {
    let unmade = observation.unmade.described();
    let unmade = unmade.filter(|_| is_only_connecting(observation));
    unmade.map_or_else(
        || example(observation, |_| true),
        |unmade| format!(": {unmade}"),
    )
}

/// Whether no request was sent because connections were still being made.
pub(super) fn is_only_connecting(observation: &Observation) -> bool {
    observation.total.issued == 0 && !observation.unmade.is_none()
}

/// Whether more than a tenth of the connections were still being made for the first time when a slice ended. A server may
/// need several slices for its handshakes, and until then only the other connections load it.
pub(super) fn is_connecting(slice: &SliceResult) -> bool {
    let unmade = slice.observation.unmade;
    let have_tcp = slice.observation.answers_per_connection.count();
    slice.reconnected == 0 && unmade.total() * 10 > have_tcp + unmade.connecting
}

/// The failure of a member whose connections are still being made after its warm-up: it is not loaded as the others are.
pub(super) fn made_too_slowly(observation: &Observation) -> Option<String> {
    let unmade = observation.unmade.described()?;
    Some(format!(
        "{unmade} after the warm-up. If the server makes them in the end, choose a longer --warm-up"
    ))
}

/// Whether nothing was sent because no worker of the load generator had a CPU from the beginning to the end of the slice.
pub(super) fn generator_slept(observation: &Observation) -> bool {
    let workers = &observation.workers;
    let slept = !workers.is_empty() && workers.iter().all(|one| one.wall.is_zero());
    slept && observation.total.issued == 0
}

/// About the time of one answer, in a slice of this length. Answers that take longer than it are seen in its drain.
pub(super) fn answer_time(seen: &MeasuredSlice, slice: Duration) -> Duration {
    let observation = &seen.result.observation;
    match (observation.measured.succeeded, observation.total.succeeded) {
        (0, 1..) => slice + seen.result.drained,
        _ => observation.service_time.quantile(0.5).unwrap_or_default(),
    }
}

pub(super) fn flags(seen: &MeasuredSlice, gap: Option<Duration>) -> Vec<SliceFlag> {
    let found = [
        (seen.result.undrained() > 0, SliceFlag::Undrained),
        (seen.result.reconnected > 0, SliceFlag::Reconnected),
        (
            gap.is_some_and(|gap| gap >= LONGEST_GAP),
            SliceFlag::LongGap,
        ),
    ];
    let found = found.into_iter().filter(|(is_so, _)| *is_so);
    found.map(|(_, flag)| flag).collect()
}
