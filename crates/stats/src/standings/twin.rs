//! A stack beside itself (A/A): what the method makes of no difference.

use std::collections::BTreeMap;

use deadheat_model::heat::Role;

use super::{
    at::{LoadAt, WithTwin},
    types::{Measure, Twin},
};
use crate::{
    heats::{
        Quantity, Verdict,
        percentile::{is_carried, of_a_heat},
        recorded, within,
    },
    interval::log_mean,
};

/// With fewer heats there is no interval.
const LEAST_HEATS: usize = 3;
/// The level of the interval.
const LEVEL: f64 = 0.95;

/// What the heats with a twin say; `None` without one.
pub(crate) fn find(at: &LoadAt<'_>) -> Option<Twin> {
    let twin = at.load.twin();
    let mut ratios = Vec::new();
    let mut of = BTreeMap::new();
    for (heat, place) in at.places(twin) {
        let Role::Twin { of: original } = heat.members[place].role else {
            continue;
        };
        let original = &heat.members[original as usize];
        let Some(number) = at.load.number(original) else {
            continue;
        };
        let values: Vec<(usize, f64)> = match at.measure() {
            Measure::Throughput => {
                let counted = recorded::heat(heat, &WithTwin(at), &at.settings);
                let found = within::of_heat(&counted, Quantity::Throughput).into_iter();
                found.map(|one| (one.member, one.value)).collect()
            }
            Measure::ResponseTime => recorded::percentiles(99.0, heat, &WithTwin(at))
                .into_iter()
                .filter(|one| is_carried(99.0, one.samples, &of_a_heat(&at.settings)))
                .map(|one| (one.member, one.seconds.ln()))
                .collect(),
        };
        let value = |wanted: usize| {
            let mut values = values.iter();
            values
                .find(|(member, _)| *member == wanted)
                .map(|one| one.1)
        };
        if let Some((own, other)) = value(twin).zip(value(number)) {
            ratios.push((own - other).exp());
            of.insert(number, original.target.clone());
        }
    }
    let found = log_mean(&ratios, LEVEL)?;
    let interval = found.interval.filter(|_| found.trials >= LEAST_HEATS);
    let rule = at.settings.rule();
    // Of response times more is worse, and which way they differ does not matter here.
    let verdict = interval.map_or(Verdict::Undecided, |interval| {
        rule.verdict(found.mean, &interval, found.trials)
    });
    Some(Twin {
        of: of.into_values().collect(),
        heats: found.trials as u32,
        ratio: found.mean,
        interval,
        verdict,
    })
}
