//! The thresholds by which a load judges itself, as values that stand in its result.

use deadheat_model::fault::TRANSPORT_FAILURES;
use schemars::JsonSchema;
use serde::Serialize;

/// The thresholds. Shares are 0 to 1. None looks at a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadSettings {
    /// A worker that is busy for this share of its time makes the generator the limit.
    pub generator_busy: f64,
    /// … if at least so many answers were valid: with fewer, setting up is most of what it did, or failing.
    pub generator_busy_answers: u64,
    /// A worker that could have run for this share of its time, and had no CPU, read answers and sent requests late:
    /// a doubt. With the time that it ran it makes the generator the limit from `generator_busy` on.
    pub cpu_wait: f64,
    /// Open loop: less than this share of the offered requests was sent, and the load was not what was asked for.
    pub achieved: f64,
    /// Open loop: a send lag above so many seconds is told, at the highest of p99, p95, p90 and p50 for which there
    /// are samples enough. An idle CPU wakes up within this time.
    pub send_lag_seconds: f64,
    /// … casts a doubt on the response times when it is more than this share of them at that percentile, …
    pub send_lag_doubt: f64,
    /// … and from this share on the response times say more of the generator than of the server.
    pub send_lag_limit: f64,
    /// Open loop: a wait for a connection above this share of the response time, at the same percentile, is told.
    pub connection_wait: f64,
    /// Requests that had not ended when the measurement did cast a doubt on the percentiles when they are more than
    /// this share of all: then the p99 may lie among them.
    pub unfinished: f64,
    /// A closed loop's connections × depth and `throughput × mean service time` may differ by this share of the former.
    pub little_deviation: f64,
    /// Connections whose fewest answers are below this share of the median starve.
    pub uneven: f64,
    /// … if the median is at least so many answers: with fewer, chance and the first answers alone make them differ.
    pub uneven_answers: u64,
    /// A median service time below this share of the mean: connections are answered several times in a row.
    pub uneven_p50: f64,
    /// Connections with unread answers above this share of those looked at are told, …
    pub queued_note: f64,
    /// … and from this share on answers are read late more often than not.
    pub queued_doubt: f64,
    /// … if a worker was busy for at least this share of its time: one that sleeps finds unread answers whenever it
    /// wakes up, because they woke it, …
    pub queued_busy: f64,
    /// … and if at least so many connections were looked at.
    pub queued_looks: u64,
    /// An interval without any valid answer is told if intervals have so many on average.
    pub silence_answers: u64,
    /// More failed requests than this share of those that ended cast a doubt on the result.
    pub failures: f64,
    /// Pauses after failed attempts to connect cast a doubt on the result when they are more than this share of the
    /// connections' time.
    pub reconnect_pauses: f64,
    /// A throughput that changed by more than this share over the measurement is not steady.
    pub steady_change: f64,
    /// … if the change is also larger than so many of its standard errors.
    pub steady_errors: f64,
}

impl Default for LoadSettings {
    fn default() -> Self {
        Self {
            generator_busy: 0.85,
            generator_busy_answers: 100,
            // As for Little's law and the send lag: at a tenth of the time it shows in the mean of any latency.
            cpu_wait: 0.10,
            achieved: 0.99,
            send_lag_seconds: 100e-6,
            // The same tolerance as for Little's law: below a tenth it drowns in what else makes times differ.
            send_lag_doubt: 0.10,
            send_lag_limit: 0.5,
            connection_wait: 0.10,
            unfinished: 0.01,
            little_deviation: 0.10,
            uneven: 0.5,
            uneven_answers: 100,
            // Where service times are exponential, the median is 0.69 of the mean.
            uneven_p50: 0.25,
            queued_note: 0.2,
            queued_doubt: 0.5,
            queued_busy: 0.5,
            queued_looks: 100,
            silence_answers: 10,
            failures: TRANSPORT_FAILURES,
            reconnect_pauses: 0.01,
            steady_change: 0.10,
            steady_errors: 2.0,
        }
    }
}
