//! A stack's server: started on a free port, ready with its first correct answer, stopped whole.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use deadheat_model::{
    stack::Pool,
    trial::{Phase, TrialFailure},
};

use super::{SelectedTarget, listener::belongs_to_tree};
use crate::{
    prepare::search_path,
    process::{Spawn, Supervised, Supervision, log_tail},
    verify::Fixtures,
};

/// How often it is asked until it answers.
const POLL: Duration = Duration::from_millis(5);
/// How long a stack may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);
/// Lines of a log that a failure shows.
pub const TAIL_LINES: usize = 20;
/// Ports for servers.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// Attempts to find a port that nobody takes between choosing it and the server's own bind.
const PORT_ATTEMPTS: u32 = 3;

/// What a server is started with.
pub struct Launch<'a> {
    /// The stack and its variant.
    pub target: &'a SelectedTarget,
    /// How it is supervised.
    pub supervision: &'a Supervision,
    /// The CPUs that it is pinned to.
    pub pinned: Option<Vec<usize>>,
    /// How many CPUs it may use.
    pub cpus: usize,
    /// The file for its output.
    pub log: PathBuf,
    /// How long it may take to its first correct answer.
    pub timeout: Duration,
}

/// A server that has answered rightly.
pub struct Server {
    child: Supervised,
    /// Where it listens.
    pub address: SocketAddr,
    /// From the process's start to its first correct answer.
    pub ready: Duration,
    /// The command.
    pub command: Vec<String>,
    log: PathBuf,
}

/// Why there is no server.
pub enum StartError {
    /// It did not come up.
    Failed(TrialFailure),
    /// The user asked to stop.
    Interrupted,
}

impl Server {
    /// Starts the server and asks until `probe` is satisfied with its answer.
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not answer rightly in time.
    pub fn start(
        launch: &Launch<'_>,
        fixtures: &Fixtures,
        interrupt: &AtomicBool,
        probe: &mut dyn FnMut(SocketAddr) -> Result<(), String>,
    ) -> Result<Self, StartError> {
        let mut attempt = 1;
        loop {
            let port = free_port().map_err(|error| {
                failed(
                    launch,
                    format!("finding a free port on {}: {error}", Ipv4Addr::LOCALHOST),
                )
            })?;
            match Self::start_on(port, launch, fixtures, interrupt, probe) {
                // Somebody else took the port in between: not this stack's fault.
                Err(StartError::Failed(_)) if attempt < PORT_ATTEMPTS && is_taken(port) => {
                    attempt += 1
                }
                other => return other,
            }
        }
    }

