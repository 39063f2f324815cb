//! Simulated sessions of heats: members, order, noise and disturbances.

use deadheat_stats::heats::{Heat, HeatSeries, Round, Slice};
use rand::{Rng, RngExt, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// A member with its true speed and its noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// The true throughput, as a factor.
    pub speed: f64,
    /// The standard deviation of the member's own noise in a slice (0.1: 10 %), in addition to the machine's.
    pub spread: f64,
    /// How it correlates with that of the member's slice before.
    pub correlation: f64,
    /// What differs between its processes.
    pub processes: Processes,
    /// How strongly it reacts to the machine's noise (1: as the noise is).
    pub sensitivity: f64,
}

impl Member {
    /// The `index`-th of members whose noise differs as that of the measured stacks does.
    pub fn unequal(index: usize, speed: f64) -> Self {
        let spreads = [0.04, 0.08, 0.05, 0.16, 0.03, 0.10];
        let processes = [0.0, 0.005, 0.01, 0.02, 0.0, 0.02];
        Self {
            speed,
            spread: spreads[index % spreads.len()],
            correlation: 0.3,
            processes: Processes::Alike(processes[index % processes.len()]),
            sensitivity: 1.0,
        }
    }
}

/// Simulated disturbances: slow slices, absent members and stolen CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disturbances {
    /// The share of slices that something else disturbs …
    pub disturbed: f64,
    /// … and the factor on their throughput.
    pub factor: f64,
    /// The probability that a member is not there for a heat, or dies in it, so that it does not count.
    pub absent: f64,
    /// When the hypervisor begins to take half of the CPU, in seconds from the start of the session, …
    pub stolen_from: f64,
    /// … and for how many seconds: a slice keeps a quarter to three quarters of its throughput, at random.
    pub stolen_seconds: f64,
}

impl Disturbances {
    /// One slice in fifty runs at half speed. Nobody is missing.
    pub fn disturbed() -> Self {
        Self {
            disturbed: 0.02,
            factor: 0.5,
            ..Self::default()
        }
    }

    /// Also, one member in seven is not in a heat.
    pub fn incomplete() -> Self {
        Self {
            absent: 0.15,
            ..Self::disturbed()
        }
    }

    /// The factor on a slice that begins this many seconds after the session.
    fn stolen(&self, seconds: f64, random: &mut impl Rng) -> f64 {
        let since = seconds - self.stolen_from;
        if (0.0..self.stolen_seconds).contains(&since) {
            random.random_range(0.25..0.75)
        } else {
            1.0
        }
    }
}

/// A session of heats.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The members.
    pub members: Vec<Member>,
    /// The machine.
    pub machine: SimulatedMachine,
    /// Members in a heat at most: the first one in each, and the others in turn.
    pub capacity: usize,
    /// Rounds of a heat.
    pub rounds: usize,
    /// From the start of a slice to that of the next one, in seconds.
    pub slice_seconds: f64,
    /// From the end of a heat to the start of the next one's measurement, in seconds.
    pub gap_seconds: f64,
    /// What goes wrong.
    pub disturbances: Disturbances,
}

impl Field {
    /// Members of these speeds with unequal noise on the measured machine, all in every heat: slices of 100 ms every
    /// 130 ms, heats of thirty rounds, and 10 s between heats.
    pub fn measured(speeds: &[f64]) -> Self {
        let member = |(index, speed): (usize, &f64)| Member::unequal(index, *speed);
        Self {
            members: speeds.iter().enumerate().map(member).collect(),
            machine: SimulatedMachine::measured(),
            capacity: speeds.len(),
            rounds: 30,
            slice_seconds: 0.13,
            gap_seconds: 10.0,
            disturbances: Disturbances::disturbed(),
        }
    }

    /// The logarithm of how many times faster `a` is than `b`, over all of their processes.
    pub fn truth(&self, a: usize, b: usize) -> f64 {
        let of = |member: &Member| member.speed.ln() + member.processes.mean();
        of(&self.members[a]) - of(&self.members[b])
    }

    /// The session of a seed, of this many heats. A longer one begins as a shorter one does.
    pub fn draw(&self, heats: usize, seed: u64) -> HeatSeries {
        let mut session = self.start(seed);
        let heats = (0..heats).map(|heat| session.heat(&self.dealt(heat)));
        HeatSeries {
            heats: heats.collect(),
            members: self.members.len(),
        }
    }

