//! The slow upstream: an HTTP server that answers every GET with the same 20 bytes a fixed time after the request's
//! head has arrived, and counts what it was asked.
//!
//! It runs as a process of its own (the deadheat binary again, with a hidden command), so that neither the session
//! nor the load generator delays it.

mod server;

use std::{
    convert::Infallible,
    fs,
    io::{self, Read, Write},
    net::{AddrParseError, SocketAddr, TcpStream},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::ServiceError;
use crate::{
    files::{private_folder, write_whole},
    process::{Spawn, Supervised, Supervision},
    sampling::Tree,
};

pub use server::ANSWER;

/// The hidden command's name.
pub const COMMAND: &str = "__upstream";
/// From a request's head to its answer, unless told otherwise.
pub const DELAY: Duration = Duration::from_millis(500);

const ADDRESS_FILE: &str = "address";
const LOG_FILE: &str = "upstream.log";
const START_PATIENCE: Duration = Duration::from_secs(10);
const ASK_PATIENCE: Duration = Duration::from_secs(5);
const POLL_PAUSE: Duration = Duration::from_millis(5);
const REPORT: &str = "run the command again; if it stays so, report it with this message";

/// The slow upstream's process. Dropping it ends it.
#[derive(Debug)]
pub struct Upstream {
    process: Supervised,
    address: SocketAddr,
    log: PathBuf,
}

impl Upstream {
    /// Starts one that answers after [`DELAY`], pinned to `cpus` if there are any. Its log is in `log_dir`.
    ///
    /// # Errors
    /// When it cannot be started or does not say where it listens within 10 s.
    pub fn start(
        supervision: &Supervision,
        cpus: Option<Vec<usize>>,
        log_dir: &Path,
    ) -> Result<Self, ServiceError> {
        Self::start_with_delay(supervision, cpus, log_dir, DELAY)
    }

    /// The same with another delay.
    ///
    /// # Errors
    /// As [`Upstream::start`].
    pub fn start_with_delay(
        supervision: &Supervision,
        cpus: Option<Vec<usize>>,
        log_dir: &Path,
        delay: Duration,
    ) -> Result<Self, ServiceError> {
        let attempt = || {
            format!(
                "starting the slow upstream (`{} {COMMAND}`)",
                supervision.program.display()
            )
        };
        let folder = private_folder("deadheat-upstream-").map_err(|error| {
            let temp = std::env::temp_dir();
            let problem = format!("making a folder in {}: {error}", temp.display());
            ServiceError::new(attempt(), problem, "free space there, or set TMPDIR")
        })?;
        let log = log_dir.join(LOG_FILE);
        let address_file = folder.path().join(ADDRESS_FILE);
        let spec = Spawn {
            name: "the slow upstream".to_owned(),
            program: supervision.program.clone(),
            args: vec![
                COMMAND.to_owned(),
                "--address-file".to_owned(),
                address_file.display().to_string(),
                "--delay".to_owned(),
                humantime::format_duration(delay).to_string(),
            ],
            env: Vec::new(),
            cwd: folder.path().to_owned(),
            cpus,
            log: log.clone(),
            user: None,
            stop_signal: libc::SIGTERM,
            grace: Some(Duration::from_secs(2)),
            unhurried: false,
            remove_after: Some(folder.path().to_owned()),
        };
        let mut process = Supervised::spawn(supervision, &spec)
            .map_err(|error| ServiceError::new(attempt(), error, REPORT).with_log(&log))?;
        // From here on the supervisor deletes it.
        let _ = folder.keep();
        let address = wait_for_address(&mut process, &address_file)
            .map_err(|error| ServiceError::new(attempt(), error, REPORT).with_log(&log))?;
        Ok(Self {
            process,
            address,
            log,
        })
    }

    /// What stacks get as `UPSTREAM_URL`.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Its process tree.
    pub(crate) fn tree(&self) -> Tree {
        Tree::new(&self.process)
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// How it was lost; `None`: it runs.
    pub fn lost(&mut self) -> Option<String> {
        let exit = self.process.exit()?;
        Some(format!("the slow upstream {exit}"))
    }

    /// How many requests for the slow answer have arrived since its start.
    ///
    /// # Errors
    /// When it does not answer within 5 s.
    pub fn requests(&self) -> Result<u64, ServiceError> {
        ask_count(self.address).map_err(|error| {
            let attempt = format!("asking the slow upstream at {} for its count", self.address);
            ServiceError::new(attempt, error, REPORT).with_log(&self.log)
        })
    }

    /// Ends it.
    ///
    /// # Errors
    /// When its supervisor does not answer.
    pub fn stop(&mut self) -> Result<(), ServiceError> {
        self.process.stop().map(drop).map_err(|error| {
            let advice = "find it with `ps` and end it by hand";
            ServiceError::new("stopping the slow upstream", error, advice).with_log(&self.log)
        })
    }
}

/// Why the upstream has told no address.
#[derive(Debug, thiserror::Error)]
enum NoAddress {
    #[error("its address {0:?}: {1}")]
    Malformed(String, #[source] AddrParseError),
    #[error("reading its address: {0}")]
    Unreadable(#[from] io::Error),
    #[error("it {0} before it listened")]
    Ended(String),
    #[error("it did not listen within {} s", START_PATIENCE.as_secs())]
    Late,
}

fn wait_for_address(process: &mut Supervised, file: &Path) -> Result<SocketAddr, NoAddress> {
    let until = Instant::now() + START_PATIENCE;
    loop {
        match fs::read_to_string(file) {
            Ok(text) => {
                let address = text.parse::<SocketAddr>();
                return address.map_err(|error| NoAddress::Malformed(text, error));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(how) = process.wait_exit(POLL_PAUSE) {
            return Err(NoAddress::Ended(how));
        }
        if Instant::now() > until {
            return Err(NoAddress::Late);
        }
    }
}

fn ask_count(address: SocketAddr) -> io::Result<u64> {
    let mut stream = TcpStream::connect_timeout(&address, ASK_PATIENCE)?;
    stream.set_read_timeout(Some(ASK_PATIENCE))?;
    stream.set_write_timeout(Some(ASK_PATIENCE))?;
    let path = server::COUNT_PATH;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.trim());
    body.and_then(|body| body.parse().ok()).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("not a count: {answer:?}"),
        )
    })
}

/// The options of the server process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// The file that gets the address, whole or not at all.
    pub address_file: PathBuf,
    /// From a request's head to its answer.
    pub delay: Duration,
}

impl ServeOptions {
    /// From the hidden command's arguments: `--address-file FILE [--delay 500ms]`.
    ///
    /// # Errors
    /// When an argument is unknown, lacks its value or cannot be read.
    pub fn from_args(args: impl IntoIterator<Item = String>) -> Result<Self, ServiceError> {
        let wrong = |problem: String| {
            ServiceError::new(
                "reading the slow upstream's arguments",
                problem,
                "this command is for deadheat's own use; pass `--address-file FILE [--delay 500ms]`",
            )
        };
        let mut address_file = None;
        let mut delay = DELAY;
        let mut args = args.into_iter();
        while let Some(name) = args.next() {
            let mut value = || {
                args.next()
                    .ok_or_else(|| wrong(format!("{name} lacks its value")))
            };
            match name.as_str() {
                "--address-file" => address_file = Some(PathBuf::from(value()?)),
                "--delay" => {
                    let text = value()?;
                    delay = humantime::parse_duration(&text)
                        .map_err(|error| wrong(format!("--delay {text}: {error}")))?;
                }
                _ => return Err(wrong(format!("{name} is unknown"))),
            }
        }
        Ok(Self {
            address_file: address_file
                .ok_or_else(|| wrong("--address-file is missing".to_owned()))?,
            delay,
        })
    }
}

/// Serves until the process is ended; writes the address into the file first.
///
/// # Errors
/// When it cannot listen, cannot write the address, or the event loop breaks.
pub fn serve(options: &ServeOptions) -> Result<Infallible, ServiceError> {
    let file = &options.address_file;
    server::run(options.delay, |address| announce(file, address)).map_err(|error| {
        ServiceError::new(
            format!(
                "serving as the slow upstream on 127.0.0.1, with its address in {}",
                file.display()
            ),
            error,
            "check the limits of this machine (`ulimit -n`, a full disk)",
        )
    })
}

fn announce(file: &Path, address: SocketAddr) -> io::Result<()> {
    write_whole(file, address.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<ServeOptions, ServiceError> {
        ServeOptions::from_args(args.iter().map(|arg| (*arg).to_owned()))
    }

    #[test]
    fn arguments_are_read_and_wrong_ones_named() {
        let options = parse(&["--delay", "20ms", "--address-file", "/x"]).unwrap();
        assert_eq!(options.delay, Duration::from_millis(20));
        assert_eq!(options.address_file, Path::new("/x"));
        assert_eq!(parse(&["--address-file", "/x"]).unwrap().delay, DELAY);
        for (args, problem) in [
            (&["--port", "1"][..], "--port is unknown"),
            (&["--delay"], "--delay lacks its value"),
            (&["--delay", "soon"], "--delay soon: "),
            (&[], "--address-file is missing"),
        ] {
            let error = parse(args).unwrap_err();
            assert!(error.problem.starts_with(problem), "{error}");
        }
    }
}
