//! The plan in words, before anything is sent.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use deadheat_document::{Document, Section, Tone};
use deadheat_model::{
    LoadSpec, Schedule, StopRule, Wait,
    figure::{self, counted, rate, separated, time},
    load::{
        Arrivals, Body, Content, Endpoint, Exchange, Stream, Target, Tls, Trust,
        words::{event, offer, protocol, schedule, stop, think, valid_status},
    },
};
use deadheat_runner::secret;
use deadheat_shell::rate::highest;

use super::{spec::MAX_WITH_FIGURES, template, thresholds::Threshold};
use crate::push::CollectorUrl;

/// The most requests and headers that are shown. For more, only their number is.
const SHOWN: usize = 5;
/// The most characters of a header's value that are shown.
const VALUE: usize = 60;

/// The content of the plan beyond the spec.
#[derive(Debug)]
pub(crate) struct PlanContext<'a> {
    /// The URL, or the file of URLs, as it was typed.
    pub(crate) typed: &'a str,
    /// How the address of each target was found; `None`: the URL has the address.
    pub(crate) hows: &'a [Option<String>],
    /// The hosts that generate the load; `None`: only this process.
    pub(crate) hosts: Option<String>,
    /// Why this way of waiting was chosen; `None`: the user chose it.
    pub(crate) why_wait: Option<&'a str>,
    /// Why this number of worker threads was chosen; `None`: the user chose it.
    pub(crate) why_threads: Option<&'a str>,
    /// The output files.
    pub(crate) files: &'a [PathBuf],
    /// The collector of metrics, if there is one.
    pub(crate) collector: Option<&'a CollectorUrl>,
    /// Conditions for the exit status.
    pub(crate) thresholds: &'a [Threshold],
}

/// The plan.
pub(crate) fn describe(spec: &LoadSpec, context: &PlanContext<'_>) -> Document {
    let pace = vec![
        ("loop", pace(spec)),
        ("ceiling", ceiling(spec)),
        ("length", length(spec)),
    ];
    laid_out(spec, context, pace)
}

/// A short plan for the terminal: the target, the pace and the length. The report must fit below it.
pub(crate) fn in_short(spec: &LoadSpec, context: &PlanContext<'_>) -> Document {
    let mut facts = vec![("loop", pace(spec)), ("length", length(spec))];
    facts.extend(notes(spec).into_iter().map(|note| ("note", note)));
    document(context, facts)
}

