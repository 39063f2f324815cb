//! Runs a session: finds manifests, prepares stacks, starts services and servers, checks answers, loads, samples,
//! and tells of it in events. Knows no report and no statistics.

pub mod agent;
pub mod certificate;
pub mod collector;
pub mod doctor;
pub mod eject;
pub mod embedded;
pub mod files;
mod git;
pub mod heat;
pub mod manifest;
pub mod prepare;
pub mod process;
mod project_files;
pub mod revision;
pub mod sampling;
pub mod secret;
pub mod services;
pub mod session;
pub mod trust;
pub mod verify;
