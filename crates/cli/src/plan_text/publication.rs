//! What makes figures unfit to be published.

use deadheat_model::{
    Plan,
    choice::{PUBLISHED_BLOCKS, Purpose},
    plan::Pinning,
};

use super::words::{counted, entry};

/// What a reader of published figures would hold against this session, `commit` being that of the stacks' sources.
pub(crate) fn objections(plan: &Plan, commit: Option<&str>) -> Vec<String> {
    let mut objections = Vec::new();
    let Some(choice) = &plan.choice else {
        return objections;
    };
    if choice.purpose != Purpose::Publication {
        return objections;
    }
    if matches!(plan.pinning, Pinning::Off { .. }) {
        objections.push(
            "server and generator are not kept apart, and take CPU time from each other".to_owned(),
        );
    }
    objections.extend(of_the_checkout(commit));
    if plan.blocks < PUBLISHED_BLOCKS {
        let blocks = counted(plan.blocks as usize, "block");
        objections.push(format!("{blocks}, where {PUBLISHED_BLOCKS} are the least"));
    }
    if !choice.latency.is_on() {
        objections.push("no latency: capacity alone says little of what users wait".to_owned());
    }
    if plan.noise_bound.is_none() {
        objections.push("disturbed trials count (--noise-bound off)".to_owned());
    }
    objections
}

/// What nobody else could build again: sources that are in no commit, `commit` being that of the checkout, and a Deadheat
/// that was built for its tests.
pub(crate) fn of_the_checkout(commit: Option<&str>) -> Vec<String> {
    let sources = match commit {
        None => Some(
            "the stacks lie outside a git checkout: nobody can tell which sources were measured",
        ),
        Some(commit) if commit.ends_with("-dirty") => {
            Some("the checkout has changes that are not committed: nobody else has these sources")
        }
        Some(_) => None,
    };
    let slow = cfg!(debug_assertions).then_some(
        "this deadheat was built without optimisation: its generator is slow (cargo build --release)",
    );
    sources.into_iter().chain(slow).map(str::to_owned).collect()
}

/// The same, as lines below the plan.
pub(crate) fn told(objections: &[String]) -> String {
    let lines = objections.iter();
    let lines = lines.flat_map(|one| entry("unfit", &format!("to be published: {one}")));
    lines.collect::<Vec<_>>().join("\n")
}
