use super::*;

fn part(succeeded: u64, bins: usize) -> Observation {
    let mut part = Observation {
        window: Duration::from_secs(2),
        bin: Duration::from_secs(1),
        bins: vec![
            Bin {
                succeeded: 1,
                failed: 0
            };
            bins
        ],
        ..Observation::default()
    };
    part.measured.issued = succeeded + 2;
    part.measured.succeeded = succeeded;
    part.measured.failed[Failure::Reset] = 1;
    part.measured.in_flight = 1;
    part
}

#[test]
fn merging_keeps_conservation_and_the_longer_series() {
    let mut whole = part(4, 1);
    whole.merge(&part(6, 3));
    assert!(whole.measured.is_conserved());
    assert_eq!(whole.measured.succeeded, 10);
    assert_eq!(whole.bins.len(), 3);
    assert_eq!(whole.bins[0].succeeded, 2);
    assert_eq!(whole.throughput(), 5.0);
}

#[test]
fn merging_keeps_which_worker_ran_where() {
    let on_cpu = |cpu| Observation {
        workers: vec![WorkerHealth {
            cpu: Some(cpu),
            cpu_time: Duration::ZERO,
            polled: Duration::ZERO,
            run_delay: None,
            wall: Duration::ZERO,
        }],
        ..Observation::default()
    };
    let mut whole = on_cpu(0);
    whole.merge(&on_cpu(1));
    let read = serde_json::from_str::<Observation>(&serde_json::to_string(&whole).unwrap());
    assert_eq!(read.unwrap(), whole);
    let workers = whole.workers.iter();
    let cpus: Vec<_> = workers.map(|one| one.cpu).collect();
    assert_eq!(cpus, [Some(0), Some(1)]);
}

#[test]
fn bins_of_different_widths_are_counted_in_bins_that_hold_both() {
    let series = |milliseconds, counts: &[u64]| Observation {
        bin: Duration::from_millis(milliseconds),
        bins: counts
            .iter()
            .map(|succeeded| Bin {
                succeeded: *succeeded,
                failed: 1,
            })
            .collect(),
        ..Observation::default()
    };
    let merged = |one: &Observation, other: &Observation| {
        let mut whole = one.clone();
        whole.merge(other);
        let counts = whole.bins.iter().map(|bin| bin.succeeded);
        (whole.bin.as_millis(), counts.collect::<Vec<_>>())
    };
    let fine = series(100, &[1, 2, 3, 4, 5]);
    let wide = series(200, &[10, 20]);
    assert_eq!(merged(&fine, &wide), (200, vec![13, 27, 5]));
    assert_eq!(merged(&wide, &fine), (200, vec![13, 27, 5]));
    let odd = series(150, &[100, 200, 300]);
    assert_eq!(merged(&fine, &odd), (300, vec![306, 309]));
    assert_eq!(merged(&fine, &fine), (100, vec![2, 4, 6, 8, 10]));
    assert_eq!(
        merged(&Observation::default(), &odd),
        merged(&odd, &Observation::default())
    );
}

#[test]
fn it_is_read_back_also_from_within_a_tagged_value() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "is")]
    enum Tagged {
        Found { load: Box<Observation> },
    }
    let mut load = Box::new(part(4, 1));
    load.statuses = BTreeMap::from([(200, 4), (503, 1)]);
    let tagged = Tagged::Found { load };
    let json = serde_json::to_string(&tagged).unwrap();
    assert_eq!(serde_json::from_str::<Tagged>(&json).unwrap(), tagged);
    let wrong = json.replace("\"503\"", "\"many\"");
    let error = serde_json::from_str::<Tagged>(&wrong).unwrap_err();
    assert!(error.to_string().contains("not a status code"), "{error}");
}

#[test]
fn answers_of_a_closed_loop_have_the_mean_time_of_its_connections() {
    let second = Duration::from_secs;
    // Three rounds of 0.9 s on each of ten connections, which begin one after the other.
    let mut whole = Observation {
        window: Duration::from_millis(3_510),
        counted: Some(CountedTime::Closed {
            connections: 4,
            in_use: Duration::from_millis(4 * 2_700),
        }),
        ..Observation::default()
    };
    whole.measured.succeeded = 12;
    let mut rest = whole.clone();
    rest.measured.succeeded = 18;
    rest.counted = Some(CountedTime::Closed {
        connections: 6,
        in_use: Duration::from_millis(6 * 2_700),
    });
    whole.merge(&rest);
    assert_eq!(whole.answer_time(), Duration::from_millis(2_700));
    assert!((whole.throughput() - 30.0 / 2.7).abs() < 1e-9);
    // One that was stopped before its count has the measurement's length.
    rest.counted = None;
    whole.merge(&rest);
    assert_eq!(whole.answer_time(), Duration::from_millis(3_510));
    whole.counted = Some(CountedTime::Closed {
        connections: 0,
        in_use: second(0),
    });
    assert_eq!(whole.answer_time(), Duration::from_millis(3_510));
}

