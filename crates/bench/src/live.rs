//! `deadheat run --live`: the report so far, as a page that reloads itself while a session runs.
//!
//! The page is `report.html` in the session's folder, which the final report replaces. It is written between two heats,
//! on the thread that runs the session, so that nothing is drawn during a measurement.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use deadheat_document::{error::ReportError, html::live::Bar};
use deadheat_model::{
    Event,
    figure::counted,
    heats::{NextHeat, SessionRecord},
};
use deadheat_runner::{files::write_whole, session::heats::read_session};
use deadheat_shell::{invocation::shown, session_folders::HTML_FILE};
use deadheat_stats::standings::standings;

use crate::document::{
    html::{html, live_page},
    view::StandingsView,
};

/// A page that takes longer than this to write …
const QUICK: Duration = Duration::from_secs(1);
/// … takes at most this share of the session's time, so it is not written after each heat.
const MOST_OF_THE_TIME: f64 = 0.05;
/// The shortest time between two reloads of the page.
const SHORTEST_WAIT: Duration = Duration::from_secs(5);

/// Writes a session's report while it grows.
pub(crate) struct Live {
    folder: Folder,
    session: Option<Session>,
    last: Option<Written>,
}

/// The folder of the session.
enum Folder {
    /// In this folder, with the session's id as its name.
    Within(PathBuf),
    /// This one.
    At(PathBuf),
}

/// The heats so far, and the page.
struct Session {
    record: SessionRecord,
    page: PathBuf,
}

/// When the last page was written, and how long it took.
struct Written {
    at: Instant,
    took: Duration,
}

impl Written {
    /// Whether another page that takes as long would be no burden on the session.
    fn is_old_enough(&self, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.at);
        self.took <= QUICK || self.took.as_secs_f64() <= MOST_OF_THE_TIME * since.as_secs_f64()
    }
}

impl Live {
    /// For a session that will have a folder in `results`.
    pub(crate) fn new(results: &Path) -> Self {
        Self::in_folder(Folder::Within(results.to_owned()))
    }

    /// For a session that continues in its folder.
    pub(crate) fn resuming(folder: &Path) -> Self {
        Self::in_folder(Folder::At(folder.to_owned()))
    }

    fn in_folder(folder: Folder) -> Self {
        Self {
            folder,
            session: None,
            last: None,
        }
    }

    /// Writes the page if the event comes between two heats. Returns a line that says where the first page is.
    pub(crate) fn on(&mut self, event: &Event) -> Option<String> {
        match (event, &mut self.session) {
            (Event::HeatsStarted { header }, _) => {
                self.session = Session::open(&self.folder.path_of(&header.id));
                let written = self.write("preparing the first heat", "preparing");
                let session = self.session.as_ref().filter(|_| written)?;
                return Some(format!(
                    "live: {} (open it in a browser; it reloads itself after each heat)",
                    shown(&session.page)
                ));
            }
            (Event::HeatStarted { next, .. }, Some(session)) => {
                let last = self.last.as_ref();
                if last.is_none_or(|last| last.is_old_enough(Instant::now())) {
                    let status = session.status(next);
                    let title = format!("heat {}", session.complete() + 1);
                    self.write(&status, &title);
                }
            }
            (Event::HeatEnded { heat }, Some(session)) => {
                session.record.heats.push(heat.as_ref().clone());
            }
            _ => {}
        }
        None
    }

    /// Ends the reloads of the page of a session without a final report.
    pub(crate) fn give_up(&self) {
        if let Some(session) = &self.session {
            let record = &session.record;
            let view = StandingsView::new(record, &standings(record));
            session.write(html(&view, None));
        }
    }

    fn write(&mut self, status: &str, title: &str) -> bool {
        let Some(session) = &self.session else {
            return false;
        };
        let began = Instant::now();
        let record = &session.record;
        let since = self.last.as_ref().map(|last| last.at.elapsed());
        let bar = Bar {
            status: status.to_owned(),
            title: title.to_owned(),
            heats: session.complete(),
            of: session.most_heats(),
            written: SystemTime::now(),
            next: since.unwrap_or_default().max(SHORTEST_WAIT),
        };
        let view = StandingsView::running(record, &standings(record));
        if !session.write(live_page(&view, &bar)) {
            return false;
        }
        self.last = Some(Written {
            at: Instant::now(),
            took: began.elapsed(),
        });
        true
    }
}

impl Folder {
    fn path_of(&self, id: &str) -> PathBuf {
        match self {
            Folder::Within(results) => results.join(id),
            Folder::At(folder) => folder.clone(),
        }
    }
}

impl Session {
    /// Reads the session's files, which have heats already if it continues.
    fn open(folder: &Path) -> Option<Self> {
        let record = read_session(folder)
            .inspect_err(|error| tracing::warn!("there is no live page: {error}"))
            .ok()?;
        Some(Self {
            record,
            page: folder.join(HTML_FILE),
        })
    }

    /// The number of heats that were measured to their end.
    fn complete(&self) -> usize {
        self.record.complete()
    }

    /// The largest number of heats that the session can have.
    fn most_heats(&self) -> usize {
        let loads = self.record.header.plan.leading();
        loads.map(|load| load.most_heats() as usize).sum()
    }

    /// What is measured next, in words.
    fn status(&self, next: &NextHeat) -> String {
        let load = self.record.header.plan.loads.get(next.load);
        format!(
            "running: heat {} of at most {}, {} at {}",
            self.complete() + 1,
            self.most_heats(),
            counted(next.members.len(), "stack"),
            load.map(|load| load.name()).unwrap_or_default()
        )
    }

    /// Replaces the page. A failure is logged, because the session matters more.
    fn write(&self, page: Result<String, ReportError>) -> bool {
        let written = page
            .map_err(|error| error.to_string())
            .and_then(|page| {
                write_whole(&self.page, page.as_bytes()).map_err(|error| error.to_string())
            })
            .inspect_err(|error| {
                let page = shown(&self.page);
                tracing::warn!("writing {page}: {error}; the session continues without it");
            });
        written.is_ok()
    }
}

#[cfg(test)]
mod tests;
