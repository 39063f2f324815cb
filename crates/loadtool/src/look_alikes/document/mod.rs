//! Reports of loads as other load generators print them, for scripts that read those: ab 2.3, wrk 4, hey 0.1 and oha 1.
//!
//! Each function returns what the tool would have printed on standard output. Figures mean what they mean there: an answer
//! of any status is a request that is complete, and its time counts. What deadheat would say to that is in [`remarks`].

mod ab;
mod hey;
mod oha;
mod wrk;

use std::{collections::BTreeMap, time::Duration};

use deadheat_model::{
    Failure, LatencyHistogram, LoadRecord, Observation,
    figure::{count, counted, figure, time},
    warning::Level,
};

pub use self::{
    ab::{Ab, ab, ab_percentiles},
    hey::hey,
    oha::{oha, oha_json},
    wrk::{Wrk, wrk},
};
use crate::analysis::{IN_EVERY_HEADLINE, LoadAnalysis};

/// What the tools' figures are made from.
struct ToolFigures<'a> {
    observation: &'a Observation,
    /// How long answers took; from the start of connecting, where each request has a connection of its own.
    times: &'a LatencyHistogram,
}

/// What is wrong with a whole answer, which the tools count like any other.
const ANSWERED: [Failure; 3] = [
    Failure::WrongStatus,
    Failure::WrongLength,
    Failure::WrongContent,
];

impl<'a> ToolFigures<'a> {
    fn new(record: &'a LoadRecord) -> Self {
        let observation = &record.observation;
        let with_connect = observation.service_time_with_connect.as_ref();
        Self {
            observation,
            times: with_connect.unwrap_or(&observation.service_time),
        }
    }

    /// Whole answers, of any status and content.
    fn answers(&self) -> u64 {
        self.observation.statuses.values().sum()
    }

    /// Whole answers whose status is not one of these.
    fn answers_outside(&self, statuses: std::ops::Range<u16>) -> u64 {
        let all = self.observation.statuses.iter();
        let outside = all.filter(|(status, _)| !statuses.contains(*status));
        outside.map(|(_, count)| count).sum()
    }

    /// Requests that failed in one of these ways.
    fn failed(&self, kinds: &[Failure]) -> u64 {
        let failed = &self.observation.measured.failed;
        kinds.iter().map(|kind| failed[*kind]).sum()
    }

    /// Requests that no whole answer came to, by what happened. Bytes after a whole answer are no error of their own.
    fn errors(&self) -> Vec<(&'static str, u64)> {
        let measured = &self.observation.measured;
        let judged = measured.succeeded + self.failed(&ANSWERED);
        let before_extra = self.answers().saturating_sub(judged);
        let failed = measured.failed.iter();
        let unanswered = failed.filter(|(kind, _)| !ANSWERED.contains(kind));
        let mut errors: Vec<_> = unanswered
            .map(|(kind, count)| match kind {
                Failure::ExtraBytes => (kind.describe(), count.saturating_sub(before_extra)),
                kind => (kind.describe(), count),
            })
            .filter(|(_, count)| *count > 0)
            .collect();
        errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        errors
    }

    /// Requests with an answer and those that no whole answer came to. The rates of hey and oha are of both.
    fn ended(&self) -> u64 {
        let errors: u64 = self.errors().iter().map(|(_, count)| count).sum();
        self.answers() + errors
    }

    fn seconds(&self) -> f64 {
        self.observation.window.as_secs_f64()
    }

    /// So much per second; 0 in no time.
    fn per_second(&self, amount: f64) -> f64 {
        match self.seconds() {
            seconds if seconds > 0.0 => amount / seconds,
            _ => 0.0,
        }
    }
}

/// The seconds of a time that may not be known: 0 then, as the tools have it.
fn seconds(time: Option<Duration>) -> f64 {
    time.unwrap_or_default().as_secs_f64()
}

