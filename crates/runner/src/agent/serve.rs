//! The agent's side: what `deadheat agent` does on a host, also for a database there.

use std::{
    collections::BTreeMap,
    env,
    io::{self, BufReader, Write as _},
    net::IpAddr,
    process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    },
    thread,
    time::Duration,
};

use deadheat_load::{LoadError, LoadEvent, Session, Slice};
use deadheat_model::{LoadSpec, SliceEvent, SliceResult};

use super::{
    agents::{Agents, Pending},
    frame::{FrameError, GREETING},
    message::{self, AgentMessage, Host, Order, PROTOCOL},
    monotonic_ns,
    patience::{PULSE, SILENCE},
    remote::AgentError,
};
use crate::{
    doctor::{Examination, of_several},
    process::{Supervision, TempFolder},
    services::{Access, PostgresOptions, Served, ServiceError},
    session::describe_machine,
};

/// How long a load may take to end when the coordinator is lost.
const LAST_WAIT: Duration = Duration::from_secs(2);
/// The longest that other programs are watched.
const LONGEST_WATCH: Duration = Duration::from_secs(3_600);
/// Orders that wait for the one before. The coordinator waits for most answers.
const MAX_ORDERS: usize = 1_024;
/// The agent wakes so long before a load begins, and waits awake for the rest.
const AWAKE: Duration = Duration::from_micros(300);

/// What all threads of the agent share.
struct Shared {
    /// Ends the load or slice that runs.
    stop: Arc<AtomicBool>,
    /// When the coordinator was heard last.
    heard: AtomicU64,
    /// Whether the coordinator is gone, or has said goodbye.
    over: AtomicBool,
    out: Mutex<io::Stdout>,
}

impl Shared {
    /// Sends a message. The reader notices if the coordinator cannot be reached any more.
    fn say(&self, answer: &AgentMessage) {
        let frame = message::framed(answer).or_else(|error| {
            let why = format!("its observation cannot be sent: {error}");
            message::framed(&AgentMessage::refused(why))
        });
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let said = frame.and_then(|frame| out.write_all(&frame).and_then(|()| out.flush()));
        if said.is_err() {
            self.end();
        }
    }

    fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        self.stop.store(true, Ordering::SeqCst);
    }
}

/// Why an agent ends before its coordinator says so.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Standard output takes nothing.
    #[error("greeting: {0}")]
    Greeting(io::Error),
    /// The system starts no thread.
    #[error("starting a thread: {0}")]
    Thread(io::Error),
    /// The connection ended, or a message could not be read.
    #[error("the coordinator is lost: {0}")]
    Lost(#[from] FrameError),
}

/// Runs an agent on standard input and output until the coordinator says goodbye or is lost. What it starts is supervised
/// like this.
///
/// # Errors
/// When the coordinator is lost, or the other side is not a coordinator.
pub fn serve(supervision: &Supervision) -> Result<(), ServeError> {
    let shared = Shared {
        stop: Arc::default(),
        heard: AtomicU64::new(monotonic_ns()),
        over: AtomicBool::new(false),
        out: Mutex::new(io::stdout()),
    };
    {
        let mut out = shared.out.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(out, "{GREETING}").map_err(ServeError::Greeting)?;
        out.flush().map_err(ServeError::Greeting)?;
    }
    let shared: &'static Shared = Box::leak(Box::new(shared));
    let (pass_on, orders) = mpsc::sync_channel(MAX_ORDERS);
    let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
        let named = thread::Builder::new().name(name.to_owned());
        named.spawn(work).map(drop).map_err(ServeError::Thread)
    };
    let (tell, end) = mpsc::channel();
    spawn(
        "orders",
        Box::new(move || {
            // Nobody listens when the agent has ended before.
            let _ = tell.send(listen(shared, &pass_on));
        }),
    )?;
    spawn("pulse", Box::new(move || pulse(shared)))?;
    spawn("watch", Box::new(move || watch(shared)))?;
    obey(shared, supervision, &orders);
    end.recv_timeout(LAST_WAIT)
        .unwrap_or(Err(FrameError::Closed))?;
    shared.say(&AgentMessage::Bye);
    Ok(())
}

