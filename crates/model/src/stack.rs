//! A stack: the contents of `stacks/<id>/stack.toml`, and the names of its variants.

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
    /// The stack's role.
    #[serde(default)]
    pub role: StackRole,
    /// How the code is executed. This determines the warm-up.
    pub runtime: Runtime,
    /// Program versions from which on the code is executed in another way.
    #[serde(default)]
    pub runtime_from: Vec<RuntimeFrom>,
    /// The minimum warm-up in seconds, if the runtime's usual warm-up is wrong for this stack.
    pub warm_up_seconds: Option<u32>,
    /// The stack's rank among the usual stacks, from 1; others omit it. `deadheat run` measures the usual stacks if the
    /// user names no stack, and only the first ones if there is no time for all. At most one per language.
    pub usual: Option<u32>,
    /// The stack's deficiencies and deviations, which are shown with its results.
    #[serde(default)]
    pub limits: Vec<String>,
    /// The workloads that it answers. By default all, except those of packs.
    pub workloads: Option<Vec<String>>,
    /// The paths of workloads, by the workload's id, if they differ from the workload's own path. A stack with a route
    /// for a workload answers it.
    #[serde(default)]
    pub routes: BTreeMap<String, String>,
    /// The HTTP features in which it may differ from the contract.
    #[serde(default)]
    pub http: Http,
    /// Its protocols in addition to HTTP/1.1 without TLS.
    #[serde(default)]
    pub protocols: Protocols,
    /// How it accesses PostgreSQL; omitted by a stack that does not.
    pub database: Option<Database>,
    /// Programs that must be on the PATH.
    #[serde(default)]
    pub toolchain: Vec<Toolchain>,
    /// Packages whose version is read from a lock file.
    #[serde(default)]
    pub locked: Vec<LockedPackage>,
    /// How it is built, and how its dependencies are fetched.
    #[serde(default)]
    pub build: Build,
    /// How it is started.
    pub run: Run,
    /// The variants: the same code under other settings. The first one is the default.
    #[serde(default)]
    pub variant: Vec<Variant>,
}

/// How much of a web application a framework provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// An HTTP server or library. The application provides routing and the rest.
    Platform,
    /// Routing, requests and answers. Other libraries provide the rest.
    Micro,
    /// Also database access, validation, configuration and similar features.
    FullStack,
}

/// The role of a stack.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum StackRole {
    /// A stack that people choose among.
    #[default]
    Stack,
    /// A server without an application, for comparison. It is shown next to the ranking.
    Yardstick,
    /// No longer maintained. Measured only if it is named, or if a published comparison names it.
    Historic,
}

/// Another way of execution, from a version of a program on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RuntimeFrom {
    /// The program: one of the stack's toolchains.
    pub program: String,
    /// The first version with the other way of execution.
    pub version: String,
    /// How the code is executed from this version on.
    pub runtime: Runtime,
}

/// How code is executed. This determines the default warm-up.
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

/// HTTP features in which a stack may differ from the contract. They are declared so that they can be checked and
/// shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Http {
    /// Answers pipelined requests, in their order (RFC 9112, section 9.3.2). Not every production server does, so only
    /// stacks that declare it are checked.
    pub pipelining: bool,
    /// Reads request bodies in chunks (RFC 9112, section 7.1).
    pub chunked_bodies: bool,
    /// Keeps a connection open after an answer.
    pub keep_alive: bool,
    /// Serves ranges of static files (RFC 9110, section 14).
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
    /// The features of the contract that it lacks, one phrase each.
    fn limits(self) -> impl Iterator<Item = String> {
        let chunks = (!self.chunked_bodies).then_some("reads no request bodies in chunks");
        let closes = (!self.keep_alive).then_some("closes the connection after every answer");
        let whole = (!self.ranges).then_some("serves static files whole, without ranges");
        let lacking = chunks.into_iter().chain(closes).chain(whole);
        lacking.map(str::to_owned)
    }
}

/// How a stack accesses PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Database {
    /// Whether a request holds a thread while it waits.
    pub io: DatabaseIo,
    /// The layer between the application and the driver.
    pub layer: DatabaseLayer,
    /// The driver's name ("pgx").
    pub driver: String,
    /// The size of the connection pool, over all processes of the stack.
    pub pool: Pool,
    /// Whether each connection prepares its statement once and reuses it.
    #[serde(default = "yes")]
    pub prepared: bool,
    /// Workloads whose statement is parsed for every request nevertheless.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unprepared: Vec<String>,
    /// Whether requests send further statements to the database: transactions, resets of the session, tests of the
    /// connection.
    #[serde(default)]
    pub other_statements: bool,
}

const fn yes() -> bool {
    true
}

impl Database {
    /// What it lacks of the contract, one sentence each.
    fn limits(&self) -> impl Iterator<Item = String> {
        // Without a pool, no connection can keep a statement. The variant's description says so.
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

/// Whether a request holds a thread while it waits for the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DatabaseIo {
    /// It holds no thread of the operating system.
    Async,
    /// It holds a thread.
    Blocking,
}

/// The layer between an application and its database driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DatabaseLayer {
    /// No layer: statements and the driver's own rows.
    Raw,
    /// A library that maps rows to objects. Statements are written by hand.
    Micro,
    /// An object-relational mapper, which also writes the statements.
    Orm,
}