#[test]
fn answers_of_an_open_loop_have_the_time_until_the_next_request_is_due() {
    let ms = Duration::from_millis;
    let rate = |requests: u64, next: Option<u64>, first_end: u64, last_end: u64| {
        let counted = CountedTime::Open {
            first_due: ms(1_000),
            next_due: next.map(ms),
            first_end: ms(first_end),
            last_end: ms(last_end),
        };
        let rate = requests as f64 / counted.of_requests(requests).as_secs_f64();
        (rate * 1_000.0).round() / 1_000.0
    };
    // 20 at 10/s, from a server that takes 5 ms, 900 ms, or some ms more or less.
    assert_eq!(rate(20, Some(3_000), 1_005, 2_905), 10.0);
    assert_eq!(rate(20, Some(3_000), 1_900, 3_800), 10.0);
    assert_eq!(rate(20, Some(3_000), 1_005, 2_935), 10.0);
    assert_eq!(rate(2, Some(3_000), 1_001, 2_002), 1.0);
    assert_eq!(rate(1, Some(2_000), 1_001, 1_001), 1.0);
    // A server that needs 200 ms for each, one after the other.
    assert_eq!(rate(20, Some(3_000), 1_200, 5_000), 5.0);
    assert_eq!(rate(2, Some(1_200), 6_000, 11_000), 0.2);
    // The rate has come down to nothing.
    assert_eq!(rate(11, None, 1_001, 2_001), 10.0);
}

#[test]
fn the_next_request_of_several_generators_is_the_earliest() {
    let ms = Duration::from_millis;
    let part = |first, next, ended: (u64, u64)| CountedTime::Open {
        first_due: ms(first),
        next_due: Some(ms(next)),
        first_end: ms(ended.0),
        last_end: ms(ended.1),
    };
    let both = part(0, 300, (5, 205)).merged(part(100, 400, (105, 305)));
    assert_eq!(both, Some(part(0, 300, (5, 305))));
}

#[test]
fn a_lost_request_is_seen() {
    let mut tally = part(4, 1).measured;
    tally.issued += 1;
    assert!(!tally.is_conserved());
}

#[test]
fn a_request_that_failed_before_it_was_sent_counts_as_due_and_not_as_sent() {
    let group = |kind, phase, measured| FailureGroup {
        kind,
        phase,
        cause: String::new(),
        measured,
        total: measured + 100,
    };
    let mut seen = Observation {
        failures: vec![
            group(Failure::NoConnection, FailurePhase::Waiting, 1),
            group(Failure::ConnectRefused, FailurePhase::Connect, 2),
            group(Failure::Tls, FailurePhase::Tls, 3),
            group(Failure::Reset, FailurePhase::Write, 10),
            group(Failure::WrongStatus, FailurePhase::Body, 20),
        ],
        ..Observation::default()
    };
    assert_eq!((seen.never_sent(), seen.sent_share()), (6, None));
    let open = |offered, unsent| {
        Some(OpenLoop {
            offered,
            unsent,
            ..OpenLoop::default()
        })
    };
    seen.open = open(0, 0);
    assert_eq!(seen.sent_share(), None);
    seen.open = open(40, 4);
    assert_eq!(seen.sent_share(), Some(0.75));
    // The rest of a warm-up.
    seen.open = open(40, 50);
    assert_eq!(seen.sent_share(), Some(0.0));
}

#[test]
fn a_measurement_shorter_than_an_answer_has_no_throughput_and_says_why() {
    let mut slow = Observation {
        window: Duration::from_secs(3),
        ..Observation::default()
    };
    slow.measured.in_flight = 50;
    let why = |seen: &Observation| seen.none_ended().unwrap();
    assert_eq!(
        why(&slow),
        "no request ended in the measurement (50 requests in flight)"
    );
    slow.measured.carried_in = 50;
    slow.measured.carried_succeeded = 50;
    assert_eq!((slow.answers(), slow.throughput()), (0, 0.0));
    assert_eq!(
        why(&slow),
        "no request that began in the measurement ended in it, and 50 of the 50 from the warm-up did: answers take too long \
         for a measurement of 3.00 s"
    );
    slow.measured.succeeded = 10;
    assert_eq!((slow.answers(), slow.none_ended()), (60, None));
}
