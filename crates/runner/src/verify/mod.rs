//! Checks whether a stack's answers are right before and after the load, and determines the answers that the load
//! expects.

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
    collections::BTreeMap,
    io,
    net::SocketAddr,
    ops::RangeInclusive,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
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
use self::{
    client::NEVER,
    question::{ExpectedAnswer, ExpectedBody, LATE, LATE_IN_HEATS, ProbeRequest},
    wire::WholeAnswer,
};
pub(crate) use self::{
    client::load_answer,
    crud::{Acknowledged, ItemsSeen},
};
use crate::services::{Postgres, Upstream};

/// The timeout of a probe. The slowest right answer takes a second or two.
const PATIENCE: Duration = Duration::from_secs(30);

const ONCE: &str = "the service behind the answer is asked once per request";

/// The name of the file at `BLOB_PATH`.
const BLOB: &str = "blob";
/// The name of the folder at `STATIC_DIR`.
const ASSETS: &str = "static";

/// Of the requests of crud, fewer than one in this many replaces or deletes an item.
const CRUD_READS_BEFORE: u64 = 9;

/// The data that stacks read and the services behind them. Oracles compare answers with these.
pub struct Fixtures {
    /// The file at `BLOB_PATH`.
    pub blob: Blob,
    /// The folder at `STATIC_DIR`.
    pub assets: StaticFolder,
    /// The database, if a workload needs it.
    pub postgres: Option<Postgres>,
    /// The slow upstream, if a workload needs it.
    pub upstream: Option<Upstream>,
}

impl Fixtures {
    /// Creates files in `folder`, whose content is derived from `seed`, without services.
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

/// The declarations in a stack's manifest that its answers are checked against.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The features of HTTP that it supports.
    pub http: Http,
    /// Its pool of connections to PostgreSQL; size 0 if it declares none.
    pub pool: Pool,
    /// Whether its connections prepare a statement once, except for the workloads in `unprepared`.
    pub prepared: bool,
    /// The workloads whose statements are not prepared.
    pub unprepared: Arc<[String]>,
    /// Whether it sends statements in addition to those that a request needs.
    pub other_statements: bool,
    /// Whether an object-relational mapper writes its statements.
    pub is_orm: bool,
    /// The paths of workloads, if they differ from the workloads' own.
    pub routes: Arc<BTreeMap<String, String>>,
}

impl Default for Declared {
    /// The declarations of a stack without a database that follows the contract in everything.
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

    /// The path at which the stack serves `workload`.
    fn path_of(&self, workload: &WorkloadManifest) -> String {
        let own = self.routes.get(&workload.id);
        own.unwrap_or(&workload.path).clone()
    }

    /// The declarations of `target` in `manifest`.
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

/// Creates a request of a workload's load, with its right answer.
type Varied<'a> = fn(&mut Verifier<'a>) -> (RequestSpec, Content);

/// The names of the request groups of a workload's load; empty without groups.
pub(crate) fn routes(workload: &WorkloadManifest) -> Vec<String> {
    match &workload.oracle {
        Oracle::Crud => crud::ROUTES.map(str::to_owned).to_vec(),
        Oracle::Mixed { .. } => mixed::routes(workload),
        _ => Vec::new(),
    }
}

/// How thoroughly a stack is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Checks for right answers that are computed for each request. Used before and after every load.
    Brief,
    /// `Brief`, and checks of invalid requests and of connections. Used once per session, and for conformance.
    Full,
}

/// Checks one stack's answers for one workload at one load point.
pub struct Verifier<'a> {
    /// The address for HTTP/1.1 without TLS.
    address: SocketAddr,
    client: Client<'a>,
    declared: Declared,
    workload: &'a WorkloadManifest,
    /// The path of the workload, with placeholders for the load point's numbers.
    path: String,
    point: &'a LoadPoint,
    fixtures: &'a mut Fixtures,
    seat: usize,
    random: ChaCha8Rng,
    passed: u32,
    /// The maximum delay of the server's clock.
    late: Duration,
    /// Workloads whose full check the stack has passed.
    passed_before: Vec<String>,
    /// Ends a wait for an answer when set.
    stop: &'a AtomicBool,
}

