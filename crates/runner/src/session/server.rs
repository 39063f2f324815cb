//! A server: started on a free port, ready at its first correct answer, and stopped with all its processes.

use std::{
    fs,
    net::{IpAddr, TcpListener},
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use deadheat_model::{
    Protocols, StackProtocol,
    session::{Phase, StackFailure},
};

use super::readiness::{NotReady, belongs_to_tree};
use crate::{
    certificate::Certificate,
    files,
    process::{ProcessError, Spawn, Stopped, Supervised, Supervision, log_tail},
    secret,
    verify::Ports,
};

/// The interval between readiness checks is the time since the start divided by this number, so that the time to the
/// first answer is known to 2 %.
const POLL: u32 = 50;
/// The minimum and the maximum interval between readiness checks.
const POLLS: [Duration; 2] = [Duration::from_micros(200), Duration::from_millis(5)];
/// The time after which a refusal of TLS or of the protocol is final. Earlier refusals may mean that the server has not
/// loaded its certificate yet.
const REFUSAL: Duration = Duration::from_secs(1);
/// The maximum delay until the last output of a server is in its log, on a busy machine.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// The time that a server has to exit after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);
/// The number of log lines that a failure shows.
pub(crate) const TAIL_LINES: usize = 20;
/// The range of ports for servers.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// The number of attempts to start a server if another program binds its port first.
const PORT_ATTEMPTS: u32 = 3;

/// A server's program and the settings of its start.
pub struct Program<'a> {
    /// The server's name in messages.
    pub name: String,
    /// The command. `$HOST`, `$PORT` and `$CPUS` in its arguments are replaced.
    pub command: Vec<String>,
    /// The address of this machine that it listens on.
    pub host: IpAddr,
    /// The working folder.
    pub dir: PathBuf,
    /// The protocols that it must serve in addition to HTTP/1.1 without TLS.
    pub protocols: Protocols,
    /// The certificate for its TLS port; `None` without TLS.
    pub certificate: Option<Certificate>,
    /// Environment variables in addition to `HOST`, its ports and Deadheat's own.
    pub env: Vec<(String, String)>,
    /// How its supervisor is started.
    pub supervision: &'a Supervision,
    /// The CPUs that it is pinned to.
    pub pinned: Option<Vec<usize>>,
    /// The file for its output.
    pub log: PathBuf,
    /// The maximum time to its first correct answer.
    pub timeout: Duration,
}

/// Sends one request over a protocol to check whether the server is ready. The error describes the answer, or why there
/// was none.
pub type Probe<'p> = dyn FnMut(&Ports, StackProtocol) -> Result<(), NotReady> + 'p;

/// A server that has given a correct answer.
pub struct Server {
    child: Supervised,
    /// The addresses and ports that it listens on.
    pub ports: Ports,
    /// The time from the process's start to its first correct answer over HTTP/1.1 without TLS.
    pub ready: Duration,
    /// The command.
    pub command: Vec<String>,
    log: Log,
}

/// A server's log, and the passwords that must be removed from it.
#[derive(Clone)]
struct Log {
    path: PathBuf,
    secrets: Vec<String>,
}

impl Log {
    fn new(program: &Program<'_>) -> Self {
        Self {
            path: program.log.clone(),
            secrets: secret::passwords(&program.env),
        }
    }

    fn tail(&self) -> Vec<String> {
        let lines = log_tail(&self.path, TAIL_LINES).into_iter();
        lines
            .map(|line| secret::without_secrets(&line, &self.secrets))
            .collect()
    }

    /// Removes the passwords from the log of a server that has ended, and deletes the log if it is empty.
    fn tidy(&self) {
        let Ok(bytes) = files::read(&self.path, files::LONGEST_TEXT) else {
            return;
        };
        if bytes.is_empty() {
            let _ = fs::remove_file(&self.path);
            return;
        }
        let text = String::from_utf8_lossy(&bytes);
        if self.secrets.iter().any(|one| text.contains(one)) {
            let lines = secret::without_secrets(&text, &self.secrets);
            if let Err(error) = files::write_whole(&self.path, lines.as_bytes()) {
                tracing::warn!("taking a password out of {}: {error}", self.path.display());
            }
        }
    }
}

