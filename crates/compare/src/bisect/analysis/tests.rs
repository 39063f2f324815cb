use deadheat_model::bisect::{
    Asks, BisectAnswer, BisectRecord, Commit, Question, SCHEMA, SpeedRatio,
};

use super::{Culprit, Outcome, next, outcome, spending::steps, spends};

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
