//! Where each sign is looked for.

use std::time::Duration;

use deadheat_model::{
    Failure, Interval, LoadPhase, LoadRecord, Schedule, StopRule,
    heat::PerConnection,
    load::{Endpoint, Protocol, Reuse},
    load_record::GeneratorHost,
    observation::{OpenLoop, WorkerHealth},
};

use super::{
    Judged, LatencyKind, LoadFigures, LoadSettings, Severity, Sign,
    figures::{REDIRECTS, SHOWN_PERCENTS},
};
use crate::figures::requests_for;

/// The percentiles at which parts of the response time are compared with it: the highest with samples enough.
const TAILS: [f64; 4] = [99.0, 95.0, 90.0, 50.0];

/// What every search looks at.
pub(super) struct Load<'a> {
    pub(super) record: &'a LoadRecord,
    pub(super) figures: &'a LoadFigures,
    pub(super) settings: &'a LoadSettings,
}

/// A part of the measurement.
struct Piece {
    from: Duration,
    until: Duration,
    succeeded: u64,
}

/// Every sign that there is.
pub(super) fn all(
    record: &LoadRecord,
    figures: &LoadFigures,
    settings: &LoadSettings,
) -> Vec<Judged> {
    let load = Load {
        record,
        figures,
        settings,
    };
    let mut signs = load.on_hosts();
    signs.extend(load.busy());
    signs.extend(load.of_some_length());
    signs.extend(load.no_local_port());
    signs.extend(load.not_conserved());
    // Before what makes times differ: those of requests that failed are missing altogether.
    signs.extend(load.not_connected());
    signs.extend(load.failures());
    signs.extend(load.no_continue());
    signs.extend(load.reconnect_pauses());
    if let Some(open) = &record.observation.open {
        signs.extend(load.unsent(open));
        signs.extend(load.backlog(open));
        signs.extend(load.send_lag());
        signs.extend(load.connection_wait());
    }
    signs.extend(load.unfinished());
    signs.extend(load.connections());
    signs.extend(load.uneven());
    signs.extend(load.queued());
    signs.extend(load.unsteady());
    signs.extend(load.silence());
    signs.extend(load.interrupted());
    signs.extend(load.few_answers());
    signs.extend(load.redirects());
    signs.extend(load.no_warm_up());
    signs.extend(load.closed_loop());
    signs.extend(load.same_machine());
    signs.extend(load.paced());
    signs
}

pub(super) fn limit(sign: Sign) -> Judged {
    Judged {
        severity: Severity::Limit,
        sign,
    }
}

pub(super) fn doubt(sign: Sign) -> Judged {
    Judged {
        severity: Severity::Doubt,
        sign,
    }
}

pub(super) fn note(sign: Sign) -> Judged {
    Judged {
        severity: Severity::Note,
        sign,
    }
}

/// Beginning a load takes a worker much less than this.
pub(super) const LONG_ENOUGH: Duration = Duration::from_secs(1);

