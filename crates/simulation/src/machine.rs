//! What the machine does to a trial's throughput, on the logarithm: a slow drift, the place in the block, and chance.

use std::f64::consts::TAU;

use rand::Rng;
use rand_distr::{Distribution, Normal, StudentT};

/// Where a session is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// What changes slowly over the session.
    pub drift: Drift,
    /// What changes from the first place of a block to its last, as a share (−0.005: the last trial is 0.5 % slower).
    pub within_block: f64,
    /// What differs from process to process.
    pub noise: Noise,
}

/// How the machine's speed changes over a session; each by this share from its fastest to its slowest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drift {
    /// Not at all.
    None,
    /// Slower and slower at an even pace, as of a machine that grows warm.
    Linear(f64),
    /// Up and down, one and a half times, as of a neighbour that comes and goes.
    Wave(f64),
    /// Slower at once after two fifths of the session, as of a clock that is turned down.
    Step(f64),
}

/// The scatter between processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The standard deviation of the throughput's logarithm (0.02: 2 %).
    pub spread: f64,
    /// How far the farthest lie.
    pub tails: Tails,
}

/// The shape of the scatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tails {
    /// A normal distribution on the logarithm.
    Lognormal,
    /// Student's t with three degrees of freedom, scaled to the same standard deviation: one trial in a hundred lies
    /// farther than 3.4 standard deviations, where a normal distribution has one in 1,400.
    Heavy,
}

impl Machine {
    /// A machine with lognormal noise of `spread` that loses 5 % over a session and 0.5 % within each block.
    pub fn drifting(spread: f64) -> Self {
        Self {
            drift: Drift::Linear(0.05),
            within_block: -0.005,
            noise: Noise {
                spread,
                tails: Tails::Lognormal,
            },
        }
    }

    /// The factor on the throughput of a trial, `session` (0 to 1) of the way through the session and `block` (0 to 1)
    /// of the way through its block.
    pub(crate) fn factor(&self, session: f64, block: f64, random: &mut impl Rng) -> f64 {
        let place = self.within_block.ln_1p() * block;
        (self.drift.log_at(session) + place + self.noise.draw(random)).exp()
    }
}

impl Drift {
    /// The logarithm of the machine's speed, `time` (0 to 1) of the way through the session.
    fn log_at(self, time: f64) -> f64 {
        let whole = |size: f64| (-size).ln_1p();
        match self {
            Drift::None => 0.0,
            Drift::Linear(size) => whole(size) * time,
            Drift::Wave(size) => whole(size) * 0.5 * (1.0 - (1.5 * TAU * time).cos()),
            Drift::Step(size) if time > 0.4 => whole(size),
            Drift::Step(_) => 0.0,
        }
    }
}

impl Noise {
    fn draw(self, random: &mut impl Rng) -> f64 {
        match self.tails {
            // Parameters that the distributions accept: a standard deviation of 1, three degrees of freedom.
            Tails::Lognormal => self.spread * Normal::new(0.0, 1.0).expect("one").sample(random),
            Tails::Heavy => {
                let t: f64 = StudentT::new(3.0).expect("three").sample(random);
                self.spread * t / 3.0_f64.sqrt()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn a_drift_is_as_large_as_it_says() {
        for drift in [Drift::Linear(0.05), Drift::Wave(0.05), Drift::Step(0.05)] {
            let speeds = (0..=3000).map(|step| drift.log_at(f64::from(step) / 3000.0).exp());
            let (low, high) = speeds.fold((f64::MAX, f64::MIN), |(low, high), speed| {
                (low.min(speed), high.max(speed))
            });
            assert!(
                (low - 0.95).abs() < 1e-9 && (high - 1.0).abs() < 1e-9,
                "{drift:?}: {low} to {high}"
            );
        }
        assert_eq!(Drift::None.log_at(0.7), 0.0);
    }

    #[test]
    fn noise_is_as_wide_as_it_says_and_heavy_tails_are_heavier() {
        let draws = |tails| {
            let noise = Noise {
                spread: 0.02,
                tails,
            };
            let mut random = ChaCha8Rng::seed_from_u64(1);
            (0..40_000)
                .map(|_| noise.draw(&mut random))
                .collect::<Vec<f64>>()
        };
        let far = |draws: &[f64]| draws.iter().filter(|x| x.abs() > 3.4 * 0.02).count();
        let (normal, heavy) = (draws(Tails::Lognormal), draws(Tails::Heavy));
        let deviation = (normal.iter().map(|x| x * x).sum::<f64>() / 40_000.0).sqrt();
        assert!((deviation - 0.02).abs() < 0.000_3, "{deviation}");
        // The variance of a t with three degrees of freedom converges slowly; its quartiles do not:
        // half of it lies within 0.7649 of its scale (SciPy: t.ppf(.75, 3)).
        let within = heavy
            .iter()
            .filter(|x| x.abs() < 0.7649 * 0.02 / 3.0_f64.sqrt())
            .count();
        assert!((19_500..20_500).contains(&within), "{within}");
        assert!(far(&normal) < 80, "{}", far(&normal));
        assert!((300..560).contains(&far(&heavy)), "{}", far(&heavy));
    }

    #[test]
    fn the_last_place_of_a_block_is_as_much_slower_as_it_says() {
        let machine = Machine {
            drift: Drift::None,
            ..Machine::drifting(0.0)
        };
        let mut random = ChaCha8Rng::seed_from_u64(1);
        assert!((machine.factor(0.5, 0.0, &mut random) - 1.0).abs() < 1e-12);
        assert!((machine.factor(0.5, 1.0, &mut random) - 0.995).abs() < 1e-12);
    }
}
