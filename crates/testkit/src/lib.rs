//! Servers for tests: one that answers by a script and tells what it saw, one that only answers quickly, and the
//! faults that a load generator must tell apart. Loopback only, ports by the system, everything ends on drop.

pub mod answers;
pub mod faults;
mod null;
mod oracle;
mod port;
mod request;
mod script;

pub use null::NullServer;
pub use oracle::{OracleServer, Seen};
pub use port::RefusingPort;
pub use request::Request;
pub use script::{Script, Step, Turn, right_then};
