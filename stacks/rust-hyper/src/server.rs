//! Connections: accepted, served, and closed when the server is asked to stop.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    signal::unix::{SignalKind, signal},
    time::{sleep, timeout},
};

use crate::{routes, state::AppState};

/// Hundreds of clients that connect at once overflow the 128 of `TcpListener::bind`, and wait a second for the retry.
const BACKLOG: u32 = 4096;

/// For a request's head, and so for an idle connection too: longer than clients and load balancers usually keep one.
const HEAD_TIMEOUT: Duration = Duration::from_secs(65);

/// How long open requests may take after SIGTERM; the slow upstream needs half a second.
const DRAIN_LIMIT: Duration = Duration::from_millis(800);

/// The pause after a failed accept: a process that is out of file descriptors would otherwise spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until SIGTERM or SIGINT.
pub async fn run(listener: TcpListener, state: AppState) -> io::Result<()> {
    let state = Arc::new(state);
    let connections = GracefulShutdown::new();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => serve(stream, state.clone(), &connections),
                Err(error) => {
                    eprintln!("cannot accept a connection: {error}");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
        }
    }
    drop(listener);
    // What is still open after that is cut off.
    let _ = timeout(DRAIN_LIMIT, connections.shutdown()).await;
    Ok(())
}

fn serve(stream: TcpStream, state: Arc<AppState>, connections: &GracefulShutdown) {
    // It fails only on a connection that is gone already.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| routes::answer(state.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let connection = connections.watch(connection);
    tokio::spawn(async move {
        // An error is a client that went away or sent no HTTP; hyper has answered what can be answered.
        let _ = connection.await;
    });
}
