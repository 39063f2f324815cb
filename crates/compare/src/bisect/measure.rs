//! Answers a question of the search: measures the two commits and compares them.

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
    heats::{EndReason, MIN_HEATS, SessionRecord, Step},
};
use deadheat_runner::{
    prepare::Host,
    process::Supervision,
    session::{OwnCpus, SessionOptions},
};
use deadheat_shell::{
    exit::CommandFailure,
    invocation::{self, shown},
};
use deadheat_stats::comparison::{
    ComparisonAnalysis, Metric, Ratio, RatioVerdict, midpoint::MidpointTest,
};

use super::{
    Folder,
    analysis::spends,
    subject::{CommitError, ReadyCommit, Subject},
};
use crate::{
    document::headline,
    live::{
        ComparisonProgress,
        heats::{PlannedComparison, duel},
    },
    measured::analyse,
    options::CompareArgs,
};

/// The names of the members in a step's heats.
const STEP: [&str; 3] = ["good", "this", "bad"];
const ENDS: [&str; 2] = ["good", "bad"];
const FOUND: [&str; 2] = ["before", "this"];

/// The share of errors of the last comparison. Its interval is read alone.
const LAST_ALPHA: f64 = 0.05;
/// Heats of the last comparison, if the budget allows them. It has one look, so its ratio is not biased by early
/// stopping.
const LAST_HEATS: u32 = 10;

/// Measures commits and answers the questions of a search.
pub(super) struct Measurer<'a> {
    subject: &'a Subject,
    args: CompareArgs,
    folder: &'a Folder,
    supervision: Supervision,
    interrupted: &'a Arc<AtomicBool>,
    /// The CPUs that builds and the next session may use.
    cpus: OwnCpus,
    /// Both ends, once they are built.
    ends: Option<(ReadyCommit, ReadyCommit)>,
    /// The result so far of the interrupted question, in a sentence.
    stopped: RefCell<Option<String>>,
}

/// A comparison that was measured.
struct MeasuredComparison {
    folder: PathBuf,
    record: SessionRecord,
}

/// The result of a comparison of two commits.
struct CommitComparison {
    question: Question,
    /// The first side that failed, if one did: its place, and why.
    failed: Option<(usize, String)>,
}

impl<'a> Measurer<'a> {
    pub(super) fn new(
        subject: &'a Subject,
        args: CompareArgs,
        folder: &'a Folder,
        interrupted: &'a Arc<AtomicBool>,
    ) -> Self {
        Self {
            subject,
            args,
            folder,
            supervision: invocation::supervision(),
            interrupted,
            cpus: OwnCpus::now(),
            ends: None,
            stopped: RefCell::new(None),
        }
    }

    /// The result so far of the interrupted question, in a sentence; `None` without one.
    pub(super) fn stopped(&self) -> Option<String> {
        self.stopped.borrow().clone()
    }

    /// Asks a question and returns it with its answer; `None` if the user interrupted it.
    pub(super) fn ask(
        &mut self,
        record: &BisectRecord,
        asks: Asks,
    ) -> Result<Option<Question>, CommandFailure> {
        let asked = match asks {
            Asks::Ends => self.ends(record),
            Asks::Commit { index } => self.commit(record, index),
            Asks::Found { first, last } => self.found(record, first, last),
        };
        unless_interrupted(asked, self.interrupted.load(Ordering::SeqCst))
    }

    fn ends(&mut self, record: &BisectRecord) -> Result<Option<Question>, CommandFailure> {
        let spends = spends(record);
        let (good, bad) = self.take_ends(record)?;
        let asked = self.pair(record, &ENDS, [&good, &bad], spends);
        self.ends = Some((good, bad));
        match asked? {
            None => Ok(None),
            Some(CommitComparison {
                failed: Some((place, reason)),
                ..
            }) => Err(unmeasurable(ENDS[place], &reason)),
            Some(CommitComparison { question, .. }) => Ok(Some(question)),
        }
    }