/// Reads orders until the last one. What must not wait is done at once; the others are passed on.
fn listen(shared: &Shared, pass_on: &SyncSender<Order>) -> Result<(), FrameError> {
    let mut input = BufReader::new(io::stdin());
    let end = loop {
        let order = match message::receive(&mut input) {
            Ok(order) => order,
            Err(error) => break Err(error),
        };
        shared.heard.store(monotonic_ns(), Ordering::Relaxed);
        match order {
            Order::Clock { nth } => shared.say(&AgentMessage::Clock {
                nth,
                at: monotonic_ns(),
            }),
            Order::Stop => shared.stop.store(true, Ordering::SeqCst),
            Order::Alive => {}
            Order::Bye => break Ok(()),
            order => {
                if matches!(order, Order::Load { .. } | Order::Slice { .. }) {
                    // In the order of what was said: a stop may follow at once.
                    shared.stop.store(false, Ordering::SeqCst);
                }
                if pass_on.send(order).is_err() {
                    break Err(FrameError::Closed);
                }
            }
        }
    };
    shared.end();
    end
}

/// Says that the agent is there.
fn pulse(shared: &Shared) {
    while !shared.over.load(Ordering::SeqCst) {
        thread::sleep(PULSE);
        shared.say(&AgentMessage::Alive);
    }
}

/// Ends the agent when the coordinator is not there any more, also when that takes nothing that is said.
fn watch(shared: &Shared) {
    loop {
        thread::sleep(PULSE);
        let silent = monotonic_ns().saturating_sub(shared.heard.load(Ordering::Relaxed));
        if Duration::from_nanos(silent) > SILENCE {
            shared.end();
        }
        if shared.over.load(Ordering::SeqCst) {
            // The load gets a moment; what does not end by itself ends with the process.
            thread::sleep(LAST_WAIT);
            process::exit(1);
        }
    }
}

/// Does what is asked for, one thing after the other.
fn obey(shared: &Shared, supervision: &Supervision, orders: &Receiver<Order>) {
    let mut loads = SlicedLoads::default();
    let mut database = None;
    while let Ok(order) = orders.recv() {
        if shared.over.load(Ordering::SeqCst) {
            return;
        }
        match order {
            Order::Hello { .. } => shared.say(&AgentMessage::Hello(Box::new(Host {
                protocol: PROTOCOL,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                name: host_name(),
                machine: describe_machine(),
            }))),
            Order::Load { spec } => load(shared, &spec, orders),
            Order::Open { load, spec } => {
                shared.say(&loads.open(load, *spec, Arc::clone(&shared.stop)));
            }
            Order::Slice {
                load,
                at,
                guard,
                length,
            } => {
                wait_until(shared, at);
                shared.say(&loads.slice(load, at, Slice { guard, length }));
            }
            Order::Close { load } => loads.close(load),
            Order::Database { .. } if database.is_some() => {
                shared.say(&AgentMessage::refused("it runs a database already"));
            }
            Order::Database { listen, client } => {
                match HostedDatabase::start(Access { listen, client }, supervision) {
                    Ok(started) => {
                        shared.say(&started.answer());
                        database = Some(started);
                    }
                    Err(error) => shared.say(&AgentMessage::refused(error.to_string())),
                }
            }
            Order::Examine { watch, .. } if watch > LONGEST_WATCH => {
                let why = format!("other programs are watched for {LONGEST_WATCH:?} at most");
                shared.say(&AgentMessage::refused(why));
            }
            Order::Examine { watch, connections } => {
                // Nothing but temporary files is written here.
                let mut found = Examination::here(watch, &env::temp_dir(), connections);
                found.facts = of_several(found.facts);
                shared.say(&AgentMessage::Examined(Box::new(found)));
            }
            // A start that came too late for a load that was refused.
            _ => {}
        }
    }
}

fn load(shared: &Shared, spec: &LoadSpec, orders: &Receiver<Order>) {
    let mut on_event = |event| match event {
        LoadEvent::Started => {
            shared.say(&AgentMessage::Ready);
            wait_for_start(shared, orders);
        }
        // What it observed says that it is over.
        LoadEvent::Slice(SliceEvent::Drained) => {}
        LoadEvent::Slice(instant) => shared.say(&AgentMessage::Reached(instant)),
        LoadEvent::Interval(interval) => shared.say(&AgentMessage::Interval { interval }),
    };
    let found = deadheat_load::run(spec, &mut on_event, &shared.stop);
    shared.say(&match found {
        Ok(observation) => AgentMessage::Observed {
            observation: Box::new(observation),
        },
        Err(error) => AgentMessage::refused(error.to_string()),
    });
}

