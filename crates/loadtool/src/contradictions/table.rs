//! The options that exclude each other, and those that need another one.

/// Options, others, and why or what to do. What is no plain option is one with certain values ([`super::is_special`]).
pub type Rule = (
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
);

const BODIES: &[&str] = &["--body", "--body-file", "--form"];
const CONTENTS: &[&str] = &[
    "--expect-body",
    "--expect-body-file",
    "--expect-contains",
    "--expect-json",
];
const ENDS: &[&str] = &["--duration", "--requests", "--until-interrupted"];
const HTTP2: &[&str] = &["--http2", "--http2-prior-knowledge", "--grpc"];
const RATES: &[&str] = &["--rate", "--stage"];
const OF_TLS: &[&str] = &[
    "--cacert",
    "--cert",
    "--insecure",
    "--server-name",
    "--no-resumption",
    "--tls-version",
    "--tls-ciphers",
];

/// Any option of the first list excludes any other one of the second.
pub(super) const EXCLUDE: &[Rule] = &[
    (
        &["--on"],
        &["--unix-socket"],
        "a Unix socket is on one machine, so use only one of them",
    ),
    (
        &["--on"],
        &["--source"],
        "an address belongs to one machine, so use only one of them",
    ),
    (
        &["--rate"],
        &["--stage"],
        "both say how fast: make the rate a stage, like --stage 10s@5000/s",
    ),
    (
        &["--ramp"],
        RATES,
        "the ramp spreads the first requests of a closed loop, and an open loop has a schedule; begin with a stage that \
         goes up, like --stage 5s@0..1000/s",
    ),
    (
        &["--think"],
        RATES,
        "an open loop sends at its rate, whatever users do, so use only one of them",
    ),
    (
        &["--think"],
        &["--pipeline"],
        "pipelined requests do not wait for answers, so use only one of them",
    ),
    (
        &["--think"],
        &["--wait poll"],
        "with --think, the CPU sleeps most of the time, so omit --wait",
    ),
    (
        &["--threads"],
        &["--cpus"],
        "--cpus starts a thread on each CPU of its list, so use only one of them",
    ),
    (
        &["--wait poll"],
        RATES,
        "a load at a rate sleeps until shortly before a request is due, so omit --wait",
    ),
    (
        ENDS,
        ENDS,
        "only one of these can end a load, so use only one of them",
    ),
    (
        &["--pipeline"],
        &["--no-keepalive", "--header 'Connection: close'"],
        "pipelining sends several requests on a connection, so use only one of them",
    ),
    (
        &["--pipeline"],
        &["--header 'Expect: 100-continue'"],
        "no other request can follow until the server has asked for the body, so use only one of them",
    ),
    (
        &["--pipeline"],
        &["--http1.0"],
        "HTTP/1.0 has no pipelining, so use only one of them",
    ),
    (
        &["--http2"],
        &["--http2-prior-knowledge"],
        "one is for https://, the other for http://, so use only one of them",
    ),
    (
        &["--http2"],
        &["http://"],
        "HTTP/2 is agreed on in TLS. Use --http2-prior-knowledge for a server that speaks it on an http:// port",
    ),
    (
        &["--http2-prior-knowledge"],
        &["https://"],
        "over TLS both sides agree on HTTP/2. Use --http2",
    ),
    (
        HTTP2,
        &["--http1.0"],
        "a connection speaks one version of HTTP, so use only one of them",
    ),
    (
        HTTP2,
        &["--pipeline"],
        "HTTP/2 has streams instead of pipelining. Use --streams",
    ),
    (
        HTTP2,
        &[
            "--no-keepalive",
            "--most-requests-per-connection",
            "--header 'Connection: …'",
        ],
        "HTTP/2 has no Connection header, and its connections last. Use only one of them",
    ),
    (
        HTTP2,
        &["--chunked"],
        "HTTP/2 has no chunks: its frames need no length beforehand. Omit --chunked",
    ),
    (
        HTTP2,
        &["--header 'Expect: 100-continue'"],
        "this header is for HTTP/1.1: in HTTP/2, flow control delays a body. Use only one of them",
    ),
    (
        HTTP2,
        &[
            "--header 'Transfer-Encoding: …'",
            "--header 'Upgrade: …'",
            "--header 'Keep-Alive: …'",
            "--header 'Proxy-Connection: …'",
        ],
        "HTTP/2 forbids this header (RFC 9113 §8.2.2). Omit it",
    ),
    (
        HTTP2,
        &["--follow-redirects", "--cookies"],
        "redirects and cookies are supported with HTTP/1.1 only, because of an HTTP/2 answer's headers only its status \
         and length are read. Use only one of them",
    ),
    (
        HTTP2,
        &["--stream"],
        "streams of events are supported with HTTP/1.1 only, so use only one of them",
    ),
    (
        HTTP2,
        &["--first-byte"],
        "the first byte is recorded with HTTP/1.1 only, so use only one of them",
    ),
    (
        HTTP2,
        &["--think"],
        "a user that thinks is a connection of HTTP/1.1, so use only one of them",
    ),
    (
        HTTP2,
        &["--proxy"],
        "proxies are supported with HTTP/1.1 only, so use only one of them",
    ),
    (
        &["--grpc"],
        &["--method", "--form"],
        "a call is a POST of one message, which --body-file has. Omit the other option",
    ),
    (
        &["--grpc"],
        &["--urls"],
        "a load calls one method. Name the server by its URL, and omit --urls",
    ),
    (
        &["--grpc"],
        &["--expect-status"],
        "a call succeeds with status 200 and grpc-status 0 only. Omit --expect-status",
    ),
    (
        &["--grpc"],
        &[
            "--header 'Grpc-Encoding: …'",
            "--header 'Grpc-Accept-Encoding: …'",
        ],
        "messages are sent and checked uncompressed. Omit the header",
    ),
    (
        &["--most-requests-per-connection"],
        &["--no-keepalive"],
        "without keep-alive a connection has one request, so use only one of them",
    ),
    (
        &["--most-requests-per-connection"],
        &["--header 'Connection: …'"],
        "Deadheat sends Connection: close with the last request of a connection only. Omit the header",
    ),
    (
        &["--stream"],
        &["--pipeline"],
        "a stream delays the answers behind it, so use only one of them",
    ),
    (
        &["--stream"],
        &["--method HEAD"],
        "an answer to HEAD has no body, so use only one of them",
    ),
    (
        &["--chunked"],
        &["--http1.0"],
        "HTTP/1.0 has no chunks, so use only one of them",
    ),
    (
        BODIES,
        BODIES,
        "a request has one body, so use only one of them",
    ),
    (
        &["--form"],
        &["--header 'Content-Type: …'"],
        "a form sets its own Content-Type, which names the boundary, so use only one of them",
    ),
    (
        &["--user"],
        &["--header 'Authorization: …'"],
        "both set the Authorization header, so use only one of them",
    ),
    (
        &["--most-requests-per-connection"],
        &["--follow-redirects"],
        "the server decides how many redirects a request has, so the last request of a connection is unknown \
         beforehand. Use only one of them",
    ),
    // SOCKS and CONNECT make a tunnel, in which requests look as they do without.
    (
        &["--proxy http://… for http://…"],
        &["--follow-redirects", "--cookies"],
        "such a proxy is sent whole URLs, from which paths cannot be followed. Use a socks5:// proxy, or only one of \
         them",
    ),
    (
        &["--follow-redirects"],
        &["--pipeline"],
        "a redirect cannot be followed behind pipelined requests, so use only one of them",
    ),
    (
        &["--follow-redirects"],
        &["--header 'Expect: 100-continue'"],
        "a request that waits for its body cannot be sent again, so use only one of them",
    ),
    (
        &["--cookies"],
        &["--pipeline"],
        "requests that were sent before an answer cannot carry its cookies, so use only one of them",
    ),
    (
        &["--cookies"],
        &["--header 'Expect: 100-continue'"],
        "a request with cookies is assembled as a whole, so use only one of them",
    ),
    (
        &["--cookies"],
        &["--header 'Cookie: …'"],
        "both set the Cookie header, so use only one of them",
    ),
    (
        CONTENTS,
        CONTENTS,
        "the body is compared with one expectation, so use only one of them",
    ),
    (
        &["-4"],
        &["-6"],
        "each excludes the other's addresses, so omit both to use any address",
    ),
    (
        &["--unix-socket"],
        &["--resolve", "--all-addresses", "-4", "-6", "--source"],
        "a Unix socket has no address, so use only one of them",
    ),
    (
        &["--all-addresses"],
        &["--resolve"],
        "one address replaces all those of the name, so use only one of them",
    ),
    (
        &["--proxy"],
        &["--unix-socket", "--resolve", "--all-addresses"],
        "connections lead to the proxy, which finds the server by itself, so use only one of them",
    ),
    (
        &["--urls with several origins"],
        &["--unix-socket", "--resolve"],
        "this applies to one server, and the lines lead to several. Omit it, or start a load for each server",
    ),
    (
        &["--urls with several origins"],
        &["--rate", "--stage", "--find-rate"],
        "in a load at a rate, requests that a slow server delays would go to the others, which hides how slow it is. \
         Start a load for each origin",
    ),
    (
        &["--all-addresses"],
        &["--rate", "--stage", "--find-rate"],
        "at a rate, requests that a slow address delays would go to the others, which hides how slow it is. Start a \
         load for each address, with --resolve",
    ),
    (
        &["--stream-events"],
        &[
            "--expect-length",
            "--expect-body",
            "--expect-body-file",
            "--expect-json",
        ],
        "an answer is cut after N events, so its body is incomplete. Use --expect-contains, or only one of them",
    ),
    (
        &["--stream chunks"],
        &["--http1.0"],
        "HTTP/1.0 has no chunks. Use --stream lines or --stream sse, or omit --http1.0",
    ),
    (
        &["--insecure"],
        &["--cacert"],
        "--insecure accepts any certificate, and --cacert only those that its file vouches for. Use only one of them",
    ),
    (
        &["--find-rate"],
        &["--rate", "--stage", "--ramp"],
        "the search sets the rate itself, so use only one of them",
    ),
    (
        &["--find-rate"],
        &["--requests", "--until-interrupted"],
        "a trial ends by time, which --duration sets. Use only one of them",
    ),
    (
        &["--find-rate"],
        &["--pipeline"],
        "pipelined requests wait for each other, which would count as response time of the server, so use only one of \
         them",
    ),
    (
        &["--find-rate"],
        &["--fail-if"],
        "--find-rate already has conditions, and exits with 3 if it finds no rate. Use only one of them",
    ),
    (
        &["--find-rate"],
        &["--think"],
        "at a rate, the next request does not wait for an answer, so use only one of them",
    ),
    (
        &["--find-rate"],
        &["--otlp"],
        "metrics are sent during a single load, and a search runs many, so use only one of them",
    ),
    (
        &["--find-rate"],
        &["--progress terminal"],
        "a search prints a line for each trial, so omit it",
    ),
    (
        &["--find-rate"],
        &["--interval", "--details"],
        "the search has a report of its own, so omit it",
    ),
    (
        &["--find-rate"],
        &["--wait"],
        "a load at a rate sleeps until shortly before a request is due, so omit --wait",
    ),
];

