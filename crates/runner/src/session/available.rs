//! Which of the stacks that are asked for can be measured here, before anything is built.

use std::{collections::BTreeMap, sync::atomic::AtomicBool};

use super::{SelectedTarget, SessionOptions};
use crate::prepare::{Host, Inspection, inspect};

/// Those of the targets that have their toolchains and CPUs here. It asks the toolchains for their versions, and builds
/// and starts nothing.
pub fn available(options: &SessionOptions, interrupt: &AtomicBool) -> Vec<SelectedTarget> {
    let host = Host::here(options.supervision.clone(), interrupt);
    let pinning = options.share_out();
    let mut stacks: BTreeMap<&str, Inspection> = BTreeMap::new();
    let targets = options.targets.iter().filter(|one| {
        let inspection = stacks
            .entry(one.stack.manifest.id.as_str())
            .or_insert_with(|| inspect(&host, &one.stack));
        let missing = inspection.availability(&host, &one.stack, &one.target, &pinning);
        missing.is_none()
    });
    targets.cloned().collect()
}