    fn found(
        &mut self,
        record: &BisectRecord,
        first: usize,
        last: usize,
    ) -> Result<Option<Question>, CommandFailure> {
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
        Ok(asked.map(|CommitComparison { question, failed }| Question {
            asks,
            answer: failed.map_or(question.answer, |(_, reason)| BisectAnswer::Skipped {
                reason,
            }),
            spends: 0.0,
            ..question
        }))
    }

    fn commit(
        &mut self,
        record: &BisectRecord,
        index: usize,
    ) -> Result<Option<Question>, CommandFailure> {
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
        let Some(MeasuredComparison { folder, record }) = measured? else {
            return Ok(None);
        };
        let three = MidpointTest::new(&record);
        let three =
            three.ok_or_else(|| CommandFailure::no_result("the session has no third server"))?;
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
                                RatioVerdict::Better => BisectAnswer::NotSlower,
                                RatioVerdict::Worse => BisectAnswer::Slower,
                                RatioVerdict::DeadHeat => BisectAnswer::Half,
                                RatioVerdict::NotEnoughData => BisectAnswer::Undecided,
                            }
                        }),
                    figures: placed.and_then(|one| figures(&one.middle, Some(one.whole))),
                    ..question
                }))
            }
        }
    }

    /// Takes both ends, built if need be. The caller puts them back.
    fn take_ends(
        &mut self,
        record: &BisectRecord,
    ) -> Result<(ReadyCommit, ReadyCommit), CommandFailure> {
        if let Some(ends) = self.ends.take() {
            return Ok(ends);
        }
        let bad = record.bad().unwrap_or(&record.good);
        let [good, bad] = [("good", &record.good), ("bad", bad)].map(|(name, commit)| {
            self.ready(commit).map_err(|unready| match unready {
                CommitError::Commit(reason) => {
                    unmeasurable(name, &format!("commit {}: {reason}", commit.short))
                }
                CommitError::Search(failure) => failure,
            })
        });
        Ok((good?, bad?))
    }

    fn ready(&self, commit: &Commit) -> Result<ReadyCommit, CommitError> {
        self.cpus
            .restore()
            .map_err(|error| CommitError::Search(CommandFailure::no_result(error)))?;
        let host = Host::here(self.supervision.clone(), self.interrupted);
        self.subject.at(commit, &self.args, self.folder, &host)
    }

    /// Compares the second commit with the first. The question that it returns is the one about both ends.
    fn pair(
        &self,
        record: &BisectRecord,
        names: &'static [&'static str; 2],
        [a, b]: [&ReadyCommit; 2],
        alpha: f64,
    ) -> Result<Option<CommitComparison>, CommandFailure> {
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
        let Some(MeasuredComparison { folder, record }) = measured else {
            return Ok(None);
        };
        let found = analyse(&record, &folder)
            .ok_or_else(|| CommandFailure::no_result("the two commits have no load in common"))?;
        let sides = [&found.a, &found.b].into_iter().enumerate();
        let failed = sides
            .filter_map(|(place, side)| Some((place, side.failed.clone()?)))
            .next();
        if failed.is_none()
            && let Some(cell) = found.not_compared.first()
        {
            let [a, b] = names;
            let reason = &cell.reason;
            return Err(CommandFailure::no_result(format!(
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
                Some(RatioVerdict::Worse) => BisectAnswer::Slower,
                Some(RatioVerdict::Better | RatioVerdict::DeadHeat) => BisectAnswer::NotSlower,
                Some(RatioVerdict::NotEnoughData) | None => BisectAnswer::Undecided,
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
        Ok(Some(CommitComparison { question, failed }))
    }

    /// Measures a comparison; `None` if the user interrupted it.
    fn measure(
        &self,
        record: &BisectRecord,
        comparison: Comparison,
        all: &[&ReadyCommit],
        alpha: f64,
        next: fn(&SessionRecord, Duration) -> Step,
        names: &'static [&'static str],
    ) -> Result<Option<MeasuredComparison>, CommandFailure> {
        self.cpus.restore().map_err(CommandFailure::no_result)?;
        let seed = self.args.measure.heat.seed();
        let seed = seed.wrapping_add(record.questions.len() as u64);
        let options = SessionOptions {
            results: self.folder.path().to_owned(),
            ..self
                .subject
                .options(all, &self.args, &self.supervision, seed)?
        };
        let planned = PlannedComparison::new(comparison, options, &self.args, alpha)?;
        if planned.plan.loads.is_empty() {
            return Err(CommandFailure::usage(
                "not all of these commits answer the workload; choose another one with --workload",
            ));
        }
        let progress = ComparisonProgress::named(names);
        let (folder, record) = planned.run(next, progress, self.interrupted)?;
        match record.end {
            Some(EndReason::Lost) => Err(CommandFailure::no_result(
                "a host or a service was lost; see the messages above",
            )),
            None | Some(EndReason::Interrupted) => {
                *self.stopped.borrow_mut() = so_far(&record, &folder, names);
                Ok(None)
            }
            Some(_) => Ok(Some(MeasuredComparison { folder, record })),
        }
    }
}

/// What an interrupted comparison of the first two members says, without a verdict; `None`: no heat ended.
fn so_far(record: &SessionRecord, folder: &Path, names: &[&str]) -> Option<String> {
    let mut found = analyse(record, folder).filter(ComparisonAnalysis::has_ratio)?;
    for (side, name) in [&mut found.a, &mut found.b].into_iter().zip(names) {
        side.name = (*name).to_owned();
    }
    let folder = shown(folder);
    Some(format!(
        "{} Details: deadheat report {folder}",
        headline(&found)
    ))
}

/// The answer to a question; `None` if it was interrupted. A build, a start or a question to git that was interrupted
/// says nothing about the commit.
fn unless_interrupted(
    asked: Result<Option<Question>, CommandFailure>,
    interrupted: bool,
) -> Result<Option<Question>, CommandFailure> {
    let is_measured = match &asked {
        Ok(Some(question)) => !matches!(question.answer, BisectAnswer::Skipped { .. }),
        Ok(None) | Err(_) => false,
    };
    if interrupted && !is_measured {
        Ok(None)
    } else {
        asked
    }
}

fn unmeasurable(name: &str, reason: &str) -> CommandFailure {
    CommandFailure::no_result(format!("the {name} end cannot be measured: {reason}"))
}

/// The answer about a commit that cannot be measured; an error if the search cannot continue.
fn skipped(asks: Asks, unready: CommitError) -> Result<Question, CommandFailure> {
    match unready {
        CommitError::Search(failure) => Err(failure),
        CommitError::Commit(reason) => Ok(Question {
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
        (room as u32).clamp(MIN_HEATS, LAST_HEATS)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_question_is_asked_again_and_skips_no_commit() {
        let asks = Asks::Commit { index: 3 };
        let skip = || {
            let reason = "git was interrupted".to_owned();
            skipped(asks, CommitError::Commit(reason)).map(Some)
        };
        let measured = || -> Result<Option<Question>, CommandFailure> {
            let question = skip()?.map(|question| Question {
                answer: BisectAnswer::Slower,
                ..question
            });
            Ok(question)
        };
        let failed = || Err(CommandFailure::no_result("a build"));
        for asked in [skip(), failed()] {
            assert_eq!(unless_interrupted(asked, true).unwrap(), None);
        }
        let question = unless_interrupted(measured(), true).unwrap();
        assert_eq!(question.unwrap().answer, BisectAnswer::Slower);
        assert!(unless_interrupted(skip(), false).unwrap().is_some());
        assert!(unless_interrupted(failed(), false).is_err());
    }
}
