//! The null server and the twin: what they say of a session, and that they take no place in it.

use deadheat_model::Cell;
use deadheat_stats::{
    Analysis, Group, analyse,
    limit::Limit,
    verdict::{CellVerdict, TrialVerdict},
};

use crate::fixture::{Found, Session, disturbed, good, measured, scatter};

/// The two stacks are 3 % apart.
fn rate(name: &str, null_server: f64, twin: f64) -> f64 {
    match name {
        "a" => 1_000.0,
        "b" => 1_030.0,
        "~null-server" => null_server,
        "~aa-twin" => 1_000.0 * twin,
        other => panic!("{other}"),
    }
}

fn session(null_server: f64, twin: f64) -> Session {
    let session = Session::new(7).workload("json", &[50]);
    let session = session.stack("a").stack("b").null_server().twin("a");
    session.measured(7, |cell, block| good(found(cell, block, null_server, twin)))
}

fn found(cell: &Cell, block: u32, null_server: f64, twin: f64) -> Found {
    let name = cell.target.to_string();
    let exact = rate(&name, null_server, twin);
    Found::at(exact * (1.0 + 0.002 * scatter(&name, block)))
}

fn group(analysis: &Analysis) -> &Group {
    &analysis.groups[0]
}

#[test]
fn controls_take_no_place_among_the_stacks() {
    let analysis = analyse(&session(20_000.0, 1.0).build());
    let group = group(&analysis);
    let names: Vec<_> = group
        .cells
        .iter()
        .map(|cell| (cell.target.to_string(), cell.rank))
        .collect();
    assert_eq!(
        names,
        [("b".to_owned(), Some(1)), ("a".to_owned(), Some(2))]
    );
    assert_eq!(group.comparison.pairs().len(), 1);
    assert!(group.comparison.pairs()[0].different);
    let ceiling = group.ceiling.as_ref().unwrap();
    let rate = ceiling.throughput_per_second().unwrap();
    assert!((rate.median - 20_000.0).abs() < 50.0 && rate.interval.is_some());
    assert!(!ceiling.of_generator);
    let twin = group.twin.as_ref().unwrap();
    assert_eq!(twin.of.to_string(), "a");
    assert_eq!((twin.cell.rank, ceiling.cell.rank), (None, None));
    // Theirs are trials as well.
    assert_eq!(analysis.blocks.trials_counted, 28);
    assert_eq!(analysis.blocks.trials_left_out, 0);
}

#[test]
fn a_rate_near_the_null_servers_is_a_lower_bound() {
    let analysis = analyse(&session(1_030.0 / 0.86, 1.0).build());
    let group = group(&analysis);
    let [b, a] = &group.cells[..] else {
        panic!("the bound of b is already better than a")
    };
    assert_eq!((a.target.to_string().as_str(), a.rank), ("a", Some(1)));
    assert_eq!((b.target.to_string().as_str(), b.rank), ("b", None));
    let CellVerdict::LowerBound { limits, .. } = &b.verdict else {
        panic!("{:?}", b.verdict)
    };
    let [
        Limit::Ceiling {
            share, same_block, ..
        },
    ] = limits[..]
    else {
        panic!("{limits:?}")
    };
    assert!((share - 0.86).abs() < 0.01 && same_block);
    assert_eq!(
        group.ceiling.as_ref().unwrap().cell.verdict,
        CellVerdict::Counts,
        "the null server is not held against itself"
    );
}