/// Why a server could not be started.
pub enum StartError {
    /// It did not become ready.
    Failed(StackFailure),
    /// The user asked to stop.
    Interrupted,
}

impl Server {
    /// Starts the server and repeats `probe` until it succeeds, over each protocol in turn.
    ///
    /// # Errors
    /// When the server cannot be started, exits, or does not give a correct answer in time.
    pub(crate) fn start_program(
        program: &Program<'_>,
        interrupt: &AtomicBool,
        probe: &mut Probe<'_>,
    ) -> Result<Self, StartError> {
        let mut attempt = 1;
        loop {
            let host = program.host;
            let ports = free_ports(host, program.protocols).map_err(|error| {
                failed(program, format!("finding a free port on {host}: {error}"))
            })?;
            match Self::start_on(ports, program, interrupt, probe) {
                // Another program took the port, which is not this stack's fault.
                Err(StartError::Failed(_)) if attempt < PORT_ATTEMPTS && is_taken(&ports) => {
                    attempt += 1
                }
                other => return other,
            }
        }
    }

    fn start_on(
        ports: Ports,
        program: &Program<'_>,
        interrupt: &AtomicBool,
        probe: &mut Probe<'_>,
    ) -> Result<Self, StartError> {
        let name = &program.name;
        let env = environment(program, &ports);
        let command = filled(&program.command, &env);
        let [file, args @ ..] = command.as_slice() else {
            return Err(failed(program, format!("{name} has an empty command")));
        };
        let spec = Spawn {
            name: name.clone(),
            program: file.into(),
            args: args.to_vec(),
            env,
            cwd: program.dir.clone(),
            cpus: program.pinned.clone(),
            log: program.log.clone(),
            user: None,
            stop_signal: libc::SIGTERM,
            grace: Some(GRACE),
            unhurried: false,
            remove_after: None,
        };
        let mut child = Supervised::spawn(program.supervision, &spec)
            .map_err(|error| failed(program, error.to_string()))?;
        // The time starts when the supervisor reports that the process runs, so that it excludes the supervisor's own
        // start.
        let started = Instant::now();
        let mut last = "nothing listened".to_owned();
        let mut is_answer = false;
        let mut ready = None;
        let mut refused = None;
        let mut protocols = program.protocols.iter();
        let mut asked = protocols.next();
        while let Some(protocol) = asked {
            if interrupt.load(Ordering::Relaxed) {
                if let Err(error) = child.stop_soon() {
                    tracing::warn!("{error}");
                }
                Log::new(program).tidy();
                return Err(StartError::Interrupted);
            }
            if let Some(exit) = child.exit() {
                // Its last output may not be in the log yet.
                let stopped = child.stop();
                let reason = format!("{name} {exit} before its first correct answer ({last})");
                return Err(failed(program, with_end(reason, stopped)));
            }
            match probe(&ports, protocol) {
                Ok(()) => {
                    ready = ready.or_else(|| Some(started.elapsed()));
                    refused = None;
                    is_answer = false;
                    asked = protocols.next();
                    continue;
                }
                Err(not_ready)
                    if not_ready.is_refusal
                        && refused.get_or_insert_with(Instant::now).elapsed() > REFUSAL =>
                {
                    let stopped = child.stop();
                    let reason = format!(
                        "{name} refuses {protocol} on {} ({}); {}",
                        ports.at(protocol),
                        not_ready.reason,
                        must_listen(protocol)
                    );
                    return Err(failed(program, with_end(reason, stopped)));
                }
                Err(not_ready) => {
                    if !not_ready.is_refusal {
                        refused = None;
                    }
                    // Keep a wrong answer, because it explains more than later attempts without an answer.
                    if not_ready.is_answer || !is_answer {
                        (last, is_answer) = (not_ready.reason, not_ready.is_answer);
                    }
                }
            }
            if started.elapsed() > program.timeout {
                let stopped = child.stop();
                let seconds = program.timeout.as_secs_f64();
                let address = ports.at(protocol);
                let reason = format!(
                    "{name} did not answer correctly on {address} within {seconds} s ({last}); {}",
                    must_listen(protocol)
                );
                return Err(failed(program, with_end(reason, stopped)));
            }
            let [least, most] = POLLS;
            std::thread::sleep((started.elapsed() / POLL).clamp(least, most));
        }
        let ready = ready.unwrap_or_default();
        let mut addresses = program.protocols.iter().map(|one| ports.at(one));
        let pid = child.supervisor_pid();
        if let Some(address) = addresses.find(|one| !belongs_to_tree(one.port(), pid)) {
            let stopped = child.stop();
            let reason = format!("{address} is answered by another process than {name}");
            return Err(failed(program, with_end(reason, stopped)));
        }
        Ok(Self {
            child,
            ports,
            ready,
            command,
            log: Log::new(program),
        })
    }

