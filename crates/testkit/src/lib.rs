//! Servers for tests: one that answers by a script and tells what it saw, and the faults that a load generator must tell
//! apart. Loopback only, ports by the system, everything ends on drop.

pub mod answers;
mod conversation;
pub mod documents;
pub mod faults;
pub mod http2;
pub mod http2_server;
pub mod judge;
pub mod latency;
mod listen;
mod machine;
mod oracle;
mod port;
mod proxy;
mod request;
mod seen;
mod sys;
mod tls;
mod wire;

pub use answers::{Action, Script, Turn, for_the_last_of, right_then};
pub use latency::single_queue;
pub use listen::Listen;
pub use machine::{NOT_TESTED, PATIENCE, eventually, is_missing, not_tested, wait_until};
pub use oracle::OracleServer;
pub use port::{FullBacklog, RefusingPort};
pub use proxy::ProxyServer;
pub use request::Request;
pub use seen::{Agreed, Conversation, Seen, Served};
pub use tls::{Authority, CertificateKind, Identity, TlsFault, TlsServer};
