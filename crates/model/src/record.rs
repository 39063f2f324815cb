//! Reads records from files that others may have written or changed. All numbers are checked to be in a range in which
//! calculations work. Also the record of a single load.

use std::{borrow::Cow, fmt, time::Duration};

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use crate::{
    Interval, LoadSpec, Observation, Schedule,
    bisect::{Asks, BisectRecord},
    capacity::CapacityRecord,
    heats::{JournalEntry, Plan, SessionHeader, SessionRecord},
    machine::Machine,
};

/// The maximum number in a record. It is more than the bytes of a day at 10 GB/s, and sums of thousands of them fit
/// counts.
const LARGEST: f64 = 1e15;

/// The only field that may have any number: the seed of a random number generator.
const ANY_NUMBER: &str = "seed";

/// The maximum number of connections, threads or heats in a record, which no machine reaches.
const MAX_COUNT: u32 = 100_000_000;

/// An error in the values of a record.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RecordError {
    /// Values contradict each other.
    #[error("{0}")]
    Contradiction(&'static str),
    /// A value is out of its range.
    #[error("{what} is {value}; it must be from {low} to {high}")]
    OutOfRange {
        /// The value's name.
        what: &'static str,
        /// The value.
        value: f64,
        /// The minimum.
        low: f64,
        /// The maximum.
        high: f64,
    },
}

/// A value that is read from a file.
pub trait Record: DeserializeOwned {
    /// Checks that the values are consistent, and in the ranges that calculations need.
    ///
    /// # Errors
    /// A contradiction, or a value out of its range.
    fn check(&self) -> Result<(), RecordError>;
}

/// Reads a record from JSON.
///
/// # Errors
/// If the text is not JSON of this type, a number is out of range, or [`Record::check`] fails.
pub fn read<R: Record>(json: &[u8]) -> Result<R, serde_json::Error> {
    serde_json::from_slice::<InRange>(json)?;
    let record: R = serde_json::from_slice(json)?;
    record.check().map_err(serde_json::Error::custom)?;
    Ok(record)
}

/// JSON whose numbers are all in range.
struct InRange;

impl<'de> Deserialize<'de> for InRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Numbers)
    }
}

struct Numbers;

