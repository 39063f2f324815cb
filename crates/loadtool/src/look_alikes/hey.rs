//! The options of hey (version 0.1).

use std::{ffi::OsString, time::Duration};

use clap::Parser;
use deadheat_shell::exit::CommandFailure;

use super::equivalent::{
    self, ABSOLUTE_FORM, EACH_REQUEST, EquivalentLoad, FOREVER, HTTP2, Print, milliseconds, refuse,
    uses_absolute_form, with, with_flag, with_proxy, with_redirects, with_some,
};
use crate::url::LoadUrl;

/// Redirects that Go's client follows in a row (net/http, `Client.CheckRedirect`).
const REDIRECTS: u32 = 10;
/// What the User-Agent header is, or ends with.
const USER_AGENT: &str = "hey/0.0.1";

/// hey's options, as deadheat takes them.
#[derive(Parser)]
#[command(name = "hey", version, disable_version_flag = true)]
pub(super) struct Options {
    /// The URL
    url: String,
    /// Requests; a worker sends as many as any other one
    #[arg(short = 'n', value_name = "N", default_value_t = 200)]
    requests: u64,
    /// Workers, each with a connection
    #[arg(short = 'c', value_name = "N", default_value_t = 50)]
    concurrency: u32,
    /// Requests per second of each worker, sent when they are due
    #[arg(short = 'q', value_name = "RATE")]
    rate: Option<f64>,
    /// How long, like 10s or 3m, instead of -n
    #[arg(short = 'z', value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,
    /// The method, also with a body
    #[arg(short = 'm', value_name = "METHOD", default_value = "GET")]
    method: String,
    /// A header; repeatable
    #[arg(short = 'H', value_name = "HEADER")]
    headers: Vec<String>,
    /// Seconds to wait for each answer; 0: an hour
    #[arg(short = 't', value_name = "SECONDS", default_value_t = 20)]
    timeout: u64,
    /// The Accept header
    #[arg(short = 'A', value_name = "TYPE")]
    accept: Option<String>,
    /// The body
    #[arg(short = 'd', value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,
    /// The body is this file's content
    #[arg(short = 'D', value_name = "FILE")]
    body_file: Option<String>,
    /// The content type
    #[arg(short = 'T', value_name = "TYPE", default_value = "text/html")]
    content_type: String,
    /// The User-Agent header, before hey's own
    #[arg(short = 'U', value_name = "TEXT")]
    user_agent: Option<String>,
    /// Basic authentication, USER:PASSWORD
    #[arg(short = 'a', value_name = "USER")]
    user: Option<String>,
    /// The Host header
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Ask for no compression
    #[arg(long)]
    disable_compression: bool,
    /// A new connection for each request
    #[arg(long)]
    disable_keepalive: bool,
    /// Go through this proxy, HOST:PORT or a URL
    #[arg(short = 'x', value_name = "PROXY")]
    proxy: Option<String>,
    /// Do not follow redirects
    #[arg(long)]
    disable_redirects: bool,
    /// Threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    cpus: u32,
    /// Load a host that is neither this machine nor in a private network
    #[arg(long)]
    i_may_load_this_host: bool,
    #[arg(short = 'o', hide = true)]
    output: Option<String>,
    #[arg(long = "h2", hide = true)]
    http2: bool,
}

/// Options of one dash and several letters, as Go's programs have them, with two.
pub(super) fn long(typed: Vec<OsString>) -> Vec<OsString> {
    let long = |word: OsString| match word.to_str() {
        Some(text) if is_long(text) => OsString::from(format!("-{text}")),
        _ => word,
    };
    typed.into_iter().map(long).collect()
}

/// "-disable-keepalive", but not "-n", "-n=5" or "--host".
fn is_long(text: &str) -> bool {
    let name = text.strip_prefix('-').unwrap_or_default();
    let mut letters = name.chars();
    let begins = letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic());
    begins && letters.next().is_some_and(|second| second != '=')
}

/// Headers, each with its value.
type Headers<'a> = Vec<(&'a str, String)>;

