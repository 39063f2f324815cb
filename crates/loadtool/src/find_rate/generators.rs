//! What loads: this process, or the same hosts for all looks.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::SystemTime,
};

use deadheat_model::{LoadRecord, LoadSpec, load_record::SCHEMA, machine::Machine};
use deadheat_runner::{
    agent::{Agents, MergedLoad},
    session::describe_machine,
};
use deadheat_shell::exit::Failure;

use crate::{hosts::Hosts, messages, was_cut_short};

/// What loads.
pub(super) struct Generators {
    agents: Option<Agents>,
    machine: Machine,
    typed: String,
    pub(super) stop: Arc<AtomicBool>,
}

impl Generators {
    /// Launches the agents, if other hosts are to load.
    pub(super) fn launch(typed: &str, hosts: &Hosts) -> Result<Self, Failure> {
        let stop = super::listen()?;
        let agents = if hosts.names.is_empty() {
            None
        } else {
            let launched = Agents::launch(&hosts.names, &hosts.launcher, &hosts.binary, &stop);
            Some(launched.map_err(|error| messages::lost(typed, &error))?)
        };
        Ok(Self {
            agents,
            machine: describe_machine(),
            typed: typed.to_owned(),
            stop,
        })
    }

    /// The machine of this process.
    pub(super) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Loads once, to the end of the drain.
    pub(super) fn load(&mut self, spec: LoadSpec) -> Result<LoadRecord, Failure> {
        let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let mut unheard = |_| {};
        let MergedLoad { observation, hosts } = match &mut self.agents {
            None => deadheat_load::run(&spec, &mut unheard, &self.stop)
                .map(MergedLoad::alone)
                .map_err(|error| messages::refused(&self.typed, &error)),
            Some(agents) => agents
                .load(&spec, &mut unheard, &self.stop)
                .map_err(|error| messages::lost(&self.typed, &error)),
        }?;
        let mut record = LoadRecord {
            schema: SCHEMA,
            deadheat: env!("CARGO_PKG_VERSION").to_owned(),
            started,
            url: self.typed.clone(),
            machine: self.machine.clone(),
            spec,
            interrupted: false,
            observation,
            intervals: Vec::new(),
            hosts,
        };
        record.interrupted = was_cut_short(&record, &self.stop);
        Ok(record)
    }
}
