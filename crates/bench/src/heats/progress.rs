//! Progress of a session: in a terminal, a bar with the current heat, its step and the ranking so far; otherwise a line
//! per heat.

use std::time::{Duration, Instant};

use deadheat_model::{
    Event, TargetId,
    event::HeatStep,
    figure::{self, about, counted, rough_percent},
    heat::{HeatEnd, Rounds},
    heats::{Control, MeasuredHeat, NextHeat, Plan, SessionHeader, SessionRecord},
};
use deadheat_shell::output;
use deadheat_stats::{
    heats::recorded::rounds,
    standings::{LoadAt, settings},
    steering,
};

use crate::progress::{self, OF_TIME};

/// Parts of the bar.
const PARTS: u64 = 1_000;
/// The number of leaders of the ranking so far that fit next to the rest.
const LEADERS: usize = 3;

/// The progress display of a session.
pub(super) struct HeatProgress {
    shown: progress::Progress,
    began: Instant,
    /// The time that was measured before this session was resumed.
    before: Duration,
    record: Option<SessionRecord>,
    heat: String,
    rounds: Option<Rounds>,
    leaders: Vec<String>,
    /// Number of slices so far that do not count ([`discarded`]).
    discarded: usize,
}

impl HeatProgress {
    /// Shows progress of a session; `record` is that of one that is resumed.
    pub(super) fn new(record: Option<&SessionRecord>) -> Self {
        let heats = record.iter().flat_map(|record| &record.heats);
        Self {
            shown: progress::Progress::default(),
            began: Instant::now(),
            before: heats.map(|one| one.heat.wall).sum(),
            record: record.cloned(),
            heat: String::new(),
            rounds: None,
            leaders: Vec::new(),
            discarded: record.map_or(0, |record| record.heats.iter().map(discarded).sum()),
        }
    }

    /// Does not report these stacks as unavailable again.
    pub(super) fn knowing(mut self, unavailable: Vec<TargetId>) -> Self {
        self.shown = self.shown.knowing(unavailable);
        self
    }

    /// Takes an event.
    pub(super) fn on(&mut self, event: &Event) {
        match event {
            Event::HeatsStarted { header } => self.begin(header),
            Event::HeatStarted { heat, next } => self.heat_started(*heat, next),
            Event::HeatStep { step } => self.step(step),
            Event::HeatEnded { heat } => self.heat_ended(heat),
            Event::HeatsEnded { .. } => self.finish(),
            preparing => self.shown.prepare(preparing),
        }
    }

    /// Prints a line that stays.
    pub(super) fn line(&self, text: &str) {
        self.shown.line(text);
    }

    /// Takes the bar away.
    pub(super) fn finish(&mut self) {
        self.shown.finish();
    }

    fn begin(&mut self, header: &SessionHeader) {
        self.shown.begin(OF_TIME, PARTS);
        self.began = Instant::now();
        self.record.get_or_insert_with(|| SessionRecord {
            header: header.clone(),
            heats: Vec::new(),
            resumed: Vec::new(),
            end: None,
        });
    }

    fn heat_started(&mut self, number: u32, next: &NextHeat) {
        let Some((plan, load)) = self
            .plan()
            .and_then(|plan| Some((plan, plan.loads.get(next.load)?)))
        else {
            return;
        };
        let control = match next.control {
            Some(Control::Ceiling) => " and the null server".to_owned(),
            Some(Control::Twin { of }) => match load.targets.get(of) {
                Some(target) => format!(" and {target} again (A/A)"),
                None => String::new(),
            },
            None => String::new(),
        };
        let heat = format!("heat {} · {}", number + 1, plan.short_name(load));
        let stacks = counted(next.members.len(), "stack");
        self.rounds = Some(load.heat.rounds);
        self.heat = heat;
        self.say(&format!("{stacks}{control}"));
    }

