//! Other hosts, which are examined at the same time as this machine.

use std::{thread, time::Duration};

use deadheat_runner::{
    agent::{Binary, Examined, Examinee, Launcher},
    doctor::{Examination, Fact, judge_link, unreached},
};
use deadheat_shell::launcher_args::check_names;

use crate::options::DoctorArgs;

/// The hosts that were asked for.
pub(super) struct Hosts {
    names: Vec<String>,
    launcher: Launcher,
    binary: Binary,
}

/// A host, as far as it was seen.
pub(super) struct ExaminedHost {
    /// As the user named it.
    pub(super) host: String,
    /// `None` if it was not reached, or lost.
    pub(super) examined: Option<Examined>,
    /// The way to it and its clock; or that it was not reached.
    pub(super) network: Vec<Fact>,
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
        ];
        return match unneeded.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(format!(
                "{option} is for other hosts: name them with --on, or omit it"
            )),
            None => Ok(None),
        };
    }
    check_names("--on", &args.on)?;
    Ok(Some(Hosts {
        names: args.on.clone(),
        launcher: args.reach.launcher(),
        binary: args.reach.agent.clone().map_or(Binary::Copied, Binary::At),
    }))
}

impl Hosts {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    /// Watches all hosts for `watch`, and this machine meanwhile, with `here`.
    pub(super) fn examine(
        self,
        watch: Duration,
        connections: u32,
        here: impl FnOnce() -> Examination,
    ) -> (Examination, Vec<ExaminedHost>) {
        let reached = self.reach();
        let (here, examined) = thread::scope(|scope| {
            let others: Vec<_> = reached
                .into_iter()
                .map(|reached| {
                    scope.spawn(move || {
                        let examined = reached?.examine(watch, connections);
                        examined.map_err(|error| error.problem)
                    })
                })
                .collect();
            let here = here();
            let others = others.into_iter().map(|other| joined(other.join()));
            (here, others.collect::<Vec<_>>())
        });
        let seen = self.names.into_iter().zip(examined);
        let seen = seen.map(|(host, outcome)| match outcome {
            Ok(examined) => ExaminedHost {
                host,
                network: judge_link(&examined.clocks),
                examined: Some(examined),
            },
            Err(why) => ExaminedHost {
                host,
                examined: None,
                network: vec![unreached(&why)],
            },
        });
        (here, seen.collect())
    }

    /// Starts an agent on each host, all at the same time.
    fn reach(&self) -> Vec<Result<Examinee, String>> {
        thread::scope(|scope| {
            let all: Vec<_> = self
                .names
                .iter()
                .map(|host| {
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

#[cfg(test)]
mod tests {
    use deadheat_shell::launcher_args::LauncherArgs;

    use super::*;

    fn asked(on: &[&str], agent: Option<&str>) -> Result<Option<Hosts>, String> {
        hosts(&DoctorArgs {
            data: Default::default(),
            results: "results".into(),
            watch: None,
            on: on.iter().map(|host| (*host).to_owned()).collect(),
            reach: LauncherArgs {
                agent: agent.map(Into::into),
                ..LauncherArgs::default()
            },
        })
    }

    #[test]
    fn what_is_wrong_is_said_before_any_host_is_reached() {
        let refusals = [
            (asked(&["a", "a"], None), "twice"),
            (asked(&["-x"], None), "not the name of a host"),
            (asked(&[], Some("/opt/deadheat")), "name them with --on"),
        ];
        for (refusal, why) in refusals {
            let refusal = refusal.err().expect("a refusal");
            assert!(refusal.contains(why), "{refusal}");
        }
        assert!(asked(&[], None).unwrap().is_none());
    }
}
