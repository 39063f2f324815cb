//! The command line of `deadheat load`, as it is typed.
//!
//! What has a default that depends on other options is an `Option`. Options that contradict each other are refused, never
//! ignored (`contradictions`).

use std::{net::IpAddr, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};
use deadheat_load::limits::{
    MAX_CONNECTIONS, MAX_PIPELINED, MAX_REDIRECTS, MAX_STREAMS, MAX_THREADS,
};
use deadheat_model::load::{Arrivals, Stage, StatusSet, Think, TlsVersion};
use deadheat_shell::{
    data::{FilesArgs, Format, Formats, OF_DOCUMENT, OF_LOAD_ALONE},
    hosts::LauncherArgs,
    options::{ConfigArgs, Effect, Effects, ExplicitOptions},
    rate,
    values::{length, one_of, precision, time_or_none},
};

use crate::{
    form::{self, Field},
    push::{CollectorUrl, collector},
    thresholds::Threshold,
    values::{
        FixedAddress, StreamArgs, grpc_path, header, interval, label, number, requests, think,
        whole,
    },
};

const AFTER_HELP: &str = "\
Times are written 500ms, 10s, 2m. The guide is docs/load.md.
Exit status: 0 fine; 1 a --fail-if came true or could not be judged, or, unless one is about errors, half of the
requests or more failed; 2 wrong usage; 3 nothing could be measured; 130 interrupted before its end.";

const AFTER_SHORT_HELP: &str = "All options: deadheat load --help. The guide is docs/load.md.";

/// What each option can do in a `deadheat.toml`.
pub const EFFECTS: Effects = &[
    (
        Effect::Figures,
        "arrivals check-every connect-timeout connections cpus details dry-run duration expect-body expect-contains \
         expect-json expect-length expect-status fail-if find-rate first-byte grace http2 http2-prior-knowledge interval \
         label max-connections most-requests-per-connection no-keepalive no-resumption pipeline precision progress ramp \
         rate requests seed stage stream stream-events streams think threads timeout trials until-interrupted wait warm-up",
    ),
    (
        Effect::ChoosesHosts,
        "address all-addresses hosts on otlp proxy resolve source unix-socket",
    ),
    (
        Effect::ChangesRequests,
        "body chunked cookies follow-redirects form grpc header http1.0 method template urls user",
    ),
    (Effect::ReadsFiles, "body-file cert expect-body-file key"),
    (Effect::WritesFiles, "output"),
    (
        Effect::WeakensTls,
        "cacert insecure server-name tls-ciphers tls-version",
    ),
];

/// What `deadheat load` is asked to do.
#[derive(Debug, Default, Args)]
#[command(after_help = AFTER_SHORT_HELP, after_long_help = AFTER_HELP)]
pub struct LoadArgs {
    /// Explicit options, in their order.
    #[command(flatten)]
    pub explicit: ExplicitOptions,
    /// The URL to load, http:// or https://
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    /// When requests are sent.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// The search for a rate.
    #[command(flatten)]
    pub find: FindArgs,
    /// When it ends.
    #[command(flatten)]
    pub end: EndArgs,
    /// What is sent.
    #[command(flatten)]
    pub request: RequestArgs,
    /// How servers are connected.
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// TLS.
    #[command(flatten)]
    pub tls: TlsArgs,
    /// Which answers are right.
    #[command(flatten)]
    pub answer: AnswerArgs,
    /// How streams are read.
    #[command(flatten)]
    pub stream: StreamArgs,
    /// What comes out.
    #[command(flatten)]
    pub output: OutputArgs,
    /// Where the load comes from.
    #[command(flatten)]
    pub hosts: HostsArgs,
    /// Safety of servers that somebody uses.
    #[command(flatten)]
    pub safety: SafetyArgs,
    /// Where defaults come from.
    #[command(flatten)]
    pub _config: ConfigArgs,
}

/// Where the load comes from.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Several hosts")]
pub struct HostsArgs {
    /// Load from this host instead of this process, repeatable; `local` is this machine
    #[arg(long, value_name = "HOST", hide_short_help = true)]
    pub(crate) on: Vec<String>,
    #[command(flatten)]
    pub(crate) reach: LauncherArgs,
}

