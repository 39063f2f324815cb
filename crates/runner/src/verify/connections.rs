//! Rules about connections, asked with the workload's own requests: kept or closed as declared, HTTP/1.0, requests in
//! pieces, several requests in one write.

use std::{
    thread,
    time::{Duration, Instant},
};

use deadheat_model::{
    load::{Body, HttpVersion, RequestSpec},
    workload::Oracle,
};

use super::{
    Fault, PATIENCE, Verifier,
    question::{ExpectedAnswer, LATE, Question},
    wire::{NoReply, ProbeConnection, Reply, encode},
};

/// Requests over one connection, one after the other.
const KEPT: usize = 3;
/// Requests in one write.
const PIPELINED: usize = 16;
/// How long a server may take to close a connection that it has no more use for. It only ends a broken check.
const CLOSING: Duration = Duration::from_secs(10);
/// Between the pieces of a request: long enough for a server to read the first before the second comes.
const PAUSE: Duration = Duration::from_millis(5);
/// A path that no stack has.
pub(super) const UNKNOWN: &str = "/deadheat-no-such-path";

const KEEPS: &str = "a connection is kept after an answer";
const CLOSES: &str =
    "a connection is closed after every answer, as its manifest declares (keep-alive = false)";
const OLD: &str =
    "a request of HTTP/1.0 without keep-alive is answered whole, and its connection closed";
const PIECES: &str = "a request that comes in pieces is answered as any other";
const IN_ORDER: &str = "requests that come in one write are all answered, in their order";

impl Verifier<'_> {
    /// Asks everything about connections.
    pub(super) fn verify_connections(&mut self) -> Result<(), Fault> {
        if self.declared.http.keep_alive {
            self.verify_kept()?
        } else {
            self.verify_closed()?
        }
        self.verify_old_version()?;
        self.verify_pieces()?;
        // The upstream's answers to a server that asks for one after the other would take seconds.
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
            // Some compress no answer to a client of that age.
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
        let unknown = Question {
            request: RequestSpec::get(UNKNOWN),
            wanted: ExpectedAnswer::Status(&[404]),
        };
        // Two neighbours never have the same answer, so that one in the wrong place is seen; bodies in both framings.
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
    pub(super) fn connect(&self) -> Result<ProbeConnection, Fault> {
        self.connect_for(PATIENCE)
    }

    /// The same, on which an answer may take as long as `patience`.
    pub(super) fn connect_for(&self, patience: Duration) -> Result<ProbeConnection, Fault> {
        ProbeConnection::open(self.address, patience).map_err(|error| {
            Fault::new(
                format!("a connection to {}", self.address),
                "the server takes connections",
                "a connection".to_owned(),
                error.to_string(),
            )
        })
    }

    /// Judges what came, and counts the probe.
    pub(super) fn judge(
        &mut self,
        question: &Question,
        asked: &str,
        rule: &'static str,
        reply: Result<Reply, NoReply>,
    ) -> Result<Reply, Fault> {
        let reply = judged(question, asked, rule, reply)?;
        self.passed += 1;
        Ok(reply)
    }
}

/// An answer that came and is right.
pub(super) fn judged(
    question: &Question,
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

fn expect_end(wire: &mut ProbeConnection, asked: String, rule: &'static str) -> Result<(), Fault> {
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

/// In the middle of the method, of the head, of its very end, and of the body.
fn send_in_pieces(wire: &mut ProbeConnection, bytes: &[u8], body: usize) -> Result<(), NoReply> {
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
