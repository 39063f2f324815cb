//! One load of a session: which heats count, who took part, and at which error level it is judged.

use std::cell::OnceCell;

use deadheat_model::{
    HeatRecord, TargetId,
    heat::{MemberRecord, SliceRecord},
    heats::{EndReason, PlannedLoad, SessionRecord},
    session::TargetRecord,
    stack::StackRole,
};

use crate::{
    heats::{
        Fit, Group, HeatSeries, Look, Looks, Quantity, Ranking, Settings, of_fit,
        percentile::{self, estimates_together, is_near_capacity},
        rankings,
        recorded::{self, Numbering, Overloads},
        within::{self, Estimate},
    },
    sequential::SPENT_IF_NARROW,
    standings::{
        FAILURES,
        types::{HeatFigure, Measure},
    },
};

/// The error level where no verdict may be given yet: its intervals reach beyond everything that a heat can show.
const NO_VERDICT: f64 = 1e-9;

/// One load of a session.
pub struct LoadAt<'a> {
    /// The session.
    pub(crate) record: &'a SessionRecord,
    /// The load.
    pub(crate) load: &'a PlannedLoad,
    /// The thresholds.
    pub(crate) settings: Settings,
    /// The look that verdicts are based on.
    pub(crate) look: Option<Look>,
    /// The complete heats, also those after the look.
    complete: Vec<&'a HeatRecord>,
    /// The complete heats that count: those up to the look, or all of them before the first look.
    pub(crate) heats: Vec<&'a HeatRecord>,
    /// The cached result of [`Self::near_capacity`].
    near_capacity: OnceCell<Vec<usize>>,
}

impl<'a> LoadAt<'a> {
    /// The load at this place of the plan, at the last look that was taken.
    pub fn new(record: &'a SessionRecord, index: usize, settings: Settings) -> Self {
        Self::ended(record, index, settings, record.end)
    }

    /// The load as if the session had ended for this reason.
    pub(crate) fn ended(
        record: &'a SessionRecord,
        index: usize,
        settings: Settings,
        end: Option<EndReason>,
    ) -> Self {
        let plan = &record.header.plan;
        let load = &plan.loads[index];
        let complete: Vec<&HeatRecord> = record.complete_heats(index).collect();
        let mut heats = complete.clone();
        let number = complete.len() as u32;
        let look = match plan.precision {
            Some(_) => last_look(settings.alpha, number, end),
            None => look(load, settings.alpha, number, end),
        };
        if let Some(look) = look {
            heats.truncate(look.heats as usize);
        }
        Self {
            record,
            load,
            settings,
            look,
            complete,
            heats,
            near_capacity: OnceCell::new(),
        }
    }

    /// Complete heats, counted or not.
    pub fn complete_heats(&self) -> u32 {
        self.complete.len() as u32
    }

    /// Whether a look has been taken.
    pub fn has_look(&self) -> bool {
        self.look.is_some()
    }

    /// The measure that stacks are ranked by.
    pub fn measure(&self) -> Measure {
        match self.load.point.open {
            Some(_) => Measure::ResponseTime,
            None => Measure::Throughput,
        }
    }

    /// Whether a stack failed too often to be compared, also after the look.
    pub(crate) fn has_failed(&self, number: usize) -> bool {
        self.failures(number).count() >= FAILURES
    }

    /// The complete heats in which a number failed, counted or not, with its place in them and why.
    pub(crate) fn failures(
        &self,
        number: usize,
    ) -> impl Iterator<Item = (&'a HeatRecord, usize, String)> {
        let complete = self.complete.iter();
        complete.filter_map(move |heat| {
            let place = self.place(heat, number)?;
            Some((*heat, place, recorded::failure(heat, place)?))
        })
    }

    /// The place of a number in a heat, if it took part.
    fn place(&self, heat: &HeatRecord, number: usize) -> Option<usize> {
        let mut members = heat.members.iter();
        members.position(|member| self.load.number(member) == Some(number))
    }

    /// The rate of an open loop, which is the same for all.
    pub(crate) fn offered(&self) -> Option<f64> {
        let members = self.heats.iter().flat_map(|heat| &heat.members);
        let mut offered = members.filter_map(|member| member.offered_per_second);
        offered.next()
    }

    /// The heats in which a stack did not take the rate.
    pub(crate) fn overloads(&self, number: usize) -> Overloads {
        Overloads::new(self.sound_places(number))
    }

