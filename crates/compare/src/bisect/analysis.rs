//! Finds the commit that caused a slowdown: chooses the next comparison of `deadheat bisect`, and evaluates the
//! answers.
//!
//! **The question.** A first comparison has to show that BAD is slower than GOOD. Then each step measures the middle
//! commit, GOOD and BAD in the same heats and asks on which side of the middle between GOOD and BAD it is, on the
//! logarithm ([`deadheat_stats::comparison::midpoint`]). If one commit caused the slowdown, the middle commit is as fast
//! as GOOD or as slow as BAD, half of the effect away from the line. The line is measured in every heat anew, so a first
//! comparison that stopped at a lucky figure does not move it, and neither does another machine after a pause.
//!
//! **Errors.** With a share of errors α for the whole search and k = ⌈log₂ n⌉ steps, each of the 1 + k comparisons gets
//! α/(k + 2); what is left is for repeated and additional comparisons, each of which gets half of what the one before it
//! had ([`share`]). The sum is α at most (Bonferroni). Within a comparison the share is spent over looks that are
//! declared in advance ([`deadheat_stats::sequential`]).
//!
//! **Several causes.** The search finds the commit where the throughput crosses the line. Its own effect is measured at
//! the end, against the commit before it, by new heats at one look: the share of the slowdown that it explains. A commit
//! that is proven to be near the line ends the search, because each side has a cause of its own.
//!
//! Everything here is a function of the record, so a search that was killed continues as if nothing had happened.

use std::collections::BTreeSet;

use deadheat_model::{
    bisect::{Asks, BisectAnswer, BisectRecord, Question, SpeedRatio},
    redact::HIDDEN,
};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether the search can be resumed: its arguments are recorded as they were typed, and none of them was a secret.
pub fn can_resume(record: &BisectRecord) -> bool {
    !record.arguments.iter().any(|one| one.contains(HIDDEN))
}

/// The command that continues the search in `folder`; `None`: it cannot be resumed.
pub fn resume_command(record: &BisectRecord, folder: &str) -> Option<String> {
    can_resume(record).then(|| format!("deadheat bisect --resume {folder}"))
}

/// The next question; `None`: no question is left.
pub fn next(record: &BisectRecord) -> Option<Asks> {
    let of_ends = record.questions.iter().rfind(|one| one.asks == Asks::Ends);
    match of_ends.map(|one| &one.answer) {
        Some(BisectAnswer::Slower) => {}
        Some(BisectAnswer::NotSlower) => return None,
        _ => return Some(Asks::Ends),
    }
    let search = Bisection::new(record);
    if let Some(index) = search.next() {
        return Some(Asks::Commit { index });
    }
    let (first, last) = search.suspects();
    let asks = Asks::Found { first, last };
    let is_answered = record.questions.iter().any(|one| one.asks == asks);
    (!is_answered).then_some(asks)
}

/// The share of errors that the next comparison may add.
pub fn spends(record: &BisectRecord) -> f64 {
    let asked = record.questions.iter().filter(|one| {
        let is_search = !matches!(one.asks, Asks::Found { .. });
        is_search && !matches!(one.answer, BisectAnswer::Skipped { .. })
    });
    share(record.alpha, record.commits.len(), asked.count())
}

/// What a search has found. Commits are numbered from 0.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Outcome {
    /// It was interrupted.
    Unfinished {
        /// The commits of which one made it slower, the first and the last; `None` before a slowdown was shown.
        suspects: Option<(usize, usize)>,
    },
    /// BAD is faster than GOOD, or in a dead heat with it.
    NotSlower,
    /// BAD may be slower than GOOD, but the budget was too short to tell.
    NotProven,
    /// The search ended at a commit on which it could not decide.
    Undecided {
        /// The commit.
        index: usize,
        /// Whether it is proven to have about half of the slowdown, so that there are two causes at least.
        half: bool,
        /// The commits of which one made it slower, the first and the last.
        suspects: (usize, usize),
    },
    /// It was found.
    Found(Culprit),
}

