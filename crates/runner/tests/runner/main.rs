//! The runner's integration tests, in one binary.

mod manifest;
mod prepare;
mod process;
mod revision;
mod sampling;
mod services;
mod verify;
