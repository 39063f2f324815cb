mod config;
mod database;
mod extract;
mod routes;
mod shutdown;
mod state;

use std::{error::Error, io, net::SocketAddr, process::ExitCode, sync::Arc, time::Duration};

use axum::{Router, serve::ListenerExt};
use axum_server::{
    Handle, Server,
    accept::NoDelayAcceptor,
    tls_rustls::{RustlsAcceptor, RustlsConfig},
};
use tokio::{
    net::{TcpListener, TcpSocket},
    runtime,
    task::JoinSet,
};

use crate::{
    config::{Config, Tls},
    shutdown::Shutdown,
    state::AppState,
};

/// Hundreds of clients that connect at once overflow the 128 of `TcpListener::bind`, and wait a second for the retry.
const BACKLOG: u32 = 4096;

/// How long open requests may take after SIGTERM; the slow upstream needs half a second.
const DRAIN_LIMIT: Duration = Duration::from_millis(800);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let config = Config::from_env()?;
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(config.cpus.get())
        .enable_all()
        .build()?;
    let served = runtime.block_on(serve(config));
    // Dropping the runtime would wait for every hash that has begun.
    runtime.shutdown_background();
    served
}

async fn serve(config: Config) -> Result<(), Box<dyn Error>> {
    let shutdown = shutdown::watch()?;
    let tls = config.tls.clone();
    let plain = [Some(config.address), config.h2c_address];
    let static_dir = config.static_dir.clone();
    let app = routes::router(Arc::new(AppState::new(config)?), &static_dir);

    let mut servers = JoinSet::new();
    for address in plain.into_iter().flatten() {
        let listener = listen(address)?.tap_io(|stream| {
            // It fails only on a connection that is gone already.
            let _ = stream.set_nodelay(true);
        });
        let server =
            axum::serve(listener, app.clone()).with_graceful_shutdown(shutdown.clone().requested());
        servers.spawn(server.into_future());
    }
    if let Some(tls) = tls {
        servers.spawn(serve_tls(tls, app, shutdown.clone()));
    }
    tokio::select! {
        served = all(servers) => served?,
        () = shutdown.overdue(DRAIN_LIMIT) => {}
    }
    Ok(())
}

async fn serve_tls(tls: Tls, app: Router, shutdown: Shutdown) -> io::Result<()> {
    let rustls = RustlsConfig::from_pem_file(tls.certificate, tls.key).await?;
    let acceptor = RustlsAcceptor::new(rustls).acceptor(NoDelayAcceptor::new());
    let handle = Handle::<SocketAddr>::new();
    let server = Server::from_listener(listen(tls.address)?)
        .acceptor(acceptor)
        .handle(handle.clone())
        .serve(app.into_make_service());
    tokio::spawn(async move {
        shutdown.requested().await;
        handle.graceful_shutdown(Some(DRAIN_LIMIT));
    });
    server.await
}

/// Ends with the last server, or with the first that fails.
async fn all(mut servers: JoinSet<io::Result<()>>) -> Result<(), Box<dyn Error>> {
    while let Some(served) = servers.join_next().await {
        served??;
    }
    Ok(())
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
