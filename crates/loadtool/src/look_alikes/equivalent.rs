//! What another tool's options ask for: the arguments of `deadheat load` that do the same, and how the result is
//! printed.

use std::{path::PathBuf, time::Duration};

use crate as load;
use clap::Parser;
use deadheat_model::LoadRecord;
use deadheat_runner::session::describe_machine;
use deadheat_shell::exit::CommandFailure;

use super::document::{Ab, Wrk};
use crate::{ServerContact, options::LoadArgs};

/// What a tool's options ask for.
pub(super) struct EquivalentLoad {
    /// The version alone; nothing is loaded.
    pub(super) version: bool,
    /// The arguments of `deadheat load` that do the same.
    pub(super) load: Vec<String>,
    /// The measurement ends after so long, whatever else ends it.
    pub(super) limit: Option<Duration>,
    pub(super) print: Print,
}

impl EquivalentLoad {
    /// The version alone.
    pub(super) fn version() -> Self {
        Self {
            version: true,
            load: Vec::new(),
            limit: None,
            print: Print::Hey,
        }
    }
}

/// How it is printed.
pub(super) enum Print {
    Ab {
        about: Box<Ab>,
        /// Whether bodies of another length than the first are failures.
        fixed_length: bool,
        /// Whether failures before the first answer are counted, and not the end.
        goes_on: bool,
        /// Where the percentages go.
        percentiles: Option<PathBuf>,
    },
    Wrk(Wrk),
    Hey,
    Oha {
        json: bool,
        corrected: bool,
        file: Option<PathBuf>,
    },
}

/// The arguments of `deadheat load` alone.
#[derive(Parser)]
#[command(name = "load")]
pub(super) struct LoadArguments {
    #[command(flatten)]
    pub(super) load: LoadArgs,
}

/// Statuses of which each is an answer, as for the tools.
pub(super) const ANY: &str = "100-599";

/// Goes through this proxy, HOST:PORT or a URL.
pub(super) fn with_proxy(load: &mut Vec<String>, proxy: &Option<String>) {
    if let Some(proxy) = proxy {
        let is_url = proxy.contains("://");
        let scheme = if is_url { "" } else { "http://" };
        with(load, "--proxy", format!("{scheme}{proxy}"));
    }
}

/// Why redirects cannot be followed through such a proxy.
pub(super) const ABSOLUTE_FORM: &str =
    "a proxy is sent whole URLs for http://, and redirects cannot be followed in these";

/// Whether requests through this proxy name the whole URL, without TLS.
pub(super) fn uses_absolute_form(proxy: &Option<String>, tls: bool) -> bool {
    let proxy = proxy.as_deref();
    !tls && proxy.is_some_and(|proxy| !proxy.starts_with("socks"))
}

/// Follows redirects as often in a row.
pub(super) fn with_redirects(load: &mut Vec<String>, most: u32) {
    load.push(format!("--follow-redirects={most}"));
}

/// Loads as the arguments of `deadheat load` say, in which each of these statuses is valid. Other parameters are those
/// of [`load::observed`].
pub(super) fn loaded(
    arguments: &[String],
    statuses: &str,
    limit: Option<Duration>,
    contact: ServerContact,
) -> Result<LoadRecord, CommandFailure> {
    let own = ["load", "--expect-status", statuses, "--warm-up", "0s"];
    let typed = own.into_iter().chain(arguments.iter().map(String::as_str));
    let typed = LoadArguments::try_parse_from(typed).map_err(CommandFailure::usage)?;
    load::observed(&typed.load, limit, contact)
}

/// Refuses the first of these options that was given: its name, and why it cannot be had.
pub(super) fn refuse(options: &[(&str, bool, &str)]) -> Result<(), CommandFailure> {
    match options.iter().find(|(_, given, _)| *given) {
        Some((name, _, why)) => Err(CommandFailure::usage(format!(
            "{name}: deadheat cannot do this: {why}"
        ))),
        None => Ok(()),
    }
}

/// Why an option that would need something of each request is refused.
pub(super) const EACH_REQUEST: &str =
    "it counts requests and keeps none; write intervals with `deadheat load -o FILE.csv`";
/// Why HTTP/2 is refused.
pub(super) const HTTP2: &str = "it takes the options of this tool for HTTP/1 alone; HTTP/2 is spoken by `deadheat load --http2`";

/// What is given for a tool that waits without end: `deadheat load` always has a timeout.
pub(super) const FOREVER: Duration = Duration::from_secs(3600);

/// A time as `deadheat load` reads it.
pub(super) fn milliseconds(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}

/// Adds an option with its value.
pub(super) fn with(load: &mut Vec<String>, option: &str, value: impl Into<String>) {
    load.extend([option.to_owned(), value.into()]);
}

/// The same, if there is a value.
pub(super) fn with_some(load: &mut Vec<String>, option: &str, value: &Option<String>) {
    if let Some(value) = value {
        with(load, option, value);
    }
}

/// Adds an option without a value, if it is wanted.
pub(super) fn with_flag(load: &mut Vec<String>, option: &str, wanted: bool) {
    if wanted {
        load.push(option.to_owned());
    }
}

/// Adds a header of the tool's own, unless `given` has one of this name.
pub(super) fn with_header(load: &mut Vec<String>, given: &[String], name: &str, value: &str) {
    let is_given = given.iter().any(|header| {
        let (own, _) = header.split_once(':').unwrap_or((header, ""));
        own.trim().eq_ignore_ascii_case(name)
    });
    if !is_given {
        with(load, "-H", format!("{name}: {value}"));
    }
}

/// Has `load` use this many threads, but no more than there are connections.
pub(super) fn use_threads(load: &mut Vec<String>, threads: u32, connections: u32) {
    with(load, "--threads", threads.min(connections).to_string());
}

/// The most threads that have a CPU each, up to `wanted`.
pub(super) fn at_most(wanted: u32) -> u32 {
    let cpus = u32::try_from(describe_machine().cpus.len()).unwrap_or(u32::MAX);
    wanted.min(cpus).max(1)
}