/// How many times lie in each of `bins` steps of equal width from the least to the longest, of which the first holds the
/// least alone: the upper bound of each step in seconds, and the count.
fn steps(times: &LatencyHistogram, bins: usize) -> Vec<(f64, u64)> {
    let (Some(least), Some(most)) = (times.least(), times.max()) else {
        return Vec::new();
    };
    let width = (most.as_secs_f64() - least.as_secs_f64()) / (bins - 1) as f64;
    let mut below = 0;
    let step = |nth: usize| {
        let bound = least.as_secs_f64() + width * nth as f64;
        let share = times.share_up_to(Duration::from_secs_f64(bound));
        let up_to = if nth + 1 == bins {
            times.count()
        } else {
            (share * times.count() as f64).round() as u64
        };
        let count = up_to - below;
        below = up_to;
        (bound, count)
    };
    (0..bins).map(step).collect()
}

/// A bar of squares, of which the highest count has `most`.
fn bar(count: u64, highest: u64, most: u64) -> String {
    "■".repeat((count * most / highest.max(1)) as usize)
}

/// A tool whose report was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// ApacheBench.
    Ab,
    /// wrk.
    Wrk,
    /// hey.
    Hey,
    /// oha.
    Oha,
}

impl Tool {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Ab, Self::Wrk, Self::Hey, Self::Oha];

    /// Its name, as its program is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ab => "ab",
            Self::Wrk => "wrk",
            Self::Hey => "hey",
            Self::Oha => "oha",
        }
    }
}

/// A sentence for each thing that the tool's report would let somebody believe; empty: it can be believed.
pub fn remarks(tool: Tool, record: &LoadRecord, analysis: &LoadAnalysis) -> Vec<String> {
    let found = ToolFigures::new(record);
    let mut remarks = Vec::new();
    let not_2xx = found.answers_outside(200..300);
    if not_2xx > 0 {
        let good = found.answers() - not_2xx;
        remarks.push(format!(
            "{} of {} answers had no 2xx status ({}), and {} counts them as requests: {}/s were 2xx.",
            count(not_2xx),
            count(found.answers()),
            statuses(&found.observation.statuses),
            tool.name(),
            figure(found.per_second(good as f64)),
        ));
    }
    let failed = record.observation.measured.failed.total();
    if failed > 0 {
        remarks.push(format!(
            "{} requests failed; their times are in no figure above.",
            count(failed)
        ));
    }
    remarks.extend(unanswered(&found));
    // The limits of the generator, and what spoils the times: neither is in any of the four formats.
    let warnings = analysis.verdict.warnings.iter();
    let grave = warnings
        .filter(|one| one.level <= Level::Doubt && !IN_EVERY_HEADLINE.contains(&one.id.as_str()));
    remarks.extend(grave.map(|one| one.in_full()));
    remarks
}

/// Waits below this are usual at the end of a load.
const LONG_WAIT: Duration = Duration::from_secs(1);

/// What to say of requests that waited when the load ended, for longer than any answer took: the tools' reports lack them.
fn unanswered(found: &ToolFigures<'_>) -> Option<String> {
    let ages = found.observation.in_flight_ages.as_ref()?;
    let longest = found.times.max().unwrap_or_default();
    let waiting = ages.count() - ages.up_to(longest.max(LONG_WAIT)).count();
    (waiting > 0).then(|| {
        format!(
            "{} had waited longer than any answer took when the measurement ended, the oldest for {}; no figure above includes \
             that.",
            counted(waiting, "request"),
            time(ages.max().unwrap_or_default()),
        )
    })
}

/// "404: 12, 500: 3".
fn statuses(all: &BTreeMap<u16, u64>) -> String {
    let bad = all
        .iter()
        .filter(|(status, _)| !(200..300).contains(*status));
    let bad: Vec<String> = bad
        .map(|(status, number)| format!("{status}: {}", count(*number)))
        .collect();
    bad.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_times_are_in_the_steps() {
        let mut times = LatencyHistogram::new();
        for millisecond in 1..=100 {
            times.record_ns(millisecond * 1_000_000);
        }
        let steps = steps(&times, 11);
        assert_eq!(steps.len(), 11);
        assert_eq!(steps[0].1, 1);
        assert_eq!(steps.iter().map(|(_, count)| count).sum::<u64>(), 100);
        assert!((steps[10].0 - 0.1).abs() < 1e-3, "{steps:?}");
        assert_eq!(super::steps(&LatencyHistogram::new(), 11), []);
        let mut same = LatencyHistogram::new();
        same.record_ns(5);
        same.record_ns(5);
        assert_eq!(
            super::steps(&same, 3).iter().map(|one| one.1).sum::<u64>(),
            2
        );
    }
}
