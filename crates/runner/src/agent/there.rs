//! The coordinator's side of a session that runs on another host: its project goes there, words and the session's folder
//! come back.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::Duration,
};

use sha2::{Digest as _, Sha256};

use super::{
    agents::{Agents, TICK},
    arrivals::Arrivals,
    launcher::{Binary, Launcher},
    listing::{Listed, What, check, is_inside, list, pieces},
    message::{Answer, Order},
    monotonic_ns,
    remote::AgentError,
    serve::SILENCE,
    session_message::{Bytes, Ending, Folder, SessionAnswer, SessionOrder, Stream},
};
use crate::{
    embedded,
    files::UNFINISHED,
    hex::hex,
    project_files::{self, MANIFEST},
};

/// The folder of a root's stacks.
const STACKS: &str = "stacks";
/// What a root folder has that a session reads, besides its stacks.
const OF_A_ROOT: [&str; 2] = ["workloads", "published"];

/// A host that a whole session runs on. Dropping it ends all that runs there.
pub struct ServerHost {
    agents: Agents,
    host: String,
    /// Where the session's folder is there.
    results: Option<String>,
}

/// What a session reads that is to be brought to its host.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The root folder; `None`: a session of no stacks.
    pub root: Option<PathBuf>,
    /// Other folders of stacks.
    pub more: Vec<PathBuf>,
    /// Root folders as they were at revisions, each with the stack that is read of it.
    pub revisions: Vec<(PathBuf, String)>,
}

/// The same on the host, in the same order.
#[derive(Debug)]
pub struct Brought {
    /// The root folder.
    pub root: Option<PathBuf>,
    /// The other folders of stacks.
    pub more: Vec<PathBuf>,
    /// The root folders of the revisions.
    pub revisions: Vec<PathBuf>,
    /// The folder there that the session's is to be made in.
    pub results: PathBuf,
    /// How many files it has.
    pub files: usize,
    /// How many of them the host did not have.
    pub sent: usize,
}

/// A run that has ended on a host.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub how: Ending,
    session: Option<Folder>,
}

/// The files of a folder, and the folder that they go to.
struct Part {
    from: PathBuf,
    to: String,
    files: Vec<Listed>,
}

impl ServerHost {
    /// Starts an agent on `host`, unless `stop` is set meanwhile.
    ///
    /// # Errors
    /// When none could be started.
    pub fn launch(
        host: &str,
        launcher: &Launcher,
        binary: &Binary,
        stop: &AtomicBool,
    ) -> Result<Self, AgentError> {
        Ok(Self {
            agents: Agents::launch(&[host.to_owned()], launcher, binary, stop)?,
            host: host.to_owned(),
            results: None,
        })
    }

    /// Brings sources, as far as the host does not have them from before.
    ///
    /// # Errors
    /// When a file may not go or cannot be read, the host refuses, it is lost, or `stop` is set meanwhile.
    pub fn bring(&mut self, sources: &Sources, stop: &AtomicBool) -> Result<Brought, AgentError> {
        let parts = parts(sources).map_err(|why| self.failed(why))?;
        let files: Vec<Listed> = parts.iter().flat_map(Part::there).collect();
        check(&files).map_err(|why| self.failed(why))?;
        let name = name_of(sources.root.as_deref().unwrap_or(Path::new(".")));
        self.say(SessionOrder::Project {
            name,
            files: files.clone(),
        })?;
        let wanted = match self.answer(&mut |_| check_uninterrupted(stop))? {
            SessionAnswer::Wants { files } => files,
            other => return Err(self.strange(&other)),
        };
        let here: Vec<PathBuf> = parts.iter().flat_map(Part::here).collect();
        for nth in &wanted {
            check_uninterrupted(stop).map_err(|why| self.failed(why))?;
            let (Some(Listed { what, .. }), Some(path)) = (files.get(*nth), here.get(*nth)) else {
                return Err(self.failed("it wants a file that there is not"));
            };
            if let What::File { bytes, .. } = what {
                self.send(path, *bytes)?;
            }
        }
        match self.answer(&mut |_| check_uninterrupted(stop))? {
            SessionAnswer::Unpacked { project, results } => {
                let there = |to: &str| Path::new(&project).join(to);
                let each = |count, name: fn(usize) -> String| {
                    (0..count).map(|nth| there(&name(nth))).collect()
                };
                self.results = Some(results.clone());
                Ok(Brought {
                    root: sources.root.as_ref().map(|_| there(ROOT)),
                    more: each(sources.more.len(), more_name),
                    revisions: each(sources.revisions.len(), revision_name),
                    results: results.into(),
                    files: files.len(),
                    sent: wanted.len(),
                })
            }
            other => Err(self.strange(&other)),
        }
    }

