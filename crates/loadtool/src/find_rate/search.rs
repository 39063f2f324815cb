//! The search: one load after the other, each judged by the conditions.

use std::time::Instant;

use deadheat_model::{
    LoadRecord, LoadSpec, Observation, Warning,
    capacity::{Burst, CapacityRecord, FORMAT, ProbeOutcome, ProbeRecord, SCHEMA},
    figure::{self, counted, per_second},
    observation::TRANSPORT_FAILURES,
};
use deadheat_runner::secret::hide_in_load;
use deadheat_shell::{exit::CommandFailure, output};
use deadheat_stats::capacity::{CONFIDENCE, Next, next, so_far};

use super::{SearchGoal, burst, least_rate, length, probe, rounded};
use crate::{Generators, analysis::analyse, hosts::Hosts, messages, thresholds::Threshold};

/// The lowest rate that is tried, as a share of the closed loop's throughput.
const MIN: f64 = 1e-3;
/// The highest rate that is tried, as a share of the closed loop's throughput.
const MAX: f64 = 2.0;

/// A search in progress.
pub(super) struct RateSearch<'a> {
    wanted: &'a SearchGoal<'a>,
    /// The load, with secrets.
    base: LoadSpec,
    generators: Generators,
    record: CapacityRecord,
    began: Instant,
    quiet: bool,
}

impl<'a> RateSearch<'a> {
    /// Begins with a closed loop: it says which rates are worth probing.
    pub(super) fn begin(
        base: LoadSpec,
        wanted: &'a SearchGoal<'a>,
        typed: &str,
        hosts: &Hosts,
        quiet: bool,
    ) -> Result<Self, CommandFailure> {
        let mut generators = Generators::launch(typed, hosts)?;
        let began = Instant::now();
        let found = generators.load(&burst(&base, wanted), &mut |_| {})?;
        if let Some(nothing) = messages::nothing(&found) {
            let exit = messages::exit_without_result(&found);
            return Err(CommandFailure::no_result(nothing).with(exit));
        }
        let per_second = found.observation.throughput();
        let least_per_second = least_rate(wanted).max(MIN * per_second);
        if least_per_second >= per_second {
            let needed = wanted.declared.requests;
            let seconds = (1.2 * needed as f64 / per_second).ceil();
            return Err(CommandFailure::no_result(format!(
                "the conditions need {} in a trial, and the server does not answer that many in its time at the closed loop's {}. \
                 Make trials longer, like --duration {seconds}s",
                counted(needed, "request"),
                figure::rate(rounded(per_second)),
            )));
        }
        let mut spec = base.clone();
        hide_in_load(&mut spec);
        let described = wanted
            .conditions
            .iter()
            .map(|condition| condition.described());
        let record = CapacityRecord {
            schema: SCHEMA,
            format: FORMAT.to_owned(),
            deadheat: env!("CARGO_PKG_VERSION").to_owned(),
            started: found.started,
            url: typed.to_owned(),
            machine: generators.machine.clone(),
            hosts: hosts.names.clone(),
            conditions: described.collect(),
            declared: wanted.declared.clone(),
            spec,
            interrupted: found.interrupted,
            elapsed: began.elapsed(),
            burst: Burst {
                per_second,
                least_per_second,
                most_per_second: MAX * per_second,
                observation: found.observation,
            },
            probes: Vec::new(),
        };
        Ok(Self {
            wanted,
            base,
            generators,
            record,
            began,
            quiet,
        })
    }

    /// Tries rates until the highest is known well enough, all declared probes are used, or the user interrupts.
    pub(super) fn run(mut self) -> Result<CapacityRecord, CommandFailure> {
        let burst = &self.record.burst;
        self.say(&format!(
            "closed loop: {}; looking from {} to {}",
            per_second(burst.per_second),
            per_second(burst.least_per_second),
            per_second(burst.most_per_second)
        ));
        while !self.record.interrupted
            && self.record.probes.len() < self.wanted.declared.probes as usize
        {
            let Next::Probe(per_second) = next(&self.record) else {
                break;
            };
            self.probe(rounded(per_second))?;
        }
        self.record.elapsed = self.began.elapsed();
        Ok(self.record)
    }

    /// Tries one rate. An interrupted probe is not recorded.
    fn probe(&mut self, per_second: f64) -> Result<(), CommandFailure> {
        let nth = self.record.probes.len() as u64 + 1;
        let spec = probe(&self.base, self.wanted, per_second, nth);
        let (most_connections, length) = (
            spec.schedule.most_connections(),
            length(self.wanted, per_second),
        );
        let found = self.generators.load(&spec, &mut |_| {})?;
        if found.interrupted {
            self.record.interrupted = true;
            return Ok(());
        }
        let judged = judge(&found, self.wanted.conditions);
        self.record.probes.push(ProbeRecord {
            per_second,
            length,
            most_connections,
            outcome: judged.outcome,
            why: judged.why,
            values: judged.values,
            observation: found.observation,
        });
        self.tell();
        Ok(())
    }

    /// Prints a line about the last probe.
    fn tell(&self) {
        let Some(probe) = self.record.probes.last() else {
            return;
        };
        let conditions = self.wanted.conditions.iter().zip(&probe.values);
        let values = conditions.filter_map(|(condition, value)| {
            let value = condition.shown((*value)?);
            Some(format!("{} {value}", condition.described().figure))
        });
        let outcome = match probe.outcome {
            ProbeOutcome::Held => "holds",
            ProbeOutcome::Failed => "does not hold",
            ProbeOutcome::Discarded => "discarded",
        };
        let (low, high) = so_far(&self.record).interval(CONFIDENCE);
        self.say(&format!(
            "trial {:>2} of {}: {:>10}  {outcome:<13}  now {} to {}  {}",
            self.record.probes.len(),
            self.wanted.declared.probes,
            figure::rate(probe.per_second),
            per_second(low),
            per_second(high),
            values.collect::<Vec<_>>().join(", "),
        ));
    }

