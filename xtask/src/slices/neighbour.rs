//! A second server on the same CPU, which works while the first one is frozen, as in a heat.

use std::{thread, time::Duration};

use deadheat_load::{Session, Slice};

use super::{
    Options,
    server::{Server, Tree},
    spec,
    way::Load,
};

/// A server that is frozen but for its turns.
pub(super) struct Neighbour {
    tree: Tree,
    load: Session,
}

impl Neighbour {
    /// Loads it once, so that its connections are made, and freezes it.
    pub(super) fn new(options: &Options, server: &Server) -> Result<Self, String> {
        let mut neighbour = Self {
            tree: server.tree(),
            load: super::open(spec(options, server, Load::Polling), server)?,
        };
        neighbour.have_turn(Duration::from_secs(1))?;
        Ok(neighbour)
    }

    /// Works for so long.
    pub(super) fn have_turn(&mut self, length: Duration) -> Result<(), String> {
        self.tree.thaw();
        let turn = Slice {
            guard: Duration::ZERO,
            length,
        };
        let worked = self.load.slice(turn, &mut |_| {});
        self.tree.freeze()?;
        worked.map_err(|error| format!("loading the neighbour: {error}"))?;
        Ok(())
    }
}

/// Time for which a server stands still: its neighbour's, if it has one.
pub(super) fn pass(time: Duration, neighbour: Option<&mut Neighbour>) -> Result<(), String> {
    match neighbour {
        None => thread::sleep(time),
        Some(neighbour) => neighbour.have_turn(time)?,
    }
    Ok(())
}
