//! One mebibyte, written directly or handed over by a worker task.

use actix_web::web::{Bytes, Data};

use crate::{
    error::Error,
    payload_worker::{PAYLOAD, PayloadWorker},
};

pub async fn direct() -> Bytes {
    Bytes::from_static(&PAYLOAD)
}

pub async fn handed_over(worker: Data<PayloadWorker>) -> Result<Bytes, Error> {
    worker.ask().await
}
