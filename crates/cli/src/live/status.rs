//! How far a session is, in words, from its events.

use deadheat_model::{Event, plan::Controls, session::EndReason};
use deadheat_report::html::live::{Bar, Stage};
use serde_json::json;

/// What a reader is told while trials run.
const RUNNING: &str = "Refreshed after each trial and before the next, so that it takes part in none. What a browser \
                       does during a trial counts as a disturbance by other programs.";

/// How far a session is.
#[derive(Clone, Debug)]
pub(super) struct Status {
    stage: Stage,
    words: String,
    title: String,
    note: String,
    file: String,
    blocks: u32,
    done: usize,
    of: usize,
    /// Trials that are left of a session that goes on.
    left: Option<usize>,
    controls: Controls,
}

impl Status {
    /// Before anything has happened; `left` is how many trials a session that goes on has left.
    pub(super) fn new(left: Option<usize>) -> Self {
        Self {
            stage: Stage::Preparing,
            words: "preparing".to_owned(),
            title: "preparing".to_owned(),
            note: "Services are started, and stacks built and checked; nothing is measured yet."
                .to_owned(),
            file: String::new(),
            blocks: 0,
            done: 0,
            of: 0,
            left,
            controls: Controls::default(),
        }
    }

    /// Takes an event; whether it changes what is shown. `recorded` is how many trials there are.
    pub(super) fn on(&mut self, event: &Event, recorded: usize) -> bool {
        match event {
            Event::ServiceStarting { name } => self.prepare(&format!("starting {name}")),
            Event::PrepareStarted { target, step } => self.prepare(&format!("{target}: {step}")),
            Event::SessionStarted { header } => {
                let plan = &header.plan;
                self.blocks = plan.blocks;
                self.controls = plan.controls.clone();
                self.done = recorded;
                self.of = self.left.map_or(plan.trials(), |left| recorded + left);
                self.prepare("the first trial is about to begin");
            }
            Event::TrialStarted { block, cell } => {
                self.stage = Stage::Running;
                self.note = format!("{RUNNING} In the end the report is the file {}.", self.file);
                self.title = format!("{}/{}", self.done, self.of);
                self.words = format!(
                    "running: block {} of {}, trial {} of {} ({} {} {})",
                    block + 1,
                    self.blocks,
                    self.done + 1,
                    self.of,
                    self.controls.shown(&cell.target),
                    cell.workload,
                    cell.point,
                );
            }
            Event::TrialEnded { .. } => self.done += 1,
            Event::TrialVoid { repeats, .. } => self.of += usize::from(*repeats),
            Event::SessionEnded { reason } => {
                self.stage = Stage::Ended;
                let (words, title) = ended(*reason);
                self.words = format!("{words}, after {} of {} trials", self.done, self.of);
                self.title = title.to_owned();
                self.note = format!(
                    "Deadheat has stopped serving this page, which keeps its last state. The report is the file {}.",
                    self.file
                );
            }
            Event::ServiceReady { .. }
            | Event::Built { .. }
            | Event::Prepared { .. }
            | Event::BlockStarted { .. } => return false,
        }
        true
    }

    fn prepare(&mut self, step: &str) {
        self.words = format!("preparing: {step}");
    }

    /// Says where the report will be.
    pub(super) fn leads_to(&mut self, file: &str) {
        self.file = file.to_owned();
    }

    /// Whether trials run.
    pub(super) fn is_running(&self) -> bool {
        self.stage == Stage::Running
    }

    /// The bar above the page.
    pub(super) fn bar(&self, version: u64, plotly: &str) -> Bar {
        Bar {
            stage: self.stage,
            status: self.words.clone(),
            note: self.note.clone(),
            title: self.title.clone(),
            trials: self.done,
            of: self.of,
            version,
            plotly: plotly.to_owned(),
        }
    }

    /// The same for the page's script.
    pub(super) fn event(&self) -> String {
        json!({ "status": self.words, "trials": self.done, "of": self.of }).to_string()
    }
}

const fn ended(reason: EndReason) -> (&'static str, &'static str) {
    match reason {
        EndReason::Finished => ("finished: all blocks were measured", "finished"),
        EndReason::Enough => ("finished: what it was to find out is known", "finished"),
        EndReason::Budget => ("ended: its budget was used up", "ended"),
        EndReason::Interrupted => ("interrupted", "interrupted"),
    }
}
