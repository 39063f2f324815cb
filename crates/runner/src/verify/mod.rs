//! Whether a stack's answers are right: asked before and after the load, and what the load itself must expect.

mod canned;
mod client;
mod connections;
mod crud;
mod digest;
mod fault;
mod greeting;
mod http2;
mod invalid_requests;
mod mixed;
mod page;
mod products;
mod question;
mod route;
mod statements;
mod static_file;
mod users;
mod wire;
mod worlds;

use std::{
    collections::BTreeMap, io, net::SocketAddr, ops::RangeInclusive, path::Path, sync::Arc,
    time::Duration,
};

use deadheat_model::{
    Exchange, LoadPoint, Observation, TargetId, WorkloadManifest,
    heat::Compression,
    load::{Content, Expectation, RequestSpec, StatusSet},
    stack::{DatabaseLayer, Http, Pool, StackManifest},
    workload::Oracle,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub use self::{
    canned::Canned,
    client::{Client, text_answer},
    connections::CONNECTIONS,
    digest::Blob,
    fault::Fault,
    route::{Ports, Route},
    static_file::StaticFolder,
};
pub(crate) use self::{
    client::load_answer,
    crud::{Acknowledged, ItemsSeen},
};
use self::{
    question::{ExpectedAnswer, ExpectedBody, LATE, LATE_IN_HEATS, Question},
    wire::WholeAnswer,
};
use crate::services::{Postgres, Upstream};

/// A probe that takes longer has failed; the slowest right answer takes a second or two.
const PATIENCE: Duration = Duration::from_secs(30);

const ONCE: &str = "the service behind the answer is asked once per request";

/// The name of the file at `BLOB_PATH`, …
const BLOB: &str = "blob";
/// … and of the folder at `STATIC_DIR`.
const ASSETS: &str = "static";

/// Of the requests of crud, fewer than one in this many replaces or deletes an item.
const CRUD_READS_BEFORE: u64 = 9;

/// What the oracles compare with: what the stacks read, and the services behind them.
pub struct Fixtures {
    /// The file at `BLOB_PATH`.
    pub blob: Blob,
    /// The folder at `STATIC_DIR`.
    pub assets: StaticFolder,
    /// The database, when a workload needs it.
    pub postgres: Option<Postgres>,
    /// The slow upstream, when a workload needs it.
    pub upstream: Option<Upstream>,
}

impl Fixtures {
    /// Files in `folder` whose content follows from `seed`, and no services.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn create(folder: &Path, seed: u64) -> io::Result<Self> {
        Ok(Self {
            blob: Blob::create(folder.join(BLOB), seed)?,
            assets: StaticFolder::create(folder.join(ASSETS), seed)?,
            postgres: None,
            upstream: None,
        })
    }

    /// Deletes the files that a killed process left in `folder`.
    pub(crate) fn remove(folder: &Path) {
        Blob::remove(&folder.join(BLOB));
        StaticFolder::remove(&folder.join(ASSETS));
    }
}

/// What a stack says of itself, which its answers are checked against.
#[derive(Clone, Debug)]
pub struct Declared {
    /// What it does of HTTP.
    pub http: Http,
    /// Its connections to PostgreSQL; of size 0 for a stack that declares none.
    pub pool: Pool,
    /// Whether its connections prepare a statement once, …
    pub prepared: bool,
    /// … but for these workloads.
    pub unprepared: Arc<[String]>,
    /// Whether it sends statements beside a request's own.
    pub other_statements: bool,
    /// Whether an object-relational mapper writes its statements.
    pub is_orm: bool,
    /// The paths at which it serves workloads, where these are not the workloads' own.
    pub routes: Arc<BTreeMap<String, String>>,
}

impl Default for Declared {
    /// A stack that keeps the contract, without a database.
    fn default() -> Self {
        Self {
            http: Http::default(),
            pool: Pool::Size(0),
            prepared: true,
            unprepared: Arc::default(),
            other_statements: false,
            is_orm: false,
            routes: Arc::default(),
        }
    }
}

impl Declared {
    /// Whether its connections prepare the statements of `workload` once.
    fn prepares(&self, workload: &str) -> bool {
        self.prepared && self.unprepared.iter().all(|one| one != workload)
    }

    /// Where the stack serves `workload`.
    fn path_of(&self, workload: &WorkloadManifest) -> String {
        let own = self.routes.get(&workload.id);
        own.unwrap_or(&workload.path).clone()
    }

