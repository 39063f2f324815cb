//! Asking a question: a comparison, and what it says.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deadheat_model::{
    Warning,
    bisect::{Asks, BisectAnswer, BisectRecord, Commit, Question, SpeedRatio},
    comparison::Comparison,
    heats::{EndReason, LEAST_HEATS, SessionRecord, Step},
};
use deadheat_runner::{
    prepare::Host,
    process::Supervision,
    session::{OwnCpus, SessionOptions},
};
use deadheat_shell::{
    exit::Failure,
    invocation::{self, shown},
};
use deadheat_stats::versus::{Metric, Ratio, Verdict, Versus, midpoint::MidpointTest};

use super::{
    Folder,
    analysis::spends,
    subject::{Ready, Subject, Unready},
};
use crate::{
    document::headline,
    live::{
        Progress,
        heats::{Planned, duel},
    },
    measured::versus,
    options::CompareArgs,
};

/// What the members of a step's heats are called.
const STEP: [&str; 3] = ["good", "this", "bad"];
const ENDS: [&str; 2] = ["good", "bad"];
const FOUND: [&str; 2] = ["before", "this"];

/// The share of errors of the last comparison. Its interval is read alone.
const LAST_ALPHA: f64 = 0.05;
/// Heats of the last comparison, if the budget has room for them. With one look, its figure is nobody's lucky stop.
const LAST_HEATS: u32 = 10;

/// Asks questions about commits.
pub(super) struct Asking<'a> {
    subject: &'a Subject,
    args: CompareArgs,
    folder: &'a Folder,
    supervision: Supervision,
    interrupted: &'a Arc<AtomicBool>,
    /// The CPUs that builds and the next session may use.
    cpus: OwnCpus,
    /// Both ends, once they are built.
    ends: Option<(Ready, Ready)>,
    /// What was measured of the question that was interrupted, in a sentence.
    stopped: RefCell<Option<String>>,
}

/// A comparison that was measured.
struct Measured {
    folder: PathBuf,
    record: SessionRecord,
}

/// The result of a comparison of two commits.
struct Pair {
    question: Question,
    /// The first side that failed, if one did: its place, and why.
    failed: Option<(usize, String)>,
}

