//! What speaks against the figures of a load, each check with its threshold and its sentence.

mod connections;
mod generator;
mod open_loop;
mod progress;

use deadheat_model::{
    LoadRecord, Schedule,
    figure::{count, counted},
    load::Endpoint,
    load_record::GeneratorHost,
    warning::{Level, Warning, doubt, note},
};

pub use self::{
    connections::FAILURES,
    generator::{BUSY, CPU_WAIT},
};
use super::{
    LatencyKind, LoadFigures,
    figures::{REDIRECTS, SHOWN_PERCENTS, requests_for},
};

/// The percentiles at which parts of the response time are compared with it: the highest with samples enough.
const TAILS: [f64; 4] = [99.0, 95.0, 90.0, 50.0];
/// Longer answers than this many bytes are paced: shorter ones go out in a burst.
const PACED_BYTES: u64 = 16 * 1024;

/// What every check looks at.
struct Load<'a> {
    record: &'a LoadRecord,
    figures: &'a LoadFigures,
}

/// All warnings, the gravest first.
pub(super) fn all(record: &LoadRecord, figures: &LoadFigures) -> Vec<Warning> {
    let load = Load { record, figures };
    let mut warnings = load.on_hosts();
    warnings.extend(load.busy());
    warnings.extend(load.of_some_length());
    warnings.extend(load.no_local_port());
    warnings.extend(load.not_conserved());
    // Before what makes times differ: those of requests that failed are missing altogether.
    warnings.extend(load.not_connected());
    warnings.extend(load.failures());
    warnings.extend(load.no_continue());
    warnings.extend(load.reconnect_pauses());
    if let Some(open) = &record.observation.open {
        warnings.extend(load.unsent(open));
        warnings.extend(load.backlog(open));
        warnings.extend(load.send_lag());
        warnings.extend(load.connection_wait());
    }
    warnings.extend(load.unfinished());
    warnings.extend(load.fewer_connections());
    warnings.extend(load.fewer_streams());
    warnings.extend(load.uneven());
    warnings.extend(load.queued());
    warnings.extend(load.unsteady());
    warnings.extend(load.silence());
    warnings.extend(load.interrupted());
    warnings.extend(load.few_answers());
    warnings.extend(load.redirects());
    warnings.extend(load.no_warm_up());
    warnings.extend(load.closed_loop());
    warnings.extend(load.same_machine());
    warnings.extend(load.paced());
    warnings.sort_by_key(|warning| warning.level);
    warnings
}

fn requests(number: u64) -> String {
    counted(number, "request")
}

