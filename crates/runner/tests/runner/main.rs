//! The runner's integration tests, in one binary.

mod freezing;
mod heats;
mod manifest;
mod prepare;
mod process;
mod revision;
mod services;
mod sessions_of_heats;
mod verify;
