//! The metrics of one trial: what its figures and its record hold, in base units.

use std::collections::BTreeSet;

use deadheat_model::{
    Failure, Observation, SessionRecord, TrialRecord,
    trial::{Measured, TrialOutcome},
};
use deadheat_stats::{
    figures::{Figures, OpenFigures, Times, requests_for},
    steadiness::Trend,
};

use crate::figure::count;

/// One figure of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its unit, a base unit.
    pub unit: &'static str,
    /// Its value, without an exponent and with all of its digits.
    pub value: String,
    /// Why it stands on too few answers, if it does.
    pub too_few: Option<String>,
}

/// Kinds of failed requests that occurred in a session. Each trial has a row for each of them, zero or not: a mean over
/// the trials that have any would be another quantity.
pub struct Kinds(BTreeSet<Failure>);

impl Kinds {
    /// The kinds of a session.
    pub fn of(record: &SessionRecord) -> Self {
        let loads = record.trials.iter().filter_map(load);
        let kinds =
            loads.flat_map(|load| load.total.failed.iter().chain(load.measured.failed.iter()));
        Self(kinds.map(|(kind, _)| kind).collect())
    }
}

/// What the load of a trial found, where there was one.
fn load(trial: &TrialRecord) -> Option<&Observation> {
    match &trial.outcome {
        TrialOutcome::Measured(measured) => Some(&measured.load),
        TrialOutcome::Failed(failure) => failure.load.as_deref(),
    }
}

/// All that is known of a trial, on a machine of `cpus` CPUs. Empty where there was no load.
pub fn of_trial(
    trial: &TrialRecord,
    figures: Option<&Figures>,
    kinds: &Kinds,
    cpus: usize,
) -> Vec<Metric> {
    let mut list = List::default();
    if let Some(figures) = figures {
        list.figures(figures);
    }
    if let Some(load) = load(trial) {
        list.amount("warm_up", "seconds", trial.warm_up.as_secs_f64());
        list.amount("measurement", "seconds", load.window.as_secs_f64());
        list.requests(load, kinds);
    }
    if let TrialOutcome::Measured(measured) = &trial.outcome {
        list.machine(measured, cpus);
    }
    list.0
}

#[derive(Default)]
struct List(Vec<Metric>);

impl List {
    fn add(&mut self, name: impl Into<String>, unit: &'static str, value: String) {
        self.0.push(Metric {
            name: name.into(),
            unit,
            value,
            too_few: None,
        });
    }

    fn amount(&mut self, name: impl Into<String>, unit: &'static str, value: f64) {
        // No figure is a fraction by zero; if one were, it would be none.
        if value.is_finite() {
            self.add(name, unit, number(value));
        }
    }

