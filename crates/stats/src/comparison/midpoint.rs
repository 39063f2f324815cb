//! Is a server nearer to a fast one or to a slow one? All three are in the same heats: A is the fast one, B the one
//! that is asked about, and the slow end comes after them.
//!
//! In each heat, B's throughput is compared with the geometric mean of both ends. That is the comparison of a pair, so
//! everything that holds for pairs holds here: moderated variances, t intervals, looks ([`super::paired`]). A
//! server that is proven to be faster than the middle is nearer to the fast end.
//!
//! B has one true place, so only one of the two answers can be wrong. An interval that errs in a share 2α on both sides
//! together gives a wrong answer in α of cases.

use std::time::Duration;

use deadheat_model::{
    HeatRecord,
    comparison::Comparison,
    heat::HeatEnd,
    heats::{EndReason, NextHeat, SessionRecord, Step},
    session::TargetState,
};

use super::{
    Bounds, Ratio, RatioVerdict,
    alternating::{final_look, has_enough, has_time, server_cpus},
    paired::{self, PairedCell},
};
use crate::{
    heats::{
        Quantity, Settings,
        recorded::{self, Numbering},
        within::{self, Estimate, Scatter},
    },
    sequential::{Design, Look},
};

/// The places in every heat.
const FAST: usize = 0;
const ASKED: usize = 1;
const SLOW: usize = 2;
const PLACES: [usize; 3] = [FAST, ASKED, SLOW];

/// Within this share of the way from end to end around the middle, both ends are about as far. A commit that is proven
/// to be there has between a quarter and three quarters of the slowdown.
const ABOUT_HALF: f64 = 0.25;

/// A session of three servers.
#[derive(Clone, Copy)]
pub struct MidpointTest<'a> {
    record: &'a SessionRecord,
    comparison: &'a Comparison,
}

/// The ratios of the three servers, from the heats up to a look.
#[derive(Clone, Debug, PartialEq)]
pub struct MidpointRatios {
    /// B's throughput over the geometric mean of the ends': better is nearer to the fast end, a dead heat about half
    /// way.
    pub middle: Ratio,
    /// The slow end's throughput over the fast one's.
    pub whole: f64,
}

impl<'a> MidpointTest<'a> {
    /// The session as one of three servers; `None`: it has fewer.
    pub fn new(record: &'a SessionRecord) -> Option<Self> {
        let comparison = record.header.comparison.as_deref()?;
        comparison.slow_end.as_ref()?;
        Some(Self { record, comparison })
    }

    /// The next step; `spent` is the measuring time so far.
    pub fn next(&self, spent: Duration) -> Step {
        let design = self.design().filter(|_| self.failure().is_none());
        let Some(design) = design else {
            return Step::End(EndReason::Nothing);
        };
        let turns = self.record.complete_heats(0).count() as u32;
        if turns > 0 {
            let heats = self.heats();
            let placed = design.at(heats).and_then(|look| self.placed(look));
            if placed.is_some_and(|placed| placed.middle.verdict != RatioVerdict::NotEnoughData) {
                return Step::End(EndReason::Decided);
            }
            if has_enough(&design, heats, turns) {
                return Step::End(EndReason::Finished);
            }
            if !has_time(self.record, spent, turns) {
                return Step::End(EndReason::Budget);
            }
        }
        Step::Heat(NextHeat {
            load: 0,
            members: PLACES.into(),
            control: None,
            then: None,
        })
    }

    /// The ratios at the last look; `None` before the first look.
    pub fn judge(&self) -> Option<MidpointRatios> {
        let look = final_look(&self.design()?, self.heats(), self.record.end)?;
        self.placed(look)
    }

    /// The first server that failed, if one did: its place in the heats, and why. The sentence follows "it failed".
    pub fn failure(&self) -> Option<(usize, String)> {
        PLACES
            .into_iter()
            .find_map(|place| Some((place, self.failure_at(place)?)))
    }

    /// Heats that ran to their end.
    pub fn heats(&self) -> u32 {
        self.complete().count() as u32
    }

    fn design(&self) -> Option<Design> {
        let plan = &self.record.header.plan;
        Design::declare(&plan.loads.first()?.looks, plan.alpha).ok()
    }

    fn complete(&self) -> impl Iterator<Item = &'a HeatRecord> {
        let complete = self.record.complete_heats(0);
        complete.filter(|heat| heat.end == HeatEnd::Finished)
    }

    fn failure_at(&self, place: usize) -> Option<String> {
        let contenders = self.comparison.contenders();
        let stack = self.record.header.stack_of(contenders.get(place)?);
        match stack.map(|stack| &stack.state) {
            Some(TargetState::Failed(failure)) => return Some(failure.in_words()),
            Some(TargetState::Unavailable { reason, .. }) => return Some(reason.clone()),
            Some(TargetState::Ready { .. }) => {
                let workload = &self.record.header.plan.loads.first()?.workload;
                let failed = stack.and_then(|stack| stack.failed_workload(workload));
                if let Some(failure) = failed {
                    return Some(failure.in_words());
                }
            }
            None => {}
        }
        // That a host of the generator was lost is no failure of a contender.
        let mut heats = self
            .record
            .heats
            .iter()
            .filter(|one| one.heat.lost.is_none());
        heats.find_map(|one| recorded::failure(&one.heat, place))
    }

    fn placed(&self, look: Look) -> Option<MidpointRatios> {
        let settings = Settings::default();
        let heats = self.complete().take(look.heats as usize);
        let heats: Vec<_> = heats
            .map(|heat| recorded::heat(heat, self, &settings))
            .collect();
        let estimates = within::of_heats(&heats, Quantity::Throughput);
        place(&estimates, look, self.record.header.plan.least_heats)
    }
}

