//! The coordinator's side of an agent on another host, and the pipes of its launcher. Deadlines use this process's
//! clock, so that no behaviour of the other side exceeds them.

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
    launcher::{Binary, LOCAL, Launcher, ProgramFile, SEND},
    message::{self, AgentMessage, Host, Message as _, Order, PROTOCOL},
    monotonic_ns,
    patience::{PULSE, Patience},
};

/// The maximum time to wait for the rest of a launcher's error output after its standard output has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The maximum length of a launcher's error output that is kept, in bytes.
const MAX_SAID: usize = 2_000;

/// The failure of an agent.
#[derive(Clone, Debug, thiserror::Error)]
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

/// A message of an agent, and the time of its arrival (monotonic, in nanoseconds).
pub(super) struct ReceivedMessage {
    /// The agent's index.
    pub(super) agent: usize,
    pub(super) at: u64,
    pub(super) answer: Result<AgentMessage, FrameError>,
}

/// An agent on another host. Dropping it stops the agent and everything that it started.
pub(super) struct Agent {
    /// The host's name, as the user wrote it.
    pub(super) host: String,
    pub(super) seen: Host,
    child: Child,
    input: Arc<Mutex<Option<ChildStdin>>>,
    said: Arc<Mutex<Vec<u8>>>,
    /// The thread that reads the launcher's error output.
    reader: Option<JoinHandle<()>>,
    /// The time of the last message, including heartbeats (monotonic, in nanoseconds).
    heard: Arc<AtomicU64>,
    patience: Patience,
    /// The deadline for its exit; `None` until it is ordered to exit.
    farewell: Option<Instant>,
}

