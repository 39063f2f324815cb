//! Other hosts and the network to each: reached, examined at the same time as this machine, and measured one by one.

use std::{
    net::{IpAddr, Ipv4Addr},
    thread,
    time::Duration,
};

use deadheat_model::machine::Finding;
use deadheat_runner::{
    agent::{Binary, Examined, Examinee, LOCAL, Launcher},
    doctor::{Examination, Link, judge_clocks, judge_link, unmeasured, unreached},
};

use crate::{
    args::DoctorArgs,
    care::may_listen,
    output,
    reach::{check_names, own_address, resolved, way_to},
};

/// The hosts that were asked for.
pub(super) struct Hosts {
    /// With this machine's address that each reaches, or why that is not known.
    ways: Vec<(String, Result<IpAddr, String>)>,
    launcher: Launcher,
    binary: Binary,
}

/// A host, as far as it was seen.
pub(super) struct Seen {
    /// As the user named it.
    pub(super) host: String,
    /// `None` if it was not reached, or lost.
    pub(super) examined: Option<Examined>,
    /// What was measured of the network to it.
    pub(super) link: Option<Link>,
    /// Findings on the network; on a host that was not reached, that.
    pub(super) network: Vec<Finding>,
}

/// The hosts that `args` name, if any.
///
/// # Errors
/// What is wrong with them.
pub(super) fn hosts(args: &DoctorArgs) -> Result<Option<Hosts>, String> {
    if args.on.is_empty() {
        let unneeded = [
            ("--launcher", args.reach.launcher.is_some()),
            ("--agent", args.reach.agent.is_some()),
            ("--address", args.address.is_some()),
        ];
        return match unneeded.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(format!(
                "{option} is for other hosts: name them with --on, or omit it"
            )),
            None => Ok(None),
        };
    }
    check_names("--on", &args.on)?;
    let own = args.address.map(own_address).transpose()?;
    let ways = args.on.iter().map(|host| {
        let way = own.map_or_else(|| leading_to(host), Ok);
        (host.clone(), way)
    });
    Ok(Some(Hosts {
        ways: ways.collect(),
        launcher: args.reach.launcher(),
        binary: args.reach.agent.clone().map_or(Binary::Copied, Binary::At),
    }))
}

/// This machine's address on the way to a host.
fn leading_to(host: &str) -> Result<IpAddr, String> {
    if host == LOCAL {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    let address = resolved(host).and_then(way_to).map_err(|error| {
        format!("this machine's address that leads there is not known ({error})")
    })?;
    may_listen("--address", address).map(|()| address)
}

impl Hosts {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.ways.len()
    }

    /// Watches all hosts for `watch`, and this machine meanwhile, with `here`; then measures the network to each.
    pub(super) fn examine(
        self,
        watch: Duration,
        connections: u32,
        here: impl FnOnce() -> Examination,
    ) -> (Examination, Vec<Seen>) {
        let reached = self.reach();
        let (here, examined) = thread::scope(|scope| {
            let others: Vec<_> = reached
                .into_iter()
                .map(|reached| {
                    scope.spawn(move || {
                        let mut examinee = reached?;
                        let examined = examinee.examine(watch, connections);
                        let examined = examined.map_err(|error| error.problem)?;
                        Ok((examinee, examined))
                    })
                })
                .collect();
            let here = here();
            let others = others.into_iter().map(|other| joined(other.join()));
            (here, others.collect::<Vec<_>>())
        });
        // One by one: they share this machine's link.
        let seen = self.ways.into_iter().zip(examined);
        let seen = seen.map(|((host, way), outcome)| match outcome {
            Ok((examinee, examined)) => measured(host, way, examinee, examined),
            Err(why) => Seen {
                host,
                examined: None,
                link: None,
                network: vec![unreached(&why)],
            },
        });
        (here, seen.collect())
    }

    /// Starts an agent on each host, all at the same time.
    fn reach(&self) -> Vec<Result<Examinee, String>> {
        thread::scope(|scope| {
            let all: Vec<_> = self
                .ways
                .iter()
                .map(|(host, _)| {
                    scope.spawn(|| {
                        let reached = Examinee::reach(host, &self.launcher, &self.binary);
                        reached.map_err(|error| error.problem)
                    })
                })
                .collect();
            let all = all.into_iter().map(|one| joined(one.join()));
            all.collect()
        })
    }
}

fn joined<T>(outcome: thread::Result<Result<T, String>>) -> Result<T, String> {
    outcome.unwrap_or_else(|_| Err("examining it failed".to_owned()))
}

fn measured(
    host: String,
    way: Result<IpAddr, String>,
    mut examinee: Examinee,
    examined: Examined,
) -> Seen {
    if output::watched() {
        output::note(&format!("measuring the network to {host}"));
    }
    let mut network = judge_clocks(&examined.clocks);
    let link = match way {
        Ok(address) => examinee.probe(address).map_err(|why| {
            let remedy = "Let ports 20000 to 31999 through, or set another address of this machine with --address IP.";
            unmeasured(&why, remedy)
        }),
        Err(why) => Err(unmeasured(
            &why,
            "Give this machine's address with --address IP.",
        )),
    };
    match &link {
        Ok(link) => network.extend(judge_link(link)),
        Err(finding) => network.push(finding.clone()),
    }
    // Stable.
    network.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    Seen {
        host,
        examined: Some(examined),
        link: link.ok(),
        network,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::ReachArgs;

    fn asked(on: &[&str], address: Option<&str>) -> Result<Option<Hosts>, String> {
        hosts(&DoctorArgs {
            data: Default::default(),
            results: "results".into(),
            watch: None,
            on: on.iter().map(|host| (*host).to_owned()).collect(),
            reach: ReachArgs::default(),
            address: address.map(|text| text.parse().unwrap()),
        })
    }

    #[test]
    fn what_is_wrong_is_said_before_any_host_is_reached() {
        let refusals = [
            (asked(&["a", "a"], None), "twice"),
            (asked(&["-x"], None), "not the name of a host"),
            (asked(&[], Some("127.0.0.1")), "name them with --on"),
            (asked(&["a"], Some("192.0.2.1")), "neither this machine's"),
            (
                asked(&["a"], Some("10.255.255.254")),
                "an address of this machine",
            ),
        ];
        for (refusal, why) in refusals {
            let refusal = refusal.err().expect("a refusal");
            assert!(refusal.contains(why), "{refusal}");
        }
        assert!(asked(&[], None).unwrap().is_none());
    }

    #[test]
    fn a_host_whose_name_does_not_lead_there_is_still_examined() {
        let hosts = asked(&["local", "no-such-host.invalid"], None);
        let ways = hosts.unwrap().unwrap().ways;
        assert_eq!(ways[0].1, Ok(Ipv4Addr::LOCALHOST.into()));
        let why = ways[1].1.clone().unwrap_err();
        assert!(why.contains("is not known"), "{why}");
    }
}
