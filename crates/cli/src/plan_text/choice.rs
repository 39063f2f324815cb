//! Why the plan is as it is, and what a longer budget would buy.

use std::{collections::BTreeSet, time::Duration};

use deadheat_model::{
    LoadPhase, Plan,
    choice::{
        Choice, EVIDENCE_BLOCKS, LEAST_PHASE, LONGEST_MEASUREMENT, LatencyChoice, MOST_BLOCKS,
        OWN_SHARES, Offer, Origin, Purpose,
    },
    workload::{OfferedRate, OpenLoad},
};

use super::words::{about, counted, entry, glued, length, spelled, typed};

/// The lines about blocks, latency, and longer budgets.
pub(super) fn lines(plan: &Plan) -> Vec<String> {
    let Some(choice) = &plan.choice else {
        return Vec::new();
    };
    let mut lines = entry("blocks", &blocks(plan, choice));
    if let Some(latency) = latency(plan, choice) {
        lines.extend(entry("latency", &latency));
    }
    // That a longer budget has room for what is done anyway is no offer.
    let own = (plan.blocks, choice.measure, choice.latency.is_on());
    let offers = choice.offers.iter();
    let offers = offers.filter(|one| (one.blocks, one.measure, one.latency) != own);
    for (index, offer) in offers.enumerate() {
        let label = if index == 0 { "more" } else { "" };
        lines.extend(entry(label, &bought(plan, choice, offer)));
    }
    for short in &choice.too_short {
        let (name, option) = match short.phase {
            LoadPhase::WarmUp => ("warm-up", "--warm-up"),
            LoadPhase::Measurement | LoadPhase::CoolDown => ("measurement", "--measure"),
        };
        let note = format!(
            "a {name} of {} is too short to mean anything: {} or more",
            glued(&length(short.length)),
            glued(&format!("{option} {}", typed(LEAST_PHASE)))
        );
        lines.extend(entry("note", &note));
    }
    lines
}

/// "7 blocks of 3 s"; loads of so many requests have no length.
fn size(plan: &Plan, blocks: u32, measure: Duration) -> String {
    let blocks = counted(blocks as usize, "block");
    if has_timed(plan) {
        glued(&format!("{blocks} of {}", length(measure)))
    } else {
        glued(&blocks)
    }
}

fn has_timed(plan: &Plan) -> bool {
    let mut points = plan.workloads.iter().flat_map(|workload| &workload.points);
    points.any(|point| point.counted.is_none())
}

fn blocks(plan: &Plan, choice: &Choice) -> String {
    let mut text = size(plan, plan.blocks, choice.measure);
    if let Some(why) = why(plan, choice) {
        text = format!("{text}: {why}");
    }
    if plan.blocks < EVIDENCE_BLOCKS {
        let evidence = spelled(EVIDENCE_BLOCKS);
        text = format!("{text}. Indicative: evidence begins with {evidence} blocks");
    }
    text
}

