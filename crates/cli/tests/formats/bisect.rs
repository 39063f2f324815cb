//! Searches with every outcome, and with messages that want to break out.

use deadheat_compare::bisect::document::{document, json};
use deadheat_document::text::Screen;
use deadheat_model::{
    bisect::{Asks, BisectAnswer, BisectRecord, Commit, Question, SCHEMA, SpeedRatio},
    warning::note,
};

use crate::{
    schema::{closed, published, satisfies},
    standings::cases::HOSTILE,
};

const FOLDER: &str = "results/bisect-20261125-120000";

fn record(questions: Vec<Question>) -> BisectRecord {
    let commit = |number: usize| Commit {
        commit: format!("{number:040x}"),
        short: format!("{:07x}", 0x00ab_c000 + number),
        subject: HOSTILE
            .get(number)
            .map_or("Count the answers", |text| text)
            .to_owned(),
        merge: number == 6,
    };
    BisectRecord {
        schema: SCHEMA,
        deadheat: "0.1.0".to_owned(),
        started: "2026-11-25T12:00:00Z".to_owned(),
        arguments: vec!["bisect".to_owned()],
        folder: "/".into(),
        measured: "./server --port $PORT".to_owned(),
        alpha: 0.05,
        good: commit(99),
        commits: (0..8).map(commit).collect(),
        questions,
    }
}

fn question(asks: Asks, answer: BisectAnswer, ratio: f64) -> Question {
    Question {
        asks,
        answer,
        figures: Some(SpeedRatio {
            ratio,
            low: ratio * 0.99,
            high: ratio * 1.01,
            level: 0.99,
            whole: matches!(asks, Asks::Commit { .. }).then_some(0.8),
        }),
        spends: 0.01,
        heats: 5,
        took_seconds: 112.0,
        session: Some("20261125-120001-7".to_owned()),
        notes: Vec::new(),
    }
}

fn commit(index: usize, answer: BisectAnswer) -> Question {
    let ratio = match answer {
        BisectAnswer::NotSlower => 1.118,
        BisectAnswer::Slower => 0.894,
        _ => 1.0,
    };
    question(Asks::Commit { index }, answer, ratio)
}

fn ends() -> Question {
    Question {
        notes: vec![note("unsteady", "good (A), bad (B): B was not steady.")],
        ..question(Asks::Ends, BisectAnswer::Slower, 0.8)
    }
}

fn skipped(index: usize) -> Question {
    let reason = format!("`make` exited with status 2\n{}", HOSTILE[1]);
    Question {
        figures: None,
        heats: 0,
        took_seconds: 0.0,
        ..commit(index, BisectAnswer::Skipped { reason })
    }
}

fn found(first: usize, last: usize, answer: BisectAnswer, ratio: f64) -> Question {
    question(Asks::Found { first, last }, answer, ratio)
}

/// All outcomes by name.
fn cases() -> Vec<(&'static str, Vec<Question>)> {
    let steps = |last: Vec<Question>| [vec![ends()], last].concat();
    let no = || BisectAnswer::NotSlower;
    let yes = || BisectAnswer::Slower;
    vec![
        (
            "found",
            steps(vec![
                commit(3, yes()),
                commit(1, no()),
                commit(2, no()),
                found(3, 3, yes(), 0.803),
            ]),
        ),
        (
            "one of several causes",
            steps(vec![
                commit(3, no()),
                commit(5, yes()),
                commit(4, no()),
                found(5, 5, yes(), 0.88),
            ]),
        ),
        (
            "a merge",
            steps(vec![
                commit(3, no()),
                commit(5, no()),
                commit(6, yes()),
                found(6, 6, yes(), 0.8),
            ]),
        ),
        (
            "a range",
            steps(vec![
                skipped(3),
                commit(4, yes()),
                commit(2, no()),
                found(3, 4, yes(), 0.8),
            ]),
        ),
        (
            "not confirmed",
            steps(vec![
                commit(3, yes()),
                commit(1, no()),
                commit(2, no()),
                found(3, 3, BisectAnswer::Undecided, 0.997),
            ]),
        ),
        ("half", steps(vec![commit(3, BisectAnswer::Half)])),
        (
            "undecided",
            steps(vec![commit(3, yes()), commit(1, BisectAnswer::Undecided)]),
        ),
        ("unfinished", steps(vec![commit(3, yes())])),
        ("nothing", Vec::new()),
        ("not slower", vec![question(Asks::Ends, no(), 1.004)]),
        (
            "not proven",
            vec![question(Asks::Ends, BisectAnswer::Undecided, 0.99)],
        ),
    ]
}

#[test]
fn every_outcome_begins_with_the_answer_and_says_what_to_do() {
    let texts = cases().into_iter().map(|(name, questions)| {
        let document = document(&record(questions), FOLDER, None);
        format!("== {name}\n{}", document.text(Screen::new(80, false)))
    });
    let texts = texts.collect::<Vec<_>>().join("\n");
    for line in texts.lines() {
        assert!(
            line.chars().count() <= 80 && !line.contains('\u{1b}'),
            "{line:?}"
        );
    }
    insta::assert_snapshot!("bisect-text", texts);
}

#[test]
fn markdown_has_the_same_and_json_everything() {
    let (_, questions) = cases().remove(3);
    let record = record(questions);
    insta::assert_snapshot!(
        "bisect-markdown",
        document(&record, FOLDER, None).markdown()
    );
    let json: serde_json::Value = serde_json::from_str(&json(&record, FOLDER).unwrap()).unwrap();
    satisfies(&closed(published("bisect")), "bisect", &json);
    assert_eq!(json["format"], "deadheat-bisect");
    assert_eq!(json["outcome"]["first"], 3);
    assert_eq!(json["search"]["questions"].as_array().unwrap().len(), 5);
    assert!((json["whole"].as_f64().unwrap() - 0.8).abs() < 1e-9);
}
