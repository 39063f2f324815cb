//! The options of oha (version 1).

use std::{path::PathBuf, time::Duration};

use clap::{Parser, ValueEnum};
use deadheat_shell::exit::CommandFailure;

use super::equivalent::{
    ABSOLUTE_FORM, EACH_REQUEST, EquivalentLoad, FOREVER, HTTP2, Print, milliseconds, refuse,
    uses_absolute_form, with, with_flag, with_header, with_proxy, with_redirects, with_some,
};
use crate::url::LoadUrl;

/// Redirects that oha follows in a row, unless `-r` sets a number.
const REDIRECTS: u32 = 10;
/// The User-Agent header.
const USER_AGENT: &str = "oha/1.16.0";

/// How the report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// oha's options, as deadheat takes them.
#[derive(Parser)]
#[command(name = "oha", version = concat!("1 (deadheat ", env!("CARGO_PKG_VERSION"), ")"))]
pub(super) struct Options {
    /// The URL
    url: String,
    /// Requests, such as 200, 10k or 1m
    #[arg(short = 'n', value_name = "N", default_value = "200", value_parser = requests)]
    requests: u64,
    /// Connections
    #[arg(short = 'c', value_name = "N", default_value_t = 50)]
    connections: u32,
    /// How long, instead of -n
    #[arg(short = 'z', value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,
    /// Requests per second, sent when they are due
    #[arg(short = 'q', value_name = "RATE")]
    rate: Option<f64>,
    /// With -q: times from when a request was due
    #[arg(long)]
    latency_correction: bool,
    /// Accepted: there is no view
    #[arg(long)]
    no_tui: bool,
    /// Accepted: there is no colour
    #[arg(long)]
    no_color: bool,
    /// Wait at the end for requests in flight
    #[arg(short = 'w', long)]
    wait_ongoing_requests_after_deadline: bool,
    /// The method
    #[arg(short = 'm', long, value_name = "METHOD", default_value = "GET")]
    method: String,
    /// A header; repeatable
    #[arg(short = 'H', value_name = "HEADER")]
    headers: Vec<String>,
    /// The maximum time for an answer [default: an hour]
    #[arg(short = 't', value_name = "TIME", value_parser = humantime::parse_duration)]
    timeout: Option<Duration>,
    /// The maximum time to make a connection
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = humantime::parse_duration)]
    connect_timeout: Duration,
    /// The Accept header
    #[arg(short = 'A', value_name = "TYPE")]
    accept: Option<String>,
    /// The body
    #[arg(short = 'd', value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,
    /// The body is this file's content
    #[arg(short = 'D', value_name = "FILE")]
    body_file: Option<String>,
    /// A field of a form, NAME=VALUE or NAME=@FILE; repeatable
    #[arg(short = 'F', long, value_name = "FIELD", conflicts_with_all = ["body", "body_file"])]
    form: Vec<String>,
    /// Go through this proxy, HOST:PORT or a URL
    #[arg(short = 'x', value_name = "PROXY")]
    proxy: Option<String>,
    /// The content type
    #[arg(short = 'T', value_name = "TYPE")]
    content_type: Option<String>,
    /// Basic authentication, USER:PASSWORD
    #[arg(short = 'a', value_name = "USER")]
    user: Option<String>,
    /// 1.0 or 1.1
    #[arg(long, value_name = "VERSION", default_value = "1.1")]
    http_version: String,
    /// The Host header
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Ask for no compression
    #[arg(long)]
    disable_compression: bool,
    /// Redirects to follow in a row
    #[arg(short = 'r', long, value_name = "N", default_value_t = REDIRECTS)]
    redirect: u32,
    /// A new connection for each request
    #[arg(long)]
    disable_keepalive: bool,
    /// Use IPv6 only
    #[arg(long)]
    ipv6: bool,
    /// Use IPv4 only
    #[arg(long)]
    ipv4: bool,
    /// Accept certificates signed by these authorities (PEM)
    #[arg(long, value_name = "FILE")]
    cacert: Option<String>,
    /// The client's certificate
    #[arg(long, value_name = "FILE")]
    cert: Option<String>,
    /// Its key
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
    /// Accept any certificate
    #[arg(long)]
    insecure: bool,
    /// Connect to this Unix socket
    #[arg(long, value_name = "PATH")]
    unix_socket: Option<String>,
    /// Write the report to this file
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    output_format: Format,
    /// As --output-format json
    #[arg(short = 'j', long)]
    json: bool,
    /// Load a host that is neither this machine nor in a private network
    #[arg(long)]
    i_may_load_this_host: bool,
    #[command(flatten)]
    refused: Refused,
}

/// What deadheat has not.
#[derive(clap::Args)]
struct Refused {
    #[arg(short = 'p', hide = true)]
    parallel: Option<String>,
    #[arg(long, hide = true)]
    http2: bool,
    #[arg(long, hide = true)]
    burst_delay: Option<String>,
    #[arg(long, hide = true)]
    burst_rate: Option<String>,
    #[arg(long, hide = true)]
    rand_regex_url: bool,
    #[arg(long, hide = true)]
    urls_from_file: bool,
    #[arg(short = 'Z', hide = true)]
    body_lines: Option<String>,
    #[arg(long, hide = true)]
    aws_sigv4: Option<String>,
    #[arg(long, hide = true)]
    connect_to: Vec<String>,
    #[arg(long, hide = true)]
    stats_success_breakdown: bool,
    #[arg(long, hide = true)]
    db_url: Option<String>,
    #[arg(long, hide = true)]
    debug: bool,
}

