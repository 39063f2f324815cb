//! As wrk prints it (its `wrk.c`, and `units.c` for the numbers). wrk also adds estimated times, for coordinated omission; these
//! are the recorded ones alone.

use std::{fmt::Write as _, time::Duration};

use deadheat_model::{Failure, LatencyHistogram, LoadRecord};

use super::{ANSWERED, ToolFigures, seconds};

/// The percentages that wrk has.
const PERCENTS: [u32; 4] = [50, 75, 90, 99];
/// Of a time in microseconds.
const TIMES: Units = Units {
    step: 1e3,
    names: &["us", "ms"],
    above: Some((1e6, &SECONDS)),
};
const SECONDS: Units = Units {
    step: 60.0,
    names: &["s", "m"],
    above: None,
};
const COUNTS: Units = Units {
    step: 1e3,
    names: &["", "k", "M", "G", "T"],
    above: None,
};
const BYTES: Units = Units {
    step: 1024.0,
    names: &["", "K", "M", "G", "T"],
    above: None,
};
/// From this share of a unit on, wrk uses it.
const SHARE_OF_UNIT: f64 = 0.85;

/// A row of units, each this many times the one before.
struct Units {
    step: f64,
    names: &'static [&'static str],
    /// From which value on other units are used, of which this value is one.
    above: Option<(f64, &'static Units)>,
}

impl Units {
    /// A value in its unit.
    fn scaled(&self, mut value: f64) -> (f64, &'static str) {
        if let Some((limit, units)) = self.above
            && value >= limit
        {
            return units.scaled(value / limit);
        }
        let mut names = self.names.iter().copied();
        let mut name = names.next().unwrap_or_default();
        for next in names {
            if value < SHARE_OF_UNIT * self.step {
                break;
            }
            value /= self.step;
            name = next;
        }
        (value, name)
    }

    /// A number with two decimals, and its unit.
    fn show(&self, value: f64) -> (String, &'static str) {
        let (value, unit) = self.scaled(value);
        (format!("{value:.2}"), unit)
    }

    /// The same without blanks.
    fn short(&self, value: f64) -> String {
        let (number, unit) = self.show(value);
        number + unit
    }

    /// The same, to the right of `width` columns, of which the unit has two.
    fn column(&self, value: f64, width: usize) -> String {
        let (number, unit) = self.show(value);
        format!("{:>width$}", format!("{number}{unit:<2}"))
    }
}

/// What wrk prints of its options, and what they change in its report.
pub struct Wrk {
    /// The URL, as it was typed.
    pub url: String,
    /// Its threads.
    pub threads: u32,
    /// Connections, in all.
    pub connections: u32,
    /// Whether the distribution of latencies is in the report.
    pub latency: bool,
    /// An answer that took longer is a request and a timeout, and not in the latencies.
    pub timeout: Duration,
}

/// The report of a load with these options.
pub fn wrk(record: &LoadRecord, options: &Wrk) -> String {
    let Wrk {
        url,
        threads,
        connections,
        ..
    } = options;
    let found = ToolFigures::new(record);
    let observation = found.observation;
    let planned = match record.spec.stop {
        deadheat_model::StopRule::Duration { length } => length,
        _ => observation.window,
    };
    let (length, unit) = SECONDS.scaled(planned.as_secs() as f64);
    // Writing to a string does not fail.
    let mut text = format!(
        "Running {length:.0}{unit} test @ {url}\n  {threads} threads and {connections} connections\n"
    );
    text += "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n";
    let times = &found.times.up_to(options.timeout);
    let late = found.times.count() - times.count();
    let microseconds = |time: Option<Duration>| 1e6 * seconds(time);
    let latencies = Spread {
        mean: microseconds(times.mean()),
        deviation: microseconds(times.deviation()),
        most: microseconds(times.max()),
        within: within(times),
    };
    latencies.write(&mut text, "Latency", &TIMES);
    Spread::new(&rates(record, *threads)).write(&mut text, "Req/Sec", &COUNTS);
    if options.latency {
        text += "  Latency Distribution\n";
        for percent in PERCENTS {
            let time = microseconds(times.quantile(f64::from(percent) / 100.0));
            let _ = writeln!(text, "{percent:>7}%{}", TIMES.column(time, 10));
        }
    }
    let answers = found.answers();
    let _ = writeln!(
        text,
        "  {answers} requests in {}, {}B read",
        TIMES.short(1e6 * found.seconds()),
        BYTES.short(observation.received_bytes as f64)
    );
    let errors = socket_errors(&found, late);
    if errors.iter().any(|count| *count > 0) {
        let [connect, read, write, timeout] = errors;
        let _ = writeln!(
            text,
            "  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}"
        );
    }
    let bad = found.answers_outside(0..400);
    if bad > 0 {
        let _ = writeln!(text, "  Non-2xx or 3xx responses: {bad}");
    }
    let _ = writeln!(
        text,
        "Requests/sec: {:>9.2}",
        found.per_second(answers as f64)
    );
    let bytes = BYTES.short(found.per_second(observation.received_bytes as f64));
    let _ = writeln!(text, "Transfer/sec: {bytes:>10}B");
    text
}

