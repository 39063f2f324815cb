//! The client that probes: one request at a time, over connections that are kept.

use std::{io::Read, net::SocketAddr, time::Duration};

use deadheat_model::load::{Body, RequestSpec};
use ureq::{Agent, SendBody, http};

use super::{Fault, PATIENCE};

/// Sends probes to one server.
pub struct Client {
    agent: Agent,
    address: SocketAddr,
}

/// An answer, read whole.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
}

impl Client {
    /// A client of the server at `address`, which uses no proxy and follows no redirect.
    pub fn new(address: SocketAddr) -> Self {
        Self::with_timeout(address, PATIENCE)
    }

    /// The same with another bound on each request.
    pub fn with_timeout(address: SocketAddr, timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_global(Some(timeout))
            .user_agent("deadheat")
            .build();
        Self {
            agent: config.into(),
            address,
        }
    }

    pub(super) fn send(&self, request: &RequestSpec) -> Result<Answer, Fault> {
        self.attempt(request).map_err(|error| {
            Fault::new(
                format!("{} {}", request.method, request.path),
                "there is an answer",
                "an HTTP answer".to_owned(),
                format!("no answer: {error}"),
            )
        })
    }

    fn attempt(&self, request: &RequestSpec) -> Result<Answer, ureq::Error> {
        let mut builder = http::Request::builder()
            .method(request.method.as_str())
            .uri(format!("http://{}{}", self.address, request.path));
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let mut response = match &request.body {
            Body::None => self.agent.run(builder.body(())?)?,
            Body::Sized(bytes) => self.agent.run(builder.body(bytes.as_slice())?)?,
            Body::Chunked(bytes) => {
                // A reader's length is not known beforehand, so it is sent in chunks.
                let mut reader = bytes.as_slice();
                let body = SendBody::from_reader(&mut reader as &mut dyn Read);
                self.agent.run(builder.body(body)?)?
            }
        };
        let content_type = response.headers().get("content-type");
        Ok(Answer {
            status: response.status().as_u16(),
            content_type: content_type
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                .unwrap_or_default(),
            body: response.body_mut().read_to_vec()?,
        })
    }
}
