//! The runner's integration tests, in one binary.

mod manifest;
mod process;
mod services;
