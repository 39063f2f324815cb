//! The servers themselves, asked by clients that are nothing but sockets: what they say they saw is what was sent.

mod listening;
mod telling;
mod tls;
