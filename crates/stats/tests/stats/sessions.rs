//! Sessions whose truth is known, and what happens to their stacks.

use deadheat_model::{
    heat::{MemberFailure, MemberRecord},
    heats::{MeasuredHeat, SessionRecord},
    session::{Phase, StackFailure},
};
use deadheat_simulation::Recorded;
use deadheat_stats::steering;

/// A session that is steered as `deadheat run` steers it.
pub fn steered(plan: &Recorded, seed: u64) -> SessionRecord {
    plan.run(seed, &mut steering::next)
}

/// A stack's record in a heat. Members start in another order in each.
pub fn member<'a>(heat: &'a mut MeasuredHeat, name: &str) -> &'a mut MemberRecord {
    let mut members = heat.heat.members.iter_mut();
    members.find(|one| one.target.stack == name).unwrap()
}

/// What a stack died of.
pub fn died(reason: &str, void_from: u32) -> Option<MemberFailure> {
    Some(MemberFailure {
        failure: StackFailure {
            phase: Phase::Load,
            reason: reason.to_owned(),
            log_tail: Vec::new(),
            load: None,
        },
        void_from: Some(void_from),
    })
}

/// Stacks of these speeds that hardly scatter, on a quiet machine.
pub fn quiet(speeds: &[f64]) -> Recorded {
    Recorded::quiet(speeds)
}
