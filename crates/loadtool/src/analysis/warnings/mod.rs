//! The warnings about the figures of a load: each check with its threshold and its message.

mod generator;
mod requests;

use std::time::Duration;

use deadheat_model::{
    Interval, LoadPhase, LoadRecord, Schedule,
    figure::{count, counted, latency, share},
    load::Endpoint,
    record::GeneratorHost,
    warning::{Level, Warning, doubt, note},
};

pub use self::{
    generator::{BUSY, CPU_WAIT},
    requests::FAILURES,
};
use super::{LatencyKind, LoadFigures, REDIRECTS, SHOWN_PERCENTS, requests_for};

/// The percentiles at which parts of the response time are compared with it: the first one with enough samples is used.
const TAILS: [f64; 4] = [99.0, 95.0, 90.0, 50.0];
/// Longer answers than this many bytes are paced; shorter ones are sent in a burst.
const PACED_BYTES: u64 = 16 * 1024;
/// How long Linux delays the acknowledgement of a packet that nothing answers: `TCP_DELACK_MIN`, to the next tick of its
/// timer (4 ms at 250 Hz) …
const DELAYED: [Duration; 2] = [Duration::from_millis(40), Duration::from_millis(48)];
/// … and a range of times just below, in which there are few answers if that is what the others waited for.
const JUST_BELOW: Duration = Duration::from_millis(30);
/// If this share of the answers took so long, there is a warning.
const DELAYED_SHARE: f64 = 0.1;
/// If there are more than this many answers just below for one that took so long, it is a matter of chance.
const JUST_BELOW_SHARE: f64 = 0.1;

/// The load that the checks examine.
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
    warnings.extend(load.delayed_acknowledgements());
    warnings.sort_by_key(|warning| warning.level);
    warnings
}

fn requests(number: u64) -> String {
    counted(number, "request")
}

impl Load<'_> {
    /// The warnings about each host's generator.
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

    /// The connections of a closed loop; `None` in an open loop.
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

    /// Whether the connections were opened once and stayed open.
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
        // Percentiles beyond p99 are left out without a warning.
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
        // Redirects with a Location that are not followed are failures.
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

    /// A server that writes an answer in several parts, with Nagle's algorithm on, keeps the last part back until the
    /// first one is acknowledged, which the generator's system delays.
    fn delayed_acknowledgements(&self) -> Option<Warning> {
        let times = &self.record.observation.service_time;
        let bounds = [JUST_BELOW, DELAYED[0], DELAYED[1]].map(|bound| bound.as_nanos() as u64);
        let counts = times.buckets(&bounds);
        let (below, delayed) = (counts[1], counts[2]);
        let part = delayed as f64 / times.count().max(1) as f64;
        let are_apart = below as f64 <= JUST_BELOW_SHARE * delayed as f64;
        (part >= DELAYED_SHARE && are_apart).then(|| {
            let sentence = format!(
                "{} of the answers took {} to {} ms, and few a little less: the server may wait for acknowledgements, which \
                 Linux delays by as much.",
                share(part),
                DELAYED[0].as_millis(),
                DELAYED[1].as_millis()
            );
            note("delayed-acks", sentence)
                .with("share", part)
                .advice("If nothing in the server takes so long, set TCP_NODELAY there, or write each answer at once.")
        })
    }
}

/// If more than this share of all requests had not ended when the measurement did, the p99 may lie among them.
const UNFINISHED: f64 = 0.01;
/// A throughput that changed by more than this share over the measurement is not steady …
const STEADY_CHANGE: f64 = 0.10;
/// … if the change is also larger than this many of its standard errors.
const STEADY_ERRORS: f64 = 2.0;
/// A time without any valid answer is reported if at the average rate it would have had this many, and if intervals
/// have as many on average.
const SILENCE_ANSWERS: u64 = 10;

/// A part of the measurement.
struct MeasurementPart {
    from: Duration,
    until: Duration,
    succeeded: u64,
}

