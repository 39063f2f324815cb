//! What a stack is: the contents of `stacks/<id>/stack.toml`, and how one of its variants is named.

mod target_id;

use std::{borrow::Cow, collections::BTreeMap, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

pub use self::target_id::TargetId;
use crate::{
    figure::list,
    stack_protocol::Protocols,
    workload::{LoadPoint, WorkloadManifest},
};

/// A stack's manifest, `stack.toml`. Commands are argument vectors (no shell) and run in the stack's folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StackManifest {
    /// `<language>-<framework>`; must be the folder's name.
    pub id: String,
    /// The language, as people write it ("Go").
    pub language: String,
    /// The framework or library, as people write it ("net/http").
    pub framework: String,
    /// How much of a web application the framework provides.
    pub class: Class,
    /// What it takes part as.
    #[serde(default)]
    pub role: StackRole,
    /// How the code is executed, which decides the warm-up.
    pub runtime: Runtime,
    /// Versions of a program from which on the code is executed in another way.
    #[serde(default)]
    pub runtime_from: Vec<RuntimeFrom>,
    /// How long it is warmed up at least, in seconds, where its runtime's usual time is wrong for it.
    #[serde(default)]
    pub warm_up_seconds: Option<u32>,
    /// `deadheat run` measures it if nobody names a stack: a widely used one, at most one of a language. The number is its
    /// place among these, from 1, where there is no time for all.
    #[serde(default)]
    pub usual: Option<u32>,
    /// What the stack cannot do or deviates in, shown with its results.
    #[serde(default)]
    pub limits: Vec<String>,
    /// Workloads it answers; all of them when left out, apart from those of packs.
    #[serde(default)]
    pub workloads: Option<Vec<String>>,
    /// The path at which it serves a workload, by the workload's id, where that is not the workload's own. A stack with a route
    /// for a workload answers it.
    #[serde(default)]
    pub routes: BTreeMap<String, String>,
    /// What it does of HTTP beyond or below the contract.
    #[serde(default)]
    pub http: Http,
    /// What it speaks beside HTTP/1.1 without TLS.
    #[serde(default)]
    pub protocols: Protocols,
    /// How it reaches PostgreSQL; left out by a stack that does not.
    #[serde(default)]
    pub database: Option<Database>,
    /// Programs that must be on the PATH.
    #[serde(default)]
    pub toolchain: Vec<Toolchain>,
    /// Packages whose version is read from a lock file.
    #[serde(default)]
    pub locked: Vec<LockedPackage>,
    /// How it is fetched and built.
    #[serde(default)]
    pub build: Build,
    /// How it is started.
    pub run: Run,
    /// The same code under other settings; the first one is the default.
    #[serde(default)]
    pub variant: Vec<Variant>,
}

/// How much of a web application a framework provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// An HTTP server or library; routing and the rest are the application's.
    Platform,
    /// Routing, requests and answers; other libraries bring the rest.
    Micro,
    /// Also database access, validation, configuration and their like.
    FullStack,
}

/// What a stack takes part as.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum StackRole {
    /// One that people choose among.
    #[default]
    Stack,
    /// A server without an application, for comparison. Shown beside the ranking.
    Yardstick,
    /// No longer maintained. Measured only if it is named, or if a published comparison names it.
    Historic,
}

/// The way in which code is executed from a version of a program on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RuntimeFrom {
    /// The program: one of the stack's toolchains.
    pub program: String,
    /// Its first such version.
    pub version: String,
    /// How the code is executed from it on.
    pub runtime: Runtime,
}

/// How code is executed; decides the default warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// Compiled ahead of time: Go, Rust, Nim.
    Native,
    /// Compiled while it runs: JVM, V8, .NET, BEAM's JIT, YJIT.
    Jit,
    /// Bytecode interpreter: CPython, Ruby without YJIT.
    Interpreted,
}

/// What a stack does of HTTP beyond or below the contract. Declared so that it can be checked and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Http {
    /// Answers requests that come before the answers to earlier ones on the same connection, in their order (RFC 9112,
    /// section 9.3.2). Not every production server does, so that it is asked only of those that say so.
    pub pipelining: bool,
    /// Reads request bodies in chunks (RFC 9112, section 7.1).
    pub chunked_bodies: bool,
    /// Keeps a connection open after an answer.
    pub keep_alive: bool,
    /// Serves parts of static files (RFC 9110, section 14).
    pub ranges: bool,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            pipelining: false,
            chunked_bodies: true,
            keep_alive: true,
            ranges: true,
        }
    }
}

