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
                      times are service times at capacity, not what a user waits at a given rate.",
            true => "Response times are those of independent arrivals at a steady rate; users also come in bursts. Where the \
                     load is a closed loop (a connection sends its next request when its answer has come), times are \
                     service times at capacity, not what a user waits at a given rate.",
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
    caveats.extend(controls(analysis));
    caveats.push(
        "One machine, one kernel, one set of versions and settings: another may order the stacks differently."
            .to_owned(),
    );
    caveats
}

/// What the session did not measure to judge itself.
fn controls(analysis: &Analysis) -> Vec<String> {
    let groups = || analysis.groups.iter();
    if !analysis.groups.is_empty() && groups().all(|group| group.point.counted.is_some()) {
        return vec![
            "Repetitions of published loads have neither a null server nor a stack that is measured twice (A/A): what the \
             generator could do at most, and the session's own noise, are not known."
                .to_owned(),
        ];
    }
    let floor = |group: &Group| group.twin.as_ref().and_then(|twin| twin.floor());
    let ceiling = |group: &Group| {
        let ceiling = group.ceiling.as_ref()?;
        Some(ceiling.throughput_per_second()?.median)
    };
    let mut caveats = Vec::new();
    if !groups().any(|group| floor(group).is_some()) {
        caveats.push(format!(
            "No stack was compared with itself under two names (A/A), so the session's own noise floor is not known; \
             differences below {} never count.",
            percent(analysis.settings.practical_difference)
        ));
    }
    if !groups().any(|group| ceiling(group).is_some()) {
        caveats.push(
            "The generator's ceiling was not measured with a null server. That the generator was not the limit is judged \
             from its workers' CPU time, from how busy its CPUs were beside the server's, and from Little's law."
                .to_owned(),
        );
    }
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
            let on = |side: &[usize], core: &[usize]| core.iter().any(|cpu| side.contains(cpu));
            let mut cores = record.header.machine.shared_cores.iter();
            if cores.any(|core| on(server, core) && on(generator, core)) {
                caveats.push(
                    "Server and generator ran on threads of one core: each was slower while the other worked."
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