/// What made it slower.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Culprit {
    /// The first commit.
    pub first: usize,
    /// The last: the same one, unless those between could not be measured.
    pub last: usize,
    /// Its throughput over that of the commit before the first; `None`: that could not be measured.
    pub own: Option<SpeedRatio>,
    /// Whether that comparison shows a slowdown.
    pub confirmed: bool,
    /// The share of the whole slowdown that it explains, on the logarithm (1 is all of it); `None`: it is not known.
    pub share: Option<f64>,
}

/// What `record` says so far.
pub fn outcome(record: &BisectRecord) -> Outcome {
    let last_answer = |wanted: fn(&Asks) -> bool| {
        let mut questions = record.questions.iter().rev();
        questions.find(|one| wanted(&one.asks))
    };
    match last_answer(|asks| *asks == Asks::Ends).map(|one| &one.answer) {
        Some(BisectAnswer::Slower) => {}
        Some(BisectAnswer::NotSlower) => return Outcome::NotSlower,
        None | Some(BisectAnswer::Skipped { .. }) => return Outcome::Unfinished { suspects: None },
        Some(BisectAnswer::Half | BisectAnswer::Undecided) => return Outcome::NotProven,
    }
    let search = Bisection::new(record);
    let suspects = search.suspects();
    if let Some(next) = search.next() {
        let asked = last_answer(|asks| matches!(asks, Asks::Commit { .. }));
        return match asked.map(|one| (&one.asks, &one.answer)) {
            Some((
                Asks::Commit { index },
                answer @ (BisectAnswer::Half | BisectAnswer::Undecided),
            )) if *index == next => Outcome::Undecided {
                index: next,
                half: *answer == BisectAnswer::Half,
                suspects,
            },
            _ => Outcome::Unfinished {
                suspects: Some(suspects),
            },
        };
    }
    let (first, last) = suspects;
    let Some(asked) = record
        .questions
        .iter()
        .rfind(|one| one.asks == Asks::Found { first, last })
    else {
        return Outcome::Unfinished {
            suspects: Some(suspects),
        };
    };
    let confirmed = asked.answer == BisectAnswer::Slower;
    let share = |own: SpeedRatio| {
        let whole = whole(record)?.ln();
        (confirmed && whole < 0.0).then(|| own.ratio.ln() / whole)
    };
    Outcome::Found(Culprit {
        first,
        last,
        own: asked.figures,
        confirmed,
        share: asked.figures.and_then(share),
    })
}

/// BAD's throughput over GOOD's: the geometric mean over all heats that had both. `None`: no heat had.
pub fn whole(record: &BisectRecord) -> Option<f64> {
    let logarithm = |one: &Question| {
        let figures = one.figures?;
        let ratio = match one.asks {
            Asks::Ends => figures.ratio,
            Asks::Commit { .. } => figures.whole?,
            Asks::Found { .. } => return None,
        };
        let is_ratio = ratio.is_finite() && ratio > 0.0;
        is_ratio.then(|| (f64::from(one.heats), ratio.ln()))
    };
    let all = record.questions.iter().filter_map(logarithm);
    let (heats, sum) = all.fold((0.0, 0.0), |(heats, sum), (weight, value)| {
        (heats + weight, sum + weight * value)
    });
    (heats > 0.0).then(|| (sum / heats).exp())
}

/// What is known of the commits, numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bisection {
    /// The first that may have made it slower.
    first: usize,
    /// The last that may have: the oldest that is known to be slow.
    last: usize,
    /// Those that cannot be measured.
    skipped: BTreeSet<usize>,
}

impl Bisection {
    /// After the answers so far.
    pub fn new(record: &BisectRecord) -> Self {
        let mut search = Self {
            first: 0,
            last: record.commits.len().saturating_sub(1),
            skipped: BTreeSet::new(),
        };
        for (index, answer) in record.answers() {
            match answer {
                BisectAnswer::Slower => search.last = search.last.min(index),
                BisectAnswer::NotSlower => search.first = search.first.max(index + 1),
                BisectAnswer::Skipped { .. } => {
                    search.skipped.insert(index);
                }
                BisectAnswer::Half | BisectAnswer::Undecided => {}
            }
        }
        // A file that somebody changed may have anything.
        search.first = search.first.min(search.last);
        search
    }

