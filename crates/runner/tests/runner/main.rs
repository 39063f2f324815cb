//! The runner's integration tests, in one binary.

mod manifest;
mod prepare;
mod process;
mod revision;
mod services;
mod verify;
