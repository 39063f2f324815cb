//! Servers for tests: one that answers by a script and tells what it saw, and the faults that a load generator must tell
//! apart. Loopback only, ports by the system, everything ends on drop.

pub mod answers;
mod backlog;
mod conversation;
pub mod documents;
pub mod faults;
pub mod http2;
pub mod http2_server;
pub mod judge;
mod lacking;
pub mod latency;
mod listen;
mod oracle;
mod port;
mod proxy;
mod queue;
mod request;
mod script;
mod seen;
mod shared;
mod sys;
mod tls;
mod wait;
mod wire;

pub use backlog::FullBacklog;
pub use lacking::{NOT_TESTED, is_missing, not_tested};
pub use listen::Listen;
pub use oracle::OracleServer;
pub use port::RefusingPort;
pub use proxy::ProxyServer;
pub use queue::single_queue;
pub use request::Request;
pub use script::{Script, Step, Turn, for_the_last_of, right_then};
pub use seen::{Agreed, Conversation, Seen, Served};
pub use tls::{Authority, Identity, Of, TlsFault, TlsServer};
pub use wait::{PATIENCE, eventually, wait_until};
