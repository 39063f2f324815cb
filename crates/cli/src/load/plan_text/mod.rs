//! The plan in words, before anything is sent.

#[cfg(test)]
mod tests;

use std::{path::PathBuf, time::Duration};

use deadheat_model::{
    LoadSpec, Schedule, StopRule, Wait,
    load::{
        Arrivals, Body, Content, Endpoint, Exchange, HttpVersion, Protocol, Reuse, Stage, Target,
        Tls, Trust,
    },
    words::{self, counted, separated},
};
use deadheat_report::text::wrap;
use deadheat_runner::secret;

use super::{
    collector::CollectorUrl, rate, spec::MOST_WITH_FIGURES, stream, template, think,
    thresholds::Threshold,
};

/// The columns that lines are broken at.
const COLUMNS: usize = 80;
/// Where values begin.
const INDENT: usize = 12;
/// Requests and headers that are shown; of more, the number is.
const SHOWN: usize = 5;
/// Characters of a header's value that are shown.
const VALUE: usize = 60;

/// What the plan says beyond the spec.
#[derive(Debug)]
pub(crate) struct Around<'a> {
    /// What was typed: the URL, or the file of URLs.
    pub(crate) typed: &'a str,
    /// How the address of each target was found, where there is something to say.
    pub(crate) hows: &'a [Option<String>],
    /// The hosts that load, where there are any but this process.
    pub(crate) hosts: Option<String>,
    /// Why workers wait as they do, where nobody asked for it.
    pub(crate) why_wait: Option<&'a str>,
    /// Why there are as many worker threads, where nobody asked for it.
    pub(crate) why_threads: Option<&'a str>,
    /// Files that are written.
    pub(crate) files: &'a [PathBuf],
    /// Where metrics are sent, if anywhere.
    pub(crate) collector: Option<&'a CollectorUrl>,
    /// Conditions for the exit status.
    pub(crate) thresholds: &'a [Threshold],
}

/// The plan, in lines of 80 columns where words allow it.
pub(crate) fn describe(spec: &LoadSpec, around: &Around<'_>) -> String {
    let pace = vec![
        ("loop", pace(spec)),
        ("ceiling", ceiling(spec)),
        ("length", length(spec)),
    ];
    laid_out(spec, around, pace)
}

/// The plan for somebody who watches: what is loaded, how and for how long. The report that follows has to fit below it.
pub(crate) fn in_short(spec: &LoadSpec, around: &Around<'_>) -> String {
    let mut lines = vec![format!("Plan: load {}", around.typed)];
    lines.extend(labelled("loop", &pace(spec)));
    lines.extend(labelled("length", &length(spec)));
    for note in notes(spec) {
        lines.extend(labelled("note", &note));
    }
    lines.join("\n")
}

