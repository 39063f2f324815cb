//! The null server: it does nothing but answer, as fast as an honest server can. What the generator reaches with it is
//! the machine's ceiling. HTTP/1.1 has event loops of its own here; HTTP/2 and TLS are those of kept libraries, so a generator may
//! be faster than this server there.
//!
//! It runs as a process of its own (the deadheat binary again, with a hidden command), started, pinned and stopped as
//! the stacks are.

mod answers;
mod command;
mod request_counter;
mod server;
mod streams;

pub use command::{ServeOptions, serve};

/// The hidden command's name.
pub const COMMAND: &str = "__null";
