//! The system calls that the standard library lacks; the only module with `unsafe` besides `port`.

use std::{
    io,
    os::fd::{AsFd, AsRawFd as _, BorrowedFd},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// A read that is older than this is taken for a wall clock that was set.
const OLDEST: Duration = Duration::from_secs(60);

/// Room for one control message with a `timespec`, aligned as the kernel wants it.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Asks the kernel to stamp what arrives (socket(7), `SO_TIMESTAMPNS`). A listening socket hands it on to the
/// connections that it accepts.
pub(crate) fn stamp_arrivals(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(socket, libc::SO_TIMESTAMPNS, &1_i32)
}

/// Makes the last close of this socket a reset.
pub(crate) fn reset_on_close(socket: BorrowedFd<'_>) -> io::Result<()> {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    set_option(socket, libc::SO_LINGER, &linger)
}

/// Lets a socket be bound where connections of an earlier one have not faded away yet.
pub(crate) fn reuse_address(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(socket, libc::SO_REUSEADDR, &1_i32)
}

fn set_option<T: Copy>(socket: BorrowedFd<'_>, option: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of_val(value) as libc::socklen_t;
    let value = (&raw const *value).cast();
    // SAFETY: `value` is valid for reading over `length` bytes, and the descriptor is open.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, value, length) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sends bytes that wait in the kernel for what follows them.
pub(crate) fn send_more(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    let flags = libc::MSG_MORE | libc::MSG_NOSIGNAL;
    let (from, length) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: `from` is valid for reading over `length` bytes, and the descriptor is open.
    let sent = unsafe { libc::send(socket.as_raw_fd(), from, length, flags) };
    match usize::try_from(sent) {
        Ok(sent) if sent == length => Ok(()),
        Ok(_) => Err(io::ErrorKind::WriteZero.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Waits until there is something to read or to accept, `limit` at most (`None`: for ever); whether there is.
pub(crate) fn wait_readable(socket: impl AsFd, limit: Option<Duration>) -> bool {
    let mut watched = libc::pollfd {
        fd: socket.as_fd().as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let limit = limit.map_or(-1, |limit| limit.as_millis().try_into().unwrap_or(i32::MAX));
    // SAFETY: `watched` is valid for reading and writing as the one descriptor that it is, and that one is open.
    let ready = unsafe { libc::poll(&raw mut watched, 1, limit) };
    ready > 0 && watched.revents & libc::POLLIN != 0
}

/// When bytes arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    /// The instant.
    pub(crate) at: Instant,
    /// Whether the kernel took it when the segment came in, and not this thread when it had got a CPU.
    pub(crate) by_kernel: bool,
}

impl Stamp {
    pub(crate) fn now() -> Self {
        Self {
            at: Instant::now(),
            by_kernel: false,
        }
    }
}

/// Reads, and says when the last of the bytes read arrived: by the kernel where it stamped them, else now.
pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Stamp)> {
    let mut control = Control([0; 64]);
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: all-zero is a valid message header: no name, no parts, no control data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    message.msg_controllen = size_of::<Control>();
    let read = loop {
        // SAFETY: the header's part and control room are valid for writing over their lengths for the whole call.
        let read = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
        match usize::try_from(read) {
            Ok(read) => break read,
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    };
    // In this order: whatever comes between the two clocks makes the stamp late, never early.
    let wall = SystemTime::now();
    let now = Stamp::now();
    Ok((read, kernels_stamp(&message, wall, now.at).unwrap_or(now)))
}

/// The kernel's stamp in a message's control data. It is of the wall clock, so its age is what counts.
fn kernels_stamp(message: &libc::msghdr, wall: SystemTime, now: Instant) -> Option<Stamp> {
    // SAFETY: the kernel has filled the control data up to `msg_controllen`; the macros stay within it, and a message
    // of this level and type holds a `timespec`, which is read without regard to its alignment.
    let time = unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        loop {
            let one = header.as_ref()?;
            if one.cmsg_level == libc::SOL_SOCKET && one.cmsg_type == libc::SCM_TIMESTAMPNS {
                break libc::CMSG_DATA(header)
                    .cast::<libc::timespec>()
                    .read_unaligned();
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    };
    let (seconds, nanoseconds) = (time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?);
    let stamped = UNIX_EPOCH + Duration::new(seconds, nanoseconds);
    let age = wall.duration_since(stamped).ok()?;
    let at = now.checked_sub(age).filter(|_| age < OLDEST)?;
    Some(Stamp {
        at,
        by_kernel: true,
    })
}
