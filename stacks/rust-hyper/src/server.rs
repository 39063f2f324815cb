//! Connections: accepted, served, and closed when the server is asked to stop.

use std::{error::Error, future::pending, io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    signal::unix::{SignalKind, signal},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use crate::{config::Config, routes, state::AppState, tls};

/// Hundreds of clients that connect at once overflow the 128 of `TcpListener::bind`, and wait a second for the retry.
const BACKLOG: u32 = 4096;

/// For a request's head, and so for an idle connection too: longer than clients and load balancers usually keep one.
const HEAD_TIMEOUT: Duration = Duration::from_secs(65);

/// How long open requests may take after SIGTERM; the slow upstream needs half a second.
const DRAIN_LIMIT: Duration = Duration::from_millis(800);

/// The pause after a failed accept: a process that is out of file descriptors would otherwise spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

pub struct Listeners {
    http: TcpListener,
    tls: Option<(TcpListener, TlsAcceptor)>,
    /// HTTP/2 without TLS.
    h2c: Option<TcpListener>,
}

impl Listeners {
    pub fn bind(config: &Config) -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            http: listen(config.address)?,
            tls: match &config.tls {
                Some(tls) => Some((listen(tls.address)?, tls::acceptor(tls)?)),
                None => None,
            },
            h2c: config.h2c_address.map(listen).transpose()?,
        })
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until SIGTERM or SIGINT.
pub async fn run(listeners: Listeners, state: AppState) -> io::Result<()> {
    let state = Arc::new(state);
    let connections = GracefulShutdown::new();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let http = accept(listeners.http, |stream| {
        tokio::spawn(http1(stream, state.clone(), connections.watcher()));
    });
    let https = async {
        let Some((listener, acceptor)) = listeners.tls else {
            return pending().await;
        };
        accept(listener, |stream| {
            tokio::spawn(tls_then_http(
                acceptor.clone(),
                stream,
                state.clone(),
                connections.watcher(),
            ));
        })
        .await
    };
    let h2c = async {
        let Some(listener) = listeners.h2c else {
            return pending().await;
        };
        accept(listener, |stream| {
            tokio::spawn(http2(stream, state.clone(), connections.watcher()));
        })
        .await
    };
    tokio::select! {
        () = http => {}
        () = https => {}
        () = h2c => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    // What is still open after that is cut off.
    let _ = timeout(DRAIN_LIMIT, connections.shutdown()).await;
    Ok(())
}

/// Accepts connections for as long as it is polled.
async fn accept(listener: TcpListener, serve: impl Fn(TcpStream)) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // It fails only on a connection that is gone already.
                let _ = stream.set_nodelay(true);
                serve(stream);
            }
            Err(error) => {
                eprintln!("cannot accept a connection: {error}");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn tls_then_http(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    state: Arc<AppState>,
    watcher: Watcher,
) {
    // A client that is slow or speaks no TLS is dropped.
    let Ok(Ok(stream)) = timeout(HEAD_TIMEOUT, acceptor.accept(stream)).await else {
        return;
    };
    if stream.get_ref().1.alpn_protocol() == Some(tls::H2) {
        http2(stream, state, watcher).await;
    } else {
        http1(stream, state, watcher).await;
    }
}

async fn http1(stream: impl Stream, state: Arc<AppState>, watcher: Watcher) {
    let service = service_fn(move |request| routes::answer(state.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    // An error is a client that went away or sent no HTTP; hyper has answered what can be answered.
    let _ = watcher.watch(connection).await;
}

async fn http2(stream: impl Stream, state: Arc<AppState>, watcher: Watcher) {
    let service = service_fn(move |request| routes::answer(state.clone(), request));
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    let _ = watcher.watch(connection).await;
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}
