//! `deadheat run --live`: the report of the heats so far, on loopback, while a session runs.
//!
//! It must not disturb what is measured. So everything that costs something happens between two heats, on the thread
//! that runs the session, and that thread goes on when the browsers have drawn what they were told of, or took too long.
//! While a heat runs, a request gets a notice of a few kilobytes, and only so many do. Nothing is drawn that nobody
//! looks at.

mod answer;
mod hub;
mod server;
mod status;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use deadheat_model::{Event, heats::SessionRecord};
use deadheat_report::{StandingsView, html::live::live_notice, standings::html::live_page};
use deadheat_runner::session::heats::read_session;
use deadheat_stats::standings::standings;

use self::{hub::Hub, server::Server, status::Status};
use crate::{exit::Failure, invocation::shown, report::HTML_FILE};

/// How long the next heat waits for browsers to draw.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// A report that takes longer than this to make, and to be drawn by browsers …
const QUICK: Duration = Duration::from_secs(1);
/// … takes no more than this share of the session's time: it is not made after each heat.
const MOST_OF_THE_TIME: f64 = 0.05;

const PREPARING: &str = "The report begins with the first measurement.";
const QUIET: &str = "A measurement is running, and drawing a report would disturb it. This page turns into the report \
                     so far as soon as it has ended.";

/// Serves a session's report while it grows.
pub(crate) struct Live {
    hub: Arc<Hub>,
    server: Server,
    interrupted: Arc<AtomicBool>,
    folder: Folder,
    status: Status,
    record: Option<SessionRecord>,
    drawn: Option<Drawn>,
}

/// Where the session's files are.
enum Folder {
    /// In its own, below this one.
    Below(PathBuf),
    /// Here.
    At(PathBuf),
}

/// The last report.
struct Drawn {
    ended: Instant,
    took: Duration,
}

impl Drawn {
    /// Whether another one, as long as the last, is no burden on the session.
    fn is_old_enough(&self, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.ended);
        self.took <= QUICK || self.took.as_secs_f64() <= MOST_OF_THE_TIME * since.as_secs_f64()
    }
}

impl Live {
    /// Serves a session that will have a folder in `results`, on a port, or on a free one.
    ///
    /// # Errors
    /// When the port cannot be listened on.
    pub(crate) fn start(
        port: Option<u16>,
        results: &Path,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let folder = Folder::Below(results.to_owned());
        Self::serve(port, folder, Status::new(), interrupted)
    }

    /// Serves a session that goes on in its folder.
    ///
    /// # Errors
    /// When the port cannot be listened on.
    pub(crate) fn going_on(
        port: Option<u16>,
        folder: &Path,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let folder = Folder::At(folder.to_owned());
        Self::serve(port, folder, Status::new(), interrupted)
    }

    fn serve(
        port: Option<u16>,
        folder: Folder,
        status: Status,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let port = port.unwrap_or(0);
        let hub = Hub::new(notice(&status));
        let server = Server::start(port, Arc::clone(&hub)).map_err(|error| {
            Failure::usage(format!(
                "serving the live page on 127.0.0.1:{port}: {error}; choose another port with --live=PORT, or --live \
                 alone for one that is free"
            ))
        })?;
        Ok(Self {
            hub,
            server,
            interrupted: Arc::clone(interrupted),
            folder,
            status,
            record: None,
            drawn: None,
        })
    }

    /// A line that says where it is.
    pub(crate) fn address(&self) -> String {
        format!(
            "live: http://{}/ (this machine only, until the session ends)",
            self.server.address()
        )
    }

    /// Takes an event. Before a heat and after the last one this is where the report is drawn.
    pub(crate) fn on(&mut self, event: &Event) {
        match (event, &mut self.record) {
            (Event::HeatsStarted { header }, _) => {
                let folder = self.folder.of(&header.id);
                self.record = recorded(&folder);
                self.status.leads_to(&shown(&folder.join(HTML_FILE)));
            }
            (Event::HeatEnded { heat }, Some(record)) => record.heats.push(heat.as_ref().clone()),
            (Event::HeatsEnded { reason }, Some(record)) => record.end = Some(*reason),
            _ => {}
        }
        let heats = self.record.iter().flat_map(|record| &record.heats);
        let complete = heats.filter(|heat| heat.is_complete()).count();
        let changes = self.status.on(event, complete);
        // A heat goes on until the next one begins, or the session ends: only then is anybody told.
        if !changes || matches!(event, Event::HeatEnded { .. }) {
            return;
        }
        self.hub.stand_in(notice(&self.status));
        let begins = matches!(event, Event::HeatStarted { .. });
        let draws = match event {
            _ if begins => self.is_due(),
            Event::HeatsEnded { .. } => self.hub.is_watched(),
            _ => false,
        };
        if !draws || !self.draw() {
            self.hub.tell(&self.status.event());
        }
        if begins {
            self.hub.be_quiet();
        }
    }

    fn is_due(&self) -> bool {
        let old = |drawn: &Drawn| drawn.is_old_enough(Instant::now());
        // After an interrupt no heat begins: the last report is the next one.
        let interrupted = self.interrupted.load(Ordering::Relaxed);
        !interrupted && self.hub.is_watched() && self.drawn.as_ref().is_none_or(old)
    }

    /// Draws the report for everybody who watches, and waits until they have it on their screens; `false` when there is
    /// none.
    fn draw(&mut self) -> bool {
        let Some(record) = &self.record else {
            return false;
        };
        let begun = Instant::now();
        let bar = self.status.bar(self.hub.version() + 1);
        let page = match live_page(&StandingsView::running(record, &standings(record)), &bar) {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!("drawing the live page: {error}; the session goes on without it");
                return false;
            }
        };
        let expected = self.hub.publish(page, &self.status.event());
        // The last page is all that will be left, also of a session that was interrupted.
        let hurries = || record.end.is_none() && self.interrupted.load(Ordering::Relaxed);
        self.hub.wait_until_drawn(expected, LONGEST_WAIT, hurries);
        // With what a browser took that draws slowly, or never.
        self.drawn = Some(Drawn {
            took: begun.elapsed(),
            ended: Instant::now(),
        });
        true
    }
}

impl Folder {
    fn of(&self, id: &str) -> PathBuf {
        match self {
            Folder::Below(results) => results.join(id),
            Folder::At(folder) => folder.clone(),
        }
    }
}

/// The session as its files hold it, which may be heats from before it went on.
fn recorded(folder: &Path) -> Option<SessionRecord> {
    read_session(folder)
        .inspect_err(|error| tracing::warn!("the live page shows no report: {error}"))
        .ok()
}

/// The page that stands in for the report.
fn notice(status: &Status) -> String {
    let why = if status.is_running() {
        QUIET
    } else {
        PREPARING
    };
    // The template is a constant, which tests render.
    live_notice(&status.bar(0), why).unwrap_or_default()
}

#[cfg(test)]
mod tests;
