//! Options that contradict each other, or that have no meaning without another one: refused with the reason and what to
//! do, so that nobody believes in something that was not done.

mod table;

use deadheat_model::load::StreamEvent;
use deadheat_shell::{exit::CommandFailure, rate};
use table::{EXCLUDE, NEED};

use super::{
    request::has_word,
    url::{Host, Origin},
};
use crate::options::{LoadArgs, ProgressArg, WaitArg};

/// Options that are refused together, or one that is refused alone.
struct Contradiction {
    options: Vec<&'static str>,
    why: &'static str,
}

/// Refuses the first contradiction.
pub(crate) fn check(args: &LoadArgs, origins: &[Origin]) -> Result<(), CommandFailure> {
    let refused = match first(args, origins) {
        Some(Contradiction { options, why }) => Some(format!("{}: {why}", options.join(" and "))),
        None => values(args, origins),
    };
    refused.map_or(Ok(()), |why| Err(CommandFailure::usage(why)))
}

/// The options of the first contradiction, without their dashes.
pub(crate) fn names(args: &LoadArgs, origins: &[Origin]) -> Option<Vec<String>> {
    let Contradiction { options, .. } = first(args, origins)?;
    let names = options.iter().map(|option| {
        let name = option.split_whitespace().next().unwrap_or_default();
        name.trim_start_matches('-').to_owned()
    });
    Some(names.collect())
}

fn first(args: &LoadArgs, origins: &[Origin]) -> Option<Contradiction> {
    let is_there = &|name: &str| {
        let special = is_special(name, args, origins);
        special.unwrap_or_else(|| args.explicit.has(name))
    };
    let there = move |options: &'static [&'static str]| {
        let options = options.iter().copied();
        options.filter(move |name| is_there(name))
    };
    let excluded = EXCLUDE.iter().find_map(|&(options, others, why)| {
        let (one, other) = there(options)
            .find_map(|one| Some((one, there(others).find(|other| *other != one)?)))?;
        let options = vec![one, other];
        Some(Contradiction { options, why })
    });
    excluded.or_else(|| {
        NEED.iter().find_map(|&(options, needed, why)| {
            let options = vec![there(options).next()?];
            let is_alone = there(needed).next().is_none();
            is_alone.then_some(Contradiction { options, why })
        })
    })
}

/// Whether an option has the values that a table names; `None`: it names any.
fn is_special(name: &str, args: &LoadArgs, origins: &[Origin]) -> Option<bool> {
    let request = &args.request;
    if let Some(header) = name.strip_prefix("--header '") {
        let (name, value) = header.trim_end_matches('\'').split_once(": ")?;
        let has_name = |(other, _): &(String, String)| other.eq_ignore_ascii_case(name);
        return Some(match value {
            "…" => request.headers.iter().any(has_name),
            word => has_word(&request.headers, name, word),
        });
    }
    Some(match name {
        "https://" => origins.iter().any(|origin| origin.tls),
        "http://" => origins.iter().any(|origin| !origin.tls),
        "--urls with several origins" => origins.len() > 1,
        // A depth of 1 is no pipelining.
        "--pipeline" => request.pipeline.is_some_and(|depth| depth > 1),
        "--method HEAD" => {
            let method = request.method.as_deref();
            method.is_some_and(|method| method.eq_ignore_ascii_case("head"))
        }
        "--stream chunks" => args.stream.stream == Some(StreamEvent::Chunks),
        "--wait" => args.safety.wait != WaitArg::Auto,
        "--wait poll" => args.safety.wait == WaitArg::Poll,
        "--progress terminal" => args.output.progress == ProgressArg::Terminal,
        "--proxy http://… for http://…" => {
            let proxy = args.connection.proxy.as_deref();
            proxy.is_some_and(|typed| typed.trim().starts_with("http:"))
                && origins.iter().any(|origin| !origin.tls)
        }
        _ => return None,
    })
}

/// Values that do not fit to each other.
fn values(args: &LoadArgs, origins: &[Origin]) -> Option<String> {
    let (pace, end) = (&args.pace, &args.end);
    let connections = pace.steady.connections.unwrap_or(super::spec::CONNECTIONS);
    if let Some(most) = pace.steady.max_connections
        && most < connections
    {
        return Some(format!(
            "--max-connections {most}: {connections} connections are opened at the start; raise --max-connections to \
             that, or lower --connections"
        ));
    }
    if let (Some(most), Some(depth)) = (
        args.connection.most_requests_per_connection,
        args.request.pipeline,
    ) && most < depth
    {
        return Some(format!(
            "--most-requests-per-connection {most} and --pipeline {depth}: a connection would never have {depth} requests \
             on their way; pipeline at most {most}"
        ));
    }
    let request = &args.request;
    if request.urls.is_some() && request.body_file.len() > 1 {
        return Some(
            "--urls and several --body-file: a line of the file names a body of its own at its end, like POST /users \
             @ann.json; leave all but one --body-file out"
                .to_owned(),
        );
    }
    let inputs = request
        .body_file
        .iter()
        .filter(|file| file.as_os_str() == "-");
    if inputs.count() > 1 {
        return Some(
            "--body-file -: standard input can be read once; write it to a file".to_owned(),
        );
    }
    if let (Some(duration), false) = (end.duration, pace.stage.is_empty()) {
        let stages = rate::total(&pace.stage);
        if duration < stages {
            return Some(format!(
                "--duration {duration:?}: the stages take {stages:?}; omit the duration, or make the stages shorter"
            ));
        }
    }
    if let (true, Some(Host::Address(address))) = (
        args.connection.all_addresses,
        origins.first().map(|origin| &origin.host),
    ) {
        return Some(format!(
            "--all-addresses: {address} is one address; write a name that has several, or omit the option"
        ));
    }
    let tls = &args.tls;
    if let Err(problem) = deadheat_load::can_offer(tls.tls_version, &tls.tls_ciphers) {
        return Some(format!("--tls-ciphers: {problem}"));
    }
    let ends_at_nothing = pace.stage.last().is_some_and(|stage| stage.to == 0.0);
    if ends_at_nothing && (end.requests.is_some() || end.until_interrupted) {
        return Some(
            "the last --stage ends with a rate of zero, which would never end; set a rate above zero, or omit \
             --requests and --until-interrupted"
                .to_owned(),
        );
    }
    None
}

#[cfg(test)]
#[path = "contradictions_tests.rs"]
mod tests;