impl<'a> Verifier<'a> {
    /// A verifier of the server at `address`, over HTTP/1.1 without TLS. Random requests are derived from `seed`.
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
            stop: &NEVER,
        }
    }

    /// Sends the workload's requests by `route`.
    pub fn over(self, route: Route) -> Self {
        Self {
            client: Client::with_timeout(route, PATIENCE, self.stop),
            ..self
        }
    }

    /// Ends a check when `stop` is set. Its error is then not the server's.
    pub(crate) fn until(self, stop: &'a AtomicBool) -> Self {
        let route = self.client.route().clone();
        Self {
            client: Client::with_timeout(route, PATIENCE, stop),
            stop,
            ..self
        }
    }

    /// Records workloads whose full check the stack has passed. As parts of another workload, they are checked briefly.
    pub(crate) fn after<'p>(self, passed: impl Iterator<Item = &'p str>) -> Self {
        Self {
            passed_before: passed.map(str::to_owned).collect(),
            ..self
        }
    }

    /// Sets the server's number among those that run together.
    pub(crate) fn seated(self, seat: usize) -> Self {
        Self { seat, ..self }
    }

    /// Checks the answers. Returns the number of probes that passed.
    ///
    /// # Errors
    /// The first wrong answer: the expected one and the one received.
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
            self.verify_concurrent_connections()?;
            // By now the pool has opened all its connections.
            self.verify_statements()?;
        }
        Ok(self.passed)
    }

    /// Requests for the load, with their right answers.
    ///
    /// # Errors
    /// When a probe that determines the answer's length fails.
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
        // Stacks may format JSON and HTML differently. All answers under load must have the format of the one read
        // here.
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

    /// The compression of an answer; `None` if the workload does not ask for it.
    ///
    /// # Errors
    /// When it is not compressed.
    pub(crate) fn compression(&mut self) -> Result<Option<Compression>, Fault> {
        match self.workload.oracle {
            Oracle::Products => self.expect_compressed().map(Some),
            _ => Ok(None),
        }
    }

    /// For a workload whose right answer depends on the request: the number of different requests in its load, and the
    /// function that creates one. `None` for other workloads.
    fn varied(&self) -> Option<(usize, Varied<'a>)> {
        match self.workload.oracle {
            Oracle::Greeting => Some((greeting::DIFFERENT, Self::greeting_to_load)),
            Oracle::Products => Some((products::DIFFERENT, Self::products_to_load)),
            Oracle::UploadDigest => Some((digest::DIFFERENT, Self::upload_to_load)),
            Oracle::Worlds { .. } => Some((1, Self::worlds_to_load)),
            _ => None,
        }
    }

    /// The number of requests that the service behind the stack received so far. `None` for workloads without a
    /// service, and for a database that counts late.
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

    /// Checks that the service behind the stack received the right number of requests for the answers of the load.
    ///
    /// # Errors
    /// When it received fewer or more.
    pub(crate) fn check_service_count(
        &mut self,
        before: Option<u64>,
        load: &Observation,
    ) -> Result<(), Fault> {
        // A failed request, or one in flight at the end, may or may not have reached the service.
        let asked = format!("{} under load", self.workload.id);
        let issued = load.total.issued;
        // An object-relational mapper may read an item before it replaces or deletes it.
        let reads_before = match self.workload.oracle {
            Oracle::Crud if self.declared.is_orm => issued.div_ceil(CRUD_READS_BEFORE),
            _ => 0,
        };
        self.expect_service_count(&asked, before, load.total.succeeded..=issued + reads_before)
    }

    /// The number of requests to the service behind the stack that each request causes.
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

    /// The right body of an answer to [`Verifier::request`] with the current data.
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

    /// Creates `count` requests of the workload with their right answers, which differ if the workload allows it.
    fn questions(&mut self, count: usize) -> Result<Vec<ProbeRequest>, Fault> {
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

    fn question(&self, request: RequestSpec, body: impl Into<ExpectedBody>) -> ProbeRequest {
        let content_type = self.workload.content_type.clone();
        ProbeRequest {
            request,
            wanted: ExpectedAnswer::Right {
                content_type,
                body: body.into(),
            },
        }
    }

    /// Sends the workload's request and checks the whole answer against the current data.
    fn expect_right(&mut self) -> Result<WholeAnswer, Fault> {
        self.expect_right_by("the answer is right")
    }

    /// [`Verifier::expect_right`] with `rule` in the message of a failure.
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
        self.expect(rule, &ProbeRequest { request, wanted })
    }

    /// Sends the request, and counts the probe if the answer is right.
    fn expect(
        &mut self,
        rule: &'static str,
        question: &ProbeRequest,
    ) -> Result<WholeAnswer, Fault> {
        let answer = self.client.send(&question.request)?;
        let asked = format!("{}{}", question.name(), self.client.route().over());
        question.judge_of_stack(&asked, rule, &answer, self.late)?;
        self.passed += 1;
        Ok(answer)
    }
}