/// The same with other lines on when requests are sent.
pub(crate) fn laid_out(
    spec: &LoadSpec,
    around: &Around<'_>,
    pace: Vec<(&'static str, String)>,
) -> String {
    let mut lines = vec![format!("Plan: load {}", around.typed)];
    let mut say = |label: &str, text: String| lines.extend(labelled(label, &text));
    for target in targets(spec, around.hows) {
        say("to", target);
    }
    for tls in spec.targets().filter_map(|target| target.tls.as_ref()) {
        say("TLS", encryption(tls));
    }
    for request in requests(spec) {
        say("request", request);
    }
    if let Some(headers) = headers(spec.exchanges.first()) {
        say("headers", headers);
    }
    if spec.redirects > 0 {
        say("redirects", redirects(spec.redirects));
    }
    if spec.cookies {
        let text = "each connection is a user that keeps its own, also when it is made again";
        say("cookies", text.to_owned());
    }
    for (label, text) in pace {
        say(label, text);
    }
    say("valid is", validity(spec));
    if let Some(stream) = &spec.stream {
        say("events", stream::described(stream));
    }
    if let Some(hosts) = &around.hosts {
        say("from", hosts.clone());
    }
    say("generator", generator(spec, around.why_threads));
    if let Some(waiting) = waiting(spec, around.why_wait) {
        say("waiting", waiting);
    }
    for file in around.files {
        say("file", file.display().to_string());
    }
    if let Some(collector) = around.collector {
        let interval = spec.interval.map(span).unwrap_or_default();
        say("metrics", format!("sent to {collector} every {interval}"));
    }
    for threshold in around.thresholds {
        say("fail if", threshold.to_string());
    }
    for note in notes(spec) {
        say("note", note);
    }
    lines.join("\n")
}

/// A label and its text, in lines of its own.
fn labelled(label: &str, text: &str) -> Vec<String> {
    let head = format!("  {label:<width$}", width = INDENT - 2);
    wrap(text, COLUMNS, &head, false)
}

/// Where connections lead, and how.
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

fn protocol(spec: &LoadSpec) -> String {
    let Protocol::Http1 {
        version,
        reuse,
        pipeline,
    } = spec.protocol;
    let mut text = match version {
        HttpVersion::Http10 => "HTTP/1.0",
        HttpVersion::Http11 => "HTTP/1.1",
    }
    .to_owned();
    text.push_str(match reuse {
        Reuse::KeepAlive => ", connections kept alive",
        Reuse::PerRequest => ", a new connection for each request",
    });
    if let Some(most) = spec.most_per_connection {
        text.push_str(&format!(" for {} each", counted(most.get(), "request")));
    }
    if pipeline > 1 {
        text.push_str(&format!(", up to {pipeline} requests pipelined on each"));
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
    if let Some(version) = tls.version {
        text.push_str(&format!("; only TLS {version}"));
    }
    if !tls.cipher_suites.is_empty() {
        text.push_str(&format!("; only {}", tls.cipher_suites.join(", ")));
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
    };
    let path = secret::without_secret_values(&request.path);
    let origin = match spec.targets().nth(exchange.target) {
        Some(target) if !spec.others.is_empty() => target.origin(),
        _ => String::new(),
    };
    format!("{} {origin}{path}{body}", request.method)
}

/// The headers, which are the same for all requests.
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
    match &spec.schedule {
        Schedule::Closed { connections, ramp } => {
            let after = spec.think.as_ref().map_or(String::new(), |think| {
                format!(" and has thought for {}", think::described(think))
            });
            let mut text = format!(
                "closed: {}, each sends its next request when it has its answer{after}",
                counted(*connections, "connection")
            );
            if !ramp.is_zero() {
                text.push_str(&format!("; the first ones are spread over {}", span(*ramp)));
            }
            text
        }
        Schedule::Open {
            arrivals,
            stages,
            connections,
            most_connections,
        } => {
            let arrivals = match arrivals {
                Arrivals::Uniform => "at even distances",
                Arrivals::Poisson => "at random (Poisson)",
            };
            let more = if most_connections > connections {
                format!(", and more when none is free, up to {most_connections}")
            } else {
                String::new()
            };
            format!(
                "open: {} {arrivals}, whatever comes back; {} at the start{more}",
                stages_text(stages),
                counted(*connections, "connection"),
            )
        }
    }
}

fn stages_text(stages: &[Stage]) -> String {
    let texts = stages.iter().map(|stage| {
        let rates = if stage.from == stage.to {
            rate::shown(stage.from)
        } else {
            format!("{} to {}", rate::shown(stage.from), rate::shown(stage.to))
        };
        if stage.length.is_zero() {
            rates
        } else {
            format!("{rates} for {}", span(stage.length))
        }
    });
    texts.collect::<Vec<_>>().join(", then ")
}

/// How much a server can meet with at most.
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
            let rate = rate::shown(f64::from(*users) / think.mean().as_secs_f64());
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
            let rate = rate::shown(rate::highest(stages));
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
        format!("{} of warm-up", span(spec.warm_up))
    };
    let measurement = match spec.stop {
        StopRule::Duration { length } => format!("{} of measurement", span(length)),
        StopRule::Count { requests } => format!("exactly {}", counted(requests, "request")),
        StopRule::Interrupt => "measurement until Ctrl-C".to_owned(),
    };
    let grace = if spec.timeouts.cool_down.is_zero() {
        "requests in flight at the end are abandoned".to_owned()
    } else {
        format!(
            "up to {} for requests in flight at the end",
            span(spec.timeouts.cool_down)
        )
    };
    format!("{warm_up}, {measurement}, {grace}")
}

fn validity(spec: &LoadSpec) -> String {
    // The same for all requests.
    let Some(Exchange { expect, .. }) = spec.exchanges.first() else {
        return String::new();
    };
    let mut parts = vec![format!("status {}", expect.status)];
    if let Some(length) = expect.length {
        parts.push(format!("a body of {}", counted(length, "byte")));
    }
    let content = expect.content.as_ref().map(|content| match content {
        Content::Exact { .. } | Content::Repeated { .. } => "the expected body".to_owned(),
        Content::Contains { bytes } => format!("a body with {:?} in it", excerpt(bytes)),
        Content::Json { .. } => "the expected JSON".to_owned(),
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
                words::count(u64::from(every))
            ),
        };
        parts.push(format!("{content}{sampled}"));
    }
    format!(
        "an answer with {}, within {}",
        parts.join(", "),
        span(spec.timeouts.request)
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

/// What the user may have meant otherwise.
fn notes(spec: &LoadSpec) -> Vec<String> {
    let mut notes = Vec::new();
    let literal = spec.exchanges.iter().any(|exchange| {
        let request = &exchange.request;
        let body = match &request.body {
            Body::None => "",
            Body::Sized(bytes) | Body::Chunked(bytes) => std::str::from_utf8(bytes).unwrap_or(""),
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
    if spec.exchanges.len() > MOST_WITH_FIGURES {
        notes.push(format!(
            "the report has no figures of each request, because there are more than {}",
            separated(&MOST_WITH_FIGURES.to_string())
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

/// A time as a person writes it.
pub(crate) fn span(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}
