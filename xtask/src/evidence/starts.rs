//! What the order of starts in a heat changes: how much faster the last of its members is than the first.

use std::{collections::BTreeMap, path::Path, process::Command};

use deadheat_stats::interval::t_quantile;
use serde_json::Value;

/// The level of the intervals.
const LEVEL: f64 = 0.95;
/// Passes after which group means are gone to the last digit that is shown.
const PASSES: usize = 100;

/// A member in a heat.
struct Member {
    /// Its stack at a load.
    stack: String,
    heat: String,
    /// When it started: 0 for the first of its heat, 1 for the last.
    place: f64,
    /// Logarithms of answers ÷ time and of CPU time ÷ answers.
    figures: [f64; 2],
}

/// Last ÷ first in throughput and CPU time per request, as Markdown, from a session's records.
///
/// # Errors
/// What cannot be read.
pub(super) fn table(session: &Path) -> Result<String, String> {
    let journal = session.join("heats.jsonl.gz");
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", journal.display());
    let unzipped = Command::new("gzip")
        .arg("-dc")
        .arg(&journal)
        .output()
        .map_err(|error| failed(&error))?;
    let mut members = Vec::new();
    for line in String::from_utf8_lossy(&unzipped.stdout).lines() {
        let entry: Value = serde_json::from_str(line).map_err(|error| failed(&error))?;
        if entry["record"] == "heat" {
            members.extend(of_heat(&entry));
        }
    }
    let shown = |which: usize| {
        let (slope, half_width) = slope(&members, which).ok_or_else(|| failed(&"too few heats"))?;
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

/// Its members, but for the null server. They start in the order of the first round.
fn of_heat(entry: &Value) -> Vec<Member> {
    let (load, heat) = (&entry["load"], &entry["heat"]);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let rounds = list(&heat["rounds"]);
    let order: Vec<Value> = rounds.first().map(list).unwrap_or_default();
    let order: Vec<&Value> = order.iter().map(|slice| &slice["member"]).collect();
    let slices: Vec<Value> = rounds.iter().flat_map(list).collect();
    let of_member = |(member, record): (usize, &Value)| {
        let place = order.iter().position(|one| **one == member)?;
        let own = || slices.iter().filter(|slice| slice["member"] == member);
        let sum = |pointer: &str| -> f64 {
            own()
                .filter_map(|slice| slice.pointer(pointer)?.as_f64())
                .sum()
        };
        let answers = sum("/tally/succeeded");
        let figures = [
            answers / sum("/window_seconds"),
            sum("/cpu/seconds") / answers,
        ];
        let is_whole = figures
            .iter()
            .all(|figure| figure.is_finite() && *figure > 0.0);
        (is_whole && record["role"]["is"] != "ceiling" && order.len() > 1).then(|| Member {
            stack: format!("{load} {}", record["target"]),
            heat: format!("{load} {}", heat["heat"]),
            place: place as f64 / (order.len() - 1) as f64,
            figures: figures.map(f64::ln),
        })
    };
    let records = list(&heat["members"]);
    records.iter().enumerate().filter_map(of_member).collect()
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
    let groups = |name: fn(&Member) -> &str| {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (nth, member) in members.iter().enumerate() {
            groups.entry(name(member)).or_default().push(nth);
        }
        groups
    };
    let (stacks, heats) = (groups(|one| &one.stack), groups(|one| &one.heat));
    for _ in 0..PASSES {
        for group in stacks.values().chain(heats.values()) {
            let mean = group.iter().map(|nth| values[*nth]).sum::<f64>() / group.len() as f64;
            group.iter().for_each(|nth| values[*nth] -= mean);
        }
    }
    (values, stacks.len(), heats.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_found_beside_stacks_and_heats_of_any_speed() {
        let member = |heat: usize, stack: usize, place: usize| Member {
            stack: stack.to_string(),
            heat: heat.to_string(),
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
