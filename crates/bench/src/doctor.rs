//! `deadheat doctor`: what would spoil a measurement on this machine, on other hosts or on the network between them; and
//! the lines about it that `deadheat run` prints.

mod text;

use std::{path::Path, thread, time::Duration};

use deadheat_document::{Document, Section, Tone, json::Body};
use deadheat_model::{
    Warning,
    figure::{counted, seconds},
    machine::Hosts,
};
use deadheat_runner::{
    agent::{Binary, Examined, Examinee, Launcher},
    doctor::{
        CONNECTIONS, Clocks, Examination, Fact, MachineState, WATCH, WATCH_BEFORE_A_RUN, judge,
        judge_link, of_several, unreached,
    },
    manifest::{self, ROOT_VARIABLE},
    session::SessionOptions,
};
use deadheat_shell::{
    data::{self, Format},
    exit::{CommandFailure, Exit},
    hosts::check_names,
    output,
};
use serde::Serialize;

use crate::options::DoctorArgs;

/// Examines this machine, and the hosts that were named.
pub fn doctor(args: &DoctorArgs) -> Result<Exit, CommandFailure> {
    let sink = args.data.open()?;
    let hosts = hosts(args)?;
    let watch = args.watch.unwrap_or(WATCH);
    if output::watched() {
        let elsewhere = hosts.as_ref().map_or(String::new(), |hosts| {
            format!(", here and on {}", counted(hosts.count(), "host"))
        });
        output::note(&format!(
            "watching other processes for {}{elsewhere}",
            humantime::format_duration(watch)
        ));
    }
    let connections = connections().unwrap_or(CONNECTIONS);
    let here = || Examination::here(watch, &args.results, connections);
    let (here, hosts) = match hosts {
        None => (here(), None),
        Some(hosts) => {
            let (mut here, seen) = hosts.examine(watch, connections, here);
            here.facts = of_several(here.facts);
            (here, Some(seen))
        }
    };
    let report = DoctorReport::new(&here, hosts.as_deref());
    let text = match sink.format {
        Format::Json => data::json(&report)?,
        _ => document(&here, hosts.as_deref(), report.warnings).text(sink.screen()),
    };
    sink.write(&text)?;
    Ok(match &hosts {
        Some(hosts) if hosts.iter().all(|host| host.examined.is_none()) => Exit::NoResult,
        _ if report.warnings > 0 => Exit::Failed,
        _ => Exit::Fine,
    })
}

fn document(here: &Examination, hosts: Option<&[ExaminedHost]>, warnings: usize) -> Document {
    let tone = match warnings {
        0 => Tone::Good,
        _ => Tone::Doubtful,
    };
    let summary = |one: &Examination| {
        let summary = text::summary(&one.facts);
        format!("{summary}; watched for {}", seconds(one.watched_seconds))
    };
    let Some(hosts) = hosts else {
        return Document::new(tone, summary(here)).sections(text::sections(&here.facts));
    };
    let of_machine = |title: String, one: &Examination| {
        let head = Section::new(title).paragraph(summary(one));
        let sections = [head].into_iter().chain(text::sections(&one.facts));
        sections.collect::<Vec<_>>()
    };
    let mut sections = of_machine("This machine".to_owned(), here);
    for ExaminedHost {
        host,
        examined,
        network,
    } in hosts
    {
        let network_title = match examined {
            None => format!("Host {host}"),
            Some(_) => format!("Between this machine and {host}"),
        };
        if let Some(Examined {
            name, examination, ..
        }) = examined
        {
            let name = match name {
                name if name == host => String::new(),
                name => format!(" ({name})"),
            };
            sections.extend(of_machine(format!("Host {host}{name}"), examination));
        }
        sections.push(Section::new(network_title).paragraph(text::summary(network)));
        sections.extend(text::sections(network));
    }
    let headline = format!(
        "{} on this machine and {}",
        counted(warnings, "warning"),
        counted(hosts.len(), "host")
    );
    Document::new(tone, headline).sections(sections)
}

/// Examines the machine, and returns the warnings for the session's record. Prints a line or two about them to standard
/// error.
pub fn before_a_run(options: &SessionOptions) -> Vec<Warning> {
    let points = options.workloads.iter().flat_map(|one| &one.points);
    let connections = points.map(|point| point.connections).max();
    let mut facts = judge(&MachineState::here(
        WATCH_BEFORE_A_RUN,
        &options.results,
        options.pinning,
        connections.unwrap_or(CONNECTIONS),
    ));
    if options.hosts.as_ref().is_some_and(Hosts::load_it) {
        facts = of_several(facts);
    }
    if let Some(lines) = text::in_short(&facts) {
        output::warn(&lines);
    }
    facts.into_iter().filter_map(|fact| fact.warning).collect()
}

