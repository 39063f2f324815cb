//! The load of each side, by the same rules for addresses, hosts and valid answers as those of `deadheat load`.

use std::time::Duration;

use clap::Parser;
use deadheat_model::LoadSpec;
use deadheat_runner::secret::without_secret_values;

use crate::{
    compare::args::CompareArgs,
    exit::Failure,
    load::{self, args::LoadArgs, url::LoadUrl},
};

/// Connections, if nobody says how many.
const CONNECTIONS: u32 = 50;
/// What stands for the address of a server that is not started yet.
const SOMEWHERE: &str = "http://127.0.0.1:1";

/// A URL as `deadheat load` takes it, with every other option as if it had not been given.
#[derive(Debug, Parser)]
struct Alone {
    #[command(flatten)]
    load: LoadArgs,
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
pub(crate) fn of_command(args: &CompareArgs) -> Result<LoadSpec, Failure> {
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
    let alone = Alone::try_parse_from(["load", "--", url]).map_err(Failure::usage)?;
    let mut options = alone.load;
    options.pace.connections = Some(args.server.connections.unwrap_or(CONNECTIONS));
    // A heat's slices and warm-up take the place of these.
    options.end.duration = Some(super::slice(&args.measure));
    options.end.warm_up = Some(Duration::ZERO);
    options.care.i_may_load_this_host = args.server.i_may_load_this_host;
    // A plan asks no server.
    options.care.dry_run = args.measure.dry_run;
    let mut spec = load::spec_of(&options)?;
    // A comparison has no time series.
    spec.interval = None;
    deadheat_load::check(&spec)
        .map_err(|error| Failure::usage(format!("loading {url}: {error}")))?;
    Ok(spec)
}
