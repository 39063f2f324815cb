//! A collector of metrics, reached by HTTP.

use std::time::Duration;

use ureq::{
    Agent,
    tls::{RootCerts, TlsConfig},
};

/// For a request and its answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest answer that is read.
const LONGEST: u64 = 64 << 10;

/// Why a collector has not taken a document.
#[derive(Debug, thiserror::Error)]
pub enum CollectorError {
    /// It was not reached, or its answer did not come whole.
    #[error(transparent)]
    Request(#[from] ureq::Error),
    /// It answered, and not that it took it.
    #[error("it answered {0}")]
    Refused(ureq::http::StatusCode),
}

/// A collector of metrics. Its connection stays open between two requests.
#[derive(Debug)]
pub struct Collector {
    agent: Agent,
    url: String,
}

impl Collector {
    /// The one at this URL. No connection is made yet.
    pub fn at(url: &str) -> Self {
        // The system's certificates, because many networks have one of their own.
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .timeout_global(Some(PATIENCE))
            // An endpoint that redirects has not accepted anything.
            .max_redirects(0)
            .http_status_as_error(false)
            .build();
        Self {
            agent: config.new_agent(),
            url: url.to_owned(),
        }
    }

    /// Hands over a JSON document, and returns the answer's body. Takes some seconds at most.
    ///
    /// # Errors
    /// When the document did not arrive, or the collector refused it.
    pub fn post(&self, document: &str) -> Result<Vec<u8>, CollectorError> {
        let request = self.agent.post(&self.url).content_type("application/json");
        let mut answer = request.send(document)?;
        let status = answer.status();
        if !status.is_success() {
            return Err(CollectorError::Refused(status));
        }
        let body = answer.body_mut().with_config().limit(LONGEST);
        Ok(body.read_to_vec()?)
    }
}
