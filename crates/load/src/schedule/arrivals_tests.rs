use super::*;

const MS: u64 = 1_000_000;

fn stage(seconds: f64, from: f64, to: f64) -> Stage {
    Stage {
        length: Duration::from_secs_f64(seconds),
        from,
        to,
    }
}

fn arrivals(kind: Kind, stages: &[Stage]) -> Arrivals {
    Arrivals::new(kind, 42, Share::WHOLE, Duration::ZERO, stages).unwrap()
}

fn take(arrivals: &Arrivals, worker: usize, workers: usize, count: usize) -> Vec<u64> {
    let mut cursor = Cursor::new(arrivals, worker, workers);
    std::iter::from_fn(|| cursor.next(arrivals))
        .take(count)
        .collect()
}

/// The largest distance between the values' distribution and another one (Kolmogorov, 1933).
fn kolmogorov(mut values: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let distance = |(index, value): (usize, &f64)| {
        let expected = distribution(*value);
        let (below, upto) = (index as f64 / count, (index + 1) as f64 / count);
        (expected - below).abs().max((upto - expected).abs())
    };
    values.iter().enumerate().map(distance).fold(0.0, f64::max)
}

#[test]
fn a_constant_rate_is_a_multiplication() {
    let due = take(
        &arrivals(Kind::Uniform, &[Stage::constant(5_000.0)]),
        0,
        1,
        100_001,
    );
    for index in [0, 1, 2, 777, 100_000] {
        assert_eq!(due[index as usize], index * 200_000);
    }
}

#[test]
fn a_warm_up_has_the_first_rate() {
    let stages = [stage(1.0, 100.0, 100.0), stage(1.0, 1_000.0, 1_000.0)];
    let arrivals = Arrivals::new(
        Kind::Uniform,
        0,
        Share::WHOLE,
        Duration::from_secs(2),
        &stages,
    )
    .unwrap();
    let due = take(&arrivals, 0, 1, 1_400);
    let between = |from: u64, until: u64| {
        due.iter()
            .filter(|at| (from * 1_000 * MS..until * 1_000 * MS).contains(at))
            .count()
    };
    assert_eq!(
        (between(0, 2), between(2, 3), between(3, 4)),
        (200, 100, 1_000)
    );
    assert_eq!(due[1_300], 4_000 * MS, "the last rate goes on");
}

#[test]
fn a_ramp_is_the_inverse_of_its_integral() {
    // Λ(t) = 50 t² over ten seconds.
    let due = take(
        &arrivals(Kind::Uniform, &[stage(10.0, 0.0, 1_000.0)]),
        0,
        1,
        5_002,
    );
    for index in [0usize, 1, 10, 2_500, 4_999] {
        let seconds = (index as f64 / 50.0).sqrt();
        assert!((due[index] as f64 / 1e9 - seconds).abs() < 1e-8, "{index}");
    }
    assert_eq!(due[5_000], 10_000 * MS);
    assert_eq!(due[5_001], 10_001 * MS);
    // Down to nothing, and then nothing comes any more.
    let down = take(
        &arrivals(Kind::Uniform, &[stage(10.0, 1_000.0, 0.0)]),
        0,
        1,
        9_999,
    );
    assert_eq!(down.len(), 5_000);
    let seconds = |index: usize| 10.0 - ((5_000 - index) as f64 / 50.0).sqrt();
    assert!((down[4_000] as f64 / 1e9 - seconds(4_000)).abs() < 1e-6);
}

#[test]
fn a_pause_is_passed_over() {
    let stages = [
        stage(1.0, 10.0, 10.0),
        stage(5.0, 0.0, 0.0),
        stage(1.0, 10.0, 10.0),
    ];
    let due = take(&arrivals(Kind::Uniform, &stages), 0, 1, 12);
    assert_eq!(
        (due[9], due[10], due[11]),
        (900 * MS, 6_000 * MS, 6_100 * MS)
    );
}

#[test]
fn poisson_gaps_are_exponential() {
    let due = take(
        &arrivals(Kind::Poisson, &[Stage::constant(1_000.0)]),
        0,
        1,
        20_000,
    );
    let gaps: Vec<f64> = due
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / 1e6)
        .collect();
    // The 1 % critical value for a large n is 1.63 / √n.
    let bound = 1.63 / (gaps.len() as f64).sqrt();
    let distance = kolmogorov(gaps.clone(), |gap| 1.0 - (-gap).exp());
    assert!(distance < bound, "{distance} against {bound}");
    let uniform = kolmogorov(gaps, |gap| (gap / 2.0).min(1.0));
    assert!(uniform > 5.0 * bound, "the test tells them apart");
}