    /// What `manifest` says of `target`.
    pub fn by(manifest: &StackManifest, target: &TargetId) -> Self {
        let of_http = Self {
            http: manifest.http(target),
            routes: manifest.routes.clone().into(),
            ..Self::default()
        };
        match manifest.database(target) {
            Some(database) => Self {
                pool: database.pool,
                prepared: database.prepared,
                unprepared: database.unprepared.clone().into(),
                other_statements: database.other_statements,
                is_orm: database.layer == DatabaseLayer::Orm,
                ..of_http
            },
            None => of_http,
        }
    }
}

/// Makes a request of a workload's load, with its right answer.
type Varied<'a> = fn(&mut Verifier<'a>) -> (RequestSpec, Content);

/// What the groups of a workload's load are called; empty if it has none.
pub(crate) fn routes(workload: &WorkloadManifest) -> Vec<String> {
    match &workload.oracle {
        Oracle::Crud => crud::ROUTES.map(str::to_owned).to_vec(),
        Oracle::Mixed { .. } => mixed::routes(workload),
        _ => Vec::new(),
    }
}

/// How much is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Right answers, and that they are made anew for each request. Around every load.
    Brief,
    /// The same, what must be refused, and everything about connections. Once per session, and for conformance.
    Full,
}

/// Checks one stack's answers for one workload at one load point.
pub struct Verifier<'a> {
    /// Where HTTP/1.1 without TLS is spoken.
    address: SocketAddr,
    client: Client,
    declared: Declared,
    workload: &'a WorkloadManifest,
    /// Where the stack serves the workload, before the load point's numbers are in it.
    path: String,
    point: &'a LoadPoint,
    fixtures: &'a mut Fixtures,
    seat: usize,
    random: ChaCha8Rng,
    passed: u32,
    /// How far the server's clock may be behind.
    late: Duration,
    /// Workloads that the stack has passed before, in full.
    passed_before: Vec<String>,
}

impl<'a> Verifier<'a> {
    /// A verifier of the server at `address`, over HTTP/1.1 without TLS. Random requests follow from `seed`.
    pub fn new(
        address: SocketAddr,
        declared: Declared,
        workload: &'a WorkloadManifest,
        point: &'a LoadPoint,
        fixtures: &'a mut Fixtures,
        seed: u64,
    ) -> Self {
        Self {
            address,
            client: Client::new(Route::plain(address)),
            path: declared.path_of(workload),
            declared,
            workload,
            point,
            fixtures,
            seat: 0,
            random: ChaCha8Rng::seed_from_u64(seed),
            passed: 0,
            late: LATE_IN_HEATS,
            passed_before: Vec::new(),
        }
    }

    /// The workload's questions are asked by this route.
    pub fn over(self, route: Route) -> Self {
        Self {
            client: Client::new(route),
            ..self
        }
    }

