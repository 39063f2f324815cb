//! Checks of connections with the workload's own requests: persistence as declared, HTTP/1.0, requests in pieces,
//! pipelining, the declared protocols other than HTTP/1.1 without TLS, and many concurrent connections.

use std::{
    net::SocketAddr,
    sync::{Barrier, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

use deadheat_model::{
    StackProtocol,
    load::{Body, HttpVersion, RequestSpec},
    stack::Http,
    workload::Oracle,
};

use super::{
    Fault, PATIENCE, Verifier,
    http2::Http2,
    question::{ExpectedAnswer, LATE, ProbeRequest},
    route::Route,
    wire::{NoReply, Patience, ProbeConnection, Reply, encode},
};

/// The number of sequential requests on one connection.
const KEPT: usize = 3;
/// The number of requests in one write.
const PIPELINED: usize = 16;
/// The maximum time until a server closes a connection that it must close. Only a failing check reaches it.
const CLOSING: Duration = Duration::from_secs(10);
/// The pause between the pieces of a request, in which a server can read the first piece before the second arrives.
const PAUSE: Duration = Duration::from_millis(5);
/// A path that no stack serves.
pub(super) const UNKNOWN: &str = "/deadheat-no-such-path";

const KEEPS: &str = "a connection is kept after an answer";
const CLOSES: &str =
    "a connection is closed after every answer, as its manifest declares (keep-alive = false)";
const OLD: &str =
    "a request of HTTP/1.0 without keep-alive is answered whole, and its connection closed";
const PIECES: &str = "a request that comes in pieces is answered as any other";
const IN_ORDER: &str = "requests that come in one write are all answered, in their order";

impl<'a> Verifier<'a> {
    /// Runs all checks of connections.
    pub(super) fn verify_connections(&mut self) -> Result<(), Fault> {
        if self.declared.http.keep_alive {
            self.verify_kept()?
        } else {
            self.verify_closed()?
        }
        self.verify_old_version()?;
        self.verify_pieces()?;
        // A server that calls the slow upstream sequentially would take seconds.
        if self.declared.http.pipelining && self.workload.oracle != Oracle::Relayed {
            self.verify_pipelining()?;
        }
        Ok(())
    }

    fn verify_kept(&mut self) -> Result<(), Fault> {
        let mut wire = self.connect()?;
        let expected = "an open connection (a stack that closes it declares `keep-alive = false` under [http])";
        for (index, question) in self.questions(KEPT)?.iter().enumerate() {
            let asked = format!("{}, request {} on a connection", question.name(), index + 1);
            let reply = match wire.ask(&question.request) {
                Err(NoReply::Closed) if index > 0 => {
                    let got = "the connection was closed after the answer before".to_owned();
                    return Err(Fault::new(asked, KEEPS, expected.to_owned(), got));
                }
                reply => self.judge(question, &asked, KEEPS, reply)?,
            };
            if !reply.keeps {
                let got = "an answer with Connection: close".to_owned();
                return Err(Fault::new(asked, KEEPS, expected.to_owned(), got));
            }
        }
        Ok(())
    }

    fn verify_closed(&mut self) -> Result<(), Fault> {
        let mut wire = self.connect()?;
        for question in self.questions(1)? {
            let asked = question.name();
            let reply = wire.ask(&question.request);
            self.judge(&question, &asked, CLOSES, reply)?;
            expect_end(&mut wire, asked, CLOSES)?;
        }
        Ok(())
    }

    fn verify_old_version(&mut self) -> Result<(), Fault> {
        let questions = match self.workload.oracle {
            // Some servers do not compress answers to HTTP/1.0 clients.
            Oracle::Products => vec![self.plain_products_question()],
            _ => self.questions(1)?,
        };
        for question in questions {
            let mut wire = self.connect()?;
            let asked = format!("{} in HTTP/1.0", question.name());
            let (bytes, _) = encode(self.address, &question.request, HttpVersion::Http10);
            let reply = wire.send(&bytes).and_then(|()| wire.reply());
            let reply = self.judge(&question, &asked, OLD, reply)?;
            if reply.chunked {
                let expected =
                    "a body with a length, or up to the end of the connection".to_owned();
                let got = "a body in chunks, which HTTP/1.0 does not know".to_owned();
                return Err(Fault::new(asked, OLD, expected, got));
            }
            expect_end(&mut wire, asked, OLD)?;
        }
        Ok(())
    }

    fn verify_pieces(&mut self) -> Result<(), Fault> {
        for mut question in self.questions(1)? {
            let mut bodies = vec![question.request.body.clone()];
            if let (Body::Sized(bytes), true) = (&bodies[0], self.declared.http.chunked_bodies) {
                bodies.push(Body::Chunked(bytes.clone()));
            }
            for body in bodies {
                question.request.body = body;
                let mut wire = self.connect()?;
                let (bytes, body) = encode(self.address, &question.request, HttpVersion::Http11);
                let reply = send_in_pieces(&mut wire, &bytes, body).and_then(|()| wire.reply());
                let asked = format!("{} in pieces", question.name());
                self.judge(&question, &asked, PIECES, reply)?;
            }
        }
        Ok(())
    }

    fn verify_pipelining(&mut self) -> Result<(), Fault> {
        let unknown = ProbeRequest {
            request: RequestSpec::get(UNKNOWN),
            wanted: ExpectedAnswer::Status(&[404]),
        };
        // Neighbouring requests have different answers, so that a wrong order is detected. The bodies use both
        // framings.
        let mut questions = Vec::new();
        for mut question in self.questions(PIPELINED / 2)? {
            if let (Body::Sized(bytes), true) = (
                &question.request.body,
                self.declared.http.chunked_bodies && questions.len() % 4 == 0,
            ) {
                question.request.body = Body::Chunked(bytes.clone());
            }
            questions.extend([question, unknown.clone()]);
        }
        let bytes: Vec<u8> = questions
            .iter()
            .flat_map(|question| encode(self.address, &question.request, HttpVersion::Http11).0)
            .collect();
        let mut wire = self.connect()?;
        let mut sent = wire.send(&bytes);
        for (index, question) in questions.iter().enumerate() {
            let name = question.name();
            let asked = format!("{name}, request {} of {PIPELINED} in one write", index + 1);
            let reply = std::mem::replace(&mut sent, Ok(())).and_then(|()| wire.reply());
            self.judge(question, &asked, IN_ORDER, reply)?;
        }
        Ok(())
    }

    /// A new connection to the server.
    pub(super) fn connect(&self) -> Result<ProbeConnection<'a>, Fault> {
        self.connect_for(PATIENCE)
    }

    /// A new connection with the timeout `time` for each answer.
    pub(super) fn connect_for(&self, time: Duration) -> Result<ProbeConnection<'a>, Fault> {
        let patience = Patience::new(time, self.stop);
        ProbeConnection::open(self.address, patience).map_err(|error| {
            Fault::new(
                format!("a connection to {}", self.address),
                "the server takes connections",
                "a connection".to_owned(),
                error.to_string(),
            )
        })
    }

    /// Checks an answer, and counts the probe.
    pub(super) fn judge(
        &mut self,
        question: &ProbeRequest,
        asked: &str,
        rule: &'static str,
        reply: Result<Reply, NoReply>,
    ) -> Result<Reply, Fault> {
        let reply = judged(question, asked, rule, reply)?;
        self.passed += 1;
        Ok(reply)
    }
}

