//! One mebibyte, written directly or handed over by a worker task.

use std::sync::Arc;

use axum::{body::Bytes, extract::State, http::StatusCode};
use tokio::sync::{mpsc, oneshot};

use crate::state::AppState;

static PAYLOAD: [u8; 1 << 20] = [b'd'; 1 << 20];

/// A task that answers every message with the payload.
pub struct Worker(mpsc::Sender<oneshot::Sender<Bytes>>);

impl Worker {
    pub fn spawn() -> Self {
        let (sender, mut mailbox) = mpsc::channel::<oneshot::Sender<Bytes>>(1024);
        tokio::spawn(async move {
            while let Some(reply) = mailbox.recv().await {
                // The asker may have hung up.
                let _ = reply.send(Bytes::from_static(&PAYLOAD));
            }
        });
        Self(sender)
    }

    async fn ask(&self) -> Option<Bytes> {
        let (reply, answer) = oneshot::channel();
        self.0.send(reply).await.ok()?;
        answer.await.ok()
    }
}

pub async fn direct() -> Bytes {
    Bytes::from_static(&PAYLOAD)
}

pub async fn handed_over(State(state): State<Arc<AppState>>) -> Result<Bytes, StatusCode> {
    let payload = state.payload_worker.ask().await;
    payload.ok_or(StatusCode::INTERNAL_SERVER_ERROR)
}