    fn send(&mut self, path: &Path, bytes: u64) -> Result<(), AgentError> {
        let mut lost = None;
        let mut pass_on = |piece: &[u8]| {
            let bytes = Bytes(piece.to_vec());
            self.say(SessionOrder::Piece { bytes }).map_err(|error| {
                lost = Some(error);
                io::ErrorKind::BrokenPipe.into()
            })
        };
        let sent = pieces(path, bytes, &mut pass_on);
        match lost {
            Some(error) => Err(error),
            None => {
                sent.map_err(|error| self.failed(format!("sending {}: {error}", path.display())))
            }
        }
    }

    /// Runs deadheat there with these arguments to its end. `on_output` gets what it writes, as it comes. It gets SIGINT
    /// as often as `interrupts` says.
    ///
    /// # Errors
    /// When it cannot be started, or the host is lost.
    pub fn run(
        &mut self,
        arguments: Vec<String>,
        interrupts: &AtomicU32,
        on_output: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Ended, AgentError> {
        self.say(SessionOrder::Run { arguments })?;
        let mut passed_on = 0;
        let mut interrupt = |agents: &mut Agents| -> Result<(), String> {
            while passed_on < interrupts.load(Ordering::SeqCst) {
                passed_on += 1;
                let order = SessionOrder::Interrupt;
                let said = agents.say(0, &Order::Session { order });
                said.map_err(|error| error.problem)?;
            }
            Ok(())
        };
        loop {
            match self.answer(&mut interrupt)? {
                SessionAnswer::Said { stream, bytes } => on_output(stream, &bytes.0),
                SessionAnswer::Ended { how, session } => return Ok(Ended { how, session }),
                other => return Err(self.strange(&other)),
            }
        }
    }

    /// Takes the session's folder into `results`; `None`: the run made none.
    ///
    /// # Errors
    /// When it cannot be written here, the host sends something else, or it is lost.
    pub fn fetch(&mut self, ended: Ended, results: &Path) -> Result<Option<PathBuf>, AgentError> {
        let arrived = match ended.session {
            Some(session) => Some(self.receive(session, results)?),
            None => None,
        };
        self.say(SessionOrder::Arrived)?;
        self.results = None;
        // Should it stay there, the session is here all the same.
        let _ = self.answer(&mut |_| Ok(()));
        Ok(arrived)
    }

    fn receive(&mut self, session: Folder, results: &Path) -> Result<PathBuf, AgentError> {
        let Folder { name, files } = session;
        let is_link = |file: &Listed| matches!(file.what, What::Link { .. });
        if !is_inside(Path::new(&name)) || Path::new(&name).iter().count() != 1 {
            return Err(self.failed(format!("{name:?} is no session's name")));
        }
        if files.iter().any(is_link) {
            return Err(self.failed("a session has no links"));
        }
        check(&files).map_err(|why| self.failed(why))?;
        let place = results.join(&name);
        let here = |host: &Self, error: &dyn std::fmt::Display| {
            host.failed(format!(
                "bringing its session to {}: {error}",
                place.display()
            ))
        };
        if place.symlink_metadata().is_ok() {
            return Err(here(self, &"this is there already"));
        }
        let made = fs::create_dir_all(results).and_then(|()| {
            let mut builder = tempfile::Builder::new();
            builder.prefix(UNFINISHED).tempdir_in(results)
        });
        let temporary = made.map_err(|error| here(self, &error))?;
        let folder = temporary.path().join(&name);
        fs::create_dir(&folder).map_err(|error| here(self, &error))?;
        let arrivals = Arrivals::new(&folder, files);
        let mut arrivals = arrivals.map_err(|error| here(self, &error))?;
        while !arrivals.are_complete() {
            match self.answer(&mut |_| Ok(()))? {
                SessionAnswer::Piece { bytes } => {
                    let taken = arrivals.take(&bytes.0);
                    taken.map_err(|error| here(self, &error))?;
                }
                other => return Err(self.strange(&other)),
            }
        }
        fs::rename(&folder, &place).map_err(|error| here(self, &error))?;
        Ok(place)
    }

    fn say(&mut self, order: SessionOrder) -> Result<(), AgentError> {
        let said = self.agents.say(0, &Order::Session { order });
        said.map_err(|error| self.kept(error))
    }

    /// The next answer about the session. `on_tick` is called until it comes, and may give up.
    fn answer(
        &mut self,
        on_tick: &mut dyn FnMut(&mut Agents) -> Result<(), String>,
    ) -> Result<SessionAnswer, AgentError> {
        let mut last = monotonic_ns();
        loop {
            on_tick(&mut self.agents).map_err(|why| self.failed(why))?;
            let heard = self.agents.next_within(TICK);
            match heard.map_err(|error| self.kept(error))? {
                Some((_, _, Answer::Session { answer })) => return Ok(answer),
                Some(_) => last = monotonic_ns(),
                None => {
                    let silent = monotonic_ns().saturating_sub(last);
                    if Duration::from_nanos(silent) > SILENCE {
                        return Err(self.kept(self.agents.silent(SILENCE)));
                    }
                }
            }
        }
    }

    fn failed(&self, why: impl Into<String>) -> AgentError {
        self.kept(AgentError::new(&self.host, why))
    }

    fn strange(&self, answer: &SessionAnswer) -> AgentError {
        let text: String = format!("{answer:?}").chars().take(80).collect();
        self.failed(format!("it answered something else than was asked: {text}"))
    }

    /// An error that says what became of the session.
    fn kept(&self, mut error: AgentError) -> AgentError {
        if let Some(results) = &self.results {
            let note = format!("; what it has of the session is there, in {results}");
            error.problem.push_str(&note);
        }
        error
    }
}

impl Part {
    /// Its files as they are called there.
    fn there(&self) -> impl Iterator<Item = Listed> {
        self.files.iter().map(|file| Listed {
            path: format!("{}/{}", self.to, file.path),
            what: file.what.clone(),
        })
    }