    fn maybe(&mut self, name: &str, unit: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.amount(name, unit, value);
        }
    }

    fn figures(&mut self, figures: &Figures) {
        // Named one by one, so that a figure that is new is not forgotten here.
        let Figures {
            throughput_per_second,
            service_time,
            open,
            cpu_us_per_request,
            cores_used,
            voluntary_switches_per_request,
            involuntary_switches_per_request,
            minor_faults_per_request,
            major_faults_per_request,
            pss_idle_bytes,
            pss_mean_bytes,
            pss_peak_bytes,
            ready_seconds,
            busiest_worker,
            trend,
        } = figures;
        self.amount("throughput", "requests/s", *throughput_per_second);
        self.times("service_time", service_time.as_ref());
        if let Some(open) = open {
            self.open(open);
        }
        let cpu = cpu_us_per_request.map(|us| us / 1e6);
        self.maybe("cpu_per_request", "seconds/request", cpu);
        self.maybe("cores_used", "CPUs", *cores_used);
        let per_request = [
            (
                "voluntary_switches_per_request",
                "switches/request",
                voluntary_switches_per_request,
            ),
            (
                "involuntary_switches_per_request",
                "switches/request",
                involuntary_switches_per_request,
            ),
            (
                "minor_faults_per_request",
                "faults/request",
                minor_faults_per_request,
            ),
            (
                "major_faults_per_request",
                "faults/request",
                major_faults_per_request,
            ),
        ];
        for (name, unit, value) in per_request {
            self.maybe(name, unit, *value);
        }
        self.maybe("pss_idle", "bytes", *pss_idle_bytes);
        self.maybe("pss_mean", "bytes", *pss_mean_bytes);
        self.maybe("pss_peak", "bytes", *pss_peak_bytes);
        self.amount("ready", "seconds", *ready_seconds);
        self.amount("busiest_worker", "share", *busiest_worker);
        if let Some(Trend {
            change,
            standard_error,
        }) = trend
        {
            self.amount("trend_change", "share", *change);
            self.amount("trend_standard_error", "share", *standard_error);
        }
    }

    fn open(&mut self, open: &OpenFigures) {
        let OpenFigures {
            offered_per_second,
            offered,
            unsent,
            response_time,
            send_lag,
            connection_wait,
        } = open;
        self.amount("offered_rate", "requests/s", *offered_per_second);
        self.add("offered", "requests", offered.to_string());
        self.add("unsent", "requests", unsent.to_string());
        self.times("response_time", response_time.as_ref());
        self.times("send_lag", send_lag.as_ref());
        self.times("connection_wait", connection_wait.as_ref());
    }

    /// Mean and percentiles of one kind of time, and how many requests stand behind them.
    fn times(&mut self, what: &str, times: Option<&Times>) {
        let Some(times) = times else {
            return;
        };
        let Times {
            requests,
            mean_seconds,
            percentiles,
        } = times;
        self.add(format!("{what}_requests"), "requests", requests.to_string());
        self.amount(format!("{what}_mean"), "seconds", *mean_seconds);
        for found in percentiles {
            let metric = Metric {
                name: format!("{what}_{}", percentile(found.percent)),
                unit: "seconds",
                value: number(found.seconds),
                too_few: times.shown(found.percent).is_none().then(|| {
                    format!(
                        "on {} requests, and p{} takes {}",
                        count(*requests),
                        found.percent,
                        count(requests_for(found.percent))
                    )
                }),
            };
            self.0.push(metric);
        }
    }

    /// Where the requests of the measurement went, and of the whole load those that ended.
    fn requests(&mut self, load: &Observation, kinds: &Kinds) {
        let (measured, total) = (&load.measured, &load.total);
        let counts = [
            ("carried_in", measured.carried_in),
            ("carried_succeeded", measured.carried_succeeded),
            ("carried_failed", measured.carried_failed),
            ("issued", measured.issued),
            ("succeeded", measured.succeeded),
            ("failed", measured.failed.total()),
            ("in_flight", measured.in_flight),
            ("load_succeeded", total.succeeded),
            ("load_failed", total.failed.total()),
        ];
        for (name, number) in counts {
            self.add(name, "requests", number.to_string());
        }
        for (prefix, tally) in [("failed", measured), ("load_failed", total)] {
            for kind in &kinds.0 {
                let name = format!("{prefix}_{}", kind.name().replace('-', "_"));
                self.add(name, "requests", tally.failed[*kind].to_string());
            }
        }
    }

    /// How long the server's tree was watched, and what others took of the machine.
    fn machine(&mut self, measured: &Measured, cpus: usize) {
        let disturbance = measured.disturbance(cpus);
        self.amount("resources_span", "seconds", measured.resources.span_seconds);
        self.amount("other_cpu", "share", disturbance.other_cpu);
        self.amount("steal", "share", disturbance.steal);
    }
}

/// "p50", "p999" (99.9), "max", as the columns of `deadheat load`'s CSV have it.
fn percentile(percent: f64) -> String {
    if percent == 100.0 {
        "max".to_owned()
    } else {
        format!("p{}", percent.to_string().replace('.', ""))
    }
}

/// The shortest decimal number that is read back as the same value; never with an exponent.
pub fn number(value: f64) -> String {
    // What `Display` of a float promises.
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_all_digits_and_have_no_exponent() {
        for (value, text) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (1.25e-9, "0.00000000125"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (35.0, "35"),
            (-0.25, "-0.25"),
        ] {
            assert_eq!(number(value), text);
            assert_eq!(number(value).parse::<f64>().unwrap(), value);
        }
    }

    #[test]
    fn percentiles_are_named_as_in_the_other_table() {
        let names = [50.0, 99.0, 99.9, 99.999, 100.0].map(percentile);
        assert_eq!(names, ["p50", "p99", "p999", "p99999", "max"]);
    }
}