/// What the options ask for.
pub(super) fn equivalent_load(options: Options) -> Result<EquivalentLoad, CommandFailure> {
    let refused = &options.refused;
    let random = "`deadheat load` has --template and --urls for that";
    refuse(&[
        ("-p", refused.parallel.is_some(), HTTP2),
        ("--http2", refused.http2, HTTP2),
        (
            "--http-version",
            !["1.0", "1.1"].contains(&options.http_version.as_str()),
            HTTP2,
        ),
        (
            "--burst-delay",
            refused.burst_delay.is_some() || refused.burst_rate.is_some(),
            "`deadheat load` has --stage for rates that change",
        ),
        ("--rand-regex-url", refused.rand_regex_url, random),
        ("--urls-from-file", refused.urls_from_file, random),
        ("-Z", refused.body_lines.is_some(), random),
        (
            "--aws-sigv4",
            refused.aws_sigv4.is_some(),
            "it signs nothing",
        ),
        (
            "--connect-to",
            !refused.connect_to.is_empty(),
            "`deadheat load` has --resolve for that",
        ),
        (
            "--stats-success-breakdown",
            refused.stats_success_breakdown,
            "`deadheat load` has the times of valid answers alone",
        ),
        ("--db-url", refused.db_url.is_some(), EACH_REQUEST),
        ("--debug", refused.debug, "use curl -v"),
    ])?;
    if options.latency_correction && options.rate.is_none() {
        return Err(CommandFailure::usage(
            "--latency-correction: give a rate with -q",
        ));
    }
    let url = LoadUrl::parse(&options.url, false).map_err(CommandFailure::usage)?;
    if options.redirect > 0 && uses_absolute_form(&options.proxy, url.origin.tls) {
        return Err(CommandFailure::usage(format!(
            "-x: {ABSOLUTE_FORM}; add -r 0"
        )));
    }
    if !options.form.is_empty() && options.content_type.is_some() {
        return Err(CommandFailure::usage(
            "-F and -T: a form has a content type of its own, which -T would change",
        ));
    }
    let mut load = vec![options.url];
    with(&mut load, "--connections", options.connections.to_string());
    match options.duration {
        Some(length) => {
            with(&mut load, "--duration", milliseconds(length));
            if !options.wait_ongoing_requests_after_deadline {
                with(&mut load, "--grace", "0s");
            }
        }
        None => with(&mut load, "--requests", options.requests.to_string()),
    }
    if let Some(rate) = options.rate {
        with(&mut load, "--rate", format!("{rate}/s"));
    }
    load.push("--first-byte".to_owned());
    let is_form = !options.form.is_empty();
    let method = if is_form && options.method == "GET" {
        "POST"
    } else {
        &options.method
    };
    with(&mut load, "-X", method);
    for field in &options.form {
        with(&mut load, "--form", field);
    }
    with_proxy(&mut load, &options.proxy);
    if options.redirect > 0 {
        with_redirects(&mut load, options.redirect);
    }
    with_some(&mut load, "--body", &options.body);
    with_some(&mut load, "--body-file", &options.body_file);
    for header in &options.headers {
        with(&mut load, "-H", header);
    }
    let mut own = |name: &str, value: &str| with_header(&mut load, &options.headers, name, value);
    own("Accept", options.accept.as_deref().unwrap_or("*/*"));
    if !options.disable_compression {
        own("Accept-Encoding", "gzip, compress, deflate, br");
    }
    own("User-Agent", USER_AGENT);
    if let Some(kind) = &options.content_type {
        own("Content-Type", kind);
    }
    if let Some(host) = &options.host {
        own("Host", host);
    }
    with_some(&mut load, "--user", &options.user);
    with(
        &mut load,
        "--timeout",
        milliseconds(options.timeout.unwrap_or(FOREVER)),
    );
    with(
        &mut load,
        "--connect-timeout",
        milliseconds(options.connect_timeout),
    );
    with_flag(&mut load, "--http1.0", options.http_version == "1.0");
    with_flag(&mut load, "--no-keepalive", options.disable_keepalive);
    with_flag(&mut load, "-6", options.ipv6);
    with_flag(&mut load, "-4", options.ipv4);
    with_some(&mut load, "--cacert", &options.cacert);
    with_some(&mut load, "--cert", &options.cert);
    with_some(&mut load, "--key", &options.key);
    with_flag(&mut load, "--insecure", options.insecure);
    with_some(&mut load, "--unix-socket", &options.unix_socket);
    with_flag(
        &mut load,
        "--i-may-load-this-host",
        options.i_may_load_this_host,
    );
    Ok(EquivalentLoad {
        version: false,
        load,
        limit: None,
        print: Print::Oha {
            json: options.json || options.output_format == Format::Json,
            corrected: options.latency_correction,
            file: options.output,
        },
    })
}

/// "200", "10k", "1m".
fn requests(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (number, factor) = match (lower.strip_suffix('k'), lower.strip_suffix('m')) {
        (Some(number), _) => (number, 1_000),
        (_, Some(number)) => (number, 1_000_000),
        (None, None) => (lower.as_str(), 1),
    };
    let number = number.parse::<u64>().ok();
    number
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| "write a number such as 200, 10k or 1m".to_owned())
}
