//! Options that contradict each other, or that mean nothing without another one: refused with the reason and what to do,
//! so that nobody believes in something that was not done.

use deadheat_model::load::REDIRECTS;

use super::{
    args::{LoadArgs, WaitArg},
    find_rate,
    given::Given,
    rate,
    request::has_word,
    stream::StreamArg,
    url::{Host, Origin},
};

/// Why an option of searches is refused.
const FIND_ALONE: &str =
    "this is for searches: set a condition with --find-rate 'p99<50ms', or omit it";

/// Options that are refused together, or one that is refused alone.
struct Clash {
    options: Vec<&'static str>,
    why: &'static str,
}

/// Refuses the first contradiction.
pub(crate) fn check(args: &LoadArgs, origins: &[Origin]) -> Result<(), String> {
    let clash = first(args, origins);
    let clash = clash.map(|clash| format!("{}: {}", clash.options.join(" and "), clash.why));
    match clash.or_else(|| values(args, origins)) {
        Some(problem) => Err(problem),
        None => Ok(()),
    }
}

/// The options of the first contradiction, without their dashes.
pub(crate) fn names(args: &LoadArgs, origins: &[Origin]) -> Option<Vec<String>> {
    let Clash { options, .. } = first(args, origins)?;
    let names = options.iter().map(|option| {
        let name = option.split_whitespace().next().unwrap_or_default();
        name.trim_start_matches('-').to_owned()
    });
    Some(names.collect())
}

fn first(args: &LoadArgs, origins: &[Origin]) -> Option<Clash> {
    let all = pairs(args, origins)
        .into_iter()
        .chain(find_rate::clashes_of(args));
    let clashes = all.into_iter().find_map(|(one, other, why)| {
        (one.1 && other.1).then(|| Clash {
            options: vec![one.0, other.0],
            why,
        })
    });
    clashes.or_else(|| {
        needs(args, origins)
            .into_iter()
            .find_map(|(one, there, why)| {
                (one.1 && !there).then(|| Clash {
                    options: vec![one.0],
                    why,
                })
            })
    })
}

