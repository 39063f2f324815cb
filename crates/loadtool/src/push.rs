//! `--otlp`: sends metrics to a collector while a load runs.
//!
//! The load's own thread only sums up and queues; it never waits for the collector. Another thread sends the queued
//! readings. Counters are sent as totals, so a collector that missed a delivery catches up with the next one.

use std::{
    fmt, mem,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
    time::Duration,
};

use deadheat_model::{Interval, LoadSpec, figure::counted};
use deadheat_runner::collector::Collector;
use url::Url;

use crate::document::{Meter, Reading, Source, otlp_rejected, otlp_request};

/// The most intervals that wait for delivery: some seconds of the shortest ones, or minutes of the usual ones.
const QUEUE: usize = 256;
/// The longest wait for the last delivery after a load.
const LAST: Duration = Duration::from_secs(10);

/// Sends metrics to a collector, if there is one.
#[derive(Debug)]
pub(crate) struct Push(Option<ActivePush>);

#[derive(Debug)]
struct ActivePush {
    collector: CollectorUrl,
    queue: Queue,
    deliveries: Arc<Mutex<Deliveries>>,
    /// Closed when everything was delivered, or given up.
    end: Receiver<()>,
    /// Number of intervals that the load reported.
    told: u64,
}

/// The load's side of the queue.
#[derive(Debug)]
enum Queue {
    /// The load has not begun.
    Idle(SyncSender<Reading>, Sender<Source>),
    /// The load runs.
    Open(SyncSender<Reading>, Box<Meter>),
    /// The load is over.
    Closed,
}

/// The results of the deliveries.
#[derive(Debug, Default)]
struct Deliveries {
    /// Number of intervals that the collector has received.
    delivered: u64,
    /// The reason of the last failed delivery.
    failed: Option<String>,
}

impl Push {
    /// Starts the thread that sends to this collector; `None`: nothing is sent.
    pub(crate) fn to(collector: Option<&CollectorUrl>) -> Self {
        Self(collector.map(ActivePush::to))
    }

    /// Begins the load.
    pub(crate) fn begin(&mut self, started: &str, url: &str, spec: &LoadSpec) {
        if let Some(pushing) = &mut self.0 {
            let source = Source::new(env!("CARGO_PKG_VERSION"), started, url, spec);
            pushing.begin(source);
        }
    }

    /// Queues the metrics of a finished interval.
    pub(crate) fn interval(&mut self, interval: &Interval) {
        if let Some(pushing) = &mut self.0 {
            pushing.interval(interval);
        }
    }

    /// Ends the load: waits at most some seconds for the last delivery. Returns a message about undelivered intervals,
    /// if any.
    pub(crate) fn finish(self) -> Option<String> {
        self.0?.finish(LAST)
    }
}

impl ActivePush {
    fn to(collector: &CollectorUrl) -> Self {
        let deliveries = Arc::new(Mutex::new(Deliveries::default()));
        let (readings, queued) = sync_channel(QUEUE);
        let (source, of_load) = channel();
        let (ended, end) = channel::<()>();
        let (address, shared) = (collector.to_string(), Arc::clone(&deliveries));
        thread::spawn(move || {
            let collector = Collector::at(&address);
            // If the load could not start, no source arrives.
            if let Ok(source) = of_load.recv() {
                deliver(&collector, &source, &queued, &shared);
            }
            drop(ended);
        });
        Self {
            collector: collector.clone(),
            queue: Queue::Idle(readings, source),
            deliveries,
            end,
            told: 0,
        }
    }

    fn begin(&mut self, source: Source) {
        if let Queue::Idle(readings, sources) = mem::replace(&mut self.queue, Queue::Closed) {
            let meter = Box::new(Meter::new(source.started()));
            // The sending thread waits for the source.
            let _ = sources.send(source);
            self.queue = Queue::Open(readings, meter);
        }
    }

    fn interval(&mut self, interval: &Interval) {
        if let Queue::Open(readings, meter) = &mut self.queue {
            self.told += 1;
            // A full queue drops the reading; `finish` reports it.
            let _ = readings.try_send(meter.add(interval));
        }
    }

    fn finish(mut self, patience: Duration) -> Option<String> {
        self.queue = Queue::Closed;
        // The channel carries no message: the thread closes it when it is done.
        let _ = self.end.recv_timeout(patience);
        let deliveries = self.deliveries.lock();
        let deliveries = deliveries.unwrap_or_else(PoisonError::into_inner);
        let missing = self.told - deliveries.delivered;
        let why = deliveries.failed.as_deref();
        (missing > 0).then(|| {
            format!(
                "--otlp {}: the metrics of {missing} of {} were not delivered ({})",
                self.collector,
                counted(self.told, "interval"),
                why.unwrap_or("the collector is too slow")
            )
        })
    }
}

/// Sends readings until the queue is closed. Readings that have queued up are sent together.
fn deliver(
    collector: &Collector,
    source: &Source,
    queued: &Receiver<Reading>,
    deliveries: &Mutex<Deliveries>,
) {
    while let Ok(first) = queued.recv() {
        let readings: Vec<Reading> = std::iter::once(first).chain(queued.try_iter()).collect();
        let answer = collector.post(&otlp_request(source, &readings));
        let answer = answer.map_err(|error| error.to_string());
        let accepted = answer.and_then(|answer| otlp_rejected(&answer).map_or(Ok(()), Err));
        let mut deliveries = deliveries.lock().unwrap_or_else(PoisonError::into_inner);
        match accepted {
            Ok(()) => deliveries.delivered += readings.len() as u64,
            Err(why) => deliveries.failed = Some(why),
        }
    }
}

/// The default path for metrics (OTLP 1.x, section "OTLP/HTTP Request").
const METRICS_PATH: &str = "/v1/metrics";

/// A collector's address for metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CollectorUrl(Url);

impl fmt::Display for CollectorUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads the address of a collector, with or without the path for metrics.
///
/// # Errors
/// The reason why the address is unusable.
pub(crate) fn collector(text: &str) -> Result<CollectorUrl, String> {
    let example = "write http://127.0.0.1:4318, for example";
    let mut url = Url::parse(text).map_err(|error| format!("{error}; {example}"))?;
    if !["http", "https"].contains(&url.scheme()) {
        return Err(format!("it is not an http:// or https:// URL; {example}"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "a user or a password is not sent; send to a collector of your own, which passes metrics on with them"
                .to_owned(),
        );
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!(
            "a collector's address ends with its path; {example}"
        ));
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix(METRICS_PATH).unwrap_or(path);
    let path = format!("{path}{METRICS_PATH}");
    url.set_path(&path);
    Ok(CollectorUrl(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_for_metrics_is_added_where_it_is_not_there() {
        for (text, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics"),
            ("http://h:4318/", "http://h:4318/v1/metrics"),
            ("https://h/otlp/", "https://h/otlp/v1/metrics"),
            ("http://h/v1/metrics", "http://h/v1/metrics"),
            ("http://h/a/v1/metrics/", "http://h/a/v1/metrics"),
        ] {
            assert_eq!(collector(text).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn what_is_no_collector_is_refused_with_the_reason() {
        for (text, why) in [
            ("localhost:4318", "not an http://"),
            ("4318", "http://127.0.0.1:4318"),
            ("grpc://h:4317", "not an http://"),
            ("http://", "http://127.0.0.1:4318"),
            ("http://a:b@h", "password is not sent"),
            ("http://h/?token=x", "ends with its path"),
        ] {
            let error = collector(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