    /// The stack has passed these workloads before, in full: as parts of another one they are asked for briefly.
    pub(crate) fn after<'p>(self, passed: impl Iterator<Item = &'p str>) -> Self {
        Self {
            passed_before: passed.map(str::to_owned).collect(),
            ..self
        }
    }

    /// The server has this number among those that are alive together.
    pub(crate) fn seated(self, seat: usize) -> Self {
        Self { seat, ..self }
    }

    /// Asks; the number of probes that passed.
    ///
    /// # Errors
    /// The first wrong answer, with what was expected and what came.
    pub fn verify(&mut self, depth: Depth) -> Result<u32, Fault> {
        self.passed = 0;
        self.late = match depth {
            Depth::Brief => LATE_IN_HEATS,
            Depth::Full => LATE,
        };
        match &self.workload.oracle {
            Oracle::Text { .. } | Oracle::Json { .. } | Oracle::Repeated { .. } => {
                // Twice, because the second answer comes over a connection that was used before.
                self.expect_right()?;
                self.expect_right()?;
            }
            Oracle::Greeting => self.verify_greeting(depth)?,
            Oracle::StaticFile => self.verify_static(depth)?,
            Oracle::Products => self.verify_products(depth)?,
            Oracle::UploadDigest => self.verify_upload(depth)?,
            Oracle::DigestChain => self.verify_digest(depth)?,
            Oracle::Users => self.verify_users(depth)?,
            Oracle::Fortunes => self.verify_fortunes(depth)?,
            Oracle::Crud => self.verify_crud(depth)?,
            Oracle::Worlds { task } => self.verify_worlds(*task, depth)?,
            Oracle::Mixed { .. } => return self.verify_mixed(depth),
            Oracle::Relayed => self.verify_relay()?,
        }
        if depth == Depth::Full && !self.client.route().protocol.is_usual() {
            self.verify_protocol()?;
        } else if self.workload.pack.is_some() {
            self.verify_suite(depth)?;
        } else if depth == Depth::Full {
            self.verify_connections()?;
            self.verify_refusals()?;
            self.verify_crowd()?;
            // Now its pool has all its connections.
            self.verify_statements()?;
        }
        Ok(self.passed)
    }

    /// Requests for the load, with their right answers.
    ///
    /// # Errors
    /// When a probe that the answer's length is learnt from goes wrong.
    pub fn exchanges(&mut self) -> Result<Vec<Exchange>, Fault> {
        match self.workload.oracle {
            Oracle::Mixed { .. } => return self.mixed_to_load(),
            Oracle::Crud => return self.crud_to_load(),
            Oracle::StaticFile => return self.file_to_load(),
            _ => {}
        }
        if let Some((different, one)) = self.varied() {
            let exchange = |_| {
                let (request, content) = one(self);
                let expect = Expectation {
                    status: StatusSet::just(200),
                    length: content.length(),
                    content: Some(content),
                };
                Exchange::new(request, expect)
            };
            return Ok((0..different).map(exchange).collect());
        }
        let request = self.request();
        // JSON and HTML may be written freely, so an answer is this stack's own; every one under load must be like it.
        let (content, length) = match self.right_body()? {
            ExpectedBody::Content(content) => match content.length() {
                Some(length) => (content, length),
                None => (content, self.expect_right()?.body.len() as u64),
            },
            ExpectedBody::Fortunes(_) => {
                let bytes = self.expect_right()?.body;
                let length = bytes.len() as u64;
                (Content::Exact { bytes }, length)
            }
        };
        let expect = Expectation {
            status: StatusSet::just(200),
            length: Some(length),
            content: Some(content),
        };
        Ok(vec![Exchange::new(request, expect)])
    }

    /// How much shorter compression makes an answer, if the workload asks for it.
    ///
    /// # Errors
    /// When it is not compressed.
    pub(crate) fn compression(&mut self) -> Result<Option<Compression>, Fault> {
        match self.workload.oracle {
            Oracle::Products => self.expect_compressed().map(Some),
            _ => Ok(None),
        }
    }

    /// Of a workload whose right answer depends on the request: how many different requests its load has, and one more of
    /// them.
    fn varied(&self) -> Option<(usize, Varied<'a>)> {
        match self.workload.oracle {
            Oracle::Greeting => Some((greeting::DIFFERENT, Self::greeting_to_load)),
            Oracle::Products => Some((products::DIFFERENT, Self::products_to_load)),
            Oracle::UploadDigest => Some((digest::DIFFERENT, Self::upload_to_load)),
            Oracle::Worlds { .. } => Some((1, Self::worlds_to_load)),
            _ => None,
        }
    }

    /// How often the service behind the stack has been asked; `None` for workloads without one, and with a database that
    /// counts late.
    ///
    /// # Errors
    /// When the service cannot be asked.
    pub(crate) fn service_count(&mut self) -> Result<Option<u64>, Fault> {
        if self.workload.oracle == Oracle::Relayed {
            self.relayed().map(Some)
        } else if self.workload.oracle.table().is_some() && !self.counts_late()? {
            self.statements()
        } else {
            Ok(None)
        }
    }

    /// Checks that the service behind the stack was asked once for each answer of the load.
    ///
    /// # Errors
    /// When it was asked less or more often than that.
    pub(crate) fn check_service_count(
        &mut self,
        before: Option<u64>,
        load: &Observation,
    ) -> Result<(), Fault> {
        // A request in flight at the end, or failed, may or may not have come so far.
        let asked = format!("{} under load", self.workload.id);
        let issued = load.total.issued;
        // A mapper may read an item before it replaces or deletes it.
        let reads_before = match self.workload.oracle {
            Oracle::Crud if self.declared.is_orm => issued.div_ceil(CRUD_READS_BEFORE),
            _ => 0,
        };
        self.expect_service_count(&asked, before, load.total.succeeded..=issued + reads_before)
    }

    /// How often each request asks the service behind the stack.
    fn times_per_request(&self) -> RangeInclusive<u64> {
        match self.workload.oracle {
            Oracle::Worlds { task } => worlds::statements(task, self.queries()),
            _ => 1..=1,
        }
    }

    fn expect_service_count(
        &mut self,
        asked: &str,
        before: Option<u64>,
        expected: RangeInclusive<u64>,
    ) -> Result<(), Fault> {
        let (Some(before), Some(after)) = (before, self.service_count()?) else {
            return Ok(());
        };
        let times = after.saturating_sub(before);
        let each = self.times_per_request();
        let expected = expected.start() * each.start()..=expected.end() * each.end();
        if expected.contains(&times) {
            return Ok(());
        }
        let service = if self.workload.oracle.needs_database() {
            "PostgreSQL ran the statement"
        } else {
            "the upstream was asked"
        };
        let (least, most) = expected.into_inner();
        let (expected, rule) = if each != (1..=1) {
            let expected = format!("between {least} and {most} times");
            (expected, worlds::STATEMENTS)
        } else if least == most {
            (format!("{least} times for as many requests"), ONCE)
        } else {
            let expected = format!("between {least} and {most} times, one for each request");
            (expected, ONCE)
        };
        Err(Fault::new(
            asked.to_owned(),
            rule,
            expected,
            format!("{service} {times} times"),
        ))
    }

    /// The workload's own request at the load point.
    fn request(&self) -> RequestSpec {
        RequestSpec {
            method: self.workload.method.clone(),
            ..RequestSpec::get(self.point.fill(&self.path))
        }
    }

    /// The right body of an answer to [`Verifier::request`], as things stand now.
    fn right_body(&mut self) -> Result<ExpectedBody, Fault> {
        let content = match &self.workload.oracle {
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
            Oracle::StaticFile => self.right_file(),
            Oracle::DigestChain => self.right_digest(),
            Oracle::Users => self.right_users()?,
            Oracle::Fortunes => return Ok(self.right_fortunes()?.into()),
            Oracle::Crud => Self::right_page(),
            Oracle::Relayed => users::right_content(),
            Oracle::Greeting
            | Oracle::Products
            | Oracle::UploadDigest
            | Oracle::Worlds { .. }
            | Oracle::Mixed { .. } => {
                unreachable!("the right answer depends on the request")
            }
        };
        Ok(content.into())
    }

    /// The workload's own question so many times; each has an answer of its own where the workload can have that.
    fn questions(&mut self, count: usize) -> Result<Vec<Question>, Fault> {
        Ok(match self.workload.oracle {
            Oracle::Mixed { .. } => self.mixed_questions(count)?,
            Oracle::Greeting => (0..count).map(|_| self.greeting()).collect(),
            Oracle::DigestChain => self.digest_questions(count),
            Oracle::Products => self.products_questions(count),
            Oracle::UploadDigest => self.upload_questions(count),
            Oracle::Crud => self.crud_questions(count),
            Oracle::Worlds { task } => vec![self.worlds_question(task); count],
            _ => {
                let body = self.right_body()?;
                vec![self.question(self.request(), body); count]
            }
        })
    }

    fn question(&self, request: RequestSpec, body: impl Into<ExpectedBody>) -> Question {
        let content_type = self.workload.content_type.clone();
        Question {
            request,
            wanted: ExpectedAnswer::Right {
                content_type,
                body: body.into(),
            },
        }
    }

    /// Asks the workload's own request and checks the whole answer against what is right now.
    fn expect_right(&mut self) -> Result<WholeAnswer, Fault> {
        self.expect_right_by("the answer is right")
    }

    /// The same by another rule.
    fn expect_right_by(&mut self, rule: &'static str) -> Result<WholeAnswer, Fault> {
        let body = self.right_body()?;
        self.expect_content(rule, self.request(), body)
    }

    fn expect_content(
        &mut self,
        rule: &'static str,
        request: RequestSpec,
        body: impl Into<ExpectedBody>,
    ) -> Result<WholeAnswer, Fault> {
        self.expect(rule, &self.question(request, body))
    }

    fn expect_status(
        &mut self,
        rule: &'static str,
        request: RequestSpec,
        statuses: &'static [u16],
    ) -> Result<WholeAnswer, Fault> {
        let wanted = ExpectedAnswer::Status(statuses);
        self.expect(rule, &Question { request, wanted })
    }

    /// Asks, and counts the probe if the answer is right.
    fn expect(&mut self, rule: &'static str, question: &Question) -> Result<WholeAnswer, Fault> {
        let answer = self.client.send(&question.request)?;
        let asked = format!("{}{}", question.name(), self.client.route().over());
        question.judge_of_stack(&asked, rule, &answer, self.late)?;
        self.passed += 1;
        Ok(answer)
    }
}
