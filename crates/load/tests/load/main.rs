//! The load generator against servers that tell what they saw.

mod allocation;
mod any_split;
mod arrivals;
mod browsing;
mod counting;
mod ending;
mod faults;
mod latency;
mod long_bodies;
mod pacing;
mod reconnecting;
mod requests;
mod sessions;
mod support;
mod tls;
mod unix;
