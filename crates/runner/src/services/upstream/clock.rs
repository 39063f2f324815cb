//! Waiting for a fixed time, to some microseconds. Tokio's own timers count whole milliseconds, and round up twice.

use std::{
    io,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

/// Wakes whoever asks, always after the same delay. So those who came first are due first, and a queue will do.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    delay: Duration,
    queue: mpsc::Sender<(Instant, oneshot::Sender<()>)>,
}

impl Clock {
    /// Starts the thread that wakes them. It ends with the last copy of the clock.
    pub(super) fn start(delay: Duration) -> io::Result<Self> {
        let (queue, waiting) = mpsc::channel::<(Instant, oneshot::Sender<()>)>();
        let thread = thread::Builder::new().name("clock".to_owned());
        thread.spawn(move || {
            for (due, waiter) in waiting {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                // A peer that has left waits no more.
                let _ = waiter.send(());
            }
        })?;
        Ok(Self { delay, queue })
    }

    /// A wait that begins with this call and not with its first poll.
    pub(super) fn wait(&self) -> impl Future<Output = ()> + use<> {
        let (waiter, woken) = oneshot::channel();
        let queued = self.queue.send((Instant::now() + self.delay, waiter));
        async move {
            if queued.is_ok() {
                let _ = woken.await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_never_too_short_and_begins_when_it_is_asked_for() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let delay = Duration::from_millis(2);
            let clock = Clock::start(delay).unwrap();
            let start = Instant::now();
            let (first, second) = (clock.wait(), clock.wait());
            first.await;
            assert!(start.elapsed() >= delay);
            second.await;
            let start = Instant::now();
            clock.wait().await;
            assert!(start.elapsed() >= delay);
        });
    }
}