/// Any option of the first list needs one of the second.
pub(super) const NEED: &[Rule] = &[
    (
        &["--trials", "--precision"],
        &["--find-rate"],
        "this is for searches: set a condition with --find-rate 'p99<50ms', or omit it",
    ),
    (
        &["--launcher", "--agent"],
        &["--on"],
        "this is for other hosts: name them with --on, or omit it",
    ),
    (
        &["--arrivals"],
        &["--rate", "--stage", "--find-rate"],
        "this is for open loops: set a --rate (or a --stage), or omit it",
    ),
    (
        &["--max-connections"],
        &["--rate", "--stage", "--find-rate"],
        "a closed loop always has --connections connections. Omit it, or set a --rate",
    ),
    // The lines of --urls can name bodies.
    (
        &["--chunked"],
        &["--body", "--body-file", "--form", "--urls"],
        "this sends a body in chunks: set one with --body, --body-file or --form",
    ),
    (
        &["--header 'Expect: 100-continue'"],
        &["--body", "--body-file", "--form", "--urls"],
        "this delays a body: set one with --body, --body-file or --form",
    ),
    (
        &["--streams"],
        HTTP2,
        "this is for HTTP/2: add --http2 (https://), --http2-prior-knowledge (http://) or --grpc",
    ),
    (
        &["--stream-events"],
        &["--stream"],
        "events are not defined: add --stream sse, --stream lines or --stream chunks",
    ),
    (
        &["--check-every"],
        CONTENTS,
        "this needs expected content: add --expect-body, --expect-contains or --expect-json",
    ),
    (
        &["--cert"],
        &["--key"],
        "a certificate needs its key: add --key",
    ),
    (
        &["--key"],
        &["--cert"],
        "a key needs its certificate: add --cert",
    ),
    (
        OF_TLS,
        &["https://"],
        "this is for TLS: write https:// in the URL, or omit it",
    ),
];
