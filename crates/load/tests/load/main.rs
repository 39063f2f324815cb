//! The load generator against servers that tell what they saw.

mod allocation;
mod any_split;
mod counting;
mod ending;
mod faults;
mod pacing;
mod reconnecting;
mod requests;
mod support;