    fn say(&self, line: &str) {
        if !self.quiet {
            output::note(line);
        }
    }
}

/// The result of a probe.
#[derive(Debug)]
struct ProbeJudgement {
    outcome: ProbeOutcome,
    /// Why it did not hold, or was discarded.
    why: Option<String>,
    /// The figure of each condition.
    values: Vec<Option<f64>>,
}

/// A server has fallen behind if the number of unanswered requests grew by more than this share of the due ones, and by
/// more than [`DEVIATIONS`].
const BEHIND: f64 = 0.01;
/// Standard deviations of a queue that neither grows nor shrinks: smaller growth may be chance.
const DEVIATIONS: f64 = 2.0;

/// Judges a probe.
///
/// A probe that holds while the generator is at its limit holds: its delays are in the response times, so without them it
/// would hold as well. One that does not hold then is discarded.
fn judge(record: &LoadRecord, conditions: &[Threshold]) -> ProbeJudgement {
    let found = &record.observation;
    let values = conditions.iter().map(|condition| condition.value(found));
    let values: Vec<Option<f64>> = values.collect();
    let Some(why) = broken(found, conditions, &values) else {
        return ProbeJudgement {
            outcome: ProbeOutcome::Held,
            why: None,
            values,
        };
    };
    let analysis = analyse(record);
    let (outcome, why) = if analysis.verdict.generator_was_limit() {
        let limit = analysis.verdict.warnings.first().map(Warning::in_full);
        (ProbeOutcome::Discarded, limit.unwrap_or(why))
    } else {
        (ProbeOutcome::Failed, why)
    };
    ProbeJudgement {
        outcome,
        why: Some(why),
        values,
    }
}

/// The first condition that does not hold, in words.
fn broken(found: &Observation, conditions: &[Threshold], values: &[Option<f64>]) -> Option<String> {
    for (condition, value) in conditions.iter().zip(values) {
        let figure = condition.described().figure;
        match value {
            None => return Some(format!("{figure} is not known: nothing was answered")),
            Some(value) if !condition.holds(*value) => {
                return Some(format!("{figure} was {}", condition.shown(*value)));
            }
            Some(_) => {}
        }
    }
    if let Some(why) = found.none_ended() {
        return Some(why);
    }
    let failed = found.measured.failed.total() as f64 / found.measured.ended() as f64;
    let is_of_errors = conditions.iter().any(Threshold::is_of_errors);
    if failed > TRANSPORT_FAILURES && !is_of_errors {
        return Some(format!(
            "{} of the requests failed",
            figure::percent(failed)
        ));
    }
    let grown = behind(found)?;
    Some(format!(
        "the server fell behind: at the end {} more of the requests due had no answer than at the start",
        figure::percent(grown)
    ))
}

/// The growth of unanswered requests, as a share of the due ones; `None`: no more than chance.
fn behind(found: &Observation) -> Option<f64> {
    let open = found.open.as_ref().filter(|open| open.offered > 0)?;
    let due = open.offered as f64;
    let at_start = found.measured.carried_in + found.backlog_before().unwrap_or_default();
    let at_end = found.measured.in_flight + open.unsent;
    let grown = at_end.saturating_sub(at_start) as f64 / due;
    let chance = DEVIATIONS * (2.0 / due).sqrt();
    (grown > BEHIND + chance).then_some(grown)
}

#[cfg(test)]
mod tests {
    use deadheat_model::{Failure, observation::OpenLoop};

    use super::*;

    /// 10,000 requests that were due and answered within 5 ms.
    fn well() -> Observation {
        let mut open = OpenLoop {
            offered: 10_000,
            ..OpenLoop::default()
        };
        for _ in 0..10_000 {
            open.response_time.record_ns(5_000_000);
        }
        let mut found = Observation {
            open: Some(open),
            ..Observation::default()
        };
        found.measured.issued = 10_000;
        found.measured.succeeded = 10_000;
        found
    }

    fn broken_by(found: &Observation, condition: &str) -> Option<String> {
        let conditions = [condition.parse::<Threshold>().unwrap()];
        let values = [conditions[0].value(found)];
        broken(found, &conditions, &values)
    }

    #[test]
    fn a_probe_holds_if_the_condition_does_and_nearly_nothing_fails() {
        assert_eq!(broken_by(&well(), "p99<50ms"), None);
        let why = broken_by(&well(), "p99<4ms").unwrap();
        assert!(why.starts_with("p99 was 5"), "{why}");
        let mut failing = well();
        failing.measured.failed[Failure::WrongStatus] = 20;
        let why = broken_by(&failing, "p99<50ms").unwrap();
        assert!(why.contains("0.2 % of the requests failed"), "{why}");
        // A condition on errors replaces the built-in bound.
        assert_eq!(broken_by(&failing, "errors<1%"), None);
        assert!(broken_by(&failing, "errors<0.1%").is_some());
        assert!(broken_by(&Observation::default(), "p99<1s").is_some());
    }

    #[test]
    fn a_server_that_falls_behind_does_not_hold_however_quick_its_answers_were() {
        let mut behind = well();
        if let Some(open) = &mut behind.open {
            open.unsent = 900;
        }
        behind.measured.issued -= 900;
        behind.measured.succeeded -= 900;
        let why = broken_by(&behind, "errors<1%").unwrap();
        assert!(why.contains("fell behind"), "{why}");
        // As many as at the start: a slow server, not an overloaded one.
        behind.measured.carried_in = 900;
        assert_eq!(broken_by(&behind, "errors<1%"), None);
    }
}
