//! What a load saw of TLS, of its exchanges and routes, and of cookies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LatencyHistogram;

/// What was agreed on with TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TlsSeen {
    /// Version and cipher suite of the first handshake: "TLS 1.3, TLS_AES_256_GCM_SHA384".
    pub agreed: String,
    /// Handshakes from nothing, over the whole load.
    pub full: u64,
    /// Handshakes that resumed an earlier session, over the whole load.
    pub resumed: u64,
}

/// What a load found of a group of exchanges, in the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupSeen {
    /// Verified answers over the whole load.
    pub total_succeeded: u64,
    /// Requests of the measurement whose verified answers came in it.
    pub succeeded: u64,
    /// Requests of the measurement that were sent, and failed in it.
    pub failed: u64,
    /// Body bytes of the verified answers.
    pub valid_body_bytes: u64,
    /// Service time of the verified answers.
    pub service_time: LatencyHistogram,
    /// Service time of verified answers to requests of the measurement that came after it: without them, a route that takes
    /// longer than the measurement would seem to have none.
    #[serde(default, skip_serializing_if = "LatencyHistogram::is_empty")]
    pub late: LatencyHistogram,
}

impl GroupSeen {
    pub(super) fn merge(&mut self, other: &Self) {
        self.total_succeeded += other.total_succeeded;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.valid_body_bytes += other.valid_body_bytes;
        self.service_time.merge(&other.service_time);
        self.late.merge(&other.late);
    }
}

/// What a load of several addresses found of one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RouteSeen {
    /// Connections made over the whole load.
    pub connections_opened: u64,
    /// Requests of the measurement whose verified answers came in it.
    pub succeeded: u64,
    /// Requests of the measurement that failed in it, those whose connection could not be made included.
    pub failed: u64,
}

impl RouteSeen {
    pub(super) fn merge(&mut self, other: &Self) {
        self.connections_opened += other.connections_opened;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
    }
}

/// What became of the cookies that answers set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CookiesSeen {
    /// Cookies that were set, and kept.
    pub set: u64,
    /// Cookies that an answer told to forget.
    pub removed: u64,
    /// Cookies that were not kept: malformed, too long, for another host, or for TLS alone.
    pub refused: u64,
    /// Requests that were sent with cookies, redirects included.
    pub sent: u64,
}

impl CookiesSeen {
    /// Adds what others saw.
    pub fn merge(&mut self, other: &Self) {
        self.set += other.set;
        self.removed += other.removed;
        self.refused += other.refused;
        self.sent += other.sent;
    }
}
