//! Checks that invalid requests are refused and that the server continues to answer afterwards.

use std::time::Duration;

use deadheat_model::{
    load::{Body, RequestSpec},
    workload::Oracle,
};

use super::{
    Fault, Verifier,
    connections::UNKNOWN,
    greeting::{MALFORMED, body_of, content_type, post},
    question::{ExpectedAnswer, ProbeRequest},
    wire::NoReply,
};

/// For a method that the path does not have: not found, not allowed, not implemented.
const WRONG_METHOD: &[u16] = &[404, 405, 501];
/// For a request that makes no sense.
pub(super) const BAD: &[u16] = &[400];
/// For a body in another form than was agreed.
const WRONG_TYPE: &[u16] = &[400, 415];

/// How long a refusal may take, which needs no work. It only ends a broken check.
const REFUSAL: Duration = Duration::from_secs(10);

const GOES_ON: &str = "the server goes on after a malformed body";

/// Bytes of a refused body at least: more than servers buffer of a body that nobody reads.
const UNREAD: usize = 20_000;
/// For a body that nobody asked for, or that makes no sense: some servers look at the body first, some at the path.
const REFUSED: &[u16] = &[400, 404, 405, 413, 415];
const NO_REQUEST: &str =
    "the body of a refused request is not taken for the next request on its connection";

impl Verifier<'_> {
    /// Asks for what must be refused in every workload.
    pub(super) fn verify_refusals(&mut self) -> Result<(), Fault> {
        let unknown = ProbeRequest {
            request: RequestSpec::get(UNKNOWN),
            wanted: ExpectedAnswer::Status(&[404]),
        };
        self.expect_refusal("an unknown path", &unknown)?;
        let deletion = ProbeRequest {
            request: RequestSpec {
                method: "DELETE".to_owned(),
                ..RequestSpec::get(self.point.fill(&self.path))
            },
            wanted: ExpectedAnswer::Status(WRONG_METHOD),
        };
        self.expect_refusal("a method that the path does not have is refused", &deletion)?;
        for good in self.questions(1)? {
            let asked = format!("{} after {}", good.name(), deletion.name());
            let reply = self.connect()?.ask(&good.request);
            self.judge(&good, &asked, "the server goes on after a refusal", reply)?;
        }
        self.verify_unread_body(UNKNOWN)?;
        if self.workload.oracle == Oracle::Greeting {
            self.verify_malformed()?;
            let path = self.path.clone();
            self.verify_unread_body(&path)?;
            let untyped = ProbeRequest {
                request: RequestSpec {
                    headers: vec![content_type("text/plain")],
                    ..post(&self.path, Body::Sized(body_of("John").into()))
                },
                wanted: ExpectedAnswer::Status(WRONG_TYPE),
            };
            self.expect_refusal("a content type other than JSON is refused", &untyped)?;
        }
        Ok(())
    }

    /// Sends a request that is refused whatever its body is, with a body that consists of requests. A server that
    /// leaves the body unread on its connection answers one of those instead of the next request.
    fn verify_unread_body(&mut self, path: &str) -> Result<(), Fault> {
        let one = format!("GET {UNKNOWN} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        let body = one.repeat(UNREAD.div_ceil(one.len()));
        let refused = ProbeRequest {
            request: post(path, Body::Sized(body.to_owned().into())),
            wanted: ExpectedAnswer::Status(REFUSED),
        };
        for good in self.questions(1)? {
            let mut wire = self.connect_for(REFUSAL)?;
            let reply = wire.ask(&refused.request);
            let name = refused.name();
            let asked = format!("{name} with a body of {UNREAD} bytes");
            let kept = self
                .judge(&refused, &asked, "such a request is refused", reply)?
                .keeps;
            // Nothing is left to be taken for a request on a connection that ends.
            let reply = match kept.then(|| wire.ask(&good.request)) {
                None | Some(Err(NoReply::Closed)) => continue,
                Some(reply) => reply,
            };
            let asked = format!("{} after {asked}", good.name());
            self.judge(&good, &asked, NO_REQUEST, reply)?;
        }
        Ok(())
    }

    /// On a connection of its own: what the server does with it afterwards is its own affair.
    fn expect_refusal(&mut self, rule: &'static str, question: &ProbeRequest) -> Result<(), Fault> {
        let reply = self.connect_for(REFUSAL)?.ask(&question.request);
        self.judge(question, &question.name(), rule, reply)?;
        Ok(())
    }

    fn verify_malformed(&mut self) -> Result<(), Fault> {
        for body in MALFORMED {
            let bad = ProbeRequest {
                request: post(&self.path, Body::Sized(body.to_owned().into())),
                wanted: ExpectedAnswer::Status(BAD),
            };
            let asked = format!("{} with the body `{body}`", bad.name());
            let mut wire = self.connect_for(REFUSAL)?;
            let reply = wire.ask(&bad.request);
            let rule = "a body that is not a person is refused";
            let kept = self.judge(&bad, &asked, rule, reply)?.keeps;
            for good in self.questions(1)? {
                // Over the same connection, if the server has kept it.
                let again = if kept {
                    wire.ask(&good.request)
                } else {
                    Err(NoReply::Closed)
                };
                let reply = match again {
                    Err(NoReply::Closed) => self.connect()?.ask(&good.request),
                    reply => reply,
                };
                let asked = format!("{} after the body `{body}`", good.name());
                self.judge(&good, &asked, GOES_ON, reply)?;
            }
        }
        Ok(())
    }
}
