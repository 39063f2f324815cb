//! The right answer to one of a workload's requests, for a server that only answers.

use std::{
    io::Read as _,
    net::{Ipv4Addr, SocketAddr},
    sync::atomic::AtomicBool,
    time::Duration,
};

use deadheat_model::{
    Exchange, LoadPoint, WorkloadManifest,
    load::{Content, Expectation, StatusSet},
};

use flate2::{Compression, bufread::GzEncoder};
use serde_json::Value;

use super::{
    Client, Declared, Fault, Fixtures, Route, Verifier, page,
    question::{ExpectedAnswer, ExpectedBody, ProbeRequest},
};

/// A request of a workload with its right answer.
#[derive(Clone, Debug)]
pub struct Canned {
    /// For the load.
    pub exchange: Exchange,
    /// The answer's content type.
    pub content_type: String,
    /// The answer's body.
    pub body: Vec<u8>,
}

impl Canned {
    /// Of the first request that `workload`, or its first part, loads a stack with. Random requests follow from `seed`.
    ///
    /// # Errors
    /// When a service that knows the answer cannot be asked.
    pub fn new(
        workload: &WorkloadManifest,
        point: &LoadPoint,
        fixtures: &mut Fixtures,
        seed: u64,
    ) -> Result<Self, Fault> {
        let workload = *workload.parts().first().unwrap_or(&workload);
        // Only the oracle is asked here, no server.
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let declared = Declared::default();
        let mut oracle = Verifier::new(nowhere, declared, workload, point, fixtures, seed);
        let (request, expected) = match oracle.varied() {
            Some((_, one)) => {
                let (request, content) = one(&mut oracle);
                (request, content.into())
            }
            None => (oracle.request(), oracle.right_body()?),
        };
        let body = written(&expected);
        let content = match expected {
            ExpectedBody::Content(content) => content,
            ExpectedBody::Fortunes(_) => Content::Exact {
                bytes: body.clone(),
            },
        };
        let expect = Expectation {
            status: StatusSet::just(200),
            length: Some(body.len() as u64),
            content: Some(content),
        };
        Ok(Self {
            exchange: Exchange::new(request, expect),
            content_type: workload.content_type.clone(),
            body,
        })
    }

    /// Asks a server for it once. Setting `stop` ends the wait.
    ///
    /// # Errors
    /// What came instead, or did not come within `patience`.
    pub fn ask(&self, route: Route, patience: Duration, stop: &AtomicBool) -> Result<(), Fault> {
        let content = Content::Exact {
            bytes: self.body.clone(),
        };
        let question = ProbeRequest {
            request: self.exchange.request.clone(),
            wanted: ExpectedAnswer::Right {
                content_type: self.content_type.clone(),
                body: content.into(),
            },
        };
        let answer = Client::with_timeout(route, patience, stop).send(&question.request)?;
        question.judge(&question.name(), "the canned answer comes", &answer)
    }
}

/// A body with this content, as short as it can be written.
fn written(body: &ExpectedBody) -> Vec<u8> {
    let content = match body {
        ExpectedBody::Content(content) => content,
        ExpectedBody::Fortunes(rows) => return page::written(rows).into_bytes(),
    };
    match content {
        Content::Exact { bytes } | Content::Contains { bytes } => bytes.clone(),
        Content::Repeated { byte, count } => vec![*byte; *count as usize],
        Content::Json { value } | Content::JsonAt { value, .. } => value.to_string().into_bytes(),
        Content::Records { count, members, .. } => {
            let members = members.iter().map(|name| (name.clone(), Value::from(1)));
            let record: Value = members.collect();
            let body = match count {
                Some(count) => vec![record; *count as usize].into(),
                None => record,
            };
            body.to_string().into_bytes()
        }
        Content::Gzip { content } => gzip(&written(&ExpectedBody::Content(*content.clone()))),
    }
}

/// These bytes, compressed as most libraries do it.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::new();
    let mut encoder = GzEncoder::new(bytes, Compression::default());
    // Reading from memory does not fail.
    let _ = encoder.read_to_end(&mut compressed);
    compressed
}