    /// The process.
    pub fn child(&mut self) -> &mut Supervised {
        &mut self.child
    }

    /// A failure of this server, with the end of its log.
    pub fn failure(&self, phase: Phase, reason: String) -> StackFailure {
        // The supervisor writes the log, and may not have written the last output yet.
        std::thread::sleep(LAST_WORDS);
        StackFailure {
            phase,
            reason,
            log_tail: self.log.tail(),
            load: None,
        }
    }

    /// Stops the server and everything that it started with a short grace period. The result is ignored.
    pub fn stop_soon(mut self) {
        if let Err(error) = self.child.stop_soon() {
            tracing::warn!("{error}");
        }
        self.log.tidy();
    }

    /// Stops the server and everything that it started. Deletes its log if it is empty.
    ///
    /// # Errors
    /// When it did not end as the contract requires: at SIGTERM, leaving nothing behind. The reason names processes
    /// that still run because they could not be killed.
    pub fn stop(mut self) -> Result<(), StackFailure> {
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
        self.log.tidy();
        failure.map_or(Ok(()), Err)
    }
}

/// Combines the reason why a server did not start with the errors of stopping it, because processes that still run must
/// be named.
fn with_end(reason: String, stopped: Result<Stopped, ProcessError>) -> String {
    match stopped {
        Ok(_) => reason,
        Err(error) => format!("{reason}; {error}"),
    }
}

fn failed(program: &Program<'_>, reason: String) -> StartError {
    let log = Log::new(program);
    log.tidy();
    StartError::Failed(StackFailure {
        phase: Phase::Start,
        reason,
        log_tail: log.tail(),
        load: None,
    })
}

/// The advice for a server that does not answer over `protocol`.
fn must_listen(protocol: StackProtocol) -> String {
    let port = protocol.port_variable();
    match protocol {
        StackProtocol::Http1 => format!("it must listen on $HOST:${port}"),
        _ => format!(
            "its manifest declares `{} = true` in [protocols], so it must speak {protocol} on $HOST:${port}",
            protocol.key()
        ),
    }
}

/// The environment variables of the server. A server for HTTP/1.1 alone gets no variables for other protocols.
fn environment(program: &Program<'_>, ports: &Ports) -> Vec<(String, String)> {
    let mut env = vec![("HOST".to_owned(), ports.host.to_string())];
    for protocol in program.protocols.iter() {
        let variable = protocol.port_variable().to_owned();
        let port = ports.at(protocol).port().to_string();
        // Two protocols share the TLS port.
        if !env.iter().any(|(name, _)| *name == variable) {
            env.push((variable, port));
        }
    }
    let certificate = program.certificate.as_ref();
    if let Some(certificate) = certificate.filter(|_| program.protocols.need_tls()) {
        let path = |path: PathBuf| path.display().to_string();
        env.push(("TLS_CERT".to_owned(), path(certificate.path())));
        env.push(("TLS_KEY".to_owned(), path(certificate.key_path())));
    }
    env.extend(program.env.iter().cloned());
    env
}

