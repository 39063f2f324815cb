//! Instants of a request, and gauges at an instant.

/// A request that ended: nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestTimes {
    /// When it should have been sent.
    pub(crate) intended: u64,
    /// When the connection that it went out on was begun.
    pub(crate) dialled: u64,
    /// When it was.
    pub(crate) started: u64,
    /// When its answer began to come; where that is not recorded, anything.
    pub(crate) first_byte: u64,
    /// When its answer was whole.
    pub(crate) end: u64,
}

/// Requests in flight and waiting, at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    /// Requests on their way.
    pub(crate) in_flight: u64,
    /// Open loop: requests that wait for a connection.
    pub(crate) waiting: u64,
}