impl<'de> Visitor<'de> for Numbers {
    type Value = InRange;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<InRange, E> {
        if value.abs() <= LARGEST {
            Ok(InRange)
        } else {
            Err(E::custom(format!("the number {value:e} is out of range")))
        }
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<InRange, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<InRange, E> {
        self.visit_f64(value as f64)
    }

    fn visit_bool<E>(self, _: bool) -> Result<InRange, E> {
        Ok(InRange)
    }

    fn visit_str<E>(self, _: &str) -> Result<InRange, E> {
        Ok(InRange)
    }

    fn visit_unit<E>(self) -> Result<InRange, E> {
        Ok(InRange)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<InRange, A::Error> {
        while items.next_element::<InRange>()?.is_some() {}
        Ok(InRange)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<InRange, A::Error> {
        while let Some(key) = fields.next_key::<Cow<'_, str>>()? {
            if key == ANY_NUMBER {
                fields.next_value::<IgnoredAny>()?;
            } else {
                fields.next_value::<InRange>()?;
            }
        }
        Ok(InRange)
    }
}

fn within(what: &'static str, value: f64, low: f64, high: f64) -> Result<(), RecordError> {
    // NaN is not in any range.
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(RecordError::OutOfRange {
            what,
            value,
            low,
            high,
        })
    }
}

fn fail_if(is_wrong: bool, what: &'static str) -> Result<(), RecordError> {
    if is_wrong {
        Err(RecordError::Contradiction(what))
    } else {
        Ok(())
    }
}

/// Checks that intervals can be calculated with an error rate.
fn check_alpha(alpha: f64) -> Result<(), RecordError> {
    within("alpha", alpha, 1e-12, 0.999)
}

fn check_plan(plan: &Plan) -> Result<(), RecordError> {
    check_alpha(plan.alpha)?;
    within("the margin", plan.margin, 0.0, 100.0)?;
    if let Some(precision) = plan.precision {
        within("the precision", precision, 1e-6, 100.0)?;
    }
    if let Some(budget) = plan.budget_seconds {
        within("the budget", budget, 0.0, 1e9)?;
    }
    for load in &plan.loads {
        fail_if(load.heat.slice.is_zero(), "a slice takes no time")?;
        fail_if(
            load.point.connections > MAX_COUNT,
            "a load has too many connections",
        )?;
        let is_ascending = load.looks.windows(2).all(|two| two[0] <= two[1]);
        fail_if(!is_ascending, "the checkpoints are not in ascending order")?;
        fail_if(load.most_heats() > MAX_COUNT, "a load has too many heats")?;
        if let Some(delay) = load.delay_seconds {
            within("a delay", delay, 0.0, 1e9)?;
        }
    }
    Ok(())
}

impl Record for SessionHeader {
    fn check(&self) -> Result<(), RecordError> {
        check_plan(&self.plan)?;
        let comparison = self.comparison.iter().flat_map(|one| one.contenders());
        for load in comparison.filter_map(|one| one.load()) {
            check_spec(load)?;
        }
        Ok(())
    }
}

impl Record for JournalEntry {
    fn check(&self) -> Result<(), RecordError> {
        let Self::Heat(measured) = self else {
            return Ok(());
        };
        let heat = &measured.heat;
        fail_if(heat.members.is_empty(), "a heat has no members")?;
        fail_if(heat.plan.slice.is_zero(), "a slice takes no time")?;
        for slice in heat.rounds.iter().flatten() {
            let is_none = slice.member as usize >= heat.members.len();
            fail_if(
                is_none,
                "a slice refers to a member that its heat does not have",
            )?;
            let generator = &slice.generator;
            for seconds in [
                generator.cpu_seconds,
                generator.polled_seconds,
                generator.busiest,
            ] {
                within("a time of the generator", seconds, -1e6, 1e9)?;
            }
            if let Some(cpu) = slice.cpu {
                within("a CPU time", cpu.seconds, -1e6, 1e9)?;
                within("the span of a CPU time", cpu.span_seconds, -1e6, 1e9)?;
            }
        }
        for member in &heat.members {
            if let Some(rate) = member.offered_per_second {
                within("an offered rate", rate, 0.0, 1e12)?;
            }
        }
        Ok(())
    }
}

impl SessionRecord {
    /// Checks that header and heats are consistent.
    ///
    /// # Errors
    /// If a heat is of a load that the session does not have.
    pub fn check(&self) -> Result<(), RecordError> {
        let loads = self.header.plan.loads.len();
        let is_other = self.heats.iter().any(|one| one.load as usize >= loads);
        fail_if(
            is_other,
            "a heat is of a load that the session does not have",
        )
    }
}

/// JSON without further checks.
impl Record for serde_json::Value {
    fn check(&self) -> Result<(), RecordError> {
        Ok(())
    }
}

fn check_spec(spec: &LoadSpec) -> Result<(), RecordError> {
    fail_if(
        spec.schedule.most_connections() > MAX_COUNT,
        "there are too many connections",
    )?;
    fail_if(spec.threads > MAX_COUNT, "there are too many threads")?;
    fail_if(
        spec.interval.is_some_and(|one| one.is_zero()),
        "an interval takes no time",
    )?;
    if let Schedule::Open { stages, .. } = &spec.schedule {
        fail_if(stages.is_empty(), "an open loop has no rate")?;
        for stage in stages {
            within("a rate", stage.from, 0.0, 1e12)?;
            within("a rate", stage.to, 0.0, 1e12)?;
        }
    }
    Ok(())
}

fn check_observation(found: &Observation) -> Result<(), RecordError> {
    fail_if(
        found.bin.is_zero() && !found.bins.is_empty(),
        "a bin takes no time",
    )
}

fn check_intervals(intervals: &[Interval]) -> Result<(), RecordError> {
    let ends_before = intervals.iter().any(|one| one.until < one.from);
    fail_if(ends_before, "an interval ends before it begins")
}

impl Record for LoadRecord {
    fn check(&self) -> Result<(), RecordError> {
        check_spec(&self.spec)?;
        check_observation(&self.observation)?;
        for host in &self.hosts {
            check_observation(&host.observation)?;
        }
        check_intervals(&self.intervals)
    }
}

impl Record for CapacityRecord {
    fn check(&self) -> Result<(), RecordError> {
        check_spec(&self.spec)?;
        within("the precision", self.declared.precision, 1e-6, 1.0)?;
        let rates = self.probes.iter().map(|probe| probe.per_second);
        for rate in rates.chain([self.burst.per_second]) {
            within("a rate", rate, 0.0, 1e12)?;
        }
        // The search multiplies them.
        let (least, most) = (self.burst.least_per_second, self.burst.most_per_second);
        within("the lowest rate", least, 1e-6, 1e12)?;
        within("the highest rate", most, least, 1e12)?;
        let mut values = self.probes.iter().map(|probe| probe.values.len());
        fail_if(
            values.any(|values| values != self.conditions.len()),
            "a trial does not have a value for each condition",
        )?;
        let observations = self.probes.iter().map(|probe| &probe.observation);
        for found in observations.chain([&self.burst.observation]) {
            check_observation(found)?;
        }
        Ok(())
    }
}

impl Record for BisectRecord {
    fn check(&self) -> Result<(), RecordError> {
        check_alpha(self.alpha)?;
        fail_if(self.commits.is_empty(), "it has no commits")?;
        for question in &self.questions {
            within("the error of a question", question.spends, 0.0, 1.0)?;
            within("the time of a question", question.took_seconds, 0.0, 1e9)?;
            let last = match question.asks {
                Asks::Ends => 0,
                Asks::Commit { index } => index,
                Asks::Found { first, last } => first.max(last),
            };
            fail_if(
                last >= self.commits.len(),
                "a question is of a commit that it does not have",
            )?;
        }
        Ok(())
    }
}

/// The version of the format.
pub const SCHEMA: u32 = 1;
/// The name of the format, which each document contains.
pub const FORMAT: &str = "deadheat-load";

/// One of several hosts that loaded together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorHost {
    /// The host's name, as the user typed it.
    pub host: String,
    /// The host's own name.
    pub name: String,
    /// The machine that the host's generator ran on.
    pub machine: Machine,
    /// The uncertainty of the start: the host began the load at the same instant as the others, within this time.
    #[serde(rename = "clock_error_seconds", with = "crate::seconds")]
    #[schemars(schema_with = "crate::seconds::schema")]
    pub clock_error: Duration,
    /// The host's results.
    pub observation: Observation,
}

