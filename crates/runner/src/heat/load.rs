//! The load on one member: the only place in a heat that knows the load generator.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use deadheat_load::{LoadError, Session, Slice};
use deadheat_model::{
    LoadSpec, Schedule, SliceEvent, SliceResult,
    load::{Arrivals, Stage},
};

use crate::agent::{AgentError, Agents};

/// Where the load of a heat's members comes from.
#[derive(Clone, Copy)]
pub enum Generator<'g> {
    /// This process.
    Here,
    /// Agents on other hosts. The first of them to be lost is kept.
    Hosts(&'g Mutex<Hosts>),
}

/// Agents on other hosts, and whether one was lost.
pub struct Hosts {
    generators: Agents,
    lost: Option<AgentError>,
}

impl Hosts {
    /// All agents are there.
    pub fn new(generators: Agents) -> Self {
        Self {
            generators,
            lost: None,
        }
    }

    /// Which host was lost, if so. What is measured with the others is no measurement.
    pub fn lost(&self) -> Option<&AgentError> {
        self.lost.as_ref()
    }

    fn kept<T>(&mut self, outcome: Result<T, AgentError>) -> Result<T, AgentError> {
        outcome.inspect_err(|error| {
            self.lost.get_or_insert_with(|| error.clone());
        })
    }
}

/// Why a generator did not load a member.
#[derive(Debug, thiserror::Error)]
pub(super) enum GeneratorError {
    #[error(transparent)]
    Here(#[from] LoadError),
    #[error(transparent)]
    There(#[from] AgentError),
}

/// A load whose connections stay open from slice to slice.
pub(super) enum Load<'g> {
    Here(Session),
    There {
        hosts: &'g Mutex<Hosts>,
        load: u32,
        stop: Arc<AtomicBool>,
    },
}

impl<'g> Load<'g> {
    /// Sets it up. Setting `stop` ends a slice.
    pub(super) fn open(
        spec: LoadSpec,
        generator: Generator<'g>,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, GeneratorError> {
        match generator {
            Generator::Here => Ok(Self::Here(Session::open(spec, stop)?)),
            Generator::Hosts(hosts) => {
                let mut there = lock(hosts);
                let opened = there.generators.open(&spec, &stop);
                let load = there.kept(opened)?;
                Ok(Self::There { hosts, load, stop })
            }
        }
    }

    /// A slice, as [`super::Member::slice`] says.
    pub(super) fn slice(
        &mut self,
        guard: Duration,
        length: Duration,
        on_edge: &mut dyn FnMut(SliceEvent),
    ) -> Result<SliceResult, GeneratorError> {
        let slice = Slice { guard, length };
        Ok(match self {
            Self::Here(session) => session.slice(slice, on_edge)?,
            Self::There { hosts, load, stop } => {
                let mut there = lock(hosts);
                let sliced = there.generators.slice(*load, slice, on_edge, stop);
                there.kept(sliced)?
            }
        })
    }
}

impl Drop for Load<'_> {
    fn drop(&mut self) {
        if let Self::There { hosts, load, .. } = self {
            lock(hosts).generators.close(*load);
        }
    }
}

/// The load as an open loop on as many connections, if there is a rate.
pub(super) fn at_rate(spec: LoadSpec, per_second: Option<f64>) -> LoadSpec {
    let Some(rate) = per_second else {
        return spec;
    };
    let connections = spec.schedule.most_connections();
    LoadSpec {
        schedule: Schedule::Open {
            arrivals: Arrivals::Poisson,
            stages: vec![Stage::constant(rate)],
            connections,
            most_connections: connections,
        },
        ..spec
    }
}

fn lock(hosts: &Mutex<Hosts>) -> MutexGuard<'_, Hosts> {
    hosts.lock().unwrap_or_else(PoisonError::into_inner)
}
