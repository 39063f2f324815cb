//! `deadheat doctor`: what about this machine, other hosts and the way to them would spoil a measurement. And the
//! lines that `deadheat run` says of it.

mod hosts;
mod text;

use std::path::Path;

use deadheat_document::{Document, Section, Tone, json::Body};
use deadheat_model::{
    Warning,
    figure::{counted, seconds},
    hosts::Hosts,
};
use deadheat_runner::{
    agent::Examined,
    doctor::{
        CONNECTIONS, Clocks, Examination, Fact, WATCH, WATCH_BEFORE_A_RUN, World, judge, of_several,
    },
    manifest::{self, ROOT_VARIABLE},
    session::SessionOptions,
};
use deadheat_shell::{
    data::{self, TextOrJson},
    exit::{Exit, Failure},
    output,
};
use serde::Serialize;

use self::hosts::ExaminedHost;
use crate::options::DoctorArgs;

/// Examines this machine, and the hosts that were named.
pub fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    let sink = args.data.open()?;
    let hosts = hosts::hosts(args).map_err(Failure::usage)?;
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
    let report = Report::new(&here, hosts.as_deref());
    let text = match sink.format {
        TextOrJson::Text => document(&here, hosts.as_deref(), report.warnings).text(sink.screen()),
        TextOrJson::Json => data::json(&report)?,
    };
    sink.write(&text)?;
    Ok(match &hosts {
        Some(hosts) if hosts.iter().all(|host| host.examined.is_none()) => Exit::Nothing,
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

/// What is not fine, for the session's record. Warnings are told of in a line or two.
pub fn before_a_run(options: &SessionOptions) -> Vec<Warning> {
    let points = options.workloads.iter().flat_map(|one| &one.points);
    let connections = points.map(|point| point.connections).max();
    let mut facts = judge(&World::here(
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

/// The most connections of all workloads; `None` outside a folder with workloads, and where they cannot be read.
fn connections() -> Option<u32> {
    let variable = std::env::var_os(ROOT_VARIABLE);
    let current = std::env::current_dir().ok()?;
    let root = manifest::find_root(None, variable.as_deref().map(Path::new), &current).ok()??;
    let catalogue = manifest::load(&root, &[]).ok()?;
    let points = catalogue.workloads.iter().flat_map(|one| &one.point);
    points.map(|point| point.connections).max()
}

/// What `--json` prints; docs/doctor.md describes it.
#[derive(Serialize)]
pub struct Report<'a> {
    /// Of this machine, the hosts and the way to them.
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
    reached: Option<Reached<'a>>,
}

#[derive(Serialize)]
struct Reached<'a> {
    name: &'a str,
    #[serde(flatten)]
    examination: &'a Examination,
    round_trip_seconds: f64,
    start_error_seconds: f64,
    clock_drift_ppm: f64,
    clock_drift_error_ppm: f64,
}

impl Body for Report<'_> {
    const FORMAT: &'static str = "deadheat-doctor";
    const SCHEMA: u32 = 1;
}

impl<'a> Report<'a> {
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
            Reached {
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
