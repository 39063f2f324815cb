//! What is left of a block: a function of the session so far and of nothing else. So a session that was interrupted
//! goes on as it would have gone on by itself.

use deadheat_model::{
    Cell, LoadPoint, Plan, SessionHeader, SessionRecord, TrialRecord, fault::TRANSPORT_FAILURES,
    plan::MOST_ATTEMPTS, trial::Disturbance,
};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// A trial that is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// What it measures.
    pub(super) cell: Cell,
    /// The cell's place in the block's order.
    pub(super) position: u32,
    /// How many trials of the cell were void in this block.
    pub(super) attempt: u32,
}

/// The trials that are left of a block, as far as it is known now, in their order: each cell once, in the block's random
/// order, then again those whose trial was void, as long as they have attempts left.
///
/// In the first block all closed loops come before the first open one, repetitions included, because open loops take
/// their rates from them.
pub(super) fn left(session: &SessionRecord, block: u32) -> Vec<Due> {
    let plan = &session.header.plan;
    let mut left: Vec<(bool, Due)> = (0..)
        .zip(order(plan, block))
        .filter_map(|(position, cell)| {
            let later = block == 0 && is_open(plan, &cell);
            let attempt = next_attempt(session, block, &cell)?;
            Some((
                later,
                Due {
                    cell,
                    position,
                    attempt,
                },
            ))
        })
        .collect();
    left.sort_by_key(|(later, due)| (*later, due.attempt, due.position));
    left.into_iter().map(|(_, due)| due).collect()
}

/// By what a void trial was disturbed; `None` when it is not void.
pub(super) fn void(header: &SessionHeader, trial: &TrialRecord) -> Option<Disturbance> {
    let cpus = header.machine.cpus.len();
    trial.void(header.plan.noise_bound, cpus, TRANSPORT_FAILURES)
}

/// The load point that `cell` is measured at.
pub(super) fn point<'a>(plan: &'a Plan, cell: &Cell) -> Option<&'a LoadPoint> {
    let mut workloads = plan.workloads.iter();
    let workload = workloads.find(|one| one.id == cell.workload)?;
    workload.points.iter().find(|one| one.id == cell.point)
}

/// The number of the cell's next trial in a block, unless it has one that counts, or no attempt is left.
fn next_attempt(session: &SessionRecord, block: u32, cell: &Cell) -> Option<u32> {
    let mut void_trials = 0;
    for trial in &session.trials {
        if trial.block == block && trial.cell == *cell {
            void(&session.header, trial)?;
            void_trials += 1;
        }
    }
    (void_trials < MOST_ATTEMPTS).then_some(void_trials)
}

/// All cells in the random order of a block: the same for the same seed.
fn order(plan: &Plan, block: u32) -> Vec<Cell> {
    let mut random = ChaCha8Rng::seed_from_u64(plan.seed ^ u64::from(block) << 32);
    let mut cells = plan.cells.clone();
    cells.shuffle(&mut random);
    if block == 0 {
        // Stable: both parts stay shuffled.
        cells.sort_by_key(|cell| is_open(plan, cell));
    }
    cells
}

fn is_open(plan: &Plan, cell: &Cell) -> bool {
    point(plan, cell).is_some_and(|point| point.open.is_some())
}

#[cfg(test)]
mod tests {
    use deadheat_model::Failure;

    use super::*;
    use crate::session::fixture::{Fixture, cell};

    /// What a session runs, where `trial` says what became of each; the last one is the one that says `None`.
    fn run(
        mut session: Fixture,
        blocks: u32,
        mut trial: impl FnMut(&Due, u32) -> Option<TrialRecord>,
    ) -> Vec<(u32, Due)> {
        let mut ran = Vec::new();
        for block in 0..blocks {
            while let Some(due) = left(&session.record, block).into_iter().next() {
                let Some(record) = trial(&due, block) else {
                    return ran;
                };
                session.record.trials.push(record);
                ran.push((block, due));
            }
        }
        ran
    }

    fn fine(due: &Due, block: u32) -> TrialRecord {
        Fixture::trial(&due.cell, block, due.attempt)
    }

    fn noisy(due: &Due, block: u32) -> TrialRecord {
        Fixture::disturbed(&due.cell, block, due.attempt)
    }

    #[test]
    fn each_block_has_each_cell_once_in_an_order_of_its_own_that_the_seed_decides() {
        let session = || Fixture::closed(["a", "b", "c", "d", "e", "f"]);
        let all = run(session(), 3, |due, block| Some(fine(due, block)));
        let order = |block| -> Vec<&Cell> {
            let of = all.iter().filter(|(of, _)| *of == block);
            of.map(|(_, due)| &due.cell).collect()
        };
        for block in 0..3 {
            let mut sorted = order(block);
            sorted.sort();
            let planned: Vec<Cell> = session().record.header.plan.cells;
            assert_eq!(sorted, planned.iter().collect::<Vec<_>>());
        }
        assert!(order(0) != order(1) || order(1) != order(2));
        assert_eq!(all, run(session(), 3, |due, block| Some(fine(due, block))));
        let mut other = session();
        other.record.header.plan.seed += 1;
        assert_ne!(all, run(other, 3, |due, block| Some(fine(due, block))));
    }

