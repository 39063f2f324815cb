//! A session drawn from a seed, as a record that the analysis takes.

use deadheat_model::{
    SessionRecord, TargetId,
    plan::{Controls, Twin},
};
use deadheat_stats::{Analysis, analyse};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use crate::{Machine, record};

/// The throughput of a stack of speed 1 on an undisturbed machine, per second.
const BASE: f64 = 10_000.0;

/// What is measured, and in which order.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// The true speed of each stack, as a factor; stack `i` is called [`Design::name`]`(i)`.
    pub speeds: Vec<f64>,
    /// Blocks.
    pub blocks: u32,
    /// Whether the first stack is measured once more under another name (A/A).
    pub twin: bool,
    /// The order of the trials.
    pub order: Order,
}

/// The order of the trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each block has one trial of everything, in a random order of its own: what Deadheat does.
    Blocks,
    /// All trials of the first stack, then all of the second: what Deadheat does not do. The `i`-th trial of each
    /// stack is recorded as that of block `i`.
    OneAfterTheOther,
}

impl Design {
    /// Stacks of these speeds in randomised blocks, with a twin, as a session measures them.
    pub fn session(speeds: &[f64], blocks: u32) -> Self {
        Self {
            speeds: speeds.to_vec(),
            blocks,
            twin: true,
            order: Order::Blocks,
        }
    }

    /// The name of the `index`-th stack.
    pub fn name(index: usize) -> TargetId {
        TargetId::new(format!("s-{index}"), None)
    }

    fn targets(&self) -> Vec<TargetId> {
        let twin = self.twin.then(Controls::twin_id);
        (0..self.speeds.len()).map(Self::name).chain(twin).collect()
    }

    /// The true speed of a target: the twin is the first stack again.
    fn speed(&self, target: usize) -> f64 {
        self.speeds
            .get(target)
            .map_or(self.speeds[0], |speed| *speed)
    }

    /// The trials as (target, block) in the order in which they are run.
    fn sequence(&self, seed: u64) -> Vec<(usize, u32)> {
        let targets: Vec<usize> = (0..self.speeds.len() + usize::from(self.twin)).collect();
        match self.order {
            Order::Blocks => {
                let block = |block: u32| {
                    // As a session shuffles its cells.
                    let mut random = ChaCha8Rng::seed_from_u64(seed ^ u64::from(block) << 32);
                    let mut order = targets.clone();
                    order.shuffle(&mut random);
                    order.into_iter().map(move |target| (target, block))
                };
                (0..self.blocks).flat_map(block).collect()
            }
            Order::OneAfterTheOther => {
                let all = |target| (0..self.blocks).map(move |block| (target, block));
                targets.into_iter().flat_map(all).collect()
            }
        }
    }
}

/// Sessions of one design on one machine. Their record is made once and filled anew for each seed.
pub struct Simulation {
    design: Design,
    machine: Machine,
    record: SessionRecord,
    targets: Vec<TargetId>,
}

impl Simulation {
    /// Sessions of `design`, which has two stacks at least, on `machine`.
    pub fn new(design: Design, machine: Machine) -> Self {
        let targets = design.targets();
        let twin = design.twin.then(|| Twin {
            name: Controls::twin_id(),
            of: Design::name(0),
        });
        Self {
            record: record::empty(&targets, twin, design.blocks),
            targets,
            design,
            machine,
        }
    }

    /// Draws the session of `seed`.
    pub fn draw(&mut self, seed: u64) -> &SessionRecord {
        // Another stream than those that the orders come from.
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1);
        let sequence = self.design.sequence(seed);
        let in_block = self.targets.len();
        let share = |index: usize, of: usize| index as f64 / (of - 1).max(1) as f64;
        let trials = self.record.trials.iter_mut();
        for (index, (trial, (target, block))) in trials.zip(&sequence).enumerate() {
            let time = share(index, sequence.len());
            let place = match self.design.order {
                Order::Blocks => share(index % in_block, in_block),
                Order::OneAfterTheOther => 0.0,
            };
            let factor = self.machine.factor(time, place, &mut random);
            let rate = BASE * self.design.speed(*target) * factor;
            record::fill(trial, &self.targets[*target], *block, rate);
        }
        &self.record
    }

    /// Draws the session of `seed` and analyses it.
    pub fn analyse(&mut self, seed: u64) -> Analysis {
        analyse(self.draw(seed))
    }
}