    /// The same here.
    fn here(&self) -> impl Iterator<Item = PathBuf> {
        self.files.iter().map(|file| self.from.join(&file.path))
    }
}

fn check_uninterrupted(stop: &AtomicBool) -> Result<(), String> {
    if stop.load(Ordering::SeqCst) {
        return Err("interrupted before the session began".to_owned());
    }
    Ok(())
}

/// What goes.
fn parts(sources: &Sources) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    if let Some(root) = &sources.root {
        of_root(root, &stacks(&root.join(STACKS))?, ROOT, &mut parts)?;
        // What says that they are those of the program.
        parts.push(Part {
            from: root.to_owned(),
            to: ROOT.to_owned(),
            files: list(root, [embedded::MARKER.into()])?,
        });
    }
    for (nth, folder) in sources.more.iter().enumerate() {
        for stack in stacks(folder)? {
            parts.push(part(&stack, &more_name(nth))?);
        }
    }
    for (nth, (root, stack)) in sources.revisions.iter().enumerate() {
        let stack = root.join(STACKS).join(stack);
        of_root(root, &[stack], &revision_name(nth), &mut parts)?;
    }
    Ok(parts)
}

/// Adds what goes of a root folder with these stacks.
fn of_root(root: &Path, stacks: &[PathBuf], to: &str, parts: &mut Vec<Part>) -> Result<(), String> {
    for stack in stacks {
        parts.push(part(stack, &format!("{to}/{STACKS}"))?);
    }
    for name in OF_A_ROOT {
        let folder = root.join(name);
        if folder.is_dir() {
            parts.push(part(&folder, to)?);
        }
    }
    Ok(())
}

/// What the root folder is called there.
const ROOT: &str = "root";

/// What a folder of more stacks is called there.
fn more_name(nth: usize) -> String {
    format!("more-{nth}")
}

/// What the root folder of a revision is called there.
fn revision_name(nth: usize) -> String {
    format!("revision-{nth}")
}

/// The stacks in `folder`. Its other folders may hold anything.
fn stacks(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: io::Error| format!("reading the folder {}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.join(MANIFEST).is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn part(from: &Path, to: &str) -> Result<Part, String> {
    let failed = |error: io::Error| format!("reading {}: {error}", from.display());
    let name = from.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| format!("the name of {} is no UTF-8", from.display()))?;
    let files = list(from, project_files::list(from).map_err(failed)?)?;
    Ok(Part {
        from: from.to_owned(),
        to: format!("{to}/{name}"),
        files,
    })
}

/// What a project is called on other hosts, the same in each session.
fn name_of(root: &Path) -> String {
    let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let mut sum = Sha256::new();
    sum.update(rustix::system::uname().nodename().to_bytes());
    sum.update([0]);
    sum.update(root.as_os_str().as_encoded_bytes());
    hex(sum.finalize())[..16].to_owned()
}
