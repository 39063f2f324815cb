//! A load, whichever tool makes it.

/// What a tool is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// Connections held.
    pub(crate) connections: u32,
    /// Requests under way on a connection at once.
    pub(crate) depth: u32,
    /// Whether it is HTTP/2, whose requests at once are streams.
    pub(crate) http2: bool,
    /// Whether connections carry more than one request.
    pub(crate) keep_alive: bool,
    /// Whether they are TLS connections.
    pub(crate) tls: bool,
    /// What is asked for.
    pub(crate) resource: Resource,
    /// Requests per second; `None`: as many as are answered.
    pub(crate) rate: Option<u32>,
}

/// What nginx answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// Twelve bytes out of its configuration.
    Small,
    /// A file of 64 KiB.
    Page,
    /// A file of 1 MiB.
    Payload,
}

impl Resource {
    /// Those that are files.
    pub(crate) const FILES: [Self; 2] = [Resource::Page, Resource::Payload];

    /// Its path.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Resource::Small => "/small",
            Resource::Page => "/page",
            Resource::Payload => "/payload",
        }
    }

    /// Its length in bytes.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Resource::Small => SMALL.len() as u64,
            Resource::Page => 64 << 10,
            Resource::Payload => 1 << 20,
        }
    }
}

/// The body of [`Resource::Small`].
pub(crate) const SMALL: &str = "Hello world\n";