impl Load<'_> {
    /// What speaks against each host's own generator.
    fn on_hosts(&self) -> Vec<Judged> {
        let hosts = self.record.hosts.iter();
        let of_host = |host: &GeneratorHost| {
            let record = LoadRecord {
                machine: host.machine.clone(),
                observation: host.observation.clone(),
                intervals: Vec::new(),
                hosts: Vec::new(),
                ..self.record.clone()
            };
            let figures = LoadFigures::new(&record);
            let signs = all(&record, &figures, self.settings).into_iter();
            let own = signs.filter(|judged| {
                judged.severity == Severity::Limit || matches!(judged.sign, Sign::CpuWait { .. })
            });
            let named = own.map(|judged| Judged {
                severity: judged.severity,
                sign: Sign::OnHost {
                    host: host.host.clone(),
                    found: Box::new(judged.sign),
                },
            });
            named.collect::<Vec<Judged>>()
        };
        hosts.flat_map(of_host).collect()
    }

    fn busy(&self) -> Vec<Judged> {
        if !self.record.hosts.is_empty() {
            // Each host's are named with it.
            return Vec::new();
        }
        let bound = self.settings.generator_busy;
        let workers = self.record.observation.workers.iter().enumerate();
        let mut busy: Vec<_> = workers
            .filter(|(_, health)| health.busy() >= bound && self.has_worked())
            .collect();
        busy.sort_by(|(_, one), (_, other)| other.busy().total_cmp(&one.busy()));
        let sign = |(worker, health): (usize, &WorkerHealth)| {
            limit(Sign::Busy {
                worker,
                cpu: health.cpu,
                busy: health.busy(),
                bound,
            })
        };
        busy.into_iter().map(sign).collect()
    }

    /// Whether so much was answered that the workers' time went into that, and not into beginning or failing.
    pub(super) fn has_worked(&self) -> bool {
        let seen = &self.record.observation;
        // Few long answers are work as well, once they have taken a while.
        let long = seen.window >= LONG_ENOUGH && seen.measured.succeeded > 0;
        long || seen.measured.succeeded >= self.settings.generator_busy_answers
    }

    fn no_local_port(&self) -> Option<Judged> {
        let requests = self.record.observation.total.failed[Failure::NoLocalPort];
        (requests > 0).then(|| limit(Sign::NoLocalPort { requests }))
    }

    fn not_conserved(&self) -> Option<Judged> {
        let observation = &self.record.observation;
        let conserved = observation.total.is_conserved() && observation.measured.is_conserved();
        (!conserved).then(|| doubt(Sign::NotConserved))
    }

    /// One kind of latency in seconds, at the highest percentile that is shown both of it and of `beside`.
    fn tail(&self, of: LatencyKind, beside: LatencyKind) -> Option<(f64, f64)> {
        let latency = self.figures.latency(of)?;
        let samples = self.figures.latency(beside).map(|other| other.samples);
        let enough = latency.samples.min(samples.unwrap_or(latency.samples));
        let percent = TAILS
            .into_iter()
            .find(|percent| enough >= requests_for(*percent))?;
        Some((percent, latency.at(percent)?))
    }

    /// The percentile and the send lag there, when it is more than what an idle CPU needs.
    fn lag(&self) -> Option<(f64, f64)> {
        self.tail(LatencyKind::SendLag, LatencyKind::ResponseTime)
            .filter(|(_, lag)| *lag > self.settings.send_lag_seconds)
    }

    fn unsent(&self, open: &OpenLoop) -> Option<Judged> {
        let measured = &self.record.observation.measured;
        let given_up = measured.failed[Failure::NoConnection];
        if open.offered == 0 {
            return None;
        }
        let missing = (open.unsent + given_up) as f64 / open.offered as f64;
        let sent_share = (1.0 - missing).max(0.0);
        let bound = self.settings.achieved;
        if sent_share >= bound {
            return None;
        }
        Some(match self.late() {
            Some((percent, send_lag_seconds)) => limit(Sign::Late {
                offered: open.offered,
                unsent: open.unsent,
                sent_share,
                bound,
                percent,
                send_lag_seconds,
            }),
            None => doubt(Sign::Behind {
                offered: open.offered,
                unsent: open.unsent,
                given_up,
                sent_share,
                bound,
                most_connections: self.record.spec.schedule.most_connections(),
                oldest_unsent_seconds: open.oldest_unsent.as_secs_f64(),
            }),
        })
    }

    /// The percentile and the send lag there, when requests that were not sent waited for the generator and not for a
    /// connection. Whoever waits for a connection was noticed in time: its lag is small. A generator that is late has
    /// no time to notice, and its lag shows it.
    fn late(&self) -> Option<(f64, f64)> {
        self.lag().filter(|(percent, lag)| {
            let waited = self.figures.latency(LatencyKind::ConnectionWait);
            *lag >= waited.and_then(|wait| wait.at(*percent)).unwrap_or(0.0)
        })
    }

    fn backlog(&self, open: &OpenLoop) -> Option<Judged> {
        let waiting = self.record.observation.backlog_before()?;
        let share = waiting as f64 / open.offered as f64;
        let bound = 1.0 - self.settings.achieved;
        let is_servers = share > bound && self.late().is_none();
        is_servers.then(|| {
            doubt(Sign::Backlog {
                offered: open.offered,
                waiting,
                share,
                bound,
                most_connections: self.record.spec.schedule.most_connections(),
            })
        })
    }

    fn send_lag(&self) -> Option<Judged> {
        let (percent, send_lag_seconds) = self.lag()?;
        let response = self.figures.latency(LatencyKind::ResponseTime);
        let response = response.and_then(|response| response.at(percent));
        let response_share = response
            .filter(|response| *response > 0.0)
            .map(|response| send_lag_seconds / response);
        let sign = Sign::SendLag {
            percent,
            send_lag_seconds,
            bound_seconds: self.settings.send_lag_seconds,
            response_share,
        };
        Some(match response_share {
            Some(share) if share >= self.settings.send_lag_limit => limit(sign),
            Some(share) if share >= self.settings.send_lag_doubt => doubt(sign),
            _ => note(sign),
        })
    }

    fn connection_wait(&self) -> Option<Judged> {
        let (percent, wait_seconds) =
            self.tail(LatencyKind::ConnectionWait, LatencyKind::ResponseTime)?;
        let response_seconds = self
            .figures
            .latency(LatencyKind::ResponseTime)?
            .at(percent)?;
        let told = wait_seconds > self.settings.connection_wait * response_seconds;
        told.then(|| {
            note(Sign::ConnectionWait {
                percent,
                wait_seconds,
                response_seconds,
                connections: self.record.observation.connections_peak,
                most_connections: self.record.spec.schedule.most_connections(),
            })
        })
    }

    fn unfinished(&self) -> Option<Judged> {
        let observation = &self.record.observation;
        let open = observation.open.as_ref();
        let unsent = open.map_or(0, |open| open.unsent);
        let requests = observation.measured.in_flight + unsent;
        let answered = observation.measured.succeeded;
        if requests == 0 || answered == 0 {
            return None;
        }
        let share = requests as f64 / (requests + answered) as f64;
        let many = share > self.settings.unfinished;
        let Some(open) = open else {
            // A closed loop always ends with as many in flight as it holds; how old they are is not known.
            return many.then(|| {
                note(Sign::Unfinished {
                    requests,
                    share,
                    oldest_seconds: None,
                    percentiles: true,
                })
            });
        };
        let oldest = open.oldest_unsent.max(open.oldest_in_flight).as_secs_f64();
        let response = self.figures.latency(LatencyKind::ResponseTime)?;
        let sign = |percentiles| Sign::Unfinished {
            requests,
            share,
            oldest_seconds: Some(oldest),
            percentiles,
        };
        if many && oldest > response.at(99.0)? {
            return Some(doubt(sign(true)));
        }
        (oldest > response.most_seconds).then(|| note(sign(false)))
    }

    /// A closed loop's connections, if it has one.
    pub(super) fn closed(&self) -> Option<u64> {
        match self.record.spec.schedule {
            Schedule::Closed { connections, .. } => Some(u64::from(connections)),
            Schedule::Open { .. } => None,
        }
    }

    /// Whether connections carry as many requests as the server allows, and not fewer by intent.
    fn keeps_alive(&self) -> bool {
        let spec = &self.record.spec;
        let Protocol::Http1 { reuse, .. } = spec.protocol;
        let ends_streams = spec.stream.is_some_and(|stream| stream.enough.is_some());
        reuse == Reuse::KeepAlive && spec.most_per_connection.is_none() && !ends_streams
    }

    fn connections(&self) -> Option<Judged> {
        let mut wanted = self.closed()?;
        if let StopRule::Count { requests } = self.record.spec.stop {
            // Fewer requests than connections need fewer.
            wanted = wanted.min(requests);
        }
        let peak = self.record.observation.connections_peak;
        // A connection that the server closes is made again when its user has thought.
        let is_whole = self.record.spec.think.is_none();
        (peak < wanted && is_whole && self.keeps_alive())
            .then(|| doubt(Sign::Connections { wanted, peak }))
    }

    /// Whether the connections were made once and stayed.
    pub(super) fn connections_stayed(&self) -> bool {
        let observation = &self.record.observation;
        self.keeps_alive() && observation.connections_opened <= observation.connections_peak
    }

    fn uneven(&self) -> Option<Judged> {
        self.closed().filter(|_| self.connections_stayed())?;
        if self
            .record
            .spec
            .think
            .is_some_and(|think| think.is_random())
        {
            // Who thinks for long gets fewer answers.
            return None;
        }
        if !self.record.spec.others.is_empty() {
            // A slow server gets fewer.
            return None;
        }
        let observation = &self.record.observation;
        let answers = PerConnection::of(&observation.answers_per_connection);
        let starved = answers.and_then(|answers| self.settings.starved(answers));
        let times = &observation.service_time;
        let half = times.quantile(0.5).zip(times.mean());
        // Several exchanges take differently long by themselves, and so do the first answers of a server.
        let has_enough =
            answers.is_some_and(|answers| answers.median >= self.settings.uneven_answers);
        let half = half.filter(|_| has_enough && self.record.spec.exchanges.len() == 1);
        let in_a_row = half.and_then(|(p50, mean)| {
            let (p50, mean) = (p50.as_secs_f64(), mean.as_secs_f64());
            self.settings.in_a_row(p50, mean)
        });
        starved.or(in_a_row).map(|found| doubt(Sign::Uneven(found)))
    }

    fn queued(&self) -> Option<Judged> {
        let queues = &self.record.observation.receive_queues;
        let busy = self.figures.busiest_worker;
        if queues.connections < self.settings.queued_looks || busy < self.settings.queued_busy {
            return None;
        }
        let share = queues.waiting_share();
        let sign = |bound| Sign::Queued {
            share,
            connections: queues.connections,
            most_bytes: queues.most_bytes,
            bound,
            busy,
        };
        if share >= self.settings.queued_doubt {
            return Some(doubt(sign(self.settings.queued_doubt)));
        }
        (share >= self.settings.queued_note).then(|| note(sign(self.settings.queued_note)))
    }

    fn not_connected(&self) -> Option<Judged> {
        let failed = &self.record.observation.total.failed;
        let kinds = [
            Failure::ConnectRefused,
            Failure::ConnectTimeout,
            Failure::ConnectOther,
            Failure::Tls,
        ];
        let requests = kinds.iter().map(|kind| failed[*kind]).sum();
        (requests > 0).then(|| doubt(Sign::NotConnected { requests }))
    }

    fn failures(&self) -> Option<Judged> {
        let requests = self.record.observation.measured.failed.total();
        let share = self.figures.failed_share.filter(|_| requests > 0)?;
        let bound = self.settings.failures;
        let sign = Sign::Failures {
            requests,
            share,
            bound,
        };
        Some(if share > bound {
            doubt(sign)
        } else {
            note(sign)
        })
    }

    fn no_continue(&self) -> Option<Judged> {
        let observation = &self.record.observation;
        let waits = observation.own_waits.for_continue;
        (waits.count > 0).then(|| {
            doubt(Sign::NoContinue {
                requests: waits.count,
                ended: observation.measured.ended().max(waits.count),
                seconds: waits.total.as_secs_f64(),
            })
        })
    }

    fn reconnect_pauses(&self) -> Option<Judged> {
        let observation = &self.record.observation;
        let waits = observation.own_waits.before_connecting;
        let connections = self.record.spec.schedule.most_connections();
        let all = observation.window.as_secs_f64() * f64::from(connections);
        let seconds = waits.total.as_secs_f64();
        let share = if all > 0.0 {
            (seconds / all).min(1.0)
        } else {
            0.0
        };
        let bound = self.settings.reconnect_pauses;
        let sign = Sign::ReconnectPauses {
            pauses: waits.count,
            seconds,
            share,
            bound,
        };
        let weigh = if share > bound { doubt } else { note };
        (waits.count > 0).then(|| weigh(sign))
    }

    fn unsteady(&self) -> Option<Judged> {
        let trend = self.figures.trend?;
        let large = trend.change.abs() > self.settings.steady_change;
        let certain = trend.change.abs() > self.settings.steady_errors * trend.standard_error;
        (large && certain).then(|| {
            doubt(Sign::Unsteady {
                change: trend.change,
                standard_error: trend.standard_error,
            })
        })
    }

    /// The measurement in pieces of the width that was asked for, or finer: the intervals, or the bins of a load so
    /// long that intervals were joined.
    fn pieces(&self) -> Vec<Piece> {
        let LoadRecord {
            spec,
            observation,
            intervals,
            ..
        } = self.record;
        let measured = |interval: &&Interval| interval.phase == LoadPhase::Measurement;
        let mut intervals = intervals.iter().filter(measured).peekable();
        let from = intervals.peek().map_or(spec.warm_up, |first| first.from);
        let piece = |interval: &Interval| Piece {
            from: interval.from,
            until: interval.until,
            succeeded: interval.succeeded,
        };
        let pieces: Vec<Piece> = intervals.map(piece).collect();
        let widest = pieces.iter().map(|piece| piece.until - piece.from).max();
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
            Piece {
                from,
                until,
                succeeded,
            }
        })
        .collect()
    }

    fn silence(&self) -> Option<Judged> {
        let pieces = self.pieces();
        // At a low rate an interval may have no answer by chance.
        let usual = self.record.observation.measured.succeeded / pieces.len().max(1) as u64;
        if usual < self.settings.silence_answers {
            return None;
        }
        let silent = |piece: &Piece| piece.succeeded == 0;
        let runs = pieces.chunk_by(|one, next| silent(one) == silent(next));
        let runs = runs.filter(|run| run.iter().all(silent));
        let span = |run: &[Piece]| {
            let from = run.first().map_or(Duration::ZERO, |first| first.from);
            let until = run.last().map_or(Duration::ZERO, |last| last.until);
            (from, until.saturating_sub(from))
        };
        let (from, length) = runs.map(span).max_by_key(|(_, length)| *length)?;
        let sign = Sign::Silence {
            from_seconds: from.as_secs_f64(),
            seconds: length.as_secs_f64(),
        };
        // An open loop counts what waited meanwhile; a closed one did not ask.
        Some(match self.closed() {
            Some(_) => doubt(sign),
            None => note(sign),
        })
    }

    fn interrupted(&self) -> Option<Judged> {
        self.record.interrupted.then(|| doubt(Sign::Interrupted))
    }

    fn few_answers(&self) -> Option<Judged> {
        let answers = self.record.observation.measured.succeeded;
        let mut percents = SHOWN_PERCENTS.iter().copied();
        // Beyond p99 nobody misses one that is left out.
        let percent = percents.find(|percent| *percent <= 99.0 && answers < requests_for(*percent));
        let percent = percent.filter(|_| answers > 0)?;
        Some(note(Sign::FewAnswers {
            answers,
            percent,
            needed: requests_for(percent),
        }))
    }

    fn redirects(&self) -> Option<Judged> {
        let answers = self.figures.redirects;
        let statuses = self.record.observation.statuses.keys();
        let valid = statuses
            .filter(|status| REDIRECTS.contains(status))
            .any(|status| self.expects(*status));
        // Those that lead nowhere are failures.
        let followed = self.record.spec.redirects > 0;
        (answers > 0 && !followed).then(|| note(Sign::Redirects { answers, valid }))
    }

    fn expects(&self, status: u16) -> bool {
        let mut exchanges = self.record.spec.exchanges.iter();
        exchanges.any(|exchange| exchange.expect.status.contains(status))
    }

    fn no_warm_up(&self) -> Option<Judged> {
        let none = self.record.spec.warm_up == Duration::ZERO;
        none.then(|| note(Sign::NoWarmUp))
    }

    fn closed_loop(&self) -> Option<Judged> {
        let answered = self.record.observation.measured.succeeded > 0;
        self.closed()
            .filter(|_| answered)
            .map(|_| note(Sign::ClosedLoop))
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

    fn same_machine(&self) -> Option<Judged> {
        let endpoint = &self.record.spec.target.endpoint;
        let local = self.is_loopback() || matches!(endpoint, Endpoint::Unix { .. });
        let cpus = self.record.machine.cpus.len();
        // With hosts, a loopback address is allowed for this machine alone.
        local.then(|| note(Sign::SameMachine { cpus }))
    }

    fn paced(&self) -> Option<Judged> {
        let machine = &self.record.machine;
        let paced = self.is_loopback() && machine.paces_loopback();
        let name = machine.congestion_control.clone().filter(|_| paced);
        name.map(|congestion_control| note(Sign::Paced { congestion_control }))
    }
}