impl Load<'_> {
    /// Requests had not ended when the measurement did, and those that had were the quicker ones: percentiles are lower
    /// bounds (coordinated omission at the end).
    fn unfinished(&self) -> Option<Warning> {
        let observation = &self.record.observation;
        let open = observation.open.as_ref();
        let left = observation.measured.in_flight + open.map_or(0, |open| open.unsent);
        let answered = observation.measured.succeeded;
        if left == 0 || answered == 0 {
            return None;
        }
        let part = left as f64 / (left + answered) as f64;
        let many = part > UNFINISHED;
        // A closed loop always ends with as many in flight as it holds; how old they are is not known.
        let oldest = open.map(|open| open.oldest_unsent.max(open.oldest_in_flight).as_secs_f64());
        let (level, percentiles) = match oldest {
            None if many => (Level::Note, true),
            None => return None,
            Some(oldest) => {
                let response = self.figures.latency(LatencyKind::ResponseTime)?;
                if many && oldest > response.at(99.0)? {
                    (Level::Doubt, true)
                } else if oldest > response.most_seconds {
                    (Level::Note, false)
                } else {
                    return None;
                }
            }
        };
        let age = oldest.map_or(String::new(), |oldest| {
            format!(", the oldest for {}", latency(oldest))
        });
        let bound = if percentiles {
            let known = (100.0 * (1.0 - part)).floor();
            format!("percentiles are lower bounds, and nothing is known beyond p{known}")
        } else {
            "the maximum is a lower bound".to_owned()
        };
        let sentence = format!(
            "{} ({}) had no answer yet when the measurement ended{age}: {bound}.",
            requests(left),
            share(part)
        );
        Some(
            Warning::new(level, "unfinished", sentence)
                .with("requests", left)
                .with("share", part)
                .with("oldest_seconds", oldest)
                .with("percentiles", percentiles),
        )
    }

    fn unsteady(&self) -> Option<Warning> {
        let trend = self.figures.trend?;
        let (change, error) = (trend.change, trend.standard_error);
        let sentence = format!(
            "Throughput {}: the figures are averages over this change.",
            trend.in_words(["rose from nothing", "fell by ", "rose by "])
        );
        (change.abs() > STEADY_CHANGE && change.abs() > STEADY_ERRORS * error).then(|| {
            doubt("unsteady", sentence)
                .with("change", change)
                .with("standard_error", error)
        })
    }

    /// The measurement in pieces of the width that was asked for, or finer: the intervals, or the bins of a load so
    /// long that intervals were joined.
    fn pieces(&self) -> Vec<MeasurementPart> {
        let LoadRecord {
            spec,
            observation,
            intervals,
            ..
        } = self.record;
        let measured = |interval: &&Interval| interval.phase == LoadPhase::Measurement;
        let mut intervals = intervals.iter().filter(measured).peekable();
        let from = intervals.peek().map_or(spec.warm_up, |first| first.from);
        let piece = |interval: &Interval| MeasurementPart {
            from: interval.from,
            until: interval.until,
            succeeded: interval.succeeded,
        };
        let pieces: Vec<MeasurementPart> = intervals.map(piece).collect();
        let widest = pieces
            .iter()
            .map(|piece| piece.until.saturating_sub(piece.from))
            .max();
        // One may be a little longer than asked for, where the load ends in it.
        let asked = spec.interval.map(|width| width.mul_f64(1.5));
        if widest <= asked || observation.bin.is_zero() {
            return pieces;
        }
        let each = spec
            .interval
            .unwrap_or_default()
            .div_duration_f64(observation.bin);
        let bins = observation.bins.chunks((each.round() as usize).max(1));
        let mut until = from;
        bins.map(|bins| {
            let from = until;
            until += observation.bin * bins.len() as u32;
            let succeeded = bins.iter().map(|bin| bin.succeeded).sum();
            MeasurementPart {
                from,
                until,
                succeeded,
            }
        })
        .collect()
    }

    /// The longest time without a valid answer, between others that had some: the server (or what is between) stood
    /// still. In a closed loop such a time is under-represented in all percentiles.
    fn silence(&self) -> Option<Warning> {
        let pieces = self.pieces();
        let answers = self.record.observation.measured.succeeded;
        // At a low rate an interval may have no answer by chance.
        if answers / (pieces.len().max(1) as u64) < SILENCE_ANSWERS {
            return None;
        }
        let length = |piece: &MeasurementPart| piece.until.saturating_sub(piece.from);
        let all: Duration = pieces.iter().map(length).sum();
        let silent = |piece: &MeasurementPart| piece.succeeded == 0;
        let runs = pieces.chunk_by(|one, next| silent(one) == silent(next));
        let runs = runs.filter(|run| run.iter().all(silent));
        let span = |run: &[MeasurementPart]| {
            let from = run.first().map_or(Duration::ZERO, |first| first.from);
            let until = run.last().map_or(Duration::ZERO, |last| last.until);
            (from, until.saturating_sub(from))
        };
        // So may the rest of an interval that the measurement's start or end has cut off.
        let is_long = |(_, length): &(Duration, Duration)| {
            answers as f64 * length.div_duration_f64(all) >= SILENCE_ANSWERS as f64
        };
        let spans = runs.map(span).filter(is_long);
        let (from, length) = spans.max_by_key(|(_, length)| *length)?;
        let (from, length) = (from.as_secs_f64(), length.as_secs_f64());
        let sentence = format!(
            "No valid answer came for at least {}, from {} after the load's start on.",
            latency(length),
            latency(from)
        );
        // An open loop counts what waited meanwhile; a closed one did not ask.
        let level = match self.closed() {
            Some(_) => Level::Doubt,
            None => Level::Note,
        };
        Some(
            Warning::new(level, "silence", sentence)
                .with("from_seconds", from)
                .with("seconds", length),
        )
    }
}
