//! Ctrl-C: the first one asks for an orderly end, a later one ends the process at once (the supervisors then end what
//! runs).

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
    low_level,
};

use crate::exit;

/// Signals so soon after the first one repeat it, and do not mean that the user is impatient. `timeout` signals the
/// process and then its process group; `make` and `npm` pass on a Ctrl-C that the terminal has sent to all of them.
const REPEATED: Duration = Duration::from_millis(500);

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets; a later one ends the process.
pub(crate) fn on_signals() -> io::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let flag = Arc::clone(&asked);
    let listen = move || {
        let mut first: Option<Instant> = None;
        for _ in signals.forever() {
            match first {
                None => {
                    flag.store(true, Ordering::SeqCst);
                    first = Some(Instant::now());
                }
                Some(first) if first.elapsed() < REPEATED => {}
                Some(_) => low_level::exit(exit::INTERRUPTED.into()),
            }
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(listen)?;
    Ok(asked)
}
