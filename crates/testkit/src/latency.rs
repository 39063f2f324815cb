//! Servers whose latency or capacity is known: each request's answer is due at an instant that follows from its
//! arrival.

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use crate::{
    Action, Script, Turn,
    answers::{self, BODY, hello},
};

/// Answers so long after the arrival.
pub fn fixed(length: Duration) -> impl Script {
    move |turn: &Turn<'_>| due(turn.arrived + length)
}

/// Answers so long after the arrival, with the head of the answer `early` before its body.
pub fn head_first(length: Duration, early: Duration) -> impl Script {
    move |turn: &Turn<'_>| {
        let answer = hello();
        let (head, body) = answer.split_at(answer.len() - BODY.len());
        vec![
            Action::Until(turn.arrived + length - early),
            Action::Send(head.to_vec()),
            Action::Until(turn.arrived + length),
            Action::Send(body.to_vec()),
        ]
    }
}

/// Answers every request after `usual`, but one in `every` after `rare`: the last one of each `every`, counted over
/// all connections, so that the shares are exact.
pub fn two_humped(usual: Duration, rare: Duration, every: u64) -> impl Script {
    move |turn: &Turn<'_>| {
        if (turn.index + 1).is_multiple_of(every) {
            due(turn.arrived + rare)
        } else {
            due(turn.arrived + usual)
        }
    }
}

/// A server that answers after `usual`, but gives no answer at all during one span, and all that were due in it at
/// its end. It reads all the while.
#[derive(Clone)]
pub struct Freeze {
    usual: Duration,
    after: Duration,
    length: Duration,
    first: Arc<OnceLock<Duration>>,
}

impl Freeze {
    /// Freezes `after` the first request's arrival, for `length`.
    pub fn new(usual: Duration, after: Duration, length: Duration) -> Self {
        Self {
            usual,
            after,
            length,
            first: Arc::default(),
        }
    }

    /// When it froze and when it thawed, since the server's start; `None` before its first request. A clone tells it
    /// after the script has gone to the server.
    pub fn span(&self) -> Option<(Duration, Duration)> {
        let from = *self.first.get()? + self.after;
        Some((from, from + self.length))
    }
}

impl Script for Freeze {
    fn answer(&self, turn: &Turn<'_>) -> Vec<Action> {
        let from = *self.first.get_or_init(|| turn.arrived) + self.after;
        let usual = turn.arrived + self.usual;
        let frozen = usual >= from && usual < from + self.length;
        due(if frozen { from + self.length } else { usual })
    }
}

/// An answer at an instant since the server's start.
fn due(at: Duration) -> Vec<Action> {
    vec![Action::Until(at), Action::Send(hello())]
}

/// One queue in virtual time: a request takes 1/`per_second` after the one before it, and its answer comes so much
/// later. However busy the machine is, no more requests are served, and none later, than such a queue would.
pub fn single_queue(per_second: f64, later: Duration) -> impl Script {
    let each = Duration::from_secs_f64(1.0 / per_second);
    let free = Mutex::new(Duration::ZERO);
    move |turn: &Turn<'_>| {
        let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
        *free = turn.arrived.max(*free) + each;
        vec![Action::Until(*free + later), Action::Send(answers::hello())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;

    const MS: Duration = Duration::from_millis(1);

    fn answers_at(script: &impl Script, index: u64, arrived: Duration) -> Duration {
        let turn = Turn {
            connection: 0,
            nth: index,
            index,
            arrived,
            request: &Request::default(),
        };
        match script.answer(&turn)[..] {
            [Action::Until(at), Action::Send(_)] => at,
            ref steps => panic!("{steps:?}"),
        }
    }

    #[test]
    fn one_in_ten_is_late() {
        let script = two_humped(2 * MS, 20 * MS, 10);
        let late = (0..1_000).filter(|index| answers_at(&script, *index, MS) == 21 * MS);
        let late: Vec<u64> = late.collect();
        assert_eq!(late.len(), 100);
        assert!(late.iter().all(|index| index % 10 == 9));
        assert_eq!(answers_at(&script, 0, MS), 3 * MS);
    }

    #[test]
    fn a_freeze_holds_what_is_due_in_it_and_nothing_else() {
        let script = Freeze::new(2 * MS, 100 * MS, 50 * MS);
        assert_eq!(script.clone().span(), None);
        // The first arrives at 10 ms, so it freezes from 110 ms to 160 ms.
        let due = [
            (10, 12),
            (107, 109),
            (108, 160),
            (120, 160),
            (157, 160),
            (158, 160),
            (200, 202),
        ];
        for (arrived, at) in due {
            assert_eq!(
                answers_at(&script, 0, arrived * MS),
                at * MS,
                "{arrived} ms"
            );
        }
        assert_eq!(script.span(), Some((110 * MS, 160 * MS)));
    }
}
