//! What makes a trial generator-limited, what explains it otherwise, and when steadiness is not known.

use std::time::Duration;

use deadheat_model::{CountHistogram, Failure, LatencyHistogram, Observation, TrialOutcome};
use deadheat_stats::{
    Settings, TrialAnalysis, analyse, analyse_with,
    limit::Limit,
    little::LittleCause,
    trial::Flag,
    verdict::{CellVerdict, TrialVerdict},
};

use crate::fixture::{Found, Session, good, histogram, measured};

/// One trial of 10,000 answers over 50 connections, after a change to what the load saw.
fn trial(change: impl Fn(&mut Observation)) -> TrialAnalysis {
    let mut trial = measured(Found::at(1_000.0));
    change(&mut trial.load);
    let session = Session::new(1).workload("json", &[50]).stack("a");
    let outcome = TrialOutcome::Measured(Box::new(trial));
    let record = session.measured(1, |_, _| outcome.clone()).build();
    analyse(&record).groups[0].cells[0].trials[0].clone()
}

/// Service times of 25 ms, so that of 50 connections 25 have a request that ends.
fn half_idle(load: &mut Observation) {
    load.service_time = histogram(10_000, 0.025);
}

fn limits(trial: &TrialAnalysis) -> &[Limit] {
    match &trial.verdict {
        TrialVerdict::GeneratorLimited { limits } => limits,
        TrialVerdict::Counts => &[],
        other => panic!("{other:?}"),
    }
}

fn because(trial: &TrialAnalysis) -> LittleCause {
    assert_eq!(trial.verdict, TrialVerdict::Counts, "{:?}", trial.flags);
    match trial.flags[..] {
        [Flag::Little { because, .. }] => because,
        _ => panic!("{:?}", trial.flags),
    }
}

fn counts(of: impl IntoIterator<Item = u64>) -> CountHistogram {
    let mut counts = CountHistogram::new();
    of.into_iter().for_each(|count| counts.record(count));
    counts
}

/// So many connections over the whole load, each made in so much time.
fn reconnecting(load: &mut Observation, opened: u64, each: Duration) {
    load.connections_opened = opened;
    load.connect_time = LatencyHistogram::new();
    for _ in 0..opened {
        load.connect_time.record_ns(each.as_nanos() as u64);
    }
}

#[test]
fn the_fixture_is_sound() {
    let sound = trial(|_| ());
    assert_eq!((sound.verdict, sound.flags), (TrialVerdict::Counts, vec![]));
}

#[test]
fn connections_that_wait_for_nothing_of_the_servers_wait_for_the_generator() {
    let idle = trial(half_idle);
    let [
        Limit::Little {
            connections: 50,
            in_flight,
        },
    ] = limits(&idle)
    else {
        panic!("{:?}", idle.verdict)
    };
    assert!((in_flight - 25.0).abs() < 0.5);
    // More in flight than there are connections cannot be either.
    let more = trial(|load| load.service_time = histogram(10_000, 0.06));
    assert!(matches!(limits(&more), [Limit::Little { .. }]));
    // But requests that were under way when the measurement began took part of their time before.
    let faster = trial(|load| {
        load.service_time = histogram(9_950, 0.05);
        load.service_time.merge(&histogram(50, 2.5));
        (load.measured.carried_in, load.measured.in_flight) = (50, 50);
    });
    assert_eq!((limits(&faster), &faster.flags[..]), (&[][..], &[][..]));
    // A tenth is no deviation.
    let some = trial(|load| load.service_time = histogram(10_000, 0.046));
    assert_eq!((limits(&some), &some.flags[..]), (&[][..], &[][..]));
}

#[test]
fn making_connections_explains_what_is_missing() {
    // 12,000 over 12 s of load are 1,000 a second: at 25 ms each, 25 are in the making.
    let closes = trial(|load| {
        half_idle(load);
        reconnecting(load, 12_000, Duration::from_millis(25));
    });
    let LittleCause::Reconnecting {
        opened: 12_000,
        connecting: Some(connecting),
        closing_at_most,
    } = because(&closes)
    else {
        panic!("{:?}", closes.flags)
    };
    assert!((connecting - 25.0).abs() < 0.5, "{connecting}");
    assert!((closing_at_most - 200.0).abs() < 0.5, "{closing_at_most}");
    // Ten a second are ten times what each takes, with 0.2 s until the server closes: here 22, of 25.
    let slow = trial(|load| {
        half_idle(load);
        reconnecting(load, 120, Duration::from_secs(2));
    });
    assert!(matches!(because(&slow), LittleCause::Reconnecting { .. }));
    // And here 2: the others wait for the generator.
    let quick = trial(|load| {
        half_idle(load);
        reconnecting(load, 120, Duration::from_millis(1));
    });
    assert!(matches!(limits(&quick), [Limit::Little { .. }]));
    // Of a server that is slow to close, that is the time.
    let closing = trial(|load| {
        half_idle(load);
        reconnecting(load, 2_400, Duration::from_millis(1));
    });
    assert!(matches!(
        because(&closing),
        LittleCause::Reconnecting { .. }
    ));
    // Older records do not tell, and then nobody is blamed.
    let unknown = trial(|load| {
        half_idle(load);
        load.connections_opened = 12_000;
    });
    let unknown = because(&unknown);
    assert!(
        matches!(
            unknown,
            LittleCause::Reconnecting {
                connecting: None,
                ..
            }
        ),
        "{unknown:?}"
    );
}

