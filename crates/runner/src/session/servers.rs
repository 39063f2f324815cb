//! Servers that are no stacks as members of heats: those that run already, by their URL, those that a command starts, and the
//! null server, a stack of Deadheat's own that is started as the others are.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use deadheat_model::{
    Exchange, LoadPoint, LoadSpec, Protocols, StackProtocol, TargetId, Wait, WorkloadManifest,
    comparison::{ComparedCommand, Comparison, Contender, ContenderKind},
    heat::{HeatPlan, Role},
    load::{Endpoint, Target},
    plan::Pinning,
    stack::{Build, Class, Http, Run, Runtime, StackManifest, StackRole},
};

use super::{
    SelectedTarget, SessionOptions, inherited_by_servers,
    server::{Program, Server, StartError},
};
use crate::{
    heat::{Entry, Generator, Member, ServerMember, Startable, UrlMember, Verified, WarmUps},
    manifest::Stack,
    prepare::search_path,
    process::{OWN_PROGRAM, environment},
    secret::{hide_in_load, without_password},
    services::null,
    verify::{Canned, Fault, Fixtures, Ports, load_answer},
};

/// How long one question may take until a command is ready.
const ATTEMPT: Duration = Duration::from_secs(2);

/// Whether the members of a heat are frozen while it is not their turn, and how the generator waits for their answers.
pub(super) fn freezing_and_wait(one: &Contender, pinning: &Pinning) -> (bool, Wait) {
    match (&one.kind, pinning) {
        (ContenderKind::Url { load }, _) => (false, load.wait),
        (_, Pinning::Apart { .. }) => (true, Wait::Poll),
        _ => (true, Wait::Sleep),
    }
}

/// The names of the variables that both sides inherit from Deadheat: commands all of them, stacks those of every child.
/// Nothing is started for a URL.
pub(super) fn environment_of(comparison: &Comparison) -> Vec<String> {
    match &comparison.a.kind {
        ContenderKind::Url { .. } => Vec::new(),
        ContenderKind::Command { .. } => environment::names(environment::whole()),
        ContenderKind::Stack { .. } => inherited_by_servers(),
    }
}

/// A comparison as it is recorded: without what may be a password, which is whole in memory alone.
pub(super) fn as_recorded(comparison: &Comparison) -> Comparison {
    let mut recorded = comparison.clone();
    for one in recorded.contenders_mut() {
        match &mut one.kind {
            ContenderKind::Url { load } => hide_in_load(load),
            ContenderKind::Command { command, load } => {
                command.words = words_as_recorded(&command.words);
                hide_in_load(load);
            }
            ContenderKind::Stack { .. } => {}
        }
    }
    recorded
}

/// The words of a command without what may be a password. Deadheat's own program has its name.
pub(super) fn words_as_recorded(words: &[String]) -> Vec<String> {
    let recorded = |word: &String| match word.as_str() {
        OWN_PROGRAM => "deadheat".to_owned(),
        word => without_password(word),
    };
    words.iter().map(recorded).collect()
}

/// A heat, as the servers in it share it.
#[derive(Clone, Copy)]
pub(super) struct ServerSetting<'a> {
    pub(super) session: &'a SessionOptions,
    pub(super) plan: &'a HeatPlan,
    pub(super) pinning: &'a Pinning,
    pub(super) seed: u64,
    pub(super) generator: Generator<'a>,
    pub(super) interrupt: &'a Arc<AtomicBool>,
}

impl<'a> ServerSetting<'a> {
    /// A server as a member, with the file for its log. `None`: it is a stack.
    pub(super) fn entry(&self, one: &'a Contender, log: PathBuf) -> Option<Entry<'a>> {
        let stop = Arc::clone(self.interrupt);
        let member: Box<dyn Member + 'a> = match &one.kind {
            ContenderKind::Url { load } => {
                Box::new(UrlMember::new(self.spec(load), self.generator, stop))
            }
            ContenderKind::Command { command, load } => {
                let startable = StartableCommand {
                    program: self.program(&one.name, command, log),
                    load: self.spec(load),
                };
                Box::new(ServerMember::of_startable(startable, self.generator, stop))
            }
            ContenderKind::Stack { .. } => return None,
        };
        Some(Entry {
            target: one.target.clone(),
            role: Role::Member,
            warm_ups: WarmUps::of_unknown().lasting(self.session.warm_up),
            is_kept: false,
            member,
        })
    }