    /// The commits of which one made it slower, the first and the last.
    pub(crate) fn suspects(&self) -> (usize, usize) {
        (self.first, self.last)
    }

    /// The commit to ask: the middle one, or another one near it that can be measured. `None`: no other question tells
    /// the suspects apart.
    ///
    /// Commits that do not build come in rows. So with each one that was skipped, the next is twice as far from the
    /// middle, on either side in turn.
    pub fn next(&self) -> Option<usize> {
        let suspects = self.last + 1 - self.first;
        // The last is known to be slow.
        let askable = self.first..self.last;
        let middle = (self.first + suspects / 2).saturating_sub(1);
        let skipped = self.skipped.range(askable.clone()).count() as u32;
        let target = match skipped.checked_sub(1) {
            None => middle,
            Some(doublings) => {
                let away = 1_usize.checked_shl(doublings.min(40)).unwrap_or(usize::MAX);
                let newer = doublings.is_multiple_of(2);
                if newer {
                    middle.saturating_add(away)
                } else {
                    middle.saturating_sub(away)
                }
            }
        };
        let target = target.clamp(self.first, self.last);
        askable
            .filter(|index| !self.skipped.contains(index))
            .min_by_key(|index| index.abs_diff(target))
    }
}

/// The number of steps of a search among this many commits, if each can be measured and answers.
pub fn steps(commits: usize) -> u32 {
    commits.max(1).next_power_of_two().trailing_zeros()
}

/// The share of `alpha` (0 to 1) for a comparison after `asked` others.
pub fn share(alpha: f64, commits: usize, asked: usize) -> f64 {
    let planned = 1 + steps(commits) as usize;
    let additional = (asked + 1).saturating_sub(planned);
    alpha / (planned + 1) as f64 * 0.5_f64.powi(additional.min(1_000) as i32)
}

#[cfg(test)]
mod tests {
    use deadheat_model::bisect::{
        Asks, BisectAnswer, BisectRecord, Commit, Question, SCHEMA, SpeedRatio,
    };

    use super::*;

    const EFFECT: f64 = 0.8;

    fn record(commits: usize) -> BisectRecord {
        let commit = |number: usize| Commit {
            commit: format!("{number:040}"),
            short: format!("c{number}"),
            subject: String::new(),
            merge: false,
        };
        BisectRecord {
            schema: SCHEMA,
            deadheat: String::new(),
            started: String::new(),
            arguments: Vec::new(),
            folder: "/".into(),
            measured: String::new(),
            alpha: 0.05,
            good: commit(1000),
            commits: (0..commits).map(commit).collect(),
            questions: Vec::new(),
        }
    }

    fn add(record: &mut BisectRecord, asks: Asks, answer: BisectAnswer) {
        let ratio = match (asks, &answer) {
            (Asks::Commit { .. }, BisectAnswer::NotSlower) => EFFECT.sqrt().recip(),
            (Asks::Commit { .. }, _) => EFFECT.sqrt(),
            _ => EFFECT,
        };
        let is_measured = !matches!(answer, BisectAnswer::Skipped { .. });
        let spends = spends(record);
        record.questions.push(Question {
            asks,
            answer,
            figures: is_measured.then_some(SpeedRatio {
                ratio,
                low: ratio * 0.98,
                high: ratio * 1.02,
                level: 0.95,
                whole: matches!(asks, Asks::Commit { .. }).then_some(EFFECT),
            }),
            spends,
            heats: 5,
            took_seconds: 1.0,
            session: None,
            notes: Vec::new(),
        });
    }

    /// Asks until nothing is left, and answers as `judge` does. The ends differ, and what is found is confirmed.
    fn search(commits: usize, mut judge: impl FnMut(usize) -> BisectAnswer) -> BisectRecord {
        let mut record = record(commits);
        while let Some(asks) = next(&record) {
            let answer = match asks {
                Asks::Ends | Asks::Found { .. } => BisectAnswer::Slower,
                Asks::Commit { index } => judge(index),
            };
            assert!(record.questions.len() < 3 * commits + 5, "it does not end");
            add(&mut record, asks, answer);
        }
        record
    }

