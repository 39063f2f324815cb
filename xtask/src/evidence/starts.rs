//! What the order of starts in a heat changes: how much faster the last of its members is than the first.

use std::{collections::BTreeMap, path::Path};

use deadheat_model::{
    heat::{MemberRecord, Role},
    heats::MeasuredHeat,
};
use deadheat_stats::{
    heats::{Quantity, recorded},
    interval::t_quantile,
};

use super::sessions::record;

/// The level of the intervals.
const LEVEL: f64 = 0.95;
/// Passes after which group means are gone to the last digit that is shown.
const PASSES: usize = 100;

/// A member in a heat.
struct Member {
    /// Its stack at a load.
    stack: String,
    /// The heat's number in the session.
    heat: u32,
    /// When it started: 0 for the first of its heat, 1 for the last.
    place: f64,
    /// Logarithms of throughput and of CPU time per request.
    figures: [f64; 2],
}

/// Last ÷ first in throughput and CPU time per request, as Markdown, from a session's records.
///
/// # Errors
/// What cannot be read.
pub(super) fn table(session: &Path) -> Result<String, String> {
    let record = record(session)?;
    // At a rate, which comes after others, all have the same throughput.
    let loads = &record.header.plan.loads;
    let own = record.heats.iter();
    let own = own.filter(|measured| loads[measured.load as usize].leads());
    let members: Vec<Member> = own.flat_map(of_heat).collect();
    let too_few = || format!("{}: too few heats", session.display());
    let shown = |which: usize| {
        let (slope, half_width) = slope(&members, which).ok_or_else(too_few)?;
        let [low, ratio, high] = [slope - half_width, slope, slope + half_width].map(f64::exp);
        Ok::<_, String>(format!("{ratio:.3} ({low:.3}–{high:.3})"))
    };
    Ok(format!(
        "| what ÷ what | throughput | CPU time per request | fresh processes |\n| --- | --- | --- | ---: |\n| the \
         last member to start ÷ the first | {} | {} | {} |\n",
        shown(0)?,
        shown(1)?,
        members.len()
    ))
}

/// The members of a heat that have served no other load, but for the null server. They start in the order of the first
/// round.
fn of_heat(measured: &MeasuredHeat) -> Vec<Member> {
    let MeasuredHeat { load, heat } = measured;
    let order: Vec<u32> = heat
        .rounds
        .first()
        .into_iter()
        .flatten()
        .map(|slice| slice.member)
        .collect();
    let [throughputs, costs] =
        [Quantity::Throughput, Quantity::Cost].map(|quantity| recorded::figures(heat, quantity));
    let of_member = |(member, record): (usize, &MemberRecord)| {
        let place = order.iter().position(|one| *one as usize == member)?;
        let figures = [throughputs[member]?, costs[member]?];
        let is_fresh = record.loads_before == 0;
        (is_fresh && record.role != Role::Ceiling && order.len() > 1).then(|| Member {
            stack: format!("{load} {}", record.target),
            heat: heat.heat,
            place: place as f64 / (order.len() - 1) as f64,
            figures: figures.map(f64::ln),
        })
    };
    heat.members
        .iter()
        .enumerate()
        .filter_map(of_member)
        .collect()
}

/// The slope of a figure over the place and half the width of its interval, beside a mean for each stack and for each heat:
/// least squares with these partialled out (Frisch & Waugh, Econometrica 1, 1933).
fn slope(members: &[Member], which: usize) -> Option<(f64, f64)> {
    let (places, stacks, heats) = without_means(members, |one| one.place);
    let (figures, ..) = without_means(members, |one| one.figures[which]);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let squares = product(&places, &places);
    let slope = product(&places, &figures) / squares;
    let errors: Vec<f64> = figures
        .iter()
        .zip(&places)
        .map(|(y, x)| y - slope * x)
        .collect();
    // At each load one of the means follows from the others: counting them all is careful. The slope is one more.
    let freedom = members
        .len()
        .checked_sub(stacks + heats + 1)
        .filter(|left| *left > 0)?;
    let error = (product(&errors, &errors) / freedom as f64 / squares).sqrt();
    Some((
        slope,
        t_quantile(f64::midpoint(1.0, LEVEL), freedom) * error,
    ))
}

/// Values without the means of stacks and of heats, and the numbers of these.
fn without_means(members: &[Member], value: impl Fn(&Member) -> f64) -> (Vec<f64>, usize, usize) {
    let mut values: Vec<f64> = members.iter().map(value).collect();
    let (stacks, heats) = (
        groups(members, |one| &one.stack),
        groups(members, |one| &one.heat),
    );
    for _ in 0..PASSES {
        for group in stacks.iter().chain(&heats) {
            let mean = group.iter().map(|nth| values[*nth]).sum::<f64>() / group.len() as f64;
            group.iter().for_each(|nth| values[*nth] -= mean);
        }
    }
    (values, stacks.len(), heats.len())
}

/// The places of the members that have the same key.
fn groups<'a, K: Ord>(members: &'a [Member], key: impl Fn(&'a Member) -> K) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (nth, member) in members.iter().enumerate() {
        groups.entry(key(member)).or_default().push(nth);
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_found_beside_stacks_and_heats_of_any_speed() {
        let member = |heat: usize, stack: usize, place: usize| Member {
            stack: stack.to_string(),
            heat: heat as u32,
            place: place as f64 / 2.0,
            figures: [
                stack as f64 + 0.1 * heat as f64 + 0.05 * place as f64 / 2.0,
                (heat * stack % 3) as f64,
            ],
        };
        let members: Vec<Member> = (0..6)
            .flat_map(|heat| {
                (0..3).map(move |stack| member(heat, stack, (stack * (1 + heat % 2) + heat) % 3))
            })
            .collect();
        let (found, half_width) = slope(&members, 0).unwrap();
        assert!(
            (found - 0.05).abs() < 1e-6 && half_width < 1e-6,
            "{found} {half_width}"
        );
        let (_, half_width) = slope(&members, 1).unwrap();
        assert!(half_width > 0.1, "{half_width}");
    }
}
