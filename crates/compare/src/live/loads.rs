//! The load of each side, made by `deadheat load` itself from the same options.

use std::{collections::BTreeSet, path::Path, time::Duration};

use deadheat_loadtool as load;
use deadheat_loadtool::{
    options::{EndArgs, LoadArgs, PaceArgs, SafetyArgs, TlsArgs},
    url::LoadUrl,
};
use deadheat_model::{LoadSpec, comparison::Decide, workload::OfferedRate};
use deadheat_runner::secret::without_secret_values;
use deadheat_shell::exit::CommandFailure;

use crate::options::{CompareArgs, ServerArgs};

/// The placeholder for the address of a server that is not started yet.
const SOMEWHERE: &str = "127.0.0.1:1";

/// The load of a running server: what it is called, and what is sent there.
pub(super) fn of_url(
    typed: &str,
    args: &CompareArgs,
) -> Result<(String, LoadSpec), CommandFailure> {
    let url = LoadUrl::parse(typed, args.server.request.template).map_err(CommandFailure::usage)?;
    let name = match path(args)? {
        Some(path) => format!("{}{path}", url.origin.shown()),
        None => typed.trim().to_owned(),
    };
    let rate = rate_of_urls(args)?;
    Ok((without_secret_values(&name), load_spec(&name, args, rate)?))
}

/// The rates of equal work of servers that are started: those that were given, or a common one if it is asked about.
pub(super) fn rates(args: &CompareArgs) -> Vec<OfferedRate> {
    let verdict = &args.verdict;
    let is_asked = verdict.decide != Decide::Throughput || verdict.fail_if_costlier.is_some();
    let given: BTreeSet<OfferedRate> = verdict.rate.iter().copied().collect();
    if given.is_empty() && is_asked {
        vec![OfferedRate::Common]
    } else {
        given.into_iter().collect()
    }
}

/// The highest of the rates that were given, in requests per second.
pub(crate) fn highest_rate(args: &CompareArgs) -> Option<f64> {
    let rates = args.verdict.rate.iter().filter_map(|rate| match rate {
        OfferedRate::Common => None,
        OfferedRate::PerSecond(rate) => Some(f64::from(*rate)),
    });
    rates.max_by(f64::total_cmp)
}

/// The rate of servers that run: their only load. Their CPU time is not known.
fn rate_of_urls(args: &CompareArgs) -> Result<Option<f64>, CommandFailure> {
    let refused = |option: &str, why: &str| Err(CommandFailure::usage(format!("{option}: {why}")));
    let unknown = "the CPU time of servers that run already is not known; compare two commands (cmd:COMMAND), which \
                   Deadheat starts, or omit it";
    match (&args.verdict.rate[..], args.verdict.decide) {
        (_, Decide::Cpu) => refused("--decide cpu", unknown),
        _ if args.verdict.fail_if_costlier.is_some() => refused("--fail-if-costlier", unknown),
        ([], Decide::P99) => refused(
            "--decide p99",
            "URLs have response times at a rate alone: add one, like --rate 1000/s",
        ),
        ([], Decide::Throughput) => Ok(None),
        ([OfferedRate::PerSecond(rate)], _) => Ok(Some(f64::from(*rate))),
        ([OfferedRate::Common], _) => refused(
            "--rate common",
            "URLs are loaded at one rate alone, and their capacity is not measured first; set a number, like --rate 1000/s",
        ),
        _ => refused(
            "--rate",
            "URLs are loaded at one rate alone; set it once, or compare two commands (cmd:COMMAND)",
        ),
    }
}

/// The load of a command's server, whose address is known only when it runs.
pub(crate) fn of_command(args: &CompareArgs) -> Result<LoadSpec, CommandFailure> {
    let server = &args.server;
    let of_tls = args.explicit.in_group::<TlsArgs>();
    if let (false, Some(name)) = (server.https, of_tls.names().first()) {
        return Err(CommandFailure::usage(format!(
            "{name}: this is for TLS: give --https, too, if the commands speak it, or leave it out"
        )));
    }
    let scheme = if server.https { "https" } else { "http" };
    let path = path(args)?.unwrap_or("/");
    let url = format!("{scheme}://{SOMEWHERE}{path}");
    if let Some(rate) = highest_rate(args) {
        // What a rate excludes.
        load_spec(&url, args, Some(rate))?;
    }
    load_spec(&url, args, None)
}

