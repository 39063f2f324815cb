//! What a comparison tells while it goes on: a bar for a person who watches, plain lines otherwise.

use deadheat_model::{
    Event,
    comparison::Side,
    heats::{MeasuredHeat, PlannedLoad},
    words::counted,
};
use deadheat_stats::heats::recorded::throughput;

use crate::{
    output,
    progress::{self, OF_HEATS},
};

/// Shows what happens.
#[derive(Default)]
pub(super) struct Progress {
    shown: progress::Progress,
    loads: Vec<PlannedLoad>,
    /// Heats of all loads.
    heats: u64,
}

impl Progress {
    /// Takes an event.
    pub(super) fn on(&mut self, event: &Event) {
        match event {
            Event::HeatsStarted { header } => {
                self.loads.clone_from(&header.plan.loads);
                let heats = self.loads.iter().map(PlannedLoad::most_heats);
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

    /// The load, where there are several.
    fn at(&self, load: usize) -> String {
        match self.loads.get(load).filter(|_| self.loads.len() > 1) {
            Some(one) => format!(" · {} {}", one.workload, one.point.id),
            None => String::new(),
        }
    }

    fn heat(&self, ended: &MeasuredHeat) {
        let heat = &ended.heat;
        let number = u64::from(heat.heat) + 1;
        self.shown.reach(number, String::new());
        let what = format!("[{number}/{}]{}", self.heats, self.at(ended.load as usize));
        let failed = Side::BOTH.into_iter().zip(&heat.members);
        for (side, member) in failed {
            if let Some(failure) = &member.failure {
                let told = output::told(&failure.failure);
                self.shown.problem(&format!("{what} {side}: FAILED {told}"));
            }
        }
        if output::draws_progress() {
            return;
        }
        let sides = Side::BOTH.map(|side| {
            let slices = heat.rounds.iter().flatten();
            let own = slices.filter(|slice| slice.member as usize == side.member());
            throughput(own).filter(|rate| *rate > 0.0)
        });
        if let [Some(a), Some(b)] = sides {
            let rounds = counted(heat.rounds.len(), "round");
            let ratio = b / a;
            self.shown.line(&format!(
                "{what} A {a:.0}/s, B {b:.0}/s, B/A {ratio:.3} ({rounds})"
            ));
        }
    }
}
