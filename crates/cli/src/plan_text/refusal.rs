//! What a budget has no room for.

use std::time::Duration;

use deadheat_model::{
    Plan,
    choice::{LEAST_BLOCKS, Origin},
};

use super::{
    choice::is_too_long,
    words::{about, counted, glued, typed, wrapped},
};

/// Why `plan` cannot be carried out within its budget, and what could; `closed` is the same without latency.
pub(crate) fn refusal(plan: &Plan, closed: &Plan) -> String {
    let budget = Duration::from_secs_f64(plan.budget_seconds.unwrap_or_default());
    let asked = plan
        .choice
        .as_ref()
        .is_some_and(|choice| [choice.blocks_from, choice.measure_from].contains(&Origin::Asked));
    let what = if asked {
        "what was asked for"
    } else {
        "the least that means anything"
    };
    let mut lines = vec![format!(
        "--budget {} is too short: {what} takes {}",
        typed(budget),
        about(plan.estimate)
    )];
    let trials = counted(plan.cells.len(), "trial");
    let blocks = counted(plan.blocks as usize, "block");
    let controls = plan
        .cells
        .iter()
        .filter(|cell| plan.controls.has(&cell.target))
        .count();
    lines.extend(wrapped(
        "    ",
        &format!(
            "That is {} of {trials}{}.",
            glued(&blocks),
            match controls {
                0 => String::new(),
                _ => format!(", {controls} of them on the null server and the A/A twin"),
            },
        ),
    ));
    lines.extend(wrapped(
        "    ",
        &format!("It would fit with {}.", ways(plan, closed, budget)),
    ));
    lines.join("\n")
}

/// What else would make it fit.
fn ways(plan: &Plan, closed: &Plan, budget: Duration) -> String {
    let Some(choice) = &plan.choice else {
        return String::new();
    };
    let mut ways = Vec::new();
    if let Some(offer) = choice.offers.first() {
        ways.push(glued(&format!("--budget {}", typed(offer.budget))));
    }
    let block = plan.estimate / plan.blocks.max(1);
    let trial = block / (plan.cells.len().max(1) as u32);
    let room = (budget.as_secs_f64() / trial.as_secs_f64() / f64::from(plan.blocks)) as usize;
    // A stack, the null server and the twin are three.
    if room >= 3 && plan.targets.len() * plan.workloads.len() > 1 {
        let room = counted(room, "trial");
        ways.push(format!("fewer stacks or workloads (about {room} a block)"));
    }
    let blocks = (budget.as_secs_f64() / block.as_secs_f64()) as u32;
    if blocks >= 1 {
        let option = glued(&format!("--blocks {blocks}"));
        ways.push(match blocks >= LEAST_BLOCKS {
            true => option,
            false => format!("{option} (too few for an interval worth the name)"),
        });
    }
    if choice.latency.is_on() && !is_too_long(closed) {
        ways.push(glued("--latency off"));
    }
    match ways.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{}, or {last}", others.join(", ")),
        None => String::new(),
    }
}