/// Checks that there is an answer and that it is right.
pub(super) fn judged(
    question: &ProbeRequest,
    asked: &str,
    rule: &'static str,
    reply: Result<Reply, NoReply>,
) -> Result<Reply, Fault> {
    let reply = reply.map_err(|error| {
        Fault::new(
            asked.to_owned(),
            rule,
            "an answer".to_owned(),
            error.to_string(),
        )
    })?;
    question.judge_of_stack(asked, rule, &reply.answer, LATE)?;
    Ok(reply)
}

fn expect_end(
    wire: &mut ProbeConnection<'_>,
    asked: String,
    rule: &'static str,
) -> Result<(), Fault> {
    let begun = Instant::now();
    if wire.ends_within(CLOSING) {
        return Ok(());
    }
    let got = if begun.elapsed() >= CLOSING {
        format!("it stayed open for {} s", CLOSING.as_secs())
    } else {
        "more bytes came after the answer".to_owned()
    };
    Err(Fault::new(
        asked,
        rule,
        "the connection's end".to_owned(),
        got,
    ))
}

/// Sends a request in pieces, split in the middle of the method, of the head, of the head's end, and of the body.
fn send_in_pieces(
    wire: &mut ProbeConnection<'_>,
    bytes: &[u8],
    body: usize,
) -> Result<(), NoReply> {
    let in_body = body + (bytes.len() - body) / 2;
    let cuts = [2, body / 2, body - 1, body, in_body, bytes.len()];
    let mut from = 0;
    for to in cuts {
        if from > 0 && to > from {
            thread::sleep(PAUSE);
        }
        wire.send(&bytes[from..to])?;
        from = to;
    }
    Ok(())
}

