//! Ctrl-C: the first one asks for an orderly end, a later one ends the process at once (the supervisors then end what
//! runs).

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
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

/// SIGINT, SIGTERM and SIGHUP, as often as somebody meant them.
pub(crate) struct Interrupts {
    /// Whether there was one.
    pub(crate) asked: Arc<AtomicBool>,
    /// How many there were.
    pub(crate) count: Arc<AtomicU32>,
}

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets; a later one ends the process.
pub(crate) fn on_signals() -> io::Result<Arc<AtomicBool>> {
    Ok(until(1)?.asked)
}

/// The same for a process that passes two of them on to another one; the third ends it.
pub(crate) fn counted() -> io::Result<Interrupts> {
    until(2)
}

/// Counts signals; the one after `most` ends the process.
fn until(most: u32) -> io::Result<Interrupts> {
    let interrupts = Interrupts {
        asked: Arc::default(),
        count: Arc::default(),
    };
    let (asked, count) = (Arc::clone(&interrupts.asked), Arc::clone(&interrupts.count));
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let listen = move || {
        let mut last: Option<Instant> = None;
        for _ in signals.forever() {
            if last.is_some_and(|last| last.elapsed() < REPEATED) {
                continue;
            }
            if count.load(Ordering::SeqCst) == most {
                low_level::exit(exit::INTERRUPTED.into());
            }
            count.fetch_add(1, Ordering::SeqCst);
            asked.store(true, Ordering::SeqCst);
            last = Some(Instant::now());
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(listen)?;
    Ok(interrupts)
}
