//! The other hosts of a session: reached when it begins, and the generators again when one was lost.

use std::sync::{Mutex, PoisonError, atomic::AtomicBool};

use deadheat_model::machine::{self, HostRecord, HostRole};

use super::SessionError;
use crate::{
    agent::{Agents, Binary, Launcher},
    heat::{Generator, Hosts},
};

/// The agents on other hosts, as far as there are any.
#[derive(Default)]
pub(super) struct ReachedHosts {
    /// On all generators.
    pub(super) generators: LoadedFrom,
    /// On the database's host.
    pub(super) database: Option<Agents>,
    /// The hosts as they were found.
    pub(super) found: Vec<HostRecord>,
}

impl ReachedHosts {
    /// Starts an agent on each host.
    ///
    /// # Errors
    /// When a host cannot be reached, or `stop` was set meanwhile.
    pub(super) fn reach(
        hosts: Option<&machine::Hosts>,
        stop: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let Some(hosts) = hosts else {
            return Ok(Self::default());
        };
        let (generators, mut found) = LoadedFrom::reach(hosts, stop)?;
        let mut database = None;
        if let Some(host) = &hosts.database {
            let mut agents = agents(hosts, std::slice::from_ref(&host.host), stop)?;
            found.extend(agents.describe(HostRole::Database, stop)?);
            database = Some(agents);
        }
        Ok(Self {
            generators,
            database,
            found,
        })
    }
}

fn agents(
    hosts: &machine::Hosts,
    names: &[String],
    stop: &AtomicBool,
) -> Result<Agents, SessionError> {
    let launcher: Launcher = hosts.launcher.parse()?;
    let binary = hosts.agent.clone().map_or(Binary::Copied, Binary::At);
    Ok(Agents::launch(names, &launcher, &binary, stop)?)
}

/// Where the load of a session comes from: this process, or agents.
#[derive(Default)]
pub(super) struct LoadedFrom(Option<Mutex<Hosts>>);

impl LoadedFrom {
    /// Starts an agent on each generator, if there are any; with these as they were found.
    ///
    /// # Errors
    /// When one cannot be reached, or `stop` was set meanwhile.
    pub(super) fn reach(
        hosts: &machine::Hosts,
        stop: &AtomicBool,
    ) -> Result<(Self, Vec<HostRecord>), SessionError> {
        if hosts.generators.is_empty() {
            return Ok((Self::default(), Vec::new()));
        }
        let mut generators = agents(hosts, &hosts.generators, stop)?;
        let found = generators.describe(HostRole::Generator, stop)?;
        Ok((Self(Some(Mutex::new(Hosts::new(generators)))), found))
    }

    /// For the members of a heat.
    pub(super) fn generator(&self) -> Generator<'_> {
        self.0.as_ref().map_or(Generator::Here, Generator::Hosts)
    }

    /// Which host was lost and how, if one was.
    pub(super) fn lost(&self) -> Option<String> {
        let hosts = self.0.as_ref()?.lock();
        let hosts = hosts.unwrap_or_else(PoisonError::into_inner);
        hosts.lost().map(ToString::to_string)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn an_invalid_launcher_is_another_error_than_a_host_out_of_reach() {
        let hosts = machine::Hosts {
            generators: vec!["h2".to_owned()],
            database: None,
            launcher: "nonsense".to_owned(),
            agent: None,
            generator_cpus: Vec::new(),
            address: Ipv4Addr::LOCALHOST.into(),
        };
        let reached = LoadedFrom::reach(&hosts, &AtomicBool::new(false));
        let error = reached.err().unwrap().to_string();
        assert!(
            error.starts_with("reading the command that reaches the other hosts: \"nonsense\""),
            "{error}"
        );
    }
}