/// The largest number of connections of any load point; `None` outside a folder with workloads, or if they cannot be
/// read.
fn connections() -> Option<u32> {
    let variable = std::env::var_os(ROOT_VARIABLE);
    let current = std::env::current_dir().ok()?;
    let root = manifest::find_root(None, variable.as_deref().map(Path::new), &current).ok()??;
    let catalogue = manifest::load(&root, &[]).ok()?;
    let points = catalogue.workloads.iter().flat_map(|one| &one.point);
    points.map(|point| point.connections).max()
}

/// The output of `--json` (docs/doctor.md).
#[derive(Serialize)]
pub struct DoctorReport<'a> {
    /// The number of warnings about this machine, the hosts and the network between them.
    warnings: usize,
    #[serde(flatten)]
    here: &'a Examination,
    #[serde(skip_serializing_if = "Option::is_none")]
    hosts: Option<Vec<HostReport<'a>>>,
}

#[derive(Serialize)]
struct HostReport<'a> {
    host: &'a str,
    warnings: usize,
    network: &'a [Fact],
    #[serde(flatten)]
    reached: Option<HostExamination<'a>>,
}

#[derive(Serialize)]
struct HostExamination<'a> {
    name: &'a str,
    #[serde(flatten)]
    examination: &'a Examination,
    round_trip_seconds: f64,
    start_error_seconds: f64,
    clock_drift_ppm: f64,
    clock_drift_error_ppm: f64,
}

impl Body for DoctorReport<'_> {
    const FORMAT: &'static str = "deadheat-doctor";
    const SCHEMA: u32 = 1;
}

impl<'a> DoctorReport<'a> {
    fn new(here: &'a Examination, hosts: Option<&'a [ExaminedHost]>) -> Self {
        let hosts = hosts.map(|hosts| hosts.iter().map(HostReport::new).collect::<Vec<_>>());
        let of_hosts = hosts.iter().flatten().map(|host| host.warnings);
        Self {
            warnings: text::warnings(&here.facts) + of_hosts.sum::<usize>(),
            here,
            hosts,
        }
    }
}

impl<'a> HostReport<'a> {
    fn new(seen: &'a ExaminedHost) -> Self {
        let examined = seen.examined.as_ref();
        let warnings = examined.map_or(0, |one| text::warnings(&one.examination.facts));
        let reached = examined.map(|one| {
            let Clocks {
                trips,
                drift_ppm: clock_drift_ppm,
                drift_error_ppm: clock_drift_error_ppm,
            } = one.clocks;
            HostExamination {
                name: &one.name,
                examination: &one.examination,
                round_trip_seconds: trips.median.as_secs_f64(),
                start_error_seconds: (trips.quickest / 2).as_secs_f64(),
                clock_drift_ppm,
                clock_drift_error_ppm,
            }
        });
        Self {
            host: &seen.host,
            warnings: warnings + text::warnings(&seen.network),
            network: &seen.network,
            reached,
        }
    }
}

/// The other hosts that the arguments name, and how they are reached.
struct HostsToExamine {
    names: Vec<String>,
    launcher: Launcher,
    binary: Binary,
}

/// The examination of another host.
struct ExaminedHost {
    /// The host's name as typed.
    host: String,
    /// `None` if it was not reached, or lost.
    examined: Option<Examined>,
    /// Facts about the network path and the host's clock, or that the host was not reached.
    network: Vec<Fact>,
}

/// The hosts that `args` name, if any.
///
/// # Errors
/// Invalid hosts or options.
fn hosts(args: &DoctorArgs) -> Result<Option<HostsToExamine>, CommandFailure> {
    if args.on.is_empty() {
        let unneeded = [
            ("--launcher", args.reach.launcher.is_some()),
            ("--agent", args.reach.agent.is_some()),
        ];
        return match unneeded.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(CommandFailure::usage(format!(
                "{option} is for other hosts: name them with --on, or omit it"
            ))),
            None => Ok(None),
        };
    }
    check_names("--on", &args.on)?;
    Ok(Some(HostsToExamine {
        names: args.on.clone(),
        launcher: args.reach.launcher(),
        binary: args.reach.agent.clone().map_or(Binary::Copied, Binary::At),
    }))
}

impl HostsToExamine {
    fn count(&self) -> usize {
        self.names.len()
    }

    /// Watches all hosts for `watch`, and this machine meanwhile, with `here`.
    fn examine(
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
    use deadheat_shell::hosts::LauncherArgs;

    use super::*;

    fn asked(on: &[&str], agent: Option<&str>) -> Result<Option<HostsToExamine>, CommandFailure> {
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
            let refusal = refusal.err().expect("a refusal").to_string();
            assert!(refusal.contains(why), "{refusal}");
        }
        assert!(asked(&[], None).unwrap().is_none());
    }
}
