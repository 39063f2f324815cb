//! The bound on actix's graceful shutdown, which looks once a second whether requests are open.

use std::{io, time::Duration};

use actix_web::rt::{
    signal::unix::{SignalKind, signal},
    time::sleep,
};

/// Resolves `limit` after the SIGTERM or SIGINT that actix handles, too.
pub async fn overdue(limit: Duration) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    sleep(limit).await;
    Ok(())
}