/// The record of a load: the request and the results. All outputs can be written again from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadRecord {
    /// The version of the format, [`SCHEMA`].
    pub schema: u32,
    /// Deadheat's version.
    pub deadheat: String,
    /// When the load started (RFC 3339, UTC).
    pub started: String,
    /// The URL, or the file of URLs, as the user typed it, without a password.
    pub url: String,
    /// The machine that the generator ran on.
    pub machine: Machine,
    /// The requested load, without secrets.
    pub spec: LoadSpec,
    /// Whether the user stopped the load before its end.
    pub interrupted: bool,
    /// The results.
    pub observation: Observation,
    /// The results over time; empty: the spec asks for no intervals.
    pub intervals: Vec<Interval>,
    /// The hosts that loaded the server; empty: `machine` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<GeneratorHost>,
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_number_out_of_range_is_refused_wherever_it_is() {
        for good in [
            "[1, -2.5, null]",
            "{\"seed\": 18446744073709551615}",
            "\"1e308\"",
            "1e15",
        ] {
            assert!(read::<Value>(good.as_bytes()).is_ok(), "{good}");
        }
        for bad in [
            "[1e308]",
            "{\"a\": {\"b\": -1e19}}",
            "10000000000000000000",
            "{\"a\": [{}, 1e16]}",
        ] {
            let error = read::<Value>(bad.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("out of range"), "{bad}: {error}");
        }
        let deep = "[".repeat(100_000);
        assert!(read::<Value>(deep.as_bytes()).is_err());
    }
}
