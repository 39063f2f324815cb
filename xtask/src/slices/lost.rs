//! The share of its time that a server lost, by its own count of its work: without the machine's noise, which is in what an
//! answer takes and in the time of all answers alike.

use deadheat_stats::interval::moments;

use super::{LEVEL, Seen};

/// The share of the time of turns in which no answer was made, 0 to 1, as each way reports it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    first: f64,
    second: f64,
    /// Half the width of the interval of their difference.
    half_width: f64,
}

impl Lost {
    /// Of turns in pairs. `None`: the server counts nothing, or there is one pair.
    pub(super) fn new(first: &[Seen], second: &[Seen]) -> Option<Self> {
        let counts = |seen: &Seen| seen.work.seconds > 0.0 && seen.work.answers > 0.0;
        if !first.iter().chain(second).all(counts) {
            return None;
        }
        let (first, second) = (Share::of(first), Share::of(second));
        let differences: Vec<f64> = first
            .residuals
            .iter()
            .zip(&second.residuals)
            .map(|(first, second)| first - second)
            .collect();
        Some(Self {
            first: first.lost,
            second: second.lost,
            half_width: moments(&differences)?.half_width(LEVEL),
        })
    }

    /// Both shares and their difference, as a table in Markdown.
    pub(super) fn table(&self, what: &str) -> String {
        let [first, second, half_width] =
            [self.first, self.second, self.half_width].map(|share| 100.0 * share);
        let difference = first - second;
        format!(
            "| {what}: share of time in which it worked on no answer | difference in points |\n| --- | --- |\n\
             | {first:.2} %, {second:.2} % | {difference:.2} ({:.2} to {:.2}) |\n",
            difference - half_width,
            difference + half_width
        )
    }
}

/// One way's share.
struct Share {
    lost: f64,
    /// What each turn adds to the deviation of the share: that of a ratio of sums, to the first order (Cochran, *Sampling
    /// Techniques*, 1977, 6.4).
    residuals: Vec<f64>,
}

impl Share {
    fn of(turns: &[Seen]) -> Self {
        // What the answers would have taken a server that never stands still.
        let needed = |seen: &Seen| seen.answers * seen.work.seconds / seen.work.answers;
        let time: f64 = turns.iter().map(|seen| seen.seconds).sum();
        let busy = turns.iter().map(needed).sum::<f64>() / time;
        let mean_time = time / turns.len() as f64;
        Self {
            lost: 1.0 - busy,
            residuals: turns
                .iter()
                .map(|seen| (busy * seen.seconds - needed(seen)) / mean_time)
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slices::server::Work;

    fn turn(answers: f64, seconds: f64, per_answer: f64) -> Seen {
        Seen {
            answers,
            seconds,
            work: Work {
                seconds: 1000.0 * per_answer,
                answers: 1000.0,
            },
            ..Seen::default()
        }
    }

    #[test]
    fn a_slow_machine_is_not_a_pause() {
        // It stands still for a tenth in one way and a fifth in the other, while the machine halves its speed.
        let first = [turn(900.0, 1.0, 0.001), turn(450.0, 1.0, 0.002)];
        let second = [turn(800.0, 1.0, 0.001), turn(400.0, 1.0, 0.002)];
        let lost = Lost::new(&first, &second).unwrap();
        assert!((lost.first - 0.1).abs() < 1e-9, "{lost:?}");
        assert!((lost.second - 0.2).abs() < 1e-9, "{lost:?}");
        assert!(lost.half_width < 1e-9, "{lost:?}");
    }

    #[test]
    fn turns_with_more_or_fewer_pauses_widen_the_interval() {
        let first = [turn(900.0, 1.0, 0.001), turn(800.0, 1.0, 0.001)];
        let second = [turn(850.0, 1.0, 0.001), turn(850.0, 1.0, 0.001)];
        let lost = Lost::new(&first, &second).unwrap();
        assert!((lost.first - lost.second).abs() < 1e-9);
        assert!(lost.half_width > 0.05, "{lost:?}");
    }

    #[test]
    fn a_server_that_counts_nothing_has_no_share() {
        let turn = Seen {
            work: Work::default(),
            ..turn(900.0, 1.0, 0.001)
        };
        assert!(Lost::new(&[turn; 2], &[turn; 2]).is_none());
    }
}
