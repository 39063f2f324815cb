//! What a session does not show.

use deadheat_document::view::clean;
use deadheat_model::{figure, heats::SessionHeader, plan::Pinning};
use deadheat_stats::standings::Standings;

/// What the session does not show, a sentence or two each.
pub(super) fn caveats(header: &SessionHeader, standings: &Standings) -> Vec<String> {
    let mut loads = header.plan.loads.iter();
    let has_tls = loads.any(|load| load.point.protocol.is_over_tls());
    let way = match (&header.plan.hosts, has_tls) {
        (None, false) => {
            "Requests travelled over the loopback interface of one machine: there was no network card, no network and \
             no TLS."
        }
        (None, true) => {
            "Requests travelled over the loopback interface of one machine: there was no network card and no network."
        }
        (Some(_), false) => {
            "Requests travelled from the generators over a network, whose delay is in all times and whose bandwidth \
             bounds all rates. There was no TLS."
        }
        (Some(_), true) => {
            "Requests travelled from the generators over a network, whose delay is in all times and whose bandwidth \
             bounds all rates."
        }
    };
    let mut caveats = vec![way.to_owned(), loops(standings).to_owned()];
    if has_tls {
        caveats.push(
            "Figures over TLS are those of encryption on open connections, not of handshakes. Exceptions: connections that \
             were made again, and up to a tenth of them if their handshakes outlasted the warm-up. At equal work, each turn \
             opens new connections before it counts."
                .to_owned(),
        );
    }
    let machine = &header.machine;
    if let Some(name) = machine
        .congestion_control
        .as_ref()
        .filter(|_| machine.paces_loopback())
    {
        caveats.push(format!(
            "TCP's congestion control was {}, which paces the server's sending, even over loopback. Large answers \
             took longer and cost more than with Linux's default, cubic.",
            clean(name)
        ));
    }
    if header.plan.database_host().is_some() {
        caveats.push(
            "The database was reached over a network, whose delay is in all answers that need it."
                .to_owned(),
        );
    }
    caveats.extend(cpus(header));
    let loads = || standings.loads.iter();
    if !standings.loads.is_empty() && loads().all(|load| load.twin.is_none()) {
        caveats.push(
            "No stack was measured twice in one heat (A/A), so the method was not checked on this machine.".to_owned(),
        );
    }
    if !standings.loads.is_empty() && loads().all(|load| load.ceiling_per_second.is_none()) {
        caveats.push(
            "The null server was not measured, so the most that the generator can load here is not known.".to_owned(),
        );
    }
    if !header.published.is_empty() {
        caveats.push(
            "Published figures are single runs on other machines, of other versions and routes. That a ratio agrees or \
             differs proves neither side right or wrong. Here servers were warm, and a published one may have been cold."
                .to_owned(),
        );
    }
    caveats.push(
        "One machine, one kernel, one set of versions and settings: the ranking may differ on others.".to_owned(),
    );
    caveats
}

fn loops(standings: &Standings) -> &'static str {
    if standings.loads.iter().any(|load| !load.leads()) {
        "Response times are those of independent arrivals at a steady rate; users also come in bursts. Throughput is \
             that of closed loops: a connection sends its next request when it has its answer."
    } else {
        "All loads are closed loops: a connection sends its next request when it has its answer. Times are \
             measured at full load. At a lower rate users wait less; --rate shows how long."
    }
}

fn cpus(header: &SessionHeader) -> Vec<String> {
    let elsewhere = header.plan.is_loaded_elsewhere();
    let Pinning::Apart { server, generator } = &header.plan.pinning else {
        let pinned = if header.plan.cpu_budgets().is_empty() {
            "Nothing was pinned"
        } else {
            "Only servers were pinned"
        };
        let shared = format!("{pinned}: servers and generator took CPU time from each other.");
        return if elsewhere { Vec::new() } else { vec![shared] };
    };
    let mut caveats = Vec::new();
    if server.len() == 1 {
        caveats.push("Servers had one CPU. Nothing here shows how a stack uses more.".to_owned());
    }
    let on = |side: &[usize], core: &[usize]| core.iter().any(|cpu| side.contains(cpu));
    let mut cores = header.machine.shared_cores.iter();
    if cores.any(|core| on(server, core) && on(generator, core)) {
        let others = header.plan.beside_servers();
        let other = others.first().copied().unwrap_or("services");
        caveats.push(format!(
            "Server and {other} ran on threads of one core: each was slower while the other worked."
        ));
    }
    if header.postgres.is_some() && header.plan.database_host().is_none() {
        let who = if elsewhere {
            "The database had"
        } else {
            "The generator and the database shared"
        };
        caveats.push(format!(
            "{who} {}, which may have limited these figures.",
            figure::cpus(generator)
        ));
    }
    caveats
}
