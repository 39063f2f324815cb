//! What makes figures of heats unfit to be published.

use deadheat_model::{
    heats::{Plan, PlannedLoad},
    plan::Pinning,
};

use crate::plan_text::of_the_checkout;

/// Fewer heats than these leave an interval to chance.
const LEAST_HEATS: u32 = 7;

/// What a reader of published figures would hold against this session, `commit` being that of the stacks' sources.
pub(super) fn objections(plan: &Plan, commit: Option<&str>, are_embedded: bool) -> Vec<String> {
    let mut objections = Vec::new();
    if matches!(plan.pinning, Pinning::Off { .. }) {
        objections.push(
            "server and generator are not kept apart, and take CPU time from each other".to_owned(),
        );
    }
    objections.extend(of_the_checkout(commit, are_embedded));
    let fewest = plan.leading().map(PlannedLoad::most_heats).min();
    if let Some(fewest) = fewest.filter(|heats| *heats < LEAST_HEATS) {
        objections.push(format!(
            "{fewest} heats of a load, where the minimum is {LEAST_HEATS}"
        ));
    }
    objections
}

#[cfg(test)]
mod tests {
    use deadheat_model::heats::{EndReason, Step};
    use deadheat_simulation::Recorded;

    use super::*;

    #[test]
    fn what_a_reader_would_hold_against_it_is_said() {
        let plan = Recorded::measured(&[1.0, 2.0]);
        let record = plan.run(1, &mut |_, _| Step::End(EndReason::Nothing));
        let mut plan = record.header.plan;
        let of_checkout = objections(&plan, Some("abc"), false).len();
        // Whoever has this version of Deadheat has the stacks that are part of it.
        let embedded = objections(&plan, None, true).len();
        assert_eq!(embedded, of_checkout);
        assert_eq!(objections(&plan, None, false).len(), of_checkout + 1);
        plan.loads[0].looks = vec![5];
        plan.pinning = Pinning::Off { cpus: vec![0] };
        let found = objections(&plan, Some("abc-dirty"), true);
        assert_eq!(found.len(), of_checkout + 3, "{found:?}");
    }
}
