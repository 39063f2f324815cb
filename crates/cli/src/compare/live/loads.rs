//! The load of each side, made by the options of `deadheat load`: the same rules for addresses, hosts and valid
//! answers.

use clap::Parser;
use deadheat_model::LoadSpec;
use deadheat_runner::secret::without_secret_values;

use crate::{
    compare::args::CompareArgs,
    exit::Failure,
    load::{self, url::LoadUrl},
};

/// Connections, if nobody says how many.
const CONNECTIONS: u32 = 50;
/// What stands for the address of a server that is not started yet.
const SOMEWHERE: &str = "http://127.0.0.1:1";

/// The options of `deadheat load` on their own.
#[derive(Debug, Parser)]
struct Options {
    #[command(flatten)]
    load: load::args::LoadArgs,
}

/// The load of a running server: what it is called, and what is sent there.
pub(super) fn of_url(typed: &str, args: &CompareArgs) -> Result<(String, LoadSpec), Failure> {
    let url = LoadUrl::parse(typed, false).map_err(Failure::usage)?;
    let name = match path(args)? {
        Some(path) => format!("{}{path}", url.origin.shown()),
        None => typed.trim().to_owned(),
    };
    Ok((without_secret_values(&name), of(&name, args)?))
}

/// The load of a command's server, whose address is known only when it runs.
pub(super) fn of_command(args: &CompareArgs) -> Result<LoadSpec, Failure> {
    let path = path(args)?.unwrap_or("/");
    of(&format!("{SOMEWHERE}{path}"), args)
}

fn path(args: &CompareArgs) -> Result<Option<&str>, Failure> {
    match args.server.path.as_deref() {
        Some(path) if !path.starts_with('/') => Err(Failure::usage(format!(
            "--path {path}: a path begins with a slash: /{path}"
        ))),
        path => Ok(path),
    }
}

fn of(url: &str, args: &CompareArgs) -> Result<LoadSpec, Failure> {
    let connections = args.server.connections.unwrap_or(CONNECTIONS).to_string();
    // A heat's slices and warm-up take the place of these.
    let duration = humantime::format_duration(super::slice(&args.measure)).to_string();
    let mut typed = vec![
        "load",
        url,
        "--connections",
        &connections,
        "--duration",
        &duration,
        "--warm-up",
        "0s",
    ];
    if args.server.i_may_load_this_host {
        typed.push("--i-may-load-this-host");
    }
    // A plan asks no server.
    if args.measure.dry_run {
        typed.push("--dry-run");
    }
    let options = Options::try_parse_from(typed).map_err(Failure::usage)?;
    let mut spec = load::spec_of(&options.load)?;
    // A comparison has no time series.
    spec.interval = None;
    deadheat_load::check(&spec)
        .map_err(|error| Failure::usage(format!("loading {url}: {error}")))?;
    Ok(spec)
}