/// A pool's size: connections kept over all processes, or `"none"`, a connection per request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// At most this many connections.
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

/// Not an untagged enum, whose error would be the same for a missing pool and for a wrong one.
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
    /// The oldest suitable version.
    pub minimum: Option<String>,
    /// The newest suitable version, with all versions that begin with it: "3.7" includes 3.7.17.
    pub maximum: Option<String>,
    /// Debian packages that contain it.
    #[serde(default)]
    pub apt: Vec<String>,
    /// Another way to get it: an address, or an instruction.
    pub hint: String,
    /// Another instruction for an installed program, by a text that its output contains.
    #[serde(default)]
    pub if_it_says: BTreeMap<String, String>,
}

/// A package whose version is read from a lock file of the stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LockedPackage {
    /// The lock file, such as `go.mod` or `Cargo.lock`; docs/adding-a-stack.md has the list.
    pub file: String,
    /// The package's name in this file.
    pub package: String,
    /// A regular expression with one group, which is the version; needed for a file that is not in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// How a stack is fetched and built.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Build {
    /// Debian packages that building or running needs in addition to the toolchain.
    pub apt: Vec<String>,
    /// Commands that fetch the dependencies. They may use the network.
    pub fetch: Vec<Vec<String>>,
    /// Whether these commands build the stack, too, so that `steps` are not run right after them. Maven downloads what its
    /// plugins need while they build.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fetch_builds: bool,
    /// The host that these commands contact by default. Errors name it if it is unreachable and the commands' output
    /// does not name a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
    /// Commands that build the stack.
    pub steps: Vec<Vec<String>>,
    /// Files and folders that are deployed. Their size is the artefact size.
    pub artefacts: Vec<String>,
}

/// How a stack is started.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Run {
    /// The command. `${HOST}`, `${PORT}` and `${CPUS}` in its arguments are replaced by their values.
    pub command: Vec<String>,
    /// Environment variables in addition to those of the contract.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Further environment variables for a workload, by the workload's id.
    #[serde(default)]
    pub workload_env: BTreeMap<String, BTreeMap<String, String>>,
}

/// A variant of a stack: its code under another setting. Omitted keys are as in the stack.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Variant {
    /// The variant's id, unique in the stack.
    pub id: String,
    /// The difference from the stack, in a few words.
    pub description: String,
    /// The number of CPUs that it is made for. By default all CPUs of the server.
    pub cpus: Option<u32>,
    /// Another way of execution.
    pub runtime: Option<Runtime>,
    /// Another command.
    pub command: Option<Vec<String>>,
    /// Environment variables in addition to the stack's.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// HTTP features, in place of the stack's.
    pub http: Option<Http>,
    /// Other protocols, in place of the stack's.
    pub protocols: Option<Protocols>,
    /// Database access, in place of the stack's.
    pub database: Option<Database>,
    /// Programs that this variant needs in addition to the stack's.
    #[serde(default)]
    pub toolchain: Vec<Toolchain>,
    /// Limits in addition to the stack's.
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

    /// The variant that `target` names; `None`: it names no variant, or an unknown one.
    pub fn variant_of(&self, target: &TargetId) -> Option<&Variant> {
        let id = target.variant.as_deref()?;
        self.variant.iter().find(|variant| variant.id == id)
    }

    /// The maximum number of CPUs of `target`: its budget, or the number that its variant is made for; `None`: all
    /// CPUs.
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

    /// The environment variables of `target` for `workload` (`None`: any), in addition to those of the contract: the
    /// stack's, the workload's, then the variant's.
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

    /// The database access of `target`; `None`: it has no database access.
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

    /// The HTTP features of `target`.
    pub fn http(&self, target: &TargetId) -> Http {
        self.variant_of(target)
            .and_then(|variant| variant.http)
            .unwrap_or(self.http)
    }

    /// The protocols of `target` in addition to HTTP/1.1 without TLS.
    pub fn protocols(&self, target: &TargetId) -> Protocols {
        self.variant_of(target)
            .and_then(|variant| variant.protocols)
            .unwrap_or(self.protocols)
    }

    /// The limits of `target`: the stack's, then the variant's, then missing HTTP features and those of database
    /// access.
    pub fn limits(&self, target: &TargetId) -> Vec<String> {
        let variant = self.variant_of(target).map(|variant| &variant.limits);
        let own = variant.into_iter().flatten();
        let written = self.limits.iter().chain(own).cloned();
        let of_database = self.database(target).into_iter().flat_map(Database::limits);
        let of_http = self.http(target).limits();
        written.chain(of_http).chain(of_database).collect()
    }

    /// Whether the stack answers `workload`, which means all of its parts.
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

    /// The path at which the stack serves `workload`, before a load point's numbers are filled in.
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
