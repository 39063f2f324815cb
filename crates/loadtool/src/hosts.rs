//! The hosts that a load comes from.

use std::net::SocketAddr;

use deadheat_model::{LoadSpec, load::Endpoint};
use deadheat_runner::agent::{Binary, LOCAL, Launcher};
use deadheat_shell::{
    exit::CommandFailure,
    hosts::{check_names, check_share},
};

use crate::options::HostsArgs;

/// The hosts that a load comes from, and how they are reached. Without hosts it comes from this process.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// The target, if it is another one on each host.
    own: Option<SocketAddr>,
    pub(crate) names: Vec<String>,
    pub(crate) launcher: Launcher,
    pub(crate) binary: Binary,
}

/// The hosts that were asked for, if `spec` can be shared among them.
pub(crate) fn hosts(args: &HostsArgs, spec: &LoadSpec) -> Result<Hosts, CommandFailure> {
    let names = &args.on;
    check_names("--on", names)?;
    check_share("--on", names.len(), spec.schedule.most_connections())?;
    let has_zone = |endpoint| matches!(endpoint, Endpoint::Tcp { address: SocketAddr::V6(address) } if address.scope_id() != 0);
    if names.iter().any(|name| name != LOCAL)
        && spec.routes().any(|(_, endpoint)| has_zone(endpoint))
    {
        return Err(CommandFailure::usage(
            "--on: the zone of an IPv6 address names an interface of this machine, which other hosts do not have; use another address",
        ));
    }
    let own = spec.routes().find_map(|(_, endpoint)| match endpoint {
        Endpoint::Tcp { address } if address.ip().is_loopback() => Some(address),
        Endpoint::Tcp { .. } | Endpoint::Unix { .. } => None,
    });
    Ok(Hosts {
        own,
        names: names.clone(),
        launcher: args.reach.launcher(),
        binary: args.reach.agent.clone().map_or(Binary::Copied, Binary::At),
    })
}

impl Hosts {
    /// Whether the load comes from other machines than this one.
    pub(crate) fn has_others(&self) -> bool {
        self.names.iter().any(|name| name != LOCAL)
    }

    /// The hosts, for the plan: "3 hosts: a, b, c, reached by ssh {host}; each has an equal share".
    pub(crate) fn describe(&self) -> Option<String> {
        if self.names.is_empty() {
            return None;
        }
        let count = deadheat_model::figure::counted(self.names.len() as u64, "host");
        let how = if self.has_others() {
            format!(", reached by {}", self.launcher)
        } else {
            String::new()
        };
        let own = self.own.filter(|_| self.has_others());
        let own = own.map_or(String::new(), |address| {
            format!("; each loads its own {address}, which is not this machine's")
        });
        Some(format!(
            "{count}: {}{how}; each has an equal share{own}",
            self.names.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use deadheat_model::{
        Schedule, StopRule,
        load::{Exchange, Expectation, RequestSpec, StatusSet, Target},
    };
    use deadheat_shell::hosts::LauncherArgs;

    use super::*;

    fn ask(names: &[&str], address: &str) -> Result<Hosts, CommandFailure> {
        let expect = Expectation {
            status: StatusSet::success(),
            length: None,
            content: None,
        };
        let schedule = Schedule::Closed {
            connections: 2,
            ramp: Duration::ZERO,
        };
        let spec = LoadSpec::new(
            Target::plain(address.parse().unwrap()),
            vec![Exchange::new(RequestSpec::get("/"), expect)],
            schedule,
            StopRule::Interrupt,
        );
        let args = HostsArgs {
            on: names.iter().map(|name| (*name).to_owned()).collect(),
            reach: LauncherArgs::default(),
        };
        hosts(&args, &spec)
    }

    #[test]
    fn a_load_that_cannot_be_shared_is_refused_with_the_reason() {
        let refusal = |names: &[&str], address| ask(names, address).unwrap_err().to_string();
        assert!(refusal(&["a", "a"], "10.0.0.1:80").contains("twice"));
        assert!(refusal(&["-oProxyCommand=x"], "10.0.0.1:80").contains("not the name of a host"));
        assert!(refusal(&["a", "b", "c"], "10.0.0.1:80").contains("2 connections"));
        let own = ask(&["local", "b"], "127.0.0.1:80")
            .unwrap()
            .describe()
            .unwrap();
        assert!(own.contains("each loads its own 127.0.0.1:80"), "{own}");
        let local = ask(&["local"], "127.0.0.1:80").unwrap();
        assert!(!local.has_others());
        let local = local.describe().unwrap();
        assert!(!local.contains("own"), "{local}");
        let both = ask(&["a", "b"], "10.0.0.1:80").unwrap();
        assert!(both.has_others());
        let said = both.describe().unwrap();
        assert!(said.starts_with("2 hosts: a, b, reached by ssh "), "{said}");
        assert_eq!(ask(&[], "10.0.0.1:80").unwrap().describe(), None);
    }
}