/// When requests are sent.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct PaceArgs {
    /// The load of a closed loop.
    #[command(flatten)]
    pub steady: SteadyArgs,
    /// Send at this rate (open loop), such as 5000/s or 300/m
    #[arg(long, value_name = "RATE", value_parser = rate::rate)]
    pub rate: Option<f64>,
    /// Closed loop: wait after each answer, like a user who reads it, such as 1s, 500ms..2s or exp:1s
    #[arg(long, value_name = "TIME", value_parser = think, hide_short_help = true)]
    pub think: Option<Think>,
    /// Closed loop: spread the first requests over this time [default: the mean of --think, else 0s]
    #[arg(long, value_name = "TIME", value_parser = time_or_none, hide_short_help = true)]
    pub ramp: Option<Duration>,
    /// Open loop, repeatable: a part at a rate (10s@1000/s) or between two (30s@1000..5000/s)
    #[arg(long, value_name = "LENGTH@RATE", value_parser = rate::stage, hide_short_help = true)]
    pub stage: Vec<Stage>,
}

/// When requests are sent in a load that is the same from its start to its end.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct SteadyArgs {
    /// Connections [default: 50]
    #[arg(short, long, value_name = "N", value_parser = whole::<1, MAX_CONNECTIONS>)]
    pub(crate) connections: Option<u32>,
    /// Open loop: how requests are spaced [default: uniform]
    #[arg(long, value_parser = one_of(&[
        ("uniform", Arrivals::Uniform, "Evenly"),
        ("poisson", Arrivals::Poisson, "At random, as from independent users"),
    ]), hide_short_help = true)]
    pub(crate) arrivals: Option<Arrivals>,
    /// Open loop: the maximum of connections, if more are needed [default: --connections]
    #[arg(long, value_name = "N", value_parser = whole::<1, MAX_CONNECTIONS>, hide_short_help = true)]
    pub(crate) max_connections: Option<u32>,
}

/// When the load ends.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct EndArgs {
    /// How long to measure [default: 10s; with --stage, all stages]
    #[arg(short, long, value_name = "TIME", value_parser = length)]
    pub duration: Option<Duration>,
    /// Send exactly this many requests instead
    ///
    /// Open loop with --warm-up: requests of the warm-up that still wait at its end are sent in the measurement, and are
    /// measured as well.
    #[arg(short = 'n', long, value_name = "N", value_parser = requests)]
    pub requests: Option<u64>,
    /// Measure until Ctrl-C
    #[arg(long, hide_short_help = true)]
    pub until_interrupted: bool,
    /// Uncounted load before the measurement [default: 1s; 0s with --requests]
    ///
    /// With --think, the default is its mean if that is longer.
    #[arg(long, value_name = "TIME", value_parser = time_or_none)]
    pub warm_up: Option<Duration>,
    /// How long to wait at the end for requests in flight [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = time_or_none, hide_short_help = true)]
    pub grace: Option<Duration>,
}

/// What is sent.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Request")]
pub struct RequestArgs {
    /// The method [default: GET; POST with a body]
    #[arg(short = 'X', long, value_name = "METHOD")]
    pub method: Option<String>,
    /// A header, 'Name: value'; repeatable; Host replaces the URL's
    #[arg(id = "header", short = 'H', long = "header", value_name = "HEADER", value_parser = header)]
    pub headers: Vec<(String, String)>,
    /// The body
    #[arg(short, long, value_name = "TEXT")]
    pub body: Option<String>,
    /// The body is this file's content (- is standard input)
    ///
    /// If it is repeated, requests have the bodies in turn.
    #[arg(long, value_name = "FILE")]
    pub body_file: Vec<PathBuf>,
    /// A field of a form, repeatable: NAME=VALUE, or NAME=@FILE; sent as multipart/form-data
    ///
    /// ;type=TYPE and ;filename=NAME may follow.
    #[arg(long, value_name = "FIELD", value_parser = form::field, hide_short_help = true)]
    pub form: Vec<Field>,
    /// Send the body in chunks, without a content-length
    #[arg(long, hide_short_help = true)]
    pub chunked: bool,
    /// Basic authentication
    #[arg(long, value_name = "USER:PASSWORD", hide_short_help = true)]
    pub user: Option<String>,
    /// Speak HTTP/1.0
    #[arg(id = "http1.0", long = "http1.0", hide_short_help = true)]
    pub http1_0: bool,
    /// A new connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    /// Speak HTTP/2 over TLS (https://); a server that does not agree is refused
    #[arg(long, hide_short_help = true)]
    pub http2: bool,
    /// Speak HTTP/2 without TLS (http://, h2c), knowing that the server does
    #[arg(long, hide_short_help = true)]
    pub http2_prior_knowledge: bool,
    /// HTTP/2: requests at once on each connection [default: 1]
    ///
    /// In flight are --connections times this.
    #[arg(short = 'm', long, value_name = "N", value_parser = whole::<1, MAX_STREAMS>, hide_short_help = true)]
    pub streams: Option<u32>,
    /// gRPC: call this method (package.Service/Method), with the message in --body-file; HTTP/2 is implied
    ///
    /// The file has the encoded message, without a prefix; without a file, the message is empty. A call succeeds if its
    /// answer is one message with the status OK.
    #[arg(long, value_name = "PATH", value_parser = grpc_path, hide_short_help = true)]
    pub grpc: Option<String>,
    /// Requests sent on a connection before the first is answered [default: 1]
    #[arg(long, value_name = "N", value_parser = whole::<1, MAX_PIPELINED>, hide_short_help = true)]
    pub pipeline: Option<u32>,
    /// Replace {{counter}}, {{random 1 100}}, {{line FILE}} and {{random-line FILE}} in path, header values and body
    #[arg(long, hide_short_help = true)]
    pub template: bool,
    /// Follow up to N redirects for each request, on the same origin, as parts of it [default: none; N: 10]
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10",
        value_parser = whole::<1, MAX_REDIRECTS>,
        hide_short_help = true
    )]
    pub follow_redirects: Option<u32>,
    /// Each connection is a user: it keeps the cookies that are set, and sends them
    #[arg(long, hide_short_help = true)]
    pub cookies: bool,
    /// Several URLs, or paths on the origin of URL; a line each: [WEIGHT] [METHOD] URL [@BODYFILE]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub urls: Option<PathBuf>,
}