/// Waits until the load is to begin. A load that is stopped before begins at once, and ends as one that was stopped.
fn wait_for_start(shared: &Shared, orders: &Receiver<Order>) {
    let at = loop {
        match orders.recv_timeout(Duration::from_millis(10)) {
            Ok(Order::Start { at }) => break at,
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if shared.stop.load(Ordering::SeqCst) {
            return;
        }
    };
    wait_until(shared, at);
}

/// Waits until the monotonic clock says so, unless the load is stopped. No start is further ahead than an agent may be
/// silent: one that seems to be comes from clocks that are not what they were taken for.
fn wait_until(shared: &Shared, at: u64) {
    let at = at.min(monotonic_ns() + SILENCE.as_nanos() as u64);
    let left = Duration::from_nanos(at.saturating_sub(monotonic_ns()));
    thread::sleep(left.saturating_sub(AWAKE));
    while monotonic_ns() < at && !shared.stop.load(Ordering::SeqCst) {
        std::hint::spin_loop();
    }
}

/// The host's own name, as a label.
fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// The most loads that are open at once.
const MAX_OPEN: usize = 1_000;

/// Loads by their numbers.
#[derive(Default)]
struct SlicedLoads(BTreeMap<u32, Session>);

impl SlicedLoads {
    /// Sets a load up; setting `stop` ends its slices.
    fn open(&mut self, load: u32, spec: LoadSpec, stop: Arc<AtomicBool>) -> AgentMessage {
        if self.0.len() >= MAX_OPEN {
            return AgentMessage::refused(format!("{MAX_OPEN} loads are open already"));
        }
        match Session::open(spec, stop) {
            Ok(session) => {
                self.0.insert(load, session);
                AgentMessage::Opened { load }
            }
            Err(error) => refused(&error),
        }
    }

    /// Loads for a slice that was to begin `at`.
    fn slice(&mut self, load: u32, at: u64, slice: Slice) -> AgentMessage {
        let Some(session) = self.0.get_mut(&load) else {
            return AgentMessage::refused(format!("load {load} was not opened"));
        };
        let late = Duration::from_nanos(monotonic_ns().saturating_sub(at));
        match session.slice(slice, &mut |_| ()) {
            Ok(result) => AgentMessage::Sliced {
                load,
                result: Box::new(SliceResult { late, ..result }),
            },
            Err(error) => refused(&error),
        }
    }

    fn close(&mut self, load: u32) {
        self.0.remove(&load);
    }
}

fn refused(error: &LoadError) -> AgentMessage {
    AgentMessage::refused(error.to_string())
}

/// A database that an agent has started. Dropping it ends it.
pub(super) struct HostedDatabase {
    // The order matters: the server ends before its logs go.
    served: Served,
    _logs: TempFolder,
}

impl HostedDatabase {
    /// Starts it.
    pub(super) fn start(access: Access, supervision: &Supervision) -> Result<Self, ServiceError> {
        let logs = TempFolder::create("deadheat-logs-", supervision).map_err(|error| {
            let advice = "free space in the folder for temporary files, or set TMPDIR";
            ServiceError::new("making a folder for the database's logs", error, advice)
        })?;
        let options = PostgresOptions {
            access,
            ..PostgresOptions::new(supervision.clone(), logs.path())
        };
        Ok(Self {
            served: Served::start(&options)?,
            _logs: logs,
        })
    }

    /// The answer to the coordinator.
    pub(super) fn answer(&self) -> AgentMessage {
        AgentMessage::Serving {
            url: self.served.url.clone(),
            description: self.served.description.clone(),
        }
    }
}

/// Where a database is that another host serves.
pub struct Serving {
    /// With the password of its superuser.
    pub url: String,
    /// "PostgreSQL 15.18 from /usr/lib/postgresql/15/bin".
    pub description: String,
}

impl Agents {
    /// Has the one host start PostgreSQL on its address `listen`, for `client` and itself. It ends with the agent.
    ///
    /// # Errors
    /// When the host is lost, or has no PostgreSQL.
    pub(crate) fn database(
        &mut self,
        listen: IpAddr,
        client: IpAddr,
        stop: &AtomicBool,
    ) -> Result<Serving, AgentError> {
        self.say(0, &Order::Database { listen, client })?;
        let mut pending = Pending::all(self, Some(self.patience.database), stop);
        loop {
            match self.next(&mut pending)? {
                Some((_, _, AgentMessage::Serving { url, description })) => {
                    return Ok(Serving { url, description });
                }
                Some((index, _, other)) => return Err(self.agents[index].unexpected(&other)),
                None => {}
            }
        }
    }

    /// Whether all hosts are there, by what was heard of them until now.
    ///
    /// # Errors
    /// The first one that was lost.
    pub(crate) fn check(&mut self) -> Result<(), AgentError> {
        match self.next_within(Duration::ZERO)? {
            Some((index, _, other)) => Err(self.agents[index].unexpected(&other)),
            None => self.check_pulse(0..self.agents.len()),
        }
    }
}
