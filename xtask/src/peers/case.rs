//! What is compared: each case is the same load for every tool that can do it, with what Deadheat is to reach.

use clap::ValueEnum;

use super::{
    load::{Load, Resource},
    tool::Tool,
};

/// A case, as it is named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// 12-byte answers, keep-alive, 50 connections
    Small,
    /// 1 MiB answers, keep-alive, 50 connections
    Payload,
    /// A connection per request, 12-byte answers, 50 at once
    Connect,
    /// 16 requests pipelined on each of 50 connections, 12-byte answers
    Pipeline,
    /// TLS 1.3, keep-alive, 12-byte answers, 50 connections
    Tls,
    /// 20,000 requests per second on 100 connections, 12-byte answers
    Open,
    /// 10,000 connections, keep-alive, 12-byte answers
    Idle10k,
    /// HTTP/2 without TLS, 12-byte answers, 10 connections with 1 stream
    H2c,
    /// HTTP/2 without TLS, 12-byte answers, 10 connections with 32 streams
    H2cStreams,
    /// HTTP/2 over TLS 1.3, 12-byte answers, 10 connections with 32 streams
    H2Tls,
    /// HTTP/2 without TLS, 64 KiB answers, 10 connections with 32 streams
    H2cPage,
}

/// A figure that a target is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    /// CPU time per answered request.
    Cpu,
    /// The largest resident set.
    Memory,
}

/// What Deadheat is to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// At most so many times the figure of a peer.
    Ratio {
        figure: Figure,
        peer: Tool,
        most: f64,
    },
    /// A 99th percentile of the send lag of at most so many microseconds.
    SendLag { most_us: f64 },
}

const fn cpu(peer: Tool, most: f64) -> Target {
    Target::Ratio {
        figure: Figure::Cpu,
        peer,
        most,
    }
}

impl Case {
    /// The name on the command line and in the document's markers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Case::Small => "small",
            Case::Payload => "payload",
            Case::Connect => "connect",
            Case::Pipeline => "pipeline",
            Case::Tls => "tls",
            Case::Open => "open",
            Case::Idle10k => "idle10k",
            Case::H2c => "h2c",
            Case::H2cStreams => "h2c-streams",
            Case::H2Tls => "h2-tls",
            Case::H2cPage => "h2c-page",
        }
    }

    /// What it is, for a table's head.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Case::Small => "12-byte answers, keep-alive, 50 connections",
            Case::Payload => "1 MiB answers, keep-alive, 50 connections",
            Case::Connect => "a connection per request, 12-byte answers, 50 at once",
            Case::Pipeline => "16 requests pipelined on each of 50 connections, 12-byte answers",
            Case::Tls => "TLS 1.3, keep-alive, 12-byte answers, 50 connections",
            Case::Open => "20,000 requests per second on 100 connections, 12-byte answers",
            Case::Idle10k => "10,000 connections, keep-alive, 12-byte answers",
            Case::H2c => "HTTP/2 without TLS, 12-byte answers, 10 connections with 1 stream",
            Case::H2cStreams => {
                "HTTP/2 without TLS, 12-byte answers, 10 connections with 32 streams"
            }
            Case::H2Tls => "HTTP/2 over TLS 1.3, 12-byte answers, 10 connections with 32 streams",
            Case::H2cPage => "HTTP/2 without TLS, 64 KiB answers, 10 connections with 32 streams",
        }
    }

    /// What every tool is asked to do.
    pub(crate) fn load(self) -> Load {
        let small = Load {
            connections: 50,
            depth: 1,
            http2: false,
            keep_alive: true,
            tls: false,
            resource: Resource::Small,
            rate: None,
        };
        let streams = Load {
            connections: 10,
            depth: 32,
            http2: true,
            ..small
        };
        match self {
            Case::Small => small,
            Case::Payload => Load {
                resource: Resource::Payload,
                ..small
            },
            Case::Connect => Load {
                keep_alive: false,
                ..small
            },
            Case::Pipeline => Load { depth: 16, ..small },
            Case::Tls => Load { tls: true, ..small },
            Case::Open => Load {
                connections: 100,
                rate: Some(20_000),
                ..small
            },
            Case::Idle10k => Load {
                connections: 10_000,
                ..small
            },
            Case::H2c => Load {
                depth: 1,
                ..streams
            },
            Case::H2cStreams => streams,
            Case::H2Tls => Load {
                tls: true,
                ..streams
            },
            Case::H2cPage => Load {
                resource: Resource::Page,
                ..streams
            },
        }
    }

    /// What Deadheat is to reach in it.
    pub(crate) fn targets(self) -> &'static [Target] {
        match self {
            Case::Small => {
                const {
                    &[
                        cpu(Tool::Wrk, 0.88),
                        cpu(Tool::Shb, 0.93),
                        cpu(Tool::Oha, 0.65),
                    ]
                }
            }
            Case::Payload => {
                const {
                    &[
                        cpu(Tool::Wrk, 0.17),
                        cpu(Tool::Shb, 0.55),
                        cpu(Tool::Oha, 0.65),
                    ]
                }
            }
            Case::Connect => const { &[cpu(Tool::Ab, 0.96)] },
            Case::Pipeline => const { &[cpu(Tool::Wrk, 0.95)] },
            Case::Tls => const { &[cpu(Tool::Wrk, 0.90)] },
            Case::Open => const { &[cpu(Tool::Oha, 0.80), Target::SendLag { most_us: 100.0 }] },
            Case::Idle10k => &[Target::Ratio {
                figure: Figure::Memory,
                peer: Tool::Wrk,
                most: 1.0,
            }],
            Case::H2c | Case::H2cStreams | Case::H2Tls | Case::H2cPage => {
                const {
                    &[
                        cpu(Tool::H2load, 0.60),
                        cpu(Tool::Shb, 1.0),
                        cpu(Tool::Oha, 0.35),
                    ]
                }
            }
        }
    }
}
