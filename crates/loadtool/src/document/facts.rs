//! The facts next to the distributions: answers, bytes, connections, the generator's own health, provenance.

use deadheat_model::{
    LoadRecord, Wait,
    figure::{
        bytes, capital, count, counted, figure, latency as seconds, per_second, percent, share,
        size,
    },
    observation::WorkerHealth,
    record::GeneratorHost,
};

use super::tables::latency_name;
use crate::analysis::{
    BUSY, CPU_WAIT, FAILURES, Latency, LatencyKind, LoadAnalysis, LoadFigures, requests_for,
};

/// Names with their values.
pub(super) type Facts = Vec<(String, String)>;

fn fact(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

/// Workers that are named one by one; of more, only the extremes are.
const NAMED_WORKERS: usize = 8;

/// Throughput, attempts and bytes, of the measurement.
pub(super) fn answers(record: &LoadRecord, figures: &LoadFigures) -> Facts {
    let observation = &record.observation;
    let measured = &observation.measured;
    let cut = match figures.answers - measured.succeeded {
        0 => String::new(),
        cut => format!(
            ": {} that began in it, and {} of the {} from the warm-up, in place of as many still in flight at the end",
            count(measured.succeeded),
            count(cut),
            count(measured.carried_in)
        ),
    };
    let none_ended = observation.none_ended();
    let throughput = match &none_ended {
        Some(why) => format!("not known: {why}"),
        None => format!(
            "{} valid answers/s ({} in {}{cut})",
            figure(figures.throughput_per_second),
            count(figures.answers),
            seconds(figures.answer_seconds)
        ),
    };
    let mut facts = vec![fact("Throughput", throughput)];
    if let (Some(open), Some(rate)) = (&observation.open, figures.offered_per_second) {
        let sent = figures
            .sent_share
            .map_or(String::new(), |sent| format!(": {} sent", share(sent)));
        let never_sent = match observation.never_sent() {
            0 => String::new(),
            number => format!(", {} failed before they were sent", count(number)),
        };
        facts.push(fact(
            "Offered",
            format!(
                "{} requests/s ({}{sent}, {} unsent at the end{never_sent})",
                figure(rate),
                counted(open.offered, "request"),
                count(open.unsent)
            ),
        ));
    }
    facts.push(fact(
        "Attempts",
        format!(
            "{} issued ({}){}",
            counted(measured.issued, "request"),
            per_second(figures.attempts_per_second),
            match measured.carried_in {
                0 => String::new(),
                carried => format!(", {} in flight from the warm-up", count(carried)),
            }
        ),
    ));
    let failed = figures
        .failed_share
        .filter(|failed| *failed > 0.0)
        .map_or(String::new(), |failed| format!(" ({})", share(failed)));
    facts.push(fact(
        "Outcome",
        format!(
            "of these, {} answered validly, {} failed{failed}, {} in flight at the end",
            count(measured.succeeded),
            count(measured.failed.total()),
            count(measured.in_flight)
        ),
    ));
    let bytes = |value: f64| format!("{}/s", bytes(value));
    let goodput = match none_ended {
        Some(_) => "not known".to_owned(),
        None => format!(
            "{} in bodies of valid answers",
            bytes(figures.valid_body_bytes_per_second)
        ),
    };
    facts.push(fact("Goodput", goodput));
    facts.push(fact(
        "Received",
        format!(
            "{} in all, {} in bodies, of wrong answers too",
            bytes(figures.received_bytes_per_second),
            bytes(figures.body_bytes_per_second)
        ),
    ));
    facts.push(fact("Sent", bytes(figures.sent_bytes_per_second)));
    if observation.content_checked > 0 {
        facts.push(fact(
            "Content",
            format!(
                "compared of {}",
                counted(observation.content_checked, "answer")
            ),
        ));
    }
    if figures.redirects > 0 {
        facts.push(fact(
            "Redirects",
            format!("{}, not followed", count(figures.redirects)),
        ));
    }
    if !observation.followed.is_empty() {
        let of_each = observation.followed.iter();
        let of_each = of_each.map(|(status, found)| format!("{} with {status}", count(*found)));
        facts.push(fact(
            "Followed",
            format!(
                "{} ({}), in the time of their requests",
                counted(observation.followed.values().sum::<u64>(), "redirect"),
                of_each.collect::<Vec<_>>().join(", ")
            ),
        ));
    }
    if let Some(cookies) = &observation.cookies {
        let refused = match cookies.refused {
            0 => String::new(),
            refused => format!(
                ", {} refused (malformed, for another host, or Secure without TLS)",
                count(refused)
            ),
        };
        facts.push(fact(
            "Cookies",
            format!(
                "{} set, {} removed{refused}; {} sent some, over the whole load",
                count(cookies.set),
                count(cookies.removed),
                counted(cookies.sent, "request")
            ),
        ));
    }
    if observation.resent > 0 {
        facts.push(fact(
            "Sent again",
            format!(
                "{} that a closing connection had left unanswered, over the whole load",
                counted(observation.resent, "request")
            ),
        ));
    }
    facts
}

/// How connections were made and used, over the whole load.
pub(super) fn connections(record: &LoadRecord, figures: &LoadFigures) -> Facts {
    let observation = &record.observation;
    let mut facts = vec![fact(
        "Opened",
        format!(
            "{} over the whole load; at most {} at once, of {}",
            count(observation.connections_opened),
            count(observation.connections_peak),
            count(u64::from(record.spec.schedule.most_connections()))
        ),
    )];
    let open = record.spec.schedule.is_open();
    for kind in [LatencyKind::Connect, LatencyKind::Handshake] {
        if let Some(times) = figures.latency(kind) {
            facts.push(fact(&capital(latency_name(kind, open)), summary(times)));
        }
    }
    if let Some(tls) = &observation.tls {
        let agreed = if tls.agreed.is_empty() {
            "nothing agreed on".to_owned()
        } else {
            tls.agreed.clone()
        };
        facts.push(fact(
            "TLS",
            format!(
                "{agreed}; {}, {} resumed",
                counted(tls.full, "full handshake"),
                count(tls.resumed)
            ),
        ));
    }
    let answers = &observation.answers_per_connection;
    if let (Some(least), Some(median), Some(most)) =
        (answers.least(), answers.median(), answers.most())
    {
        facts.push(fact(
            "Answers on each",
            format!(
                "minimum {}, median {}, maximum {}",
                count(least),
                count(median),
                count(most)
            ),
        ));
    }
    facts
}

/// "median 178 µs, p99 310 µs, longest 402 µs".
fn summary(times: &Latency) -> String {
    let median = times.shown(50.0).map_or(String::new(), |median| {
        format!("median {}, ", seconds(median))
    });
    let p99 = times
        .shown(99.0)
        .map_or(String::new(), |p99| format!("p99 {}, ", seconds(p99)));
    format!("{median}{p99}longest {}", seconds(times.most_seconds))
}

/// What each host contributed, how busy its workers were, and how exactly it began with the others.
pub(super) fn hosts(record: &LoadRecord) -> Facts {
    let of_host = |host: &GeneratorHost| {
        let found = &host.observation;
        let times = match &found.open {
            Some(open) => &open.response_time,
            None => &found.service_time,
        };
        let p99 = times
            .quantile(0.99)
            .filter(|_| times.count() >= requests_for(99.0));
        let p99 = p99.map_or(String::new(), |p99| {
            format!(", p99 {}", seconds(p99.as_secs_f64()))
        });
        let name = if host.host == host.name {
            host.host.clone()
        } else {
            format!("{} ({})", host.host, host.name)
        };
        fact(
            &name,
            format!(
                "{} valid answers/s{p99}, {} failed; {}; clock within {}",
                figure(found.throughput()),
                count(found.measured.failed.total()),
                workers(&found.workers),
                seconds(host.clock_error.as_secs_f64())
            ),
        )
    };
    record.hosts.iter().map(of_host).collect()
}

/// What became of each of several addresses.
pub(super) fn addresses(record: &LoadRecord) -> Facts {
    let spec = &record.spec;
    let both = spec.routes().zip(&record.observation.routes);
    both.map(|((target, endpoint), seen)| {
        let name = if spec.others.is_empty() {
            endpoint.to_string()
        } else {
            format!("{} ({endpoint})", target.origin())
        };
        fact(
            &name,
            format!(
                "{} opened, {}, {} failed",
                counted(seen.connections_opened, "connection"),
                counted(seen.succeeded, "valid answer"),
                count(seen.failed)
            ),
        )
    })
    .collect()
}

/// How the generator itself fared.
pub(super) fn generator(record: &LoadRecord, analysis: &LoadAnalysis) -> Facts {
    let figures = &analysis.figures;
    let observation = &record.observation;
    let mut facts = vec![fact(
        "Busy",
        format!(
            "{} (limit: {})",
            workers(&observation.workers),
            percent(BUSY)
        ),
    )];
    if !record.spec.schedule.is_open() {
        let how = match record.spec.wait {
            Wait::Sleep => "asleep: waking them is in the server's figures",
            Wait::Poll => "awake (polling), which does not count as busy",
        };
        facts.push(fact("Waiting", format!("for answers {how}")));
    }
    if let Some(waited) = figures.cpu_wait {
        facts.push(fact(
            "CPU wait",
            format!(
                "{} of the time a worker's CPU was taken (reported above {})",
                share(waited),
                percent(CPU_WAIT)
            ),
        ));
    }
    if let Some(lag) = figures.latency(LatencyKind::SendLag) {
        facts.push(fact("Send lag", summary(lag)));
    }
    // Failed requests are in flight, too, and are in no service time.
    let few_failed = figures.failed_share <= Some(FAILURES);
    let in_flight = figures.wanted_in_flight.zip(figures.mean_in_flight);
    if let Some((wanted, found)) = in_flight.filter(|_| few_failed) {
        facts.push(fact(
            "In flight",
            format!(
                "{} of {} on average (throughput × mean service time)",
                figure(found),
                count(wanted as u64)
            ),
        ));
    }
    if let (Some(_), Some(found)) = (record.spec.think, figures.mean_in_flight) {
        let users = record.spec.schedule.most_connections();
        facts.push(fact(
            "In flight",
            format!(
                "{} of {} on average; the others thought",
                figure(found),
                counted(users, "connection")
            ),
        ));
    }
    let queues = &observation.receive_queues;
    if queues.connections > 0 {
        facts.push(fact(
            "Unread",
            format!(
                "{} of {} looked at had unread bytes, at most {}",
                share(figures.queued_share),
                counted(queues.connections, "connection"),
                size(queues.most_bytes)
            ),
        ));
    }
    if let Some(trend) = figures.trend {
        let change = trend.in_words(["from nothing", "−", "+"]);
        facts.push(fact("Trend", format!("throughput {change}")));
    }
    facts
}

fn workers(workers: &[WorkerHealth]) -> String {
    if workers.is_empty() {
        return "not known".to_owned();
    }
    let mut order: Vec<(usize, &WorkerHealth)> = workers.iter().enumerate().collect();
    if order.len() > NAMED_WORKERS {
        order.sort_by(|(_, one), (_, other)| other.busy().total_cmp(&one.busy()));
        let least = order[order.len() - 1];
        return format!(
            "of {} workers the busiest {}, the idlest {}",
            count(order.len() as u64),
            worker(order[0]),
            worker(least)
        );
    }
    let all: Vec<String> = order.into_iter().map(worker).collect();
    all.join(", ")
}

/// "worker 0 on CPU 1 97.4 %".
fn worker((index, health): (usize, &WorkerHealth)) -> String {
    let place = health
        .cpu
        .map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
    format!("worker {index}{place} {}", percent(health.busy()))
}

/// Where the figures come from.
pub(super) fn provenance(record: &LoadRecord) -> Facts {
    let (spec, machine) = (&record.spec, &record.machine);
    let known = |text: &str| {
        if text.is_empty() {
            "not known".to_owned()
        } else {
            text.to_owned()
        }
    };
    let timeouts = &spec.timeouts;
    let span = |duration: std::time::Duration| seconds(duration.as_secs_f64());
    let mut facts = vec![
        fact("Started", known(&record.started)),
        fact("Deadheat", known(&record.deadheat)),
        fact("URL", record.url.as_str()),
        fact(
            "Machine",
            format!(
                "{}, {}, {}",
                known(&machine.cpu_model),
                counted(machine.cpus.len(), "CPU"),
                bytes(machine.memory_bytes as f64)
            ),
        ),
        fact(
            "System",
            format!("{}, kernel {}", known(&machine.os), known(&machine.kernel)),
        ),
    ];
    let labels = spec.labels.iter();
    facts.extend(labels.map(|(key, value)| fact("Label", format!("{key} = {value}"))));
    if let Some(governor) = &machine.governor {
        facts.push(fact("Governor", governor.as_str()));
    }
    if let Some(name) = &machine.congestion_control {
        facts.push(fact("TCP", format!("congestion control {name}")));
    }
    if !machine.mitigations.is_empty() {
        facts.push(fact("Mitigations", machine.mitigations.join("; ")));
    }
    facts.push(fact("Seed", spec.seed.to_string()));
    facts.push(fact(
        "Timeouts",
        format!(
            "connect {}, request {}, drain {}",
            span(timeouts.connect),
            span(timeouts.request),
            span(timeouts.drain)
        ),
    ));
    facts
}

/// How many events streams had, and how long none came. Empty where they are not recorded.
pub(super) fn events(record: &LoadRecord, figures: &LoadFigures) -> Facts {
    let Some(found) = &figures.events else {
        return Facts::new();
    };
    let rate = per_second(found.events_per_second);
    let mut facts = vec![fact("Events", format!("{} ({rate})", count(found.events)))];
    let open = record.observation.events.as_ref();
    let open = open.map_or(0.0, |seen| seen.open_gap.as_secs_f64());
    if let Some(longest) = found.longest_gap_seconds {
        let unfinished = if longest == open {
            ", when the measurement ended"
        } else {
            ""
        };
        facts.push(fact("Longest gap", seconds(longest) + unfinished));
    }
    if found.without > 0 {
        facts.push(fact("Without one", counted(found.without, "valid answer")));
    }
    facts
}

/// Failures as they were seen; equal ones once, with how many there are.
pub(super) fn examples(record: &LoadRecord) -> Facts {
    let mut seen: Vec<((String, String), usize)> = Vec::new();
    for example in &record.observation.examples {
        let example = fact(example.kind.name(), example.detail.as_str());
        match seen.iter_mut().find(|(other, _)| *other == example) {
            Some((_, times)) => *times += 1,
            None => seen.push((example, 1)),
        }
    }
    let shown = seen.into_iter().map(|((name, value), times)| match times {
        1 => (name, value),
        times => (name, format!("{value} (×{times})")),
    });
    shown.collect()
}