    #[test]
    fn a_void_trial_is_repeated_at_the_end_of_its_block_at_most_twice() {
        let session = Fixture::closed(["a", "b", "c"]);
        let ran = run(session, 1, |due, block| {
            Some(if due.cell == cell("b", "c50") {
                noisy(due, block)
            } else {
                fine(due, block)
            })
        });
        let attempts: Vec<(&str, u32)> = ran
            .iter()
            .map(|(_, due)| (due.cell.target.stack.as_str(), due.attempt))
            .collect();
        assert_eq!(attempts[3..], [("b", 1), ("b", 2)]);
        assert!(attempts[..3].contains(&("b", 0)));
        let places: Vec<u32> = ran
            .iter()
            .filter(|(_, due)| due.cell.target.stack == "b")
            .map(|(_, due)| due.position)
            .collect();
        assert_eq!(places, [places[0]; 3], "a repetition has the first's place");
    }

    #[test]
    fn repetitions_queue_and_end_with_a_trial_that_counts() {
        let session = Fixture::closed(["a", "b", "c"]);
        let ran = run(session, 1, |due, block| {
            Some(match due.attempt {
                0 => noisy(due, block),
                1 if due.cell.target.stack == "a" => noisy(due, block),
                _ => fine(due, block),
            })
        });
        let first: Vec<&Cell> = ran[..3].iter().map(|(_, due)| &due.cell).collect();
        let second: Vec<&Cell> = ran[3..6].iter().map(|(_, due)| &due.cell).collect();
        assert_eq!(first, second, "all once before one of them a third time");
        assert_eq!(ran.len(), 7);
        assert_eq!(ran[6].1.cell, cell("a", "c50"));
    }

    #[test]
    fn failed_trials_and_all_trials_of_a_plan_without_a_bound_are_not_repeated() {
        let mut session = Fixture::closed(["a"]);
        session.record.trials = vec![Fixture::failed(&cell("a", "c50"), 0)];
        assert_eq!(left(&session.record, 0), []);
        session.record.trials = vec![Fixture::disturbed(&cell("a", "c50"), 0, 0)];
        assert_eq!(left(&session.record, 0).len(), 1);
        session.record.header.plan.noise_bound = None;
        assert_eq!(left(&session.record, 0), []);
    }

    #[test]
    fn a_disturbed_trial_that_failed_is_not_void_and_not_repeated() {
        let mut session = Fixture::closed(["a"]);
        for (kind, failures, left_over) in [
            // Less than a thousandth of the requests failed on the way.
            (Failure::Reset, 1, 1),
            (Failure::Reset, 2, 0),
            (Failure::WrongContent, 1, 0),
        ] {
            let mut trial = Fixture::disturbed(&cell("a", "c50"), 0, 0);
            Fixture::fail(&mut trial, kind, failures);
            session.record.trials = vec![trial];
            assert_eq!(
                left(&session.record, 0).len(),
                left_over,
                "{failures} {kind:?}"
            );
        }
    }

    #[test]
    fn the_first_block_has_its_closed_loops_first_with_their_repetitions() {
        let session = Fixture::with_open(["a", "b"]);
        let open = |due: &Due| due.cell.point != "c50";
        let ran = run(session, 12, |due, block| {
            let again = block == 0 && due.attempt == 0 && !open(due);
            Some(if again {
                noisy(due, block)
            } else {
                fine(due, block)
            })
        });
        let in_block = |block| -> Vec<bool> {
            let of = ran.iter().filter(move |(of, _)| *of == block);
            of.map(|(_, due)| open(due)).collect()
        };
        assert_eq!(
            in_block(0),
            [false, false, false, false, true, true, true, true]
        );
        let mixed = (1..12).any(|block| !in_block(block).is_sorted());
        assert!(mixed, "later blocks mix all");
    }

    #[test]
    fn wherever_a_session_was_cut_it_goes_on_as_it_would_have() {
        let session = || Fixture::with_open(["a", "b", "c"]);
        // Every third trial is void, whatever it is.
        let outcome = |count: usize, due: &Due, block| match count % 3 {
            0 => noisy(due, block),
            _ => fine(due, block),
        };
        let mut count = 0;
        let whole = run(session(), 3, |due, block| {
            count += 1;
            Some(outcome(count, due, block))
        });
        for cut in 0..whole.len() {
            let mut resumed = session();
            let trials = (1..).zip(&whole[..cut]);
            let trials = trials.map(|(count, (block, due))| outcome(count, due, *block));
            resumed.record.trials = trials.collect();
            let mut count = cut;
            let rest = run(resumed, 3, |due, block| {
                count += 1;
                Some(outcome(count, due, block))
            });
            assert_eq!(rest, whole[cut..], "cut after {cut}");
        }
    }
}
