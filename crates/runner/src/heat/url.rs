//! A server that runs already, as a member of a heat: it is loaded, and nothing else is known of it.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use deadheat_model::{
    LoadSpec, SliceEvent,
    heat::Freezing,
    session::{Phase, StackFailure},
};

use super::{
    MeasuredSlice, Member, Started,
    load::{Generator, Load, at_rate},
    server::without_server,
};

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
        let load = load.map_err(|error| without_server(Phase::Load, error.to_string()));
        self.load = Some(load?);
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
        let result = result.map_err(|error| without_server(Phase::Load, error.to_string()))?;
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