/// The number of concurrent streams on a connection.
const STREAMS: usize = 16;
/// The number of concurrent streams with large answers. Servers limit the memory of a connection (node:http2 by default
/// 10 MB).
const STREAMS_OF_LARGE: usize = 4;
/// The maximum time until a server refuses HTTP/1.1 on an HTTP/2 port. Only a failing check reaches it.
const REFUSAL: Duration = Duration::from_secs(10);

const AT_ONCE: &str = "requests on a connection at once are all answered, each with its own answer";
const NOT_FOUND: &str = "an unknown path";
const OFFERED_ONE: &str = "a client that offers http/1.1 alone by ALPN is answered in HTTP/1.1";
const NO_ALPN: &str = "a client without ALPN is answered in HTTP/1.1";
const NEVER_HANGS: &str = "HTTP/1.1 on the port for h2c is refused, or answered rightly";

impl Verifier<'_> {
    /// Runs the checks that are specific to this verifier's protocol.
    pub(super) fn verify_protocol(&mut self) -> Result<(), Fault> {
        let route = self.client.route().clone();
        let unknown = ProbeRequest {
            request: RequestSpec::get(UNKNOWN),
            wanted: ExpectedAnswer::Status(&[404]),
        };
        self.expect(NOT_FOUND, &unknown)?;
        if route.protocol.is_http2() {
            self.verify_streams(&route)?;
        }
        match route.protocol {
            StackProtocol::Http1 => Ok(()),
            StackProtocol::Tls | StackProtocol::H2 => self.verify_http1_over_tls(&route),
            StackProtocol::H2c => self.verify_http1_on_h2c(&route),
        }
    }

    fn verify_streams(&mut self, route: &Route) -> Result<(), Fault> {
        let streams = match self.workload.oracle {
            Oracle::Repeated { .. } => STREAMS_OF_LARGE,
            _ => STREAMS,
        };
        let questions = self.questions(streams)?;
        let requests: Vec<&RequestSpec> = questions.iter().map(|one| &one.request).collect();
        let asked = |question: &ProbeRequest| {
            let name = question.name();
            format!("{name}, {streams} times on a connection{}", route.over())
        };
        let http2 = Http2::open(route, Patience::new(PATIENCE, self.stop));
        let answers = http2.and_then(|mut http2| http2.ask_together(&requests));
        let answers = answers.map_err(|error| {
            let asked = questions.first().map(asked).unwrap_or_default();
            Fault::new(asked, AT_ONCE, "answers".to_owned(), error.to_string())
        })?;
        for (question, answer) in questions.iter().zip(&answers) {
            question.judge_of_stack(&asked(question), AT_ONCE, answer, LATE)?;
            self.passed += 1;
        }
        Ok(())
    }

    fn verify_http1_over_tls(&mut self, route: &Route) -> Result<(), Fault> {
        for (alpn, rule) in [(&["http/1.1"][..], OFFERED_ONE), (&[], NO_ALPN)] {
            for question in self.questions(1)? {
                let asked = format!("{} over TLS", question.name());
                let wire = route.open_tls(alpn, Patience::new(PATIENCE, self.stop));
                let reply = wire.and_then(|mut wire| wire.ask(&question.request));
                judged(&question, &asked, rule, reply)?;
                self.passed += 1;
            }
        }
        Ok(())
    }

    fn verify_http1_on_h2c(&mut self, route: &Route) -> Result<(), Fault> {
        for question in self.questions(1)? {
            let asked = format!("{} in HTTP/1.1 on $H2C_PORT", question.name());
            let wire = ProbeConnection::open(route.address, Patience::new(REFUSAL, self.stop));
            let reply = wire.and_then(|mut wire| wire.ask(&question.request));
            match reply {
                Err(NoReply::Closed | NoReply::Broken(_) | NoReply::Refused(_)) => {}
                Ok(reply) if reply.answer.status >= 400 => {}
                reply @ (Ok(_) | Err(NoReply::Late(_) | NoReply::Interrupted)) => {
                    judged(&question, &asked, NEVER_HANGS, reply)?;
                }
            }
            self.passed += 1;
        }
        Ok(())
    }
}

