//! How often a gate (`deadheat compare --fail-if-slower`) fails a change of known size, and after how many heats.

use std::ops::Range;

use deadheat_stats::{
    heats::{Quantity, within},
    sequential::Design,
    versus::{
        Bounds, Check, Gate,
        alternating::Judged,
        paired::{PairedCell, at_look},
    },
};

use super::Field;
use crate::Share;

/// True ratios of B to A, in the table of docs/statistics.md.
pub const RATIOS: [f64; 6] = [1.0, 0.98, 0.97, 0.95, 0.93, 0.90];
/// The bound of the table: 3 %.
pub const BOUND: f64 = 0.03;
/// Heats at most, in the table: about what the default budget of five minutes has room for, and fifteen.
pub const MOST: [u32; 2] = [24, 72];

/// How comparisons end that have a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gated {
    /// Those that fail.
    pub fails: Share,
    /// Those that neither fail nor exclude a slowdown beyond the bound.
    pub undecided: Share,
    /// Heats of a comparison, on average.
    pub heats: f64,
}

/// Comparisons of these seeds, of a B whose throughput is truly `ratio` of A's, with a gate at `bound` and `most` heats.
pub fn gate(ratio: f64, bound: f64, most: u32, seeds: Range<u64>) -> Gated {
    let field = Field::measured(&[1.0, ratio]);
    let bounds = Bounds::default();
    let design = Design::within(most, bounds.alpha).expect("two heats or more");
    let check = Check {
        fail_if_slower: Some(bound),
        ..Check::default()
    };
    let sessions = (seeds.end - seeds.start) as u32;
    let (mut fails, mut undecided, mut heats) = (0, 0, 0);
    for seed in seeds {
        let mut session = field.start(seed);
        let mut cell = PairedCell::of_throughput(Vec::new());
        for heat in 1..=most {
            let found = session.heat(&[0, 1]);
            cell.series[0]
                .heats
                .push(within::of_heat(&found, Quantity::Throughput));
            let Some(look) = design.at(heat) else {
                continue;
            };
            let judged = Judged {
                compared: at_look(std::slice::from_ref(&cell), look, &bounds),
                not_compared: Vec::new(),
            };
            if judged.is_final(check) || heat == most {
                let gate = Gate::new(&judged.compared, 0, check);
                fails += u32::from(gate.failed);
                undecided += u32::from(!gate.is_decided());
                heats += heat;
                break;
            }
        }
    }
    let share = |of_these| Share { of_these, sessions };
    Gated {
        fails: share(fails),
        undecided: share(undecided),
        heats: f64::from(heats) / f64::from(sessions),
    }
}
