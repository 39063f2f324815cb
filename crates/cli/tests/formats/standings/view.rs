//! What the view says of each session.

use deadheat_bench::document::{
    view::{LoadView, StandingsView, State},
    words,
};
use deadheat_model::{
    Warning,
    heats::{EndReason, SessionRecord},
    session::AddedStack,
    warning::Level::Doubt,
};
use deadheat_stats::{
    heats::PairVerdict,
    interval::Interval,
    standings::{AbsentBecause, Standings},
};

use super::{
    cases,
    fixture::{Load, Stack},
    sessions::{absent, session},
};

fn words_of(text: &str) -> usize {
    text.split_whitespace().count()
}

fn answers(view: &StandingsView) -> Vec<String> {
    view.loads.iter().map(LoadView::answer).collect()
}

#[test]
fn an_answer_has_at_most_25_words() {
    for case in cases::all().iter().filter(|case| case.name != "hostile") {
        for answer in answers(&case.view()) {
            assert!(words_of(&answer) <= 25, "{}: {answer}", case.name);
        }
    }
}

#[test]
fn the_title_says_what_where_and_when() {
    let (record, standings) = cases::usual();
    let view = StandingsView::new(&record, &standings);
    let title = "18 HTTP stacks, 3 workloads · AMD EPYC 7B13, 1 of 2 CPUs · 22 Nov 2026";
    assert_eq!(view.title.to_string(), title);
}

fn answer(load: Load) -> String {
    let (record, standings) = session(&[load], Vec::new());
    StandingsView::new(&record, &standings)
        .loads
        .remove(0)
        .answer()
}

fn stacks(rates: &[f64]) -> Vec<Stack> {
    let names = ["a", "b", "c", "d", "e", "f"];
    let stacks = names.iter().zip(rates);
    stacks.map(|(name, rate)| Stack::new(name, *rate)).collect()
}

#[test]
fn an_answer_names_leaders_and_followers() {
    let exact = |rates: &[f64]| Load {
        half_width: 0.01,
        ..Load::new("json", stacks(rates))
    };
    let cases = [
        (
            exact(&[50e3, 40e3]),
            "json: a leads at 50,000 requests/s; b follows, 20 % slower",
        ),
        (
            exact(&[50e3, 40e3, 16e3, 8e3]),
            "json: a leads at 50,000 requests/s; b and c follow, 1.25 to 3.1× slower",
        ),
        (
            exact(&[50e3, 49.8e3, 25e3]),
            "json: a and b lead at 49,800 to 50,000 requests/s (dead heat); c follows, 2.0× slower",
        ),
        // c is proven slower than a, but not than b.
        (
            Load {
                half_width: 0.05,
                ..Load::new("json", stacks(&[50e3, 48.5e3, 47e3]))
            },
            "json: a and b lead at 48,500 to 50,000 requests/s (order undecided); c is 6.0 % slower than a",
        ),
        (
            Load::new("json", stacks(&[50e3, 49e3])),
            "json: a and b lead at 49,000 to 50,000 requests/s (order undecided)",
        ),
        (
            Load::new("json", stacks(&[50e3, 50e3, 49e3, 49e3])),
            "json: a is ahead at 50,000 requests/s, but all 3 others may be as fast: undecided",
        ),
        // Almost nothing is known about b: its interval reaches the best, but it does not lead.
        (
            Load {
                half_width: 1.9,
                ..Load::new("json", stacks(&[50e3, 9e3]))
            },
            "json: a is ahead at 50,000 requests/s; b is too uncertain to rank",
        ),
        (
            Load {
                is_open: true,
                ..exact(&[50e3, 25e3])
            },
            "json at 12,000/s: a leads with a p99 of 1.80 ms; b follows, 2.0× slower",
        ),
        (
            Load {
                heats: 2,
                ..exact(&[50e3, 25e3])
            },
            "json: a is ahead at 50,000 requests/s so far, after 2 heats: too few for a verdict",
        ),
        (
            exact(&[50e3]),
            "json: a answers 50,000 requests/s; there is nothing to compare it with",
        ),
    ];
    for (load, expected) in cases {
        assert_eq!(answer(load), expected);
    }
}

/// The interval of c reaches the best figure; that of b, which is faster than c, does not.
#[test]
fn a_stack_behind_one_that_does_not_lead_is_too_uncertain() {
    let exact = Load {
        half_width: 0.01,
        ..Load::new("json", stacks(&[50e3, 45e3, 40e3]))
    };
    let (record, mut standings) = session(&[exact], Vec::new());
    let third = &mut standings.loads[0].tables[0].rows[2].throughput_per_second;
    third.rank.as_mut().unwrap().best = 1;
    let view = StandingsView::new(&record, &standings);
    assert_eq!(
        view.loads[0].answer(),
        "json: a is ahead at 50,000 requests/s; b follows, 10 % slower; c is too uncertain to rank"
    );
}

