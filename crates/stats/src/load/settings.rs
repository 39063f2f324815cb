//! The thresholds by which a load judges itself, as values that stand in its result.

use deadheat_model::fault::TRANSPORT_FAILURES;
use schemars::JsonSchema;
use serde::Serialize;

/// The thresholds. Shares are 0 to 1. None looks at a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadSettings {
    /// `busy`: a worker that is busy for this share of its time makes the generator the limit.
    pub generator_busy: f64,
    /// `busy`, `cpu-wait`: the fewest valid answers. With fewer, setting up is most of what a worker did, or failing.
    pub generator_busy_answers: u64,
    /// `cpu-wait`: a worker that could have run for this share of its time, and had no CPU, read answers and sent requests
    /// late: a doubt. Together with the time that it ran, it makes the generator the limit from `generator_busy` on.
    pub cpu_wait: f64,
    /// `late`, `behind`: below this share of the offered requests, the load was not what was asked for. `backlog` is
    /// reported above 1 − this.
    pub achieved: f64,
    /// `send-lag`: reported above this lag, at the highest of p99, p95, p90 and p50 with enough samples. An idle CPU wakes
    /// up within this time.
    pub send_lag_seconds: f64,
    /// `send-lag`: a doubt above this share of the response time at that percentile.
    pub send_lag_doubt: f64,
    /// `send-lag`: a limit from this share on: the response times say more of the generator than of the server.
    pub send_lag_limit: f64,
    /// `connection-wait`: reported above this share of the response time, at the same percentile.
    pub connection_wait: f64,
    /// `unfinished`: above this share of all requests, the p99 may lie among those that had not ended.
    pub unfinished: f64,
    /// `little`: connections × depth and throughput × mean service time may differ by this share of the former.
    pub little_deviation: f64,
    /// `uneven`: connections starve if the fewest answers ÷ the median are below this.
    pub uneven: f64,
    /// `uneven`: the smallest median for that. With fewer answers, chance and the first answers alone make them differ.
    pub uneven_answers: u64,
    /// `uneven`: a median service time below this share of the mean: connections are answered several times in a row.
    pub uneven_p50: f64,
    /// `queued`: a note if more than this share of the connections looked at had unread answers.
    pub queued_note: f64,
    /// `queued`: a doubt from this share on, if a worker was also as busy as `queued_busy`: answers are read late more
    /// often than not.
    pub queued_doubt: f64,
    /// `queued`: a doubt needs a worker that was busy for at least this share of its time. One that sleeps finds unread
    /// answers whenever it wakes up, because they woke it.
    pub queued_busy: f64,
    /// `queued`: the fewest connections looked at.
    pub queued_looks: u64,
    /// `silence`: an interval without any valid answer is reported if intervals have this many on average.
    pub silence_answers: u64,
    /// `failures`: a doubt above this share of the requests that ended.
    pub failures: f64,
    /// `reconnect-pauses`: a doubt above this share of the connections' time.
    pub reconnect_pauses: f64,
    /// `unsteady`: throughput changed by more than this share over the measurement.
    pub steady_change: f64,
    /// `unsteady`: … and by more than this many of the change's standard errors.
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
