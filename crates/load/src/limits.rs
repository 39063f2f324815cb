//! What a load may ask for at most, and at least. Whoever makes a spec can check it against the same values as
//! [`run`](crate::run) does.

use std::time::Duration;

/// The most connections. Linux lets no process have more than 1,048,576 open files unless it is told to (`fs.nr_open`).
pub const MOST_CONNECTIONS: u32 = 1_000_000;
/// The most worker threads that are not pinned to CPUs.
pub const MOST_THREADS: u32 = 1_024;
/// The deepest pipeline: deeper ones only wait in the sockets' buffers.
pub const MOST_PIPELINED: u32 = 1_024;
/// The most streams of HTTP/2 on a connection: servers allow 100 to 250 as a rule.
pub const MOST_STREAMS: u32 = 1_000;
/// What is said of a number of streams out of these bounds.
pub const STREAMS: &str = "a connection has 1 to 1,000 streams";
/// The most redirects in a row: a chain that is longer has no end, as a rule.
pub const MOST_REDIRECTS: u32 = 100;
/// The highest rate of an open loop, per second: beyond it a nanosecond cannot tell two requests apart.
pub const MOST_PER_SECOND: f64 = 1e9;
/// The narrowest bins of the time series.
pub(crate) const LEAST_BIN: Duration = Duration::from_millis(1);
/// The shortest interval: each costs a worker some 100 µs.
pub const LEAST_INTERVAL: Duration = Duration::from_millis(10);