#[test]
fn the_longest_answer_has_25_words_too() {
    let mut load = Load::new("plaintext", stacks(&[50e3, 49.5e3, 49e3, 30e3, 20e3]));
    load.stacks[0].is_bound = true;
    let (record, mut standings) = session(&[load], Vec::new());
    let tables = &mut standings.loads[0].tables;
    let mut second = tables[0].clone();
    second.group.cpus = 2;
    tables.push(second);
    let view = StandingsView::new(&record, &standings);
    let answer = view.loads[0].answer();
    assert!(
        words_of(&answer) <= 25,
        "{} words: {answer}",
        words_of(&answer)
    );
    assert!(
        answer.starts_with("plaintext, 1 CPU: a, b and c lead at"),
        "{answer}"
    );
    assert!(answer.contains("at least"), "{answer}");
}

#[test]
fn a_stack_without_figures_is_named_once_with_what_it_lacks() {
    let line = |name: &str| cases::named(name).view().not_measured.line;
    let usual = "1 failed: nim-mummy (users); 2 unavailable: php-laravel and dart-shelf";
    assert_eq!(line("usual").as_deref(), Some(usual));
    let none = "5 not reached: nginx-static, python-japronto and 3 more";
    assert_eq!(line("no-heats").as_deref(), Some(none));
    assert_eq!(line("few"), None);
}

#[test]
fn who_is_absent_everywhere_is_not_listed_at_each_load() {
    let gone = absent("gone", AbsentBecause::Failed, "it did not start", None);
    let mut load = Load::new("json", stacks(&[50e3, 40e3]));
    load.lacking.push(gone.clone());
    let (record, standings) = session(&[load], vec![gone]);
    let view = StandingsView::new(&record, &standings);
    assert_eq!(view.not_measured.entries.len(), 1);
    assert_eq!(view.not_measured.line.as_deref(), Some("1 failed: gone"));
}

#[test]
fn warnings_that_change_a_decision_come_first_and_one_kind_is_one_warning() {
    let view = cases::named("usual").view();
    let first = view
        .warnings
        .iter()
        .take_while(|one| one.level <= Doubt)
        .count();
    assert!(view.warnings[first..].iter().all(|one| one.level > Doubt));
    let unsteady = view
        .warnings
        .iter()
        .filter(|one| one.sentence.starts_with("Not steady"));
    let unsteady: Vec<&str> = unsteady.map(|one| one.sentence.as_str()).collect();
    assert_eq!(
        unsteady,
        [
            "Not steady after the warm-up: java-vertx and java-spring (json:c50), java-vertx (users)."
        ]
    );
    assert!(view.warnings.iter().all(|one| !one.advice.is_empty()));
}

#[test]
fn a_twin_that_differs_fails_the_check() {
    let mut load = Load::new("json", stacks(&[50e3, 40e3]));
    load.twin = Some(1.06);
    let (record, mut standings) = session(&[load], Vec::new());
    let warning = Warning::new(Doubt, "twin-differs", "The same stack differs.");
    standings.warnings.push(warning);
    let view = StandingsView::new(&record, &standings);
    let line = &view.trust;
    assert!(
        line.contains("A/A check failed (json: 6.0 % apart), 1 warning"),
        "{line}"
    );
}

#[test]
fn the_ratio_that_is_known_worst_is_in_the_line_of_trust() {
    let (record, mut standings) = session(&[Load::new("json", stacks(&[50e3, 40e3]))], Vec::new());
    let line = |standings: &Standings| StandingsView::new(&record, standings).trust;
    assert!(!line(&standings).contains("the worst"));
    let row = &mut standings.loads[0].tables[0].rows[1];
    row.half_width = Some(1.73_f64.ln());
    let name = row.target.to_string();
    let line = line(&standings);
    assert!(
        line.contains(&format!("the worst to ±73 % ({name}, json)")),
        "{line}"
    );
}

#[test]
fn a_session_that_was_interrupted_is_continued_by_its_own_folder() {
    let (mut record, standings) = cases::few();
    record.end = Some(EndReason::Interrupted);
    let view = StandingsView::new(&record, &standings).in_folder("'my results/1'");
    let actions: Vec<&str> = view
        .warnings
        .iter()
        .map(|one| one.advice.as_str())
        .collect();
    let expected = "Continue it with `deadheat run --resume 'my results/1'`.";
    assert!(actions.contains(&expected), "{actions:?}");
}

