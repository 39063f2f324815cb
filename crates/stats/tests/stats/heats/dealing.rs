//! Which members the next heat has.

use deadheat_stats::heats::Allocation;

fn deal<'a>(
    members: &'a [usize],
    anchor: Option<usize>,
    capacity: usize,
    history: &'a [Vec<usize>],
    open: &'a [(usize, usize)],
) -> Allocation<'a> {
    Allocation {
        first: &[],
        members,
        anchor,
        capacity,
        history,
        open,
        seed: 5,
    }
}

/// So many heats, dealt one after the other while these pairs stay open.
fn session(
    members: &[usize],
    anchor: Option<usize>,
    capacity: usize,
    open: &[(usize, usize)],
    heats: usize,
) -> Vec<Vec<usize>> {
    let mut history = Vec::new();
    for _ in 0..heats {
        let next = deal(members, anchor, capacity, &history, open).next();
        history.push(next);
    }
    history
}

fn meetings(history: &[Vec<usize>], a: usize, b: usize) -> usize {
    let both = |heat: &&Vec<usize>| heat.contains(&a) && heat.contains(&b);
    history.iter().filter(both).count()
}

#[test]
fn with_seats_for_all_all_are_in() {
    assert_eq!(deal(&[4, 2, 7], Some(2), 3, &[], &[]).next(), [2, 4, 7]);
    assert_eq!(deal(&[4, 2, 7], None, 8, &[], &[]).next(), [2, 4, 7]);
}

/// Whatever stays undecided, all pairs meet, the anchor is in every heat, and no seat stays empty.
#[test]
fn over_a_session_all_pairs_meet() {
    for count in [5, 9, 18] {
        let members: Vec<usize> = (0..count).collect();
        let neighbours: Vec<(usize, usize)> = (1..count).map(|b| (b - 1, b)).collect();
        for capacity in [3, 4, 6] {
            for anchor in [Some(0), None] {
                for open in [&neighbours[..], &neighbours[..1], &[]] {
                    // A heat has so many new pairs at best; four times as many heats must be enough, as every second
                    // heat is another pair's.
                    let seats = capacity - usize::from(anchor.is_some());
                    let free = count - usize::from(anchor.is_some());
                    let best = (free * (free - 1)).div_ceil(seats * (seats - 1));
                    let history = session(&members, anchor, capacity.min(count), open, 4 * best);
                    for heat in &history {
                        assert_eq!(heat.len(), capacity.min(count));
                        assert!(anchor.is_none_or(|anchor| heat.contains(&anchor)));
                        assert!(heat.windows(2).all(|pair| pair[0] < pair[1]));
                    }
                    for a in 0..count {
                        for b in 0..a {
                            assert!(
                                meetings(&history, a, b) > 0,
                                "{a} and {b} of {count}, {capacity} seats, {anchor:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// What decides the ranking is measured most.
#[test]
fn undecided_neighbours_meet_more_often_than_others() {
    let members: Vec<usize> = (0..12).collect();
    let open = [(3, 4), (8, 9)];
    let history = session(&members, Some(0), 5, &open, 40);
    let usual: usize = (1..12)
        .flat_map(|a| (1..a).map(move |b| (a, b)))
        .map(|(a, b)| meetings(&history, a, b))
        .sum();
    let usual = usual as f64 / 55.0;
    for (a, b) in open {
        let often = meetings(&history, a, b) as f64;
        assert!(often > 2.5 * usual, "{a} and {b}: {often}, others {usual}");
    }
    // The heat after a heat for new pairs has both open pairs.
    let next = deal(&members, Some(0), 5, &history[..1], &open).next();
    assert_eq!(next, [0, 3, 4, 8, 9]);
}

#[test]
fn the_same_seed_deals_the_same_heats() {
    let members: Vec<usize> = (0..12).collect();
    let open = [(3, 4)];
    let first = session(&members, Some(0), 5, &open, 10);
    assert_eq!(first, session(&members, Some(0), 5, &open, 10));
    let other = Allocation {
        seed: 6,
        ..deal(&members, Some(0), 5, &[], &open)
    };
    assert_ne!(other.next(), first[0]);
}

/// A member that has died is not dealt, and the others still meet.
#[test]
fn only_members_that_can_run_are_dealt() {
    let history = session(&[1, 2, 5, 6, 8], Some(0), 3, &[(2, 3)], 30);
    assert!(
        history
            .iter()
            .flatten()
            .all(|member| [1, 2, 5, 6, 8].contains(member))
    );
}
