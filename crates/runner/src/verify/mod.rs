//! Whether a stack's answers are right: asked before and after the load, and what the load itself must expect.

mod blob;
mod client;
mod digest;
mod fault;
mod greeting;
mod relay;
mod users;

use std::net::SocketAddr;

use deadheat_model::{
    Exchange, LoadPoint, Observation, WorkloadManifest,
    load::{Content, Expectation, RequestSpec, StatusSet},
    workload::Oracle,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub use self::{blob::Blob, client::Client, fault::Fault};
use self::{client::Answer, fault::shown};
use crate::services::{Postgres, Upstream};

/// What the oracles compare with: what the stacks read, and the services behind them.
pub struct Fixtures {
    /// The file at `BLOB_PATH`.
    pub blob: Blob,
    /// The database, when a workload needs it.
    pub postgres: Option<Postgres>,
    /// The slow upstream, when a workload needs it.
    pub upstream: Option<Upstream>,
}

/// Asks for `path` once: whether it is answered with status 200 and, when given, with exactly `body`.
///
/// # Errors
/// What came instead.
pub fn text_answer(client: &Client, path: &str, body: Option<&str>) -> Result<(), Fault> {
    let answer = client.send(&RequestSpec::get(path))?;
    let right = body.is_none_or(|body| answer.body == body.as_bytes());
    if answer.status == 200 && right {
        return Ok(());
    }
    Err(Fault::new(
        format!("GET {path}"),
        "the server is ready",
        format!("status 200 with `{}`", body.unwrap_or("any body")),
        format!("status {} with {}", answer.status, shown(&answer.body)),
    ))
}

/// How much is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Right answers, and that they are made anew for each request. Around every trial.
    Brief,
    /// The same, and what must be refused. Once per session, and for conformance.
    Full,
}

/// Checks one stack's answers for one workload at one load point.
pub struct Verifier<'a> {
    client: Client,
    workload: &'a WorkloadManifest,
    point: &'a LoadPoint,
    fixtures: &'a mut Fixtures,
    random: ChaCha8Rng,
    passed: u32,
}

impl<'a> Verifier<'a> {
    /// A verifier of the server at `address`. Random requests follow from `seed`.
    pub fn new(
        address: SocketAddr,
        workload: &'a WorkloadManifest,
        point: &'a LoadPoint,
        fixtures: &'a mut Fixtures,
        seed: u64,
    ) -> Self {
        Self {
            client: Client::new(address),
            workload,
            point,
            fixtures,
            random: ChaCha8Rng::seed_from_u64(seed),
            passed: 0,
        }
    }

    /// Asks; the number of probes that passed.
    ///
    /// # Errors
    /// The first wrong answer, with what was expected and what came.
    pub fn verify(&mut self, depth: Depth) -> Result<u32, Fault> {
        self.passed = 0;
        match &self.workload.oracle {
            Oracle::Text { .. } | Oracle::Json { .. } | Oracle::Repeated { .. } => {
                // Twice, because the second answer comes over a connection that was used before.
                self.expect_right(&self.request())?;
                self.expect_right(&self.request())?;
            }
            Oracle::Greeting => self.verify_greeting(depth)?,
            Oracle::DigestChain => self.verify_digest(depth)?,
            Oracle::Users => self.verify_users(depth)?,
            Oracle::Relayed => self.verify_relay(depth)?,
        }
        if depth == Depth::Full {
            self.expect_status(
                "an unknown path",
                &RequestSpec::get("/deadheat-no-such-path"),
                404,
            )?;
        }
        Ok(self.passed)
    }

    /// Requests for the load, with their right answers.
    ///
    /// # Errors
    /// When a probe that the answer's length is learnt from goes wrong.
    pub fn exchanges(&mut self) -> Result<Vec<Exchange>, Fault> {
        if self.workload.oracle == Oracle::Greeting {
            return Ok(self.greetings_to_load());
        }
        let request = self.request();
        let content = self.right_content()?;
        // JSON may be spaced freely, so its length is this stack's own; every answer under load must have it.
        let length = match content.length() {
            Some(length) => length,
            None => self.expect_right(&request)?.body.len() as u64,
        };
        let expect = Expectation {
            status: StatusSet::just(200),
            length: Some(length),
            content: Some(content),
        };
        Ok(vec![Exchange::new(request, expect)])
    }

