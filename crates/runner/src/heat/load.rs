//! The load on one member: the only place in a heat that knows the load generator.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use deadheat_load::{LoadError, Session, Slice, SliceEvent};
use deadheat_model::LoadSpec;

use super::{Edge, Seen};

/// A load whose connections stay open from slice to slice.
#[derive(Debug)]
pub(super) struct Load(Session);

impl Load {
    /// Sets it up. Setting `stop` ends a slice.
    pub(super) fn open(spec: LoadSpec, stop: Arc<AtomicBool>) -> Result<Self, LoadError> {
        Session::open(spec, stop).map(Self)
    }

    /// A slice, as [`super::Member::slice`] says.
    pub(super) fn slice(
        &mut self,
        guard: Duration,
        length: Duration,
        on_edge: &mut dyn FnMut(Edge),
    ) -> Result<Seen, LoadError> {
        let mut on_event = |event| match event {
            SliceEvent::CountingStarted => on_edge(Edge::Started),
            SliceEvent::CountingEnded => on_edge(Edge::Ended),
            SliceEvent::Drained => {}
        };
        let seen = self.0.slice(Slice { guard, length }, &mut on_event)?;
        Ok(Seen {
            observation: seen.observation,
            cpu: None,
            drained: seen.drained,
            undrained: seen.undrained,
            reconnected: seen.reconnected,
            interrupted: seen.interrupted,
        })
    }
}
