//! Deadheat's own connection to the server.

use std::{
    error::Error as _,
    fmt::Write as _,
    io::{self, Read, Write as _},
    net::{TcpStream, ToSocketAddrs},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use postgres::{Client, Config};

use super::encryption::Encryption;
use crate::services::ServiceError;

/// A server on loopback answers much sooner.
const PATIENCE: Duration = Duration::from_secs(5);
/// What one of Deadheat's own statements may take.
const STATEMENT_TIMEOUT: &str = "set statement_timeout = '20s'";
/// "Do you speak TLS?" (PostgreSQL's frontend/backend protocol, SSLRequest). Answered with one letter, S for yes.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// A connection that is made again when it breaks, usable from any thread.
pub(super) struct Admin {
    config: Config,
    /// "PostgreSQL at 127.0.0.1:40123".
    server: String,
    client: Mutex<Option<Client>>,
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Admin({})", self.server)
    }
}

impl Admin {
    /// Connects to `host`:`port` as `config` says.
    pub(super) fn connect(config: Config, host: &str, port: u16) -> Result<Self, String> {
        let client = connect(&config, host, port)?;
        Ok(Self {
            config,
            server: format!("PostgreSQL at {host}:{port}"),
            client: Mutex::new(Some(client)),
        })
    }

    /// Does something with the connection; again with a new one if the first had been lost meanwhile.
    pub(super) fn run<T>(
        &self,
        attempt: &str,
        work: impl Fn(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, ServiceError> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = None;
        for _ in 0..2 {
            let result = match client.take() {
                Some(open) if !open.is_closed() => Ok(open),
                _ => open(&self.config),
            }
            .and_then(|mut open| {
                let result = work(&mut open);
                *client = Some(open);
                result
            });
            match result {
                Ok(value) => return Ok(value),
                Err(error) => last = Some(error),
            }
            // An answer that is an error would be one again.
            if client.as_ref().is_some_and(|open| !open.is_closed()) {
                break;
            }
        }
        let problem = last.map(|error| explain(&error)).unwrap_or_default();
        let advice = "check that the server still runs, and read its log";
        Err(ServiceError::new(
            format!("{attempt} ({})", self.server),
            problem,
            advice,
        ))
    }

    /// Ends the connection.
    pub(super) fn close(&self) {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        drop(client.take());
    }
}

/// Connects, after asking whether there is a PostgreSQL at all: the library waits without end for the answer of
/// something that accepts and says nothing.
pub(super) fn connect(config: &Config, host: &str, port: u16) -> Result<Client, String> {
    greet(host, port).map_err(|error| error.to_string())?;
    open(config).map_err(|error| explain(&error))
}

fn open(config: &Config) -> Result<Client, postgres::Error> {
    let mut config = config.clone();
    config
        .application_name("deadheat")
        .connect_timeout(PATIENCE);
    let mut client = config.connect(Encryption::new())?;
    client.batch_execute(STATEMENT_TIMEOUT)?;
    Ok(client)
}

/// Asks whether there is a PostgreSQL; whether it speaks TLS.
pub(super) fn greet(host: &str, port: u16) -> io::Result<bool> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return ask_for_tls(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn ask_for_tls(mut stream: TcpStream) -> io::Result<bool> {
    let silent = |error: io::Error| {
        let problem =
            format!("it takes connections but does not answer as PostgreSQL does: {error}");
        io::Error::new(error.kind(), problem)
    };
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&SSL_REQUEST)?;
    let mut answer = [0];
    stream.read_exact(&mut answer).map_err(silent)?;
    match answer {
        [b'S'] => Ok(true),
        [b'N'] => Ok(false),
        // 'E' comes while the server is starting or ending.
        _ => Err(silent(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("it says {:?}", char::from(answer[0])),
        ))),
    }
}

/// An identifier in double quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What the server said, or the whole chain of causes.
pub(super) fn explain(error: &postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        let mut text = format!("{} ({})", said.message(), said.code().code());
        for more in [said.detail(), said.hint()].into_iter().flatten() {
            let _ = write!(text, "; {more}");
        }
        return text;
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}