impl Http {
    /// What it lacks of the contract, a sentence each.
    fn limits(self) -> impl Iterator<Item = String> {
        let chunks = (!self.chunked_bodies).then_some("reads no request bodies in chunks");
        let closes = (!self.keep_alive).then_some("closes the connection after every answer");
        let whole = (!self.ranges).then_some("serves static files whole, without ranges");
        let lacking = chunks.into_iter().chain(closes).chain(whole);
        lacking.map(str::to_owned)
    }
}

/// How a stack reaches PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Database {
    /// What a request does while it waits.
    pub io: DatabaseIo,
    /// What stands between the application and the driver.
    pub layer: DatabaseLayer,
    /// The driver's name ("pgx").
    pub driver: String,
    /// Connections kept, over all processes of the stack.
    pub pool: Pool,
    /// Whether each connection prepares its statement once and uses it again.
    #[serde(default = "yes")]
    pub prepared: bool,
    /// Workloads whose statement is parsed for every request all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unprepared: Vec<String>,
    /// Whether statements beside the request's own go to the database: transactions, resets of the session, tests of the
    /// connection.
    #[serde(default)]
    pub other_statements: bool,
}

const fn yes() -> bool {
    true
}

impl Database {
    /// What it lacks of the contract, a sentence each.
    fn limits(&self) -> impl Iterator<Item = String> {
        // Without a pool there is no connection to keep a statement in, which the variant's description says.
        let anew = (!self.prepared && self.pool != Pool::None)
            .then_some("PostgreSQL parses its statement for every request");
        let some = (!self.unprepared.is_empty()).then(|| {
            let workloads = list(&self.unprepared);
            format!("PostgreSQL parses statements of {workloads} for every request")
        });
        let more = self
            .other_statements
            .then_some("PostgreSQL gets further statements with each request");
        anew.into_iter().chain(more).map(str::to_owned).chain(some)
    }
}

/// What a request does while it waits for the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DatabaseIo {
    /// It holds no thread of the operating system.
    Async,
    /// It holds a thread.
    Blocking,
}

/// What stands between an application and its database driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DatabaseLayer {
    /// Nothing: statements and the driver's own rows.
    Raw,
    /// A library that makes objects of rows; statements are written by hand.
    Micro,
    /// An object-relational mapper, which also writes the statements.
    Orm,
}

/// A pool's size: connections kept over all processes, or `"none"`, a connection per request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// So many connections at most.
    Size(u32),
    /// A new connection for every request.
    None,
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pool::Size(size) => write!(f, "{size}"),
            Pool::None => f.write_str("none"),
        }
    }
}

impl Serialize for Pool {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Pool::Size(size) => serializer.serialize_u32(*size),
            Pool::None => serializer.serialize_str("none"),
        }
    }
}

impl JsonSchema for Pool {
    fn schema_name() -> Cow<'static, str> {
        "Pool".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A pool's size: connections kept over all processes, or `\"none\"`, a connection per request.",
            "oneOf": [{ "type": "integer", "minimum": 1 }, { "const": "none" }],
        })
    }
}

impl<'de> Deserialize<'de> for Pool {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PoolVisitor)
    }
}

/// Not an untagged enum: that would say of a missing pool what it says of a wrong one.
struct PoolVisitor;

impl serde::de::Visitor<'_> for PoolVisitor {
    type Value = Pool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of connections above 0, or \"none\"")
    }

    fn visit_u64<E: serde::de::Error>(self, size: u64) -> Result<Pool, E> {
        match u32::try_from(size) {
            Ok(size) if size > 0 => Ok(Pool::Size(size)),
            _ => Err(E::invalid_value(
                serde::de::Unexpected::Unsigned(size),
                &self,
            )),
        }
    }

    fn visit_i64<E: serde::de::Error>(self, size: i64) -> Result<Pool, E> {
        match u64::try_from(size) {
            Ok(size) => self.visit_u64(size),
            Err(_) => Err(E::invalid_value(serde::de::Unexpected::Signed(size), &self)),
        }
    }

    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Pool, E> {
        match word {
            "none" => Ok(Pool::None),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
        }
    }
}

