//! Rules about what a stack says that it speaks beside HTTP/1.1 without TLS.

use std::time::Duration;

use deadheat_model::{StackProtocol, load::RequestSpec, workload::Oracle};

use super::{
    Fault, PATIENCE, Verifier,
    connections::{UNKNOWN, judged},
    http2::Http2,
    question::{ExpectedAnswer, LATE, Question},
    route::Route,
    wire::{NoReply, ProbeConnection},
};

/// Streams of a connection at once, …
const STREAMS: usize = 16;
/// … and of large answers: servers bound what they hold for a connection (node:http2 by default 10 MB).
const STREAMS_OF_LARGE: usize = 4;
/// How long a server may take to refuse HTTP/1.1 on a port for HTTP/2. It only ends a broken check.
const REFUSAL: Duration = Duration::from_secs(10);

const AT_ONCE: &str = "requests on a connection at once are all answered, each with its own answer";
const NOT_FOUND: &str = "an unknown path";
const OFFERED_ONE: &str = "a client that offers http/1.1 alone by ALPN is answered in HTTP/1.1";
const NO_ALPN: &str = "a client without ALPN is answered in HTTP/1.1";
const NEVER_HANGS: &str = "HTTP/1.1 on the port for h2c is refused, or answered rightly";

impl Verifier<'_> {
    /// Asks everything that holds for the protocol of this verifier alone.
    pub(super) fn verify_protocol(&mut self) -> Result<(), Fault> {
        let route = self.client.route().clone();
        let unknown = Question {
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
        let asked = |question: &Question| {
            let name = question.name();
            format!("{name}, {streams} times on a connection{}", route.over())
        };
        let answers =
            Http2::open(route, PATIENCE).and_then(|mut http2| http2.ask_together(&requests));
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
                let wire = route.open_tls(alpn, PATIENCE);
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
            let reply = ProbeConnection::open(route.address, REFUSAL)
                .and_then(|mut wire| wire.ask(&question.request));
            match reply {
                Err(NoReply::Closed | NoReply::Broken(_) | NoReply::Refused(_)) => {}
                Ok(reply) if reply.answer.status >= 400 => {}
                reply @ (Ok(_) | Err(NoReply::Late(_))) => {
                    judged(&question, &asked, NEVER_HANGS, reply)?;
                }
            }
            self.passed += 1;
        }
        Ok(())
    }
}