/// Pairs that cannot stand together, and why.
fn pairs(args: &LoadArgs, origins: &[Origin]) -> Vec<(Given, Given, &'static str)> {
    let LoadArgs {
        pace,
        end,
        request,
        connection,
        tls,
        answer,
        hosts,
        care,
        ..
    } = args;
    let on = ("--on", !hosts.on.is_empty());
    let source = ("--source", !connection.source.is_empty());
    let rate = ("--rate", pace.steady.rate.is_some());
    let stage = ("--stage", !pace.stage.is_empty());
    let ramp = ("--ramp", pace.ramp.is_some());
    let think = ("--think", pace.think.is_some());
    let poll = ("--wait poll", care.wait == WaitArg::Poll);
    let duration = ("--duration", end.duration.is_some());
    let requests = ("--requests", end.requests.is_some());
    let until = ("--until-interrupted", end.until_interrupted);
    let pipeline = (
        "--pipeline",
        request.pipeline.is_some_and(|depth| depth > 1),
    );
    let stream = ("--stream", args.stream.stream.is_some());
    let method = request.method.as_deref().unwrap_or_default();
    let body = ("--body", request.body.is_some());
    let body_file = ("--body-file", !request.body_file.is_empty());
    let form = ("--form", !request.form.is_empty());
    let one_body = "a request has one body, so use only one of them";
    let expects = has_word(&request.headers, "expect", "100-continue");
    let follow = ("--follow-redirects", request.follow_redirects.is_some());
    let cookies = ("--cookies", request.cookies);
    let expected = answer.expect_status.as_ref();
    let expects_redirect =
        expected.is_some_and(|set| REDIRECTS.iter().any(|status| set.contains(*status)));
    let closes = has_word(&request.headers, "connection", "close");
    let expect_body = ("--expect-body", answer.expect_body.is_some());
    let expect_file = ("--expect-body-file", answer.expect_body_file.is_some());
    let expect_contains = ("--expect-contains", answer.expect_contains.is_some());
    let expect_json = ("--expect-json", answer.expect_json.is_some());
    let unix = ("--unix-socket", connection.unix_socket.is_some());
    let resolve = ("--resolve", connection.resolve.is_some());
    let most = (
        "--most-requests-per-connection",
        connection.most_requests_per_connection.is_some(),
    );
    let find = ("--find-rate", args.find.is_asked());
    let stream_events = ("--stream-events", args.stream.stream_events.is_some());
    let chunks = (
        "--stream chunks",
        args.stream.stream == Some(StreamArg::Chunks),
    );
    let cut = "an answer is cut after N events, so its body is incomplete. Use --expect-contains, or only one of them";
    let several = ("--urls with several origins", origins.len() > 1);
    let all = ("--all-addresses", connection.all_addresses);
    let proxy = ("--proxy", connection.proxy.is_some());
    // SOCKS and CONNECT make a tunnel, in which requests look as they do without.
    let plain_proxy = (
        "--proxy http://… for http://…",
        proxy.1
            && connection
                .proxy
                .as_deref()
                .is_some_and(|typed| typed.trim().starts_with("http:"))
            && origins.iter().any(|origin| !origin.tls),
    );
    let named_whole = "such a proxy is sent whole URLs, from which paths cannot be followed. Use a socks5:// proxy, \
                       or only one of them";
    let by_proxy =
        "connections lead to the proxy, which finds the server by itself, so use only one of them";
    let one_place = "this applies to one server, and the lines lead to several. Omit it, or start a load for each \
                     server";
    let own_rate = "in a load at a rate, requests that a slow server delays would go to the others, which hides how \
                    slow it is. Start a load for each origin";
    let each_address = "at a rate, requests that a slow address delays would go to the others, which hides how slow \
                        it is. Start a load for each address, with --resolve";
    let one_end = "only one of these can end a load, so use only one of them";
    let open = "the ramp spreads the first requests of a closed loop, and an open loop has a schedule; begin with a \
                stage that goes up, like --stage 5s@0..1000/s";
    let scheduled = "a load at a rate sleeps until shortly before a request is due, so omit --wait";
    let no_thought = "an open loop sends at its rate, whatever users do, so use only one of them";
    let no_address = "a Unix socket has no address, so use only one of them";
    let one_content = "the body is compared with one expectation, so use only one of them";
    vec![
        (
            on,
            unix,
            "a Unix socket is on one machine, so use only one of them",
        ),
        (
            on,
            source,
            "an address belongs to one machine, so use only one of them",
        ),
        (
            rate,
            stage,
            "both say how fast: make the rate a stage, like --stage 10s@5000/s",
        ),
        (ramp, rate, open),
        (ramp, stage, open),
        (think, rate, no_thought),
        (think, stage, no_thought),
        (
            think,
            pipeline,
            "pipelined requests do not wait for answers, so use only one of them",
        ),
        (
            think,
            poll,
            "with --think, the CPU sleeps most of the time, so omit --wait",
        ),
        (
            ("--threads", care.threads.is_some()),
            ("--cpus", care.cpus.is_some()),
            "--cpus starts a thread on each CPU of its list, so use only one of them",
        ),
        (poll, rate, scheduled),
        (poll, stage, scheduled),
        (duration, requests, one_end),
        (duration, until, one_end),
        (requests, until, one_end),
        (
            pipeline,
            ("--no-keepalive", request.no_keepalive),
            "pipelining sends several requests on a connection, so use only one of them",
        ),
        (
            pipeline,
            ("--header 'Connection: close'", closes),
            "pipelining sends several requests on a connection, so use only one of them",
        ),
        (
            pipeline,
            ("--header 'Expect: 100-continue'", expects),
            "no other request can follow until the server has asked for the body, so use only one of them",
        ),
        (
            pipeline,
            ("--http1.0", request.http1_0),
            "HTTP/1.0 has no pipelining, so use only one of them",
        ),
        (
            most,
            ("--no-keepalive", request.no_keepalive),
            "without keep-alive a connection has one request, so use only one of them",
        ),
        (
            most,
            ("--header 'Connection: …'", has_header(args, "connection")),
            "Deadheat sends Connection: close with the last request of a connection only. Omit the header",
        ),
        (
            stream,
            pipeline,
            "a stream delays the answers behind it, so use only one of them",
        ),
        (
            stream,
            ("--method HEAD", method.eq_ignore_ascii_case("head")),
            "an answer to HEAD has no body, so use only one of them",
        ),
        (
            ("--chunked", request.chunked),
            ("--http1.0", request.http1_0),
            "HTTP/1.0 has no chunks, so use only one of them",
        ),
        (body, body_file, one_body),
        (body, form, one_body),
        (body_file, form, one_body),
        (
            form,
            (
                "--header 'Content-Type: …'",
                has_header(args, "content-type"),
            ),
            "a form sets its own Content-Type, which names the boundary, so use only one of them",
        ),
        (
            ("--user", request.user.is_some()),
            (
                "--header 'Authorization: …'",
                has_header(args, "authorization"),
            ),
            "both set the Authorization header, so use only one of them",
        ),
        (
            most,
            follow,
            "the server decides how many redirects a request has, so the last request of a connection is unknown \
             beforehand. Use only one of them",
        ),
        (plain_proxy, follow, named_whole),
        (plain_proxy, cookies, named_whole),
        (
            follow,
            pipeline,
            "a redirect cannot be followed behind pipelined requests, so use only one of them",
        ),
        (
            follow,
            ("--header 'Expect: 100-continue'", expects),
            "a request that waits for its body cannot be sent again, so use only one of them",
        ),
        (
            cookies,
            pipeline,
            "requests that were sent before an answer cannot carry its cookies, so use only one of them",
        ),
        (
            cookies,
            ("--header 'Expect: 100-continue'", expects),
            "a request with cookies is assembled as a whole, so use only one of them",
        ),
        (
            cookies,
            ("--header 'Cookie: …'", has_header(args, "cookie")),
            "both set the Cookie header, so use only one of them",
        ),
        (
            follow,
            ("--expect-status with redirects", expects_redirect),
            "a redirect that is followed is not a final answer. Remove 301, 302, 303, 307 and 308 from the statuses, \
             or do not follow redirects",
        ),
        (expect_body, expect_file, one_content),
        (expect_body, expect_contains, one_content),
        (expect_body, expect_json, one_content),
        (expect_file, expect_contains, one_content),
        (expect_file, expect_json, one_content),
        (expect_contains, expect_json, one_content),
        (
            ("-4", connection.ipv4),
            ("-6", connection.ipv6),
            "each excludes the other's addresses, so omit both to use any address",
        ),
        (unix, resolve, no_address),
        (all, unix, no_address),
        (
            all,
            resolve,
            "one address replaces all those of the name, so use only one of them",
        ),
        (proxy, unix, by_proxy),
        (proxy, resolve, by_proxy),
        (proxy, all, by_proxy),
        (several, unix, one_place),
        (several, resolve, one_place),
        (several, rate, own_rate),
        (several, stage, own_rate),
        (several, find, own_rate),
        (all, rate, each_address),
        (all, stage, each_address),
        (all, find, each_address),
        (
            stream_events,
            ("--expect-length", answer.expect_length.is_some()),
            cut,
        ),
        (stream_events, expect_body, cut),
        (stream_events, expect_file, cut),
        (stream_events, expect_json, cut),
        (
            chunks,
            ("--http1.0", request.http1_0),
            "HTTP/1.0 has no chunks. Use --stream lines or --stream sse, or omit --http1.0",
        ),
        (unix, ("-4", connection.ipv4), no_address),
        (unix, ("-6", connection.ipv6), no_address),
        (
            unix,
            ("--source", !connection.source.is_empty()),
            no_address,
        ),
        (
            ("--insecure", tls.insecure),
            ("--cacert", tls.cacert.is_some()),
            "--insecure accepts any certificate, and --cacert only those that its file vouches for. Use only one of \
             them",
        ),
    ]
}

