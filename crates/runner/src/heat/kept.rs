//! Servers that are left frozen when a heat is over, for the heat that follows at another load.

use std::sync::{Mutex, MutexGuard, PoisonError};

use deadheat_model::TargetId;

use crate::{sampling::Tree, session::server::Server};

/// Which of the servers that are alive together it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// What runs.
    pub(crate) target: TargetId,
    /// Whether it is the second one of its kind.
    pub(crate) is_twin: bool,
}

/// A server between two heats.
pub(super) struct Kept {
    pub(super) identity: Identity,
    /// Its number among those that are alive together, under which it was started.
    pub(super) seat: usize,
    /// Loads that it has served.
    pub(super) loads: u32,
    pub(super) server: Server,
    pub(super) tree: Tree,
}

/// The servers between two heats. Members take theirs when they start, and leave it when they are kept.
#[derive(Default)]
pub struct KeptServers {
    servers: Mutex<Vec<Kept>>,
}

impl KeptServers {
    /// The seat of this one, if it is there.
    pub(crate) fn seat(&self, identity: &Identity) -> Option<usize> {
        let servers = self.servers();
        let mut all = servers.iter();
        let own = all.find(|kept| kept.identity == *identity)?;
        Some(own.seat)
    }

    /// Ends all but these. How they end is not looked at.
    pub(crate) fn stop_others(&self, than: &[Identity]) {
        let is_other = |kept: &mut Kept| !than.contains(&kept.identity);
        let others: Vec<Kept> = self.servers().extract_if(.., is_other).collect();
        std::thread::scope(|scope| {
            for kept in others {
                scope.spawn(|| kept.server.stop_soon());
            }
        });
    }

    pub(super) fn take(&self, identity: &Identity) -> Option<Kept> {
        let mut servers = self.servers();
        let place = servers.iter().position(|kept| kept.identity == *identity)?;
        Some(servers.swap_remove(place))
    }

    pub(super) fn leave(&self, kept: Kept) {
        self.servers().push(kept);
    }

    fn servers(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