/// A program that must be on the PATH, and how to get it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Toolchain {
    /// The program's name, looked up on the PATH.
    pub program: String,
    /// The command that prints its version; the first version-like word of its output is taken.
    pub version: Vec<String>,
    /// The oldest version that will do.
    #[serde(default)]
    pub minimum: Option<String>,
    /// The newest version that will do, with all that begin so: "3.7" includes 3.7.17.
    #[serde(default)]
    pub maximum: Option<String>,
    /// Debian packages that bring it.
    #[serde(default)]
    pub apt: Vec<String>,
    /// How else to get it, or where: an address, or an instruction.
    pub hint: String,
    /// What to do instead when the program is there and its output contains one of these texts.
    #[serde(default)]
    pub if_it_says: BTreeMap<String, String>,
}

/// A package whose version is read from a lock file of the stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LockedPackage {
    /// The lock file, such as `go.mod` or `Cargo.lock`; docs/adding-a-stack.md has the list.
    pub file: String,
    /// The package's name in it.
    pub package: String,
    /// A regular expression with one group, which is the version; needed for a file that is not in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// How a stack is fetched and built.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Build {
    /// Debian packages that building or running needs beside the toolchain.
    #[serde(default)]
    pub apt: Vec<String>,
    /// Commands that bring the dependencies (they may use the network).
    #[serde(default)]
    pub fetch: Vec<Vec<String>>,
    /// The host that they ask, unless this machine is set up for another one. Named when it cannot be reached and the
    /// commands do not say whom they asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
    /// Commands that build.
    #[serde(default)]
    pub steps: Vec<Vec<String>>,
    /// Files and folders that are deployed; their size is the artefact size.
    #[serde(default)]
    pub artefacts: Vec<String>,
}

/// How a stack is started.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Run {
    /// The command. `${HOST}`, `${PORT}` and `${CPUS}` in its arguments stand for their values.
    pub command: Vec<String>,
    /// Environment beside that of the contract.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// More environment where a workload is asked for, by the workload's id.
    #[serde(default)]
    pub workload_env: BTreeMap<String, BTreeMap<String, String>>,
}

/// The same code under another setting. What is left out is as in the stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Variant {
    /// The variant's id, unique in the stack.
    pub id: String,
    /// What is different, in a few words.
    pub description: String,
    /// CPUs that it is made for; as many as the server is given when left out.
    #[serde(default)]
    pub cpus: Option<u32>,
    /// Executed in another way than the stack.
    #[serde(default)]
    pub runtime: Option<Runtime>,
    /// Another command.
    #[serde(default)]
    pub command: Option<Vec<String>>,
    /// Environment added to the stack's.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Another way with HTTP, in place of the stack's.
    #[serde(default)]
    pub http: Option<Http>,
    /// Other protocols, in place of the stack's.
    #[serde(default)]
    pub protocols: Option<Protocols>,
    /// Other database access.
    #[serde(default)]
    pub database: Option<Database>,
    /// Programs that this variant needs beside the stack's.
    #[serde(default)]
    pub toolchain: Vec<Toolchain>,
    /// Other limits, beside the stack's.
    #[serde(default)]
    pub limits: Vec<String>,
}

impl StackManifest {
    /// The targets of this stack: one per variant, or one without a variant. The first is the default.
    pub fn targets(&self) -> Vec<TargetId> {
        if self.variant.is_empty() {
            return vec![TargetId::new(&self.id, None)];
        }
        self.variant
            .iter()
            .map(|variant| TargetId::new(&self.id, Some(&variant.id)))
            .collect()
    }

    /// The variant that `target` names.
    pub fn variant_of(&self, target: &TargetId) -> Option<&Variant> {
        let id = target.variant.as_deref()?;
        self.variant.iter().find(|variant| variant.id == id)
    }

    /// The CPUs that `target` is given at most: its budget, else as many as its variant is made for; `None`: all that there
    /// are.
    pub fn cpus(&self, target: &TargetId) -> Option<u32> {
        let made_for = || self.variant_of(target)?.cpus;
        target.cpus.or_else(made_for)
    }