/// Options that mean nothing without something else, whether that is there, and what to do.
fn needs(args: &LoadArgs, origins: &[Origin]) -> Vec<(Given, bool, &'static str)> {
    let LoadArgs {
        pace,
        request,
        tls,
        answer,
        hosts,
        ..
    } = args;
    let on = !hosts.on.is_empty();
    let elsewhere = "this is for other hosts: name them with --on, or omit it";
    let find = args.find.is_asked();
    let open = pace.steady.rate.is_some() || !pace.stage.is_empty() || find;
    let body = request.body.is_some() || !request.body_file.is_empty() || !request.form.is_empty();
    // Its lines can name bodies.
    let body = body || request.urls.is_some();
    let content = answer.expect_body.is_some()
        || answer.expect_body_file.is_some()
        || answer.expect_contains.is_some()
        || answer.expect_json.is_some();
    let open_alone = "this is for open loops: set a --rate (or a --stage), or omit it";
    let https = "this is for TLS: write https:// in the URL, or omit it";
    let is_https = origins.iter().any(|origin| origin.tls);
    vec![
        (("--looks", args.find.looks.is_some()), find, FIND_ALONE),
        (
            ("--precision", args.find.precision.is_some()),
            find,
            FIND_ALONE,
        ),
        (
            ("--launcher", hosts.reach.launcher.is_some()),
            on,
            elsewhere,
        ),
        (("--agent", hosts.reach.agent.is_some()), on, elsewhere),
        (
            ("--arrivals", pace.steady.arrivals.is_some()),
            open,
            open_alone,
        ),
        (
            ("--max-connections", pace.steady.max_connections.is_some()),
            open,
            "a closed loop always has --connections connections. Omit it, or set a --rate",
        ),
        (
            ("--chunked", request.chunked),
            body,
            "this sends a body in chunks: set one with --body, --body-file or --form",
        ),
        (
            (
                "--header 'Expect: 100-continue'",
                has_word(&request.headers, "expect", "100-continue"),
            ),
            body,
            "this delays a body: set one with --body, --body-file or --form",
        ),
        (
            ("--stream-events", args.stream.stream_events.is_some()),
            args.stream.stream.is_some(),
            "events are not defined: add --stream sse, --stream lines or --stream chunks",
        ),
        (
            ("--check-every", answer.check_every.is_some()),
            content,
            "this needs expected content: add --expect-body, --expect-contains or --expect-json",
        ),
        (
            ("--cert", tls.cert.is_some()),
            tls.key.is_some(),
            "a certificate needs its key: add --key",
        ),
        (
            ("--key", tls.key.is_some()),
            tls.cert.is_some(),
            "a key needs its certificate: add --cert",
        ),
        (("--cacert", tls.cacert.is_some()), is_https, https),
        (("--cert", tls.cert.is_some()), is_https, https),
        (("--insecure", tls.insecure), is_https, https),
        (
            ("--server-name", tls.server_name.is_some()),
            is_https,
            https,
        ),
        (("--no-resumption", tls.no_resumption), is_https, https),
        (
            ("--tls-version", tls.tls_version.is_some()),
            is_https,
            https,
        ),
        (
            ("--tls-ciphers", !tls.tls_ciphers.is_empty()),
            is_https,
            https,
        ),
    ]
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
    let version = args.tls.tls_version.map(Into::into);
    if let Err(problem) = deadheat_load::can_offer(version, &args.tls.tls_ciphers) {
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

fn has_header(args: &LoadArgs, name: &str) -> bool {
    let mut headers = args.request.headers.iter();
    headers.any(|(other, _)| other.eq_ignore_ascii_case(name))
}

#[cfg(test)]
#[path = "clashes_tests.rs"]
mod tests;