/// The variables that are replaced in arguments.
const ARGUMENTS: [&str; 3] = ["HOST", "PORT", "CPUS"];

/// Replaces `$HOST`, `$PORT` and `$CPUS` (or `${HOST}` and so on) in `command` by their values in `env`.
fn filled(command: &[String], env: &[(String, String)]) -> Vec<String> {
    let values = || {
        let known = env
            .iter()
            .filter(|(name, _)| ARGUMENTS.contains(&name.as_str()));
        known.map(|(name, value)| (name.as_str(), value.as_str()))
    };
    let fill = |word: &String| {
        let mut rest = word.as_str();
        let mut full = String::new();
        while let Some(at) = rest.find('$') {
            full += &rest[..at];
            rest = &rest[at..];
            let found =
                values().find_map(|(name, value)| Some((after_variable(rest, name)?, value)));
            match found {
                Some((after, value)) => {
                    full += value;
                    rest = after;
                }
                None => {
                    full.push('$');
                    rest = &rest[1..];
                }
            }
        }
        full + rest
    };
    command.iter().map(fill).collect()
}

/// The text after `$name` or `${name}` at the start of `text`; `None` if `text` begins otherwise or with a longer name.
fn after_variable<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let text = text.strip_prefix('$')?;
    if let Some(braced) = text.strip_prefix('{') {
        return braced.strip_prefix(name)?.strip_prefix('}');
    }
    let goes_on = |next: char| next.is_ascii_alphanumeric() || next == '_';
    text.strip_prefix(name)
        .filter(|after| !after.starts_with(goes_on))
}

/// Free ports for HTTP/1.1 without TLS and for `protocols`.
fn free_ports(host: IpAddr, protocols: Protocols) -> std::io::Result<Ports> {
    // All listeners are kept until the last port is found, so that the ports differ.
    let plain = listen(host)?;
    let tls = protocols.need_tls().then(|| listen(host)).transpose()?;
    let h2c = protocols.h2c.then(|| listen(host)).transpose()?;
    let port = |listener: Option<TcpListener>| {
        let address = listener.map(|listener| listener.local_addr()).transpose()?;
        std::io::Result::Ok(address.map_or(0, |address| address.port()))
    };
    let plain = plain.local_addr()?;
    Ok(Ports {
        tls: port(tls)?,
        h2c: port(h2c)?,
        ..Ports::plain(plain)
    })
}