    /// How often the service behind the stack has been asked; `None` for workloads without one, and with a database that
    /// counts late.
    ///
    /// # Errors
    /// When the service cannot be asked.
    pub fn service_count(&mut self) -> Result<Option<u64>, Fault> {
        match self.workload.oracle {
            Oracle::Users => Ok(if self.counts_late()? {
                None
            } else {
                Some(self.statements()?)
            }),
            Oracle::Relayed => self.relayed().map(Some),
            _ => Ok(None),
        }
    }

    /// Checks that the service behind the stack was asked once for each answer of the load.
    ///
    /// # Errors
    /// When it was asked less or more often than that.
    pub fn check_service_count(
        &mut self,
        before: Option<u64>,
        load: &Observation,
    ) -> Result<(), Fault> {
        let (Some(before), Some(after)) = (before, self.service_count()?) else {
            return Ok(());
        };
        let asked = after.saturating_sub(before);
        // A request in flight at the end, or failed, may or may not have come so far.
        let (least, most) = (load.total.succeeded, load.total.issued);
        if (least..=most).contains(&asked) {
            return Ok(());
        }
        let service = if self.workload.oracle == Oracle::Users {
            "PostgreSQL ran the statement"
        } else {
            "the upstream was asked"
        };
        Err(Fault::new(
            format!("{} under load", self.workload.id),
            "the service behind the answer is asked once per request",
            format!("between {least} and {most} times, one for each request"),
            format!("{service} {asked} times"),
        ))
    }

    /// Checks that the stack holds no more database connections than it declares.
    ///
    /// # Errors
    /// When it holds more, or the database cannot be asked.
    pub fn check_pool(&mut self, size: u32) -> Result<(), Fault> {
        if self.workload.oracle != Oracle::Users {
            return Ok(());
        }
        let held = self.connections()?;
        if held <= size {
            return Ok(());
        }
        Err(Fault::new(
            "users under load".to_owned(),
            "the pool has the declared size",
            format!("at most {size} connections to PostgreSQL"),
            format!("{held} connections"),
        ))
    }

    /// The workload's own request at the load point.
    fn request(&self) -> RequestSpec {
        RequestSpec {
            method: self.workload.method.clone(),
            ..RequestSpec::get(self.workload.path_at(self.point))
        }
    }

    /// The right body of an answer to [`Verifier::request`], as things stand now.
    fn right_content(&mut self) -> Result<Content, Fault> {
        Ok(match &self.workload.oracle {
            Oracle::Text { body } => Content::Exact {
                bytes: body.clone().into_bytes(),
            },
            Oracle::Json { value } => Content::Json {
                value: value.clone(),
            },
            Oracle::Repeated { byte, count } => Content::Repeated {
                byte: *byte as u8,
                count: *count,
            },
            Oracle::DigestChain => self.right_digest(),
            Oracle::Users => self.right_users()?,
            Oracle::Relayed => relay::right_content(),
            Oracle::Greeting => unreachable!("a greeting depends on the request"),
        })
    }

    /// Sends `request` and checks the whole answer against what is right now.
    fn expect_right(&mut self, request: &RequestSpec) -> Result<Answer, Fault> {
        let content = self.right_content()?;
        self.expect_content("the answer is right", request, &content)
    }

    fn expect_content(
        &mut self,
        rule: &'static str,
        request: &RequestSpec,
        content: &Content,
    ) -> Result<Answer, Fault> {
        let what = format!("{} {}", request.method, request.path);
        let answer = self.expect_status(rule, request, 200)?;
        let wanted_type = &self.workload.content_type;
        if !answer.content_type.starts_with(wanted_type.as_str()) {
            let got = format!("`{}`", answer.content_type);
            return Err(Fault::new(
                what,
                "the content type is right",
                format!("`{wanted_type}`"),
                got,
            ));
        }
        if !content.matches(&answer.body) {
            let (expected, got) = (fault::described(content), shown(&answer.body));
            return Err(Fault::new(what, rule, expected, got));
        }
        Ok(answer)
    }

    fn expect_status(
        &mut self,
        rule: &'static str,
        request: &RequestSpec,
        status: u16,
    ) -> Result<Answer, Fault> {
        let answer = self.client.send(request)?;
        if answer.status != status {
            return Err(Fault::new(
                format!("{} {}", request.method, request.path),
                rule,
                format!("status {status}"),
                format!("status {} with {}", answer.status, shown(&answer.body)),
            ));
        }
        self.passed += 1;
        Ok(answer)
    }
}