    fn planted(at: usize) -> impl Fn(usize) -> BisectAnswer {
        move |index| {
            if index >= at {
                BisectAnswer::Slower
            } else {
                BisectAnswer::NotSlower
            }
        }
    }

    fn skipped() -> BisectAnswer {
        BisectAnswer::Skipped {
            reason: "no build".to_owned(),
        }
    }

    #[track_caller]
    fn found(record: &BisectRecord) -> (usize, usize) {
        match outcome(record) {
            Outcome::Found(Culprit {
                first,
                last,
                confirmed: true,
                share: Some(share),
                ..
            }) => {
                assert!((share - 1.0).abs() < 1e-9, "{share}");
                (first, last)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_arguments_that_were_recorded_whole_can_be_used_again() {
        let mut record = record(3);
        record.arguments = ["bisect", "a", "b"].map(str::to_owned).into();
        assert!(can_resume(&record));
        record.arguments.push("-HX-Token:…".to_owned());
        assert!(!can_resume(&record));
    }

    #[test]
    fn a_planted_commit_is_found_wherever_it_is_in_as_many_steps_as_halving_takes() {
        for commits in 1..=40 {
            for at in 0..commits {
                let record = search(commits, planted(at));
                assert_eq!(found(&record), (at, at), "{at} of {commits}");
                let asked = record.answers().count();
                assert!(
                    asked <= steps(commits) as usize,
                    "{asked} steps for {commits}"
                );
            }
        }
    }

    #[test]
    fn commits_that_cannot_be_measured_leave_the_smallest_range_that_is_possible() {
        for broken in [0..0, 3..4, 5..12, 0..19, 8..19] {
            for at in 0..20 {
                let record = search(20, |index| {
                    if broken.contains(&index) {
                        skipped()
                    } else {
                        planted(at)(index)
                    }
                });
                // From the first broken one of those before it to the first that can be measured.
                let first = (0..at)
                    .rev()
                    .find(|one| !broken.contains(one))
                    .map_or(0, |one| one + 1);
                let last = (at..20).find(|one| !broken.contains(one)).unwrap();
                assert_eq!(found(&record), (first, last), "{at}, broken {broken:?}");
                let mut asked: Vec<usize> = record.answers().map(|(index, _)| index).collect();
                asked.sort_unstable();
                let all = asked.len();
                asked.dedup();
                assert_eq!(asked.len(), all, "no commit is asked twice");
            }
        }
    }

    #[test]
    fn a_row_of_broken_commits_is_left_in_few_steps() {
        let record = search(1024, |index| {
            if (400..640).contains(&index) {
                skipped()
            } else {
                planted(900)(index)
            }
        });
        assert_eq!(found(&record), (900, 900));
        let skips = record.answers().filter(|(_, answer)| **answer == skipped());
        assert!(skips.count() < 12);
    }

    #[test]
    fn an_undecided_step_ends_with_its_suspects_and_is_asked_again_for_less_error() {
        for (answer, half) in [(BisectAnswer::Undecided, false), (BisectAnswer::Half, true)] {
            let mut record = record(8);
            add(&mut record, Asks::Ends, BisectAnswer::Slower);
            add(&mut record, Asks::Commit { index: 3 }, BisectAnswer::Slower);
            add(&mut record, Asks::Commit { index: 1 }, answer);
            let expected = Outcome::Undecided {
                index: 1,
                half,
                suspects: (0, 3),
            };
            assert_eq!(outcome(&record), expected);
            assert_eq!(next(&record), Some(Asks::Commit { index: 1 }));
            add(
                &mut record,
                Asks::Commit { index: 1 },
                BisectAnswer::NotSlower,
            );
            add(
                &mut record,
                Asks::Commit { index: 2 },
                BisectAnswer::NotSlower,
            );
            let shares: Vec<f64> = record.questions.iter().map(|one| one.spends).collect();
            assert_eq!(shares[0], shares[3]);
            assert_eq!(
                shares[4],
                shares[3] / 2.0,
                "one more comparison than planned"
            );
            assert!(shares.iter().sum::<f64>() <= 0.05);
            assert_eq!(next(&record), Some(Asks::Found { first: 3, last: 3 }));
        }
    }

    #[test]
    fn without_a_slowdown_there_is_no_search() {
        let cases = [
            (BisectAnswer::NotSlower, None, Outcome::NotSlower),
            (
                BisectAnswer::Undecided,
                Some(Asks::Ends),
                Outcome::NotProven,
            ),
        ];
        for (answer, expected, says) in cases {
            let mut record = record(8);
            assert_eq!(next(&record), Some(Asks::Ends));
            add(&mut record, Asks::Ends, answer);
            assert_eq!(next(&record), expected);
            assert_eq!(outcome(&record), says);
        }
    }

    #[test]
    fn a_commit_that_its_own_comparison_does_not_show_is_not_confirmed_and_explains_nothing() {
        let mut record = record(1);
        add(&mut record, Asks::Ends, BisectAnswer::Slower);
        add(
            &mut record,
            Asks::Found { first: 0, last: 0 },
            BisectAnswer::Undecided,
        );
        let Outcome::Found(found) = outcome(&record) else {
            panic!("{:?}", outcome(&record));
        };
        assert!(!found.confirmed && found.share.is_none() && found.own.is_some());
        assert_eq!(next(&record), None);
    }

    #[test]
    fn comparisons_that_err_as_often_as_they_may_mislead_one_search_in_twenty_at_most() {
        // A multiplicative generator; the searches are the same each time.
        let mut state = 12_345_u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let (searches, commits) = (20_000, 20);
        let mut wrong = 0;
        for number in 0..searches {
            let at = number % commits;
            let mut record = record(commits);
            while let Some(asks) = next(&record) {
                let errs = random() < spends(&record);
                let answer = match asks {
                    Asks::Ends | Asks::Found { .. } => BisectAnswer::Slower,
                    Asks::Commit { index } if (index >= at) == errs => BisectAnswer::NotSlower,
                    Asks::Commit { .. } => BisectAnswer::Slower,
                };
                add(&mut record, asks, answer);
            }
            wrong += usize::from(found(&record) != (at, at));
        }
        let share = wrong as f64 / searches as f64;
        // Some 3.5 %: five steps at 5 % / 7 each.
        assert!(share > 0.02 && share < 0.05, "{share}");
    }

    #[test]
    fn a_search_goes_on_after_any_question_as_if_it_had_not_stopped() {
        let whole = search(20, planted(13));
        for done in 0..whole.questions.len() {
            let text = serde_json::to_string(&BisectRecord {
                questions: whole.questions[..done].to_vec(),
                ..whole.clone()
            });
            let again: BisectRecord = serde_json::from_str(&text.unwrap()).unwrap();
            assert_eq!(
                next(&again),
                Some(whole.questions[done].asks),
                "after {done}"
            );
            assert!(matches!(outcome(&again), Outcome::Unfinished { .. }));
        }
    }

    #[test]
    fn a_search_halves_its_commits() {
        let cases = [
            (1, 0),
            (2, 1),
            (3, 2),
            (4, 2),
            (5, 3),
            (20, 5),
            (1024, 10),
            (1025, 11),
        ];
        for (commits, expected) in cases {
            assert_eq!(steps(commits), expected, "{commits}");
        }
    }

    #[test]
    fn all_comparisons_together_spend_the_error_level_and_no_more() {
        for commits in [1, 2, 20, 1000] {
            let shares = (0..200).map(|asked| share(0.05, commits, asked));
            let sum: f64 = shares.sum();
            assert!((sum - 0.05).abs() < 1e-12, "{commits}: {sum}");
        }
        assert!((share(0.05, 20, 0) - share(0.05, 20, 5)).abs() < 1e-15);
        assert!(share(0.05, 20, 6) < share(0.05, 20, 5));
    }
}
