//! The coordinator's side: an agent on another host, and the pipes of its launcher. They are read and written by this
//! process's own clock: however the other side behaves, neither takes longer than it may.

use std::{
    io::{self, BufReader, Cursor, Read, Write as _},
    os::{fd::AsFd, unix::process::CommandExt as _},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::SyncSender,
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    process::{Pid, Signal, kill_process_group},
};

use super::{
    frame::{self, FrameError, GREETING},
    launcher::{Binary, LOCAL, Launcher, Parcel, SEND},
    message::{self, AgentMessage, Host, Message as _, Order, PROTOCOL},
    monotonic_ns,
    patience::{PULSE, Patience},
};

/// How long what a launcher printed is waited for, once its output has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The most that is kept of what a launcher prints.
const MOST_SAID: usize = 2_000;

/// Why an agent is of no use.
#[derive(Debug, thiserror::Error)]
#[error("host {host}: {problem}")]
pub struct AgentError {
    /// The host, as the user named it.
    pub host: String,
    /// What happened, and what to do about it.
    pub problem: String,
}

impl AgentError {
    pub(super) fn new(host: &str, problem: impl Into<String>) -> Self {
        Self {
            host: host.to_owned(),
            problem: problem.into(),
        }
    }
}

/// What was heard of an agent, and when (monotonic, in nanoseconds).
pub(super) struct Heard {
    /// Which agent.
    pub(super) agent: usize,
    pub(super) at: u64,
    pub(super) answer: Result<AgentMessage, FrameError>,
}

/// An agent on another host. Dropping it ends it, and everything that it started.
pub(super) struct Agent {
    /// As the user named it.
    pub(super) host: String,
    pub(super) seen: Host,
    child: Child,
    input: Arc<Mutex<Option<ChildStdin>>>,
    said: Arc<Mutex<Vec<u8>>>,
    /// Reads what the launcher prints, to its end.
    reader: Option<JoinHandle<()>>,
    /// When anything was heard of it (monotonic, in nanoseconds), its pulse included.
    heard: Arc<AtomicU64>,
    patience: Patience,
    /// Until when it may end by itself, once it was told to.
    farewell: Option<Instant>,
}

