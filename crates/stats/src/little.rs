//! Little's law as a check of the generator: a closed loop's connections are throughput × mean service time, unless
//! they spend time on something that no service time contains.

use deadheat_model::{Observation, trial::Measured};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Settings,
    figures::Figures,
    limit::Limit,
    trial::{Flag, Judge},
};

/// What explains that fewer requests were in flight than there are connections.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "kebab-case")]
pub enum LittleCause {
    /// The server closed connections, and waiting for that and making new ones took the time.
    Reconnecting {
        /// Connections made over the whole load.
        opened: u64,
        /// Connections in the making on average; null in older records, which do not tell how long that took.
        connecting: Option<f64>,
        /// Connections that were waiting for the server to close them on average, at the most that can have been: how
        /// long each took is not recorded.
        closing_at_most: f64,
    },
    /// Requests that failed held connections, and stand in no service time.
    Failures {
        /// Failed requests of the measurement; each holds one connection at most.
        failed: u64,
    },
    /// The server answered some connections and let others wait, whose requests had not ended when the measurement did.
    Uneven {
        /// Fewest answers of a connection over the whole load.
        least: u64,
        /// Most answers of a connection.
        most: u64,
    },
}

/// A deviation from Little's law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    connections: u32,
    in_flight: f64,
    because: Option<LittleCause>,
}

impl Deviation {
    /// A flag, when something explains it.
    pub fn as_flag(self) -> Option<Flag> {
        Some(Flag::Little {
            connections: self.connections,
            in_flight: self.in_flight,
            because: self.because?,
        })
    }

    /// The limit that it is when nothing does.
    pub fn as_limit(self) -> Limit {
        Limit::Little {
            connections: self.connections,
            in_flight: self.in_flight,
        }
    }
}

/// The deviation of a closed loop that lasts for a time; `None` when the law holds, or cannot be asked for.
pub fn deviation(measured: &Measured, figures: &Figures, judge: &Judge<'_>) -> Option<Deviation> {
    let point = judge.point;
    if point.counted.is_some() || point.open.is_some() || measured.load.open.is_some() {
        return None;
    }
    let settings = judge.settings;
    let connections = point.connections;
    let least = settings.little_answers.max(u64::from(connections));
    let time = figures.service_time.as_ref()?;
    if time.requests < least {
        return None;
    }
    let in_flight = measured.load.mean_in_flight()?;
    let missing = f64::from(connections) - in_flight;
    // At the measurement's ends each connection may have one answer more or less than its time says, and all of them the
    // same where they ask in step.
    let one_each = f64::from(connections) / time.requests as f64;
    let tolerated = settings.little_deviation.max(one_each) * f64::from(connections);
    let too_many = -missing > tolerated + before(measured);
    (missing > tolerated || too_many).then(|| Deviation {
        connections,
        in_flight,
        because: explanation(&measured.load, missing, tolerated, settings),
    })
}

/// How many more requests may seem to be in flight than there are connections, in records of Deadheat 0.1: there,
/// requests that were under way when the measurement began count with their whole time, although part of it was before.
/// It is much for a server that becomes faster while it is measured, as a runtime that compiles does; it is at most the
/// longest service time for each.
fn before(measured: &Measured) -> f64 {
    let load = &measured.load;
    if load.cut.is_some() {
        return 0.0;
    }
    let longest = load.service_time.max().unwrap_or_default();
    let window = load.window.as_secs_f64();
    match window > 0.0 {
        true => load.measured.carried_in as f64 * longest.as_secs_f64() / window,
        false => 0.0,
    }
}

/// What explains that so many connections had no request in flight that ended.
fn explanation(
    load: &Observation,
    missing: f64,
    tolerated: f64,
    settings: &Settings,
) -> Option<LittleCause> {
    if missing < 0.0 {
        return None;
    }
    let failed = load.measured.failed.total();
    let held = failed as f64;
    if load.connections_opened > load.connections_peak {
        let opened = load.connections_opened;
        let per_second = opened_per_second(load)?;
        let mean = load.connect_time.mean();
        let connecting = mean.map(|mean| per_second * mean.as_secs_f64());
        let closing_at_most = per_second * settings.goodbye_seconds;
        let left = missing - closing_at_most - held;
        let explained = connecting.is_none_or(|some| left - some <= tolerated);
        return explained.then_some(LittleCause::Reconnecting {
            opened,
            connecting,
            closing_at_most,
        });
    }
    if missing - held <= tolerated {
        return Some(LittleCause::Failures { failed });
    }
    let answers = &load.answers_per_connection;
    let (least, most) = (answers.least()?, answers.most()?);
    let uneven = most >= settings.uneven_answers && (least as f64) < settings.uneven * most as f64;
    uneven.then_some(LittleCause::Uneven { least, most })
}

/// Connections made per second of the measurement. How many were made is known of the whole load, of which the
/// measurement has the share of its answers.
fn opened_per_second(load: &Observation) -> Option<f64> {
    let window = load.window.as_secs_f64();
    let ended = load.total.ended();
    if window <= 0.0 || ended == 0 {
        return None;
    }
    let share = load.measured.ended() as f64 / ended as f64;
    Some(load.connections_opened as f64 * share / window)
}
