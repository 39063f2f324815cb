mod body;
mod config;
mod database;
mod error;
mod respond;
mod routes;
mod server;
mod state;
mod tls;

use std::{error::Error as StdError, process::ExitCode};

use tokio::runtime;

use crate::{config::Config, server::Listeners, state::AppState};

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), Box<dyn StdError>> {
    let config = Config::from_env()?;
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(config.cpus.get())
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let listeners = Listeners::bind(&config)?;
        server::run(listeners, AppState::new(config)?).await?;
        Ok(())
    });
    // Dropping the runtime would wait for every hash that has begun.
    runtime.shutdown_background();
    served
}
