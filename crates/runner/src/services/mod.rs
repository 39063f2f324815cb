//! What a session needs beside the stacks: a seeded PostgreSQL, an upstream that answers slowly, and a server that does
//! nothing but answer.
//!
//! All run under a supervisor of their own, listen on loopback only, and leave nothing behind.

mod error;
mod limits;
pub mod null;
pub mod postgres;
pub mod upstream;

pub use error::ServiceError;
pub use postgres::{Access, Mirror, Places, Postgres, PostgresOptions, Said, Served, Source};
pub use upstream::Upstream;