    fn start_on(
        port: u16,
        launch: &Launch<'_>,
        fixtures: &Fixtures,
        interrupt: &AtomicBool,
        probe: &mut dyn FnMut(SocketAddr) -> Result<(), String>,
    ) -> Result<Self, StartError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let manifest = &launch.target.stack.manifest;
        let name = launch.target.target.to_string();
        let command = manifest.command(&launch.target.target).to_vec();
        let [program, args @ ..] = command.as_slice() else {
            return Err(failed(launch, format!("{name} has an empty command")));
        };
        let spec = Spawn {
            name: name.clone(),
            program: program.into(),
            args: args.to_vec(),
            env: environment(launch, address, fixtures),
            cwd: launch.target.stack.dir.clone(),
            cpus: launch.pinned.clone(),
            log: launch.log.clone(),
            user: None,
            stop_signal: libc::SIGTERM,
            grace: GRACE,
            remove_after: None,
        };
        let mut child = Supervised::spawn(launch.supervision, &spec)
            .map_err(|error| failed(launch, error.to_string()))?;
        // Now, when the supervisor says that the process runs: its own start is no part of the server's.
        let started = Instant::now();
        let mut last = "nothing listened".to_owned();
        loop {
            if interrupt.load(Ordering::Relaxed) {
                return Err(StartError::Interrupted);
            }
            if let Some(exit) = child.exit() {
                // Its last words may still be on the way to the log.
                let _ = child.stop();
                let reason = format!("{name} {exit} before its first correct answer ({last})");
                return Err(failed(launch, reason));
            }
            match probe(address) {
                Ok(()) => break,
                Err(reason) => last = reason,
            }
            if started.elapsed() > launch.timeout {
                let _ = child.stop();
                let seconds = launch.timeout.as_secs_f64();
                let reason = format!(
                    "{name} gave no correct answer on {address} within {seconds} s ({last}); \
                     it must listen on $HOST:$PORT"
                );
                return Err(failed(launch, reason));
            }
            std::thread::sleep(POLL);
        }
        let ready = started.elapsed();
        if !belongs_to_tree(port, child.supervisor_pid()) {
            let reason = format!("{address} is answered by another process than {name}");
            return Err(failed(launch, reason));
        }
        Ok(Self {
            child,
            address,
            ready,
            command,
            log: launch.log.clone(),
        })
    }

    /// The process.
    pub fn child(&mut self) -> &mut Supervised {
        &mut self.child
    }

    /// A failure of this server, with the end of its log.
    pub fn failure(&self, phase: Phase, reason: String) -> TrialFailure {
        TrialFailure {
            phase,
            reason,
            log_tail: log_tail(&self.log, TAIL_LINES),
            load: None,
        }
    }

    /// Ends it with everything that it started; its log goes too when there is nothing in it.
    ///
    /// # Errors
    /// When it did not end as the contract asks: at SIGTERM, leaving nothing behind. It is gone all the same.
    pub fn stop(mut self) -> Result<(), TrialFailure> {
        let name = self.command.join(" ");
        let problem = match self.child.stop() {
            Err(error) => Some(error.to_string()),
            Ok(stopped) if stopped.ignored_signal => {
                let seconds = GRACE.as_secs();
                Some(format!(
                    "`{name}` did not end within {seconds} s of SIGTERM and was killed"
                ))
            }
            Ok(stopped) if stopped.killed > 0 => Some(format!(
                "`{name}` ended at SIGTERM but left {} of its processes behind, which were killed",
                stopped.killed
            )),
            Ok(_) => None,
        };
        let failure = problem.map(|reason| self.failure(Phase::Stop, reason));
        if fs::metadata(&self.log).is_ok_and(|metadata| metadata.len() == 0) {
            let _ = fs::remove_file(&self.log);
        }
        failure.map_or(Ok(()), Err)
    }
}

fn failed(launch: &Launch<'_>, reason: String) -> StartError {
    StartError::Failed(TrialFailure {
        phase: Phase::Start,
        reason,
        log_tail: log_tail(&launch.log, TAIL_LINES),
        load: None,
    })
}

/// The environment of the contract (docs/adding-a-stack.md), then the stack's own.
fn environment(
    launch: &Launch<'_>,
    address: SocketAddr,
    fixtures: &Fixtures,
) -> Vec<(String, String)> {
    let manifest = &launch.target.stack.manifest;
    let path = |path: &Path| path.display().to_string();
    let mut env = vec![
        ("PATH".to_owned(), search_path()),
        ("HOST".to_owned(), address.ip().to_string()),
        ("PORT".to_owned(), address.port().to_string()),
        ("CPUS".to_owned(), launch.cpus.to_string()),
        ("BLOB_PATH".to_owned(), path(fixtures.blob.path())),
    ];
    if let Some(database) = manifest.database(&launch.target.target) {
        let size = match database.pool {
            Pool::Size(size) => size,
            Pool::None => 0,
        };
        env.push(("POOL_SIZE".to_owned(), size.to_string()));
    }
    if let Some(postgres) = &fixtures.postgres {
        env.push(("DATABASE_URL".to_owned(), postgres.url().to_owned()));
    }
    if let Some(upstream) = &fixtures.upstream {
        env.push(("UPSTREAM_URL".to_owned(), upstream.url()));
    }
    env.extend(manifest.env(&launch.target.target));
    env
}

/// A port that nobody has now, below the ranges from which systems give clients theirs (Linux: 32768 and up), so that
/// no connection of the load takes it before the server does.
fn free_port() -> std::io::Result<u16> {
    let mut last = std::io::ErrorKind::AddrInUse.into();
    for _ in 0..100 {
        let port = rand::random_range(PORTS);
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => return Ok(port),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn is_taken(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err()
}
