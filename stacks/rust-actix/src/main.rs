mod config;
mod database;
mod error;
mod payload_worker;
mod routes;
mod shutdown;
mod tls;
mod upstream;

use std::{error::Error as StdError, process::ExitCode, time::Duration};

use actix_files::Files;
use actix_web::{
    App, HttpServer,
    web::{Data, JsonConfig},
};

use crate::{
    config::Config, payload_worker::PayloadWorker, routes::hash::BlobPath, upstream::Upstream,
};

/// Hundreds of clients may connect at once.
const BACKLOG: u32 = 4096;

/// Longer than clients and load balancers usually keep a connection; actix's own is 5 s.
const KEEP_ALIVE: Duration = Duration::from_secs(65);

/// How long open requests may take after SIGTERM; the slow upstream needs half a second.
const DRAIN_LIMIT: Duration = Duration::from_millis(800);

const MAX_BODY_BYTES: usize = 1 << 20;

#[actix_web::main]
async fn main() -> ExitCode {
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn StdError>> {
    let config = Config::from_env()?;
    let database = Data::new(
        config
            .database
            .map(|database| database::pool(database, config.pool_size.get()))
            .transpose()?,
    );
    let blob_path = Data::new(BlobPath(config.blob_path));

    // Called once in each of actix's workers, which are threads with a runtime of their own.
    let app = move || {
        App::new()
            .app_data(database.clone())
            .app_data(blob_path.clone())
            .app_data(Data::new(Upstream::new(config.upstream.clone())))
            .app_data(Data::new(PayloadWorker::spawn()))
            .app_data(JsonConfig::default().limit(MAX_BODY_BYTES))
            .configure(routes::configure)
            .service(Files::new("/static", &config.static_dir))
    };
    let mut server = HttpServer::new(app)
        .workers(config.cpus.get())
        .backlog(BACKLOG)
        .tcp_nodelay(true)
        .keep_alive(KEEP_ALIVE)
        .bind(config.address)?;
    if let Some(tls) = &config.tls {
        server = server.bind_rustls_0_23(tls.address, tls::server_config(tls)?)?;
    }
    if let Some(address) = config.h2c_address {
        server = server.bind_auto_h2c(address)?;
    }
    tokio::select! {
        served = server.run() => served?,
        overdue = shutdown::overdue(DRAIN_LIMIT) => overdue?,
    }
    Ok(())
}
