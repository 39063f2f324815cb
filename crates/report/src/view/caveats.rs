//! What a session does not show.

use deadheat_model::{SessionRecord, plan::Pinning, session::TargetRecord};
use deadheat_stats::{Analysis, Group};

use super::clean;
use crate::figure::{counted, list, percent};

/// What the session does not show, each in a sentence or two.
pub fn caveats(record: &SessionRecord, analysis: &Analysis) -> Vec<String> {
    let settings = &analysis.settings;
    let complete = analysis.blocks.complete.len();
    let groups = || analysis.groups.iter();
    let mut caveats = vec![
        "Requests travelled over the loopback interface of one machine: no network card, no network, no TLS."
            .to_owned(),
        match groups().any(|group| group.point.open.is_some()) {
            false => "The load is a closed loop: a connection sends its next request when its answer has come. The \
                      latencies are service times at capacity, not what a user waits at a given rate.",
            true => "Where the load is a closed loop (a connection sends its next request when its answer has come), the \
                     latencies are service times at capacity, not what a user waits at a given rate.",
        }
        .to_owned(),
    ];
    let machine = &record.header.machine;
    if let Some(name) = machine
        .congestion_control
        .as_ref()
        .filter(|_| machine.paces_loopback())
    {
        caveats.push(format!(
            "TCP's congestion control was {name}, which paces what a server sends even over loopback: long answers took \
             longer and cost more than with Linux's default, cubic."
        ));
    }
    caveats.extend(cpus(record));
    if analysis.blocks.indicative {
        caveats.push(format!(
            "{} of the {} needed for more than an indication: the figures are indicative.",
            counted(complete, "complete block"),
            settings.blocks_for_evidence
        ));
    }
    let floor_known = |group: &Group| {
        group
            .twin
            .as_ref()
            .is_some_and(|twin| twin.floor().is_some())
    };
    if !groups().any(floor_known) {
        caveats.push(format!(
            "No stack was measured twice under two names (A/A), so the session's own noise floor is not known; \
             differences below {} never count.",
            percent(settings.practical_difference)
        ));
    }
    if !groups().any(|group| group.ceiling.is_some()) {
        caveats.push(
            "The generator's ceiling was not measured with a null server. That the generator was not the limit is judged \
             from its workers' CPU time, from how busy its CPUs were beside the server's, and from Little's law."
                .to_owned(),
        );
    }
    caveats.push(
        "One machine, one kernel, one set of versions and settings: another may order the stacks differently."
            .to_owned(),
    );
    caveats
}

fn cpus(record: &SessionRecord) -> Vec<String> {
    let services = if record.header.postgres.is_some() {
        "the database and the slow upstream"
    } else {
        "whatever database or upstream it needs"
    };
    match &record.header.plan.pinning {
        Pinning::Off { .. } => vec![format!(
            "Nothing was pinned: the server, the generator and {services} took CPU time from each other."
        )],
        Pinning::Apart { server, generator } => {
            let mut caveats = Vec::new();
            if server.len() == 1 {
                caveats.push(
                    "The server had one CPU: a one-core server. Nothing here says how a stack uses more."
                        .to_owned(),
                );
            }
            let made_for =
                |target: &TargetRecord| target.cpus.map_or(usize::MAX, |cpus| cpus as usize);
            let fewer = record.header.targets.iter();
            let fewer: Vec<String> = fewer
                .filter(|target| made_for(target) < server.len())
                .map(|target| clean(&target.target.to_string()))
                .collect();
            if !fewer.is_empty() {
                caveats.push(format!(
                    "Not all had as many CPUs: {} had as many as the variant is made for, others {}.",
                    list(&fewer),
                    server.len()
                ));
            }
            caveats.push(format!(
                "The generator shared {} with {services}: where those are busy, the server's limit may be theirs.",
                super::facts::cpu_words(generator)
            ));
            caveats
        }
    }
}
