//! The options of ab (`man ab`, version 2.3).

use std::{path::PathBuf, time::Duration};

use clap::Parser;
use deadheat_model::Failure as Kind;
use deadheat_shell::exit::{CommandFailure, Exit};

use super::equivalent::{
    EACH_REQUEST, EquivalentLoad, Print, loaded, milliseconds, refuse, with, with_flag,
    with_header, with_proxy, with_some,
};
use crate as load;
use crate::{ServerContact, look_alikes::document::Ab, url::LoadUrl};

/// The User-Agent header.
const USER_AGENT: &str = "ApacheBench/2.3";

/// ab's options, as deadheat takes them.
#[derive(Parser)]
#[command(name = "ab", version, disable_version_flag = true)]
pub(super) struct Options {
    /// [http[s]://]host[:port]/path
    #[arg(required_unless_present = "version")]
    url: Option<String>,
    /// Print the version
    #[arg(short = 'V')]
    version: bool,
    /// Requests [default: 1; with -t 50000]
    #[arg(short = 'n', value_name = "N")]
    requests: Option<u64>,
    /// Requests at a time
    #[arg(short = 'c', value_name = "N", default_value_t = 1)]
    concurrency: u32,
    /// Seconds that it may take
    #[arg(short = 't', value_name = "SECONDS")]
    time: Option<u64>,
    /// Seconds to wait for each answer
    #[arg(short = 's', value_name = "SECONDS", default_value_t = 30)]
    timeout: u64,
    /// Connect from this address
    #[arg(short = 'B', value_name = "ADDRESS")]
    source: Option<String>,
    /// POST this file
    #[arg(short = 'p', value_name = "FILE", conflicts_with = "put")]
    post: Option<String>,
    /// PUT this file
    #[arg(short = 'u', value_name = "FILE")]
    put: Option<String>,
    /// The content type of the body
    #[arg(short = 'T', value_name = "TYPE", default_value = "text/plain")]
    content_type: String,
    /// HEAD instead of GET
    #[arg(short = 'i', conflicts_with_all = ["post", "put"])]
    head: bool,
    /// A cookie, NAME=VALUE; repeatable
    #[arg(short = 'C', value_name = "COOKIE")]
    cookies: Vec<String>,
    /// A header; repeatable
    #[arg(short = 'H', value_name = "HEADER")]
    headers: Vec<String>,
    /// Basic authentication, USER:PASSWORD
    #[arg(short = 'A', value_name = "USER")]
    user: Option<String>,
    /// The method
    #[arg(short = 'm', value_name = "METHOD")]
    method: Option<String>,
    /// Keep connections
    #[arg(short = 'k')]
    keep: bool,
    /// No percentages
    #[arg(short = 'd')]
    no_percentages: bool,
    /// Accepted: there is no confidence estimator
    #[arg(short = 'S')]
    no_confidence: bool,
    /// Accepted: there is no progress
    #[arg(short = 'q')]
    quiet: bool,
    /// Go on if the first request fails
    #[arg(short = 'r')]
    go_on: bool,
    /// Bodies may differ in length
    #[arg(short = 'l')]
    variable: bool,
    /// Write the percentages to this file (CSV)
    #[arg(short = 'e', value_name = "FILE")]
    percentiles: Option<PathBuf>,
    /// Go through this proxy, HOST:PORT
    #[arg(short = 'X', value_name = "PROXY")]
    proxy: Option<String>,
    /// A client's certificate with its key (PEM)
    #[arg(short = 'E', value_name = "FILE")]
    certificate: Option<String>,
    /// Load a host that is neither this machine nor in a private network
    #[arg(long)]
    i_may_load_this_host: bool,
    #[command(flatten)]
    refused: Refused,
}

/// What deadheat has not.
#[derive(clap::Args)]
struct Refused {
    #[arg(short = 'g', hide = true)]
    gnuplot: Option<String>,
    #[arg(short = 'b', hide = true)]
    window: Option<String>,
    #[arg(short = 'v', hide = true)]
    verbosity: Option<String>,
    #[arg(short = 'w', hide = true)]
    html: bool,
    #[arg(short = 'x', hide = true)]
    of_table: Option<String>,
    #[arg(short = 'y', hide = true)]
    of_row: Option<String>,
    #[arg(short = 'z', hide = true)]
    of_cell: Option<String>,
    #[arg(short = 'P', hide = true)]
    proxy_user: Option<String>,
    #[arg(short = 'I', hide = true)]
    no_sni: bool,
    #[arg(short = 'Z', hide = true)]
    ciphers: Option<String>,
    #[arg(short = 'f', hide = true)]
    protocol: Option<String>,
}

