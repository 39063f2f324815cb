//! The load on one member: the only place in a heat that knows the load generator. Of a server that runs already, a heat
//! knows nothing else.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use deadheat_load::{LoadError, Session, Slice};
use deadheat_model::{
    LoadSpec, Schedule, SliceEvent, SliceResult,
    heat::Freezing,
    load::{Arrivals, Stage},
    session::{Phase, StackFailure},
};

use super::{MeasuredSlice, Member, Started, server::without_server};
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

    fn kept<T>(&mut self, outcome: Result<T, AgentError>) -> Result<T, String> {
        outcome.map_err(|error| {
            let text = error.to_string();
            self.lost.get_or_insert(error);
            text
        })
    }
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
    ) -> Result<Self, String> {
        match generator {
            Generator::Here => Ok(Self::Here(Session::open(spec, stop).map_err(in_words)?)),
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
    ) -> Result<SliceResult, String> {
        let slice = Slice { guard, length };
        Ok(match self {
            Self::Here(session) => session.slice(slice, on_edge).map_err(in_words)?,
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

fn in_words(error: LoadError) -> String {
    error.to_string()
}

fn lock(hosts: &Mutex<Hosts>) -> MutexGuard<'_, Hosts> {
    hosts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A server that runs already. Deadheat neither starts, freezes nor stops it; its answers are checked under load alone.
pub struct UrlMember<'a> {
    spec: LoadSpec,
    generator: Generator<'a>,
    stop: Arc<AtomicBool>,
    load: Option<Load<'a>>,
}

impl<'a> UrlMember<'a> {
    /// A member that `generator` loads as `spec` says. Setting `stop` ends a slice.
    pub fn new(spec: LoadSpec, generator: Generator<'a>, stop: Arc<AtomicBool>) -> Self {
        Self {
            spec,
            generator,
            stop,
            load: None,
        }
    }
}

impl Member for UrlMember<'_> {
    fn start(&mut self) -> Result<Option<Started>, StackFailure> {
        Ok(Some(Started {
            command: Vec::new(),
            ready: None,
            cpu_source: None,
            loads_before: 0,
        }))
    }

    fn verify(&mut self, _: Phase) -> Result<u32, StackFailure> {
        Ok(0)
    }

    fn open(&mut self, per_second: Option<f64>) -> Result<(), StackFailure> {
        self.load = None;
        let spec = at_rate(self.spec.clone(), per_second);
        let load = Load::open(spec, self.generator, Arc::clone(&self.stop));
        self.load = Some(load.map_err(|error| without_server(Phase::Load, error))?);
        Ok(())
    }

    fn slice(
        &mut self,
        guard: Duration,
        length: Duration,
        on_edge: &mut dyn FnMut(SliceEvent),
    ) -> Result<MeasuredSlice, StackFailure> {
        let Some(load) = &mut self.load else {
            let reason = "its load has not been opened".to_owned();
            return Err(without_server(Phase::Load, reason));
        };
        let result = load.slice(guard, length, on_edge);
        let result = result.map_err(|error| without_server(Phase::Load, error))?;
        Ok(MeasuredSlice { result, cpu: None })
    }

    /// Nothing is known of what is behind it.
    fn settle(&mut self) -> Result<(), StackFailure> {
        Ok(())
    }

    fn freeze(&mut self) -> Result<(), StackFailure> {
        let reason = "a server that was not started here is not frozen".to_owned();
        Err(self.failure(Phase::Load, reason))
    }

    fn thaw(&mut self) -> Result<(), StackFailure> {
        Ok(())
    }

    fn freezing(&mut self) -> Freezing {
        Freezing::Off
    }

    fn memory(&mut self) -> Option<u64> {
        None
    }

    fn cpu(&mut self) -> Option<Duration> {
        None
    }

    fn exit(&mut self, _: Duration) -> Option<String> {
        None
    }

    fn failure(&mut self, phase: Phase, reason: String) -> StackFailure {
        without_server(phase, reason)
    }

    fn stop(&mut self) -> Result<(), StackFailure> {
        self.load = None;
        Ok(())
    }

    fn keep(&mut self) {
        self.load = None;
    }

    fn stop_soon(&mut self) {
        self.load = None;
    }
}