    /// The command that starts `target`.
    pub fn command(&self, target: &TargetId) -> &[String] {
        self.variant_of(target)
            .and_then(|variant| variant.command.as_deref())
            .unwrap_or(&self.run.command)
    }

    /// The environment of `target` beside that of the contract, where `workload` is asked for (`None`: any): the stack's,
    /// the workload's, then the variant's.
    pub fn env(
        &self,
        target: &TargetId,
        workload: Option<&WorkloadManifest>,
    ) -> BTreeMap<String, String> {
        let mut env = self.run.env.clone();
        for part in workload.map(WorkloadManifest::parts).unwrap_or_default() {
            let own = self.run.workload_env.get(&part.id);
            env.extend(own.cloned().unwrap_or_default());
        }
        if let Some(variant) = self.variant_of(target) {
            env.extend(variant.env.clone());
        }
        env
    }

    /// The database access of `target`, if it has any.
    pub fn database(&self, target: &TargetId) -> Option<&Database> {
        self.variant_of(target)
            .and_then(|variant| variant.database.as_ref())
            .or(self.database.as_ref())
    }

    /// How the code of `target` is executed.
    pub fn runtime(&self, target: &TargetId) -> Runtime {
        self.variant_of(target)
            .and_then(|variant| variant.runtime)
            .unwrap_or(self.runtime)
    }

    /// What `target` does of HTTP.
    pub fn http(&self, target: &TargetId) -> Http {
        self.variant_of(target)
            .and_then(|variant| variant.http)
            .unwrap_or(self.http)
    }

    /// What `target` speaks beside HTTP/1.1 without TLS.
    pub fn protocols(&self, target: &TargetId) -> Protocols {
        self.variant_of(target)
            .and_then(|variant| variant.protocols)
            .unwrap_or(self.protocols)
    }

    /// The limits of `target`: the stack's, then the variant's, then what it lacks of HTTP and with the
    /// database.
    pub fn limits(&self, target: &TargetId) -> Vec<String> {
        let variant = self.variant_of(target).map(|variant| &variant.limits);
        let own = variant.into_iter().flatten();
        let written = self.limits.iter().chain(own).cloned();
        let of_database = self.database(target).into_iter().flat_map(Database::limits);
        let of_http = self.http(target).limits();
        written.chain(of_http).chain(of_database).collect()
    }

    /// Whether the stack answers `workload`: it does if it answers all of its parts.
    pub fn answers(&self, workload: &WorkloadManifest) -> bool {
        let answers = |part: &&WorkloadManifest| {
            let listed = match &self.workloads {
                Some(list) => list.contains(&part.id),
                None => part.pack.is_none(),
            };
            listed || self.routes.contains_key(&part.id)
        };
        workload.parts().iter().all(answers)
    }

    /// The path at which the stack serves `workload`, before a load point's numbers are in it.
    pub fn path_of<'a>(&'a self, workload: &'a WorkloadManifest) -> &'a str {
        self.routes.get(&workload.id).unwrap_or(&workload.path)
    }

    /// Whether `target` answers `workload` at `point`.
    pub fn answers_at(
        &self,
        target: &TargetId,
        workload: &WorkloadManifest,
        point: &LoadPoint,
    ) -> bool {
        self.answers(workload) && self.protocols(target).include(point.protocol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written_with_a_budget_or_a_commit_behind_it() {
        let stack = |variant, cpus| TargetId::new("go", variant).on_cpus(cpus);
        let commit = TargetId::new("go@1234567", None);
        for (target, name) in [
            (stack(None, None), "go"),
            (stack(None, Some(2)), "go@2"),
            (stack(Some("one"), None), "go:one"),
            (stack(Some("one"), Some(16)), "go:one@16"),
            (commit.on_cpus(Some(2)), "go@1234567@2"),
            (commit, "go@1234567"),
            (TargetId::new("go@", None), "go@"),
        ] {
            assert_eq!(target.to_string(), name);
            assert_eq!(name.parse::<TargetId>(), Ok(target));
        }
        assert_eq!(stack(Some("one"), Some(16)).file_stem(), "go@one@16");
        assert_eq!(stack(Some("2"), None).file_stem(), "go@2");
        assert_eq!(stack(None, Some(2)).file_stem(), "go@@2");
    }
}
