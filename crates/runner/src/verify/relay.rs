//! proxy: the slow upstream's answer, fetched anew for each request.

use deadheat_model::load::Content;

use super::{
    Depth, Fault, Verifier,
    users::{fault, missing},
};
use crate::services::upstream;

pub(super) fn right_content() -> Content {
    Content::Exact {
        bytes: upstream::ANSWER.as_bytes().to_vec(),
    }
}

impl Verifier<'_> {
    pub(super) fn verify_relay(&mut self, depth: Depth) -> Result<(), Fault> {
        let before = self.relayed()?;
        let request = self.request();
        // An answer that is kept shows from the second one on; around a trial the load itself is the second one
        // (`check_service_count`), because every probe takes as long as the upstream does.
        let probes = if depth == Depth::Full { 2 } else { 1 };
        for _ in 0..probes {
            self.expect_right(&request)?;
        }
        let asked = self.relayed()? - before;
        if asked == probes {
            return Ok(());
        }
        Err(Fault::new(
            format!("GET {}", request.path),
            "the upstream is asked once for each request",
            format!("{probes} to the upstream for {probes}"),
            format!("the upstream counted {asked}"),
        ))
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
