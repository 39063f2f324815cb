//! What a comparison shows while it runs: a bar for a person at a terminal, plain lines otherwise.

use deadheat_bench::progress::{self, OF_HEATS};
use deadheat_model::{
    Event,
    figure::{self, counted},
    heats::{MeasuredHeat, PlannedLoad},
};
use deadheat_shell::output;
use deadheat_stats::heats::{Quantity, recorded::figures};

/// What the members of each heat are called by default.
const SIDES: [&str; 2] = ["A", "B"];

/// Shows what happens.
pub(crate) struct Progress {
    /// What the members of each heat are called, in the order of their places.
    names: &'static [&'static str],
    shown: progress::Progress,
    loads: Vec<PlannedLoad>,
    /// Heats of all loads.
    heats: u64,
}

impl Default for Progress {
    fn default() -> Self {
        Self::named(&SIDES)
    }
}

impl Progress {
    /// Of heats whose members have these names, in the order of their places.
    pub(crate) fn named(names: &'static [&'static str]) -> Self {
        Self {
            names,
            shown: progress::Progress::default(),
            loads: Vec::new(),
            heats: 0,
        }
    }

    /// Takes an event.
    pub(super) fn on(&mut self, event: &Event) {
        match event {
            Event::HeatsStarted { header } => {
                self.loads.clone_from(&header.plan.loads);
                let leading = self.loads.iter().filter(|load| load.leads());
                let heats = leading.map(PlannedLoad::most_heats);
                self.heats = heats.map(u64::from).sum();
                self.shown.begin(OF_HEATS, self.heats);
            }
            Event::HeatStarted { heat, next } => {
                let message = format!("heat {}{}", heat + 1, self.at(next.load));
                self.shown.say(message);
            }
            Event::HeatEnded { heat } => self.heat(heat),
            Event::HeatStep { .. } | Event::HeatsEnded { .. } => {}
            preparing => self.shown.prepare(preparing),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&mut self) {
        self.shown.finish();
    }

    /// The load, if there are several.
    fn at(&self, load: usize) -> String {
        let leading = self.loads.iter().filter(|load| load.leads());
        match self.loads.get(load).filter(|_| leading.count() > 1) {
            Some(one) => format!(" · {} {}", one.workload, one.point.id),
            None => String::new(),
        }
    }

    fn heat(&self, ended: &MeasuredHeat) {
        let heat = &ended.heat;
        let number = u64::from(heat.heat) + 1;
        self.shown.reach(number, String::new());
        let what = format!("[{number}/{}]{}", self.heats, self.at(ended.load as usize));
        for (side, member) in self.names.iter().zip(&heat.members) {
            if let Some(failure) = &member.failure {
                let told = output::failure_text(&failure.failure);
                self.shown.problem(&format!("{what} {side}: FAILED {told}"));
            }
        }
        if output::draws_progress() {
            return;
        }
        let members = heat.members.iter();
        let offered = members
            .filter_map(|member| member.offered_per_second)
            .next();
        let is_equal_work = self
            .loads
            .get(ended.load as usize)
            .is_some_and(|load| !load.leads());
        let (quantity, shown): (_, fn(f64) -> String) = if is_equal_work {
            (Quantity::Cost, figure::seconds)
        } else {
            (Quantity::Throughput, figure::per_second)
        };
        let found = self.names.iter().zip(figures(heat, quantity));
        let found =
            found.map(|(name, figure)| Some((format!("{name} {}", shown(figure?)), figure?)));
        let Some((told, figures)) = found.collect::<Option<(Vec<_>, Vec<_>)>>() else {
            return;
        };
        let told = told.join(", ");
        let ratio = match (self.names, &figures[..]) {
            ([a, b], [of_a, of_b]) => format!(", {b}/{a} {}", figure::ratio(of_b / of_a)),
            _ => String::new(),
        };
        let of = match offered.filter(|_| is_equal_work) {
            Some(rate) => format!("CPU time per request at {}", figure::rate(rate)),
            None => counted(heat.rounds.len(), "round"),
        };
        self.shown.line(&format!("{what} {told}{ratio} ({of})"));
    }
}
