//! `deadheat doctor`: what about this machine, other hosts and the way to them would spoil a measurement. And the
//! lines that `deadheat run` says of it.

mod hosts;
mod text;

use std::path::Path;

use deadheat_model::{
    hosts::Hosts,
    machine::{Finding, Level},
    words::counted,
};
use deadheat_report::document::{Document, Section, Tone};
use deadheat_runner::{
    agent::Examined,
    doctor::{CONNECTIONS, Examination, WATCH, WATCH_BEFORE_A_RUN, World, judge},
    manifest::{self, ROOT_VARIABLE},
    session::SessionOptions,
};
use serde_json::{Value, json};

use self::hosts::Seen;

use crate::{
    args::DoctorArgs,
    data::TextOrJson,
    exit::{Exit, Failure},
    output,
};

pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
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
            let (here, seen) = hosts.examine(watch, connections, || here().of_several());
            (here, Some(seen))
        }
    };
    let text = match sink.format {
        TextOrJson::Text => document(&here, hosts.as_deref()).text(sink.screen()),
        TextOrJson::Json => format!("{:#}\n", as_json(&here, hosts.as_deref())),
    };
    sink.write(&text)?;
    Ok(match &hosts {
        Some(hosts) if hosts.iter().all(|host| host.examined.is_none()) => Exit::Nothing,
        hosts if all_warnings(&here, hosts.as_deref()) > 0 => Exit::Failed,
        _ => Exit::Fine,
    })
}

fn all_warnings(here: &Examination, hosts: Option<&[Seen]>) -> usize {
    let hosts = hosts.unwrap_or_default().iter().map(warnings_of);
    text::warnings(&here.findings).count() + hosts.sum::<usize>()
}

fn warnings_of(host: &Seen) -> usize {
    let machine = host.examined.iter();
    let machine = machine.flat_map(|one| &one.examination.findings);
    let all = machine.chain(&host.network);
    all.filter(|one| one.level == Level::Warning).count()
}

fn document(here: &Examination, hosts: Option<&[Seen]>) -> Document {
    let warnings = all_warnings(here, hosts);
    let tone = match warnings {
        0 => Tone::Good,
        _ => Tone::Doubtful,
    };
    let summary = |one: &Examination| {
        let summary = text::summary(&one.findings);
        format!("{summary}; watched for {:.1} s", one.watched_seconds)
    };
    let Some(hosts) = hosts else {
        return Document::new(tone, summary(here)).sections(text::sections(&here.findings));
    };
    let of_machine = |title: String, one: &Examination| {
        let head = Section::new(title).paragraph(summary(one));
        [head]
            .into_iter()
            .chain(text::sections(&one.findings))
            .collect()
    };
    let mut sections: Vec<Section> = of_machine("This machine".to_owned(), here);
    for Seen {
        host,
        examined,
        network,
        ..
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
pub(crate) fn before_a_run(options: &SessionOptions) -> Vec<Finding> {
    let points = options.workloads.iter().flat_map(|one| &one.points);
    let connections = points.map(|point| point.connections).max();
    let mut findings = judge(&World::here(
        WATCH_BEFORE_A_RUN,
        &options.results,
        options.pinning,
        connections.unwrap_or(CONNECTIONS),
    ));
    let loaded_elsewhere = options.hosts.as_ref().is_some_and(Hosts::load_it);
    findings.retain(|finding| {
        // They are judged for a generator on this machine.
        finding.level != Level::Fine && !(loaded_elsewhere && finding.check == "cpus")
    });
    if let Some(lines) = text::in_short(&findings) {
        output::warn(&lines);
    }
    findings
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

/// docs/doctor.md describes it.
fn as_json(here: &Examination, hosts: Option<&[Seen]>) -> Value {
    let mut json = of_machine(here);
    json["warnings"] = json!(all_warnings(here, hosts));
    if let Some(hosts) = hosts {
        json["hosts"] = hosts.iter().map(of_host).collect();
    }
    json
}

fn of_machine(examination: &Examination) -> Value {
    json!({
        "watched_seconds": examination.watched_seconds,
        "other_cpu": examination.other_cpu,
        "steal": examination.steal,
        "machine": examination.machine,
        "findings": examination.findings,
    })
}

fn of_host(seen: &Seen) -> Value {
    let examined = seen.examined.as_ref();
    let mut json = examined.map_or_else(|| json!({}), |one| of_machine(&one.examination));
    json["host"] = json!(seen.host);
    json["warnings"] = json!(warnings_of(seen));
    json["network"] = json!(seen.network);
    if let Some(Examined { name, clocks, .. }) = examined {
        json["name"] = json!(name);
        json["round_trip_seconds"] = json!(clocks.trips.median.as_secs_f64());
        json["start_error_seconds"] = json!((clocks.trips.quickest / 2).as_secs_f64());
        json["clock_drift_ppm"] = json!(clocks.drift_ppm);
        json["clock_drift_error_ppm"] = json!(clocks.drift_error_ppm);
    }
    json
}