    fn spec(&self, load: &LoadSpec) -> LoadSpec {
        LoadSpec {
            wait: self.plan.wait,
            seed: self.seed,
            cpus: self
                .session
                .workers(self.pinning)
                .unwrap_or_else(|| load.cpus.clone()),
            ..load.clone()
        }
    }

    fn program(&self, name: &str, command: &ComparedCommand, log: PathBuf) -> Program<'a> {
        let (pinned, cpus) = match self.pinning {
            Pinning::Apart { server, .. } => (Some(server.clone()), server.len()),
            Pinning::Off { cpus } => (None, cpus.len()),
        };
        Program {
            name: name.to_owned(),
            command: command.words.clone(),
            host: self.session.address(),
            dir: command.folder.clone(),
            protocols: Protocols::default(),
            certificate: None,
            // It is the user's own, and so is the environment that it was given on the command line with.
            env: environment::whole()
                .into_iter()
                .chain([
                    ("PATH".to_owned(), search_path()),
                    ("CPUS".to_owned(), cpus.to_string()),
                ])
                .collect(),
            supervision: &self.session.supervision,
            pinned,
            log,
            timeout: self.session.start_timeout,
        }
    }
}

/// A command's server.
struct StartableCommand<'a> {
    program: Program<'a>,
    load: LoadSpec,
}

impl StartableCommand<'_> {
    fn ask(&self, ports: &Ports, stop: &AtomicBool) -> Result<(), Fault> {
        let load = self.load(ports, self.load.exchanges.clone());
        load_answer(&load, ATTEMPT, stop)
    }
}

impl Startable for StartableCommand<'_> {
    fn start(&self, stop: &AtomicBool) -> Result<Server, StartError> {
        let mut probe = |ports: &Ports, _| Ok(self.ask(ports, stop)?);
        Server::start_program(&self.program, stop, &mut probe)
    }

    fn verify(&self, server: &Server, stop: &AtomicBool) -> Result<Verified, Fault> {
        self.ask(&server.ports, stop)?;
        Ok(Verified {
            checks: 1,
            exchanges: self.load.exchanges.clone(),
            compression: None,
        })
    }

    fn load(&self, ports: &Ports, exchanges: Vec<Exchange>) -> LoadSpec {
        let address = ports.at(StackProtocol::Http1);
        let load = self.load.clone();
        LoadSpec {
            target: Target {
                endpoint: Endpoint::Tcp { address },
                authority: address.to_string(),
                ..load.target
            },
            exchanges,
            ..load
        }
    }
}

/// The file in a session's folder that has what the null server answers. One name for all heats: what a kill left is
/// overwritten by the next one.
pub(super) const ANSWER_FILE: &str = "null-answer";

/// That file, deleted with this.
struct Body(PathBuf);

