//! One mebibyte, written directly or handed over by a worker task.

use hyper::body::Bytes;
use tokio::sync::{mpsc, oneshot};

use crate::{
    error::Error,
    respond::{self, Answer},
    state::AppState,
};

static PAYLOAD: [u8; 1 << 20] = [b'd'; 1 << 20];

const MAILBOX: usize = 1024;

/// A task that answers every message with the payload.
pub struct Worker(mpsc::Sender<oneshot::Sender<Bytes>>);

impl Worker {
    pub fn spawn() -> Self {
        let (sender, mut mailbox) = mpsc::channel::<oneshot::Sender<Bytes>>(MAILBOX);
        tokio::spawn(async move {
            while let Some(reply) = mailbox.recv().await {
                // The asker may have hung up.
                let _ = reply.send(Bytes::from_static(&PAYLOAD));
            }
        });
        Self(sender)
    }

    async fn ask(&self) -> Result<Bytes, Error> {
        let (reply, answer) = oneshot::channel();
        self.0.send(reply).await.map_err(|_| Error::WorkerGone)?;
        answer.await.map_err(|_| Error::WorkerGone)
    }
}

pub fn direct() -> Answer {
    respond::octets(Bytes::from_static(&PAYLOAD))
}

pub async fn handed_over(state: &AppState) -> Result<Answer, Error> {
    Ok(respond::octets(state.payload_worker.ask().await?))
}
