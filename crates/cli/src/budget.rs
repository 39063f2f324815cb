//! A budget that somebody typed is kept, or refused before anything starts.

use std::sync::atomic::AtomicBool;

use deadheat_model::Plan;
use deadheat_runner::session::{self, LatencyMode, SessionOptions};

use crate::{exit::Failure, output, plan_text};

/// The draft, if it fits the budget, or if what is available here does.
pub(crate) fn fitting(
    draft: Plan,
    options: &SessionOptions,
    installs: bool,
    interrupt: &AtomicBool,
) -> Result<Plan, Failure> {
    if !plan_text::is_too_long(&draft) {
        return Ok(draft);
    }
    // What is not available here takes no time, unless it is about to be installed.
    let mut options = options.clone();
    if !installs {
        let asked = options.targets.len();
        options.targets = session::available(&options, interrupt);
        let missing = asked - options.targets.len();
        let narrower = session::draft(&options);
        if missing > 0 && !plan_text::is_too_long(&narrower) {
            let those = if missing == 1 { "it" } else { "them" };
            output::note(&format!(
                "{missing} of the {asked} stacks cannot be measured here (deadheat stacks list says why);\n\
                 without {those} the budget is long enough."
            ));
            return Ok(narrower);
        }
    }
    let draft = session::draft(&options);
    options.latency = LatencyMode::Off;
    let closed = session::draft(&options);
    Err(Failure::usage(plan_text::refusal(&draft, &closed)))
}
