//! What workloads need beside the stack: a seeded PostgreSQL and an upstream that answers slowly.
//!
//! Both run under a supervisor of their own, listen on loopback only, and leave nothing behind.

mod error;
pub mod postgres;
pub mod upstream;

pub use error::ServiceError;
pub use postgres::{Mirror, Places, Postgres, PostgresOptions, Source};
pub use upstream::Upstream;