fn why(plan: &Plan, choice: &Choice) -> Option<String> {
    let asked = [choice.blocks_from, choice.measure_from].contains(&Origin::Asked);
    let reason = match (choice.blocks_from, choice.measure_from) {
        (Origin::Asked, Origin::Asked) => "as asked for",
        (_, _) if choice.purpose == Purpose::FirstLook => "a first look (--quick)",
        (Origin::Purpose, _) if choice.purpose == Purpose::Publication => {
            "the least to publish (--publish)"
        }
        (Origin::Purpose, _) => "the least that has an interval worth the name",
        (_, _) if is_too_long(plan) && asked => "the least beside what was asked for",
        (_, _) if is_too_long(plan) => "the least that means anything",
        _ => "",
    };
    let Some(budget) = plan.budget_seconds.map(Duration::from_secs_f64) else {
        return (!reason.is_empty()).then(|| reason.to_owned());
    };
    let within = typed(budget);
    if is_too_long(plan) {
        let takes = glued(&about(plan.estimate));
        return Some(format!(
            "{reason}, but it takes {takes}, longer than {within}"
        ));
    }
    if !reason.is_empty() {
        return Some(reason.to_owned());
    }
    let number = spelled(plan.blocks);
    if !has_timed(plan) && choice.blocks_from != Origin::Asked {
        return Some(format!("so many fit {within}"));
    }
    let longest = choice.measure >= LONGEST_MEASUREMENT;
    Some(match (choice.blocks_from, choice.measure_from) {
        (Origin::Asked, _) if longest => format!("so many fit {within} at the longest measurement"),
        (Origin::Asked, _) => {
            format!("the longest measurement with which so many blocks fit {within}")
        }
        (_, Origin::Budget) if plan.blocks < EVIDENCE_BLOCKS => {
            format!("the most blocks that fit {within}")
        }
        (_, Origin::Budget) if longest => {
            format!("{number} blocks fit {within} at the longest measurement")
        }
        (_, Origin::Budget) => {
            format!("the longest measurement with which {number} blocks fit {within}")
        }
        (_, _) if plan.blocks >= MOST_BLOCKS => {
            format!("as many as are ever chosen, and they fit {within}")
        }
        (_, _) => format!("the most blocks of that length that fit {within}"),
    })
}

/// Whether the plan takes longer than its budget.
pub(crate) fn is_too_long(plan: &Plan) -> bool {
    let budget = plan.budget_seconds.map(Duration::from_secs_f64);
    budget.is_some_and(|budget| plan.estimate > budget)
}

fn latency(plan: &Plan, choice: &Choice) -> Option<String> {
    let text = match choice.latency {
        LatencyChoice::Asked | LatencyChoice::Fits => {
            let rates = rates(plan);
            format!("open loops at {rates}")
        }
        LatencyChoice::TooLong => {
            let within = plan.budget_seconds.map(Duration::from_secs_f64);
            let within = within.map(|budget| format!(" in {}", typed(budget)));
            let evidence = spelled(EVIDENCE_BLOCKS);
            format!(
                "not measured: no room for it{} with {evidence} blocks",
                within.unwrap_or_default()
            )
        }
        LatencyChoice::FewBlocks => {
            let on = glued("--latency on");
            format!("not measured, with so few blocks; {on} adds it all the same")
        }
        LatencyChoice::Off => "not measured".to_owned(),
        LatencyChoice::NoClosedLoop => return None,
    };
    Some(text)
}

/// The rates of the open loops, in words.
fn rates(plan: &Plan) -> String {
    let points = plan.workloads.iter().flat_map(|workload| &workload.points);
    let open: Vec<&OpenLoad> = points.filter_map(|point| point.open.as_ref()).collect();
    let mut own = BTreeSet::new();
    let mut common = BTreeSet::new();
    for load in open {
        match load.rate {
            OfferedRate::OfOwnCapacity(percent) => own.insert(percent),
            OfferedRate::OfSlowestCapacity(percent) => common.insert(percent),
        };
    }
    let list = |shares: BTreeSet<u32>| {
        let shares: Vec<String> = shares.iter().map(u32::to_string).collect();
        glued(&format!("{} %", shares.join(", ")))
    };
    format!(
        "{} of each stack's own capacity, and all at {} of the slowest one's",
        list(own),
        list(common)
    )
}

fn bought(plan: &Plan, choice: &Choice, offer: &Offer) -> String {
    let option = glued(&format!("--budget {}", typed(offer.budget)));
    let mut text = format!("{option}: {}", size(plan, offer.blocks, offer.measure));
    if offer.latency && !choice.latency.is_on() {
        let shares = OWN_SHARES.map(|share| share.to_string()).join(", ");
        let shares = glued(&format!("{shares} %"));
        text.push_str(&format!(
            ", with latency at {shares} of capacity and at a common rate"
        ));
    }
    if plan.blocks < EVIDENCE_BLOCKS && offer.blocks >= EVIDENCE_BLOCKS {
        text.push_str(": evidence rather than indication");
    }
    text
}
