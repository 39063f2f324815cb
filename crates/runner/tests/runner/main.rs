//! The runner's integration tests, in one binary.

mod process;
mod services;