#[test]
fn a_session_that_asks_for_a_precision_says_which_and_has_no_verdict_before_its_end() {
    let (mut record, mut standings) = cases::few();
    record.header.plan.precision = Some(0.05);
    record.end = Some(EndReason::Precise);
    let view = StandingsView::new(&record, &standings);
    let facts: Vec<_> = view
        .details
        .provenance
        .iter()
        .map(|one| format!("{one:?}"))
        .collect();
    for text in [
        "±5 % asked for",
        "the precision that was asked for is reached",
    ] {
        assert!(
            facts.iter().any(|fact| fact.contains(text)),
            "{text}: {facts:?}"
        );
    }
    record.end = Some(EndReason::Interrupted);
    for load in &mut standings.loads {
        load.look = None;
    }
    let view = StandingsView::new(&record, &standings);
    let sentences = view.warnings.iter().map(|one| one.sentence.as_str());
    let sentences: Vec<&str> = sentences.filter(|one| one.contains("verdict")).collect();
    assert!(
        matches!(sentences[..], [only] if only.contains("verdicts come at the end")),
        "{sentences:?}"
    );
}

#[test]
fn a_twin_of_too_few_heats_is_no_check() {
    let (record, mut standings) = cases::few();
    let line = |standings: &Standings| StandingsView::new(&record, standings).trust;
    assert!(line(&standings).contains("A/A 1.004 (0.984–1.024)"));
    for load in &mut standings.loads {
        load.twin.as_mut().unwrap().interval = None;
    }
    assert!(line(&standings).contains("too few heats for an A/A check"));
    let told = words::load_notes(&StandingsView::new(&record, &standings).loads[0]);
    assert!(told[0].contains("too few to judge"), "{told:?}");
    for load in &mut standings.loads {
        load.twin = None;
    }
    assert!(line(&standings).contains("no A/A check"));
}

#[test]
fn a_twin_at_a_rate_is_in_the_line_of_trust_only_if_it_differs() {
    let mut closed = Load::new("json", stacks(&[50e3, 40e3]));
    closed.twin = Some(1.001);
    let mut work = Load::new("json", stacks(&[50e3, 40e3]));
    (work.is_open, work.twin) = (true, Some(1.005));
    let (record, mut standings) = session(&[closed, work], Vec::new());
    let line = |standings: &Standings| StandingsView::new(&record, standings).trust;
    let twin = standings.loads[1].twin.as_mut().unwrap();
    (twin.interval, twin.ratio) = (
        Some(Interval {
            low: 0.74,
            high: 8.03,
            level: 0.95,
        }),
        2.44,
    );
    assert!(
        line(&standings).contains("A/A 1.001 ("),
        "{}",
        line(&standings)
    );
    let twin = standings.loads[1].twin.as_mut().unwrap();
    twin.interval = Some(Interval {
        low: 1.5,
        high: 4.0,
        level: 0.95,
    });
    twin.verdict = PairVerdict::Faster;
    assert!(
        line(&standings).contains("A/A check failed"),
        "{}",
        line(&standings)
    );
}

#[test]
fn equal_work_stands_beside_capacity_with_its_price() {
    let closed = Load::new("json", stacks(&[50e3, 40e3]));
    let mut work = Load::new("json", stacks(&[50e3, 40e3]));
    (work.is_open, work.connections) = (true, 256);
    let (mut record, standings) = session(&[closed, work], Vec::new());
    record.header.plan.price_per_cpu_hour = Some(3.6);
    let view = StandingsView::new(&record, &standings);
    let load = &view.loads[0];
    assert_eq!(
        (load.rates.as_slice(), load.rows().count()),
        (&[12_000.0][..], 2)
    );
    let rows: Vec<_> = load.rows().collect();
    let cost = rows[0].at_rates[0].cost().unwrap().value;
    assert_eq!(
        rows[0].at_rates[0].p99(),
        view.loads[1].tables[0].rows[0].p99_seconds
    );
    // A second of CPU time costs 0.001, and a microsecond a request is a second a million.
    let price = words::price_of_a_million(cost, 3.6);
    assert!((price - cost / 1000.0).abs() < 1e-12);
    let said = &load.equal_work[0];
    assert!(
        said.starts_with("At 12,000/s, a has the lowest CPU time, "),
        "{said}"
    );
    assert!(said.contains(" for a million)."), "{said}");
    assert!(view.loads[1].equal_work.is_empty());
    let mut failing = standings.clone();
    for (name, because) in [
        ("slow", AbsentBecause::Overloaded),
        ("dead", AbsentBecause::Failed),
    ] {
        failing.loads[1]
            .lacking
            .push(absent(name, because, "why", None));
    }
    let said = StandingsView::new(&record, &failing).loads[0].equal_work[0].clone();
    assert!(
        said.ends_with("; slow cannot take it; dead failed."),
        "{said}"
    );
    failing.loads[1].tables.clear();
    let said = StandingsView::new(&record, &failing).loads[0].equal_work[0].clone();
    assert_eq!(said, "At 12,000/s, slow cannot take it; dead failed.");
}

