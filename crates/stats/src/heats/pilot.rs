//! What a pilot heat says about how many heats are needed.
//!
//! A heat's estimate of a pair scatters by what the rounds leave of the noise within the heat, which a pilot shows, and
//! by what differs between processes, which a single heat cannot show and [`Settings::between_processes`] assumes:
//! variance of a heat = Σ over both members (scatter × inflation ÷ rounds + processes²). The half width after H heats
//! is Student's quantile × √(variance ÷ H).

use super::{Settings, fit::quantile, within::Estimate};

/// The noise of each member, from one heat or more.
#[derive(Clone, Debug, PartialEq)]
pub struct Pilot {
    /// The variance of a single round's logarithm, counted as if rounds were independent; `None` for a member that the
    /// pilot says nothing about.
    rounds: Vec<Option<f64>>,
    /// The variance between processes.
    processes: f64,
}

/// Heats that are planned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned {
    /// Heats in which both members of a pair are: at least 2.
    pub heats: u32,
    /// Rounds of each heat.
    pub rounds: u32,
    /// Members of each heat.
    pub members: usize,
    /// The share of errors of the interval. For the verdicts of P pairs it is at least α ÷ P.
    pub alpha: f64,
}

/// The usual scatter of a round's logarithm, counted as if rounds were independent: with it, half widths are those of
/// simulated sessions with the noise that was measured (docs/statistics.md, "What to expect").
const USUAL_SCATTER: f64 = 0.19;

/// No plan has more heats than this.
const MOST_HEATS: u32 = 100_000;

impl Pilot {
    /// From the estimates of the pilot's heats, for members numbered from 0.
    pub fn new(members: usize, heats: &[Vec<Estimate>], settings: &Settings) -> Self {
        let noise = |member: usize| {
            let estimates = heats.iter().flatten();
            let own = estimates.filter(|estimate| estimate.member == member);
            let own = own.filter_map(|estimate| estimate.scatter);
            let own: Vec<f64> = own.map(|own| own.variance * own.inflation).collect();
            (!own.is_empty()).then(|| own.iter().sum::<f64>() / own.len() as f64)
        };
        Self {
            rounds: (0..members).map(noise).collect(),
            processes: settings.between_processes.powi(2),
        }
    }

    /// What is usual on a shared machine, for a plan that has no pilot yet.
    pub fn usual(members: usize, settings: &Settings) -> Self {
        Self {
            rounds: vec![Some(USUAL_SCATTER.powi(2)); members],
            processes: settings.between_processes.powi(2),
        }
    }

    /// The half width of the interval of a pair's ratio, on the logarithm (0.03: ±3 %); `None` if the pilot says nothing
    /// about one of them, or with fewer than 2 heats.
    pub fn half_width(&self, a: usize, b: usize, planned: &Planned) -> Option<f64> {
        let (one, other) = (self.rounds[a]?, self.rounds[b]?);
        if planned.heats < 2 {
            return None;
        }
        let variance = (one + other) / f64::from(planned.rounds) + 2.0 * self.processes;
        let error = (variance / f64::from(planned.heats)).sqrt();
        Some(quantile(planned.alpha, planned.freedom()) * error)
    }

    /// The median of the half widths of all pairs of these members.
    pub fn median_half_width(&self, members: &[usize], planned: &Planned) -> Option<f64> {
        let mut found: Vec<f64> = Vec::new();
        for (place, a) in members.iter().enumerate() {
            let pairs = members[place + 1..].iter();
            found.extend(pairs.filter_map(|b| self.half_width(*a, *b, planned)));
        }
        found.sort_by(f64::total_cmp);
        found.get(found.len() / 2).copied()
    }

    /// The fewest heats with which the median half width is `target` at most; the `heats` of `planned` do not matter.
    /// `None` if the pilot says nothing, or if no number of heats is enough.
    pub fn heats_for(&self, members: &[usize], target: f64, planned: &Planned) -> Option<u32> {
        let reaches = |heats: u32| {
            let planned = Planned { heats, ..*planned };
            let found = self.median_half_width(members, &planned);
            found.is_some_and(|found| found <= target)
        };
        let mut most = 2;
        while !reaches(most) {
            if most >= MOST_HEATS {
                return None;
            }
            most *= 2;
        }
        let mut least = most / 2;
        while most - least > 1 {
            let middle = u32::midpoint(least, most);
            if reaches(middle) {
                most = middle;
            } else {
                least = middle;
            }
        }
        Some(most)
    }
}

impl Planned {
    /// Degrees of freedom of all residuals of such heats. The fit's own are at most these, and near them for members
    /// whose noise differs little.
    fn freedom(&self) -> f64 {
        let members = self.members.max(2) - 1;
        members as f64 * f64::from(self.heats - 1)
    }
}