/// The ratios, from the estimates of all heats.
fn place(heats: &[Vec<Estimate>], look: Look, least_heats: u32) -> Option<MidpointRatios> {
    let pairs = |pair: fn(&[Estimate]) -> Option<[Estimate; 2]>| {
        let pairs = heats.iter().filter_map(|heat| pair(heat));
        pairs.map(Vec::from).collect::<Vec<_>>()
    };
    let within = |margin| Bounds {
        margin,
        least_heats,
        ..Bounds::default()
    };
    let whole = ratio(pairs(ends), look, &within(0.0))?.ratio;
    let about_half = (ABOUT_HALF * -whole.ln()).max(0.0).exp_m1();
    let middle = ratio(pairs(beside_the_middle), look, &within(about_half))?;
    Some(MidpointRatios { middle, whole })
}

fn ratio(heats: Vec<Vec<Estimate>>, look: Look, bounds: &Bounds) -> Option<Ratio> {
    let cell = PairedCell::of_throughput(heats);
    let mut compared = paired::at_look(&[cell], look, bounds);
    compared.pop()?.ratios.into_iter().next()
}

fn estimate_of(heat: &[Estimate], member: usize) -> Option<Estimate> {
    heat.iter().find(|one| one.member == member).copied()
}

fn numbered(member: usize, estimate: Estimate) -> Estimate {
    Estimate { member, ..estimate }
}

/// The slow end as B of the fast one.
fn ends(heat: &[Estimate]) -> Option<[Estimate; 2]> {
    let (fast, slow) = (estimate_of(heat, FAST)?, estimate_of(heat, SLOW)?);
    Some([numbered(0, fast), numbered(1, slow)])
}

/// The asked one as B of the middle between the ends.
fn beside_the_middle(heat: &[Estimate]) -> Option<[Estimate; 2]> {
    let (fast, slow) = (estimate_of(heat, FAST)?, estimate_of(heat, SLOW)?);
    let scatter = fast.scatter.zip(slow.scatter);
    let middle = Estimate {
        member: 0,
        value: (fast.value + slow.value) / 2.0,
        // Of the mean of two.
        scatter: scatter.map(|(fast, slow)| Scatter {
            variance: (fast.of_estimate() + slow.of_estimate()) / 4.0,
            inflation: 1.0,
            rounds: 1,
        }),
    };
    Some([middle, numbered(1, estimate_of(heat, ASKED)?)])
}

/// All three servers are in each heat, at the same places.
impl Numbering for MidpointTest<'_> {
    fn number(&self, _: &HeatRecord, place: usize) -> Option<usize> {
        PLACES.contains(&place).then_some(place)
    }

    fn cpus(&self, number: usize) -> f64 {
        let contenders = self.comparison.contenders();
        let stack = contenders
            .get(number)
            .and_then(|one| self.record.header.stack_of(one));
        server_cpus(
            stack.and_then(|stack| stack.cpus),
            &self.record.header.plan.pinning,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Look = Look {
        heats: 9,
        spends: 0.02,
    };

    /// Nine heats of servers with these throughputs, which scatter by some 1 % and share the machine's noise.
    fn placed(fast: f64, asked: f64, slow: f64) -> MidpointRatios {
        let scatter = [0.01, -0.008, 0.002, -0.011, 0.006, 0.001];
        let heat = |heat: usize| {
            let own = |member: usize, figure: f64| Estimate {
                member,
                value: figure.ln() + heat as f64 * 0.1 + scatter[(heat * (member + 1)) % 6],
                scatter: None,
            };
            vec![own(FAST, fast), own(ASKED, asked), own(SLOW, slow)]
        };
        let heats: Vec<_> = (0..9).map(heat).collect();
        place(&heats, LOOK, 8).unwrap()
    }

    #[test]
    fn a_server_is_placed_on_its_side_of_the_middle() {
        let cases = [
            (1000.0, 1000.0, 800.0, RatioVerdict::Better),
            (1000.0, 800.0, 800.0, RatioVerdict::Worse),
            // Seven tenths of the slowdown, and three.
            (1000.0, 600.0, 500.0, RatioVerdict::Worse),
            (1000.0, 830.0, 500.0, RatioVerdict::Better),
            (1000.0, 707.0, 500.0, RatioVerdict::DeadHeat),
            (1000.0, 995.0, 990.0, RatioVerdict::NotEnoughData),
        ];
        for (fast, asked, slow, expected) in cases {
            let found = placed(fast, asked, slow);
            assert_eq!(
                found.middle.verdict, expected,
                "{fast} {asked} {slow}: {found:?}"
            );
            assert!((found.whole - slow / fast).abs() < 0.02, "{found:?}");
        }
    }

    #[test]
    fn ends_in_the_wrong_order_have_no_middle_to_be_near_to() {
        let found = placed(800.0, 894.0, 1000.0);
        assert_eq!(
            found.middle.verdict,
            RatioVerdict::NotEnoughData,
            "{found:?}"
        );
    }
}