    fn step(&mut self, step: &HeatStep) {
        match step {
            HeatStep::BringingUp { target } => self.say(&format!("starting {target}")),
            HeatStep::Round { done, elapsed } => {
                let of = match self.rounds {
                    Some(Rounds::Count { rounds }) => format!(" of {rounds}"),
                    // A round's time says how many there will be.
                    Some(Rounds::Time { time }) if *done > 0 => {
                        let each = elapsed.as_secs_f64() / f64::from(*done);
                        format!(" of about {:.0}", (time.as_secs_f64() / each).ceil())
                    }
                    _ => String::new(),
                };
                self.say(&format!("round {}{of}", done + 1));
            }
            HeatStep::AtRate { target, per_second } => {
                self.say(&format!("{target} at {}/s", figure::figure(*per_second)))
            }
            HeatStep::Ending => self.say("checking the answers once more"),
        }
    }

    /// Updates the bar: step `what`, the time left and the ranking so far.
    fn say(&self, what: &str) {
        let Some(plan) = self.plan() else { return };
        let spent = self.before + self.began.elapsed();
        let most = plan.budget_seconds.map(Duration::from_secs_f64);
        let is_expected = plan.precision.is_some() && spent < plan.estimate;
        let (all, how) = match most.filter(|_| !is_expected) {
            Some(most) => (most, "up to"),
            None if is_expected => (plan.estimate, "about"),
            None => (plan.estimate, "up to"),
        };
        let share = spent.as_secs_f64() / all.as_secs_f64().max(1e-9);
        let part = (PARTS as f64 * share.min(1.0)) as u64;
        let left = about(all.saturating_sub(spent));
        self.shown.reach(part, format!("{how} {left} left"));
        let mut below: Vec<String> = Vec::new();
        below.extend(self.leaders.first().map(|first| format!("so far {first}")));
        below.extend(self.leaders.iter().skip(1).cloned());
        if self.discarded > 0 {
            below.push(format!("{} discarded", counted(self.discarded, "slice")));
        }
        self.shown
            .say_lines(&[format!("{}: {what}", self.heat)], &below);
    }

    fn heat_ended(&mut self, ended: &MeasuredHeat) {
        let Some(record) = &mut self.record else {
            return;
        };
        record.heats.push(ended.clone());
        self.discarded += discarded(ended);
        let load = ended.load as usize;
        // The records of all later parts of the heat repeat a failure. It is shown once.
        let told = record.heats.iter().filter(|one| {
            let is_same = one.heat.heat == ended.heat.heat;
            is_same && one.load != ended.load
        });
        let told: Vec<String> = told.flat_map(failures).collect();
        for failure in failures(ended) {
            if !told.contains(&failure) {
                self.shown.problem(&failure);
            }
        }
        if !record.header.plan.loads[load].leads() {
            // The heat has its line already.
            return;
        }
        let at = LoadAt::new(record, load, settings(&record.header.plan));
        self.leaders = leaders(&at);
        let mut lines = Vec::new();
        if ended.heat.end == HeatEnd::Disturbed {
            let share = ended.heat.disturbance().unwrap_or_default();
            lines.push(format!(
                "{}: does not count, because other programs took at least {} of the CPU time",
                self.heat,
                figure::short_percent(share)
            ));
        } else if !output::draws_progress() && ended.is_complete() {
            lines.push(summary(&self.heat, ended, &self.leaders.join(", ")));
        }
        lines.extend(expected(record, ended));
        for line in lines {
            self.shown.line(&line);
        }
    }

    fn plan(&self) -> Option<&Plan> {
        self.record.as_ref().map(|record| &record.header.plan)
    }
}

/// Number of slices that do not count: their round was disturbed from outside, or the machine was suspended during it.
fn discarded(ended: &MeasuredHeat) -> usize {
    let all = ended.heat.rounds.iter().flatten().count();
    all - rounds(&ended.heat).flatten().count()
}