impl<'a> Asking<'a> {
    pub(super) fn new(
        subject: &'a Subject,
        args: CompareArgs,
        folder: &'a Folder,
        interrupted: &'a Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            subject,
            args,
            folder,
            supervision: invocation::supervision()?,
            interrupted,
            cpus: OwnCpus::now(),
            ends: None,
            stopped: RefCell::new(None),
        })
    }

    /// What was measured of the question that was interrupted, in a sentence, if there was anything.
    pub(super) fn stopped(&self) -> Option<String> {
        self.stopped.borrow().clone()
    }

    /// Asks a question and returns it with its answer; `None` if the user interrupted it.
    pub(super) fn ask(
        &mut self,
        record: &BisectRecord,
        asks: Asks,
    ) -> Result<Option<Question>, Failure> {
        let asked = match asks {
            Asks::Ends => self.ends(record),
            Asks::Commit { index } => self.commit(record, index),
            Asks::Found { first, last } => self.found(record, first, last),
        };
        match asked {
            // It may have been a build that was interrupted, or a start.
            Err(_) if self.interrupted.load(Ordering::SeqCst) => Ok(None),
            other => other,
        }
    }

    fn ends(&mut self, record: &BisectRecord) -> Result<Option<Question>, Failure> {
        let spends = spends(record);
        let (good, bad) = self.take_ends(record)?;
        let asked = self.pair(record, &ENDS, [&good, &bad], spends);
        self.ends = Some((good, bad));
        match asked? {
            None => Ok(None),
            Some(Pair {
                failed: Some((place, reason)),
                ..
            }) => Err(unmeasurable(ENDS[place], &reason)),
            Some(Pair { question, .. }) => Ok(Some(question)),
        }
    }

    fn found(
        &mut self,
        record: &BisectRecord,
        first: usize,
        last: usize,
    ) -> Result<Option<Question>, Failure> {
        let asks = Asks::Found { first, last };
        let (before, commit) = (record.before(first), &record.commits[last]);
        let both = self
            .ready(before)
            .and_then(|before| Ok([before, self.ready(commit)?]));
        let [before, commit] = match both {
            Ok(both) => both,
            Err(unready) => return skipped(asks, unready).map(Some),
        };
        // Only now: what was measured before knows what a heat takes.
        let measure = &mut self.args.measure;
        let heat = &mut measure.heat;
        let heats = heat
            .heats
            .unwrap_or_else(|| last_heats(record, heat.budget));
        (heat.heats, heat.budget) = (Some(heats), None);
        measure.looks.clear();
        let asked = self.pair(record, &FOUND, [&before, &commit], LAST_ALPHA)?;
        Ok(asked.map(|Pair { question, failed }| Question {
            asks,
            answer: failed.map_or(question.answer, |(_, reason)| BisectAnswer::Skipped {
                reason,
            }),
            spends: 0.0,
            ..question
        }))
    }

    fn commit(&mut self, record: &BisectRecord, index: usize) -> Result<Option<Question>, Failure> {
        let (asks, spends) = (Asks::Commit { index }, spends(record));
        let (good, bad) = self.take_ends(record)?;
        let middle = match self.ready(&record.commits[index]) {
            Ok(middle) => middle,
            Err(unready) => {
                self.ends = Some((good, bad));
                return skipped(asks, unready).map(Some);
            }
        };
        let comparison = Comparison {
            a: good.contender("A"),
            b: middle.contender("B"),
            slow_end: Some(bad.contender("C")),
            alike: None,
            is_change: false,
            decide: Default::default(),
            check: Default::default(),
        };
        let next = |record: &SessionRecord, spent: Duration| -> Step {
            let three = MidpointTest::new(record);
            three.map_or(Step::End(EndReason::Nothing), |three| three.next(spent))
        };
        // Only one of the two answers can be wrong.
        let alpha = 2.0 * spends;
        let all = [&good, &middle, &bad];
        let measured = self.measure(record, comparison, &all, alpha, next, &STEP);
        self.ends = Some((good, bad));
        let Some(Measured { folder, record }) = measured? else {
            return Ok(None);
        };
        let three = MidpointTest::new(&record);
        let three = three.ok_or_else(|| Failure::no_result("the session has no third server"))?;
        let question = Question {
            asks,
            answer: BisectAnswer::Undecided,
            figures: None,
            spends,
            heats: three.heats(),
            took_seconds: took(&record),
            session: name(&folder),
            notes: Vec::new(),
        };
        match three.failure() {
            Some((1, reason)) => Ok(Some(Question {
                answer: BisectAnswer::Skipped { reason },
                spends: 0.0,
                ..question
            })),
            Some((place, reason)) => Err(unmeasurable(STEP[place], &reason)),
            None => {
                let placed = three.judge();
                Ok(Some(Question {
                    answer: placed
                        .as_ref()
                        .map_or(BisectAnswer::Undecided, |placed| {
                            match placed.middle.verdict {
                                Verdict::Better => BisectAnswer::NotSlower,
                                Verdict::Worse => BisectAnswer::Slower,
                                Verdict::DeadHeat => BisectAnswer::Half,
                                Verdict::NotEnoughData => BisectAnswer::Undecided,
                            }
                        }),
                    figures: placed.and_then(|one| figures(&one.middle, Some(one.whole))),
                    ..question
                }))
            }
        }
    }

    /// Takes both ends, built if need be. The caller puts them back.
    fn take_ends(&mut self, record: &BisectRecord) -> Result<(Ready, Ready), Failure> {
        if let Some(ends) = self.ends.take() {
            return Ok(ends);
        }
        let bad = record.bad().unwrap_or(&record.good);
        let [good, bad] = [("good", &record.good), ("bad", bad)].map(|(name, commit)| {
            self.ready(commit).map_err(|unready| match unready {
                Unready::Commit(reason) => {
                    unmeasurable(name, &format!("commit {}: {reason}", commit.short))
                }
                Unready::Search(failure) => failure,
            })
        });
        Ok((good?, bad?))
    }

    fn ready(&self, commit: &Commit) -> Result<Ready, Unready> {
        self.cpus
            .give_back()
            .map_err(|error| Unready::Search(Failure::no_result(error)))?;
        let host = Host::here(self.supervision.clone(), self.interrupted);
        self.subject.at(commit, &self.args, self.folder, &host)
    }

    /// Compares the second commit with the first. The question that it returns is the one about both ends.
    fn pair(
        &self,
        record: &BisectRecord,
        names: &'static [&'static str; 2],
        [a, b]: [&Ready; 2],
        alpha: f64,
    ) -> Result<Option<Pair>, Failure> {
        let comparison = Comparison {
            a: a.contender("A"),
            b: b.contender("B"),
            slow_end: None,
            alike: None,
            is_change: false,
            decide: Default::default(),
            check: Default::default(),
        };
        let measured = self.measure(record, comparison, &[a, b], alpha, duel, names)?;
        let Some(Measured { folder, record }) = measured else {
            return Ok(None);
        };
        let found = versus(&record, &folder)
            .ok_or_else(|| Failure::no_result("the two commits have no load in common"))?;
        let sides = [&found.a, &found.b].into_iter().enumerate();
        let failed = sides
            .filter_map(|(place, side)| Some((place, side.failed.clone()?)))
            .next();
        if failed.is_none()
            && let Some(cell) = found.not_compared.first()
        {
            let [a, b] = names;
            let reason = &cell.reason;
            return Err(Failure::no_result(format!(
                "comparing {b} (B) with {a} (A): {reason}"
            )));
        }
        let cell = found.compared.first();
        let ratio = cell.and_then(|cell| cell.ratios.first());
        let ratio = ratio.filter(|ratio| ratio.metric == Metric::Throughput);
        let heats = ratio.map_or(0, |ratio| ratio.heats_a as u32);
        let question = Question {
            asks: Asks::Ends,
            answer: match ratio.map(|ratio| ratio.verdict) {
                Some(Verdict::Worse) => BisectAnswer::Slower,
                Some(Verdict::Better | Verdict::DeadHeat) => BisectAnswer::NotSlower,
                Some(Verdict::NotEnoughData) | None => BisectAnswer::Undecided,
            },
            figures: ratio.and_then(|ratio| figures(ratio, None)),
            spends: alpha,
            heats,
            took_seconds: took(&record),
            session: name(&folder),
            notes: cell
                .map(|cell| told(&cell.notes, names))
                .unwrap_or_default(),
        };
        Ok(Some(Pair { question, failed }))
    }

    /// Measures a comparison; `None` if the user interrupted it.
    fn measure(
        &self,
        record: &BisectRecord,
        comparison: Comparison,
        all: &[&Ready],
        alpha: f64,
        next: fn(&SessionRecord, Duration) -> Step,
        names: &'static [&'static str],
    ) -> Result<Option<Measured>, Failure> {
        self.cpus.give_back().map_err(Failure::no_result)?;
        let seed = self.args.measure.heat.seed();
        let seed = seed.wrapping_add(record.questions.len() as u64);
        let options = SessionOptions {
            results: self.folder.path().to_owned(),
            ..self
                .subject
                .options(all, &self.args, &self.supervision, seed)?
        };
        let planned = Planned::new(comparison, options, &self.args, alpha)?;
        if planned.plan.loads.is_empty() {
            return Err(Failure::usage(
                "not all of these commits answer the workload; choose another one with --workload",
            ));
        }
        let (folder, record) = planned.run(next, Progress::named(names), self.interrupted)?;
        match record.end {
            Some(EndReason::Lost) => Err(Failure::no_result(
                "another host was lost; see the messages above",
            )),
            None | Some(EndReason::Interrupted) => {
                *self.stopped.borrow_mut() = so_far(&record, &folder, names);
                Ok(None)
            }
            Some(_) => Ok(Some(Measured { folder, record })),
        }
    }
}

