//! The load generator against servers that tell what they saw.

mod allocation;
mod any_split;
mod arrivals;
mod browsing;
mod counted;
mod counting;
mod ending;
mod faults;
mod http2;
mod last_requests;
mod latency;
mod long_bodies;
mod own_waits;
mod pacing;
mod proxies;
mod reconnecting;
mod requests;
mod routes;
mod sessions;
mod streams;
mod support;
mod thinking;
mod tls;
mod unix;