#[test]
fn a_half_width_is_that_of_the_ratio_to_the_best_that_is_no_bound() {
    let view = cases::named("usual").view();
    let rows = &view.loads[0].tables[0].rows;
    assert_eq!(rows[0].half_width, None);
    for row in &rows[1..] {
        assert!(
            (row.half_width.unwrap() - 0.04).abs() < 1e-9,
            "{}",
            row.target
        );
    }
    assert_eq!(rows[0].share_of_best, Some(1.0));
    let second = rows[1].share_of_best.unwrap();
    assert!((second - 115_100.0 / 116_400.0).abs() < 1e-9);
}

#[test]
fn a_session_that_runs_is_not_called_killed() {
    let (record, standings) = cases::no_heats();
    let killed = StandingsView::new(&record, &standings);
    assert!(killed.warnings[0].sentence.contains("killed"));
    let running = StandingsView::running(&record, &standings);
    assert_eq!(running.state, State::Running);
    assert_eq!(running.warnings, []);
}

#[test]
fn loads_that_were_measured_alike_share_a_line() {
    let method = cases::named("thirty").view().details.method;
    assert_eq!(method.len(), 3, "{method:?}");
    assert_eq!(method[2].name, "All loads");
}

#[test]
fn controls_and_missing_percentiles_are_explained() {
    let (record, mut standings) = cases::few();
    let of =
        |standings: &Standings| words::load_notes(&StandingsView::new(&record, standings).loads[0]);
    let told = of(&standings);
    let check = "measured twice in 5 heats. Ratio 1.004 (0.984–1.024): a dead heat, as it must be.";
    assert_eq!(told[0], format!("A/A check: go-nethttp {check}"));
    assert_eq!(told[2], "14 heats; all count in the verdicts.");
    assert!(
        told[3].ends_with("14 starts of each: a behaviour of up to 19 % of starts may be unseen."),
        "{told:?}"
    );
    assert!(told[4].contains("queueing of 50 connections"), "{told:?}");
    assert_eq!(told.len(), 5);
    let load = &mut standings.loads[0];
    load.tables[0].rows[2].p99_seconds = None;
    let twin = load.twin.as_mut().expect("a twin");
    twin.of = ["a", "b"]
        .map(|name| name.parse().expect("a name"))
        .to_vec();
    let told = of(&standings);
    assert_eq!(told[0], "–: too few answers for this percentile.");
    assert_eq!(told[1], format!("A/A check: a and b {check}"));
}

#[test]
fn a_copy_in_the_place_of_a_stack_is_warned_of_once_and_sources_that_are_part_of_deadheat_are_said()
{
    let (mut record, standings) = cases::few();
    let about = |record: &SessionRecord| {
        let standings = Standings {
            warnings: deadheat_stats::standings::standings(record).warnings,
            ..standings.clone()
        };
        let view = StandingsView::new(record, &standings);
        let facts = view.details.provenance.iter();
        let facts: Vec<String> = facts.map(ToString::to_string).collect();
        let warnings = view.warnings.into_iter().map(|one| one.sentence);
        let warnings: Vec<String> = warnings.filter(|one| one.contains("in place of")).collect();
        (facts.join("\n"), warnings)
    };
    let (facts, warnings) = about(&record);
    assert!(facts.contains("Commit: ") && !facts.contains("part of"));
    assert_eq!(warnings, [""; 0]);
    for replaces in [false, true] {
        let target = &mut record.header.targets[0];
        target.added = Some(AddedStack {
            folder: "/mine/it".into(),
            replaces,
        });
        let name = target.target.stack.clone();
        let (_, warnings) = about(&record);
        let said = format!("Measured in place of a stack of that name: {name} (/mine/it).");
        assert_eq!(warnings, if replaces { vec![said] } else { Vec::new() });
    }
    record.header.embedded = Some("0123".to_owned());
    record.header.commit = None;
    let (facts, _) = about(&record);
    let version = &record.header.deadheat;
    let said = format!("Stacks: part of Deadheat {version}, SHA-256 0123");
    assert!(
        facts.contains(&said) && !facts.contains("Commit"),
        "{facts}"
    );
}
