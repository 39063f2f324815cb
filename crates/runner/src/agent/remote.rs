//! The coordinator's side: an agent on another host.

use std::{
    io::{self, BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{
    deliver::{Parcel, SEND},
    frame::{self, FrameError, GREETING},
    launcher::{Binary, LOCAL, Launcher},
    message::{self, Answer, Host, Order, PROTOCOL},
    monotonic_ns,
    serve::PULSE,
};

/// How long an agent may take to its first answer, copying the program included.
const GREETING_PATIENCE: Duration = Duration::from_secs(60);
/// How long an agent may take to end by itself.
const FAREWELL: Duration = Duration::from_secs(2);
/// Between two looks at whether somebody stops the launch.
const TICK: Duration = Duration::from_millis(20);
/// How long what a launcher printed is waited for, once its output has ended.
const LAST_WORDS: Duration = Duration::from_millis(300);
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
    pub(super) answer: Result<Answer, FrameError>,
}

/// An agent on another host. Dropping it ends it, and everything that it started.
pub(super) struct Agent {
    /// As the user named it.
    pub(super) host: String,
    pub(super) seen: Host,
    child: Child,
    input: Arc<Mutex<Option<ChildStdin>>>,
    said: Arc<Mutex<Vec<u8>>>,
}

impl Agent {
    /// Starts agent number `index` on `host`. What it answers comes through `ears`.
    pub(super) fn launch(
        host: &str,
        index: usize,
        launcher: &Launcher,
        binary: &Binary,
        ears: Sender<Heard>,
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
                let own = Parcel::own()
                    .map_err(|error| fail(format!("reading this program's file: {error}")))?;
                let script = parcel.insert(own).script();
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
        if let Some(stderr) = child.stderr.take() {
            keep(stderr, Arc::clone(&said));
        }
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let mut agent = Self {
            host: host.to_owned(),
            seen: Host::default(),
            child,
            input: Arc::new(Mutex::new(input)),
            said,
        };
        let mut output = output
            .map(BufReader::new)
            .ok_or_else(|| fail("it has no output".to_owned()))?;
        agent.seen = agent.greet_in_time(&mut output, parcel, stop)?;
        if (agent.seen.protocol, agent.seen.version.as_str())
            != (PROTOCOL, env!("CARGO_PKG_VERSION"))
        {
            return Err(fail(format!(
                "deadheat {} (messages {}) runs there, and {} (messages {PROTOCOL}) here; leave --agent out, so that \
                 this program is copied",
                agent.seen.version,
                agent.seen.protocol,
                env!("CARGO_PKG_VERSION")
            )));
        }
        agent
            .listen(index, output, ears)
            .map_err(|error| fail(format!("starting a thread: {error}")))?;
        Ok(agent)
    }

    /// Greets, unless that takes too long or somebody stops it.
    fn greet_in_time(
        &mut self,
        output: &mut BufReader<ChildStdout>,
        parcel: Option<Parcel>,
        stop: &AtomicBool,
    ) -> Result<Host, AgentError> {
        let launcher = Pid::from_child(&self.child);
        let (tell, greeted) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let watch = scope.spawn(move || {
                let end = Instant::now() + GREETING_PATIENCE;
                let why = loop {
                    if greeted.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                        return None;
                    }
                    if stop.load(Ordering::SeqCst) {
                        break "interrupted before it answered".to_owned();
                    }
                    if Instant::now() > end {
                        break format!("it did not answer within {GREETING_PATIENCE:?}");
                    }
                };
                // Its pipes close with it.
                let _ = kill_process(launcher, Signal::KILL);
                Some(why)
            });
            let host = self.greet(output, parcel);
            drop(tell);
            match (host, watch.join().unwrap_or_default()) {
                (_, Some(why)) => Err(AgentError::new(&self.host, why)),
                (Ok(host), None) => Ok(host),
                (Err(error), None) => Err(self.lost(&error)),
            }
        })
    }

    /// Waits for the greeting, sends the program if it is asked for, and introduces itself.
    fn greet(
        &mut self,
        output: &mut BufReader<ChildStdout>,
        parcel: Option<Parcel>,
    ) -> Result<Host, FrameError> {
        if frame::line_of(output, &[GREETING, SEND])? == SEND {
            if let (Some(parcel), Some(input)) = (parcel, self.input().as_mut()) {
                parcel.send(input)?;
            }
            frame::line_of(output, &[GREETING])?;
        }
        self.say(&Order::Hello { protocol: PROTOCOL })?;
        loop {
            match message::receive(output)? {
                Answer::Hello(host) => return Ok(*host),
                Answer::Alive => {}
                _ => return Err(FrameError::Stranger("no hello".to_owned())),
            }
        }
    }

    /// Passes on what it answers, and tells it regularly that somebody listens.
    fn listen(
        &self,
        agent: usize,
        mut output: BufReader<ChildStdout>,
        ears: Sender<Heard>,
    ) -> io::Result<()> {
        let named = |what: &str| thread::Builder::new().name(format!("{what}-{agent}"));
        named("agent").spawn(move || {
            loop {
                let answer = message::receive(&mut output);
                let last = matches!(answer, Err(_) | Ok(Answer::Bye));
                let at = monotonic_ns();
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
                let Some(pipe) = input.as_mut() else { return };
                if message::send(pipe, &Order::Alive).is_err() {
                    return;
                }
            }
        })?;
        Ok(())
    }

    fn input(&self) -> std::sync::MutexGuard<'_, Option<ChildStdin>> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something to it.
    pub(super) fn say(&self, order: &Order) -> io::Result<()> {
        match self.input().as_mut() {
            Some(input) => message::send(input, order),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// It is lost, for a reason that its launcher may have told as well.
    pub(super) fn lost(&mut self, error: &dyn std::fmt::Display) -> AgentError {
        let end = Instant::now() + LAST_WORDS;
        let mut status = None;
        while status.is_none() && Instant::now() < end {
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
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Who is gone already needs no goodbye.
        let _ = self.say(&Order::Bye);
        *self.input() = None;
        let end = Instant::now() + FAREWELL;
        while Instant::now() < end {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps the end of what a launcher prints.
fn keep(stderr: ChildStderr, said: Arc<Mutex<Vec<u8>>>) {
    // Without the thread its words are missing from a message.
    let _ = thread::Builder::new()
        .name("stderr".to_owned())
        .spawn(move || {
            let mut stderr = BufReader::new(stderr);
            let mut line = Vec::new();
            while stderr
                .read_until(b'\n', &mut line)
                .is_ok_and(|read| read > 0)
            {
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                said.append(&mut line);
                let surplus = said.len().saturating_sub(MOST_SAID);
                said.drain(..surplus);
            }
        });
}

/// Answers of several agents, with a bound on waiting.
pub(super) fn next(heard: &Receiver<Heard>, wait: Duration) -> Option<Heard> {
    heard.recv_timeout(wait).ok()
}
