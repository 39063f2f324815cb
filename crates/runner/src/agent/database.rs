//! A database on another host: there a cluster of Deadheat's own, here who asks for it.

use std::{net::IpAddr, sync::atomic::AtomicBool, time::Duration};

use super::{
    agents::{Agents, Pending},
    message::{AgentMessage, Order},
    remote::AgentError,
};
use crate::{
    process::{Supervision, TempFolder},
    services::{Access, PostgresOptions, Served},
};

/// A database that an agent has started. Dropping it ends it.
pub(super) struct HostedDatabase {
    // The order matters: the server ends before its logs go.
    served: Served,
    _logs: TempFolder,
}

impl HostedDatabase {
    /// Starts it.
    pub(super) fn start(access: Access, supervision: &Supervision) -> Result<Self, String> {
        let logs = TempFolder::create("deadheat-logs-", supervision);
        let logs = logs.map_err(|error| format!("making a folder for logs: {error}"))?;
        let options = PostgresOptions {
            access,
            ..PostgresOptions::new(supervision.clone(), logs.path())
        };
        let served = Served::start(&options).map_err(|error| error.to_string())?;
        Ok(Self {
            served,
            _logs: logs,
        })
    }

    /// The answer to the coordinator.
    pub(super) fn answer(&self) -> AgentMessage {
        AgentMessage::Serving {
            url: self.served.url.clone(),
            description: self.served.description.clone(),
        }
    }
}

/// Where a database is that another host serves.
pub struct Serving {
    /// With the password of its superuser.
    pub url: String,
    /// "PostgreSQL 15.18 from /usr/lib/postgresql/15/bin".
    pub description: String,
}

impl Agents {
    /// Has the one host start PostgreSQL on its address `listen`, for `client` and itself. It ends with the agent.
    ///
    /// # Errors
    /// When the host is lost, or has no PostgreSQL.
    pub(crate) fn database(
        &mut self,
        listen: IpAddr,
        client: IpAddr,
        stop: &AtomicBool,
    ) -> Result<Serving, AgentError> {
        self.say(0, &Order::Database { listen, client })?;
        let mut pending = Pending::all(self, Some(self.patience.database), stop);
        loop {
            match self.next(&mut pending)? {
                Some((_, _, AgentMessage::Serving { url, description })) => {
                    return Ok(Serving { url, description });
                }
                Some((index, _, other)) => return Err(self.agents[index].unexpected(&other)),
                None => {}
            }
        }
    }

    /// Whether all hosts are there, by what was heard of them until now.
    ///
    /// # Errors
    /// The first one that was lost.
    pub(crate) fn check(&mut self) -> Result<(), AgentError> {
        match self.next_within(Duration::ZERO)? {
            Some((index, _, other)) => Err(self.agents[index].unexpected(&other)),
            None => self.check_pulse(0..self.agents.len()),
        }
    }
}
