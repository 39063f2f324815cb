//! Why the plan was as it was, and what a longer budget would have bought.

use std::time::Duration;

use deadheat_model::{
    LoadPhase, Plan, SessionRecord,
    choice::{Choice, EVIDENCE_BLOCKS, LatencyChoice, Offer, Origin, Purpose},
};

use super::{facts::Fact, words::typed};
use crate::figure::{count, counted};

/// The plan's choices, as facts; none in older records, which do not tell.
pub fn facts(plan: &Plan) -> Vec<Fact> {
    let Some(choice) = &plan.choice else {
        return Vec::new();
    };
    let fact = |name: &str, value: String| Fact {
        name: name.to_owned(),
        value,
    };
    let mut facts = vec![fact("Plan", blocks(plan, choice))];
    if let Some(latency) = latency(plan, choice) {
        facts.push(fact("Response times", latency));
    }
    let offers: Vec<String> = offers(plan, choice)
        .map(|offer| bought(plan, choice, offer))
        .collect();
    if !offers.is_empty() {
        facts.push(fact("A longer budget", offers.join("; ")));
    }
    facts
}

/// What would make evidence of an indication, in a sentence; `None` when the plan does not tell, or promised as much.
pub fn evidence(record: &SessionRecord) -> Option<String> {
    let plan = &record.header.plan;
    if plan.blocks >= EVIDENCE_BLOCKS {
        return None;
    }
    let mut offers = plan.choice.iter().flat_map(|choice| &choice.offers);
    let offer = offers.find(|offer| offer.blocks >= EVIDENCE_BLOCKS)?;
    Some(format!(
        "--budget {} has room for {}.",
        typed(offer.budget),
        size(plan, offer.blocks, offer.measure)
    ))
}

/// A phase that was wanted too short.
pub fn short(phase: LoadPhase, length: Duration) -> String {
    let name = match phase {
        LoadPhase::WarmUp => "warm-ups",
        LoadPhase::Measurement | LoadPhase::CoolDown => "measurements",
    };
    format!("{name} of {}", exactly(length))
}

/// "3 s", "200 ms".
fn exactly(length: Duration) -> String {
    match length < Duration::from_secs(1) {
        true => format!("{} ms", length.as_secs_f64() * 1000.0),
        false => format!("{} s", length.as_secs_f64()),
    }
}

/// "7 blocks of 3 s"; loads of so many requests have no length.
fn size(plan: &Plan, blocks: u32, measure: Duration) -> String {
    let mut points = plan.workloads.iter().flat_map(|workload| &workload.points);
    let blocks = counted(blocks as usize, "block");
    match points.any(|point| point.counted.is_none()) {
        true => format!("{blocks} of {}", exactly(measure)),
        false => blocks,
    }
}

fn blocks(plan: &Plan, choice: &Choice) -> String {
    let size = size(plan, plan.blocks, choice.measure);
    let purpose = match choice.purpose {
        Purpose::Usual => "",
        Purpose::FirstLook => "; for a first look",
        Purpose::Publication => "; to be published",
        Purpose::Repetition => "; to repeat published tables",
    };
    let budget = plan.budget_seconds.map(Duration::from_secs_f64);
    let of_budget = budget.map_or("any budget".to_owned(), |budget| {
        format!("--budget {}", typed(budget))
    });
    let blocks = match choice.blocks_from {
        Origin::Asked => "blocks as asked for".to_owned(),
        Origin::Purpose => "as many blocks as such a session has".to_owned(),
        Origin::Budget => format!("as many blocks as fit {of_budget}"),
        Origin::Least => format!("the fewest blocks that mean anything, longer than {of_budget}"),
    };
    let measure = match choice.measure_from {
        Origin::Asked => "a measurement as asked for".to_owned(),
        Origin::Purpose => "the usual measurement".to_owned(),
        Origin::Budget => format!("the longest measurement that fits {of_budget}"),
        Origin::Least => "the shortest measurement that means anything".to_owned(),
    };
    format!("{size}: {blocks}, {measure}{purpose}")
}

fn latency(plan: &Plan, choice: &Choice) -> Option<String> {
    let text = match choice.latency {
        LatencyChoice::Asked => "measured in open loops, as asked for".to_owned(),
        LatencyChoice::Fits => "measured in open loops, for which there was time".to_owned(),
        LatencyChoice::TooLong => {
            let budget = plan.budget_seconds.map(Duration::from_secs_f64);
            let budget = budget.map(|budget| format!(" in {}", typed(budget)));
            format!(
                "not measured: no room for open loops{} with {} blocks",
                budget.unwrap_or_default(),
                count(EVIDENCE_BLOCKS.into())
            )
        }
        LatencyChoice::FewBlocks => "not measured in open loops, with so few blocks".to_owned(),
        LatencyChoice::Off => "not measured in open loops: nobody wanted it".to_owned(),
        LatencyChoice::NoClosedLoop => return None,
    };
    Some(text)
}

/// Offers of something else than what was done.
fn offers<'a>(plan: &'a Plan, choice: &'a Choice) -> impl Iterator<Item = &'a Offer> {
    let own = (plan.blocks, choice.measure, choice.latency.is_on());
    let offers = choice.offers.iter();
    offers.filter(move |one| (one.blocks, one.measure, one.latency) != own)
}

fn bought(plan: &Plan, choice: &Choice, offer: &Offer) -> String {
    let latency = match offer.latency && !choice.latency.is_on() {
        true => " with open loops",
        false => "",
    };
    format!(
        "--budget {}: {}{latency}",
        typed(offer.budget),
        size(plan, offer.blocks, offer.measure)
    )
}
