//! The pipes of an agent's launcher, read and written by this process's own clock: however the other side behaves, neither
//! takes longer than it may.

use std::{
    io::{self, Read, Write as _},
    os::fd::AsFd,
    process::ChildStdin,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
};

/// Between two looks at whether somebody stops.
const TICK: Duration = Duration::from_millis(20);
/// The least that goes through in a second, in bytes, where anything does.
const SLOWEST: u64 = 64 << 10;

/// How long writing may take.
#[derive(Clone, Copy)]
pub(super) struct Within {
    /// Until anything goes through.
    pub(super) patience: Duration,
    /// Until all has.
    pub(super) end: Instant,
}

impl Within {
    /// For so many bytes, where none may go for `patience`.
    pub(super) fn new(patience: Duration, bytes: usize) -> Self {
        let slowest = Duration::from_secs(bytes as u64 / SLOWEST);
        Self {
            patience,
            end: Instant::now() + patience + slowest,
        }
    }
}

/// Why a pipe was not waited for any longer.
pub(super) const INTERRUPTED: &str = "interrupted before it answered";

/// Waits until the pipe is ready for `what`.
fn wait(
    pipe: &impl AsFd,
    what: PollFlags,
    end: Instant,
    stop: Option<&AtomicBool>,
) -> io::Result<()> {
    loop {
        if stop.is_some_and(|stop| stop.load(Ordering::SeqCst)) {
            return Err(io::Error::other(INTERRUPTED));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let tick = left.min(TICK);
        let tick = Timespec {
            tv_sec: 0,
            tv_nsec: tick.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(pipe, what)], Some(&tick)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The reading end of a pipe, until an instant or until somebody stops.
pub(super) struct Until<'a, R> {
    pub(super) pipe: R,
    pub(super) end: Instant,
    pub(super) stop: &'a AtomicBool,
}

impl<R: Read + AsFd> Read for Until<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        wait(&self.pipe, PollFlags::IN, self.end, Some(self.stop))?;
        self.pipe.read(buffer)
    }
}

/// Has writing return when the pipe is full.
pub(super) fn never_block(pipe: &ChildStdin) -> io::Result<()> {
    let flags = fcntl_getfl(pipe)?;
    Ok(fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?)
}

/// Writes all to a pipe that never blocks, in time and until somebody stops.
pub(super) fn write_all(
    mut pipe: &ChildStdin,
    mut bytes: &[u8],
    within: Within,
    stop: Option<&AtomicBool>,
) -> io::Result<()> {
    while !bytes.is_empty() {
        match pipe.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let end = within.end.min(Instant::now() + within.patience);
                wait(&pipe, PollFlags::OUT, end, stop)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