/// What the options ask for.
pub(super) fn equivalent_load(options: Options) -> Result<EquivalentLoad, CommandFailure> {
    if options.version {
        return Ok(EquivalentLoad::version());
    }
    let refused = &options.refused;
    let tables = "write a page with `deadheat load -o FILE.html`";
    let tls = "it uses TLS 1.2 and 1.3 with their usual cipher suites, and sends the host's name";
    refuse(&[
        ("-g", refused.gnuplot.is_some(), EACH_REQUEST),
        (
            "-b",
            refused.window.is_some(),
            "the system sizes the sockets' buffers",
        ),
        (
            "-v",
            refused.verbosity.is_some(),
            "it shows the first few failures of each kind",
        ),
        ("-w", refused.html, tables),
        ("-x", refused.of_table.is_some(), tables),
        ("-y", refused.of_row.is_some(), tables),
        ("-z", refused.of_cell.is_some(), tables),
        (
            "-P",
            refused.proxy_user.is_some(),
            "write USER:PASSWORD@ before the proxy's name in -X",
        ),
        ("-I", refused.no_sni, tls),
        ("-Z", refused.ciphers.is_some(), tls),
        ("-f", refused.protocol.is_some(), tls),
    ])?;
    let usual = if options.time.is_some() { 50_000 } else { 1 };
    let requests = options.requests.unwrap_or(usual);
    if u64::from(options.concurrency) > requests {
        return Err(CommandFailure::usage(format!(
            "-c {}: that is more than all requests (-n {requests})",
            options.concurrency
        )));
    }
    let mut typed = options.url.unwrap_or_default();
    if !typed.contains("://") {
        typed.insert_str(0, "http://");
    }
    let url = LoadUrl::parse(&typed, false).map_err(CommandFailure::usage)?;
    let mut load = vec![typed];
    with(&mut load, "--requests", requests.to_string());
    with(&mut load, "--connections", options.concurrency.to_string());
    load.push("--first-byte".to_owned());
    with_header(&mut load, &options.headers, "User-Agent", USER_AGENT);
    with_header(&mut load, &options.headers, "Accept", "*/*");
    for header in &options.headers {
        with(&mut load, "-H", header);
    }
    if !options.cookies.is_empty() {
        with(
            &mut load,
            "-H",
            format!("Cookie: {}", options.cookies.join("; ")),
        );
    }
    with_some(&mut load, "--user", &options.user);
    let file = options.post.as_ref().or(options.put.as_ref());
    if let Some(file) = file {
        with(&mut load, "--body-file", file);
        with(
            &mut load,
            "-H",
            format!("Content-Type: {}", options.content_type),
        );
    }
    let of_file = options.put.as_ref().map(|_| "PUT");
    let of_head = options.head.then_some("HEAD");
    let method = options.method.as_deref().or(of_file).or(of_head);
    if let Some(method) = method {
        with(&mut load, "-X", method);
    }
    with(
        &mut load,
        "--timeout",
        milliseconds(Duration::from_secs(options.timeout)),
    );
    with_some(&mut load, "--source", &options.source);
    with_proxy(&mut load, &options.proxy);
    load.push("--http1.0".to_owned());
    with_flag(&mut load, "--no-keepalive", !options.keep);
    if url.origin.tls {
        load.push("--insecure".to_owned());
        if let Some(file) = &options.certificate {
            with(&mut load, "--cert", file);
            with(&mut load, "--key", file);
        }
    }
    with_flag(
        &mut load,
        "--i-may-load-this-host",
        options.i_may_load_this_host,
    );
    Ok(EquivalentLoad {
        version: false,
        load,
        limit: options.time.map(Duration::from_secs),
        print: Print::Ab {
            about: Box::new(Ab {
                host: url.origin.host.to_string(),
                port: url.origin.port,
                path: url.path,
                concurrency: options.concurrency,
                keeps_alive: options.keep,
                has_body: file.is_some(),
                percentages: !options.no_percentages,
                ..Ab::default()
            }),
            goes_on: options.go_on,
            fixed_length: !options.variable && method != Some("HEAD"),
            percentiles: options.percentiles,
        },
    })
}

/// A status that no server has.
const NONE: &str = "599";

/// Sends one request more, to learn what ab takes from its first answer: who serves, and how long a body is.
/// As ab does, it fails if no answer comes, unless `goes_on`: then nothing is learned.
pub(super) fn look(load: &[String], about: &mut Ab, goes_on: bool) -> Result<(), CommandFailure> {
    let once = load.iter().enumerate().map(|(nth, word)| {
        let of = |option: &str| nth > 0 && load[nth - 1] == option;
        if of("--requests") || of("--connections") {
            "1".to_owned()
        } else {
            word.clone()
        }
    });
    let once: Vec<String> = once.collect();
    // The head of an answer that is not as expected is kept.
    let record = loaded(&once, NONE, None, ServerContact::Reached)?;
    let found = &record.observation;
    let Some(example) = found
        .examples
        .first()
        .filter(|_| !found.statuses.is_empty())
    else {
        if goes_on {
            return Ok(());
        }
        let nothing = load::nothing(&record);
        let nothing = nothing.unwrap_or_else(|| "no answer came".to_owned());
        let failed = &found.total.failed;
        // ab exits with the number of the system's error.
        let error = if failed[Kind::ConnectRefused] > 0 {
            Some((111, "Connection refused"))
        } else if failed[Kind::Reset] > 0 {
            Some((104, "Connection reset by peer"))
        } else {
            None
        };
        return Err(match error {
            Some((number, name)) => {
                CommandFailure::no_result(format!("apr_socket_recv: {name} ({number}); {nothing}"))
                    .with(Exit::OfTool(number))
            }
            None => CommandFailure::no_result(nothing),
        });
    };
    // ab has its first word.
    let server = header(&example.detail, "server").unwrap_or_default();
    server
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .clone_into(&mut about.server);
    about.length = Some(found.body_bytes);
    Ok(())
}

/// The value of a header in the beginning of an answer.
fn header(head: &str, name: &str) -> Option<String> {
    let mut lines = head.lines().take_while(|line| !line.is_empty());
    lines.find_map(|line| {
        let (own, value) = line.split_once(':')?;
        own.eq_ignore_ascii_case(name)
            .then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_found_in_a_head() {
        let head = "HTTP/1.1 200 OK\r\nDate: x\r\nserver: nginx/1.2\r\n\r\nServer: not";
        assert_eq!(header(head, "server"), Some("nginx/1.2".to_owned()));
        assert_eq!(header("HTTP/1.1 200 OK\r\n\r\nServer: not", "server"), None);
    }
}
