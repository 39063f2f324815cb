//! How far a session is, in words, from its events.

use deadheat_model::{Event, heats::EndReason, words::counted};
use deadheat_report::html::live::{Bar, Stage};
use serde_json::json;

/// What a reader is told while heats run.
const RUNNING: &str = "Refreshed between two heats, to disturb neither.";

/// How far a session is.
#[derive(Clone, Debug)]
pub(super) struct Status {
    stage: Stage,
    words: String,
    title: String,
    note: String,
    file: String,
    done: usize,
    of: usize,
    /// The session's loads.
    loads: Vec<String>,
}

impl Status {
    /// Before anything has happened.
    pub(super) fn new() -> Self {
        Self {
            stage: Stage::Preparing,
            words: "preparing".to_owned(),
            title: "preparing".to_owned(),
            note: "Services are started, and stacks built and checked; nothing is measured yet."
                .to_owned(),
            file: String::new(),
            done: 0,
            of: 0,
            loads: Vec::new(),
        }
    }

    /// Takes an event; whether it changes what is shown. `recorded` is the number of complete heats.
    pub(super) fn on(&mut self, event: &Event, recorded: usize) -> bool {
        match event {
            Event::ServiceStarting { name } => self.prepare(&format!("starting {name}")),
            Event::PrepareStarted { target, step } => self.prepare(&format!("{target}: {step}")),
            Event::HeatsStarted { header } => {
                let loads = header.plan.loads.iter();
                self.loads = loads.map(|load| load.name()).collect();
                self.done = recorded;
                let most = header
                    .plan
                    .loads
                    .iter()
                    .map(|load| load.most_heats() as usize);
                self.of = most.sum();
                self.prepare("the first heat is about to begin");
            }
            Event::HeatStarted { next, .. } => {
                // One that was cut short is run again, and counts once.
                let number = recorded + 1;
                self.stage = Stage::Running;
                self.note = format!("{RUNNING} In the end the report is the file {}.", self.file);
                self.title = format!("heat {number}");
                let load = self.loads.get(next.load).map_or("", String::as_str);
                let stacks = counted(next.members.len(), "stack");
                self.words = format!(
                    "running: heat {number} of at most {}, {stacks} at {load}",
                    self.of
                );
            }
            Event::HeatEnded { heat } => self.done += usize::from(heat.is_complete()),
            Event::HeatsEnded { reason } => {
                let (words, title) = ended(*reason);
                let heats = counted(self.done, "heat");
                self.end(&format!("{words}, after {heats}"), title);
            }
            Event::ServiceReady { .. }
            | Event::Built { .. }
            | Event::Prepared { .. }
            | Event::HeatStep { .. } => return false,
        }
        true
    }

    fn end(&mut self, words: &str, title: &str) {
        self.stage = Stage::Ended;
        self.words = words.to_owned();
        self.title = title.to_owned();
        self.note = format!(
            "Deadheat has stopped serving this page, which keeps its last state. The report is the file {}.",
            self.file
        );
    }

    fn prepare(&mut self, step: &str) {
        self.words = format!("preparing: {step}");
    }

    /// Says where the report will be.
    pub(super) fn leads_to(&mut self, file: &str) {
        self.file = file.to_owned();
    }

    /// Whether heats run.
    pub(super) fn is_running(&self) -> bool {
        self.stage == Stage::Running
    }

    /// The bar above the page.
    pub(super) fn bar(&self, version: u64) -> Bar {
        Bar {
            stage: self.stage,
            status: self.words.clone(),
            note: self.note.clone(),
            title: self.title.clone(),
            heats: self.done,
            of: self.of,
            version,
        }
    }

    /// The same for the page's script.
    pub(super) fn event(&self) -> String {
        json!({ "status": self.words, "heats": self.done, "of": self.of }).to_string()
    }
}

/// In words, and as a title.
const fn ended(reason: EndReason) -> (&'static str, &'static str) {
    use EndReason::{Budget, Decided, Finished, Interrupted, Lost, Nothing};
    match reason {
        Decided => ("finished: every ranking is decided", "finished"),
        Finished => ("finished: all heats were measured", "finished"),
        Budget => ("ended: its budget was used up", "ended"),
        Interrupted => ("interrupted", "interrupted"),
        Lost => ("ended: a host was lost", "ended"),
        Nothing => ("ended: there was nothing to measure", "ended"),
    }
}
