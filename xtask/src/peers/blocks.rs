//! The measuring: blocks, each of them every tool once in a random order.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

use super::{
    Options,
    case::Case,
    nginx::{Nginx, Site},
    show,
    trial::{Bench, Program, Trial, measure},
};

/// Length of the runs before the first block, in seconds: files, certificates and CPUs are then as they will be.
const WARM_UP_SECONDS: u32 = 1;
/// Descriptors that either side needs beside those of the connections.
const SPARE_DESCRIPTORS: u64 = 200;

/// What measuring needs.
pub(crate) struct Measuring<'a> {
    pub(crate) options: &'a Options,
    pub(crate) bench: &'a Bench<'a>,
    pub(crate) site: &'a Site,
    /// nginx.
    pub(crate) server: &'a Path,
    /// Descriptors that a process may have.
    pub(crate) descriptors: u64,
    /// Set when somebody wants it to end.
    pub(crate) interrupt: Arc<AtomicBool>,
}

/// What was measured.
pub(crate) struct Measured {
    /// The trials of the blocks, without the warm-up.
    pub(crate) trials: Vec<Trial>,
    /// Whether somebody ended it before its end; the trial that was under way is not among them.
    pub(crate) interrupted: bool,
}

/// A flag that is set by the signals that end a program.
pub(crate) fn on_signals() -> Result<Arc<AtomicBool>, String> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(&asked))
            .map_err(|error| format!("handling signal {signal}: {error}"))?;
    }
    Ok(asked)
}

impl Measuring<'_> {
    /// Measures a case: a fresh nginx, each tool once to warm up, then the blocks.
    pub(crate) fn case(&self, case: Case, programs: &[Program]) -> Result<Measured, String> {
        let connections = u64::from(case.load().connections);
        if self.descriptors < connections + SPARE_DESCRIPTORS {
            return Err(format!(
                "{} needs {} file descriptors for each side, and the hard limit is {}: raise it (ulimit -Hn)",
                case.name(),
                connections + SPARE_DESCRIPTORS,
                self.descriptors
            ));
        }
        // Room for those that one tool leaves closing while the next one connects.
        let room = self.descriptors.min(2 * connections + 2_000);
        let mut nginx = Nginx::start(self.server, self.site, self.bench.cpus.server, room)?;
        let mut measured = Measured {
            trials: Vec::new(),
            interrupted: false,
        };
        for block in 0..=self.options.blocks {
            for (place, program) in order(self.options.seed, case, block, programs).enumerate() {
                let warm_up = block == 0;
                let seconds = if warm_up {
                    WARM_UP_SECONDS.min(self.options.seconds)
                } else {
                    self.options.seconds
                };
                let outcome = measure(self.bench, &mut nginx, &program, &case.load(), seconds);
                // Ctrl-C reaches the tool and nginx as well.
                if self.interrupt.load(Ordering::Relaxed) {
                    measured.interrupted = true;
                    return Ok(measured);
                }
                let trial = Trial {
                    case,
                    tool: program.tool,
                    block,
                    place: place as u32 + 1,
                    outcome,
                };
                show::trial(&trial);
                if !warm_up {
                    measured.trials.push(trial);
                }
            }
        }
        Ok(measured)
    }
}

/// The tools in the random order of a block: the same for the same seed.
fn order(
    seed: u64,
    case: Case,
    block: u32,
    programs: &[Program],
) -> impl Iterator<Item = Program> + use<> {
    let seed = seed ^ (u64::from(block) << 32) ^ ((case as u64) << 56);
    let mut programs = programs.to_vec();
    programs.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    programs.into_iter()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::PathBuf};

    use super::*;
    use crate::peers::tool::Tool;

    #[test]
    fn each_block_has_every_tool_once_and_an_order_of_its_own() {
        let tools = [Tool::Deadheat, Tool::Wrk, Tool::Ab, Tool::Hey, Tool::Oha];
        let programs = tools.map(|tool| Program {
            tool,
            path: PathBuf::new(),
            version: String::new(),
        });
        let order = |seed, case, block| -> Vec<Tool> {
            let programs = order(seed, case, block, &programs);
            programs.map(|program| program.tool).collect()
        };
        let mut orders = BTreeSet::new();
        for block in 1..=11 {
            let tools_of_block = order(1, Case::Small, block);
            let mut sorted = tools_of_block.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, tools);
            assert_eq!(tools_of_block, order(1, Case::Small, block));
            orders.insert(tools_of_block);
        }
        assert!(orders.len() > 5, "{orders:?}");
        assert_ne!(
            (1..=11)
                .map(|block| order(1, Case::Small, block))
                .collect::<Vec<_>>(),
            (1..=11)
                .map(|block| order(1, Case::Tls, block))
                .collect::<Vec<_>>(),
        );
    }
}
