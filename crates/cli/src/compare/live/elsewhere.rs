//! The same on another host: what is compared goes there, and the session's folder comes back.

use deadheat_runner::agent::Sources;
use deadheat_stats::versus::Versus;

use super::{Measured, heats::versus_in, stacks};
use crate::{
    compare::{args::CompareArgs, resolve::Live},
    elsewhere_run::{self, Asked, Came, Server},
    exit::Failure,
    interrupt,
};

/// Measures on `server`. Stacks are brought, at their revisions; commands are of that host, and run in the folder that the
/// launcher leads to.
pub(crate) fn measure_on(
    server: &Server,
    live: &Live,
    args: &CompareArgs,
) -> Result<Measured, Failure> {
    // Before there is anything that a signal could leave behind.
    let interrupts = interrupt::counted().map_err(Failure::nothing)?;
    // Until the end: with it go the folders of the revisions.
    let brought = match live {
        Live::Urls { .. } | Live::Commands { .. } => None,
        Live::Stacks { a, b } => Some(stacks::Brought::find([a, b], args)?),
    };
    let asked = Asked {
        sources: brought
            .as_ref()
            .map_or_else(Sources::default, |one| one.sources(args)),
        sides: brought.as_ref().map(stacks::Brought::told),
        results: args.measure.results(),
        plans_only: args.measure.dry_run,
    };
    match elsewhere_run::run(server, asked, &interrupts)? {
        Came::Session(folder) => {
            let versus: Versus = versus_in(&folder)?;
            Ok(Measured::Versus(Box::new(versus)))
        }
        Came::Status(exit) => Ok(Measured::Nothing(exit)),
    }
}