/// The number of concurrent connections.
pub const CONNECTIONS: usize = 64;
/// The number of sequential requests on each connection.
const EACH: usize = 3;

const RULE: &str = "connections at once are all answered, each with its own answer";

impl Verifier<'_> {
    pub(super) fn verify_concurrent_connections(&mut self) -> Result<(), Fault> {
        let questions = self.questions(CONNECTIONS * EACH)?;
        let counted = self.service_count()?;
        let sessions = self.sessions()?;
        ask_together(self.address, self.declared.http, &questions, self.stop)?;
        self.passed += questions.len() as u32;
        let answers = questions.len() as u64;
        let asked = format!(
            "{} over {CONNECTIONS} connections at once",
            self.workload.id
        );
        self.expect_service_count(&asked, counted, answers..=answers)?;
        self.check_pool(&asked, sessions, answers)
    }
}

/// Sends all `questions` over up to [`CONNECTIONS`] concurrent connections. Each connection sends its next request
/// after an answer. Setting `stop` ends the wait for one.
///
/// # Errors
/// The first wrong answer of the first connection that got one.
pub(super) fn ask_together(
    address: SocketAddr,
    declared: Http,
    questions: &[ProbeRequest],
    stop: &AtomicBool,
) -> Result<(), Fault> {
    let each = questions.len().div_ceil(CONNECTIONS).max(1);
    let size = questions.len().div_ceil(each);
    let concurrent = &ConcurrentClients {
        address,
        keep_alive: declared.keep_alive,
        size,
        together: Barrier::new(size),
        stop,
    };
    thread::scope(|scope| {
        let clients = questions.chunks(each).enumerate();
        let clients: Vec<_> = clients
            .map(|(index, own)| scope.spawn(move || concurrent.client(index, own)))
            .collect();
        let results = clients.into_iter().map(|client| {
            let joined = client.join();
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        // Collect first, so that all clients are waited for.
        results.collect::<Vec<_>>().into_iter().collect()
    })
}

/// Clients that send requests to one server concurrently.
struct ConcurrentClients<'s> {
    address: SocketAddr,
    keep_alive: bool,
    size: usize,
    /// The barrier at which all clients wait after connecting.
    together: Barrier,
    stop: &'s AtomicBool,
}

impl ConcurrentClients<'_> {
    /// Runs one client: connects, waits for the others, and sends its requests.
    fn client(&self, index: usize, questions: &[ProbeRequest]) -> Result<(), Fault> {
        let patience = Patience::new(PATIENCE, self.stop);
        let connect = || ProbeConnection::open(self.address, patience);
        let first = connect();
        self.together.wait();
        let mut open = Some(first);
        for (round, question) in questions.iter().enumerate() {
            let asked = format!(
                "{}, request {} on connection {} of {} at once",
                question.name(),
                round + 1,
                index + 1,
                self.size
            );
            let reply = open.take().unwrap_or_else(connect).and_then(|mut wire| {
                let reply = wire.ask(&question.request)?;
                // Another check covers whether the server may close the connection.
                open = (self.keep_alive && reply.keeps).then_some(Ok(wire));
                Ok(reply)
            });
            judged(question, &asked, RULE, reply)?;
        }
        Ok(())
    }
}