/// A heat in a line.
fn summary(name: &str, ended: &MeasuredHeat, leaders: &str) -> String {
    let rounds = counted(ended.heat.rounds.len(), "round");
    let text = format!("{name}: {rounds} in {}", about(ended.heat.wall));
    if leaders.is_empty() {
        text
    } else {
        format!("{text}; so far {leaders}")
    }
}

/// "rust-axum 71,200/s", "go-nethttp 41,000/s": the estimates, which prove nothing yet. Empty without a ranking.
fn leaders(at: &LoadAt<'_>) -> Vec<String> {
    let rankings = at.main_rankings();
    let places = rankings.last().into_iter().flat_map(|last| &last.places);
    let places = places.take(LEADERS);
    places
        .map(|place| {
            let name = at.name(place.member);
            format!("{name} {}/s", figure::count(place.figure.round() as u64))
        })
        .collect()
}

/// Members that failed in a heat.
fn failures(ended: &MeasuredHeat) -> Vec<String> {
    let members = ended.heat.members.iter();
    let failed = members.filter_map(|member| {
        let failure = member.failure.as_ref()?;
        let told = output::failure_text(&failure.failure);
        Some(format!("{}: FAILED {told}", member.target))
    });
    failed.collect()
}

/// The precision that the session is expected to reach. Reported once, when each load has had its second heat, which
/// shows this machine's noise.
fn expected(record: &SessionRecord, ended: &MeasuredHeat) -> Option<String> {
    let loads = record.header.plan.loads.iter().enumerate();
    let heats: Vec<usize> = loads
        .filter(|(_, load)| load.leads())
        .map(|(load, _)| record.complete_heats(load).count())
        .collect();
    // The load that is the last to have its second one; others may have had more by then, or none to come.
    let own = record.complete_heats(ended.load as usize).count();
    if own != 2 || heats.iter().any(|heats| *heats < 2) {
        return None;
    }
    let spent = record.heats.iter().map(|one| one.heat.wall).sum();
    let found = steering::expectation(record, spent);
    let found: Vec<String> = found
        .iter()
        .filter_map(|one| {
            let width = rough_percent(one.half_width?);
            let heats = counted(one.heats, "heat");
            Some(format!("{} ±{width} after {heats}", one.load))
        })
        .collect();
    (!found.is_empty()).then(|| {
        format!(
            "Expected precision, from the noise so far: {}",
            found.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use deadheat_simulation::Recorded;

    use super::*;

    #[test]
    fn the_precision_is_foretold_once_when_every_load_has_had_its_second_heat() {
        let mut recorded = Recorded::measured(&[1.0, 1.2, 1.5]);
        recorded.workloads.push("users".to_owned());
        let whole = recorded.run(1, &mut |record, spent| steering::next(record, spent));
        let told = |heats: usize| {
            let mut record = whole.clone();
            record.heats.truncate(heats);
            expected(&record, record.heats.last()?)
        };
        let told: Vec<(usize, String)> = (0..=whole.heats.len())
            .filter_map(|heats| Some((heats, told(heats)?)))
            .collect();
        let [(4, line)] = &told[..] else {
            panic!("after two heats of each of two loads: {told:?}");
        };
        assert!(
            line.contains("plaintext:c50 ±") && line.contains("users:c50 ±"),
            "{line}"
        );
    }

    #[test]
    fn a_heat_without_a_ranking_says_nothing_of_one() {
        let mut record = Recorded::measured(&[1.0, 1.2]).run(1, &mut steering::next);
        record.heats.truncate(1);
        let ended = record.heats[0].clone();
        let told = |record: &SessionRecord| {
            let leaders = leaders(&LoadAt::new(record, 0, settings(&record.header.plan)));
            summary("heat 1", &ended, &leaders.join(", "))
        };
        let ranked = told(&record);
        assert!(ranked.contains("; so far stack-"), "{ranked}");
        record.heats.clear();
        let unranked = ranked.split("; so far").next();
        assert_eq!(Some(told(&record).as_str()), unranked);
    }
}