    /// The record of a stack of this load.
    pub(crate) fn target(&self, number: usize) -> Option<&'a TargetRecord> {
        let target = self.load.targets.get(number)?;
        self.record.header.target(target)
    }

    /// The group in which each member is ranked; `None` for members that are not ranked: controls, and stacks that
    /// failed.
    pub(crate) fn groups(&self) -> Vec<Option<Group>> {
        let stacks = 0..self.load.targets.len();
        let group = |number: usize| {
            let target = self.target(number);
            let is_placed = !self.has_failed(number) && !self.overloads(number).are_most();
            is_placed.then(|| group(self.record, target))
        };
        stacks.map(group).chain([None, None]).collect()
    }

    /// The counted heats in which a number took part, with its place in them.
    pub(crate) fn places(&self, number: usize) -> impl Iterator<Item = (&'a HeatRecord, usize)> {
        let heats = self.heats.iter();
        heats.filter_map(move |heat| Some((*heat, self.place(heat, number)?)))
    }

    /// The counted heats in which a number did not fail, with its place in them.
    pub(super) fn sound_places(
        &self,
        number: usize,
    ) -> impl Iterator<Item = (&'a HeatRecord, usize)> {
        self.places(number)
            .filter(|(heat, place)| recorded::failure(heat, *place).is_none())
    }

    /// The records of a number in these heats.
    pub(crate) fn sound(&self, number: usize) -> impl Iterator<Item = &'a MemberRecord> {
        self.sound_places(number)
            .map(|(heat, place)| &heat.members[place])
    }

    /// The number of counted heats in which a member was not steady.
    pub(crate) fn unsteady_heats(&self, number: usize) -> u32 {
        let places = self.sound_places(number);
        places
            .filter(|(heat, place)| !recorded::is_steady(heat, *place))
            .count() as u32
    }

    /// The counted slices of a number in these heats.
    pub(crate) fn slices(&self, number: usize) -> impl Iterator<Item = &'a SliceRecord> {
        self.sound_places(number)
            .flat_map(|(heat, place)| recorded::slices_of(heat, place))
    }

    /// The throughput of a member in each of the counted heats.
    pub(crate) fn heat_figures(&self, number: usize) -> Vec<HeatFigure> {
        let figure = |(heat, place): (&HeatRecord, usize)| {
            let per_second = recorded::figures(heat, Quantity::Throughput)[place]?;
            Some(HeatFigure {
                heat: heat.heat,
                per_second,
            })
        };
        self.sound_places(number).filter_map(figure).collect()
    }

    /// The name of the member with this number.
    pub fn name(&self, number: usize) -> TargetId {
        self.load.target(number)
    }

    /// The counted rounds of all counted heats.
    pub fn heat_series(&self) -> HeatSeries {
        let heats = self.heats.iter();
        HeatSeries {
            members: self.load.members(),
            heats: heats
                .map(|heat| recorded::heat(heat, self, &self.settings))
                .collect(),
        }
    }

    /// The rankings by throughput or cost, one for each group, in their order.
    pub(crate) fn rankings(&self, series: &HeatSeries, quantity: Quantity) -> Vec<Ranking> {
        let groups = self.groups();
        rankings(series, quantity, &groups, self.alpha(), &self.settings)
    }

    /// The estimates of each heat by throughput or cost.
    pub(crate) fn slice_estimates(
        &self,
        series: &HeatSeries,
        quantity: Quantity,
    ) -> Vec<Vec<Estimate>> {
        within::of_heats(&series.heats, quantity)
    }

    /// The members whose capacity is too near to the rate for percentiles of their turns to be meaningful, or whose turns began
    /// with a queue.
    pub(crate) fn near_capacity(&self) -> &[usize] {
        self.near_capacity.get_or_init(|| self.find_near_capacity())
    }

    fn find_near_capacity(&self) -> Vec<usize> {
        let loads = self.record.header.plan.loads.iter();
        let closed = loads.enumerate().find(|(_, one)| {
            one.workload == self.load.workload && self.load.point.is_in_heats_of(&one.point)
        });
        let (Some(rate), Some((closed, _))) = (self.offered(), closed) else {
            return Vec::new();
        };
        let closed = Self::ended(self.record, closed, self.settings, self.record.end);
        let mut capacities = vec![Vec::new(); self.load.members()];
        for heat in &closed.heats {
            let figures = recorded::figures(heat, Quantity::Throughput);
            for (member, figure) in heat.members.iter().zip(figures) {
                if let Some(number) = closed.load.number(member) {
                    capacities[number].extend(figure);
                }
            }
        }
        let stacks = 0..self.load.targets.len();
        let is_near = |number: &usize| {
            let own = capacities[*number].iter().copied();
            is_near_capacity(rate, own, recorded::answered_share(self.slices(*number)))
        };
        stacks.filter(is_near).collect()
    }

    /// The estimates of each heat by a percentile (0 to 100) of the times, of members that are not near their capacity.
    pub(crate) fn timed(&self, percent: f64) -> Vec<Vec<Estimate>> {
        let near = self.near_capacity();
        let heats = self.heats.iter();
        let found: Vec<_> = heats
            .map(|heat| {
                let mut found = percentile::percentiles(percent, heat, self);
                found.retain(|one| !near.contains(&one.member));
                found
            })
            .collect();
        estimates_together(percent, found, &self.settings)
    }

    /// The fit of all members, including controls.
    pub(crate) fn fit(&self, series: &HeatSeries, quantity: Quantity) -> Fit {
        let estimates = self.slice_estimates(series, quantity);
        Fit::new(series.members, &estimates, &self.settings)
    }

    /// The fit by a percentile (0 to 100) of the times.
    pub(crate) fn timed_fit(&self, percent: f64) -> Fit {
        Fit::new(self.load.members(), &self.timed(percent), &self.settings)
    }

    /// The rankings by a percentile (0 to 100) of the times, in the same order.
    pub(crate) fn percentiles(&self, percent: f64) -> Vec<Ranking> {
        let fit = self.timed_fit(percent);
        let (bounded, groups) = (vec![false; self.load.members()], self.groups());
        let (alpha, settings) = (self.alpha(), &self.settings);
        of_fit(&fit, Quantity::Latency, &bounded, &groups, alpha, settings)
    }

    /// The rankings by the measure of the load.
    pub fn main_rankings(&self) -> Vec<Ranking> {
        match self.measure() {
            Measure::Throughput => self.rankings(&self.heat_series(), Quantity::Throughput),
            Measure::ResponseTime => self.percentiles(99.0),
        }
    }

    /// The error level of the verdicts.
    pub(crate) fn alpha(&self) -> f64 {
        self.look.map_or(NO_VERDICT, |look| look.spends)
    }
}