impl Agent {
    /// Starts agent number `index` on `host`. Its answers are sent to `sender`.
    pub(super) fn launch(
        host: &str,
        index: usize,
        launcher: &Launcher,
        binary: &Binary,
        sender: SyncSender<ReceivedMessage>,
        patience: Patience,
        stop: &AtomicBool,
    ) -> Result<Self, AgentError> {
        let fail = |problem: String| AgentError::new(host, problem);
        let mut program_file = None;
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
                let own = ProgramFile::own()
                    .map_err(|error| fail(format!("reading this program's file: {error}")))?;
                program_file = Some(own);
                launcher.command(host, &["sh", "-c", &own.script()])
            }
        };
        let shown = command.get_program().to_string_lossy().into_owned();
        // A process group of its own, so that Ctrl-C only stops the coordinator, which then stops the agents.
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
            // Until it has sent its greeting, it gets no time to exit.
            farewell: Some(Instant::now()),
        };
        let output = output.ok_or_else(|| fail("it has no output".to_owned()))?;
        let (seen, rest) = match agent.greet(output, program_file, stop) {
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
            .listen(index, rest, sender)
            .map_err(|error| fail(format!("starting a thread: {error}")))?;
        Ok(agent)
    }

    /// Waits for the greeting, sends the program if the script asks for it, and exchanges `Hello`, all within
    /// [`Patience::greeting`]. Returns the agent's identity and the rest of its output.
    fn greet(
        &mut self,
        output: ChildStdout,
        program_file: Option<&ProgramFile>,
        stop: &AtomicBool,
    ) -> Result<(Host, impl Read + Send + use<>), FrameError> {
        let end = Instant::now() + self.patience.greeting;
        let pipe = output;
        let mut output = BufReader::new(InterruptiblePipe { pipe, end, stop });
        if let Some(input) = self.input().as_ref() {
            never_block(input)?;
        }
        if frame::line_of(&mut output, &[GREETING, SEND])? == SEND {
            if let (Some(program_file), Some(input)) = (program_file, self.input().as_ref()) {
                tracing::info!("host {}: sending {} bytes", self.host, program_file.bytes());
                let patience = self.patience.greeting;
                let within = WriteDeadline { patience, end };
                program_file.pieces(&mut |piece| write_all(input, piece, within, Some(stop)))?;
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
        // The thread that reads the rest only ends with the pipe or with this process.
        let buffered = Cursor::new(output.buffer().to_vec());
        let rest = buffered.chain(BufReader::new(output.into_inner().pipe));
        Ok((host, rest))
    }

    /// Starts threads that forward the agent's messages and send it heartbeats. Messages that are not received in time
    /// stay in the pipe, so they use no memory.
    fn listen(
        &self,
        agent: usize,
        mut output: impl Read + Send + 'static,
        sender: SyncSender<ReceivedMessage>,
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
                let heard = ReceivedMessage { agent, at, answer };
                if sender.send(heard).is_err() || last {
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
                // A full pipe contains an earlier heartbeat. A frame this short is written at once or not at all.
                let written = message::framed(&Order::Alive).and_then(|frame| {
                    write_all(pipe, &frame, WriteDeadline::new(Duration::ZERO, 0), None)
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

    /// Sends an order, unless the agent has closed the pipe.
    pub(super) fn say(&self, order: &Order) -> io::Result<()> {
        self.say_within(order, self.patience.question)
    }

    fn say_within(&self, order: &Order, patience: Duration) -> io::Result<()> {
        let frame = message::framed(order)?;
        let mut input = self.input();
        let Some(pipe) = input.as_ref() else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let written = write_all(
            pipe,
            &frame,
            WriteDeadline::new(patience, frame.len()),
            None,
        );
        if written.is_err() {
            // Close the pipe, because the rest after a partial message cannot be parsed.
            *input = None;
        }
        written
    }

    /// The time since its last message.
    pub(super) fn silent(&self) -> Duration {
        Duration::from_nanos(monotonic_ns().saturating_sub(self.heard.load(Ordering::Relaxed)))
    }

    /// The error for an unexpected message.
    pub(super) fn unexpected(&self, answer: &AgentMessage) -> AgentError {
        let what = answer.name();
        AgentError::new(
            &self.host,
            format!("it sent `{what}`, which was not asked for"),
        )
    }

    /// The error for a lost agent, with its launcher's exit status and error output.
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

    /// Orders the agent to exit, without waiting for that.
    pub(super) fn send_exit(&mut self) {
        if self.farewell.is_none() {
            // An agent that has exited or does not read cannot be reached.
            let _ = self.say_within(&Order::Bye, Duration::ZERO);
            self.farewell = Some(Instant::now() + self.patience.farewell);
        }
        *self.input() = None;
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.send_exit();
        let end = self.farewell.unwrap_or_else(Instant::now);
        while Instant::now() < end {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        // Kill also the processes that the launcher has started on this machine.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a thread that keeps the end of the launcher's error output. `None` if the thread cannot be started.
fn keep(mut stderr: ChildStderr, said: Arc<Mutex<Vec<u8>>>) -> Option<JoinHandle<()>> {
    // Without the thread, the output is only missing from messages.
    thread::Builder::new()
        .name("stderr".to_owned())
        .spawn(move || {
            let mut piece = [0; MAX_SAID];
            loop {
                let read = match stderr.read(&mut piece) {
                    Ok(0) => return,
                    Ok(read) => read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => return,
                };
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                said.extend_from_slice(&piece[..read]);
                let surplus = said.len().saturating_sub(MAX_SAID);
                said.drain(..surplus);
            }
        })
        .ok()
}

/// The interval at which a stop request is checked.
const TICK: Duration = Duration::from_millis(20);
/// The minimum throughput of a working pipe, in bytes per second.
const SLOWEST: u64 = 64 << 10;

/// The deadlines of a write.
#[derive(Clone, Copy)]
struct WriteDeadline {
    /// The maximum time without progress.
    pub(super) patience: Duration,
    /// The deadline of the whole write.
    pub(super) end: Instant,
}

impl WriteDeadline {
    /// The deadlines for a write of this many bytes, with `patience` as the maximum time without progress.
    pub(super) fn new(patience: Duration, bytes: usize) -> Self {
        let slowest = Duration::from_secs(bytes as u64 / SLOWEST);
        Self {
            patience,
            end: Instant::now() + patience + slowest,
        }
    }
}

/// The error message for an interrupted wait.
const INTERRUPTED: &str = "interrupted before it answered";

/// Waits until the pipe is ready for `what`, until `end`, or until `stop` is set.
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

/// The reading end of a pipe. Reads fail at `end` or when `stop` is set.
struct InterruptiblePipe<'a, R> {
    pub(super) pipe: R,
    pub(super) end: Instant,
    pub(super) stop: &'a AtomicBool,
}

impl<R: Read + AsFd> Read for InterruptiblePipe<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        wait(&self.pipe, PollFlags::IN, self.end, Some(self.stop))?;
        self.pipe.read(buffer)
    }
}

/// Makes the pipe non-blocking, so that a write to a full pipe returns.
fn never_block(pipe: &ChildStdin) -> io::Result<()> {
    let flags = fcntl_getfl(pipe)?;
    Ok(fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?)
}

/// Writes all bytes to a non-blocking pipe within the deadlines, or until `stop` is set.
fn write_all(
    mut pipe: &ChildStdin,
    mut bytes: &[u8],
    within: WriteDeadline,
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