/// How connections are made.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Connection and TLS")]
pub struct ConnectionArgs {
    /// The maximum time to make a connection [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = length, hide_short_help = true)]
    pub(crate) connect_timeout: Option<Duration>,
    /// The maximum time for an answer [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = length)]
    pub(crate) timeout: Option<Duration>,
    /// Close each connection after this many answers, and make a new one
    #[arg(long, value_name = "N", value_parser = whole::<2, { u32::MAX }>, hide_short_help = true)]
    pub(crate) most_requests_per_connection: Option<u32>,
    /// Connect to this Unix socket (@NAME: an abstract one); the URL's host is only named in Host
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    pub(crate) unix_socket: Option<PathBuf>,
    /// Connect from this address of this machine; repeatable, taken in turn
    #[arg(long, value_name = "ADDRESS", hide_short_help = true)]
    pub(crate) source: Vec<IpAddr>,
    /// Connect to this address (or ADDRESS:PORT) instead of asking for the URL's name
    #[arg(long, value_name = "ADDRESS", hide_short_help = true)]
    pub(crate) resolve: Option<FixedAddress>,
    /// Share connections out among all addresses of the URL's name, in turn
    #[arg(long, hide_short_help = true)]
    pub(crate) all_addresses: bool,
    /// Go through this proxy: http://, socks5:// or socks5h://, then [USER:PASSWORD@]HOST:PORT
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub(crate) proxy: Option<String>,
    /// Use IPv4 only
    #[arg(id = "4", short = '4', hide_short_help = true)]
    pub(crate) ipv4: bool,
    /// Use IPv6 only
    #[arg(id = "6", short = '6', hide_short_help = true)]
    pub(crate) ipv6: bool,
}

/// With https alone.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Connection and TLS")]
pub struct TlsArgs {
    /// Accept only certificates signed by the authorities in this file, and the file's own certificates (PEM)
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) cacert: Option<PathBuf>,
    /// Show this certificate to the server (PEM, with its chain)
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) cert: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) key: Option<PathBuf>,
    /// Accept any certificate (insecure)
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Ask for this name (SNI), and check the certificate against it [default: the URL's host]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub server_name: Option<String>,
    /// A full handshake for each connection
    #[arg(long, hide_short_help = true)]
    pub(crate) no_resumption: bool,
    /// Speak only this version [default: 1.3, or 1.2 if the server has no 1.3]
    #[arg(long, value_name = "VERSION", value_parser = one_of(&[
        ("1.2", TlsVersion::Tls12, "TLS 1.2"),
        ("1.3", TlsVersion::Tls13, "TLS 1.3"),
    ]), hide_short_help = true)]
    pub(crate) tls_version: Option<TlsVersion>,
    /// Offer only these cipher suites, by their IANA names, separated by commas
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        hide_short_help = true
    )]
    pub(crate) tls_ciphers: Vec<String>,
}

/// What makes an answer valid. Only a valid one is throughput.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Valid answers")]
pub struct AnswerArgs {
    /// Valid statuses, such as 200, 2xx, 200-204 or 2xx,304 [default: 2xx]
    #[arg(long, value_name = "SET")]
    pub(crate) expect_status: Option<StatusSet>,
    /// The body's length in bytes
    #[arg(long, value_name = "N", value_parser = number, hide_short_help = true)]
    pub(crate) expect_length: Option<u64>,
    /// The body is this text
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    pub(crate) expect_body: Option<String>,
    /// The body is this file's content
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) expect_body_file: Option<PathBuf>,
    /// The body has this text in it
    #[arg(long, value_name = "TEXT")]
    pub(crate) expect_contains: Option<String>,
    /// The body is JSON with this value at this place: '/users/0/name="Ann"'
    #[arg(long, value_name = "POINTER=JSON", hide_short_help = true)]
    pub(crate) expect_json: Option<String>,
    /// Compare the content of one body in N [default: 1]
    #[arg(long, value_name = "N", value_parser = whole::<1, { u32::MAX }>, hide_short_help = true)]
    pub(crate) check_every: Option<u32>,
}