impl Agent {
    /// Starts agent number `index` on `host`. What it answers comes through `ears`.
    pub(super) fn launch(
        host: &str,
        index: usize,
        launcher: &Launcher,
        binary: &Binary,
        ears: SyncSender<Heard>,
        patience: Patience,
        stop: &AtomicBool,
    ) -> Result<Self, AgentError> {
        let fail = |problem: String| AgentError::new(host, problem);
        let mut parcel = None;
        let mut command = match (host, binary) {
            (LOCAL, _) => {
                let mut command = Command::new("/proc/self/exe");
                command.arg("agent");
                command
            }
            (_, Binary::At(path)) => {
                launcher.command(host, &[&path.display().to_string(), "agent"])
            }
            (_, Binary::Copied) => {
                let script = parcel.insert(Parcel::own().map_err(fail)?).script();
                launcher.command(host, &["sh", "-c", &script])
            }
        };
        let shown = command.get_program().to_string_lossy().into_owned();
        // A process group of its own: Ctrl-C asks the coordinator, which then asks the agents.
        command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| fail(format!("starting {shown}: {error}; is it installed?")))?;
        let said = Arc::new(Mutex::new(Vec::new()));
        let stderr = child.stderr.take();
        let reader = stderr.and_then(|stderr| keep(stderr, Arc::clone(&said)));
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let mut agent = Self {
            host: host.to_owned(),
            seen: Host::default(),
            child,
            input: Arc::new(Mutex::new(input)),
            said,
            reader,
            heard: Arc::new(AtomicU64::new(monotonic_ns())),
            patience,
            // Until it has introduced itself, it gets no time to end.
            farewell: Some(Instant::now()),
        };
        let output = output.ok_or_else(|| fail("it has no output".to_owned()))?;
        let (seen, rest) = match agent.greet(output, parcel, stop) {
            Ok(greeted) => greeted,
            Err(FrameError::Io(error)) if error.kind() == io::ErrorKind::TimedOut => {
                let patience = patience.greeting;
                return Err(fail(format!("it did not answer within {patience:?}")));
            }
            Err(_) if stop.load(Ordering::SeqCst) => return Err(fail(INTERRUPTED.to_owned())),
            Err(error) => return Err(agent.lost(&error)),
        };
        agent.seen = seen;
        agent.farewell = None;
        if (agent.seen.protocol, agent.seen.version.as_str())
            != (PROTOCOL, env!("CARGO_PKG_VERSION"))
        {
            return Err(fail(format!(
                "deadheat {} (messages {}) runs there, and {} (messages {PROTOCOL}) here; omit --agent, and this \
                 program is copied",
                agent.seen.version,
                agent.seen.protocol,
                env!("CARGO_PKG_VERSION")
            )));
        }
        agent
            .listen(index, rest, ears)
            .map_err(|error| fail(format!("starting a thread: {error}")))?;
        Ok(agent)
    }

    /// Waits for the greeting, sends the program if it is asked for, and introduces itself, all of it within
    /// [`Patience::greeting`]. With who is there comes what else it says.
    fn greet(
        &mut self,
        output: ChildStdout,
        parcel: Option<&Parcel>,
        stop: &AtomicBool,
    ) -> Result<(Host, impl Read + Send + use<>), FrameError> {
        let end = Instant::now() + self.patience.greeting;
        let pipe = output;
        let mut output = BufReader::new(Until { pipe, end, stop });
        if let Some(input) = self.input().as_ref() {
            never_block(input)?;
        }
        if frame::line_of(&mut output, &[GREETING, SEND])? == SEND {
            if let (Some(parcel), Some(input)) = (parcel, self.input().as_ref()) {
                tracing::info!("host {}: sending {} bytes", self.host, parcel.bytes());
                let patience = self.patience.greeting;
                let within = Within { patience, end };
                parcel.pieces(&mut |piece| write_all(input, piece, within, Some(stop)))?;
            }
            frame::line_of(&mut output, &[GREETING])?;
        }
        self.say(&Order::Hello { protocol: PROTOCOL })?;
        let host = loop {
            match message::receive(&mut output)? {
                AgentMessage::Hello(host) => break *host,
                AgentMessage::Alive => {}
                _ => return Err(FrameError::Stranger("no hello".to_owned())),
            }
        };
        // Nothing ends the thread that reads the rest but the pipe's end, or the end of this process.
        let buffered = Cursor::new(output.buffer().to_vec());
        let rest = buffered.chain(BufReader::new(output.into_inner().pipe));
        Ok((host, rest))
    }

    /// Passes on what it answers, and tells it regularly that somebody listens. What nobody takes in time stays in the
    /// pipe: it fills no memory.
    fn listen(
        &self,
        agent: usize,
        mut output: impl Read + Send + 'static,
        ears: SyncSender<Heard>,
    ) -> io::Result<()> {
        let named = |what: &str| thread::Builder::new().name(format!("{what}-{agent}"));
        let last_heard = Arc::clone(&self.heard);
        last_heard.store(monotonic_ns(), Ordering::Relaxed);
        named("agent").spawn(move || {
            loop {
                let answer = message::receive(&mut output);
                let at = monotonic_ns();
                last_heard.store(at, Ordering::Relaxed);
                if matches!(answer, Ok(AgentMessage::Alive)) {
                    continue;
                }
                let last = matches!(answer, Err(_) | Ok(AgentMessage::Bye));
                let heard = Heard { agent, at, answer };
                if ears.send(heard).is_err() || last {
                    return;
                }
            }
        })?;
        let input = Arc::clone(&self.input);
        named("pulse").spawn(move || {
            loop {
                thread::sleep(PULSE);
                let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(pipe) = input.as_ref() else { return };
                // One that is full has the last pulse in it. As short as this is, it is written at once or not at all.
                let written = message::framed(&Order::Alive).and_then(|frame| {
                    write_all(pipe, &frame, Within::new(Duration::ZERO, 0), None)
                });
                if written.is_err_and(|error| error.kind() != io::ErrorKind::TimedOut) {
                    *input = None;
                    return;
                }
            }
        })?;
        Ok(())
    }

    fn input(&self) -> std::sync::MutexGuard<'_, Option<ChildStdin>> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something to it, unless it does not listen.
    pub(super) fn say(&self, order: &Order) -> io::Result<()> {
        self.say_within(order, self.patience.question)
    }

    fn say_within(&self, order: &Order, patience: Duration) -> io::Result<()> {
        let frame = message::framed(order)?;
        let mut input = self.input();
        let Some(pipe) = input.as_ref() else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let written = write_all(pipe, &frame, Within::new(patience, frame.len()), None);
        if written.is_err() {
            // Half a message makes nonsense of what follows.
            *input = None;
        }
        written
    }

    /// How long nothing was heard of it.
    pub(super) fn silent(&self) -> Duration {
        Duration::from_nanos(monotonic_ns().saturating_sub(self.heard.load(Ordering::Relaxed)))
    }

    /// It sent a message that nobody asked for.
    pub(super) fn unexpected(&self, answer: &AgentMessage) -> AgentError {
        let what = answer.name();
        AgentError::new(
            &self.host,
            format!("it sent `{what}`, which was not asked for"),
        )
    }

    /// It is lost, for a reason that its launcher may have told as well.
    pub(super) fn lost(&mut self, error: &dyn std::fmt::Display) -> AgentError {
        let end = Instant::now() + LAST_WORDS;
        let mut status = None;
        let is_read =
            |reader: &Option<JoinHandle<()>>| reader.as_ref().is_none_or(JoinHandle::is_finished);
        while (status.is_none() || !is_read(&self.reader)) && Instant::now() < end {
            status = self.child.try_wait().ok().flatten();
            thread::sleep(Duration::from_millis(5));
        }
        let mut problem = error.to_string();
        if let Some(status) = status.filter(|status| !status.success()) {
            problem.push_str(&format!("; the launcher ended with {status}"));
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&said);
        if !said.trim().is_empty() {
            problem.push_str(&format!("; it said: {}", said.trim()));
        }
        AgentError::new(&self.host, problem)
    }

    /// Tells it to end, without waiting for that.
    pub(super) fn say_goodbye(&mut self) {
        if self.farewell.is_none() {
            // Who is gone already, or does not listen, needs no goodbye.
            let _ = self.say_within(&Order::Bye, Duration::ZERO);
            self.farewell = Some(Instant::now() + self.patience.farewell);
        }
        *self.input() = None;
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.say_goodbye();
        let end = self.farewell.unwrap_or_else(Instant::now);
        while Instant::now() < end {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        // With all that the launcher has started here.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps the end of what a launcher prints.
fn keep(mut stderr: ChildStderr, said: Arc<Mutex<Vec<u8>>>) -> Option<JoinHandle<()>> {
    // Without the thread its words are missing from a message.
    thread::Builder::new()
        .name("stderr".to_owned())
        .spawn(move || {
            let mut piece = [0; MOST_SAID];
            loop {
                let read = match stderr.read(&mut piece) {
                    Ok(0) => return,
                    Ok(read) => read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => return,
                };
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                said.extend_from_slice(&piece[..read]);
                let surplus = said.len().saturating_sub(MOST_SAID);
                said.drain(..surplus);
            }
        })
        .ok()
}

/// Between two looks at whether somebody stops.
const TICK: Duration = Duration::from_millis(20);
/// The least that goes through in a second, in bytes, where anything does.
const SLOWEST: u64 = 64 << 10;

/// How long writing may take.
#[derive(Clone, Copy)]
struct Within {
    /// Until anything goes through.
    pub(super) patience: Duration,
    /// Until all has.
    pub(super) end: Instant,
}

impl Within {
    /// For so many bytes, where none may go for `patience`.
    pub(super) fn new(patience: Duration, bytes: usize) -> Self {
        let slowest = Duration::from_secs(bytes as u64 / SLOWEST);
        Self {
            patience,
            end: Instant::now() + patience + slowest,
        }
    }
}

/// Why a pipe was not waited for any longer.
const INTERRUPTED: &str = "interrupted before it answered";

/// Waits until the pipe is ready for `what`.
fn wait(
    pipe: &impl AsFd,
    what: PollFlags,
    end: Instant,
    stop: Option<&AtomicBool>,
) -> io::Result<()> {
    loop {
        if stop.is_some_and(|stop| stop.load(Ordering::SeqCst)) {
            return Err(io::Error::other(INTERRUPTED));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let tick = left.min(TICK);
        let tick = Timespec {
            tv_sec: 0,
            tv_nsec: tick.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(pipe, what)], Some(&tick)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The reading end of a pipe, until an instant or until somebody stops.
struct Until<'a, R> {
    pub(super) pipe: R,
    pub(super) end: Instant,
    pub(super) stop: &'a AtomicBool,
}

impl<R: Read + AsFd> Read for Until<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        wait(&self.pipe, PollFlags::IN, self.end, Some(self.stop))?;
        self.pipe.read(buffer)
    }
}

/// Has writing return when the pipe is full.
fn never_block(pipe: &ChildStdin) -> io::Result<()> {
    let flags = fcntl_getfl(pipe)?;
    Ok(fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?)
}

/// Writes all to a pipe that never blocks, in time and until somebody stops.
fn write_all(
    mut pipe: &ChildStdin,
    mut bytes: &[u8],
    within: Within,
    stop: Option<&AtomicBool>,
) -> io::Result<()> {
    while !bytes.is_empty() {
        match pipe.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let end = within.end.min(Instant::now() + within.patience);
                wait(&pipe, PollFlags::OUT, end, stop)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
