//! Ways to load a server, and which of them are compared.

use std::{fmt, time::Duration};

use clap::ValueEnum;

use super::Options;

/// How long a server is loaded without counting where nothing stands before it, so that the way before is forgotten.
const SETTLING: Duration = Duration::from_millis(300);
/// Members of the largest heats.
const MANY: u32 = 12;
/// Load at a rate before what counts of an uninterrupted one.
const SETTLING_AT_A_RATE: Duration = Duration::from_secs(3);

/// Two ways to load a server. The first one's figure is divided by the second one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Contrast {
    /// Slices with frozen rests between them, and an uninterrupted load
    Slices,
    /// Slices after a rest in which the server is frozen, and after one in which it is idle
    Freezing,
    /// A generator that polls, and one that sleeps
    Polling,
    /// Slices with one neighbour, and with eleven
    Neighbours,
    /// Turns at a rate with frozen rests between them, and an uninterrupted load at the same rate
    EqualWork,
}

impl fmt::Display for Contrast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Contrast::Slices => "slices ÷ uninterrupted load",
            Contrast::Freezing => "frozen between slices ÷ idle",
            Contrast::Polling => "polling ÷ sleeping",
            Contrast::Neighbours => "with 1 neighbour ÷ with 11",
            Contrast::EqualWork => "turns at a rate ÷ uninterrupted load",
        })
    }
}

/// What a server does before a slice.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rest {
    None,
    Idle(Duration),
    Frozen(Duration),
}

/// How requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Load {
    /// A closed loop whose generator polls.
    Polling,
    /// A closed loop whose generator sleeps.
    Sleeping,
    /// An open loop, in requests per second.
    Rate(f64),
}

/// A way to load a server for a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) load: Load,
    pub(crate) before: Rest,
    pub(crate) guard: Duration,
    pub(crate) length: Duration,
    pub(crate) slices: u32,
}

impl Contrast {
    /// Both ways count the same time; `load` is that of [`Contrast::EqualWork`].
    pub(crate) fn ways(self, options: &Options, guard: Duration, load: Load) -> [Way; 2] {
        let sliced = Way {
            load: Load::Polling,
            before: Rest::Frozen(options.rest),
            guard,
            length: options.slice,
            slices: options.slices,
        };
        let whole = Way {
            before: Rest::None,
            guard: SETTLING,
            length: options.slice * options.slices,
            slices: 1,
            ..sliced
        };
        match self {
            Contrast::Slices => [sliced, whole],
            Contrast::Freezing => [
                sliced,
                Way {
                    before: Rest::Idle(options.rest),
                    ..sliced
                },
            ],
            Contrast::Polling => [
                whole,
                Way {
                    load: Load::Sleeping,
                    ..whole
                },
            ],
            Contrast::Neighbours => {
                let turns = |members: u32| Way {
                    before: Rest::Frozen((guard + options.slice) * (members - 1)),
                    ..sliced
                };
                [turns(2), turns(MANY)]
            }
            Contrast::EqualWork => [
                Way { load, ..sliced },
                Way {
                    load,
                    guard: SETTLING_AT_A_RATE,
                    ..whole
                },
            ],
        }
    }
}

impl Way {
    /// A load that makes a server warm.
    pub(crate) fn warm_up(length: Duration) -> Self {
        Self {
            load: Load::Polling,
            before: Rest::None,
            guard: Duration::ZERO,
            length,
            slices: 1,
        }
    }
}