impl Body {
    fn write(folder: &Path, content: &[u8]) -> io::Result<Self> {
        let body = Self(folder.join(ANSWER_FILE));
        fs::write(&body.0, content)?;
        Ok(body)
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Why there is no null server with the answer to a workload.
#[derive(Debug, thiserror::Error)]
pub(super) enum CeilingError {
    #[error(transparent)]
    Answer(#[from] Fault),
    #[error(
        "writing the null server's answer in {}: {source}; free some space there", folder.display()
    )]
    Body { folder: PathBuf, source: io::Error },
}

/// The null server with the answer to one workload.
pub(super) struct Ceiling {
    /// What is started.
    pub(super) target: SelectedTarget,
    /// What it answers.
    pub(super) canned: Canned,
    /// Deleted with this.
    _body: Body,
}

impl Ceiling {
    /// The null server, run by `program`, with the answer to `workload`, which is kept in `folder` for as long as this
    /// lives.
    ///
    /// # Errors
    /// Why the answer is not known or cannot be written.
    pub(super) fn new(
        program: &Path,
        folder: &Path,
        workload: &WorkloadManifest,
        point: &LoadPoint,
        fixtures: &mut Fixtures,
        seed: u64,
    ) -> Result<Self, CeilingError> {
        let canned = Canned::new(workload, point, fixtures, seed)?;
        let body = Body::write(folder, &canned.body).map_err(|source| CeilingError::Body {
            folder: folder.to_owned(),
            source,
        })?;
        let name = TargetId::null_server();
        let mut command = vec![program.display().to_string(), null::COMMAND.to_owned()];
        command.extend(null::ServeOptions::args(&canned.content_type, &body.0));
        let manifest = StackManifest {
            id: name.stack.clone(),
            language: "Rust".to_owned(),
            framework: "none".to_owned(),
            class: Class::Platform,
            role: StackRole::Yardstick,
            runtime: Runtime::Native,
            runtime_from: Vec::new(),
            warm_up_seconds: None,
            usual: None,
            limits: Vec::new(),
            workloads: None,
            routes: Default::default(),
            http: Http::default(),
            protocols: Protocols {
                tls: true,
                h2: true,
                h2c: true,
            },
            database: None,
            toolchain: Vec::new(),
            locked: Vec::new(),
            build: Build::default(),
            run: Run {
                command,
                env: Default::default(),
                workload_env: Default::default(),
            },
            variant: Vec::new(),
        };
        Ok(Self {
            target: SelectedTarget {
                stack: Stack {
                    dir: folder.to_owned(),
                    manifest,
                    added: None,
                },
                target: name,
            },
            canned,
            _body: body,
        })
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{Schedule, StopRule, TargetId};

    use super::*;

    fn url() -> ContenderKind {
        let target = Target::plain("127.0.0.1:80".parse().unwrap());
        let schedule = Schedule::Closed {
            connections: 1,
            ramp: Duration::ZERO,
        };
        let load = LoadSpec::new(target, Vec::new(), schedule, StopRule::Interrupt);
        ContenderKind::Url {
            load: Box::new(load),
        }
    }

    fn command() -> ContenderKind {
        let ContenderKind::Url { load } = url() else {
            unreachable!("it is a URL");
        };
        let command = ComparedCommand {
            words: vec!["./server".to_owned()],
            folder: PathBuf::from("/"),
        };
        ContenderKind::Command { command, load }
    }

    #[test]
    fn a_comparison_of_commands_names_all_variables_and_one_of_urls_none() {
        let names = |kind: ContenderKind| {
            let side = |name: &str| Contender {
                target: TargetId::new(name, None),
                name: name.to_owned(),
                kind: kind.clone(),
            };
            environment_of(&Comparison {
                a: side("A"),
                b: side("B"),
                slow_end: None,
                alike: None,
                is_change: false,
                decide: Default::default(),
                check: Default::default(),
            })
        };
        let mut all: Vec<String> = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        all.sort();
        let found = names(command());
        // Values that are not UTF-8 are not passed on.
        assert!(found.iter().all(|name| all.contains(name)), "{found:?}");
        // Cargo sets it for tests, and no server inherits it.
        let own = "CARGO_MANIFEST_DIR".to_owned();
        assert!(found.contains(&own) && !inherited_by_servers().contains(&own));
        assert_eq!(names(url()), Vec::<String>::new());
    }

    #[test]
    fn what_a_kill_left_is_overwritten_and_nothing_stays() {
        let folder = tempfile::tempdir().unwrap();
        std::mem::forget(Body::write(folder.path(), b"the longer one, left behind").unwrap());
        let body = Body::write(folder.path(), b"short").unwrap();
        assert_eq!(fs::read(&body.0).unwrap(), b"short");
        drop(body);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
