//! How an open loop's trial is judged: by the rules of `deadheat load` ([`crate::load`]), so that there is one
//! definition of a generator that is late and of a server that does not keep up.

use std::{net::Ipv4Addr, time::Duration};

use deadheat_model::{
    LoadRecord, LoadSpec, Schedule, StopRule, TrialRecord,
    load::{Stage, Target},
    load_record::SCHEMA,
    trial::Measured,
    workload::OpenLoad,
};

use crate::{
    limit::Limit,
    load::{self, Judged, Severity, Sign},
    trial::{Flag, Judge},
};

/// What the load's signs mean for a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenSigns {
    /// The generator was the limit.
    pub limits: Vec<Limit>,
    /// Doubts.
    pub flags: Vec<Flag>,
}

/// The signs of an open loop's trial; none for a closed one.
pub fn signs(trial: &TrialRecord, measured: &Measured, judge: &Judge<'_>) -> OpenSigns {
    let (Some(open), Some(_)) = (&judge.point.open, &measured.load.open) else {
        return OpenSigns::default();
    };
    let record = as_load(trial, measured, open, judge);
    let mut signs = OpenSigns::default();
    for judged in load::judge_with(&record, judge.load_settings).signs {
        signs.take(&judged, measured);
    }
    signs
}

impl OpenSigns {
    fn take(&mut self, judged: &Judged, measured: &Measured) {
        match (judged.severity, &judged.sign) {
            (
                Severity::Limit,
                Sign::Late {
                    offered,
                    sent_share,
                    percent,
                    send_lag_seconds,
                    ..
                },
            ) => self.limits.push(Limit::Late {
                offered: *offered,
                sent_share: *sent_share,
                percent: *percent,
                send_lag_seconds: *send_lag_seconds,
            }),
            (
                severity @ (Severity::Limit | Severity::Doubt),
                Sign::SendLag {
                    percent,
                    send_lag_seconds,
                    response_share: Some(response_share),
                    ..
                },
            ) => {
                let (percent, send_lag_seconds, response_share) =
                    (*percent, *send_lag_seconds, *response_share);
                if severity == Severity::Limit {
                    self.limits.push(Limit::SendLag {
                        percent,
                        send_lag_seconds,
                        response_share,
                    });
                } else {
                    self.flags.push(Flag::SendLag {
                        percent,
                        send_lag_seconds,
                        response_share,
                    });
                }
            }
            (
                _,
                Sign::Behind {
                    offered,
                    unsent,
                    most_connections,
                    oldest_unsent_seconds,
                    ..
                },
            ) => self.flags.push(Flag::Overloaded {
                offered: *offered,
                unsent: *unsent,
                oldest_unsent_seconds: *oldest_unsent_seconds,
                in_flight_before: measured.load.measured.carried_in,
                in_flight_after: measured.load.measured.in_flight,
                connections: *most_connections,
            }),
            (
                _,
                Sign::Backlog {
                    offered,
                    waiting,
                    most_connections,
                    ..
                },
            ) => self.flags.push(Flag::Backlog {
                offered: *offered,
                waiting: *waiting,
                connections: *most_connections,
            }),
            _ => {}
        }
    }
}

/// The trial as `deadheat load` would have recorded it.
fn as_load(
    trial: &TrialRecord,
    measured: &Measured,
    open: &OpenLoad,
    judge: &Judge<'_>,
) -> LoadRecord {
    let connections = judge.point.connections;
    let target = Target::plain((Ipv4Addr::LOCALHOST, trial.port).into());
    let window = measured.load.window;
    let schedule = Schedule::Open {
        arrivals: open.arrivals,
        stages: vec![Stage::constant(trial.offered_per_second.unwrap_or(0.0))],
        connections,
        most_connections: connections,
    };
    let stop = StopRule::Duration { length: window };
    let mut spec = LoadSpec::new(target, Vec::new(), schedule, stop);
    spec.warm_up = trial.warm_up;
    spec.bin = measured.load.bin.max(Duration::from_nanos(1));
    LoadRecord {
        schema: SCHEMA,
        deadheat: String::new(),
        started: trial.started.clone(),
        url: String::new(),
        machine: judge.machine.clone(),
        spec,
        interrupted: false,
        observation: measured.load.clone(),
        intervals: Vec::new(),
    }
}