/// The plan, with the lines (label and text) `pace` for when requests are sent and for how long.
pub(crate) fn laid_out(
    spec: &LoadSpec,
    context: &PlanContext<'_>,
    pace: Vec<(&'static str, String)>,
) -> Document {
    let all = |label, texts: Vec<String>| texts.into_iter().map(move |text| (label, text));
    let mut facts: Vec<(&str, String)> = Vec::new();
    facts.extend(all("to", targets(spec, context.hows)));
    let tls = spec.targets().filter_map(|target| target.tls.as_ref());
    facts.extend(all("TLS", tls.map(encryption).collect()));
    facts.extend(all("request", requests(spec)));
    facts.extend(headers(spec.exchanges.first()).map(|headers| ("headers", headers)));
    if spec.redirects > 0 {
        facts.push(("redirects", redirects(spec.redirects)));
    }
    if spec.cookies {
        let text = "each connection is a user that keeps its own, also when it is made again";
        facts.push(("cookies", text.to_owned()));
    }
    facts.extend(pace);
    facts.push(("valid is", validity(spec)));
    facts.extend(spec.stream.map(|stream| ("events", events(&stream))));
    facts.extend(context.hosts.clone().map(|hosts| ("from", hosts)));
    facts.push(("generator", generator(spec, context.why_threads)));
    facts.extend(waiting(spec, context.why_wait).map(|waiting| ("waiting", waiting)));
    let files = context.files.iter().map(|file| file.display().to_string());
    facts.extend(all("file", files.collect()));
    if let Some(collector) = context.collector {
        let interval = spec.interval.map(time).unwrap_or_default();
        facts.push(("metrics", format!("sent to {collector} every {interval}")));
    }
    let labels = spec.labels.iter();
    let labels = labels.map(|(key, value)| format!("{key} = {value}"));
    facts.extend(all("label", labels.collect()));
    let thresholds = context.thresholds.iter().map(ToString::to_string);
    facts.extend(all("fail if", thresholds.collect()));
    facts.extend(all("note", notes(spec)));
    document(context, facts)
}

fn document(context: &PlanContext<'_>, facts: Vec<(&str, String)>) -> Document {
    let title = format!("Plan: load {}", context.typed);
    Document::new(Tone::Plain, title).section(Section::lead().facts(facts))
}

/// How answers are split into events.
fn events(stream: &Stream) -> String {
    let what = event(stream.event);
    match stream.enough {
        Some(enough) => format!("an answer is whole after {}", counted(enough, what)),
        None => format!("answers come in {what}s; each ends by itself"),
    }
}

/// The targets, and how their addresses were found.
fn targets(spec: &LoadSpec, hows: &[Option<String>]) -> Vec<String> {
    let hows = hows
        .iter()
        .map(Option::as_deref)
        .chain(std::iter::repeat(None));
    let mut lines: Vec<String> = spec
        .targets()
        .zip(hows)
        .map(|(target, how)| {
            let text = addresses(target, how);
            match spec.others.as_slice() {
                [] => text,
                _ => format!("{}: {text}", target.origin()),
            }
        })
        .collect();
    match lines.as_mut_slice() {
        [one] => one.push_str(&format!("; {}", protocol(spec))),
        _ => lines.push(format!(
            "all of them: connections are divided as the weights of the requests say; {}",
            protocol(spec)
        )),
    }
    lines
}

fn addresses(target: &Target, how: Option<&str>) -> String {
    let endpoints = target.endpoints().map(|endpoint| match endpoint {
        Endpoint::Tcp { address } => address.to_string(),
        Endpoint::Unix { path } => format!("the Unix socket {}", path.display()),
    });
    let mut text = endpoints.collect::<Vec<_>>().join(", ");
    if !target.more.is_empty() {
        text.push_str(" in turn");
    }
    if let Some(how) = how {
        text.push_str(&format!(" ({how})"));
    }
    if !target.sources.is_empty() {
        let sources: Vec<String> = target.sources.iter().map(ToString::to_string).collect();
        text.push_str(&format!(", from {} in turn", sources.join(", ")));
    }
    text
}

fn encryption(tls: &Tls) -> String {
    let trust = match &tls.trust {
        Trust::System => "by an authority that the system knows",
        Trust::Authorities { .. } => "by an authority of --cacert",
        Trust::Anything => "by anybody: it is not checked",
    };
    let mut text = format!("a certificate for {}, signed {trust}", tls.server_name);
    if tls.identity.is_some() {
        text.push_str("; with a certificate of our own");
    }
    let offer = offer(tls);
    if !offer.is_empty() {
        text.push_str(&format!("; {offer}"));
    }
    text.push_str(if tls.resumption {
        "; later connections resume sessions"
    } else {
        "; a full handshake for each connection"
    });
    text
}

fn requests(spec: &LoadSpec) -> Vec<String> {
    let weights: u64 = spec.exchanges.iter().map(|one| u64::from(one.weight)).sum();
    let several = spec.exchanges.len() > 1;
    let shown = spec.exchanges.iter().take(SHOWN).map(|exchange| {
        let text = request(spec, exchange);
        if several {
            format!("{} of {weights}: {text}", exchange.weight)
        } else {
            text
        }
    });
    let mut lines: Vec<String> = shown.collect();
    if spec.exchanges.len() > SHOWN {
        lines.push(format!("… and {} more", spec.exchanges.len() - SHOWN));
    }
    if !spec.lists.is_empty() {
        let lists = spec.lists.iter();
        let lists = lists.map(|(name, lines)| format!("{name} ({})", counted(lines.len(), "line")));
        lines.push(format!(
            "with lines of {}",
            lists.collect::<Vec<_>>().join(", ")
        ));
    }
    lines
}

fn request(spec: &LoadSpec, exchange: &Exchange) -> String {
    let request = &exchange.request;
    let body = match &request.body {
        Body::None => String::new(),
        Body::Sized(bytes) => format!(" with {} of body", counted(bytes.len(), "byte")),
        Body::Chunked(bytes) => format!(" with {} of body in chunks", counted(bytes.len(), "byte")),
        Body::Call(bytes) => format!(" with a gRPC message of {}", counted(bytes.len(), "byte")),
    };
    let path = secret::without_secret_values(&request.path);
    let origin = match spec.targets().nth(exchange.target) {
        Some(target) if !spec.others.is_empty() => target.origin(),
        _ => String::new(),
    };
    format!("{} {origin}{path}{body}", request.method)
}

/// The headers of the first request. Other requests differ only in Content-Type, which follows from the body. Headers
/// after the first [`SHOWN`] are counted; long values are cut, and secret ones hidden.
fn headers(exchange: Option<&Exchange>) -> Option<String> {
    let headers = &exchange?.request.headers;
    if headers.is_empty() {
        return None;
    }
    let shown = headers.iter().take(SHOWN).map(|(name, value)| {
        let value = secret::header_value(name, value);
        match value.char_indices().nth(VALUE) {
            Some((end, _)) => format!("{name}: {}…", &value[..end]),
            None => format!("{name}: {value}"),
        }
    });
    let mut text = shown.collect::<Vec<_>>().join("; ");
    if headers.len() > SHOWN {
        text.push_str(&format!("; … and {} more", headers.len() - SHOWN));
    }
    Some(text)
}

fn redirects(most: u32) -> String {
    format!(
        "followed on the same scheme, host and port, up to {most} for a request; its time is that of all of them"
    )
}

fn pace(spec: &LoadSpec) -> String {
    let schedule = schedule(spec);
    let Schedule::Closed { ramp, .. } = spec.schedule else {
        return format!("{schedule}, whatever comes back");
    };
    let after = spec.think.as_ref().map_or(String::new(), |one| {
        format!(" and has thought for {}", think(one))
    });
    let ramp = if ramp.is_zero() {
        String::new()
    } else {
        format!("; the first ones are spread over {}", time(ramp))
    };
    format!("{schedule}, each sends its next request when it has its answer{after}{ramp}")
}

/// The most load that the server can get.
fn ceiling(spec: &LoadSpec) -> String {
    let schedule = &spec.schedule;
    let connections = counted(schedule.most_connections(), "connection");
    match (schedule, spec.think) {
        (
            Schedule::Closed {
                connections: users, ..
            },
            Some(think),
        ) => {
            let rate = rate(f64::from(*users) / think.mean().as_secs_f64());
            let rate = rate.trim_end_matches("/s");
            format!("at most {rate} requests/s on average on at most {connections}")
        }
        (Schedule::Closed { .. }, None) => {
            format!("at most {connections}; as many requests/s as the server answers")
        }
        (
            Schedule::Open {
                arrivals, stages, ..
            },
            _,
        ) => {
            let rate = rate(highest(stages));
            let rate = rate.trim_end_matches("/s");
            let moments = match arrivals {
                Arrivals::Uniform => "",
                Arrivals::Poisson => " on average",
            };
            format!("at most {rate} requests/s{moments} on at most {connections}")
        }
    }
}

fn length(spec: &LoadSpec) -> String {
    let warm_up = if spec.warm_up.is_zero() {
        "no warm-up".to_owned()
    } else {
        format!("{} of warm-up", time(spec.warm_up))
    };
    let stop = stop(&spec.stop);
    let measurement = match spec.stop {
        StopRule::Duration { .. } => format!("{stop} of measurement"),
        StopRule::Count { .. } => format!("exactly {stop}"),
        StopRule::Interrupt => format!("measurement {stop}"),
    };
    let grace = if spec.timeouts.drain.is_zero() {
        "requests in flight at the end are abandoned".to_owned()
    } else {
        format!(
            "up to {} for requests in flight at the end",
            time(spec.timeouts.drain)
        )
    };
    format!("{warm_up}, {measurement}, {grace}")
}

fn validity(spec: &LoadSpec) -> String {
    // All requests have the same expectation.
    let Some(first) = spec.exchanges.first() else {
        return String::new();
    };
    let expect = &first.expect;
    let mut parts = vec![valid_status(first)];
    if let Some(length) = expect.length {
        parts.push(format!("a body of {}", counted(length, "byte")));
    }
    let content = expect.content.as_ref().map(|content| match content {
        Content::Exact { .. } | Content::Repeated { .. } => "the expected body".to_owned(),
        Content::Contains { bytes } => format!("a body with {:?} in it", excerpt(bytes)),
        Content::Json { .. } => "the expected JSON".to_owned(),
        Content::Gzip { .. } => "the expected content, compressed by gzip".to_owned(),
        Content::Records { count, .. } => match count {
            Some(count) => format!("{count} JSON objects"),
            None => "a JSON object".to_owned(),
        },
        Content::JsonAt { pointer, value } => {
            format!(
                "JSON with {:?} at {pointer:?}",
                excerpt(value.to_string().as_bytes())
            )
        }
    });
    if let Some(content) = content {
        let sampled = match spec.content_sample {
            1 => String::new(),
            every => format!(
                " (compared for one answer in {})",
                figure::count(u64::from(every))
            ),
        };
        parts.push(format!("{content}{sampled}"));
    }
    format!(
        "an answer with {}, within {}",
        parts.join(", "),
        time(spec.timeouts.request)
    )
}

fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match text.char_indices().nth(VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

fn generator(spec: &LoadSpec, why: Option<&str>) -> String {
    let mut text = match spec.cpus.as_slice() {
        [] => {
            let count = match spec.threads {
                1 => "one worker thread".to_owned(),
                threads => format!("{threads} worker threads"),
            };
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            format!("{count}, not pinned{why}")
        }
        [cpu] => format!("one worker thread, pinned to CPU {cpu}"),
        cpus => {
            let numbers: Vec<String> = cpus.iter().map(usize::to_string).collect();
            format!(
                "{} worker threads, pinned to CPUs {}",
                cpus.len(),
                numbers.join(", ")
            )
        }
    };
    if is_random(spec) {
        text.push_str(&format!("; seed {}", spec.seed));
    }
    text
}

/// How a closed loop's workers wait for answers. An open loop has no choice.
fn waiting(spec: &LoadSpec, why: Option<&str>) -> Option<String> {
    if spec.schedule.is_open() {
        return None;
    }
    let how = match spec.wait {
        Wait::Sleep => "asleep",
        Wait::Poll => "awake, with the whole CPU",
    };
    Some(why.map_or_else(|| how.to_owned(), |why| format!("{how}: {why}")))
}

/// Whether anything depends on the seed.
fn is_random(spec: &LoadSpec) -> bool {
    let poisson = matches!(
        spec.schedule,
        Schedule::Open {
            arrivals: Arrivals::Poisson,
            ..
        }
    );
    let thinks = spec.think.is_some_and(|think| think.is_random());
    poisson || thinks || spec.exchanges.iter().any(|one| one.request.template)
}

/// Notes about options that may not do what the user meant.
fn notes(spec: &LoadSpec) -> Vec<String> {
    let mut notes = Vec::new();
    let literal = spec.exchanges.iter().any(|exchange| {
        let request = &exchange.request;
        let body = match &request.body {
            Body::None => "",
            Body::Sized(bytes) | Body::Chunked(bytes) | Body::Call(bytes) => {
                std::str::from_utf8(bytes).unwrap_or("")
            }
        };
        let values = request.headers.iter().map(|(_, value)| value.as_str());
        // A URL's parser has made {{ into %7B%7B.
        let mut texts = values.chain([request.path.as_str(), body]);
        !request.template
            && texts
                .any(|text| template::looks_like_one(&text.replace("%7B", "{").replace("%7D", "}")))
    });
    if literal {
        notes.push("{{…}} is sent as it stands; --template would replace it".to_owned());
    }
    if spec.exchanges.len() > MAX_WITH_FIGURES {
        notes.push(format!(
            "the report has no figures of each request, because there are more than {}",
            separated(&MAX_WITH_FIGURES.to_string())
        ));
    }
    if let StopRule::Count { requests } = spec.stop
        && requests < u64::from(spec.schedule.most_connections())
    {
        notes.push(format!(
            "fewer requests than connections: {} are enough",
            counted(requests, "connection")
        ));
    }
    notes
}
