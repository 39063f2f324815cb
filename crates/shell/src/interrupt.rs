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

/// Signals so soon after one that counts repeat it, and do not mean that the user is impatient. `timeout` signals the
/// process and then its process group; `make` and `npm` pass on a Ctrl-C that the terminal has sent to all of them.
const REPEATED: Duration = Duration::from_millis(500);

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets; a later one ends the process.
pub fn on_signals() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&flag);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let listen = move || {
        let mut last: Option<Instant> = None;
        for _ in signals.forever() {
            if last.is_some_and(|last| last.elapsed() < REPEATED) {
                continue;
            }
            if asked.swap(true, Ordering::SeqCst) {
                low_level::exit(exit::INTERRUPTED.into());
            }
            last = Some(Instant::now());
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(listen)?;
    Ok(flag)
}