#[test]
fn a_block_without_a_null_server_has_the_median_of_the_others() {
    // In block 3 the null server was disturbed; in it a would have been far below that figure.
    let record = Session::new(7)
        .workload("json", &[50])
        .stack("a")
        .stack("b")
        .null_server()
        .noise_bound();
    let record = record.measured(7, |cell, block| {
        let null = cell.target.to_string() == "~null-server";
        match (null, block) {
            (true, 3) => disturbed(measured(Found::at(90_000.0))),
            // The drift sentinel: in block 5 the machine is slow.
            (true, 5) => good(Found::at(1_100.0)),
            (true, _) => good(Found::at(1_180.0)),
            _ => good(Found::at(rate(&cell.target.to_string(), 0.0, 0.0))),
        }
    });
    let analysis = analyse(&record.build());
    let shares = |name: &str| {
        let mut cells = group(&analysis).cells.iter();
        let cell = cells.find(|cell| cell.target.to_string() == name).unwrap();
        let trials = cell.trials.iter();
        trials
            .map(|trial| match &trial.verdict {
                TrialVerdict::GeneratorLimited { limits } => match limits[..] {
                    [
                        Limit::Ceiling {
                            ceiling_per_second,
                            same_block,
                            ..
                        },
                    ] => Some((ceiling_per_second, same_block)),
                    _ => panic!("{limits:?}"),
                },
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    let b = shares("b");
    assert_eq!(b[3], Some((1_180.0, false)));
    assert_eq!(b[4], Some((1_180.0, true)));
    let a = shares("a");
    assert_eq!((a[3], a[4]), (None, None), "1,000 is 84.7 % of 1,180");
    assert_eq!(a[5], Some((1_100.0, true)), "of its own block");
}

#[test]
fn a_generator_that_limits_the_null_server_is_the_ceiling() {
    let record = session(20_000.0, 1.0).with(|record| {
        for trial in &mut record.trials {
            if trial.cell.target.to_string() == "~null-server" {
                trial.outcome = good(Found {
                    busy: 0.99,
                    ..Found::at(20_000.0)
                });
            }
        }
    });
    let analysis = analyse(&record.build());
    let ceiling = group(&analysis).ceiling.as_ref().unwrap();
    assert!(ceiling.of_generator);
    assert_eq!(ceiling.throughput_per_second().unwrap().median, 20_000.0);
    assert!(
        group(&analysis)
            .cells
            .iter()
            .all(|cell| cell.rank.is_some())
    );
}

#[test]
fn a_difference_below_the_noise_floor_is_none() {
    let different = |twin: f64| {
        let analysis = analyse(&session(20_000.0, twin).build());
        let group = group(&analysis);
        let pair = &group.comparison.pairs()[0];
        assert!(pair.p_adjusted < 1e-6);
        let found = group.twin.as_ref().unwrap().found.unwrap();
        assert!((found.ratio - twin).abs() < 0.002, "{found:?}");
        assert!((found.floor - (twin.max(1.0 / twin) - 1.0)).abs() < 0.002);
        (pair.different, group.least_difference)
    };
    // a and b are 3 % apart.
    let (differ, least) = different(1.0);
    assert!(differ && least == 0.01, "never below the practical one");
    let (differ, least) = different(1.02);
    assert!(differ && (least - 0.02).abs() < 0.002);
    assert!(!different(1.05).0);
    assert!(!different(1.0 / 1.05).0, "the floor has two sides");
}

#[test]
fn a_stack_that_differs_from_itself_shows_a_bias() {
    let biased = |twin| {
        let analysis = analyse(&session(20_000.0, twin).build());
        let found = group(&analysis).twin.as_ref().unwrap().found.unwrap();
        assert_eq!(found.differs, group(&analysis).is_biased());
        analysis.biased().count()
    };
    assert_eq!(biased(1.05), 1);
    assert_eq!(biased(1.0 / 1.05), 1);
    assert_eq!(biased(1.008), 0, "significant, but below what matters");
}

#[test]
fn the_more_aa_pairs_the_more_it_takes_for_a_bias() {
    // Seven blocks in which the twin is about 3 % ahead, scattered so that one such pair has a p of some percent.
    let p_of = |workloads: &[&str]| {
        let mut session = Session::new(7);
        for workload in workloads {
            session = session.workload(workload, &[50]);
        }
        let session = session.stack("a").twin("a");
        let record = session.measured(7, |cell, block| {
            let ahead = [0.09, -0.02, 0.06, 0.05, -0.01, 0.03, 0.06][block as usize];
            let first = cell.workload == "w0" && cell.target.to_string() == "~aa-twin";
            good(Found::at(if first {
                1_000.0 * (1.0 + ahead)
            } else {
                1_000.0
            }))
        });
        let analysis = analyse(&record.build());
        let found = group(&analysis).twin.as_ref().unwrap().found.unwrap();
        (found.p, found.p_adjusted, found.differs)
    };
    let (p, adjusted, differs) = p_of(&["w0"]);
    assert!(p == adjusted && p < 0.05 && differs, "{p}");
    let (_, adjusted, differs) = p_of(&["w0", "w1", "w2"]);
    assert!((adjusted - 3.0 * p).abs() < 1e-9 && !differs, "{adjusted}");
}

#[test]
fn without_two_cells_that_count_there_is_no_floor() {
    let record = session(20_000.0, 1.0).with(|record| {
        for trial in &mut record.trials {
            if trial.cell.target.to_string() == "~aa-twin" {
                trial.outcome = good(Found {
                    busy: 0.9,
                    ..Found::at(1_200.0)
                });
            }
        }
    });
    let analysis = analyse(&record.build());
    let group = group(&analysis);
    assert_eq!(group.twin.as_ref().unwrap().found, None);
    assert_eq!(group.least_difference, 0.01);
}
