//! `deadheat run --live`: the report so far, as a page that reloads itself while a session runs.
//!
//! The page is `report.html` in the session's folder, which the final report replaces. It is written between two heats,
//! on the thread that runs the session, so that nothing is drawn during a measurement.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use deadheat_document::{html::Bar, json::ReportError};
use deadheat_model::{
    Event,
    figure::counted,
    heats::{NextHeat, SessionRecord},
};
use deadheat_runner::{files::write_whole, session::heats::read_session};
use deadheat_shell::{invocation::shown, session_folders::HTML_FILE};
use deadheat_stats::standings::standings;

use crate::document::{html, live_page, view::StandingsView};

/// A page that takes longer than this to write …
const QUICK: Duration = Duration::from_secs(1);
/// … takes at most this share of the session's time, so it is not written after each heat.
const MAX_OF_THE_TIME: f64 = 0.05;
/// The shortest time between two reloads of the page.
const SHORTEST_WAIT: Duration = Duration::from_secs(5);

/// Writes a session's report while it grows.
pub(crate) struct Live {
    folder: Folder,
    session: Option<SessionSoFar>,
    last: Option<PageWrite>,
}

/// The folder of the session.
enum Folder {
    /// In this folder, with the session's id as its name.
    Within(PathBuf),
    /// This one.
    At(PathBuf),
}

/// The heats so far, and the page.
struct SessionSoFar {
    record: SessionRecord,
    page: PathBuf,
}

/// The time of the last write of the page, and its duration.
struct PageWrite {
    at: Instant,
    took: Duration,
}