#[test]
fn poisson_arrivals_follow_a_ramp() {
    // Given their number, the arrivals are distributed as Λ: here t² over one second.
    let arrivals = arrivals(Kind::Poisson, &[stage(1.0, 0.0, 20_000.0)]);
    let due = take(&arrivals, 0, 1, 30_000);
    let seconds: Vec<f64> = due
        .iter()
        .map(|at| *at as f64 / 1e9)
        .filter(|at| *at < 1.0)
        .collect();
    assert!(
        (9_600..10_400).contains(&seconds.len()),
        "{}",
        seconds.len()
    );
    let bound = 1.63 / (seconds.len() as f64).sqrt();
    let distance = kolmogorov(seconds, |at| at * at);
    assert!(distance < bound, "{distance} against {bound}");
}

#[test]
fn the_schedule_does_not_depend_on_the_workers() {
    for kind in [Kind::Uniform, Kind::Poisson] {
        let arrivals = arrivals(kind, &[stage(0.5, 0.0, 700.0), Stage::constant(900.0)]);
        let alone = take(&arrivals, 0, 1, 600);
        let mut shared: Vec<u64> = (0..3)
            .flat_map(|worker| take(&arrivals, worker, 3, 200))
            .collect();
        shared.sort_unstable();
        assert_eq!(alone, shared);
    }
}

