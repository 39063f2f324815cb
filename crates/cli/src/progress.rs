//! Progress from events: a bar with the time left for a person who watches, plain lines otherwise.

use std::time::{Duration, Instant};

use deadheat_model::{
    Cell, Event, Plan, TrialOutcome, TrialRecord,
    plan::Controls,
    session::{TargetState, WorkloadFailure},
    trial::Disturbance,
};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{output, plan_text};

/// Shows what happens.
pub(crate) struct Progress {
    bar: ProgressBar,
    watched: bool,
    draft: Option<Plan>,
    /// The trials that are left of a session that goes on.
    rest: Option<usize>,
    pace: Option<Pace>,
    controls: Controls,
}

/// How fast trials go by.
struct Pace {
    began: Instant,
    estimate: Duration,
    done: usize,
    all: usize,
}

impl Pace {
    /// The time left: the estimate at first, then more and more what the trials really took.
    fn left(&self) -> Duration {
        let share = self.done as f64 / self.all.max(1) as f64;
        let planned = self.estimate.mul_f64(1.0 - share);
        if self.done == 0 {
            return planned;
        }
        let observed = self.began.elapsed().mul_f64((1.0 - share) / share);
        planned.mul_f64(1.0 - share) + observed.mul_f64(share)
    }
}

impl Progress {
    /// Shows progress of a session whose plan was shown as `draft`.
    pub(crate) fn new(draft: Option<Plan>) -> Self {
        let watched = output::watched();
        let bar = ProgressBar::with_draw_target(None, output::bar_target());
        bar.set_style(spinner());
        bar.enable_steady_tick(Duration::from_millis(250));
        Self {
            bar,
            watched,
            draft,
            rest: None,
            pace: None,
            controls: Controls::default(),
        }
    }

    /// Shows progress of a session that goes on, with so many trials left.
    pub(crate) fn of_the_rest(left: usize) -> Self {
        Self {
            rest: Some(left),
            ..Self::new(None)
        }
    }

