//! The system calls that the standard library and mio do not have.
#![allow(unsafe_code)]

use std::{
    io, mem,
    os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
    time::Duration,
};

use mio::{Interest, Registry, Token, event::Source, unix::SourceFd};

/// A timer that wakes the event loop to the microsecond; epoll's own timeout counts whole milliseconds.
#[derive(Debug)]
pub(super) struct Timer(OwnedFd);

impl Timer {
    /// A timer that is not set.
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: takes plain numbers.
        let fd = check(unsafe {
            libc::timerfd_create(
                libc::CLOCK_MONOTONIC,
                libc::TFD_NONBLOCK | libc::TFD_CLOEXEC,
            )
        })?;
        // SAFETY: the descriptor was just made and nobody else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Makes it ready once, `delay` from now, and no longer ready until then.
    pub(super) fn set(&self, delay: Duration) -> io::Result<()> {
        // SAFETY: an all-zero itimerspec is valid.
        let mut spec: libc::itimerspec = unsafe { mem::zeroed() };
        // All zero would switch it off.
        let delay = delay.max(Duration::from_nanos(1));
        spec.it_value.tv_sec = delay.as_secs() as libc::time_t;
        spec.it_value.tv_nsec = libc::c_long::from(delay.subsec_nanos() as i32);
        // SAFETY: the pointer is to a live structure; the old setting is not wanted.
        check(unsafe {
            libc::timerfd_settime(self.0.as_raw_fd(), 0, &spec, std::ptr::null_mut())
        })?;
        Ok(())
    }
}

impl Source for Timer {
    fn register(&mut self, registry: &Registry, token: Token, what: Interest) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).register(registry, token, what)
    }

    fn reregister(&mut self, registry: &Registry, token: Token, what: Interest) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).reregister(registry, token, what)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        SourceFd(&self.0.as_raw_fd()).deregister(registry)
    }
}

/// Lets a listening socket keep `length` connections until they are accepted (the standard library says 128).
pub(super) fn set_backlog(listener: RawFd, length: i32) -> io::Result<()> {
    // SAFETY: takes plain numbers; listening again only changes the length (listen(2)).
    check(unsafe { libc::listen(listener, length) }).map(drop)
}

/// Raises the number of files that this process may open as far as it may.
pub(super) fn raise_open_files() -> io::Result<()> {
    // SAFETY: an all-zero rlimit is valid.
    let mut limit: libc::rlimit = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a live structure.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: the pointer is to a live structure.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }).map(drop)
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