/// Numbers the compared members: stacks and the null server. The twin has no number: it copies another stack in each
/// heat, so its scatter between heats would be that of different stacks.
impl Numbering for LoadAt<'_> {
    fn number(&self, heat: &HeatRecord, place: usize) -> Option<usize> {
        let number = self.load.number(&heat.members[place]);
        number.filter(|number| *number != self.load.twin())
    }

    fn cpus(&self, number: usize) -> f64 {
        f64::from(group(self.record, self.target(number)).cpus)
    }
}

/// The group in which a stack is ranked. Controls have no record, and count as using all CPUs.
pub(super) fn group(record: &SessionRecord, target: Option<&TargetRecord>) -> Group {
    let all = record.header.plan.pinning.server_cpus();
    let own = target.and_then(|target| target.cpus);
    let cpus = own.map_or(all, |cpus| all.min(cpus as usize));
    Group {
        yardsticks: target.is_some_and(|target| target.role == StackRole::Yardstick),
        cpus: cpus.max(1) as u32,
    }
}

/// A load with its twin, for a look at one heat alone.
pub(super) struct WithTwin<'a>(pub(super) &'a LoadAt<'a>);

impl Numbering for WithTwin<'_> {
    fn number(&self, heat: &HeatRecord, place: usize) -> Option<usize> {
        self.0.load.number(&heat.members[place])
    }

    fn cpus(&self, number: usize) -> f64 {
        self.0.cpus(number)
    }
}

/// The only look of a session with a requested precision, at its end. Before that, only the widths of intervals are
/// used.
fn last_look(alpha: f64, complete: u32, end: Option<EndReason>) -> Option<Look> {
    let is_over = matches!(
        end,
        Some(EndReason::Precise | EndReason::Finished | EndReason::Budget)
    );
    (is_over && complete >= 2).then_some(Look {
        heats: complete,
        spends: SPENT_IF_NARROW * alpha,
    })
}

/// The look for this number of complete heats. Heats after it do not count. Only the end of a budget, which does not
/// depend on results, adds one more look.
fn look(load: &PlannedLoad, alpha: f64, complete: u32, end: Option<EndReason>) -> Option<Look> {
    let design = Looks::declare(&load.looks, alpha).ok()?;
    let taken = design.looks.iter().rfind(|look| look.heats <= complete);
    let last = match end {
        Some(EndReason::Budget) => design.last_at(complete),
        _ => None,
    };
    last.or(taken.copied())
}
