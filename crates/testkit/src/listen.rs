//! Where and how a server listens.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::net::{UnixListener, UnixStream},
    },
    path::PathBuf,
    time::Duration,
};

use tempfile::TempDir;

use crate::{OracleServer, RefusingPort, Script, TlsServer, sys, wire::Socket};

/// Where and how a server listens: `Listen::ipv6()?.over_tls(tls).serve(script)`.
pub struct Listen {
    pub(crate) listener: Listener,
    pub(crate) tls: Option<TlsServer>,
    pub(crate) together: bool,
}

impl Listen {
    /// On a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn ipv4() -> io::Result<Self> {
        Self::at((Ipv4Addr::LOCALHOST, 0).into())
    }

    /// On a free port of ::1.
    ///
    /// # Errors
    ///
    /// When there is none, or the machine has no IPv6.
    pub fn ipv6() -> io::Result<Self> {
        Self::at((Ipv6Addr::LOCALHOST, 0).into())
    }

    /// On this address; port 0 is any free one.
    ///
    /// # Errors
    ///
    /// When somebody else has it.
    pub fn at(address: SocketAddr) -> io::Result<Self> {
        TcpListener::bind(address).and_then(Self::with)
    }

    /// On a port that has refused until now.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn on(port: RefusingPort) -> io::Result<Self> {
        port.listen().and_then(Self::with)
    }

    /// On a Unix socket in a temporary folder of its own.
    ///
    /// # Errors
    ///
    /// When the folder or the socket cannot be made.
    pub fn unix() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("deadheat-").tempdir()?;
        let path = folder.path().join("http");
        Ok(Self::to(Listener::Unix {
            listener: UnixListener::bind(&path)?,
            path,
            _folder: folder,
        }))
    }

    /// With TLS.
    #[must_use]
    pub fn over_tls(self, tls: TlsServer) -> Self {
        Self {
            tls: Some(tls),
            ..self
        }
    }

    /// Pipelined requests are answered in one write, as far as they have come when the first of them is answered.
    #[must_use]
    pub fn answering_together(self) -> Self {
        Self {
            together: true,
            ..self
        }
    }

    /// Begins to answer.
    ///
    /// # Errors
    ///
    /// When there is no thread.
    pub fn serve(self, script: impl Script) -> io::Result<OracleServer> {
        OracleServer::listen(self, Box::new(script))
    }

    fn with(listener: TcpListener) -> io::Result<Self> {
        sys::stamp_arrivals(listener.as_fd())?;
        Ok(Self::to(Listener::Tcp(listener)))
    }

    fn to(listener: Listener) -> Self {
        Self {
            listener,
            tls: None,
            together: false,
        }
    }
}

/// A listening socket.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix {
        listener: UnixListener,
        path: PathBuf,
        /// Goes with the listener, and the socket's file with it.
        _folder: TempDir,
    },
}

/// Where a listener listens.
#[derive(Clone, Debug)]
pub(crate) enum ListenAddress {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Listener {
    pub(crate) fn place(&self) -> io::Result<ListenAddress> {
        match self {
            Listener::Tcp(listener) => listener.local_addr().map(ListenAddress::Tcp),
            Listener::Unix { path, .. } => Ok(ListenAddress::Unix(path.clone())),
        }
    }

    /// The listening socket once more, for waiting at it. It takes nobody in, and is to be dropped with the listener:
    /// as long as one of the two is there, the system goes on listening.
    pub(crate) fn door(&self) -> io::Result<OwnedFd> {
        self.socket().try_clone_to_owned()
    }

    /// Whether a connection waits to be taken in.
    pub(crate) fn has_somebody(&self) -> bool {
        sys::wait_readable(self.socket(), Some(Duration::ZERO))
    }

    fn socket(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Tcp(listener) => listener.as_fd(),
            Listener::Unix { listener, .. } => listener.as_fd(),
        }
    }

    /// Takes the next connection in, if one waits.
    pub(crate) fn accept(&self) -> io::Result<Socket> {
        if !self.has_somebody() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        match self {
            Listener::Tcp(listener) => listener.accept().map(|(stream, _)| Socket::Tcp(stream)),
            Listener::Unix { listener, .. } => {
                listener.accept().map(|(stream, _)| Socket::Unix(stream))
            }
        }
    }
}

impl ListenAddress {
    /// Connects, so that who accepts wakes up.
    pub(crate) fn knock(&self) {
        // A listener that is gone has nobody to wake.
        match self {
            ListenAddress::Tcp(address) => drop(TcpStream::connect(address)),
            ListenAddress::Unix(path) => drop(UnixStream::connect(path)),
        }
    }
}
