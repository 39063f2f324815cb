//! The options of wrk (version 4).

use std::time::Duration;

use clap::Parser;
use deadheat_shell::exit::CommandFailure;

use super::{
    document::Wrk,
    equivalent::{self, EquivalentLoad, FOREVER, Print, milliseconds, refuse, with, with_flag},
};
use crate::url::LoadUrl;

/// wrk's threads, if nobody says how many.
const THREADS: u32 = 2;

/// wrk's options, as deadheat takes them.
#[derive(Parser)]
#[command(name = "wrk", version, disable_version_flag = true)]
pub(super) struct Options {
    /// The URL
    #[arg(required_unless_present = "version")]
    url: Option<String>,
    /// Print the version
    #[arg(short, long)]
    version: bool,
    /// Connections, in all
    #[arg(short, long, value_name = "N", default_value = "10", value_parser = count)]
    connections: u32,
    /// How long, like 10s, 2m or 1h
    #[arg(short, long, value_name = "TIME", default_value = "10s", value_parser = time)]
    duration: Duration,
    /// Threads [default: 2, or 1 with a single CPU]
    #[arg(short, long, value_name = "N", value_parser = count)]
    threads: Option<u32>,
    /// A header; repeatable
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    /// Show the distribution of latencies
    #[arg(short = 'L', long, alias = "latencies")]
    latency: bool,
    /// Answers that take longer also count as timeouts
    #[arg(short = 'T', long, value_name = "TIME", default_value = "2s", value_parser = time)]
    timeout: Duration,
    /// Load a host that is neither this machine nor in a private network
    #[arg(long)]
    i_may_load_this_host: bool,
    #[arg(short, long, hide = true)]
    script: Option<String>,
}

/// What the options ask for.
pub(super) fn equivalent_load(options: Options) -> Result<EquivalentLoad, CommandFailure> {
    refuse(&[(
        "-s",
        options.script.is_some(),
        "it runs no Lua; `deadheat load` has --method, --body, --urls and --template",
    )])?;
    let threads = options
        .threads
        .unwrap_or_else(|| equivalent::at_most(THREADS).min(options.connections));
    if threads > options.connections {
        return Err(CommandFailure::usage(format!(
            "-t {threads}: each thread needs a connection, and there are {} (-c)",
            options.connections
        )));
    }
    if options.version {
        return Ok(EquivalentLoad::version());
    }
    let typed = options.url.unwrap_or_default();
    let url = LoadUrl::parse(&typed, false).map_err(CommandFailure::usage)?;
    let mut load = vec![typed.clone()];
    // Each of wrk's threads has as many as any other, and what is left over is not made.
    let of_wrk = options.threads.unwrap_or(THREADS.min(options.connections));
    let connections = options.connections / of_wrk * of_wrk;
    with(&mut load, "--connections", connections.to_string());
    with(&mut load, "--duration", milliseconds(options.duration));
    // It waits until it ends; Deadheat, at most an hour.
    with(&mut load, "--timeout", milliseconds(FOREVER));
    with(&mut load, "--grace", "0s");
    for header in &options.headers {
        with(&mut load, "-H", header);
    }
    equivalent::use_threads(&mut load, threads, connections);
    // wrk measures rates in intervals of a tenth of a second.
    with(&mut load, "--interval", "100ms");
    with_flag(&mut load, "--insecure", url.origin.tls);
    with_flag(
        &mut load,
        "--i-may-load-this-host",
        options.i_may_load_this_host,
    );
    Ok(EquivalentLoad {
        version: false,
        load,
        limit: None,
        print: Print::Wrk(Wrk {
            url: typed,
            threads,
            connections: options.connections,
            latency: options.latency,
            timeout: options.timeout,
        }),
    })
}

/// "400", "1k".
fn count(text: &str) -> Result<u32, String> {
    let found = scaled(
        text,
        &[("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)],
    );
    let found = found.and_then(|number| u32::try_from(number).ok());
    found
        .filter(|number| *number > 0)
        .ok_or_else(|| "write a number above 0, such as 400 or 1k".to_owned())
}

/// "10" (seconds), "10s", "2m", "1h".
fn time(text: &str) -> Result<Duration, String> {
    let seconds = scaled(text, &[("s", 1), ("m", 60), ("h", 3600)]);
    seconds
        .filter(|seconds| *seconds > 0)
        .map(Duration::from_secs)
        .ok_or_else(|| "write a time above 0, such as 10s, 2m or 1h".to_owned())
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let found = units.iter().find_map(|(unit, factor)| {
        let number = text.strip_suffix(unit)?;
        Some((number, *factor))
    });
    let (number, factor) = found.unwrap_or((text, 1));
    number.parse::<u64>().ok()?.checked_mul(factor)
}
