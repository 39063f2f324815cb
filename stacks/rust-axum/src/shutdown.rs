//! SIGTERM and SIGINT, told to whoever waits for them.

use std::{io, time::Duration};

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
    time::sleep,
};

#[derive(Clone)]
pub struct Shutdown(watch::Receiver<bool>);

/// Begins to listen for the signals.
pub fn watch() -> io::Result<Shutdown> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        sender.send_replace(true);
    });
    Ok(Shutdown(receiver))
}

impl Shutdown {
    /// Resolves when the server is asked to stop.
    pub async fn requested(mut self) {
        // An error means that the sender is gone, which is after the signal only.
        let _ = self.0.wait_for(|stop| *stop).await;
    }

    /// Resolves `limit` after the server was asked to stop.
    pub async fn overdue(self, limit: Duration) {
        self.requested().await;
        sleep(limit).await;
    }
}
