//! Ways to load a server, and which of them are compared.

use std::{fmt, thread, time::Duration};

use clap::ValueEnum;
use deadheat_model::Wait;

use super::{Options, server::Tree};

/// How long a server is loaded without counting where nothing stands before it, so that the way before is forgotten.
const SETTLING: Duration = Duration::from_millis(300);

/// Two ways to load a server. The first one's figure is divided by the second one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Contrast {
    /// Slices with frozen rests between them, and an uninterrupted load
    Slices,
    /// Slices after a rest in which the server is frozen, and after one in which it is idle
    Freezing,
    /// A generator that polls, and one that sleeps
    Polling,
}

impl fmt::Display for Contrast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Contrast::Slices => "slices ÷ uninterrupted load",
            Contrast::Freezing => "frozen between slices ÷ idle",
            Contrast::Polling => "polling ÷ sleeping",
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

/// A way to load a server for a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) wait: Wait,
    pub(crate) before: Rest,
    pub(crate) guard: Duration,
    pub(crate) length: Duration,
    pub(crate) slices: u32,
}

impl Contrast {
    /// Both ways count the same time.
    pub(crate) fn ways(self, options: &Options, guard: Duration) -> [Way; 2] {
        let sliced = Way {
            wait: Wait::Poll,
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
                    wait: Wait::Sleep,
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
            wait: Wait::Poll,
            before: Rest::None,
            guard: Duration::ZERO,
            length,
            slices: 1,
        }
    }

    /// What comes before a slice.
    pub(crate) fn rest(&self, tree: &Tree) -> Result<(), String> {
        match self.before {
            Rest::None => {}
            Rest::Idle(time) => thread::sleep(time),
            Rest::Frozen(time) => {
                tree.freeze()?;
                thread::sleep(time);
                tree.thaw();
            }
        }
        Ok(())
    }
}