fn path(args: &CompareArgs) -> Result<Option<&str>, CommandFailure> {
    match args.server.path.as_deref() {
        Some(path) if !path.starts_with('/') => Err(CommandFailure::usage(format!(
            "--path {0}: a path begins with a slash: /{0}",
            without_secret_values(path)
        ))),
        path => Ok(path),
    }
}

fn load_spec(url: &str, args: &CompareArgs, rate: Option<f64>) -> Result<LoadSpec, CommandFailure> {
    if args
        .server
        .request
        .body_file
        .iter()
        .any(|file| file == Path::new("-"))
    {
        return Err(CommandFailure::usage(
            "--body-file -: standard input can be read once, and both sides need it; write it to a file",
        ));
    }
    let mut spec = load::spec_of(&options(url, args, rate))?;
    // A comparison has no time series.
    spec.interval = None;
    deadheat_load::check(&spec).map_err(|error| {
        CommandFailure::usage(format!("loading {}: {error}", without_secret_values(url)))
    })?;
    Ok(spec)
}

/// The options of a `deadheat load` that sends the same requests to `url`, at a rate if there is one.
pub(crate) fn options(url: &str, args: &CompareArgs, rate: Option<f64>) -> LoadArgs {
    let server = args.server.clone();
    let mut explicit = args.explicit.in_group::<ServerArgs>();
    if rate.is_some() {
        explicit.add("rate");
    }
    LoadArgs {
        explicit,
        url: Some(url.to_owned()),
        pace: PaceArgs {
            steady: server.steady,
            rate,
            ..PaceArgs::default()
        },
        // A heat's slices and warm-up take the place of these.
        end: EndArgs {
            duration: Some(args.measure.heat.slice),
            warm_up: Some(Duration::ZERO),
            ..EndArgs::default()
        },
        request: server.request,
        connection: server.connection,
        tls: server.tls,
        answer: server.answer,
        safety: SafetyArgs {
            i_may_load_this_host: server.i_may_load_this_host,
            // A plan asks no server.
            dry_run: args.measure.heat.dry_run,
            ..SafetyArgs::default()
        },
        ..LoadArgs::default()
    }
}

/// A placeholder URL for a command's server before it runs: its scheme, with a dummy address.
pub(crate) fn somewhere(args: &CompareArgs) -> String {
    let scheme = if args.server.https { "https" } else { "http" };
    format!("{scheme}://{SOMEWHERE}/")
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use deadheat_model::StopRule;

    use super::*;

    #[derive(Debug, Parser)]
    struct Compare {
        #[command(flatten)]
        args: CompareArgs,
    }

    #[derive(Debug, Parser)]
    struct Load {
        #[command(flatten)]
        args: LoadArgs,
    }

    #[test]
    fn every_option_makes_the_same_load_as_deadheat_load() {
        let url = "https://127.0.0.1:8443/a";
        let lines = [
            "",
            "-c 7 --insecure",
            "-X PUT -H X-A:b --body text --chunked --user ann:pw",
            "--http1.0 --no-keepalive",
            "--pipeline 3 --template -H X-N:{{counter}}",
            "--rate 300/m --arrivals poisson --max-connections 99",
            "--connect-timeout 1s --timeout 2s --source 127.0.0.1 -4",
            "--server-name localhost --no-resumption --tls-version 1.2",
            "--tls-ciphers TLS_AES_128_GCM_SHA256 --most-requests-per-connection 9",
            "--expect-status 201 --expect-contains a --check-every 5",
            "--http2 -m 8 -c 3",
            "--grpc a.B/C --body x -m 8 -c 3",
        ];
        for line in lines {
            // With --grpc, the URL has no path.
            let url = if line.contains("--grpc") {
                "https://127.0.0.1:8443"
            } else {
                url
            };
            let words = || line.split_whitespace();
            let typed = ["load", url, "--warm-up", "0s"].into_iter().chain(words());
            let load = Load::try_parse_from(typed).unwrap();
            let expected = load::spec_of(&load.args).unwrap();
            let typed = ["compare", url, url].into_iter().chain(words());
            let compare = Compare::try_parse_from(typed).unwrap();
            let (_, found) = of_url(url, &compare.args).unwrap();
            let found = LoadSpec {
                // A comparison's slices have other ones.
                stop: StopRule::Duration {
                    length: Duration::from_secs(10),
                },
                interval: expected.interval,
                seed: expected.seed,
                ..found
            };
            assert_eq!(found, expected, "{line}");
        }
    }
}
