//! The noise of heats, on the logarithm of a slice's throughput, with what was measured on the machines that Deadheat
//! was written on.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// What moves all members at once: the machine, from slice to slice.
///
/// The sum of two processes that forget exponentially (Ornstein & Uhlenbeck), one within a second and one within a
/// minute, and of what each slice has for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Standard deviation of a slice (0.2: 20 %).
    pub spread: f64,
    /// The share of the variance that is forgotten within `fast_seconds` …
    pub fast: f64,
    /// … and within `slow_seconds`. The rest belongs to one slice alone.
    pub slow: f64,
    /// Time constant of the fast part, in seconds.
    pub fast_seconds: f64,
    /// Time constant of the slow part, in seconds.
    pub slow_seconds: f64,
}

impl Machine {
    /// As measured: slices 250 ms apart correlate at .6, measurements 6 s apart at .35, and those 6 minutes apart not at all.
    pub fn measured() -> Self {
        Self {
            spread: 0.2,
            fast: 0.26,
            slow: 0.40,
            fast_seconds: 1.0,
            slow_seconds: 45.0,
        }
    }

    /// The correlation of two slices that are this many seconds apart.
    pub fn correlation(&self, seconds: f64) -> f64 {
        self.fast * (-seconds / self.fast_seconds).exp()
            + self.slow * (-seconds / self.slow_seconds).exp()
    }
}

/// The state of the machine's noise.
pub(super) struct NoiseProcess {
    machine: Machine,
    fast: f64,
    slow: f64,
}

impl NoiseProcess {
    pub(super) fn start(machine: Machine, random: &mut impl Rng) -> Self {
        Self {
            machine,
            fast: normal(random),
            slow: normal(random),
        }
    }

    /// The noise of a slice, this many seconds after the one before it.
    pub(super) fn slice(&mut self, after: f64, random: &mut impl Rng) -> f64 {
        let machine = &self.machine;
        self.fast = forget(self.fast, (-after / machine.fast_seconds).exp(), random);
        self.slow = forget(self.slow, (-after / machine.slow_seconds).exp(), random);
        let rest = 1.0 - machine.fast - machine.slow;
        let sum = machine.fast.sqrt() * self.fast
            + machine.slow.sqrt() * self.slow
            + rest.sqrt() * normal(random);
        machine.spread * sum
    }
}

/// The next value of a process of variance 1 that correlates with its last value.
pub(super) fn forget(last: f64, correlation: f64, random: &mut impl Rng) -> f64 {
    correlation * last + (1.0 - correlation * correlation).sqrt() * normal(random)
}

pub(super) fn normal(random: &mut impl Rng) -> f64 {
    StandardNormal.sample(random)
}

/// What differs between processes of one member, for their whole life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Processes {
    /// Normal, with this standard deviation.
    Alike(f64),
    /// This share of them has this factor on the throughput; the others are alike.
    Modes {
        /// The share (0 to 1).
        share: f64,
        /// The factor on the throughput (0.67: a third slower).
        factor: f64,
    },
}

impl Processes {
    /// As one of the measured stacks: one process in six is a third slower.
    pub fn two_modes() -> Self {
        Processes::Modes {
            share: 1.0 / 6.0,
            factor: 2.0 / 3.0,
        }
    }

    /// The mean of the logarithm.
    pub fn mean(self) -> f64 {
        match self {
            Processes::Alike(_) => 0.0,
            Processes::Modes { share, factor } => share * factor.ln(),
        }
    }

    pub(super) fn draw(self, random: &mut impl Rng) -> f64 {
        match self {
            Processes::Alike(spread) => spread * normal(random),
            Processes::Modes { share, factor } if random.random_bool(share) => factor.ln(),
            Processes::Modes { .. } => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn the_machine_is_as_it_was_measured() {
        let machine = Machine::measured();
        for (seconds, measured) in [(0.25, 0.6), (6.0, 0.35), (360.0, 0.0)] {
            let found = machine.correlation(seconds);
            assert!((found - measured).abs() < 0.01, "{seconds} s: {found}");
        }
    }

    #[test]
    fn what_is_drawn_has_the_spread_and_the_correlation_of_the_machine() {
        let machine = Machine::measured();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut course = NoiseProcess::start(machine, &mut random);
        // A day of slices, because the slow part takes a minute to forget.
        let slices: Vec<f64> = (0..345_600)
            .map(|_| course.slice(0.25, &mut random))
            .collect();
        let product = |lag: usize| {
            let pairs = slices.iter().zip(&slices[lag..]);
            pairs.map(|(a, b)| a * b).sum::<f64>() / (slices.len() - lag) as f64
        };
        let variance = product(0);
        assert!((variance.sqrt() / 0.2 - 1.0).abs() < 0.05, "{variance}");
        for (lag, expected) in [(1, 0.6), (24, 0.35), (1_440, 0.0)] {
            let found = product(lag) / variance;
            assert!((found - expected).abs() < 0.06, "{lag}: {found}");
        }
    }

    #[test]
    fn one_process_in_six_is_a_third_slower() {
        let processes = Processes::two_modes();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let draws: Vec<f64> = (0..60_000).map(|_| processes.draw(&mut random)).collect();
        let slow = draws.iter().filter(|log| **log < 0.0).count();
        assert!((9_700..10_300).contains(&slow), "{slow}");
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!((mean - processes.mean()).abs() < 0.003);
        assert!((draws.iter().copied().fold(0.0, f64::min).exp() - 2.0 / 3.0).abs() < 1e-12);
    }
}
