mod config;
mod routes;
mod shutdown;
mod state;

use std::{error::Error, io, net::SocketAddr, process::ExitCode, time::Duration};

use axum::serve::ListenerExt;
use tokio::{
    net::{TcpListener, TcpSocket},
    runtime,
};

use crate::{config::Config, state::AppState};

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
    let listener = listen(config.address)?.tap_io(|stream| {
        // It fails only on a connection that is gone already.
        let _ = stream.set_nodelay(true);
    });
    let app = routes::router(AppState::new(config)?);
    let shutdown = shutdown::watch()?;
    let server = axum::serve(listener, app).with_graceful_shutdown(shutdown.clone().requested());
    tokio::select! {
        served = server => served?,
        () = shutdown.overdue(DRAIN_LIMIT) => {}
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
