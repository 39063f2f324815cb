//! What the kernel knows of a TCP connection.
#![allow(unsafe_code)]

use std::{mem, net::TcpStream, os::fd::AsRawFd as _};

/// Words of 32 bits in linux/tcp.h's `struct tcp_info`, after eight bytes: up to `tcpi_total_retrans`.
const WORDS: usize = 26;
const SENT_MSS: usize = 4;
const TOTAL_RETRANSMITTED: usize = 25;

/// What a connection sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    /// Packets that were sent again.
    pub(super) again: u64,
    /// The most bytes in a packet.
    pub(super) longest: u64,
}

/// Of a connection so far; `None` where the kernel does not tell.
pub(super) fn sent(stream: &TcpStream) -> Option<Sent> {
    let mut words = [0_u32; WORDS];
    let mut length = mem::size_of_val(&words) as libc::socklen_t;
    // SAFETY: the pointers are to live variables, and the kernel writes at most `length` bytes.
    let done = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            words.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let whole = done == 0 && length as usize == mem::size_of_val(&words);
    whole.then(|| Sent {
        again: words[TOTAL_RETRANSMITTED].into(),
        longest: words[SENT_MSS].into(),
    })
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, net::TcpListener};

    use super::*;

    #[test]
    fn the_kernel_tells_of_a_connection() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        near.write_all(b"x").unwrap();
        let sent = sent(&near).unwrap();
        // A header of 40 bytes or more, and a packet of loopback or of any other network.
        assert!((500..=65_495).contains(&sent.longest), "{sent:?}");
        assert!(sent.again < 100, "{sent:?}");
    }
}
