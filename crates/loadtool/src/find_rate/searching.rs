//! The search: one load after the other.

use std::time::{Instant, SystemTime};

use deadheat_model::{
    LoadSpec,
    capacity::{Burst, CapacityRecord, FORMAT, LookOutcome, LookRecord, SCHEMA},
    figure::{self, counted, per_second},
};
use deadheat_runner::secret::hide_in_load;
use deadheat_shell::{exit::Failure, output};
use deadheat_stats::capacity::{CONFIDENCE, Next, next, so_far};

use super::{Wanted, generators::Generators, judging, specs};
use crate::{hosts::Hosts, messages};

/// The lowest rate that is tried, as a share of the closed loop's throughput.
const LEAST: f64 = 1e-3;
/// The highest rate that is tried, as a share of the closed loop's throughput.
const MOST: f64 = 2.0;

/// A search that goes on.
pub(super) struct Search<'a> {
    wanted: &'a Wanted<'a>,
    /// The load, with secrets.
    base: LoadSpec,
    generators: Generators,
    record: CapacityRecord,
    began: Instant,
    quiet: bool,
}

impl<'a> Search<'a> {
    /// Begins with a closed loop: it says which rates are worth looking at.
    pub(super) fn begin(
        base: LoadSpec,
        wanted: &'a Wanted<'a>,
        typed: &str,
        hosts: &Hosts,
        quiet: bool,
    ) -> Result<Self, Failure> {
        let mut generators = Generators::launch(typed, hosts)?;
        let (began, started) = (Instant::now(), SystemTime::now());
        let found = generators.load(specs::burst(&base, wanted))?;
        if let Some(nothing) = messages::nothing(&found) {
            let interrupted = found.interrupted;
            return Err(if interrupted {
                Failure::interrupted(nothing)
            } else {
                Failure::no_result(nothing)
            });
        }
        let per_second = found.observation.throughput();
        let least_per_second = specs::least_rate(wanted).max(LEAST * per_second);
        if least_per_second >= per_second {
            let needed = wanted.declared.requests;
            let seconds = (1.2 * needed as f64 / per_second).ceil();
            return Err(Failure::no_result(format!(
                "the conditions need {} in a trial, and the server does not answer that many in its time at the closed loop's {}. \
                 Make trials longer, like --duration {seconds}s",
                counted(needed, "request"),
                figure::rate(specs::rounded(per_second)),
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
            started: humantime::format_rfc3339_millis(started).to_string(),
            url: typed.to_owned(),
            machine: generators.machine().clone(),
            hosts: hosts.names.clone(),
            conditions: described.collect(),
            declared: wanted.declared.clone(),
            spec,
            interrupted: found.interrupted,
            elapsed: began.elapsed(),
            burst: Burst {
                per_second,
                least_per_second,
                most_per_second: MOST * per_second,
                observation: found.observation,
            },
            looks: Vec::new(),
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

    /// Tries rates until the highest is known well enough, all declared looks are used, or the user interrupts.
    pub(super) fn run(mut self) -> Result<CapacityRecord, Failure> {
        let burst = &self.record.burst;
        self.say(&format!(
            "closed loop: {}; looking from {} to {}",
            per_second(burst.per_second),
            per_second(burst.least_per_second),
            per_second(burst.most_per_second)
        ));
        while !self.record.interrupted
            && self.record.looks.len() < self.wanted.declared.looks as usize
        {
            let Next::Look(per_second) = next(&self.record) else {
                break;
            };
            self.look(specs::rounded(per_second))?;
        }
        self.record.elapsed = self.began.elapsed();
        Ok(self.record)
    }

    /// Tries one rate. An interrupted look is not recorded.
    fn look(&mut self, per_second: f64) -> Result<(), Failure> {
        let nth = self.record.looks.len() as u64 + 1;
        let spec = specs::look(&self.base, self.wanted, per_second, nth);
        let (most_connections, length) = (
            spec.schedule.most_connections(),
            specs::length(self.wanted, per_second),
        );
        let found = self.generators.load(spec)?;
        if found.interrupted {
            self.record.interrupted = true;
            return Ok(());
        }
        let judged = judging::judge(&found, self.wanted.conditions);
        self.record.looks.push(LookRecord {
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

    /// A line on the last look.
    fn tell(&self) {
        let Some(look) = self.record.looks.last() else {
            return;
        };
        let conditions = self.wanted.conditions.iter().zip(&look.values);
        let values = conditions.filter_map(|(condition, value)| {
            let value = condition.shown((*value)?);
            Some(format!("{} {value}", condition.described().figure))
        });
        let outcome = match look.outcome {
            LookOutcome::Held => "holds",
            LookOutcome::Failed => "does not hold",
            LookOutcome::Discarded => "discarded",
        };
        let (low, high) = so_far(&self.record).interval(CONFIDENCE);
        self.say(&format!(
            "trial {:>2} of {}: {:>10}  {outcome:<13}  now {} to {}  {}",
            self.record.looks.len(),
            self.wanted.declared.looks,
            figure::rate(look.per_second),
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
