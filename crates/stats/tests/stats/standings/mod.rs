//! Sessions of heats from their records to their standings, on records whose truth is known.

mod doubts;
mod published;
mod rows;
mod steered;
mod verdicts;

use std::time::Duration;

use deadheat_model::{
    heat::{MemberFailure, MemberRecord},
    heats::{MeasuredHeat, SessionRecord},
    trial::{Phase, TrialFailure},
};
use deadheat_simulation::{Recorded, heats::Member};
use deadheat_stats::steering;

/// A session that is steered as `deadheat run` steers it.
fn steered(plan: &Recorded, seed: u64) -> SessionRecord {
    plan.run(seed, &mut steering::next)
}

/// A stack's record in a heat. Members start in another order in each.
fn member<'a>(heat: &'a mut MeasuredHeat, name: &str) -> &'a mut MemberRecord {
    let mut members = heat.heat.members.iter_mut();
    members.find(|one| one.target.stack == name).unwrap()
}

/// What a stack died of.
fn died(reason: &str, void_from: u32) -> Option<MemberFailure> {
    Some(MemberFailure {
        failure: TrialFailure {
            phase: Phase::Load,
            reason: reason.to_owned(),
            log_tail: Vec::new(),
            load: None,
        },
        void_from: Some(void_from),
    })
}

/// Stacks of these speeds that hardly scatter, on a quiet machine.
fn quiet(speeds: &[f64]) -> Recorded {
    let mut plan = Recorded::measured(speeds);
    plan.field.machine.spread = 0.01;
    plan.field.trouble = Default::default();
    for (_, member) in &mut plan.stacks {
        *member = Member {
            speed: member.speed,
            spread: 0.01,
            correlation: 0.0,
            processes: deadheat_simulation::heats::Processes::Alike(0.0),
        };
    }
    plan
}

/// The same, over two loads, within a budget.
fn two_loads(speeds: &[f64], budget: Duration) -> Recorded {
    Recorded {
        workloads: vec!["plaintext".to_owned(), "users".to_owned()],
        budget: Some(budget),
        ..quiet(speeds)
    }
}
