//! A task that answers every message with one mebibyte.

use actix_web::{rt, web::Bytes};
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;

pub static PAYLOAD: [u8; 1 << 20] = [b'd'; 1 << 20];

const MAILBOX: usize = 1024;

pub struct PayloadWorker(mpsc::Sender<oneshot::Sender<Bytes>>);

impl PayloadWorker {
    /// Starts it on the runtime of the calling thread.
    pub fn spawn() -> Self {
        let (sender, mut mailbox) = mpsc::channel::<oneshot::Sender<Bytes>>(MAILBOX);
        rt::spawn(async move {
            while let Some(reply) = mailbox.recv().await {
                // The asker may have hung up.
                let _ = reply.send(Bytes::from_static(&PAYLOAD));
            }
        });
        Self(sender)
    }

    pub async fn ask(&self) -> Result<Bytes, Error> {
        let (reply, answer) = oneshot::channel();
        self.0.send(reply).await.map_err(|_| Error::WorkerGone)?;
        answer.await.map_err(|_| Error::WorkerGone)
    }
}