#[test]
fn failed_requests_explain_a_connection_each_and_no_more() {
    let failing = |count: u64| {
        move |load: &mut Observation| {
            load.service_time = histogram(10_000, 0.041);
            for tally in [&mut load.total, &mut load.measured] {
                tally.failed[Failure::Timeout] += count;
                tally.issued += count;
            }
        }
    };
    // Nine connections are missing, of which five are tolerated.
    let explained = because(&trial(failing(5)));
    assert!(matches!(explained, LittleCause::Failures { failed: 5 }));
    assert!(matches!(limits(&trial(failing(3))), [Limit::Little { .. }]));
}

#[test]
fn a_server_that_lets_connections_wait_is_no_limit_of_the_generator() {
    // It answers 25 connections and none of the others: their requests never end.
    let starved = |load: &mut Observation| {
        half_idle(load);
        load.answers_per_connection = counts((0..50).map(|index| if index < 25 { 0 } else { 480 }));
    };
    assert_eq!(
        because(&trial(starved)),
        LittleCause::Uneven {
            least: 0,
            most: 480
        }
    );
    let even = trial(|load| {
        half_idle(load);
        load.answers_per_connection = counts((0..50).map(|index| 230 + index % 20));
    });
    assert!(matches!(limits(&even), [Limit::Little { .. }]));
}

#[test]
fn a_mean_of_few_answers_proves_nothing() {
    let few = |count: u64| {
        trial(move |load| {
            load.service_time = histogram(count, 5.0 / count as f64);
            load.measured.succeeded = count;
            load.measured.issued = count;
            load.bins
                .iter_mut()
                .for_each(|bin| bin.succeeded = count / 20);
        })
    };
    // 0.5 connections of 50 in flight, in both.
    assert!(matches!(limits(&few(100)), [Limit::Little { .. }]));
    assert!(limits(&few(80)).is_empty());
    // Five answers for each connection, or four and six: at 42 in flight that is within one answer each.
    let in_flight = |count: u64| {
        trial(move |load| {
            load.service_time = histogram(count, 42.0 / (count as f64 / 10.0));
            load.measured.succeeded = count;
            load.measured.issued = count;
        })
    };
    assert!(limits(&in_flight(250)).is_empty());
    assert!(matches!(limits(&in_flight(1_000)), [Limit::Little { .. }]));
}

#[test]
fn every_reason_of_a_trial_and_one_of_each_kind_of_a_cell_is_told() {
    let mut busy = measured(Found {
        busy: 0.97,
        ..Found::at(1_000.0)
    });
    busy.noise.generator_cpus_busy = Some(0.95);
    busy.noise.server_cpus_busy = Some(0.5);
    half_idle(&mut busy.load);
    let session = Session::new(3).workload("json", &[50]).stack("a");
    let outcome = TrialOutcome::Measured(Box::new(busy));
    let analysis = analyse(&session.measured(3, |_, _| outcome.clone()).build());
    let cell = &analysis.groups[0].cells[0];
    assert!(matches!(
        limits(&cell.trials[0]),
        [
            Limit::Worker { .. },
            Limit::Cpus { .. },
            Limit::Little { .. }
        ]
    ));
    let CellVerdict::LowerBound {
        limited: 3,
        of: 3,
        limits,
    } = &cell.verdict
    else {
        panic!("{:?}", cell.verdict)
    };
    assert_eq!(limits.len(), 3);
}

#[test]
fn a_trial_too_short_to_be_checked_says_so() {
    let short = |bins: u32| {
        trial(move |load| {
            load.bins.truncate(bins as usize);
            load.window = load.bin * bins;
            let succeeded = load.bins.iter().map(|bin| bin.succeeded).sum::<u64>();
            load.measured.succeeded = succeeded;
            load.measured.issued = succeeded;
        })
    };
    let known = short(4);
    assert_eq!(known.flags, []);
    let unknown = short(3);
    assert_eq!(
        unknown.flags,
        [Flag::SteadinessUnknown { bins: 3, needed: 4 }]
    );
    assert_eq!(unknown.verdict, TrialVerdict::Counts);
    let record = Session::new(1).workload("json", &[50]).stack("a");
    let record = record.measured(1, |_, _| good(Found::at(1_000.0))).build();
    let settings = Settings {
        steady_bins: 21,
        ..Settings::default()
    };
    let analysis = analyse_with(&record, settings);
    assert_eq!(
        analysis.groups[0].cells[0].trials[0].flags,
        [Flag::SteadinessUnknown {
            bins: 20,
            needed: 21
        }]
    );
    // A bin that the end cut off is not a whole one.
    let cut = trial(|load| {
        load.bins.truncate(4);
        load.window = Duration::from_millis(1_900);
    });
    assert!(
        cut.flags
            .contains(&Flag::SteadinessUnknown { bins: 3, needed: 4 })
    );
}