impl Load<'_> {
    /// What speaks against each host's own generator.
    fn on_hosts(&self) -> Vec<Warning> {
        let hosts = self.record.hosts.iter();
        let of_host = |host: &GeneratorHost| {
            let record = LoadRecord {
                machine: host.machine.clone(),
                observation: host.observation.clone(),
                intervals: Vec::new(),
                hosts: Vec::new(),
                ..self.record.clone()
            };
            let warnings = all(&record, &LoadFigures::new(&record)).into_iter();
            let own = warnings.filter(|one| one.level == Level::Limit || one.id == "cpu-wait");
            let named = own.map(|one| Warning {
                sentence: format!("On {}: {}", host.host, one.sentence),
                ..one.with("host", host.host.as_str())
            });
            named.collect::<Vec<Warning>>()
        };
        hosts.flat_map(of_host).collect()
    }

    /// One kind of latency in seconds, at the highest percentile that has enough samples both of it and of `other`.
    fn tail(&self, of: LatencyKind, other: LatencyKind) -> Option<(f64, f64)> {
        let latency = self.figures.latency(of)?;
        let samples = self.figures.latency(other).map(|other| other.samples);
        let enough = latency.samples.min(samples.unwrap_or(latency.samples));
        let percent = TAILS
            .into_iter()
            .find(|percent| enough >= requests_for(*percent))?;
        Some((percent, latency.at(percent)?))
    }

    /// A closed loop's connections, if it has one.
    fn closed(&self) -> Option<u64> {
        match self.record.spec.schedule {
            Schedule::Closed { connections, .. } => Some(u64::from(connections)),
            Schedule::Open { .. } => None,
        }
    }

    /// Whether connections carry as many requests as the server allows, and not fewer by intent.
    fn keeps_alive(&self) -> bool {
        let spec = &self.record.spec;
        let ends_streams = spec.stream.is_some_and(|stream| stream.enough.is_some());
        !spec.protocol.is_per_request() && spec.most_per_connection.is_none() && !ends_streams
    }

    /// Whether the connections were made once and stayed.
    fn connections_stayed(&self) -> bool {
        let observation = &self.record.observation;
        self.keeps_alive() && observation.connections_opened <= observation.connections_peak
    }

    fn not_conserved(&self) -> Option<Warning> {
        let observation = &self.record.observation;
        let conserved = observation.total.is_conserved() && observation.measured.is_conserved();
        (!conserved).then(|| {
            doubt(
                "not-conserved",
                "The counts contradict each other: this is a bug of Deadheat, please report it.",
            )
        })
    }

    fn interrupted(&self) -> Option<Warning> {
        self.record.interrupted.then(|| {
            doubt(
                "interrupted",
                "The load was interrupted, so the figures cover only the time before that.",
            )
        })
    }

    fn few_answers(&self) -> Option<Warning> {
        let answers = self.record.observation.measured.succeeded;
        let mut percents = SHOWN_PERCENTS.iter().copied();
        // Beyond p99 nobody misses one that is left out.
        let percent = percents.find(|percent| *percent <= 99.0 && answers < requests_for(*percent));
        let percent = percent.filter(|_| answers > 0)?;
        let needed = requests_for(percent);
        let sentence = format!(
            "Too few valid answers for p{percent} and above: {}, and p{percent} needs {}.",
            count(answers),
            count(needed)
        );
        Some(
            note("few-answers", sentence)
                .with("answers", answers)
                .with("percent", percent)
                .with("needed", needed),
        )
    }

    fn redirects(&self) -> Option<Warning> {
        let answers = self.figures.redirects;
        let statuses = self.record.observation.statuses.keys();
        let valid = statuses
            .filter(|status| REDIRECTS.contains(status))
            .any(|status| self.expects(*status));
        // Those that lead nowhere are failures.
        let followed = self.record.spec.redirects > 0;
        let sentence = format!(
            "{} led elsewhere (3xx); redirects are counted, not followed, and here {} valid answers.",
            counted(answers, "answer"),
            if valid { "they are" } else { "they are no" }
        );
        (answers > 0 && !followed).then(|| {
            note("redirects", sentence)
                .with("answers", answers)
                .with("valid", valid)
        })
    }

    fn expects(&self, status: u16) -> bool {
        let mut exchanges = self.record.spec.exchanges.iter();
        exchanges.any(|exchange| exchange.expect.status.contains(status))
    }

    fn no_warm_up(&self) -> Option<Warning> {
        self.record.spec.warm_up.is_zero().then(|| {
            note(
                "no-warm-up",
                "There was no warm-up, so the figures include the set-up of connections and cold caches.",
            )
        })
    }

    /// A slow server is asked less often, so that its slow phases are under-represented (coordinated omission).
    fn closed_loop(&self) -> Option<Warning> {
        let answered = self.record.observation.measured.succeeded > 0;
        let closed = self.closed().filter(|_| answered);
        closed.map(|_| {
            Warning::new(
                Level::Routine,
                "closed-loop",
                "A closed loop sends fewer requests to a slow server, so slow phases count too little (coordinated \
                 omission); an open loop (--rate) shows the waits of users.",
            )
        })
    }

    fn is_loopback(&self) -> bool {
        // Where a server is behind a proxy is not known.
        let routes = self.record.spec.routes();
        let mut direct = routes.filter(|(target, _)| target.proxy.is_none());
        direct.any(|(_, endpoint)| match endpoint {
            Endpoint::Tcp { address } => address.ip().to_canonical().is_loopback(),
            Endpoint::Unix { .. } => false,
        })
    }

    fn same_machine(&self) -> Option<Warning> {
        let endpoint = &self.record.spec.target.endpoint;
        // With hosts, a loopback address is allowed for this machine alone.
        let local = self.is_loopback() || matches!(endpoint, Endpoint::Unix { .. });
        let cpus = self.record.machine.cpus.len();
        let words = match cpus {
            0 => "CPUs".to_owned(),
            cpus => counted(cpus, "CPU"),
        };
        local.then(|| {
            let sentence = format!("Server and generator shared this machine's {words}.");
            Warning::new(Level::Routine, "same-machine", sentence).with("cpus", cpus)
        })
    }

    /// The system's congestion control paces what the server sends, without a network to be careful with.
    fn paced(&self) -> Option<Warning> {
        let machine = &self.record.machine;
        let paced = self.is_loopback() && machine.paces_loopback();
        let name = machine.congestion_control.as_deref().filter(|_| paced)?;
        let found = &self.record.observation;
        let is_long = found.valid_body_bytes / found.measured.succeeded.max(1) >= PACED_BYTES;
        let level = if is_long { Level::Note } else { Level::Routine };
        let sentence = format!("TCP's congestion control here ({name}) slows down long answers.");
        Some(
            Warning::new(level, "paced", sentence)
                .with("congestion_control", name)
                .advice(
                    "Compare with cubic: sysctl -w net.ipv4.tcp_congestion_control=cubic, then start the server again.",
                ),
        )
    }
}
