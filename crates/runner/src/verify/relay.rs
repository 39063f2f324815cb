//! proxy: the slow upstream's answer, fetched anew for each request.

use deadheat_model::load::Content;

use super::{
    Fault, Verifier,
    users::{fault, missing},
};
use crate::services::upstream;

pub(super) fn right_content() -> Content {
    Content::Exact {
        bytes: upstream::ANSWER.as_bytes().to_vec(),
    }
}

impl Verifier<'_> {
    /// Once: an answer that is kept shows from the second one on, and that is the load's, or the crowd's
    /// (`expect_service_count`). Every probe takes as long as the upstream does.
    pub(super) fn verify_relay(&mut self) -> Result<(), Fault> {
        let before = self.relayed()?;
        self.expect_right()?;
        let asked = format!("{} {}", self.workload.method, self.path);
        self.expect_service_count(&asked, Some(before), 1..=1)
    }

    pub(super) fn relayed(&mut self) -> Result<u64, Fault> {
        let upstream = self
            .fixtures
            .upstream
            .as_mut()
            .ok_or_else(|| missing("the slow upstream"))?;
        upstream.requests().map_err(fault)
    }
}