/// What an interrupted comparison of the first two members says, without a verdict; `None`: no heat ended.
fn so_far(record: &SessionRecord, folder: &Path, names: &[&str]) -> Option<String> {
    let mut found = versus(record, folder).filter(Versus::has_ratio)?;
    for (side, name) in [&mut found.a, &mut found.b].into_iter().zip(names) {
        side.name = (*name).to_owned();
    }
    let folder = shown(folder);
    Some(format!(
        "{} Details: deadheat report {folder}",
        headline(&found)
    ))
}

fn unmeasurable(name: &str, reason: &str) -> Failure {
    Failure::no_result(format!("the {name} end cannot be measured: {reason}"))
}

/// The answer about a commit that cannot be measured; an error if the search cannot go on.
fn skipped(asks: Asks, unready: Unready) -> Result<Question, Failure> {
    match unready {
        Unready::Search(failure) => Err(failure),
        Unready::Commit(reason) => Ok(Question {
            asks,
            answer: BisectAnswer::Skipped { reason },
            figures: None,
            spends: 0.0,
            heats: 0,
            took_seconds: 0.0,
            session: None,
            notes: Vec::new(),
        }),
    }
}

/// A ratio for the record; `None`: it has no interval, or one with an open end.
fn figures(ratio: &Ratio, whole: Option<f64>) -> Option<SpeedRatio> {
    let interval = ratio
        .interval
        .filter(|interval| interval.high.is_finite())?;
    Some(SpeedRatio {
        ratio: ratio.ratio,
        low: interval.low,
        high: interval.high,
        level: interval.level,
        whole,
    })
}

/// Heats of the last comparison: as many as are useful, or as the budget has room for after those so far.
fn last_heats(record: &BisectRecord, budget: Option<Duration>) -> u32 {
    let known = record.questions.iter().find(|one| one.heats > 0);
    let heat = known.map(|one| one.took_seconds / f64::from(one.heats));
    let room = budget
        .zip(heat)
        .map(|(budget, heat)| budget.as_secs_f64() / heat.max(1e-3));
    room.map_or(LAST_HEATS, |room| {
        (room as u32).clamp(LEAST_HEATS, LAST_HEATS)
    })
}

/// Notes, which call the sides A and B, with their names.
fn told(notes: &[Warning], names: &[&str; 2]) -> Vec<Warning> {
    let [a, b] = names;
    // The answer says how wide the interval is.
    let notes = notes.iter().filter(|one| one.id != "undecided");
    let named = notes.map(|note| Warning {
        sentence: format!("{a} (A), {b} (B): {}", note.sentence),
        ..note.clone()
    });
    named.collect()
}

fn took(record: &SessionRecord) -> f64 {
    record
        .heats
        .iter()
        .map(|one| one.heat.wall.as_secs_f64())
        .sum()
}

fn name(folder: &Path) -> Option<String> {
    Some(folder.file_name()?.to_string_lossy().into_owned())
}
