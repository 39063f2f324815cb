//! Ctrl-C: the first one asks for an orderly end, the second one ends at once (the supervisors then end what runs).

use std::sync::{Arc, atomic::AtomicBool};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

/// The exit status of an impatient end, as shells give it to SIGINT.
const IMPATIENT: i32 = 130;

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets; the second one ends the process.
pub(crate) fn on_signals() -> std::io::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the first signal finds the flag unset, so that only the second one ends the process.
        flag::register_conditional_shutdown(signal, IMPATIENT, Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    Ok(asked)
}