/// What comes out.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Where the report goes.
    #[command(flatten)]
    pub data: FilesArgs<OfLoad>,
    /// The whole report, with connections, the generator and the machine
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub(crate) details: bool,
    /// The length of each interval in the time series [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = interval, hide_short_help = true)]
    pub(crate) interval: Option<Duration>,
    /// Name this load in its record and reports, repeatable: KEY=VALUE, such as commit=1a2b3c
    #[arg(long, value_name = "KEY=VALUE", value_parser = label, hide_short_help = true)]
    pub(crate) label: Vec<(String, String)>,
    /// Also record the time to the first byte of each answer
    #[arg(long, hide_short_help = true)]
    pub(crate) first_byte: bool,
    /// Send metrics to this collector during the load, after each interval (OTLP over HTTP; docs/metrics.md)
    #[arg(long, value_name = "URL", value_parser = collector, hide_short_help = true)]
    pub(crate) otlp: Option<CollectorUrl>,
    /// The display during the load, on standard error
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = ProgressArg::Auto, hide_short_help = true)]
    pub(crate) progress: ProgressArg,
    /// Exit with 1 if this comes true, repeatable: 'p99>50ms', 'errors>0.1%'
    ///
    /// docs/load.md lists the figures that have such bounds, such as 'throughput<1000/s'.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Threshold>,
}

/// The formats of a load.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfLoad;

impl Formats for OfLoad {
    const LISTS: &'static [&'static [Format]] = &[OF_DOCUMENT, &[Format::Csv], OF_LOAD_ALONE];
}

/// What is shown while the load runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressArg {
    /// A view in a terminal, else lines
    #[default]
    Auto,
    /// A view that fills the terminal
    Terminal,
    /// A line per interval
    Lines,
    /// Nothing
    Off,
}

/// How workers wait for answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum WaitArg {
    /// Poll where every worker has a CPU that the server cannot use, else sleep
    #[default]
    Auto,
    /// Stay awake, and use the whole CPU
    Poll,
    /// Sleep until an answer comes
    Sleep,
}

/// Options for safety, CPUs and repeatability.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Safety and CPUs")]
pub struct SafetyArgs {
    /// Load a host that is neither this machine nor in a private network
    #[arg(long, hide_short_help = true)]
    pub i_may_load_this_host: bool,
    /// A pinned worker thread on each CPU, such as 2,3 or 0-3 [default: not pinned]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Worker threads that are not pinned [default: depends on the CPUs and on where the server is; the plan shows why]
    #[arg(long, value_name = "N", value_parser = whole::<1, MAX_THREADS>, hide_short_help = true)]
    pub threads: Option<u32>,
    /// How workers wait for answers: auto polls where the server cannot use their CPUs
    #[arg(long, value_enum, value_name = "HOW", default_value_t = WaitArg::Auto, hide_short_help = true)]
    pub wait: WaitArg,
    /// The seed of Poisson arrivals and templates [default: a random one, shown]
    #[arg(long, value_name = "N", value_parser = number, hide_short_help = true)]
    pub seed: Option<u64>,
    /// Print the plan and exit without sending anything
    #[arg(long)]
    pub dry_run: bool,
}

/// What the highest rate is searched for with.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Load")]
pub struct FindArgs {
    /// Find the highest rate at which this is true: 'p99<50ms'; repeatable
    ///
    /// Loads at one rate after the other, for --duration [default: 5s] each. docs/load.md lists the figures.
    #[arg(long, value_name = "BOUND")]
    pub(crate) find_rate: Vec<Threshold>,
    /// --find-rate: the maximum number of trials [default: 20]
    #[arg(long, value_name = "N", value_parser = whole::<1, 100>, hide_short_help = true)]
    pub(crate) trials: Option<u32>,
    /// --find-rate: stop when the rate is known this well [default: 5%]
    #[arg(long, value_name = "PERCENT", value_parser = precision, hide_short_help = true)]
    pub(crate) precision: Option<f64>,
}

impl FindArgs {
    /// Whether there is something to search for.
    pub(crate) fn is_asked(&self) -> bool {
        !self.find_rate.is_empty()
    }
}