impl PageWrite {
    /// Whether another write of the same duration is short compared with the time since the last one.
    fn is_old_enough(&self, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.at);
        self.took <= QUICK || self.took.as_secs_f64() <= MAX_OF_THE_TIME * since.as_secs_f64()
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
                self.session = SessionSoFar::open(&self.folder.path_of(&header.id));
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
        self.last = Some(PageWrite {
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

impl SessionSoFar {
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

    /// The next step, in words.
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
mod tests {
    use std::fs;

    use deadheat_model::{
        event::HeatStep,
        heat::HeatEnd,
        heats::{EndReason, JournalEntry, MeasuredHeat, Step},
    };
    use deadheat_simulation::Recorded;
    use deadheat_stats::steering;
    use tempfile::TempDir;

    use super::*;

    /// The number of heats of the session.
    const HEATS: usize = 3;
    /// Text that only a page that reloads itself has.
    const RELOADS: &str = "location.reload";

    /// A whole session of two stacks and three heats.
    fn session() -> SessionRecord {
        let plan = Recorded {
            looks: vec![HEATS as u32],
            until_decided: false,
            ..Recorded::measured(&[1.0, 2.0])
        };
        let record = plan.run(1, &mut steering::next);
        assert_eq!(record.heats.len(), HEATS);
        record
    }

    fn session_started() -> Event {
        Event::HeatsStarted {
            header: Box::new(session().header),
        }
    }

    fn started(heat: usize) -> Event {
        let mut record = session();
        record.heats.truncate(heat);
        match steering::next(&record, Duration::ZERO) {
            Step::Heat(next) => Event::HeatStarted {
                heat: heat as u32,
                next,
            },
            Step::End(reason) => panic!("there is no heat {heat}: {reason:?}"),
        }
    }

    fn heat(heat: usize) -> Box<MeasuredHeat> {
        Box::new(session().heats[heat].clone())
    }

    fn ended(number: usize) -> Event {
        Event::HeatEnded { heat: heat(number) }
    }

    /// A folder of results with a session of this many heats.
    fn begun(heats: usize) -> TempDir {
        let results = tempfile::tempdir().unwrap();
        let record = session();
        let folder = results.path().join(&record.header.id);
        fs::create_dir(&folder).unwrap();
        let text = serde_json::to_string(&record.header).unwrap();
        fs::write(folder.join("session.json"), text).unwrap();
        let entry =
            |number| serde_json::to_string(&JournalEntry::Heat(heat(number))).unwrap() + "\n";
        let lines: String = (0..heats).map(entry).collect();
        fs::write(folder.join("heats.jsonl"), lines).unwrap();
        results
    }

    fn folder(results: &TempDir) -> PathBuf {
        results.path().join(session().header.id)
    }

    fn page(results: &TempDir) -> Option<String> {
        fs::read_to_string(folder(results).join(HTML_FILE)).ok()
    }

    #[test]
    fn the_page_is_written_before_a_heat_and_at_no_other_time() {
        let results = begun(0);
        let mut live = Live::new(results.path());
        let step = |step| Event::HeatStep { step };
        let round = || {
            step(HeatStep::Round {
                done: 1,
                elapsed: Duration::from_secs(1),
            })
        };
        let reason = EndReason::Finished;
        // Each event, and whether the page is written on it.
        let events = [
            (session_started(), true),
            (started(0), true),
            (round(), false),
            (step(HeatStep::Ending), false),
            (ended(0), false),
            (started(1), true),
            (round(), false),
            (ended(1), false),
            (started(2), true),
            (ended(2), false),
            (Event::HeatsEnded { reason }, false),
        ];
        let place = folder(&results).join(HTML_FILE);
        for (event, is_written) in events {
            let _ = fs::remove_file(&place);
            let line = live.on(&event);
            assert_eq!(page(&results).is_some(), is_written, "{event:?}");
            assert_eq!(
                line.is_some(),
                matches!(event, Event::HeatsStarted { .. }),
                "{event:?}"
            );
        }
    }

    #[test]
    fn the_page_has_every_heat_so_far() {
        let results = begun(0);
        let mut live = Live::new(results.path());
        live.on(&session_started());
        for heats in 0..HEATS {
            live.on(&started(heats));
            let mut so_far = session();
            so_far.heats.truncate(heats);
            so_far.end = None;
            let view = StandingsView::running(&so_far, &standings(&so_far));
            let bar = Bar {
                status: String::new(),
                title: String::new(),
                heats,
                of: HEATS,
                written: SystemTime::now(),
                next: SHORTEST_WAIT,
            };
            let main = |page: &str| {
                let (_, rest) = page.split_once("<main").unwrap();
                rest.split_once("<footer>").unwrap().0.to_owned()
            };
            let page = page(&results).unwrap();
            // Not with assert_eq: a page has hundreds of lines.
            assert!(
                main(&page) == main(&live_page(&view, &bar).unwrap()),
                "after {heats} heats"
            );
            let number = heats + 1;
            let status = format!("running: heat {number} of at most 3, 2 stacks at plaintext:c50");
            assert!(page.contains(&status), "{status}");
            let progress = format!("<progress value=\"{heats}\" max=\"{HEATS}\"");
            assert!(page.contains(&progress), "{progress}");
            live.on(&ended(heats));
        }
    }

    #[test]
    fn a_session_that_continues_shows_what_was_measured_before() {
        let results = begun(1);
        let mut live = Live::resuming(&folder(&results));
        live.on(&session_started());
        live.on(&started(1));
        let page = page(&results).unwrap();
        assert!(page.contains("heat 2 of at most 3"), "{page}");
        assert!(page.contains("<progress value=\"1\" max=\"3\""), "{page}");
    }

    #[test]
    fn an_interrupted_heat_is_not_counted() {
        let results = begun(0);
        let mut live = Live::new(results.path());
        let mut cut = heat(1);
        cut.heat.end = HeatEnd::Interrupted;
        for event in [
            session_started(),
            started(0),
            ended(0),
            started(1),
            Event::HeatEnded { heat: cut },
            started(1),
        ] {
            live.on(&event);
        }
        let page = page(&results).unwrap();
        assert!(page.contains("heat 2 of at most 3"), "{page}");
        assert!(page.contains("<progress value=\"1\" max=\"3\""), "{page}");
    }

    #[test]
    fn a_session_without_a_final_report_leaves_a_page_that_does_not_reload() {
        let results = begun(0);
        let mut live = Live::new(results.path());
        live.give_up();
        assert_eq!(page(&results), None);
        live.on(&session_started());
        assert!(page(&results).unwrap().contains(RELOADS));
        live.give_up();
        assert!(!page(&results).unwrap().contains(RELOADS));
    }

    #[test]
    fn a_page_that_cannot_be_written_does_not_end_the_session() {
        let results = begun(0);
        fs::create_dir(folder(&results).join(HTML_FILE)).unwrap();
        let mut live = Live::new(results.path());
        assert_eq!(live.on(&session_started()), None);
        assert_eq!(live.on(&started(0)), None);
    }

    #[test]
    fn a_page_that_takes_long_is_written_less_often() {
        let now = Instant::now();
        let written = |took: f64| PageWrite {
            at: now,
            took: Duration::from_secs_f64(took),
        };
        let later = |seconds: u64| now + Duration::from_secs(seconds);
        assert!(written(0.9).is_old_enough(now));
        assert!(!written(2.0).is_old_enough(later(39)));
        assert!(written(2.0).is_old_enough(later(41)));
    }
}
