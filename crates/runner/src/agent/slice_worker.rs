//! The agent's loads in slices, which stay open beside each other.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use deadheat_load::{LoadError, Session, Slice};
use deadheat_model::{LoadSpec, SliceResult};

use super::{message::AgentMessage, monotonic_ns};

/// The most loads that are open at once.
const MOST_OPEN: usize = 1_000;

/// Loads by their numbers.
#[derive(Default)]
pub(super) struct SlicedLoads(BTreeMap<u32, Session>);

impl SlicedLoads {
    /// Sets a load up; setting `stop` ends its slices.
    pub(super) fn open(
        &mut self,
        load: u32,
        spec: LoadSpec,
        stop: Arc<AtomicBool>,
    ) -> AgentMessage {
        if self.0.len() >= MOST_OPEN {
            return AgentMessage::refused(format!("{MOST_OPEN} loads are open already"));
        }
        match Session::open(spec, stop) {
            Ok(session) => {
                self.0.insert(load, session);
                AgentMessage::Opened { load }
            }
            Err(error) => refused(&error),
        }
    }

    /// Loads for a slice that was to begin `at`.
    pub(super) fn slice(&mut self, load: u32, at: u64, slice: Slice) -> AgentMessage {
        let Some(session) = self.0.get_mut(&load) else {
            return AgentMessage::refused(format!("load {load} was not opened"));
        };
        let late = Duration::from_nanos(monotonic_ns().saturating_sub(at));
        match session.slice(slice, &mut |_| ()) {
            Ok(result) => AgentMessage::Sliced {
                load,
                result: Box::new(SliceResult { late, ..result }),
            },
            Err(error) => refused(&error),
        }
    }

    pub(super) fn close(&mut self, load: u32) {
        self.0.remove(&load);
    }
}

fn refused(error: &LoadError) -> AgentMessage {
    AgentMessage::refused(error.to_string())
}