#[test]
fn another_seed_is_another_schedule_of_the_same_rate() {
    let of = |seed| {
        let stages = [Stage::constant(100.0)];
        let arrivals =
            Arrivals::new(Kind::Poisson, seed, Share::WHOLE, Duration::ZERO, &stages).unwrap();
        take(&arrivals, 0, 1, 50)
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn rates_that_are_none_are_refused() {
    let new =
        |stages: &[Stage]| Arrivals::new(Kind::Uniform, 0, Share::WHOLE, Duration::ZERO, stages);
    assert!(new(&[]).is_err());
    for rate in [-1.0, f64::NAN, f64::INFINITY, 2e9] {
        assert!(new(&[Stage::constant(rate)]).is_err(), "{rate}");
    }
    assert!(new(&[Stage::constant(0.0)]).is_err());
    assert!(new(&[stage(1.0, 0.0, 0.0), Stage::constant(1.0)]).is_ok());
}

#[test]
fn a_count_ends_so_many_after_the_warm_up() {
    let warm_up = Duration::from_millis(100);
    for kind in [Kind::Uniform, Kind::Poisson] {
        let all = arrivals(kind, &[Stage::constant(1_000.0)]);
        let endless = take(&all, 0, 1, 1_000);
        let before = endless.iter().filter(|at| **at < 100 * MS).count();
        let ending = all.ending_after(warm_up, 7).unwrap();
        assert_eq!(take(&ending, 0, 1, 1_000), endless[..before + 7]);
        let shared: usize = (0..3)
            .map(|worker| take(&ending, worker, 3, 1_000).len())
            .sum();
        assert_eq!(shared, before + 7);
        let mut cursor = Cursor::new(&ending, 0, 1);
        cursor.seek(&ending, 5);
        assert_eq!(cursor.next(&ending), Some(endless[5]));
    }
}

#[test]
fn a_schedule_that_ends_at_0_has_no_more_requests_than_are_due() {
    let warm_up = Duration::from_millis(500);
    // 50 requests in the warm-up, then 500.
    let stages = [stage(10.0, 100.0, 0.0)];
    let ending = |kind, share, requests| {
        let all = Arrivals::new(kind, 42, share, warm_up, &stages).unwrap();
        all.ending_after(warm_up, requests)
    };
    let exact = ending(Kind::Uniform, Share::WHOLE, 500).unwrap();
    assert_eq!(exact.end(), 550);
    assert_eq!(take(&exact, 0, 1, 1_000).len(), 550);
    assert_eq!(
        ending(Kind::Uniform, Share::WHOLE, 501),
        Err(ScheduleError::TooFew {
            due: 500,
            requests: 501
        })
    );
    let endless = Arrivals::new(Kind::Poisson, 42, Share::WHOLE, warm_up, &stages).unwrap();
    let after = take(&endless, 0, 1, 10_000).len() as u64 - endless.due_before(warm_up);
    assert!(ending(Kind::Poisson, Share::WHOLE, after).is_ok());
    // Each of several generators sees that all of them together have too few.
    for index in 0..2 {
        let refused = ending(Kind::Poisson, Share::new(index, 2).unwrap(), after + 1);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("ask for fewer requests"), "{refused}");
    }
    // What is far too much is refused without counting.
    let fast = arrivals(Kind::Poisson, &[stage(1.0, 1e9, 0.0)]);
    let refused = fast.ending_after(Duration::ZERO, u64::MAX).unwrap_err();
    assert!(refused.to_string().contains("too many"), "{refused}");
}

#[test]
fn the_shares_of_several_generators_are_the_schedule_of_one() {
    let stages = [stage(1.0, 100.0, 900.0), stage(0.0, 50.0, 50.0)];
    let warm_up = Duration::from_millis(500);
    for kind in [Kind::Uniform, Kind::Poisson] {
        let of = |share| {
            Arrivals::new(kind, 7, share, warm_up, &stages)
                .unwrap()
                .ending_after(warm_up, 600)
                .unwrap()
        };
        let whole = of(Share::WHOLE);
        let mut all = Vec::new();
        let (mut end, mut before) = (0, 0);
        for index in 0..3 {
            let part = of(Share::new(index, 3).unwrap());
            all.extend(take(&part, 0, 1, 10_000));
            end += part.end();
            before += part.due_before(warm_up);
        }
        all.sort_unstable();
        let one = take(&whole, 0, 1, 10_000);
        assert_eq!(all.len(), one.len());
        // The sums are added up in another order.
        assert!(all.iter().zip(&one).all(|(a, b)| a.abs_diff(*b) <= 1));
        assert_eq!((end, before), (whole.end(), whole.due_before(warm_up)));
        assert_eq!(end - before, 600);
    }
}

#[test]
fn what_is_due_is_worked_out_without_going_through_it() {
    let stages = [stage(1.0, 0.0, 1e9), stage(1.0, 1e9, 1e9)];
    for kind in [Kind::Uniform, Kind::Poisson] {
        let fast = arrivals(kind, &stages);
        let mut cursor = Cursor::new(&fast, 1, 2);
        cursor.next(&fast).unwrap();
        let expected = |at: u64| cursor.expected_before(&fast, at * 1_000 * MS);
        assert!(expected(0) == 0 && expected(1).abs_diff(250_000_000) <= 2);
        assert!(expected(2).abs_diff(750_000_000) <= 2);
        let counted = fast.ending_after(Duration::from_secs(1), 1_000);
        match kind {
            Kind::Uniform => assert_eq!(counted.unwrap().end(), 500_001_000),
            Kind::Poisson => {
                let refused = counted.unwrap_err().to_string();
                assert!(refused.contains("too many"), "{refused}");
            }
        }
    }
    let slow = arrivals(
        Kind::Uniform,
        &[stage(2.0, 5.0, 25.0), Stage::constant(10.0)],
    );
    let all = take(&slow, 0, 1, 100);
    for time in [0, 1, 400, 1_000, 1_999, 2_000, 2_001, 5_050] {
        let before = all.iter().filter(|at| **at < time * MS).count() as u64;
        assert_eq!(
            slow.due_before(Duration::from_millis(time)),
            before,
            "{time} ms"
        );
    }
    for index in [0, 1, 7, 63] {
        let mut cursor = Cursor::new(&slow, 0, 1);
        cursor.seek(&slow, index);
        assert_eq!(cursor.next(&slow), Some(all[index as usize]));
    }
}

#[test]
fn a_lag_is_known_until_its_place_is_another_arrivals() {
    let taking = ArrivalQueue::new(2, 0).unwrap();
    assert_eq!((taking.lag(0), taking.lag(7)), (None, None));
    taking.note_due(0, 7, 1_234);
    taking.note_due(1, 8, u64::MAX);
    assert_eq!(taking.lag(7), Some(1_234));
    assert_eq!(taking.lag(8), Some((1 << LAG_BITS) - 1));
    taking.note_due(0, 7 + REMEMBERED as u64, 0);
    assert_eq!(taking.lag(7), None);
    assert_eq!(taking.waiting(), 3);
    assert!(taking.take(0) && !taking.take(0));
    assert_eq!(taking.waiting(), 2);
}

#[test]
fn who_has_a_free_connection_is_known_to_the_others() {
    let taking = ArrivalQueue::new(3, 0).unwrap();
    assert_eq!(taking.free_elsewhere(0), None);
    taking.note_free(2, 1);
    assert_eq!(taking.free_elsewhere(0), Some(2));
    assert_eq!(taking.free_elsewhere(2), None);
}

#[test]
fn who_is_to_make_a_connection_counts_as_connected_until_that_has_been_tried() {
    let taking = ArrivalQueue::new(3, 1).unwrap();
    assert!(!taking.is_open_elsewhere(0) && taking.is_open_elsewhere(1));
    taking.note_open(0, 0);
    assert!(!taking.is_open_elsewhere(1));
    taking.note_open(2, 4);
    assert!(taking.is_open_elsewhere(1) && !taking.is_open_elsewhere(2));
    // Connections are held between slices, and those of the start are made again.
    taking.reset();
    assert!(taking.is_open_elsewhere(0));
    taking.note_open(2, 0);
    assert!(taking.is_open_elsewhere(1) && !taking.is_open_elsewhere(0));
}