/// Listens on a port below the ephemeral range of the system (Linux: 32768 and up), so that no client connection of the
/// load takes it before the server does.
fn listen(host: IpAddr) -> std::io::Result<TcpListener> {
    let mut last = std::io::ErrorKind::AddrInUse.into();
    for _ in 0..100 {
        let port = rand::random_range(PORTS);
        match TcpListener::bind((host, port)) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn is_taken(ports: &Ports) -> bool {
    let given = [ports.plain, ports.tls, ports.h2c].into_iter();
    let mut given = given.filter(|port| *port != 0);
    given.any(|port| TcpListener::bind((ports.host, port)).is_err())
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use super::*;

    /// The report of an end, sent by the test in place of a supervisor.
    const SURVIVED: &str = r#"{"event":"stopped","ignored_signal":true,"left_behind":0,"killed":0,"survivors":"4711 (stuck)"}"#;

    fn program<'a>(supervision: &'a Supervision, folder: &Path) -> Program<'a> {
        Program {
            host: std::net::Ipv4Addr::LOCALHOST.into(),
            name: "a server".to_owned(),
            command: vec!["true".to_owned()],
            dir: "/".into(),
            protocols: Protocols::default(),
            certificate: None,
            env: Vec::new(),
            supervision,
            pinned: None,
            log: folder.join("server.log"),
            timeout: Duration::ZERO,
        }
    }

    #[test]
    fn a_server_is_told_of_the_ports_that_it_is_asked_for_and_of_no_others() {
        use StackProtocol::{H2, H2c, Tls};
        let folder = tempfile::tempdir().unwrap();
        let supervision = Supervision::by("deadheat");
        let host = std::net::Ipv4Addr::LOCALHOST.into();
        let certificate = Certificate::make(host, folder.path()).unwrap();
        let tls = &["TLS_PORT", "TLS_CERT", "TLS_KEY"][..];
        let cases = [
            (&[][..], vec!["HOST", "PORT"]),
            (&[H2c], vec!["HOST", "PORT", "H2C_PORT"]),
            (&[H2], [&["HOST", "PORT"][..], tls].concat()),
            (&[Tls, H2], [&["HOST", "PORT"][..], tls].concat()),
        ];
        for (asked, expected) in cases {
            let program = Program {
                protocols: asked.iter().copied().collect(),
                certificate: Some(certificate.clone()),
                ..program(&supervision, folder.path())
            };
            let ports = free_ports(host, program.protocols).unwrap();
            let env = environment(&program, &ports);
            let names: Vec<&str> = env.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, expected, "{asked:?}");
            assert!(env.iter().all(|(_, value)| value != "0"), "{env:?}");
            let given = [ports.plain, ports.tls, ports.h2c];
            let given: BTreeSet<u16> = given.into_iter().filter(|port| *port != 0).collect();
            let told = env.iter().filter(|(name, _)| name.ends_with("PORT"));
            assert_eq!(given.len(), told.count(), "ports differ: {ports:?}");
        }
    }

    #[test]
    fn a_server_that_did_not_start_and_cannot_be_killed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let started = r#"{"event":"started","pid":1}"#;
        // It tells of a start, and when it is asked to stop, of an end that left somebody.
        let supervisor = format!("read spawn; echo '{started}'; read word; echo '{SURVIVED}'");
        let supervision = Supervision {
            program: "sh".into(),
            args: vec!["-c".to_owned(), supervisor],
        };
        let program = program(&supervision, folder.path());
        let mut never = |_: &Ports, _| {
            Err(NotReady {
                reason: "nothing listened".to_owned(),
                is_refusal: false,
                is_answer: false,
            })
        };
        let stop = AtomicBool::new(false);
        let Err(StartError::Failed(failure)) = Server::start_program(&program, &stop, &mut never)
        else {
            panic!("it did not start");
        };
        let reason = failure.reason;
        assert!(reason.contains("did not answer correctly"), "{reason}");
        assert!(
            reason.ends_with("these processes still run and cannot be killed: 4711 (stuck)"),
            "{reason}"
        );
    }

    #[test]
    fn host_and_port_are_filled_in_and_nothing_else_is() {
        let env = [
            ("HOST", "127.0.0.1"),
            ("PORT", "2345"),
            ("CPUS", "2"),
            ("HOME", "/root"),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let cases = [
            ("${CPUS}", "2"),
            ("$HOME", "$HOME"),
            ("$PORT", "2345"),
            ("--listen=$HOST:$PORT", "--listen=127.0.0.1:2345"),
            ("${HOST}:${PORT}0", "127.0.0.1:23450"),
            ("$PORTAL", "$PORTAL"),
            ("$PORT_A ${PORT", "$PORT_A ${PORT"),
            ("a$b$$PORT$", "a$b$2345$"),
        ];
        for (word, expected) in cases {
            assert_eq!(filled(&[word.to_owned()], &env), [expected], "{word}");
        }
    }

    #[test]
    fn the_log_of_a_server_that_has_ended_has_no_password() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log {
            path: folder.path().join("server.log"),
            secrets: vec!["hunter2".to_owned()],
        };
        let text = "DATABASE_URL=postgresql://app:hunter2@127.0.0.1/db\npassword: 'hunter2'\n";
        fs::write(&log.path, text).unwrap();
        let expected = "DATABASE_URL=postgresql://…@127.0.0.1/db\npassword: '…'\n";
        assert_eq!(log.tail(), expected.lines().collect::<Vec<_>>());
        log.tidy();
        assert_eq!(fs::read_to_string(&log.path).unwrap(), expected);
        fs::write(&log.path, "").unwrap();
        log.tidy();
        assert!(!log.path.exists());
    }
}