    /// Starts a session whose heats are drawn one by one.
    pub fn start(&self, seed: u64) -> DrawnSession<'_> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        DrawnSession {
            field: self,
            machine: NoiseProcess::start(self.machine, &mut random),
            random,
            seconds: 0.0,
        }
    }

    /// The first member is in every heat, the others in turn.
    fn dealt(&self, heat: usize) -> Vec<usize> {
        let others = self.members.len() - 1;
        if self.capacity > others {
            return (0..=others).collect();
        }
        let seats = self.capacity - 1;
        // A step of its own in each turn through the members, so that it is not always the same ones that meet.
        let seat = |seat: usize| {
            let place = heat * seats + seat;
            let turn = place / others;
            1 + (place * (1 + turn) + turn) % others
        };
        let mut dealt: Vec<usize> = std::iter::once(0).chain((0..seats).map(seat)).collect();
        dealt.sort_unstable();
        dealt.dedup();
        dealt
    }

    fn run(
        &self,
        there: &[usize],
        machine: &mut NoiseProcess,
        random: &mut impl Rng,
        seconds: &mut f64,
    ) -> Heat {
        let draws = self.members.iter();
        let processes: Vec<f64> = draws.map(|member| member.processes.draw(random)).collect();
        let mut own: Vec<f64> = self.members.iter().map(|_| normal(random)).collect();
        let mut after = self.gap_seconds;
        let mut order = there.to_vec();
        let rounds = (0..self.rounds).map(|_| {
            order.shuffle(random);
            let mut slices = Vec::with_capacity(order.len());
            for index in &order {
                let member = &self.members[*index];
                let common = machine.slice(after, random);
                *seconds += after;
                after = self.slice_seconds;
                own[*index] = forget(own[*index], member.correlation, random);
                // The mean of its throughput is the speed, not that of the logarithm. What the machine's noise adds to
                // the mean is the same for all that react to it in the same way.
                let own = member.spread * own[*index] - member.spread.powi(2) / 2.0;
                let more = (member.sensitivity.powi(2) - 1.0) * self.machine.spread.powi(2) / 2.0;
                let common = member.sensitivity * common - more;
                let mut log = common + own + processes[*index];
                if random.random_bool(self.disturbances.disturbed) {
                    log += self.disturbances.factor.ln();
                }
                log += self.disturbances.stolen(*seconds, random).ln();
                let (answers, seconds) = (1_000.0 * member.speed * log.exp(), 0.1);
                slices.push(Slice {
                    member: *index,
                    answers,
                    seconds,
                    cpu_seconds: Some(0.9 * seconds),
                    bounded: false,
                });
            }
            Round { slices }
        });
        Heat {
            rounds: rounds.collect(),
        }
    }
}

/// A simulated session whose heats are drawn one by one.
pub struct DrawnSession<'a> {
    field: &'a Field,
    machine: NoiseProcess,
    random: ChaCha8Rng,
    /// Seconds since the start.
    seconds: f64,
}

impl DrawnSession<'_> {
    /// The next heat, of these members.
    pub fn heat(&mut self, members: &[usize]) -> Heat {
        let mut there = members.to_vec();
        there.retain(|_| !self.random.random_bool(self.field.disturbances.absent));
        self.field.run(
            &there,
            &mut self.machine,
            &mut self.random,
            &mut self.seconds,
        )
    }
}

/// The machine's noise, which moves all members at once, from slice to slice.
///
/// The sum of two processes that forget exponentially (Ornstein & Uhlenbeck), one within a second and one within a
/// minute, and of what each slice has for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedMachine {
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

impl SimulatedMachine {
    /// As measured: slices 250 ms apart correlate at .6, measurements 6 s apart at .35, and those 6 minutes apart not
    /// at all.
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
struct NoiseProcess {
    machine: SimulatedMachine,
    fast: f64,
    slow: f64,
}

impl NoiseProcess {
    pub(super) fn start(machine: SimulatedMachine, random: &mut impl Rng) -> Self {
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
fn forget(last: f64, correlation: f64, random: &mut impl Rng) -> f64 {
    correlation * last + (1.0 - correlation * correlation).sqrt() * normal(random)
}

fn normal(random: &mut impl Rng) -> f64 {
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
        let machine = SimulatedMachine::measured();
        for (seconds, measured) in [(0.25, 0.6), (6.0, 0.35), (360.0, 0.0)] {
            let found = machine.correlation(seconds);
            assert!((found - measured).abs() < 0.01, "{seconds} s: {found}");
        }
    }

    #[test]
    fn what_is_drawn_has_the_spread_and_the_correlation_of_the_machine() {
        let machine = SimulatedMachine::measured();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut noise = NoiseProcess::start(machine, &mut random);
        // A day of slices, because the slow part takes a minute to forget.
        let slices: Vec<f64> = (0..345_600)
            .map(|_| noise.slice(0.25, &mut random))
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