    /// Takes an event.
    pub(crate) fn on(&mut self, event: &Event) {
        match event {
            Event::ServiceStarting { name } => self.step(&format!("starting {name}")),
            Event::ServiceReady { name, detail } => self.line(&format!("{name}: {detail}")),
            Event::PrepareStarted { target, step } => self.step(&format!("{target}: {step}")),
            Event::Built { target, build } => self.line(&format!(
                "{}: built in {}",
                target.stack,
                plan_text::about(Duration::from_secs_f64(build.seconds))
            )),
            Event::Prepared {
                target,
                state,
                failed_workloads,
            } => self.prepared(&target.to_string(), state, failed_workloads),
            Event::SessionStarted { header } => self.started(&header.plan),
            Event::BlockStarted { .. } => {}
            Event::TrialStarted { block, cell } => {
                self.bar
                    .set_message(format!("block {} · {}", block + 1, self.shown(cell)))
            }
            Event::TrialEnded { trial, .. } => self.trial(trial),
            Event::TrialVoid {
                block,
                cell,
                disturbance,
                repeats,
                ..
            } => self.void(*block, cell, *disturbance, *repeats),
            Event::SessionEnded { .. } => self.finish(),
            // Heats have a progress of their own.
            Event::HeatsStarted { .. }
            | Event::HeatStarted { .. }
            | Event::HeatStep { .. }
            | Event::HeatEnded { .. }
            | Event::HeatsEnded { .. } => {}
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&mut self) {
        self.bar.finish_and_clear();
    }

    fn step(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    /// A line that stays.
    fn line(&self, text: &str) {
        self.bar.suspend(|| output::note(text));
    }

    fn prepared(&self, target: &str, state: &TargetState, failed: &[WorkloadFailure]) {
        match state {
            TargetState::Ready { .. } => {
                let wrong = failed.len();
                let text = match wrong {
                    0 => "ready".to_owned(),
                    _ => format!("ready, but {wrong} of its workloads cannot be measured:"),
                };
                self.line(&format!("{target}: {text}"));
            }
            TargetState::Unavailable { reason, remedy } => {
                self.line(&format!(
                    "{target}: UNAVAILABLE: {reason}\n    to change that: {remedy}"
                ));
            }
            TargetState::Failed(failure) => {
                self.line(&format!("{target}: FAILED {}", output::told(failure)))
            }
        }
        for one in failed {
            self.line(&format!(
                "  {}: FAILED {}",
                one.workload,
                output::told(&one.failure)
            ));
        }
    }

    fn started(&mut self, plan: &Plan) {
        let size = |plan: &Plan| {
            let measure = plan.choice.as_ref().map(|choice| choice.measure);
            (plan.blocks, plan.cells.len(), measure)
        };
        let changed = self
            .draft
            .as_ref()
            .is_none_or(|draft| size(draft) != size(plan));
        if changed && self.rest.is_none() {
            self.line("Now that it is known what is ready, and how soon:");
            self.line(&plan_text::describe(plan));
        }
        let all = self.rest.unwrap_or(plan.trials());
        let share = all as f64 / plan.trials().max(1) as f64;
        self.controls = plan.controls.clone();
        self.pace = Some(Pace {
            began: Instant::now(),
            estimate: plan.estimate.mul_f64(share),
            done: 0,
            all,
        });
        self.bar.set_length(all as u64);
        self.bar.set_style(bar());
        self.show_time_left();
    }

    fn trial(&mut self, trial: &TrialRecord) {
        self.bar.inc(1);
        if let Some(pace) = &mut self.pace {
            pace.done += 1;
        }
        self.show_time_left();
        match &trial.outcome {
            TrialOutcome::Failed(failure) => self.line(&format!(
                "{}, block {}: FAILED {}",
                self.shown(&trial.cell),
                trial.block + 1,
                output::told(failure)
            )),
            TrialOutcome::Measured(measured) if !self.watched => {
                let (done, all) = self
                    .pace
                    .as_ref()
                    .map_or((0, 0), |pace| (pace.done, pace.all));
                let failed = measured.load.measured.failed.total();
                let failures = if failed > 0 {
                    format!(", {failed} failed")
                } else {
                    String::new()
                };
                self.line(&format!(
                    "[{done}/{all}] block {} {}: {:.0}/s{failures}",
                    trial.block + 1,
                    self.shown(&trial.cell),
                    measured.load.throughput()
                ));
            }
            TrialOutcome::Measured(_) => {}
        }
    }

    fn void(&mut self, block: u32, cell: &Cell, disturbance: Disturbance, repeats: bool) {
        if let (true, Some(pace)) = (repeats, &mut self.pace) {
            pace.all += 1;
            self.bar.inc_length(1);
        }
        self.line(&format!(
            "{}, block {}: {}",
            self.shown(cell),
            block + 1,
            told_void(disturbance, repeats)
        ));
        self.show_time_left();
    }

    /// A cell, under names for people.
    fn shown(&self, cell: &Cell) -> String {
        let target = self.controls.shown(&cell.target);
        format!("{target} {} {}", cell.workload, cell.point)
    }

    fn show_time_left(&self) {
        if let Some(pace) = &self.pace {
            self.bar
                .set_prefix(format!("{} left", plan_text::about(pace.left())));
        }
    }
}

/// "void: other programs used 12 % of the machine; repeated at the end of the block".
fn told_void(disturbance: Disturbance, repeats: bool) -> String {
    let percent = |share: f64| match share * 100.0 {
        small if small < 1.0 => format!("{small:.1} %"),
        percent => format!("{percent:.0} %"),
    };
    let others = format!(
        "other programs used {} of the machine",
        percent(disturbance.other_cpu)
    );
    let stolen = format!(
        "the hypervisor gave {} of it to others",
        percent(disturbance.steal)
    );
    // What it was disturbed by most, and the other thing where it can be seen.
    let (first, second) = match disturbance.steal > disturbance.other_cpu {
        true => (stolen, others),
        false => (others, stolen),
    };
    let both = disturbance.steal.min(disturbance.other_cpu) >= 0.005;
    let why = if both {
        format!("{first}, and {second}")
    } else {
        first
    };
    let then = if repeats {
        "repeated at the end of the block"
    } else {
        "not repeated again; this block has no trial of it that counts"
    };
    format!("void: {why}; {then}")
}

// Both templates are constants; a test below parses them.
fn spinner() -> ProgressStyle {
    style("{spinner} {wide_msg}")
}

fn bar() -> ProgressStyle {
    style("{bar:24} {pos}/{len} · {prefix} · {wide_msg}")
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_void_trial_is_told_with_what_disturbed_it_most() {
        let told = |other_cpu, steal, repeats| told_void(Disturbance { other_cpu, steal }, repeats);
        assert_eq!(
            told(0.12, 0.0, true),
            "void: other programs used 12 % of the machine; repeated at the end of the block"
        );
        let both = told(0.06, 0.3, false);
        let order = [both.find("30 % of it"), both.find("used 6 %")];
        assert!(order.is_sorted() && order[0].is_some(), "{both}");
        assert!(both.ends_with("no trial of it that counts"), "{both}");
    }

    #[test]
    fn templates_parse() {
        for template in [
            "{spinner} {wide_msg}",
            "{bar:24} {pos}/{len} · {prefix} · {wide_msg}",
        ] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }

    #[test]
    fn the_time_left_follows_what_trials_really_take() {
        let pace = |done| Pace {
            began: Instant::now() - Duration::from_secs(50),
            estimate: Duration::from_secs(60),
            done,
            all: 10,
        };
        assert_eq!(pace(0).left(), Duration::from_secs(60));
        // Five took 50 s instead of 30 s: between the plan's 30 s and the observed 50 s.
        let left = pace(5).left().as_secs_f64();
        assert!((39.0..41.0).contains(&left), "{left}");
    }
}