/// Sets a header to one value, as in Go (net/http, `Header.Set`): the last one counts.
fn set<'a>(headers: &mut Headers<'a>, name: &'a str, value: impl Into<String>) {
    headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
    headers.push((name, value.into()));
}

/// The value of a header.
fn value_of<'a>(headers: &'a Headers<'_>, name: &str) -> Option<&'a str> {
    let mut all = headers.iter();
    let found = all.find(|(other, _)| other.eq_ignore_ascii_case(name))?;
    Some(found.1.as_str())
}

/// The headers that hey sends, in the order in which it sets them (hey.go, `main`).
fn headers(options: &Options) -> Result<Headers<'_>, CommandFailure> {
    let mut headers = Headers::new();
    set(&mut headers, "Content-Type", &options.content_type);
    for header in &options.headers {
        let Some((name, value)) = header.split_once(':') else {
            return Err(CommandFailure::usage(
                "write a header of -H as 'Name: value'",
            ));
        };
        set(&mut headers, name.trim(), value.trim());
    }
    if let Some(accept) = &options.accept {
        set(&mut headers, "Accept", accept);
    }
    let agent = options.user_agent.as_deref();
    let agent = match agent.or_else(|| value_of(&headers, "User-Agent")) {
        Some(typed) => format!("{typed} {USER_AGENT}"),
        None => USER_AGENT.to_owned(),
    };
    set(&mut headers, "User-Agent", agent);
    // This one is of Go's client, which leaves another one as it is.
    let is_given = value_of(&headers, "Accept-Encoding").is_some();
    if !options.disable_compression && !is_given {
        set(&mut headers, "Accept-Encoding", "gzip");
    }
    if let Some(host) = &options.host {
        set(&mut headers, "Host", host);
    }
    Ok(headers)
}

/// What the options ask for.
pub(super) fn equivalent_load(options: Options) -> Result<EquivalentLoad, CommandFailure> {
    refuse(&[
        ("-o", options.output.is_some(), EACH_REQUEST),
        ("-h2", options.http2, HTTP2),
    ])?;
    let workers = u64::from(options.concurrency);
    if workers == 0 || (options.requests < workers && options.duration.is_none()) {
        return Err(CommandFailure::usage(format!(
            "-n {}: that is less than one for each of -c {workers}",
            options.requests
        )));
    }
    let url = LoadUrl::parse(&options.url, false).map_err(CommandFailure::usage)?;
    let follows_whole = uses_absolute_form(&options.proxy, url.origin.tls);
    if follows_whole && !options.disable_redirects {
        return Err(CommandFailure::usage(format!(
            "-x: {ABSOLUTE_FORM}; add -disable-redirects"
        )));
    }
    let mut load = vec![options.url.clone()];
    with(&mut load, "--connections", workers.to_string());
    match options.duration {
        Some(length) => with(&mut load, "--duration", milliseconds(length)),
        None => {
            let requests = options.requests / workers * workers;
            with(&mut load, "--requests", requests.to_string());
        }
    }
    if let Some(rate) = options.rate.filter(|rate| *rate > 0.0) {
        with(&mut load, "--rate", format!("{}/s", rate * workers as f64));
    }
    load.push("--first-byte".to_owned());
    with(&mut load, "-X", options.method.to_ascii_uppercase());
    with_some(&mut load, "--body", &options.body);
    with_some(&mut load, "--body-file", &options.body_file);
    for (name, value) in headers(&options)? {
        with(&mut load, "-H", format!("{name}: {value}"));
    }
    with_some(&mut load, "--user", &options.user);
    let timeout = match options.timeout {
        0 => FOREVER,
        seconds => Duration::from_secs(seconds),
    };
    with(&mut load, "--timeout", milliseconds(timeout));
    with_flag(&mut load, "--no-keepalive", options.disable_keepalive);
    with_proxy(&mut load, &options.proxy);
    if !options.disable_redirects {
        with_redirects(&mut load, REDIRECTS);
    }
    equivalent::use_threads(&mut load, options.cpus.max(1), options.concurrency);
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
        print: Print::Hey,
    })
}
