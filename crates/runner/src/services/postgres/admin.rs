//! Deadheat's own connection to the server, and how it is encrypted.

use std::{
    error::Error as _,
    fmt::Write as _,
    io::{self, Read, Write as _},
    net::{TcpStream, ToSocketAddrs},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use postgres::{
    Client, Config,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::{
    TlsConnector, client,
    rustls::{
        ClientConfig,
        crypto::ring,
        pki_types::{InvalidDnsNameError, ServerName},
    },
};

use crate::services::ServiceError;

/// A server on loopback answers much sooner.
const PATIENCE: Duration = Duration::from_secs(5);
/// What one of Deadheat's own statements may take.
const STATEMENT_TIMEOUT: &str = "set statement_timeout = '20s'";
/// "Do you speak TLS?" (PostgreSQL's frontend/backend protocol, SSLRequest). Answered with one letter, S for yes.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Why there is no connection to a server, or none that stacks can use.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error(transparent)]
    Unreachable(#[from] io::Error),
    #[error("{}", explain(.0))]
    Refused(#[from] postgres::Error),
    #[error("it may not read the table users")]
    NotReadable,
    #[error("it {0}")]
    Ended(String),
    #[error("no answer within {} s ({})", .0.as_secs_f64(), .1)]
    Late(Duration, #[source] Box<Self>),
}

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
    pub(super) fn connect(config: Config, host: &str, port: u16) -> Result<Self, ConnectError> {
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
pub(super) fn connect(config: &Config, host: &str, port: u16) -> Result<Client, ConnectError> {
    greet(host, port)?;
    Ok(open(config)?)
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

/// Without a role of their own, Deadheat's connection is the one that asks.
const HELD: &str = "select count(*) from pg_stat_activity \
    where usename::text = any($1) and datname = current_database() and pid <> pg_backend_pid()";
/// The column was added in PostgreSQL 14, whose collector may lose reports (over UDP) when many sessions end at once.
/// From version 15 on, the figures are in shared memory.
const COUNTS_SESSIONS: &str = "select current_setting('server_version_num')::integer >= 150000";
const SESSIONS: &str = "select sessions from pg_stat_database where datname = current_database()";
/// Queries the maximum and the free number of connections, without the reserved ones, which stacks cannot use.
/// (`reserved_connections` came with PostgreSQL 16.)
const FREE_CONNECTIONS: &str = "select current_setting('max_connections')::integer, \
    current_setting('max_connections')::integer \
    - current_setting('superuser_reserved_connections')::integer \
    - coalesce(current_setting('reserved_connections', true), '0')::integer \
    - (select coalesce(sum(numbackends), 0) from pg_stat_database)::integer";

/// The connections that a server accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionCapacity {
    /// The maximum number in total (`max_connections`).
    pub most: u32,
    /// The number of further connections that it accepts now.
    pub free: u32,
}

pub(super) fn held(admin: &Admin, roles: &[String]) -> Result<u32, ServiceError> {
    let held: i64 = admin.run("counting the stacks' connections", |client| {
        client.query_one(HELD, &[&roles])?.try_get(0)
    })?;
    Ok(held as u32)
}

pub(super) fn sessions(admin: &Admin) -> Result<Option<u64>, ServiceError> {
    let opened: Option<i64> = admin.run("counting the connections so far", |client| {
        if client.query_one(COUNTS_SESSIONS, &[])?.try_get(0)? {
            client.query_one(SESSIONS, &[])?.try_get(0).map(Some)
        } else {
            Ok(None)
        }
    })?;
    Ok(opened.map(|opened| opened.max(0) as u64))
}

pub(super) fn free_connections(admin: &Admin) -> Result<ConnectionCapacity, ServiceError> {
    let (most, free): (i32, i32) = admin.run("asking how many connections it takes", |client| {
        let row = client.query_one(FREE_CONNECTIONS, &[])?;
        Ok((row.try_get(0)?, row.try_get(1)?))
    })?;
    Ok(ConnectionCapacity {
        most: most.max(0) as u32,
        free: free.max(0) as u32,
    })
}

/// Encrypts connections to PostgreSQL.
#[derive(Clone)]
pub(super) struct Encryption(Arc<ClientConfig>);

impl Encryption {
    pub(super) fn new() -> Self {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has the cipher suites of TLS 1.2 and 1.3")
            .dangerous()
            .with_custom_certificate_verifier(deadheat_load::any_certificate())
            .with_no_client_auth();
        Self(Arc::new(config))
    }
}

impl<S> MakeTlsConnect<S> for Encryption
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = TlsHandshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<TlsHandshake, InvalidDnsNameError> {
        Ok(TlsHandshake {
            connector: TlsConnector::from(Arc::clone(&self.0)),
            host: ServerName::try_from(host.to_owned())?,
        })
    }
}

/// A TLS handshake that has not begun.
pub(super) struct TlsHandshake {
    connector: TlsConnector,
    host: ServerName<'static>,
}

impl<S> TlsConnect<S> for TlsHandshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let stream = self.connector.connect(self.host, stream).await?;
            Ok(Encrypted(Box::new(stream)))
        })
    }
}

/// An encrypted connection.
pub(super) struct Encrypted<S>(Box<client::TlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
