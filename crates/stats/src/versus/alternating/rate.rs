//! What to know of an open loop: whether both sides kept up with its rate, and whether there were enough requests.

use deadheat_model::{
    HeatRecord,
    comparison::Side,
    figure::{count, percent},
    heat::SliceRecord,
    warning::{Warning, note},
};

use super::figures::slices;
use crate::heats::{
    Settings,
    percentile::{is_carried, needed, of_a_heat},
};

/// A side that answered less than this share of what fell due in its slices did not keep up.
const KEPT_UP: f64 = 0.95;
/// The tail that decides, as a percentile.
const TAIL: f64 = 99.0;

/// What these heats of one load show; of a closed loop nothing.
pub(super) fn notes(heats: &[&HeatRecord]) -> Vec<Warning> {
    let late = Side::BOTH.map(|side| answered(heats, side).filter(|share| *share < KEPT_UP));
    let of_side = |(side, share): (&Side, Option<f64>)| {
        let share = share?;
        let sentence = format!(
            "{side} did not keep up with the rate: it answered {} of it in time, so its response times grow with \
             the length of a slice.",
            percent(share)
        );
        Some(
            note("behind", sentence)
                .with("share", share)
                .with("bound", KEPT_UP),
        )
    };
    let mut notes: Vec<Warning> = Side::BOTH.iter().zip(late).filter_map(of_side).collect();
    if late.iter().all(Option::is_some) {
        let sentence = "The rate is too high for both sides.";
        notes.push(note("both-behind", sentence).advice("Omit it to compare their capacity."));
    }
    notes.extend(too_few(heats));
    notes
}

/// The answers of a side over the requests that fell due, in all its slices; `None`: nothing fell due.
fn answered(heats: &[&HeatRecord], side: Side) -> Option<f64> {
    let own = heats.iter().flat_map(|heat| slices(heat, side));
    let due = |slice: &SliceRecord| Some((slice.tally.answers(), slice.open.as_ref()?.offered));
    let (answers, offered) = own.filter_map(due).fold((0, 0), |(answers, offered), one| {
        (answers + one.0, offered + one.1)
    });
    (offered > 0).then(|| answers as f64 / offered as f64)
}

/// That the heats have too few requests for the tail, if so.
fn too_few(heats: &[&HeatRecord]) -> Option<Warning> {
    let settings = Settings::default();
    let least_of = |heats: &[&HeatRecord]| {
        let of_side = |side| {
            let own = heats.iter().flat_map(|heat| slices(heat, side));
            let counts = own.filter_map(|slice| Some(slice.open.as_ref()?.response_time.count()));
            counts.reduce(|one, other| one + other)
        };
        Side::BOTH.into_iter().filter_map(of_side).min()
    };
    let least = least_of(heats)?;
    let most = heats.iter().filter_map(|heat| least_of(&[*heat])).max()?;
    let of_one = of_a_heat(&settings);
    if !is_carried(TAIL, most, &of_one) {
        let needed = needed(TAIL, &of_one);
        let sentence = format!(
            "The p99 response time is judged from {} answers of each side in a heat on, and no heat has more than {}.",
            count(needed as u64),
            count(most)
        );
        let few = note("few-answers", sentence).with("answers", most);
        let few = few.with("needed", needed);
        return Some(few.advice("Longer heats (--heat-time) or a higher rate have more."));
    }
    let needed = needed(TAIL, &settings);
    (!is_carried(TAIL, least, &settings)).then(|| {
        let sentence = format!(
            "The p99 response time is judged from {} answers of each side on, and there are {}.",
            count(needed as u64),
            count(least)
        );
        note("few-answers", sentence)
            .with("answers", least)
            .with("needed", needed)
            .advice("More or longer heats (--heat-time) or a higher rate have more.")
    })
}