/// Connecting, reading, writing, waiting, with these `late` answers.
fn socket_errors(found: &ToolFigures<'_>, late: u64) -> [u64; 4] {
    let connect = [
        Failure::ConnectRefused,
        Failure::ConnectTimeout,
        Failure::ConnectOther,
        Failure::NoLocalPort,
        Failure::Tls,
    ];
    let timeout = [Failure::Timeout, Failure::NoConnection];
    let [connect, timeout] = [&connect[..], &timeout].map(|kinds| found.failed(kinds));
    let all = found.observation.measured.failed.total() - found.failed(&ANSWERED);
    // What fails while a request is written is reported with what fails afterwards.
    [connect, all - connect - timeout, 0, timeout + late]
}

/// The middle of a distribution and how far it spreads.
struct Spread {
    mean: f64,
    deviation: f64,
    most: f64,
    /// The share within one standard deviation of the mean, 0 to 1. `None`: there are no values.
    within: Option<f64>,
}

impl Spread {
    fn new(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
        let near = values
            .iter()
            .filter(|value| (**value - mean).abs() <= deviation);
        Self {
            mean,
            deviation,
            most: values.iter().copied().fold(0.0, f64::max),
            within: (!values.is_empty()).then(|| near.count() as f64 / count),
        }
    }

    fn write(&self, text: &mut String, name: &str, units: &Units) {
        // C's `%Lf` prints a share of nothing like this.
        let within = self.within.map(|share| format!("{:.2}", 100.0 * share));
        let _ = writeln!(
            text,
            "    {name:<10}{}{}{}{:>8}%",
            units.column(self.mean, 8),
            units.column(self.deviation, 10),
            units.column(self.most, 9),
            within.as_deref().unwrap_or("-nan")
        );
    }
}

/// The share of the times within one standard deviation of their mean. `None`: there are no times.
fn within(times: &LatencyHistogram) -> Option<f64> {
    let (mean, deviation) = (times.mean()?, times.deviation()?);
    let below = match mean.checked_sub(deviation) {
        Some(bound) if !bound.is_zero() => times.share_up_to(bound),
        _ => 0.0,
    };
    Some(times.share_up_to(mean + deviation) - below)
}

/// Answers per second and thread, in each whole bin of the measurement.
fn rates(record: &LoadRecord, threads: u32) -> Vec<f64> {
    let observation = &record.observation;
    let bin = observation.bin.as_secs_f64();
    if bin <= 0.0 {
        return Vec::new();
    }
    let whole = (observation.window.as_secs_f64() / bin + 1e-9) as usize;
    let bins = observation.bins.iter().take(whole);
    bins.map(|one| one.succeeded as f64 / bin / f64::from(threads))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_in_wrk() {
        assert_eq!(TIMES.column(4890.0, 8), "  4.89ms");
        assert_eq!(COUNTS.column(1100.0, 8), "  1.10k ");
        assert_eq!(COUNTS.column(263.09, 10), "  263.09  ");
        assert_eq!(TIMES.short(900.0), "0.90ms");
        assert_eq!(TIMES.short(900_000.0), "900.00ms");
        assert_eq!(TIMES.short(1e6), "1.00s");
        assert_eq!(TIMES.short(60e6), "1.00m");
        assert_eq!(SECONDS.scaled(30.0), (30.0, "s"));
        assert_eq!(SECONDS.scaled(3600.0), (60.0, "m"));
        assert_eq!(BYTES.short(216.99 * 1024.0), "216.99K");
    }

    #[test]
    fn two_thirds_of_what_is_normal_lie_within_a_deviation() {
        let mut times = LatencyHistogram::new();
        // Two of three at the mean.
        for _ in 0..100 {
            for ms in [1, 2, 2, 2, 2, 3] {
                times.record_ns(ms * 1_000_000);
            }
        }
        assert!((within(&times).unwrap() - 4.0 / 6.0).abs() < 1e-6);
        assert_eq!(within(&LatencyHistogram::new()), None);
        let spread = Spread::new(&[1.0, 2.0, 3.0]);
        assert_eq!(
            (spread.mean, spread.deviation, spread.most),
            (2.0, 1.0, 3.0)
        );
    }
}
